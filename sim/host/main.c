/* pmusim: a deterministic x86-64 with a performance monitoring unit. `pmusim --help`. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sim/dev/internal.h"
#include "sim/fault.h"
#include "sim/loader.h"
#include "sim/host/options.h"
#include "sim/stats.h"
#include "sim/symbols.h"
#include "sim/trace.h"
#include "sim/trace_control.h"

#define EXIT_NOT_OK 1
#define EXIT_USAGE  2
#define EXIT_PANIC  3
#define EXIT_LIMIT  124
#define IMAGE_MAX   ((off_t)1 << 30)

/* Reads the whole of a regular file; NULL, with a message, when it cannot. */
static uint8_t *read_image(const char *path, size_t *size)
{
    struct stat st = {0};
    uint8_t *data = NULL;
    const char *why = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st) < 0)
        why = strerror(errno);
    else if (S_ISDIR(st.st_mode))
        why = "is a directory; give a kernel image";
    else if (!S_ISREG(st.st_mode))
        why = "is not a regular file; give a kernel image";
    else if (st.st_size > IMAGE_MAX)
        why = "is larger than 1 GiB";
    else if (!(data = malloc(st.st_size + 1)))
        why = strerror(ENOMEM);
    for (*size = 0; !why && *size < (size_t)st.st_size;) {
        ssize_t n = read(fd, data + *size, st.st_size - *size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            why = strerror(errno);
        if (n <= 0)
            break;
        *size += n;
    }
    if (fd >= 0)
        close(fd);
    if (why) {
        fprintf(stderr, "pmusim: %s: %s\n", path, why);
        free(data);
        return NULL;
    }
    return data;
}

/* Loads the image; what the loader has to say comes with the image's name. */
static bool load(struct machine *m, const struct options *o, const uint8_t *image, size_t size)
{
    char *why = NULL;
    size_t length;
    FILE *err = open_memstream(&why, &length);
    bool ok;

    if (!err) {
        fprintf(stderr, "pmusim: %s\n", strerror(errno));
        return false;
    }
    ok = loader_load(m, image, size, o->cmdline, err);
    fclose(err);
    if (!ok)
        fprintf(stderr, "pmusim: %s: %s", o->image, why);
    free(why);
    return ok;
}

static bool load_profile(struct profile *p, const struct options *o)
{
    if (!profile_load(p, o->profile, stderr))
        return false;
    for (unsigned i = 0; i < o->n_set; i++)
        if (!profile_set(p, o->set[i], stderr))
            return false;
    fault_profile(p);
    return profile_finish(p, stderr);
}

/* word: NULL when the option was not given. */
static bool find_symbol(const struct machine *m, const char *option, const char *word,
                        uint64_t *address)
{
    char *why = NULL;
    size_t length;
    FILE *err = word ? open_memstream(&why, &length) : NULL;

    if (!word)
        return true;
    if (!err) {
        fprintf(stderr, "pmusim: %s\n", strerror(errno));
        return false;
    }
    bool ok = symbols_find(m->symbols, word, address, err);
    fclose(err);
    if (!ok)
        fprintf(stderr, "pmusim: %s '%s': %s\n", option, word, why);
    free(why);
    return ok;
}

static bool start_trace(const struct machine *m, const struct options *o)
{
    uint64_t from, to;

    if (!find_symbol(m, "--trace-from", o->trace_from, &from) ||
        !find_symbol(m, "--trace-to", o->trace_to, &to))
        return false;
    trace_start(o->trace, o->trace_from ? &from : NULL, o->trace_to ? &to : NULL);
    return true;
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
    switch (m->stop) {
    case STOP_DEBUG_EXIT:
        switch (m->exit_value) {
        case DEBUG_EXIT_OK:
            return EXIT_SUCCESS;
        case DEBUG_EXIT_NOT_OK:
            return EXIT_NOT_OK;
        case DEBUG_EXIT_PANIC:
            return EXIT_PANIC;
        default:
            fprintf(stderr, "pmusim: the guest wrote %02XH to the debug-exit port\n",
                    m->exit_value);
            return EXIT_NOT_OK;
        }
    case STOP_TRIPLE_FAULT:
        fprintf(stderr, "pmusim: triple fault: the processor shut down\n");
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
    case STOP_BROKEN_PIPE:
        fprintf(stderr, "pmusim: nobody reads the standard output any more\n");
        return EXIT_NOT_OK;
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

static int run(struct machine *m, const struct options *o)
{
    struct devices *d = m->devices;
    double start = seconds_now();
    int status;

    d->uart.use_stdin = o->use_stdin;
    m->max_insns = o->max_insns;
    if (o->max_ns)
        m->max_slots = hz_to_slots(m->profile, o->max_ns, 1000000000);
    fault_firmware(m);
    machine_run(m);
    if (!uart_flush(&d->uart))
        m->stop = STOP_BROKEN_PIPE;
    status = verdict(m);
    fault_report(stderr);
    if (o->stats)
        stats_print(m, seconds_now() - start, stderr);
    return status;
}

int main(int argc, char **argv)
{
    static char trace_buffer[1 << 16];
    static struct profile profile;
    struct options o;
    struct machine *m = NULL;
    uint8_t *image = NULL;
    size_t size;
    int status = EXIT_USAGE;

    /* A reader that goes away ends the run in order, not by a signal. */
    signal(SIGPIPE, SIG_IGN);
    switch (options_parse(&o, argc, argv, stdout, stderr)) {
    case OPTIONS_DONE:
        return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_NOT_OK;
    case OPTIONS_BAD:
        return EXIT_USAGE;
    case OPTIONS_RUN:
        break;
    }
    if (!load_profile(&profile, &o) || !(image = read_image(o.image, &size)))
        goto out;
    m = machine_new(&profile, o.cpus, o.memory);
    if (!m) {
        fprintf(stderr, "pmusim: no memory for a machine of %" PRIu64 " MiB\n", o.memory >> 20);
        goto out;
    }
    if (!load(m, &o, image, size))
        goto out;
    m->symbols = symbols_load(image, size);
    if (!start_trace(m, &o))
        goto out;
    /* Many lines of trace; in order with the guest's because both are flushed line by line. */
    if (o.trace)
        setvbuf(stderr, trace_buffer, _IOLBF, sizeof(trace_buffer));
    status = run(m, &o);
out:
    machine_free(m);
    free(image);
    return status;
}
