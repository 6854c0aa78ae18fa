/* Values that do not fit, on a device: it suspects them exactly where the CPU counts some, and its
 * results have the CPU's bits. */
#ifndef JOIST_TESTS_CUDA_WATCHED_H
#define JOIST_TESTS_CUDA_WATCHED_H

/* Runs a program on the CPU and on the device. With `coarse`, the device may suspect a change that
 * did not happen: of integers that become floats it looks at the digits alone. */
static void check_watched(const struct joist_program *program, void **inputs, bool coarse,
                          const char *what) {
  struct joist_tally here, there;
  struct joist_plan *plan = NULL;
  struct joist_error error = {0};
  void **const outputs = new_outputs(program), **const theirs = new_outputs(program);
  joist_tally_init(&here, false);
  joist_tally_init(&there, false);
  const struct joist_run run = {.threads = 1, .tally = &here, .native = JOIST_NATIVE_NEVER};
  CHECK_INT(joist_plan_make(program, &plan, &error), JOIST_OK);
  const joist_status status =
      joist_plan_run(plan, (const void *const *)inputs, outputs, &run, &error);
  joist_plan_free(plan);
  tally_there = &there;
  CHECK_INT(run_there(program, inputs, theirs, &error), status);
  tally_there = NULL;
  if (status == JOIST_OK) {
    const bool any = here.count > 0 || joist_tally_suspected(&here);
    const bool suspects = joist_tally_suspected(&there) || there.count > 0;
    CHECK_MSG(any == suspects || (coarse && suspects), "%s: %s", what,
              any ? "the device saw nothing" : "the device saw something");
    for (uint32_t k = 0; k < program->output_count; k++) {
      const struct joist_value *const v = &program->values[program->outputs[k]];
      const size_t count = joist_value_count(v);
      CHECK_MSG(first_unlike(v->type.dtype, count, outputs[k], theirs[k]) == count,
                "%s: the device has another result", what);
    }
  }
  free_outputs(outputs);
  free_outputs(theirs);
}

/* One operation on random elements, of which few are large; with and without a mask. `rounded`: of
 * an integer and a float, computed in f64 and rounded to that integer. */
static void test_watched_operation(joist_op op, joist_dtype dtype, joist_dtype other, int masked,
                                   bool rounded) {
  enum { WATCHED = 40 };
  const uint32_t n = WATCHED;
  const size_t count = joist_operation(op)->least;
  for (int turn = 0; turn < 12; turn++) {
    struct joist_program program;
    struct joist_inference inference;
    struct joist_error error;
    joist_value_id ids[3] = {0};
    void *inputs[3] = {NULL};
    joist_program_init(&program);
    for (size_t k = 0; k < count; k++) ids[k] = add_input(&program, k == 0 ? dtype : other, 1, &n);
    if (masked) ids[count] = add_input(&program, JOIST_BOOL, 1, &n);
    const bool fits = infer(&program, joist_rules_at(0), op, ids, count, &no_attributes, &inference,
                            &error) == JOIST_OK;
    if (fits) {
      inference.signature.rounds_float = rounded;
      if (rounded) inference.signature.result[0].dtype = dtype;
      struct joist_instruction i =
          joist_instruction_of(op, &inference, ids, count, &no_attributes, 0);
      i.watch = JOIST_WATCH_OVERFLOW | JOIST_WATCH_LOSS;
      i.missing = masked ? ids[count] + 1 : 0;
      CHECK_INT(joist_program_add(&program, &i, &inference, &error), JOIST_OK);
      add_output(&program, i.result);
      for (size_t k = 0; k < count + (size_t)masked; k++) {
        const joist_dtype own = program.values[ids[k]].type.dtype;
        inputs[k] = calloc(n, 16);
        if (k == count || turn % 3 > 0 || one_in(2)) fill(own, n, FILL_SMALL, inputs[k]);
        if (k < count && turn % 3 == 0) fill(own, 1, FILL_EXTREME, inputs[k]);
        if (k < count && turn % 3 == 2) fill(own, n, FILL_BITS, inputs[k]);
      }
      char what[96];
      snprintf(what, sizeof what, "nv_%s of %s and %s, watched", joist_op_name(op),
               joist_dtype_name(dtype), joist_dtype_name(other));
      const joist_kind computed = joist_dtype_kind(inference.signature.compute);
      check_watched(&program, inputs, computed == JOIST_KIND_FLOAT && !rounded, what);
    }
    for (int k = 0; k < 3; k++) free(inputs[k]);
    joist_program_clear(&program);
  }
}

static bool is_mixed_arithmetic(joist_op op, joist_dtype dtype) {
  return joist_dtype_bits(dtype) < 64 &&
         (op == JOIST_OP_ADD || op == JOIST_OP_SUB || op == JOIST_OP_MUL || op == JOIST_OP_DIV ||
          op == JOIST_OP_POW);
}

static void test_watched(void) {
  for (int op = 0; op < JOIST_OP_COUNT; op++)
    for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
      const joist_kind kind = joist_dtype_kind((joist_dtype)d);
      if (leaves_out(d) || (kind != JOIST_KIND_INT && kind != JOIST_KIND_UINT) ||
          joist_op_overflow_rule((joist_op)op) != JOIST_OVERFLOW_EACH)
        continue;
      const bool mixes = is_mixed_arithmetic((joist_op)op, (joist_dtype)d);
      for (int masked = 0; masked < 2; masked++) {
        test_watched_operation((joist_op)op, (joist_dtype)d, (joist_dtype)d, masked, false);
        if (mixes) test_watched_operation((joist_op)op, (joist_dtype)d, JOIST_F64, masked, true);
      }
    }
  for (int masked = 0; masked < 2; masked++) {
    test_watched_operation(JOIST_OP_ADD, JOIST_I32, JOIST_F32, masked, false);
    test_watched_operation(JOIST_OP_ADD, JOIST_UI64, JOIST_F64, masked, false);
  }
}

#endif
