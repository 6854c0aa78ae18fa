/* Checksums that file formats have behind their bytes. */
#ifndef JOIST_CORE_FILES_CHECKSUM_H
#define JOIST_CORE_FILES_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 of gzip (RFC 1952). */
uint32_t joist_crc32(const void *bytes, size_t n);
/* CRC-32C, Castagnoli's (RFC 3720). */
uint32_t joist_crc32c(const void *bytes, size_t n);
/* Adler-32 of zlib (RFC 1950). */
uint32_t joist_adler32(const void *bytes, size_t n);

#endif
