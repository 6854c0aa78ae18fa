/* Chunks in files: written side by side and read back, with every codec, byte order and order of
 * dims; files compared with bytes laid out one by one; missing and damaged files. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* mkdtemp() */
#endif
#include <errno.h>
#include <unistd.h>

#include "core/files/chunk.h"

#include "arrays.h"

enum { CHUNKS = 5, ELEMENTS = 7 * 5, PATH_SIZE = 256 };

static char folder[] = "/tmp/joist-test-chunk-XXXXXX";
static char paths[CHUNKS][PATH_SIZE];
static int32_t data[CHUNKS][ELEMENTS], got[CHUNKS][ELEMENTS];

static void set_chunks(struct joist_chunk chunks[CHUNKS], int32_t elements[CHUNKS][ELEMENTS]) {
  for (int k = 0; k < CHUNKS; k++)
    chunks[k] = (struct joist_chunk){.path = paths[k], .data = elements[k], .size = SIZE_MAX};
}

/* The bytes that a chunk without codecs has. */
static void check_file(const char *path, const int32_t *elements, bool c_order, bool swapped) {
  unsigned char bytes[4 * ELEMENTS + 1];
  FILE *const file = fopen(path, "rb");
  CHECK(file != NULL);
  if (file == NULL) return;
  CHECK_INT(fread(bytes, 1, sizeof bytes, file), 4 * ELEMENTS);
  fclose(file);
  size_t wrong = 0;
  for (size_t row = 0; row < 7; row++)
    for (size_t column = 0; column < 5; column++) {
      const size_t at = 4 * (c_order ? row * 5 + column : row + column * 7);
      unsigned char want[4];
      memcpy(want, &elements[row + column * 7], 4);
      for (size_t k = 0; k < 4; k++) wrong += bytes[at + k] != want[swapped ? 3 - k : k];
    }
  CHECK_INT(wrong, 0);
}

/* A random box of each chunk. */
static void check_boxes(const struct joist_chunk_format *format, const struct joist_run *run) {
  struct joist_chunk chunks[CHUNKS];
  uint32_t low[CHUNKS][2];
  set_chunks(chunks, got);
  for (int k = 0; k < CHUNKS; k++) {
    chunks[k].box.rank = 2;
    for (int d = 0; d < 2; d++) {
      const uint32_t extent = format->elements.shape.extent[d];
      low[k][d] = (uint32_t)(random_bits() % extent);
      chunks[k].box.extent[d] = 1 + (uint32_t)(random_bits() % (extent - low[k][d]));
    }
    chunks[k].low = low[k];
  }
  CHECK_INT(joist_chunks_read(format, chunks, CHUNKS, run, NULL), JOIST_OK);
  size_t wrong = 0;
  for (int k = 0; k < CHUNKS; k++) {
    CHECK_INT(chunks[k].state, JOIST_CHUNK_DONE);
    const uint32_t rows = chunks[k].box.extent[0];
    for (uint32_t j = 0; j < rows * chunks[k].box.extent[1]; j++)
      wrong += got[k][j] != data[k][low[k][0] + j % rows + (low[k][1] + j / rows) * 7];
  }
  CHECK_INT(wrong, 0);
}

static void test_round_trips(void) {
  struct joist_chunk chunks[CHUNKS];
  size_t codecs = 0;
  while (joist_compression_at(codecs) != NULL) codecs++;
  for (int trial = 0; trial < 8 * (int)(codecs + 2); trial++) {
    struct joist_chunk_format format = {.elements = {.dtype = JOIST_I32,
                                                     .c_order = trial % 2 == 1,
                                                     .swapped = trial / 2 % 2 == 1,
                                                     .shape = {2, {7, 5}},
                                                     .count = ELEMENTS}};
    const size_t which = (size_t)trial / 8;
    if (which > 0 && which <= codecs)
      format.codec[format.codecs++] = joist_compression_at(which - 1);
    if (which == codecs + 1) /* all of them, one after another */
      for (size_t k = 0; k < codecs; k++) format.codec[format.codecs++] = joist_compression_at(k);
    const struct joist_run run = {.threads = 1 + trial / 4 % 2 * 2, .parallel_from = 1};
    for (int k = 0; k < CHUNKS; k++)
      for (int j = 0; j < ELEMENTS; j++) data[k][j] = (int32_t)(random_bits() % 1000);
    set_chunks(chunks, data);
    CHECK_INT(joist_chunks_write(&format, chunks, CHUNKS, &run, NULL), JOIST_OK);
    for (int k = 0; k < CHUNKS; k++) {
      CHECK_INT(chunks[k].state, JOIST_CHUNK_DONE);
      if (which == 0)
        check_file(paths[k], data[k], format.elements.c_order, format.elements.swapped);
    }
    memset(got, 0x5a, sizeof got);
    set_chunks(chunks, got);
    CHECK_INT(joist_chunks_read(&format, chunks, CHUNKS, &run, NULL), JOIST_OK);
    for (int k = 0; k < CHUNKS; k++) CHECK_INT(chunks[k].state, JOIST_CHUNK_DONE);
    CHECK(memcmp(data, got, sizeof data) == 0);
    for (int again = 0; again < 5; again++) check_boxes(&format, &run);
  }
}

static void test_what_is_wrong(void) {
  struct joist_chunk chunks[CHUNKS];
  struct joist_chunk_format format = {
      .elements = {.dtype = JOIST_I32, .shape = {2, {7, 5}}, .count = ELEMENTS},
      .codecs = 1,
      .codec = {joist_compression_at(0)}};
  const struct joist_run run = {.threads = 2, .parallel_from = 1};
  set_chunks(chunks, data);
  CHECK_INT(joist_chunks_write(&format, chunks, CHUNKS, &run, NULL), JOIST_OK);
  unlink(paths[1]);
  CHECK_INT(truncate(paths[2], 9), 0);
  FILE *const file = fopen(paths[3], "r+b");
  fputc(~data[3][0] & 0xff, file);
  fclose(file);
  CHECK_INT(truncate(paths[4], 100000), 0);
  set_chunks(chunks, got);
  CHECK_INT(joist_chunks_read(&format, chunks, CHUNKS, &run, NULL), JOIST_OK);
  const joist_chunk_state want[CHUNKS] = {JOIST_CHUNK_DONE, JOIST_CHUNK_ABSENT, JOIST_CHUNK_ODD,
                                          JOIST_CHUNK_ODD, JOIST_CHUNK_ODD};
  for (int k = 0; k < CHUNKS; k++) CHECK_INT(chunks[k].state, want[k]);
  /* Without a codec, too, the size must be the right one. */
  format.codecs = 0;
  set_chunks(chunks, got);
  CHECK_INT(joist_chunks_read(&format, chunks, 1, &run, NULL), JOIST_OK);
  CHECK_INT(chunks[0].state, JOIST_CHUNK_ODD);
  chunks[0].path = "/nowhere/at/all";
  CHECK_INT(joist_chunks_write(&format, chunks, 1, &run, NULL), JOIST_OK);
  CHECK_INT(chunks[0].state, JOIST_CHUNK_ODD);
  CHECK_INT(chunks[0].code, ENOENT);
}

/* The first of many rows is read without the last bytes of the packed ones, where the codec can. */
static void test_first_rows(void) {
  enum { ROWS = 1000, WIDTH = 300 };
  static int32_t all[ROWS * WIDTH];
  int32_t row[WIDTH];
  const uint32_t low[2] = {0, 0};
  const struct joist_run run = {.threads = 1};
  for (int k = 0; k < ROWS * WIDTH; k++) all[k] = (int32_t)(random_bits() % 1000);
  for (size_t which = 0; joist_compression_at(which) != NULL; which++) {
    struct joist_chunk_format format = {
        .elements = {.dtype = JOIST_I32, .shape = {2, {WIDTH, ROWS}}, .count = ROWS * WIDTH},
        .codecs = 1,
        .codec = {joist_compression_at(which)}};
    struct joist_chunk chunk = {.path = paths[0], .data = all, .size = SIZE_MAX};
    CHECK_INT(joist_chunks_write(&format, &chunk, 1, &run, NULL), JOIST_OK);
    FILE *const file = fopen(paths[0], "r+b");
    fseek(file, -1000, SEEK_END);
    for (int k = 0; k < 1000; k++) fputc(0xa5, file);
    fclose(file);
    chunk.data = row;
    chunk.low = low;
    chunk.box = (struct joist_shape){2, {WIDTH, 1}};
    CHECK_INT(joist_chunks_read(&format, &chunk, 1, &run, NULL), JOIST_OK);
    if (format.codec[0]->unpack_first != NULL) CHECK_INT(chunk.state, JOIST_CHUNK_DONE);
    CHECK(chunk.state == JOIST_CHUNK_ODD || memcmp(row, all, sizeof row) == 0);
  }
}

/* A byte is true or false, or the chunk is broken. */
static void test_bools(void) {
  unsigned char bools[6] = {0, 1, 1, 0, 1, 0}, back[6];
  struct joist_chunk chunk = {.path = paths[0], .data = bools, .size = SIZE_MAX};
  struct joist_chunk_format format = {
      .elements = {.dtype = JOIST_BOOL, .shape = {1, {6}}, .count = 6}};
  const struct joist_run run = {.threads = 1};
  CHECK_INT(joist_chunks_write(&format, &chunk, 1, &run, NULL), JOIST_OK);
  chunk.data = back;
  CHECK_INT(joist_chunks_read(&format, &chunk, 1, &run, NULL), JOIST_OK);
  CHECK(chunk.state == JOIST_CHUNK_DONE && memcmp(bools, back, 6) == 0);
  bools[3] = 2;
  chunk.data = bools;
  CHECK_INT(joist_chunks_write(&format, &chunk, 1, &run, NULL), JOIST_OK);
  chunk.data = back;
  CHECK_INT(joist_chunks_read(&format, &chunk, 1, &run, NULL), JOIST_OK);
  CHECK_INT(chunk.state, JOIST_CHUNK_ODD);
}

/* Elements of fewer bits than a byte: their bytes in a file have unused bits of 0, and may have
 * any. */
static void test_narrow(void) {
  unsigned char elements[6] = {0, 7, 0xff, 0xf8, 3, 0xfd}, back[6], bytes[7] = "";
  const unsigned char want[6] = {0, 7, 15, 8, 3, 13}, odd[6] = {0x10, 0x37, 0xff, 0xf8, 0xa3, 0x9d};
  const struct joist_run run = {.threads = 2, .parallel_from = 1};
  for (int c_order = 0; c_order < 2; c_order++)
    for (size_t codecs = 0; codecs < 2; codecs++) {
      struct joist_chunk chunk = {.path = paths[0], .data = elements, .size = SIZE_MAX};
      struct joist_chunk_format format = {.elements = {.dtype = JOIST_I4,
                                                       .c_order = c_order == 1,
                                                       .shape = {2, {6, 1}},
                                                       .count = 6},
                                          .codecs = codecs,
                                          .codec = {joist_compression_at(0)}};
      CHECK_INT(joist_chunks_write(&format, &chunk, 1, &run, NULL), JOIST_OK);
      CHECK_INT(chunk.state, JOIST_CHUNK_DONE);
      chunk.data = back;
      CHECK_INT(joist_chunks_read(&format, &chunk, 1, &run, NULL), JOIST_OK);
      CHECK(chunk.state == JOIST_CHUNK_DONE && memcmp(elements, back, 6) == 0);
      if (codecs > 0) continue;
      FILE *file = fopen(paths[0], "rb");
      CHECK_INT(fread(bytes, 1, 7, file), 6);
      fclose(file);
      CHECK(memcmp(bytes, want, 6) == 0);
      file = fopen(paths[0], "wb");
      CHECK_INT(fwrite(odd, 1, 6, file), 6);
      fclose(file);
      memset(back, 0x5a, 6);
      CHECK_INT(joist_chunks_read(&format, &chunk, 1, &run, NULL), JOIST_OK);
      CHECK(chunk.state == JOIST_CHUNK_DONE && memcmp(elements, back, 6) == 0);
    }
}

int main(void) {
  if (mkdtemp(folder) == NULL) return 1;
  for (int k = 0; k < CHUNKS; k++) snprintf(paths[k], PATH_SIZE, "%s/%d", folder, k);
  test_round_trips();
  test_what_is_wrong();
  test_first_rows();
  test_bools();
  test_narrow();
  for (int k = 0; k < CHUNKS; k++) unlink(paths[k]);
  CHECK_INT(rmdir(folder), 0);
  return check_report("chunk");
}
