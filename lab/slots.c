/* Code that the front end cannot deliver. */
#include "lab/slots.h"

#include "kernel/cpuid.h"
#include "kernel/memory.h"
#include "kernel/paging.h"

#include <stddef.h>

#define LINE  64
#define LINES 4096 /* 256 KiB: four times the largest first cache, in any second one */
/* Of an order that visits every line once: multiplier and increment of a full-period generator. */
#define ORDER_MUL 0x2545f491u /* 1 modulo 4 */
#define ORDER_ADD 0x3039u     /* odd */

static uint64_t mapped; /* bytes at paging_high() */

static uint32_t relative(uint64_t to, uint64_t from)
{
    return (uint32_t)(to - from);
}

static uint8_t *put(uint8_t *at, unsigned n, uint64_t bytes)
{
    for (unsigned i = 0; i < n; i++)
        *at++ = (uint8_t)(bytes >> 8 * i);
    return at;
}

/* JMP rel32 in each line but the last, where an iteration ends. */
static void make(uint8_t *memory)
{
    uint64_t line = 0;
    for (unsigned i = 0; i < LINES - 1; i++) {
        uint64_t next = (line * ORDER_MUL + ORDER_ADD) & (LINES - 1);
        put(put(memory + line * LINE, 1, 0xe9), 4, relative(next * LINE, line * LINE + 5));
        line = next;
    }
    uint8_t *at = put(memory + line * LINE, 3, 0xcfff48); /* decq %rdi */
    at = put(at, 2, 0x850f);                              /* jnz to the first line */
    at = put(at, 4, relative(0, line * LINE + 9));
    put(at, 1, 0xc3); /* ret */
}

window_body slots_front_end(void)
{
    size_t room;
    uint8_t *memory = memory_scratch(&room);
    if (room < LINES * LINE || paging_high() == 0)
        return NULL;
    make(memory);
    for (mapped = 0; mapped < LINES * LINE; mapped += PAGE_SIZE)
        if (!paging_map(paging_high() + mapped, (uint64_t)memory + mapped, 0)) {
            slots_front_end_end();
            return NULL;
        }
    /* Code written by another address than it runs at: SDM vol. 3 "Handling Self- and
     * Cross-Modifying Code" wants a serializing instruction, as CPUID is. */
    cpuid(0, 0);
    return (window_body)paging_high();
}

void slots_front_end_end(void)
{
    for (; mapped != 0; mapped -= PAGE_SIZE)
        paging_unmap(paging_high() + mapped - PAGE_SIZE);
}
