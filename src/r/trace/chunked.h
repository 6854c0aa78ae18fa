/* Chunked tensors as R has them, and the programs that they stand for.
 *
 * A chunked tensor is an abstract one of class nv_chunked with the attributes `chunks`, the extents
 * of its blocks, `leaves`, and `program`: the text of a program (see recorded.h) whose
 * inputs are the leaves and whose output is the tensor. One without a program is its only leaf.
 *
 * A leaf is a list: an `array` in a store, or a `tensor`, with `chunks` unless it is in memory as a
 * whole; or a chunked tensor `of` whose parts it is combined from, with `folded` dims and `drop`.
 * Two leaves are one if they are the same object or have the same `id`. */
#ifndef JOIST_R_CHUNKED_H
#define JOIST_R_CHUNKED_H

#include "core/program/program.h"
#include "r/base/sexp.h"

/* A program under construction. The caller protects `owner`, which holds it and its leaves. */
struct joist_r_chunked {
  SEXP owner;
  struct joist_program *program;
};

struct joist_r_chunked joist_r_chunked_begin(void);
/* Begins with the value of a chunked tensor: at the end of its program, if that has not been
 * continued yet, or of a copy. Either way the program is the same. */
struct joist_r_chunked joist_r_chunked_continue(SEXP x, joist_value_id *value);
/* Whether a chunked tensor has no program. */
bool joist_r_chunked_is_leaf(SEXP x);
/* The leaves, at least as many as the program has inputs. */
SEXP joist_r_chunked_leaves(const struct joist_r_chunked *chunked);
/* The value that a chunked tensor is, with what it is computed from. What is there is not added
 * again. */
joist_value_id joist_r_chunked_add(const struct joist_r_chunked *chunked, SEXP x);
/* The value of a leaf. */
joist_value_id joist_r_chunked_leaf(const struct joist_r_chunked *chunked, SEXP leaf,
                                    struct joist_type type, const struct joist_shape *shape);
/* A value as a chunked tensor, with blocks of the extents `chunks`. */
SEXP joist_r_chunked_tensor(const struct joist_r_chunked *chunked, joist_value_id value,
                            const uint32_t *chunks);

/* The element of a list by its name; NULL if there is none. */
SEXP joist_r_list_element(SEXP list, const char *name);
/* The extents of the blocks of a chunked tensor or a leaf of this rank, NULL for a leaf that has
 * none; raises joist_shape_error unless there is one for each dim. */
const uint32_t *joist_r_chunks(SEXP x, int rank);
SEXP joist_r_integers(const uint32_t *from, int n);

#endif
