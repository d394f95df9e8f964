/* Samples of loads. */
#include "lab/load_sample.h"

#include "lab/experiment.h"
#include "pmu/ds.h"

#define PERIOD  97
#define SAMPLES 32                                    /* of a run in which each load is tagged */
#define LOADS   (SAMPLES * (PERIOD + 1) + PERIOD / 2) /* the last sample lies well inside */
#define ENOUGH  (SAMPLES / 2)

const struct pebs_event *load_sample_event(void)
{
    return &pebs_generation(NULL)->latency;
}

static void take_records(struct load_sample *s, const struct chain *chain, enum pebs_level level,
                         uint64_t lowest)
{
    struct pebs_record r;
    for (unsigned i = 0; i < pebs_count() && pebs_read(i, &r); i++) {
        uint64_t latency = r.value[PEBS_LATENCY];
        s->records++;
        s->below += latency < lowest;
        s->outside += r.value[PEBS_DATA_ADDRESS] - (uint64_t)chain->memory >= chain->sizes[level];
        s->at_level +=
            pebs_level_of(pebs_generation(NULL)->sources, r.value[PEBS_DATA_SOURCE]) == level;
        s->sum += latency;
        s->least = s->records == 1 || latency < s->least ? latency : s->least;
        s->most = latency > s->most ? latency : s->most;
    }
}

struct load_sample load_sample(struct chain *chain, unsigned counter, enum pebs_level level,
                               uint64_t lowest, unsigned most_runs)
{
    struct load_sample s = {0};
    chain_make(chain, level);
    pebs_set_latency((unsigned)lowest);
    pebs_enable(counter, load_sample_event(), PERIOD);
    for (; s.runs < most_runs && s.records < ENOUGH; s.runs++) {
        ds_buffer_drain(&ds_area()->pebs);
        chain_count(chain, pebs_mask(counter, load_sample_event()), LOADS);
        take_records(&s, chain, level, lowest);
    }
    pebs_disable();
    note("%-6s %8llu KiB, latency at least %llu: %u records, cycles %llu to %llu, %u from %s",
         pebs_level_name(level), (unsigned long long)chain->sizes[level] >> 10,
         (unsigned long long)lowest, s.records, (unsigned long long)s.least,
         (unsigned long long)s.most, s.at_level, pebs_level_name(level));
    return s;
}
