/* The report on the screen. */
#include "kernel/console/report.h"

#include <stddef.h>
#include <stdint.h>

#include "kernel/console/console.h"
#include "kernel/console/cp437.h"
#include "kernel/console/screen.h"
#include "kernel/print.h"
#include "kernel/string.h"

#define LINE_SIZE  1024
#define TITLE_SIZE 96
#define TEXT_SIZE  200
#define INDENT     14 /* where the words of a check begin */

#define PLAIN  ON(BLACK, GREY)
#define STRONG ON(BLACK, WHITE)
#define GOOD   ON(BLACK, LIGHT_GREEN)
#define BAD    ON(BLACK, LIGHT_RED)
#define LEFT   ON(BLACK, YELLOW) /* left out */
#define DETAIL ON(BLACK, CYAN)

/* An interrupt handler may print in the middle of all this: its text may be mixed with another's on
 * the screen, and nothing worse. line[] always ends with a NUL. */
static char line[LINE_SIZE];
static size_t length;
static bool muted;

static bool begun;             /* there is a line on the screen that has to be ended first */
static bool in_values;         /* that line is one of values */
static bool in_summary;        /* from its first line to its last */
static bool last_failed;       /* the check before was not ok */
static bool after_title;       /* an experiment's title was the line before */
static char title[TITLE_SIZE]; /* the last one's */
static uint64_t title_line;

/* SKIPs that follow each other for one reason: of one experiment, or of several that have nothing
 * else. */
static struct {
    bool open;
    bool whole;             /* it has its experiments from their titles on */
    bool title_before;      /* a title has come behind it; it may be one of another one */
    uint64_t line;          /* where it stands */
    char title[TITLE_SIZE]; /* of the first */
    char text[TEXT_SIZE], last_text[TEXT_SIZE]; /* of the first check and the last */
    char reason[TEXT_SIZE];
    unsigned experiments, first, last; /* the numbers of its checks */
    unsigned last_before;              /* without the last experiment */
} skips;

/* ---- Words ---- */

static void begin(void)
{
    if (begun)
        screen_newline();
    begun = true;
    in_values = false;
}

static void pad(unsigned column)
{
    while (screen_column() < column && column < screen_columns())
        screen_putc(' ', PLAIN);
}

static uint8_t colour_in_summary(const char *word, size_t size, uint8_t otherwise)
{
    static const struct {
        const char *word;
        uint8_t colour;
    } verdicts[] = {{"ok", GOOD}, {"FAIL", BAD}, {"failed:", BAD}, {"skip", LEFT}};
    for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++)
        if (strlen(verdicts[i].word) == size && memcmp(word, verdicts[i].word, size) == 0)
            return verdicts[i].colour;
    return otherwise;
}

/* Goes on where the screen is, and on the lines below from this column on; breaks at blanks. */
static void words(const char *text, uint8_t colour, unsigned indent)
{
    if (indent > screen_columns() / 2)
        indent = 0;
    while (*text != '\0') {
        const char *word = text;
        unsigned blanks = 0, width = 0;
        uint8_t cp437;
        for (; *word == ' '; word++)
            blanks++;
        const char *end = word;
        for (; *end != '\0' && *end != ' '; width++)
            end = cp437_next(end, &cp437);
        if (screen_column() + blanks + width > screen_columns() && screen_column() > indent) {
            screen_newline();
            pad(indent);
        } else {
            for (; blanks > 0; blanks--)
                screen_putc(' ', colour);
        }
        uint8_t this = in_summary ? colour_in_summary(word, (size_t)(end - word), colour) : colour;
        for (text = word; text < end;) {
            text = cp437_next(text, &cp437);
            screen_putc(cp437, this);
        }
    }
}

static void check_line(const char *mark, uint8_t colour, const char *number, const char *text)
{
    char start[TEXT_SIZE];
    begin();
    ksnprintf(start, sizeof(start), "  %-6s", mark);
    words(start, colour, 0);
    ksnprintf(start, sizeof(start), "%4s  ", number);
    words(start, DETAIL, 0);
    words(text, colour == BAD ? STRONG : PLAIN, INDENT);
}

static void title_lines(const char *text)
{
    begin();
    words(text, STRONG, 2);
}

/* ---- SKIPs ---- */

static void skip_line(unsigned experiments, unsigned first, unsigned last, const char *first_text)
{
    char number[TEXT_SIZE], text[2 * TEXT_SIZE];
    unsigned checks = last - first + 1;
    if (checks == 1) {
        ksnprintf(number, sizeof(number), "%u", first);
        ksnprintf(text, sizeof(text), "%s: %s", first_text, skips.reason);
    } else {
        ksnprintf(number, sizeof(number), "%u-%u", first, last);
        if (experiments > 1)
            ksnprintf(text, sizeof(text), "%u checks of %u experiments skipped: %s", checks,
                      experiments, skips.reason);
        else
            ksnprintf(text, sizeof(text), "%u checks skipped: %s", checks, skips.reason);
    }
    check_line("skip", LEFT, number, text);
}

static void show_skips(unsigned experiments, unsigned last)
{
    screen_rewind(skips.line);
    begun = false;
    if (skips.whole && experiments == 1)
        title_lines(skips.title);
    skip_line(experiments, skips.first, last, skips.text);
}

/* Something else comes. When it is of the last experiment, that one is not of those that have only
 * SKIPs: its title comes back. */
static void end_skips(bool same_experiment)
{
    if (same_experiment && skips.open && skips.experiments > 1 && !skips.title_before) {
        show_skips(skips.experiments - 1, skips.last_before);
        title_lines(title);
        skip_line(1, skips.last_before + 1, skips.last, skips.last_text);
    }
    skips.open = false;
}

static void skip(unsigned number, const char *text, const char *reason)
{
    bool more = skips.open && strcmp(skips.reason, reason) == 0;
    if (more && skips.title_before) {
        skips.experiments++;
        skips.last_before = skips.last;
    }
    if (!more) {
        end_skips(true);
        skips.whole = after_title;
        if (!after_title)
            begin();
        skips.line = after_title ? title_line : screen_line();
        skips.first = number;
        skips.experiments = 1;
        skips.last_before = 0;
        ksnprintf(skips.title, sizeof(skips.title), "%s", title);
        ksnprintf(skips.text, sizeof(skips.text), "%s", text);
        ksnprintf(skips.reason, sizeof(skips.reason), "%s", reason);
    }
    skips.open = true;
    skips.title_before = false;
    skips.last = number;
    ksnprintf(skips.last_text, sizeof(skips.last_text), "%s", text);
    show_skips(skips.experiments, skips.last);
}

/* ---- The kinds of lines ---- */

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static const char *behind_digits(const char *text)
{
    while (*text >= '0' && *text <= '9')
        text++;
    return text;
}

static const char *find(const char *text, const char *what)
{
    for (; *text != '\0'; text++)
        if (starts(text, what))
            return text;
    return NULL;
}

/* Behind "ok " or "not ok ": 12 - ex15-3 words # SKIP reason */
static void test_point(bool good, char *text)
{
    char number[16];
    unsigned value = 0;
    const char *words_at = behind_digits(text), *skipped = find(text, " # SKIP ");
    for (const char *digit = text; digit < words_at; digit++)
        value = value * 10 + (unsigned)(*digit - '0');
    if (starts(words_at, " - ex")) {
        const char *blank = find(words_at + 3, " ");
        words_at = blank != NULL ? blank + 1 : words_at;
    }
    if (skipped != NULL) {
        text[skipped - text] = '\0';
        skip(value, words_at, skipped + strlen(" # SKIP "));
        return;
    }
    end_skips(true);
    ksnprintf(number, sizeof(number), "%u", value);
    check_line(good ? "ok" : "not ok", good ? GOOD : BAD, number, words_at);
    last_failed = !good;
}

/* "  key: value", beside the one before where there is room. */
static void value_line(const char *text)
{
    end_skips(true);
    if (in_values && screen_column() + strlen(text) <= screen_columns()) {
        words("  ", PLAIN, 0);
    } else {
        begin();
        pad(INDENT);
    }
    words(text + 2, last_failed ? LEFT : DETAIL, INDENT);
    in_values = true;
}

static unsigned width_of(const char *text)
{
    unsigned width = 0;
    for (uint8_t cp437; *text != '\0'; width++)
        text = cp437_next(text, &cp437);
    return width;
}

static void comment(const char *text)
{
    unsigned indent = 0, width = width_of(text);
    end_skips(*text != '\0' && !starts(text, "---"));
    if (starts(text, "--- summary")) {
        screen_new_page();
        begun = false;
        in_summary = true;
    }
    for (const char *c = text; *c == ' '; c++)
        indent++;
    /* The registers of a dump are one column too wide for 80: better a blank less in front. */
    if (width > screen_columns() && width - indent <= screen_columns())
        text += width - screen_columns();
    begin();
    words(text, starts(text, "---") ? STRONG : starts(text, "note:") ? LEFT : PLAIN, indent + 2);
    if (starts(text, "--- CRC"))
        in_summary = false;
}

static void show_line(char *text)
{
    bool is_title = starts(text, "# ex") && behind_digits(text + 4) > text + 4;
    if (is_title) {
        if (skips.open && !skips.title_before)
            skips.title_before = skips.whole;
        if (!skips.title_before)
            end_skips(false);
        ksnprintf(title, sizeof(title), "%s", text + 4);
        begin();
        title_line = screen_line();
        begun = false;
        title_lines(title);
    } else if (starts(text, "ok ")) {
        test_point(true, text + 3);
    } else if (starts(text, "not ok ")) {
        test_point(false, text + 7);
    } else if (starts(text, "  ")) {
        if (strcmp(text, "  ---") != 0 && strcmp(text, "  ...") != 0)
            value_line(text);
    } else if (starts(text, "#")) {
        comment(text[1] == ' ' ? text + 2 : text + 1);
    } else if (starts(text, "Bail out!")) {
        end_skips(false);
        begin();
        words(text, BAD, 2);
    } else if (starts(text, "1..")) {
        const char *nothing = find(text, "# SKIP ");
        if (nothing != NULL)
            comment(nothing + strlen("# SKIP "));
    } else if (!starts(text, "TAP version")) {
        comment(text);
    }
    after_title = is_title;
}

/* A panic is seen whatever is on the screen. */
static bool is_seen(void)
{
    if (!muted || !starts(line, "Bail out!"))
        return !muted;
    muted = false;
    screen_cover(false);
    screen_look(SCREEN_NEWEST);
    return true;
}

static void report_putc(char byte)
{
    if (byte == '\r') { /* written anew */
        length = 0;
        return;
    }
    size_t at = length;
    if (byte != '\n' && at < LINE_SIZE - 1) {
        line[at++] = byte == '\t' ? ' ' : byte;
        length = at;
        if (at < LINE_SIZE - 1)
            return;
    }
    line[at] = '\0';
    length = 0;
    if (is_seen())
        show_line(line);
}

void report_mute(bool on)
{
    muted = on;
    length = 0;
}

struct console_sink *report_sink(void)
{
    static struct console_sink sink = {.name = "vga", .putc = report_putc};
    begun = muted = in_summary = skips.open = false;
    length = 0;
    return &sink;
}
