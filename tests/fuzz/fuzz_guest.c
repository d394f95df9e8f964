/*
 * Guests of random bytes: whatever they do, the simulator neither crashes nor hangs nor writes
 * outside its memory. The first bytes of the input choose profile, number of processors and mode,
 * the rest is code and data; registers point at what is worth breaking.
 */
#include <string.h>

#include "sim/cpu/internal.h"
#include "sim/dev/internal.h"
#include "tests/fuzz/fuzz.h"

#define RAM_BYTES (2u << 20)
#define INSNS     3000
#define SLOTS     400000
#define CODE_AT   0x100ff0 /* soon crosses a page */
#define REAL_AT   0x7ff0
#define TABLES_AT                                                                                  \
    0x180000 /* PML4, PDPT, four page directories of 2-MiB pages: 4 GiB one to one                 \
              */
#define IDT_AT     0x190000
#define GDT_AT     0x191000
#define TSS_AT     0x192000
#define STACK_TOP  0x1f0000
#define VECTORS    256
#define CODE64     0xa09b00
#define CODE32     0xc09b00
#define DATA       0xc09300
#define ATTR_DPL3  0x006000
#define TSS64      0x008b00
#define GATE       0x8e00u
#define SELECTOR_C 0x08
#define SELECTOR_D 0x10
#define SELECTOR_U 0x18 /* data of ring 3; its code follows */
#define SELECTOR_T 0x28
#define PAGE_BITS  (PTE_P | PTE_RW | PTE_US)
#define PAGE_LARGE (1u << 7)

enum { MODE_REAL16, MODE_FLAT32, MODE_LONG, MODE_LONG_USER, MODES };

static const char *const names[] = {"skylake", "core2", "westmere", "sapphirerapids", "merom"};
#define PROFILES (sizeof names / sizeof names[0])
static struct profile profiles[PROFILES];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    for (unsigned i = 0; i < PROFILES; i++)
        PROMISED(profile_load(&profiles[i], names[i], 0, nowhere()) &&
                 profile_finish(&profiles[i], nowhere()));
    return 0;
}

static void put64(struct machine *m, uint64_t at, uint64_t value)
{
    memcpy(m->ram + at, &value, sizeof value);
}

static void put_descriptor(struct machine *m, unsigned selector, uint32_t base, uint32_t attr)
{
    put64(m, GDT_AT + selector,
          0xffff | (uint64_t)(base & 0xffffff) << 16 | (uint64_t)(attr | 0xf0000) << 32 |
              (uint64_t)(base >> 24) << 56);
}

static void build_tables(struct machine *m)
{
    put64(m, TABLES_AT, (TABLES_AT + 0x1000) | PAGE_BITS);
    for (unsigned i = 0; i < 4; i++)
        put64(m, TABLES_AT + 0x1000 + 8 * i, (TABLES_AT + 0x2000 + 0x1000 * i) | PAGE_BITS);
    for (uint64_t i = 0; i < 4 * 512; i++)
        put64(m, TABLES_AT + 0x2000 + 8 * i, i << 21 | PAGE_BITS | PAGE_LARGE);
    for (unsigned v = 0; v < VECTORS; v++) {
        uint64_t to = CODE_AT + v % 32;
        put64(m, IDT_AT + 16 * v,
              (to & 0xffff) | SELECTOR_C << 16 | (uint64_t)GATE << 32 | (to >> 16 & 0xffff) << 48);
    }
    put_descriptor(m, SELECTOR_C, 0, CODE64);
    put_descriptor(m, SELECTOR_D, 0, DATA);
    put_descriptor(m, SELECTOR_U, 0, DATA | ATTR_DPL3);
    put_descriptor(m, SELECTOR_U + 8, 0, CODE64 | ATTR_DPL3);
    put_descriptor(m, SELECTOR_T, TSS_AT, TSS64);
    put64(m, TSS_AT + 4, STACK_TOP);
}

static void set_state(struct cpu *cpu, unsigned mode)
{
    static const uint64_t registers[16] = {
        0x5300c0, 0xfee00000, 0x186,    0xb8000,        STACK_TOP,  0xfffffffffffffff8,
        CODE_AT,  0x1ffffd,   0xf0000,  0x7fffffffffff, 0xc0000080, IDT_AT,
        TSS_AT,   TABLES_AT,  0xfffffe, 0x100000000,
    };
    bool real = mode == MODE_REAL16, user = mode == MODE_LONG_USER;
    uint32_t code = mode == MODE_FLAT32 ? CODE32 : CODE64, dpl = user ? ATTR_DPL3 : 0;

    memcpy(cpu->r, registers, sizeof registers);
    if (real) {
        cpu->seg[SEG_CS] = (struct segment){0, 0, 0xffff, 0x009b00};
        cpu->rip = REAL_AT;
    } else {
        for (unsigned s = SEG_ES; s <= SEG_GS; s++)
            cpu->seg[s] =
                (struct segment){user ? SELECTOR_U | 3 : SELECTOR_D, 0, UINT32_MAX, DATA | dpl};
        cpu->seg[SEG_CS] =
            (struct segment){user ? (SELECTOR_U + 8) | 3 : SELECTOR_C, 0, UINT32_MAX, code | dpl};
        cpu->seg[SEG_TR] = (struct segment){SELECTOR_T, TSS_AT, 0xffff, TSS64};
        cpu->rip = CODE_AT;
        cpu->cr0 = CR0_PE | CR0_ET;
        cpu->gdtr.base = GDT_AT;
        cpu->gdtr.limit = 0x37;
        cpu->idtr.base = IDT_AT;
        cpu->idtr.limit = 16 * VECTORS - 1;
    }
    if (mode >= MODE_LONG) {
        cpu->cr0 |= CR0_PG;
        cpu->cr4 = CR4_PAE;
        cpu->cr3 = TABLES_AT;
        cpu->efer = EFER_LME | EFER_LMA | EFER_SCE;
    }
    cpu->cpl = user ? 3 : 0;
    cpu_set_rflags(cpu, RFLAGS_FIXED1 | RFLAGS_IF);
    exec_mode_changed(cpu);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4 || size > 0x4000)
        return 0;
    unsigned mode = data[0] % MODES, n_cpus = 1 + data[1] % 2;
    struct machine *m = machine_new(&profiles[data[2] % PROFILES], n_cpus, RAM_BYTES);
    PROMISED(m);
    build_tables(m);
    /* Both ends of ROM, as a write there would show. */
    uint64_t rom_start, rom_last;
    memcpy(&rom_start, m->ram + m->rom_start, 8);
    memcpy(&rom_last, m->ram + m->rom_end - 8, 8);
    memcpy(m->ram + (mode == MODE_REAL16 ? REAL_AT : CODE_AT), data + 3, size - 3);
    set_state(m->cpus[0], mode);
    m->max_insns = INSNS;
    m->max_slots = SLOTS; /* one REP instruction may go on for ever */
    machine_run(m, SIM_NO_LIMIT);
    PROMISED(m->stop != STOP_NONE);
    PROMISED(memcmp(&rom_start, m->ram + m->rom_start, 8) == 0);
    PROMISED(memcmp(&rom_last, m->ram + m->rom_end - 8, 8) == 0);
    machine_free(m);
    return 0;
}
