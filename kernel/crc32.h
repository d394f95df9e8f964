/* CRC-32 as Ethernet, zip and Python's zlib.crc32() have it (IEEE 802.3, "Frame Check Sequence
 * field"). Pure. */
#ifndef PMULAB_CRC32_H
#define PMULAB_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* The CRC of what came before (0 at the start) and then size bytes. */
uint32_t crc32(uint32_t before, const void *bytes, size_t size);

#endif
