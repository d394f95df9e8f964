/* Compares the two results of a sequence; makes a failing one smaller; shows it. */
#include <Zydis/Zydis.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/diff/diff.h"

#define VECTOR_DE      0
#define VECTOR_PF      14
#define FLAGS_COMPARED (FL_STATUS | FL_DF)
#define ERROR_P        1u
#define ERROR_U        4u
#define NOP            0x90

/* The memory of the first run, kept while the second one uses the same pages (host against host).
 */
static uint8_t kept[N_PAGES][PAGE_BYTES];

static const char *const names[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                      "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

static uint16_t compared_flags(const struct sequence *s, const struct result *r, bool *valid)
{
    uint64_t off = r->rip - CODE_BASE - s->start;
    uint16_t undef = undefined_flags(s, r->vector >= 0 && off < s->len ? off : UINT32_MAX, valid);
    if (r->vector == VECTOR_DE)
        undef |= FL_STATUS; /* vol. 2, DIV: undefined, also when it faults */
    return (FLAGS_COMPARED | FL_CODES) & ~undef;
}

/* What of a page fault's error code must agree: U/S depends on the ring we chose, P is the host
 * kernel's business in its half. */
static uint32_t compared_error(const struct result *r)
{
    return r->vector != VECTOR_PF ? UINT32_MAX
           : (int64_t)r->cr2 < 0  ? ~(ERROR_U | ERROR_P)
                                  : ~ERROR_U;
}

/* In which order a processor reads an x87 environment is its own affair. */
static bool any_order(const struct sequence *s, uint64_t rip)
{
    for (unsigned i = 0; i < s->n_insns; i++)
        if (CODE_BASE + s->start + s->insn[i].off == rip)
            return s->insn[i].form >= 0 && (forms[s->insn[i].form].attr & A_ENVIRONMENT);
    return false;
}

static bool fault_agrees(const struct sequence *s, const struct result *a, const struct result *b)
{
    if (a->vector != b->vector || a->vector == -2 || a->rip != b->rip)
        return false;
    uint64_t address = any_order(s, a->rip) ? ~(uint64_t)(PAGE_BYTES - 1) : UINT64_MAX;
    if (a->vector == VECTOR_PF && ((a->cr2 ^ b->cr2) & address))
        return false;
    return a->vector < 0 || ((a->error ^ b->error) & compared_error(a)) == 0;
}

/* x87's control, status and tag words and the registers that hold something, MXCSR and XMM. Not the
 * pointers to the last instruction: the host's kernel keeps them or not. */
static bool fx_agrees(const struct fx_image *a, const struct fx_image *b, uint16_t codes)
{
    uint16_t status = 0xb8ff | (codes & FL_C0 ? 0x100 : 0) | (codes & FL_C1 ? 0x200 : 0) |
                      (codes & FL_C2 ? 0x400 : 0) | (codes & FL_C3 ? 0x4000 : 0);
    if (a->control != b->control || ((a->status ^ b->status) & status) || a->valid != b->valid ||
        a->mxcsr != b->mxcsr || memcmp(a->xmm, b->xmm, sizeof(a->xmm)))
        return false;
    unsigned top = a->status >> 11 & 7;
    for (unsigned i = 0; i < 8; i++)
        if ((a->valid >> ((top + i) & 7) & 1) && (a->st[i].mantissa != b->st[i].mantissa ||
                                                  a->st[i].sign_exponent != b->st[i].sign_exponent))
            return false;
    return true;
}

bool sequence_agrees(const struct sequence *s, bool self, struct result *host, struct result *sim)
{
    bool valid;
    uint8_t *const *a = native_pages(), *const *b = native_pages();
    native_run(s, host);
    if (self) {
        for (int p = 0; p < N_PAGES; p++)
            memcpy(kept[p], a[p], PAGE_BYTES);
        native_run(s, sim);
    } else {
        b = simulated_pages();
        simulated_run(s, sim);
    }
    uint16_t flags = compared_flags(s, host, &valid);
    if (!fault_agrees(s, host, sim) || memcmp(host->out.r, sim->out.r, sizeof(host->out.r)) ||
        ((host->out.rflags ^ sim->out.rflags) & flags & FLAGS_COMPARED) ||
        !fx_agrees(&host->out.fx, &sim->out.fx, flags) ||
        memcmp(host->out.upper, sim->out.upper, sizeof(host->out.upper)))
        return false;
    for (int p = 0; p < N_PAGES; p++)
        if (memcmp(self ? kept[p] : a[p], b[p], PAGE_BYTES))
            return false;
    return true;
}

/* ---- Shrinking ---- */

static bool still_fails(struct sequence *s, bool self)
{
    struct result host, sim;
    bool valid;
    undefined_flags(s, UINT32_MAX, &valid);
    return valid && !sequence_agrees(s, self, &host, &sim);
}

/* Keeps the change that try has, if the sequence still fails with it. */
static bool keep(struct sequence *s, const struct sequence *try, bool self)
{
    struct sequence copy = *try;
    if (!still_fails(&copy, self))
        return false;
    *s = *try;
    return true;
}

static void drop(struct sequence *s, unsigned i)
{
    s->insn[i].dropped = true;
    memset(s->code + s->insn[i].off, NOP, s->insn[i].len);
}

void shrink(struct sequence *s, bool self)
{
    /* Instructions become NOPs, so that nothing moves: first whole units, then single ones. */
    for (int u = s->n_units - 1; u >= 0; u--) {
        struct sequence try = *s;
        for (unsigned i = 0; i < s->n_insns; i++)
            if (s->insn[i].unit == u)
                drop(&try, i);
        keep(s, &try, self);
    }
    for (unsigned i = 0; i < s->n_insns; i++) {
        struct sequence try = *s;
        if (s->insn[i].dropped || s->insn[i].control || s->insn[i].form < 0)
            continue;
        drop(&try, i);
        keep(s, &try, self);
    }
    for (unsigned i = s->n_patches; i-- > 0;) {
        struct sequence try = *s;
        try.patch[i] = try.patch[--try.n_patches];
        keep(s, &try, self);
    }
    static const uint64_t simple[] = {0, 1, 2, 0x80, ~0ull};
    for (unsigned r = 0; r < 16; r++) {
        if (s->pinned >> r & 1)
            continue;
        for (unsigned v = 0; v < sizeof(simple) / sizeof(simple[0]); v++) {
            struct sequence try = *s;
            try.in.r[r] = simple[v];
            if (keep(s, &try, self))
                break;
        }
    }
    for (unsigned bit = 0; bit < 12; bit++) {
        struct sequence try = *s;
        try.in.rflags &= ~(1ull << bit & FL_STATUS);
        if (try.in.rflags != s->in.rflags)
            keep(s, &try, self);
    }
}

/* ---- Showing ---- */

static void show_flags(const char *what, uint64_t flags)
{
    static const struct {
        char name[3];
        uint16_t bit;
    } bits[] = {{"OF", FL_OF}, {"DF", FL_DF}, {"SF", FL_SF}, {"ZF", FL_ZF},
                {"AF", FL_AF}, {"PF", FL_PF}, {"CF", FL_CF}};
    printf("#   %-10s", what);
    for (unsigned i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
        printf(" %s=%d", bits[i].name, !!(flags & bits[i].bit));
    printf("\n");
}

/* x87's state, where there is anything to see. */
static void show_x87(const struct fx_image *in, const struct fx_image *a, const struct fx_image *b,
                     uint16_t codes)
{
    if (fx_agrees(in, a, FL_CODES) && fx_agrees(a, b, codes))
        return;
    const struct fx_image *all[] = {in, a, b};
    static const char *const who[] = {"in", "host", "simulator"};
    for (unsigned n = 0; n < 3; n++) {
        const struct fx_image *fx = all[n];
        printf("#   x87 %-10s control %04x status %04x valid %02x mxcsr %04x%s\n", who[n],
               fx->control, fx->status, fx->valid, fx->mxcsr,
               n == 2 && !fx_agrees(a, b, codes) ? "  <--" : "");
        for (unsigned i = 0; i < 8; i++)
            if (fx->valid >> (((fx->status >> 11) + i) & 7) & 1)
                printf("#       st%u %04x %016" PRIx64 "\n", i, fx->st[i].sign_exponent,
                       fx->st[i].mantissa);
    }
}

static void show_vectors(const struct state *in, const struct state *host, const struct state *sim)
{
    const struct state *const all[] = {in, host, sim};
    static const char *const who[] = {"in", "host", "simulator"};
    for (unsigned i = 0; i < 16; i++) {
        if (!memcmp(host->fx.xmm[i], sim->fx.xmm[i], 16) &&
            !memcmp(host->upper[i], sim->upper[i], 16))
            continue;
        for (unsigned k = 0; k < 3; k++)
            printf("#   ymm%-2u %-10s %016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %016" PRIx64
                   "%s\n",
                   i, who[k], all[k]->upper[i][1], all[k]->upper[i][0], all[k]->fx.xmm[i][1],
                   all[k]->fx.xmm[i][0], k == 2 ? "  <--" : "");
    }
}

static void show_code(const struct sequence *s)
{
    ZydisDecoder decoder;
    ZydisFormatter formatter;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
    for (unsigned i = 0; i < s->n_insns; i++) {
        const struct insn_record *n = &s->insn[i];
        ZydisDecodedInstruction z;
        ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
        char text[128] = "(Zydis cannot decode this)", hex[64] = "";
        uint64_t at = CODE_BASE + s->start + n->off;
        if (n->dropped)
            continue;
        if (ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, s->code + n->off, n->len, &z, op)))
            ZydisFormatterFormatInstruction(&formatter, &z, op, z.operand_count_visible, text,
                                            sizeof(text), at, NULL);
        for (unsigned b = 0; b < n->len; b++)
            sprintf(hex + 3 * b, "%02x ", s->code[n->off + b]);
        printf("#   %" PRIx64 ": %-36s %s\n", at, hex, text);
    }
}

static void show_end(const char *who, const struct result *r)
{
    if (r->vector == -1)
        printf("#   %s: reached the end\n", who);
    else if (r->vector == -2)
        printf("#   %s: %s, rip %" PRIx64 "\n", who, r->why, r->rip);
    else
        printf("#   %s: vector %d error %x cr2 %" PRIx64 " at rip %" PRIx64 "\n", who, r->vector,
               r->error, r->vector == VECTOR_PF ? r->cr2 : 0, r->rip);
}

void show(const struct sequence *s, bool self, const char *only)
{
    struct result host, sim;
    bool valid;
    sequence_agrees(s, self, &host, &sim);
    printf("# reproduce: --seed %" PRIu64 " --first %" PRIu64 " --count 1%s%s%s (CPL %d)\n",
           s->seed, s->index, only ? " --only '" : "", only ? only : "", only ? "'" : "",
           s->user ? 3 : 0);
    show_code(s);
    for (unsigned r = 0; r < 16; r++) {
        bool differs = host.out.r[r] != sim.out.r[r];
        if (differs || s->in.r[r] != host.out.r[r] || (s->in.r[r] && s->pinned >> r & 1))
            printf("#   %-4s in %016" PRIx64 "  host %016" PRIx64 "  simulator %016" PRIx64 "%s\n",
                   names[r], s->in.r[r], host.out.r[r], sim.out.r[r], differs ? "  <--" : "");
    }
    uint16_t flags = compared_flags(s, &host, &valid);
    show_flags("in", s->in.rflags);
    show_flags("host", host.out.rflags);
    show_flags("simulator", sim.out.rflags);
    show_flags("undefined", FLAGS_COMPARED & ~flags);
    if ((host.out.rflags ^ sim.out.rflags) & flags & FLAGS_COMPARED)
        show_flags("differ <--", (host.out.rflags ^ sim.out.rflags) & flags);
    show_x87(&s->in.fx, &host.out.fx, &sim.out.fx, flags);
    show_vectors(&s->in, &host.out, &sim.out);
    for (unsigned i = 0; i < s->n_patches; i++)
        printf("#   memory in %" PRIx64 ": %016" PRIx64 "\n", s->patch[i].address,
               s->patch[i].value);
    unsigned shown = 0;
    uint8_t *const *a = native_pages(), *const *b = self ? native_pages() : simulated_pages();
    for (int p = 0; p < N_PAGES; p++)
        for (unsigned i = 0; i < PAGE_BYTES; i++) {
            uint8_t x = self ? kept[p][i] : a[p][i], y = b[p][i];
            if (x != y && shown++ < 16)
                printf("#   memory %" PRIx64 ": was %02x host %02x simulator %02x  <--\n",
                       pages[p].linear + i, image[p][i], x, y);
        }
    show_end("host", &host);
    show_end("simulator", &sim);
}
