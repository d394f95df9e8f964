/*
 * A processor's life, and the conversions of its clock.
 */
#include <stdlib.h>

#include "sim/cpu/system.h"
#include "sim/cpu/uarch.h"
#include "sim/dev/dev.h"
#include "sim/pmu/pmu.h"

typedef unsigned __int128 u128;

struct cpu *cpu_new(struct machine *m, unsigned index, const struct profile *p)
{
    struct cpu *cpu = calloc(1, sizeof *cpu);
    if (!cpu)
        return NULL;
    cpu->machine = m;
    cpu->index = index;
    cpu->profile = p;
    cpu->pause = UINT64_MAX;
    if (!(cpu->tlb = calloc(1, sizeof *cpu->tlb)) ||
        !(cpu->system = calloc(1, sizeof *cpu->system)) || !(cpu->uarch = uarch_new(p)) ||
        !exec_new(cpu) || !(cpu->pmu = pmu_new(cpu)) || !(cpu->lapic = lapic_new(cpu))) {
        cpu_free(cpu);
        return NULL;
    }
    cpu_reset(cpu, false);
    return cpu;
}

void cpu_free(struct cpu *cpu)
{
    if (!cpu)
        return;
    lapic_free(cpu->lapic);
    pmu_free(cpu->pmu);
    exec_free(cpu);
    uarch_free(cpu->uarch);
    free(cpu->system);
    free(cpu->tlb);
    free(cpu);
}

uint64_t slot_rate(const struct profile *p)
{
    return p->core_hz * p->uarch.retire_width;
}

uint64_t slots_to_hz(const struct profile *p, uint64_t slots, uint64_t hz)
{
    u128 ticks = (u128)slots * hz / slot_rate(p);
    return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

uint64_t hz_to_slots(const struct profile *p, uint64_t ticks, uint64_t hz)
{
    u128 slots = ((u128)ticks * slot_rate(p) + hz - 1) / hz;
    return slots > UINT64_MAX ? UINT64_MAX : (uint64_t)slots;
}

uint64_t cpu_tsc(const struct cpu *cpu)
{
    return slots_to_hz(cpu->profile, cpu->now, cpu->profile->tsc_hz) + cpu->tsc_offset;
}
