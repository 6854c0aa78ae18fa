/* Packs and unpacks elements of fewer bits than a byte. */
#include "core/files/packed.h"

void joist_unpack(unsigned bits, const unsigned char *from, unsigned skip, size_t n,
                  unsigned char *to) {
  const unsigned mask = (1u << bits) - 1;
  unsigned held = 0, count = 0; /* bits that were read */
  if (skip > 0) {
    held = (unsigned)*from++ >> skip;
    count = 8 - skip;
  }
  for (size_t i = 0; i < n; i++) {
    if (count < bits) {
      held |= (unsigned)*from++ << count;
      count += 8;
    }
    to[i] = (unsigned char)(held & mask);
    held >>= bits;
    count -= bits;
  }
}

size_t joist_pack(struct joist_packing *packing, unsigned bits, const unsigned char *from, size_t n,
                  unsigned char *to) {
  const unsigned mask = (1u << bits) - 1;
  struct joist_packing p = *packing;
  size_t filled = 0;
  for (size_t i = 0; i < n; i++) {
    p.bits |= (from[i] & mask) << p.count;
    p.count += bits;
    if (p.count < 8) continue;
    to[filled++] = (unsigned char)(p.bits & 0xff);
    p.bits >>= 8;
    p.count -= 8;
  }
  *packing = p;
  return filled;
}
