/*
 * The counters. They are lazy: the processor only adds to its totals, and a counter's value is
 * derived from them when someone looks (counters_sync). The exceptions are counters that count
 * cycles by a condition (E, INV, CMASK): those are followed instruction by instruction, in careful
 * mode.
 */
#include "sim/pmu/internal.h"

#include <stdarg.h>
#include <stdio.h>

#include "sim/dev/dev.h"
#include "sim/trace.h"
#include "x86/amd.h"
#include "x86/pmu.h"

void pmu_note(struct pmu *pmu, const char *format, ...)
{
    if (!(pmu->cpu->trace & TRACE_PMI))
        return;
    char text[128];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    trace_pmi(pmu->cpu, text);
}

/* ---- Sources: totals over the enabled rings, in the counter's unit ---- */

uint64_t ring_total(const struct pmu *pmu, const struct counter *c, enum cpu_event e)
{
    const struct cpu *cpu = pmu->cpu;
    return (c->os ? cpu_total(cpu, 0, e) : 0) + (c->usr ? cpu_total(cpu, 1, e) : 0);
}

static uint64_t clock_hz(const struct profile *p, enum event_unit unit)
{
    return unit == UNIT_TSC_CYCLE ? p->tsc_hz : p->ref_hz;
}

uint64_t counter_source(const struct pmu *pmu, const struct counter *c)
{
    const struct profile *p = pmu->profile;
    if (c->event == EV_ABSENT)
        return 0;
    uint64_t total = ring_total(pmu, c, c->event);
    if (c->and_event != EV_ABSENT)
        total += ring_total(pmu, c, c->and_event);
    switch (c->unit) {
    case UNIT_EVENT:
        return total;
    case UNIT_CORE_CYCLE:
        return total / p->uarch.retire_width;
    default:
        return slots_to_hz(p, total, clock_hz(p, c->unit));
    }
}

/* The least time in slots in which the source can grow by n. Clocks: exact as long as the enabled
 * rings run. Others: every slot may make EVENTS_PER_SLOT. */
static uint64_t slots_until(const struct pmu *pmu, const struct counter *c, uint64_t n)
{
    const struct profile *p = pmu->profile;
    if (c->event != EV_SLOTS)
        return n / EVENTS_PER_SLOT + (n % EVENTS_PER_SLOT != 0);
    uint64_t total = ring_total(pmu, c, EV_SLOTS);
    switch (c->unit) {
    case UNIT_EVENT:
        return n;
    case UNIT_CORE_CYCLE:
        return (counter_source(pmu, c) + n) * p->uarch.retire_width - total;
    default:
        return hz_to_slots(p, counter_source(pmu, c) + n, clock_hz(p, c->unit)) - total;
    }
}

/* ---- Counting cycles by a condition ---- */

/* SDM vol. 3 "Architectural Performance Monitoring Version 1", fields E, INV and CMASK: with CMASK
 * not 0 the counter takes one count in each cycle in which the event happened at least CMASK times
 * (INV: fewer times; INV means nothing while CMASK is 0). E counts only the cycles in which the
 * condition becomes true; with CMASK 0 the condition is that the event happened at all. "Version
 * 6": with EQ, exactly CMASK times; INV turns that round too. */
static bool condition_holds(const struct counter *c, uint64_t events)
{
    uint64_t threshold = c->cmask ? c->cmask : 1;
    bool invert = c->invert && c->cmask;
    if (c->equal && c->cmask)
        return (events == threshold) != invert;
    return (events >= threshold) != invert;
}

/* n cycles in a row with the same number of events; returns what the counter counts for them. A
 * cycle outside the enabled rings deasserts the condition. */
static uint64_t count_cycles(struct counter *c, uint64_t n, uint64_t events, bool enabled)
{
    if (n == 0)
        return 0;
    bool holds = enabled && condition_holds(c, events);
    bool rises = holds && !c->asserted;
    c->asserted = holds;
    return c->edge ? rises : holds ? n : 0;
}

/* Counts the cycles in which something holds: some slots' time. */
static bool is_level(const struct counter *c)
{
    return c->unit == UNIT_CORE_CYCLE && c->event != EV_SLOTS;
}

/* Whether it held since the last sync, in place of a number of events. */
static uint64_t held(const struct pmu *pmu, struct counter *c)
{
    uint64_t slots = ring_total(pmu, c, c->event);
    bool holds = slots != c->held_slots;
    c->held_slots = slots;
    return holds;
}

/* A clock makes the same number of events in each unhalted cycle: one, but slots as many as the
 * core is wide. (The slower clocks are given one as well: their condition is a level.) */
static uint64_t events_of_cycle(const struct pmu *pmu, const struct counter *c, uint64_t counted)
{
    if (c->event != EV_SLOTS)
        return counted;
    return c->unit == UNIT_EVENT ? pmu->profile->uarch.retire_width : 1;
}

static uint64_t close_cycle(struct pmu *pmu, struct counter *c)
{
    uint64_t n = count_cycles(c, 1, events_of_cycle(pmu, c, c->in_cycle), c->cycle_enabled);
    c->in_cycle = 0;
    c->cycle_enabled = false;
    return n;
}

/* The events since the last sync belong to the cycle of the last slot before now: the instruction
 * retires there. Cycles passed without a retirement have no events. */
static uint64_t follow_cycles(struct pmu *pmu, struct counter *c, uint64_t events)
{
    const struct cpu *cpu = pmu->cpu;
    unsigned width = pmu->profile->uarch.retire_width;
    uint64_t slots = ring_total(pmu, c, EV_SLOTS);
    uint64_t ran = slots - c->slots;
    uint64_t cycle = (cpu->now ? cpu->now - 1 : 0) / width;
    uint64_t counted = 0;

    if (cycle != c->cycle) {
        counted += close_cycle(pmu, c);
        uint64_t between = cycle - c->cycle - 1;
        uint64_t idle = ran / width < between ? ran / width : between;
        uint64_t meanwhile = is_level(c) ? events : 0;
        counted += count_cycles(c, idle, events_of_cycle(pmu, c, meanwhile), true);
        counted += count_cycles(c, between - idle, 0, false);
        c->cycle = cycle;
    }
    c->in_cycle += events;
    c->cycle_enabled |= ran != 0;
    c->slots = slots;
    return counted;
}

/* ---- Overflow and PMI ---- */

static void request(struct pmu *pmu, uint64_t since, unsigned cycles, const char *why)
{
    uint64_t due = since + (uint64_t)cycles * pmu->profile->uarch.retire_width;
    if (due < pmu->pmi_due) /* one request serves every cause that comes before it is raised */
        pmu->pmi_due = due;
    pmu_note(pmu, "%s", why);
    cpu_reschedule(pmu->cpu);
}

void pmi_request(struct pmu *pmu, const char *why)
{
    request(pmu, pmu->cpu->now, pmu->profile->pmu.skid, why);
}

void pmi_request_at_once(struct pmu *pmu, const char *why)
{
    request(pmu, pmu->cpu->now, 0, why);
}

/* When the counter, which holds what it has counted since, carried. A clock does that while an
 * instruction waits, and its PMI need not wait with it: only its delivery does, for the next
 * instruction. Other events, and those of a condition on cycles, are an instruction's. */
static uint64_t carried_at(const struct pmu *pmu, const struct counter *c)
{
    const struct profile *p = pmu->profile;
    if (c->event != EV_SLOTS || c->by_cycle)
        return pmu->cpu->now;
    uint64_t at = counter_source(pmu, c) - c->value;
    if (c->unit == UNIT_CORE_CYCLE)
        at *= p->uarch.retire_width;
    else if (c->unit != UNIT_EVENT)
        at = hz_to_slots(p, at, clock_hz(p, c->unit));
    return pmu->cpu->now - (ring_total(pmu, c, EV_SLOTS) - at);
}

/* SDM vol. 3 "Architectural Performance Monitoring Version 2": a carry out of the counter sets its
 * bit of IA32_PERF_GLOBAL_STATUS; INT (general) or PMI (fixed) sends it to the local APIC. */
static void overflowed(struct pmu *pmu, unsigned status_bit, const struct counter *c,
                       const char *name, unsigned index)
{
    if (pmu->kind->status && !reloads_itself(pmu, status_bit))
        pmu->global_status |= ARCH_BIT(status_bit);
    if (c->interrupt) {
        char why[48];
        snprintf(why, sizeof why, "overflow %s%u", name, index);
        request(pmu, carried_at(pmu, c), pmu->profile->pmu.skid, why);
    }
}

/* SDM vol. 3 "Load Latency Performance Monitoring Facility": "performance events with latencies
 * greater than this value are counted". The facility tags one load at a time: of an instruction's
 * loads, the last. */
static uint64_t slow_loads(const struct pmu *pmu, uint64_t loads)
{
    return loads != 0 && pmu->cpu->last_load.latency > pmu->pebs_ld_lat;
}

uint64_t counter_made(const struct pmu *pmu, const struct counter *c)
{
    if (!c->counting || c->by_cycle)
        return c->made;
    uint64_t n = counter_source(pmu, c) - c->source;
    return c->made + (c->latency ? slow_loads(pmu, n) : n);
}

/* Returns whether the counter carried out of its width. */
static bool counter_sync(struct pmu *pmu, struct counter *c, unsigned width)
{
    if (!c->counting)
        return false;
    uint64_t source = counter_source(pmu, c);
    uint64_t n = source - c->source;
    c->source = source;
    if (c->by_cycle)
        n = follow_cycles(pmu, c, is_level(c) ? held(pmu, c) : n);
    if (c->latency)
        n = slow_loads(pmu, n);
    c->made += n;
    uint64_t room = bits(width) - c->value;
    c->value = (c->value + n) & bits(width);
    return n > room;
}

/* The counters that count now, by their bits as in IA32_PERF_GLOBAL_CTRL. */
#define FOR_EACH_COUNTING(pmu, bit, m)                                                             \
    for (uint64_t m = (pmu)->counting; m != 0 && ((bit) = __builtin_ctzll(m), true); m &= m - 1)

struct counter *counter_at(struct pmu *pmu, unsigned bit)
{
    return bit < PMU_MAX_GENERAL ? &pmu->general[bit] : &pmu->fixed[bit - GLOBAL_FIXED_SHIFT];
}

unsigned counter_width(const struct pmu *pmu, unsigned bit)
{
    const struct profile *p = pmu->profile;
    return bit < PMU_MAX_GENERAL ? p->pmu.general_width : p->pmu.fixed_width;
}

void counters_sync(struct pmu *pmu)
{
    unsigned bit;
    uint64_t carried = 0;
    FOR_EACH_COUNTING(pmu, bit, m)
    {
        struct counter *c = counter_at(pmu, bit);
        if (!counter_sync(pmu, c, counter_width(pmu, bit)))
            continue;
        if (bit < PMU_MAX_GENERAL)
            overflowed(pmu, bit, c, pmu->profile->amd ? "PERF_CTR" : "IA32_PMC", bit);
        else
            overflowed(pmu, bit, c, "IA32_FIXED_CTR", bit - GLOBAL_FIXED_SHIFT);
        if (bit == GLOBAL_FIXED_SHIFT + SLOTS_COUNTER)
            metrics_tear(pmu);
        pebs_overflow(pmu, bit);
        carried |= ARCH_BIT(bit);
    }
    metrics_sync(pmu);
    if (carried)
        reload_counters(pmu, carried);
}

static uint64_t deadline_of(const struct pmu *pmu, const struct counter *c, unsigned width)
{
    if (!c->counting || c->event == EV_ABSENT || c->by_cycle || c->latency || !(c->os || c->usr))
        return NEVER;
    uint64_t left = bits(width) - c->value + 1; /* 0: the whole 64 bits */
    uint64_t done = counter_source(pmu, c) - c->source;
    if (left != 0 && done >= left)
        return pmu->cpu->now;
    uint64_t slots = slots_until(pmu, c, left - done);
    return slots > NEVER - pmu->cpu->now ? NEVER : pmu->cpu->now + slots;
}

void counters_reschedule(struct pmu *pmu)
{
    uint64_t first = NEVER;
    unsigned bit;
    FOR_EACH_COUNTING(pmu, bit, m)
    {
        uint64_t d = deadline_of(pmu, counter_at(pmu, bit), counter_width(pmu, bit));
        first = d < first ? d : first;
    }
    uint64_t d = metrics_deadline(pmu), sample = ibs_deadline(pmu);
    first = d < first ? d : first;
    pmu->deadline = sample < first ? sample : first;
    cpu_reschedule(pmu->cpu);
}

/* ---- Configuration ---- */

#define EVENT_BITS 8 /* of the lower part */

/* What a select names. APM vol. 2 "Core Performance Event-Select Registers": twelve bits of event,
 * and none of Intel's fields above bit 31. */
struct encoding {
    unsigned event, umask, umask2;
};

static struct encoding encoding_of(const struct pmu *pmu, uint64_t perfevtsel)
{
    uint64_t high = (perfevtsel & pmu->kind->event_high) >> AMD_PERF_CTL_EVENT_HIGH_SHIFT;
    return (struct encoding){
        .event = (perfevtsel & PERFEVTSEL_EVENT) | high << EVENT_BITS,
        .umask = (perfevtsel & PERFEVTSEL_UMASK) >> PERFEVTSEL_UMASK_SHIFT,
        .umask2 =
            pmu->profile->amd ? 0 : (perfevtsel & PERFEVTSEL_UMASK2) >> PERFEVTSEL_UMASK2_SHIFT,
    };
}

/* The profile's list says what the machine can count. CPUID.0AH:EBX only says which architectural
 * events are announced: processors that do not announce one may well count it. */
#define ANY_COUNTER PROFILE_MAX_GENERAL
static const struct profile_event *find_event(const struct profile *p, unsigned counter,
                                              struct encoding s)
{
    for (unsigned i = 0; i < p->n_events; i++) {
        const struct profile_event *e = &p->events[i];
        if (e->event == s.event && e->umask == s.umask && e->umask2 == s.umask2 &&
            (e->counters == 0 || counter == ANY_COUNTER || (e->counters >> counter & 1)))
            return e;
    }
    return NULL;
}

/* SDM vol. 3 "Architectural Performance Monitoring Version 2" (AND of the enables; version 1 has no
 * global control) and "Version 4" (CTR_FRZ stops all counters). */
static bool globally_enabled(const struct pmu *pmu, unsigned bit)
{
    if (pmu->kind->enable == ENABLE_EACH)
        return true;
    bool frozen = (pmu->global_status & GLOBAL_STATUS_CTR_FRZ) && !errata_freeze_fails(pmu);
    return (pmu->global_ctrl & ARCH_BIT(bit)) && !frozen;
}

/* Starts counting anew from here, or stops: what a condition had in its unfinished cycle counts. */
static void counter_start(struct pmu *pmu, struct counter *c, const struct counter *config,
                          unsigned width)
{
    bool same = c->counting && config->counting && c->event == config->event &&
                c->and_event == config->and_event && c->unit == config->unit &&
                c->os == config->os && c->usr == config->usr && c->edge == config->edge &&
                c->invert == config->invert && c->equal == config->equal &&
                c->cmask == config->cmask && c->latency == config->latency;
    if (same) {
        c->interrupt = config->interrupt;
        c->precise = config->precise;
        c->adaptive = config->adaptive;
        return;
    }
    if (c->counting && c->by_cycle)
        c->value = (c->value + close_cycle(pmu, c)) & bits(width);
    struct counter old = *c;
    *c = *config;
    c->value = old.value;
    c->made = old.made;
    c->armed_at = old.armed_at;
    c->source = counter_source(pmu, c);
    c->slots = ring_total(pmu, c, EV_SLOTS);
    c->held_slots = ring_total(pmu, c, c->event);
    c->cycle = pmu->cpu->now / pmu->profile->uarch.retire_width;
}

/* The name of an event that is known and not counted; NULL: not in the profile's list either. */
static const char *uncounted_name(const struct profile *p, struct encoding s)
{
    for (unsigned i = 0; i < p->n_uncounted; i++)
        if (p->uncounted[i].event == s.event && p->uncounted[i].umask == s.umask &&
            p->uncounted[i].umask2 == s.umask2)
            return p->uncounted[i].name;
    return NULL;
}

/* Has no processor of this kind been noted to select it yet? Then this one has, now. */
static bool first_noted(struct pmu *pmu, unsigned encoding)
{
    const struct machine *m = pmu->cpu->machine;
    uint8_t bit = 1 << encoding % 8;
    for (unsigned i = 0; i < m->n_cpus; i++)
        if (m->cpus[i] && m->cpus[i]->profile == pmu->profile &&
            (m->cpus[i]->pmu->noted[encoding / 8] & bit))
            return false;
    pmu->noted[encoding / 8] |= bit;
    return true;
}

/* A counter that counts an encoding which stays 0 says so once: to the host, never to the guest.
 * An event that the counter alone lacks stays 0 on the silicon too, and nothing is selected by 0.
 */
static void note_absent(struct pmu *pmu, uint64_t perfevtsel)
{
    const struct profile *p = pmu->profile;
    struct encoding s = encoding_of(pmu, perfevtsel);
    unsigned encoding = s.event << 8 | s.umask;
    char second[24] = "", kind[PROFILE_KIND_LENGTH + 4] = "";
    if (encoding == 0 || find_event(p, ANY_COUNTER, s) || !first_noted(pmu, encoding))
        return;
    const char *name = uncounted_name(p, s);
    if (s.umask2)
        snprintf(second, sizeof second, " umask2 0x%02x", s.umask2);
    if (p->n_kinds)
        snprintf(kind, sizeof kind, " [%s]", p->kinds[p->kind]);
    machine_note(pmu->cpu->machine, "%s%s: event 0x%02x umask 0x%02x%s %s%s: it stays 0", p->name,
                 kind, s.event, s.umask, second, name ? name : "is not in the profile's list",
                 name ? " is not counted by the model" : "");
}

/* Fewer instructions or micro-operations than no core of this width retires in a cycle: each cycle
 * counts, which needs no look at each of them. */
static bool counts_every_cycle(const struct pmu *pmu, const struct counter *c)
{
    unsigned width = pmu->profile->uarch.retire_width;
    return c->invert && !c->edge && !c->equal && c->unit == UNIT_EVENT &&
           ((c->event == EV_INSN && c->cmask > width) ||
            (c->event == EV_UOPS && c->cmask >= EVENTS_PER_SLOT * width));
}

/* What is counted in cycles happens once in a cycle: with CMASK 1 it counts the same. (Linux
 * selects INT_MISC.RECOVERY_CYCLES so.) Their slots need not begin with a cycle: so they are as
 * many cycles as they make, not as many as they touch. */
static bool counts_each_as_one(const struct counter *c)
{
    return c->unit == UNIT_CORE_CYCLE && c->cmask == 1 && !c->invert && !c->edge;
}

static void configure_general(struct pmu *pmu, unsigned i)
{
    uint64_t sel = pmu->perfevtsel[i];
    const struct profile_event *e = find_event(pmu->profile, i, encoding_of(pmu, sel));
    struct counter config = {
        .counting = (sel & PERFEVTSEL_EN) && globally_enabled(pmu, i),
        .event = e ? e->what : EV_ABSENT,
        .and_event = e ? e->and_what : EV_ABSENT,
        .unit = e ? e->unit : UNIT_EVENT,
        .os = sel & PERFEVTSEL_OS,
        .usr = sel & PERFEVTSEL_USR,
        .interrupt = sel & PERFEVTSEL_INT,
        .edge = sel & PERFEVTSEL_E,
        .invert = sel & PERFEVTSEL_INV,
        .equal = (sel & PERFEVTSEL_EQ) && !pmu->profile->amd,
        .cmask = (sel & PERFEVTSEL_CMASK) >> PERFEVTSEL_CMASK_SHIFT,
    };
    if (config.counting && !e)
        note_absent(pmu, sel);
    config.latency = e && e->load_latency;
    /* SDM vol. 3 "PEBS": "events are only valid when ... AnyThread, Edge, Invert, CMask" are 0. But
     * Linux' `cycles:pp` is INST_RETIRED or UOPS_RETIRED with INV and CMASK 16 on every processor
     * before Ice Lake (intel_pebs_aliases_core2() and its like), and they record. "Extended PEBS":
     * any event will do. */
    config.precise =
        e && (e->pebs || has_extended_pebs(pmu, 0)) && !config.edge && !(sel & PERFEVTSEL_ANY);
    config.adaptive = sel & PERFEVTSEL_ADAPTIVE;
    if (errata_counts_clocks(pmu, i)) {
        config.event = EV_SLOTS;
        config.unit = UNIT_CORE_CYCLE;
    }
    if (counts_every_cycle(pmu, &config)) {
        config.event = EV_SLOTS;
        config.unit = UNIT_CORE_CYCLE;
        config.invert = false;
        config.cmask = 0;
    }
    if (counts_each_as_one(&config))
        config.cmask = 0;
    config.by_cycle = (config.edge || config.cmask) && config.event != EV_ABSENT;
    counter_start(pmu, &pmu->general[i], &config, pmu->profile->pmu.general_width);
}

/* SDM vol. 3 "Association of Fixed-Function Performance Counters with Architectural Performance
 * Events"; counter 3 from Ice Lake on, 4 to 6 from Skymont on. A counter past these counts nothing.
 */
static const struct {
    enum cpu_event event;
    enum event_unit unit;
} fixed_events[] = {
    {EV_INSN, UNIT_EVENT},           /* INST_RETIRED.ANY */
    {EV_SLOTS, UNIT_CORE_CYCLE},     /* CPU_CLK_UNHALTED.THREAD */
    {EV_SLOTS, UNIT_TSC_CYCLE},      /* CPU_CLK_UNHALTED.REF_TSC */
    {EV_SLOTS, UNIT_EVENT},          /* TOPDOWN.SLOTS */
    {EV_SLOTS_BAD_SPEC, UNIT_EVENT}, /* TOPDOWN_BAD_SPECULATION.ALL */
    {EV_SLOTS_FRONTEND, UNIT_EVENT}, /* TOPDOWN_FE_BOUND.ALL */
    {EV_SLOTS_RETIRING, UNIT_EVENT}, /* TOPDOWN_RETIRING.ALL */
};

static void configure_fixed(struct pmu *pmu, unsigned i)
{
    unsigned field = pmu->fixed_ctr_ctrl >> (FIXED_CTR_CTRL_BITS * i);
    bool known = i < sizeof fixed_events / sizeof *fixed_events;
    struct counter config = {
        .counting = (field & (FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR)) &&
                    globally_enabled(pmu, GLOBAL_FIXED_SHIFT + i),
        .event = known ? fixed_events[i].event : EV_ABSENT,
        .unit = known ? fixed_events[i].unit : UNIT_EVENT,
        .os = field & FIXED_CTR_CTRL_OS,
        .usr = field & FIXED_CTR_CTRL_USR,
        .interrupt = field & FIXED_CTR_CTRL_PMI,
        .precise = known && has_extended_pebs(pmu, 0),
        .adaptive = pmu->fixed_ctr_ctrl & FIXED_CTR_CTRL_ADAPTIVE << (FIXED_CTR_CTRL_BITS * i),
    };
    counter_start(pmu, &pmu->fixed[i], &config, pmu->profile->pmu.fixed_width);
}

void counters_configure(struct pmu *pmu)
{
    pmu->counting = 0;
    errata_selects_changed(pmu);
    for (uint64_t m = pmu->counters; m; m &= m - 1) {
        unsigned bit = __builtin_ctzll(m);
        if (bit < PMU_MAX_GENERAL)
            configure_general(pmu, bit);
        else
            configure_fixed(pmu, bit - GLOBAL_FIXED_SHIFT);
        if (counter_at(pmu, bit)->counting)
            pmu->counting |= ARCH_BIT(bit);
    }
    metrics_configure(pmu);
    pmu_attend(pmu);
    counters_reschedule(pmu);
}
