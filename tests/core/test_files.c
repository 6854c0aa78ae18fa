/* Files and the elements in them: what is written is read again, in every order and in slabs of
 * any size, against positions counted one by one; what fails, and what is left behind then. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* mkdtemp() */
#endif
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/check.h"
#include "core/files/elements.h"
#include "core/types/host.h"

#include "arrays.h"

enum { ROUNDS = 3000, PATH_SIZE = 256 };

static char folder[] = "/tmp/joist-test-files-XXXXXX";

static const char *path_of(const char *name) {
  static char path[PATH_SIZE];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void write_file(const char *name, const void *bytes, size_t n) {
  struct joist_output output;
  CHECK_INT(joist_output_open(path_of(name), &output), 0);
  CHECK_INT(joist_output_write(&output, bytes, n), 0);
  CHECK_INT(joist_output_finish(&output), 0);
}

static int files_in_folder(void) {
  char command[PATH_SIZE];
  snprintf(command, sizeof command, "exit $(ls -A %s | wc -l)", folder);
  return WEXITSTATUS(system(command));
}

/* ---- files ---- */

static void test_reading(void) {
  struct joist_file file;
  char got[8] = "";
  write_file("a", "0123456789", 10);
  CHECK_INT(joist_file_open(path_of("a"), &file), 0);
  CHECK_INT(file.size, 10);
  CHECK_INT(joist_file_read(&file, 3, got, 4), 0);
  CHECK_STR(got, "3456");
  CHECK_INT(joist_file_read(&file, 10, got, 0), 0);
  CHECK_INT(joist_file_read(&file, 8, got, 3), JOIST_FILE_SHORT);
  CHECK(joist_file_is_whole(&file));
  void *memory;
  CHECK_INT(joist_file_map(&file, &memory), 0);
  CHECK(memcmp(memory, "0123456789", 10) == 0);
  ((char *)memory)[0] = 'x'; /* stays here */
  CHECK_INT(joist_file_read(&file, 0, got, 1), 0);
  CHECK_INT(got[0], '0');
  /* Under its name there is another file now. */
  write_file("a", "other", 5);
  CHECK(joist_file_is_whole(&file));
  CHECK(memcmp((char *)memory + 1, "123456789", 9) == 0);
  joist_file_unmap(&file, memory);
  joist_file_close(&file);
  joist_file_close(&file);
  CHECK_INT(joist_file_open(path_of("a"), &file), 0);
  CHECK_INT(truncate(path_of("a"), 4), 0);
  CHECK(!joist_file_is_whole(&file));
  CHECK_INT(joist_file_read(&file, 0, got, 5), JOIST_FILE_SHORT);
  joist_file_close(&file);
  write_file("empty", "", 0);
  CHECK_INT(joist_file_open(path_of("empty"), &file), 0);
  CHECK_INT(joist_file_map(&file, &memory), JOIST_FILE_NO_MAP);
  joist_file_close(&file);
  CHECK_INT(joist_file_open(path_of("none"), &file), ENOENT);
  CHECK_INT(joist_file_open(folder, &file), EISDIR);
  CHECK_INT(joist_file_open("/dev/null", &file), JOIST_FILE_SPECIAL);
  CHECK_INT(mkfifo(path_of("pipe"), 0600), 0);
  CHECK_INT(joist_file_open(path_of("pipe"), &file), JOIST_FILE_SPECIAL);
  unlink(path_of("pipe"));
}

static void check_content(const char *name, const char *want) {
  struct joist_file file;
  char got[16] = "";
  CHECK_INT(joist_file_open(path_of(name), &file), 0);
  CHECK_INT(file.size, strlen(want));
  CHECK_INT(joist_file_read(&file, 0, got, strlen(want)), 0);
  CHECK_STR(got, want);
  joist_file_close(&file);
}

static void test_writing(void) {
  struct joist_output output;
  struct stat facts;
  write_file("b", "first", 5);
  CHECK_INT(chmod(path_of("b"), 0640), 0);
  const int before = files_in_folder();
  CHECK_INT(joist_output_open(path_of("b"), &output), 0);
  CHECK_INT(joist_output_write(&output, "second", 6), 0);
  CHECK_INT(files_in_folder(), before + 1);
  check_content("b", "first");
  joist_output_discard(&output);
  joist_output_discard(&output);
  CHECK_INT(files_in_folder(), before);
  check_content("b", "first");
  write_file("b", "second", 6);
  check_content("b", "second");
  CHECK_INT(stat(path_of("b"), &facts), 0);
  CHECK_INT(facts.st_mode & 07777, 0640);
  /* A link stays one. */
  CHECK_INT(symlink("b", path_of("link")), 0);
  write_file("link", "third", 5);
  check_content("b", "third");
  CHECK_INT(lstat(path_of("link"), &facts), 0);
  CHECK(S_ISLNK(facts.st_mode));
  /* Two at once have names of their own. */
  struct joist_output other;
  CHECK_INT(joist_output_open(path_of("b"), &output), 0);
  CHECK_INT(joist_output_open(path_of("b"), &other), 0);
  CHECK(strcmp(output.temporary, other.temporary) != 0);
  joist_output_discard(&output);
  joist_output_discard(&other);
  CHECK_INT(joist_output_open(folder, &output), EISDIR);
  CHECK_INT(joist_output_open(path_of("none/a"), &output), ENOENT);
  if (joist_output_open("/dev/full", &output) == 0) {
    CHECK_INT(joist_output_write(&output, "x", 1), ENOSPC);
    joist_output_discard(&output);
  }
  if (getuid() != 0) {
    CHECK_INT(chmod(path_of("b"), 0400), 0);
    CHECK_INT(joist_output_open(path_of("b"), &output), EACCES);
  }
  CHECK_INT(joist_output_open("/dev/null", &output), 0);
  CHECK_INT(joist_output_write(&output, "x", 1), 0);
  CHECK_INT(joist_output_finish(&output), 0);
}

/* A change of any byte shows in a small file, one in a sampled block in a large one. */
static void test_checks(void) {
  enum { SIZE = 1 << 20 };
  static unsigned char bytes[SIZE];
  for (size_t k = 0; k < SIZE; k++) bytes[k] = (unsigned char)random_bits();
  uint64_t samples[4];
  struct joist_file file;
  bool same;
  static const size_t places[] = {SIZE, 0, SIZE - 1}; /* none, the first, the last */
  for (int k = 0; k < 3; k++) {
    if (places[k] < SIZE) bytes[places[k]] ^= 1;
    write_file("c", bytes, SIZE);
    CHECK_INT(joist_file_open(path_of("c"), &file), 0);
    CHECK_INT(joist_file_sample(&file, 0, SIZE, &samples[k]), 0);
    CHECK_INT(joist_file_compare(&file, 0, bytes, SIZE, &same), 0);
    CHECK(same);
    bytes[SIZE / 3] ^= 1;
    CHECK_INT(joist_file_compare(&file, 0, bytes, SIZE, &same), 0);
    CHECK(!same);
    bytes[SIZE / 3] ^= 1;
    CHECK_INT(joist_file_sample(&file, 1, SIZE, &samples[3]), JOIST_FILE_SHORT);
    CHECK_INT(joist_file_compare(&file, 1, bytes + 1, SIZE, &same), JOIST_FILE_SHORT);
    joist_file_close(&file);
  }
  CHECK(samples[0] != samples[1] && samples[1] != samples[2] && samples[0] != samples[2]);
  for (int k = 0; k < 2; k++) {
    write_file("c", k == 0 ? "abcdefgh" : "abcdeFgh", 8);
    CHECK_INT(joist_file_open(path_of("c"), &file), 0);
    CHECK_INT(joist_file_sample(&file, 2, 5, &samples[k]), 0);
    joist_file_close(&file);
  }
  CHECK(samples[0] != samples[1]);
}

/* ---- elements ---- */

/* The place in memory of an element whose place in the order of C is k. */
static size_t place_of(const struct joist_shape *shape, size_t k) {
  size_t at[JOIST_RANK_MAX], place = 0;
  for (int d = shape->rank - 1; d >= 0; d--) {
    at[d] = k % shape->extent[d];
    k /= shape->extent[d];
  }
  for (int d = shape->rank - 1; d >= 0; d--) place = place * shape->extent[d] + at[d];
  return place;
}

/* Bytes of one element, each part of a complex number by itself, in the other order. */
static void turn_around(size_t unit, size_t size, const unsigned char *from, unsigned char *to) {
  for (size_t part = 0; part < size; part += unit)
    for (size_t k = 0; k < unit; k++) to[part + k] = from[part + unit - 1 - k];
}

/* An element of fewer bits than a byte, as memory has it, from a byte whose other bits may be set.
 */
static unsigned char narrow_element(joist_dtype dtype, unsigned byte) {
  const unsigned bits = joist_dtype_bits(dtype), low = byte % (1u << bits);
  const bool negative = joist_dtype_kind(dtype) == JOIST_KIND_INT && low >= 1u << (bits - 1);
  return (unsigned char)(negative ? 256 + low - (1u << bits) : low);
}

static bool is_narrow(joist_dtype dtype) {
  return dtype != JOIST_BOOL && joist_dtype_bits(dtype) < 8;
}

/* Bits `first` to `first + bits` of bytes, the lowest of each byte first. */
static unsigned bits_at(const unsigned char *bytes, size_t first, unsigned bits) {
  unsigned value = 0;
  for (unsigned k = 0; k < bits; k++)
    value |= (unsigned)(bytes[(first + k) / 8] >> ((first + k) % 8) & 1) << k;
  return value;
}

static void check_round(struct joist_elements elements, const struct joist_run *run) {
  const size_t size = joist_dtype_size(elements.dtype), bytes = joist_elements_bytes(&elements);
  const size_t unit = joist_dtype_size(joist_dtype_real(elements.dtype));
  elements.start = random_below(9);
  const size_t total = elements.start + bytes;
  unsigned char *const in_file = malloc(total + 1);
  unsigned char *const memory = malloc(elements.count * size + 16);
  unsigned char *const back = malloc(elements.count * size + 1);
  struct joist_error error;
  for (size_t k = 0; k < total; k++)
    in_file[k] = (unsigned char)(elements.dtype == JOIST_BOOL ? random_bits() & 1 : random_bits());
  const bool from_file = one_in(8);
  struct joist_file file;
  if (from_file) {
    write_file("d", in_file, total);
    CHECK_INT(joist_file_open(path_of("d"), &file), 0);
  }
  CHECK_INT(joist_elements_read(&elements, from_file ? &file : NULL, in_file, memory, run, &error),
            JOIST_OK);
  if (from_file) joist_file_close(&file);
  bool right = true;
  for (size_t k = 0; k < elements.count; k++) {
    const size_t to = elements.c_order ? place_of(&elements.shape, k) : k;
    unsigned char want[16];
    const unsigned char *const from = in_file + elements.start + k * size;
    if (elements.packed > 0)
      want[0] = narrow_element(
          elements.dtype, bits_at(in_file + elements.start, k * elements.packed, elements.packed));
    else if (is_narrow(elements.dtype))
      want[0] = narrow_element(elements.dtype, *from);
    else if (elements.swapped)
      turn_around(unit, size, from, want);
    else
      memcpy(want, from, size);
    right = right && memcmp(memory + to * size, want, size) == 0;
  }
  char text[JOIST_SHAPE_TEXT];
  CHECK_MSG(right, "%s%s, %s order, slabs of %zu", joist_dtype_name(elements.dtype),
            joist_shape_format(&elements.shape, text), elements.c_order ? "C" : "F", elements.slab);
  CHECK_INT(joist_elements_write(&elements, memory, NULL, back, run, &error), JOIST_OK);
  if (is_narrow(elements.dtype) && elements.packed == 0) /* unused bits are written as 0 */
    for (size_t k = 0; k < bytes; k++)
      in_file[elements.start + k] %= (unsigned char)(1u << joist_dtype_bits(elements.dtype));
  CHECK(memcmp(back, in_file + elements.start, bytes) == 0);
  CHECK(!is_narrow(elements.dtype) || !joist_elements_are_memory(&elements));
  if (joist_elements_are_memory(&elements))
    CHECK(memcmp(memory, in_file + elements.start, bytes) == 0);
  struct joist_elements other = elements;
  joist_elements_reverse(&other);
  CHECK_INT(joist_elements_read(&other, NULL, in_file, back, run, &error), JOIST_OK);
  joist_elements_reverse(&other);
  CHECK(joist_shape_equal(&other.shape, &elements.shape) && other.c_order == elements.c_order);
  free(in_file);
  free(memory);
  free(back);
}

static void test_rounds(void) {
  static const size_t slabs[] = {0, 16, 32, 48, 256, 4096};
  for (int round = 0; round < ROUNDS; round++) {
    const struct joist_run run = {.threads = 1 + (int)random_below(2), .parallel_from = 1};
    struct joist_elements elements = {.dtype = (joist_dtype)random_below(JOIST_DTYPE_COUNT),
                                      .swapped = one_in(2),
                                      .c_order = !one_in(4),
                                      .slab = slabs[random_below(6)]};
    elements.shape.rank = (int)random_below(7);
    static const uint32_t most[] = {1, 400, 60, 14, 8, 5, 4};
    for (int d = 0; d < elements.shape.rank; d++)
      elements.shape.extent[d] =
          one_in(40) ? 0 : 1 + (uint32_t)random_below(most[elements.shape.rank]);
    CHECK(joist_shape_count(&elements.shape, &elements.count));
    check_round(elements, &run);
    if (!is_narrow(elements.dtype)) continue;
    elements.packed = joist_dtype_bits(elements.dtype);
    if (elements.count * elements.packed % 8 == 0) check_round(elements, &run);
  }
  /* Pieces for several threads, with the default slab size. */
  const struct joist_run run = {.threads = 2, .parallel_from = 1};
  struct joist_elements large = {
      .dtype = JOIST_F32, .c_order = true, .shape = {2, {1500, 2100}}, .count = 1500 * 2100};
  check_round(large, &run);
  large.swapped = true;
  large.c_order = false;
  check_round(large, &run);
  const joist_dtype narrow[] = {JOIST_F4E2M1FN, JOIST_F6E3M2FN, JOIST_I4};
  for (int k = 0; k < 6; k++) {
    struct joist_elements packed = {.dtype = narrow[k % 3],
                                    .c_order = k < 3,
                                    .packed = joist_dtype_bits(narrow[k % 3]),
                                    .shape = {2, {3002, 1502}},
                                    .count = 3002 * 1502};
    check_round(packed, &run);
  }
}

/* What PyTorch writes of two floats of 4 bits, the first in the low ones, and the same order for 6.
 */
static void test_packed(void) {
  const struct joist_run run = {.threads = 1};
  unsigned char bytes[3], memory[4] = {0x1, 0x2, 0xf, 0x8};
  struct joist_elements four = {
      .dtype = JOIST_F4E2M1FN, .packed = 4, .shape = {1, {4}}, .count = 4};
  CHECK_INT(joist_elements_write(&four, memory, NULL, bytes, &run, NULL), JOIST_OK);
  CHECK(bytes[0] == 0x21 && bytes[1] == 0x8f);
  struct joist_elements six = {.dtype = JOIST_F6E2M3FN, .packed = 6, .shape = {1, {4}}, .count = 4};
  const unsigned char codes[] = {0x01, 0x3f, 0x20, 0x2a};
  CHECK_INT(joist_elements_write(&six, codes, NULL, bytes, &run, NULL), JOIST_OK);
  CHECK(bytes[0] == 0xc1 && bytes[1] == 0x0f && bytes[2] == 0xaa);
}

/* Every byte of every dtype: as elements, as bytes again, and as elements in memory. */
static void test_all_bytes(void) {
  struct joist_error error;
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
    const joist_dtype dtype = (joist_dtype)d;
    if (joist_dtype_size(dtype) > 1 || dtype == JOIST_BOOL) continue;
    CHECK_INT(joist_has_unused_bits(dtype), is_narrow(dtype));
    for (unsigned byte = 0; byte < 256; byte++) {
      const unsigned char from = (unsigned char)byte;
      unsigned char element, back;
      CHECK_INT(joist_read_bytes(dtype, &from, 1, true, &element, NULL, &error), JOIST_OK);
      CHECK_INT(element, is_narrow(dtype) ? narrow_element(dtype, byte) : byte);
      CHECK_INT(joist_write_bytes(dtype, &element, 1, true, &back, NULL, &error), JOIST_OK);
      CHECK_INT(back, byte % (1u << joist_dtype_bits(dtype)));
      const joist_status status = joist_check_elements(dtype, &from, 1, &error);
      CHECK_INT(status, element == from ? JOIST_OK : JOIST_ERROR_VALUE);
      if (status != JOIST_OK) {
        CHECK(error.code == JOIST_E_BYTE_UNUSED_BITS && error.position == 1);
        CHECK_INT(error.type[0].dtype, dtype);
      }
    }
  }
  const unsigned char codes[] = {0, 7, 0xf8, 8, 0xff};
  CHECK_ERROR(joist_check_elements(JOIST_I4, codes, 5, &error), error, JOIST_E_BYTE_UNUSED_BITS);
  CHECK_INT(error.position, 4);
  CHECK_STR(error.text[0].bytes, "08");
}

/* Bytes of elements without a dtype, from the order of C. */
static void test_turning(void) {
  const struct joist_run run = {.threads = 2, .parallel_from = 1};
  static const struct joist_shape shapes[] = {{2, {3, 4}}, {3, {2, 3, 5}}, {1, {7}}};
  for (size_t k = 0; k < 3; k++)
    for (size_t unit = 1; unit < 20; unit += 3) {
      unsigned char from[20 * 30], to[20 * 30];
      size_t count;
      bool right = joist_shape_count(&shapes[k], &count);
      for (size_t j = 0; j < count * unit; j++) from[j] = (unsigned char)random_bits();
      CHECK_INT(joist_elements_turn(unit, &shapes[k], from, to, &run, NULL), JOIST_OK);
      for (size_t j = 0; j < count; j++)
        right &= memcmp(to + place_of(&shapes[k], j) * unit, from + j * unit, unit) == 0;
      CHECK_MSG(right, "%zu bytes", unit);
    }
}

static bool stop_at_once(void *context) {
  (void)context;
  return true;
}

static void test_failures(void) {
  struct joist_error error;
  struct joist_elements elements = {
      .dtype = JOIST_F32, .shape = {2, {2, 3}}, .start = 10, .c_order = true};
  CHECK_INT(joist_elements_check("npy", &elements, 34, true, &error), JOIST_OK);
  CHECK_INT(elements.count, 6);
  CHECK_INT(joist_elements_check("npy", &elements, 35, false, &error), JOIST_OK);
  static const uint64_t sizes[] = {33, 35, 9, 0};
  for (int k = 0; k < 4; k++) {
    CHECK_ERROR(joist_elements_check("npy", &elements, sizes[k], true, &error), error,
                JOIST_E_FILE_SIZE);
    CHECK(error.number[0] == 24 && error.number[1] == (sizes[k] < 10 ? 0 : (double)sizes[k] - 10));
  }
  CHECK_ERROR(joist_elements_check("npy", &elements, 33, false, &error), error, JOIST_E_FILE_SIZE);
  elements.shape = (struct joist_shape){3, {INT32_MAX, INT32_MAX, INT32_MAX}};
  CHECK_ERROR(joist_elements_check("npy", &elements, UINT64_MAX, false, &error), error,
              JOIST_E_FILE_FIELD);
  CHECK_STR(error.name[1], "shape");
  /* An invalid bool is reported by its position in the file, also in later pieces. */
  enum { N = 5 << 20 };
  static unsigned char bytes[N], memory[N];
  struct joist_run run = {.threads = 2, .parallel_from = 1};
  struct joist_elements flags = {.dtype = JOIST_BOOL, .shape = {1, {N}}, .count = N};
  static const size_t places[] = {0, 7, (2 << 20) + 1, N - 1};
  for (int k = 0; k < 4; k++)
    for (int order = 0; order < 2; order++) {
      bytes[places[k]] = 2;
      flags.c_order = order == 1;
      if (order == 1) flags.shape = (struct joist_shape){2, {N / 1024, 1024}};
      CHECK_ERROR(joist_elements_read(&flags, NULL, bytes, memory, &run, &error), error,
                  JOIST_E_BYTE_NOT_BOOL);
      CHECK_INT(error.position, places[k] + 1);
      CHECK_INT(joist_elements_read(&flags, NULL, bytes, memory, &run, NULL), JOIST_ERROR_VALUE);
      bytes[places[k]] = 0;
    }
  /* A file that ends too early, one that is full, and one that is interrupted. */
  struct joist_file file;
  write_file("e", bytes, 100);
  CHECK_INT(joist_file_open(path_of("e"), &file), 0);
  CHECK_ERROR(joist_elements_read(&flags, &file, NULL, memory, &run, &error), error, JOIST_E_FILE);
  CHECK_STR(error.name[0], "read");
  joist_file_close(&file);
  struct joist_output output;
  if (joist_output_open("/dev/full", &output) == 0) {
    CHECK_ERROR(joist_elements_write(&flags, bytes, &output, NULL, &run, &error), error,
                JOIST_E_FILE);
    CHECK_STR(error.name[0], "write");
    CHECK_STR(error.text[0].bytes, "/dev/full");
    joist_output_discard(&output);
  }
  run.poll = stop_at_once;
  CHECK_INT(joist_elements_write(&flags, bytes, NULL, memory, &run, &error), JOIST_INTERRUPTED);
  CHECK_INT(joist_elements_read(&flags, NULL, bytes, memory, &run, &error), JOIST_INTERRUPTED);
  CHECK_ERROR(joist_file_fail("open", "a", ENOENT, &error), error, JOIST_E_FILE);
  for (int code = JOIST_FILE_NO_MAP; code < 0; code++) CHECK(strlen(joist_file_message(code)) > 10);
}

int main(void) {
  if (mkdtemp(folder) == NULL) return 1;
  test_reading();
  test_writing();
  test_checks();
  test_rounds();
  test_packed();
  test_all_bytes();
  test_turning();
  test_failures();
  char command[PATH_SIZE];
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK_INT(system(command), 0);
  return check_report("files");
}
