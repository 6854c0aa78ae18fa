/* What an operation is told besides its operands: named, typed values, of any number and length.
 * Lists are not copied when they are set: the caller keeps them. A program copies what it takes. */
#ifndef JOIST_CORE_PROGRAM_ATTRIBUTES_H
#define JOIST_CORE_PROGRAM_ATTRIBUTES_H

#include "core/base/status.h"
#include "core/types/dtypes.h"
#include "core/types/shape.h"

typedef enum {
#define ATTRIBUTE(ID, NAME, KIND, OTHERWISE) JOIST_ATTRIBUTE_##ID,
#include "core/program/attributes.def"
  JOIST_ATTRIBUTE_COUNT
} joist_attribute_name;

typedef enum {
  JOIST_ATTRIBUTE_IS_DIM,
  JOIST_ATTRIBUTE_IS_DIMS,
  JOIST_ATTRIBUTE_IS_POSITIONS,
  JOIST_ATTRIBUTE_IS_FLAG,
  JOIST_ATTRIBUTE_IS_COUNT,
  JOIST_ATTRIBUTE_IS_COUNTS,
  JOIST_ATTRIBUTE_IS_EXTENTS,
  JOIST_ATTRIBUTE_IS_NUMBER,
  JOIST_ATTRIBUTE_IS_DTYPE
} joist_attribute_kind;

enum {
  JOIST_ATTRIBUTES_MAX = 6, /* of one operation */
  JOIST_AMBIGUOUS = 1 << 8  /* added to a DTYPE */
};

struct joist_attribute {
  joist_attribute_name name;
  uint32_t count;
  const int64_t *list; /* NULL where the one value is `one` */
  int64_t one;
};

/* Those that are given, in the order of their names. */
struct joist_attributes {
  uint32_t count;
  struct joist_attribute item[JOIST_ATTRIBUTES_MAX];
};

const char *joist_attribute_text(joist_attribute_name name);
joist_attribute_kind joist_attribute_kind_of(joist_attribute_name name);
/* JOIST_ATTRIBUTE_COUNT when there is no such name. */
joist_attribute_name joist_attribute_parse(const char *text);

/* ---- making ---- */

/* A copy of an instruction's attributes that may be changed. A program stores only `count` items:
 * its struct must not be copied as a whole. */
struct joist_attributes joist_attributes_copied(const struct joist_attributes *kept);

void joist_attributes_set(struct joist_attributes *attributes, joist_attribute_name name,
                          int64_t value);
void joist_attributes_set_list(struct joist_attributes *attributes, joist_attribute_name name,
                               const int64_t *list, size_t count);
void joist_attributes_set_type(struct joist_attributes *attributes, struct joist_type type);
void joist_attributes_set_number(struct joist_attributes *attributes, joist_attribute_name name,
                                 double number);
/* Writes the extents to `room`, which the attributes refer to. */
void joist_attributes_set_shape(struct joist_attributes *attributes,
                                const struct joist_shape *shape, int64_t room[JOIST_RANK_MAX]);

/* ---- reading ---- */

/* NULL when it is not given. */
const struct joist_attribute *joist_attributes_find(const struct joist_attributes *attributes,
                                                    joist_attribute_name name);
/* The value, or what stands for it when it is not given. */
int64_t joist_attribute_value(const struct joist_attributes *attributes, joist_attribute_name name);
bool joist_attribute_flag(const struct joist_attributes *attributes, joist_attribute_name name);
/* DIM: -1 for all elements. */
int joist_attribute_dim(const struct joist_attributes *attributes);
double joist_attribute_number(const struct joist_attributes *attributes, joist_attribute_name name);
/* Element d of a list that has one for every dim; otherwise the element of a list that is not
 * given. */
int64_t joist_attribute_at(const struct joist_attributes *attributes, joist_attribute_name name,
                           int d);
uint32_t joist_attribute_length(const struct joist_attributes *attributes,
                                joist_attribute_name name);
/* JOIST_ERROR_SHAPE if it is given but does not have one element for each of `rank` dims. */
joist_status joist_attribute_check_rank(const struct joist_attributes *attributes,
                                        joist_attribute_name name, int rank,
                                        struct joist_error *error) JOIST_MUST_CHECK;
/* DTYPE: JOIST_DTYPE_NONE when it is not given. */
struct joist_type joist_attribute_type(const struct joist_attributes *attributes);
/* SHAPE; false when it is not given. */
bool joist_attribute_shape(const struct joist_attributes *attributes, struct joist_shape *shape);
/* DIMS as bits. */
uint32_t joist_attribute_mask(const struct joist_attributes *attributes);

bool joist_attributes_equal(const struct joist_attributes *lhs, const struct joist_attributes *rhs);
uint64_t joist_attributes_hash(const struct joist_attributes *attributes, uint64_t hash);

#endif
