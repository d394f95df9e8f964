/* The pager. On the serial port a position is the first line shown; how many lines follow depends
 * on how they wrap. */
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

/* On the serial port: who sits there, and the first line that was printed last. */
static bool active;
static uint64_t top;

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
        if (used == TERMINAL_COLUMNS - (sizeof(SERIAL_PREFIX) - 1)) {
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
    while (line > history_first() && used + height(line - 1) <= TERMINAL_ROWS - 1)
        used += height(--line);
    return line == below && line > history_first() ? line - 1 : line;
}

/* The first line below the page that starts at `from`. */
static uint64_t page_below(uint64_t from)
{
    uint64_t line = from;
    unsigned used = 0;
    while (line <= history_last() && used + height(line) <= TERMINAL_ROWS - 1)
        used += height(line++);
    return line == from ? line + 1 : line;
}

static void put_text(const char *text)
{
    while (*text != '\0')
        serial_putc(*text++);
}

/* Whatever comes next ends or rewrites the last line. */
static void put_page(void)
{
    char where[80];
    uint64_t end = page_below(top);
    serial_putc('\n');
    for (uint64_t line = top; line < end && line <= history_last(); line++) {
        int byte;
        put_text(SERIAL_PREFIX);
        for (size_t i = 0; (byte = history_byte(line, i)) >= 0; i++)
            serial_putc((char)byte);
        serial_putc('\n');
    }
    ksnprintf(where, sizeof(where), SERIAL_PREFIX "-- lines %llu to %llu of %llu --",
              (unsigned long long)top + 1, (unsigned long long)end,
              (unsigned long long)history_last() + 1);
    put_text(where);
}

static bool is_page_key(int key)
{
    return key == KEY_PAGE_UP || key == KEY_PAGE_DOWN || key == KEY_HOME || key == KEY_END;
}

static bool goes_back(int key)
{
    return key == KEY_PAGE_UP || key == KEY_HOME;
}

static bool serial_key(int key)
{
    if (!active && is_page_key(key) && goes_back(key)) {
        top = page_above(history_last() + 1);
        active = true;
    } else if (!active) {
        return is_page_key(key);
    }
    if (key == KEY_PAGE_UP)
        top = page_above(top);
    else if (key == KEY_HOME)
        top = history_first();
    else if (key == KEY_PAGE_DOWN && page_below(top) <= history_last())
        top = page_below(top);
    else {
        active = false;
        return is_page_key(key);
    }
    put_page();
    return true;
}

/* The last row of the log says where one is; that line is seen on the next page. */
static bool screen_key(int key)
{
    static bool back;
    char where[80];
    uint64_t page = screen_log_rows() - 1, at = screen_top(), last = screen_line();
    if (screen_log_rows() < 2 || (!back && !goes_back(key)))
        return is_page_key(key);
    if (key == KEY_PAGE_UP)
        at = at > screen_oldest() + page ? at - page : screen_oldest();
    else if (key == KEY_HOME)
        at = screen_oldest();
    else
        at = key == KEY_PAGE_DOWN && at + page <= last ? at + page : SCREEN_NEWEST;
    back = at != SCREEN_NEWEST;
    screen_look(at);
    if (!back)
        return is_page_key(key);
    uint64_t end = at + page < last ? at + page : last + 1;
    ksnprintf(where, sizeof(where), "-- lines %llu to %llu of %llu --", (unsigned long long)at + 1,
              (unsigned long long)end, (unsigned long long)last + 1);
    for (unsigned column = screen_text(0, (unsigned)page, ON(BLACK, YELLOW), where);
         column < screen_columns();)
        column = screen_text(column, (unsigned)page, ON(BLACK, YELLOW), " ");
    return true;
}

bool pager_key(int key, bool from_serial)
{
    return from_serial ? serial_key(key) : screen_key(key);
}
