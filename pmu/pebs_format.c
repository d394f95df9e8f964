/*
 * What a PEBS record looks like and which events are precise, as tables. Pure: no hardware.
 *
 * SDM vol. 3 "PEBS Record Format" of each generation; "PEBS Record Format" of format 4 in
 * "Adaptive PEBS"; "PEBS Performance Events" of each generation; the models are those of Linux'
 * constraint tables in arch/x86/events/intel/core.c.
 */
#include "pmu/pebs.h"

#include "x86/pmu.h"

#define QUAD   8
#define FIELDS (PEBS_N_FIELDS)

/* Formats 0 to 3: each is the one before with more fields behind it. */
static const struct {
    unsigned fields;
} fixed_formats[] = {
    [0] = {PEBS_R15 + 1},
    [1] = {PEBS_LATENCY + 1},
    [2] = {PEBS_TX + 1},
    [3] = {PEBS_TSC + 1},
};
#define N_FIXED_FORMATS (sizeof(fixed_formats) / sizeof(fixed_formats[0]))

static const char *const names[FIELDS] = {
    [PEBS_RFLAGS] = "R/EFLAGS",
    [PEBS_RIP] = "R/EIP",
    [PEBS_RAX] = "RAX",
    [PEBS_RBX] = "RBX",
    [PEBS_RCX] = "RCX",
    [PEBS_RDX] = "RDX",
    [PEBS_RSI] = "RSI",
    [PEBS_RDI] = "RDI",
    [PEBS_RBP] = "RBP",
    [PEBS_RSP] = "RSP",
    [PEBS_R8] = "R8",
    [PEBS_R9] = "R9",
    [PEBS_R10] = "R10",
    [PEBS_R11] = "R11",
    [PEBS_R12] = "R12",
    [PEBS_R13] = "R13",
    [PEBS_R14] = "R14",
    [PEBS_R15] = "R15",
    [PEBS_STATUS] = "Status/Counters",
    [PEBS_DATA_ADDRESS] = "Data Linear Address",
    [PEBS_DATA_SOURCE] = "Data Source",
    [PEBS_LATENCY] = "Latency",
    [PEBS_EVENTING_IP] = "EventingIP",
    [PEBS_TX] = "TX Abort Information",
    [PEBS_TSC] = "TSC",
    [PEBS_CACHE_LATENCY] = "Cache Latency",
    [PEBS_RETIRE_LATENCY] = "Retire Latency",
};

const char *pebs_field_name(enum pebs_field f)
{
    return names[f];
}

/* The adaptive record: the basic group, whose first quadword has the size in bits 63:48, from
 * format 5 on the retire latency in 47:32, and the groups that follow in the low bits, as in
 * MSR_PEBS_DATA_CFG: memory, general registers, XMM registers, branch records, counters. */
#define ADAPTIVE_SIZE_SHIFT  48
#define RETIRE_LATENCY_SHIFT 32
#define CACHE_LATENCY_SHIFT  32
#define LATENCY_MASK         0xffff
#define MAX_GROUP_FIELDS     18

static const uint8_t basic_fields[] = {PEBS_EVENTING_IP, PEBS_STATUS, PEBS_TSC};
#define BASIC_SIZE (QUAD + QUAD * sizeof(basic_fields))

static const struct group {
    uint32_t bit;
    unsigned n;
    uint8_t fields[MAX_GROUP_FIELDS];
} groups[] = {
    {PEBS_DATA_CFG_MEMINFO, 4, {PEBS_DATA_ADDRESS, PEBS_DATA_SOURCE, PEBS_LATENCY, PEBS_TX}},
    {PEBS_DATA_CFG_GPRS,
     18,
     {PEBS_RFLAGS, PEBS_RIP, PEBS_RAX, PEBS_RCX, PEBS_RDX, PEBS_RBX, PEBS_RSP, PEBS_RBP, PEBS_RSI,
      PEBS_RDI, PEBS_R8, PEBS_R9, PEBS_R10, PEBS_R11, PEBS_R12, PEBS_R13, PEBS_R14, PEBS_R15}},
};
#define N_GROUPS (sizeof(groups) / sizeof(groups[0]))

/* Behind the groups of fields. SDM vol. 3 "XMM Group", "LBR Group": the newest branch first, FROM,
 * TO and INFO of each. The counters' group of format 6 is known from Linux, struct pebs_cntr_header
 * and adaptive_pebs_record_size_update(): it says itself which it has, general counters, fixed
 * ones, and for the metrics two quadwords. */
#define XMM_GROUP       (PEBS_XMMS * PEBS_XMM_BYTES)
#define BRANCH          (3 * QUAD)
#define COUNTERS_HEADER (2 * QUAD)
#define COUNTERS_GROUP  (PEBS_DATA_CFG_CNTR | PEBS_DATA_CFG_METRICS)
#define METRICS         (2 * QUAD)

/* SDM vol. 3 "PEBS Record Format" of format 4 has the four fixed counters at 80H; that they lie
 * behind 32 general ones from format 5 on is from Linux, struct debug_store and
 * intel_pmu_pebs_enable(). */
#define FIRST_FIXED      32
#define GENERAL_RESETS   8
#define GENERAL_RESETS_5 32
unsigned pebs_reset_index(unsigned format, unsigned counter)
{
    if (counter < FIRST_FIXED)
        return counter;
    return counter - FIRST_FIXED +
           (format >= PEBS_FMT_GOLDEN_COVE ? GENERAL_RESETS_5 : GENERAL_RESETS);
}

static unsigned ones(uint64_t bits)
{
    unsigned n = 0;
    for (; bits != 0; bits &= bits - 1)
        n++;
    return n;
}

static unsigned branches_of(uint64_t data_cfg)
{
    return (unsigned)((data_cfg & PEBS_DATA_CFG_LBR_ENTRIES) >> PEBS_DATA_CFG_LBR_SHIFT) + 1;
}

unsigned pebs_format_size(unsigned format, uint64_t data_cfg)
{
    if (format < N_FIXED_FORMATS)
        return fixed_formats[format].fields * QUAD;
    if (!pebs_format_is_adaptive(format))
        return 0;
    unsigned size = BASIC_SIZE;
    for (unsigned g = 0; g < N_GROUPS; g++)
        if (data_cfg & groups[g].bit)
            size += groups[g].n * QUAD;
    if (data_cfg & PEBS_DATA_CFG_XMMS)
        size += XMM_GROUP;
    if (data_cfg & PEBS_DATA_CFG_LBRS)
        size += branches_of(data_cfg) * BRANCH;
    if (data_cfg & COUNTERS_GROUP)
        size += COUNTERS_HEADER;
    if (data_cfg & PEBS_DATA_CFG_CNTR)
        size += ones(data_cfg & (PEBS_DATA_CFG_GENERAL | PEBS_DATA_CFG_FIXED)) * QUAD;
    if (data_cfg & PEBS_DATA_CFG_METRICS)
        size += METRICS;
    return size;
}

static uint64_t quad_at(const uint8_t *raw)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < QUAD; i++)
        value |= (uint64_t)raw[i] << (8 * i);
    return value;
}

static void take(struct pebs_record *out, unsigned field, const uint8_t *raw)
{
    out->value[field] = quad_at(raw);
    out->present |= 1U << field;
}

static void put(struct pebs_record *out, unsigned field, uint64_t value)
{
    out->value[field] = value & LATENCY_MASK;
    out->present |= 1U << field;
}

/* From format 5 on: the two latencies of a load share a quadword, [15:0] of the instruction and
 * [47:32] of its cache access; and the header has a third. Linux, pebs_meminfo and pebs_basic. */
static void take_latencies(uint64_t header, struct pebs_record *out)
{
    uint64_t both = out->value[PEBS_LATENCY];
    put(out, PEBS_RETIRE_LATENCY, header >> RETIRE_LATENCY_SHIFT);
    if (!pebs_has(out, PEBS_LATENCY))
        return;
    put(out, PEBS_LATENCY, both);
    put(out, PEBS_CACHE_LATENCY, both >> CACHE_LATENCY_SHIFT);
}

/* Bytes of the counters' group, by its own header. */
static unsigned counters_size(const uint8_t *group)
{
    return COUNTERS_HEADER + ones(quad_at(group)) * QUAD +
           ((uint32_t)quad_at(group + QUAD) != 0 ? METRICS : 0);
}

/* The groups behind those of fields, from at on. False when they do not fit. */
static bool take_rest(uint32_t header, const uint8_t *at, const uint8_t *end,
                      struct pebs_record *out)
{
    if (header & PEBS_DATA_CFG_XMMS) {
        out->xmms = at;
        at += XMM_GROUP;
    }
    if (header & PEBS_DATA_CFG_LBRS) {
        out->branches = at;
        out->n_branches = branches_of(header);
        at += out->n_branches * BRANCH;
    }
    if (!(header & COUNTERS_GROUP))
        return true;
    out->counters = at;
    return counters_size(at) <= (size_t)(end - at);
}

static unsigned decode_adaptive(unsigned format, const uint8_t *raw, size_t limit,
                                struct pebs_record *out)
{
    if (limit < BASIC_SIZE)
        return 0;
    uint64_t header = quad_at(raw);
    unsigned size = (unsigned)(header >> ADAPTIVE_SIZE_SHIFT);
    if (size > limit || size < pebs_format_size(format, (uint32_t)header))
        return 0;
    out->size = size;
    out->groups = (uint32_t)header;
    for (unsigned i = 0; i < sizeof(basic_fields); i++)
        take(out, basic_fields[i], raw + QUAD + i * QUAD);
    const uint8_t *at = raw + BASIC_SIZE;
    for (unsigned g = 0; g < N_GROUPS; g++) {
        if (!(header & groups[g].bit))
            continue;
        for (unsigned i = 0; i < groups[g].n; i++, at += QUAD)
            take(out, groups[g].fields[i], at);
    }
    if (format >= PEBS_FMT_GOLDEN_COVE)
        take_latencies(header, out);
    return take_rest((uint32_t)header, at, raw + size, out) ? size : 0;
}

bool pebs_branch(const struct pebs_record *r, unsigned n, struct pebs_branch *out)
{
    if (n >= r->n_branches)
        return false;
    const uint8_t *at = r->branches + n * BRANCH;
    *out = (struct pebs_branch){quad_at(at), quad_at(at + QUAD), quad_at(at + 2 * QUAD)};
    return true;
}

bool pebs_counter_value(const struct pebs_record *r, unsigned counter, uint64_t *value)
{
    if (r->counters == NULL)
        return false;
    uint64_t held = quad_at(r->counters);
    if (!(held >> counter & 1))
        return false;
    uint64_t before = held & ((1ULL << counter) - 1);
    *value = quad_at(r->counters + COUNTERS_HEADER + ones(before) * QUAD);
    return true;
}

unsigned pebs_decode(unsigned format, const void *raw, size_t limit, struct pebs_record *out)
{
    *out = (struct pebs_record){0};
    if (pebs_format_is_adaptive(format))
        return decode_adaptive(format, raw, limit, out);
    unsigned size = pebs_format_size(format, 0);
    if (size == 0 || size > limit)
        return 0;
    for (unsigned f = 0; f < fixed_formats[format].fields; f++)
        take(out, f, (const uint8_t *)raw + f * QUAD);
    return size;
}

/* ---- Events ---- */

#define MAX_MODELS 16
#define FAMILY_6   6
#define ALL_FOUR   0xf
#define ALL_EIGHT  0xff

/* Atoms: perfmon's event lists mark D0H/81H precise from Goldmont on. */
#define ATOM_LOADS(counters)                                                                       \
    {                                                                                              \
        "MEM_UOPS_RETIRED.ALL_LOADS", 0x81d0, counters                                             \
    }
#define ATOM_LATENCY                                                                               \
    {                                                                                              \
        "MEM_UOPS_RETIRED.LOAD_LATENCY", 0x05d0, 0x3                                               \
    }
/* "Doesn't function quite right" on Golden Cove unless this event counts with it, whatever it
 * counts (Linux, intel_pmu_hw_config(): PMU_FL_MEM_LOADS_AUX): LD_BLOCKS.STORE_FORWARD. */
#define GOLDEN_COVE_AUX 0x8203

/* Instructions retired: from Sandy Bridge to Comet Lake the event with precise distribution alone
 * is precise, on IA32_PMC1 (SDM vol. 3 "Precise Distribution of Instructions Retired (PDIR)"); from
 * Ice Lake and Tremont on IA32_FIXED_CTR0 has the distribution, and the general event is precise
 * too (perfmon's lists; from Golden Cove on not on the counters whose other events are
 * distributed). */
#define INSTRUCTIONS(on)                                                                           \
    {                                                                                              \
        "INST_RETIRED.ANY_P", 0x00c0, on                                                           \
    }
#define DISTRIBUTED                                                                                \
    {                                                                                              \
        "INST_RETIRED.PREC_DIST", 0x01c0, ON_PMC1                                                  \
    }
#define ON_PMC0       0x1
#define ON_PMC1       0x2
#define ON_FIXED_CTR0 (1ULL << FIRST_FIXED)

/* A hybrid processor has a row for each kind of its cores. */
enum cores { ANY_CORE, P_CORE, E_CORE };

static const struct {
    struct pebs_generation generation;
    enum cores cores;
    uint8_t models[MAX_MODELS]; /* of family 6, ended by 0 */
} generations[] = {
    {{.name = "Core",
      .instructions = INSTRUCTIONS(ON_PMC0),
      .loads = {"INST_RETIRED.ANY_P", 0x00c0, 0x1}},
     ANY_CORE,
     {0x0f, 0x16, 0x17, 0x1d}},
    {{.name = "Bonnell, Saltwell",
      .instructions = INSTRUCTIONS(ON_PMC0),
      .loads = {"INST_RETIRED.ANY_P", 0x00c0, 0x1}},
     ANY_CORE,
     {0x1c, 0x26, 0x27, 0x35, 0x36}},
    {{.name = "Nehalem, Westmere",
      .instructions = INSTRUCTIONS(ALL_FOUR),
      .loads = {"MEM_INST_RETIRED.LOADS", 0x010b, ALL_FOUR},
      .latency = {"MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD", 0x100b, ALL_FOUR}},
     ANY_CORE,
     {0x1a, 0x1e, 0x1f, 0x25, 0x2c, 0x2e, 0x2f}},
    {{.name = "Sandy Bridge, Ivy Bridge",
      .instructions = DISTRIBUTED,
      .distribution = ON_PMC1,
      .loads = {"MEM_UOPS_RETIRED.ALL_LOADS", 0x81d0, ALL_FOUR},
      .latency = {"MEM_TRANS_RETIRED.LOAD_LATENCY", 0x01cd, 0x8}},
     ANY_CORE,
     {0x2a, 0x2d, 0x3a, 0x3e}},
    {{.name = "Haswell, Broadwell",
      .instructions = DISTRIBUTED,
      .distribution = ON_PMC1,
      .loads = {"MEM_UOPS_RETIRED.ALL_LOADS", 0x81d0, ALL_FOUR},
      .latency = {"MEM_TRANS_RETIRED.LOAD_LATENCY", 0x01cd, ALL_FOUR}},
     ANY_CORE,
     {0x3c, 0x3f, 0x45, 0x46, 0x3d, 0x47, 0x4f, 0x56}},
    {{.name = "Skylake to Comet Lake",
      .instructions = DISTRIBUTED,
      .distribution = ON_PMC1,
      .loads = {"MEM_INST_RETIRED.ALL_LOADS", 0x81d0, ALL_FOUR},
      .latency = {"MEM_TRANS_RETIRED.LOAD_LATENCY", 0x01cd, ALL_FOUR}},
     ANY_CORE,
     {0x4e, 0x5e, 0x55, 0x66, 0x8e, 0x9e, 0xa5, 0xa6}},
    {{.name = "Ice Lake to Rocket Lake",
      .instructions = INSTRUCTIONS(ALL_EIGHT),
      .distribution = ON_FIXED_CTR0,
      .loads = {"MEM_INST_RETIRED.ALL_LOADS", 0x81d0, ALL_FOUR},
      .latency = {"MEM_TRANS_RETIRED.LOAD_LATENCY", 0x01cd, ALL_FOUR}},
     ANY_CORE,
     {0x6a, 0x6c, 0x7d, 0x7e, 0x8c, 0x8d, 0x9d, 0xa7}},
    {{.name = "Golden Cove, Raptor Cove",
      .instructions = INSTRUCTIONS(0xfe),
      .distribution = ON_FIXED_CTR0,
      .loads = {"MEM_INST_RETIRED.ALL_LOADS", 0x81d0, ALL_FOUR},
      .latency = {"MEM_TRANS_RETIRED.LOAD_LATENCY", 0x01cd, 0xfe},
      .latency_aux = GOLDEN_COVE_AUX},
     P_CORE,
     {0x8f, 0xcf, 0x97, 0x9a, 0xb7, 0xba, 0xbf, 0xd7}},
    {{.name = "Redwood Cove",
      .instructions = INSTRUCTIONS(0xfe),
      .distribution = ON_FIXED_CTR0,
      .loads = {"MEM_INST_RETIRED.ALL_LOADS", 0x81d0, ALL_FOUR},
      .latency = {"MEM_TRANS_RETIRED.LOAD_LATENCY", 0x01cd, 0xfe}},
     P_CORE,
     {0xad, 0xae, 0xaa, 0xac, 0xb5}},
    {{.name = "Lion Cove",
      .instructions = INSTRUCTIONS(0x3fc),
      .distribution = ON_FIXED_CTR0,
      .loads = {"MEM_INST_RETIRED.ALL_LOADS", 0x81d0, ALL_FOUR},
      .latency = {"MEM_TRANS_RETIRED.LOAD_LATENCY", 0x01cd, 0x3fc},
      .sources = PEBS_SOURCES_LION_COVE},
     P_CORE,
     {0xbd, 0xc5, 0xc6}},
    {{.name = "Goldmont", .instructions = INSTRUCTIONS(ON_PMC0), .loads = ATOM_LOADS(0x1)},
     ANY_CORE,
     {0x5c, 0x5f}},
    {{.name = "Goldmont Plus",
      .instructions = INSTRUCTIONS(ALL_FOUR),
      .loads = ATOM_LOADS(ALL_FOUR)},
     ANY_CORE,
     {0x7a}},
    {{.name = "Tremont",
      .instructions = INSTRUCTIONS(ALL_FOUR),
      .distribution = ON_FIXED_CTR0,
      .loads = ATOM_LOADS(ALL_FOUR)},
     ANY_CORE,
     {0x86, 0x96, 0x9c}},
    {{.name = "Gracemont",
      .instructions = INSTRUCTIONS(0x3f),
      .distribution = ON_FIXED_CTR0,
      .loads = ATOM_LOADS(0x3f),
      .latency = ATOM_LATENCY,
      .sources = PEBS_SOURCES_ATOM},
     ANY_CORE,
     {0xbe}},
    {{.name = "Gracemont",
      .instructions = INSTRUCTIONS(0x3f),
      .distribution = ON_FIXED_CTR0,
      .loads = ATOM_LOADS(0x3f),
      .latency = ATOM_LATENCY,
      .sources = PEBS_SOURCES_ATOM},
     E_CORE,
     {0x97, 0x9a, 0xb7, 0xba, 0xbf}},
    {{.name = "Crestmont",
      .instructions = INSTRUCTIONS(ALL_EIGHT),
      .distribution = ON_FIXED_CTR0,
      .loads = ATOM_LOADS(ALL_EIGHT),
      .latency = ATOM_LATENCY,
      .sources = PEBS_SOURCES_ATOM},
     ANY_CORE,
     {0xaf, 0xb6}},
    {{.name = "Crestmont, Skymont",
      .instructions = INSTRUCTIONS(ALL_EIGHT),
      .distribution = ON_FIXED_CTR0,
      .loads = ATOM_LOADS(ALL_EIGHT),
      .latency = ATOM_LATENCY,
      .sources = PEBS_SOURCES_ATOM},
     E_CORE,
     {0xaa, 0xac, 0xb5, 0xbd, 0xc5, 0xc6}},
};

const struct pebs_generation *pebs_find_generation(unsigned family, unsigned model, bool atom)
{
    enum cores wanted = atom ? E_CORE : P_CORE;
    if (family != FAMILY_6)
        return NULL;
    for (size_t g = 0; g < sizeof(generations) / sizeof(generations[0]); g++)
        for (unsigned i = 0; i < MAX_MODELS && generations[g].models[i] != 0; i++)
            if (generations[g].models[i] == model &&
                (generations[g].cores == ANY_CORE || generations[g].cores == wanted))
                return &generations[g].generation;
    return NULL;
}

/* ---- Data source ---- */

/* SDM vol. 3 "Data Source Encoding for Load Latency Record"; for the Atoms and Lion Cove Linux,
 * intel_pmu_pebs_data_source_grt(), _cmt(), _lnl(). The encodings past the LLC moved between
 * generations (remote cache or DRAM), but none of them is a hit in this package. What is left out
 * is reserved, I/O, uncacheable, or a line that was already on its way: PEBS_OTHER. */
#define N_CODES 18
enum { OTHER, L1, L2, LLC, MEMORY };
static const struct {
    uint8_t mask, levels[N_CODES];
} source_tables[PEBS_N_SOURCES] = {
    [PEBS_SOURCES_CORE] = {0xf,
                           {MEMORY, L1, OTHER, L2, LLC, LLC, LLC, LLC, MEMORY, MEMORY, MEMORY,
                            MEMORY, MEMORY, MEMORY}},
    /* 8H: another core of the package had it. */
    [PEBS_SOURCES_ATOM] = {0xf,
                           {MEMORY, L1, OTHER, L2, LLC, LLC, LLC, LLC, LLC, MEMORY, MEMORY, MEMORY,
                            MEMORY, MEMORY}},
    [PEBS_SOURCES_LION_COVE] = {0xff,
                                {[0x0] = MEMORY,
                                 [0x1] = L1,
                                 [0x2] = L1,
                                 [0x5] = L2,
                                 [0x8] = LLC,
                                 [0xc] = LLC,
                                 [0xd] = LLC,
                                 [0xf] = MEMORY,
                                 [0x10] = MEMORY, /* the memory-side cache */
                                 [0x11] = MEMORY}},
};

enum pebs_level pebs_level_of(enum pebs_sources sources, uint64_t data_source)
{
    static const uint8_t level_of[] = {[OTHER] = PEBS_OTHER,
                                       [L1] = PEBS_L1,
                                       [L2] = PEBS_L2,
                                       [LLC] = PEBS_LLC,
                                       [MEMORY] = PEBS_MEMORY};
    uint64_t code = data_source & source_tables[sources].mask;
    return level_of[code < N_CODES ? source_tables[sources].levels[code] : OTHER];
}

const char *pebs_level_name(enum pebs_level level)
{
    static const char *const level_names[] = {"L1", "L2", "LLC", "memory", "other"};
    return level_names[level];
}
