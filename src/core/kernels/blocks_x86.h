/* What the kernels of block types take of AVX2; included by blocks_*.c, behind the target. */
#define LOOK_UP(TABLE, FROM, TO)                                                             \
  _mm_storeu_si128((__m128i *)(void *)(TO),                                                  \
                   _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(TABLE)), \
                                    _mm_loadu_si128((const __m128i *)(const void *)(FROM))))
#define FLOAT_OF_HALF(BITS) _cvtsh_ss(BITS)

/* Sums of four products each of 32 pairs of bytes, of which those of `b` are from -127 to 127. */
#define LOAD_BYTES(FROM) _mm256_loadu_si256((const __m256i *)(const void *)(FROM))
/* As the processor waits for a load of 32 bytes of which two stores made halves. */
#define LOAD_HALVES(FROM)                                           \
  _mm256_loadu2_m128i((const __m128i *)(const void *)((FROM) + 16), \
                      (const __m128i *)(const void *)(FROM))
#define BYTE_PRODUCTS(A, B)                                                                    \
  _mm256_cvtepi32_ps(                                                                          \
      _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_abs_epi8(LOAD_HALVES(A)),                  \
                                             _mm256_sign_epi8(LOAD_BYTES(B), LOAD_HALVES(A))), \
                        _mm256_set1_epi16(1)))
#define TWO_SCALES(FIRST, SECOND) _mm256_set_m128(_mm_set1_ps(SECOND), _mm_set1_ps(FIRST))
#define ONE_SCALE(SCALE) _mm256_set1_ps(SCALE)
typedef __m256 byte_sums;
