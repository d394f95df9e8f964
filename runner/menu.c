/* The menu. */
#include "runner/menu.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/experiment.h"
#include "runner/code.h"
#include "runner/registry.h"
#include "runner/runner.h"
#include "runner/tap.h"
#include "runner/cmdline.h"
#include "runner/menu_page.h"
#include "runner/progress.h"
#include "kernel/console/input.h"
#include "kernel/console/keys.h"
#include "kernel/console/pager.h"
#include "kernel/console/report.h"
#include "kernel/console/screen.h"
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
#define MESSAGE_SIZE 128

static const struct cmdline *line;
/* What Enter runs when nothing is typed: an index into experiments[], or MENU_ALL. */
static int chosen;
static char typed[TYPED_SIZE];
static char message[MESSAGE_SIZE]; /* for the page, until the next key */
static struct cmdline last_run;    /* for r; n_errors != 0: nothing was run */

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

/* ---- The screen: the menu's page, or what was printed ---- */

/* The serial line gets what it always did; the page stands for that on the screen. */
static bool has_page, on_page, stays;

static void show_page(uint32_t seconds)
{
    struct menu_state state = {chosen, typed, message, seconds};
    if (!has_page)
        return;
    report_mute(true);
    if (!on_page)
        screen_cover(true);
    on_page = true;
    menu_page_show(&state);
}

/* What is printed from here on is seen. */
static void leave_page(void)
{
    report_mute(false);
    if (on_page)
        screen_cover(false);
    on_page = false;
}

/* It is seen until a key brings the menu back. */
static void stay_outside(void)
{
    report_mute(has_page);
    stays = true;
}

/* ---- What is printed ---- */

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
            "# a: run all   c: run the chosen one's chapter   r: run the last again\n"
            "# d: dump the PMU's registers   l: list   q: end\n"
            "# page up/down: earlier output\n");
}

/* On a line of its own, and on the page. */
static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    kvsnprintf(message, sizeof(message), format, ap);
    va_end(ap);
    kprintf("\n# %s\n", message);
}

/* One line, written anew each time. */
static void print_prompt(void)
{
    char text[PROMPT_WIDTH + 1];
    if (typed[0] != '\0')
        ksnprintf(text, sizeof(text), "run %s", typed);
    else if (chosen == MENU_ALL)
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
    leave_page();
    runner_run(&last_run);
    progress_end("any key: menu  r: again");
    stay_outside();
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
        say("%s", parsed.errors[0]);
        return;
    }
    if (!selects_something(&parsed)) {
        say("there is no experiment %s", text);
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
    else if (chosen == MENU_ALL)
        run(line);
    else
        run_text(experiments[chosen]->id);
    typed[0] = '\0';
}

/* The chosen one's chapter. */
static void key_chapter(void)
{
    char chapter[TYPED_SIZE];
    size_t length = 0;
    if (chosen == MENU_ALL) {
        run(line);
        return;
    }
    for (const char *c = experiments[chosen]->id; *c != '-' && length < sizeof(chapter) - 3; c++)
        chapter[length++] = *c;
    ksnprintf(chapter + length, sizeof(chapter) - length, "-*");
    run_text(chapter);
    typed[0] = '\0';
}

/* The next offered experiment in that direction; MENU_ALL stands before the first. */
static void move(int step)
{
    int at = chosen; /* MENU_ALL is right before the first */
    do
        at += step;
    while (at >= 0 && experiments[at] != NULL && !is_offered(experiments[at]));
    if (at < 0)
        chosen = MENU_ALL;
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
        say("nothing was run yet");
}

static void key_dump(void)
{
    if (!pmu_info()->present) {
        say("%s", pmu_info()->no_pmu);
        return;
    }
    kprintf("\n");
    leave_page();
    pmu_dump("registers");
    stay_outside();
}

static void key_list(void)
{
    kprintf("\n");
    print_list();
    print_help();
}

/* A key of the keyboard, which moves about on the screen: between the columns and pages of the
 * menu, or in what was printed. Any key brings the menu back; a letter or a digit does its work
 * too. True: that was all. */
static bool screen_key(int key)
{
    if (!on_page && pager_key(key, false))
        return true;
    if (on_page && key >= KEY_UP && key <= KEY_END) {
        chosen = menu_page_move(chosen, key);
        typed[0] = '\0';
        print_prompt();
    } else if (on_page || (key > ' ' && key <= 'z')) {
        return false;
    }
    show_page(0);
    return true;
}

static void perform(int key)
{
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
    case 'a':
        run(line);
        break;
    case 'c':
        key_chapter();
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
    default:
        key_text(key);
        break;
    }
}

/* False: the session ends. */
static bool act(int key)
{
    bool at_screen = has_page && !input_was_serial();
    message[0] = '\0';
    if (at_screen ? screen_key(key) : pager_key(key, input_was_serial()))
        return true;
    if (key == 'q') {
        kprintf("\n");
        return false;
    }
    stays = false;
    perform(key);
    print_prompt();
    if (!stays)
        show_page(0);
    return true;
}

/* The first key; KEY_NONE when none came in time. */
static int first_key(uint32_t seconds)
{
    if (seconds == FOR_EVER) {
        show_page(0);
        return next_key(FOR_EVER);
    }
    for (uint32_t left = seconds; left > 0; left--) {
        show_page(left);
        int key = next_key(1);
        if (key != KEY_NONE)
            return key;
    }
    return KEY_NONE;
}

bool menu_run(const struct cmdline *cl)
{
    line = cl;
    chosen = MENU_ALL;
    last_run.n_errors = 1;
    has_page = menu_page_init(cl);
    report_mute(has_page);
    print_list();
    print_help();
    if (cl->menu_seconds != FOR_EVER)
        kprintf("# without a key all of them run in %u s\n", (unsigned)cl->menu_seconds);
    int key = first_key(cl->menu_seconds);
    bool came = key != KEY_NONE;
    if (came) {
        print_prompt();
        show_page(0);
        while (act(key))
            key = next_key(FOR_EVER);
    }
    leave_page();
    if (came && last_run.n_errors == 0)
        progress_end("done");
    if (came)
        tap_plan_at_end();
    return came;
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
