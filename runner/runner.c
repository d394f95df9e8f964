/* The runner. */
#include "runner/runner.h"

#include "runner/menu.h"
#include "runner/progress.h"
#include "runner/registry.h"
#include "runner/summary.h"
#include "runner/tap.h"
#include "runner/trace.h"
#include "x86/debug_exit.h"
#include "runner/cmdline.h"
#include "kernel/cpuid.h"
#include "kernel/debugreg.h"
#include "kernel/msr.h"
#include "kernel/print.h"
#include "kernel/smi.h"
#include "kernel/string.h"
#include "lapic/smp.h"
#include "kernel/trap.h"
#include "lapic/lapic.h"
#include "pmu/errata.h"
#include "pmu/pmu.h"

#include <stddef.h>

#define SETTLE_NOPS        100 /* time for an interrupt that is already pending to be delivered */
#define RESTORE_TIMEOUT_MS 1000

static void print_hypervisor(void)
{
    char name[HYPERVISOR_NAME];
    if (hypervisor_signature(name))
        kprintf("# hypervisor \"%s\" (CPUID.40000000H)\n", name);
    else if (hypervisor_present())
        kprintf("# a hypervisor (CPUID.1:ECX[31]) that gives no name in CPUID.40000000H\n");
}

static void print_header(const struct cmdline *cl)
{
    struct cpu_ident cpu;
    const struct pmu_info *info = pmu_info();
    cpu_identify(&cpu);
    kprintf("# PMU Lab " PMULAB_VERSION " · %s family %u model 0x%x · ",
            cpu.brand[0] != '\0' ? cpu.brand : cpu.vendor, (unsigned)cpu.family,
            (unsigned)cpu.model);
    if (!info->present)
        kprintf("%s", info->no_pmu);
    else
        kprintf("%s: %u x %u-bit general, %u x %u-bit fixed", info->title, info->n_general,
                info->general_width, info->n_fixed, info->fixed_width);
    if (cl->pmi == PMI_NMI)
        kprintf(" · pmi NMI\n");
    else
        kprintf(" · pmi vector 0x%x\n", LAPIC_VECTOR_PMI);
    print_hypervisor();
    for (unsigned i = 0; i < info->n_notes; i++)
        kprintf("# note: %s\n", info->notes[i]);
    smp_print();
}

static bool offered(const struct experiment *e, const struct cmdline *cl)
{
    return !e->selftest || cl->selftest;
}

/* Does this one word of run= select it? */
static bool word_selects(const struct cmdline *cl, unsigned word, const char *id)
{
    static struct cmdline one; /* too large for a stack frame */
    one.n_select = 1;
    for (size_t i = 0; i < sizeof(one.select[0]); i++)
        one.select[0][i] = cl->select[word][i];
    return cmdline_selects(&one, id);
}

static void print_ids(const struct cmdline *cl)
{
    const char *separator = "";
    for (size_t i = 0; experiments[i] != NULL; i++)
        if (offered(experiments[i], cl)) {
            kprintf("%s%s", separator, experiments[i]->id);
            separator = ", ";
        }
    kprintf("\n");
}

/* Every word of run= must select something; says what is wrong with those that do not. */
static bool selection_is_good(const struct cmdline *cl)
{
    bool good = true;
    for (unsigned word = 0; word < cl->n_select; word++) {
        bool found = false, hidden = false;
        for (size_t i = 0; experiments[i] != NULL; i++) {
            if (!word_selects(cl, word, experiments[i]->id))
                continue;
            if (offered(experiments[i], cl))
                found = true;
            else
                hidden = true;
        }
        if (found)
            continue;
        good = false;
        if (hidden) {
            tap_bail_out("run=%s: it breaks on purpose and is there only with the word selftest",
                         cl->select[word]);
            continue;
        }
        kprintf("Bail out! run=%s: there is no experiment %s; experiments are ", cl->select[word],
                cl->select[word]);
        print_ids(cl);
    }
    return good;
}

static bool command_line_is_good(const struct cmdline *cl)
{
    unsigned kept = cl->n_errors < CMDLINE_MAX_ERRORS ? cl->n_errors : CMDLINE_MAX_ERRORS;
    for (unsigned i = 0; i < kept; i++)
        tap_bail_out("%s", cl->errors[i]);
    if (cl->n_errors > kept)
        tap_bail_out("and %u more errors on the command line", cl->n_errors - kept);
    return selection_is_good(cl) && cl->n_errors == 0;
}

static bool selected(const struct experiment *e, const struct cmdline *cl)
{
    return offered(e, cl) && cmdline_selects(cl, e->id);
}

static void list_experiments(const struct cmdline *cl)
{
    kprintf("1..0 # SKIP list: nothing is run\n");
    for (size_t i = 0; experiments[i] != NULL; i++) {
        const struct experiment *e = experiments[i];
        const char *missing = need_missing(e->needs);
        if (selected(e, cl))
            kprintf("# %-6s %s%s%s%s\n", e->id, e->title, missing != NULL ? " (here a SKIP: " : "",
                    missing != NULL ? missing : "", missing != NULL ? ")" : "");
    }
}

/* The curriculum's initial state. A PMI that is still on its way arrives here, where nobody waits
 * for it, and not in the next experiment. */
static void restore_initial_state(void)
{
    irq_disable();
    debug_reset();
    pmu_reset();
    irq_enable();
    for (int i = 0; i < SETTLE_NOPS; i++)
        __asm__ volatile("nop");
    irq_disable();
    pmu_reset();
}

/* What sheets and their equipment keep (linker.ld). */
static void clear_lab_state(void)
{
    extern uint64_t lab_state_start[], lab_state_end[];
    memset(lab_state_start, 0, (size_t)((char *)lab_state_end - (char *)lab_state_start));
}

static void restore_on_other(void *arg)
{
    (void)arg;
    restore_initial_state();
}

/* The same on the other processors: only for the experiments that may use them. What an experiment
 * that was ended early left running there is ended too. */
static void restore_others(const struct experiment *e)
{
    if (!(e->needs & NEED_SMP) && !e->elsewhere)
        return;
    irq_enable();
    smp_stop_all();
    for (unsigned i = 1; i < smp_count(); i++)
        if (!smp_run_on(i, restore_on_other, NULL, RESTORE_TIMEOUT_MS))
            kprintf("# %s\n", smp_why(i));
    irq_disable();
}

static void guarded(void *arg)
{
    const struct experiment *e = arg;
    irq_enable();
    e->run();
}

/* What is known to be wrong with this processor, beside the verdict that it explains. */
static void explain(const struct experiment *e)
{
    struct summary_result result;
    tap_result(&result);
    if (result.failed > 0)
        errata_explain(e->id);
}

static void run_one(const struct experiment *e, const struct cmdline *cl)
{
    const char *why = NULL;
    tap_start(e);
    const char *missing = need_missing(e->needs);
    if (missing != NULL) {
        tap_skip_all(missing);
        return;
    }
    clear_lab_state();
    restore_initial_state();
    restore_others(e);
    msr_trace_reset();
    msr_trace_enable(cl->trace_msr);
    lapic_watchdog_start(cl->watchdog_ms);
    uint32_t smis_before = smi_count();
    bool returned = trap_guarded(guarded, (void *)e, &why);
    irq_disable();
    uint32_t smis = smi_count() - smis_before;
    lapic_watchdog_stop();
    msr_trace_enable(false);
    restore_initial_state();
    restore_others(e);
    tap_end(returned ? NULL : why);
    explain(e);
    if (smis != 0)
        kprintf("# SMIs while it ran: %u (MSR_SMI_COUNT)\n", (unsigned)smis);
    pmu_report_unexpected();
    if (cl->trace_msr)
        trace_print();
}

void runner_run(const struct cmdline *cl)
{
    struct summary_result result;
    unsigned n = 0;
    for (size_t i = 0; experiments[i] != NULL; i++)
        n += selected(experiments[i], cl);
    progress_begin(n);
    for (size_t i = 0; experiments[i] != NULL; i++) {
        if (!selected(experiments[i], cl))
            continue;
        progress_next(experiments[i]);
        run_one(experiments[i], cl);
        tap_result(&result);
        summary_add(&result);
        progress_add(&result);
    }
    progress_end("done");
}

uint8_t experiments_run(const struct cmdline *cl)
{
    unsigned checks = 0;
    tap_begin();
    if (!command_line_is_good(cl))
        return DEBUG_EXIT_NOT_OK;
    print_header(cl);
    if (cl->list) {
        list_experiments(cl);
        return DEBUG_EXIT_OK;
    }
    if (!cl->menu || !menu_run(cl)) {
        for (size_t i = 0; experiments[i] != NULL; i++)
            if (selected(experiments[i], cl))
                checks += experiments[i]->n_checks;
        tap_plan(checks);
        runner_run(cl);
    }
    return tap_failures() == 0 ? DEBUG_EXIT_OK : DEBUG_EXIT_NOT_OK;
}
