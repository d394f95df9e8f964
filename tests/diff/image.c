/* The memory that a sequence finds, and the numbers that everything is drawn from. */
#include <string.h>

#include "tests/diff/diff.h"

uint64_t random_next(uint64_t *state)
{
    /* SplitMix64 */
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

const struct page pages[N_PAGES] = {
    {DATA_BASE, true},
    {DATA_BASE + PAGE_BYTES, true},
    {DATA_BASE + 2 * PAGE_BYTES, false},
    {HIGH_BASE, true},
    {STACK_BASE, true},
    {STACK_BASE + PAGE_BYTES, true},
};
uint8_t image[N_PAGES][PAGE_BYTES];

void image_init(uint64_t seed)
{
    for (int p = 0; p < N_PAGES; p++)
        for (unsigned i = 0; i < PAGE_BYTES; i++)
            image[p][i] = random_next(&seed);
    /* Runs of equal bytes for the repeated comparisons. */
    memset(image[0] + 0x400, 0, 0x200);
    memset(image[0] + 0xf00, 0x01, 0x100);
    memset(image[1], 0x01, 0x100);
    memset(image[1] + 0x800, 0, 0x200);
    memset(image[3] + 0x200, 0, 0x200);
}

void image_load(uint8_t *const page[N_PAGES], const struct sequence *s)
{
    for (int i = 0; i < N_PAGES; i++)
        if (pages[i].writable)
            memcpy(page[i], image[i], PAGE_BYTES);
    for (unsigned i = 0; i < s->n_patches; i++)
        for (unsigned b = 0; b < 8; b++)
            for (int p = 0; p < N_PAGES; p++) {
                uint64_t off = s->patch[i].address + b - pages[p].linear;
                if (off < PAGE_BYTES && pages[p].writable)
                    page[p][off] = s->patch[i].value >> 8 * b;
            }
}
