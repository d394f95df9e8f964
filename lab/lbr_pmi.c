/* A PMI while branches are recorded. */
#include "lab/lbr_pmi.h"

#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "kernel/print.h"
#include "lab/bodies.h"
#include "lab/branches.h"
#include "lab/pmi_wait.h"
#include "lab/take.h"
#include "pmu/debugctl.h"
#include "pmu/errata.h"
#include "x86/msr.h"

#define SELECT         (EVENT_INST_RETIRED_ANY_P | PERFEVTSEL_USR | PERFEVTSEL_OS | PERFEVTSEL_INT)
#define ITERATIONS     10000
#define OVERFLOW_AFTER 2000

static struct lbr_pmi seen;

/* Calls branch_one() with the recording as it is, then ends it: were its four branches recorded,
 * they are the newest. */
static void call_and_read(const struct pmi *pmi)
{
    struct branch_record records[LBR_MAX_DEPTH];
    seen.debugctl = rdmsr(MSR_IA32_DEBUGCTL);
    seen.status = pmi->status;
    seen.control = lbr_control();
    lbr_finish(branch_one, 0);
    seen.recorded = lbr_read(records, LBR_MAX_DEPTH);
    seen.went_on = branch_among(records, seen.recorded, &branch_one_run.taken[1]);
}

static void take_one(uint64_t debugctl)
{
    unsigned before = pmu_pmi_count();
    seen = (struct lbr_pmi){0};
    pmu_set_pmi_handler(call_and_read, PMI_STOP);
    pmu_select(0, SELECT);
    pmu_write_overflow_in(0, OVERFLOW_AFTER);
    lbr_start(0, debugctl);
    pmu_count(PMU_MASK(0), body_spin, ITERATIONS);
    wait_for_pmi(before + 1);
    lbr_stop();
    seen.one = pmu_pmi_count() - before == 1;
}

struct lbr_pmi lbr_pmi(uint64_t debugctl, bool goes_on)
{
    struct take take = take_begin();
    do
        take_one(debugctl);
    while (take_again(&take, seen.one && seen.recorded != 0 && seen.went_on == goes_on));
    return seen;
}

const char *lbr_freeze_missing(void)
{
    static char reason[2 * ERRATA_TEXT];
    char condition[ERRATA_TEXT];
    /* As in 15-4: every version from 2 on has the bit, but not every hypervisor. */
    if (hypervisor_present() && !debugctl_takes(DEBUGCTL_FREEZE_LBRS_ON_PMI))
        return "IA32_DEBUGCTL[11] cannot be set under this hypervisor (CPUID.1:ECX[31] = 1)";
    const struct erratum *unfrozen = errata_here(ERRATUM_LBR_UNFROZEN, condition);
    if (unfrozen == NULL)
        return NULL;
    ksnprintf(reason, sizeof(reason), "%s on %s (CPUID.1:EAX)", unfrozen->what, condition);
    return reason;
}
