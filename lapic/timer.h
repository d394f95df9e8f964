/* The local APIC timer: one hardware timer, two software deadlines. Used by lapic/lapic.c alone;
 * the deadlines' interface is in lapic/lapic.h. */
#ifndef PMULAB_LAPIC_TIMER_H
#define PMULAB_LAPIC_TIMER_H

/* Sets up LVT timer for one-shot mode and measures the timer's rate against the TSC (about 10 ms).
 */
void lapic_timer_init(void);

#endif
