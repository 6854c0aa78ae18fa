/* .Call entry points of GGUF files. */
#ifndef JOIST_R_GGUF_H
#define JOIST_R_GGUF_H

#include "r/base/sexp.h"

/* The header of a file as a list: version, big_endian, names, types, codes, shapes, bytes, bits of
 * an element, offsets, metadata. */
SEXP joist_r_gguf(SEXP path);
/* A list of the tensors at positions from 1 on. Blocks and types that are not known, and with `raw`
 * all, are the bytes that they have in the file. */
SEXP joist_r_read_gguf(SEXP path, SEXP positions, SEXP raw, SEXP map);

/* The block types: a list of their name, code, elements and bytes of a block. */
SEXP joist_r_block_types(void);

/* The code of tensors of a dtype, or NULL. */
SEXP joist_r_gguf_code(SEXP dtype);
/* Writes a header and tensors, aligned; NULL. */
SEXP joist_r_write_gguf(SEXP path, SEXP header, SEXP tensors, SEXP alignment, SEXP swapped);

#endif
