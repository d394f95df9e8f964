/* The formats of a last branch record, as one table. */
#include "pmu/lbr_format.h"

#include "x86/amd.h"
#include "x86/bits.h"
#include "x86/pmu.h"
#include "kernel/print.h"

#define MISPRED         ARCH_BIT(63)
#define IN_TSX          ARCH_BIT(62)
#define TSX_ABORT       ARCH_BIT(61)
#define INFO_CYCLES     0xffffu
#define TO_CYCLES_SHIFT 48
#define COUNT_MAX       ((1u << LBR_INFO_PMC_BITS) - 1)

/* flags: how many bits from 63 down are flags in FROM; cycles: the same for the cycles in TO. */
static const struct format {
    const char *name;
    unsigned flags, cycles;
    bool info, tsx;
} formats[LBR_FMT_COUNT] = {
    [LBR_FMT_32] = {"32-bit", 0, 0, false, false},
    [LBR_FMT_LIP] = {"64-bit linear addresses", 0, 0, false, false},
    [LBR_FMT_EIP] = {"64-bit offsets", 0, 0, false, false},
    [LBR_FMT_EIP_FLAGS] = {"64-bit offsets, MISPRED in FROM[63]", 1, 0, false, false},
    [LBR_FMT_EIP_FLAGS_TSX] = {"64-bit offsets, MISPRED and TSX in FROM[63:61]", 3, 0, false, true},
    [LBR_FMT_INFO] = {"64-bit offsets, MSR_LBR_INFO_x with TSX", 0, 0, true, true},
    [LBR_FMT_CYCLES_IN_TO] = {"64-bit linear addresses, MISPRED in FROM[63], cycles in TO[63:48]",
                              1, 16, false, false},
    [LBR_FMT_INFO_NO_TSX] = {"64-bit linear addresses, MSR_LBR_INFO_x", 0, 0, true, false},
};

static const struct format architectural = {"architectural: IA32_LBR_x_INFO", 0, 0, true, true};

static const struct format amd = {"AMD: MISPRED in FROM[63], V and SPEC in TO[63:62]", 7, 7, false,
                                  false};

static const struct format *format_of(unsigned format)
{
    if (format == LBR_FMT_AMD)
        return &amd;
    if (format == LBR_FMT_ARCHITECTURAL)
        return &architectural;
    return format < LBR_FMT_COUNT ? &formats[format] : NULL;
}

const char *lbr_format_name(unsigned format)
{
    const struct format *f = format_of(format);
    return f != NULL ? f->name : "unknown";
}

bool lbr_format_has_info(unsigned format)
{
    const struct format *f = format_of(format);
    return f != NULL && f->info;
}

/* The kinds of branches: what suppresses and what admits each, and the types that its records have
 * (SDM vol. 3 "Last Branch Records": IA32_LBR_CTL, and BR_TYPE of IA32_LBR_x_INFO). */
static const struct {
    uint64_t select, control;
    uint8_t first_type, last_type;
    const char *name;
} kinds[] = {
    {LBR_SELECT_JCC, LBR_CTL_JCC, LBR_BR_TYPE_COND, LBR_BR_TYPE_COND, "conditional"},
    {LBR_SELECT_NEAR_IND_JMP, LBR_CTL_NEAR_IND_JMP, LBR_BR_TYPE_NEAR_IND_JMP,
     LBR_BR_TYPE_NEAR_IND_JMP, "indirect jump"},
    {LBR_SELECT_NEAR_REL_JMP, LBR_CTL_NEAR_REL_JMP, LBR_BR_TYPE_NEAR_REL_JMP,
     LBR_BR_TYPE_NEAR_REL_JMP, "jump"},
    {LBR_SELECT_NEAR_IND_CALL, LBR_CTL_NEAR_IND_CALL, LBR_BR_TYPE_NEAR_IND_CALL,
     LBR_BR_TYPE_NEAR_IND_CALL, "indirect call"},
    {LBR_SELECT_NEAR_REL_CALL, LBR_CTL_NEAR_REL_CALL, LBR_BR_TYPE_NEAR_REL_CALL,
     LBR_BR_TYPE_NEAR_REL_CALL, "call"},
    {LBR_SELECT_NEAR_RET, LBR_CTL_NEAR_RET, LBR_BR_TYPE_NEAR_RET, LBR_BR_TYPE_NEAR_RET, "return"},
    {LBR_SELECT_FAR_BRANCH, LBR_CTL_OTHER_BRANCH, LBR_BR_TYPE_OTHER, LBR_BR_TYPE_LAST,
     "other branch"},
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

bool lbr_is_kind(const struct branch_record *record, uint64_t select)
{
    for (size_t i = 0; i < N_KINDS; i++)
        if (record->has_type && kinds[i].select == select)
            return record->type >= kinds[i].first_type && record->type <= kinds[i].last_type;
    return true;
}

uint64_t lbr_control_of(uint64_t select)
{
    uint64_t control = 0;
    control |= select & LBR_SELECT_CPL_EQ_0 ? 0 : LBR_CTL_OS;
    control |= select & LBR_SELECT_CPL_NEQ_0 ? 0 : LBR_CTL_USR;
    control |= select & LBR_SELECT_EN_CALLSTACK ? LBR_CTL_CALL_STACK : 0;
    for (size_t i = 0; i < N_KINDS; i++)
        control |= select & kinds[i].select ? 0 : kinds[i].control;
    return control;
}

/* The address without the upper bits that are no part of it. */
static uint64_t sign_extended(uint64_t value, unsigned upper_bits)
{
    return (uint64_t)((int64_t)(value << upper_bits) >> upper_bits);
}

bool lbr_decode(unsigned format, uint64_t from, uint64_t to, uint64_t info,
                struct branch_record *record)
{
    const struct format *f = format_of(format);
    *record = (struct branch_record){0};
    if (f == NULL)
        return false;
    if (format == LBR_FMT_32) {
        record->from = (uint32_t)from;
        record->to = from >> 32;
        return true;
    }
    uint64_t flags = f->info ? info : f->flags != 0 ? from : 0;
    record->from = sign_extended(from, f->flags);
    record->to = sign_extended(to, f->cycles);
    record->has_prediction = f->info || f->flags != 0;
    record->mispredicted = flags & MISPRED;
    record->in_tsx = f->tsx && (flags & IN_TSX);
    record->tsx_abort = f->tsx && (flags & TSX_ABORT);
    record->has_cycles = f->info || (f->cycles != 0 && f != &amd);
    if (f == &amd) {
        /* V alone: retired; with SPEC: recorded ahead, and right. To[61] is reserved; where it is
         * set the entry is none (erratum 1452; Linux arch/x86/events/amd/lbr.c). */
        record->wrong_path = !(to & AMD_LBR_TO_VALID) || (to & AMD_LBR_TO_BOGUS);
        return true;
    }
    if (f == &architectural) {
        record->has_cycles = info & LBR_INFO_CYC_CNT_VALID;
        record->has_type = true;
        record->type = (unsigned)((info & LBR_INFO_BR_TYPE) >> LBR_INFO_BR_TYPE_SHIFT);
        for (unsigned n = 0; n < LBR_LOGGED; n++)
            record->counts[n] = info >> (LBR_INFO_PMC_SHIFT + LBR_INFO_PMC_BITS * n) & COUNT_MAX;
    }
    if (f->info && record->has_cycles)
        record->cycles = (uint16_t)(info & INFO_CYCLES);
    else if (record->has_cycles)
        record->cycles = (uint16_t)(to >> TO_CYCLES_SHIFT);
    return true;
}

/* "" where the record does not tell. */
static const char *type_name(const struct branch_record *record)
{
    for (size_t i = 0; i < N_KINDS && record->has_type; i++)
        if (record->type >= kinds[i].first_type && record->type <= kinds[i].last_type)
            return kinds[i].name;
    return record->has_type ? "reserved type" : "";
}

void lbr_flags_text(char *buf, size_t size, const struct branch_record *record)
{
    const char *type = type_name(record);
    const char *prediction = !record->has_prediction ? ""
                             : record->mispredicted  ? "mispredicted"
                                                     : "predicted";
    char cycles[24] = "";
    if (record->has_cycles)
        ksnprintf(cycles, sizeof(cycles), "%u cycle%s", (unsigned)record->cycles,
                  record->cycles == 1 ? "" : "s");
    char counts[LBR_LOGGED][24];
    for (unsigned n = 0; n < LBR_LOGGED; n++)
        ksnprintf(counts[n], sizeof(counts[n]), "%s%u of PMC%u",
                  record->counts[n] == COUNT_MAX ? ">= " : "", (unsigned)record->counts[n], n);
    const struct {
        bool is;
        const char *text;
    } parts[] = {
        {*type != '\0', type},
        {record->has_prediction, prediction},
        {record->has_cycles, cycles},
        {record->in_tsx, "in TSX"},
        {record->tsx_abort, "TSX abort"},
        {record->counts[0] != 0, counts[0]},
        {record->counts[1] != 0, counts[1]},
        {record->counts[2] != 0, counts[2]},
        {record->counts[3] != 0, counts[3]},
    };
    size_t used = 0;
    buf[0] = '\0';
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (parts[i].is && used < size)
            used += (size_t)ksnprintf(buf + used, size - used, "%s%s", used != 0 ? ", " : "",
                                      parts[i].text);
}
