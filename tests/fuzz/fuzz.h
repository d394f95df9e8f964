/*
 * The fuzzers (libFuzzer, with AddressSanitizer and UndefinedBehaviorSanitizer). Each file
 * fuzz_NAME.c feeds one reader with whatever bytes; a report of a sanitizer, a hang or a broken
 * promise ends it. tests/fuzz/corpus/NAME/ holds seeds and every input that once broke something.
 * `make fuzz` runs them for long, tests/t_fuzz.py for seconds.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the fuzzer with a report when a promise does not hold. */
#define PROMISED(condition)                                                                        \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

/* A stream for messages that nobody reads. */
static inline FILE *nowhere(void)
{
    static FILE *f;
    if (!f)
        f = fopen("/dev/null", "w");
    PROMISED(f);
    return f;
}

#endif
