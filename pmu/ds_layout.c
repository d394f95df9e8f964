/*
 * The layout of the debug store, and what the manual forbids. Pure: no hardware.
 *
 * SDM vol. 3 "BTS and DS Save Area" says of the absolute maximum "the next byte past the end of the
 * buffer", and that it "should be a multiple of the record size plus 1". Taken literally the second
 * points one byte further than the first. We use the first: a processor that compares the index for
 * equality and one that asks whether a whole record still fits then do the same.
 */
#include "pmu/ds.h"

#include "kernel/print.h"

#define PAGE      4096
#define ALIGNMENT 64 /* the manual: a doubleword at least, a cache line for performance */
/* Bits 63:47 of a canonical address are equal (4-level paging). */
#define CANONICAL_BITS 47

static bool refuse(char why[DS_REASON], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool refuse(char why[DS_REASON], const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    kvsnprintf(why, DS_REASON, format, ap);
    va_end(ap);
    return false;
}

/* A part of the save area: [base, end). */
struct part {
    const char *name;
    uint64_t base, end;
};

static bool canonical(uint64_t address)
{
    int64_t top = (int64_t)address >> CANONICAL_BITS;
    return top == 0 || top == -1;
}

/* "The pages must be mapped to contiguous linear addresses"; "must not be on the same page as
 * code"; "to keep the pages that contain the buffer present" (SDM vol. 3 "Setting Up the DS Save
 * Area"). */
static bool part_is_good(const struct ds_plan *plan, const struct part *p, char why[DS_REASON])
{
    uint64_t base = p->base;
    if (base % ALIGNMENT != 0)
        return refuse(why, "%s at 0x%llx is not aligned on %u bytes", p->name,
                      (unsigned long long)base, ALIGNMENT);
    if (p->end < base)
        return refuse(why, "%s at 0x%llx runs past the end of the linear addresses", p->name,
                      (unsigned long long)base);
    if (!canonical(base) || !canonical(p->end - 1) || (base ^ (p->end - 1)) >> 63)
        return refuse(why, "%s at 0x%llx is not canonical", p->name, (unsigned long long)base);
    for (uint64_t page = base & ~(uint64_t)(PAGE - 1); page < p->end; page += PAGE) {
        if (page < plan->code_end && page + PAGE > plan->code_start)
            return refuse(why, "%s shares the page 0x%llx with code", p->name,
                          (unsigned long long)page);
        if (!plan->writable(page))
            return refuse(why, "%s lies in the page 0x%llx, which is not mapped for writing",
                          p->name, (unsigned long long)page);
    }
    return true;
}

static bool buffer_is_good(const struct ds_buffer_plan *b, const char *name, char why[DS_REASON])
{
    if (b->records == 0)
        return true;
    if (b->record == 0)
        return refuse(why, "%s: its records have no size", name);
    if (b->records > b->size / b->record)
        return refuse(why, "%s: %u records of %u bytes do not fit into %llu bytes", name,
                      b->records, b->record, (unsigned long long)b->size);
    if (b->threshold > b->records)
        return refuse(why, "%s: the threshold of %u records lies past its %u records", name,
                      b->threshold, b->records);
    return true;
}

static uint64_t buffer_end(const struct ds_buffer_plan *b)
{
    return b->base + (uint64_t)b->records * b->record;
}

/* "SW need to set BTS interrupt threshold to a value greater than BTS absolute maximum", else there
 * are interrupts in a circular buffer too (SDM vol. 3 "Setting Up the BTS Buffer", note). */
static struct ds_buffer lay_out_buffer(const struct ds_buffer_plan *b)
{
    struct ds_buffer out = {0};
    if (b->records == 0)
        return out;
    out.base = out.index = b->base;
    out.maximum = buffer_end(b);
    out.threshold = b->threshold == DS_CIRCULAR ? out.maximum + b->record
                                                : b->base + (uint64_t)b->threshold * b->record;
    return out;
}

static bool overlap(const struct part *a, const struct part *b)
{
    return a->base < b->end && b->base < a->end;
}

bool ds_lay_out(const struct ds_plan *plan, struct ds_area *area, char why[DS_REASON])
{
    if (!buffer_is_good(&plan->bts, "the BTS buffer", why) ||
        !buffer_is_good(&plan->pebs, "the PEBS buffer", why))
        return false;

    struct part parts[3] = {{"the management area", plan->area, plan->area + sizeof(*area)}};
    unsigned n = 1;
    if (plan->bts.records != 0)
        parts[n++] = (struct part){"the BTS buffer", plan->bts.base, buffer_end(&plan->bts)};
    if (plan->pebs.records != 0)
        parts[n++] = (struct part){"the PEBS buffer", plan->pebs.base, buffer_end(&plan->pebs)};
    for (unsigned i = 0; i < n; i++) {
        if (!part_is_good(plan, &parts[i], why))
            return false;
        for (unsigned j = 0; j < i; j++)
            if (overlap(&parts[i], &parts[j]))
                return refuse(why, "%s overlaps %s", parts[i].name, parts[j].name);
    }
    *area =
        (struct ds_area){.bts = lay_out_buffer(&plan->bts), .pebs = lay_out_buffer(&plan->pebs)};
    return true;
}
