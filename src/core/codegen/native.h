/* What generated C code and the engine that calls it have in common. Generated code includes this
 * header, so it includes nothing else of joist. */
#ifndef JOIST_CORE_CODEGEN_NATIVE_H
#define JOIST_CORE_CODEGEN_NATIVE_H

#include <stddef.h>
#include <stdint.h>

/* A run of a loop. The functions return 0, or another number after which the caller returns it. */
struct joist_native {
  void **const *tables; /* per body of the nest: the array of each value; see nest.h */
  char *block;          /* memory of the nest, whose places are constants of the code */
  int64_t first_turn;   /* of a `for`, from 1; of a `scan`, from 0 */
  uint32_t work;        /* elements since the last poll */
  uint8_t wrapped;      /* becomes 1 where a value that is watched does not fit */
  int (*poll)(struct joist_native *);
  /* Runs a group of a body by the interpreter, on the arrays of its table. */
  int (*group)(struct joist_native *, uint32_t body, uint32_t group);
  /* The fold of each operation, dtype and accumulator that the code asks for; see kernel.h. */
  void (*const *folds)(size_t runs, size_t n, const void *in, void *out);
  /* The same for rows: of an array of inner x middle x outer elements, over `middle`. */
  void (*fold_rows)(struct joist_native *, uint32_t fold, size_t inner, size_t middle, size_t outer,
                    const void *in, void *out);
  /* By the numbers in the text: how many such values were counted, which set no flag, and the first
   * of them in its array, not changed for what has one element. */
  size_t *lost, *first;
};

typedef int joist_native_loop(struct joist_native *);

enum { JOIST_NATIVE_SINKS = 32 }; /* of a part, at most */

/* Elements first .. first + n - 1 of a group. `arrays` has the array of every value, `folded` where
 * the n elements that each sink folds go, but for those that are an array. `*wrapped` becomes 1
 * where a value that is watched does not fit. */
typedef void joist_native_part(size_t first, size_t n, void *const *arrays, void *const *folded,
                               uint8_t *wrapped);

/* Seen from outside of the shared object, whatever the compiler's flags are. */
#ifdef __GNUC__
#define JOIST_EXPORT __attribute__((visibility("default")))
#else
#define JOIST_EXPORT
#endif

/* The name of the function that a source text defines. */
#define JOIST_NATIVE_NAME "joist_generated"

#endif
