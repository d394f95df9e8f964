/* The progress of a run. */
#include "runner/progress.h"

#include <stddef.h>

#include "kernel/console/screen.h"
#include "kernel/print.h"
#include "kernel/string.h"
#include "lab/experiment.h"
#include "runner/summary.h"

#define BAR_PART  6 /* of the row, for the bar: a sixth of it */
#define ROWS_MIN  8 /* on fewer the log needs them all */
#define TEXT_SIZE (SCREEN_MAX_COLUMNS + 1)

static struct {
    unsigned experiments, done, passed, failed, skipped;
    const char *text; /* beside the bar: the experiment's number and title, or what to do now */
    const char *id;
} run;

static unsigned put(unsigned column, uint8_t ink, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static unsigned put(unsigned column, uint8_t ink, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list ap;
    va_start(ap, format);
    kvsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    return screen_text(column, screen_rows() - 1, ON(BLUE, ink), text);
}

static unsigned digits(unsigned number)
{
    unsigned n = 1;
    while (number /= 10)
        n++;
    return n;
}

static void show(void)
{
    if (screen_rows() < ROWS_MIN)
        return;
    unsigned width = screen_columns() / BAR_PART, column = put(0, WHITE, " ");
    unsigned filled = run.experiments > 0 ? width * run.done / run.experiments : width;
    unsigned counts = (unsigned)sizeof("ok   not ok   skip  ") - 1 + digits(run.passed) +
                      digits(run.failed) + digits(run.skipped);
    for (unsigned i = 0; i < width; i++)
        column = put(column, i < filled ? LIGHT_CYAN : LIGHT_BLUE, i < filled ? "█" : "░");
    column = put(column, WHITE, "  %u/%u  %s%s", run.done, run.experiments, run.id,
                 run.id[0] != '\0' ? " " : "");
    int room = (int)screen_columns() - (int)column - (int)counts - 2;
    if (room > 0)
        column = put(column, GREY, "%-*.*s", room, room, run.text);
    column = put(column, LIGHT_GREEN, "  ok %u", run.passed);
    column = put(column, run.failed > 0 ? LIGHT_RED : GREY, "  not ok %u", run.failed);
    column = put(column, run.skipped > 0 ? YELLOW : GREY, "  skip %u ", run.skipped);
    while (column < screen_columns())
        column = put(column, WHITE, " ");
}

void progress_begin(unsigned experiments)
{
    memset(&run, 0, sizeof(run));
    run.experiments = experiments;
    run.id = run.text = "";
    if (screen_rows() >= ROWS_MIN)
        screen_reserve(1);
    show();
}

void progress_next(const struct experiment *e)
{
    run.id = e->id;
    run.text = e->title;
    show();
}

void progress_add(const struct summary_result *result)
{
    run.done++;
    run.failed += result->failed;
    run.skipped += result->skipped;
    run.passed += result->checks - result->failed - result->skipped;
    show();
}

void progress_end(const char *what_now)
{
    run.id = "";
    run.text = what_now;
    show();
}
