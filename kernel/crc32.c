/* CRC-32, a bit at a time: it is for a few hundred bytes. */
#include "kernel/crc32.h"

#define POLYNOMIAL 0xedb88320u /* reflected: bit 0 is the highest power */

uint32_t crc32(uint32_t before, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    uint32_t crc = ~before;
    for (size_t i = 0; i < size; i++) {
        crc ^= p[i];
        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
    }
    return ~crc;
}
