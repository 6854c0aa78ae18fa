/* The table of operations on whole arrays. */
#include "cuda/ops/operations.h"

#include "core/ops/random/random_counts.h"

#define SCAN \
  { .run = joist_cuda_accumulate, .can = joist_cuda_can_accumulate }
#define SEARCH \
  { .run = joist_cuda_locate, .can = joist_cuda_can_locate }

static const struct joist_cuda_operation operations[JOIST_OP_COUNT] = {
    [JOIST_OP_RESHAPE] = {.run = joist_cuda_reshape},
    [JOIST_OP_IOTA] = {.run = joist_cuda_iota, .can = joist_cuda_can_count},
    [JOIST_OP_TAKE] = {.run = joist_cuda_take, .can = joist_cuda_can_take},
    [JOIST_OP_PUT] = {.run = joist_cuda_put, .can = joist_cuda_can_put},
    [JOIST_OP_CONCATENATE] = {.run = joist_cuda_concatenate},
    [JOIST_OP_PERMUTE] = {.run = joist_cuda_permute},
    [JOIST_OP_SLICE] = {.run = joist_cuda_slice},
    [JOIST_OP_UPDATE] = {.run = joist_cuda_update},
    [JOIST_OP_PAD] = {.run = joist_cuda_pad},
    [JOIST_OP_GATHER] = {.run = joist_cuda_gather, .can = joist_cuda_can_gather},
    [JOIST_OP_MATMUL] = {.run = joist_cuda_multiply, .can = joist_cuda_can_multiply},
    [JOIST_OP_UNPACK] = {.run = joist_cuda_unpack, .can = joist_cuda_can_unpack},
    [JOIST_OP_PACKED_PRODUCT] = {.run = joist_cuda_unpack, .can = joist_cuda_can_unpack},
    [JOIST_OP_CUMSUM] = SCAN,
    [JOIST_OP_CUMPROD] = SCAN,
    [JOIST_OP_CUMMIN] = SCAN,
    [JOIST_OP_CUMMAX] = SCAN,
    [JOIST_OP_ARGMIN] = SEARCH,
    [JOIST_OP_ARGMAX] = SEARCH,
    [JOIST_OP_FOLD_IN] = {.run = joist_cuda_fold,
                          .can = joist_cuda_can_fold,
                          .reads_on_host = true},
    [JOIST_OP_RANDOM_BITS] = {.run = joist_cuda_draw, .can = joist_cuda_can_draw},
    [JOIST_OP_RUNIF] = {.run = joist_cuda_draw,
                        .can = joist_cuda_can_draw,
                        .reads_on_host = true,
                        .carrier = {JOIST_CUDA_AS_DRAWN, JOIST_CUDA_AS_DRAWN},
                        .check = joist_uniform_check,
                        .is_standard = joist_uniform_is_unit},
    [JOIST_OP_RNORM] = {.run = joist_cuda_draw,
                        .can = joist_cuda_can_draw_normal,
                        .reads_on_host = true,
                        .carrier = {JOIST_CUDA_AS_CENTRE, JOIST_CUDA_AS_NUMBER},
                        .check = joist_normal_check,
                        .is_standard = joist_normal_is_standard},
    [JOIST_OP_RANDINT] = {.run = joist_cuda_draw,
                          .can = joist_cuda_can_draw,
                          .reads_on_host = true,
                          .carrier = {JOIST_CUDA_AS_LIMIT, JOIST_CUDA_AS_LIMIT},
                          .check = joist_integer_check},
    [JOIST_OP_RBINOM] = {.run = joist_cuda_draw,
                         .can = joist_cuda_can_draw,
                         .reads_on_host = true,
                         .carrier = {JOIST_CUDA_AS_NUMBER, JOIST_CUDA_AS_NUMBER},
                         .check = joist_binomial_check},
};

const struct joist_cuda_operation *joist_cuda_operation(joist_op op) { return &operations[op]; }

bool joist_cuda_reads_on_host(joist_op op, uint32_t k) {
  return operations[op].reads_on_host && k > 0;
}

bool joist_cuda_runs(const struct joist_device *device, joist_op op) {
  (void)device;
  return !joist_op_is_array(op) || operations[op].run != NULL;
}
