#include "sim/mutate.h"

#include <string.h>

enum mutation mutation_chosen;

static const struct {
    const char *name, *description;
} mutations[MUTATE_COUNT] = {
    [MUTATE_WIDTH_WRONG] = {"width-wrong",
                            "general counters read one bit narrower than CPUID says"},
    [MUTATE_WINDOW_PLUS_ONE] = {"window-plus-one",
                                "a counter of instructions counts one too many when it starts"},
    [MUTATE_LVT_NOT_MASKED] = {"lvt-not-masked", "a PMI leaves its LVT entry unmasked"},
    [MUTATE_FREEZE_NOTHING] = {"freeze-nothing", "a PMI freezes neither counters nor records"},
    [MUTATE_FIXED0_OFF_BY_ONE] = {"fixed0-off-by-one",
                                  "IA32_FIXED_CTR0 counts one too many when it starts"},
    [MUTATE_HLT_COUNTS] = {"hlt-counts", "the unhalted clocks run on in HLT"},
    [MUTATE_CHAIN_FREE] = {"chain-free", "no instruction waits for another's result"},
    [MUTATE_PMI_WRONG_PROCESSOR] = {"pmi-wrong-processor",
                                    "each processor's PMI arrives at the bootstrap processor"},
    [MUTATE_PEBS_NO_RELOAD] = {"pebs-no-reload",
                               "a PEBS record does not reload the counter from the DS area"},
    [MUTATE_PEBS_32BIT] = {"pebs-32bit", "PEBS records hold the low halves of RIP and registers"},
    [MUTATE_PEBS_NO_OVFBUF] = {"pebs-no-ovfbuf",
                               "a full PEBS buffer does not set IA32_PERF_GLOBAL_STATUS.OvfBuf"},
    [MUTATE_PMI_DROPPED_WHEN_PEBS] = {"pmi-dropped-when-pebs",
                                      "while PEBS is on, no plain counter raises a PMI"},
    [MUTATE_OVERFLOW_LOST_WITH_BTS] =
        {"overflow-lost-with-bts", "while BTS is on, no overflow of a plain counter is noticed"},
    [MUTATE_LATENCY_THRESHOLD_IGNORED] = {"latency-threshold-ignored",
                                          "the load latency event counts every load"},
    [MUTATE_DATA_SOURCE_WRONG] = {"data-source-wrong",
                                  "load latency records name L1 as the source of all data"},
    [MUTATE_LBR_RETURN_LOST] = {"lbr-return-lost", "LBR does not record near returns"},
    [MUTATE_LBR_NO_WRAP] = {"lbr-no-wrap", "LBR stops when its stack is full"},
    [MUTATE_LBR_CALL_FILTER_IGNORED] = {"lbr-call-filter-ignored",
                                        "MSR_LBR_SELECT does not filter near calls and returns"},
    [MUTATE_LBR_JUMP_FILTER_IGNORED] = {"lbr-jump-filter-ignored",
                                        "MSR_LBR_SELECT does not filter jumps and far branches"},
    [MUTATE_DB_KEEPS_LBR] = {"db-keeps-lbr", "a #DB leaves IA32_DEBUGCTL.LBR set"},
    [MUTATE_LBR_32BIT] = {"lbr-32bit", "LBR records hold the low halves of the addresses"},
    [MUTATE_LBR_RING_FILTER_IGNORED] = {"lbr-ring-filter-ignored",
                                        "MSR_LBR_SELECT does not filter by privilege"},
    [MUTATE_BTF_IGNORED] = {"btf-ignored", "IA32_DEBUGCTL.BTF does not change what TF means"},
    [MUTATE_BTS_NO_WRAP] = {"bts-no-wrap", "a circular BTS buffer takes no more when it is full"},
    [MUTATE_BTS_LATE_THRESHOLD] = {"bts-late-threshold",
                                   "BTS asks for its PMI two records past the threshold"},
    [MUTATE_BTS_FILTER_IGNORED] = {"bts-filter-ignored",
                                   "BTS_OFF_OS and BTS_OFF_USR switch nothing off"},
    [MUTATE_BTS_32BIT] = {"bts-32bit", "BTS records hold the low halves of the addresses"},
    [MUTATE_BTS_DOUBLE_PMI] =
        {"bts-double-pmi",
         "once in a DS area, BTS asks for a second PMI when a full buffer was emptied"},
};

bool mutate_choose(const char *name)
{
    for (unsigned i = MUTATE_NOTHING + 1; i < MUTATE_COUNT; i++) {
        if (strcmp(mutations[i].name, name) == 0) {
            mutation_chosen = i;
            return true;
        }
    }
    return false;
}

void mutate_list(FILE *out)
{
    for (unsigned i = MUTATE_NOTHING + 1; i < MUTATE_COUNT; i++)
        fprintf(out, "%-26s %s\n", mutations[i].name, mutations[i].description);
}
