/* The table of errata, and who has which. The conditions are Linux's: arch/x86/events/intel/core.c,
 * pebs_ucodes[], counter_freezing_ucodes[] (before 5.12); lbr.c, intel_pmu_lbr_init_atom(). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pmu/errata.h"

static const struct erratum *find(const char *number)
{
    for (size_t i = 0; i < n_errata; i++)
        if (strcmp(errata[i].number, number) == 0)
            return &errata[i];
    fail_msg("there is no erratum %s", number);
    return NULL;
}

/* Of Intel's family 6, with a revision that is known. */
#define CPU(...) (&(struct erratum_cpu){.intel = true, .family = 6, .known = true, __VA_ARGS__})

static void applies(const char *number, const struct erratum_cpu *cpu, enum erratum_applies wanted)
{
    assert_int_equal(erratum_applies(find(number), cpu, NULL), wanted);
}

static void steppings(void **state)
{
    (void)state;
    applies("lbr_init_atom", CPU(.model = 0x1c, .stepping = 0), ERRATUM_APPLIES);
    applies("lbr_init_atom", CPU(.model = 0x1c, .stepping = 9), ERRATUM_APPLIES);
    applies("lbr_init_atom", CPU(.model = 0x1c, .stepping = 10), ERRATUM_NOT);
    applies("lbr_init_atom", CPU(.model = 0x26, .stepping = 1), ERRATUM_NOT);
    applies("AAK100, AAP53, BD53", CPU(.model = 0x25, .stepping = 15), ERRATUM_APPLIES);
    applies("AAK100, AAP53, BD53", CPU(.model = 0x2a, .stepping = 7), ERRATUM_NOT);
}

static void revisions(void **state)
{
    (void)state;
    static const struct {
        uint32_t model, stepping, microcode;
        enum erratum_applies wanted;
    } cases[] = {
        {0x2a, 7, 0, ERRATUM_APPLIES}, /* no update is loaded */
        {0x2a, 7, 0x27, ERRATUM_APPLIES},  {0x2a, 7, 0x28, ERRATUM_NOT},
        {0x2a, 7, 0x70c, ERRATUM_NOT},     {0x2a, 6, 0x28, ERRATUM_APPLIES},
        {0x2a, 8, 0, ERRATUM_NOT},         {0x2d, 5, 0x70c, ERRATUM_APPLIES},
        {0x2d, 6, 0x617, ERRATUM_APPLIES}, {0x2d, 6, 0x618, ERRATUM_NOT},
        {0x2d, 7, 0x70b, ERRATUM_APPLIES}, {0x2d, 7, 0x70c, ERRATUM_NOT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        applies("pebs_ucodes",
                CPU(.model = cases[i].model, .stepping = cases[i].stepping,
                    .microcode = cases[i].microcode),
                cases[i].wanted);
    applies("counter_freezing_ucodes", CPU(.model = 0x5c, .stepping = 9, .microcode = 0x2d),
            ERRATUM_APPLIES);
    applies("counter_freezing_ucodes", CPU(.model = 0x5c, .stepping = 9, .microcode = 0x2e),
            ERRATUM_NOT);
    applies("counter_freezing_ucodes", CPU(.model = 0x5c, .stepping = 3), ERRATUM_NOT);
}

/* Where the revision is a hypervisor's word, or cannot be read, only what depends on it is open. */
static void unknown_revisions(void **state)
{
    (void)state;
    applies("pebs_ucodes", CPU(.model = 0x2a, .stepping = 7, .guest = true, .microcode = 0x2f),
            ERRATUM_PERHAPS);
    const struct erratum_cpu unread = {.intel = true, .family = 6, .model = 0x2a, .stepping = 7};
    applies("pebs_ucodes", &unread, ERRATUM_PERHAPS);
    applies("lbr_init_atom", CPU(.model = 0x1c, .stepping = 2, .guest = true), ERRATUM_APPLIES);
    applies("pebs_ucodes", CPU(.model = 0x3a, .stepping = 9, .guest = true), ERRATUM_NOT);
}

static void other_families(void **state)
{
    (void)state;
    struct erratum_cpu cpu = {.intel = true, .family = 6, .model = 0x1c};
    applies("lbr_init_atom", &cpu, ERRATUM_APPLIES);
    cpu.family = 15;
    applies("lbr_init_atom", &cpu, ERRATUM_NOT);
    cpu.family = 6;
    cpu.intel = false;
    applies("lbr_init_atom", &cpu, ERRATUM_NOT);
    cpu.amd = true;
    applies("lbr_init_atom", &cpu, ERRATUM_NOT);
}

/* The same model number in another family, or of the other maker, is another processor. */
static void amd(void **state)
{
    (void)state;
    struct erratum_cpu cpu = {.amd = true, .family = 0x17, .model = 0x01};
    applies("990", &cpu, ERRATUM_APPLIES);
    applies("1292", &cpu, ERRATUM_NOT);
    cpu.family = 0x19;
    applies("990", &cpu, ERRATUM_NOT);
    applies("1292", &cpu, ERRATUM_APPLIES);
    cpu.amd = false;
    cpu.intel = true;
    applies("1292", &cpu, ERRATUM_NOT);
}

static void conditions(void **state)
{
    (void)state;
    static const struct {
        struct erratum_machine row;
        const char *words;
    } cases[] = {
        {{0x0f, 0, 15, 0}, "model 0x0f"},
        {{0x1c, 0, 9, 0}, "model 0x1c before stepping 10"},
        {{0x2a, 7, 7, 0x28}, "model 0x2a stepping 7, microcode before 0x28"},
        {{0x55, 0, 3, 0x21}, "model 0x55 before stepping 4, microcode before 0x21"},
    };
    char text[ERRATA_TEXT];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        erratum_condition(&cases[i].row, text);
        assert_string_equal(text, cases[i].words);
    }
}

static void experiments(void **state)
{
    (void)state;
    const struct erratum several = {.shows_in = "15-4,18-*"}, none = {.shows_in = ""};
    assert_true(erratum_shows_in(&several, "15-4"));
    assert_true(erratum_shows_in(&several, "18-15"));
    assert_false(erratum_shows_in(&several, "15-40"));
    assert_false(erratum_shows_in(&several, "15-"));
    assert_false(erratum_shows_in(&several, "5-4"));
    assert_false(erratum_shows_in(&several, "14-18"));
    assert_false(erratum_shows_in(&none, "15-4"));
}

/* Each row can be met, and no processor by two rows of one erratum. */
static void rows_are_sound(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_errata; i++) {
        const struct erratum *e = &errata[i];
        assert_true(*e->number && *e->processors && *e->what && *e->source);
        assert_int_not_equal(e->machines[0].model, 0);
        for (const struct erratum_machine *m = e->machines; m->model != 0; m++) {
            assert_true(m->first <= m->last && m->last <= 15);
            for (const struct erratum_machine *o = e->machines; o != m; o++)
                assert_true(o->model != m->model || o->last < m->first || m->last < o->first);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steppings),
        cmocka_unit_test(revisions),
        cmocka_unit_test(unknown_revisions),
        cmocka_unit_test(other_families),
        cmocka_unit_test(amd),
        cmocka_unit_test(conditions),
        cmocka_unit_test(experiments),
        cmocka_unit_test(rows_are_sound),
    };
    return cmocka_run_group_tests_name("errata", tests, NULL, NULL);
}
