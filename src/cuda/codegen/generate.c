/* Generating source text. Types and names are those of dtypes.def and ops.def. */
#include "cuda/codegen/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/codegen/names.h"

const char *joist_cuda_prelude(void) {
  return "#include \"cuda/kernels/target.cuh\"\n"
         "#define JOIST_INLINE JOIST_DEVICE static inline\n"
         "#define JOIST_COMPLEX_FUNCTION JOIST_DEVICE JOIST_OUTLINE static\n"
         "#include \"cuda/kernels/loops.cuh\"\n";
}

/* ---- groups ---- */

/* 16 bytes of the widest dtype that arrays have: then the threads of a warp read and write
 * without gaps. Sums depend on the number, which is therefore fixed for them. */
int joist_cuda_width(const struct joist_code *code) {
  size_t widest = 1;
  for (uint32_t s = 0; s < code->step_count; s++) {
    const struct joist_code_step *const step = &code->steps[s];
    if (step->kind != JOIST_CODE_LOAD && step->kind != JOIST_CODE_STORE) continue;
    const size_t size = joist_dtype_size((joist_dtype)step->from);
    if (size > widest) widest = size;
  }
  return code->sink_count > 0 ? JOIST_CUDA_LANES : 16 / (int)widest;
}

/* Iterations whose elements a thread of a group with sinks loads before it combines the first: 64
 * bytes, since a multiprocessor waits for the memory unless so much is on its way. */
static int turns_together(const struct joist_code *code) {
  enum { BYTES = 64, MOST = 8, LONG = 32 };
  size_t bytes = 0;
  for (uint32_t s = 0; s < code->step_count; s++)
    if (code->steps[s].kind == JOIST_CODE_LOAD)
      bytes += JOIST_CUDA_LANES * joist_dtype_size((joist_dtype)code->steps[s].from);
  if (bytes == 0 || bytes >= BYTES || code->step_count > LONG) return 1;
  return BYTES / bytes < MOST ? (int)(BYTES / bytes) : MOST;
}

/* Notes a value that does not fit. */
static void add_watch(struct joist_text *text, const struct joist_code_step *step,
                      const uint32_t *in) {
  joist_text_add(text, "      if (");
  if (step->to) joist_text_add(text, "v%u == 0 && ", in[2]);
  if (step->kind == JOIST_CODE_WRAPS)
    joist_text_add(text, "wraps_%s_%s<%s>(v%u, v%u)", joist_code_op(step->op),
                   joist_code_kind(step->from), joist_code_type(step->from), in[0], in[1]);
  else if (step->kind == JOIST_CODE_LARGE)
    joist_text_add(text, "is_large(v%u, %u)", in[0], step->op);
  else
    joist_text_add(text, "(v%u < %lld || v%u > %lld)", in[0],
                   (long long)joist_dtype_min_int((joist_dtype)step->op), in[0],
                   (long long)joist_dtype_max_int((joist_dtype)step->op));
  joist_text_add(text, ") note_wrapped(parameter);\n");
}

/* Register r is variable v<step> of the step that wrote it last. Elements of arrays are those
 * of packs, which `pack` chooses from ("" or an index), or where it is NULL `at` in memory. */
static void add_element_step(struct joist_text *text, const struct joist_code_step *step,
                             uint32_t s, uint32_t *written, const char *pack) {
  const char *const type = joist_code_type(step->to);
  uint32_t in[3];
  for (int k = 0; k < 3; k++) in[k] = written[step->in[k] % JOIST_CUDA_REGISTERS];
  switch (step->kind) {
    case JOIST_CODE_LOAD:
      if (pack != NULL)
        joist_text_add(text, "      const %s v%u = a%u%s.x[j];\n", type, s, s, pack);
      else
        joist_text_add(text, "      const %s v%u = ((const %s *)array_of(parameter, %u))[at];\n",
                       type, s, type, step->in[0]);
      break;
    case JOIST_CODE_SCALAR:
    case JOIST_CODE_GIVEN:
      joist_text_add(text, "      const %s v%u = a%u;\n", type, s, s);
      break;
    case JOIST_CODE_GATHER:
      joist_text_add(text,
                     "      const %s v%u = ((const %s *)array_of(parameter, %u))"
                     "[place_of(parameter, strides_of(parameter, %u), at)];\n",
                     type, s, type, step->in[0], step->in[1]);
      break;
    case JOIST_CODE_TAKE:
      joist_text_add(text,
                     "      const %s v%u = ((const %s *)array_of(parameter, %u))"
                     "[place_of(parameter, strides_of(parameter, %u), at) + (uint64_t)(v%u - %u) * "
                     "along_of(parameter, %u)];\n",
                     type, s, type, step->in[2], step->in[1], in[0], step->op, step->in[1]);
      break;
    case JOIST_CODE_STORE:
      if (pack != NULL)
        joist_text_add(text, "      a%u%s.x[j] = v%u;\n", s, pack, in[0]);
      else
        joist_text_add(text, "      ((%s *)array_of(parameter, %u))[at] = v%u;\n",
                       joist_code_type(step->from), step->out, in[0]);
      return;
    case JOIST_CODE_COPY:
      joist_text_add(text, "      %s v%u;\n      memcpy(&v%u, &v%u, sizeof v%u);\n", type, s, s,
                     in[0], s);
      break;
    case JOIST_CODE_CONVERT:
      joist_text_add(text, "      const %s v%u = to_%s(from_%s(v%u));\n", type, s,
                     joist_code_dtype(step->to), joist_code_dtype(step->from), in[0]);
      break;
    case JOIST_CODE_KERNEL: {
      const char *const op = joist_code_op(step->op), *const kind = joist_code_kind(step->from);
      const int operands = joist_operation((joist_op)step->op)->most;
      if (joist_op_can_fail((joist_op)step->op, (joist_dtype)step->from))
        joist_text_add(text,
                       "      if (fails_%s_%s<%s>(v%u, v%u)) {\n"
                       "        report(parameter, at, %u);\n        continue;\n      }\n",
                       op, kind, joist_code_type(step->from), in[0], in[1], s);
      joist_text_add(text, "      const %s v%u = op_%s_%s<%s>(v%u", type, s, op, kind,
                     joist_code_type(step->from), in[0]);
      for (int k = 1; k < operands; k++) joist_text_add(text, ", v%u", in[k]);
      joist_text_add(text, ");\n");
      break;
    }
    case JOIST_CODE_WRAPS:
    case JOIST_CODE_BEYOND:
    case JOIST_CODE_LARGE:
      add_watch(text, step, in);
      return;
    default: /* FOLD */
      joist_text_add(text, "      sum%u[j] = started ? op_%s_%s<%s>(sum%u[j], v%u) : v%u;\n",
                     step->out, joist_code_op(step->op), joist_code_kind(step->from), type,
                     step->out, in[0], in[0]);
      return;
  }
  written[step->out] = s;
}

/* Calls load_whole() or load_row(), or the same of store, of the array of step `s`. */
static void add_access(struct joist_text *text, const struct joist_code *code, const char *what,
                       uint32_t s, uint32_t array, bool whole, const char *pack) {
  const char *const type = joist_code_type(code->steps[s].from);
  const char *const loop = *pack == '\0' ? "" : "JOIST_UNROLL for (int u = 0; u < U; u++) ";
  const char *const turn = *pack == '\0' ? "" : " + (uint64_t)u * apart";
  if (whole && !code->rows)
    joist_text_add(text, "      %s%s_whole<%s, V>(array_of(parameter, %u), first%s, a%u%s);\n",
                   loop, what, type, array, turn, s, pack);
  else
    joist_text_add(text, "      %s%s_row<%s, V>(array_of(parameter, %u), first%s, %s, n, a%u%s);\n",
                   loop, what, type, array, turn, code->rows ? "row.step" : "1", s, pack);
}

static void add_loads(struct joist_text *text, const struct joist_code *code, bool whole,
                      const char *pack) {
  for (uint32_t s = 0; s < code->step_count; s++) {
    const struct joist_code_step *const step = &code->steps[s];
    if (step->kind != JOIST_CODE_LOAD && step->kind != JOIST_CODE_STORE) continue;
    joist_text_add(text, "      joist_pack<%s, V> a%u%s;\n", joist_code_type(step->from), s,
                   *pack == '\0' ? "" : "[U]");
    if (step->kind == JOIST_CODE_LOAD) add_access(text, code, "load", s, step->in[0], whole, pack);
  }
}

static void add_stores(struct joist_text *text, const struct joist_code *code, bool whole,
                       const char *pack) {
  for (uint32_t s = 0; s < code->step_count; s++)
    if (code->steps[s].kind == JOIST_CODE_STORE)
      add_access(text, code, "store", s, code->steps[s].out, whole, pack);
}

static void add_partials(struct joist_text *text, const struct joist_code *code) {
  joist_text_add(text,
                 "    const uint64_t own = %s;\n"
                 "    const uint32_t lanes = own < V ? (uint32_t)own : (uint32_t)V;\n",
                 code->rows ? "row.length" : "parameter.head.count - thread * V");
  for (uint32_t s = 0; s < code->step_count; s++) {
    const struct joist_code_step *const step = &code->steps[s];
    if (step->kind != JOIST_CODE_FOLD) continue;
    const char *const type = joist_code_type(step->from);
    joist_text_add(text,
                   "    %s all%u = sum%u[0];\n"
                   "    for (int l = 1; l < V; l++)\n"
                   "      if ((uint32_t)l < lanes) all%u = op_%s_%s<%s>(all%u, sum%u[l]);\n"
                   "    ((%s *)array_of(parameter, %u))[thread] = all%u;\n",
                   type, step->out, step->out, step->out, joist_code_op(step->op),
                   joist_code_kind(step->from), type, step->out, step->out, type, step->in[1],
                   step->out);
  }
}

/* What comes once per thread: scalars, the head of the loop over threads, the first iteration. */
static void add_head(struct joist_text *text, const struct joist_code *code) {
  for (uint32_t s = 0; s < code->step_count; s++) {
    const struct joist_code_step *const step = &code->steps[s];
    if (step->kind == JOIST_CODE_SCALAR || step->kind == JOIST_CODE_GIVEN)
      joist_text_add(text, "  const %s a%u = *(const %s *)%s(parameter, %u);\n",
                     joist_code_type(step->from), s, joist_code_type(step->from),
                     step->kind == JOIST_CODE_GIVEN ? "given_in" : "array_of", step->in[0]);
  }
  if (code->sink_count > 0)
    joist_text_add(text,
                   "  const uint64_t threads = parameter.head.threads;\n"
                   "  for (uint64_t thread = thread_number(); thread < threads; thread += "
                   "thread_count()) {\n    bool started = false;\n");
  else
    joist_text_add(text,
                   "  const uint64_t threads = thread_count();\n  {\n"
                   "    const uint64_t thread = thread_number();\n");
  for (uint32_t s = 0; s < code->step_count; s++)
    if (code->steps[s].kind == JOIST_CODE_FOLD)
      joist_text_add(text, "    %s sum%u[V];\n", joist_code_type(code->steps[s].from),
                     code->steps[s].out);
  if (code->rows)
    joist_text_add(text,
                   "    const joist_row row = row_of(parameter, thread);\n"
                   "    const uint64_t apart = row.step * V;\n"
                   "    uint64_t first = row.first, left = row.length;\n");
  else if (code->sink_count > 0)
    joist_text_add(text,
                   "    const uint64_t apart = threads * V;\n"
                   "    uint64_t first = thread * V;\n");
}

/* The head of the loop over the remaining iterations. */
static void add_turns(struct joist_text *text, const struct joist_code *code) {
  if (code->rows)
    joist_text_add(text,
                   "    for (; left > 0; left = left > V ? left - V : 0, first += apart) {\n");
  else
    joist_text_add(text,
                   "    for (%s; first < parameter.head.count; first += %s) {\n"
                   "      const uint64_t left = parameter.head.count - first;\n",
                   code->sink_count > 0 ? "" : "uint64_t first = thread * V",
                   code->sink_count > 0 ? "apart" : "threads * V");
}

/* Elements j of the packs. The accumulators of the lanes must not be looked up by a number that
 * varies. */
static void add_lanes(struct joist_text *text, const struct joist_code *code, bool whole) {
  uint32_t written[JOIST_CUDA_REGISTERS] = {0};
  add_loads(text, code, whole, "");
  joist_text_add(text,
                 "      JOIST_UNROLL for (int j = 0; j < V; j++) {\n"
                 "        if ((uint32_t)j >= n) continue;\n"
                 "        const uint64_t at = first + (uint64_t)j%s;\n        (void)at;\n",
                 code->rows ? " * row.step" : "");
  for (uint32_t s = 0; s < code->step_count; s++)
    add_element_step(text, &code->steps[s], s, written, "");
  joist_text_add(text, "      }\n");
  add_stores(text, code, whole, "");
}

/* U iterations together, while all of them are full: the same elements in the same order, but all
 * loads come first. */
static void add_turns_together(struct joist_text *text, const struct joist_code *code) {
  uint32_t written[JOIST_CUDA_REGISTERS] = {0};
  if (code->rows)
    joist_text_add(text, "    for (; left >= U * V; left -= U * V, first += U * apart) {\n");
  else
    joist_text_add(
        text,
        "    for (; first + (U - 1) * apart + V <= parameter.head.count; first += U * apart) {\n");
  joist_text_add(text, "      const uint32_t n = V;\n");
  add_loads(text, code, true, "[u]");
  joist_text_add(text,
                 "      JOIST_UNROLL for (int u = 0; u < U; u++) {\n"
                 "      JOIST_UNROLL for (int j = 0; j < V; j++) {\n"
                 "        if ((uint32_t)j >= n) continue;\n"
                 "        const uint64_t at = first + (uint64_t)u * apart + (uint64_t)j%s;\n"
                 "        (void)at;\n",
                 code->rows ? " * row.step" : "");
  for (uint32_t s = 0; s < code->step_count; s++)
    add_element_step(text, &code->steps[s], s, written, "[u]");
  joist_text_add(text, "      }\n      started = true;\n      }\n");
  add_stores(text, code, true, "[u]");
  joist_text_add(text, "    }\n");
}

/* An iteration. In a full one, as most are, n is a constant, and no load waits for the branch of
 * another. The elements left at the end are computed one by one or, for sums, lane by lane. */
static void add_turn(struct joist_text *text, const struct joist_code *code) {
  uint32_t written[JOIST_CUDA_REGISTERS] = {0};
  joist_text_add(text, "      if (left >= V) {\n      const uint32_t n = V;\n");
  add_lanes(text, code, true);
  joist_text_add(text, "      } else {\n");
  if (code->sink_count > 0) {
    joist_text_add(text, "      const uint32_t n = (uint32_t)left;\n");
    add_lanes(text, code, false);
  } else {
    joist_text_add(
        text, "      JOIST_ROLLED for (uint64_t at = first; at < parameter.head.count; at++) {\n");
    for (uint32_t s = 0; s < code->step_count; s++)
      add_element_step(text, &code->steps[s], s, written, NULL);
    joist_text_add(text, "      }\n");
  }
  joist_text_add(text, "      }\n");
}

/* NULL when memory is out. */
static char *finished(struct joist_text *text) {
  if (text->failed) joist_text_free(text);
  return text->data;
}

char *joist_cuda_generate(const struct joist_code *code, const char *name) {
  struct joist_text text = {0};
  const bool sums = code->sink_count > 0;
  const int together = sums ? turns_together(code) : 1;
  joist_text_add(&text,
                 "typedef joist_group_of<%u, %u, %u> %s_group;\n"
                 "JOIST_%s(%s, %s_group) {\n  enum { V = %d, U = %d };\n",
                 code->array_count, code->gather_count, code->rank, name,
                 together > 1 ? "LOADING_KERNEL" : "KERNEL", name, name, joist_cuda_width(code),
                 together);
  add_head(&text, code);
  if (together > 1) add_turns_together(&text, code);
  add_turns(&text, code);
  add_turn(&text, code);
  if (sums) joist_text_add(&text, "      started = true;\n");
  joist_text_add(&text, "    }\n");
  if (sums) add_partials(&text, code);
  joist_text_add(&text, "  }\n}\n");
  return finished(&text);
}

char *joist_cuda_generate_pass(joist_op combine, joist_dtype from, joist_dtype accumulator,
                               const char *name) {
  struct joist_text text = {0};
  const char *const type = joist_code_type(accumulator), *const own = joist_code_type(from);
  char loaded[128];
  if (from == accumulator)
    snprintf(loaded, sizeof loaded, "((const %s *)in)[at]", own);
  else
    snprintf(loaded, sizeof loaded, "to_%s(from_%s(((const %s *)in)[at]))",
             joist_code_dtype(accumulator), joist_code_dtype(from), own);
  joist_text_add(&text,
                 "struct %s_reduction {\n  typedef %s accumulator;\n  enum { rounds = 4 };\n"
                 "  JOIST_DEVICE %s load(const void *in, uint64_t at) const { return %s; }\n",
                 name, type, type, loaded);
  joist_text_add(&text,
                 "  JOIST_DEVICE %s combine(%s a, %s b) const { return op_%s_%s<%s>(a, b); }\n",
                 type, type, type, joist_code_op(combine), joist_code_kind(accumulator), type);
  joist_text_add(
      &text,
      "  JOIST_DEVICE void store(void *out, uint64_t at, %s all) const { ((%s *)out)[at] = all; "
      "}\n};\n",
      type, type);
  joist_text_add(&text, "JOIST_PASS_KERNEL(%s) { reduce_pass(parameter, %s_reduction()); }\n", name,
                 name);
  return finished(&text);
}
