/* Branch trace store. */
#include "pmu/bts.h"

#include "kernel/msr.h"
#include "kernel/panic.h"
#include "kernel/print.h"
#include "pmu/debugctl.h"
#include "pmu/ds.h"
#include "x86/msr.h"

#include <stddef.h>

#define STRAIGHT_RUN 4096 /* bytes that our code never runs without a taken branch */
#define SYMBOL_SIZE  40

void bts_trace(uint64_t flags, window_body body, uint64_t arg)
{
    uint64_t on = debugctl_with(DEBUGCTL_BTS_ON | flags), off = debugctl_with(0);
    msr_trace_record(MSR_WRITE, MSR_IA32_DEBUGCTL, on, false, (uint64_t)pmu_window_open);
    pmu_window(MSR_IA32_DEBUGCTL, on, off, body, arg);
    msr_trace_record(MSR_WRITE, MSR_IA32_DEBUGCTL, off, false, (uint64_t)pmu_window_close);
}

/* The processor moves the index behind the compiler's back. */
static uint64_t current_index(const struct ds_buffer *b)
{
    return *(const volatile uint64_t *)&b->index;
}

unsigned bts_count(void)
{
    const struct ds_buffer *b = &ds_area()->bts;
    return (unsigned)((current_index(b) - b->base) / sizeof(struct bts_record));
}

const struct bts_record *bts_records(void)
{
    return (const struct bts_record *)ds_area()->bts.base;
}

unsigned bts_newest(struct bts_record *out, unsigned max)
{
    const struct ds_buffer *b = &ds_area()->bts;
    const struct bts_record *records = bts_records();
    unsigned room = (unsigned)((b->maximum - b->base) / sizeof(*records));
    unsigned n = max < room ? max : room;
    unsigned next = bts_count() + room - n; /* the manual does not say when the index wraps */
    for (unsigned i = 0; i < n; i++)
        out[i] = records[(next + i) % room];
    return n;
}

bool bts_follows(const struct bts_record *first, const struct bts_record *second)
{
    return second->from - first->to < STRAIGHT_RUN;
}

/* "body_jumps+0x4", or nothing for an address without a symbol. */
static const char *name_address(char *buf, size_t size, uint64_t address)
{
    uint64_t offset = 0;
    const char *name = symbol_name(address, &offset);
    buf[0] = '\0';
    if (name != NULL)
        ksnprintf(buf, size, "%s+0x%llx", name, (unsigned long long)offset);
    return buf;
}

void bts_dump(const char *title, const struct bts_record *records, unsigned n)
{
    char from[SYMBOL_SIZE], to[SYMBOL_SIZE];
    kprintf("# %s: %u BTS records, oldest first\n", title, n);
    for (unsigned i = 0; i < n; i++) {
        const struct bts_record *r = &records[i];
        kprintf("#   %4u  0x%016llx -> 0x%016llx %-9s  %s -> %s\n", i, (unsigned long long)r->from,
                (unsigned long long)r->to, r->flags & BTS_PREDICTED ? "predicted" : "",
                name_address(from, sizeof(from), r->from), name_address(to, sizeof(to), r->to));
    }
}
