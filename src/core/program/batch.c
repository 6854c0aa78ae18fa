/* The rules of operations for many slices at once: see batch.h. Those with bodies are in
 * batch_loops.c. */
#include "core/program/batch.h"

#include <stdlib.h>

#include "core/program/batch_builder.h"
#include "core/program/batch_flow.h"
#include "core/program/batch_loops.h"
#include "core/program/regions.h"
#include "core/types/error.h"
#include "core/types/shape_rules.h"

static const struct joist_type i64 = {JOIST_I64, false}, i32 = {JOIST_I32, false};

/* ---- what rules are made of ---- */

static const struct joist_shape *own_shape(const struct batching *b, joist_value_id v) {
  return &b->from->values[v].shape;
}

static uint32_t slices(const struct batching *b) { return b->batch->extent; }

static struct joist_shape lines(size_t n, uint32_t extent) {
  return (struct joist_shape){2, {(uint32_t)n, extent}};
}

/* Attributes with room for their lists. */
struct longer {
  struct joist_attributes own;
  int64_t list[JOIST_ATTRIBUTES_MAX][JOIST_RANK_MAX + 1];
};

/* Lists that have an element for each dim get one for that of the slices. */
static int64_t of_slices(const struct batching *b, joist_attribute_name name, uint32_t rank) {
  switch (name) {
    case JOIST_ATTRIBUTE_PERMUTATION:
      return rank;
    case JOIST_ATTRIBUTE_STOP:
      return (int64_t)slices(b) - 1;
    case JOIST_ATTRIBUTE_STEP:
      return 1;
    case JOIST_ATTRIBUTE_SHAPE:
      return slices(b);
    default:
      return 0;
  }
}

static void lengthen(const struct batching *b, const struct joist_instruction *i,
                     struct longer *made) {
  made->own = joist_attributes_copied(i->attributes);
  for (uint32_t k = 0; k < made->own.count; k++) {
    struct joist_attribute *const item = &made->own.item[k];
    const joist_attribute_kind kind = joist_attribute_kind_of(item->name);
    const bool each = item->name == JOIST_ATTRIBUTE_PERMUTATION ||
                      kind == JOIST_ATTRIBUTE_IS_POSITIONS || kind == JOIST_ATTRIBUTE_IS_COUNTS ||
                      kind == JOIST_ATTRIBUTE_IS_EXTENTS;
    if (!each) continue;
    for (uint32_t d = 0; d < item->count; d++)
      made->list[k][d] = joist_attribute_at(i->attributes, item->name, (int)d);
    made->list[k][item->count] = of_slices(b, item->name, item->count);
    item->list = made->list[k];
    item->count++;
  }
}

static size_t count_of(const struct batching *b, joist_value_id v) {
  return joist_value_count(&b->from->values[v]);
}

/* ---- elementwise, and in the dims before that of the slices ---- */

/* The scalar that a value repeats, or the value. */
static joist_value_id repeated(struct batching *b, joist_value_id id) {
  const struct joist_shape scalar = {.rank = 0};
  for (joist_value_id at = id; b->status == JOIST_OK;) {
    const struct joist_value *const value = batch_value(b, at);
    if (joist_value_count(value) == 1) return joist_batch_reshaped(b, at, &scalar);
    if (value->input != JOIST_NO_INPUT) break;
    const struct joist_instruction *const from = &b->program->instructions[value->instruction];
    if (from->op != JOIST_OP_BROADCAST && from->op != JOIST_OP_RESHAPE) break;
    at = from->operand[0];
  }
  return id;
}

/* An operand with slices has the extents of the result: others then need none. */
static bool has_extents(const struct batching *b, const struct joist_instruction *i) {
  for (uint32_t k = 0; k < i->operand_count; k++)
    if (b->varies[i->operand[k]] &&
        joist_shape_equal(own_shape(b, i->operand[k]), own_shape(b, i->result)))
      return true;
  return false;
}

static joist_value_id each(struct batching *b, const struct joist_instruction *i,
                           joist_value_id *ids) {
  struct longer attributes;
  const int rank = own_shape(b, i->result)->rank;
  const bool known = has_extents(b, i);
  lengthen(b, i, &attributes);
  for (uint32_t k = 0; k < i->operand_count; k++) {
    const joist_value_id v = i->operand[k], own = b->value[v];
    const joist_value_id one = known && !b->varies[v] ? repeated(b, own) : own;
    ids[k] = one != own ? one : joist_batch_aligned(b, v, rank);
  }
  return joist_batch_apply(b, i, ids, &attributes.own);
}

static joist_value_id full(struct batching *b, const struct joist_instruction *i,
                           joist_value_id *ids) {
  const struct joist_shape *const own = own_shape(b, i->result);
  const struct joist_shape all = joist_batch_longer(b, own, slices(b));
  for (uint32_t k = 0; k < i->operand_count; k++) {
    const joist_value_id v = i->operand[k];
    ids[k] = joist_batch_aligned(b, v, own->rank);
    if (b->varies[v] || own_shape(b, v)->rank > 0) ids[k] = joist_batch_broadcast(b, ids[k], &all);
  }
  return joist_batch_apply(b, i, ids, i->attributes);
}

/* Along no dim in particular: the elements of a slice in one dim. */
static bool is_flat(const struct joist_instruction *i) {
  return (joist_operation(i->op)->attributes >> JOIST_ATTRIBUTE_DIM & 1) != 0 &&
         joist_attribute_dim(i->attributes) < 0;
}

static joist_value_id trail(struct batching *b, const struct joist_instruction *i,
                            joist_value_id *ids) {
  struct longer attributes;
  lengthen(b, i, &attributes);
  for (uint32_t k = 0; k < i->operand_count; k++) ids[k] = joist_batch_varying(b, i->operand[k]);
  if (is_flat(i)) {
    const struct joist_shape flat = lines(count_of(b, i->operand[0]), slices(b));
    ids[0] = joist_batch_reshaped(b, ids[0], &flat);
    joist_attributes_set(&attributes.own, JOIST_ATTRIBUTE_DIM, 0);
  }
  return joist_batch_apply(b, i, ids, &attributes.own);
}

/* Of two matrices of which one has slices: the columns of all slices side by side are one matrix.
 * False if a transpose would be needed. */
static bool one_product(struct batching *b, const struct joist_instruction *i,
                        joist_value_id *ids) {
  const joist_value_id *const v = i->operand;
  const int own = b->varies[v[0]] ? 0 : 1;
  const struct joist_shape *const shape = own_shape(b, v[own]);
  if (b->varies[v[1 - own]] || shape->rank != 2 || own_shape(b, v[1 - own])->rank != 2)
    return false;
  const joist_attribute_name turns[] = {JOIST_ATTRIBUTE_TRANSPOSE_LHS,
                                        JOIST_ATTRIBUTE_TRANSPOSE_RHS};
  const bool turned = joist_attribute_flag(i->attributes, turns[own]);
  const int inner = turned == (own == 1) ? 1 : 0; /* the dim that is summed over */
  const size_t columns = (size_t)shape->extent[1 - inner] * slices(b);
  if (columns > UINT32_MAX || (shape->extent[1 - inner] != 1 && (own == 0 || turned))) return false;
  if (own == 0 && (b->from->values[v[0]].type.dtype != b->from->values[v[1]].type.dtype))
    return false;
  const struct joist_shape all = lines(shape->extent[inner], (uint32_t)columns);
  struct joist_attributes attributes = joist_batch_none;
  for (uint32_t k = 0; k < i->attributes->count; k++)
    if (i->attributes->item[k].name != turns[0] && i->attributes->item[k].name != turns[1])
      attributes.item[attributes.count++] = i->attributes->item[k];
  /* One row of each slice: the product is turned. */
  const bool other = joist_attribute_flag(i->attributes, turns[1 - own]);
  joist_attributes_set(&attributes, turns[0], (own == 0) != other);
  ids[0] = b->value[v[1 - own]];
  ids[1] = joist_batch_reshaped(b, b->value[v[own]], &all);
  ids[0] = joist_batch_apply(b, i, ids, &attributes);
  return true;
}

static joist_value_id matrices(struct batching *b, const struct joist_instruction *i,
                               joist_value_id *ids) {
  if (i->op == JOIST_OP_MATMUL && one_product(b, i, ids)) return ids[0];
  int rank = 2;
  for (uint32_t k = 0; k < i->operand_count; k++)
    if (own_shape(b, i->operand[k])->rank > rank) rank = own_shape(b, i->operand[k])->rank;
  for (uint32_t k = 0; k < i->operand_count; k++)
    ids[k] = b->varies[i->operand[k]] ? joist_batch_aligned(b, i->operand[k], rank)
                                      : b->value[i->operand[k]];
  return joist_batch_apply(b, i, ids, i->attributes);
}

static joist_value_id join(struct batching *b, const struct joist_instruction *i,
                           joist_value_id *ids) {
  struct joist_shape all = *own_shape(b, i->result);
  all.extent[joist_attribute_dim(i->attributes)] = 1;
  const int rank = all.rank;
  all = joist_batch_longer(b, &all, slices(b));
  for (uint32_t k = 0; k < i->operand_count; k++) {
    const joist_value_id v = i->operand[k];
    if (own_shape(b, v)->rank > 0)
      ids[k] = joist_batch_varying(b, v);
    else if (b->varies[v])
      ids[k] = joist_batch_broadcast(b, joist_batch_aligned(b, v, rank), &all);
    else
      ids[k] = b->value[v];
  }
  return joist_batch_apply(b, i, ids, i->attributes);
}

/* n values for each slice, where there is one for all, or there are as many. */
static joist_value_id values_for(struct batching *b, joist_value_id v, size_t n) {
  const size_t own = count_of(b, v);
  if (own == 1 && !b->varies[v]) {
    const struct joist_shape scalar = {.rank = 0};
    return joist_batch_reshaped(b, b->value[v], &scalar);
  }
  const struct joist_shape given = lines(own, slices(b)), all = lines(n, slices(b));
  return joist_batch_broadcast(b, joist_batch_reshaped(b, joist_batch_varying(b, v), &given), &all);
}

static joist_value_id update(struct batching *b, const struct joist_instruction *i,
                             joist_value_id *ids) {
  struct longer attributes;
  size_t selected = 1;
  const struct joist_attributes *const own = i->attributes;
  for (int d = 0; d < own_shape(b, i->result)->rank; d++) {
    const int64_t start = joist_attribute_at(own, JOIST_ATTRIBUTE_START, d);
    const int64_t stop = joist_attribute_at(own, JOIST_ATTRIBUTE_STOP, d);
    selected *= (size_t)((stop - start) / joist_attribute_at(own, JOIST_ATTRIBUTE_STEP, d) + 1);
  }
  lengthen(b, i, &attributes);
  ids[0] = joist_batch_varying(b, i->operand[0]);
  ids[1] = values_for(b, i->operand[1], selected);
  return joist_batch_apply(b, i, ids, &attributes.own);
}

/* Where each slice has its own number around it, a padded mask says where that goes. */
static joist_value_id pad(struct batching *b, const struct joist_instruction *i,
                          joist_value_id *ids) {
  struct longer attributes;
  const joist_value_id value = i->operand[1];
  const struct joist_type truth = {JOIST_BOOL, false};
  lengthen(b, i, &attributes);
  ids[0] = joist_batch_varying(b, i->operand[0]);
  ids[1] =
      b->varies[value] ? joist_batch_number(b, b->from->values[value].type, 1) : b->value[value];
  const joist_value_id padded = joist_batch_apply(b, i, ids, &attributes.own);
  if (!b->varies[value] || b->status != JOIST_OK) return padded;
  const struct joist_shape inside = batch_value(b, ids[0])->shape;
  const struct joist_shape outside = batch_value(b, padded)->shape;
  const joist_value_id mask[] = {joist_batch_broadcast(b, joist_batch_number(b, truth, 1), &inside),
                                 joist_batch_number(b, truth, 0)};
  const joist_value_id own = joist_batch_emit(b, JOIST_OP_PAD, mask, 2, &attributes.own);
  const joist_value_id other = joist_batch_converted(
      b, joist_batch_aligned(b, value, outside.rank - 1), b->from->values[i->result].type);
  const joist_value_id choice[] = {own, padded, other};
  return joist_batch_emit(b, JOIST_OP_IFELSE, choice, 3, &joist_batch_none);
}

/* ---- positions ---- */

/* Positions from 0 on in each of some columns of n elements, as positions in all of them; what is
 * out of range stays so. `columns` has the rank of the positions, and extents that broadcast. */
static joist_value_id positions_in(struct batching *b, joist_value_id positions, size_t n,
                                   joist_value_id columns) {
  const joist_value_id count = joist_batch_number(b, i64, (double)n);
  const joist_value_id none = joist_batch_number(b, i64, -1), zero = joist_batch_number(b, i64, 0);
  const joist_value_id valid =
      joist_batch_emit2(b, JOIST_OP_AND, joist_batch_emit2(b, JOIST_OP_GE, positions, zero),
                        joist_batch_emit2(b, JOIST_OP_LT, positions, count));
  const joist_value_id all = joist_batch_emit2(b, JOIST_OP_ADD, positions,
                                               joist_batch_emit2(b, JOIST_OP_MUL, columns, count));
  const joist_value_id choice[] = {valid, all, none};
  return joist_batch_emit(b, JOIST_OP_IFELSE, choice, 3, &joist_batch_none);
}

/* Of an index into slices of n elements: positions in all of them. */
static joist_value_id positions_of(struct batching *b, joist_value_id index, size_t n) {
  const struct joist_shape shape = lines(count_of(b, index), slices(b));
  const joist_value_id own = joist_batch_reshaped(b, joist_batch_varying(b, index), &shape);
  return positions_in(b, own, n, joist_batch_numbers(b, JOIST_I64, 0, 2, slices(b)));
}

static joist_value_id take(struct batching *b, const struct joist_instruction *i,
                           joist_value_id *ids) {
  const joist_value_id x = i->operand[0], index = i->operand[1];
  ids[0] = b->value[x];
  ids[1] = !b->varies[x] ? b->value[index] : positions_of(b, index, count_of(b, x));
  return joist_batch_apply(b, i, ids, i->attributes);
}

/* Values at positions of slices, or rows of values at rows. Several values for one position keep
 * their order. */
static joist_value_id put(struct batching *b, const struct joist_instruction *i,
                          joist_value_id *ids) {
  const joist_value_id x = i->operand[0], index = i->operand[1], value = i->operand[2];
  const size_t n = count_of(b, index), elements = count_of(b, x);
  const struct joist_shape *const shape = own_shape(b, x);
  const bool scatters = i->op != JOIST_OP_PUT;
  const size_t columns = scatters ? joist_shape_columns(shape, n, own_shape(b, value)) : 1;
  ids[0] = joist_batch_varying(b, x);
  if (columns != 1 && !b->varies[index]) {
    ids[1] = b->value[index];
    ids[2] = joist_batch_varying(b, value);
  } else if (columns != 1) {
    const struct joist_shape each_row = {3, {(uint32_t)n, 1, slices(b)}};
    const struct joist_shape each_column = {3, {1, (uint32_t)columns, slices(b)}};
    const struct joist_shape flat = {1, {(uint32_t)(n * columns * slices(b))}};
    const joist_value_id numbers = joist_batch_reshaped(
        b, joist_batch_numbers(b, JOIST_I64, 0, 1, (uint32_t)columns * slices(b)), &each_column);
    ids[1] = positions_in(b, joist_batch_reshaped(b, b->value[index], &each_row), shape->extent[0],
                          numbers);
    ids[2] = joist_batch_reshaped(b, joist_batch_varying(b, value), &flat);
  } else if (scatters && !b->varies[index]) {
    const struct joist_shape all = lines(elements, slices(b)), flat = {1, {(uint32_t)n}};
    const struct joist_shape rows = lines(n, slices(b));
    ids[0] = joist_batch_reshaped(b, ids[0], &all);
    ids[1] = joist_batch_reshaped(b, b->value[index], &flat);
    ids[2] = values_for(b, value, n);
    if (b->status == JOIST_OK && batch_value(b, ids[2])->shape.rank == 0) {
      const struct joist_shape one = lines(1, 1);
      ids[2] = joist_batch_broadcast(b, joist_batch_reshaped(b, ids[2], &one), &rows);
    }
  } else {
    const struct joist_shape flat = {1, {(uint32_t)(n * slices(b))}};
    ids[1] = joist_batch_reshaped(b, positions_of(b, index, elements), &flat);
    ids[2] = values_for(b, value, n);
    if (b->status == JOIST_OK && batch_value(b, ids[2])->shape.rank > 0)
      ids[2] = joist_batch_reshaped(b, ids[2], &flat);
  }
  return joist_batch_apply(b, i, ids, i->attributes);
}

/* x has slices, and so has an index: lines along the dim are taken from. */
static joist_value_id gather_lines(struct batching *b, const struct joist_instruction *i, int dim) {
  const joist_value_id x = i->operand[0], index = i->operand[1];
  const uint32_t n = (uint32_t)count_of(b, index);
  struct joist_shape all = batch_value(b, b->value[x])->shape, own = all;
  for (int d = 0; d < all.rank - 1; d++) own.extent[d] = d == dim ? n : 1;
  all.extent[dim] = n;
  const joist_value_id lower = joist_batch_number(b, i64, 0);
  const joist_value_id upper = joist_batch_number(b, i64, own_shape(b, x)->extent[dim] + 1.0);
  const joist_value_id clamp[] = {
      lower, joist_batch_converted(b, joist_batch_reshaped(b, b->value[index], &own), i64), upper};
  const joist_value_id at = joist_batch_converted(
      b, joist_batch_emit(b, JOIST_OP_CLAMP, clamp, 3, &joist_batch_none), i32);
  const joist_value_id ids[] = {b->value[x], joist_batch_broadcast(b, at, &all)};
  struct joist_attributes attributes = joist_batch_none;
  joist_attributes_set(&attributes, JOIST_ATTRIBUTE_DIM, dim);
  return joist_batch_emit(b, JOIST_OP_TAKE_ALONG, ids, 2, &attributes);
}

static joist_value_id gather(struct batching *b, const struct joist_instruction *i,
                             joist_value_id *ids) {
  const joist_value_id x = i->operand[0], index = i->operand[1];
  const int dim = joist_attribute_dim(i->attributes), rank = own_shape(b, i->result)->rank;
  if (b->varies[x] && b->varies[index]) return gather_lines(b, i, dim);
  ids[0] = b->value[x];
  ids[1] = b->value[index];
  joist_value_id made = joist_batch_apply(b, i, ids, i->attributes);
  const int at = dim + own_shape(b, index)->rank; /* where the slices lie */
  if (b->varies[x] || at == rank) return made;
  int64_t dims[JOIST_RANK_MAX];
  for (int d = 0; d < rank; d++) dims[d] = d < at ? d : d + 1;
  dims[rank] = at;
  return joist_batch_permuted(b, made, dims);
}

/* ---- programs ---- */

static joist_value_id first(struct batching *b, const struct joist_instruction *i,
                            joist_value_id *ids) {
  struct joist_attributes attributes = joist_attributes_copied(i->attributes);
  for (uint32_t k = 0; k < i->operand_count; k++) ids[k] = b->value[i->operand[k]];
  if (i->op == JOIST_OP_REQUIRE && b->varies[i->operand[1]])
    ids[1] = joist_batch_fold(b, JOIST_OP_REDUCE_ALL, ids[1]);
  for (uint32_t k = 0; k < attributes.count; k++)
    for (size_t m = 0; attributes.item[k].name == JOIST_ATTRIBUTE_MARK && m < b->batch->mark_count;
         m++)
      if (b->batch->marks[m] == i->attributes->item[k].one)
        attributes.item[k].one = b->batch->new_marks[m];
  return joist_batch_apply(b, i, ids, &attributes);
}

static joist_value_id table(struct batching *b, const struct joist_instruction *i,
                            joist_value_id *ids) {
  const uint32_t at = i->op == JOIST_OP_SEARCHSORTED ? 0 : 1;
  if (b->varies[i->operand[at]]) return joist_batch_apart(b, i);
  for (uint32_t k = 0; k < i->operand_count; k++) ids[k] = b->value[i->operand[k]];
  return joist_batch_apply(b, i, ids, i->attributes);
}

/* The first result, for slices; those of operations with bodies are noted there. */
static joist_value_id by_rule(struct batching *b, const struct joist_instruction *i,
                              joist_value_id *ids) {
  switch (joist_op_batch_rule(i->op)) {
    case JOIST_BATCH_EACH:
      return each(b, i, ids);
    case JOIST_BATCH_FULL:
      return full(b, i, ids);
    case JOIST_BATCH_TRAIL:
      return trail(b, i, ids);
    case JOIST_BATCH_MATRICES:
      return matrices(b, i, ids);
    case JOIST_BATCH_JOIN:
      return join(b, i, ids);
    case JOIST_BATCH_UPDATE:
      return update(b, i, ids);
    case JOIST_BATCH_PAD:
      return pad(b, i, ids);
    case JOIST_BATCH_TAKE:
      return take(b, i, ids);
    case JOIST_BATCH_PUT:
      return put(b, i, ids);
    case JOIST_BATCH_GATHER:
      return gather(b, i, ids);
    case JOIST_BATCH_TABLE:
      return table(b, i, ids);
    case JOIST_BATCH_FIRST:
      return first(b, i, ids);
    case JOIST_BATCH_APART:
      return joist_batch_apart(b, i);
    case JOIST_BATCH_WHILE:
    case JOIST_BATCH_FOR:
    case JOIST_BATCH_SCAN:
    case JOIST_BATCH_IF:
      break;
  }
  return 0;
}

static void add(struct batching *b, const struct joist_instruction *i, joist_value_id *ids) {
  const bool varies = i->result_count > 0 && b->varies[i->result];
  bool any = varies;
  for (uint32_t k = 0; k < i->operand_count; k++) any |= b->varies[i->operand[k]];
  b->source = i->source;
  if (i->region_count > 0) {
    joist_batch_bodies(b, i);
    return;
  }
  joist_value_id made;
  if (any) {
    made = by_rule(b, i, ids);
  } else {
    for (uint32_t k = 0; k < i->operand_count; k++) ids[k] = b->value[i->operand[k]];
    made = joist_batch_apply(b, i, ids, i->attributes);
  }
  for (uint32_t r = 0; r < i->result_count && b->status == JOIST_OK; r++) {
    const joist_value_id v = i->result + r;
    b->value[v] = made + r;
    if (!varies) continue;
    const struct joist_shape shape = joist_batch_longer(b, own_shape(b, v), slices(b));
    b->value[v] = joist_batch_reshaped(b, made + r, &shape);
  }
}

joist_status joist_program_batch(struct joist_program *program, const struct joist_program *from,
                                 const struct joist_batch *batch, const joist_value_id *inputs,
                                 const bool *varies, joist_value_id *outputs,
                                 const bool *outputs_vary, struct joist_error *error) {
  uint32_t most = 0;
  for (uint32_t k = 0; k < from->instruction_count; k++)
    if (from->instructions[k].operand_count > most) most = from->instructions[k].operand_count;
  struct batching b = {.program = program, .from = from, .batch = batch, .error = error};
  b.value = calloc(from->value_count + most + 1, sizeof *b.value);
  b.varies = calloc(2 * (size_t)from->value_count + 2, sizeof *b.varies);
  bool *const needed = b.varies == NULL ? NULL : b.varies + from->value_count + 1;
  if (b.value == NULL || b.varies == NULL) b.status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  for (uint32_t v = 0; v < from->value_count && b.status == JOIST_OK; v++) {
    const uint32_t input = from->values[v].input;
    if (input == JOIST_NO_INPUT) continue;
    b.value[v] = inputs[input];
    b.varies[v] = varies[input];
  }
  if (b.status == JOIST_OK) b.status = joist_batch_flow(from, b.varies, error);
  if (b.status == JOIST_OK) joist_program_mark_needed(from, needed);
  for (uint32_t k = 0; k < from->instruction_count && b.status == JOIST_OK; k++)
    if (joist_is_needed(&from->instructions[k], needed))
      add(&b, &from->instructions[k], b.value + from->value_count);
  for (uint32_t k = 0; k < from->output_count && b.status == JOIST_OK; k++) {
    const joist_value_id v = from->outputs[k];
    outputs[k] = outputs_vary != NULL && outputs_vary[k] ? joist_batch_varying(&b, v) : b.value[v];
  }
  free(b.value);
  free(b.varies);
  return b.status;
}
