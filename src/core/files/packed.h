/* Elements of fewer bits than a byte that follow each other without gaps, as in safetensors files:
 * the first has the lowest bits of the first byte, and an element that crosses into the next byte
 * has its upper bits in the lowest bits of that. In memory each has a byte. */
#ifndef JOIST_CORE_FILES_PACKED_H
#define JOIST_CORE_FILES_PACKED_H

#include <stddef.h>
#include <stdint.h>

/* Unpacks n elements of `bits` bits, the first of which begins `skip` bits into `from`. */
void joist_unpack(unsigned bits, const unsigned char *from, unsigned skip, size_t n,
                  unsigned char *to);

/* Bits that do not fill a byte yet; all zero at the start. */
struct joist_packing {
  unsigned bits, count;
};

/* Packs n elements behind the elements of earlier calls. Returns the number of bytes that it
 * filled, at most n; `to` may be `from`. */
size_t joist_pack(struct joist_packing *packing, unsigned bits, const unsigned char *from, size_t n,
                  unsigned char *to);

#endif
