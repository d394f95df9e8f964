/* The option parser: one word a line. What it accepts is within the documented ranges. */
#include <string.h>

#include "sim/host/options.h"
#include "tests/fuzz/fuzz.h"

#define MAX_WORDS 100

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *argv[MAX_WORDS + 2] = {(char[]){"pmusim"}};
    struct options o;
    int argc = 1;
    PROMISED(text);
    memcpy(text, data, size);
    text[size] = 0;
    for (char *word = strtok(text, "\n"); word && argc <= MAX_WORDS; word = strtok(NULL, "\n"))
        argv[argc++] = word;
    if (options_parse(&o, argc, argv, nowhere(), nowhere()) == OPTIONS_RUN) {
        PROMISED((o.image || o.load) && o.machine.profile && o.cmdline);
        PROMISED(o.machine.cpus >= 1 && o.machine.cpus <= SIM_MAX_CPUS);
        PROMISED(o.machine.memory >= SIM_MEMORY_MIN && o.machine.memory <= SIM_MEMORY_MAX);
        PROMISED(o.machine.n_set <= OPTIONS_MAX_WORDS && o.machine.n_fault <= OPTIONS_MAX_WORDS);
    }
    free(text);
    return 0;
}
