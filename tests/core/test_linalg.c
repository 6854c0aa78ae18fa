/* Linear algebra without a LAPACK is an error; with one (of a few lines, for the test) batches
 * go through it matrix by matrix and results are rounded to the dtype. Values are tested from
 * R, which has a LAPACK. */
#include "core/cpu/execute.h"
#include "core/kernels/kernels.h"
#include "core/ops/linalg/blas.h"
#include "core/program/program.h"

#include "arrays.h"

/* The square root of a diagonal matrix. */
static void stub_potrf(const char *uplo, const int *n, void *matrix, const int *lda, int *info,
                       size_t length) {
  double *const a = matrix;
  CHECK(*uplo == 'U' && length == 1 && *lda == *n);
  *info = 0;
  for (int k = 0; k < *n && *info == 0; k++) {
    double *const at = &a[k * *n + k];
    if (*at < 0) *info = k + 1;
    *at = sqrt(*at);
  }
}

static const struct joist_attributes none = {.count = 0};

struct one_call {
  struct joist_program program;
  struct joist_value values[2];
  struct joist_instruction instruction;
  struct joist_inference inference;
  joist_value_id operand;
};

static void set_up(struct one_call *call, joist_op op, joist_dtype dtype,
                   const struct joist_shape *from, const struct joist_shape *to) {
  memset(call, 0, sizeof *call);
  call->values[0] = (struct joist_value){.type = {dtype, false}, .shape = *from};
  call->values[1] =
      (struct joist_value){.type = {dtype, false}, .shape = *to, .input = JOIST_NO_INPUT};
  call->inference.signature.operand[0] = dtype;
  call->inference.signature.result[0] = call->values[1].type;
  call->instruction = joist_instruction_of(op, &call->inference, &call->operand, 1, &none, 1);
  call->program.values = call->values;
  call->program.value_count = 2;
}

static void test_chol(void) {
  const struct joist_shape shape = {3, {2, 2, 3}};
  const float in[12] = {4, 1, 9, 2, 1, 1, 1, 1, 0.5f, 1, 1, 16};
  const float want[12] = {2, 0, 9, 1.41421356f, 1, 0, 1, 1, 0.707106781f, 0, 1, 4};
  float out[12], bad[12];
  struct one_call call;
  struct joist_error error;
  const struct joist_run run = {.threads = 1};
  set_up(&call, JOIST_OP_CHOL, JOIST_F32, &shape, &shape);
  void *arrays[2] = {(void *)(uintptr_t)in, out};
  CHECK_ERROR(joist_execute(&call.program, &call.instruction, arrays, &run, &error), error,
              JOIST_E_NO_LAPACK);
  joist_lapack.potrf[0] = stub_potrf;
  CHECK_INT(joist_execute(&call.program, &call.instruction, arrays, &run, &error), JOIST_OK);
  CHECK(memcmp(out, want, sizeof want) == 0);
  memcpy(bad, in, sizeof in);
  arrays[0] = bad;
  bad[7] = -1;
  CHECK_ERROR(joist_execute(&call.program, &call.instruction, arrays, &run, &error), error,
              JOIST_E_NOT_POSITIVE_DEFINITE);
  CHECK(error.batch == 2 && error.count[0] == 2);
  bad[7] = NAN; /* LAPACK reports no failure for NaN, but joist does */
  CHECK_INT(joist_execute(&call.program, &call.instruction, arrays, &run, &error),
            JOIST_ERROR_VALUE);
  joist_lapack.potrf[0] = NULL;
}

int main(void) {
  joist_kernels_select(getenv("JOIST_TEST_KERNELS"));
  test_chol();
  return check_report("linalg");
}
