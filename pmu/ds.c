/* This processor's debug store: its memory, IA32_DS_AREA, the dump. */
#include "pmu/ds.h"

#include "kernel/msr.h"
#include "kernel/paging.h"
#include "kernel/percpu.h"
#include "kernel/print.h"
#include "kernel/string.h"
#include "pmu/bts.h"
#include "pmu/pebs.h"
#include "pmu/pmu.h"
#include "x86/msr.h"

#define BTS_BYTES  (12 * PAGE_SIZE)
#define PEBS_BYTES (4 * PAGE_SIZE)

extern const uint8_t text_start[], text_end[];

/* "There must be separate save areas, buffers, and state for each processor in an MP system." Each
 * part has pages of its own, so that none shares one with code. */
static struct storage {
    uint8_t area[PAGE_SIZE], bts[BTS_BYTES], pebs[PEBS_BYTES];
} __attribute__((aligned(PAGE_SIZE))) storage[MAX_CPUS];

static bool in_use[MAX_CPUS];

const char *ds_setup(const struct ds_setup *setup)
{
    static char why[DS_REASON];
    struct storage *mine = &storage[this_cpu()->index];
    struct ds_area area;
    const struct ds_plan plan = {
        .area = (uint64_t)mine->area,
        .bts = {(uint64_t)mine->bts, BTS_BYTES, sizeof(struct bts_record), setup->bts_records,
                setup->bts_threshold},
        .pebs = {(uint64_t)mine->pebs, PEBS_BYTES, pebs_record_size(), setup->pebs_records,
                 setup->pebs_threshold},
        .code_start = (uint64_t)text_start,
        .code_end = (uint64_t)text_end,
        .writable = paging_is_writable,
    };
    if (!ds_lay_out(&plan, &area, why))
        return why;
    memset(mine, 0, sizeof(*mine));
    memcpy(mine->area, &area, sizeof(area));
    uint64_t address = (uint64_t)mine->area, held = 0;
    if (!wrmsr_safe(MSR_IA32_DS_AREA, address) || !rdmsr_safe(MSR_IA32_DS_AREA, &held) ||
        held != address)
        return "IA32_DS_AREA (600H) cannot be set";
    in_use[this_cpu()->index] = true;
    return NULL;
}

struct ds_area *ds_area(void)
{
    unsigned index = this_cpu()->index;
    return in_use[index] ? (struct ds_area *)storage[index].area : NULL;
}

void ds_reset(void)
{
    in_use[this_cpu()->index] = false;
    if (pmu_info()->ds)
        wrmsr_safe(MSR_IA32_DS_AREA, 0);
}

/* The processor moves the index behind the compiler's back. */
static uint64_t index_of(const struct ds_buffer *buffer)
{
    return *(const volatile uint64_t *)&buffer->index;
}

bool ds_buffer_full(const struct ds_buffer *buffer)
{
    return buffer->base != 0 && buffer->threshold <= buffer->maximum &&
           index_of(buffer) >= buffer->threshold;
}

void ds_buffer_drain(struct ds_buffer *buffer)
{
    memset((void *)buffer->base, 0, buffer->maximum - buffer->base);
    *(volatile uint64_t *)&buffer->index = buffer->base;
}

static void dump_quad(const void *at, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void dump_quad(const void *at, const char *name, const char *format, ...)
{
    char text[96];
    va_list ap;
    va_start(ap, format);
    kvsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    kprintf("#   +%02xH %-24s = 0x%016llx  %s\n",
            (unsigned)((uint64_t)at - (uint64_t)storage[this_cpu()->index].area), name,
            *(const volatile unsigned long long *)at, text);
}

static unsigned records_before(const struct ds_buffer *b, uint64_t address, unsigned record)
{
    return (unsigned)((address - b->base) / record);
}

static void dump_buffer(const struct ds_buffer *b, const char *const names[4], unsigned record)
{
    if (b->base == 0) {
        dump_quad(&b->base, names[0], "no such buffer");
        return;
    }
    unsigned room = records_before(b, b->maximum, record);
    dump_quad(&b->base, names[0], "room for %u records of %u bytes", room, record);
    dump_quad(&b->index, names[1], "the next record: %u written since it was set back%s",
              records_before(b, index_of(b), record), index_of(b) >= b->maximum ? ", full" : "");
    dump_quad(&b->maximum, names[2], "the first byte past the end");
    if (b->threshold > b->maximum)
        dump_quad(&b->threshold, names[3], "past the maximum: no interrupt");
    else
        dump_quad(&b->threshold, names[3], "interrupt at %u records: %s",
                  records_before(b, b->threshold, record),
                  ds_buffer_full(b) ? "reached" : "not reached");
}

void ds_dump(const char *title)
{
    static const char *const bts_names[] = {"BTS buffer base", "BTS index", "BTS absolute maximum",
                                            "BTS interrupt threshold"};
    static const char *const pebs_names[] = {"PEBS buffer base", "PEBS index",
                                             "PEBS absolute maximum", "PEBS interrupt threshold"};
    const struct ds_area *area = ds_area();
    kprintf("# %s: the DS management area\n", title);
    if (area == NULL) {
        kprintf("#   there is none\n");
    } else {
        dump_buffer(&area->bts, bts_names, sizeof(struct bts_record));
        dump_buffer(&area->pebs, pebs_names, pebs_record_size());
        for (unsigned n = 0; n < pmu_info()->n_general && area->pebs.base != 0; n++)
            if (area->reset[n] != 0)
                dump_quad(&area->reset[n], "PEBS counter reset", "IA32_PMC%u: %llu events more", n,
                          (unsigned long long)(pmu_counter_max(n) - area->reset[n] + 1));
    }
}
