/* Chains of pointers through the levels of the memory hierarchy. */
#include "lab/chain.h"

#include "kernel/cpuid.h"
#include "kernel/memory.h"
#include "lab/pebs_lab.h"
#include "pmu/pmu.h"

#define LINE 64
/* Of an order that visits every line once: multiplier and increment of a full-period generator. */
#define ORDER_MUL 0x2545f491u /* 1 modulo 4 */
#define ORDER_ADD 0x3039u     /* odd */

/* The data or unified cache of this level, by a leaf of the layout of leaf 4 (SDM vol. 2 "CPUID");
 * 0: it does not tell. */
static uint64_t cache_in_leaf(uint32_t leaf, unsigned level)
{
    for (unsigned i = 0; i < 16; i++) {
        struct cpuid_regs r = cpuid(leaf, i);
        unsigned type = r.eax & 0x1f;
        if (type == 0)
            break;
        if (type == 2 || (r.eax >> 5 & 7) != level)
            continue;
        return (uint64_t)((r.ebx >> 22) + 1) * ((r.ebx >> 12 & 0x3ff) + 1) * ((r.ebx & 0xfff) + 1) *
               ((uint64_t)r.ecx + 1);
    }
    return 0;
}

/* Leaf 4, or what AMD has in its place (APM vol. 3 "CPUID"). */
static uint64_t cache_size(unsigned level)
{
    uint64_t size = cache_in_leaf(4, level);
    return size != 0 ? size : cache_in_leaf(0x8000001d, level);
}

static uint64_t power_of_two_up_to(uint64_t n)
{
    uint64_t p = LINE;
    while (p * 2 <= n)
        p *= 2;
    return p;
}

/* Half of a cache leaves room for what else is in it. From Ivy Bridge on the last level keeps part
 * of a buffer that is too large for it: so the one for memory is four times the last level. */
bool chain_init(struct chain *chain)
{
    uint64_t *caches = chain->caches, *sizes = chain->sizes;
    chain->made = 0;
    chain->memory = memory_scratch(&chain->room);
    for (unsigned i = 0; i <= PEBS_LLC; i++) {
        caches[i] = cache_size(i + 1);
        if (caches[i] == 0)
            return false;
        sizes[i] = power_of_two_up_to(caches[i] / 2);
    }
    /* A last level that is small against the one before it (N100: 6 MiB behind 2): more than half
     * of it, or that one would hold the buffer. */
    if (sizes[PEBS_LLC] < 2 * caches[PEBS_L2])
        sizes[PEBS_LLC] = power_of_two_up_to(caches[PEBS_LLC] - 1);
    /* Not more of the last level than needed: it is shared. */
    uint64_t enough = power_of_two_up_to(4 * caches[PEBS_L2]);
    if (sizes[PEBS_LLC] > enough)
        sizes[PEBS_LLC] = enough;
    sizes[PEBS_MEMORY] = 4 * power_of_two_up_to(2 * caches[PEBS_LLC] - 1);
    return true;
}

void chain_make(struct chain *chain, enum pebs_level level)
{
    uint64_t size = chain->sizes[level], lines = size / LINE, at = 0;
    uint8_t *memory = chain->memory;
    struct pebs_chase_arg whole = {memory, lines};
    if (chain->made == size)
        return;
    for (uint64_t i = 0; i < lines; i++) {
        uint64_t next = (at * ORDER_MUL + ORDER_ADD) & (lines - 1);
        *(void **)(memory + at * LINE) = memory + next * LINE;
        at = next;
    }
    chain->made = size;
    chain->at = memory;
    pebs_chase((uint64_t)&whole);
}

void chain_count(struct chain *chain, uint64_t counters, uint64_t loads)
{
    struct pebs_chase_arg chase = {chain->at, loads};
    pmu_count(counters, pebs_chase, (uint64_t)&chase);
    for (uint64_t i = 0; i < loads; i++)
        chain->at = *(void **)chain->at;
}
