/*
 * Control registers, EFER, TLB and cache instructions. SDM vol. 3 "Control
 * Registers", vol. 2 "MOV—Move to/from Control Registers".
 */
#include "sim/cpu/system.h"
#include "sim/dev/dev.h"
#include "x86/msr.h"
#include "x86/cpuid.h"

#define CR0_DEFINED                                                                                \
    (CR0_PE | CR0_MP | CR0_EM | CR0_TS | CR0_ET | CR0_NE | CR0_WP | CR0_AM | CR0_NW | CR0_CD |     \
     CR0_PG)
#define INVPCID_ADDRESS    0
#define INVPCID_CONTEXT    1
#define INVPCID_ALL_GLOBAL 2
#define INVPCID_ALL        3

/* A change of paging flushes all. SDM vol. 3 "Operations that Invalidate TLBs and Paging-Structure
 * Caches". */
static void mode_changed(struct cpu *cpu, bool flush)
{
    if (flush)
        tlb_flush(cpu, true);
    exec_mode_changed(cpu);
    cpu_reschedule(cpu);
}

static bool pae_paging(const struct cpu *cpu, uint64_t cr0, uint64_t cr4)
{
    return (cr0 & CR0_PG) && (cr4 & CR4_PAE) && !(cpu->efer & EFER_LME);
}

bool cr0_write(struct cpu *cpu, uint64_t value)
{
    if (value >> 32)
        return false;
    value = (value & CR0_DEFINED) | CR0_ET; /* reserved bits of the lower half are ignored */
    if ((value & CR0_PG) && !(value & CR0_PE))
        return false;
    if ((value & CR0_NW) && !(value & CR0_CD))
        return false;
    uint64_t changed = value ^ cpu->cr0;
    if ((changed & CR0_PG) && !(value & CR0_PG) && (cpu->cr4 & CR4_PCIDE))
        return false;
    /* SDM vol. 3 "Initializing IA-32e Mode" and "Switching Out of IA-32e Mode Operation". */
    if (changed & CR0_PG) {
        if (value & CR0_PG) {
            if (cpu->efer & EFER_LME) {
                if (!(cpu->cr4 & CR4_PAE) || (cpu->seg[SEG_CS].attr & SEG_ATTR_L))
                    return false;
                if (desc_type(cpu->seg[SEG_TR].attr) == SYS_TSS16_BUSY &&
                    (cpu->seg[SEG_TR].attr & DESC_P) && cpu->seg[SEG_TR].selector)
                    return false;
            }
        } else if (cpu_64bit(cpu)) {
            return false;
        }
    }
    if ((changed & (CR0_PG | CR0_CD | CR0_NW)) && pae_paging(cpu, value, cpu->cr4) &&
        !paging_load_pdptes(cpu, cpu->cr3))
        return false;
    if ((changed & CR0_PG) && (cpu->efer & EFER_LME))
        cpu->efer = value & CR0_PG ? cpu->efer | EFER_LMA : cpu->efer & ~EFER_LMA;
    cpu->cr0 = value;
    if (changed & (CR0_PE | CR0_PG | CR0_WP))
        mode_changed(cpu, true);
    return true;
}

/* With CR4.PCIDE bit 63 says that the translations of the new PCID may stay. A processor may drop
 * translations at any time ("Operations that Invalidate TLBs and Paging-Structure Caches"), and
 * this one drops all but the global ones: its TLB has no PCIDs. */
bool cr3_write(struct cpu *cpu, uint64_t value)
{
    if (cpu->cr4 & CR4_PCIDE)
        value &= ~CR3_NO_FLUSH;
    if (cpu_long_mode(cpu) && value >> max_physical_bits(cpu))
        return false;
    if (pae_paging(cpu, cpu->cr0, cpu->cr4) && !paging_load_pdptes(cpu, value))
        return false;
    cpu->cr3 = value;
    tlb_flush(cpu, false);
    exec_mode_changed(cpu);
    return true;
}

/* The bits of CR4 that this processor has, by the CPUID feature of each. SDM vol. 3 "Control
 * Registers". */
struct cr4_bit {
    uint32_t bit, leaf;
    enum cpuid_reg reg;
    uint32_t announced;
};
static const struct cr4_bit cr4_bits[] = {
    {CR4_VME, 1, CPUID_EDX, CPUID_1_EDX_VME},
    {CR4_PVI, 1, CPUID_EDX, CPUID_1_EDX_VME},
    {CR4_TSD, 1, CPUID_EDX, CPUID_1_EDX_TSC},
    {CR4_DE, 1, CPUID_EDX, CPUID_1_EDX_DE},
    {CR4_PSE, 1, CPUID_EDX, CPUID_1_EDX_PSE},
    {CR4_PAE, 1, CPUID_EDX, CPUID_1_EDX_PAE},
    {CR4_MCE, 1, CPUID_EDX, CPUID_1_EDX_MCE},
    {CR4_PGE, 1, CPUID_EDX, CPUID_1_EDX_PGE},
    {CR4_PCIDE, 1, CPUID_ECX, CPUID_1_ECX_PCID},
    {CR4_OSFXSR, 1, CPUID_EDX, CPUID_1_EDX_FXSR},
    {CR4_OSXMMEXCPT, 1, CPUID_EDX, CPUID_1_EDX_SSE},
    {CR4_OSXSAVE, 1, CPUID_ECX, CPUID_1_ECX_XSAVE},
    {CR4_FSGSBASE, 7, CPUID_EBX, CPUID_7_EBX_FSGSBASE},
    {CR4_SMEP, 7, CPUID_EBX, CPUID_7_EBX_SMEP},
    {CR4_SMAP, 7, CPUID_EBX, CPUID_7_EBX_SMAP},
    {CR4_UMIP, 7, CPUID_ECX, CPUID_7_ECX_UMIP},
};

static uint64_t cr4_allowed(const struct cpu *cpu)
{
    uint64_t allowed = CR4_PCE; /* with RDPMC, which has no CPUID bit */
    for (unsigned i = 0; i < sizeof cr4_bits / sizeof *cr4_bits; i++) {
        const struct cr4_bit *b = &cr4_bits[i];
        if (cpuid_has(cpu, b->leaf, 0, b->reg, b->announced))
            allowed |= b->bit;
    }
    return allowed;
}

bool cr4_write(struct cpu *cpu, uint64_t value)
{
    if (value & ~cr4_allowed(cpu))
        return false;
    if (cpu_long_mode(cpu) && !(value & CR4_PAE))
        return false;
    uint64_t changed = value ^ cpu->cr4;
    /* SDM vol. 3 "Process-Context Identifiers (PCIDs)": set in IA-32e mode alone, while CR3[11:0]
     * is 0. */
    if ((changed & value & CR4_PCIDE) && (!cpu_long_mode(cpu) || (cpu->cr3 & CR3_PCID)))
        return false;
    if ((changed & (CR4_PAE | CR4_PGE | CR4_PSE | CR4_SMEP)) && pae_paging(cpu, cpu->cr0, value) &&
        !paging_load_pdptes(cpu, cpu->cr3))
        return false;
    cpu->cr4 = value;
    mode_changed(cpu, changed & (CR4_PAE | CR4_PGE | CR4_PSE | CR4_PCIDE | CR4_SMEP | CR4_SMAP));
    return true;
}

/* SDM vol. 4 "IA32_EFER": LME may not change while paging is on; LMA is read-only. */
bool efer_write(struct cpu *cpu, uint64_t value)
{
    uint64_t allowed = EFER_LMA;
    if (cpuid_has(cpu, 0x80000001, 0, CPUID_EDX, CPUID_80000001_EDX_SYSCALL))
        allowed |= EFER_SCE;
    if (cpuid_has(cpu, 0x80000001, 0, CPUID_EDX, CPUID_80000001_EDX_NX))
        allowed |= EFER_NXE;
    if (cpuid_has(cpu, 0x80000001, 0, CPUID_EDX, CPUID_80000001_EDX_LM))
        allowed |= EFER_LME | EFER_SCE;
    if (value & ~allowed)
        return false;
    uint64_t changed = value ^ cpu->efer;
    if ((changed & EFER_LME) && (cpu->cr0 & CR0_PG))
        return false;
    cpu->efer = (value & ~EFER_LMA) | (cpu->efer & EFER_LMA);
    mode_changed(cpu, changed & EFER_NXE);
    return true;
}

static uint64_t cr_read(struct cpu *cpu, unsigned n)
{
    switch (n) {
    case 0:
        return cpu->cr0;
    case 2:
        return cpu->cr2;
    case 3:
        return cpu->cr3;
    case 4:
        return cpu->cr4;
    default:
        return lapic_get_tpr(cpu->lapic) >> 4; /* SDM vol. 3 "Interaction of Task Priorities..." */
    }
}

static bool cr_write(struct cpu *cpu, unsigned n, uint64_t value)
{
    switch (n) {
    case 0:
        return cr0_write(cpu, value);
    case 2:
        cpu->cr2 = value;
        return true;
    case 3:
        return cr3_write(cpu, value);
    case 4:
        return cr4_write(cpu, value);
    default:
        if (value >> 4)
            return false;
        cpu->cr8 = value;
        lapic_set_tpr(cpu->lapic, value << 4);
        cpu_reschedule(cpu);
        return true;
    }
}

void op_mov_cr(struct cpu *cpu, const struct insn *in)
{
    bool write = ZydisRegisterGetClass(in->op[0].reg.value) == ZYDIS_REGCLASS_CONTROL;
    ZydisRegister cr = in->op[!write].reg.value, gpr = in->op[write].reg.value;
    unsigned n = cr - ZYDIS_REGISTER_CR0;
    if (n == 1 || (n > 4 && n != 8) || (n == 8 && !cpu_64bit(cpu)))
        cpu_fault(cpu, VEC_UD, 0);
    require_cpl0(cpu);
    cpu_spend_cycles(cpu, cpu->profile->uarch.lat_serialize);
    if (!write)
        insn_set_register(cpu, gpr, cr_read(cpu, n));
    else if (!cr_write(cpu, n, insn_register(cpu, gpr)))
        cpu_gp0(cpu);
}

/* SMSW, LMSW: SDM vol. 2. SMSW to a register gives CR0 in the operand's size. */
void op_smsw(struct cpu *cpu, const struct insn *in)
{
    if ((cpu->cr4 & CR4_UMIP) && cpu->cpl != 0)
        cpu_gp0(cpu);
    if (in->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
        insn_set_register(cpu, in->op[0].reg.value, cpu->cr0);
    else
        mem_write(cpu, insn_linear(cpu, in, &in->op[0], 2, ACCESS_WRITE), 2, cpu->cr0 & 0xffff,
                  cpu->cpl == 3);
}

void op_lmsw(struct cpu *cpu, const struct insn *in)
{
    const uint64_t mask = CR0_PE | CR0_MP | CR0_EM | CR0_TS;
    require_cpl0(cpu);
    uint64_t v = in->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER
                     ? insn_register(cpu, in->op[0].reg.value)
                     : mem_read(cpu, insn_linear(cpu, in, &in->op[0], 2, ACCESS_READ), 2, false);
    /* PE can be set, never cleared. */
    if (!cr0_write(cpu, (cpu->cr0 & ~(mask & ~(uint64_t)CR0_PE)) | (v & mask)))
        cpu_gp0(cpu);
    cpu_spend_cycles(cpu, cpu->profile->uarch.lat_serialize);
}

void op_clts(struct cpu *cpu, const struct insn *in)
{
    (void)in;
    require_cpl0(cpu);
    cpu->cr0 &= ~(uint64_t)CR0_TS;
}

/* INVLPG takes an address, not an access: no fault for a page that is not there. SDM vol. 2
 * "INVLPG": a non-canonical address makes it a NOP. */
void op_invlpg(struct cpu *cpu, const struct insn *in)
{
    const ZydisDecodedOperandMem *m = &in->op[0].mem;
    require_cpl0(cpu);
    uint64_t ea = insn_register(cpu, m->base) + insn_register(cpu, m->index) * m->scale +
                  (m->disp.has_displacement ? (uint64_t)m->disp.value : 0);
    if (in->z.address_width < 64)
        ea &= ARCH_BIT(in->z.address_width) - 1;
    const struct segment *seg = &cpu->seg[m->segment - ZYDIS_REGISTER_ES];
    if (!cpu_64bit(cpu))
        ea = (uint32_t)(ea + seg->base);
    else if (m->segment == ZYDIS_REGISTER_FS || m->segment == ZYDIS_REGISTER_GS)
        ea += seg->base;
    tlb_flush_page(cpu, ea);
    exec_mode_changed(cpu);
    cpu_spend_cycles(cpu, cpu->profile->uarch.lat_serialize);
}

/* SDM vol. 2 "INVPCID". Without CR4.PCIDE only PCID 0 is valid. */
void op_invpcid(struct cpu *cpu, const struct insn *in)
{
    if (!cpuid_has(cpu, 7, 0, CPUID_EBX, CPUID_7_EBX_INVPCID))
        cpu_fault(cpu, VEC_UD, 0);
    require_cpl0(cpu);
    uint64_t type = insn_register(cpu, in->op[0].reg.value);
    uint64_t linear = insn_linear(cpu, in, &in->op[1], 16, ACCESS_READ);
    uint64_t pcid = mem_read(cpu, linear, 8, false), address = mem_read(cpu, linear + 8, 8, false);
    if (type > INVPCID_ALL || pcid >> 12 ||
        (type <= INVPCID_CONTEXT && pcid && !(cpu->cr4 & CR4_PCIDE)) ||
        (type == INVPCID_ADDRESS && !canonical(address)))
        cpu_gp0(cpu);
    if (type == INVPCID_ADDRESS)
        tlb_flush_page(cpu, address);
    else
        tlb_flush(cpu, type == INVPCID_ALL_GLOBAL);
    exec_mode_changed(cpu);
    cpu_spend_cycles(cpu, cpu->profile->uarch.lat_serialize);
}

/* INVD, WBINVD: the model's memory is always up to date. */
void op_cache(struct cpu *cpu, const struct insn *in)
{
    (void)in;
    require_cpl0(cpu);
    cpu_spend_cycles(cpu, cpu->profile->uarch.lat_serialize);
}
