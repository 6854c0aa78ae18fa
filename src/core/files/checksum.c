/* Checksums, eight bytes at a time. */
#include "core/files/checksum.h"

enum { LANES = 8 };

/* table[k][b]: what the byte b does to the remainder k bytes further on. */
static void fill_table(uint32_t polynomial, uint32_t table[LANES][256]) {
  for (uint32_t b = 0; b < 256; b++) {
    uint32_t rest = b;
    for (int bit = 0; bit < 8; bit++) rest = rest >> 1 ^ ((rest & 1) != 0 ? polynomial : 0);
    table[0][b] = rest;
  }
  for (uint32_t b = 0; b < 256; b++)
    for (int k = 1; k < LANES; k++)
      table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 0xff];
}

static uint32_t crc(uint32_t polynomial, const unsigned char *bytes, size_t n) {
  uint32_t table[LANES][256];
  fill_table(polynomial, table);
  uint32_t rest = UINT32_MAX;
  for (; n >= LANES; n -= LANES, bytes += LANES) {
    const uint32_t low = rest ^ ((uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
                                 (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24);
    rest = table[7][low & 0xff] ^ table[6][low >> 8 & 0xff] ^ table[5][low >> 16 & 0xff] ^
           table[4][low >> 24] ^ table[3][bytes[4]] ^ table[2][bytes[5]] ^ table[1][bytes[6]] ^
           table[0][bytes[7]];
  }
  for (; n > 0; n--, bytes++) rest = rest >> 8 ^ table[0][(rest ^ *bytes) & 0xff];
  return ~rest;
}

uint32_t joist_crc32(const void *bytes, size_t n) { return crc(0xedb88320, bytes, n); }

uint32_t joist_crc32c(const void *bytes, size_t n) { return crc(0x82f63b78, bytes, n); }

uint32_t joist_adler32(const void *bytes, size_t n) {
  enum { MODULUS = 65521, MOST = 5552 /* sums of so many bytes stay below 2^32 */ };
  const unsigned char *at = bytes;
  uint32_t low = 1, high = 0;
  while (n > 0) {
    const size_t part = n < MOST ? n : MOST;
    for (size_t k = 0; k < part; k++) {
      low += at[k];
      high += low;
    }
    low %= MODULUS;
    high %= MODULUS;
    at += part;
    n -= part;
  }
  return high << 16 | low;
}
