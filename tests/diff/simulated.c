/*
 * Runs a sequence in the simulator: 64-bit mode, page tables that map the same linear addresses to
 * pages scattered over its memory, and a handler for each exception that halts. The end of a
 * sequence is HLT, at CPL 3 the #GP that it raises there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cpu/internal.h"
#include "sim/cpu/system.h"
#include "sim/dev/dev.h"
#include "sim/fpu/x87.h"
#include "tests/diff/diff.h"
#include "x86/msr.h"

#define RAM_BYTES (8u << 20)
#define TABLES    0x100000 /* physical: page tables, the first is the PML4 */
#define SCATTERED 0x200000 /* physical: all else */
#define N_SCATTER 64
#define STRIDE    7 /* in pages; prime to N_SCATTER, so that neighbours are never adjacent */

#define SYSTEM_BASE   0xffff800000000000 /* linear, supervisor only: */
#define GDT_BASE      SYSTEM_BASE
#define TSS_BASE      (SYSTEM_BASE + 0x800)
#define IDT_BASE      (SYSTEM_BASE + 0x1000)
#define HANDLERS      (SYSTEM_BASE + 0x2000)
#define IST_TOP       (SYSTEM_BASE + 0x4000)
#define SYSTEM_PAGES  4
#define HANDLER_BYTES 16
#define VECTORS       32
#define TSS_IST1      36

#define SELECTOR_CODE0 0x08
#define SELECTOR_DATA0 0x10
#define SELECTOR_DATA3 0x1b
#define SELECTOR_CODE3 0x23
#define SELECTOR_TSS   0x28
#define ATTR_CODE      0xa09b00 /* G, L, P, S, code, readable, accessed */
#define ATTR_DATA      0xc09300 /* G, B, P, S, data, writable, accessed */
#define ATTR_TSS       0x008b00
#define ATTR_DPL3      0x006000

/* Far more than any sequence takes; what has not halted by then never will. */
#define SLOT_LIMIT 200000
#define STEP_LIMIT 5000

static struct profile profile;
static struct machine *machine;
static struct cpu *cpu;
static uint64_t tables_used = TABLES + PAGE_BYTES, scattered_used;
static uint8_t *page[N_PAGES], *code[2], *system_page[SYSTEM_PAGES];
static uint64_t code_physical[2];
static uint64_t last_start, last_end; /* linear: what of the code area may be decoded */

static uint64_t map(uint64_t linear, uint64_t rights)
{
    uint64_t table = TABLES;
    for (int level = 3; level > 0; level--) {
        uint64_t *entry = (uint64_t *)(machine->ram + table) + (linear >> (12 + 9 * level) & 511);
        if (!*entry) {
            *entry = tables_used | PTE_P | PTE_RW | PTE_US;
            tables_used += PAGE_BYTES;
        }
        table = *entry & ~(uint64_t)(PAGE_BYTES - 1);
    }
    uint64_t physical = SCATTERED + (scattered_used++ * STRIDE % N_SCATTER) * PAGE_BYTES;
    ((uint64_t *)(machine->ram + table))[linear >> 12 & 511] = physical | PTE_P | rights;
    return physical;
}

static uint8_t *system_at(uint64_t linear)
{
    return system_page[(linear - SYSTEM_BASE) / PAGE_BYTES] + linear % PAGE_BYTES;
}

static void descriptor(unsigned selector, uint64_t base, uint32_t limit, uint32_t attr)
{
    uint64_t *d = (uint64_t *)system_at(GDT_BASE + (selector & ~7u));
    d[0] = (limit & 0xffff) | (base & 0xffffff) << 16 | (uint64_t)(attr | (limit & 0xf0000)) << 32 |
           (base >> 24 & 0xff) << 56;
}

static void build_memory(void)
{
    for (int i = 0; i < N_PAGES; i++) {
        page[i] =
            machine->ram + map(pages[i].linear, PTE_US | PTE_XD | (pages[i].writable ? PTE_RW : 0));
        memcpy(page[i], image[i], PAGE_BYTES);
    }
    for (int i = 0; i < 2; i++) {
        code_physical[i] = map(CODE_BASE + i * PAGE_BYTES, PTE_US | PTE_RW);
        code[i] = machine->ram + code_physical[i];
    }
    machine->ram[map(EXIT_BASE, PTE_US)] = 0xf4; /* HLT */
    for (int i = 0; i < SYSTEM_PAGES; i++)
        system_page[i] = machine->ram + map(SYSTEM_BASE + i * PAGE_BYTES, PTE_RW);

    descriptor(SELECTOR_CODE0, 0, 0xfffff, ATTR_CODE);
    descriptor(SELECTOR_DATA0, 0, 0xfffff, ATTR_DATA);
    descriptor(SELECTOR_DATA3, 0, 0xfffff, ATTR_DATA | ATTR_DPL3);
    descriptor(SELECTOR_CODE3, 0, 0xfffff, ATTR_CODE | ATTR_DPL3);
    descriptor(SELECTOR_TSS, TSS_BASE, 0x67, ATTR_TSS);
    uint64_t top = IST_TOP;
    memcpy(system_at(TSS_BASE + TSS_IST1), &top, sizeof(top));
    for (unsigned v = 0; v < VECTORS; v++) {
        uint64_t handler = HANDLERS + v * HANDLER_BYTES;
        uint64_t *gate = (uint64_t *)system_at(IDT_BASE + 16 * v);
        /* 64-bit interrupt gate, DPL 3, IST1 */
        gate[0] = (handler & 0xffff) | SELECTOR_CODE0 << 16 | (handler >> 16 & 0xffff) << 48 |
                  0xee01ull << 32;
        gate[1] = handler >> 32;
        *system_at(handler) = 0xf4;
    }
}

static void segment(enum seg s, unsigned selector, uint32_t attr)
{
    cpu->seg[s] = (struct segment){.selector = selector, .limit = UINT32_MAX, .attr = attr};
}

static void set_privilege(bool user)
{
    uint32_t dpl = user ? ATTR_DPL3 : 0;
    segment(SEG_CS, user ? SELECTOR_CODE3 : SELECTOR_CODE0, ATTR_CODE | dpl);
    segment(SEG_SS, user ? SELECTOR_DATA3 : SELECTOR_DATA0, ATTR_DATA | dpl);
    cpu->cpl = user ? 3 : 0;
}

/* The test's processor announces every feature that a form needs, so that what some profiles hide
 * is tested as well. */
static void announce_all(struct profile *p)
{
    for (int f = F_ALWAYS + 1; f < F_COUNT; f++)
        for (unsigned i = 0; i < p->n_cpuid; i++) {
            struct cpuid_leaf *l = &p->cpuid[i];
            uint32_t *const word[4] = {&l->eax, &l->ebx, &l->ecx, &l->edx};
            if (l->leaf == feature_bits[f].leaf &&
                (l->any_subleaf || l->subleaf == feature_bits[f].subleaf))
                *word[feature_bits[f].word] |= 1u << feature_bits[f].bit;
        }
}

bool simulated_init(const char *name)
{
    if (!profile_load(&profile, name, 0, stdout) || !profile_finish(&profile, stdout))
        return false;
    announce_all(&profile);
    machine = machine_new(&profile, 1, RAM_BYTES);
    if (!machine)
        return false;
    build_memory();
    cpu = machine->cpus[0];
    cpu_reset(cpu, false);
    cpu->cr0 = CR0_PE | CR0_MP | CR0_ET | CR0_NE | CR0_WP | CR0_PG;
    cpu->cr3 = TABLES;
    cpu->cr4 = CR4_PAE | CR4_PGE | CR4_OSFXSR | CR4_OSXMMEXCPT | CR4_OSXSAVE;
    cpu->system->xcr0 = 7; /* x87, SSE, AVX */
    cpu->efer = EFER_LME | EFER_LMA | EFER_NXE | EFER_SCE;
    cpu->gdtr.base = GDT_BASE;
    cpu->gdtr.limit = SELECTOR_TSS + 15;
    cpu->idtr.base = IDT_BASE;
    cpu->idtr.limit = VECTORS * 16 - 1;
    static const enum seg data[] = {SEG_DS, SEG_ES, SEG_FS, SEG_GS};
    for (unsigned i = 0; i < sizeof(data) / sizeof(data[0]); i++)
        segment(data[i], SELECTOR_DATA3, ATTR_DATA | ATTR_DPL3);
    cpu->seg[SEG_TR] = (struct segment){
        .selector = SELECTOR_TSS, .base = TSS_BASE, .limit = 0x67, .attr = ATTR_TSS};
    set_privilege(false);
    tlb_flush(cpu, true);
    exec_mode_changed(cpu);
    return true;
}

/* Puts the code in place and has the simulator forget what it decoded there. */
static void load_code(const struct sequence *s)
{
    uint64_t start = s->start, n = s->len + EXIT_JUMP_BYTES;
    for (unsigned i = 0; i < n; i++)
        code[(start + i) / PAGE_BYTES][(start + i) % PAGE_BYTES] = s->code[i];
    uint64_t end = start + n;
    for (unsigned p = 0; p < 2; p++)
        if (last_start / PAGE_BYTES <= p && last_end / PAGE_BYTES >= p)
            blocks_page_written(machine, code_physical[p]);
    last_start = start;
    last_end = end;
}

static void read_fault(const struct sequence *s, struct result *r)
{
    uint64_t frame[6];
    unsigned vector = (cpu->rip - 1 - HANDLERS) / HANDLER_BYTES;
    bool has_error = vector == VEC_DF || (vector >= VEC_TS && vector <= VEC_PF) || vector == VEC_AC;
    memcpy(frame, system_at(IST_TOP - sizeof(frame)), sizeof(frame));
    r->error = has_error ? frame[0] : 0;
    r->rip = frame[1];
    r->out.rflags = frame[3];
    r->out.r[RSP] = frame[4];
    r->cr2 = cpu->cr2;
    r->vector = vector;
    if (s->user && vector == VEC_GP && r->rip == EXIT_BASE)
        r->vector = -1;
}

static void load_fx(const struct fx_image *fx)
{
    struct fpu *f = &cpu->fpu;
    x87_set_control(f, fx->control);
    x87_set_status(f, fx->status);
    f->valid = fx->valid;
    for (unsigned i = 0; i < 8; i++)
        *x87_st(f, i) = (struct x87_register){fx->st[i].mantissa, fx->st[i].sign_exponent};
    f->mxcsr = fx->mxcsr;
    for (unsigned i = 0; i < 16; i++)
        memcpy(f->ymm[i].u64, fx->xmm[i], sizeof(fx->xmm[i]));
}

static void store_fx(struct fx_image *fx)
{
    struct fpu *f = &cpu->fpu;
    fx->control = f->control;
    fx->status = x87_status(f);
    fx->valid = f->valid;
    for (unsigned i = 0; i < 8; i++) {
        fx->st[i].mantissa = x87_st(f, i)->mantissa;
        fx->st[i].sign_exponent = x87_st(f, i)->sign_exponent;
    }
    fx->mxcsr = f->mxcsr;
    for (unsigned i = 0; i < 16; i++)
        memcpy(fx->xmm[i], f->ymm[i].u64, sizeof(fx->xmm[i]));
}

void simulated_run(const struct sequence *s, struct result *r)
{
    memset(r, 0, sizeof(*r));
    image_load(page, s);
    load_code(s);
    memcpy(cpu->r, s->in.r, sizeof(cpu->r));
    cpu->rip = CODE_BASE + s->start;
    cpu->state = CPU_RUNNING;
    set_privilege(s->user);
    cpu_set_rflags(cpu, s->in.rflags);
    load_fx(&s->in.fx);
    for (unsigned i = 0; i < 16; i++)
        memcpy(&cpu->fpu.ymm[i].u64[2], s->in.upper[i], sizeof(s->in.upper[i]));
    exec_mode_changed(cpu);

    /* One in eight instruction by instruction: the interpreter's other way to run a block. */
    if (s->index % 8 == 0)
        for (int i = 0; i < STEP_LIMIT && cpu->state == CPU_RUNNING && !machine->stop; i++)
            cpu_run(cpu, cpu->now + 1);
    else
        cpu_run(cpu, cpu->now + SLOT_LIMIT);

    memcpy(r->out.r, cpu->r, sizeof(r->out.r));
    store_fx(&r->out.fx);
    for (unsigned i = 0; i < 16; i++)
        memcpy(r->out.upper[i], &cpu->fpu.ymm[i].u64[2], sizeof(r->out.upper[i]));
    r->out.rflags = cpu_rflags(cpu);
    r->rip = EXIT_BASE;
    r->vector = -1;
    if (machine->stop) {
        r->vector = -2;
        r->why = machine->stop == STOP_UNSUPPORTED ? "the simulator lacks an instruction"
                                                   : "the simulated machine stopped";
        machine->stop = STOP_NONE;
        cpu->attention &= ~(uint32_t)ATTN_STOP;
    } else if (cpu->state != CPU_HALTED) {
        r->vector = -2;
        r->why = "did not end in the simulator";
    } else if (cpu->rip >= HANDLERS && cpu->rip < HANDLERS + VECTORS * HANDLER_BYTES) {
        read_fault(s, r);
    }
}

uint8_t *const *simulated_pages(void)
{
    return page;
}

void simulated_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    cpu_cpuid(cpu, leaf, subleaf, out);
}
