/* Experiment 15-6 · PEBS in 64-bit mode. */
#include "kernel/paging.h"
#include "lab/experiment.h"
#include "lab/pebs_lab.h"
#include "lab/pmi_wait.h"
#include "lab/take.h"
#include "pmu/ds.h"
#include "pmu/pmu.h"
#include "x86/regs.h"

enum { SET_UP, ABOVE_4_GIB, UPPER_HALF };

static const char *const checks[] = {
    [SET_UP] = "the debug store can be set up and a counter samples the event",
    [ABOVE_4_GIB] =
        "above 4 GiB: RIP, RSI and all other registers are there in 64 bits, R8 to R15 included",
    [UPPER_HALF] = "in the upper half: RIP, RSI and all other registers are there in 64 bits",
};

static void run(void);

const struct experiment ex15_6 = {
    .id = "15-6",
    .title = "PEBS in 64-bit mode",
    .needs = NEED_PMU | NEED_GLOBAL_CTRL | NEED_PMI | NEED_PEBS,
    CHECKS(checks),
    .run = run,
};

/*
 * The fields of a PEBS record are quadwords, and R8 to R15 are among them, whatever the mode
 * (CPUID.1:ECX.DTES64; SDM vol. 3 "64 Bit Format of the DS Save Area", "PEBS Record Format"). The
 * loads of 15-5 run in code that is mapped above 4 GiB and in the upper half of the linear
 * addresses, on a table mapped there too, with register values that need all 64 bits.
 */
#define PERIOD 1000
#define ROUNDS 20 /* 1280 loads: one record */
#define HIGH   0xfedcba9800000000ULL

static struct pebs_run the_run;
static struct pebs_record record;
static unsigned records;

static void on_pmi(const struct pmi *pmi)
{
    (void)pmi;
    if (pebs_read(0, &record))
        records++;
    ds_buffer_drain(&ds_area()->pebs);
}

static void run_at(unsigned which, uint64_t base, unsigned counter)
{
    size_t size = (size_t)(pebs_loads_end - (const char *)pebs_loads);
    void *code = paging_alias(base, (const void *)pebs_loads, size, 0);
    void *data = paging_alias(base, the_run.entries, sizeof(the_run.entries), PTE_RW | PTE_XD);
    value_hex("mapped_at", (uint64_t)code);
    if (code == NULL || data == NULL) {
        check(which, false);
        return;
    }
    struct take take = take_begin();
    do {
        records = 0;
        ds_buffer_drain(&ds_area()->pebs);
        pebs_run_fill(&the_run, HIGH, ROUNDS);
        the_run.table = data;
        unsigned before = pmu_pmi_count();
        pebs_enable(counter, pebs_lab_event(), PERIOD);
        pebs_lab_on();
        pmu_count(PMU_MASK(counter), (window_body)code, (uint64_t)&the_run);
        wait_for_pmi(before + 1);
        pebs_lab_off();
    } while (take_again_wrong(&take, records != 0 &&
                                         pebs_record_agrees(&record, &the_run, (uint64_t)code)));
    if (records != 0)
        pebs_dump_records("one of them", &record, 1);
    value_u64("records", records);
    check(which, records != 0 && pebs_record_is_of(&record, &the_run, (uint64_t)code));
}

static void run(void)
{
    const struct ds_setup setup = {.bts_records = pebs_lab_bts_records(),
                                   .bts_threshold = DS_CIRCULAR,
                                   .pebs_records = 2,
                                   .pebs_threshold = 1};
    uint32_t counters = pebs_lab_set_up(&setup);
    check(SET_UP, counters != 0);
    if (counters == 0)
        return;
    if (pebs_no_registers() != NULL) {
        check_skip_all(ABOVE_4_GIB, UPPER_HALF, "%s", pebs_no_registers());
        return;
    }
    unsigned counter = (unsigned)__builtin_ctz(counters);
    pmu_set_pmi_handler(on_pmi, PMI_STOP);
    run_at(ABOVE_4_GIB, paging_high(), counter);
    run_at(UPPER_HALF, PAGING_UPPER, counter);
}
