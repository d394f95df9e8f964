#include "lab/pebs_lab.h"

#include "kernel/msr.h"
#include "kernel/string.h"
#include "lab/experiment.h"
#include "pmu/bts.h"
#include "pmu/debugctl.h"
#include "pmu/ds.h"
#include "pmu/pmu.h"
#include "x86/msr.h"

#include <stddef.h>

#define BTS_RECORDS 64
#define HIGH        0x1000 /* in the registers and the table of pebs_lab_sample() */

/* A round of pebs_loads: the loads, DEC and JNZ. */
#define ROUND_INSNS (PEBS_LOADS + 2)
#define DEC_AT      ((uint64_t)PEBS_LOADS * PEBS_LOAD_SIZE)

_Static_assert(offsetof(struct pebs_run, rdi) == 40 && offsetof(struct pebs_run, rsp) == 128,
               "layout of ds_bodies.S");

void pebs_run_fill(struct pebs_run *run, uint64_t high, uint64_t rounds)
{
    *run = (struct pebs_run){.table = run->entries, .rounds = rounds};
    for (unsigned k = 0; k < PEBS_LOADS; k++)
        run->entries[k] = high + k;
    run->rax = run->entries[PEBS_LOADS - 1];
    run->rbx = high + 0xb0;
    run->rdx = high + 0xd0;
    run->rdi = high + 0xd1;
    run->rbp = high + 0xb1;
    for (unsigned n = 0; n < 8; n++)
        run->r8_to_r15[n] = high + 0x800 + 0x100 * n;
}

unsigned pebs_lab_bts_records(void)
{
    return pmu_info()->bts ? BTS_RECORDS : 0;
}

const struct pebs_event *pebs_lab_event(void)
{
    return &pebs_generation(NULL)->loads;
}

uint32_t pebs_lab_set_up(const struct ds_setup *setup)
{
    uint32_t counters = pebs_counters(pebs_lab_event());
    const char *refused = ds_setup(setup);
    value_str("ds_setup", "%s", refused != NULL ? refused : "done");
    value_hex("counters", counters);
    return refused == NULL ? counters : 0;
}

void pebs_lab_on(void)
{
    uint64_t bits = debugctl_with(ds_area()->bts.base != 0 ? DEBUGCTL_BTS_ON : 0);
    if (pmu_info()->freeze && wrmsr_safe(MSR_IA32_DEBUGCTL, bits | DEBUGCTL_FREEZE_PERFMON_ON_PMI))
        return;
    wrmsr_safe(MSR_IA32_DEBUGCTL, bits);
}

void pebs_lab_off(void)
{
    wrmsr_safe(MSR_IA32_DEBUGCTL, debugctl_with(0));
    pebs_disable();
}

/* What RAX holds when the instruction at this offset in the loop is the next: the entry of the load
 * before it, before the first load that of the last. */
static uint64_t rax_at(const struct pebs_run *run, uint64_t offset)
{
    uint64_t k = offset / PEBS_LOAD_SIZE;
    if (k > PEBS_LOADS)
        k = PEBS_LOADS;
    return k == 0 ? run->rax : run->entries[k - 1];
}

/* RCX counts the rounds down; only at the JNZ it has done so for a round that is not over. */
struct pebs_place pebs_place_of(const struct pebs_record *r, const struct pebs_run *run)
{
    uint64_t offset = r->value[PEBS_RIP] - (uint64_t)pebs_loads_loop;
    bool at_jnz = offset > DEC_AT;
    uint64_t rounds = run->rounds - r->value[PEBS_RCX] - at_jnz;
    uint64_t load = at_jnz ? PEBS_LOADS : offset / PEBS_LOAD_SIZE;
    return (struct pebs_place){rounds * PEBS_LOADS + load, rounds * ROUND_INSNS + load + at_jnz};
}

unsigned pebs_lab_sample(unsigned counter, const struct pebs_event *event, uint64_t period,
                         struct pebs_run *run, uint64_t rounds, uint64_t beside)
{
    pebs_run_fill(run, HIGH, rounds);
    ds_buffer_drain(&ds_area()->pebs);
    memset(ds_area()->reset, 0, sizeof(ds_area()->reset));
    bool enabled = pebs_enable(counter, event, period);
    pmu_count(pebs_mask(counter, event) | beside, pebs_loads, (uint64_t)run);
    pebs_disable();
    return enabled ? pebs_count() : 0;
}

/* The first field that is not as the code had left it. */
struct difference {
    const char *what; /* NULL: there is none */
    uint64_t found, wanted;
};

static struct difference field_difference(const struct pebs_record *r, enum pebs_field f,
                                          uint64_t wanted)
{
    const char *what = r->value[f] != wanted ? pebs_field_name(f) : NULL;
    return (struct difference){what, r->value[f], wanted};
}

static struct difference difference(const struct pebs_record *r, const struct pebs_run *run,
                                    uint64_t address)
{
    uint64_t moved = address - (uint64_t)pebs_loads;
    uint64_t loop = (uint64_t)pebs_loads_loop + moved;
    uint64_t size = (uint64_t)(pebs_loads_loop_end - pebs_loads_loop);
    uint64_t offset = r->value[PEBS_RIP] - loop, rounds = r->value[PEBS_RCX];
    if (offset >= size)
        return (struct difference){"RIP outside the run", r->value[PEBS_RIP], loop};
    const struct {
        enum pebs_field field;
        uint64_t wanted;
    } fixed[] = {{PEBS_RAX, rax_at(run, offset)},
                 {PEBS_RBX, run->rbx},
                 {PEBS_RDX, run->rdx},
                 {PEBS_RSI, run->rsi},
                 {PEBS_RDI, run->rdi},
                 {PEBS_RBP, run->rbp},
                 {PEBS_RSP, run->rsp}};
    struct difference d = {NULL, 0, 0};
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]) && d.what == NULL; i++)
        d = field_difference(r, fixed[i].field, fixed[i].wanted);
    for (unsigned n = 0; n < 8 && d.what == NULL; n++)
        d = field_difference(r, PEBS_R8 + n, run->r8_to_r15[n]);
    if (d.what == NULL && (rounds == 0 || rounds > run->rounds))
        d = (struct difference){"RCX is no round of the run", rounds, run->rounds};
    return d;
}

bool pebs_record_agrees(const struct pebs_record *r, const struct pebs_run *run, uint64_t address)
{
    return difference(r, run, address).what == NULL;
}

bool pebs_record_is_of(const struct pebs_record *r, const struct pebs_run *run, uint64_t address)
{
    struct difference d = difference(r, run, address);
    if (d.what == NULL)
        return true;
    value_str("wrong", "%s", d.what);
    value_hex("found", d.found);
    value_hex("wanted", d.wanted);
    return false;
}
