/* Writing C.
 *
 * Values of one element are variables b<body>_v<value>; arrays are found in the tables A<body>. A
 * group of one element is straight-line code, a wider one a loop over runs of elements that every
 * operand walks through in equal steps. Registers of a group are r<number>, in a block of their
 * own. */
#include "core/codegen/c_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/codegen/c_elements.h"
#include "core/codegen/c_moves.h"
#include "core/codegen/c_writer.h"
#include "core/codegen/native.h"

enum {
  POLL_AFTER = 1 << 14,     /* elements, as in control_flow.c */
  CHUNK = 512,              /* elements computed before those that need repair are looked at */
  FOLDED_BYTES = 32 * 1024, /* of a group's elements that are kept for its sinks */
  CHECKED_MOST = CHUNK      /* elements of a group that can fail: it runs again from its start */
};

static const struct joist_c_expression *expression_of_step(struct writer *w,
                                                           const struct joist_code_step *step) {
  return joist_c_expression_of(w, step->op, step->from);
}

/* The step that loads what a fold reads, if it is nothing but an array. */
static const struct joist_code_step *loaded_by(const struct writer *w,
                                               const struct joist_code_step *fold) {
  for (uint32_t s = 0; s < w->lowered->step_count; s++) {
    const struct joist_code_step *const step = &w->lowered->steps[s];
    if (step->out == fold->in[0] && step->kind == JOIST_CODE_LOAD) return step;
  }
  return NULL;
}

/* Whether a sink of a part reads an array. */
static bool folds_array(const struct writer *w, uint32_t sink) {
  for (uint32_t s = 0; s < w->step_count; s++)
    if (w->steps[s].kind == JOIST_STEP_FOLD && w->steps[s].sink == sink)
      return w->steps[s].in[0].array;
  return false;
}

/* Whether a sink can fold an array directly. Not if the group writes an array, which may be the
 * same memory. */
static bool is_direct(const struct writer *w, const struct joist_code_step *fold) {
  for (uint32_t s = 0; s < w->lowered->step_count; s++)
    if (w->lowered->steps[s].kind == JOIST_CODE_STORE) return false;
  return loaded_by(w, fold) != NULL;
}

/* ---- steps ---- */

/* How the code of a group's elements is written: for one element, as variables; for a run of
 * elements; for a run that also looks for elements to repair; for a run that repairs them. */
enum manner { ALONE, RUN, LOOKING, MENDING };

struct place {
  uint32_t body;
  const struct joist_plan *plan;
  enum manner manner;
  bool chunked;
  size_t count;      /* elements of the group; 0 where a part of it is asked for */
  bool small_powers; /* the exponents that are the same for all elements are 1, 2 or 3 */
  bool staged;       /* powers by such exponents have been computed, to v<register> */
  /* The array that is written where the next group pads it, and where that is; NULL for none. */
  const struct joist_walk *padded;
  uint32_t padded_array;
  joist_value_id padded_to;
};

/* The only element of a value that a step reads or writes. */
static void add_scalar(struct writer *w, const struct place *at, uint32_t array) {
  if (w->nest != NULL)
    ADD("b%u_v%u", at->body, at->plan->root[w->lowered->array[array]]);
  else
    ADD("c%u", array);
}

/* The step that made a register; NULL for none. */
static const struct joist_code_step *made_by(const struct writer *w, uint32_t number) {
  for (uint32_t s = 0; s < w->lowered->step_count; s++)
    if (joist_code_writes(&w->lowered->steps[s]) && w->lowered->steps[s].out == number)
      return &w->lowered->steps[s];
  return NULL;
}

/* Whether the step is a power of a float, and the same one for all elements. */
static bool is_uniform_power(const struct writer *w, const struct joist_code_step *step) {
  if (step->kind != JOIST_CODE_KERNEL || step->op != JOIST_OP_POW ||
      joist_dtype_kind((joist_dtype)step->from) != JOIST_KIND_FLOAT)
    return false;
  const struct joist_code_step *made = made_by(w, step->in[1]);
  while (made != NULL && made->kind == JOIST_CODE_CONVERT) made = made_by(w, made->in[0]);
  return made != NULL && made->kind == JOIST_CODE_SCALAR;
}

/* What is known of a power of which the exponent is the same for all elements: nothing; that it is
 * a product, of so many factors; or that it is none. */
enum { ANY_POWER = 0, NO_PRODUCT = -1 };
static int factors_of(const struct writer *w, const struct place *at,
                      const struct joist_code_step *step) {
  const struct joist_code_step *made = made_by(w, step->in[1]);
  while (made->kind == JOIST_CODE_CONVERT) made = made_by(w, made->in[0]);
  const uint32_t v = w->lowered->array[made->in[0]];
  const struct joist_value *const value = &at->plan->program->values[at->plan->root[v]];
  double number = value->number;
  if (!(w->nest != NULL ? joist_nest_is_known(w->nest, at->body, v, &number) : value->known))
    return ANY_POWER;
  const int most = step->from == JOIST_F64 ? 3 : 2;
  for (int factors = 1; factors <= most; factors++)
    if (number == factors) return factors;
  return NO_PRODUCT;
}

static bool is_product(const struct writer *w, const struct place *at,
                       const struct joist_code_step *step) {
  return is_uniform_power(w, step) && (at->small_powers || factors_of(w, at, step) > 0);
}

/* A call of op_OP_DTYPE(), or of another of its functions, on the step's operands. */
static void add_kernel_call(struct writer *w, const char *function,
                            const struct joist_code_step *step) {
  const int operands = expression_of_step(w, step)->operands;
  ADD("%s_%s_%s(", function, joist_code_op(step->op), joist_code_dtype(step->from));
  for (int k = 0; k < operands; k++) ADD("%sr%u", k > 0 ? ", " : "", step->in[k]);
  ADD(")");
}

static void add_kernel(struct writer *w, const struct place *at,
                       const struct joist_code_step *step) {
  const struct joist_c_expression *const e = expression_of_step(w, step);
  if (is_product(w, at, step)) {
    const int factors = factors_of(w, at, step);
    ADD("const %s r%u = SMALL_POWER_%s(r%u, ", joist_code_type(step->to), step->out,
        joist_code_dtype(step->from), step->in[0]);
    if (factors > 0)
      ADD("%d);\n", factors);
    else
      ADD("r%u);\n", step->in[1]);
    return;
  }
  if (at->staged && is_uniform_power(w, step)) {
    ADD("const %s r%u = v%u[k];\n", joist_code_type(step->to), step->out, step->out);
    return;
  }
  const char *const op = joist_code_op(step->op), *const dtype = joist_code_dtype(step->from);
  const char *const type = joist_code_type(step->to);
  if (e->form == JOIST_C_CHECKED) {
    /* What divides by zero is not computed: the caller looks at `odd`. */
    ADD("const int o%u = odd_%s_%s(r%u, r%u);\n", step->out, op, dtype, step->in[0], step->in[1]);
    ADD("odd |= o%u;\n", step->out);
    ADD("const %s r%u = op_%s_%s(r%u, o%u ? (%s)1 : r%u);\n", type, step->out, op, dtype,
        step->in[0], step->out, joist_code_type(step->from), step->in[1]);
    return;
  }
  ADD("const %s r%u = ", type, step->out);
  if (e->form == JOIST_C_REPAIRED && at->manner == ALONE) {
    if (step->op == JOIST_OP_POW)
      ADD("IS_SMALL_POWER_%s(r%u) ? SMALL_POWER_%s(r%u, r%u) : ", dtype, step->in[1], dtype,
          step->in[0], step->in[1]);
    add_kernel_call(w, "odd", step);
    ADD(" ? ");
    add_kernel_call(w, "mend", step);
    ADD(" : ");
  }
  add_kernel_call(w, e->form == JOIST_C_REPAIRED && at->manner == MENDING ? "redo" : "op", step);
  ADD(";\n");
  if (e->form != JOIST_C_REPAIRED || at->manner != LOOKING) return;
  ADD("odd |= ");
  add_kernel_call(w, "odd", step);
  ADD(";\n");
}

/* Of a gather, along the first dim. */
static long long first_stride(const struct writer *w, uint32_t gather) {
  return w->lowered->rank > 0 ? (long long)w->lowered->stride[gather][0] : 0;
}

/* The start of an element of a run at a place that a gather gives. */
static void add_walked(struct writer *w, uint32_t array, uint32_t gather) {
  ADD("x%u[p%u", array, gather);
  if (first_stride(w, gather) != 0) ADD(" + (ptrdiff_t)k * %lld", first_stride(w, gather));
}

/* Compilers make vector code where places are as wide as elements. */
static void add_take(struct writer *w, const struct place *at, const struct joist_code_step *step) {
  const struct joist_value *const from = &at->plan->program->values[w->lowered->array[step->in[2]]];
  const bool narrow = joist_dtype_size((joist_dtype)step->from) == sizeof(int32_t) &&
                      joist_value_count(from) <= INT32_MAX;
  ADD("const %s r%u = ", joist_code_type(step->to), step->out);
  add_walked(w, step->in[2], step->in[1]);
  ADD(" + (ptrdiff_t)(%s(r%u - %u) * %lld)];\n", narrow ? "(int32_t)" : "", step->in[0], step->op,
      (long long)w->lowered->along[step->in[1]]);
}

static bool is_watch(const struct joist_code_step *step) { return step->kind > JOIST_CODE_FOLD; }

/* The type of the flag of a step that watches: as wide as its operands, for vector code. */
static const char *type_of_flag(const struct joist_code_step *step) {
  if (step->kind == JOIST_CODE_WRAPS) return joist_code_type(step->from);
  const size_t size = joist_dtype_size((joist_dtype)step->from);
  return size == 1 ? "uint8_t" : size == 2 ? "uint16_t" : size == 4 ? "uint32_t" : "uint64_t";
}

/* The name that SCALAR_WRAPS() has for the operation; NULL for none. */
static const char *scalar_wraps(const struct joist_code_step *step) {
  switch (step->op) {
    case JOIST_OP_ADD:
      return "add";
    case JOIST_OP_SUB:
      return "sub";
    case JOIST_OP_MUL:
      return "mul";
    default: /* the others have no flag */
      return NULL;
  }
}

/* How the flag of a step compares with 0 if it is set. */
static const char *test_of_flag(struct writer *w, const struct joist_code_step *step) {
  return step->kind == JOIST_CODE_WRAPS && joist_c_need_wraps(w, step->op, step->from) ? "<" : "!=";
}

static void add_watch(struct writer *w, const struct place *at,
                      const struct joist_code_step *step) {
  const char *const type = type_of_flag(step);
  if (at->manner == MENDING) return;
  if (at->manner == ALONE)
    ADD("if ((");
  else
    ADD("w%u = (%s)(w%u | ", step->out, type, step->out);
  if (step->to) ADD("(r%u != 0 ? 0 : ", step->in[2]);
  if (step->kind == JOIST_CODE_WRAPS) {
    const char *const flag = at->manner == ALONE ? scalar_wraps(step) : NULL;
    (void)joist_c_need_wraps(w, step->op, step->from);
    if (flag != NULL) ADD("SCALAR_WRAPS(%s, %s, r%u, r%u, ", type, flag, step->in[0], step->in[1]);
    add_kernel_call(w, "wraps", step);
    if (flag != NULL) ADD(")");
  } else if (step->kind == JOIST_CODE_LOSES) {
    joist_c_need_loses(w, step->from, step->op);
    ADD("(%s)loses_%s_%s(r%u)", type, joist_code_dtype(step->from), joist_code_dtype(step->op),
        step->in[0]);
  } else {
    ADD("(%s)((r%u < %lld) | (r%u > %lld))", type, step->in[0],
        (long long)joist_dtype_min_int((joist_dtype)step->op), step->in[0],
        (long long)joist_dtype_max_int((joist_dtype)step->op));
  }
  ADD(step->to ? "))" : ")");
  if (at->manner == ALONE) ADD(" %s 0) native->wrapped = 1", test_of_flag(w, step));
  ADD(";\n");
}

/* The flags of a group before its elements, and after them. */
static void begin_flags(struct writer *w) {
  for (uint32_t s = 0; s < w->lowered->step_count; s++)
    if (is_watch(&w->lowered->steps[s]))
      ADD("%s w%u = 0;\n", type_of_flag(&w->lowered->steps[s]), w->lowered->steps[s].out);
}
static void end_flags(struct writer *w, const char *flag) {
  for (uint32_t s = 0; s < w->lowered->step_count; s++) {
    const struct joist_code_step *const step = &w->lowered->steps[s];
    if (!is_watch(step)) continue;
    ADD("if (w%u %s 0) %s = 1;\n", step->out, test_of_flag(w, step), flag);
  }
}

/* Whether the array is written row by row to where it is padded. */
static bool is_padded(const struct place *at, uint32_t array) {
  return at->padded != NULL && at->padded_array == array;
}

static void add_step(struct writer *w, const struct place *at, const struct joist_code_step *step) {
  const char *const to = joist_code_type(step->to);
  switch (step->kind) {
    case JOIST_CODE_LOAD:
      ADD("const %s r%u = ", to, step->out);
      if (at->manner == ALONE)
        add_scalar(w, at, step->in[0]);
      else
        ADD("x%u[at + k]", step->in[0]);
      ADD(";\n");
      break;
    case JOIST_CODE_SCALAR:
    case JOIST_CODE_GIVEN:
      ADD("const %s r%u = ", to, step->out);
      add_scalar(w, at, step->in[0]);
      ADD(";\n");
      break;
    case JOIST_CODE_GATHER:
      ADD("const %s r%u = ", to, step->out);
      if (at->manner != ALONE) {
        add_walked(w, step->in[0], step->in[1]);
        ADD("]");
      } else if (joist_nest_is_scalar(at->plan, w->lowered->array[step->in[0]])) {
        add_scalar(w, at, step->in[0]);
      } else {
        ADD("((const %s *)%s)[%lld]", to,
            joist_c_name_of(w, at->body, w->lowered->array[step->in[0]]).text,
            (long long)w->lowered->base[step->in[0]]);
      }
      ADD(";\n");
      break;
    case JOIST_CODE_TAKE: /* of many elements */
      add_take(w, at, step);
      break;
    case JOIST_CODE_STORE:
      if (at->manner == ALONE) {
        add_scalar(w, at, step->out);
        ADD(" = r%u;\n", step->in[0]);
      } else {
        const char *const text = at->chunked                ? "s%u[k] = r%u;\n"
                                 : is_padded(at, step->out) ? "x%u[to + (ptrdiff_t)k] = r%u;\n"
                                                            : "x%u[at + k] = r%u;\n";
        ADD(text, step->out, step->in[0]);
      }
      break;
    case JOIST_CODE_COPY:
      ADD("%s r%u;\nmemcpy(&r%u, &r%u, sizeof r%u);\n", to, step->out, step->out, step->in[0],
          step->out);
      break;
    case JOIST_CODE_CONVERT:
      joist_c_need_conversion(w, step->from, step->to);
      ADD("const %s r%u = convert_%s_%s(r%u);\n", to, step->out, joist_code_dtype(step->from),
          joist_code_dtype(step->to), step->in[0]);
      break;
    case JOIST_CODE_KERNEL:
      add_kernel(w, at, step);
      break;
    case JOIST_CODE_WRAPS:
    case JOIST_CODE_BEYOND:
    case JOIST_CODE_LOSES:
      add_watch(w, at, step);
      break;
    default: /* FOLD */
      if (at->manner == ALONE)
        ADD("f%u = r%u;\n", step->out, step->in[0]);
      else if (w->nest == NULL ? !folds_array(w, step->out) : !is_direct(w, step))
        ADD("f%u[at - first + k] = r%u;\n", step->out, step->in[0]);
      break;
  }
}

/* Whether the step gives the same for all elements of a run, and is not for scalars alone: an
 * operand that is repeated along the first dim, or a conversion of one. */
static bool is_per_run(const struct writer *w, const struct place *at,
                       const struct joist_code_step *step) {
  if (at->manner == ALONE) return false;
  if (step->kind == JOIST_CODE_GATHER) return first_stride(w, step->in[1]) == 0;
  const struct joist_code_step *const made =
      step->kind == JOIST_CODE_CONVERT ? made_by(w, step->in[0]) : NULL;
  return made != NULL && is_per_run(w, at, made);
}

/* The steps once per run, or the steps of every element. */
static void add_steps(struct writer *w, const struct place *at, bool per_run) {
  for (uint32_t s = 0; s < w->lowered->step_count; s++)
    if (is_per_run(w, at, &w->lowered->steps[s]) == per_run) add_step(w, at, &w->lowered->steps[s]);
}

/* Whether a step has that form, other than powers that are products or, if `staged`, computed
 * before. */
static bool has_form(struct writer *w, const struct place *at, enum joist_c_form form,
                     bool staged) {
  for (uint32_t s = 0; s < w->lowered->step_count; s++)
    if (w->lowered->steps[s].kind == JOIST_CODE_KERNEL &&
        !is_product(w, at, &w->lowered->steps[s]) &&
        !(staged && is_uniform_power(w, &w->lowered->steps[s])) &&
        expression_of_step(w, &w->lowered->steps[s])->form == form)
      return true;
  return false;
}

/* ---- runs of elements ---- */

static bool is_stored(const struct writer *w, uint32_t array) {
  for (uint32_t s = 0; s < w->lowered->step_count; s++)
    if (w->lowered->steps[s].kind == JOIST_CODE_STORE && w->lowered->steps[s].out == array)
      return true;
  return false;
}

static struct name array_name(const struct writer *w, const struct place *at, uint32_t value) {
  struct name name;
  if (w->nest != NULL && !joist_nest_is_scalar(at->plan, value))
    return joist_c_name_of(w, at->body, value);
  snprintf(name.text, sizeof name.text, "A%u[%u]", at->body, value);
  return name;
}

/* The pointers to the arrays that the group walks through. */
static void add_pointers(struct writer *w, const struct place *at) {
  const struct joist_code *const code = w->lowered;
  for (uint32_t a = 0; a < code->array_count; a++) {
    const char *type = NULL;
    for (uint32_t s = 0; s < code->step_count; s++) {
      const struct joist_code_step *const step = &code->steps[s];
      const bool reads = step->kind == JOIST_CODE_LOAD || step->kind == JOIST_CODE_GATHER;
      if ((reads && step->in[0] == a) || (step->kind == JOIST_CODE_TAKE && step->in[2] == a) ||
          (step->kind == JOIST_CODE_STORE && step->out == a))
        type = joist_code_type(step->from);
    }
    const bool padded = is_padded(at, a);
    if (type != NULL)
      ADD("%s%s *const x%u = (%s *)%s + %lld;\n", is_stored(w, a) ? "" : "const ", type, a, type,
          array_name(w, at, padded ? at->padded_to : code->array[a]).text,
          (long long)(padded ? at->padded->out_base : code->base[a]));
  }
}

/* The few elements of a group one by one. */
static void add_unrolled(struct writer *w, const struct place *at) {
  for (size_t k = 0; k < at->count; k++) {
    ADD("{\nconst size_t k = %zu;\n", k);
    add_steps(w, at, false);
    ADD("}\n");
  }
}

static void add_inner_loop(struct writer *w, const struct place *at, const char *length) {
  ADD("%sfor (size_t k = 0; k < %s; k++) {\n", at->manner == MENDING ? "" : "JOIST_VECTORIZE_LOOP ",
      length);
  add_steps(w, at, false);
  ADD("}\n");
}

/* A chunk into buffers, once more where an element needs mending, then to its arrays. */
static void add_chunk(struct writer *w, struct place at, bool repairs) {
  const struct joist_code *const code = w->lowered;
  for (uint32_t a = 0; a < code->array_count; a++)
    if (is_stored(w, a)) ADD("%s s%u[%d];\n", type_of_value(at.plan, code->array[a]), a, CHUNK);
  ADD("int odd = 0;\n");
  at.manner = LOOKING;
  at.chunked = true;
  add_inner_loop(w, &at, "run");
  if (repairs) {
    at.manner = MENDING;
    ADD("if (odd) {\nodd = 0;\n");
    add_inner_loop(w, &at, "run");
    ADD("}\n");
  }
  ADD("any |= odd;\n");
  /* A group that fails runs again: it must not have written over its operands. */
  const char *const unless = has_form(w, &at, JOIST_C_CHECKED, false) ? "if (!any) " : "";
  for (uint32_t a = 0; a < code->array_count; a++)
    if (is_stored(w, a)) ADD("%smemcpy(x%u + at, s%u, run * sizeof *s%u);\n", unless, a, a, a);
}

/* The value of a register that is the same for all elements. */
static void add_uniform(struct writer *w, const struct place *at, uint32_t number) {
  const struct joist_code_step *const made = made_by(w, number);
  if (made->kind == JOIST_CODE_CONVERT) {
    joist_c_need_conversion(w, made->from, made->to);
    ADD("convert_%s_%s(", joist_code_dtype(made->from), joist_code_dtype(made->to));
    add_uniform(w, at, made->in[0]);
    ADD(")");
  } else {
    add_scalar(w, at, made->in[0]);
  }
}

/* Powers of a run, before its other elements: each by a function that is compiled once. What the
 * powers are of goes to a buffer, if it is not in an array already. */
static void add_stages(struct writer *w, const struct place *at) {
  const struct joist_code *const code = w->lowered;
  for (uint32_t s = 0; s < code->step_count; s++) {
    const struct joist_code_step *const step = &code->steps[s];
    if (!is_uniform_power(w, step) || is_product(w, at, step)) continue;
    const struct joist_code_step *const base = made_by(w, step->in[0]);
    const char *const type = joist_code_type(step->from);
    ADD("%s v%u[%d];\n", joist_code_type(step->to), step->out, CHUNK);
    struct name from;
    if (base->kind == JOIST_CODE_LOAD) {
      snprintf(from.text, sizeof from.text, "x%u + at", base->in[0]);
    } else if (base->kind == JOIST_CODE_GATHER && first_stride(w, base->in[1]) == 1) {
      snprintf(from.text, sizeof from.text, "x%u + p%u", base->in[0], base->in[1]);
    } else {
      snprintf(from.text, sizeof from.text, "u%u", step->out);
      ADD("%s u%u[%d];\n", type, step->out, CHUNK);
      ADD("JOIST_VECTORIZE_LOOP for (size_t k = 0; k < run; k++) {\n");
      for (uint32_t t = 0; t < s; t++)
        if (joist_code_writes(&code->steps[t]) && !is_per_run(w, at, &code->steps[t]))
          add_step(w, at, &code->steps[t]);
      ADD("u%u[k] = r%u;\n}\n", step->out, step->in[0]);
    }
    joist_c_need_many(w, step->op, step->from);
    ADD("many_%s_%s(run, %s, ", joist_code_op(step->op), joist_code_dtype(step->from), from.text);
    add_uniform(w, at, step->in[1]);
    ADD(", v%u);\n", step->out);
  }
}

/* Whether there is nothing but uniform powers to be repaired, of what is computed: a loop that only
 * copies is not vector code. */
static bool can_be_staged(struct writer *w, const struct place *at) {
  for (uint32_t s = 0; s < w->lowered->step_count; s++) {
    const struct joist_code_step *const step = &w->lowered->steps[s];
    if (is_uniform_power(w, step) && !is_product(w, at, step) &&
        made_by(w, step->in[0])->kind == JOIST_CODE_COPY)
      return false;
  }
  return !has_form(w, at, JOIST_C_REPAIRED, true) && !has_form(w, at, JOIST_C_CHECKED, false);
}

/* Elements first .. last - 1, in runs along the first dim. */
static void add_these_runs(struct writer *w, const struct place *at) {
  const struct joist_code *const code = w->lowered;
  const bool repairs = has_form(w, at, JOIST_C_REPAIRED, at->staged);
  const bool checks = has_form(w, at, JOIST_C_CHECKED, false);
  const bool chunked = repairs || checks || at->staged;
  const bool rows = (code->gather_count > 0 || at->padded != NULL) && code->rank > 1;
  const bool once = !rows && (!chunked || (at->count > 0 && at->count <= CHUNK));
  ADD(once ? "{\nconst size_t at = first;\n" : "for (size_t at = first; at < last;) {\n");
  /* The whole group is whole rows, of which compilers know the length. */
  const bool whole = at->count > 0 && !chunked;
  if (rows) {
    if (whole)
      ADD("const size_t i0 = 0;\n");
    else
      ADD("const size_t i0 = at %% %lluu;\n", (unsigned long long)code->extent[0]);
    ADD("size_t rest = at / %lluu;\n", (unsigned long long)code->extent[0]);
    for (uint32_t d = 1; d < code->rank; d++)
      ADD("const size_t i%u = rest %% %lluu;\nrest /= %lluu;\n", d,
          (unsigned long long)code->extent[d], (unsigned long long)code->extent[d]);
    ADD("(void)rest;\n");
    if (whole)
      ADD("const size_t run = %lluu;\n", (unsigned long long)code->extent[0]);
    else
      ADD("size_t run = %lluu - i0;\nif (run > last - at) run = last - at;\n",
          (unsigned long long)code->extent[0]);
  } else {
    ADD("const size_t i0 = at;\nsize_t run = last - at;\n");
  }
  ADD("(void)i0;\n");
  if (chunked && !once) ADD("if (run > %d) run = %d;\n", CHUNK, CHUNK);
  for (uint32_t g = 0; g < code->gather_count; g++) {
    ADD("const ptrdiff_t p%u = 0", g);
    for (uint32_t d = 0; d < code->rank; d++)
      if (code->stride[g][d] != 0)
        ADD(" + (ptrdiff_t)i%u * %lld", d, (long long)code->stride[g][d]);
    ADD(";\n");
  }
  if (at->padded != NULL) {
    ADD("const ptrdiff_t to = (ptrdiff_t)i0");
    for (uint32_t d = 1; d < code->rank; d++)
      ADD(" + (ptrdiff_t)i%u * %lld", d, (long long)at->padded->out_stride[d]);
    ADD(";\n");
  }
  add_steps(w, at, true);
  if (at->staged) add_stages(w, at);
  if (chunked && !at->staged)
    add_chunk(w, *at, repairs);
  else if (once && at->count > 0 && at->count <= JOIST_C_LOCAL_MOST)
    add_unrolled(w, at);
  else
    add_inner_loop(w, at, "run");
  ADD(once ? "}\n" : "at += run;\n}\n");
}

/* The same, once more for powers that are products, as most are, if the exponent is unknown. */
static void add_runs(struct writer *w, const struct place *at) {
  bool all = true, any = false, open = false;
  for (uint32_t s = 0; s < w->lowered->step_count; s++) {
    const struct joist_code_step *const step = &w->lowered->steps[s];
    if (!is_uniform_power(w, step)) continue;
    all &= factors_of(w, at, step) != NO_PRODUCT;
    any |= factors_of(w, at, step) <= 0;
  }
  for (uint32_t s = 0; s < w->lowered->step_count && all && any; s++) {
    const struct joist_code_step *const step = &w->lowered->steps[s];
    if (!is_uniform_power(w, step) || factors_of(w, at, step) > 0) continue;
    ADD("%sIS_SMALL_POWER_%s(", open ? " && " : "if (", joist_code_dtype(step->from));
    add_uniform(w, at, step->in[1]);
    ADD(")");
    open = true;
  }
  if (open) {
    struct place small = *at;
    small.small_powers = true;
    ADD(") {\n");
    add_these_runs(w, &small);
    ADD("} else {\n");
  }
  struct place general = *at;
  general.staged = any && can_be_staged(w, at);
  add_these_runs(w, &general);
  if (open) ADD("}\n");
}

/* ---- elementwise groups ---- */

/* The number of a fold in the table of the run. */
static uint32_t fold_number(struct writer *w, const struct joist_code_step *step) {
  struct joist_c_source *const made = w->made;
  const struct joist_c_fold fold = {(joist_op)step->op, (joist_dtype)step->from,
                                    (joist_dtype)step->to};
  for (uint32_t k = 0; k < made->fold_count; k++)
    if (made->fold[k].combine == fold.combine && made->fold[k].from == fold.from &&
        made->fold[k].accumulator == fold.accumulator)
      return k;
  if (made->fold_count == JOIST_C_FOLDS) {
    w->failed = true;
    return 0;
  }
  made->fold[made->fold_count] = fold;
  return made->fold_count++;
}

/* Whether one call of a fold, and no other pass, gives the results of the group's sinks. */
static bool folds_at_once(const struct joist_plan *plan, const struct joist_group *group) {
  const struct joist_fold_space space = group->space;
  if (space.middle > joist_fold_chunk(space) || space.inner > group->tile ||
      space.inner > JOIST_ROWS_WIDTH)
    return false;
  const struct joist_step *const steps = plan->steps + group->first_step;
  for (uint32_t s = 0; s < group->step_count; s++) {
    if (steps[s].kind != JOIST_STEP_FOLD) continue;
    const struct joist_instruction *const i = &plan->program->instructions[steps[s].instruction];
    struct joist_fold_dims dims =
        joist_fold_dims(&plan->program->values[i->operand[0]].shape, i->dims);
    struct joist_fold_space next;
    const int d = joist_fold_next(&dims, &next);
    if (d >= 0) dims.extent[d] = 1;
    if (joist_fold_next(&dims, &next) >= 0) return false;
    if (group->count * steps[s].in[0].size > FOLDED_BYTES) return false;
  }
  return true;
}

/* After the elements of a group: each sink's results. */
static void add_folds(struct writer *w, const struct place *at, const struct joist_group *group) {
  const struct joist_program *const program = at->plan->program;
  const size_t inner = group->space.inner, length = group->space.middle;
  const size_t results = inner * group->space.outer;
  for (uint32_t s = 0; s < w->lowered->step_count; s++) {
    const struct joist_code_step *const fold = &w->lowered->steps[s];
    if (fold->kind != JOIST_CODE_FOLD) continue;
    const struct joist_instruction *const i = &program->instructions[w->lowered->instruction[s]];
    const uint32_t result = i->signature.result[0].dtype;
    const char *const type = joist_code_type(fold->to);
    joist_c_need_conversion(w, fold->from, fold->to);
    joist_c_need_conversion(w, fold->to, result);
    ADD("%s t%u[%zu];\n", type, fold->out, results);
    if (group->count == 1)
      ADD("t%u[0] = convert_%s_%s(f%u);\n", fold->out, joist_code_dtype(fold->from),
          joist_code_dtype(fold->to), fold->out);
    else if (inner == 1)
      ADD("native->folds[%u](%zu, %zu, ", fold_number(w, fold), results, length);
    else
      ADD("native->fold_rows(native, %u, %zu, %zu, %zu, ", fold_number(w, fold), inner, length,
          group->space.outer);
    if (group->count > 1 && is_direct(w, fold))
      ADD("x%u, t%u);\n", loaded_by(w, fold)->in[0], fold->out);
    else if (group->count > 1)
      ADD("f%u, t%u);\n", fold->out, fold->out);
    const bool mean = i->op == JOIST_OP_REDUCE_MEAN && length > 1;
    const bool one = is_scalar(at->plan, i->result);
    if (one)
      ADD("b%u_v%u = ", at->body, at->plan->root[i->result]);
    else
      ADD("for (size_t k = 0; k < %zu; k++) ((%s *)%s)[k] = ", results, joist_code_type(result),
          joist_c_name_of(w, at->body, i->result).text);
    ADD("convert_%s_%s(t%u[%s]", joist_code_dtype(fold->to), joist_code_dtype(result), fold->out,
        one ? "0" : "k");
    if (mean) ADD(" / (double)%zu", length);
    ADD(");\n");
  }
}

/* Sums whose results may not fit are looked at by the interpreter. */
static bool watches_sinks(const struct joist_plan *plan, const struct joist_group *group) {
  bool any = false;
  for (uint32_t s = 0; s < group->step_count; s++) {
    const struct joist_step *const step = &plan->steps[group->first_step + s];
    any |= step->kind == JOIST_STEP_FOLD && step->counts_wrapped;
  }
  return any;
}

/* Whether the rows that the walk writes are those in which the group's operands are read. */
static bool has_runs_of(const struct joist_code *code, const struct joist_walk *walk) {
  if (code->gather_count == 0) return true;
  bool same = code->rank == (uint32_t)walk->rank;
  for (uint32_t d = 0; d < code->rank && same; d++) same = code->extent[d] == walk->extent[d];
  return same;
}

/* Has the group write where the next one pads, if that is all that the next one is for. */
static void find_padded(struct writer *w, struct place *at, uint32_t g, struct joist_walk *walk) {
  struct joist_code *const code = w->lowered;
  bool direct = at->manner == RUN && !has_form(w, at, JOIST_C_REPAIRED, false) &&
                !has_form(w, at, JOIST_C_CHECKED, false);
  for (uint32_t s = 0; s < code->step_count; s++) direct &= !is_uniform_power(w, &code->steps[s]);
  for (uint32_t a = 0; a < code->array_count && direct; a++) {
    if (!is_stored(w, a) || !joist_c_is_padded(w, at->body, g, code->array[a], walk)) continue;
    if (!has_runs_of(code, walk)) return;
    at->padded = walk;
    at->padded_array = a;
    at->padded_to = at->plan->program->instructions[at->plan->groups[g + 1].instruction].result;
    code->rank = (uint32_t)walk->rank;
    for (int d = 0; d < walk->rank; d++) code->extent[d] = walk->extent[d];
    w->is_filled = true;
    return;
  }
}

static void add_group(struct writer *w, uint32_t b, uint32_t g) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_group *const group = &plan->groups[g];
  const struct joist_code_options options = {.folds_widen = true, .watches = true};
  struct place at = {
      .body = b, .plan = plan, .manner = group->count == 1 ? ALONE : RUN, .count = group->count};
  if (group->count == 0) return;
  if (!joist_code_lower(plan, group, options, w->lowered) ||
      (group->sink_count > 0 && (!folds_at_once(plan, group) || watches_sinks(plan, group))) ||
      (has_form(w, &at, JOIST_C_CHECKED, false) &&
       (group->count > CHECKED_MOST || (w->lowered->gather_count > 0 && w->lowered->rank > 1)))) {
    joist_c_add_call(w, b, g);
    return;
  }
  const struct joist_code *const code = w->lowered;
  const bool checks = has_form(w, &at, JOIST_C_CHECKED, false);
  struct joist_walk walk;
  find_padded(w, &at, g, &walk);
  ADD("{\n");
  if (at.manner != ALONE) {
    begin_flags(w);
    add_pointers(w, &at);
  }
  bool computes = false;
  for (uint32_t s = 0; s < code->step_count; s++) {
    const struct joist_code_step *const step = &code->steps[s];
    const bool fold = step->kind == JOIST_CODE_FOLD, direct = fold && is_direct(w, step);
    computes |= step->kind != JOIST_CODE_LOAD && !direct;
    if (fold && at.manner == ALONE)
      ADD("%s f%u;\n", joist_code_type(step->from), step->out);
    else if (fold && !direct)
      ADD("%s f%u[%zu];\n", joist_code_type(step->from), step->out, group->count);
  }
  if (at.manner == ALONE) {
    if (checks) ADD("int odd = 0;\n");
    add_steps(w, &at, false);
    if (checks) {
      ADD("if (odd) {\n");
      joist_c_add_call(w, b, g);
      ADD("return 1;\n}\n");
    }
  } else if (computes) {
    ADD("const size_t first = 0, last = %zu;\n", group->count);
    if (has_form(w, &at, JOIST_C_REPAIRED, false) || checks) ADD("int any = 0;\n");
    add_runs(w, &at);
    if (checks) {
      ADD("if (any) {\n");
      joist_c_add_call(w, b, g);
      ADD("return 1;\n}\n");
    } else if (has_form(w, &at, JOIST_C_REPAIRED, false)) {
      ADD("(void)any;\n");
    }
  }
  if (at.manner != ALONE) end_flags(w, "native->wrapped");
  if (group->sink_count > 0) add_folds(w, &at, group);
  ADD("}\n");
}

/* ---- loops and branches ---- */

static void add_body(struct writer *w, uint32_t b);

/* Sets the entries of the table of body b that are the array of its input k, or of its output. */
static void add_moves(struct writer *w, uint32_t b, bool input, uint32_t k, const char *pointer) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_program *const program = plan->program;
  for (uint32_t v = 0; v < program->value_count; v++) {
    const uint32_t root = plan->root[v];
    const uint32_t own = program->values[root].input;
    if (is_scalar(plan, v) || joist_c_is_local(w, b, v)) continue;
    if (input ? own == k : own == JOIST_NO_INPUT && plan->home[root] == k)
      ADD("A%u[%u] = (void *)(%s);\n", b, v, pointer);
  }
}

/* Input k of body b becomes what `from` names. */
static void add_input(struct writer *w, uint32_t b, uint32_t k, const char *from) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  for (uint32_t v = 0; v < plan->program->value_count; v++)
    if (plan->program->values[v].input == k) {
      if (is_scalar(plan, v))
        ADD("b%u_v%u = %s;\n", b, v, from);
      else if (joist_c_is_local(w, b, v))
        joist_c_add_elements(w, &plan->program->values[v], joist_c_name_of(w, b, v).text, from);
      else
        add_moves(w, b, true, k, from);
      return;
    }
}

static void add_captures(struct writer *w, uint32_t parent, const struct joist_instruction *i,
                         uint32_t b, uint32_t first_operand, uint32_t captures) {
  const uint32_t inputs = w->nest->body[b].plan->program->input_count;
  for (uint32_t k = 0; k < captures; k++)
    add_input(w, b, inputs - captures + k,
              joist_c_name_of(w, parent, i->operand[first_operand + k]).text);
}

/* Output k of body b, which is an array, is at `pointer`. */
static void add_finish(struct writer *w, uint32_t b, uint32_t k, const char *pointer) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_program *const program = plan->program;
  const uint32_t output = program->outputs[k], root = plan->root[output];
  if (program->values[root].input != JOIST_NO_INPUT || plan->home[root] != k)
    ADD("memcpy(%s, %s, %zu);\n", pointer, joist_c_name_of(w, b, output).text,
        joist_value_bytes(&program->values[output]));
}

static const char *type_of_output(const struct writer *w, uint32_t b, uint32_t k) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  return type_of_value(plan, plan->program->outputs[k]);
}

static void add_if(struct writer *w, uint32_t parent, uint32_t g,
                   const struct joist_instruction *i) {
  const struct joist_region_parts parts =
      joist_region_parts(w->nest->body[parent].plan->program, i);
  ADD("if (%s != 0) {\n", joist_c_name_of(w, parent, i->operand[0]).text);
  for (uint32_t r = 0; r < 2; r++) {
    const uint32_t b = joist_nest_find(w->nest, parent, g, r);
    const struct joist_program *const program = w->nest->body[b].plan->program;
    if (r == 1) ADD("} else {\n");
    add_captures(w, parent, i, b, 1 + (r == 0 ? 0 : parts.captures[0]), parts.captures[r]);
    for (uint32_t k = 0; k < program->output_count; k++)
      if (!is_scalar(w->nest->body[b].plan, program->outputs[k]))
        add_moves(w, b, false, k, joist_c_name_of(w, parent, i->result + k).text);
    add_body(w, b);
    for (uint32_t k = 0; k < program->output_count; k++) {
      const struct name result = joist_c_name_of(w, parent, i->result + k);
      if (is_scalar(w->nest->body[b].plan, program->outputs[k]))
        ADD("%s = %s;\n", result.text, joist_c_name_of(w, b, program->outputs[k]).text);
      else
        add_finish(w, b, k, result.text);
    }
  }
  ADD("}\n");
}

/* A loop being written: its carries are c<loop>_<k>, the next arrays of those that are arrays
 * o<loop>_<k>. */
struct loop {
  uint32_t number, parent, body;
  const struct joist_instruction *i;
  struct joist_region_parts parts;
};

/* c<loop>_<k> or o<loop>_<k>. */
static struct name numbered(char letter, const struct loop *l, uint32_t k) {
  struct name name;
  snprintf(name.text, sizeof name.text, "%c%u_%u", letter, l->number, k);
  return name;
}

static bool carry_is_scalar(const struct writer *w, const struct loop *l, uint32_t k) {
  return is_scalar(w->nest->body[l->parent].plan, l->i->result + k);
}

/* Whether a carry is a separate local array, which inputs and outputs of the body are copied from
 * and to. */
static bool carry_is_local(const struct writer *w, const struct loop *l, uint32_t k) {
  const struct joist_plan *const plan = w->nest->body[l->parent].plan;
  const size_t count = joist_value_count(&plan->program->values[l->i->result + k]);
  return count > 1 && count <= JOIST_C_LOCAL_MOST;
}

/* The input of a body that is the first carry; the body of a `for` has the iteration's number
 * first. */
static uint32_t first_carry(const struct joist_instruction *loop) {
  return loop->op == JOIST_OP_FOR ? 1 : 0;
}

static uint32_t group_of(const struct joist_plan *plan, const struct joist_instruction *i) {
  uint32_t g = 0;
  while (g < plan->group_count && (plan->groups[g].kind != JOIST_GROUP_ARRAY ||
                                   &plan->program->instructions[plan->groups[g].instruction] != i))
    g++;
  return g;
}

static bool is_in_place(const struct writer *w, uint32_t b, uint32_t given, uint32_t k);

/* The value that the instruction which makes `root` writes into, in place. UINT32_MAX if there is
 * none. */
static uint32_t before(const struct writer *w, uint32_t b, uint32_t root) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_instruction *const i =
      &plan->program->instructions[plan->program->values[root].instruction];
  const uint32_t g = group_of(plan, i);
  uint32_t from;
  if (g == plan->group_count) return UINT32_MAX;
  if (joist_c_writes_into(plan, i)) {
    from = i->operand[0];
  } else if (i->region_count > 0 && i->op != JOIST_OP_IF) {
    const struct joist_region_parts parts = joist_region_parts(plan->program, i);
    const uint32_t carry = root - i->result;
    const uint32_t body = joist_nest_find(w->nest, b, g, i->region_count - 1);
    if (carry >= parts.carries || !is_in_place(w, body, first_carry(i), carry)) return UINT32_MAX;
    from = i->operand[parts.first + carry];
  } else {
    return UINT32_MAX;
  }
  return joist_c_is_read_last(plan, plan->root[from], g) ? plan->root[from] : UINT32_MAX;
}

/* Whether carry k of a loop, input `given` + k of its body b, is only read before it is written to
 * in place. */
static bool is_in_place(const struct writer *w, uint32_t b, uint32_t given, uint32_t k) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_program *const program = plan->program;
  uint32_t root = plan->root[program->outputs[k]];
  if (is_scalar(plan, root) || joist_c_is_local(w, b, root) ||
      program->values[root].input != JOIST_NO_INPUT || plan->home[root] != k)
    return false;
  for (uint32_t v = 0; v < program->value_count; v++)
    if (plan->home[v] == k && plan->waits[v] && !is_scalar(plan, v)) return false;
  for (uint32_t j = 0; j < program->output_count; j++)
    if (j != k && plan->root[program->outputs[j]] == root) return false;
  while (root != UINT32_MAX && program->values[root].input == JOIST_NO_INPUT)
    root = before(w, b, root);
  return root != UINT32_MAX && program->values[root].input == given + k;
}

/* All arrays of the chain are at `pointer`. */
static void add_chain(struct writer *w, uint32_t b, uint32_t k, const char *pointer) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_program *const program = plan->program;
  uint32_t root = plan->root[program->outputs[k]];
  for (; root != UINT32_MAX; root = before(w, b, root)) {
    for (uint32_t v = 0; v < program->value_count; v++)
      if (plan->root[v] == root) ADD("A%u[%u] = %s;\n", b, v, pointer);
    if (program->values[root].input != JOIST_NO_INPUT) break;
  }
}

static size_t spare_of(const struct writer *w, const struct loop *l, uint32_t k) {
  const struct joist_program *const program = w->nest->body[l->parent].plan->program;
  size_t at = w->nest->body[l->body].spare;
  for (uint32_t c = 0; c < k; c++)
    at +=
        joist_round_up(joist_value_bytes(&program->values[l->i->result + c]), JOIST_NEST_ALIGNMENT);
  return at;
}

static void begin_carries(struct writer *w, const struct loop *l) {
  const struct joist_plan *const plan = w->nest->body[l->parent].plan;
  for (uint32_t k = 0; k < l->parts.carries; k++) {
    const struct name from = joist_c_name_of(w, l->parent, l->i->operand[l->parts.first + k]);
    if (carry_is_scalar(w, l, k))
      ADD("%s c%u_%u = %s;\n", type_of_value(plan, l->i->result + k), l->number, k, from.text);
    else if (carry_is_local(w, l, k)) {
      const struct joist_value *const value = &plan->program->values[l->i->result + k];
      ADD("%s c%u_%u[%zu];\n", type_of_value(plan, l->i->result + k), l->number, k,
          joist_value_count(value));
      joist_c_add_elements(w, value, numbered('c', l, k).text, from.text);
    } else
      ADD("void *c%u_%u = %s;\n", l->number, k, from.text);
    if (is_in_place(w, l->body, first_carry(l->i), k)) {
      const struct name result = joist_c_name_of(w, l->parent, l->i->result + k);
      joist_c_add_copy(w, result.text, numbered('c', l, k).text,
                       joist_value_bytes(&plan->program->values[l->i->result + k]));
      ADD("c%u_%u = %s;\n", l->number, k, result.text);
    }
  }
}

static void add_carries(struct writer *w, const struct loop *l, uint32_t b, uint32_t first) {
  for (uint32_t k = 0; k < l->parts.carries; k++)
    add_input(w, b, first + k, numbered('c', l, k).text);
}

/* One iteration: the body, then its results become the carries. `to_spare` is an expression:
 * whether arrays go to the spare memory. */
static void add_turn(struct writer *w, const struct loop *l, const char *to_spare) {
  const uint32_t given = first_carry(l->i);
  const struct joist_plan *const plan = w->nest->body[l->body].plan;
  add_carries(w, l, l->body, given);
  for (uint32_t k = 0; k < l->parts.carries; k++) {
    if (carry_is_scalar(w, l, k)) continue;
    if (carry_is_local(w, l, k)) {
      /* More elements, of a smaller dtype, may have waited in its array. */
      char spare[64];
      snprintf(spare, sizeof spare, "native->block + %zu", spare_of(w, l, k));
      add_moves(w, l->body, false, k, spare);
      continue;
    }
    const struct name next = numbered('o', l, k);
    if (is_in_place(w, l->body, given, k)) {
      ADD("void *const %s = c%u_%u;\n", next.text, l->number, k);
      add_chain(w, l->body, k, next.text);
      continue;
    }
    ADD("void *const %s = %s ? (void *)(native->block + %zu) : A%u[%u];\n", next.text, to_spare,
        spare_of(w, l, k), l->parent, l->i->result + k);
    add_moves(w, l->body, false, k, next.text);
  }
  add_body(w, l->body);
  for (uint32_t k = 0; k < l->parts.carries; k++)
    if (!carry_is_scalar(w, l, k) && !carry_is_local(w, l, k))
      add_finish(w, l->body, k, numbered('o', l, k).text);
  for (uint32_t k = 0; k < l->parts.carries; k++) {
    if (carry_is_scalar(w, l, k))
      ADD("c%u_%u = %s;\n", l->number, k,
          joist_c_name_of(w, l->body, plan->program->outputs[k]).text);
    else if (carry_is_local(w, l, k))
      joist_c_add_elements(w, &plan->program->values[plan->program->outputs[k]],
                           numbered('c', l, k).text,
                           joist_c_name_of(w, l->body, plan->program->outputs[k]).text);
    else
      ADD("c%u_%u = o%u_%u;\n", l->number, k, l->number, k);
  }
}

/* Roughly how many elements one iteration computes. Copying is cheaper. */
static size_t work_of(const struct joist_plan *plan) {
  enum { COPIED = 16 };
  size_t work = 1;
  for (uint32_t g = 0; g < plan->group_count; g++) {
    const struct joist_group *const group = &plan->groups[g];
    const struct joist_instruction *const i = &plan->program->instructions[group->instruction];
    const size_t count = joist_value_count(&plan->program->values[i->result]);
    work += group->kind == JOIST_GROUP_ELEMENTWISE ? group->count
            : joist_c_writes_into(plan, i)         ? count / COPIED + 1
                                                   : count;
  }
  return work;
}

static void add_poll(struct writer *w, const struct loop *l) {
  size_t work = work_of(w->nest->body[l->body].plan);
  if (work > POLL_AFTER) work = POLL_AFTER;
  ADD("if ((work += %zu) >= %d) {\nwork = 0;\nif (native->poll(native) != 0) return 1;\n}\n", work,
      POLL_AFTER);
}

static void end_carries(struct writer *w, const struct loop *l) {
  const struct joist_program *const program = w->nest->body[l->parent].plan->program;
  for (uint32_t k = 0; k < l->parts.carries; k++) {
    const struct name result = joist_c_name_of(w, l->parent, l->i->result + k);
    if (carry_is_scalar(w, l, k))
      ADD("%s = c%u_%u;\n", result.text, l->number, k);
    else if (carry_is_local(w, l, k))
      joist_c_add_elements(w, &program->values[l->i->result + k], result.text,
                           numbered('c', l, k).text);
    else
      joist_c_add_copy(w, result.text, numbered('c', l, k).text,
                       joist_value_bytes(&program->values[l->i->result + k]));
  }
}

static const char *first_turn(const struct loop *l, const char *otherwise) {
  return l->parent == 0 ? "native->first_turn" : otherwise;
}

static void add_for(struct writer *w, const struct loop *l) {
  const struct joist_program *const body = w->nest->body[l->body].plan->program;
  char text[64];
  add_captures(w, l->parent, l->i, l->body, 1 + l->parts.carries, l->parts.captures[0]);
  ADD("const int64_t n%u = %s;\n", l->number, joist_c_name_of(w, l->parent, l->i->operand[0]).text);
  ADD("for (int64_t turn%u = %s; turn%u <= n%u; turn%u++) {\n", l->number, first_turn(l, "1"),
      l->number, l->number, l->number);
  joist_dtype index = JOIST_I64;
  for (uint32_t v = 0; v < body->value_count; v++)
    if (body->values[v].input == 0) index = body->values[v].type.dtype;
  joist_c_need_conversion(w, JOIST_I64, index);
  snprintf(text, sizeof text, "convert_I64_%s(turn%u)", joist_code_dtype(index), l->number);
  add_input(w, l->body, 0, text);
  snprintf(text, sizeof text, "(n%u - turn%u) %% 2 != 0", l->number, l->number);
  add_turn(w, l, text);
  add_poll(w, l);
  ADD("}\n");
}

static void add_while(struct writer *w, const struct loop *l, uint32_t condition) {
  const struct joist_program *const test = w->nest->body[condition].plan->program;
  char text[64];
  const uint32_t first = l->parts.carries;
  add_captures(w, l->parent, l->i, condition, first, l->parts.captures[0]);
  add_captures(w, l->parent, l->i, l->body, first + l->parts.captures[0], l->parts.captures[1]);
  ADD("for (int spare%u = 0;; spare%u = !spare%u) {\n", l->number, l->number, l->number);
  add_carries(w, l, condition, 0);
  add_body(w, condition);
  ADD("if (%s == 0) break;\n", joist_c_name_of(w, condition, test->outputs[0]).text);
  snprintf(text, sizeof text, "spare%u", l->number);
  add_turn(w, l, text);
  add_poll(w, l);
  ADD("}\n");
}

/* The slice of an array of a scan, or where one of its further results goes. */
static void add_slices(struct writer *w, const struct loop *l) {
  const struct joist_plan *const plan = w->nest->body[l->parent].plan;
  const struct joist_program *const body = w->nest->body[l->body].plan->program;
  const size_t turns = l->parts.turns;
  char text[96];
  for (uint32_t k = 0; k < l->parts.arrays; k++) {
    const joist_value_id array = l->i->operand[l->parts.carries + k];
    const struct joist_value *const value = &plan->program->values[array];
    const size_t bytes = joist_value_bytes(value) / turns;
    if (is_scalar(plan, array))
      snprintf(text, sizeof text, "b%u_v%u", l->parent, plan->root[array]);
    else if (joist_value_count(value) == turns)
      snprintf(text, sizeof text, "((const %s *)%s)[at%u]", type_of_value(plan, array),
               joist_c_name_of(w, l->parent, array).text, l->number);
    else
      snprintf(text, sizeof text, "(char *)%s + at%u * %zu",
               joist_c_name_of(w, l->parent, array).text, l->number, bytes);
    add_input(w, l->body, l->parts.carries + k, text);
  }
  for (uint32_t k = l->parts.carries; k < body->output_count; k++)
    if (!is_scalar(w->nest->body[l->body].plan, body->outputs[k])) {
      ADD("void *const o%u_%u = (char *)%s + at%u * %zu;\n", l->number, k,
          joist_c_name_of(w, l->parent, l->i->result + k).text, l->number,
          joist_value_bytes(&body->values[body->outputs[k]]));
      add_moves(w, l->body, false, k, numbered('o', l, k).text);
    }
}

static void add_collected(struct writer *w, const struct loop *l) {
  const struct joist_plan *const plan = w->nest->body[l->parent].plan;
  const struct joist_plan *const own = w->nest->body[l->body].plan;
  for (uint32_t k = l->parts.carries; k < own->program->output_count; k++) {
    const joist_value_id output = own->program->outputs[k];
    if (!is_scalar(own, output))
      add_finish(w, l->body, k, numbered('o', l, k).text);
    else if (is_scalar(plan, l->i->result + k))
      ADD("%s = %s;\n", joist_c_name_of(w, l->parent, l->i->result + k).text,
          joist_c_name_of(w, l->body, output).text);
    else
      ADD("((%s *)%s)[at%u] = %s;\n", type_of_output(w, l->body, k),
          joist_c_name_of(w, l->parent, l->i->result + k).text, l->number,
          joist_c_name_of(w, l->body, output).text);
  }
}

static void add_scan(struct writer *w, const struct loop *l) {
  const size_t turns = l->parts.turns;
  char text[64];
  add_captures(w, l->parent, l->i, l->body, l->parts.carries + l->parts.arrays,
               l->parts.captures[0]);
  ADD("for (size_t turn%u = %s%s; turn%u < %zu; turn%u++) {\n", l->number,
      l->parent == 0 ? "(size_t)" : "", first_turn(l, "0"), l->number, turns, l->number);
  ADD("const size_t at%u = ", l->number);
  if (joist_attribute_flag(l->i->attributes, JOIST_ATTRIBUTE_REVERSE))
    ADD("%zu - 1 - turn%u;\n(void)at%u;\n", turns, l->number, l->number);
  else
    ADD("turn%u;\n(void)at%u;\n", l->number, l->number);
  add_slices(w, l);
  snprintf(text, sizeof text, "(%zu - turn%u) %% 2 == 0", turns, l->number);
  add_turn(w, l, text);
  add_collected(w, l);
  add_poll(w, l);
  ADD("}\n");
}

static void add_region(struct writer *w, uint32_t parent, uint32_t g) {
  const struct joist_plan *const plan = w->nest->body[parent].plan;
  const struct joist_instruction *const i =
      &plan->program->instructions[plan->groups[g].instruction];
  if (i->op == JOIST_OP_IF) {
    add_if(w, parent, g, i);
    return;
  }
  const struct loop l = {.number = ++w->loops,
                         .parent = parent,
                         .body = joist_nest_find(w->nest, parent, g, i->region_count - 1),
                         .i = i,
                         .parts = joist_region_parts(plan->program, i)};
  ADD("{\n");
  begin_carries(w, &l);
  if (i->op == JOIST_OP_WHILE)
    add_while(w, &l, joist_nest_find(w->nest, parent, g, 0));
  else if (i->op == JOIST_OP_FOR)
    add_for(w, &l);
  else
    add_scan(w, &l);
  end_carries(w, &l);
  ADD("}\n");
}

static void add_body(struct writer *w, uint32_t b) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  for (uint32_t g = 0; g < plan->group_count; g++) {
    const struct joist_group *const group = &plan->groups[g];
    if (group->kind == JOIST_GROUP_ELEMENTWISE)
      add_group(w, b, g);
    else if (plan->program->instructions[group->instruction].region_count > 0)
      add_region(w, b, g);
    else if (!joist_c_add_move(w, b, g))
      joist_c_add_call(w, b, g);
  }
}

/* ---- whole functions ---- */

/* Whether the value of body 0 is an operand or a result of the loop. */
static bool is_outside(const struct writer *w, joist_value_id v) {
  const struct joist_plan *const plan = w->nest->body[0].plan;
  const struct joist_group *const group = &plan->groups[w->nest->body[1].group];
  const struct joist_instruction *const i = &plan->program->instructions[group->instruction];
  bool found = v >= i->result && v < i->result + i->result_count;
  for (uint32_t k = 0; k < i->operand_count; k++) found |= plan->root[i->operand[k]] == v;
  return found;
}

/* A variable for every value of one element that is an array of the plan, or an input. */
static void declare(struct writer *w, uint32_t b) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_program *const program = plan->program;
  joist_text_add(&w->variables, "void **const A%u = native->tables[%u];\n(void)A%u;\n", b, b, b);
  for (uint32_t v = 0; v < program->value_count; v++)
    if (is_scalar(plan, v) && plan->root[v] == v && (b > 0 || is_outside(w, v)) &&
        (plan->materialized[v] || program->values[v].input != JOIST_NO_INPUT))
      joist_text_add(&w->variables, "%s b%u_v%u = 0;\n(void)b%u_v%u;\n", type_of_value(plan, v), b,
                     v, b, v);
}

/* The local arrays of a body. The interpreter finds them in the table. */
static void declare_locals(struct writer *w, uint32_t b) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_program *const program = plan->program;
  for (uint32_t v = 0; v < program->value_count; v++) {
    if (is_scalar(plan, v) || !joist_c_is_local(w, b, v)) continue;
    const uint32_t root = plan->root[v];
    if (root == v)
      joist_text_add(&w->variables, "%s L%u_%u[%zu];\n(void)L%u_%u;\n", type_of_value(plan, v), b,
                     v, joist_value_count(&program->values[v]), b, v);
    if (w->calls[b]) joist_text_add(&w->variables, "A%u[%u] = L%u_%u;\n", b, v, b, root);
  }
}

/* The text with its blocks indented. */
static void add_indented(struct joist_text *to, const char *text) {
  int depth = 0;
  while (*text != '\0') {
    const char *const end = strchr(text, '\n');
    const int length = (int)(end == NULL ? (ptrdiff_t)strlen(text) : end - text);
    const int own = depth - (*text == '}');
    joist_text_add(to, "%*s%.*s\n", 2 * (own > 0 ? own : 0), "", length, text);
    for (int k = 0; k < length; k++) depth += (text[k] == '{') - (text[k] == '}');
    text += length + (end != NULL);
  }
}

static bool finish(struct writer *w, const char *head, bool wide) {
  struct joist_text whole = {0}, body = {0};
  const bool full = w->failed || w->helpers.failed || w->variables.failed || w->code.failed;
  if (!full) {
    joist_text_add(&body, "%s{\n%s%s", head, w->variables.data == NULL ? "" : w->variables.data,
                   w->code.data);
    joist_text_add(&whole, "%s#include \"core/codegen/c_prelude.h\"\n%s",
                   wide ? "#define JOIST_WIDE\n" : "",
                   w->helpers.data == NULL ? "" : w->helpers.data);
    if (body.failed)
      whole.failed = true;
    else
      add_indented(&whole, body.data);
  }
  joist_text_free(&body);
  if (whole.failed) joist_text_free(&whole);
  joist_text_free(&w->helpers);
  joist_text_free(&w->variables);
  joist_text_free(&w->code);
  free(w->lowered);
  w->made->text = whole.data;
  return whole.data != NULL;
}

static bool start(struct writer *w, struct joist_c_source *made) {
  made->text = NULL;
  made->fold_count = 0;
  w->made = made;
  w->lowered = malloc(sizeof *w->lowered);
  return w->lowered != NULL;
}

bool joist_c_source_of_loop(const struct joist_nest *nest, struct joist_c_source *made) {
  struct writer *const w = calloc(1, sizeof *w);
  const struct joist_plan *const plan = nest->body[0].plan;
  const uint32_t g = nest->body[1].group;
  const struct joist_instruction *const i =
      &plan->program->instructions[plan->groups[g].instruction];
  bool well = w != NULL && start(w, made);
  if (well) {
    w->nest = nest;
    for (uint32_t b = 0; b < nest->count; b++) declare(w, b);
    ADD("uint32_t work = native->work;\n");
    for (uint32_t k = 0; k < i->operand_count; k++) joist_c_reload(w, 0, i->operand[k]);
    add_region(w, 0, g);
    for (uint32_t k = 0; k < i->result_count; k++) joist_c_spill(w, 0, i->result + k);
    for (uint32_t b = 1; b < nest->count; b++) declare_locals(w, b);
    ADD("native->work = work;\nreturn 0;\n}\n");
    well = finish(w,
                  "JOIST_EXPORT int joist_generated(struct joist_native *native);\n"
                  "int joist_generated(struct joist_native *native) ",
                  false);
  }
  free(w);
  return well;
}

/* Whether all elements that the sinks fold are still there after the part has run: not if it writes
 * arrays that a sink reads, nor if two sinks read slots at the same place. */
static bool can_fold_after(const struct joist_plan *plan, const struct joist_group *group) {
  const struct joist_step *const steps = plan->steps + group->first_step;
  bool reads = false, writes = false;
  for (uint32_t s = 0; s < group->step_count; s++)
    for (uint32_t t = 0; t < s; t++)
      if (steps[s].kind == JOIST_STEP_FOLD && steps[t].kind == JOIST_STEP_FOLD &&
          !steps[s].in[0].array && !steps[t].in[0].array &&
          steps[s].in[0].index != steps[t].in[0].index &&
          plan->slot_offset[steps[s].in[0].index] == plan->slot_offset[steps[t].in[0].index])
        return false;
  for (uint32_t s = 0; s < group->step_count; s++) {
    reads |= steps[s].kind == JOIST_STEP_FOLD && steps[s].in[0].array;
    writes |= steps[s].kind != JOIST_STEP_FOLD && steps[s].out.array;
  }
  return !(reads && writes);
}

/* The constants of a part: its scalars, and where the elements of its sinks go. */
static void add_part_head(struct writer *w) {
  for (uint32_t s = 0; s < w->lowered->step_count; s++) {
    const struct joist_code_step *const step = &w->lowered->steps[s];
    const char *const type = joist_code_type(step->from);
    bool first = step->kind == JOIST_CODE_SCALAR;
    for (uint32_t t = 0; t < s; t++)
      first &= w->lowered->steps[t].kind != JOIST_CODE_SCALAR ||
               w->lowered->steps[t].in[0] != step->in[0];
    if (first)
      ADD("const %s c%u = *(const %s *)A0[%u];\n", type, step->in[0], type,
          w->lowered->array[step->in[0]]);
  }
  for (uint32_t s = 0; s < w->step_count; s++)
    if (w->steps[s].kind == JOIST_STEP_FOLD && !w->steps[s].in[0].array)
      ADD("%s *const f%u = folded[%u];\n", joist_code_type(w->steps[s].in[0].dtype),
          w->steps[s].sink, w->steps[s].sink);
}

bool joist_c_source_of_part(const struct joist_plan *plan, const struct joist_group *group,
                            struct joist_c_source *made) {
  const struct joist_code_options options = {.folds_widen = true, .watches = true};
  struct writer *const w = calloc(1, sizeof *w);
  bool well = w != NULL && start(w, made);
  if (well) {
    const struct place at = {.plan = plan, .manner = RUN};
    w->steps = plan->steps + group->first_step;
    w->step_count = group->step_count;
    w->failed = group->sink_count > JOIST_NATIVE_SINKS || !can_fold_after(plan, group) ||
                !joist_code_lower(plan, group, options, w->lowered) ||
                has_form(w, &at, JOIST_C_CHECKED, false);
    if (!w->failed) {
      ADD("const size_t last = first + n;\n");
      add_part_head(w);
      begin_flags(w);
      add_pointers(w, &at);
      if (has_form(w, &at, JOIST_C_REPAIRED, false)) ADD("int any = 0;\n");
      add_runs(w, &at);
      end_flags(w, "*wrapped");
    }
    ADD("}\n");
    well = finish(w,
                  "JOIST_EXPORT void joist_generated(size_t first, size_t n, void *const *A0, "
                  "void *const *folded, uint8_t *wrapped);\n"
                  "void joist_generated(size_t first, size_t n, void *const *A0, "
                  "void *const *folded, uint8_t *wrapped) ",
                  true);
  }
  free(w);
  return well;
}
