/* The image loader and the reader of symbols, and a few instructions of what was loaded. */
#include <string.h>

#include "sim/dev/internal.h"
#include "sim/loader.h"
#include "sim/symbols.h"
#include "tests/fuzz/fuzz.h"

#define RAM_BYTES (2u << 20)
#define INSNS     200
#define SLOTS     20000

static struct profile profile;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    PROMISED(profile_load(&profile, "skylake", 0, nowhere()) &&
             profile_finish(&profile, nowhere()));
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct machine *m = machine_new(&profile, 1, RAM_BYTES);
    uint64_t offset;
    PROMISED(m);
    uint8_t *exact = malloc(size ? size : 1);
    PROMISED(exact);
    memcpy(exact, data, size);
    if (loader_load(m,
                    &(struct sim_boot){.image = exact,
                                       .size = size,
                                       .initrd = exact,
                                       .initrd_size = size,
                                       .cmdline = "fuzz"},
                    nowhere())) {
        m->symbols = symbols_load(exact, size);
        symbols_lookup(m->symbols, m->cpus[0]->rip, &offset);
        symbols_find(m->symbols, "kmain", &offset, nowhere());
        m->max_insns = INSNS;
        m->max_slots = SLOTS;
        machine_run(m, SIM_NO_LIMIT);
    }
    free(exact);
    machine_free(m);
    return 0;
}
