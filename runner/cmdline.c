/* Parser of the command line: a table of words, each with its reader and with what would be right.
 */
#include "runner/cmdline.h"

#include "kernel/print.h"
#include "kernel/string.h"

#define DEFAULT_PORT         0x3f8
#define DEFAULT_BAUD         115200
#define DEFAULT_WATCHDOG_MS  5000
#define DEFAULT_MENU_SECONDS 10
#define MENU_SECONDS_MAX     3600
#define WATCHDOG_MIN         10
#define WATCHDOG_MAX         60000
#define UART_CLOCK           115200
#define UART_REGISTERS       8

/* A piece of the command line; not ended by NUL. */
struct piece {
    const char *text;
    size_t length;
};

/* Takes the next piece up to the separator off the front of rest. False when there is none left. */
static bool next_piece(struct piece *rest, char separator, struct piece *piece)
{
    if (!rest->text)
        return false;
    const char *end = memchr(rest->text, separator, rest->length);
    piece->text = rest->text;
    piece->length = end ? (size_t)(end - rest->text) : rest->length;
    if (end) {
        rest->text = end + 1;
        rest->length -= piece->length + 1;
    } else {
        rest->text = NULL;
    }
    return true;
}

static bool is(struct piece piece, const char *word)
{
    return strlen(word) == piece.length && memcmp(piece.text, word, piece.length) == 0;
}

static int digit_of(char c, unsigned base)
{
    int value = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : 16;
    return value < (int)base ? value : -1;
}

/* Decimal, or hexadecimal after 0x. False for anything else or above 32 bits. */
static bool read_u32(struct piece piece, uint32_t *value)
{
    unsigned base = 10;
    uint64_t sum = 0;
    if (piece.length > 2 && piece.text[0] == '0' && (piece.text[1] | 0x20) == 'x') {
        base = 16;
        piece.text += 2;
        piece.length -= 2;
    }
    if (piece.length == 0)
        return false;
    for (size_t i = 0; i < piece.length; i++) {
        int digit = digit_of(piece.text[i], base);
        if (digit < 0)
            return false;
        sum = sum * base + (unsigned)digit;
        if (sum > UINT32_MAX)
            return false;
    }
    *value = (uint32_t)sum;
    return true;
}

static size_t skip_digits(struct piece piece, size_t i)
{
    while (i < piece.length && digit_of(piece.text[i], 10) >= 0)
        i++;
    return i;
}

/* N-M or N-*. */
static bool is_selector(struct piece piece)
{
    size_t dash = skip_digits(piece, 0);
    if (dash == 0 || dash >= piece.length || piece.text[dash] != '-')
        return false;
    size_t second = dash + 1;
    if (second + 1 == piece.length && piece.text[second] == '*')
        return true;
    return second < piece.length && skip_digits(piece, second) == piece.length;
}

/* The readers: false when the value is not one that they take. A refused value changes nothing: the
 * console that names it must be the one that works. */

/* What run= has seen so far; "all" beside others still means all. */
static bool read_run(struct cmdline *cl, struct piece value)
{
    struct piece selector;
    while (next_piece(&value, ',', &selector)) {
        bool all = is(selector, "all");
        if (!all && !is_selector(selector))
            return false;
        if (cl->n_select == CMDLINE_MAX_SELECT || selector.length >= sizeof(cl->select[0]))
            return false;
        char *to = cl->select[cl->n_select++];
        memcpy(to, selector.text, selector.length);
        to[selector.length] = '\0';
    }
    return true;
}

static bool read_list(struct cmdline *cl, struct piece value)
{
    (void)value;
    cl->list = true;
    return true;
}

static bool read_menu(struct cmdline *cl, struct piece value)
{
    uint32_t seconds = DEFAULT_MENU_SECONDS;
    if (value.text && (!read_u32(value, &seconds) || seconds > MENU_SECONDS_MAX))
        return false;
    cl->menu = true;
    cl->menu_seconds = seconds;
    return true;
}

static bool read_selftest(struct cmdline *cl, struct piece value)
{
    (void)value;
    cl->selftest = true;
    return true;
}

static bool read_trace(struct cmdline *cl, struct piece value)
{
    bool msr = is(value, "msr");
    cl->trace_msr |= msr;
    return msr;
}

static bool read_pmi(struct cmdline *cl, struct piece value)
{
    bool fixed = is(value, "fixed"), nmi = is(value, "nmi");
    if (fixed || nmi)
        cl->pmi = nmi ? PMI_NMI : PMI_FIXED;
    return fixed || nmi;
}

static bool read_apic(struct cmdline *cl, struct piece value)
{
    bool xapic = is(value, "xapic"), x2apic = is(value, "x2apic");
    if (xapic || x2apic)
        cl->apic = x2apic ? APIC_X2APIC : APIC_XAPIC;
    return xapic || x2apic;
}

static bool read_clock(struct cmdline *cl, struct piece value)
{
    static const char *const names[] = {
        [CLOCK_AUTO] = "auto", [CLOCK_CPUID] = "cpuid", [CLOCK_HPET] = "hpet",
        [CLOCK_ACPI] = "acpi", [CLOCK_8254] = "8254",   [CLOCK_NONE] = "none",
    };
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!is(value, names[i]))
            continue;
        cl->clock = (enum clock_choice)i;
        return true;
    }
    return false;
}

static bool read_console(struct cmdline *cl, struct piece value)
{
    bool serial = false, vga = false;
    struct piece name;
    while (next_piece(&value, ',', &name)) {
        bool is_serial = is(name, "serial"), is_vga = is(name, "vga");
        if (!is_serial && !is_vga)
            return false;
        serial |= is_serial;
        vga |= is_vga;
    }
    cl->console_serial = serial;
    cl->console_vga = vga;
    return true;
}

static bool is_port(struct piece piece, uint32_t *port)
{
    return read_u32(piece, port) && *port > 0 && *port <= UINT16_MAX + 1 - UART_REGISTERS;
}

static bool is_baud(struct piece piece, uint32_t *baud)
{
    return read_u32(piece, baud) && *baud > 0 && UART_CLOCK % *baud == 0 &&
           UART_CLOCK / *baud <= UINT16_MAX;
}

static bool read_serial(struct cmdline *cl, struct piece value)
{
    struct piece text;
    uint32_t port, baud = DEFAULT_BAUD;
    next_piece(&value, ',', &text);
    if (!is_port(text, &port))
        return false;
    if (next_piece(&value, ',', &text) && (!is_baud(text, &baud) || value.text))
        return false;
    cl->serial_port = (uint16_t)port;
    cl->serial_baud = baud;
    return true;
}

static bool read_watchdog(struct cmdline *cl, struct piece value)
{
    uint32_t ms;
    if (!read_u32(value, &ms) || ms < WATCHDOG_MIN || ms > WATCHDOG_MAX)
        return false;
    cl->watchdog_ms = ms;
    return true;
}

static bool read_end(struct cmdline *cl, struct piece value)
{
    static const char *const names[] = {
        [END_HALT] = "halt",
        [END_POWEROFF] = "poweroff",
        [END_REBOOT] = "reboot",
    };
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!is(value, names[i]))
            continue;
        cl->end = (enum ending)i;
        return true;
    }
    return false;
}

enum takes { NO_VALUE, MAY_HAVE_VALUE, NEEDS_VALUE };

static const struct {
    const char *name;
    enum takes value;
    bool (*read)(struct cmdline *cl, struct piece value);
    const char *right;
} words[] = {
    {"run", NEEDS_VALUE, read_run,
     "run takes up to 128 of N-M, N-* or all, with commas between (run=15-3,14-*)"},
    {"list", NO_VALUE, read_list, "list stands alone"},
    {"menu", MAY_HAVE_VALUE, read_menu,
     "menu stands alone or takes the seconds it waits, up to 3600 (menu=10; 0: for ever)"},
    {"pmi", NEEDS_VALUE, read_pmi, "pmi takes fixed or nmi"},
    {"apic", NEEDS_VALUE, read_apic, "apic takes x2apic or xapic"},
    {"trace", NEEDS_VALUE, read_trace, "trace takes msr"},
    {"clock", NEEDS_VALUE, read_clock, "clock takes auto, cpuid, hpet, acpi, 8254 or none"},
    {"console", NEEDS_VALUE, read_console,
     "console takes serial, vga or both (console=serial,vga)"},
    {"serial", NEEDS_VALUE, read_serial,
     "serial takes port,baud with a divisor of 115200 (serial=0x3f8,115200)"},
    {"watchdog", NEEDS_VALUE, read_watchdog, "watchdog takes 10 to 60000 milliseconds"},
    {"end", NEEDS_VALUE, read_end, "end takes halt, poweroff or reboot"},
    {"selftest", NO_VALUE, read_selftest, "selftest stands alone"},
};
#define N_WORDS (sizeof(words) / sizeof(words[0]))
#define KNOWN_WORDS                                                                                \
    "known are run= list menu pmi= apic= trace= clock= console= serial= watchdog= end= selftest"

static void wrong(struct cmdline *cl, struct piece word, const char *right)
{
    if (cl->n_errors < CMDLINE_MAX_ERRORS) {
        bool cut = word.length > CMDLINE_WORD;
        ksnprintf(cl->errors[cl->n_errors], sizeof(cl->errors[0]), "%.*s%s: %s",
                  (int)(cut ? CMDLINE_WORD : word.length), word.text, cut ? "..." : "", right);
    }
    cl->n_errors++;
}

/* "run=15": does it name a chapter as if it were an experiment? */
static bool names_chapter(struct piece value, struct piece *chapter)
{
    while (next_piece(&value, ',', chapter))
        if (chapter->length > 0 && skip_digits(*chapter, 0) == chapter->length)
            return true;
    return false;
}

static void wrong_value(struct cmdline *cl, struct piece word, struct piece value, size_t i)
{
    char right[CMDLINE_WORD + 64];
    struct piece chapter;
    if (words[i].read != read_run || !names_chapter(value, &chapter) ||
        chapter.length > CMDLINE_WORD) {
        wrong(cl, word, words[i].right);
        return;
    }
    ksnprintf(right, sizeof(right), "a whole chapter is run=%.*s-*", (int)chapter.length,
              chapter.text);
    wrong(cl, word, right);
}

static void read_word(struct cmdline *cl, struct piece word)
{
    struct piece value = word, name;
    next_piece(&value, '=', &name);
    for (size_t i = 0; i < N_WORDS; i++) {
        if (!is(name, words[i].name))
            continue;
        if (words[i].value == (value.text ? NO_VALUE : NEEDS_VALUE) || !words[i].read(cl, value))
            wrong_value(cl, word, value, i);
        return;
    }
    wrong(cl, word, KNOWN_WORDS);
}

void cmdline_refuse(struct cmdline *cl, const char *why)
{
    wrong(cl, (struct piece){why, strlen(why)}, "nothing is run");
}

bool cmdline_parse(struct cmdline *cl, const char *text)
{
    struct piece rest = {text, strlen(text)}, word;

    memset(cl, 0, sizeof(*cl));
    cl->console_serial = cl->console_vga = true;
    cl->serial_port = DEFAULT_PORT;
    cl->serial_baud = DEFAULT_BAUD;
    cl->watchdog_ms = DEFAULT_WATCHDOG_MS;
    while (next_piece(&rest, ' ', &word))
        if (word.length > 0)
            read_word(cl, word);
    for (unsigned i = 0; i < cl->n_select; i++)
        if (strcmp(cl->select[i], "all") == 0)
            cl->n_select = 0; /* an empty list means all */
    return cl->n_errors == 0;
}

bool cmdline_selects(const struct cmdline *cl, const char *id)
{
    for (unsigned i = 0; i < cl->n_select; i++) {
        const char *star = memchr(cl->select[i], '*', strlen(cl->select[i]));
        size_t length = star ? (size_t)(star - cl->select[i]) : strlen(cl->select[i]) + 1;
        if (strncmp(cl->select[i], id, length) == 0)
            return true;
    }
    return cl->n_select == 0;
}
