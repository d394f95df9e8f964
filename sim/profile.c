/*
 * Reads and checks profiles: lines of "key = value", '#' begins a comment. Scalar keys stand in one
 * table (fields); CPUID leaves and events are lists with their own small grammar:
 *
 *   cpuid.LEAF[.SUBLEAF] = EAX EBX ECX EDX       without SUBLEAF the leaf does not look at ECX
 *   event.SELECT.UMASK = NAME uncounted          the processor has it, the model does not count it
 *   event.SELECT.UMASK[.UMASK2] = NAME SOURCE [pebs] [latency] [counters=BITMAP]
 *   cache.LEVEL = SIZE WAYS LINE LATENCY         SIZE 0: absent
 *
 * A machine with several kinds of core has a section for each, which a line "[KIND]" begins: what
 * stands in front of the first is true of all, what stands in a section of that kind alone, and
 * nothing stands in both. "processors = KIND ..." says of which kind each processor is; the list is
 * gone through again and again. One struct profile has the facts of one kind.
 */
#include "sim/profile.h"

#include <ctype.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "x86/amd.h"
#include "x86/cpuid.h"
#include "x86/msr.h"
#include "x86/pmu.h"
#include "sim/profiles/embedded.h"

#define MAX_LINE   512
#define MAX_WORDS  16
#define KEY_LENGTH 48

/* ---- The scalar keys ---- */

enum field_type { FIELD_STRING, FIELD_UNSIGNED, FIELD_U32, FIELD_U64, FIELD_BOOL, FIELD_CACHE };

struct field {
    const char *key;
    enum field_type type;
    size_t offset, size;
    uint64_t min, max;
};

#define AT(member) offsetof(struct profile, member), sizeof(((struct profile *)0)->member)
#define TEXT(key, m)                                                                               \
    {                                                                                              \
        key, FIELD_STRING, AT(m), 0, 0                                                             \
    }
#define UINT(key, m, lo, hi)                                                                       \
    {                                                                                              \
        key, FIELD_UNSIGNED, AT(m), lo, hi                                                         \
    }
#define U32(key, m)                                                                                \
    {                                                                                              \
        key, FIELD_U32, AT(m), 0, UINT32_MAX                                                       \
    }
#define U64(key, m, lo, hi)                                                                        \
    {                                                                                              \
        key, FIELD_U64, AT(m), lo, hi                                                              \
    }
#define FLAG(key, m)                                                                               \
    {                                                                                              \
        key, FIELD_BOOL, AT(m), 0, 1                                                               \
    }
#define CACHE(key, m)                                                                              \
    {                                                                                              \
        key, FIELD_CACHE, AT(m), 0, 0                                                              \
    }

#define MIN_HZ          1000000ULL
#define MAX_HZ          100000000000ULL
#define MAX_CYCLES      100000
#define MAX_WINDOW      512
#define MAX_FETCH       128
#define MAX_PREFETCH    32
#define MAX_EVENT_INTEL 0xff
#define MAX_EVENT       0xfff /* PERF_CTL[35:32] and [7:0] */

/* SDM vol. 3 "Linear-Address Translation": MAXPHYADDR is at most 52, the paging structures have no
 * more room. The least is 32: the local APIC's page is at FEE00000H. */
#define MAXPHYADDR_MIN 32
#define MAXPHYADDR_MAX 52

/* IA32_MCG_CAP: no extended state registers, no interrupt for corrected errors. */
#define MCG_CAP_FLAGS (MCG_CAP_CTL_P | MCG_CAP_TES_P | MCG_CAP_SER_P)

static const struct field fields[] = {
    TEXT("name", name),
    TEXT("description", description),
    TEXT("processors", processors),
    U32("microcode", microcode),
    FLAG("msr.smi_count", smi_count),
    FLAG("msr.split_lock", split_lock),
    UINT("msr.mtrr_variable", mtrr_variable, 0, PROFILE_MAX_MTRR),
    U32("msr.mcg_cap", mcg_cap),
    UINT("msr.platform_id", platform_id, 0, 7),
    U64("msr.platform_info", platform_info, 0, UINT64_MAX),
    U64("msr.turbo_ratio_limit", turbo_ratio_limit, 0, UINT64_MAX),
    U64("msr.pstate", pstate, 0, UINT64_MAX),
    U64("clock.core_hz", core_hz, MIN_HZ, MAX_HZ),
    U64("clock.tsc_hz", tsc_hz, MIN_HZ, MAX_HZ),
    U64("clock.ref_hz", ref_hz, MIN_HZ, MAX_HZ),
    U64("clock.apic_hz", apic_hz, MIN_HZ, MAX_HZ),
    UINT("pmu.version", pmu.version, 0, 6),
    UINT("pmu.general", pmu.general, 0, 8),
    UINT("pmu.general_more", pmu.general_more, 0, PROFILE_MAX_GENERAL),
    UINT("pmu.general_width", pmu.general_width, 32, 64),
    UINT("pmu.fixed", pmu.fixed, 0, PROFILE_MAX_FIXED),
    UINT("pmu.fixed_width", pmu.fixed_width, 32, 64),
    {"pmu.fixed_bitmap", FIELD_U32, AT(pmu.fixed_bitmap), 0, (1 << PROFILE_MAX_FIXED) - 1},
    {"pmu.fixed_more", FIELD_U32, AT(pmu.fixed_more), 0, (1 << PROFILE_MAX_FIXED) - 1},
    {"pmu.events_unavailable", FIELD_U32, AT(pmu.events_unavailable), 0, UINT32_MAX},
    UINT("pmu.events_length", pmu.events_length, 0, 32),
    FLAG("pmu.contradictory", pmu.contradictory),
    FLAG("pmu.anythread", pmu.anythread),
    FLAG("pmu.pin_control", pmu.pin_control),
    FLAG("pmu.full_width", pmu.full_width),
    FLAG("pmu.has_capabilities", pmu.has_capabilities),
    U64("pmu.capabilities", pmu.capabilities, 0, UINT64_MAX),
    U64("pmu.misc_enable", pmu.misc_enable, 0, UINT64_MAX),
    FLAG("pmu.bts", pmu.bts),
    FLAG("pmu.ds64", pmu.ds64),
    FLAG("pmu.bts_predicted", pmu.bts_predicted),
    UINT("pmu.pebs_counters", pmu.pebs_counters, 0, (1 << PROFILE_MAX_GENERAL) - 1),
    UINT("pmu.pebs_format", pmu.pebs_format, 0, 6),
    U64("pmu.pebs_pdist", pmu.pebs_pdist, 0, UINT64_MAX),
    U64("pmu.pebs_untimed", pmu.pebs_untimed, 0, UINT64_MAX),
    FLAG("pmu.pebs_load_latency", pmu.pebs_load_latency),
    UINT("pmu.pebs_source", pmu.pebs_source, PEBS_SOURCE_CORE, PEBS_SOURCE_LION_COVE),
    UINT("pmu.lbr_depth", pmu.lbr_depth, 0, 64),
    UINT("pmu.lbr_format", pmu.lbr_format, 0, LBR_FMT_ARCHITECTURAL),
    FLAG("pmu.lbr_select", pmu.lbr_select),
    FLAG("pmu.lbr_callstack", pmu.lbr_callstack),
    FLAG("pmu.lbr_info", pmu.lbr_info),
    FLAG("pmu.lbr_core2_addresses", pmu.lbr_core2_addresses),
    FLAG("pmu.no_freeze", pmu.no_freeze),
    FLAG("pmu.int_from_behind", pmu.int_from_behind),
    FLAG("pmu.lbr_freeze_fails", pmu.lbr_freeze_fails),
    U32("pmu.freeze_fixed_from", pmu.freeze_fixed_from),
    U32("pmu.pebs_fixed_from", pmu.pebs_fixed_from),
    FLAG("pmu.pebs_pmi_late", pmu.pebs_pmi_late),
    FLAG("pmu.pebs_keeps_bit", pmu.pebs_keeps_bit),
    FLAG("pmu.counters_need_reset", pmu.counters_need_reset),
    FLAG("pmu.latency_needs_aux", pmu.latency_needs_aux),
    FLAG("pmu.metrics", pmu.metrics),
    FLAG("pmu.metrics_level2", pmu.metrics_level2),
    FLAG("pmu.unannounced", pmu.unannounced),
    UINT("pmu.offcore_rsp", pmu.offcore_rsp, 0, 2),
    UINT("pmu.skid", pmu.skid, 0, MAX_CYCLES),
    UINT("uarch.retire_width", uarch.retire_width, 1, 16),
    UINT("uarch.fetch_bytes", uarch.fetch_bytes, 0, MAX_FETCH),
    UINT("uarch.window", uarch.window, 0, MAX_WINDOW),
    CACHE("cache.l1i", uarch.l1i),
    CACHE("cache.l1d", uarch.l1d),
    CACHE("cache.l2", uarch.l2),
    CACHE("cache.llc", uarch.llc),
    UINT("uarch.memory_latency", uarch.memory_latency, 1, MAX_CYCLES),
    UINT("uarch.mispredict_penalty", uarch.mispredict_penalty, 0, MAX_CYCLES),
    UINT("uarch.misses", uarch.misses, 0, MAX_MISSES),
    UINT("uarch.prefetch", uarch.prefetch, 0, MAX_PREFETCH),
    UINT("uarch.predictor_bits", uarch.predictor_bits, 1, 24),
    UINT("uarch.lat_mul", uarch.lat_mul, 1, MAX_CYCLES),
    UINT("uarch.lat_forward", uarch.lat_forward, 0, MAX_CYCLES),
    UINT("uarch.lat_div", uarch.lat_div, 1, MAX_CYCLES),
    UINT("uarch.lat_io", uarch.lat_io, 1, MAX_CYCLES),
    UINT("uarch.lat_msr", uarch.lat_msr, 1, MAX_CYCLES),
    UINT("uarch.lat_tsc", uarch.lat_tsc, 1, MAX_CYCLES),
    UINT("uarch.lat_pause", uarch.lat_pause, 1, MAX_CYCLES),
    UINT("uarch.lat_serialize", uarch.lat_serialize, 1, MAX_CYCLES),
};
#define N_FIELDS (sizeof fields / sizeof *fields)

/* What an event may count. */
static const struct {
    const char *name;
    enum cpu_event what;
    enum event_unit unit;
} sources[] = {
    {"none", EV_ABSENT, UNIT_EVENT},
    {"insn", EV_INSN, UNIT_EVENT},
    {"slots", EV_SLOTS, UNIT_EVENT},
    {"core-cycle", EV_SLOTS, UNIT_CORE_CYCLE},
    {"tsc-cycle", EV_SLOTS, UNIT_TSC_CYCLE},
    {"ref-cycle", EV_SLOTS, UNIT_REF_CYCLE},
    {"uops", EV_UOPS, UNIT_EVENT},
    {"branch", EV_BRANCH, UNIT_EVENT},
    {"branch-taken", EV_BRANCH_TAKEN, UNIT_EVENT},
    {"branch-cond", EV_BRANCH_COND, UNIT_EVENT},
    {"branch-call", EV_BRANCH_CALL, UNIT_EVENT},
    {"branch-ret", EV_BRANCH_RET, UNIT_EVENT},
    {"branch-far", EV_BRANCH_FAR, UNIT_EVENT},
    {"mispredict", EV_MISPREDICT, UNIT_EVENT},
    {"load", EV_LOAD, UNIT_EVENT},
    {"store", EV_STORE, UNIT_EVENT},
    {"l1-hit", EV_L1_HIT, UNIT_EVENT},
    {"l1-miss", EV_L1_MISS, UNIT_EVENT},
    {"l2-hit", EV_L2_HIT, UNIT_EVENT},
    {"l2-miss", EV_L2_MISS, UNIT_EVENT},
    {"llc-ref", EV_LLC_REF, UNIT_EVENT},
    {"llc-hit", EV_LLC_HIT, UNIT_EVENT},
    {"llc-miss", EV_LLC_MISS, UNIT_EVENT},
    {"interrupt", EV_INTERRUPT, UNIT_EVENT},
    {"masked-cycle", EV_SLOTS_MASKED, UNIT_CORE_CYCLE},
    {"waiting-cycle", EV_SLOTS_WAITING, UNIT_CORE_CYCLE},
    {"recovery-cycle", EV_SLOTS_BAD_SPEC, UNIT_CORE_CYCLE},
    {"lbr-insert", EV_LBR_INSERT, UNIT_EVENT},
    {"insn-delivered", EV_INSN, UNIT_EVENT},
    {"branch-delivered", EV_BRANCH, UNIT_EVENT},
    {"taken-delivered", EV_BRANCH_TAKEN, UNIT_EVENT},
    {"mispredict-far", EV_MISPREDICT, UNIT_EVENT},
    {"slots-retiring", EV_SLOTS_RETIRING, UNIT_EVENT},
    {"slots-bad-spec", EV_SLOTS_BAD_SPEC, UNIT_EVENT},
    {"slots-frontend", EV_SLOTS_FRONTEND, UNIT_EVENT},
    {"slots-backend", EV_SLOTS_BACKEND, UNIT_EVENT},
    {"slots-heavy", EV_SLOTS_HEAVY, UNIT_EVENT},
    {"slots-fetch-latency", EV_SLOTS_FETCH_LATENCY, UNIT_EVENT},
    {"slots-memory", EV_SLOTS_MEMORY, UNIT_EVENT},
};
#define N_SOURCES (sizeof sources / sizeof *sources)

/* What else some of them count: AMD's with interrupts and exceptions, or with all that is never
 * predicted. */
static const struct {
    const char *name;
    enum cpu_event and_what;
} sums[] = {
    {"insn-delivered", EV_DELIVERED},
    {"branch-delivered", EV_DELIVERED},
    {"taken-delivered", EV_DELIVERED},
    {"mispredict-far", EV_BRANCH_FAR},
};

static enum cpu_event and_what(const char *source)
{
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        if (strcmp(sums[i].name, source) == 0)
            return sums[i].and_what;
    return EV_ABSENT;
}

/* ---- Reading ---- */

struct reader {
    struct profile *profile;
    const char *file; /* for messages */
    unsigned line;    /* 0: none (--set, whole file) */
    bool override;    /* --set: a key may replace what the file said */
    bool in_section;  /* the line is of one kind of core alone */
    bool seen[N_FIELDS];
    unsigned seen_line[N_FIELDS];
    FILE *err;
};

__attribute__((format(printf, 3, 4))) static bool fail(struct reader *r, const char *field,
                                                       const char *format, ...)
{
    va_list args;
    if (r->line)
        fprintf(r->err, "%s:%u: %s: ", r->file, r->line, field);
    else
        fprintf(r->err, "%s: %s: ", r->file, field);
    va_start(args, format);
    vfprintf(r->err, format, args);
    va_end(args);
    fputc('\n', r->err);
    return false;
}

/* Levenshtein distance, for "did you mean". */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[KEY_LENGTH + 1];
    size_t n = strnlen(b, KEY_LENGTH);
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (; *a; a++) {
        unsigned diagonal = row[0]++;
        for (size_t j = 1; j <= n; j++) {
            unsigned best = diagonal + (*a != b[j - 1]);
            diagonal = row[j];
            best = row[j] + 1 < best ? row[j] + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
        }
    }
    return row[n];
}

/* A number, decimal or 0x hexadecimal, the whole word. */
static bool parse_number(const char *word, uint64_t *value)
{
    if (!isdigit((unsigned char)word[0]))
        return false;
    char *end;
    int base = word[0] == '0' && (word[1] == 'x' || word[1] == 'X') ? 16 : 10;
    unsigned long long v = strtoull(word, &end, base);
    /* strtoull answers overflow with ULLONG_MAX, which only all ones may give. */
    if (*end || (v == UINT64_MAX && strcmp(word, "0xffffffffffffffff") != 0))
        return false;
    *value = v;
    return true;
}

static unsigned split_words(char *text, char *words[MAX_WORDS])
{
    unsigned n = 0;
    char *save;
    for (char *w = strtok_r(text, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
        if (n < MAX_WORDS)
            words[n] = w;
        n++;
    }
    return n;
}

static bool parse_cache(struct reader *r, const char *key, char *value, struct profile_cache *c)
{
    char *words[MAX_WORDS];
    uint64_t n[4];
    if (split_words(value, words) != 4)
        return fail(r, key, "wants four numbers: size, ways, line size, latency");
    for (unsigned i = 0; i < 4; i++)
        if (!parse_number(words[i], &n[i]) || n[i] > UINT32_MAX)
            return fail(r, key, "\"%s\" is not a number of 32 bits", words[i]);
    uint64_t size = n[0], ways = n[1], line = n[2];
    if (size && (ways < 1 || ways > 64))
        return fail(r, key, "ways must be 1 to 64");
    if (size && (line < 16 || line > 256 || (line & (line - 1))))
        return fail(r, key, "the line size must be a power of two from 16 to 256");
    uint64_t sets = size ? size / (ways * line) : 0;
    if (size && (sets == 0 || (sets & (sets - 1)) || sets * ways * line != size))
        return fail(r, key, "size / (ways * line) must be a power of two");
    if (size && n[3] > MAX_CYCLES)
        return fail(r, key, "the latency must be at most %d", MAX_CYCLES);
    *c = (struct profile_cache){size, ways, line, n[3]};
    return true;
}

static bool parse_field(struct reader *r, const struct field *f, char *value)
{
    void *at = (char *)r->profile + f->offset;
    uint64_t number = 0;
    if (f->type == FIELD_STRING) {
        if (strlen(value) >= f->size)
            return fail(r, f->key, "longer than %zu characters", f->size - 1);
        snprintf(at, f->size, "%s", value);
        return true;
    }
    if (f->type == FIELD_CACHE)
        return parse_cache(r, f->key, value, at);
    if (f->type == FIELD_BOOL && strcmp(value, "yes") == 0)
        number = 1;
    else if (f->type == FIELD_BOOL && strcmp(value, "no") == 0)
        number = 0;
    else if (!parse_number(value, &number))
        return fail(r, f->key, "\"%s\" is not %s", value,
                    f->type == FIELD_BOOL ? "yes or no" : "a number");
    if (number < f->min || number > f->max)
        return fail(r, f->key, "%s is out of range: %llu to %llu", value,
                    (unsigned long long)f->min, (unsigned long long)f->max);
    switch (f->type) {
    case FIELD_BOOL:
        *(bool *)at = number;
        break;
    case FIELD_U64:
        *(uint64_t *)at = number;
        break;
    default:
        *(uint32_t *)at = number;
    }
    return true;
}

/* "LEAF" or "LEAF.SUBLEAF" behind "cpuid.". */
static bool parse_cpuid(struct reader *r, const char *key, char *index, char *value)
{
    struct cpuid_leaf leaf = {.any_subleaf = true};
    uint64_t number;
    char *dot = strchr(index, '.');
    if (dot) {
        *dot++ = 0;
        if (!parse_number(dot, &number) || number > UINT32_MAX)
            return fail(r, key, "the sub-leaf \"%s\" is not a number of 32 bits", dot);
        leaf.subleaf = number;
        leaf.any_subleaf = false;
    }
    if (!parse_number(index, &number) || number > UINT32_MAX)
        return fail(r, key, "the leaf \"%s\" is not a number of 32 bits", index);
    leaf.leaf = number;
    if (leaf.leaf == 0xa && !r->profile->pmu.contradictory)
        return fail(r, key,
                    "leaf 0AH follows from the pmu fields: set those, or first "
                    "pmu.contradictory = yes");
    char *words[MAX_WORDS];
    uint32_t *out[] = {&leaf.eax, &leaf.ebx, &leaf.ecx, &leaf.edx};
    if (split_words(value, words) != 4)
        return fail(r, key, "wants four numbers: EAX EBX ECX EDX");
    for (unsigned i = 0; i < 4; i++) {
        if (!parse_number(words[i], &number) || number > UINT32_MAX)
            return fail(r, key, "\"%s\" is not a number of 32 bits", words[i]);
        *out[i] = number;
    }
    struct profile *p = r->profile;
    unsigned i = 0;
    while (i < p->n_cpuid &&
           (p->cpuid[i].leaf != leaf.leaf ||
            (!leaf.any_subleaf && !p->cpuid[i].any_subleaf && p->cpuid[i].subleaf != leaf.subleaf)))
        i++;
    if (i < p->n_cpuid && !r->override)
        return fail(r, key, "given twice");
    if (i == PROFILE_MAX_CPUID)
        return fail(r, key, "more than %d leaves", PROFILE_MAX_CPUID);
    if (i == p->n_cpuid)
        p->n_cpuid++;
    p->cpuid[i] = leaf;
    return true;
}

static bool parse_event_word(struct reader *r, const char *key, struct profile_event *e,
                             const char *word)
{
    static const char counters[] = "counters=";
    uint64_t bitmap;
    if (strcmp(word, "pebs") == 0) {
        e->pebs = true;
    } else if (strcmp(word, "latency") == 0) {
        e->load_latency = true;
    } else if (strncmp(word, counters, sizeof counters - 1) == 0) {
        if (!parse_number(word + sizeof counters - 1, &bitmap) || bitmap == 0 ||
            bitmap >> PROFILE_MAX_GENERAL)
            return fail(r, key, "\"%s\": a bitmap from 1 to %#x", word,
                        (1 << PROFILE_MAX_GENERAL) - 1);
        e->counters = bitmap;
    } else {
        return fail(r, key, "\"%s\" is none of pebs, latency, counters=BITMAP", word);
    }
    return true;
}

/* "SELECT.UMASK" or "SELECT.UMASK.UMASK2". */
static bool parse_encoding(char *text, struct profile_event *e)
{
    static const uint64_t most[] = {MAX_EVENT, 0xff, 0xff};
    uint64_t numbers[sizeof most / sizeof *most] = {0};
    unsigned n = 0;
    char *save;
    for (char *w = strtok_r(text, ".", &save); w; w = strtok_r(NULL, ".", &save), n++)
        if (n == sizeof most / sizeof *most || !parse_number(w, &numbers[n]) ||
            numbers[n] > most[n])
            return false;
    e->event = numbers[0];
    e->umask = numbers[1];
    e->umask2 = numbers[2];
    return n >= 2;
}

static bool is_amd(const struct profile *p)
{
    for (unsigned i = 0; i < p->n_cpuid; i++)
        if (p->cpuid[i].leaf == 0)
            return p->cpuid[i].ebx == CPUID_0_EBX_AMD && p->cpuid[i].edx == CPUID_0_EDX_AMD &&
                   p->cpuid[i].ecx == CPUID_0_ECX_AMD;
    return false;
}

static bool same_encoding(const struct profile_uncounted *u, const struct profile_event *e)
{
    return u->event == e->event && u->umask == e->umask && u->umask2 == e->umask2;
}

static bool is_uncounted(const struct profile *p, const struct profile_event *e)
{
    unsigned i = 0;
    while (i < p->n_uncounted && !same_encoding(&p->uncounted[i], e))
        i++;
    return i < p->n_uncounted;
}

static bool add_uncounted(struct reader *r, const char *key, const struct profile_event *e)
{
    struct profile *p = r->profile;
    if (p->n_uncounted == PROFILE_MAX_UNCOUNTED)
        return fail(r, key, "more than %d uncounted events", PROFILE_MAX_UNCOUNTED);
    struct profile_uncounted *u = &p->uncounted[p->n_uncounted++];
    *u = (struct profile_uncounted){e->event, e->umask, e->umask2, ""};
    snprintf(u->name, sizeof u->name, "%s", e->name);
    return true;
}

/* What stands behind "event.", and its value. */
static bool parse_event(struct reader *r, const char *key, char *index, char *value)
{
    struct profile_event e = {0};
    if (!parse_encoding(index, &e))
        return fail(r, key,
                    "wants event.SELECT.UMASK or event.SELECT.UMASK.UMASK2, each 0 to 0xff (SELECT "
                    "of AMD's to 0xfff)");
    if (e.event > MAX_EVENT_INTEL && !is_amd(r->profile))
        return fail(r, key,
                    "wants event.SELECT.UMASK or event.SELECT.UMASK.UMASK2, each 0 to 0xff");
    char *words[MAX_WORDS];
    unsigned n = split_words(value, words), s = 0;
    if (n < 2 || n > MAX_WORDS)
        return fail(r, key, "wants a name and what it counts");
    if (strlen(words[0]) >= sizeof e.name)
        return fail(r, key, "the name is longer than %zu characters", sizeof e.name - 1);
    snprintf(e.name, sizeof e.name, "%s", words[0]);
    bool uncounted = strcmp(words[1], "uncounted") == 0;
    if (uncounted && n > 2)
        return fail(r, key, "\"%s\": nothing stands behind uncounted", words[2]);
    while (s < N_SOURCES && strcmp(sources[s].name, words[1]) != 0)
        s++;
    if (s == N_SOURCES && !uncounted)
        return fail(r, key, "\"%s\" is nothing that the machine counts", words[1]);
    e.what = uncounted ? EV_ABSENT : sources[s].what;
    e.unit = uncounted ? UNIT_EVENT : sources[s].unit;
    e.and_what = and_what(words[1]);
    for (unsigned i = 2; i < n; i++)
        if (!parse_event_word(r, key, &e, words[i]))
            return false;
    struct profile *p = r->profile;
    unsigned i = 0;
    while (i < p->n_events && (p->events[i].event != e.event || p->events[i].umask != e.umask ||
                               p->events[i].umask2 != e.umask2))
        i++;
    if ((i < p->n_events || is_uncounted(p, &e)) && !r->override)
        return fail(r, key, "given twice");
    if (uncounted) {
        if (i < p->n_events)
            p->events[i] = p->events[--p->n_events];
        return is_uncounted(p, &e) || add_uncounted(r, key, &e);
    }
    if (i == PROFILE_MAX_EVENTS)
        return fail(r, key, "more than %d events", PROFILE_MAX_EVENTS);
    if (i == p->n_events)
        p->n_events++;
    p->events[i] = e;
    return true;
}

static bool unknown_key(struct reader *r, const char *key)
{
    size_t best = 0;
    for (size_t i = 1; i < N_FIELDS; i++)
        if (distance(key, fields[i].key) < distance(key, fields[best].key))
            best = i;
    return fail(r, key, "unknown key; the nearest is %s", fields[best].key);
}

static char *trim(char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    char *end = s + strlen(s);
    while (end > s && isspace((unsigned char)end[-1]))
        *--end = 0;
    return s;
}

/* ---- Kinds of core ---- */

static unsigned find_kind(const struct profile *p, const char *name)
{
    unsigned i = 0;
    while (i < p->n_kinds && strcmp(p->kinds[i], name) != 0)
        i++;
    return i;
}

/* "p, e" */
static const char *list_kinds(const struct profile *p, char text[PROFILE_KIND_LIST])
{
    int n = 0;
    text[0] = 0;
    for (unsigned i = 0; i < p->n_kinds; i++)
        n += snprintf(text + n, PROFILE_KIND_LIST - n, "%s%s", i ? ", " : "", p->kinds[i]);
    return text;
}

/* "[KIND]" begins the section of one kind of core. */
static bool begin_section(struct reader *r, char *text)
{
    struct profile *p = r->profile;
    size_t length = strlen(text),
           letters = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz0123456789");
    if (text[length - 1] != ']' || letters != length - 2 || letters == 0 ||
        letters >= sizeof p->kinds[0])
        return fail(r, text, "a section is [KIND], of 1 to %zu small letters and digits",
                    sizeof p->kinds[0] - 1);
    text[length - 1] = 0;
    if (find_kind(p, text + 1) < p->n_kinds)
        return fail(r, text + 1, "this section is there twice");
    if (p->n_kinds == PROFILE_MAX_KINDS)
        return fail(r, text + 1, "more than %d kinds of core", PROFILE_MAX_KINDS);
    r->in_section = true;
    snprintf(p->kinds[p->n_kinds++], sizeof p->kinds[0], "%s", text + 1);
    return true;
}

/* What a machine has once. */
static bool is_of_machine(const char *key)
{
    static const char *const keys[] = {"name", "description", "processors", "clock.tsc_hz",
                                       "clock.apic_hz"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

/* SDM vol. 2 "CPUID", leaf 1AH tells the kinds apart; how many processors of each there are, and in
 * which order, the firmware decides. */
static bool find_order(struct reader *r)
{
    struct profile *p = r->profile;
    char text[sizeof p->processors], *words[MAX_WORDS], kinds[PROFILE_KIND_LIST];
    snprintf(text, sizeof text, "%s", p->processors);
    unsigned n = split_words(text, words);
    if (p->n_kinds == 0)
        return n == 0 || fail(r, "processors", "the profile has one kind of core");
    if (n == 0)
        return fail(r, "processors", "missing: of which kind is each? The profile has %s",
                    list_kinds(p, kinds));
    if (n > PROFILE_MAX_ORDER)
        return fail(r, "processors", "more than %d", PROFILE_MAX_ORDER);
    p->n_order = n;
    for (unsigned i = 0; i < n; i++) {
        p->order[i] = find_kind(p, words[i]);
        if (p->order[i] == p->n_kinds)
            return fail(r, "processors", "\"%s\" is no kind of core here: the profile has %s",
                        words[i], list_kinds(p, kinds));
    }
    return true;
}

unsigned profile_kind_of(const struct profile *p, unsigned processor)
{
    return p->n_order ? p->order[processor % p->n_order] : 0;
}

/* One "key = value"; text is changed. */
static bool assign(struct reader *r, char *text)
{
    char *equals = strchr(text, '=');
    if (!equals)
        return fail(r, trim(text), "no \"=\": wants KEY = VALUE");
    *equals = 0;
    char *key = trim(text), *value = trim(equals + 1);
    char index[KEY_LENGTH];
    if (strlen(key) >= sizeof index)
        return fail(r, key, "unknown key");
    if (*value == 0)
        return fail(r, key, "no value");
    if (r->in_section && is_of_machine(key))
        return fail(r, key, "the machine has one: it is not for one kind of core");
    const char *dot = strchr(key, '.');
    snprintf(index, sizeof index, "%s", dot ? dot + 1 : "");
    if (strncmp(key, "cpuid.", 6) == 0)
        return parse_cpuid(r, key, index, value);
    if (strncmp(key, "event.", 6) == 0)
        return parse_event(r, key, index, value);
    for (size_t i = 0; i < N_FIELDS; i++) {
        if (strcmp(key, fields[i].key) != 0)
            continue;
        if (r->seen[i])
            return fail(r, key, "given twice, first in line %u", r->seen_line[i]);
        r->seen[i] = true;
        r->seen_line[i] = r->line;
        return parse_field(r, &fields[i], value);
    }
    return unknown_key(r, key);
}

/* Keys that have no sensible value of their own when a file leaves them out. */
static const char *const required[] = {
    "name",
    "description",
    "clock.core_hz",
    "clock.tsc_hz",
    "clock.ref_hz",
    "clock.apic_hz",
    "pmu.version",
    "cache.l1d",
    "uarch.retire_width",
    "cache.l2",
    "cache.llc",
    "uarch.memory_latency",
    "uarch.mispredict_penalty",
    "uarch.predictor_bits",
    "uarch.lat_mul",
    "uarch.lat_div",
    "uarch.lat_io",
    "uarch.lat_msr",
    "uarch.lat_tsc",
    "uarch.lat_pause",
    "uarch.lat_serialize",
};

static bool check_required(struct reader *r)
{
    bool ok = true;
    r->line = 0;
    for (size_t k = 0; k < sizeof required / sizeof *required; k++)
        for (size_t i = 0; i < N_FIELDS; i++)
            if (strcmp(fields[i].key, required[k]) == 0 && !r->seen[i])
                ok = fail(r, required[k], "missing");
    return ok;
}

/* The parts of IA32_PERF_CAPABILITIES that other fields say. */
static uint64_t derived_capabilities(const struct profile *p, uint64_t *mask)
{
    *mask = PERF_CAP_LBR_FMT | PERF_CAP_PEBS_FMT | PERF_CAP_FW_WRITE | PERF_CAP_PERF_METRICS;
    return p->pmu.lbr_format | (uint64_t)p->pmu.pebs_format << PERF_CAP_PEBS_FMT_SHIFT |
           (p->pmu.full_width ? PERF_CAP_FW_WRITE : 0) |
           (p->pmu.metrics && !p->pmu.unannounced ? PERF_CAP_PERF_METRICS : 0);
}

static bool check_capabilities(struct reader *r)
{
    const struct profile *p = r->profile;
    uint64_t mask, derived = derived_capabilities(p, &mask);
    if (p->pmu.contradictory || !p->pmu.has_capabilities || (p->pmu.capabilities & mask) == derived)
        return true;
    for (size_t i = 0; i < N_FIELDS; i++)
        if (strcmp(fields[i].key, "pmu.capabilities") == 0)
            r->line = r->seen_line[i];
    return fail(r, "pmu.capabilities",
                "contradicts lbr_format, pebs_format, full_width or metrics: bits %llxH should be "
                "%llxH",
                (unsigned long long)mask, (unsigned long long)derived);
}

bool profile_parse(struct profile *p, const char *file, const char *text, unsigned kind, FILE *err)
{
    struct reader r = {.profile = p, .file = file, .err = err};
    memset(p, 0, sizeof *p);
    p->kind = kind;
    bool ok = true;
    while (*text) {
        size_t length = strcspn(text, "\n");
        char line[MAX_LINE];
        r.line++;
        if (length >= sizeof line) {
            ok = fail(&r, "line", "longer than %d characters", MAX_LINE - 1);
        } else {
            memcpy(line, text, length);
            line[length] = 0;
            line[strcspn(line, "#")] = 0;
            if (*trim(line) == '[')
                ok &= begin_section(&r, trim(line));
            else if (*trim(line) && (!r.in_section || p->n_kinds == kind + 1))
                ok &= assign(&r, line);
        }
        text += length + (text[length] == '\n');
    }
    return check_required(&r) && ok && check_capabilities(&r);
}

bool profile_set(struct profile *p, const char *assignment, FILE *err)
{
    struct reader r = {.profile = p, .file = "--set", .override = true, .err = err};
    char text[MAX_LINE], kinds[PROFILE_KIND_LIST];
    if (strlen(assignment) >= sizeof text)
        return fail(&r, "assignment", "longer than %d characters", MAX_LINE - 1);
    snprintf(text, sizeof text, "%s", assignment);
    size_t kind = strcspn(text, ":=");
    if (text[kind] != ':')
        return assign(&r, text);
    text[kind] = 0;
    if (p->n_kinds == 0)
        return fail(&r, text, "%s has one kind of core: without \"%s:\"", p->name, text);
    if (find_kind(p, text) == p->n_kinds)
        return fail(&r, text, "no kind of core of %s: it has %s", p->name, list_kinds(p, kinds));
    r.in_section = true;
    return find_kind(p, text) != p->kind || assign(&r, text + kind + 1);
}

/* ---- Across fields ---- */

static struct cpuid_leaf *subleaf_of(struct profile *p, uint32_t leaf, uint32_t subleaf)
{
    for (unsigned i = 0; i < p->n_cpuid; i++)
        if (p->cpuid[i].leaf == leaf && (p->cpuid[i].any_subleaf || p->cpuid[i].subleaf == subleaf))
            return &p->cpuid[i];
    return NULL;
}

static struct cpuid_leaf *leaf_of(struct profile *p, uint32_t leaf)
{
    return subleaf_of(p, leaf, 0);
}

static void set_bit(uint32_t *reg, uint32_t bit, bool on)
{
    *reg = on ? *reg | bit : *reg & ~bit;
}

/* SDM vol. 2 "CPUID", leaf 0AH; vol. 3 "Architectural Performance Monitoring", versions 1 to 5. */
static void fill_leaf_0ah(struct profile *p)
{
    struct cpuid_leaf leaf = {.leaf = 0xa, .any_subleaf = true};
    unsigned version = p->pmu.version;
    if (version >= 1) {
        leaf.eax =
            version | p->pmu.general << 8 | p->pmu.general_width << 16 | p->pmu.events_length << 24;
        leaf.ebx = p->pmu.events_unavailable;
    }
    if (version >= 2)
        leaf.edx = p->pmu.fixed | p->pmu.fixed_width << 5;
    if (version >= 3 && !p->pmu.anythread)
        leaf.edx |= 1 << 15;
    if (version >= 5)
        leaf.ecx = p->pmu.fixed_bitmap;
    struct cpuid_leaf *at = leaf_of(p, 0xa);
    if (!at)
        at = &p->cpuid[p->n_cpuid++];
    *at = leaf;
}

static uint32_t all_general(const struct profile *p)
{
    return (1u << (p->pmu.general + p->pmu.general_more)) - 1;
}

static uint32_t all_fixed(const struct profile *p)
{
    return p->pmu.fixed_bitmap | p->pmu.fixed_more | ((1u << p->pmu.fixed) - 1);
}

static bool needs_leaf_23h(const struct profile *p)
{
    return (p->pmu.general_more || p->pmu.fixed_more) && !p->pmu.unannounced;
}

/* SDM vol. 2 "CPUID", leaf 7 sub-leaf 1, leaf 23H: counters that leaf 0AH does not tell of. */
static void fill_leaf_23h(struct profile *p)
{
    const struct cpuid_leaf leaves[] = {
        {.leaf = 7, .subleaf = 1, .eax = CPUID_7_1_EAX_ARCH_PERFMON_EXT},
        {.leaf = 0x23, .subleaf = 0, .eax = 1 << 0 | CPUID_23_EAX_COUNTERS},
        {.leaf = 0x23, .subleaf = 1, .eax = all_general(p), .ebx = all_fixed(p)},
    };
    struct cpuid_leaf *leaf7 = leaf_of(p, 7);

    leaf7->any_subleaf = false;
    leaf7->eax = 1; /* the highest sub-leaf */
    for (unsigned i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++)
        p->cpuid[p->n_cpuid++] = leaves[i];
    leaf_of(p, 0)->eax = 0x23;
}

#define MODELLED_23H_EAX                                                                           \
    (1 << 0 | CPUID_23_EAX_COUNTERS | CPUID_23_EAX_RELOAD | CPUID_23_EAX_EVENTS)
#define MODELLED_23H_EBX (CPUID_23_EBX_UMASK2 | CPUID_23_EBX_EQ)

/* A leaf 23H that the profile gives: it names the counters of the pmu fields. */
static bool check_leaf_23h(struct reader *r)
{
    struct profile *p = r->profile;
    const struct cpuid_leaf *leaf = leaf_of(p, 0x23), *counters = subleaf_of(p, 0x23, 1),
                            *reload = subleaf_of(p, 0x23, 2), *leaf7 = subleaf_of(p, 7, 1);
    bool ok = true;

    if (!leaf || p->pmu.contradictory)
        return true;
    if (leaf_of(p, 0)->eax < 0x23 || !leaf7 || !(leaf7->eax & CPUID_7_1_EAX_ARCH_PERFMON_EXT))
        ok = fail(r, "cpuid.0x23.0",
                  "needs bit 8 of EAX in cpuid.0x7.1, and CPUID.0:EAX of 23H or more");
    if (leaf->eax & ~MODELLED_23H_EAX)
        ok = fail(r, "cpuid.0x23.0", "EAX: sub-leaves 0 to 3 are modelled");
    if (leaf->ebx & ~MODELLED_23H_EBX)
        ok = fail(r, "cpuid.0x23.0", "EBX: UMASK2 and EQ are modelled, bits 0 and 1");
    if (!(leaf->eax & CPUID_23_EAX_COUNTERS) || !counters || counters->eax != all_general(p) ||
        counters->ebx != all_fixed(p))
        ok = fail(r, "cpuid.0x23.1", "should be %#x %#x, which are the counters of the pmu fields",
                  all_general(p), all_fixed(p));
    if (reload && ((reload->eax | reload->ecx) & ~all_general(p) ||
                   (reload->ebx | reload->edx) & ~all_fixed(p)))
        ok = fail(r, "cpuid.0x23.2", "names counters that cpuid.0x23.1 does not");
    return ok;
}

/* SDM vol. 2 "CPUID", leaf 1CH: EAX[n]: 8 * (n + 1) records. */
static unsigned greatest_depth(uint32_t eax)
{
    unsigned depth = 0;
    for (unsigned n = 0; n < 8; n++)
        if (eax >> n & 1)
            depth = 8 * (n + 1);
    return depth;
}

static bool check_lbr(struct reader *r)
{
    struct profile *p = r->profile;
    unsigned depth = p->pmu.lbr_depth, format = p->pmu.lbr_format;
    const struct cpuid_leaf *leaf0 = leaf_of(p, 0), *leaf = leaf_of(p, 0x1c);
    bool ok = true;

    if (format != LBR_FMT_ARCHITECTURAL) {
        if (format > LBR_FMT_MODEL_SPECIFIC)
            ok = fail(r, "pmu.lbr_format", "%u is out of range: 0 to %d, or %d (architectural)",
                      format, LBR_FMT_MODEL_SPECIFIC, LBR_FMT_ARCHITECTURAL);
        if (depth > 32 || (depth & (depth - 1)))
            ok = fail(r, "pmu.lbr_depth", "must be a power of two up to 32");
        if (p->pmu.lbr_core2_addresses && depth > 8)
            ok = fail(r, "pmu.lbr_depth", "at most 8 at the Core 2 addresses");
        return ok;
    }
    if (depth == 0 || p->pmu.contradictory)
        return true;
    if (leaf0->eax < 0x1c || !leaf_of(p, 7) || !leaf)
        return fail(
            r, "pmu.lbr_format",
            "%d (architectural) needs CPUID leaves 7 and 1CH, and CPUID.0:EAX of 1CH or more",
            LBR_FMT_ARCHITECTURAL);
    if (greatest_depth(leaf->eax) != depth)
        ok = fail(r, "pmu.lbr_depth", "CPUID.1CH:EAX[7:0] announces %u at most",
                  greatest_depth(leaf->eax));
    if ((leaf->ecx & CPUID_1C_ECX_EVENT_LOGGING) >> CPUID_1C_ECX_LOGGING_SHIFT >> p->pmu.general)
        ok = fail(r, "cpuid.0x1c", "ECX[19:16] logs a counter past pmu.general");
    return ok;
}

/* SDM vol. 2 "CPUID": leaf 7 tells of architectural last branch records, leaf 1CH what they can. */
static void announce_lbr(struct profile *p)
{
    struct cpuid_leaf *leaf7 = leaf_of(p, 7), *leaf = leaf_of(p, 0x1c);
    bool there = p->pmu.lbr_depth && p->pmu.lbr_format == LBR_FMT_ARCHITECTURAL;
    if (leaf7)
        set_bit(&leaf7->edx, CPUID_7_EDX_ARCH_LBR, there);
    if (leaf && !there)
        leaf->eax = leaf->ebx = leaf->ecx = leaf->edx = 0;
}

/* APM vol. 3 "CPUID", 8000_0001H:ECX.PerfCtrExtCore, 8000_0022H:EAX.PerfMonV2: what there is of
 * counters. */
static bool check_amd(struct reader *r)
{
    struct profile *p = r->profile;
    const struct cpuid_leaf *features = leaf_of(p, 0x80000001), *v2 = leaf_of(p, 0x80000022),
                            *power = leaf_of(p, 0x80000007);
    unsigned wants = AMD_LEGACY_COUNTERS;
    if (features && (features->ecx & CPUID_80000001_ECX_PERFCTR_CORE))
        wants = AMD_CORE_COUNTERS;
    if (v2 && (v2->eax & CPUID_80000022_EAX_PERFMON_V2))
        wants = v2->ebx & CPUID_80000022_EBX_CORE;
    if (p->pmu.contradictory)
        return true;
    if (p->pmu.version != 0 || p->pmu.fixed != 0)
        return fail(r, "pmu.version",
                    "AMD's PMU has no version of CPUID.0AH and no fixed counters: 0");
    if (wants > AMD_CORE_COUNTERS)
        return fail(r, "cpuid.0x80000022", "EBX[3:0]: at most %d core counters have an address",
                    AMD_CORE_COUNTERS);
    if (p->pmu.general != 0 && p->pmu.general != wants)
        return fail(r, "pmu.general", "%u: CPUID announces %u counters (0: none answers)",
                    p->pmu.general, wants);
    if (p->pmu.general != 0 && p->pmu.general_width == 0)
        return fail(r, "pmu.general_width", "missing");
    if (!p->pstate != !(power && (power->edx & CPUID_80000007_EDX_HW_PSTATE)))
        return fail(r, "msr.pstate",
                    "goes with EDX[7] of cpuid.0x80000007, which says that there are P-states");
    return true;
}

bool profile_finish(struct profile *p, FILE *err)
{
    char file[sizeof p->name + sizeof p->kinds[0] + 3];
    struct reader r = {.profile = p, .file = file, .err = err};
    struct cpuid_leaf *leaf0 = leaf_of(p, 0), *leaf1 = leaf_of(p, 1);

    snprintf(file, sizeof file, p->n_kinds ? "%s [%s]" : "%s", p->name, p->kinds[p->kind]);
    bool ok = find_order(&r);

    if (!leaf0 || !leaf1)
        return fail(&r, "cpuid", "leaves 0 and 1 are required");
    p->amd = is_amd(p);
    if (p->amd)
        ok &= check_amd(&r);
    if (p->pmu.version >= 1 && leaf0->eax < 0xa && !p->pmu.contradictory)
        ok = fail(&r, "pmu.version", "CPUID.0:EAX must be at least 0AH to announce a PMU");
    if (p->pmu.version >= 1 && (p->pmu.general == 0 || p->pmu.general_width == 0))
        ok = fail(&r, "pmu.general", "a PMU has counters and a width");
    if (p->pmu.general + p->pmu.general_more > PROFILE_MAX_GENERAL)
        ok = fail(&r, "pmu.general_more", "at most %d counters are modelled, with pmu.general",
                  PROFILE_MAX_GENERAL);
    if (p->pmu.unannounced && leaf_of(p, 0x23))
        ok = fail(&r, "pmu.unannounced", "contradicts cpuid.0x23, which tells of all counters");
    if (needs_leaf_23h(p) && !leaf_of(p, 0x23) &&
        (!leaf_of(p, 7) || p->n_cpuid + 4 > PROFILE_MAX_CPUID))
        ok = fail(&r, p->pmu.general_more ? "pmu.general_more" : "pmu.fixed_more",
                  "needs CPUID leaf 7, and room for four more leaves");
    if (p->pmu.version >= 2 && p->pmu.fixed && p->pmu.fixed_width == 0)
        ok = fail(&r, "pmu.fixed_width", "missing");
    if (p->pmu.version == 0 && p->pmu.pebs_counters)
        ok = fail(&r, "pmu.pebs_counters", "PEBS needs counters, but pmu.version is 0");
    if (p->pmu.pebs_counters & ~all_general(p))
        ok = fail(&r, "pmu.pebs_counters", "names a counter past pmu.general and pmu.general_more");
    if ((p->pmu.bts || p->pmu.pebs_counters) && !p->pmu.ds64)
        ok = fail(&r, "pmu.ds64", "the 32-bit DS area is not modelled: BTS and PEBS need ds64");
    if (p->uarch.l1d.size == 0)
        ok = fail(&r, "cache.l1d", "must not be absent");
    if (p->uarch.llc.size && !p->uarch.l2.size)
        ok = fail(&r, "cache.llc", "needs a cache.l2");
    if ((p->uarch.l1i.size && p->uarch.l1i.line != p->uarch.l1d.line) ||
        (p->uarch.l2.size && p->uarch.l2.line != p->uarch.l1d.line) ||
        (p->uarch.llc.size && p->uarch.llc.line != p->uarch.l1d.line))
        ok = fail(&r, "cache", "all levels must have the same line size");
    const struct profile_cache *second = &p->uarch.l2;
    if ((p->uarch.l1i.size &&
         p->uarch.l1i.latency > (second->size ? second->latency : p->uarch.memory_latency)) ||
        (p->uarch.l2.size && p->uarch.l2.latency < p->uarch.l1d.latency) ||
        (p->uarch.llc.size && p->uarch.llc.latency < p->uarch.l2.latency) ||
        p->uarch.memory_latency < p->uarch.llc.latency ||
        p->uarch.memory_latency < p->uarch.l2.latency ||
        p->uarch.memory_latency < p->uarch.l1d.latency)
        ok = fail(&r, "cache", "latencies must grow from level to level");
    ok &= check_lbr(&r);
    ok &= check_leaf_23h(&r);
    if ((p->mcg_cap & ~(uint32_t)(MCG_CAP_COUNT | MCG_CAP_FLAGS)) ||
        (p->mcg_cap & MCG_CAP_COUNT) > PROFILE_MAX_BANKS)
        ok = fail(&r, "msr.mcg_cap", "%#x: must be at most %d banks, and of the flags none but %#x",
                  p->mcg_cap, PROFILE_MAX_BANKS, MCG_CAP_FLAGS);
    for (unsigned i = 0; i < p->n_cpuid; i++) {
        unsigned bits = p->cpuid[i].eax & 0xff;
        if (p->cpuid[i].leaf == CPUID_LEAF_ADDRESS &&
            (bits < MAXPHYADDR_MIN || bits > MAXPHYADDR_MAX))
            ok = fail(&r, "cpuid.0x80000008", "EAX[7:0] (MAXPHYADDR) is %u: must be %d to %d", bits,
                      MAXPHYADDR_MIN, MAXPHYADDR_MAX);
    }
    if (p->n_cpuid == PROFILE_MAX_CPUID && !leaf_of(p, 0xa))
        ok = fail(&r, "cpuid", "no room for leaf 0AH");
    if (!ok)
        return false;

    if (p->pmu.version < 2)
        p->pmu.metrics = false;
    if (p->pmu.contradictory) {
        if (!leaf_of(p, 0xa))
            fill_leaf_0ah(p);
        return true;
    }
    uint64_t mask, derived = derived_capabilities(p, &mask);
    p->pmu.capabilities = (p->pmu.capabilities & ~mask) | derived;
    set_bit(&leaf1->ecx, CPUID_1_ECX_PDCM, p->pmu.has_capabilities);
    set_bit(&leaf1->ecx, CPUID_1_ECX_DTES64, p->pmu.ds64);
    set_bit(&leaf1->edx, CPUID_1_EDX_DS, p->pmu.bts || p->pmu.pebs_counters);
    if (p->pmu.version == 0)
        p->pmu.misc_enable &= ~MISC_ENABLE_PMU_AVAILABLE;
    else
        p->pmu.misc_enable |= MISC_ENABLE_PMU_AVAILABLE;
    p->pmu.misc_enable &= ~(MISC_ENABLE_BTS_UNAVAILABLE | MISC_ENABLE_PEBS_UNAVAILABLE);
    p->pmu.misc_enable |= (p->pmu.bts ? 0 : MISC_ENABLE_BTS_UNAVAILABLE) |
                          (p->pmu.pebs_counters ? 0 : MISC_ENABLE_PEBS_UNAVAILABLE);
    announce_lbr(p);
    if (needs_leaf_23h(p) && !leaf_of(p, 0x23))
        fill_leaf_23h(p);
    fill_leaf_0ah(p);
    return true;
}

/* ---- Finding ---- */

bool profile_load(struct profile *p, const char *name, unsigned kind, FILE *err)
{
    const char *nearest = "none";
    unsigned least = UINT32_MAX;
    for (unsigned i = 0; i < embedded_profiles_count; i++) {
        const struct embedded_profile *e = &embedded_profiles[i];
        if (strcmp(e->name, name) == 0) {
            char file[64];
            snprintf(file, sizeof file, "%s.profile", e->name);
            return profile_parse(p, file, e->text, kind, err);
        }
        unsigned d = distance(name, e->name);
        if (d < least) {
            least = d;
            nearest = e->name;
        }
    }
    fprintf(err, "unknown profile \"%s\"; the nearest is \"%s\" (--list-profiles shows all)\n",
            name, nearest);
    return false;
}

void profile_list(FILE *out, FILE *err)
{
    for (unsigned i = 0; i < embedded_profiles_count; i++) {
        struct profile p;
        if (profile_parse(&p, embedded_profiles[i].name, embedded_profiles[i].text, 0, err))
            fprintf(out, "%-16s %s\n", p.name, p.description);
    }
}
