/* Programs: typed instructions in SSA form, the one thing devices run.
 *
 * A program owns its arrays (joist_program_clear frees them) but no payload. Inputs
 * and results are numbered values. Building infers dtypes and shapes with the same
 * functions for one eager operation and for a trace. */
#ifndef JOIST_CORE_PROGRAM_PROGRAM_H
#define JOIST_CORE_PROGRAM_PROGRAM_H

#include "core/base/arena.h"
#include "core/base/table.h"
#include "core/program/infer.h"
#include "core/types/shape.h"

typedef uint32_t joist_value_id;
#define JOIST_NO_INPUT UINT32_MAX /* no enumerator: ISO C has them fit int */

struct joist_value {
  struct joist_type type;
  struct joist_shape shape;
  uint32_t input;       /* position among the inputs, or JOIST_NO_INPUT */
  uint32_t instruction; /* that computes it; not used for an input */
  bool known;           /* an input that is `number` in each run: a float, and a scalar */
  double number;
};

/* Elements of a value of a program, whose shape was found to fit memory. */
static inline size_t joist_value_count(const struct joist_value *value) {
  size_t count = 0;
  (void)joist_shape_count(&value->shape, &count);
  return count;
}

static inline size_t joist_value_bytes(const struct joist_value *value) {
  return joist_value_count(value) * joist_dtype_size(value->type.dtype);
}

struct joist_program;

struct joist_instruction {
  joist_op op;
  uint32_t operand_count, result_count;
  const joist_value_id *operand;
  joist_value_id result; /* the first; the others follow it */
  const struct joist_attributes *attributes;
  struct joist_signature signature;
  uint32_t dims;    /* reductions: bit d is set when dim d is reduced */
  uint32_t source;  /* where it was written, as numbered by the caller; or JOIST_NO_SOURCE */
  uint32_t held;    /* 1 + the value that it does not run before, 0 for none */
  uint32_t missing; /* 1 + the value that is the mask of its result, 0 for none; where watched */
  uint8_t watch;    /* joist_watch, or'ed: what is done where values do not fit */
  bool again;       /* derivatives compute it again rather than keep its results */
  /* Bodies: programs of their own that belong to the instruction. */
  struct joist_program *const *regions;
  uint32_t region_count;
};

static inline bool joist_can_fail(const struct joist_instruction *i) {
  return joist_op_can_fail(i->op, i->signature.compute);
}

#define JOIST_NO_SOURCE UINT32_MAX

/* What is done where values do not fit. */
enum joist_watch {
  JOIST_WATCH_OVERFLOW = 1, /* results of integer operations that wrap are counted */
  JOIST_WATCH_LOSS = 2,     /* elements that converting an operand changes are counted */
  JOIST_WATCH_SATURATE = 4, /* results that would wrap become the bound that they exceed */
  JOIST_WATCH_RANGE = 8,    /* assigned elements beyond the range of the dtype are refused */
  JOIST_WATCH_HOST = 16,    /* the host's own integers: results that wrap are refused */
  /* Of what is delayed: the policy of its place lets results wrap; or, a conversion for an
   * operation, which is judged as those of operands are. */
  JOIST_WATCH_WRAPS = 32,
  JOIST_WATCH_CONVERTS = 64
};

/* How many values it reads: its operands, then the mask of its result, if there is one. */
static inline uint32_t joist_reads(const struct joist_instruction *i) {
  return i->operand_count + (i->missing > 0);
}
static inline joist_value_id joist_read_at(const struct joist_instruction *i, uint32_t k) {
  return k < i->operand_count ? i->operand[k] : i->missing - 1;
}

/* Whether it compares elements of two dtypes without converting them. */
static inline bool joist_is_mixed(const struct joist_instruction *i) {
  return joist_op_class(i->op) == JOIST_CLASS_COMPARE &&
         i->signature.operand[0] != i->signature.operand[1];
}

struct joist_program {
  struct joist_value *values;
  struct joist_instruction *instructions;
  joist_value_id *outputs;
  uint32_t value_count, input_count, instruction_count, output_count;
  uint32_t value_capacity, instruction_capacity, output_capacity;
  struct joist_table same;  /* of instructions */
  struct joist_arena arena; /* operands, attributes and regions of instructions */
};

/* One operand of an instruction: a value of the program, or an R literal that becomes
 * an input once the dtype it is read in is known. */
struct joist_argument {
  struct joist_operand operand; /* dtype, ambiguity, literal, rank, range */
  struct joist_shape shape;
  joist_value_id value; /* ignored for a literal */
};

void joist_program_init(struct joist_program *program);
void joist_program_clear(struct joist_program *program);

joist_status joist_program_add_input(struct joist_program *program, struct joist_type type,
                                     const struct joist_shape *shape, joist_value_id *value,
                                     struct joist_error *error) JOIST_MUST_CHECK;

/* What an operation gives, before it is added to a program. */
struct joist_inference {
  struct joist_signature signature;
  struct joist_shape shape[JOIST_RESULTS_MAX]; /* as many as the operation has results */
  uint8_t watch;                               /* joist_watch, or'ed: 0 unless the caller sets it */
};

/* Dtypes and shapes of `op` on its arguments. */
joist_status joist_program_infer(const struct joist_rules *rules, joist_op op,
                                 const struct joist_argument *arguments, size_t count,
                                 const struct joist_attributes *attributes,
                                 struct joist_inference *inference,
                                 struct joist_error *error) JOIST_MUST_CHECK;

/* The shapes of the results alone, which are all of rank 0 before. `shapes` ends with NULL. */
joist_status joist_program_infer_shapes(joist_op op, const struct joist_shape *const *shapes,
                                        size_t count, const struct joist_attributes *attributes,
                                        struct joist_shape *results,
                                        struct joist_error *error) JOIST_MUST_CHECK;

/* An instruction that was inferred. It refers to `operands` and `attributes`; its first result is
 * value `result`. */
struct joist_instruction joist_instruction_of(joist_op op, const struct joist_inference *inference,
                                              const joist_value_id *operands, size_t count,
                                              const struct joist_attributes *attributes,
                                              joist_value_id result);

/* Appends a copy of the instruction, whose `result` becomes the number of its first result, or
 * finds one that computes the same, or the value that a transposition gives back. */
joist_status joist_program_add(struct joist_program *program, struct joist_instruction *instruction,
                               const struct joist_inference *inference,
                               struct joist_error *error) JOIST_MUST_CHECK;

/* Appends a copy of the instruction, whose results have the types and shapes of `results`. */
joist_status joist_program_append(struct joist_program *program,
                                  struct joist_instruction *instruction,
                                  const struct joist_value *results,
                                  struct joist_error *error) JOIST_MUST_CHECK;

/* Gives the latest instruction a body. The program owns it from then on, also if it fails. */
joist_status joist_program_add_region(struct joist_program *program, struct joist_program *region,
                                      struct joist_error *error) JOIST_MUST_CHECK;

/* Moves the latest instruction to the place of an earlier one, whose results are replaced by its
 * first results, wherever they are read. `*done` becomes false, and nothing is done, unless these
 * have the same types and shapes and its operands come before that place. */
joist_status joist_program_replace(struct joist_program *program, uint32_t earlier, bool *done,
                                   struct joist_error *error) JOIST_MUST_CHECK;

/* Has everything that reads an alias read what it stands for, and removes the aliases, in bodies,
 * too. */
joist_status joist_program_remove_aliases(struct joist_program *program,
                                          struct joist_error *error) JOIST_MUST_CHECK;

joist_status joist_program_add_output(struct joist_program *program, joist_value_id value,
                                      struct joist_error *error) JOIST_MUST_CHECK;

/* What a failing element of an instruction is reported as; `position` counts from 0. */
joist_status joist_value_error(const struct joist_program *program, uint32_t instruction,
                               size_t position, struct joist_error *error);

#endif
