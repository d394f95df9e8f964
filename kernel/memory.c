#include "kernel/memory.h"

#include "boot/bootinfo.h"
#include "boot/multiboot2.h"
#include "kernel/paging.h"

#define IDENTITY_END (1ULL << 32)

extern const uint8_t image_end[];

static struct {
    uint64_t base, end;
} scratch;

static uint64_t page_up(uint64_t address)
{
    return (address + PAGE_SIZE - 1) & ~(uint64_t)(PAGE_SIZE - 1);
}

void memory_init(const struct bootinfo *boot)
{
    for (unsigned i = 0; i < boot->n_memory; i++) {
        const struct memory_range *r = &boot->memory[i];
        if (r->type != MB2_MEMORY_AVAILABLE || r->base >= IDENTITY_END)
            continue;
        uint64_t base = r->base, end = IDENTITY_END;
        if (r->length < IDENTITY_END - r->base)
            end = r->base + r->length;
        if (base < (uint64_t)image_end)
            base = (uint64_t)image_end;
        base = page_up(base);
        if (base < end && end - base > scratch.end - scratch.base) {
            scratch.base = base;
            scratch.end = end;
        }
    }
}

void *memory_scratch(size_t *size)
{
    *size = scratch.end - scratch.base;
    return (void *)scratch.base;
}
