/*
 * The formats of a last branch record, SDM vol. 3 "LBR Stack and Intel 64 Processors" (the
 * encodings of IA32_PERF_CAPABILITIES.LBR_FMT) and "Last Branch Records" (the architectural ones),
 * and their filters. Pure: register values in, a record out, so that the host tests compile it.
 */
#ifndef PMULAB_LBR_FORMAT_H
#define PMULAB_LBR_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lbr_format {
    LBR_FMT_32,                   /* both addresses in the FROM register: 31:0 from, 63:32 to */
    LBR_FMT_LIP,                  /* linear addresses */
    LBR_FMT_EIP,                  /* offsets in the code segment: the same in 64-bit mode */
    LBR_FMT_EIP_FLAGS,            /* FROM[63]: mispredicted */
    LBR_FMT_EIP_FLAGS_TSX,        /* FROM[63]: mispredicted, [62] in TSX, [61] TSX abort */
    LBR_FMT_INFO,                 /* MSR_LBR_INFO_x: mispredicted, TSX, cycles */
    LBR_FMT_CYCLES_IN_TO,         /* FROM[63]: mispredicted; TO[63:48]: cycles */
    LBR_FMT_INFO_NO_TSX,          /* MSR_LBR_INFO_x: mispredicted, cycles */
    LBR_FMT_COUNT,                /* from here on unknown, but for: */
    LBR_FMT_ARCHITECTURAL = 0x3f, /* IA32_LBR_x_INFO: mispredicted, TSX, cycles, type of branch */
    LBR_FMT_AMD = 0x40, /* FROM[63]: mispredicted; TO[63:62]: valid, speculative (no encoding of
                           IA32_PERF_CAPABILITIES has seven bits) */
};

#define LBR_LOGGED 4 /* general counters whose events a record can tell */

/* A branch as its record tells it. What the format does not tell is false, or 0. */
struct branch_record {
    uint64_t from, to;
    bool has_prediction, mispredicted;
    bool in_tsx, tsx_abort;
    bool wrong_path; /* the branch was never retired: AMD's alone keep those too */
    bool has_cycles;
    uint16_t cycles; /* core clocks since the record before, 65535: that many or more */
    bool has_type;
    unsigned type; /* LBR_BR_TYPE_* */
    /* Events of general counter n since the record before, 3: that many or more. */
    uint8_t counts[LBR_LOGGED];
};

/* The name of the format, and whether it has MSR_LBR_INFO_x; "unknown" of an unknown one. */
const char *lbr_format_name(unsigned format);
bool lbr_format_has_info(unsigned format);

/* One record out of its registers; info is 0 where the format has none. False when the format is
 * unknown (then the record is all 0). Addresses come back canonical: flags are replaced by the
 * sign. */
bool lbr_decode(unsigned format, uint64_t from, uint64_t to, uint64_t info,
                struct branch_record *record);

/* Is the record of this kind of branch, the bit of MSR_LBR_SELECT that suppresses it? True where
 * the record does not tell, and of what is no kind of branch (a ring). */
bool lbr_is_kind(const struct branch_record *record, uint64_t select);

/* IA32_LBR_CTL, but LBREn, that records what MSR_LBR_SELECT = select does: there a bit suppresses,
 * here it admits. */
uint64_t lbr_control_of(uint64_t select);

/* What the record tells beside its addresses: "mispredicted, 17 cycles". "" when nothing. Cut at
 * size, NUL-terminated. */
void lbr_flags_text(char *buf, size_t size, const struct branch_record *record);

#endif
