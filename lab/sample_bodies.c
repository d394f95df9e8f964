/* Where in the loop of lab/sample_bodies.S an address is. */
#include "lab/sample_bodies.h"

bool sparse_loads_has(uint64_t rip)
{
    return rip >= (uint64_t)sparse_loads_loop && rip <= (uint64_t)sparse_loads_end;
}

/* At the JNZ, RDI has counted a round that is not over. */
uint64_t sparse_loads_done(uint64_t rip, uint64_t rdi, uint64_t rounds)
{
    uint64_t offset = rip - (uint64_t)sparse_loads_loop;
    bool at_jnz = rip == (uint64_t)sparse_loads_again;
    if (rip == (uint64_t)sparse_loads_end)
        return rounds * SPARSE_INSNS;
    return (rounds - rdi - at_jnz) * SPARSE_INSNS +
           (at_jnz ? SPARSE_INSNS - 1 : offset / SPARSE_SIZE);
}
