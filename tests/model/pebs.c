/* Precise event based sampling: formats 0 to 6, load latency. */
#include <string.h>

#include "tests/model/ds.h"
#include "tests/model/rig.h"
#include "x86/pmu.h"
#include "x86/apic.h"
#include "x86/msr.h"

#define SENTINEL 0x5afe5afe5afe5afeULL
#define RECORDS  4 /* that the buffer has room for */

static const struct pebs {
    const char *profile;
    uint64_t event; /* a precise one, and what it counts */
    enum cpu_event counts;
    unsigned format, size;
} generations[] = {
    {"core2", 0x00c0, EV_INSN, 0, 144},         {"westmere", 0x010b, EV_LOAD, 1, 176},
    {"sandybridge", 0x81d0, EV_LOAD, 1, 176},   {"haswell", 0x81d0, EV_LOAD, 2, 192},
    {"skylake", 0x81d0, EV_LOAD, 3, 200},       {"icelake", 0x81d0, EV_LOAD, 4, 32},
    {"sapphirerapids", 0x81d0, EV_LOAD, 5, 32}, {"goldmont", 0x81d0, EV_LOAD, 3, 200},
    {"gracemont", 0x81d0, EV_LOAD, 5, 32},
};
#define FOR_EACH_GENERATION(g)                                                                     \
    for (const struct pebs *g = generations; g < generations + LENGTH(generations); g++)
static const struct pebs *const westmere = &generations[1], *const haswell = &generations[3],
                                *const skylake = &generations[4], *const icelake = &generations[5],
                                *const sapphirerapids = &generations[6],
                                *const gracemont = &generations[8];

/* Byte offsets in formats 0 to 3. */
enum {
    AT_RIP = 0x08,
    AT_RAX = 0x10,
    AT_R15 = 0x88,
    AT_STATUS = 0x90,
    AT_ADDRESS = 0x98,
    AT_SOURCE = 0xa0,
    AT_LATENCY = 0xa8,
    AT_EVENTING_IP = 0xb0,
    AT_TSC = 0xc0,
};

static uint64_t minus(uint64_t n)
{
    return -n & low_bits(rig.general_width);
}

/* Counter 0 overflows at the third event, and each third one from then on; threshold in records. */
static void set_up_changed(const struct pebs *g, unsigned threshold, unsigned size,
                           const char *change, const char *another)
{
    rig_start(g->profile, "pmu.skid=0", "pmu.pebs_pdist=0", change, another, NULL);
    apic_arm(APIC_LVT_DELIVERY_FIXED);
    for (unsigned n = 0; n < 8 * 1024; n += 8)
        poke(PEBS_BUFFER + n, SENTINEL);
    poke(DS_PEBS_BASE, PEBS_BUFFER);
    poke(DS_PEBS_INDEX, PEBS_BUFFER);
    poke(DS_PEBS_MAXIMUM, PEBS_BUFFER + RECORDS * size + 1);
    poke(DS_PEBS_THRESHOLD, PEBS_BUFFER + threshold * size);
    poke(DS_PEBS_RESET(0), minus(3));
    write_msr(MSR_IA32_DS_AREA, DS_AREA);
    write_msr(MSR_IA32_PEBS_ENABLE, 1);
    write_msr(MSR_IA32_PMC0, (uint32_t)-3);
    write_msr(MSR_IA32_PERFEVTSEL0, g->event | BOTH_RINGS | PERFEVTSEL_EN);
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
}

static void set_up(const struct pebs *g, unsigned threshold, unsigned size)
{
    set_up_changed(g, threshold, size, NULL, NULL);
}

/* Instructions number first to last, each with one of the events: RIP goes up by 16, RAX is the
 * number. */
static void instructions(const struct pebs *g, unsigned first, unsigned last)
{
    for (unsigned i = first; i <= last; i++) {
        rig.cpu->rip = 0x4000 + 0x10 * i;
        rig.cpu->r[RAX] = i;
        rig.cpu->r[R15] = 0x1500000000ULL + i;
        pass(0, g->counts, 1, 1);
    }
}

static uint64_t used(void)
{
    return peek(DS_PEBS_INDEX) - PEBS_BUFFER;
}

static uint64_t status(void)
{
    return read_msr(MSR_IA32_PERF_GLOBAL_STATUS);
}

/* The third event overflows and arms, the fourth writes; the reloaded counter begins behind it. */
static void overflow_arms_the_next_event_writes(void **state)
{
    (void)state;
    FOR_EACH_GENERATION(g)
    {
        set_up(g, 9, g->size);
        instructions(g, 1, 3);
        CHECK_EQUAL(used(), 0, "armed, not written");
        CHECK_EQUAL(status(), 1, "the overflow shows");
        CHECK_EQUAL(read_msr(MSR_IA32_PMC0), 0, "the counter");
        instructions(g, 4, 4);
        CHECK_EQUAL(used(), g->size, "one record");
        CHECK_EQUAL(status(), 0, "the overflow is cleared");
        CHECK_EQUAL(read_msr(MSR_IA32_PMC0), minus(3), "the counter is reloaded");
        CHECK_EQUAL(peek(PEBS_BUFFER + g->size), SENTINEL, "nothing behind it");
        instructions(g, 5, 7);
        CHECK_EQUAL(used(), g->size, "armed again");
        instructions(g, 8, 8);
        CHECK_EQUAL(used(), 2 * g->size, "two records");
        CHECK_EQUAL(pmis(), 0, "PMIs");
    }
}

/* The state after the instruction; format 2 on: its own address as well. */
static void record_layout_by_format(void **state)
{
    (void)state;
    FOR_EACH_GENERATION(g)
    {
        if (g->format > 3)
            continue;
        set_up(g, 9, g->size);
        instructions(g, 1, 4);
        CHECK_EQUAL(peek(PEBS_BUFFER + AT_RIP), 0x4040, "RIP");
        CHECK_EQUAL(peek(PEBS_BUFFER + AT_RAX), 4, "RAX");
        CHECK_EQUAL(peek(PEBS_BUFFER + AT_R15), 0x1500000004, "R15");
        CHECK_EQUAL(peek(PEBS_BUFFER + AT_STATUS), g->format ? 1 : SENTINEL, "status");
        CHECK_EQUAL(peek(PEBS_BUFFER + AT_EVENTING_IP), g->format >= 2 ? 0x4030 : SENTINEL,
                    "EventingIP");
        CHECK_EQUAL(peek(PEBS_BUFFER + AT_TSC), g->format == 3 ? cpu_tsc(rig.cpu) : SENTINEL,
                    "TSC");
    }
}

/* Formats 1 and 2 show the whole status, format 3 the counters that the record is for. */
static void status_or_applicable_counters(void **state)
{
    (void)state;
    FOR_EACH_GENERATION(g)
    {
        if (g->format == 0 || g->format > 3)
            continue;
        set_up(g, 9, g->size);
        write_msr(MSR_IA32_PMC0 + 2, (uint32_t)-1);
        count_instructions(2, 0);
        retire(0, 1);
        instructions(g, 1, 4);
        CHECK_EQUAL(peek(PEBS_BUFFER + AT_STATUS), g->format == 3 ? 1 : 5, "status");
        CHECK_EQUAL(status(), 4, "the plain counter's overflow stays");
    }
}

static void threshold_sets_ovfbuf_and_raises_a_pmi(void **state)
{
    (void)state;
    FOR_EACH_GENERATION(g)
    {
        set_up(g, 2, g->size);
        instructions(g, 1, 4);
        CHECK_EQUAL(status(), 0, "below the threshold");
        CHECK_EQUAL(pmis(), 0, "PMIs below the threshold");
        instructions(g, 5, 8);
        CHECK_EQUAL(status(), GLOBAL_STATUS_OVF_BUF, "OvfBuf alone");
        CHECK_EQUAL(pmis(), 1, "PMIs");
        write_msr(MSR_IA32_PERF_GLOBAL_OVF_CTRL, GLOBAL_STATUS_OVF_BUF);
        CHECK_EQUAL(status(), 0, "OvfBuf is cleared by software");
    }
}

/* The PMI, and what it freezes, comes with the record, whatever a counter's overflow takes. */
static void the_thresholds_pmi_has_no_skid(void **state)
{
    (void)state;
    FOR_EACH_GENERATION(g)
    {
        set_up_changed(g, 1, g->size, "pmu.skid=50", NULL);
        instructions(g, 1, 3);
        CHECK_EQUAL(pmis(), 0, "PMIs before the record");
        instructions(g, 4, 4);
        CHECK_EQUAL(pmis(), 1, "PMIs with the record");
    }
}

/* "If the bounds checks fail, the PEBS will be skipped entirely"; "No signaling is generated when
 * PEBS buffer is full". */
static void full_buffer_skips_silently(void **state)
{
    (void)state;
    FOR_EACH_GENERATION(g)
    {
        set_up(g, 9, g->size);
        instructions(g, 1, 4 * RECORDS);
        CHECK_EQUAL(used(), RECORDS * g->size, "full");
        instructions(g, 1, 4);
        CHECK_EQUAL(used(), RECORDS * g->size, "no more");
        CHECK_EQUAL(peek(PEBS_BUFFER + RECORDS * g->size), SENTINEL, "nothing past the maximum");
        CHECK_EQUAL(status(), 1, "the overflow stays");
        CHECK_EQUAL(read_msr(MSR_IA32_PMC0), 1, "no reload");
        CHECK_EQUAL(pmis(), 0, "PMIs");
    }
}

static void unmapped_store_skips(void **state)
{
    (void)state;
    set_up(westmere, 1, westmere->size);
    map_two_mebibytes();
    write_msr(MSR_IA32_DS_AREA, UNMAPPED);
    instructions(westmere, 1, 4);
    CHECK_EQUAL(status(), 1, "the overflow stays");
    CHECK_EQUAL(pmis(), 0, "PMIs");
}

/* AnyThread and Edge must be 0, the event precise, the counter enabled for PEBS. */
static void what_cannot_be_precise_writes_nothing(void **state)
{
    (void)state;
    const uint64_t bad[] = {PERFEVTSEL_E, PERFEVTSEL_ANY};
    for (unsigned i = 0; i < LENGTH(bad); i++) {
        set_up(skylake, 9, skylake->size);
        write_msr(MSR_IA32_PERFEVTSEL0, skylake->event | BOTH_RINGS | PERFEVTSEL_EN | bad[i]);
        for (unsigned n = 1; n <= 40; n++) {
            instructions(skylake, n, n);
            pass(0, EV_ABSENT, 0, 2 * rig.profile.uarch.retire_width); /* so that E sees rises */
        }
        CHECK_EQUAL(status(), 1, "PERFEVTSEL %#llx", (unsigned long long)bad[i]);
        CHECK_EQUAL(used(), 0, "PERFEVTSEL %#llx", (unsigned long long)bad[i]);
    }
    set_up(skylake, 9, skylake->size);
    write_msr(MSR_IA32_PEBS_ENABLE, 2);
    instructions(skylake, 1, 40);
    CHECK_EQUAL(used(), 0, "not enabled");
    set_up(haswell, 9, haswell->size);
    count_instructions(0, 0);
    retire(0, 1);
    retire(0, 1);
    retire(0, 1);
    retire(0, 1);
    CHECK_EQUAL(used(), 0, "an event that is not precise");
    CHECK_EQUAL(status(), 1, "overflows as ever");
}

/* What Linux' cycles:pp selects (intel_pebs_aliases_core2(), _snb()): fewer than 16 in a cycle is
 * every cycle. The third cycle overflows, the fourth writes. */
static void cycles_are_sampled_by_an_inverted_event(void **state)
{
    (void)state;
    const struct {
        const char *profile;
        uint64_t event;
        unsigned format, size;
    } cores[] = {{"core2", 0x00c0, 0, 144},
                 {"westmere", 0x00c0, 1, 176},
                 {"sandybridge", 0x01c2, 1, 176},
                 {"haswell", 0x01c2, 2, 192},
                 {"skylake", 0x00c0, 3, 200}};
    for (unsigned i = 0; i < LENGTH(cores); i++) {
        const struct pebs g = {cores[i].profile,
                               cores[i].event | PERFEVTSEL_INV | 16ULL << PERFEVTSEL_CMASK_SHIFT,
                               EV_INSN, cores[i].format, cores[i].size};
        set_up(&g, 9, g.size);
        uint64_t cycle = rig.profile.uarch.retire_width;
        pass(0, EV_INSN, 1, 3 * cycle);
        CHECK_EQUAL(used(), 0, "%s: armed", g.profile);
        pass(0, EV_ABSENT, 0, cycle);
        CHECK_EQUAL(used(), g.size, "%s: whether or not anything retires", g.profile);
        CHECK_EQUAL(read_msr(MSR_IA32_PMC0), minus(3), "%s: the reloaded counter", g.profile);
    }
    /* Some cycles alone: those with at least two loads. */
    set_up(skylake, 9, skylake->size);
    write_msr(MSR_IA32_PERFEVTSEL0,
              skylake->event | BOTH_RINGS | PERFEVTSEL_EN | 2ULL << PERFEVTSEL_CMASK_SHIFT);
    for (unsigned i = 0; i < 6; i++) {
        pass(0, EV_LOAD, 1 + i % 2, rig.profile.uarch.retire_width);
        CHECK_EQUAL(used(), 0, "cycle %u", i);
    }
    pass(0, EV_LOAD, 1, rig.profile.uarch.retire_width);
    CHECK_EQUAL(used(), 0, "three such cycles have passed");
    pass(0, EV_LOAD, 2, rig.profile.uarch.retire_width);
    pass(0, EV_LOAD, 1, rig.profile.uarch.retire_width);
    CHECK_EQUAL(used(), skylake->size, "a fourth");
}

/* "The processor checks each counter to see if it overflowed and was enabled for PEBS". */
static void every_overflowed_pebs_counter_is_reloaded(void **state)
{
    (void)state;
    set_up(westmere, 9, westmere->size);
    write_msr(MSR_IA32_PEBS_ENABLE, 3);
    poke(DS_PEBS_RESET(1), minus(50));
    write_msr(MSR_IA32_PMC0 + 1, (uint32_t)-1);
    write_msr(MSR_IA32_PERFEVTSEL0 + 1, 0x020b | BOTH_RINGS | PERFEVTSEL_EN); /* stores */
    pass(0, EV_STORE, 1, 1);
    CHECK_EQUAL(status(), 2, "the stores have overflowed");
    instructions(westmere, 1, 4);
    CHECK_EQUAL(used(), westmere->size, "one record");
    CHECK_EQUAL(status(), 0, "both are cleared");
    CHECK_EQUAL(read_msr(MSR_IA32_PMC0), minus(3), "the loads");
    CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + 1), minus(50), "the stores");
}

/* Goldmont: "PEBS is supported using IA32_PMC0 for all events", the clock, CPU_CLK_UNHALTED.CORE_P,
 * among them. */
static void goldmont_records_events_that_are_not_precise(void **state)
{
    (void)state;
    static const struct pebs clock = {"goldmont", 0x003c, EV_INSN, 3, 200};
    set_up(&clock, 9, clock.size);
    pass(0, EV_INSN, 1, 4 * rig.profile.uarch.retire_width);
    pass(0, EV_INSN, 1, 4 * rig.profile.uarch.retire_width);
    CHECK_EQUAL(used(), clock.size, "a record");
}

static void load(uint64_t linear, unsigned level, unsigned latency)
{
    rig.cpu->last_load.linear = linear;
    rig.cpu->last_load.level = level;
    rig.cpu->last_load.latency = latency;
    rig.cpu->last_load.dtlb_miss = level == 4;
    pass(0, EV_LOAD, 1, 1);
}

/* Loads slower than MSR_PEBS_LD_LAT count; each record says where, whence and how slow. */
static void load_latency(void **state)
{
    (void)state;
    static const struct {
        unsigned level, latency, source;
    } loads[] = {{1, 31, 0x01}, {2, 32, 0x03}, {3, 33, 0x04}, {4, 200, 0x1c}};
    FOR_EACH_GENERATION(g)
    {
        if (g->format == 0 || g->format > 3 || strcmp(g->profile, "sandybridge") == 0 ||
            strcmp(g->profile, "goldmont") == 0)
            continue; /* Sandy Bridge: IA32_PMC3 alone; Goldmont: none */
        for (unsigned enabled = 0; enabled < 2; enabled++) {
            set_up(g, 9, g->size);
            write_msr(MSR_IA32_PERF_GLOBAL_CTRL, 0);
            write_msr(MSR_PEBS_LD_LAT_THRESHOLD, 30);
            write_msr(MSR_IA32_PEBS_ENABLE, 1 | (enabled ? 1ULL << 32 : 0));
            write_msr(MSR_IA32_PMC0, (uint32_t)-1);
            poke(DS_PEBS_RESET(0), minus(1));
            write_msr(MSR_IA32_PERFEVTSEL0,
                      (g == westmere ? 0x100b : 0x01cd) | BOTH_RINGS | PERFEVTSEL_EN);
            write_msr(MSR_IA32_PERF_GLOBAL_CTRL, 1);
            for (unsigned i = 0; i < LENGTH(loads); i++) {
                load(0x9000, 1, 30); /* not slower than the threshold */
                load(0xa000, 2, 31); /* arms */
                load(0xb000 + i, loads[i].level, loads[i].latency);
                uint64_t at = PEBS_BUFFER + i * g->size;
                CHECK_EQUAL(used(), (i + 1) * g->size, "records");
                CHECK_EQUAL(peek(at + AT_ADDRESS), enabled || g->format >= 2 ? 0xb000 + i : 0,
                            "address");
                CHECK_EQUAL(peek(at + AT_SOURCE), enabled ? loads[i].source : 0, "source");
                CHECK_EQUAL(peek(at + AT_LATENCY), enabled ? loads[i].latency : 0, "latency");
            }
        }
    }
}

/* SDM vol. 3 "PEBS Data Address Profiling": Haswell on. */
static void data_address_of_precise_loads(void **state)
{
    (void)state;
    const struct pebs *const both[] = {westmere, haswell};
    for (unsigned i = 0; i < LENGTH(both); i++) {
        set_up(both[i], 9, both[i]->size);
        for (unsigned n = 1; n <= 4; n++)
            load(0x7000 + n, 1, 4);
        CHECK_EQUAL(used(), both[i]->size, "one record");
        CHECK_EQUAL(peek(PEBS_BUFFER + AT_ADDRESS), both[i] == haswell ? 0x7004 : 0, "address");
    }
}

/* ---- Formats 4 to 6 ---- */

enum { BASIC_IP = 8, BASIC_COUNTERS = 16, BASIC_TSC = 24, BASIC_SIZE = 32 };
enum { MEMINFO_SIZE = 32, GPRS_SIZE = 144, XMMS_SIZE = 256, LBR_ENTRY_SIZE = 24 };

static void adaptive_record(const struct pebs *g, uint64_t groups, unsigned size)
{
    set_up(g, 9, size);
    write_msr(MSR_PEBS_DATA_CFG, groups);
    write_msr(MSR_IA32_PERFEVTSEL0, g->event | BOTH_RINGS | PERFEVTSEL_EN | PERFEVTSEL_ADAPTIVE);
    instructions(g, 1, 4);
    CHECK_EQUAL(used(), size, "groups %#llx", (unsigned long long)groups);
    CHECK_EQUAL(peek(PEBS_BUFFER), groups | (uint64_t)size << 48, "format and size");
    CHECK_EQUAL(peek(PEBS_BUFFER + size), SENTINEL, "nothing behind it");
}

static void adaptive_groups(void **state)
{
    (void)state;
    const uint64_t lbr3 = PEBS_DATA_CFG_LBRS | 2 << PEBS_DATA_CFG_LBR_SHIFT;
    const struct pebs *const both[] = {icelake, sapphirerapids};
    for (unsigned i = 0; i < LENGTH(both); i++) {
        const struct pebs *g = both[i];
        adaptive_record(g, 0, BASIC_SIZE);
        CHECK_EQUAL(peek(PEBS_BUFFER + BASIC_IP), 0x4030, "the instruction's own address");
        CHECK_EQUAL(peek(PEBS_BUFFER + BASIC_COUNTERS), 1, "applicable counters");
        CHECK_EQUAL(peek(PEBS_BUFFER + BASIC_TSC), cpu_tsc(rig.cpu), "TSC");
        adaptive_record(g, PEBS_DATA_CFG_MEMINFO, BASIC_SIZE + MEMINFO_SIZE);
        adaptive_record(g, PEBS_DATA_CFG_GPRS, BASIC_SIZE + GPRS_SIZE);
        CHECK_EQUAL(peek(PEBS_BUFFER + BASIC_SIZE + 8), 0x4040, "RIP");
        CHECK_EQUAL(peek(PEBS_BUFFER + BASIC_SIZE + 16), 4, "RAX");
        CHECK_EQUAL(peek(PEBS_BUFFER + BASIC_SIZE + GPRS_SIZE - 8), 0x1500000004, "R15");
        adaptive_record(g, PEBS_DATA_CFG_XMMS, BASIC_SIZE + XMMS_SIZE);
        adaptive_record(g, lbr3, BASIC_SIZE + 3 * LBR_ENTRY_SIZE);
        adaptive_record(g, PEBS_DATA_CFG_MEMINFO | PEBS_DATA_CFG_GPRS | PEBS_DATA_CFG_XMMS | lbr3,
                        BASIC_SIZE + MEMINFO_SIZE + GPRS_SIZE + XMMS_SIZE + 3 * LBR_ENTRY_SIZE);
        CHECK(write_faults(MSR_PEBS_DATA_CFG, PEBS_DATA_CFG_CNTR), "a group that there is not");
        CHECK(write_faults(MSR_PEBS_DATA_CFG, PEBS_DATA_CFG_METRICS), "another");
        CHECK(write_faults(MSR_PEBS_DATA_CFG, ARCH_BIT(32)), "a counter for it");
    }
}

static void adaptive_needs_the_counters_bit(void **state)
{
    (void)state;
    set_up(icelake, 9, BASIC_SIZE);
    write_msr(MSR_PEBS_DATA_CFG, PEBS_DATA_CFG_GPRS);
    instructions(icelake, 1, 4);
    CHECK_EQUAL(peek(PEBS_BUFFER), (uint64_t)BASIC_SIZE << 48, "the basic group alone");
}

/* The newest record first, of either kind. */
static void adaptive_lbr_group(void **state)
{
    (void)state;
    const struct pebs *const both[] = {icelake, sapphirerapids};
    for (unsigned i = 0; i < LENGTH(both); i++) {
        const struct pebs *g = both[i];
        set_up(g, 9, BASIC_SIZE + 2 * LBR_ENTRY_SIZE);
        if (g == icelake)
            write_msr(MSR_IA32_DEBUGCTL, DEBUGCTL_LBR);
        else
            write_msr(MSR_IA32_LBR_CTL, LBR_CTL_LBREN | LBR_CTL_OS | LBR_CTL_NEAR_REL_JMP);
        branch(BR_JMP_REL, 0x10, 0x11);
        branch(BR_JMP_REL, 0x20, 0x21);
        branch(BR_JMP_REL, 0x30, 0x31);
        write_msr(MSR_PEBS_DATA_CFG, PEBS_DATA_CFG_LBRS | 1 << PEBS_DATA_CFG_LBR_SHIFT);
        write_msr(MSR_IA32_PERFEVTSEL0,
                  g->event | BOTH_RINGS | PERFEVTSEL_EN | PERFEVTSEL_ADAPTIVE);
        instructions(g, 1, 4);
        uint64_t group = PEBS_BUFFER + BASIC_SIZE;
        CHECK_EQUAL(peek(group), 0x30, "from of the newest");
        CHECK_EQUAL(peek(group + LBR_ENTRY_SIZE + 8), 0x21, "to of the next");
        if (g == sapphirerapids)
            CHECK_EQUAL(peek(group + 16), read_msr(MSR_IA32_LBR_0_INFO), "info of the newest");
    }
}

/* Where software asks for more records than there are: Linux takes their number from the record's
 * own format field, so that they must be there; the manual does not say what they hold. */
static void adaptive_lbr_group_has_as_many_as_asked_for(void **state)
{
    (void)state;
    const struct pebs *const both[] = {icelake, sapphirerapids};
    for (unsigned i = 0; i < LENGTH(both); i++) {
        const struct pebs *g = both[i];
        unsigned entries = 256, depth = 32, size = BASIC_SIZE + entries * LBR_ENTRY_SIZE;
        uint64_t groups = PEBS_DATA_CFG_LBRS | (uint64_t)(entries - 1) << PEBS_DATA_CFG_LBR_SHIFT;
        adaptive_record(g, groups, size);
        for (unsigned n = depth * LBR_ENTRY_SIZE; n < entries * LBR_ENTRY_SIZE; n += 8)
            CHECK_EQUAL(peek(PEBS_BUFFER + BASIC_SIZE + n), 0, "byte %u", n);
    }
}

/* "Extended PEBS": fixed counters, events that are not precise, no LL_EN. The fixed counters' reset
 * values follow eight general ones, from format 5 on 32. */
static void extended_pebs(void **state)
{
    (void)state;
    const struct pebs *const both[] = {icelake, sapphirerapids};
    for (unsigned i = 0; i < LENGTH(both); i++) {
        set_up(both[i], 9, BASIC_SIZE);
        write_msr(MSR_IA32_PERF_GLOBAL_CTRL, 0);
        write_msr(MSR_IA32_PEBS_ENABLE, ARCH_BIT(GLOBAL_FIXED_SHIFT + 1));
        poke(DS_PEBS_RESET(DS_PEBS_RESET_FIXED + 1), minus(both[i]->format == 4 ? 7 : 1000));
        poke(DS_PEBS_RESET(DS_PEBS_RESET_FIXED_5 + 1), minus(both[i]->format == 4 ? 1000 : 7));
        write_msr(MSR_IA32_FIXED_CTR0 + 1, minus(1));
        write_msr(MSR_IA32_FIXED_CTR_CTRL, FIXED_CTR_CTRL_OS << FIXED_CTR_CTRL_BITS);
        write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
        retire(0, rig.profile.uarch.retire_width);
        retire(0, rig.profile.uarch.retire_width);
        CHECK_EQUAL(used(), BASIC_SIZE, "a record of IA32_FIXED_CTR1");
        CHECK_EQUAL(peek(PEBS_BUFFER + BASIC_COUNTERS), ARCH_BIT(GLOBAL_FIXED_SHIFT + 1),
                    "its counter");
        CHECK_EQUAL(read_msr(MSR_IA32_FIXED_CTR0 + 1), minus(7), "its reload");
    }

    set_up(icelake, 9, BASIC_SIZE + MEMINFO_SIZE);
    write_msr(MSR_PEBS_DATA_CFG, PEBS_DATA_CFG_MEMINFO);
    write_msr(MSR_PEBS_LD_LAT_THRESHOLD, 30);
    write_msr(MSR_IA32_PMC0, (uint32_t)-1);
    write_msr(MSR_IA32_PERFEVTSEL0, 0x01cd | BOTH_RINGS | PERFEVTSEL_EN | PERFEVTSEL_ADAPTIVE);
    load(0xa000, 2, 31);
    load(0xb000, 3, 42);
    CHECK_EQUAL(peek(PEBS_BUFFER + BASIC_SIZE), 0xb000, "address");
    CHECK_EQUAL(peek(PEBS_BUFFER + BASIC_SIZE + 8), 0x04, "source");
    CHECK_EQUAL(peek(PEBS_BUFFER + BASIC_SIZE + 16), 42, "latency");
}

/* From format 5 on the latency is two: of the instruction in bits 15:0, of the caches in 47:32. */
static void latency_is_divided_from_format_5_on(void **state)
{
    (void)state;
    set_up(sapphirerapids, 9, BASIC_SIZE + MEMINFO_SIZE);
    write_msr(MSR_PEBS_DATA_CFG, PEBS_DATA_CFG_MEMINFO);
    write_msr(MSR_PEBS_LD_LAT_THRESHOLD, 30);
    write_msr(MSR_IA32_PEBS_ENABLE, 2);
    write_msr(MSR_IA32_PMC0 + 1, (uint32_t)-1);
    poke(DS_PEBS_RESET(1), minus(1));
    write_msr(MSR_IA32_PERFEVTSEL0 + 1, 0x01cd | BOTH_RINGS | PERFEVTSEL_EN | PERFEVTSEL_ADAPTIVE);
    /* Golden Cove (pmu.latency_needs_aux): 03H/82H must count beside it. */
    write_msr(MSR_IA32_PERFEVTSEL0, 0x8203 | BOTH_RINGS | PERFEVTSEL_EN);
    load(0xa000, 2, 31);
    load(0xb000, 3, 42);
    load(0xa000, 2, 31);
    load(0xc000, 4, 70000);
    uint64_t first = PEBS_BUFFER + BASIC_SIZE, second = first + BASIC_SIZE + MEMINFO_SIZE;
    CHECK_EQUAL(peek(first), 0xb000, "address");
    CHECK_EQUAL(peek(first + 8), 0x04, "source");
    CHECK_EQUAL(peek(first + 16), 42 | 42ULL << 32, "latencies");
    CHECK_EQUAL(peek(second), 0xc000, "address");
    CHECK_EQUAL(peek(second + 16), 0xffff | 0xffffULL << 32, "they saturate");

    /* Without it a record has the address alone. */
    poke(DS_PEBS_INDEX, PEBS_BUFFER);
    write_msr(MSR_IA32_PERFEVTSEL0, 0x8203 | BOTH_RINGS);
    load(0xb000, 3, 42);
    load(0xb000, 3, 42);
    CHECK_EQUAL(peek(first), 0xb000, "address without the other event");
    CHECK_EQUAL(peek(first + 8), 0, "source without it");
    CHECK_EQUAL(peek(first + 16), 0, "latencies without it");
}

/* Gracemont: the bits of a locked access and of a miss of the second-level TLB have changed
 * places. */
/* Gracemont, Crestmont and Lion Cove have tables and bits of their own. */
static void data_source_by_core(void **state)
{
    (void)state;
    static const struct {
        const char *core;
        uint16_t wanted[4]; /* L1, L2, L3, memory with a miss of the STLB */
    } cases[] = {{"pmu.pebs_source=0", {0x01, 0x03, 0x04, 0x1c}},
                 {"pmu.pebs_source=1", {0x01, 0x03, 0x04, 0x2c}},
                 {"pmu.pebs_source=2", {0x01, 0x03, 0x04, 0x4a}},
                 {"pmu.pebs_source=3", {0x01, 0x05, 0x08, 0x411}}};
    for (unsigned i = 0; i < LENGTH(cases); i++)
        for (unsigned level = 1; level <= 4; level++) {
            set_up_changed(gracemont, 9, BASIC_SIZE + MEMINFO_SIZE, cases[i].core, NULL);
            write_msr(MSR_PEBS_DATA_CFG, PEBS_DATA_CFG_MEMINFO);
            write_msr(MSR_PEBS_LD_LAT_THRESHOLD, 30);
            write_msr(MSR_IA32_PMC0, (uint32_t)-1);
            write_msr(MSR_IA32_PERFEVTSEL0,
                      0x05d0 | BOTH_RINGS | PERFEVTSEL_EN | PERFEVTSEL_ADAPTIVE);
            load(0xa000, 2, 31);
            load(0xb000, level, 300);
            CHECK_EQUAL(peek(PEBS_BUFFER + BASIC_SIZE), 0xb000, "address");
            CHECK_EQUAL(peek(PEBS_BUFFER + BASIC_SIZE + 8), cases[i].wanted[level - 1],
                        "%s: level %u", cases[i].core, level);
        }
}

/* PEBS_TIMING_INFO: cycles since the instruction before retired, in bits 47:32 of the first
 * quadword. */
static void retire_latency_with_timing_info(void **state)
{
    (void)state;
    static const struct {
        const char *capabilities;
        unsigned cycles, wanted;
    } cases[] = {
        {"pmu.capabilities=0xf5ff", 50, 0},
        {"pmu.capabilities=0x2f5ff", 50, 50},
        {"pmu.capabilities=0x2f5ff", 70000, 0xffff},
        {"pmu.capabilities=0x2f5ff", 50, 0}, /* of a counter that has none */
    };
    for (unsigned i = 0; i < LENGTH(cases); i++) {
        set_up_changed(sapphirerapids, 9, BASIC_SIZE, cases[i].capabilities,
                       i == 3 ? "pmu.pebs_untimed=1" : "pmu.pebs_untimed=2");
        unsigned width = rig.profile.uarch.retire_width;
        pass(0, EV_LOAD, 3, 3 * width);
        pass(0, EV_ABSENT, 0, 9 * width);
        pass(0, EV_LOAD, 1, (uint64_t)cases[i].cycles * width);
        CHECK_EQUAL(used(), BASIC_SIZE, "a record");
        CHECK_EQUAL(peek(PEBS_BUFFER), (uint64_t)cases[i].wanted << 32 | (uint64_t)BASIC_SIZE << 48,
                    "%s, %u cycles", cases[i].capabilities, cases[i].cycles);
    }
}

/* Format 6: which counters' values follow, general, fixed, slots and metrics; a counter that the
 * record reloads shows the new value. */
static void counters_group_of_format_6(void **state)
{
    (void)state;
    enum { HEADER = 16, SIZE = BASIC_SIZE + HEADER + 6 * 8 };
    const uint64_t groups =
        PEBS_DATA_CFG_CNTR | PEBS_DATA_CFG_METRICS | 0x81ULL << 32 | 0x3ULL << 48;
    set_up_changed(sapphirerapids, 9, SIZE, "pmu.pebs_format=6", "pmu.capabilities=0xf6ff");
    CHECK(write_faults(MSR_PEBS_DATA_CFG, PEBS_DATA_CFG_CNTR | 0x100ULL << 32), "PMC8");
    CHECK(write_faults(MSR_PEBS_DATA_CFG, PEBS_DATA_CFG_CNTR | 0x10ULL << 48), "FIXED_CTR4");
    write_msr(MSR_PEBS_DATA_CFG, groups);
    write_msr(MSR_IA32_PERFEVTSEL0,
              sapphirerapids->event | BOTH_RINGS | PERFEVTSEL_EN | PERFEVTSEL_ADAPTIVE);
    write_msr(MSR_IA32_A_PMC0 + 7, 0x777);
    write_msr(MSR_IA32_FIXED_CTR0, 0x1000);
    write_msr(MSR_IA32_FIXED_CTR0 + 1, 0x1001);
    write_msr(MSR_IA32_FIXED_CTR0 + 3, 0x1003);
    instructions(sapphirerapids, 1, 4);
    uint64_t group = PEBS_BUFFER + BASIC_SIZE;
    CHECK_EQUAL(used(), SIZE, "the size");
    CHECK_EQUAL(peek(PEBS_BUFFER), (groups & 0xffffffff) | (uint64_t)SIZE << 48, "first quadword");
    CHECK_EQUAL(peek(group), 0x81 | 3ULL << 32, "general and fixed counters");
    CHECK_EQUAL(peek(group + 8), 3, "metrics");
    CHECK_EQUAL(peek(group + HEADER), minus(3), "IA32_PMC0, reloaded");
    CHECK_EQUAL(peek(group + HEADER + 8), 0x777, "IA32_PMC7");
    CHECK_EQUAL(peek(group + HEADER + 16), 0x1000, "IA32_FIXED_CTR0");
    CHECK_EQUAL(peek(group + HEADER + 24), 0x1001, "IA32_FIXED_CTR1");
    CHECK_EQUAL(peek(group + HEADER + 32), 0x1003, "IA32_FIXED_CTR3");
    CHECK_EQUAL(peek(group + HEADER + 40), read_msr(MSR_PERF_METRICS), "PERF_METRICS");
    CHECK_EQUAL(peek(group + HEADER + 48), SENTINEL, "nothing behind it");

    set_up_changed(sapphirerapids, 9, BASIC_SIZE + HEADER, "pmu.pebs_format=6", NULL);
    write_msr(MSR_PEBS_DATA_CFG, PEBS_DATA_CFG_CNTR);
    write_msr(MSR_IA32_PERFEVTSEL0,
              sapphirerapids->event | BOTH_RINGS | PERFEVTSEL_EN | PERFEVTSEL_ADAPTIVE);
    instructions(sapphirerapids, 1, 4);
    CHECK_EQUAL(used(), BASIC_SIZE + HEADER, "no counter: the header alone");
    rig_start(sapphirerapids->profile, "pmu.pebs_format=6", "pmu.metrics=no", NULL);
    CHECK(write_faults(MSR_PEBS_DATA_CFG, PEBS_DATA_CFG_METRICS), "no PERF_METRICS, no group");
}

/* SDM vol. 3 "PDist: Precise Distribution": the record is "generated precisely upon completion of
 * the instruction or operation that causes the counter to overflow (there is no 'wait for next
 * occurrence' by default)". A counter beside it without it waits. */
static void precise_distribution_records_the_event_that_overflows(void **state)
{
    (void)state;
    for (unsigned fixed = 0; fixed < 2; fixed++) {
        unsigned bit = fixed ? GLOBAL_FIXED_SHIFT : 0;
        uint64_t at = 0, other = 0;
        set_up_changed(sapphirerapids, 9, BASIC_SIZE,
                       fixed ? "pmu.pebs_pdist=0x100000000" : "pmu.pebs_pdist=1", NULL);
        CHECK(rig.cpu->want_branches == !fixed, "interrupts are followed");
        write_msr(MSR_IA32_PERF_GLOBAL_CTRL, 0);
        write_msr(MSR_IA32_PEBS_ENABLE, ARCH_BIT(bit) | 2);
        poke(DS_PEBS_RESET(fixed ? DS_PEBS_RESET_FIXED_5 : 0), minus(3));
        poke(DS_PEBS_RESET(1), minus(100));
        write_msr(MSR_IA32_FIXED_CTR0, minus(3));
        write_msr(MSR_IA32_PMC0 + 1, (uint32_t)-7);
        write_msr(MSR_IA32_PERFEVTSEL0, fixed ? 0 : 0x4300c0);
        write_msr(MSR_IA32_PERFEVTSEL0 + 1, 0x4300c0);
        write_msr(MSR_IA32_FIXED_CTR_CTRL, fixed ? FIXED_CTR_CTRL_OS : 0);
        write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
        for (unsigned i = 1; i <= 8; i++) {
            static const unsigned records[] = {0, 0, 1, 1, 1, 2, 2, 3};
            rig.cpu->rip = 0x4000 + 0x10 * i;
            retire(0, 1);
            CHECK_EQUAL(used(), records[i - 1] * BASIC_SIZE, "instruction %u", i);
            other = PEBS_BUFFER + 2 * BASIC_SIZE;
        }
        for (unsigned n = 0; n < 2; n++) {
            at = PEBS_BUFFER + n * BASIC_SIZE;
            CHECK_EQUAL(peek(at + BASIC_IP), 0x4020 + 0x30 * n, "record %u", n);
            CHECK_EQUAL(peek(at + BASIC_COUNTERS), ARCH_BIT(bit), "of the counter with PDist");
        }
        CHECK_EQUAL(peek(other + BASIC_IP), 0x4070, "the eighth: the seventh has overflowed");
        CHECK_EQUAL(peek(other + BASIC_COUNTERS), 2, "of the counter without it");
        CHECK_EQUAL(read_msr(fixed ? MSR_IA32_FIXED_CTR0 : MSR_IA32_PMC0), minus(1), "its reload");
        CHECK_EQUAL(status(), 0, "no overflow shows");
    }
}

const struct CMUnitTest pebs_tests[] = {
    RULE(overflow_arms_the_next_event_writes),
    RULE(record_layout_by_format),
    RULE(status_or_applicable_counters),
    RULE(threshold_sets_ovfbuf_and_raises_a_pmi),
    RULE(the_thresholds_pmi_has_no_skid),
    RULE(goldmont_records_events_that_are_not_precise),
    RULE(full_buffer_skips_silently),
    RULE(unmapped_store_skips),
    RULE(what_cannot_be_precise_writes_nothing),
    RULE(cycles_are_sampled_by_an_inverted_event),
    RULE(every_overflowed_pebs_counter_is_reloaded),
    RULE(load_latency),
    RULE(data_address_of_precise_loads),
    RULE(adaptive_groups),
    RULE(adaptive_needs_the_counters_bit),
    RULE(adaptive_lbr_group),
    RULE(adaptive_lbr_group_has_as_many_as_asked_for),
    RULE(extended_pebs),
    RULE(latency_is_divided_from_format_5_on),
    RULE(data_source_by_core),
    RULE(retire_latency_with_timing_info),
    RULE(counters_group_of_format_6),
    RULE(precise_distribution_records_the_event_that_overflows),
};
const size_t n_pebs_tests = LENGTH(pebs_tests);
