/* The page tables: those of boot/start.S, refined. */
#include "kernel/paging.h"

#include "x86/cpuid.h"
#include "x86/msr.h"
#include "x86/regs.h"
#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "kernel/panic.h"
#include "kernel/percpu.h"

#define ENTRIES           512
#define INDEX_BITS        9
#define PAGE_BITS         12
#define LEVELS            4
#define POOL_TABLES       64 /* 3 for the image and page 0, 1 to 3 for each region mapped later */
#define MAX_ALIASES       32 /* the user code of each processor, and what the experiments map high */
#define IDENTITY_END      (1ULL << 32)
#define PHYSICAL_BITS_MAX 52 /* an entry has no more room */

extern uint64_t boot_pml4[ENTRIES];
extern const uint8_t text_start[], text_end[], rodata_start[], rodata_end[], data_start[],
    data_end[], image_start[], image_end[];

static uint64_t pool[POOL_TABLES][ENTRIES] __attribute__((aligned(PAGE_SIZE)));
static unsigned pool_used;
static uint64_t no_execute;         /* PTE_XD, or 0 on a processor that has it reserved */
static unsigned physical_bits = 32; /* until paging_init() asks */

/* Where something of the kernel can be found a second time. */
static struct alias {
    uint64_t virt, origin;
    size_t size;
} aliases[MAX_ALIASES];
static unsigned n_aliases;

bool paging_no_execute(void)
{
    return no_execute != 0;
}

static void flush(uint64_t virt)
{
    __asm__ volatile("invlpg (%0)" ::"r"(virt) : "memory");
}

/* Makes a table with the same mapping as the entry of a large page at this level (2: a 2 MiB page),
 * or an empty one for an entry that is not present. */
static uint64_t *split(uint64_t *entry, unsigned level)
{
    if (pool_used == POOL_TABLES)
        return NULL;
    uint64_t *table = pool[pool_used++];
    if (*entry & PTE_P) {
        uint64_t step = 1ULL << (PAGE_BITS + (level - 2) * INDEX_BITS);
        uint64_t leaf = level == 2 ? *entry & ~PTE_PS : *entry;
        for (unsigned i = 0; i < ENTRIES; i++)
            table[i] = leaf + i * step;
    }
    *entry = (uint64_t)table | PTE_P | PTE_RW;
    return table;
}

/* The entry of the 4 KiB page at virt, with the tables above it made and, for a user page, opened.
 */
static uint64_t *find_entry(uint64_t virt, uint64_t user)
{
    uint64_t *table = boot_pml4;
    for (unsigned level = LEVELS; level > 1; level--) {
        uint64_t *entry = &table[virt >> (PAGE_BITS + (level - 1) * INDEX_BITS) & (ENTRIES - 1)];
        if (!(*entry & PTE_P) || (*entry & PTE_PS)) {
            table = split(entry, level);
            if (!table)
                return NULL;
        } else {
            table = (uint64_t *)(*entry & PTE_ADDR);
        }
        *entry |= user;
    }
    return &table[virt >> PAGE_BITS & (ENTRIES - 1)];
}

static bool set_page(uint64_t virt, uint64_t value)
{
    uint64_t *entry = find_entry(virt, value & PTE_US);
    if (!entry)
        return false;
    *entry = value;
    flush(virt);
    return true;
}

bool paging_map(uint64_t virt, uint64_t phys, uint64_t flags)
{
    if (!no_execute)
        flags &= ~PTE_XD;
    if (phys >> physical_bits)
        return false;
    return set_page(virt, phys | flags | PTE_P);
}

bool paging_unmap(uint64_t virt)
{
    return set_page(virt, 0);
}

bool paging_is_writable(uint64_t virt)
{
    const uint64_t *table = boot_pml4;
    for (unsigned level = LEVELS;; level--) {
        uint64_t entry = table[virt >> (PAGE_BITS + (level - 1) * INDEX_BITS) & (ENTRIES - 1)];
        if (!(entry & PTE_P) || !(entry & PTE_RW))
            return false;
        if (level == 1 || (entry & PTE_PS))
            return true;
        table = (const uint64_t *)(entry & PTE_ADDR);
    }
}

volatile void *paging_map_mmio(uint64_t phys, size_t size)
{
    uint64_t end = phys + size;
    for (uint64_t page = phys & ~(uint64_t)(PAGE_SIZE - 1); page < end; page += PAGE_SIZE)
        if (!paging_map(page, page, PTE_RW | PTE_PCD | PTE_PWT | PTE_XD))
            return NULL;
    return (volatile void *)phys;
}

bool paging_alias_note(uint64_t virt, uint64_t origin, size_t size)
{
    if (n_aliases == MAX_ALIASES)
        return false;
    aliases[n_aliases++] = (struct alias){virt, origin, size};
    return true;
}

void paging_alias_forget(uint64_t virt, size_t size)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < n_aliases; i++)
        if (aliases[i].virt - virt >= size)
            aliases[kept++] = aliases[i];
    n_aliases = kept;
}

uint64_t paging_alias_origin(uint64_t virt)
{
    for (unsigned i = 0; i < n_aliases; i++)
        if (virt - aliases[i].virt < aliases[i].size)
            return aliases[i].origin + (virt - aliases[i].virt);
    return virt;
}

uint64_t paging_high(void)
{
    static uint64_t base;
    unsigned slot = ENTRIES / 2 - 1;
    while (base == 0 && (boot_pml4[slot] & PTE_P))
        slot--;
    if (base == 0)
        base = (uint64_t)slot << (PAGE_BITS + (LEVELS - 1) * INDEX_BITS);
    return base;
}

/* Nothing is mapped at virt, or what is to be. */
static bool is_room(uint64_t virt, uint64_t phys)
{
    const uint64_t *entry = find_entry(virt, 0);
    return entry && (!(*entry & PTE_P) || (*entry & PTE_ADDR) == phys);
}

void *paging_alias(uint64_t base, const void *start, size_t size, uint64_t flags)
{
    uint64_t first = (uint64_t)start & ~(uint64_t)(PAGE_SIZE - 1);
    uint64_t end = ((uint64_t)start + size + PAGE_SIZE - 1) & ~(uint64_t)(PAGE_SIZE - 1);
    for (uint64_t page = first; page < end; page += PAGE_SIZE)
        if (!is_room(base + page, page) || !paging_map(base + page, page, flags))
            return NULL;
    paging_alias_forget(base + first, PAGE_SIZE);
    if (!paging_alias_note(base + first, first, end - first))
        return NULL;
    return (void *)(base + (uint64_t)start);
}

uint64_t paging_alias_text(uint64_t base)
{
    size_t size = (size_t)(text_end - text_start);
    return paging_alias(base, text_start, size, 0) ? base : 0;
}

static void map_range(const uint8_t *start, const uint8_t *end, uint64_t flags)
{
    uint64_t first = (uint64_t)start & ~(uint64_t)(PAGE_SIZE - 1);
    for (uint64_t page = first; page < (uint64_t)end; page += PAGE_SIZE)
        if (!paging_map(page, page, flags))
            panic("paging: the pool of page tables is too small for the kernel image");
}

static void remove_guard(uint64_t page)
{
    if (!paging_unmap(page))
        panic("paging: the pool of page tables is too small for the guard pages");
}

static bool is_text(uint64_t address)
{
    return address >= (uint64_t)text_start && address < (uint64_t)text_end;
}

/* The tables of boot/start.S allow everything. No instruction is to be fetched from outside the
 * text: all other pages, large or small, are closed to fetches. Only after the text has its own
 * small pages, because a split hands the rights of the large page on. */
static void close_to_fetches(void)
{
    uint64_t *pdpt = (uint64_t *)(boot_pml4[0] & PTE_ADDR);
    for (unsigned i = 0; i < IDENTITY_END >> 30; i++) {
        uint64_t *directory = (uint64_t *)(pdpt[i] & PTE_ADDR);
        for (unsigned j = 0; j < ENTRIES; j++) {
            if (directory[j] & PTE_PS) {
                directory[j] |= no_execute;
                continue;
            }
            uint64_t *table = (uint64_t *)(directory[j] & PTE_ADDR);
            for (unsigned k = 0; k < ENTRIES; k++)
                if ((table[k] & PTE_P) && !is_text(table[k] & PTE_ADDR))
                    table[k] |= no_execute;
        }
    }
}

static uint64_t nx_if_present(void)
{
    if (!(cpuid(0x80000001, 0).edx & CPUID_80000001_EDX_NX))
        return 0;
    /* With the bit off it is reserved in every entry: then no page gets it. */
    uint64_t efer;
    if (!rdmsr_safe(MSR_IA32_EFER, &efer) || !wrmsr_safe(MSR_IA32_EFER, efer | EFER_NXE))
        return 0;
    return PTE_XD;
}

/* MAXPHYADDR; the bits above it are reserved in every entry (SDM vol. 3 "Enumeration of Paging
 * Features by CPUID"). */
static unsigned find_physical_bits(void)
{
    if (cpuid(0x80000000, 0).eax < 0x80000008)
        return 36;
    unsigned bits = cpuid(0x80000008, 0).eax & 0xff;
    return bits >= 32 && bits <= PHYSICAL_BITS_MAX ? bits : PHYSICAL_BITS_MAX;
}

void paging_init(void)
{
    physical_bits = find_physical_bits();
    no_execute = nx_if_present();
    map_range(text_start, text_end, 0);
    map_range(rodata_start, rodata_end, PTE_XD);
    map_range(data_start, data_end, PTE_RW | PTE_XD);
    stack_each_guard(remove_guard);
    remove_guard(0);
    close_to_fetches();

    uint64_t cr0, cr3;
    __asm__ volatile("movq %%cr3, %0\n\tmovq %0, %%cr3" : "=r"(cr3)::"memory");
    __asm__ volatile("movq %%cr0, %0" : "=r"(cr0));
    __asm__ volatile("movq %0, %%cr0" ::"r"(cr0 | CR0_WP) : "memory");
}

const uint8_t *paging_physical(uint64_t address, size_t size)
{
    bool in_image = address < (uint64_t)image_end && address + size > (uint64_t)image_start;
    if (address < PAGE_SIZE || address >= IDENTITY_END || size > IDENTITY_END - address || in_image)
        return NULL;
    return (const uint8_t *)address;
}
