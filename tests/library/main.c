/*
 * Several machines in one process, run in turns: library IMAGE SLOTS MACHINE... A machine is a word
 * PROFILE;CPUS;CMDLINE;FAULT;TRACE;FROM, whose last three may be empty (TRACE is a number, the sum
 * of TRACE_*). Each machine runs SLOTS of its time (0: to its end), then the next one has its turn.
 * What each had to say stands in a file of its own, "MACHINE n console" and so on, printed when all
 * have ended: tests/t_library.py compares it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

#define MAX_MACHINES 8
#define MEMORY       (64 * SIM_MEMORY_UNIT)

struct guest {
    struct machine *machine;
    char *said[3];
    size_t length[3];
    FILE *out[3];   /* console, trace, notes */
    unsigned calls; /* of console_out */
};
static const char *const names[] = {"console", "trace", "notes"};

static bool console_out(void *context, const char *text, size_t length)
{
    struct guest *g = context;
    g->calls++;
    return fwrite(text, 1, length, g->out[0]) == length;
}

static bool trace(void *context, const char *line)
{
    struct guest *g = context;
    return fprintf(g->out[1], "%s\n", line) > 0;
}

static void note(void *context, const char *line)
{
    struct guest *g = context;
    fprintf(g->out[2], "%s\n", line);
}

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "library: %s\n", what);
    exit(2);
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    if (!in || fseek(in, 0, SEEK_END) != 0)
        fail(path);
    *size = ftell(in);
    rewind(in);
    uint8_t *data = malloc(*size);
    if (!data || fread(data, 1, *size, in) != *size)
        fail(path);
    fclose(in);
    return data;
}

static void start(struct guest *g, char *word, const uint8_t *image, size_t size)
{
    const char *field[6];
    for (int i = 0; i < 6; i++)
        if (!(field[i] = strsep(&word, ";")))
            fail("a machine has six fields");
    for (int i = 0; i < 3; i++)
        if (!(g->out[i] = open_memstream(&g->said[i], &g->length[i])))
            fail("no memory");
    const struct sim_host host = {
        .context = g, .console_out = console_out, .trace = trace, .note = note};
    const struct sim_options options = {.profile = field[0],
                                        .cpus = strtoul(field[1], NULL, 10),
                                        .memory = MEMORY,
                                        .fault = &field[3],
                                        .n_fault = *field[3] != '\0'};
    const struct sim_boot boot = {.image = image, .size = size, .cmdline = field[2]};
    unsigned kinds = strtoul(field[4], NULL, 10);
    uint64_t from;

    g->machine = sim_new(&options, &host, stderr);
    if (!g->machine || !sim_load(g->machine, &boot, stderr) ||
        (*field[5] && !sim_find(g->machine, field[5], &from, stderr)) ||
        (kinds && !sim_trace(g->machine, kinds, *field[5] ? &from : NULL, NULL)))
        fail("the machine cannot be built");
}

int main(int argc, char **argv)
{
    static struct guest guests[MAX_MACHINES];
    int n = argc - 3;
    size_t size;

    if (n < 1 || n > MAX_MACHINES)
        fail("usage: library IMAGE SLOTS MACHINE...");
    uint8_t *image = read_file(argv[1], &size);
    uint64_t slots = strtoull(argv[2], NULL, 10);
    for (int i = 0; i < n; i++)
        start(&guests[i], argv[3 + i], image, size);
    free(image); /* the library keeps nothing of it */

    for (int left = n; left;) {
        left = 0;
        for (int i = 0; i < n; i++)
            left += sim_run(guests[i].machine, slots ? slots : SIM_NO_LIMIT) == STOP_NONE;
    }
    for (int i = 0; i < n; i++) {
        struct guest *g = &guests[i];
        sim_note_faults(g->machine);
        printf("MACHINE %d stop %d exit %u calls %u\n", i, sim_stop_reason(g->machine),
               sim_exit_value(g->machine), g->calls);
        for (int k = 0; k < 3; k++) {
            fclose(g->out[k]);
            printf("MACHINE %d %s\n%s", i, names[k], g->said[k]);
            free(g->said[k]);
        }
        sim_free(g->machine);
    }
    return 0;
}
