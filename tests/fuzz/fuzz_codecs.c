/* The codecs of chunks: broken streams are refused within their bounds, and what is packed is
 * unpacked again. The first byte chooses the codec, the second the room. */
#include "core/files/compression.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  if (size < 2) return 0;
  size_t codecs = 0;
  while (joist_compression_at(codecs) != NULL) codecs++;
  const struct joist_compression *const codec = joist_compression_at(data[0] % codecs);
  const size_t room = (size_t)data[1] * data[1], n = size - 2;
  unsigned char *const from = malloc(n + 1), *const to = malloc(room + 1);
  HOLDS(from != NULL && to != NULL);
  memcpy(from, data + 2, n);
  memset(to, 0x5a, room + 1);
  size_t length = 0;
  if (codec->unpack(from, n, to, room, &length)) HOLDS(length <= room);
  HOLDS(to[room] == 0x5a);
  free(to);
  const size_t bound = codec->bound(n);
  unsigned char *const packed = malloc(bound), *const back = malloc(n + 1);
  HOLDS(packed != NULL && back != NULL);
  HOLDS(codec->pack(from, n, data[1] % 2 == 0 ? 4 : 1, packed, bound, &length) && length <= bound);
  size_t again = 0;
  HOLDS(codec->unpack(packed, length, back, n, &again) && again == n);
  HOLDS(memcmp(from, back, n) == 0);
  /* One byte fewer is none. */
  if (n > 0) HOLDS(!codec->unpack(packed, length, back, n - 1, &again));
  free(packed);
  free(back);
  free(from);
  return 0;
}
