/* Traces: programs under construction, and compiled ones, as external pointers. */
#ifndef JOIST_R_TRACE_H
#define JOIST_R_TRACE_H

#include "core/base/text.h"
#include "core/plan/plan.h"
#include "r/tensor/moved.h"
#include "r/tensor/operands.h"
#include "r/trace/found.h"

/* Where a program's input comes from when it is run. */
typedef enum {
  JOIST_R_FROM_LEAF,     /* a tensor among the arguments */
  JOIST_R_FROM_LITERAL,  /* a bare R value among the arguments, read in a dtype */
  JOIST_R_FROM_MASK,     /* the mask of either */
  JOIST_R_FROM_CONSTANT, /* a payload that the trace keeps */
  JOIST_R_FROM_OUTSIDE   /* bodies: a value of the trace that this one is within */
} joist_r_source_kind;

struct joist_r_source {
  joist_r_source_kind kind;
  uint32_t index; /* of the leaf, in the order of the arguments, of the constant, or the value */
  joist_dtype dtype;
  joist_value_id value; /* of the program */
  bool ambiguous;       /* its type */
};

struct joist_r_trace {
  struct joist_r_moves moves; /* the first member: see moved.h */
  struct joist_program program;
  struct joist_plan *plan; /* once the trace has ended */
  struct joist_r_source *sources;
  uint32_t source_capacity, constant_count, leaf_count, line_count;
  uint32_t lineless; /* operations in a row without a line of R code */
  struct joist_table known_sources, known_constants;
  uint8_t *constant_bytes; /* of each constant that is a scalar, 0 for others */
  joist_value_id *masks;   /* 1 + the mask of a value that has one, 0 for none */
  uint32_t mask_capacity;
  joist_value_id *exact; /* of R numbers: 1 + the value that R has, 0 for others */
  uint32_t exact_capacity;
  joist_value_id *mixed; /* 1 + an enum joist_r_mixed, see joist_r_trace_mixed(); 0 for others */
  uint32_t mixed_capacity;
  struct joist_text text; /* used by program_view.c; owned by the trace */
  bool closed;
  bool watched;                /* an instruction is: a run may find values that do not fit */
  struct joist_r_found *found; /* what runs found; NULL if nothing */
};

/* Elements of the list that the external pointer protects. */
enum {
  JOIST_R_CONSTANTS,
  JOIST_R_VALUE_NAMES,    /* the names of traced tensors by the numbers of their values, see
                             trace_names.h; NULL while none has any */
  JOIST_R_ARGUMENT_NAMES, /* for each leaf with names a list of them and whether R asked for them */
  JOIST_R_OUTPUT_NAMES,   /* by the numbers of outputs; NULL if none has any */
  JOIST_R_TEMPLATE,
  JOIST_R_UPLOADED, /* the constants on the device that the program ran on last */
  JOIST_R_LINES,    /* source references, which instructions count; of bodies, the outermost's */
  JOIST_R_PARENT,   /* of a body: the trace that it is within; NULL otherwise */
  JOIST_R_RULES,    /* a list with a cell for each mark, the latest first; of the outermost trace */
  JOIST_R_KEPT
};

/* Raises joist_value_error when the pointer is empty. */
struct joist_r_trace *joist_r_trace_of(SEXP pointer);

/* The trace that a body is within; NULL for others. */
SEXP joist_r_trace_parent(SEXP pointer);

/* Whether `pointer` is `inner`, or a trace that this one is within. */
bool joist_r_is_within(SEXP inner, SEXP pointer);
/* The number of a value in a trace, as an operand: in its own dtype or, for a bare R value, in
 * `type`. Inputs are added as needed. */
joist_value_id joist_r_trace_number(SEXP pointer, const struct joist_r_value *value,
                                    struct joist_type type);
/* The number of the line of R code that is being run, JOIST_NO_SOURCE when it has none. */
uint32_t joist_r_trace_line(SEXP pointer);
/* Raises joist_value_error when the trace has ended. */
void joist_r_check_open(SEXP pointer);
_Noreturn void joist_r_stop_two_traces(void);
_Noreturn void joist_r_stop_abstract(void);
/* Notes 1 + `id` for a value in a table by numbers of values, which grows as needed and is 0 where
 * nothing was noted. */
void joist_r_note_value(joist_value_id **table, uint32_t *capacity, joist_value_id value,
                        joist_value_id id);
/* A value of a trace as a tensor. */
SEXP joist_r_trace_tensor(SEXP pointer, joist_value_id value);

/* A bare R value among the arguments, read in a type and under a shape of as many elements. */
SEXP joist_r_trace_read(const struct joist_r_value *value, struct joist_type type,
                        const struct joist_shape *shape);

/* Raises unless `dynamic` is R_NilValue or has a logical for each of the list `arguments`. */
void joist_r_check_arguments(SEXP arguments, SEXP dynamic);
/* Whether argument k is traced: with R_NilValue all are. */
bool joist_r_is_dynamic(SEXP dynamic, R_xlen_t k);
/* A list without class is structure; everything else is a leaf. */
bool joist_r_is_structure(SEXP x);
/* A copy of `x` in which every leaf is what `leaf` makes of it; NULL stays NULL. */
SEXP joist_r_map_leaves(SEXP x, SEXP (*leaf)(SEXP x, void *context), void *context);

/* .Call entry points. `arguments` is a list, `dynamic` says which of them are traced. */
SEXP joist_r_trace_begin(SEXP arguments, SEXP dynamic, SEXP rules);
SEXP joist_r_trace_end(SEXP trace, SEXP result, SEXP rules);
/* A tensor as a constant of a trace that is under way. One that is traced is given back. */
SEXP joist_r_trace_constant(SEXP trace, SEXP x);
/* The number that a traced float is, where it is a constant of its trace; NULL for others. */
SEXP joist_r_trace_known(SEXP x);
/* Pushes a session in which `trace`, or none if it is NULL, is under way. NULL keeps the frame. */
SEXP joist_r_push_trace(SEXP trace, SEXP in_body, SEXP frame);
/* A new mark for alias(), with the rule of its derivative, which may be NULL. */
SEXP joist_r_trace_mark(SEXP trace, SEXP rule);
/* The rule of a mark; NULL if there is none. */
SEXP joist_r_trace_rule(SEXP trace, SEXP mark);
/* Puts the latest instruction in the place of the one of that number, if it gives the same and can
 * run there. */
SEXP joist_r_trace_replace(SEXP trace, SEXP number);
/* The number that a traced tensor has by now; negative for an R value among the arguments, NULL for
 * any other object. */
SEXP joist_r_traced_number(SEXP x);
/* Whether `x` stands for an R number among the arguments of a trace, and whether it is a tensor
 * that does not. */
SEXP joist_r_is_number(SEXP x);
SEXP joist_r_is_operand(SEXP x);
/* Whether any R object is a traced tensor, and whether it is anything but a traced or an abstract
 * one. */
SEXP joist_r_is_traced(SEXP x);
SEXP joist_r_has_elements(SEXP x);

#endif
