/* Options, families, coverage, TAP. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "tests/diff/diff.h"

#define DEFAULT_SEED     0x504d554c6162 /* "PMULab" */
#define DEFAULT_COUNT    1000000
#define DEFAULT_PROFILE  "skylake"
#define STOP_FAMILY_AT   50 /* failures; more of them tell nothing new */
#define VECTORS          32
#define WATCHDOG_SECONDS 20
#define WATCHDOG_EVERY   1024

/* How often each form ran: [form][log2 of operand bytes][register, memory, memory with LOCK]. */
static uint64_t ran[MAX_FORMS][4][3];
static uint64_t ended_by[VECTORS + 2]; /* [vector + 2], see struct result */
static struct choice any, of_family[FAM_COUNT];
static uint64_t seed = DEFAULT_SEED, count = DEFAULT_COUNT, first;
static bool self, has_first;
static const char *only, *profile_name = DEFAULT_PROFILE;

static void usage(FILE *to)
{
    fputs("usage: diff [--seed N] [--first N] [--count N] [--only NAME] [--profile NAME] [--self]\n"
          "  --seed N     first of the sequences' seed; the same seed gives the same sequences\n"
          "  --first N    start with sequence N: runs only that one with --count 1\n"
          "  --count N    sequences to run (default 1000000)\n"
          "  --only NAME  one instruction form or family; a part of the name suffices\n"
          "  --profile NAME  the simulated processor (default " DEFAULT_PROFILE ")\n"
          "  --self       host against host: tests the test\n"
          "  --list       prints the forms\n",
          to);
}

static bool wanted(const struct form *f)
{
    return !only || strstr(f->name, only) || strstr(family_names[f->family], only);
}

static void choose(uint32_t features)
{
    for (unsigned i = 0; i < n_forms; i++) {
        const struct form *f = &forms[i];
        if (!(features >> f->feature & 1))
            continue;
        any.form[any.n++] = i;
        if (wanted(f))
            of_family[f->family].form[of_family[f->family].n++] = i;
    }
}

static unsigned log2_of(unsigned size)
{
    return size == 8 ? 3 : size >> 1;
}

/* Counts what certainly ran: not what a branch may have skipped, nor what follows a fault. */
static void note(const struct sequence *s, const struct result *r)
{
    uint64_t end = r->vector >= 0 ? r->rip - CODE_BASE - s->start : UINT64_MAX;
    ended_by[r->vector + 2]++;
    for (unsigned i = 0; i < s->n_insns && s->insn[i].off <= end; i++) {
        const struct insn_record *n = &s->insn[i];
        if (n->form >= 0 && !n->conditional)
            ran[n->form][log2_of(n->size)][n->lock ? 2 : n->memory ? 1 : 0]++;
    }
}

/* The form to blame in a shrunk sequence: what is left besides branches, otherwise a branch. */
static unsigned culprit(const struct sequence *s)
{
    int found = 0;
    bool control = true;
    for (unsigned i = 0; i < s->n_insns; i++) {
        const struct insn_record *n = &s->insn[i];
        if (n->dropped || n->form < 0 || (n->control && !control))
            continue;
        found = n->form;
        control = n->control;
    }
    return found;
}

/* Runs n sequences whose numbers start at from; returns how many failed. Shows the first one of
 * each form to blame. */
static uint64_t run(const struct choice *mainly, uint64_t from, uint64_t n, uint64_t *done)
{
    static struct sequence s, small;
    static unsigned blamed[MAX_FORMS];
    struct result host, sim;
    uint64_t failed = 0;
    memset(blamed, 0, sizeof(blamed));
    for (*done = 0; *done < n && failed < STOP_FAMILY_AT; ++*done) {
        if (*done % WATCHDOG_EVERY == 0) {
            struct itimerval timer = {.it_value.tv_sec = WATCHDOG_SECONDS};
            setitimer(ITIMER_REAL, &timer, NULL);
        }
        generate(&s, seed, from + *done, mainly, &any);
        if (!sequence_agrees(&s, self, &host, &sim)) {
            small = s;
            shrink(&small, self);
            if (!blamed[culprit(&small)]++)
                show(&small, self, only);
            failed++;
        }
        note(&s, &host);
    }
    for (unsigned f = 0; f < n_forms; f++)
        if (blamed[f])
            printf("# differ: %s, %u times\n", forms[f].name, blamed[f]);
    return failed;
}

/* One line a form: runs by operand size; r register, m memory, l memory with LOCK. Returns the
 * number of sizes and kinds of operand that never ran. */
static unsigned coverage(void)
{
    unsigned missing = 0;
    for (unsigned i = 0; i < any.n; i++) {
        const struct form *f = &forms[any.form[i]];
        if (!wanted(f))
            continue;
        bool modrm = (f->kind >= K_RM_R && f->kind <= K_RM) || f->kind == K_VECTOR;
        bool vex = f->kind >= K_VEX_RVM && f->kind <= K_VEX_RMI;
        printf("# ran %-20s", f->name);
        for (unsigned l = 0; l < 4; l++) {
            const uint64_t *n = ran[any.form[i]][l];
            if (!(f->sizes >> l & 1))
                continue;
            printf("  %u:", 8u << l);
            bool need_memory = f->kind == K_STRING || (f->kind == K_X87 && (f->attr & A_MEM)) ||
                               f->kind == K_MOFFS || (f->attr & A_XLAT) ||
                               ((modrm || vex) && !(f->attr & A_REG));
            bool need_register = !need_memory || ((modrm || vex) && !(f->attr & A_MEM));
            bool need_lock = modrm && (f->attr & A_LOCK);
            static const char letter[3] = {'r', 'm', 'l'};
            const bool need[3] = {need_register, need_memory, need_lock};
            for (int k = 0; k < 3; k++) {
                if (n[k] || need[k])
                    printf(" %c%" PRIu64, letter[k], n[k]);
                if (need[k] && !n[k]) {
                    printf("!");
                    missing++;
                }
            }
        }
        printf("\n");
    }
    return missing;
}

static uint64_t number(const char *text)
{
    char *end;
    uint64_t n = strtoull(text, &end, 0);
    if (*end || !*text) {
        fprintf(stderr, "diff: not a number: %s\n", text);
        exit(2);
    }
    return n;
}

static void options(int argc, char **argv)
{
    static const struct option table[] = {{"seed", required_argument, NULL, 's'},
                                          {"first", required_argument, NULL, 'f'},
                                          {"count", required_argument, NULL, 'c'},
                                          {"only", required_argument, NULL, 'o'},
                                          {"profile", required_argument, NULL, 'p'},
                                          {"self", no_argument, NULL, 'S'},
                                          {"list", no_argument, NULL, 'l'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int c;
    while ((c = getopt_long(argc, argv, "", table, NULL)) != -1) {
        switch (c) {
        case 's':
            seed = number(optarg);
            break;
        case 'f':
            first = number(optarg);
            has_first = true;
            break;
        case 'c':
            count = number(optarg);
            break;
        case 'o':
            only = optarg;
            break;
        case 'p':
            profile_name = optarg;
            break;
        case 'S':
            self = true;
            break;
        case 'l':
            for (unsigned i = 0; i < n_forms; i++)
                printf("%-20s %s\n", forms[i].name, family_names[forms[i].family]);
            exit(0);
        case 'h':
            usage(stdout);
            exit(0);
        default:
            usage(stderr);
            exit(2);
        }
    }
    if (optind < argc) {
        usage(stderr);
        exit(2);
    }
}

/* The number of a sequence names its family too, so that --first needs no other option. */
#define FAMILY_SHIFT 40

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    forms_init();
    options(argc, argv);
    image_init(seed);
    native_init();
    if (!self && !simulated_init(profile_name)) {
        printf("Bail out! no simulated machine\n");
        return 1;
    }
    uint32_t host = features_of(native_cpuid);
    uint32_t both = self ? host : host & features_of(simulated_cpuid);
    choose(both);

    printf("TAP version 14\n# seed %" PRIu64 ", %" PRIu64 " sequences, %s\n", seed, count,
           self ? "host against host" : profile_name);
    for (int f = F_ALWAYS + 1; f < F_COUNT; f++)
        if (!(both >> f & 1))
            printf("# not tested: %s (%s does not announce it)\n", feature_bits[f].name,
                   host >> f & 1 ? "the profile" : "the host");

    struct timespec t0, t1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    unsigned families = 0, test = 0, bad = 0;
    for (int f = 0; f < FAM_COUNT; f++)
        families += of_family[f].n != 0 && (!has_first || (int)(first >> FAMILY_SHIFT) == f);
    if (!families) {
        printf("Bail out! nothing is called \"%s\" (see --list)\n", only ? only : "");
        return 2;
    }
    bool whole = !has_first;
    printf("1..%u\n", families + whole);
    uint64_t total = 0;
    for (int f = 0; f < FAM_COUNT; f++) {
        uint64_t from = (uint64_t)f << FAMILY_SHIFT, done;
        if (!of_family[f].n || (has_first && (int)(first >> FAMILY_SHIFT) != f))
            continue;
        uint64_t failed =
            run(&of_family[f], has_first ? first : from, (count + families - 1) / families, &done);
        total += done;
        bad += failed != 0;
        printf("%s %u - %s: %" PRIu64 " sequences", failed ? "not ok" : "ok", ++test,
               family_names[f], done);
        printf(failed ? ", %" PRIu64 " differ\n" : "\n", failed);
    }
    clock_gettime(CLOCK_MONOTONIC, &t1);
    double seconds = t1.tv_sec - t0.tv_sec + (t1.tv_nsec - t0.tv_nsec) / 1e9;
    if (whole) {
        unsigned missing = coverage();
        bad += missing != 0;
        printf("%s %u - every form ran in every operand size and kind", missing ? "not ok" : "ok",
               ++test);
        printf(missing ? ": %u did not (marked with !)\n" : "\n", missing);
    }
    printf("# %" PRIu64 " sequences in %.1f s; ended normally %" PRIu64, total, seconds,
           ended_by[1]);
    for (int v = 0; v < VECTORS; v++)
        if (ended_by[v + 2])
            printf(", vector %d %" PRIu64, v, ended_by[v + 2]);
    printf("\n# reproduce: --seed %" PRIu64 "\n", seed);
    return bad ? 1 : 0;
}
