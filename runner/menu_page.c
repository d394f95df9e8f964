/* The menu's page. */
#include "runner/menu_page.h"

#include <stdarg.h>
#include <stddef.h>

#include "kernel/console/keys.h"
#include "kernel/console/screen.h"
#include "kernel/cpuid.h"
#include "kernel/print.h"
#include "kernel/string.h"
#include "lab/experiment.h"
#include "pmu/pmu.h"
#include "runner/cmdline.h"
#include "runner/registry.h"
#include "runner/summary.h"

#define MAX_ITEMS   160
#define TEXT_SIZE   (SCREEN_MAX_COLUMNS + 1)
#define ROWS_MIN    10
#define COLUMNS_MIN 40
#define TWO_COLUMNS 64 /* the screen's, from which on two of ours fit beside each other */
#define FIRST_ROW   3  /* of the list: below the title, the machine and a rule */
#define LAST_ROWS   3  /* below the list: a rule, the choice, the keys */
#define VERDICT     5  /* " FAIL" */

#define TITLE_BAR  ON(BLUE, WHITE)
#define KEYS_BAR   ON(BLUE, GREY)
#define KEY        ON(BLUE, WHITE)
#define CHOSEN     ON(CYAN, BLACK)
#define CHAPTER    ON(BLACK, LIGHT_CYAN)
#define EXPERIMENT ON(BLACK, WHITE)
#define MISSING    ON(BLACK, GREY)
#define PLAIN      ON(BLACK, GREY)
#define WARNING    ON(BLACK, YELLOW)
#define RULE       ON(BLACK, DARK_GREY)

static const struct {
    const char *number, *title;
} chapters[] = {
    {"0-", "0  Experiments that break on purpose"},
    {"14-", "14  Branch records and the debug store"},
    {"15-", "15  Performance monitoring"},
    {"18-", "18  The local APIC"},
    {"22-", "22  Counting, deeper"},
    {"23-", "23  Branch records and samples of today"},
};

/* What the list has, in its order: all, chapters (no bar stands on them) and experiments. */
#define IS_CHAPTER (-2)
static struct {
    int experiment; /* its index, MENU_ALL or IS_CHAPTER */
    const char *title, *missing;
    unsigned page, column, row;
} items[MAX_ITEMS];
static unsigned n_items, n_pages, n_columns;
static struct cpu_ident cpu;

/* ---- Text ---- */

/* ASCII of exactly this width. Returns the column behind it. */
static unsigned put(unsigned column, unsigned row, uint8_t attribute, unsigned width,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));
static unsigned put(unsigned column, unsigned row, uint8_t attribute, unsigned width,
                    const char *format, ...)
{
    char text[2 * TEXT_SIZE];
    va_list ap;
    va_start(ap, format);
    kvsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    for (size_t at = strlen(text); at < width && at < TEXT_SIZE; at++) {
        text[at] = ' ';
        text[at + 1] = '\0';
    }
    if (width < sizeof(text))
        text[width] = '\0';
    return screen_text(column, row, attribute, text);
}

static void rule(unsigned row)
{
    for (unsigned column = 0; column < screen_columns(); column++)
        screen_text(column, row, RULE, "─");
}

/* ---- Where everything stands ---- */

static unsigned list_rows(void)
{
    return screen_rows() - FIRST_ROW - LAST_ROWS;
}

/* So many rows in each column, from column to column and page to page. A chapter's title is not the
 * last of a column, and has a free row above it when there is room. Returns the number of pages. */
static unsigned place(unsigned rows, bool free_rows)
{
    unsigned page = 0, column = 0, row = 0;
    for (unsigned i = 0; i < n_items; i++) {
        bool chapter = items[i].experiment == IS_CHAPTER;
        if (chapter && free_rows && row > 0)
            row++;
        if (row + (chapter ? 1 : 0) >= rows) {
            row = 0;
            column = (column + 1) % n_columns;
            page += column == 0 ? 1 : 0;
        }
        items[i].page = page;
        items[i].column = column;
        items[i].row = row++;
    }
    return page + 1;
}

/* Columns of about the same length, where one page has room for all. */
static void place_all(void)
{
    unsigned rows = list_rows();
    bool free_rows = place(rows, true) == 1;
    while (rows > 2 && place(rows - 1, free_rows) == 1)
        rows--;
    n_pages = place(rows, free_rows);
}

static void add(int experiment, const char *title, const char *missing)
{
    if (n_items == MAX_ITEMS)
        return;
    items[n_items].experiment = experiment;
    items[n_items].title = title;
    items[n_items++].missing = missing;
}

static const char *chapter_of(const struct experiment *e)
{
    for (size_t i = 0; i < sizeof(chapters) / sizeof(chapters[0]); i++)
        if (strncmp(e->id, chapters[i].number, strlen(chapters[i].number)) == 0)
            return chapters[i].title;
    return "";
}

bool menu_page_init(const struct cmdline *cl)
{
    const char *chapter = NULL;
    if (screen_rows() < ROWS_MIN || screen_columns() < COLUMNS_MIN)
        return false;
    cpu_identify(&cpu);
    n_items = 0;
    n_columns = screen_columns() < TWO_COLUMNS ? 1 : 2;
    add(MENU_ALL, cl->n_select == 0 ? "All experiments" : "What run= selects", NULL);
    for (int i = 0; experiments[i] != NULL; i++) {
        if (experiments[i]->selftest && !cl->selftest)
            continue;
        if (chapter != chapter_of(experiments[i])) {
            chapter = chapter_of(experiments[i]);
            add(IS_CHAPTER, chapter, NULL);
        }
        add(i, experiments[i]->title, need_missing(experiments[i]->needs));
    }
    place_all();
    return true;
}

static unsigned item_of(int chosen)
{
    for (unsigned i = 0; i < n_items; i++)
        if (items[i].experiment == chosen)
            return i;
    return 0;
}

/* ---- What is drawn ---- */

static unsigned column_width(void)
{
    return screen_columns() / n_columns;
}

static uint8_t colour_of_verdict(const char *verdict)
{
    return ON(BLACK, verdict[0] == 'o' ? LIGHT_GREEN : verdict[0] == 'F' ? LIGHT_RED : YELLOW);
}

static void show_item(unsigned i, bool chosen)
{
    unsigned width = column_width() - 1, row = FIRST_ROW + items[i].row;
    unsigned column = items[i].column * column_width();
    if (items[i].experiment == IS_CHAPTER) {
        put(column, row, CHAPTER, width, " %s", items[i].title);
        return;
    }
    if (items[i].experiment == MENU_ALL) {
        put(column, row, chosen ? CHOSEN : EXPERIMENT, width, " %s", items[i].title);
        return;
    }
    const struct experiment *e = experiments[items[i].experiment];
    const char *verdict = summary_verdict(e);
    uint8_t colour = chosen ? CHOSEN : items[i].missing != NULL ? MISSING : EXPERIMENT;
    width -= verdict[0] != '\0' ? VERDICT : 0;
    column = put(column, row, colour, width, "   %-6s%s", e->id, items[i].title);
    if (verdict[0] != '\0')
        put(column, row, chosen ? CHOSEN : colour_of_verdict(verdict), VERDICT, " %s", verdict);
}

static void show_list(int chosen)
{
    unsigned on = item_of(chosen), page = items[on].page;
    static unsigned page_before;
    if (page != page_before) /* its free rows are elsewhere */
        for (unsigned row = 0; row < list_rows(); row++)
            put(0, FIRST_ROW + row, PLAIN, screen_columns(), " ");
    page_before = page;
    for (unsigned i = 0; i < n_items; i++)
        if (items[i].page == page)
            show_item(i, i == on);
}

static void show_machine(void)
{
    const struct pmu_info *info = pmu_info();
    unsigned width = screen_columns(), half = sizeof(" PMU Lab " PMULAB_VERSION "  ") - 1;
    const char *processor = cpu.brand[0] != '\0' ? cpu.brand : cpu.vendor;
    unsigned length = (unsigned)strlen(processor);
    put(0, 0, TITLE_BAR, width, " PMU Lab " PMULAB_VERSION);
    if (half + length + 1 < width)
        put(width - length - 1, 0, TITLE_BAR, length + 1, "%s", processor);
    if (!info->present)
        put(0, 1, WARNING, width, " %s", info->no_pmu);
    else
        put(0, 1, PLAIN, width, " %s: %u x %u-bit general, %u x %u-bit fixed counters", info->title,
            info->n_general, info->general_width, info->n_fixed, info->fixed_width);
}

/* The line below the list: what Enter does. */
static void show_choice(const struct menu_state *state)
{
    unsigned row = screen_rows() - 2, width = screen_columns(), on = item_of(state->chosen);
    char right[TEXT_SIZE] = "";
    if (state->seconds > 0)
        ksnprintf(right, sizeof(right), "without a key all run in %u s ", (unsigned)state->seconds);
    else if (n_pages > 1)
        ksnprintf(right, sizeof(right), "page %u of %u ", items[on].page + 1, n_pages);
    unsigned left = width - (unsigned)strlen(right);
    if (state->message[0] != '\0')
        put(0, row, WARNING, left, " %s", state->message);
    else if (state->typed[0] != '\0')
        put(0, row, EXPERIMENT, left, " run %s_", state->typed);
    else if (state->chosen == MENU_ALL)
        put(0, row, PLAIN, left, " %s, one after the other", items[on].title);
    else if (items[on].missing != NULL)
        put(0, row, PLAIN, left, " %s %s: %s", experiments[state->chosen]->id, items[on].title,
            items[on].missing);
    else
        put(0, row, PLAIN, left, " %s %s: %u %s", experiments[state->chosen]->id, items[on].title,
            experiments[state->chosen]->n_checks,
            experiments[state->chosen]->n_checks == 1 ? "check" : "checks");
    put(left, row, WARNING, width - left, "%s", right);
}

static void show_keys(unsigned row)
{
    static const struct {
        const char *key, *what;
    } keys[] = {
        {" Arrows, 15-3", " choose"},
        {"  Enter", " run"},
        {"  a", " all"},
        {"  c", " chapter"},
        {"  r", " again"},
        {"  d", " registers"},
        {"  q", " end"},
    };
    unsigned column = 0;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        column = screen_text(column, row, KEY, keys[i].key);
        column = screen_text(column, row, KEYS_BAR, keys[i].what);
    }
    put(column, row, KEYS_BAR, screen_columns() - column, " ");
}

void menu_page_show(const struct menu_state *state)
{
    unsigned bottom = screen_rows() - 1;
    show_machine();
    rule(FIRST_ROW - 1);
    show_list(state->chosen);
    rule(bottom - 2);
    show_choice(state);
    show_keys(bottom);
}

/* ---- The bar ---- */

static unsigned distance(unsigned a, unsigned b)
{
    return a > b ? a - b : b - a;
}

/* The item nearest to this row in that column, or `otherwise` when there is none. */
static unsigned nearest(unsigned page, unsigned column, unsigned row, unsigned otherwise)
{
    unsigned best = n_items;
    for (unsigned i = 0; i < n_items; i++) {
        if (items[i].experiment == IS_CHAPTER || items[i].page != page || items[i].column != column)
            continue;
        if (best == n_items || distance(items[i].row, row) < distance(items[best].row, row))
            best = i;
    }
    return best < n_items ? best : otherwise;
}

static unsigned step(unsigned from, int by)
{
    int to = (int)from + by;
    while (to > 0 && to < (int)n_items && items[to].experiment == IS_CHAPTER)
        to += by;
    return to < 0 || to >= (int)n_items ? from : (unsigned)to;
}

int menu_page_move(int chosen, int key)
{
    unsigned on = item_of(chosen), last = step(n_items, -1), to = on;
    unsigned page = items[on].page, column = items[on].column, row = items[on].row;
    if (key == KEY_UP)
        to = step(on, -1);
    else if (key == KEY_DOWN)
        to = step(on, 1);
    else if (key == KEY_LEFT && column > 0)
        to = nearest(page, column - 1, row, on);
    else if (key == KEY_RIGHT)
        to = nearest(page, column + 1, row, on);
    else if (key == KEY_PAGE_UP)
        to = page > 0 ? nearest(page - 1, column, row, 0) : 0;
    else if (key == KEY_PAGE_DOWN)
        to = nearest(page + 1, column, row, last);
    else if (key == KEY_HOME)
        to = 0;
    else if (key == KEY_END)
        to = last;
    return items[to].experiment;
}
