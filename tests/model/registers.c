/* What each register takes, what it refuses with #GP, and how wide it reads back. */
#include "tests/model/rig.h"
#include "x86/msr.h"
#include "x86/cpuid.h"
#include "x86/pmu.h"

enum { CPUID_DS_CPL = 4, CPUID_SGX = 2, CPUID_PT = 25 };
#define FIRST_MODEL_WITHOUT_PIN_CONTROL 0x2a /* Sandy Bridge */

static uint32_t cpuid(uint32_t leaf, unsigned word)
{
    uint32_t out[4];
    cpu_cpuid(rig.cpu, 0, 0, out);
    if (leaf > out[0])
        return 0;
    cpu_cpuid(rig.cpu, leaf, 0, out);
    return out[word];
}

/* Each bit alone: accepted exactly when it is in mask. The register is 0 again afterwards. */
static void check_bits(uint32_t msr, uint64_t mask, const char *what)
{
    for (unsigned bit = 0; bit < 64; bit++) {
        CHECK_EQUAL(!write_faults(msr, ARCH_BIT(bit)), mask >> bit & 1, "%s bit %u", what, bit);
        write_msr(msr, 0);
    }
}

/* A refused write leaves the register as it was. */
static void check_refused_write_changes_nothing(uint32_t msr, uint64_t good, uint64_t bad)
{
    write_msr(msr, good);
    CHECK(write_faults(msr, bad), "MSR %XH <- %llXH", msr, (unsigned long long)bad);
    CHECK_EQUAL(read_msr(msr), good, "MSR %XH after the #GP", msr);
}

/* AnyThread exists from version 3 on until leaf 0AH deprecates it (EDX[15]). */
static bool has_anythread(void)
{
    return rig.version >= 3 && !rig.anythread_deprecated;
}

/* Adaptive_Record comes with PEBS_BASELINE. SDM vol. 3 "Adaptive_Record Counter Control". */
static bool has_adaptive_record(void)
{
    return rig.capabilities & PERF_CAP_PEBS_BASELINE;
}

/* CPUID.1CH:ECX[19:16]. */
static bool is_logged(unsigned counter)
{
    uint32_t out[4];
    cpu_cpuid(rig.cpu, 0, 0, out);
    if (out[0] < 0x1c)
        return false;
    cpu_cpuid(rig.cpu, 0x1c, 0, out);
    return counter < 4 && (out[2] >> (16 + counter) & 1);
}

static void perfevtsel_reserved_bits(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(all_profiles); p++) {
        rig_start(all_profiles[p], NULL);
        uint64_t mask = 0xffffffff & ~(PERFEVTSEL_PC | PERFEVTSEL_ANY);
        if (rig.model < FIRST_MODEL_WITHOUT_PIN_CONTROL)
            mask |= PERFEVTSEL_PC;
        if (has_anythread())
            mask |= PERFEVTSEL_ANY;
        if (has_adaptive_record())
            mask |= PERFEVTSEL_ADAPTIVE;
        if (rig.leaf_23h[0][1] & CPUID_23_EBX_UMASK2)
            mask |= PERFEVTSEL_UMASK2;
        if (rig.leaf_23h[0][1] & CPUID_23_EBX_EQ)
            mask |= PERFEVTSEL_EQ;
        for (unsigned i = 0; i < rig.general; i++)
            check_bits(MSR_IA32_PERFEVTSEL0 + i, mask | (is_logged(i) ? PERFEVTSEL_EN_LBR_LOG : 0),
                       "IA32_PERFEVTSEL");
        if (rig.version)
            check_refused_write_changes_nothing(MSR_IA32_PERFEVTSEL0, 0x4300c0, 1ULL << 32);
    }
    rig_start("skylake", "pmu.anythread=no", NULL);
    CHECK(rig.anythread_deprecated, "EDX[15] says so");
    CHECK(write_faults(MSR_IA32_PERFEVTSEL0, PERFEVTSEL_ANY), "AnyThread deprecated");
    CHECK(write_faults(MSR_IA32_FIXED_CTR_CTRL, FIXED_CTR_CTRL_ANY), "AnyThread deprecated");
    rig_start("skylake", "pmu.version=2", NULL);
    CHECK(write_faults(MSR_IA32_PERFEVTSEL0, PERFEVTSEL_ANY), "AnyThread in version 2");
}

static void fixed_ctr_ctrl_reserved_bits(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        uint64_t mask = 0, field = FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR | FIXED_CTR_CTRL_PMI;
        if (has_anythread())
            field |= FIXED_CTR_CTRL_ANY;
        if (has_adaptive_record())
            field |= FIXED_CTR_CTRL_ADAPTIVE;
        for (unsigned i = 0; i < 16; i++)
            if (fixed_there(i))
                mask |= field << FIXED_CTR_CTRL_BITS * i;
        if (rig.capabilities & PERF_CAP_RDPMC_METRICS_CLEAR)
            mask |= FIXED_CTR_CTRL_METRICS_CLEAR_EN;
        check_bits(MSR_IA32_FIXED_CTR_CTRL, mask, "IA32_FIXED_CTR_CTRL");
        check_refused_write_changes_nothing(MSR_IA32_FIXED_CTR_CTRL, 0x3, 1ULL << 63);
    }
}

static uint64_t metrics_bit(void)
{
    return rig.metrics ? GLOBAL_STATUS_PERF_METRICS_OVF : 0;
}

static void global_ctrl_reserved_bits(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        check_bits(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables() | metrics_bit(),
                   "IA32_PERF_GLOBAL_CTRL");
        check_refused_write_changes_nothing(MSR_IA32_PERF_GLOBAL_CTRL, 1, 1ULL << 62);
    }
}

/* The bits of IA32_PERF_GLOBAL_OVF_CTRL, from version 4 on GLOBAL_STATUS_RESET. */
static uint64_t reset_bits(void)
{
    uint64_t mask =
        counter_enables() | metrics_bit() | GLOBAL_STATUS_OVF_BUF | GLOBAL_STATUS_COND_CHGD;
    if (rig.version >= 3)
        mask |= GLOBAL_STATUS_OVF_UNCORE;
    if (rig.version >= 4) {
        mask |= GLOBAL_STATUS_LBR_FRZ | GLOBAL_STATUS_CTR_FRZ;
        if (cpuid(7, 1) >> CPUID_SGX & 1)
            mask |= GLOBAL_STATUS_ASCI;
        if (cpuid(7, 1) >> CPUID_PT & 1)
            mask |= GLOBAL_STATUS_TRACE_TOPA_PMI;
    }
    return mask;
}

static void status_reset_reserved_bits(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        check_bits(MSR_IA32_PERF_GLOBAL_OVF_CTRL, reset_bits(), "IA32_PERF_GLOBAL_OVF_CTRL");
    }
}

static void status_set_reserved_bits(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        if (rig.version >= 4)
            check_bits(MSR_IA32_PERF_GLOBAL_STATUS_SET, reset_bits() & ~GLOBAL_STATUS_COND_CHGD,
                       "IA32_PERF_GLOBAL_STATUS_SET");
    }
}

static void status_registers_are_read_only(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        CHECK(write_faults(MSR_IA32_PERF_GLOBAL_STATUS, 0), "IA32_PERF_GLOBAL_STATUS");
        CHECK(write_faults(MSR_IA32_PERF_GLOBAL_INUSE, 0), "IA32_PERF_GLOBAL_INUSE");
    }
}

/* The bits of each processor's DEBUGCTL: BTF everywhere; LBR with a stack; TR, BTS and BTINT with
 * BTS; its filters with DS_CPL; the freezes with PDCM and version 2, but a hypervisor may lack
 * them; FREEZE_WHILE_SMM by its capability. */
static void debugctl_reserved_bits(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(all_profiles); p++) {
        rig_start(all_profiles[p], NULL);
        bool hypervisor = cpuid(1, 2) >> 31;
        bool stack = !read_faults(MSR_LASTBRANCH_TOS) || !read_faults(MSR_IA32_LBR_CTL);
        uint64_t mask = DEBUGCTL_BTF;
        if (stack)
            mask |= DEBUGCTL_LBR;
        if (!(read_msr(MSR_IA32_MISC_ENABLE) & MISC_ENABLE_BTS_UNAVAILABLE)) {
            mask |= DEBUGCTL_TR | DEBUGCTL_BTS | DEBUGCTL_BTINT;
            if (cpuid(1, 2) >> CPUID_DS_CPL & 1)
                mask |= DEBUGCTL_BTS_OFF_OS | DEBUGCTL_BTS_OFF_USR;
        }
        if (rig.version >= 2 && !hypervisor) {
            mask |= DEBUGCTL_FREEZE_PERFMON_ON_PMI;
            if (stack)
                mask |= DEBUGCTL_FREEZE_LBRS_ON_PMI;
        }
        if (rig.capabilities & PERF_CAP_FREEZE_WHILE_SMM)
            mask |= DEBUGCTL_FREEZE_WHILE_SMM;
        check_bits(MSR_IA32_DEBUGCTL, mask, "IA32_DEBUGCTL");
    }
}

/* IA32_PEBS_ENABLE has no bit for a counter that is not there; IA32_DS_AREA holds an address; the
 * load latency threshold has 16 bits. */
static void debug_store_registers_reserved_bits(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(all_profiles); p++) {
        rig_start(all_profiles[p], NULL);
        if (!read_faults(MSR_IA32_PEBS_ENABLE)) {
            CHECK(!write_faults(MSR_IA32_PEBS_ENABLE, 1), "IA32_PEBS_ENABLE bit 0");
            for (unsigned bit = rig.general; bit < 32; bit++)
                CHECK(write_faults(MSR_IA32_PEBS_ENABLE, ARCH_BIT(bit)), "its bit %u", bit);
        }
        CHECK_EQUAL(read_faults(MSR_IA32_DS_AREA), !(cpuid(1, 3) & CPUID_1_EDX_DS), "IA32_DS_AREA");
        if (cpuid(1, 3) & CPUID_1_EDX_DS) {
            write_msr(MSR_IA32_DS_AREA, 0xffff800000000000);
            CHECK(write_faults(MSR_IA32_DS_AREA, 0x0000800000000000), "not canonical");
        }
        if (!read_faults(MSR_PEBS_LD_LAT_THRESHOLD)) {
            write_msr(MSR_PEBS_LD_LAT_THRESHOLD, 0xffff);
            CHECK(write_faults(MSR_PEBS_LD_LAT_THRESHOLD, 0x10000), "threshold bit 16");
        }
    }
}

static const char *const widths[][2] = {
    {"pmu.general_width=32", "pmu.fixed_width=32"}, {"pmu.general_width=39", "pmu.fixed_width=39"},
    {"pmu.general_width=40", "pmu.fixed_width=40"}, {"pmu.general_width=47", "pmu.fixed_width=47"},
    {"pmu.general_width=48", "pmu.fixed_width=48"},
};

/* A write to IA32_PMCx takes 32 bits and extends bit 31; what stands above is ignored. */
static void pmc_write_sign_extends(void **state)
{
    (void)state;
    static const uint64_t values[] = {0,
                                      1,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      0xfffffffe,
                                      0x123456789abcdef0,
                                      0xffffffff00000000,
                                      0x55aa7fffffff};
    for (unsigned w = 0; w < LENGTH(widths); w++) {
        rig_start("skylake", widths[w][0], NULL);
        for (unsigned i = 0; i < rig.general; i++)
            for (unsigned v = 0; v < LENGTH(values); v++) {
                uint32_t low = values[v];
                uint64_t high = low >> 31 ? 0xffffffff00000000 : 0;
                write_msr(MSR_IA32_PMC0 + i, values[v]);
                CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + i), (high | low) & low_bits(rig.general_width),
                            "width %u, IA32_PMC%u <- %llXH", rig.general_width, i,
                            (unsigned long long)values[v]);
            }
    }
}

static void a_pmc_takes_the_full_width(void **state)
{
    (void)state;
    for (unsigned w = 0; w < LENGTH(widths); w++) {
        rig_start("skylake", widths[w][0], NULL);
        uint64_t all = low_bits(rig.general_width);
        for (unsigned i = 0; i < rig.general; i++) {
            static const uint64_t patterns[] = {0x80000000, 0x5a5a5a5a5a5a5a5a, UINT64_MAX};
            for (unsigned v = 0; v < LENGTH(patterns); v++) {
                write_msr(MSR_IA32_A_PMC0 + i, patterns[v] & all);
                CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + i), patterns[v] & all, "IA32_PMC%u", i);
                CHECK_EQUAL(read_msr(MSR_IA32_A_PMC0 + i), patterns[v] & all, "IA32_A_PMC%u", i);
            }
            check_refused_write_changes_nothing(MSR_IA32_A_PMC0 + i, 5, all + 1);
            CHECK(write_faults(MSR_IA32_A_PMC0 + i, 1ULL << 63), "bit 63");
        }
    }
    rig_start("skylake", "pmu.full_width=no", NULL);
    CHECK(!(rig.capabilities & PERF_CAP_FW_WRITE), "FW_WRITE follows");
    CHECK(read_faults(MSR_IA32_A_PMC0) && write_faults(MSR_IA32_A_PMC0, 0), "IA32_A_PMC0");
}

static void fixed_counter_takes_its_width(void **state)
{
    (void)state;
    for (unsigned w = 0; w < LENGTH(widths); w++) {
        rig_start("icelake", widths[w][1], NULL);
        uint64_t all = low_bits(rig.fixed_width);
        for (unsigned i = 0; i < rig.fixed; i++) {
            write_msr(MSR_IA32_FIXED_CTR0 + i, all);
            CHECK_EQUAL(read_msr(MSR_IA32_FIXED_CTR0 + i), all, "IA32_FIXED_CTR%u", i);
            write_msr(MSR_IA32_FIXED_CTR0 + i, 0x80000000);
            CHECK_EQUAL(read_msr(MSR_IA32_FIXED_CTR0 + i), 0x80000000, "no sign extension");
            check_refused_write_changes_nothing(MSR_IA32_FIXED_CTR0 + i, 7, all + 1);
        }
    }
}

static void counters_wrap_at_their_width(void **state)
{
    (void)state;
    for (unsigned w = 0; w < LENGTH(widths); w++) {
        rig_start("skylake", widths[w][0], widths[w][1], NULL);
        write_msr(MSR_IA32_FIXED_CTR_CTRL, FIXED_CTR_CTRL_OS);
        write_msr(MSR_IA32_A_PMC0, low_bits(rig.general_width));
        write_msr(MSR_IA32_FIXED_CTR0, low_bits(rig.fixed_width));
        count_instructions(0, 0);
        retire(0, 3);
        CHECK_EQUAL(read_msr(MSR_IA32_PMC0), 2, "IA32_PMC0");
        CHECK_EQUAL(read_msr(MSR_IA32_FIXED_CTR0), 2, "IA32_FIXED_CTR0");
    }
}

/* RDPMC: bit 30 selects fixed counters, 2000H in the upper half PERF_METRICS, and everything else
 * is #GP. */
static void rdpmc_forms(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(all_profiles); p++) {
        rig_start(all_profiles[p], NULL);
        uint64_t value;
        for (unsigned i = 0; i < rig.general; i++) {
            write_msr(MSR_IA32_PMC0 + i, 0x1000 + i);
            CHECK(pmu_rdpmc(rig.pmu, i, &value), "general %u", i);
            CHECK_EQUAL(value, 0x1000 + i, "general %u", i);
        }
        for (unsigned i = 0; i < rig.fixed; i++) {
            write_msr(MSR_IA32_FIXED_CTR0 + i, 0x2000 + i);
            CHECK(pmu_rdpmc(rig.pmu, 1u << 30 | i, &value), "fixed %u", i);
            CHECK_EQUAL(value, 0x2000 + i, "fixed %u", i);
        }
        CHECK_EQUAL(pmu_rdpmc(rig.pmu, 0x20000000, &value), rig.metrics, "PERF_METRICS");
        const uint32_t wrong[] = {rig.general, 1u << 30 | 15, 0xffffffff, 0x80000000, 0x10000000,
                                  0x20000001,  0x60000000,    0x10000,    0x40010000, 0xffff};
        for (unsigned i = 0; i < LENGTH(wrong); i++)
            CHECK(!pmu_rdpmc(rig.pmu, wrong[i], &value), "ECX %XH", wrong[i]);
        for (unsigned i = 0; i < 16; i++)
            CHECK_EQUAL(pmu_rdpmc(rig.pmu, 1u << 30 | i, &value), fixed_there(i), "fixed %u", i);
    }
}

const struct CMUnitTest register_tests[] = {
    RULE(perfevtsel_reserved_bits),
    RULE(fixed_ctr_ctrl_reserved_bits),
    RULE(global_ctrl_reserved_bits),
    RULE(status_reset_reserved_bits),
    RULE(status_set_reserved_bits),
    RULE(status_registers_are_read_only),
    RULE(debugctl_reserved_bits),
    RULE(debug_store_registers_reserved_bits),
    RULE(pmc_write_sign_extends),
    RULE(a_pmc_takes_the_full_width),
    RULE(fixed_counter_takes_its_width),
    RULE(counters_wrap_at_their_width),
    RULE(rdpmc_forms),
};
const size_t n_register_tests = LENGTH(register_tests);
