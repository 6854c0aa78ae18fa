/* One loop per element size, so that the compiler sees a plain move. Private to the files that
 * move elements: function_<type>() is defined for every type of JOIST_BY_SIZE. */
#ifndef JOIST_CORE_BASE_BY_SIZE_H
#define JOIST_CORE_BASE_BY_SIZE_H

#include <stdint.h>

typedef struct sixteen {
  uint64_t part[2];
} sixteen;

#define JOIST_BY_SIZE(size, function, ...) \
  do {                                     \
    switch (size) {                        \
      case 1:                              \
        function##_uint8_t(__VA_ARGS__);   \
        break;                             \
      case 2:                              \
        function##_uint16_t(__VA_ARGS__);  \
        break;                             \
      case 4:                              \
        function##_uint32_t(__VA_ARGS__);  \
        break;                             \
      case 8:                              \
        function##_uint64_t(__VA_ARGS__);  \
        break;                             \
      default:                             \
        function##_sixteen(__VA_ARGS__);   \
        break;                             \
    }                                      \
  } while (0)

#endif
