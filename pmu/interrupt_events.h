/* The events of interrupts that are masked (x86/events.h, EVENT_HW_INTERRUPTS_*): no CPUID leaf
 * tells of them. */
#ifndef PMULAB_PMU_INTERRUPT_EVENTS_H
#define PMULAB_PMU_INTERRUPT_EVENTS_H

/* Why this processor has neither EVENT_HW_INTERRUPTS_MASKED nor ..._PENDING_AND_MASKED, as far as
 * is known of its model; NULL when it has both. */
const char *pmu_why_no_masked_interrupts(void);

#endif
