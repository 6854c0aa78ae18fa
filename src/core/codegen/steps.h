/* A group of a plan as steps on registers: what emitters write source text of, and interpreters
 * run. C, C++ of a device and compilers at run time read this header, so it includes nothing else
 * of joist. */
#ifndef JOIST_CORE_CODEGEN_STEPS_H
#define JOIST_CORE_CODEGEN_STEPS_H

#include <stdint.h>

enum {
  JOIST_CODE_LOAD,   /* out = array in[0] at the element */
  JOIST_CODE_SCALAR, /* out = array in[0] at 0 */
  JOIST_CODE_GIVEN,  /* out = the element that is in the place of array in[0] */
  JOIST_CODE_GATHER, /* out = array in[0] at the place that strides in[1] give */
  JOIST_CODE_TAKE,  /* out = array in[2] at that place, moved by (in[0], an i64, less op) x along */
  JOIST_CODE_STORE, /* array out at the element = register in[0] */
  JOIST_CODE_COPY,  /* out = the bits of in[0], of dtype `from`, read as `to` */
  JOIST_CODE_CONVERT, /* out = in[0], of dtype `from`, as `to` */
  JOIST_CODE_KERNEL,  /* out = op(in[0], in[1], in[2]) computed in `from` */
  JOIST_CODE_FOLD,    /* accumulator out = op(it, in[0]) in `from`; to array in[1] */
  /* Values that do not fit set flag `out`, unless register in[2], a mask, is 1 there; without a
   * mask in[2] repeats in[0]: */
  JOIST_CODE_WRAPS,  /* results of op(in[0], in[1]) in `from` */
  JOIST_CODE_BEYOND, /* in[0], of dtype `from`, compared with the bounds of dtype `op` */
  JOIST_CODE_LOSES,  /* in[0], of dtype `from`, converted to dtype `op` */
  JOIST_CODE_LARGE   /* in[0], of dtype `from`, whose magnitude has more than `op` digits */
};

/* `to` of the last four: whether there is a mask. */
/* LOAD, SCALAR, GIVEN, GATHER, TAKE and STORE move elements of dtype `from`. */
struct joist_code_step {
  uint16_t kind, op, from, to;
  uint16_t in[3], out;
};

#endif
