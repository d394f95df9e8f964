#include "sim/host/stats.h"

#include <inttypes.h>

static const struct {
    enum cpu_event event;
    const char *name;
} rows[] = {
    {EV_INSN, "instructions"},
    {EV_UOPS, "micro-operations"},
    {EV_LOAD, "loads"},
    {EV_STORE, "stores"},
    {EV_BRANCH, "branches"},
    {EV_BRANCH_TAKEN, "  taken"},
    {EV_BRANCH_COND, "  conditional"},
    {EV_BRANCH_CALL, "  near calls"},
    {EV_BRANCH_RET, "  near returns"},
    {EV_BRANCH_FAR, "  far"},
    {EV_MISPREDICT, "  mispredicted"},
    {EV_L1_HIT, "L1D hits"},
    {EV_L1_MISS, "L1D misses"},
    {EV_L2_HIT, "L2 hits"},
    {EV_L2_MISS, "L2 misses"},
    {EV_LLC_HIT, "LLC hits"},
    {EV_LLC_MISS, "LLC misses"},
    {EV_SLOTS, "slots"},
    {EV_SLOTS_RETIRING, "  retiring"},
    {EV_SLOTS_HEAVY, "    heavy"},
    {EV_SLOTS_BAD_SPEC, "  bad speculation"},
    {EV_SLOTS_FRONTEND, "  front-end bound"},
    {EV_SLOTS_FETCH_LATENCY, "    fetch latency"},
    {EV_SLOTS_BACKEND, "  back-end bound"},
    {EV_SLOTS_MEMORY, "    memory"},
};

static uint64_t both(const struct cpu *cpu, enum cpu_event e)
{
    return cpu->total[0][e] + cpu->total[1][e];
}

static void print_cpu(const struct cpu *cpu, FILE *out)
{
    const struct profile *p = cpu->profile;
    double cycles = (double)both(cpu, EV_SLOTS) / p->uarch.retire_width;

    fprintf(out, "pmusim: cpu%u %16s %18s %18s\n", cpu->index, "", "CPL 0", "CPL > 0");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        fprintf(out, "pmusim:   %-18s %18" PRIu64 " %18" PRIu64 "\n", rows[i].name,
                cpu_total(cpu, 0, rows[i].event), cpu_total(cpu, 1, rows[i].event));
    fprintf(out, "pmusim:   %-18s %18.0f %18.0f\n", "core cycles",
            (double)cpu->total[0][EV_SLOTS] / p->uarch.retire_width,
            (double)cpu->total[1][EV_SLOTS] / p->uarch.retire_width);
    fprintf(out, "pmusim:   %-18s %18.3f\n", "IPC",
            cycles > 0 ? (double)both(cpu, EV_INSN) / cycles : 0.0);
    fprintf(out,
            "pmusim:   PMIs %" PRIu64 ", interrupts %" PRIu64 ", NMIs %" PRIu64
            ", exceptions %" PRIu64 "\n",
            cpu->stats.pmis, cpu->stats.interrupts, cpu->stats.nmis, cpu->stats.exceptions);
    fprintf(out, "pmusim:   simulated time %.6f s, of it halted %.6f s\n",
            (double)slots_to_hz(p, cpu->now, 1000000000) / 1e9,
            (double)slots_to_hz(p, cpu->halted, 1000000000) / 1e9);
}

void stats_print(const struct machine *m, double wall_seconds, FILE *out)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < m->n_cpus; i++) {
        print_cpu(m->cpus[i], out);
        n += both(m->cpus[i], EV_INSN);
    }
    fprintf(out, "pmusim: wall time %.3f s, %.1f MIPS\n", wall_seconds,
            wall_seconds > 0 ? (double)n / wall_seconds / 1e6 : 0.0);
}
