/* The errata, and who has them. Linux's sources are those of arch/x86/events/intel/. */
#include "pmu/errata.h"

#include "kernel/print.h"
#include "kernel/string.h"

#define FAMILY_6      6
#define ANY           0, 15 /* steppings */
#define LAST_STEPPING 15
#define INTELS        0, (const struct erratum_machine[])
#define AMDS(family)  family, (const struct erratum_machine[])
#define EXACT_SHEETS  "15-2,15-11,15-13,18-15,22-*,24-2,24-4"
#define PEBS_SHEETS   "15-5,15-6,15-7,15-8,15-9,15-10,23-8,23-9,23-10,23-11,23-13"

// clang-format off
const struct erratum errata[] = {
    {"AAK100, AAP53, BD53", "Nehalem, Westmere",
     "a general counter may count at the core's clock or not at all, until a sequence of events has reset it: done before each experiment",
     "15-*,18-15,22-*,23-5",
     "Core i7 mobile specification update, AAP53; Linux, core.c, intel_pmu_nhm_workaround()",
     ERRATUM_COUNTERS,
     INTELS{{0x1a, ANY, 0}, {0x1e, ANY, 0}, {0x2e, ANY, 0}, {0x25, ANY, 0}, {0x2c, ANY, 0}, {0x2f, ANY, 0}, {0}}},
    {"AAJ80", "Nehalem",
     "the architectural event BR_MISP_RETIRED is often bogus; CPUID marks it as not available",
     "",
     "Linux, core.c, intel_nehalem_quirk()",
     ERRATUM_NAMED,
     INTELS{{0x1a, ANY, 0}, {0x1e, ANY, 0}, {0x2e, ANY, 0}, {0}}},
    {"nhm_limit_period", "Nehalem",
     "with periods below 32 interrupts come faster than they can be handled",
     "",
     "Linux, core.c, nhm_limit_period()",
     ERRATUM_NAMED,
     INTELS{{0x1a, ANY, 0}, {0x1e, ANY, 0}, {0x2e, ANY, 0}, {0}}},
    {"BD41", "Xeon 5600",
     "FREEZE_WHILE_SMM does not keep an event from pending PEBS in SMM: after an SMI",
     PEBS_SHEETS,
     "[Xeon 5600 specification update, BD41](https://manualshive.com/en/manual/intel/xeon-5600-series/2072004?page=29)",
     ERRATUM_NAMED,
     INTELS{{0x2c, ANY, 0}, {0}}},
    {"AJ67, AJ68, AJ69, AJ106", "Core 2, 65 nm",
     "PEBS is unreliable: it samples the wrong ring, the PMI of a full buffer comes one event late, "
     "OvfBuf needs DEBUGCTL[12], LBRs freeze at the wrong time",
     PEBS_SHEETS,
     "Linux, core.c, intel_clovertown_quirk(); "
     "[Xeon 5100 specification update, AG69](http://hkdtupc.cn/bx805565130p_datasheet_11282659_27.html)",
     ERRATUM_NAMED,
     INTELS{{0x0f, ANY, 0}, {0}}},
    {"pebs_ucodes", "Sandy Bridge",
     "PEBS is broken, Linux does not use it",
     PEBS_SHEETS,
     "Linux, core.c, pebs_ucodes[], intel_snb_pebs_broken()",
     ERRATUM_NAMED,
     INTELS{{0x2a, 0, 6, 0}, {0x2a, 7, 7, 0x28}, {0x2d, 0, 5, 0}, {0x2d, 6, 6, 0x618}, {0x2d, 7, 7, 0x70c}, {0}}},
    {"BJ122, BV98, HSD29", "Sandy Bridge, Ivy Bridge, Haswell",
     "with both threads of a core busy, memory events of one corrupt the same counter of the other",
     "15-10",
     "Linux, core.c, intel_ht_bug()",
     ERRATUM_NAMED,
     INTELS{{0x2a, ANY, 0}, {0x2d, ANY, 0}, {0x3a, ANY, 0}, {0x3e, ANY, 0},
          {0x3c, ANY, 0}, {0x3f, ANY, 0}, {0x45, ANY, 0}, {0x46, ANY, 0}, {0}}},
    {"HSW11", "Haswell",
     "INST_RETIRED.ALL (C0H/01H) with PEBS wants a period above 100; any counter wants 32 or more",
     "",
     "Linux, core.c, hsw_limit_period()",
     ERRATUM_NAMED,
     INTELS{{0x3c, ANY, 0}, {0x3f, ANY, 0}, {0x45, ANY, 0}, {0x46, ANY, 0}, {0}}},
    {"BDM11, BDM55", "Broadwell",
     "INST_RETIRED.ALL (C0H/01H) with PEBS wants a period of 128 or more, a multiple of 64",
     "",
     "Linux, core.c, bdw_limit_period()",
     ERRATUM_NAMED,
     INTELS{{0x3d, ANY, 0}, {0x47, ANY, 0}, {0x56, ANY, 0}, {0x4f, ANY, 0}, {0}}},
    {"handle_pmi_common", "Haswell, Broadwell",
     "the overflow bit of a counter that samples with PEBS may be set together with OvfBuf",
     "15-7",
     "Linux, core.c, handle_pmi_common(), in 4.5 intel_pmu_handle_irq(), which names no processors",
     ERRATUM_NAMED,
     INTELS{{0x3c, ANY, 0}, {0x3f, ANY, 0}, {0x45, ANY, 0}, {0x46, ANY, 0},
          {0x3d, ANY, 0}, {0x47, ANY, 0}, {0x56, ANY, 0}, {0x4f, ANY, 0}, {0}}},
    {"counter_freezing_ucodes", "Goldmont, Goldmont Plus",
     "FREEZE_PERFMON_ON_PMI is broken",
     "15-4",
     "Linux before 5.12, core.c, counter_freezing_ucodes[]",
     ERRATUM_NAMED,
     INTELS{{0x5c, 2, 2, 0x0e}, {0x5c, 9, 9, 0x2e}, {0x5c, 10, 10, 0x08}, {0x5f, 1, 1, 0x28},
          {0x7a, 1, 1, 0x28}, {0x7a, 8, 8, 0x06}, {0}}},
    {"lbr_init_atom", "Atom 230, N270 and relatives",
     "FREEZE_LBRS_ON_PMI fails",
     "14-5,23-5",
     "Linux, lbr.c, intel_pmu_lbr_init_atom()",
     ERRATUM_LBR_UNFROZEN,
     INTELS{{0x1c, 0, 9, 0}, {0}}},
    {"990", "AMD: Zen",
     "events of retired instructions and branches may count too many",
     EXACT_SHEETS,
     "AMD's revision guide 55449 for family 17H models 00H to 0FH, as rr's issue 2034 lists it",
     ERRATUM_NAMED,
     AMDS(0x17){{0x01, ANY, 0}, {0x08, ANY, 0}, {0}}},
    {"1054", "AMD: Zen, Zen+",
     "IRPerfCount may be wrong; Linux does not switch it on",
     "24-9",
     "Linux, arch/x86/kernel/cpu/amd.c, erratum 1054: models 00H to 2FH",
     ERRATUM_NAMED,
     AMDS(0x17){{0x01, ANY, 0}, {0x08, ANY, 0}, {0x11, ANY, 0}, {0x18, ANY, 0}, {0x20, ANY, 0}, {0}}},
    {"1291", "AMD: Zen 2, EPYC",
     "events of retired instructions and branches may count too many",
     EXACT_SHEETS,
     "AMD's revision guide for family 17H models 30H to 3FH; PAPI's issue 160 saw 16 times too many",
     ERRATUM_NAMED,
     AMDS(0x17){{0x31, ANY, 0}, {0}}},
    {"1292", "AMD: Zen 3, EPYC",
     "events of retired instructions and branches may count too many, rarely, but in counter 2 with PERF_CTL2[43]",
     EXACT_SHEETS,
     "AMD's revision guide for family 19H models 00H to 0FH, as KVM's patch for it (svm/pmu.c) tells",
     ERRATUM_NAMED,
     AMDS(0x19){{0x01, ANY, 0}, {0x08, ANY, 0}, {0}}},
};
// clang-format on
const size_t n_errata = sizeof(errata) / sizeof(errata[0]);

enum erratum_applies erratum_applies(const struct erratum *e, const struct erratum_cpu *cpu,
                                     const struct erratum_machine **row)
{
    bool maker = e->amd_family != 0 ? cpu->amd : cpu->intel;
    if (!maker || cpu->family != (e->amd_family != 0 ? e->amd_family : FAMILY_6))
        return ERRATUM_NOT;
    for (const struct erratum_machine *m = e->machines; m->model != 0; m++) {
        if (m->model != cpu->model || cpu->stepping < m->first || cpu->stepping > m->last)
            continue;
        if (row != NULL)
            *row = m;
        if (m->fixed_from == 0)
            return ERRATUM_APPLIES;
        if (cpu->guest || !cpu->known)
            return ERRATUM_PERHAPS;
        return cpu->microcode < m->fixed_from ? ERRATUM_APPLIES : ERRATUM_NOT;
    }
    return ERRATUM_NOT;
}

bool erratum_shows_in(const struct erratum *e, const char *experiment)
{
    size_t length = strlen(experiment);
    for (const char *word = e->shows_in; *word != '\0';) {
        size_t n = 0;
        while (word[n] != '\0' && word[n] != ',')
            n++;
        bool star = n > 0 && word[n - 1] == '*';
        size_t compared = star ? n - 1 : n;
        if ((star ? compared <= length : compared == length) &&
            strncmp(word, experiment, compared) == 0)
            return true;
        word += word[n] == ',' ? n + 1 : n;
    }
    return false;
}

void erratum_condition(const struct erratum_machine *row, char text[ERRATA_TEXT])
{
    size_t used = (size_t)ksnprintf(text, ERRATA_TEXT, "model 0x%02x", row->model);
    if (row->first == row->last)
        used += (size_t)ksnprintf(text + used, ERRATA_TEXT - used, " stepping %u", row->first);
    else if (row->last < LAST_STEPPING)
        used += (size_t)ksnprintf(text + used, ERRATA_TEXT - used, " before stepping %u",
                                  row->last + 1U);
    if (row->fixed_from != 0)
        ksnprintf(text + used, ERRATA_TEXT - used, ", microcode before 0x%x",
                  (unsigned)row->fixed_from);
}
