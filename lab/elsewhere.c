/* An experiment on whichever processor can do it. */
#include "lab/elsewhere.h"

#include "lab/experiment.h"
#include "lapic/smp.h"

#include <stddef.h>

#define ASK_MS 1000

static struct {
    const char *(*missing)(void);
    void (*body)(void);
    const char *why;
} asked;

static void ask(void *unused)
{
    (void)unused;
    asked.why = asked.missing();
}

static void run_body(void *unused)
{
    (void)unused;
    asked.body();
}

const char *run_where(const char *(*missing)(void), void (*body)(void), uint32_t timeout_ms)
{
    const char *here = missing();
    if (here == NULL) {
        body();
        return NULL;
    }
    asked.missing = missing;
    asked.body = body;
    for (unsigned i = 1; i < smp_count(); i++) {
        asked.why = here;
        if (!smp_run_on(i, ask, NULL, ASK_MS))
            note("%s", smp_why(i));
        if (asked.why != NULL)
            continue;
        note("processor 0: %s; on processor %u", here, i);
        if (!smp_run_on(i, run_body, NULL, timeout_ms))
            note("%s", smp_why(i));
        return NULL;
    }
    return here;
}
