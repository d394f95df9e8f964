/* What the tests of branch records and the debug store share: guest memory, branches. */
#include "tests/model/trace.h"

uint64_t peek(uint64_t address)
{
    uint64_t value = 0;
    CHECK(cpu_read_linear(rig.cpu, address, &value, sizeof value), "%#llx is not mapped",
          (unsigned long long)address);
    return value;
}

void poke(uint64_t address, uint64_t value)
{
    CHECK(cpu_write_linear(rig.cpu, address, &value, sizeof value), "%#llx is not mapped",
          (unsigned long long)address);
}

void map_two_mebibytes(void)
{
    enum { PML4 = 0x1000, PDPT = 0x2000, DIRECTORY = 0x3000 };
    poke(PML4, PDPT | PTE_P | PTE_RW);
    poke(PDPT, DIRECTORY | PTE_P | PTE_RW);
    poke(DIRECTORY, PTE_P | PTE_RW | PTE_PS);
    rig.cpu->cr3 = PML4;
    rig.cpu->cr4 |= CR4_PAE;
    rig.cpu->efer |= EFER_LME | EFER_LMA;
    rig.cpu->cr0 |= CR0_PE | CR0_PG;
}

void predicted_branch(enum branch_kind kind, uint64_t from, uint64_t to, bool mispredicted)
{
    if (rig.cpu->want_branches)
        pmu_branch(rig.pmu, kind, from, to, rig.cpu->cpl, mispredicted);
}

void branch(enum branch_kind kind, uint64_t from, uint64_t to)
{
    predicted_branch(kind, from, to, false);
}

unsigned pmis(void)
{
    return rig.cpu->stats.pmis;
}
