/* Attributes of operations. */
#include "core/program/attributes.h"

#include <string.h>

#include "core/base/bits.h"
#include "core/types/error.h"

static const struct {
  const char *text;
  joist_attribute_kind kind;
  int64_t otherwise;
} facts[JOIST_ATTRIBUTE_COUNT] = {
#define ATTRIBUTE(ID, NAME, KIND, OTHERWISE) {NAME, JOIST_ATTRIBUTE_IS_##KIND, OTHERWISE},
#include "core/program/attributes.def"
};

const char *joist_attribute_text(joist_attribute_name name) { return facts[name].text; }

joist_attribute_kind joist_attribute_kind_of(joist_attribute_name name) { return facts[name].kind; }

joist_attribute_name joist_attribute_parse(const char *text) {
  int name = 0;
  while (name < JOIST_ATTRIBUTE_COUNT && strcmp(text, facts[name].text) != 0) name++;
  return (joist_attribute_name)name;
}

/* A new place, in the order of the names; an attribute is set once. */
static struct joist_attribute *add(struct joist_attributes *attributes, joist_attribute_name name) {
  uint32_t at = attributes->count++;
  for (; at > 0 && attributes->item[at - 1].name > name; at--)
    attributes->item[at] = attributes->item[at - 1];
  attributes->item[at] = (struct joist_attribute){.name = name};
  return &attributes->item[at];
}

struct joist_attributes joist_attributes_copied(const struct joist_attributes *kept) {
  struct joist_attributes copy = {.count = kept->count};
  memcpy(copy.item, kept->item, kept->count * sizeof *kept->item);
  return copy;
}

void joist_attributes_set(struct joist_attributes *attributes, joist_attribute_name name,
                          int64_t value) {
  struct joist_attribute *const item = add(attributes, name);
  item->count = 1;
  item->one = value;
}

void joist_attributes_set_list(struct joist_attributes *attributes, joist_attribute_name name,
                               const int64_t *list, size_t count) {
  struct joist_attribute *const item = add(attributes, name);
  item->count = (uint32_t)count;
  item->list = list;
}

void joist_attributes_set_type(struct joist_attributes *attributes, struct joist_type type) {
  joist_attributes_set(attributes, JOIST_ATTRIBUTE_DTYPE,
                       (int64_t)type.dtype + (type.ambiguous ? JOIST_AMBIGUOUS : 0));
}

void joist_attributes_set_number(struct joist_attributes *attributes, joist_attribute_name name,
                                 double number) {
  int64_t bits;
  memcpy(&bits, &number, sizeof bits);
  joist_attributes_set(attributes, name, bits);
}

void joist_attributes_set_shape(struct joist_attributes *attributes,
                                const struct joist_shape *shape, int64_t room[JOIST_RANK_MAX]) {
  for (int d = 0; d < shape->rank; d++) room[d] = shape->extent[d];
  joist_attributes_set_list(attributes, JOIST_ATTRIBUTE_SHAPE, room, (size_t)shape->rank);
}

const struct joist_attribute *joist_attributes_find(const struct joist_attributes *attributes,
                                                    joist_attribute_name name) {
  for (uint32_t k = 0; k < attributes->count; k++)
    if (attributes->item[k].name == name) return &attributes->item[k];
  return NULL;
}

static int64_t element(const struct joist_attribute *item, uint32_t k) {
  return item->list != NULL ? item->list[k] : item->one;
}

int64_t joist_attribute_value(const struct joist_attributes *attributes,
                              joist_attribute_name name) {
  const struct joist_attribute *const item = joist_attributes_find(attributes, name);
  return item != NULL && item->count > 0 ? element(item, 0) : facts[name].otherwise;
}

bool joist_attribute_flag(const struct joist_attributes *attributes, joist_attribute_name name) {
  return joist_attribute_value(attributes, name) != 0;
}

int joist_attribute_dim(const struct joist_attributes *attributes) {
  return (int)joist_attribute_value(attributes, JOIST_ATTRIBUTE_DIM);
}

double joist_attribute_number(const struct joist_attributes *attributes,
                              joist_attribute_name name) {
  const int64_t bits = joist_attribute_value(attributes, name);
  double number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

int64_t joist_attribute_at(const struct joist_attributes *attributes, joist_attribute_name name,
                           int d) {
  const struct joist_attribute *const item = joist_attributes_find(attributes, name);
  return item != NULL && (uint32_t)d < item->count ? element(item, (uint32_t)d)
                                                   : facts[name].otherwise;
}

uint32_t joist_attribute_length(const struct joist_attributes *attributes,
                                joist_attribute_name name) {
  const struct joist_attribute *const item = joist_attributes_find(attributes, name);
  return item == NULL ? 0 : item->count;
}

joist_status joist_attribute_check_rank(const struct joist_attributes *attributes,
                                        joist_attribute_name name, int rank,
                                        struct joist_error *error) {
  const struct joist_attribute *const item = joist_attributes_find(attributes, name);
  if (item == NULL || item->count == (uint32_t)rank) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_ATTRIBUTE_LENGTH, .name = {facts[name].text},
                    .count = {item->count, (size_t)rank});
}

struct joist_type joist_attribute_type(const struct joist_attributes *attributes) {
  const struct joist_attribute *const item =
      joist_attributes_find(attributes, JOIST_ATTRIBUTE_DTYPE);
  if (item == NULL) return (struct joist_type){JOIST_DTYPE_NONE, false};
  return (struct joist_type){(joist_dtype)(item->one % JOIST_AMBIGUOUS),
                             item->one >= JOIST_AMBIGUOUS};
}

bool joist_attribute_shape(const struct joist_attributes *attributes, struct joist_shape *shape) {
  const struct joist_attribute *const item =
      joist_attributes_find(attributes, JOIST_ATTRIBUTE_SHAPE);
  *shape = (struct joist_shape){.rank = 0};
  if (item == NULL) return false;
  shape->rank = (int)item->count;
  for (uint32_t d = 0; d < item->count; d++) shape->extent[d] = (uint32_t)element(item, d);
  return true;
}

uint32_t joist_attribute_mask(const struct joist_attributes *attributes) {
  const struct joist_attribute *const item =
      joist_attributes_find(attributes, JOIST_ATTRIBUTE_DIMS);
  uint32_t mask = 0;
  for (uint32_t k = 0; item != NULL && k < item->count; k++)
    mask |= UINT32_C(1) << joist_smaller((size_t)element(item, k), 31); /* callers check it */
  return mask;
}

bool joist_attributes_equal(const struct joist_attributes *lhs,
                            const struct joist_attributes *rhs) {
  if (lhs->count != rhs->count) return false;
  for (uint32_t k = 0; k < lhs->count; k++) {
    const struct joist_attribute *const a = &lhs->item[k], *const b = &rhs->item[k];
    if (a->name != b->name || a->count != b->count) return false;
    for (uint32_t e = 0; e < a->count; e++)
      if (element(a, e) != element(b, e)) return false;
  }
  return true;
}

uint64_t joist_attributes_hash(const struct joist_attributes *attributes, uint64_t hash) {
  for (uint32_t k = 0; k < attributes->count; k++) {
    const struct joist_attribute *const item = &attributes->item[k];
    hash = joist_hash_word(hash, (uint64_t)item->name);
    hash = joist_hash_word(hash, item->count);
    for (uint32_t e = 0; e < item->count; e++)
      hash = joist_hash_word(hash, (uint64_t)element(item, e));
  }
  return hash;
}
