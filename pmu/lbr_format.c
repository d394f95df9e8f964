/* The formats of a last branch record, as one table. */
#include "pmu/lbr_format.h"

#include "x86/bits.h"
#include "kernel/print.h"

#define MISPRED         ARCH_BIT(63)
#define IN_TSX          ARCH_BIT(62)
#define TSX_ABORT       ARCH_BIT(61)
#define INFO_CYCLES     0xffffu
#define TO_CYCLES_SHIFT 48

/* flags: how many bits from 63 down are flags in FROM; cycles: the same for the cycles in TO. */
static const struct {
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

const char *lbr_format_name(unsigned format)
{
    return format < LBR_FMT_COUNT ? formats[format].name : "unknown";
}

bool lbr_format_has_info(unsigned format)
{
    return format < LBR_FMT_COUNT && formats[format].info;
}

/* The address without the upper bits that are no part of it. */
static uint64_t sign_extended(uint64_t value, unsigned upper_bits)
{
    return (uint64_t)((int64_t)(value << upper_bits) >> upper_bits);
}

bool lbr_decode(unsigned format, uint64_t from, uint64_t to, uint64_t info,
                struct branch_record *record)
{
    *record = (struct branch_record){0};
    if (format >= LBR_FMT_COUNT)
        return false;
    if (format == LBR_FMT_32) {
        record->from = (uint32_t)from;
        record->to = from >> 32;
        return true;
    }
    uint64_t flags = formats[format].info ? info : formats[format].flags != 0 ? from : 0;
    record->from = sign_extended(from, formats[format].flags);
    record->to = sign_extended(to, formats[format].cycles);
    record->has_prediction = formats[format].info || formats[format].flags != 0;
    record->mispredicted = flags & MISPRED;
    record->in_tsx = formats[format].tsx && (flags & IN_TSX);
    record->tsx_abort = formats[format].tsx && (flags & TSX_ABORT);
    record->has_cycles = formats[format].info || formats[format].cycles != 0;
    if (formats[format].info)
        record->cycles = (uint16_t)(info & INFO_CYCLES);
    else if (record->has_cycles)
        record->cycles = (uint16_t)(to >> TO_CYCLES_SHIFT);
    return true;
}

void lbr_flags_text(char *buf, size_t size, const struct branch_record *record)
{
    char cycles[24] = "";
    if (record->has_cycles)
        ksnprintf(cycles, sizeof(cycles), "%s%u cycle%s", record->has_prediction ? ", " : "",
                  (unsigned)record->cycles, record->cycles == 1 ? "" : "s");
    ksnprintf(buf, size, "%s%s%s%s",
              !record->has_prediction ? ""
              : record->mispredicted  ? "mispredicted"
                                      : "predicted",
              cycles, record->in_tsx ? ", in TSX" : "", record->tsx_abort ? ", TSX abort" : "");
}
