/* The steps of a group, and the loops over runs of its elements. */
#include "core/codegen/c_runs.h"

#include <stdio.h>
#include <string.h>

#include "core/codegen/c_text.h"
#include "core/kernels/kernels.h"
#include "core/program/watch.h"

static const struct joist_c_expression *expression_of_step(struct writer *w,
                                                           const struct joist_code_step *step) {
  return joist_c_expression_of(w, step->op, step->from);
}

const struct joist_code_step *joist_c_loaded_by(const struct writer *w,
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

bool joist_c_is_direct(const struct writer *w, const struct joist_code_step *fold) {
  for (uint32_t s = 0; s < w->lowered->step_count; s++)
    if (w->lowered->steps[s].kind == JOIST_CODE_STORE) return false;
  return joist_c_loaded_by(w, fold) != NULL;
}

/* ---- steps ---- */

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

bool joist_c_is_uniform_power(const struct writer *w, const struct joist_code_step *step) {
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
  const int most = step->from == JOIST_F64 ? 4 : 2;
  for (int factors = 1; factors <= most; factors++)
    if (number == factors) return factors;
  return NO_PRODUCT;
}

static bool is_product(const struct writer *w, const struct place *at,
                       const struct joist_code_step *step) {
  return joist_c_is_uniform_power(w, step) && (at->small_powers || factors_of(w, at, step) > 0);
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
  if (at->staged && joist_c_is_uniform_power(w, step)) {
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
  if (e->form == JOIST_C_REPAIRED && at->manner == JOIST_C_ALONE) {
    if (step->op == JOIST_OP_POW)
      ADD("IS_SMALL_POWER_%s(r%u) ? SMALL_POWER_%s(r%u, r%u) : ", dtype, step->in[1], dtype,
          step->in[0], step->in[1]);
    add_kernel_call(w, "odd", step);
    ADD(" ? ");
    add_kernel_call(w, "mend", step);
    ADD(" : ");
  }
  add_kernel_call(w, e->form == JOIST_C_REPAIRED && at->manner == JOIST_C_MENDING ? "redo" : "op",
                  step);
  ADD(";\n");
  if (e->form != JOIST_C_REPAIRED || at->manner != JOIST_C_LOOKING) return;
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
  if (step->kind == JOIST_CODE_WRAPS) return joist_c_wraps_type(step->op, step->from);
  const size_t size = joist_dtype_size((joist_dtype)step->from);
  return size == 1 ? "uint8_t" : size == 2 ? "uint16_t" : size == 4 ? "uint32_t" : "uint64_t";
}

/* The name that SCALAR_WRAPS() has for the operation; NULL for none. */
static const char *scalar_wraps(const struct joist_code_step *step) {
  if (step->from == JOIST_BOOL) return NULL;
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

/* The number of what is counted for the step of a single value; JOIST_C_LOST if the run is to be
 * suspected: an instruction that two steps watch or that keeps a range, means, rounded results. */
static uint32_t lost_number(struct writer *w, const struct place *at,
                            const struct joist_code_step *step) {
  const struct joist_code *const code = w->lowered;
  const uint32_t own = code->instruction[step - code->steps];
  const struct joist_instruction *const i = &at->plan->program->instructions[own];
  const bool converts = step->kind == JOIST_CODE_LOSES;
  for (const struct joist_code_step *s = code->steps; s < code->steps + code->step_count; s++)
    if (is_watch(s) && s != step && code->instruction[s - code->steps] == own) return JOIST_C_LOST;
  if (w->nest == NULL || step->kind == JOIST_CODE_BEYOND || i->signature.rounds_float ||
      (i->watch & (JOIST_WATCH_RANGE | JOIST_WATCH_HOST)) ||
      joist_mean_is_exact(at->plan->program, i) || w->made->lost_count == JOIST_C_LOST)
    return JOIST_C_LOST;
  w->made->lost[w->made->lost_count] = (struct joist_c_lost){at->body, own, converts};
  return w->made->lost_count++;
}

/* The test of a step, by which its flag is set. */
static void add_test(struct writer *w, const struct place *at, const struct joist_code_step *step) {
  const char *const type = type_of_flag(step);
  ADD("(");
  if (step->to) ADD("r%u != 0 ? 0 : ", step->in[2]);
  if (step->kind == JOIST_CODE_WRAPS) {
    const char *const flag = at->manner == JOIST_C_ALONE ? scalar_wraps(step) : NULL;
    (void)joist_c_need_wraps(w, step->op, step->from);
    if (flag != NULL)
      ADD("SCALAR_WRAPS(%s, %s, r%u, r%u, ", joist_code_type(step->from), flag, step->in[0],
          step->in[1]);
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
  ADD(")");
}

/* The type of counts and positions: as wide as flags, for vector code, if that is enough. */
static const char *type_of_count(const struct joist_code_step *step) {
  return strstr(type_of_flag(step), "64_t") != NULL ? "int64_t" : "int32_t";
}

static void add_watch(struct writer *w, const struct place *at,
                      const struct joist_code_step *step) {
  const char *const type = type_of_flag(step);
  switch (at->manner) {
    case JOIST_C_MENDING:
      return;
    case JOIST_C_ALONE: {
      ADD("if (");
      add_test(w, at, step);
      const uint32_t lost = lost_number(w, at, step);
      ADD(" %s 0) ", test_of_flag(w, step));
      if (lost == JOIST_C_LOST)
        ADD("native->wrapped = 1;\n");
      else
        ADD("native->lost[%u]++;\n", lost);
      return;
    }
    case JOIST_C_COUNTING: {
      const char *const wide = type_of_count(step);
      ADD("const %s y%u = ", wide, step->out);
      add_test(w, at, step);
      ADD(" %s 0;\nn%u += y%u;\n", test_of_flag(w, step), step->out, step->out);
      ADD("const %s j%u = ((%s)(at + k) | (y%u - 1)) & INT32_MAX;\n", wide, step->out, wide,
          step->out);
      ADD("q%u = j%u < q%u ? j%u : q%u;\n", step->out, step->out, step->out, step->out, step->out);
      return;
    }
    case JOIST_C_RUN:
    case JOIST_C_LOOKING:
      ADD("w%u = (%s)(w%u | ", step->out, type, step->out);
      add_test(w, at, step);
      ADD(");\n");
  }
}

void joist_c_begin_flags(struct writer *w) {
  for (uint32_t s = 0; s < w->lowered->step_count; s++)
    if (is_watch(&w->lowered->steps[s]))
      ADD("%s w%u = 0;\n", type_of_flag(&w->lowered->steps[s]), w->lowered->steps[s].out);
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
      if (at->manner == JOIST_C_ALONE)
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
      if (at->manner != JOIST_C_ALONE) {
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
      if (at->manner == JOIST_C_COUNTING) break;
      if (at->manner == JOIST_C_ALONE) {
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
      if (at->manner == JOIST_C_COUNTING) break;
      if (at->manner == JOIST_C_ALONE)
        ADD("f%u = r%u;\n", step->out, step->in[0]);
      else if (w->nest == NULL ? !folds_array(w, step->out) : !joist_c_is_direct(w, step))
        ADD("f%u[at - first + k] = r%u;\n", step->out, step->in[0]);
      break;
  }
}

/* Whether the step gives the same for all elements of a run, and is not for scalars alone: an
 * operand that is repeated along the first dim, or a conversion of one. */
static bool is_per_run(const struct writer *w, const struct place *at,
                       const struct joist_code_step *step) {
  if (at->manner == JOIST_C_ALONE) return false;
  if (step->kind == JOIST_CODE_GATHER) return first_stride(w, step->in[1]) == 0;
  const struct joist_code_step *const made =
      step->kind == JOIST_CODE_CONVERT ? made_by(w, step->in[0]) : NULL;
  return made != NULL && is_per_run(w, at, made);
}

void joist_c_add_steps(struct writer *w, const struct place *at, bool per_run) {
  for (uint32_t s = 0; s < w->lowered->step_count; s++)
    if (is_per_run(w, at, &w->lowered->steps[s]) == per_run) add_step(w, at, &w->lowered->steps[s]);
}

bool joist_c_has_form(struct writer *w, const struct place *at, enum joist_c_form form,
                      bool staged) {
  for (uint32_t s = 0; s < w->lowered->step_count; s++)
    if (w->lowered->steps[s].kind == JOIST_CODE_KERNEL &&
        !is_product(w, at, &w->lowered->steps[s]) &&
        !(staged && joist_c_is_uniform_power(w, &w->lowered->steps[s])) &&
        expression_of_step(w, &w->lowered->steps[s])->form == form)
      return true;
  return false;
}

/* ---- runs of elements ---- */

bool joist_c_is_stored(const struct writer *w, uint32_t array) {
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

static bool reads_array(const struct joist_code_step *step, uint32_t array) {
  const bool loads = step->kind == JOIST_CODE_LOAD || step->kind == JOIST_CODE_GATHER;
  return (loads && step->in[0] == array) || (step->kind == JOIST_CODE_TAKE && step->in[2] == array);
}

void joist_c_add_pointers(struct writer *w, const struct place *at) {
  const struct joist_code *const code = w->lowered;
  for (uint32_t a = 0; a < code->array_count; a++) {
    const char *type = NULL;
    for (uint32_t s = 0; s < code->step_count; s++) {
      const struct joist_code_step *const step = &code->steps[s];
      if (reads_array(step, a) || (step->kind == JOIST_CODE_STORE && step->out == a))
        type = joist_code_type(step->from);
    }
    const bool padded = is_padded(at, a);
    if (type != NULL)
      ADD("%s%s *const x%u = (%s *)%s + %lld;\n", joist_c_is_stored(w, a) ? "" : "const ", type, a,
          type, array_name(w, at, padded ? at->padded_to : code->array[a]).text,
          (long long)(padded ? at->padded->out_base : code->base[a]));
  }
}

/* The few elements of a group one by one. */
static void add_unrolled(struct writer *w, const struct place *at) {
  for (size_t k = 0; k < at->count; k++) {
    ADD("{\nconst size_t k = %zu;\n", k);
    joist_c_add_steps(w, at, false);
    ADD("}\n");
  }
}

static void add_inner_loop(struct writer *w, const struct place *at, const char *length) {
  ADD("%sfor (size_t k = 0; k < %s; k++) {\n",
      at->manner == JOIST_C_MENDING ? "" : "JOIST_VECTORIZE_LOOP ", length);
  joist_c_add_steps(w, at, false);
  ADD("}\n");
}

/* A chunk into buffers, once more where an element needs mending, then to its arrays. */
static void add_chunk(struct writer *w, struct place at, bool repairs) {
  const struct joist_code *const code = w->lowered;
  for (uint32_t a = 0; a < code->array_count; a++)
    if (joist_c_is_stored(w, a))
      ADD("%s s%u[%d];\n", type_of_value(at.plan, code->array[a]), a, REPAIR_CHUNK);
  ADD("int odd = 0;\n");
  at.manner = JOIST_C_LOOKING;
  at.chunked = true;
  add_inner_loop(w, &at, "run");
  if (repairs) {
    at.manner = JOIST_C_MENDING;
    ADD("if (odd) {\nodd = 0;\n");
    add_inner_loop(w, &at, "run");
    ADD("}\n");
  }
  ADD("any |= odd;\n");
  /* A group that fails runs again: it must not have written over its operands. */
  const char *const unless = joist_c_has_form(w, &at, JOIST_C_CHECKED, false) ? "if (!any) " : "";
  for (uint32_t a = 0; a < code->array_count; a++)
    if (joist_c_is_stored(w, a))
      ADD("%smemcpy(x%u + at, s%u, run * sizeof *s%u);\n", unless, a, a, a);
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
    if (!joist_c_is_uniform_power(w, step) || is_product(w, at, step)) continue;
    const struct joist_code_step *const base = made_by(w, step->in[0]);
    const char *const type = joist_code_type(step->from);
    ADD("%s v%u[%d];\n", joist_code_type(step->to), step->out, REPAIR_CHUNK);
    struct name from;
    if (base->kind == JOIST_CODE_LOAD) {
      snprintf(from.text, sizeof from.text, "x%u + at", base->in[0]);
    } else if (base->kind == JOIST_CODE_GATHER && first_stride(w, base->in[1]) == 1) {
      snprintf(from.text, sizeof from.text, "x%u + p%u", base->in[0], base->in[1]);
    } else {
      snprintf(from.text, sizeof from.text, "u%u", step->out);
      ADD("%s u%u[%d];\n", type, step->out, REPAIR_CHUNK);
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
    if (joist_c_is_uniform_power(w, step) && !is_product(w, at, step) &&
        made_by(w, step->in[0])->kind == JOIST_CODE_COPY)
      return false;
  }
  return !joist_c_has_form(w, at, JOIST_C_REPAIRED, true) &&
         !joist_c_has_form(w, at, JOIST_C_CHECKED, false);
}

/* Elements first .. last - 1, in runs along the first dim. */
static void add_these_runs(struct writer *w, const struct place *at) {
  const struct joist_code *const code = w->lowered;
  const bool repairs = joist_c_has_form(w, at, JOIST_C_REPAIRED, at->staged);
  const bool checks = joist_c_has_form(w, at, JOIST_C_CHECKED, false);
  const bool chunked = repairs || checks || at->staged;
  const bool rows = (code->gather_count > 0 || at->padded != NULL) && code->rank > 1;
  const bool once = !rows && (!chunked || (at->count > 0 && at->count <= REPAIR_CHUNK));
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
  if (chunked && !once) ADD("if (run > %d) run = %d;\n", REPAIR_CHUNK, REPAIR_CHUNK);
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
  joist_c_add_steps(w, at, true);
  if (at->staged) add_stages(w, at);
  if (chunked && !at->staged)
    add_chunk(w, *at, repairs);
  else if (once && at->count > 0 && at->count <= JOIST_C_LOCAL_MOST)
    add_unrolled(w, at);
  else
    add_inner_loop(w, at, "run");
  ADD(once ? "}\n" : "at += run;\n}\n");
}

void joist_c_add_runs(struct writer *w, const struct place *at) {
  bool all = true, any = false, open = false;
  for (uint32_t s = 0; s < w->lowered->step_count; s++) {
    const struct joist_code_step *const step = &w->lowered->steps[s];
    if (!joist_c_is_uniform_power(w, step)) continue;
    all &= factors_of(w, at, step) != NO_PRODUCT;
    any |= factors_of(w, at, step) <= 0;
  }
  for (uint32_t s = 0; s < w->lowered->step_count && all && any; s++) {
    const struct joist_code_step *const step = &w->lowered->steps[s];
    if (!joist_c_is_uniform_power(w, step) || factors_of(w, at, step) > 0) continue;
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

static bool is_read(const struct writer *w, uint32_t array) {
  bool found = false;
  for (uint32_t s = 0; s < w->lowered->step_count; s++)
    found |= reads_array(&w->lowered->steps[s], array);
  return found;
}

/* A second pass over the elements, which counts, unless the first one has written over them. */
static void add_counting(struct writer *w, const struct place *at, const uint32_t *lost,
                         const char *flag) {
  const struct joist_code *const code = w->lowered;
  struct place counting = *at;
  counting.manner = JOIST_C_COUNTING;
  counting.padded = NULL;
  ADD("if (0");
  for (uint32_t a = 0; a < code->array_count; a++)
    for (uint32_t b = 0; b < code->array_count && joist_c_is_stored(w, a); b++)
      if (is_read(w, b))
        ADD(" || (const void *)%s == (const void *)%s",
            array_name(w, at, is_padded(at, a) ? at->padded_to : code->array[a]).text,
            array_name(w, at, code->array[b]).text);
  ADD(") {\n%s = 1;\n} else {\n", flag);
  for (uint32_t s = 0; s < code->step_count; s++)
    if (is_watch(&code->steps[s]))
      ADD("%s n%u = 0, q%u = INT32_MAX;\n", type_of_count(&code->steps[s]), code->steps[s].out,
          code->steps[s].out);
  add_these_runs(w, &counting);
  for (uint32_t s = 0; s < code->step_count; s++)
    if (is_watch(&code->steps[s]))
      ADD("native->lost[%u] += (size_t)n%u;\n"
          "if (n%u > 0 && (size_t)q%u < native->first[%u]) native->first[%u] = (size_t)q%u;\n",
          lost[s], code->steps[s].out, code->steps[s].out, code->steps[s].out, lost[s], lost[s],
          code->steps[s].out);
  ADD("}\n");
}

void joist_c_end_flags(struct writer *w, const struct place *at, const char *flag) {
  const struct joist_code *const code = w->lowered;
  uint32_t lost[JOIST_CODE_STEPS];
  bool any = false, counts = at->count > 0 && at->count < INT32_MAX &&
                             !joist_c_has_form(w, at, JOIST_C_REPAIRED, false) &&
                             !joist_c_has_form(w, at, JOIST_C_CHECKED, false);
  for (uint32_t s = 0; s < code->step_count; s++) {
    counts &= !joist_c_is_uniform_power(w, &code->steps[s]);
    if (!is_watch(&code->steps[s])) continue;
    ADD("%sw%u %s 0", any ? " || " : "if (", code->steps[s].out, test_of_flag(w, &code->steps[s]));
    any = true;
  }
  for (uint32_t s = 0; s < code->step_count && counts; s++) {
    if (!is_watch(&code->steps[s])) continue;
    lost[s] = lost_number(w, at, &code->steps[s]);
    counts &= lost[s] != JOIST_C_LOST;
  }
  if (!any) return;
  ADD(") {\n");
  if (counts)
    add_counting(w, at, lost, flag);
  else
    ADD("%s = 1;\n", flag);
  ADD("}\n");
}
