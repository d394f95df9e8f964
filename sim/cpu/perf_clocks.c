/*
 * IA32_MPERF and IA32_APERF: a clock of a fixed frequency, here the TSC's, and that of the core,
 * both in C0 alone. SDM vol. 3 "Hardware Coordination Feedback": 64 bits each, "each MSR can be
 * written to independently", and "when either MSR overflows, both MSRs are reset to zero and
 * continue to increment". Vol. 4 calls them "R/Write to clear"; what a write of another value than
 * 0 does follows from the former.
 */
#include "sim/cpu/system.h"

struct perf_clocks {
    uint64_t mperf, aperf;
};

static uint64_t slots_in_c0(const struct cpu *cpu)
{
    return cpu->now - cpu->halted;
}

/* Slots after which a clock that holds value overflows: the next tick after all ones. */
static uint64_t slots_to_overflow(const struct profile *p, uint64_t value, uint64_t hz)
{
    return value == 0 ? UINT64_MAX : hz_to_slots(p, -value, hz);
}

static struct perf_clocks clocks_now(const struct cpu *cpu)
{
    const struct profile *p = cpu->profile;
    struct perf_clocks clocks = {cpu->system->mperf, cpu->system->aperf};
    uint64_t since = slots_in_c0(cpu) - cpu->system->perf_since;
    uint64_t mperf_over = slots_to_overflow(p, clocks.mperf, p->tsc_hz);
    uint64_t aperf_over = slots_to_overflow(p, clocks.aperf, p->core_hz);
    uint64_t over = mperf_over < aperf_over ? mperf_over : aperf_over;
    if (since >= over) {
        clocks = (struct perf_clocks){0, 0};
        since -= over;
    }
    clocks.mperf += slots_to_hz(p, since, p->tsc_hz);
    clocks.aperf += slots_to_hz(p, since, p->core_hz);
    return clocks;
}

static bool go_on_from(struct cpu *cpu, struct perf_clocks clocks)
{
    cpu->system->mperf = clocks.mperf;
    cpu->system->aperf = clocks.aperf;
    cpu->system->perf_since = slots_in_c0(cpu);
    return true;
}

uint64_t mperf_read(const struct cpu *cpu)
{
    return clocks_now(cpu).mperf;
}

uint64_t aperf_read(const struct cpu *cpu)
{
    return clocks_now(cpu).aperf;
}

bool mperf_write(struct cpu *cpu, uint64_t value)
{
    return go_on_from(cpu, (struct perf_clocks){value, clocks_now(cpu).aperf});
}

bool aperf_write(struct cpu *cpu, uint64_t value)
{
    return go_on_from(cpu, (struct perf_clocks){clocks_now(cpu).mperf, value});
}
