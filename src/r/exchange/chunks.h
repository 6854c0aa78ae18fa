/* The chunks of chunked arrays: elements in memory as the bytes of a chunk. */
#ifndef JOIST_R_CHUNKS_H
#define JOIST_R_CHUNKS_H

#include "r/base/sexp.h"

/* .Call entry points. A tensor of a raw vector, and a raw vector of a tensor; `c_order` has the
 * last extent as the fastest. */
SEXP joist_r_from_chunk(SEXP bytes, SEXP dtype, SEXP shape, SEXP c_order, SEXP swapped);
SEXP joist_r_to_chunk(SEXP x, SEXP c_order, SEXP swapped);
/* A list of the tensors in files: of one that is not there NULL, of one that is broken FALSE. And
 * tensors to files. `codecs` are names, in the order in which they pack; `parts` is NULL or the
 * offset and the size of each chunk in its file. `low` is NULL, to read whole chunks, or a matrix
 * of where the box to be read of each chunk begins, counted from 0; then `extents` is one of the
 * extents of these boxes. */
SEXP joist_r_read_chunks(SEXP paths, SEXP parts, SEXP codecs, SEXP dtype, SEXP shape, SEXP c_order,
                         SEXP swapped, SEXP low, SEXP extents);
/* The offset and the size of each chunk of a shard, NaN for one that is not there. */
SEXP joist_r_shard_index(SEXP bytes, SEXP swapped);
SEXP joist_r_write_chunks(SEXP tensors, SEXP paths, SEXP codecs, SEXP c_order, SEXP swapped);
/* A list of the bytes of all tensors, one after the other, and of how many each has. */
SEXP joist_r_pack_chunks(SEXP tensors, SEXP codecs, SEXP c_order, SEXP swapped);
/* A tensor with undefined elements. */
SEXP joist_r_blank(SEXP type);
/* x with a part put at the position `start`, the dims of the part reversed if `turned`; in place if
 * x has at most one reference. A promise is one: pass an expression to .Call(), not an argument of
 * an R function. A part that replaces all of x is returned itself. */
SEXP joist_r_place(SEXP x, SEXP start, SEXP part, SEXP turned);
/* A raw vector of up to `size` bytes of a file, starting at `from`, which counts back from the end
 * if it is negative. NULL if there is no such file. */
SEXP joist_r_file_bytes(SEXP path, SEXP from, SEXP size);
/* The names of the codecs that this build has. */
SEXP joist_r_codecs(void);
/* A raw vector unpacked, of at most so many bytes, NULL for one that is broken or has more; and
 * packed, of elements of so many bytes. */
SEXP joist_r_unpack(SEXP codec, SEXP bytes, SEXP most);
SEXP joist_r_pack(SEXP codec, SEXP bytes, SEXP size);
/* "crc32", "crc32c" or "adler32" of a raw vector or of the elements of a tensor in memory, as four
 * bytes, the lowest first. */
SEXP joist_r_checksum(SEXP name, SEXP x);

#endif
