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
};

const char *pebs_field_name(enum pebs_field f)
{
    return names[f];
}

/* The adaptive record: the basic group, whose first quadword has the size in bits 63:48 and the
 * groups that follow in the low bits, as in MSR_PEBS_DATA_CFG. */
#define ADAPTIVE_SIZE_SHIFT 48
#define MAX_GROUP_FIELDS    18

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

unsigned pebs_format_size(unsigned format, uint64_t data_cfg)
{
    if (format < N_FIXED_FORMATS)
        return fixed_formats[format].fields * QUAD;
    if (format != PEBS_FMT_ADAPTIVE)
        return 0;
    unsigned size = BASIC_SIZE;
    for (unsigned g = 0; g < N_GROUPS; g++)
        if (data_cfg & groups[g].bit)
            size += groups[g].n * QUAD;
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

static unsigned decode_adaptive(const uint8_t *raw, size_t limit, struct pebs_record *out)
{
    if (limit < BASIC_SIZE)
        return 0;
    uint64_t header = quad_at(raw);
    unsigned size = (unsigned)(header >> ADAPTIVE_SIZE_SHIFT);
    if (size > limit || size < pebs_format_size(PEBS_FMT_ADAPTIVE, header))
        return 0;
    for (unsigned i = 0; i < sizeof(basic_fields); i++)
        take(out, basic_fields[i], raw + QUAD + i * QUAD);
    const uint8_t *at = raw + BASIC_SIZE;
    for (unsigned g = 0; g < N_GROUPS; g++) {
        if (!(header & groups[g].bit))
            continue;
        for (unsigned i = 0; i < groups[g].n; i++, at += QUAD)
            take(out, groups[g].fields[i], at);
    }
    return size;
}

unsigned pebs_decode(unsigned format, const void *raw, size_t limit, struct pebs_record *out)
{
    *out = (struct pebs_record){0};
    if (format == PEBS_FMT_ADAPTIVE)
        return decode_adaptive(raw, limit, out);
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

static const struct {
    struct pebs_generation generation;
    uint8_t models[MAX_MODELS]; /* of family 6, ended by 0 */
} generations[] = {
    {{"Core", {"INST_RETIRED.ANY_P", 0x00c0, 0x1}, {NULL, 0, 0}}, {0x0f, 0x16, 0x17, 0x1d}},
    {{"Nehalem, Westmere",
      {"MEM_INST_RETIRED.LOADS", 0x010b, ALL_FOUR},
      {"MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD", 0x100b, ALL_FOUR}},
     {0x1a, 0x1e, 0x1f, 0x25, 0x2c, 0x2e, 0x2f}},
    {{"Sandy Bridge, Ivy Bridge",
      {"MEM_UOPS_RETIRED.ALL_LOADS", 0x81d0, ALL_FOUR},
      {"MEM_TRANS_RETIRED.LOAD_LATENCY", 0x01cd, 0x8}},
     {0x2a, 0x2d, 0x3a, 0x3e}},
    {{"Haswell, Broadwell",
      {"MEM_UOPS_RETIRED.ALL_LOADS", 0x81d0, ALL_FOUR},
      {"MEM_TRANS_RETIRED.LOAD_LATENCY", 0x01cd, ALL_FOUR}},
     {0x3c, 0x3f, 0x45, 0x46, 0x3d, 0x47, 0x4f, 0x56}},
    {{"Skylake to Comet Lake",
      {"MEM_INST_RETIRED.ALL_LOADS", 0x81d0, ALL_FOUR},
      {"MEM_TRANS_RETIRED.LOAD_LATENCY", 0x01cd, ALL_FOUR}},
     {0x4e, 0x5e, 0x55, 0x66, 0x8e, 0x9e, 0xa5, 0xa6}},
    {{"Ice Lake to Rocket Lake",
      {"MEM_INST_RETIRED.ALL_LOADS", 0x81d0, ALL_FOUR},
      {"MEM_TRANS_RETIRED.LOAD_LATENCY", 0x01cd, ALL_FOUR}},
     {0x6a, 0x6c, 0x7d, 0x7e, 0x8c, 0x8d, 0x9d, 0xa7}},
};

const struct pebs_generation *pebs_find_generation(unsigned family, unsigned model)
{
    if (family != FAMILY_6)
        return NULL;
    for (size_t g = 0; g < sizeof(generations) / sizeof(generations[0]); g++)
        for (unsigned i = 0; i < MAX_MODELS && generations[g].models[i] != 0; i++)
            if (generations[g].models[i] == model)
                return &generations[g].generation;
    return NULL;
}

/* ---- Data source ---- */

/* Bits 3:0, SDM vol. 3 "Data Source Encoding for Load Latency Record". The encodings past the LLC
 * moved between generations (remote cache or DRAM), but none of them is a hit in this package. */
#define SOURCE_MASK 0xf
static const uint8_t levels[SOURCE_MASK + 1] = {
    [0x0] = PEBS_MEMORY,                     /* unknown L3 miss */
    [0x1] = PEBS_L1,     [0x2] = PEBS_OTHER, /* the line was already on its way */
    [0x3] = PEBS_L2,     [0x4] = PEBS_LLC,    [0x5] = PEBS_LLC,
    [0x6] = PEBS_LLC,    [0x7] = PEBS_LLC,    [0x8] = PEBS_MEMORY,
    [0x9] = PEBS_MEMORY, [0xa] = PEBS_MEMORY, [0xb] = PEBS_MEMORY,
    [0xc] = PEBS_MEMORY, [0xd] = PEBS_MEMORY, [0xe] = PEBS_OTHER, /* I/O or reserved */
    [0xf] = PEBS_OTHER,                                           /* uncacheable memory */
};

enum pebs_level pebs_level_of(uint64_t data_source)
{
    return levels[data_source & SOURCE_MASK];
}

const char *pebs_level_name(enum pebs_level level)
{
    static const char *const level_names[] = {"L1", "L2", "LLC", "memory", "other"};
    return level_names[level];
}
