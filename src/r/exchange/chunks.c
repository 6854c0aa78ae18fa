/* Makes tensors of chunks, and chunks of tensors; puts parts into tensors. */
#include "r/exchange/chunks.h"

#include <errno.h>
#include <string.h>

#include "core/files/checksum.h"
#include "core/files/chunk.h"
#include "core/ops/move/place.h"
#include "r/arrays/assign.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/exchange/files.h"
#include "r/memory/open_file.h"
#include "r/memory/payload.h"
#include "r/memory/run.h"
#include "r/tensor/dtypes.h"
#include "r/tensor/rules.h"

SEXP joist_r_from_chunk(SEXP bytes, SEXP dtype, SEXP shape, SEXP c_order, SEXP swapped) {
  struct joist_r_input input;
  struct joist_elements elements = {.dtype = joist_r_dtype(dtype),
                                    .swapped = joist_r_flag(swapped, "swapped"),
                                    .c_order = joist_r_flag(c_order, "c_order")};
  joist_r_shape(shape, &elements.shape);
  PROTECT(joist_r_open_input(R_NilValue, bytes, &input));
  struct joist_error error;
  joist_r_raise_if(joist_elements_check("Zarr", &elements, input.size, true, &error), &error);
  SEXP tensor = joist_r_read_elements(&elements, &input, false);
  UNPROTECT(1);
  return tensor;
}

SEXP joist_r_to_chunk(SEXP x, SEXP c_order, SEXP swapped) {
  struct joist_r_value value;
  SEXP kept = PROTECT(joist_r_read_to_write(x, &value));
  const struct joist_elements elements = joist_r_elements_of(&value, c_order, swapped);
  SEXP result = joist_r_write(R_NilValue, NULL, 0, &elements, &value.data, 1);
  (void)kept;
  UNPROTECT(1);
  return result;
}

/* ---- several at a time ---- */

static const struct joist_compression *codec_named(const char *name) {
  const struct joist_compression *found = NULL;
  for (size_t k = 0; (found = joist_compression_at(k)) != NULL; k++)
    if (strcmp(found->name, name) == 0) return found;
  joist_r_stop(JOIST_ERROR_VALUE, "this build of joist has no codec %s", name);
}

/* The codecs of chunks, and n whole ones: transient memory. */
static struct joist_chunk *chunks_of(R_xlen_t n, SEXP codecs, struct joist_chunk_format *format) {
  format->codecs = (size_t)XLENGTH(codecs);
  if (format->codecs > JOIST_CHUNK_CODECS)
    joist_r_stop(JOIST_ERROR_VALUE, "chunks with more than %d codecs", JOIST_CHUNK_CODECS);
  for (size_t k = 0; k < format->codecs; k++)
    format->codec[k] = codec_named(CHAR(STRING_ELT(codecs, (R_xlen_t)k)));
  struct joist_chunk *const chunks =
      (struct joist_chunk *)R_alloc((size_t)(n > 0 ? n : 1), (int)sizeof *chunks);
  for (R_xlen_t k = 0; k < n; k++) chunks[k] = (struct joist_chunk){.size = SIZE_MAX};
  return chunks;
}

static struct joist_chunk *chunks_at(SEXP paths, SEXP codecs, struct joist_chunk_format *format) {
  const R_xlen_t n = XLENGTH(paths);
  struct joist_chunk *const chunks = chunks_of(n, codecs, format);
  for (R_xlen_t k = 0; k < n; k++) chunks[k].path = joist_r_path_as_it_is(STRING_ELT(paths, k));
  return chunks;
}

/* Where chunks are within shards: the offset and the size of each; NULL for files of their own. */
static void set_parts(SEXP parts, struct joist_chunk *chunks, R_xlen_t n) {
  if (parts == R_NilValue) return;
  if (TYPEOF(parts) != REALSXP || XLENGTH(parts) != 2 * n)
    joist_r_stop(JOIST_ERROR_VALUE, "`parts` must have an offset and a size for each chunk");
  for (R_xlen_t k = 0; k < n; k++) {
    const double from = REAL(parts)[2 * k], size = REAL(parts)[2 * k + 1];
    if (!(from >= 0 && from < 0x1p63 && size >= 0 && size < 0x1p63))
      joist_r_stop(JOIST_ERROR_VALUE, "a chunk must be within its file");
    chunks[k].from = (uint64_t)from;
    chunks[k].size = (size_t)size;
  }
}

/* What is wanted of chunks of a shape: see joist_r_read_chunks(). */
static void set_boxes(SEXP low, SEXP extents, const struct joist_shape *shape,
                      struct joist_chunk *chunks, R_xlen_t n) {
  if (low == R_NilValue) return;
  const R_xlen_t rank = shape->rank;
  if (TYPEOF(low) != INTSXP || TYPEOF(extents) != INTSXP || XLENGTH(low) != rank * n ||
      XLENGTH(extents) != rank * n)
    joist_r_stop(JOIST_ERROR_SHAPE, "a box must have a start and an extent for each dimension");
  for (R_xlen_t k = 0; k < n; k++) {
    const int *const from = INTEGER(low) + k * rank, *const own = INTEGER(extents) + k * rank;
    chunks[k].box.rank = shape->rank;
    for (int d = 0; d < shape->rank; d++) {
      const uint32_t extent = shape->extent[d];
      if (from[d] < 0 || own[d] < 1 || (uint32_t)own[d] > extent ||
          (uint32_t)from[d] > extent - (uint32_t)own[d])
        joist_r_stop(JOIST_ERROR_SHAPE, "a box must be within its chunk");
      chunks[k].box.extent[d] = (uint32_t)own[d];
    }
    if (!joist_shape_equal(&chunks[k].box, shape)) chunks[k].low = (const uint32_t *)from;
  }
}

static void needs_extents(struct joist_elements *elements) {
  struct joist_error error;
  joist_r_raise_if(joist_elements_check("Zarr", elements, UINT64_MAX, false, &error), &error);
}

SEXP joist_r_read_chunks(SEXP paths, SEXP parts, SEXP codecs, SEXP dtype, SEXP shape, SEXP c_order,
                         SEXP swapped, SEXP low, SEXP extents) {
  struct joist_chunk_format format = {.elements = {.dtype = joist_r_dtype(dtype),
                                                   .swapped = joist_r_flag(swapped, "swapped"),
                                                   .c_order = joist_r_flag(c_order, "c_order")}};
  joist_r_shape(shape, &format.elements.shape);
  needs_extents(&format.elements);
  const struct joist_type type = {format.elements.dtype, false};
  const R_xlen_t n = XLENGTH(paths);
  struct joist_chunk *const chunks = chunks_at(paths, codecs, &format);
  set_parts(parts, chunks, n);
  set_boxes(low, extents, &format.elements.shape, chunks, n);
  SEXP read = PROTECT(Rf_allocVector(VECSXP, n));
  for (R_xlen_t k = 0; k < n; k++) {
    const struct joist_elements elements = joist_chunk_box(&format, &chunks[k]);
    SEXP payload = PROTECT(joist_r_payload(type.dtype, elements.count));
    SET_VECTOR_ELT(read, k, joist_r_tensor(payload, type, &elements.shape));
    chunks[k].data = joist_r_elements(payload);
    UNPROTECT(1);
  }
  const struct joist_run run = joist_r_run();
  struct joist_error error;
  joist_r_raise_if(joist_chunks_read(&format, chunks, (size_t)n, &run, &error), &error);
  for (R_xlen_t k = 0; k < n; k++)
    if (chunks[k].state != JOIST_CHUNK_DONE)
      SET_VECTOR_ELT(read, k,
                     chunks[k].state == JOIST_CHUNK_ABSENT ? R_NilValue : Rf_ScalarLogical(FALSE));
  UNPROTECT(1);
  return read;
}

SEXP joist_r_shard_index(SEXP bytes, SEXP swapped) {
  joist_r_check_raw(bytes);
  const R_xlen_t n = XLENGTH(bytes) / 16;
  SEXP index = PROTECT(Rf_allocMatrix(REALSXP, 2, (int)n));
  struct joist_error error;
  joist_r_raise_if(joist_shard_index(RAW(bytes), (size_t)n, joist_r_flag(swapped, "swapped"),
                                     REAL(index), &error),
                   &error);
  UNPROTECT(1);
  return index;
}

/* The elements of a list of tensors, one for each chunk. Returns what keeps them. */
static SEXP set_elements(SEXP tensors, struct joist_chunk *chunks, R_xlen_t n, SEXP c_order,
                         SEXP swapped, struct joist_chunk_format *format) {
  if (TYPEOF(tensors) != VECSXP || XLENGTH(tensors) != n)
    joist_r_stop(JOIST_ERROR_VALUE, "chunks to write must be a list with a tensor for each path");
  SEXP kept = PROTECT(Rf_allocVector(VECSXP, n));
  for (R_xlen_t k = 0; k < n; k++) {
    struct joist_r_value value;
    SET_VECTOR_ELT(kept, k, joist_r_read_to_write(VECTOR_ELT(tensors, k), &value));
    const struct joist_elements elements = joist_r_elements_of(&value, c_order, swapped);
    if (k > 0 && (elements.dtype != format->elements.dtype ||
                  !joist_shape_equal(&elements.shape, &format->elements.shape)))
      joist_r_stop(JOIST_ERROR_SHAPE, "the chunks of an array must have one dtype and shape");
    format->elements = elements;
    chunks[k].data = (void *)value.data;
  }
  UNPROTECT(1);
  return kept;
}

SEXP joist_r_write_chunks(SEXP tensors, SEXP paths, SEXP codecs, SEXP c_order, SEXP swapped) {
  const R_xlen_t n = XLENGTH(paths);
  struct joist_chunk_format format = {0};
  struct joist_chunk *const chunks = chunks_at(paths, codecs, &format);
  SEXP kept = PROTECT(set_elements(tensors, chunks, n, c_order, swapped, &format));
  const struct joist_run run = joist_r_run();
  struct joist_error error;
  if (n > 0) joist_r_raise_if(joist_chunks_write(&format, chunks, (size_t)n, &run, &error), &error);
  for (R_xlen_t k = 0; k < n; k++) {
    if (chunks[k].state == JOIST_CHUNK_DONE) continue;
    SEXP path = PROTECT(Rf_ScalarString(STRING_ELT(paths, k)));
    if (chunks[k].code != 0) joist_r_file_stop("write", path, chunks[k].code);
    joist_r_stop(JOIST_ERROR_VALUE, "a codec cannot pack \"%s\"", chunks[k].path);
  }
  (void)kept;
  UNPROTECT(1);
  return R_NilValue;
}

/* The bytes of all chunks, one after the other, and how many each has. */
SEXP joist_r_pack_chunks(SEXP tensors, SEXP codecs, SEXP c_order, SEXP swapped) {
  const R_xlen_t n = TYPEOF(tensors) == VECSXP ? XLENGTH(tensors) : 0;
  struct joist_chunk_format format = {0};
  struct joist_chunk *const chunks = chunks_of(n, codecs, &format);
  SEXP kept = PROTECT(set_elements(tensors, chunks, n, c_order, swapped, &format));
  const size_t room = n > 0 ? joist_chunk_room(&format) : 0;
  SEXP result = PROTECT(Rf_allocVector(VECSXP, 2));
  SEXP bytes = Rf_allocVector(RAWSXP, (R_xlen_t)room * n);
  SET_VECTOR_ELT(result, 0, bytes);
  SEXP sizes = Rf_allocVector(REALSXP, n);
  SET_VECTOR_ELT(result, 1, sizes);
  for (R_xlen_t k = 0; k < n; k++) chunks[k].packed = RAW(bytes) + (size_t)k * room;
  const struct joist_run run = joist_r_run();
  struct joist_error error;
  if (n > 0) joist_r_raise_if(joist_chunks_pack(&format, chunks, (size_t)n, &run, &error), &error);
  size_t length = 0;
  for (R_xlen_t k = 0; k < n; k++) {
    if (chunks[k].state != JOIST_CHUNK_DONE)
      joist_r_stop(JOIST_ERROR_VALUE, "a codec cannot pack a chunk");
    memmove(RAW(bytes) + length, chunks[k].packed, chunks[k].size);
    length += chunks[k].size;
    REAL(sizes)[k] = (double)chunks[k].size;
  }
  SET_VECTOR_ELT(result, 0, Rf_xlengthgets(bytes, (R_xlen_t)length));
  (void)kept;
  UNPROTECT(2);
  return result;
}

/* ---- parts of tensors ---- */

SEXP joist_r_blank(SEXP type) {
  struct joist_r_value value;
  joist_r_read_any(joist_r_rules(R_NilValue), type, &value);
  SEXP payload = PROTECT(joist_r_payload(value.argument.operand.type.dtype, value.count));
  SEXP tensor = joist_r_tensor(payload, value.argument.operand.type, &value.argument.shape);
  UNPROTECT(1);
  return tensor;
}

SEXP joist_r_place(SEXP x, SEXP start, SEXP part, SEXP turned) {
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  struct joist_r_value whole, piece;
  joist_r_read(rules, x, &whole);
  joist_r_read(rules, part, &piece);
  joist_r_needs_data(&whole);
  joist_r_needs_data(&piece);
  const struct joist_run run = joist_r_run();
  struct joist_error error;
  uint32_t first[JOIST_RANK_MAX] = {0};
  struct joist_place place = {.shape = &whole.argument.shape,
                              .part = &piece.argument.shape,
                              .turned = joist_r_flag(turned, "turned"),
                              .start = first};
  if (TYPEOF(start) != INTSXP || XLENGTH(start) != whole.argument.shape.rank)
    joist_r_stop(JOIST_ERROR_SHAPE, "`start` must have a position for each dimension");
  for (int d = 0; d < whole.argument.shape.rank; d++) first[d] = (uint32_t)INTEGER(start)[d] - 1;
  if (whole.argument.operand.type.dtype != piece.argument.operand.type.dtype ||
      !joist_place_fits(&place))
    joist_r_stop(JOIST_ERROR_SHAPE, "this part does not fit into the tensor");
  if (!place.turned && joist_shape_equal(place.shape, place.part)) return part;
  void *out;
  const bool in_place = !MAYBE_SHARED(x) && whole.payload != piece.payload;
  SEXP tensor = PROTECT(joist_r_writable(&whole, in_place, &out));
  joist_r_raise_if(joist_place_part(joist_dtype_size(whole.argument.operand.type.dtype), &place,
                                    piece.data, out, &run, &error),
                   &error);
  UNPROTECT(1);
  return tensor;
}

/* ---- bytes of files ---- */

SEXP joist_r_file_bytes(SEXP path, SEXP from, SEXP size) {
  struct joist_file there;
  const int code = joist_file_open(joist_r_path(path), &there);
  if (code == 0) joist_file_close(&there);
  if (code == ENOENT || code == ENOTDIR || code == JOIST_FILE_SPECIAL) return R_NilValue;
  const double begin = joist_r_number(from), most = joist_r_number(size);
  SEXP kept = PROTECT(joist_r_open_file(path));
  if (kept == R_NilValue) joist_r_no_file(path);
  const struct joist_file *const file = &joist_r_file_of(kept)->file;
  const double whole = (double)file->size;
  const double start = begin >= 0 ? begin : begin + whole > 0 ? begin + whole : 0;
  const double left = whole - start, n = left > most ? most : left;
  SEXP bytes = PROTECT(Rf_allocVector(RAWSXP, n > 0 ? (R_xlen_t)n : 0));
  const int failed =
      n > 0 ? joist_file_read(file, (uint64_t)start, RAW(bytes), (size_t)XLENGTH(bytes)) : 0;
  joist_r_close_file(kept);
  if (failed != 0) joist_r_file_stop("read", path, failed);
  UNPROTECT(2);
  return bytes;
}

/* ---- codecs ---- */

SEXP joist_r_codecs(void) {
  R_xlen_t n = 0;
  while (joist_compression_at((size_t)n) != NULL) n++;
  SEXP names = PROTECT(Rf_allocVector(STRSXP, n));
  for (R_xlen_t k = 0; k < n; k++)
    SET_STRING_ELT(names, k, Rf_mkChar(joist_compression_at((size_t)k)->name));
  UNPROTECT(1);
  return names;
}

static const struct joist_compression *codec_of(SEXP codec, SEXP bytes) {
  const char *const name = joist_r_string(codec, "codec");
  joist_r_check_raw(bytes);
  return codec_named(name);
}

/* A whole number of bytes, `least` to `most`. */
static size_t byte_count(SEXP x, double least, double most) {
  const double n = joist_r_number(x);
  if (!(n >= least && n <= most))
    joist_r_stop(JOIST_ERROR_VALUE, "a number of bytes must be from %.0f to %.0f", least, most);
  return (size_t)n;
}

SEXP joist_r_unpack(SEXP codec, SEXP bytes, SEXP most) {
  const struct joist_compression *const found = codec_of(codec, bytes);
  const size_t room = byte_count(most, 0, (double)R_XLEN_T_MAX);
  size_t length = 0;
  SEXP to = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)room));
  const bool good = found->unpack(RAW(bytes), (size_t)XLENGTH(bytes), RAW(to), room, &length);
  SEXP result = !good ? R_NilValue : length == room ? to : Rf_xlengthgets(to, (R_xlen_t)length);
  UNPROTECT(1);
  return result;
}

SEXP joist_r_pack(SEXP codec, SEXP bytes, SEXP size) {
  const struct joist_compression *const found = codec_of(codec, bytes);
  const size_t n = (size_t)XLENGTH(bytes), room = found->bound(n);
  const size_t element = byte_count(size, 1, 16);
  size_t length = 0;
  SEXP to = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)room));
  if (!found->pack(RAW(bytes), n, element, RAW(to), room, &length))
    joist_r_stop(JOIST_ERROR_VALUE, "%s cannot pack %.0f bytes", found->name, (double)n);
  SEXP result = Rf_xlengthgets(to, (R_xlen_t)length);
  UNPROTECT(1);
  return result;
}

SEXP joist_r_checksum(SEXP name, SEXP x) {
  const char *const which = joist_r_string(name, "name");
  uint32_t (*const sum)(const void *, size_t) = strcmp(which, "crc32") == 0    ? joist_crc32
                                                : strcmp(which, "crc32c") == 0 ? joist_crc32c
                                                                               : joist_adler32;
  uint32_t number;
  if (TYPEOF(x) == RAWSXP) {
    number = sum(RAW(x), (size_t)XLENGTH(x));
  } else {
    struct joist_r_value value;
    SEXP kept = PROTECT(joist_r_read_to_write(x, &value));
    number = sum(value.data, value.count * joist_dtype_size(value.argument.operand.type.dtype));
    (void)kept;
    UNPROTECT(1);
  }
  SEXP result = Rf_allocVector(RAWSXP, 4);
  for (int k = 0; k < 4; k++) RAW(result)[k] = (Rbyte)(number >> (8 * k) & 0xff);
  return result;
}
