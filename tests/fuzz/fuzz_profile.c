/* The profile reader: the text of a profile, then lines that begin with "--set ". */
#include <string.h>

#include "sim/profile.h"
#include "tests/fuzz/fuzz.h"

#define SET "--set "

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct profile p;
    char *text = malloc(size + 1);
    PROMISED(text);
    memcpy(text, data, size);
    text[size] = 0;

    char *sets = strstr(text, "\n" SET);
    if (sets)
        *sets++ = 0;
    bool ok = profile_parse(&p, "fuzz.profile", text, 0, nowhere());
    if (ok && p.n_kinds > 1)
        ok = profile_parse(&p, "fuzz.profile", text, p.n_kinds - 1, nowhere());
    while (ok && sets && strncmp(sets, SET, strlen(SET)) == 0) {
        char *line = sets + strlen(SET), *end = strchr(line, '\n');
        if (end)
            *end++ = 0;
        ok = profile_set(&p, line, nowhere());
        sets = end;
    }
    if (ok && profile_finish(&p, nowhere())) {
        PROMISED(p.pmu.general <= PROFILE_MAX_GENERAL && p.pmu.fixed <= PROFILE_MAX_FIXED);
        PROMISED(p.n_events <= PROFILE_MAX_EVENTS && p.n_cpuid <= PROFILE_MAX_CPUID);
        PROMISED(profile_kind_of(&p, size % PROFILE_MAX_ORDER) <= p.n_kinds);
        PROMISED(p.uarch.l1d.size != 0 && p.uarch.retire_width != 0);
    }
    free(text);
    return 0;
}
