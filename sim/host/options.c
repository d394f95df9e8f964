#include "sim/host/options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fault.h"
#include "sim/profile.h"

#define MEMORY_DEFAULT 256 /* MiB */
#define MEMORY_MIN     ((int)(SIM_MEMORY_MIN / SIM_MEMORY_UNIT))
#define MEMORY_MAX     ((int)(SIM_MEMORY_MAX / SIM_MEMORY_UNIT))
#define SECONDS_MAX    1000000
#define NS_PER_SECOND  UINT64_C(1000000000)

enum {
    OPT_PROFILE = 256, /* beyond any character: there are no short options but -h */
    OPT_CPUS,
    OPT_MEMORY,
    OPT_CMDLINE,
    OPT_INITRD,
    OPT_SAVE,
    OPT_SAVE_WHEN,
    OPT_LOAD,
    OPT_TRACE,
    OPT_TRACE_FROM,
    OPT_TRACE_TO,
    OPT_STATS,
    OPT_SET,
    OPT_MAX_INSNS,
    OPT_MAX_SECONDS,
    OPT_PATIENCE,
    OPT_STDIN,
    OPT_FAULT,
    OPT_LIST_PROFILES,
    OPT_VERSION,
};

static const struct option long_options[] = {
    {"profile", required_argument, NULL, OPT_PROFILE},
    {"cpus", required_argument, NULL, OPT_CPUS},
    {"memory", required_argument, NULL, OPT_MEMORY},
    {"cmdline", required_argument, NULL, OPT_CMDLINE},
    {"initrd", required_argument, NULL, OPT_INITRD},
    {"save", required_argument, NULL, OPT_SAVE},
    {"save-when", required_argument, NULL, OPT_SAVE_WHEN},
    {"load", required_argument, NULL, OPT_LOAD},
    {"trace", required_argument, NULL, OPT_TRACE},
    {"trace-from", required_argument, NULL, OPT_TRACE_FROM},
    {"trace-to", required_argument, NULL, OPT_TRACE_TO},
    {"stats", no_argument, NULL, OPT_STATS},
    {"set", required_argument, NULL, OPT_SET},
    {"max-insns", required_argument, NULL, OPT_MAX_INSNS},
    {"max-seconds", required_argument, NULL, OPT_MAX_SECONDS},
    {"patience", required_argument, NULL, OPT_PATIENCE},
    {"fault", required_argument, NULL, OPT_FAULT},
    {"stdin", no_argument, NULL, OPT_STDIN},
    {"list-profiles", no_argument, NULL, OPT_LIST_PROFILES},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPT_VERSION},
    {NULL, 0, NULL, 0},
};

static const struct {
    const char *name;
    unsigned kind;
} trace_kinds[] = {
    {"msr", TRACE_MSR}, {"pmi", TRACE_PMI},       {"irq", TRACE_IRQ},
    {"exc", TRACE_EXC}, {"branch", TRACE_BRANCH}, {"insn", TRACE_INSN},
};

static const char help[] =
    "Usage: pmusim [OPTION]... IMAGE\n"
    "       pmusim [OPTION]... --load FILE\n"
    "Runs IMAGE, a kernel (Multiboot2, Multiboot, Linux's vmlinux or bzImage, PVH), on a "
    "simulated\n"
    "x86-64 with a performance monitoring unit. The guest's serial console is the standard "
    "output.\n"
    "\n"
    "  --profile NAME        the processor: a name of --list-profiles, or a file with a '/' in "
    "its\n"
    "                        path (skylake)\n"
    "  --set KEY=VALUE       override a field of the profile, e.g. pmu.version=3; may be repeated; "
    "of\n"
    "                        one kind of core of a profile with several: e:pmu.version=3; of "
    "which\n"
    "                        kind each processor is: 'processors=p e'\n"
    "  --cpus N              logical processors, 1 to %d (1)\n"
    "  --memory MIB          memory, %d to %d MiB (%d)\n"
    "  --cmdline TEXT        the kernel's command line\n"
    "  --initrd FILE         a file in memory for the kernel: Linux's initial file system\n"
    "  --save FILE           write the machine's state to FILE when it has printed the text of "
    "...\n"
    "  --save-when TEXT      ... and go on from there\n"
    "  --load FILE           go on from such a FILE, in place of IMAGE; profile, --set, --cpus "
    "and\n"
    "                        --memory must be as they were\n"
    "  --stdin               give the serial console the standard input\n"
    "  --max-insns N         stop after N instructions (exit status 124)\n"
    "  --max-seconds N       stop after N seconds of simulated time, such as 0.2 (status 124)\n"
    "  --patience N          after N instructions without a word from the guest let time pass to\n"
    "                        its next timer, so that a watchdog ends an endless loop soon\n"
    "  --fault WORD          make the machine misbehave; may be repeated; 'help' lists the words\n"
    "  --trace KIND[,KIND]   trace msr, pmi, irq, exc, branch or insn on the standard error\n"
    "  --trace-from SYMBOL   trace from the first execution of SYMBOL on (or FILE:SYMBOL, "
    "0xADDRESS)\n"
    "  --trace-to SYMBOL     trace until the execution of SYMBOL\n"
    "  --stats               end with instructions by class, events and times, on the standard\n"
    "                        error\n"
    "  --list-profiles       print the profiles and leave\n"
    "  -h, --help            print this and leave\n"
    "  --version             print the version and leave\n"
    "\n"
    "Exit status: 0 the guest said that all is well (10H to port F4H), 1 something was not,\n"
    "2 bad usage or image, 3 the guest panicked, shut down, halted for ever or used an "
    "instruction\n"
    "that the simulator lacks, 124 a limit was reached.\n";

/* A whole decimal number within the range, or a message. */
static bool number(uint64_t *value, const char *option, const char *text, uint64_t min,
                   uint64_t max, FILE *err)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || *value < min || *value > max) {
        fprintf(err, "pmusim: %s '%s': must be a number from %" PRIu64 " to %" PRIu64 "\n", option,
                text, min, max);
        return false;
    }
    return true;
}

/* A decimal number of seconds, such as 2 or 0.25, as nanoseconds; or a message. */
static bool seconds(uint64_t *ns, const char *option, const char *text, FILE *err)
{
    char *end = NULL;
    uint64_t unit = NS_PER_SECOND;

    errno = 0;
    *ns = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    bool ok = end && errno == 0 && *ns <= SECONDS_MAX;
    *ns *= NS_PER_SECOND;
    if (ok && *end == '.') {
        while (*++end >= '0' && *end <= '9' && unit > 1)
            *ns += (*end - '0') * (unit /= 10);
        ok = unit < NS_PER_SECOND;
    }
    if (ok && !*end && *ns > 0 && *ns <= SECONDS_MAX * NS_PER_SECOND)
        return true;
    fprintf(err, "pmusim: %s '%s': must be a number from 0.000000001 to %d, such as 2 or 0.25\n",
            option, text, SECONDS_MAX);
    return false;
}

static bool trace_list(unsigned *kinds, const char *text, FILE *err)
{
    const size_t n = sizeof(trace_kinds) / sizeof(trace_kinds[0]);

    for (;;) {
        size_t length = strcspn(text, ","), i = 0;
        while (i < n && (strlen(trace_kinds[i].name) != length ||
                         strncmp(trace_kinds[i].name, text, length) != 0))
            i++;
        if (i == n) {
            fprintf(err, "pmusim: --trace '%.*s': must be of msr, pmi, irq, exc, branch, insn\n",
                    (int)length, text);
            return false;
        }
        *kinds |= trace_kinds[i].kind;
        if (!text[length])
            return true;
        text += length + 1;
    }
}

static bool add_word(const char **words, unsigned *n, const char *option, const char *word,
                     FILE *err)
{
    if (*n == OPTIONS_MAX_WORDS) {
        fprintf(err, "pmusim: more than %d %s\n", OPTIONS_MAX_WORDS, option);
        return false;
    }
    words[(*n)++] = word;
    return true;
}

/* Names a wrong word before anything else is looked at. */
static bool check_fault(const char *words, FILE *err)
{
    struct faults *f = faults_new();
    bool ok = f && fault_choose(f, words, err);

    faults_free(f);
    return ok;
}

static enum options_result usage(FILE *err)
{
    fprintf(err, "Try 'pmusim --help'.\n");
    return OPTIONS_BAD;
}

/* What getopt refused: optopt is 0 for an unknown long option, the option's val for one that lacks
 * its argument. */
static enum options_result refused(int c, char **argv, FILE *err)
{
    const char *word = argv[optind - 1];

    if (c == ':')
        fprintf(err, "pmusim: option '%s' needs an argument\n", word);
    else if (optopt > 255)
        fprintf(err, "pmusim: option '%s' takes no argument\n", word);
    else if (optopt)
        fprintf(err, "pmusim: unknown option '-%c'\n", optopt);
    else
        fprintf(err, "pmusim: unknown or ambiguous option '%s'\n", word);
    return usage(err);
}

enum options_result options_parse(struct options *o, int argc, char **argv, FILE *out, FILE *err)
{
    uint64_t value;
    bool ok = true;
    int c;

    *o = (struct options){
        .machine = {.profile = "skylake",
                    .cpus = 1,
                    .memory = MEMORY_DEFAULT * SIM_MEMORY_UNIT,
                    .set = o->set,
                    .fault = o->fault},
        .cmdline = "",
    };
    optind = 0; /* GNU: start anew */
    opterr = 0; /* the messages are ours */
    while ((c = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        switch (c) {
        case OPT_PROFILE:
            o->machine.profile = optarg;
            break;
        case OPT_CPUS:
            ok = number(&value, "--cpus", optarg, 1, SIM_MAX_CPUS, err);
            o->machine.cpus = value;
            break;
        case OPT_MEMORY:
            ok = number(&value, "--memory", optarg, MEMORY_MIN, MEMORY_MAX, err);
            o->machine.memory = value * SIM_MEMORY_UNIT;
            break;
        case OPT_CMDLINE:
            o->cmdline = optarg;
            break;
        case OPT_INITRD:
            o->initrd = optarg;
            break;
        case OPT_SAVE:
            o->save = optarg;
            break;
        case OPT_SAVE_WHEN:
            o->save_when = optarg;
            break;
        case OPT_LOAD:
            o->load = optarg;
            break;
        case OPT_TRACE:
            ok = trace_list(&o->trace, optarg, err);
            break;
        case OPT_TRACE_FROM:
            o->trace_from = optarg;
            break;
        case OPT_TRACE_TO:
            o->trace_to = optarg;
            break;
        case OPT_STATS:
            o->stats = true;
            break;
        case OPT_SET:
            ok = add_word(o->set, &o->machine.n_set, "--set", optarg, err);
            break;
        case OPT_MAX_INSNS:
            ok = number(&o->machine.max_insns, "--max-insns", optarg, 1, INT64_MAX, err);
            break;
        case OPT_PATIENCE:
            ok = number(&o->patience, "--patience", optarg, 1, INT64_MAX, err);
            break;
        case OPT_MAX_SECONDS:
            ok = seconds(&o->machine.max_ns, "--max-seconds", optarg, err);
            break;
        case OPT_FAULT:
            if (strcmp(optarg, "help") == 0) {
                fault_list(out);
                return OPTIONS_DONE;
            }
            ok = check_fault(optarg, err) &&
                 add_word(o->fault, &o->machine.n_fault, "--fault", optarg, err);
            break;
        case OPT_STDIN:
            o->use_stdin = true;
            break;
        case OPT_LIST_PROFILES:
            profile_list(out, err);
            return OPTIONS_DONE;
        case OPT_VERSION:
            fprintf(out, "pmusim %s\n", PMULAB_VERSION);
            return OPTIONS_DONE;
        case 'h':
            fprintf(out, help, SIM_MAX_CPUS, MEMORY_MIN, MEMORY_MAX, MEMORY_DEFAULT);
            return OPTIONS_DONE;
        default:
            return refused(c, argv, err);
        }
        if (!ok)
            return usage(err);
    }
    if (o->load && (optind < argc || o->initrd || *o->cmdline)) {
        fprintf(err, "pmusim: --load takes no image, no --initrd and no --cmdline: what they gave "
                     "is in FILE\n");
        return usage(err);
    }
    if (!o->save != !o->save_when || (o->save_when && !*o->save_when)) {
        fprintf(err, "pmusim: --save FILE and --save-when TEXT need each other\n");
        return usage(err);
    }
    if (o->trace && (o->save || o->load)) {
        fprintf(err, "pmusim: --trace does not go with --save and --load\n");
        return usage(err);
    }
    if (optind == argc && !o->load) {
        fprintf(err, "pmusim: no image given\n");
        return usage(err);
    }
    if (optind + 1 < argc) {
        fprintf(err, "pmusim: more than one image given: '%s' and '%s'\n", argv[optind],
                argv[optind + 1]);
        return usage(err);
    }
    if ((o->trace_from || o->trace_to) && !o->trace) {
        fprintf(err, "pmusim: --trace-from and --trace-to need --trace\n");
        return usage(err);
    }
    o->image = o->load ? NULL : argv[optind];
    return OPTIONS_RUN;
}
