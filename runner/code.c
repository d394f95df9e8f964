/* The QR code on the screen. */
#include "runner/code.h"

#include <stdbool.h>
#include <stddef.h>

#include "kernel/console/screen.h"
#include "kernel/string.h"
#include "runner/qr.h"
#include "runner/summary.h"

#define TURN_SECONDS 20
#define MAX_TEXT     1024 /* more than any version holds */
#define TEXT_VERSION 6    /* with its quiet zone it fits 80 x 50 half characters; 7 does not */
#define PLAIN        ON(BLACK, GREY)
#define BAR          ON(BLUE, WHITE) /* as the line of progress, in whose place it stands */
#define STRONG       ON(BLACK, WHITE)

static uint8_t bits[(QR_MAX_SIZE * QR_MAX_SIZE + 7) / 8];
static unsigned size;
static bool has_page, on_page;

/* Of at most that version; what that cannot hold is left out of the text. */
static bool make(const struct bootinfo *boot, unsigned max_version)
{
    static struct qr qr;
    char text[MAX_TEXT];
    if (!summary_code(boot, text, qr_capacity(max_version, QR_L) + 1) ||
        !qr_encode(&qr, text, max_version))
        return false;
    size = qr.size;
    memset(bits, 0, sizeof(bits));
    for (unsigned n = 0; n < size * size; n++)
        if (qr.modules[n / size][n % size] & QR_DARK)
            bits[n / 8] |= (uint8_t)(1 << n % 8);
    return true;
}

static void write_page(void)
{
    static const char *const lines[] = {
        "The summary as a QR code:", "what a telephone reads is",   "a report, to be sent as",
        "text. To check it:",        "  scripts/check-report FILE", "",
        "Any key: the summary",
    };
    screen_cover(true);
    screen_reserve(0); /* the code needs every row */
    screen_text(0, 0, STRONG, "PMU Lab " PMULAB_VERSION);
    for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        screen_text(0, 2 + i, PLAIN, lines[i]);
    on_page = true;
}

void code_show(const struct bootinfo *boot)
{
    if (screen_columns() == 0 || !make(boot, QR_MAX_VERSION))
        return;
    if (screen_bitmap(bits, size))
        return;
    write_page();
    has_page = screen_bitmap(bits, size) || (make(boot, TEXT_VERSION) && screen_bitmap(bits, size));
    code_hide();
}

uint32_t code_turn_seconds(void)
{
    return has_page ? TURN_SECONDS : 0;
}

void code_turn(void)
{
    if (on_page) {
        code_hide();
    } else if (has_page) {
        write_page();
        screen_bitmap(bits, size);
    }
}

void code_hide(void)
{
    if (!on_page)
        return;
    on_page = false;
    screen_reserve(has_page);
    screen_cover(false);
    if (!has_page)
        return;
    unsigned row = screen_rows() - 1,
             column = screen_text(0, row, BAR, " c: the summary as a QR code");
    while (column < screen_columns())
        column = screen_text(column, row, BAR, " ");
}
