/* From the console's UTF-8 to CP437, what the VGA's font and ours have. Pure: no hardware. */
#ifndef PMULAB_CP437_H
#define PMULAB_CP437_H

#include <stdint.h>

/* The first character of a text that is not empty, in CP437: what is not there gets its nearest
 * kin, or '?'. Returns what follows it. */
const char *cp437_next(const char *text, uint8_t *cp437);

#endif
