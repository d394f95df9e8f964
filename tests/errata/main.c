/* Prints the table of errata (pmu/errata.c) as docs/real-hardware.md has it: scripts/errata puts it
 * there. */
#include <stdio.h>

#include "pmu/errata.h"

#define LAST_STEPPING 15

static int whole_model(const struct erratum_machine *m)
{
    return m->first == 0 && m->last == LAST_STEPPING && m->fixed_from == 0;
}

static void print_machines(const struct erratum_machine *m)
{
    char text[ERRATA_TEXT];
    const char *before = ": model ";
    for (; m->model != 0 && whole_model(m); m++) {
        printf("%s0x%02x", before, m->model);
        before = ", ";
    }
    before = ": ";
    for (; m->model != 0; m++) {
        erratum_condition(m, text);
        printf("%s%s", before, text);
        before = "; ";
    }
}

static void print_experiments(const char *list)
{
    if (*list == '\0')
        printf("no experiment");
    for (; *list != '\0'; list++)
        if (*list == ',')
            printf(", ");
        else
            printf("%s%c", *list == '*' ? "\\" : "", *list);
}

int main(void)
{
    printf("| erratum | processors | what happens | where it shows | source |\n"
           "| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < n_errata; i++) {
        const struct erratum *e = &errata[i];
        printf("| %s | %s", e->number, e->processors);
        print_machines(e->machines);
        printf(" | %s | ", e->what);
        print_experiments(e->shows_in);
        printf(" | %s |\n", e->source);
    }
    return 0;
}
