/* The pager. A position is the first line shown; how many lines follow depends on how they wrap. */
#include "kernel/console/pager.h"

#include <stdint.h>

#include "kernel/console/console.h"
#include "kernel/console/history.h"
#include "kernel/console/keys.h"
#include "kernel/print.h"
#include "kernel/console/screen.h"

/* What any serial terminal has. */
#define TERMINAL_COLUMNS 80
#define TERMINAL_ROWS    24
#define SERIAL_PREFIX    "# | " /* keeps the stream valid TAP */

static bool active;
static uint64_t top;
static unsigned columns, rows; /* of text: without the line that says where we are */

/* Bytes 10xxxxxx continue a character of UTF-8. */
static bool continues(int byte)
{
    return (byte & 0xc0) == 0x80;
}

static unsigned height(uint64_t line)
{
    unsigned needed = 1, used = 0;
    int byte;
    for (size_t i = 0; (byte = history_byte(line, i)) >= 0; i++) {
        if (continues(byte))
            continue;
        if (used == columns) {
            needed++;
            used = 0;
        }
        used++;
    }
    return needed;
}

/* The first line of the page that ends right above `below`. */
static uint64_t page_above(uint64_t below)
{
    uint64_t line = below;
    unsigned used = 0;
    while (line > history_first() && used + height(line - 1) <= rows)
        used += height(--line);
    return line == below && line > history_first() ? line - 1 : line;
}

/* The first line below the page that starts at `from`. */
static uint64_t page_below(uint64_t from)
{
    uint64_t line = from;
    unsigned used = 0;
    while (line <= history_last() && used + height(line) <= rows)
        used += height(line++);
    return line == from ? line + 1 : line;
}

static void put_text(void (*put)(char c), const char *text)
{
    while (*text != '\0')
        put(*text++);
}

static void put_page(void (*put)(char c), const char *prefix)
{
    char where[80];
    uint64_t end = page_below(top);
    for (uint64_t line = top; line < end && line <= history_last(); line++) {
        int byte;
        put_text(put, prefix);
        for (size_t i = 0; (byte = history_byte(line, i)) >= 0; i++)
            put((char)byte);
        put('\n');
    }
    ksnprintf(where, sizeof(where), "%s-- lines %llu to %llu of %llu --", prefix,
              (unsigned long long)top + 1, (unsigned long long)end,
              (unsigned long long)history_last() + 1);
    put_text(put, where);
}

static void show(bool from_serial)
{
    if (screen_columns() > 0) {
        screen_clear();
        put_page(screen_putc, "");
    }
    if (from_serial) {
        serial_putc('\n');
        put_page(serial_putc,
                 SERIAL_PREFIX); /* whatever comes next ends or rewrites its last line */
    }
}

static void enter(bool from_serial)
{
    bool terminal = from_serial || screen_columns() == 0;
    columns =
        terminal ? TERMINAL_COLUMNS - (unsigned)(sizeof(SERIAL_PREFIX) - 1) : screen_columns();
    rows = (terminal ? TERMINAL_ROWS : screen_rows()) - 1;
    top = page_above(history_last() + 1);
    active = true;
    screen_save();
}

bool pager_key(int key, bool from_serial)
{
    bool mine = key == KEY_PAGE_UP || key == KEY_PAGE_DOWN || key == KEY_HOME || key == KEY_END;
    bool back = key == KEY_PAGE_UP || key == KEY_HOME;

    if (!active && mine && back)
        enter(from_serial);
    else if (!active)
        return mine;
    if (key == KEY_PAGE_UP)
        top = page_above(top);
    else if (key == KEY_HOME)
        top = history_first();
    else if (key == KEY_PAGE_DOWN && page_below(top) <= history_last())
        top = page_below(top);
    else {
        active = false;
        screen_restore();
        return mine;
    }
    show(from_serial);
    return true;
}
