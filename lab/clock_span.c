/* Spans of time in two clocks. */
#include "lab/clock_span.h"

#include "kernel/trap.h"
#include "lab/bodies.h"
#include "lab/counter_of.h"
#include "lapic/lapic.h"
#include "pmu/pmu.h"

#define REF        counter_of(PMU_EVENT_REF_CYCLES, 0)
#define STEP_READS 64
#define TRIES      5

static volatile bool alarm_came;

void clock_spans_begin(void)
{
    counter_of_select(PMU_EVENT_REF_CYCLES, 0, PERFEVTSEL_OS | PERFEVTSEL_USR);
    pmu_open(PMU_MASK(REF));
}

void clock_spans_end(void)
{
    pmu_close();
}

uint64_t clock_ref_step(void)
{
    uint64_t step = UINT64_MAX, last = pmu_rdpmc(REF);
    for (int i = 0; i < STEP_READS; i++) {
        uint64_t now = pmu_rdpmc(REF);
        if (now != last && now - last < step)
            step = now - last;
        last = now;
    }
    return step == UINT64_MAX ? 0 : step;
}

uint64_t clock_span_apart(struct clock_span span)
{
    return span.tsc > span.ref ? span.tsc - span.ref : span.ref - span.tsc;
}

static struct clock_span between(const struct clock_pair *first, const struct clock_pair *second)
{
    return (struct clock_span){second->tsc - first->tsc,
                               (second->counter - first->counter) & pmu_counter_max(REF)};
}

struct clock_span clock_span_busy(uint64_t iterations)
{
    struct clock_pair pair[2];
    body_clock_read(&pair[0], pmu_rdpmc_selector(REF));
    body_spin(iterations);
    body_clock_read(&pair[1], pmu_rdpmc_selector(REF));
    return between(&pair[0], &pair[1]);
}

struct clock_span clock_span_busy_best(uint64_t iterations)
{
    struct clock_span best = clock_span_busy(iterations);
    for (int i = 1; i < TRIES; i++) {
        struct clock_span s = clock_span_busy(iterations);
        if (clock_span_apart(s) < clock_span_apart(best))
            best = s;
    }
    return best;
}

static void on_alarm(void)
{
    alarm_came = true;
}

void clock_wait_alarm(uint32_t microseconds, bool halt)
{
    alarm_came = false;
    lapic_alarm(microseconds, on_alarm);
    while (!alarm_came) {
        if (halt)
            body_halt();
        else
            body_open_for_interrupts();
        irq_disable();
    }
}

struct clock_span clock_span_alarm(uint32_t microseconds, bool halt)
{
    struct clock_pair pair[2];
    irq_disable();
    body_clock_read(&pair[0], pmu_rdpmc_selector(REF));
    clock_wait_alarm(microseconds, halt);
    body_clock_read(&pair[1], pmu_rdpmc_selector(REF));
    irq_enable();
    return between(&pair[0], &pair[1]);
}
