/* TAP version 14: https://testanything.org/tap-version-14-specification.html */
#include "runner/tap.h"

#include "lab/experiment.h"
#include "runner/summary.h"
#include "kernel/print.h"
#include "kernel/trap.h"

#include <stdarg.h>
#include <stddef.h>

#define MAX_VALUES 24
#define TEXT_SIZE  160
#define THOUSAND   1000

struct value {
    const char *key;
    char text[TEXT_SIZE];
};

static struct {
    unsigned number; /* of the last check reported, over all experiments */
    unsigned failures;
    const struct experiment *current;
    unsigned next;                     /* check of the current experiment */
    unsigned failures_before, skipped; /* of the current experiment */
    uint64_t failed_checks;            /* struct summary_result has it */
    bool disorder;                     /* a check came too late, or is not listed */
    struct value values[MAX_VALUES];
    unsigned n_values;
} tap;

void tap_begin(void)
{
    kprintf("TAP version 14\n");
}

void tap_plan(unsigned checks)
{
    kprintf("1..%u\n", checks);
}

void tap_plan_at_end(void)
{
    if (tap.number > 0)
        tap_plan(tap.number);
    else
        kprintf("1..0 # SKIP nothing was run\n");
}

void tap_result(struct summary_result *result)
{
    *result = (struct summary_result){tap.current, tap.next, tap.failures - tap.failures_before,
                                      tap.skipped, tap.failed_checks};
}

void tap_bail_out(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    kprintf("Bail out! ");
    kvprintf(format, ap);
    kprintf("\n");
    va_end(ap);
}

unsigned tap_failures(void)
{
    return tap.failures;
}

void tap_start(const struct experiment *e)
{
    tap.current = e;
    tap.next = 0;
    tap.failures_before = tap.failures;
    tap.skipped = 0;
    tap.failed_checks = 0;
    tap.disorder = false;
    tap.n_values = 0;
    kprintf("# ex%s %s\n", e->id, e->title);
}

static void print_values(void)
{
    if (tap.n_values == 0)
        return;
    kprintf("  ---\n");
    for (unsigned i = 0; i < tap.n_values; i++)
        kprintf("  %s: %s\n", tap.values[i].key, tap.values[i].text);
    kprintf("  ...\n");
    tap.n_values = 0;
}

/* A test point: counts it and prints its line; skip is NULL or the reason. */
static void point(bool ok, const char *skip)
{
    const char *description = tap.current->checks[tap.next];
    if (!ok)
        tap.failures++;
    if (!ok && tap.next < 64)
        tap.failed_checks |= 1ULL << tap.next;
    tap.next++;
    tap.number++;
    if (skip != NULL)
        tap.skipped++;
    kprintf("%sok %u - ex%s %s", ok ? "" : "not ", tap.number, tap.current->id, description);
    if (skip != NULL)
        kprintf(" # SKIP %s", skip);
    kprintf("\n");
}

/* A PMI whose handler prints must not come between a test point and its values. */
static uint64_t hold_interrupts(void)
{
    uint64_t rflags = irq_save();
    trap_hold(true);
    return rflags;
}

static void release_interrupts(uint64_t rflags)
{
    trap_hold(false);
    irq_restore(rflags);
}

/* One test point with the values gathered for it. */
static void report(bool ok, const char *skip)
{
    uint64_t rflags = hold_interrupts();
    point(ok, skip);
    print_values();
    release_interrupts(rflags);
}

/* The values gathered are those of a later check. */
static void report_passed_over(void)
{
    uint64_t rflags = hold_interrupts();
    point(false, NULL);
    kprintf("  ---\n  reason: \"the experiment passed over this check\"\n  ...\n");
    release_interrupts(rflags);
}

/* Makes `which` the next check. False when that is not possible: the plan has no number for it,
 * which is reported when the experiment ends. */
static bool turn_of(unsigned which)
{
    if (which < tap.next || which >= tap.current->n_checks) {
        tap.disorder = true;
        tap.n_values = 0;
        return false;
    }
    while (tap.next < which)
        report_passed_over();
    return true;
}

void check(unsigned which, bool ok)
{
    if (turn_of(which))
        report(ok, NULL);
}

static void skip(unsigned first, unsigned last, const char *format, va_list ap)
{
    char reason[TEXT_SIZE];
    kvsnprintf(reason, sizeof(reason), format, ap);
    for (unsigned which = first; which <= last; which++)
        if (turn_of(which))
            report(true, reason);
}

void check_skip(unsigned which, const char *reason_format, ...)
{
    va_list ap;
    va_start(ap, reason_format);
    skip(which, which, reason_format, ap);
    va_end(ap);
}

void check_skip_all(unsigned first, unsigned last, const char *reason_format, ...)
{
    va_list ap;
    va_start(ap, reason_format);
    skip(first, last, reason_format, ap);
    va_end(ap);
}

void tap_skip_all(const char *reason)
{
    while (tap.next < tap.current->n_checks)
        report(true, reason);
}

void tap_end(const char *why)
{
    char rest[TEXT_SIZE];
    if (tap.disorder) {
        kprintf("# ex%s makes a check out of its turn, twice, or one that it does not list\n",
                tap.current->id);
        tap.failures++;
    }
    if (tap.next == tap.current->n_checks && why != NULL) {
        /* All checks were reported, and then it broke: the plan has no number left to say so. */
        kprintf("# ex%s ended after its last check: %s\n", tap.current->id, why);
        tap.failures++;
    }
    if (tap.next == tap.current->n_checks)
        return;
    if (why == NULL)
        why = "the experiment returned before this check";
    value_str("reason", "%s", why);
    report(false, NULL);
    ksnprintf(rest, sizeof(rest), "not reached: %s", why);
    tap_skip_all(rest);
}

static char *new_value(const char *key)
{
    if (tap.n_values == MAX_VALUES)
        return NULL;
    tap.values[tap.n_values].key = key;
    return tap.values[tap.n_values++].text;
}

void value_u64(const char *key, uint64_t value)
{
    char *text = new_value(key);
    if (text != NULL)
        ksnprintf(text, TEXT_SIZE, "%llu", (unsigned long long)value);
}

void value_hex(const char *key, uint64_t value)
{
    char *text = new_value(key);
    if (text != NULL)
        ksnprintf(text, TEXT_SIZE, "0x%llx", (unsigned long long)value);
}

/* Text is quoted, so that '#' and ':' in it mean nothing to a YAML reader. */
void value_str(const char *key, const char *format, ...)
{
    char plain[TEXT_SIZE];
    char *text = new_value(key);
    if (text == NULL)
        return;
    va_list ap;
    va_start(ap, format);
    kvsnprintf(plain, sizeof(plain), format, ap);
    va_end(ap);
    char *out = text;
    *out++ = '"';
    for (const char *c = plain; *c != '\0' && out < text + TEXT_SIZE - 3; c++) {
        if (*c == '"' || *c == '\\')
            *out++ = '\\';
        *out++ = *c == '\n' ? ' ' : *c;
    }
    *out++ = '"';
    *out = '\0';
}

void value_ratio(const char *key, uint64_t numerator, uint64_t denominator)
{
    char *text = new_value(key);
    if (text == NULL)
        return;
    if (denominator == 0) {
        ksnprintf(text, TEXT_SIZE, "no value");
        return;
    }
    uint64_t thousandths = (numerator * THOUSAND + denominator / 2) / denominator;
    ksnprintf(text, TEXT_SIZE, "%llu.%03llu", (unsigned long long)(thousandths / THOUSAND),
              (unsigned long long)(thousandths % THOUSAND));
}

/* ---- Equality ---- */

/* Puts a value in front of those that were gathered. */
static void value_in_front(const char *key, uint64_t number)
{
    unsigned at = tap.n_values;
    value_u64(key, number);
    if (at == MAX_VALUES)
        return;
    struct value first = tap.values[at];
    for (; at > 0; at--)
        tap.values[at] = tap.values[at - 1];
    tap.values[0] = first;
}

bool check_same(unsigned which, const char *key, uint64_t measured, const char *expected_key,
                uint64_t expected)
{
    value_in_front(key, measured);
    value_u64(expected_key, expected);
    check(which, measured == expected);
    return measured == expected;
}

bool check_equal(unsigned which, const char *key, uint64_t measured, uint64_t expected)
{
    if (measured != expected)
        return check_same(which, key, measured, "expected", expected);
    value_in_front(key, measured);
    check(which, true);
    return true;
}

void note(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    kprintf("# ");
    kvprintf(format, ap);
    kprintf("\n");
    va_end(ap);
}
