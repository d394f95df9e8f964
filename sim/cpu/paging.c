/*
 * Paging: none, 32-bit (with PSE), PAE and 4-level; TLB fills and flushes. SDM vol. 3 "Paging".
 *
 * 5-level paging, PCIDs and protection keys are not announced by CPUID, so their CR4 bits are
 * reserved here.
 */
#include <string.h>

#include "sim/cpu/system.h"
#include "sim/cpu/uarch.h"
#include "sim/dev/dev.h"
#include "x86/msr.h"
#include "x86/cpuid.h"

#define PAGE_SIZE   4096u
#define PAGE_OFFSET (PAGE_SIZE - 1)
/* PDE of a 4 MiB page: bits 20:13 are bits 39:32 of the address (PSE-36), bit 21 is reserved. SDM
 * vol. 3 "32-Bit Paging". */
#define PDE4M_HIGH     0x1fe000
#define PDE4M_HIGH_UP  (32 - 13)
#define PDE4M_RESERVED (1 << 21)

unsigned max_physical_bits(const struct cpu *cpu)
{
    for (unsigned i = 0; i < cpu->profile->n_cpuid; i++)
        if (cpu->profile->cpuid[i].leaf == CPUID_LEAF_ADDRESS)
            return cpu->profile->cpuid[i].eax & 0xff;
    return 36; /* SDM vol. 3 "Paging": processors with PAE but without that leaf */
}

/* The paging-structure entries are memory of the machine, or else nothing: all ones. */
static uint64_t entry_read(struct cpu *cpu, uint64_t physical, unsigned n)
{
    bool writable;
    uint8_t *page = machine_ram_page(cpu->machine, physical, &writable);
    uint64_t value = 0;
    if (!page)
        return machine_read(cpu, physical, n);
    memcpy(&value, page + (physical & PAGE_OFFSET), n);
    return value;
}

static void entry_write(struct cpu *cpu, uint64_t physical, unsigned n, uint64_t value)
{
    bool writable;
    uint8_t *page = machine_ram_page(cpu->machine, physical, &writable);
    if (!page)
        machine_write(cpu, physical, n, value);
    else if (writable)
        memcpy(page + (physical & PAGE_OFFSET), &value, n);
}

/* How a paging mode cuts up a linear address. */
struct paging_mode {
    unsigned levels, entry_bytes, index_bits;
};
static const struct paging_mode paging_32 = {2, 4, 10}, paging_pae = {3, 8, 9},
                                paging_4 = {4, 8, 9};

static const struct paging_mode *paging_mode(const struct cpu *cpu)
{
    if (!(cpu->cr4 & CR4_PAE))
        return &paging_32;
    return cpu_long_mode(cpu) ? &paging_4 : &paging_pae;
}

/* Reserved bits of an entry. SDM vol. 3, the tables of formats in "32-Bit Paging", "PAE Paging",
 * "4-Level Paging". */
static uint64_t reserved_bits(const struct cpu *cpu, const struct paging_mode *m, unsigned level,
                              uint64_t entry, bool page)
{
    bool large = page && level > 1;
    if (m == &paging_32)
        return large ? PDE4M_RESERVED : 0;
    unsigned bits = max_physical_bits(cpu);
    uint64_t reserved = PTE_ADDR & ~((ARCH_BIT(bits)) - 1);
    if (m == &paging_pae)
        reserved |= 0x7ffull << 52; /* 62:52 */
    if (!(cpu->efer & EFER_NXE))
        reserved |= PTE_XD;
    if (large) /* the address bits below the page size, but for PAT (bit 12) */
        reserved |= (ARCH_BIT(12 + (level - 1) * m->index_bits) - 1) & ~0x1fffull;
    else if (level == 4 || (level == 3 && (entry & PTE_PS)))
        reserved |= PTE_PS;
    return reserved;
}

static bool large_page(const struct cpu *cpu, const struct paging_mode *m, unsigned level,
                       uint64_t entry)
{
    if (!(entry & PTE_PS))
        return false;
    if (level == 2)
        return m != &paging_32 || (cpu->cr4 & CR4_PSE);
    return level == 3 && m == &paging_4 &&
           cpuid_has(cpu, 0x80000001, 0, CPUID_EDX, CPUID_80000001_EDX_1GB);
}

static bool page_fault(struct fault *f, uint64_t linear, uint32_t error)
{
    *f = (struct fault){.vector = VEC_PF, .error = error, .address = linear};
    return false;
}

/* SDM vol. 3 "Determination of Access Rights". */
static bool rights_ok(struct cpu *cpu, uint64_t rights, uint64_t xd, enum access access,
                      enum privilege as)
{
    bool user_page = rights & PTE_US;
    if (access == ACCESS_FETCH) {
        if (xd)
            return false;
        return as == AS_USER ? user_page : !(user_page && (cpu->cr4 & CR4_SMEP));
    }
    bool writable = rights & PTE_RW;
    if (as == AS_USER)
        return user_page && (access != ACCESS_WRITE || writable);
    if (as == AS_PEEK)
        return true;
    if (user_page && (cpu->cr4 & CR4_SMAP) && (as == AS_IMPLICIT || !(cpu_rflags(cpu) & RFLAGS_AC)))
        return false;
    return access != ACCESS_WRITE || writable || !(cpu->cr0 & CR0_WP);
}

bool page_translate(struct cpu *cpu, uint64_t linear, enum access access, enum privilege as,
                    struct translation *t, struct fault *f)
{
    *t = (struct translation){.user_page = true};
    if (!(cpu->cr0 & CR0_PG)) {
        t->physical = linear & ~(uint64_t)PAGE_OFFSET;
        return true;
    }
    const struct paging_mode *m = paging_mode(cpu);
    /* SDM vol. 3 "Page-Fault Exceptions": I/D is set only where XD or SMEP is in use. */
    uint32_t error = access == ACCESS_WRITE ? PF_W : 0;
    if (as == AS_USER)
        error |= PF_U;
    if (access == ACCESS_FETCH &&
        (((cpu->cr4 & CR4_PAE) && (cpu->efer & EFER_NXE)) || (cpu->cr4 & CR4_SMEP)))
        error |= PF_I;

    uint64_t rights = PTE_RW | PTE_US, xd = 0;
    uint64_t base = m == &paging_32 ? cpu->cr3 & 0xfffff000 : cpu->cr3 & PTE_ADDR;
    uint64_t address[4], entry[4];
    unsigned level = m->levels, depth = 0;
    if (m == &paging_pae) {
        /* The PDPTE comes from its register; it has no rights and no accessed flag. */
        uint64_t pdpte = cpu->system->pdpte[linear >> 30 & 3];
        if (!(pdpte & PTE_P))
            return page_fault(f, linear, error);
        base = pdpte & PTE_ADDR;
        level = 2;
    }
    for (;; level--) {
        unsigned shift = 12 + (level - 1) * m->index_bits;
        uint64_t index = linear >> shift & (ARCH_BIT(m->index_bits) - 1);
        uint64_t at = base + index * m->entry_bytes;
        uint64_t e = entry_read(cpu, at, m->entry_bytes);
        if (!(e & PTE_P))
            return page_fault(f, linear, error);
        bool page = level == 1 || large_page(cpu, m, level, e);
        if (e & reserved_bits(cpu, m, level, e, page))
            return page_fault(f, linear, error | PF_P | PF_RSVD);
        address[depth] = at;
        entry[depth++] = e;
        rights &= e;
        if (m != &paging_32)
            xd |= e & PTE_XD;
        if (page) {
            uint64_t size = ARCH_BIT(shift);
            uint64_t frame = m == &paging_32 ? e & 0xfffff000 : e & PTE_ADDR;
            if (m == &paging_32 && level == 2)
                frame |= (e & PDE4M_HIGH) << PDE4M_HIGH_UP;
            t->physical = (frame & ~(size - 1)) | (linear & (size - 1) & ~(uint64_t)PAGE_OFFSET);
            t->larger = level - 1;
            t->global = (e & PTE_G) && (cpu->cr4 & CR4_PGE);
            break;
        }
        base = m == &paging_32 ? e & 0xfffff000 : e & PTE_ADDR;
    }
    if (!rights_ok(cpu, rights, xd, access, as))
        return page_fault(f, linear, error | PF_P);
    t->user_page = rights & PTE_US;
    t->levels = depth;
    if (as == AS_PEEK)
        return true;

    /* SDM vol. 3 "Accessed and Dirty Flags": accessed in all, dirty in the last on a write. */
    for (unsigned i = 0; i < depth; i++) {
        uint64_t set = PTE_A | (i == depth - 1 && access == ACCESS_WRITE ? PTE_D : 0);
        if ((entry[i] & set) != set) {
            entry_write(cpu, address[i], m->entry_bytes, entry[i] | set);
            blocks_page_written(cpu->machine, address[i]);
        }
    }
    return true;
}

bool paging_load_pdptes(struct cpu *cpu, uint64_t cr3)
{
    uint64_t reserved = ~((ARCH_BIT(max_physical_bits(cpu))) - 1) | 0x1e6; /* 8:5 and 2:1 */
    uint64_t loaded[4];
    for (unsigned i = 0; i < 4; i++) {
        loaded[i] = entry_read(cpu, (cr3 & 0xffffffe0) + i * 8, 8);
        if ((loaded[i] & PTE_P) && (loaded[i] & reserved))
            return false;
    }
    memcpy(cpu->system->pdpte, loaded, sizeof loaded);
    return true;
}

/* ---- TLB ---- */

static bool page_watched(const struct cpu *cpu, uint64_t linear)
{
    if (!cpu->system->watch_data)
        return false;
    for (unsigned i = 0; i < DEBUG_REGS; i++)
        if (cpu->system->watch[i] >> 12 == linear >> 12)
            return true;
    return false;
}

struct tlb_entry *tlb_fill(struct cpu *cpu, uint64_t linear, enum access access, bool user)
{
    struct translation t;
    struct fault f;
    if (!page_translate(cpu, linear, access, user ? AS_USER : AS_SUPERVISOR, &t, &f))
        fault_raise(cpu, &f);
    if (t.levels)
        uarch_tlb_miss(cpu, t.levels, access == ACCESS_FETCH);

    bool writable;
    uint8_t *host = machine_ram_page(cpu->machine, t.physical, &writable);
    if (access == ACCESS_WRITE && !writable)
        host = NULL;
    /* What RFLAGS.AC decides under SMAP must be decided again each time; so must watched data. */
    bool keep = !(access != ACCESS_FETCH && !user && t.user_page && (cpu->cr4 & CR4_SMAP) &&
                  (cpu->cr0 & CR0_PG)) &&
                !(access != ACCESS_FETCH && page_watched(cpu, linear));
    uint64_t page = linear >> 12;
    unsigned slot = page % TLB_ENTRIES;
    struct tlb_entry *e = keep ? &cpu->tlb->e[user][access][slot] : &cpu->system->scratch;
    *e = (struct tlb_entry){.tag = page + 1, .host = host, .physical = t.physical};
    if (keep)
        cpu->system->global[user][access][slot] = t.global;
    return e;
}

/* SDM vol. 3 "Operations that Invalidate TLBs and Paging-Structure Caches". */
void tlb_flush(struct cpu *cpu, bool globals_too)
{
    for (unsigned user = 0; user < 2; user++)
        for (unsigned a = 0; a < 3; a++)
            for (unsigned i = 0; i < TLB_ENTRIES; i++)
                if (globals_too || !cpu->system->global[user][a][i])
                    cpu->tlb->e[user][a][i].tag = 0;
}

void tlb_flush_page(struct cpu *cpu, uint64_t linear)
{
    uint64_t page = linear >> 12;
    for (unsigned user = 0; user < 2; user++)
        for (unsigned a = 0; a < 3; a++) {
            struct tlb_entry *e = &cpu->tlb->e[user][a][page % TLB_ENTRIES];
            if (e->tag == page + 1)
                e->tag = 0;
        }
}

/* ---- accesses of the system part ---- */

static bool map_range(struct cpu *cpu, uint64_t linear, unsigned n, enum access access,
                      enum privilege as, uint64_t physical[2], unsigned *first, struct fault *f)
{
    struct translation t;
    if (!page_translate(cpu, linear, access, as, &t, f))
        return false;
    physical[0] = t.physical + (linear & PAGE_OFFSET);
    unsigned room = PAGE_SIZE - (linear & PAGE_OFFSET);
    *first = n < room ? n : room;
    if (*first < n) {
        uint64_t next = linear + *first;
        if (!cpu_long_mode(cpu))
            next = (uint32_t)next;
        if (!page_translate(cpu, next, access, as, &t, f))
            return false;
        physical[1] = t.physical;
    }
    return true;
}

static void physical_copy(struct cpu *cpu, uint64_t physical, uint8_t *buf, unsigned n, bool write)
{
    bool writable;
    uint8_t *page = machine_ram_page(cpu->machine, physical, &writable);
    if (!page) {
        for (unsigned i = 0; i < n; i++) {
            if (write)
                machine_write(cpu, physical + i, 1, buf[i]);
            else
                buf[i] = machine_read(cpu, physical + i, 1);
        }
    } else if (!write) {
        memcpy(buf, page + (physical & PAGE_OFFSET), n);
    } else if (writable) {
        memcpy(page + (physical & PAGE_OFFSET), buf, n);
        blocks_page_written(cpu->machine, physical);
    }
}

static bool sys_access(struct cpu *cpu, uint64_t linear, void *buf, unsigned n, bool write,
                       enum privilege as, struct fault *f)
{
    uint64_t physical[2];
    unsigned first;
    if (!cpu_long_mode(cpu))
        linear = (uint32_t)linear;
    if (!map_range(cpu, linear, n, write ? ACCESS_WRITE : ACCESS_READ, as, physical, &first, f))
        return false;
    if (as == AS_USER || as == AS_SUPERVISOR)
        debug_data_access(cpu, linear, n, write);
    physical_copy(cpu, physical[0], buf, first, write);
    if (first < n)
        physical_copy(cpu, physical[1], (uint8_t *)buf + first, n - first, write);
    return true;
}

bool sys_read(struct cpu *cpu, uint64_t linear, void *buf, unsigned n, enum privilege as,
              struct fault *f)
{
    return sys_access(cpu, linear, buf, n, false, as, f);
}

bool sys_write(struct cpu *cpu, uint64_t linear, const void *buf, unsigned n, enum privilege as,
               struct fault *f)
{
    return sys_access(cpu, linear, (void *)buf, n, true, as, f);
}

static bool linear_copy(struct cpu *cpu, uint64_t linear, uint8_t *buf, unsigned n, bool write,
                        enum privilege as)
{
    struct fault f;
    while (n) {
        unsigned room = PAGE_SIZE - (linear & PAGE_OFFSET), part = n < room ? n : room;
        if (cpu_long_mode(cpu) && !canonical(linear))
            return false;
        if (!sys_access(cpu, linear, buf, part, write, as, &f))
            return false;
        linear += part;
        buf += part;
        n -= part;
    }
    return true;
}

bool cpu_read_linear(struct cpu *cpu, uint64_t linear, void *buf, unsigned n)
{
    return linear_copy(cpu, linear, buf, n, false, AS_PEEK);
}

bool cpu_write_linear(struct cpu *cpu, uint64_t linear, const void *buf, unsigned n)
{
    return linear_copy(cpu, linear, (uint8_t *)buf, n, true, AS_SUPERVISOR);
}
