/* Counting on two processors at the same time. */
#include "lab/together.h"

#include "kernel/percpu.h"
#include "kernel/smi.h"
#include "kernel/time.h"
#include "kernel/trap.h"
#include "lapic/smp.h"
#include "pmu/pmu.h"

#define TIMEOUT_MS 2000
#define MEETING_US 500000

static struct {
    uint64_t select;
    window_body body;
    struct together *sides;
    volatile unsigned arrived;
} both;

static void count_here(void *side)
{
    struct together *mine = side;
    const struct together *other = &both.sides[mine == &both.sides[0]];
    pmu_select(0, both.select);
    mine->written = pmu_write(0, 0);
    mine->before = pmu_read(0);
    __atomic_fetch_add(&both.arrived, 1, __ATOMIC_SEQ_CST);
    uint64_t end = rdtsc() + tsc_ticks_us(MEETING_US);
    while (both.arrived < 2 && rdtsc() < end)
        __asm__ volatile("pause");
    mine->met = both.arrived == 2;
    irq_disable(); /* an interrupt would be in the count */
    mine->alone = other->closed;
    uint32_t smis = smi_count();
    pmu_count(PMU_MASK(0), both.body, mine->iterations);
    mine->closed = true;
    mine->smi = smi_count() != smis;
    irq_enable();
    mine->count = pmu_read(0);
}

bool count_together(unsigned other, uint64_t select, window_body body, struct together sides[2])
{
    both.select = select;
    both.body = body;
    both.sides = sides;
    both.arrived = 0;
    sides[0].closed = sides[1].closed = false;
    bool started = smp_start(other, count_here, &sides[1]);
    count_here(&sides[0]);
    return started && smp_wait(other, TIMEOUT_MS);
}
