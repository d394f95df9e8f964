/*
 * CPUID leaf 23H, "Architectural Performance Monitoring Extended": what this processor's PMU is
 * where leaf 0AH can only say what all kinds of core have in common. SDM vol. 2 "CPUID".
 */
#ifndef PMULAB_LEAF_23H_H
#define PMULAB_LEAF_23H_H

#include <stdbool.h>
#include <stdint.h>

/* All 0 for what its sub-leaf would say where it is not valid. */
struct leaf_23h {
    uint32_t subleaves;       /* bit n: sub-leaf n is valid; 0: there is no leaf 23H */
    bool umask2, eq;          /* IA32_PERFEVTSELx[47:40] and [36] can be set */
    unsigned slots_per_cycle; /* 0: not told */
    uint32_t general, fixed;  /* sub-leaf 1: bit n: there is that counter */
    /* Sub-leaf 2, bits as in IA32_PERF_GLOBAL_CTRL: counters that can be reloaded, and those whose
     * overflow can do it. */
    uint64_t reloaded, reloading;
    uint32_t events; /* sub-leaf 3: bit n: architectural event n is available */
};

/* Never faults. */
struct leaf_23h leaf_23h_read(void);

#endif
