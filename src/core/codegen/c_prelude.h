/* What generated C code begins with: the element functions of kernels and conversions, compiled by
 * the same options. */
#ifndef JOIST_CORE_CODEGEN_C_PRELUDE_H
#define JOIST_CORE_CODEGEN_C_PRELUDE_H

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/base/vectorize.h"

JOIST_VECTORIZE_FILE
#include "core/codegen/native.h"
#include "core/kernels/expressions.h"
#include "core/types/convert_element.h"

#endif
