/* The library's interface: what a program may do with a machine. */
#include "sim/sim.h"

#include <inttypes.h>
#include <stdlib.h>

#include "sim/dev/dev.h"
#include "sim/fault.h"
#include "sim/loader.h"
#include "sim/symbols.h"
#include "sim/trace.h"

#define NS_PER_SECOND 1000000000

static bool no_memory(const struct sim_options *o, FILE *err)
{
    fprintf(err, "pmusim: no memory for a machine of %" PRIu64 " MiB\n",
            o->memory / SIM_MEMORY_UNIT);
    return false;
}

static bool check_sizes(const struct sim_options *o, FILE *err)
{
    if (o->cpus >= 1 && o->cpus <= SIM_MAX_CPUS && o->memory >= SIM_MEMORY_MIN &&
        o->memory <= SIM_MEMORY_MAX && o->memory % SIM_MEMORY_UNIT == 0)
        return true;
    fprintf(err, "pmusim: a machine has 1 to %d processors and 2 to 3071 whole MiB\n",
            SIM_MAX_CPUS);
    return false;
}

/* The faults that were chosen, NULL without any. */
static bool choose_faults(struct faults **f, const struct sim_options *o, FILE *err)
{
    bool ok = true;

    *f = NULL;
    if (o->n_fault && !(*f = faults_new()))
        return no_memory(o, err);
    for (unsigned i = 0; i < o->n_fault && ok; i++)
        ok = fault_choose(*f, o->fault[i], err);
    return ok;
}

static bool read_kind(struct profile *p, unsigned kind, const struct sim_options *o,
                      const struct faults *f, FILE *err)
{
    if (!(o->profile_text ? profile_parse(p, o->profile, o->profile_text, kind, err)
                          : profile_load(p, o->profile, kind, err)))
        return false;
    for (unsigned i = 0; i < o->n_set; i++)
        if (!profile_set(p, o->set[i], err))
            return false;
    if (f)
        fault_profile(f, p);
    return profile_finish(p, err);
}

/* The facts of each kind of core. */
static bool read_profile(struct profile kinds[PROFILE_MAX_KINDS], const struct sim_options *o,
                         const struct faults *f, FILE *err)
{
    bool ok = read_kind(&kinds[0], 0, o, f, err);
    for (unsigned i = 1; i < kinds[0].n_kinds && ok; i++)
        ok = read_kind(&kinds[i], i, o, f, err);
    return ok;
}

struct machine *sim_new(const struct sim_options *o, const struct sim_host *host, FILE *err)
{
    struct machine *m = NULL;
    struct faults *faults = NULL;
    struct profile *p = calloc(PROFILE_MAX_KINDS, sizeof(*p));

    /* Each says itself what is wrong. */
    bool right = !p || (check_sizes(o, err) && choose_faults(&faults, o, err) &&
                        read_profile(p, o, faults, err));

    if (right && (!p || !(m = machine_new(p, o->cpus, o->memory))))
        no_memory(o, err);
    if (!m) {
        faults_free(faults);
        free(p);
        return NULL;
    }
    m->own_profiles = p;
    m->faults = faults;
    if (host)
        m->host = *host;
    m->max_insns = o->max_insns;
    m->max_slots = o->max_ns ? hz_to_slots(m->profile, o->max_ns, NS_PER_SECOND) : 0;
    return m;
}

void sim_free(struct machine *m)
{
    machine_free(m);
}

bool sim_load(struct machine *m, const struct sim_boot *b, FILE *err)
{
    if (!loader_load(m, b, err))
        return false;
    m->symbols = symbols_load(b->image, b->size);
    fault_firmware(m);
    return true;
}

bool sim_find(const struct machine *m, const char *word, uint64_t *address, FILE *err)
{
    return symbols_find(m->symbols, word, address, err);
}

bool sim_trace(struct machine *m, unsigned kinds, const uint64_t *from, const uint64_t *to)
{
    return trace_start(m, kinds, from, to);
}

enum stop_reason sim_run(struct machine *m, uint64_t slots)
{
    machine_run(m, slots);
    return m->stop;
}

bool sim_pass_time(struct machine *m)
{
    return machine_pass_time(m);
}

uint64_t sim_instructions(const struct machine *m)
{
    return machine_instructions(m);
}

enum stop_reason sim_stop_reason(const struct machine *m)
{
    return m->stop;
}

uint8_t sim_exit_value(const struct machine *m)
{
    return m->exit_value;
}

void sim_note_faults(struct machine *m)
{
    fault_report(m);
}

uint8_t *sim_memory(struct machine *m, uint64_t *size)
{
    *size = m->ram_size;
    return m->ram;
}
