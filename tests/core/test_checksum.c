/* Checksums against those that the RFCs and the catalogue of CRCs give, and against the definition,
 * bit by bit, for every length. */
#include "core/files/checksum.h"

#include "check.h"

static uint32_t crc_by_bits(uint32_t polynomial, const unsigned char *bytes, size_t n) {
  uint32_t rest = UINT32_MAX;
  for (size_t k = 0; k < 8 * n; k++) {
    const uint32_t bit = (uint32_t)(bytes[k / 8] >> (k % 8) & 1);
    rest = rest >> 1 ^ (((rest ^ bit) & 1) != 0 ? polynomial : 0);
  }
  return ~rest;
}

static uint32_t adler_by_definition(const unsigned char *bytes, size_t n) {
  uint64_t low = 1, high = 0;
  for (size_t k = 0; k < n; k++) {
    low = (low + bytes[k]) % 65521;
    high = (high + low) % 65521;
  }
  return (uint32_t)(high << 16 | low);
}

static void test_published(void) {
  const char *const digits = "123456789";
  CHECK(joist_crc32(digits, 9) == 0xcbf43926);
  CHECK(joist_crc32c(digits, 9) == 0xe3069283);
  CHECK(joist_adler32("Wikipedia", 9) == 0x11e60398);
  /* RFC 3720, B.4: 32 bytes of zeros, and of ones. */
  unsigned char bytes[32] = {0};
  CHECK(joist_crc32c(bytes, sizeof bytes) == 0x8a9136aa);
  for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = 0xff;
  CHECK(joist_crc32c(bytes, sizeof bytes) == 0x62a8ab43);
}

static void test_lengths(void) {
  enum { MOST = 12000 };
  static unsigned char bytes[MOST];
  for (size_t k = 0; k < MOST; k++) bytes[k] = k < 6000 ? 0xff : (unsigned char)(k * 197 + k / 251);
  for (size_t n = 0; n <= MOST; n += n < 70 ? 1 : 397) {
    CHECK(joist_crc32(bytes, n) == crc_by_bits(0xedb88320, bytes, n));
    CHECK(joist_crc32c(bytes + MOST - n, n) == crc_by_bits(0x82f63b78, bytes + MOST - n, n));
    CHECK(joist_adler32(bytes, n) == adler_by_definition(bytes, n));
  }
}

int main(void) {
  test_published();
  test_lengths();
  return check_report("checksum");
}
