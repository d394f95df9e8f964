/*
 * The state of a machine as a file, and back into a machine that was built with the same words.
 *
 * What is in it is what software can see: registers, memory, devices, clocks and totals. What only
 * makes a processor fast is not: caches, TLBs, branch predictors, decoded instructions begin cold,
 * as after a deep sleep. So a run goes on from a snapshot always in the same way, but some cycles
 * later than it would have without.
 *
 * The parts go as they lie in memory: a snapshot is for the very build of the simulator that made
 * it, and the file says which that was. It is not meant to be kept, nor to be taken from strangers:
 * what the parts say is believed.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/cpu/system.h"
#include "sim/dev/internal.h"
#include "sim/pmu/pmu.h"
#include "sim/profile.h"
#include "sim/sim.h"

#define MAGIC "pmusim snapshot\n" PMULAB_VERSION
#define PAGE  4096

/* What must be the same on both sides. */
struct head {
    char magic[48];
    uint64_t build[6]; /* sizes of the parts */
    uint64_t n_cpus, ram_size, n_kinds;
};

/* Memory goes as runs of pages that hold anything; one of no pages is the end. */
struct run {
    uint64_t first, n;
};

/* The machine's own state beside its parts. */
struct rest {
    __typeof__(((struct machine *)0)->round) round;
};

/* A part of a processor or of the machine. */
struct part {
    void *at;
    size_t size;
};
enum { PARTS = 4 };

static void parts_of(struct cpu *cpu, struct part part[PARTS])
{
    part[0] = (struct part){cpu, sizeof(*cpu)};
    part[1] = (struct part){cpu->system, sizeof(*cpu->system)};
    part[2].at = pmu_state(cpu->pmu, &part[2].size);
    part[3].at = lapic_state(cpu->lapic, &part[3].size);
}

static struct head head_of(struct machine *m)
{
    struct head h = {
        .n_cpus = m->n_cpus, .ram_size = m->ram_size, .n_kinds = m->own_profiles->n_kinds};
    struct part part[PARTS];

    strncpy(h.magic, MAGIC, sizeof(h.magic) - 1);
    parts_of(m->cpus[0], part);
    for (unsigned i = 0; i < PARTS; i++)
        h.build[i] = part[i].size;
    h.build[PARTS] = sizeof(struct devices);
    h.build[PARTS + 1] = sizeof(struct profile);
    return h;
}

static unsigned n_profiles(const struct machine *m)
{
    return m->own_profiles->n_kinds ? m->own_profiles->n_kinds : 1;
}

/* ---- Out ---- */

static bool put(FILE *out, const void *data, size_t n)
{
    return fwrite(data, 1, n, out) == n;
}

static bool is_empty(const uint8_t *page)
{
    static const uint8_t zeros[PAGE];

    return memcmp(page, zeros, PAGE) == 0;
}

static bool put_memory(const struct machine *m, FILE *out)
{
    struct run run = {0, 0};

    for (uint64_t page = 0; page < m->ram_size / PAGE; page = run.first + run.n + 1) {
        run = (struct run){page, 0};
        while (run.first + run.n < m->ram_size / PAGE &&
               !is_empty(m->ram + (run.first + run.n) * PAGE))
            run.n++;
        if (run.n &&
            !(put(out, &run, sizeof(run)) && put(out, m->ram + run.first * PAGE, run.n * PAGE)))
            return false;
    }
    run = (struct run){0, 0};
    return put(out, &run, sizeof(run));
}

bool sim_save(struct machine *m, FILE *out, FILE *err)
{
    struct rest rest = {m->round};
    struct part part[PARTS];

    if (m->faults) {
        fprintf(err, "a machine with --fault cannot be saved\n");
        return false;
    }
    machine_flush(m);
    struct head head = head_of(m);
    bool ok = put(out, &head, sizeof(head)) &&
              put(out, m->own_profiles, n_profiles(m) * sizeof(struct profile)) &&
              put(out, &rest, sizeof(rest)) && put(out, m->devices, sizeof(struct devices));
    for (unsigned i = 0; i < m->n_cpus && ok; i++) {
        parts_of(m->cpus[i], part);
        for (unsigned j = 0; j < PARTS && ok; j++)
            ok = put(out, part[j].at, part[j].size);
    }
    ok = ok && put_memory(m, out) && fflush(out) == 0;
    if (!ok)
        fprintf(err, "cannot be written\n");
    return ok;
}

/* ---- In ---- */

static bool get(FILE *in, void *data, size_t n)
{
    return fread(data, 1, n, in) == n;
}

/* Is it a snapshot of such a machine? */
static bool check(struct machine *m, FILE *in, FILE *err)
{
    struct head mine = head_of(m), head;
    uint8_t profile[sizeof(struct profile)]; /* the unused bytes between its members are 0 */
    const char *why = NULL;

    if (!get(in, &head, sizeof(head)) || memcmp(head.magic, MAGIC, strlen("pmusim snapshot")) != 0)
        why = "is not a snapshot";
    else if (memcmp(head.magic, mine.magic, sizeof(head.magic)) != 0 ||
             memcmp(head.build, mine.build, sizeof(head.build)) != 0)
        why = "was made by another build of pmusim";
    else if (head.n_cpus != mine.n_cpus)
        why = "has another number of processors: --cpus must be as it was";
    else if (head.ram_size != mine.ram_size)
        why = "has another memory: --memory must be as it was";
    for (unsigned i = 0; !why && i < n_profiles(m); i++)
        if (head.n_kinds != mine.n_kinds || !get(in, profile, sizeof(profile)) ||
            memcmp(profile, (const uint8_t *)&m->own_profiles[i], sizeof(profile)) != 0)
            why = "has another processor: --profile and --set must be as they were";
    if (why)
        fprintf(err, "%s\n", why);
    return !why;
}

/* The processor's registers and clocks, with the links of the one that is there. */
static bool get_cpu(struct cpu *cpu, FILE *in)
{
    const struct cpu links = *cpu;
    struct part part[PARTS];
    bool ok = true;

    parts_of(cpu, part);
    for (unsigned j = 0; j < PARTS && ok; j++)
        ok = get(in, part[j].at, part[j].size);
    cpu->op = NULL;
    cpu->fault_env = NULL;
    cpu->trace = links.trace;
    cpu->machine = links.machine;
    cpu->profile = links.profile;
    cpu->pmu = links.pmu;
    cpu->lapic = links.lapic;
    cpu->uarch = links.uarch;
    cpu->blocks = links.blocks;
    cpu->tlb = links.tlb;
    cpu->exec = links.exec;
    cpu->system = links.system;
    memset(&cpu->system->scratch, 0, sizeof(cpu->system->scratch));
    tlb_flush(cpu, true);
    exec_mode_changed(cpu);
    cpu_reschedule(cpu);
    return ok;
}

static bool get_memory(struct machine *m, FILE *in)
{
    struct run run;

    for (;;) {
        if (!get(in, &run, sizeof(run)))
            return false;
        if (run.n == 0)
            return true;
        if (run.first > m->ram_size / PAGE || run.n > m->ram_size / PAGE - run.first ||
            !get(in, m->ram + run.first * PAGE, run.n * PAGE))
            return false;
    }
}

bool sim_restore(struct machine *m, FILE *in, FILE *err)
{
    struct rest rest;

    if (m->faults) {
        fprintf(err, "a machine with --fault cannot go on from a snapshot\n");
        return false;
    }
    if (!check(m, in, err))
        return false;
    bool ok = get(in, &rest, sizeof(rest)) && get(in, m->devices, sizeof(struct devices));
    for (unsigned i = 0; i < m->n_cpus && ok; i++)
        ok = get_cpu(m->cpus[i], in);
    if (!ok || !get_memory(m, in)) {
        fprintf(err, "ends too early\n");
        return false;
    }
    m->round = rest.round;
    return true;
}
