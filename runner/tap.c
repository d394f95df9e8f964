/* TAP version 14: https://testanything.org/tap-version-14-specification.html */
#include "runner/tap.h"

#include "lab/experiment.h"
#include "runner/summary.h"
#include "kernel/print.h"
#include "kernel/trap.h"
#include "lapic/lapic.h"

#include <stdarg.h>
#include <stddef.h>

#define MAX_VALUES 24
#define TEXT_SIZE  160
#define THOUSAND   1000

static struct {
    unsigned number; /* of the last check reported, over all experiments */
    unsigned failures;
    const struct experiment *current;
    unsigned next;                                   /* check of the current experiment */
    unsigned failures_before, skipped, first_failed; /* of the current experiment */
    bool too_many;                                   /* it made more checks than it lists */
    struct {
        const char *key;
        char text[TEXT_SIZE];
    } values[MAX_VALUES];
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
                                      tap.skipped, tap.first_failed};
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

unsigned tap_count_checks(const struct experiment *e)
{
    unsigned n = 0;
    while (e->checks[n] != NULL)
        n++;
    return n;
}

void tap_start(const struct experiment *e)
{
    tap.current = e;
    tap.next = 0;
    tap.failures_before = tap.failures;
    tap.skipped = tap.first_failed = 0;
    tap.too_many = false;
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

/* One test point with the values gathered for it; skip is NULL or the reason. */
static void report(bool ok, const char *skip)
{
    const char *description = tap.current->checks[tap.next];
    if (description == NULL) {
        tap.too_many = true; /* reported when the experiment ends: the plan has no number for it */
        return;
    }
    /* A PMI whose handler prints must not come between a test point and its values. */
    uint64_t rflags = irq_save();
    lapic_watchdog_pause();
    trap_hold(true);
    tap.next++;
    tap.number++;
    if (!ok)
        tap.failures++;
    if (!ok && tap.first_failed == 0)
        tap.first_failed = tap.next;
    if (skip != NULL)
        tap.skipped++;
    kprintf("%sok %u - ex%s %s", ok ? "" : "not ", tap.number, tap.current->id, description);
    if (skip != NULL)
        kprintf(" # SKIP %s", skip);
    kprintf("\n");
    print_values();
    trap_hold(false);
    lapic_watchdog_resume();
    irq_restore(rflags);
}

void check(bool ok)
{
    report(ok, NULL);
}

void check_skip(const char *reason_format, ...)
{
    char reason[TEXT_SIZE];
    va_list ap;
    va_start(ap, reason_format);
    kvsnprintf(reason, sizeof(reason), reason_format, ap);
    va_end(ap);
    report(true, reason);
}

void tap_skip_all(const char *reason)
{
    while (tap.current->checks[tap.next] != NULL)
        report(true, reason);
}

void tap_end(const char *why)
{
    char rest[TEXT_SIZE];
    if (tap.too_many) {
        kprintf("# ex%s makes more checks than it lists\n", tap.current->id);
        tap.failures++;
    }
    if (tap.current->checks[tap.next] == NULL && why != NULL) {
        /* All checks were reported, and then it broke: the plan has no number left to say so. */
        kprintf("# ex%s ended after its last check: %s\n", tap.current->id, why);
        tap.failures++;
    }
    if (tap.current->checks[tap.next] == NULL)
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

void note(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    lapic_watchdog_pause();
    kprintf("# ");
    kvprintf(format, ap);
    kprintf("\n");
    lapic_watchdog_resume();
    va_end(ap);
}
