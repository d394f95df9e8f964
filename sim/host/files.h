/* The files that pmusim reads. */
#ifndef PMUSIM_HOST_FILES_H
#define PMUSIM_HOST_FILES_H

#include <stddef.h>
#include <stdint.h>

/* The whole of a regular file, for free(); NULL, with a message on stderr, when it cannot be read.
 */
uint8_t *file_image(const char *path, size_t *size);
/* The text of a profile, likewise. */
char *file_profile(const char *path);

#endif
