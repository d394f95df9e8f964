/* The menu. */
#include "runner/menu.h"

#include <stddef.h>
#include <stdint.h>

#include "lab/experiment.h"
#include "runner/code.h"
#include "runner/registry.h"
#include "runner/runner.h"
#include "runner/tap.h"
#include "runner/cmdline.h"
#include "kernel/console/input.h"
#include "kernel/console/keys.h"
#include "kernel/console/pager.h"
#include "kernel/print.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "kernel/trap.h"
#include "lapic/lapic.h"
#include "pmu/pmu.h"

#define POLL_US      5000 /* fast enough for fingers */
#define US_A_SECOND  1000000ULL
#define PROMPT_WIDTH 70
#define FOR_EVER     0
#define TYPED_SIZE   64
#define NOTHING      (-1)
#define EVERYTHING   (-2) /* what the command line selects */

static const struct cmdline *line;
/* The experiment under the arrow: an index into experiments[], or EVERYTHING. */
static int chosen;
static char typed[TYPED_SIZE];
static struct cmdline last_run; /* for r; n_errors != 0: nothing was run */

/* ---- Keys ---- */

/* Sleeps where there is a timer to wake it: a laptop may sit here for an hour. */
static void rest(void)
{
    if (!lapic_has_timer()) {
        delay_us(POLL_US / 10);
        return;
    }
    irq_disable();
    lapic_alarm(POLL_US, NULL);
    __asm__ volatile("sti; hlt; cli" ::: "memory");
}

/* The next key; KEY_NONE when none came within so many seconds (0: waits for ever). */
static int next_key(uint32_t seconds)
{
    uint64_t start = rdtsc(), ticks = tsc_ticks_us(seconds * US_A_SECOND);
    for (;;) {
        int key = input_poll();
        if (key != KEY_NONE)
            return key;
        if (seconds != FOR_EVER && rdtsc() - start >= ticks)
            return KEY_NONE;
        rest();
    }
}

/* ---- What is on the screen ---- */

static bool is_offered(const struct experiment *e)
{
    return !e->selftest || line->selftest;
}

static void print_list(void)
{
    for (size_t i = 0; experiments[i] != NULL; i++) {
        const char *missing = need_missing(experiments[i]->needs);
        if (is_offered(experiments[i]))
            kprintf("#   %-6s %s%s\n", experiments[i]->id, experiments[i]->title,
                    missing != NULL ? " (here a SKIP)" : "");
    }
}

static void print_help(void)
{
    kprintf("# a number such as 15-3 or 15-* and Enter, or arrows up/down and Enter: run\n"
            "# r: run the last again   d: dump the PMU's registers   l: list   q: end\n"
            "# page up/down: earlier output\n");
}

/* One line, written anew each time. */
static void print_prompt(void)
{
    char text[PROMPT_WIDTH + 1];
    if (typed[0] != '\0')
        ksnprintf(text, sizeof(text), "run %s", typed);
    else if (chosen == EVERYTHING)
        ksnprintf(text, sizeof(text), "%s", line->n_select > 0 ? "what run= selects" : "all");
    else
        ksnprintf(text, sizeof(text), "%s %s", experiments[chosen]->id, experiments[chosen]->title);
    kprintf("\r# > %-*s", PROMPT_WIDTH, text);
}

/* ---- What the keys do ---- */

static void run(const struct cmdline *selection)
{
    kprintf("\n");
    if (selection != &last_run)
        last_run = *selection;
    runner_run(&last_run);
    kprintf("#\n");
}

/* Does the selection name anything? */
static bool selects_something(const struct cmdline *selection)
{
    for (size_t i = 0; experiments[i] != NULL; i++)
        if (is_offered(experiments[i]) && cmdline_selects(selection, experiments[i]->id))
            return true;
    return false;
}

static void run_text(const char *text)
{
    static struct cmdline parsed, selection; /* too large for a stack frame */
    char word[TYPED_SIZE + sizeof("run=")];
    ksnprintf(word, sizeof(word), "run=%s", text);
    if (!cmdline_parse(&parsed, word)) {
        kprintf("\n# %s\n", parsed.errors[0]);
        return;
    }
    if (!selects_something(&parsed)) {
        kprintf("\n# there is no experiment %s\n", text);
        return;
    }
    selection = *line;
    memcpy(selection.select, parsed.select, sizeof(parsed.select));
    selection.n_select = parsed.n_select;
    run(&selection);
}

static void key_enter(void)
{
    if (typed[0] != '\0')
        run_text(typed);
    else if (chosen == EVERYTHING)
        run(line);
    else
        run_text(experiments[chosen]->id);
    typed[0] = '\0';
}

/* The next offered experiment in that direction; EVERYTHING stands before the first. */
static void move(int step)
{
    int at = chosen == EVERYTHING ? NOTHING : chosen;
    do
        at += step;
    while (at >= 0 && experiments[at] != NULL && !is_offered(experiments[at]));
    if (at < 0)
        chosen = EVERYTHING;
    else if (experiments[at] != NULL)
        chosen = at;
    typed[0] = '\0';
}

/* A keyboard with another layout than the US one has its '-' where that has '/'. */
static void key_text(int key)
{
    size_t length = strlen(typed);
    char c = key == '/' || key == '.' ? '-' : (char)key;
    if (key == KEY_BACKSPACE && length > 0)
        typed[length - 1] = '\0';
    bool good = (c >= '0' && c <= '9') || c == '-' || c == '*' || c == ',';
    if (!good || length + 1 >= sizeof(typed))
        return;
    typed[length] = c;
    typed[length + 1] = '\0';
}

static void key_repeat(void)
{
    if (last_run.n_errors == 0)
        run(&last_run);
    else
        kprintf("\n# nothing was run yet\n");
}

static void key_dump(void)
{
    kprintf("\n");
    if (pmu_info()->present)
        pmu_dump("registers");
    else
        kprintf("# %s\n", pmu_info()->no_pmu);
}

static void key_list(void)
{
    kprintf("\n");
    print_list();
    print_help();
}

/* False: the session ends. */
static bool act(int key)
{
    if (pager_key(key, input_was_serial()))
        return true;
    switch (key) {
    case KEY_ENTER:
        key_enter();
        break;
    case KEY_UP:
        move(-1);
        break;
    case KEY_DOWN:
        move(1);
        break;
    case 'r':
        key_repeat();
        break;
    case 'd':
        key_dump();
        break;
    case 'l':
        key_list();
        break;
    case 'q':
        kprintf("\n");
        return false;
    default:
        key_text(key);
        break;
    }
    print_prompt();
    return true;
}

bool menu_run(const struct cmdline *cl)
{
    line = cl;
    chosen = EVERYTHING;
    last_run.n_errors = 1;
    print_list();
    print_help();
    if (cl->menu_seconds != FOR_EVER)
        kprintf("# without a key all of them run in %u s\n", (unsigned)cl->menu_seconds);
    int key = next_key(cl->menu_seconds);
    if (key == KEY_NONE)
        return false;
    print_prompt();
    while (act(key))
        key = next_key(FOR_EVER);
    tap_plan_at_end();
    return true;
}

/* Without a key the QR code's page takes turns with the summary: a machine may have no keyboard
 * that works here. The first key says that it has one. */
_Noreturn void menu_review(void)
{
    uint32_t patience = code_turn_seconds();
    for (;;) {
        int key = next_key(patience);
        bool from_serial = input_was_serial();
        if (key != KEY_NONE && !from_serial)
            patience = FOR_EVER;
        if (key == KEY_NONE || (key == 'c' && !from_serial)) {
            code_turn();
        } else {
            if (!from_serial)
                code_hide();
            pager_key(key, from_serial);
        }
    }
}
