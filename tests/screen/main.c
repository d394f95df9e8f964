/*
 * Runs a kernel in libpmusim and shows what is on its text screen in the end: 25 lines of 160
 * hexadecimal digits and more, a character and an attribute for each cell. Standard input is what
 * comes over the serial line; what goes out there is dropped, or goes to the file SERIAL.
 *
 * usage: screen IMAGE PROFILE CMDLINE MAX_INSNS [SERIAL]
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim/sim.h"

#define TEXT    0xb8000
#define COLUMNS 80
#define ROWS    25

static int console_in(void *context)
{
    (void)context;
    int c = getchar();
    return c == EOF ? SIM_INPUT_ENDED : c;
}

static bool console_out(void *context, const char *text, size_t length)
{
    return !context || fwrite(text, 1, length, context) == length;
}

static uint8_t *read_image(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *image = malloc(16 << 20);
    if (!file || !image)
        return NULL;
    *size = fread(image, 1, 16 << 20, file);
    fclose(file);
    return image;
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    FILE *serial = argc > 5 ? fopen(argv[5], "wb") : NULL;
    struct sim_host host = {
        .context = serial, .console_out = console_out, .console_in = console_in};
    struct sim_options options = {.profile = argv[2],
                                  .cpus = 2,
                                  .memory = (uint64_t)64 << 20,
                                  .max_insns = strtoull(argv[4], NULL, 0)};
    struct machine *m = sim_new(&options, &host, stderr);
    size_t size;
    uint64_t memory;
    uint8_t *image = read_image(argv[1], &size);
    const struct sim_boot boot = {.image = image, .size = size, .cmdline = argv[3]};
    if (!m || !image || !sim_load(m, &boot, stderr))
        return 2;
    sim_run(m, SIM_NO_LIMIT);
    const uint8_t *text = sim_memory(m, &memory) + TEXT;
    for (unsigned i = 0; i < 2 * COLUMNS * ROWS; i++)
        printf("%02x%s", text[i], i % (2 * COLUMNS) == 2 * COLUMNS - 1 ? "\n" : "");
    if (serial)
        fclose(serial);
    free(image);
    sim_free(m);
    return 0;
}
