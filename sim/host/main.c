/* pmusim: a deterministic x86-64 with a performance monitoring unit. `pmusim --help`. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/dev/dev.h"
#include "sim/host/files.h"
#include "sim/host/options.h"
#include "sim/host/stats.h"
#include "sim/host/streams.h"
#include "sim/sim.h"
#include "sim/trace.h"
#include "x86/debug_exit.h"

#define EXIT_NOT_OK 1
#define EXIT_USAGE  2
#define EXIT_PANIC  3
#define SLICE       (1 << 24) /* slots of time between two looks at the guest */
#define CLOSELY     (1 << 16) /* the same while --save waits for what it says */
#define EXIT_LIMIT  124

/* What the library has to say of a step that failed, behind what it was about. */
struct reason {
    FILE *err;
    char *text;
    size_t length;
};

static bool reason_open(struct reason *r)
{
    *r = (struct reason){.err = NULL};
    r->err = open_memstream(&r->text, &r->length);
    if (!r->err)
        fprintf(stderr, "pmusim: %s\n", strerror(errno));
    return r->err != NULL;
}

/* Gives ok back. word: in quotes; NULL: about is all. */
static bool reason_close(struct reason *r, bool ok, const char *about, const char *word)
{
    fclose(r->err);
    if (!ok && word)
        fprintf(stderr, "pmusim: %s '%s': %s", about, word, r->text);
    else if (!ok)
        fprintf(stderr, "pmusim: %s: %s", about, r->text);
    free(r->text);
    return ok;
}

/* A profile with a '/' in its name is a file. */
static struct machine *build(struct options *o)
{
    struct sim_host host = streams_host(o->use_stdin, o->trace != 0);
    struct machine *m = NULL;
    char *text = NULL;

    if (!strchr(o->machine.profile, '/') || (text = file_profile(o->machine.profile))) {
        o->machine.profile_text = text;
        m = sim_new(&o->machine, &host, stderr);
    }
    free(text);
    return m;
}

static bool restore(struct machine *m, const struct options *o)
{
    struct reason why;
    FILE *file = fopen(o->load, "rb");

    if (!file) {
        fprintf(stderr, "pmusim: --load '%s': %s\n", o->load, strerror(errno));
        return false;
    }
    bool ok =
        reason_open(&why) && reason_close(&why, sim_restore(m, file, why.err), "--load", o->load);
    fclose(file);
    return ok;
}

static bool load(struct machine *m, const struct options *o)
{
    if (o->load)
        return restore(m, o);
    struct reason why;
    struct sim_boot b = {.cmdline = o->cmdline};
    uint8_t *image = file_image(o->image, &b.size);
    uint8_t *initrd = o->initrd ? file_image(o->initrd, &b.initrd_size) : NULL;

    b.image = image;
    b.initrd = initrd;
    bool ok = image && (initrd || !o->initrd) && reason_open(&why) &&
              reason_close(&why, sim_load(m, &b, why.err), o->image, NULL);

    free(image);
    free(initrd);
    return ok;
}

/* word: NULL when the option was not given. */
static bool find_symbol(const struct machine *m, const char *option, const char *word,
                        uint64_t *address)
{
    struct reason why;

    return !word || (reason_open(&why) &&
                     reason_close(&why, sim_find(m, word, address, why.err), option, word));
}

static bool start_trace(struct machine *m, const struct options *o)
{
    uint64_t from, to;

    if (!find_symbol(m, "--trace-from", o->trace_from, &from) ||
        !find_symbol(m, "--trace-to", o->trace_to, &to))
        return false;
    if (!o->trace || sim_trace(m, o->trace, o->trace_from ? &from : NULL, o->trace_to ? &to : NULL))
        return true;
    fprintf(stderr, "pmusim: %s\n", strerror(ENOMEM));
    return false;
}

/* Where each processor is, for a run that did not end as the guest meant it to. */
static void report_cpus(struct machine *m)
{
    static const char *const states[] = {[CPU_RUNNING] = "running",
                                         [CPU_HALTED] = "halted",
                                         [CPU_WAIT_SIPI] = "waiting for a start-up IPI",
                                         [CPU_SHUTDOWN] = "shut down"};

    for (unsigned i = 0; i < m->n_cpus; i++) {
        struct cpu *cpu = m->cpus[i];
        uint64_t offset;
        const char *symbol = sim_symbol(cpu, cpu->rip, &offset);

        fprintf(stderr, "pmusim: cpu%u %s at RIP %016" PRIX64 "H", i, states[cpu->state], cpu->rip);
        if (symbol)
            fprintf(stderr, " %s+%" PRIx64, symbol, offset);
        fprintf(stderr, ", interrupts %s\n", cpu_rflags(cpu) & RFLAGS_IF ? "on" : "off");
    }
}

/* The exit status of a run, with a word on stderr for each that is not the guest's own verdict. */
static int verdict(struct machine *m)
{
    switch (sim_stop_reason(m)) {
    case STOP_DEBUG_EXIT:
        switch (sim_exit_value(m)) {
        case DEBUG_EXIT_OK:
            return EXIT_SUCCESS;
        case DEBUG_EXIT_NOT_OK:
            return EXIT_NOT_OK;
        case DEBUG_EXIT_PANIC:
            return EXIT_PANIC;
        default:
            fprintf(stderr, "pmusim: the guest wrote %02XH to the debug-exit port\n",
                    sim_exit_value(m));
            return EXIT_NOT_OK;
        }
    case STOP_TRIPLE_FAULT:
        fprintf(stderr, "pmusim: triple fault: the processor shut down\n");
        break;
    case STOP_POWER_OFF:
        return EXIT_SUCCESS;
    case STOP_RESET:
        fprintf(stderr, "pmusim: the guest reset the machine\n");
        break;
    case STOP_UNSUPPORTED: /* said where it was met */
        break;
    case STOP_ALL_HALTED:
        fprintf(stderr,
                "pmusim: no processor can ever run again: endless HLT with interrupts off, or with "
                "nothing that could interrupt\n");
        break;
    case STOP_MAX_INSNS:
        fprintf(stderr, "pmusim: the limit of %" PRIu64 " instructions was reached\n",
                m->max_insns);
        report_cpus(m);
        return EXIT_LIMIT;
    case STOP_MAX_TIME:
        fprintf(stderr, "pmusim: the limit of simulated time was reached\n");
        report_cpus(m);
        return EXIT_LIMIT;
    case STOP_HOST:
        streams_report();
        return EXIT_NOT_OK;
    case STOP_NO_MEMORY:
        fprintf(stderr, "pmusim: the host has no more memory\n");
        break;
    case STOP_NONE:
        break;
    }
    report_cpus(m);
    return EXIT_PANIC;
}

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Has the guest said what --save waits for? Then the file is written, and the run goes on from it,
 * as one that loads it does: *m is another machine. */
static bool save(struct machine **m, struct options *o, FILE *file)
{
    struct reason why;

    bool ok =
        reason_open(&why) && reason_close(&why, sim_save(*m, file, why.err), "--save", o->save);
    if (!ok)
        return false;
    sim_free(*m);
    rewind(file);
    return (*m = build(o)) && reason_open(&why) &&
           reason_close(&why, sim_restore(*m, file, why.err), "--save", o->save);
}

/* Runs until the guest has printed the text of --save-when, and from the snapshot on. False: it
 * could not be written. */
static bool run_and_save(struct machine **m, struct options *o)
{
    FILE *file = fopen(o->save, "w+b");
    bool ok = file != NULL;

    if (!ok)
        fprintf(stderr, "pmusim: --save '%s': %s\n", o->save, strerror(errno));
    streams_watch(o->save_when);
    while (ok && !streams_seen() && sim_run(*m, CLOSELY) == STOP_NONE)
        ;
    if (ok && streams_seen() && sim_stop_reason(*m) == STOP_NONE)
        ok = save(m, o, file);
    else if (ok)
        fprintf(stderr, "pmusim: --save '%s': the guest ended %s it said '%s'\n", o->save,
                streams_seen() ? "as" : "before", o->save_when);
    if (file)
        fclose(file);
    return ok;
}

/* Runs to the end. A guest that is silent for too long gets its next timer: it may be a watchdog,
 * whose seconds are many more of the person's who waits here. In instructions, not in the host's
 * time, so that the same run always goes the same way. */
static void run_patiently(struct machine *m, uint64_t patience)
{
    uint64_t written = 0, since = 0;
    bool said = false;

    while (sim_run(m, SLICE) == STOP_NONE) {
        if (streams_written() != written) {
            written = streams_written();
            since = sim_instructions(m);
        }
        if (sim_instructions(m) - since < patience || !sim_pass_time(m))
            continue;
        if (!said)
            fprintf(stderr,
                    "pmusim: no word from the guest in %" PRIu64
                    " instructions: time passes to its "
                    "next timer (--patience)\n",
                    patience);
        said = true;
        since = sim_instructions(m);
    }
}

static int run(struct machine **machine, struct options *o)
{
    double start = seconds_now();

    if (o->save && !run_and_save(machine, o))
        return EXIT_USAGE;
    struct machine *m = *machine;
    if (o->patience)
        run_patiently(m, o->patience);
    else
        sim_run(m, SIM_NO_LIMIT);
    int status = verdict(m);
    sim_note_faults(m);
    if (o->stats)
        stats_print(m, seconds_now() - start, stderr);
    return status;
}

int main(int argc, char **argv)
{
    struct options o;
    struct machine *m = NULL;
    int status = EXIT_USAGE;

    /* A reader that goes away ends the run in order, not by a signal. */
    signal(SIGPIPE, SIG_IGN);
    switch (options_parse(&o, argc, argv, stdout, stderr)) {
    case OPTIONS_DONE:
        status = EXIT_SUCCESS;
        break;
    case OPTIONS_BAD:
        break;
    case OPTIONS_RUN:
        m = build(&o);
        if (m && load(m, &o) && start_trace(m, &o))
            status = run(&m, &o);
        sim_free(m);
        break;
    }
    if (!streams_close() && status == EXIT_SUCCESS)
        status = EXIT_NOT_OK;
    return status;
}
