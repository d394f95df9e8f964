/*
 * What the tests of the PMU's rules share: a machine of a chosen profile whose PMU they drive
 * through its interface (sim/pmu/pmu.h), in place of an interpreter.
 *
 * What a register must take is worked out here as a guest would: from CPUID and the capability
 * MSRs, never from the simulator's own masks.
 */
#ifndef PMULAB_TESTS_MODEL_RIG_H
#define PMULAB_TESTS_MODEL_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/cpu/cpu.h"
#include "sim/pmu/pmu.h"
#include "x86/pmu.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Every profile that ships but AMD's (amd.c); those from perfmon version 2 on; the first n of
 * pmu_profiles have less than version 4. */
extern const char *const all_profiles[16];
extern const char *const pmu_profiles[14];

extern struct rig {
    struct profile profile;
    struct machine *machine;
    struct cpu *cpu;
    struct pmu *pmu;
    const char *name;
    /* As CPUID tells it: leaf 0AH, with the counters that leaf 23H adds, and those that nothing
     * announces. */
    unsigned version, general, general_width, fixed, fixed_width, family, model;
    uint32_t ebx, fixed_bitmap;
    uint32_t leaf_0ah[4], leaf_23h[6][4]; /* by sub-leaf; 0 where it is not announced */
    bool anythread_deprecated;
    bool metrics;          /* MSR_PERF_METRICS */
    uint64_t capabilities; /* 0 without CPUID.1:ECX.PDCM */
} rig;

/* A machine after power-on; set: words as for --set, ending with NULL. A machine of before is
 * freed. NAME/e: the profile's second kind of core. */
void rig_start(const char *profile, ...) __attribute__((sentinel));
int rig_stop(void **state); /* a cmocka teardown */

/* Fails the test, naming the profile, unless the condition holds. */
#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            rig_fail(__FILE__, __LINE__, #condition, __VA_ARGS__);                                 \
    } while (0)
#define CHECK_EQUAL(got, wanted, ...)                                                              \
    do {                                                                                           \
        uint64_t got_ = (got), wanted_ = (wanted);                                                 \
        if (got_ != wanted_) {                                                                     \
            print_error("got %#llx, wanted %#llx\n", (unsigned long long)got_,                     \
                        (unsigned long long)wanted_);                                              \
            rig_fail(__FILE__, __LINE__, #got, __VA_ARGS__);                                       \
        }                                                                                          \
    } while (0)
void rig_fail(const char *file, int line, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* MSRs. read_msr fails the test on #GP. */
uint64_t read_msr(uint32_t msr);
bool read_faults(uint32_t msr);
bool write_faults(uint32_t msr, uint64_t value);
void write_msr(uint32_t msr, uint64_t value); /* fails the test on #GP */
uint64_t low_bits(unsigned n);
bool fixed_there(unsigned i);
uint64_t counter_enables(void); /* the bits of IA32_PERF_GLOBAL_CTRL that are counters */

/* Time passes at this privilege level: slots of unhalted time and n events, as the interpreter adds
 * them up; then the PMU is brought up to date. */
void pass(unsigned cpl, enum cpu_event event, uint64_t n, uint64_t slots);
/* The same for instructions, one slot each. */
void retire(unsigned cpl, uint64_t instructions);
/* Until a requested PMI has reached the local APIC. */
void pass_skid(void);
/* A branch, at the present CPL or into another, if the PMU wants to know of branches. */
void branch(enum branch_kind kind, uint64_t from, uint64_t to);
void predicted_branch(enum branch_kind kind, uint64_t from, uint64_t to, bool mispredicted);
unsigned pmis(void); /* that reached the local APIC since the start */

/* Memory by its linear address, which in real mode is the physical one. */
uint64_t peek(uint64_t address);
void poke(uint64_t address, uint64_t value);
/* Turns paging on; the first two mebibytes are what they were, all else is not mapped. */
void map_two_mebibytes(void);

/* The local APIC, in xAPIC mode. */
#define LVT_PERFMON 0x340
#define PMI_VECTOR  0xe0
uint32_t apic_read(uint32_t offset);
void apic_write(uint32_t offset, uint32_t value);
/* Software enables it and unmasks LVT perfmon with this delivery mode (bits 10:8 in place). */
void apic_arm(uint32_t delivery);

/* Lets the general counter count instructions in both rings, and the global enables as all ones. */
#define SELECT_INSTRUCTIONS 0xc0
#define BOTH_RINGS          (PERFEVTSEL_USR | PERFEVTSEL_OS)
void count_instructions(unsigned counter, uint64_t more_bits);

extern const struct CMUnitTest enumeration_tests[], register_tests[], counting_tests[],
    version6_tests[], reload_tests[], metrics_tests[], overflow_tests[], freeze_tests[],
    smm_tests[], lbr_tests[], lbr_arch_tests[], lbr_log_tests[], bts_tests[], pebs_tests[],
    amd_tests[], apic_extended_tests[], lbr_amd_tests[], ibs_tests[];
extern const size_t n_enumeration_tests, n_register_tests, n_counting_tests, n_version6_tests,
    n_reload_tests, n_metrics_tests, n_overflow_tests, n_freeze_tests, n_smm_tests, n_lbr_tests,
    n_lbr_arch_tests, n_lbr_log_tests, n_bts_tests, n_pebs_tests, n_amd_tests,
    n_apic_extended_tests, n_lbr_amd_tests, n_ibs_tests;
#define RULE(function) cmocka_unit_test_teardown(function, rig_stop)

#endif
