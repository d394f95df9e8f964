/*
 * The QR encoder for tests/t_qr.py.
 *
 * Each line of the input is "VERSION LEVEL MASK TEXT": that very symbol; or "VERSION best - TEXT":
 * what qr_encode() makes of it with that version at most. For each line, either "refused", or
 * "VERSION LEVEL MASK PENALTY" and a line of 0 and 1 (dark) for each row. An empty line ends it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/qr.h"

static void print(const struct qr *qr)
{
    printf("%u %c %u %u\n", qr->version, "LM"[qr->level], qr -> mask, qr_penalty(qr));
    for (unsigned y = 0; y < qr->size; y++) {
        for (unsigned x = 0; x < qr->size; x++)
            putchar(qr->modules[y][x] & QR_DARK ? '1' : '0');
        putchar('\n');
    }
    putchar('\n');
}

int main(void)
{
    static struct qr qr;
    char line[2048];
    while (fgets(line, sizeof(line), stdin)) {
        unsigned version = 0;
        char level[8], mask[8];
        int at = 0;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%u %7s %7s%n", &version, level, mask, &at) != 3 || line[at] != ' ' ||
            version > QR_MAX_VERSION) {
            fprintf(stderr, "qr: '%s': not VERSION LEVEL MASK TEXT\n", line);
            return 2;
        }
        const char *text = line + at + 1;
        bool made = strcmp(level, "best") == 0
                        ? qr_encode(&qr, text, version)
                        : qr_encode_as(&qr, text, version, level[0] == 'M' ? QR_M : QR_L,
                                       (unsigned)atoi(mask));
        if (made)
            print(&qr);
        else
            printf("refused\n\n");
    }
    return 0;
}
