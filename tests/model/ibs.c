/* Instruction-based sampling. Programs of a few instructions run on the interpreter, in flat
 * segments of 32 bits without paging. */
#include "tests/model/rig.h"
#include "sim/cpu/internal.h"
#include "sim/cpu/uarch.h"
#include "sim/dev/dev.h"
#include "x86/amd.h"
#include "x86/apic.h"
#include "x86/msr.h"

#include <string.h>

#define CODE   0x1000
#define STACK  0x7000
#define DATA   0x8000
#define PERIOD 0x40 /* 400H counts */
#define VECTOR 0x71
/* Flat segments of 32 bits, as in struct segment. */
#define CODE_32 0xc09b00
#define DATA_32 0xc09300

static const char *const with_ibs[] = {"zen3", "zen4", "zen5"};

/* A machine with the program at CODE, ready to run; the interrupt is masked. */
static void start(const char *profile, const uint8_t *code, unsigned bytes)
{
    rig_start(profile, NULL);
    CHECK(cpu_write_linear(rig.cpu, CODE, code, bytes), "no memory");
    rig.cpu->cr0 |= CR0_PE;
    for (unsigned i = SEG_ES; i <= SEG_GS; i++)
        rig.cpu->seg[i] =
            (struct segment){.limit = UINT32_MAX, .attr = i == SEG_CS ? CODE_32 : DATA_32};
    rig.cpu->rip = CODE;
    rig.cpu->r[RSP] = STACK;
    exec_mode_changed(rig.cpu);
    apic_write(APIC_SVR, APIC_SVR_ENABLE | 0xff);
    apic_write(APIC_EXT_LVT0, VECTOR | APIC_LVT_MASK);
}
#define START(profile, code) start(profile, code, sizeof(code))

static void run(uint64_t slots)
{
    cpu_run(rig.cpu, rig.cpu->now + slots);
}

/* Until there is a sample. */
static bool sampled(uint32_t ctl, uint64_t valid)
{
    for (unsigned i = 0; i < 1000 && !(read_msr(ctl) & valid); i++)
        run(200);
    return read_msr(ctl) & valid;
}

static void next_op(uint64_t ctl)
{
    write_msr(MSR_AMD_IBS_OP_CTL, ctl | IBS_OP_EN);
    CHECK(sampled(MSR_AMD_IBS_OP_CTL, IBS_OP_VAL), "no sample of an op");
}

/* A sample of the instruction at that place; between them a random number of ops passes. */
static uint64_t op_at(uint64_t rip, uint64_t ctl)
{
    for (unsigned i = 0; i < 2000; i++) {
        next_op(ctl | (uint64_t)(i % 16) << IBS_OP_CUR_CNT_SHIFT);
        if (read_msr(MSR_AMD_IBS_OP_RIP) == rip)
            return read_msr(MSR_AMD_IBS_OP_DATA);
    }
    CHECK(false, "%llxH was never sampled", (unsigned long long)rip);
    return 0;
}

static void next_fetch(uint64_t ctl)
{
    write_msr(MSR_AMD_IBS_FETCH_CTL, ctl | IBS_FETCH_EN);
    CHECK(sampled(MSR_AMD_IBS_FETCH_CTL, IBS_FETCH_VAL), "no sample of a fetch");
}

/* 1000: nop, ten times; 100a: jmp 1000 */
static const uint8_t nops[] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
                               0x90, 0x90, 0x90, 0x90, 0xeb, 0xf4};

static void ibs_is_there_by_cpuid(void **state)
{
    (void)state;
    static const char *const profiles[] = {"skylake", "k8", "zen1", "zen3", "zen4", "zen5"};
    for (unsigned p = 0; p < LENGTH(profiles); p++) {
        rig_start(profiles[p], NULL);
        uint32_t out[4] = {0};
        cpu_cpuid(rig.cpu, 0x80000001, 0, out);
        bool there = out[2] & CPUID_80000001_ECX_IBS;
        for (uint32_t msr = MSR_AMD_IBS_FETCH_CTL; msr <= MSR_AMD_IBS_FETCH_CTL_EXTD; msr++)
            CHECK(read_faults(msr) == !there, "MSR %XH", msr);
        CHECK(read_faults(MSR_AMD_IBS_OP_DATA4), "without OpData4 no IbsOpData4");
    }
}

static void ibs_ctl_names_an_lvt_entry(void **state)
{
    (void)state;
    rig_start("zen4", NULL);
    CHECK_EQUAL(read_msr(MSR_AMD_IBS_CTL), IBS_CTL_LVT_OFFSET_VALID, "entry 0, and valid");
    CHECK(write_faults(MSR_AMD_IBS_CTL, 0) && write_faults(MSR_AMD_IBS_FETCH_LIN_AD, 0) &&
              write_faults(MSR_AMD_IBS_FETCH_PHYS_AD, 0),
          "read-only");
}

static void a_sample_interrupts_by_the_entry(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(with_ibs); p++) {
        START(with_ibs[p], nops);
        apic_write(APIC_EXT_LVT0, VECTOR);
        next_op(PERIOD);
        CHECK(apic_read(APIC_IRR + VECTOR / 32 * 0x10) >> VECTOR % 32 & 1, "of an op");
        START(with_ibs[p], nops);
        apic_write(APIC_EXT_LVT0, VECTOR);
        next_fetch(PERIOD);
        CHECK(apic_read(APIC_IRR + VECTOR / 32 * 0x10) >> VECTOR % 32 & 1, "of a fetch");
    }
}

/* Ops of the loop: one each. */
static void ops_are_counted_to_the_maximum(void **state)
{
    (void)state;
    START("zen4", nops);
    write_msr(MSR_AMD_IBS_OP_CTL, PERIOD | IBS_OP_EN | IBS_OP_CNT_CTL);
    uint64_t before = cpu_total(rig.cpu, 0, EV_UOPS);
    while (!(read_msr(MSR_AMD_IBS_OP_CTL) & IBS_OP_VAL))
        run(1);
    CHECK_EQUAL(cpu_total(rig.cpu, 0, EV_UOPS) - before, (PERIOD << 4) + 1,
                "the op behind those that were counted");
}

static void cycles_are_counted_to_the_maximum(void **state)
{
    (void)state;
    START("zen4", nops);
    run(20000);
    write_msr(MSR_AMD_IBS_OP_CTL, PERIOD | IBS_OP_EN);
    uint64_t before = cpu_total(rig.cpu, 0, EV_SLOTS), width = rig.profile.uarch.retire_width;
    run(100 * width);
    uint64_t so_far = (read_msr(MSR_AMD_IBS_OP_CTL) & IBS_OP_CUR_CNT) >> IBS_OP_CUR_CNT_SHIFT;
    CHECK(so_far >= 100 && so_far <= 102, "%llu of 100 cycles", (unsigned long long)so_far);
    while (!(read_msr(MSR_AMD_IBS_OP_CTL) & IBS_OP_VAL))
        run(1);
    uint64_t cycles = (cpu_total(rig.cpu, 0, EV_SLOTS) - before) / width;
    /* The first and the last are not whole ones. */
    CHECK(cycles + 1 >= PERIOD << 4 && cycles <= (PERIOD << 4) + 2, "%llu cycles",
          (unsigned long long)cycles);
}

static void the_maximum_has_seven_more_bits(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(with_ibs); p++) {
        START(with_ibs[p], nops);
        uint64_t max = 1 << 20 | 0x10;
        write_msr(MSR_AMD_IBS_OP_CTL, max | IBS_OP_EN | IBS_OP_CNT_CTL);
        uint64_t before = cpu_total(rig.cpu, 0, EV_UOPS);
        while (!(read_msr(MSR_AMD_IBS_OP_CTL) & IBS_OP_VAL))
            run(1000);
        uint64_t ops = cpu_total(rig.cpu, 0, EV_UOPS) - before;
        CHECK(ops > (1 << 20 | 0x100) && ops < (1 << 20 | 0x100) + 4000, "%llu ops",
              (unsigned long long)ops);
    }
}

static void the_current_count_can_be_written(void **state)
{
    (void)state;
    START("zen4", nops);
    uint64_t begin = (PERIOD << 4) - 100;
    write_msr(MSR_AMD_IBS_OP_CTL,
              PERIOD | IBS_OP_EN | IBS_OP_CNT_CTL | begin << IBS_OP_CUR_CNT_SHIFT);
    uint64_t before = cpu_total(rig.cpu, 0, EV_UOPS);
    run(20);
    uint64_t passed = cpu_total(rig.cpu, 0, EV_UOPS) - before;
    CHECK_EQUAL((read_msr(MSR_AMD_IBS_OP_CTL) & IBS_OP_CUR_CNT) >> IBS_OP_CUR_CNT_SHIFT,
                begin + passed, "it goes on from there");
    CHECK(sampled(MSR_AMD_IBS_OP_CTL, IBS_OP_VAL), "and comes to the maximum");
    CHECK(cpu_total(rig.cpu, 0, EV_UOPS) - before < 1000, "so much earlier");
}

/* Bits 26:7 of the count are 0 behind a sample, and the others differ. */
static void the_count_restarts_at_random(void **state)
{
    (void)state;
    uint64_t seen = 0;
    START("zen4", nops);
    for (unsigned i = 0; i < 20; i++) {
        next_op(PERIOD | IBS_OP_CNT_CTL);
        uint64_t count = (read_msr(MSR_AMD_IBS_OP_CTL) & IBS_OP_CUR_CNT) >> IBS_OP_CUR_CNT_SHIFT;
        CHECK(count < 0x80, "bits 26:7 are 0");
        seen |= ARCH_BIT(count % 64);
    }
    CHECK(__builtin_popcountll(seen) > 8, "bits 6:0 are random");
}

static void nothing_is_counted_while_a_sample_waits(void **state)
{
    (void)state;
    START("zen4", nops);
    next_op(PERIOD | IBS_OP_CNT_CTL);
    uint64_t ctl = read_msr(MSR_AMD_IBS_OP_CTL), rip = read_msr(MSR_AMD_IBS_OP_RIP);
    next_fetch(PERIOD);
    uint64_t fetch = read_msr(MSR_AMD_IBS_FETCH_CTL);
    run(100000);
    CHECK_EQUAL(read_msr(MSR_AMD_IBS_OP_CTL), ctl, "the op's count stands still");
    CHECK_EQUAL(read_msr(MSR_AMD_IBS_OP_RIP), rip, "its sample stays");
    CHECK_EQUAL(read_msr(MSR_AMD_IBS_FETCH_CTL), fetch, "so do the fetch's");
    write_msr(MSR_AMD_IBS_OP_CTL, PERIOD | IBS_OP_CNT_CTL);
    run(100000);
    CHECK(!(read_msr(MSR_AMD_IBS_OP_CTL) & IBS_OP_VAL), "nothing without En");
}

/* The tagged instruction is interrupted before it can retire. */
static void an_aborted_op_leaves_no_sample(void **state)
{
    (void)state;
    START("zen4", nops);
    write_msr(MSR_AMD_IBS_OP_CTL, PERIOD | IBS_OP_EN | IBS_OP_CNT_CTL);
    while (!rig.cpu->watch.on)
        run(1);
    deliver(rig.cpu, EVENT_INTERRUPT, 0x20, false, 0, rig.cpu->rip);
    pmu_update(rig.pmu);
    uint64_t ctl = read_msr(MSR_AMD_IBS_OP_CTL);
    CHECK(!(ctl & IBS_OP_VAL), "no sample");
    CHECK((ctl & IBS_OP_CUR_CNT) >> IBS_OP_CUR_CNT_SHIFT < 0x80, "the count begins anew");
}

/* 1000: dec ecx; 1001: test ecx, 40h; 1007: jz 1009; 1009: call 1010; 100e: jmp 1000; 1010: ret.
 * The condition changes each 64 times. */
static const uint8_t branches[] = {0x49, 0xf7, 0xc1, 0x40, 0x00, 0x00, 0x00, 0x74, 0x00,
                                   0xe8, 0x02, 0x00, 0x00, 0x00, 0xeb, 0xf0, 0xc3};

static void branches_are_told(void **state)
{
    (void)state;
    const uint64_t all =
        IBS_OP_DATA_BRN_RET | IBS_OP_DATA_BRN_TAKEN | IBS_OP_DATA_BRN_MISP | IBS_OP_DATA_RETURN;
    START("zen4", branches);
    run(20000);
    CHECK_EQUAL(op_at(0x1000, PERIOD | IBS_OP_CNT_CTL) & all, 0, "DEC");
    CHECK_EQUAL(read_msr(MSR_AMD_IBS_BR_TARGET), 0, "no target");
    CHECK_EQUAL(op_at(0x100e, PERIOD | IBS_OP_CNT_CTL) & all,
                IBS_OP_DATA_BRN_RET | IBS_OP_DATA_BRN_TAKEN, "JMP");
    CHECK_EQUAL(read_msr(MSR_AMD_IBS_BR_TARGET), 0x1000, "its target");
    CHECK_EQUAL(op_at(0x1010, PERIOD | IBS_OP_CNT_CTL) & all,
                IBS_OP_DATA_BRN_RET | IBS_OP_DATA_BRN_TAKEN | IBS_OP_DATA_RETURN, "RET");
    CHECK_EQUAL(read_msr(MSR_AMD_IBS_BR_TARGET), 0x100e, "where it went");
    unsigned taken = 0, missed = 0;
    for (unsigned i = 0; i < 300; i++) {
        uint64_t data = op_at(0x1007, (16 + i % 61) | IBS_OP_CNT_CTL);
        CHECK(data & IBS_OP_DATA_BRN_RET, "Jcc retires");
        CHECK_EQUAL(read_msr(MSR_AMD_IBS_BR_TARGET), 0x1009, "its target, or what follows");
        taken += (data & IBS_OP_DATA_BRN_TAKEN) != 0;
        missed += (data & IBS_OP_DATA_BRN_MISP) != 0;
    }
    CHECK(taken > 50 && taken < 250, "%u of 300 taken", taken);
    CHECK(missed > 0 && missed < 60, "%u of 300 mispredicted", missed);
}

/* 1000: mov ax, [8000]; 1006: mov [8010], ax; 100c: lock inc byte [8021]; 1013: mov eax, [803e],
 * which is in two lines; 1018: push dword [8030]; 101e: pop eax; 101f: jmp 1000 */
static const uint8_t accesses[] = {0x66, 0xa1, 0x00, 0x80, 0x00, 0x00, 0x66, 0xa3, 0x10,
                                   0x80, 0x00, 0x00, 0xf0, 0xfe, 0x05, 0x21, 0x80, 0x00,
                                   0x00, 0xa1, 0x3e, 0x80, 0x00, 0x00, 0xff, 0x35, 0x30,
                                   0x80, 0x00, 0x00, 0x58, 0xeb, 0xdf};

static void accesses_are_told(void **state)
{
    (void)state;
    const uint64_t valid = IBS_OP_DATA3_LIN_ADDR_VALID | IBS_OP_DATA3_PHY_ADDR_VALID;
    static const struct {
        uint64_t rip, address, data3;
    } wanted[] = {
        {0x1000, 0x8000, valid | IBS_OP_DATA3_LD_OP | 2 << IBS_OP_DATA3_WIDTH_SHIFT},
        {0x1006, 0x8010, valid | IBS_OP_DATA3_ST_OP | 2 << IBS_OP_DATA3_WIDTH_SHIFT},
        {0x100c, 0x8021,
         valid | IBS_OP_DATA3_LD_OP | IBS_OP_DATA3_ST_OP | IBS_OP_DATA3_LOCKED |
             1 << IBS_OP_DATA3_WIDTH_SHIFT},
        {0x1013, 0x803e,
         valid | IBS_OP_DATA3_LD_OP | IBS_OP_DATA3_MISALIGNED | 3 << IBS_OP_DATA3_WIDTH_SHIFT},
        {0x1018, 0x8030,
         valid | IBS_OP_DATA3_LD_OP | IBS_OP_DATA3_ST_OP | 3 << IBS_OP_DATA3_WIDTH_SHIFT},
        {0x101f, 0, 0},
    };
    for (unsigned p = 0; p < LENGTH(with_ibs); p++) {
        START(with_ibs[p], accesses);
        run(20000);
        for (unsigned i = 0; i < LENGTH(wanted); i++) {
            op_at(wanted[i].rip, PERIOD | IBS_OP_CNT_CTL);
            CHECK_EQUAL(read_msr(MSR_AMD_IBS_OP_DATA3), wanted[i].data3, "IbsOpData3 of %llxH",
                        (unsigned long long)wanted[i].rip);
            CHECK_EQUAL(read_msr(MSR_AMD_IBS_DC_LIN_AD), wanted[i].address, "IbsDcLinAd");
            CHECK_EQUAL(read_msr(MSR_AMD_IBS_DC_PHYS_AD), wanted[i].address, "IbsDcPhysAd");
        }
    }
}

/* Paging of 32 bits: the first four mebibytes as they are, but two pages that are the next one's.
 */
static void page(uint32_t large)
{
    enum { DIRECTORY = 0x100000, TABLE = 0x101000, N = 1024 };
    static uint32_t table[N];
    for (unsigned i = 0; i < N; i++)
        table[i] = (i == CODE >> 12 || i == DATA >> 12 ? i + 1 : i) << 12 | PTE_P | PTE_RW;
    uint32_t directory = (large ? large : TABLE) | PTE_P | PTE_RW;
    CHECK(cpu_write_linear(rig.cpu, TABLE, table, sizeof table) &&
              cpu_write_linear(rig.cpu, DIRECTORY, &directory, sizeof directory) &&
              cpu_write_linear(rig.cpu, CODE + 0x1000, accesses, sizeof accesses),
          "no memory");
    rig.cpu->cr3 = DIRECTORY;
    rig.cpu->cr4 |= CR4_PSE;
    rig.cpu->cr0 |= CR0_PG;
}

static void addresses_are_translated(void **state)
{
    (void)state;
    START("zen4", accesses);
    page(0);
    run(20000);
    op_at(0x1000, PERIOD | IBS_OP_CNT_CTL);
    CHECK_EQUAL(read_msr(MSR_AMD_IBS_DC_LIN_AD), DATA, "IbsDcLinAd");
    CHECK_EQUAL(read_msr(MSR_AMD_IBS_DC_PHYS_AD), DATA + 0x1000, "IbsDcPhysAd");
    next_fetch(PERIOD);
    uint64_t linear = read_msr(MSR_AMD_IBS_FETCH_LIN_AD);
    CHECK(linear == CODE || linear == CODE + 0x20, "IbsFetchLinAd");
    CHECK_EQUAL(read_msr(MSR_AMD_IBS_FETCH_PHYS_AD), linear + 0x1000, "IbsFetchPhysAd");
    CHECK_EQUAL(read_msr(MSR_AMD_IBS_FETCH_CTL) & IBS_FETCH_PAGE_SIZE, 0, "4 KiB");
    START("zen4", accesses);
    page(PTE_PS);
    run(20000);
    op_at(0x1000, PERIOD | IBS_OP_CNT_CTL);
    CHECK_EQUAL(read_msr(MSR_AMD_IBS_DC_PHYS_AD), DATA, "as it is");
    CHECK(read_msr(MSR_AMD_IBS_OP_DATA3) & IBS_OP_DATA3_L1_TLB_HIT_2M, "a large page");
    next_fetch(PERIOD);
    CHECK_EQUAL((read_msr(MSR_AMD_IBS_FETCH_CTL) & IBS_FETCH_PAGE_SIZE) >> IBS_FETCH_PAGE_SHIFT, 1,
                "of the code, too");
}

/* What the interpreter would have found: a load from that level that took so long. */
static void load_from(uint8_t level, uint32_t latency, uint64_t walk, bool device)
{
    write_msr(MSR_AMD_IBS_OP_CTL, 1 | IBS_OP_EN | IBS_OP_CNT_CTL);
    pass(0, EV_UOPS, 0x10, 0x10);
    CHECK(rig.cpu->watch.on, "it is tagged");
    rig.cpu->watch = (struct watch){.retired = true,
                                    .load = true,
                                    .linear = DATA,
                                    .physical = DATA,
                                    .bytes = 8,
                                    .level = level,
                                    .latency = latency,
                                    .device = device,
                                    .walk = {walk}};
    pass(0, EV_UOPS, 1, 1);
}

static void misses_and_their_source_are_told(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(with_ibs); p++) {
        rig_start(with_ibs[p], NULL);
        uint32_t caps[4];
        cpu_cpuid(rig.cpu, 0x8000001b, 0, caps);
        /* With the extended codes 1 is the own complex; before, 2 a local cache. */
        unsigned near = caps[0] & CPUID_8000001B_EAX_L3_MISS_ONLY ? 1 : 2;
        const uint64_t l1 = IBS_OP_DATA3_DC_MISS, l2 = IBS_OP_DATA3_DC_MISS | IBS_OP_DATA3_L2_MISS;
        const struct {
            unsigned level, source;
            uint64_t missed;
        } wanted[] = {{1, 0, 0}, {2, 0, l1}, {3, near, l2}, {4, 3, l2}};
        unsigned hit = rig.profile.uarch.l1d.latency;
        for (unsigned i = 0; i < LENGTH(wanted); i++) {
            load_from(wanted[i].level, hit + 100 * i, 0, false);
            uint64_t data3 = read_msr(MSR_AMD_IBS_OP_DATA3);
            CHECK_EQUAL(read_msr(MSR_AMD_IBS_OP_DATA2), wanted[i].source, "DataSrc, level %u",
                        i + 1);
            CHECK_EQUAL(data3 & l2, wanted[i].missed, "the misses, level %u", i + 1);
            CHECK_EQUAL((data3 & IBS_OP_DATA3_DC_MISS_LAT) >> IBS_OP_DATA3_DC_MISS_LAT_SHIFT,
                        100 * i, "IbsDcMissLat, level %u", i + 1);
        }
        load_from(1, hit, 56, false);
        uint64_t data3 = read_msr(MSR_AMD_IBS_OP_DATA3);
        CHECK(data3 & IBS_OP_DATA3_L1_TLB_MISS && data3 & IBS_OP_DATA3_L2_TLB_MISS, "a page walk");
        CHECK_EQUAL(data3 >> IBS_OP_DATA3_TLB_REFILL_LAT_SHIFT, 56, "and its cycles");
        load_from(0, 0, 0, true);
        CHECK(read_msr(MSR_AMD_IBS_OP_DATA3) & IBS_OP_DATA3_UC, "a device");
        CHECK_EQUAL(read_msr(MSR_AMD_IBS_OP_DATA2), 0, "has no such source");
    }
}

static void what_did_not_miss_l3_can_be_left_out(void **state)
{
    (void)state;
    rig_start("zen3", NULL);
    write_msr(MSR_AMD_IBS_OP_CTL, IBS_OP_L3_MISS_ONLY);
    CHECK_EQUAL(read_msr(MSR_AMD_IBS_OP_CTL) & IBS_OP_L3_MISS_ONLY, 0, "zen3 has no filter");
    rig_start("zen4", NULL);
    for (unsigned level = 3; level <= 4; level++) {
        load_from(level, 500, 0, false);
        write_msr(MSR_AMD_IBS_OP_CTL, 1 | IBS_OP_EN | IBS_OP_CNT_CTL | IBS_OP_L3_MISS_ONLY);
        pass(0, EV_UOPS, 0x10, 0x10);
        rig.cpu->watch = (struct watch){.retired = true, .load = true, .bytes = 8, .level = level};
        pass(0, EV_UOPS, 1, 1);
        bool sample = read_msr(MSR_AMD_IBS_OP_CTL) & IBS_OP_VAL;
        CHECK(sample == (level == 4), "level %u", level);
    }
}

/* 1000: div bl, whose quotient the next ones wait for; 1002: mov bl, 1; 1004: jmp 1000 */
static const uint8_t divides[] = {0xf6, 0xf3, 0xb3, 0x01, 0xeb, 0xfa};

static unsigned tag_to_retire(uint64_t data)
{
    return (data & IBS_OP_DATA_TAG_TO_RET) >> IBS_OP_DATA_TAG_TO_RET_SHIFT;
}

/* Retirement is in order: what is behind a division completes long before it retires. */
static void times_in_flight_are_the_windows(void **state)
{
    (void)state;
    START("zen4", divides);
    rig.cpu->r[RBX] = 1;
    run(20000);
    unsigned div = rig.profile.uarch.lat_div;
    uint64_t data = op_at(0x1000, PERIOD | IBS_OP_CNT_CTL);
    CHECK(tag_to_retire(data) >= div, "the division: %u cycles", tag_to_retire(data));
    CHECK_EQUAL(data & IBS_OP_DATA_COMP_TO_RET, 0, "it retires as it completes");
    data = op_at(0x1002, PERIOD | IBS_OP_CNT_CTL);
    CHECK((data & IBS_OP_DATA_COMP_TO_RET) >= div, "what is behind it waits");
    CHECK(tag_to_retire(data) >= (data & IBS_OP_DATA_COMP_TO_RET), "it was tagged before");
    START("zen4", nops);
    run(20000);
    CHECK(tag_to_retire(op_at(0x1003, PERIOD | IBS_OP_CNT_CTL)) < div, "nothing waits for a NOP");
}

static void fetches_are_counted_to_the_maximum(void **state)
{
    (void)state;
    START("zen4", nops); /* a fetch for each time round */
    run(20000);
    write_msr(MSR_AMD_IBS_FETCH_CTL, PERIOD | IBS_FETCH_EN);
    uint64_t before = cpu_total(rig.cpu, 0, EV_BRANCH);
    while (!(read_msr(MSR_AMD_IBS_FETCH_CTL) & IBS_FETCH_VAL))
        run(1);
    uint64_t rounds = cpu_total(rig.cpu, 0, EV_BRANCH) - before;
    CHECK(rounds >= PERIOD << 4 && rounds <= (PERIOD << 4) + 1, "%llu fetches",
          (unsigned long long)rounds);
    CHECK_EQUAL((read_msr(MSR_AMD_IBS_FETCH_CTL) & IBS_FETCH_CNT) >> IBS_FETCH_CNT_SHIFT, PERIOD,
                "the count is the maximum");
}

static void the_fetch_counts_low_bits_by_rand_en(void **state)
{
    (void)state;
    unsigned different[2] = {0};
    for (unsigned random = 0; random < 2; random++) {
        uint64_t last = 0;
        START("zen4", nops);
        run(20000);
        for (unsigned i = 0; i < 12; i++) {
            uint64_t before = cpu_total(rig.cpu, 0, EV_BRANCH);
            write_msr(MSR_AMD_IBS_FETCH_CTL,
                      PERIOD | IBS_FETCH_EN | (random ? IBS_FETCH_RAND_EN : 0));
            while (!(read_msr(MSR_AMD_IBS_FETCH_CTL) & IBS_FETCH_VAL))
                run(1);
            uint64_t rounds = cpu_total(rig.cpu, 0, EV_BRANCH) - before;
            CHECK(rounds <= (PERIOD << 4) + 1 && rounds >= (PERIOD << 4) - 15, "bits 3:0 alone");
            different[random] += i > 1 && rounds != last;
            last = rounds;
        }
    }
    CHECK(different[0] <= 1 && different[1] >= 5, "%u and %u differ", different[0], different[1]);
}

/* 40 NOPs and a jump: 1000H and 1020H. */
static void fetches_are_told(void **state)
{
    (void)state;
    uint8_t code[42];
    memset(code, 0x90, sizeof code);
    code[40] = 0xeb;
    code[41] = (uint8_t)-42;
    START("zen4", code);
    run(20000);
    unsigned seen[2] = {0};
    for (unsigned i = 0; i < 20; i++) {
        next_fetch((1 + i) | IBS_FETCH_RAND_EN);
        uint64_t ctl = read_msr(MSR_AMD_IBS_FETCH_CTL), at = read_msr(MSR_AMD_IBS_FETCH_LIN_AD);
        CHECK(at == 0x1000 || at == 0x1020, "%llxH", (unsigned long long)at);
        CHECK_EQUAL(read_msr(MSR_AMD_IBS_FETCH_PHYS_AD), at, "no paging");
        CHECK((ctl & IBS_FETCH_COMP) && (ctl & IBS_FETCH_PHY_VALID), "it completes");
        CHECK(!(ctl & (IBS_FETCH_IC_MISS | IBS_FETCH_L2_MISS | IBS_FETCH_L3_MISS)), "a hit");
        CHECK_EQUAL((ctl & IBS_FETCH_LAT) >> IBS_FETCH_LAT_SHIFT, rig.profile.uarch.l1i.latency,
                    "its latency");
        seen[at == 0x1020]++;
    }
    CHECK(seen[0] && seen[1], "both of the loop's fetches");
}

/* Straight on through NOPs that no cache has seen. */
static void fetches_that_miss_are_told(void **state)
{
    (void)state;
    enum { NOPS = 0x6000 };
    static uint8_t code[NOPS];
    memset(code, 0x90, sizeof code);
    START("zen4", code);
    unsigned misses = 0;
    for (unsigned i = 0; i < 20; i++) {
        next_fetch(2);
        uint64_t ctl = read_msr(MSR_AMD_IBS_FETCH_CTL);
        unsigned cycles = (ctl & IBS_FETCH_LAT) >> IBS_FETCH_LAT_SHIFT;
        const uint64_t missed = IBS_FETCH_IC_MISS | IBS_FETCH_L2_MISS | IBS_FETCH_L3_MISS;
        if (!(ctl & IBS_FETCH_IC_MISS))
            continue;
        misses++;
        CHECK_EQUAL(ctl & missed, missed, "it was nowhere");
        CHECK_EQUAL(cycles, rig.profile.uarch.memory_latency, "and comes from memory");
    }
    CHECK(misses > 5, "%u misses", misses);
}

/* With samples and without: the same time, the same events. */
static void sampling_changes_nothing(void **state)
{
    (void)state;
    static const uint8_t *const programs[] = {branches, accesses, divides};
    static const unsigned bytes[] = {sizeof branches, sizeof accesses, sizeof divides};
    for (unsigned i = 0; i < LENGTH(programs); i++) {
        uint64_t now[2], total[2][EV_COUNT];
        for (unsigned on = 0; on < 2; on++) {
            start("zen4", programs[i], bytes[i]);
            rig.cpu->r[RBX] = 1;
            for (unsigned n = 0; n < 200; n++) {
                if (on) {
                    write_msr(MSR_AMD_IBS_OP_CTL, 3 | IBS_OP_EN | IBS_OP_CNT_CTL);
                    write_msr(MSR_AMD_IBS_FETCH_CTL, 1 | IBS_FETCH_EN);
                }
                cpu_run(rig.cpu, 500 * (n + 1));
            }
            now[on] = rig.cpu->now;
            memcpy(total[on], rig.cpu->total[0], sizeof total[on]);
        }
        CHECK_EQUAL(now[1], now[0], "the time of program %u", i);
        CHECK(memcmp(total[0], total[1], sizeof total[0]) == 0, "the events of program %u", i);
    }
}

const struct CMUnitTest ibs_tests[] = {
    RULE(ibs_is_there_by_cpuid),
    RULE(ibs_ctl_names_an_lvt_entry),
    RULE(a_sample_interrupts_by_the_entry),
    RULE(ops_are_counted_to_the_maximum),
    RULE(cycles_are_counted_to_the_maximum),
    RULE(the_maximum_has_seven_more_bits),
    RULE(the_current_count_can_be_written),
    RULE(the_count_restarts_at_random),
    RULE(nothing_is_counted_while_a_sample_waits),
    RULE(an_aborted_op_leaves_no_sample),
    RULE(branches_are_told),
    RULE(accesses_are_told),
    RULE(addresses_are_translated),
    RULE(misses_and_their_source_are_told),
    RULE(what_did_not_miss_l3_can_be_left_out),
    RULE(times_in_flight_are_the_windows),
    RULE(fetches_are_counted_to_the_maximum),
    RULE(the_fetch_counts_low_bits_by_rand_en),
    RULE(fetches_are_told),
    RULE(fetches_that_miss_are_told),
    RULE(sampling_changes_nothing),
};
const size_t n_ibs_tests = LENGTH(ibs_tests);
