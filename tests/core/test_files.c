/* Files and the elements in them: what is written is read again, in every order and in chunks of
 * any size, against positions counted one by one; what fails, and what is left behind then. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* mkdtemp() */
#endif
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/check.h"
#include "core/files/elements.h"

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

static void check_round(struct joist_elements elements, const struct joist_run *run) {
  const size_t size = joist_dtype_size(elements.dtype), bytes = elements.count * size;
  const size_t unit = joist_dtype_size(joist_dtype_real(elements.dtype));
  elements.start = random_below(9);
  const size_t total = elements.start + bytes;
  unsigned char *const in_file = malloc(total + 1), *const memory = malloc(bytes + 16);
  unsigned char *const back = malloc(bytes + 1);
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
    if (elements.swapped)
      turn_around(unit, size, from, want);
    else
      memcpy(want, from, size);
    right = right && memcmp(memory + to * size, want, size) == 0;
  }
  char text[JOIST_SHAPE_TEXT];
  CHECK_MSG(right, "%s%s, %s order, chunks of %zu", joist_dtype_name(elements.dtype),
            joist_shape_format(&elements.shape, text), elements.c_order ? "C" : "F",
            elements.chunk);
  CHECK_INT(joist_elements_write(&elements, memory, NULL, back, run, &error), JOIST_OK);
  CHECK(memcmp(back, in_file + elements.start, bytes) == 0);
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
  static const size_t chunks[] = {0, 16, 32, 48, 256, 4096};
  for (int round = 0; round < ROUNDS; round++) {
    const struct joist_run run = {.threads = 1 + (int)random_below(2), .parallel_from = 1};
    struct joist_elements elements = {.dtype = (joist_dtype)random_below(JOIST_DTYPE_COUNT),
                                      .swapped = one_in(2),
                                      .c_order = !one_in(4),
                                      .chunk = chunks[random_below(6)]};
    elements.shape.rank = (int)random_below(7);
    static const uint32_t most[] = {1, 400, 60, 14, 8, 5, 4};
    for (int d = 0; d < elements.shape.rank; d++)
      elements.shape.extent[d] =
          one_in(40) ? 0 : 1 + (uint32_t)random_below(most[elements.shape.rank]);
    CHECK(joist_shape_count(&elements.shape, &elements.count));
    check_round(elements, &run);
  }
  /* Pieces for several threads, with the default chunk size. */
  const struct joist_run run = {.threads = 2, .parallel_from = 1};
  struct joist_elements large = {
      .dtype = JOIST_F32, .c_order = true, .shape = {2, {1500, 2100}}, .count = 1500 * 2100};
  check_round(large, &run);
  large.swapped = true;
  large.c_order = false;
  check_round(large, &run);
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
  test_failures();
  char command[PATH_SIZE];
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK_INT(system(command), 0);
  return check_report("files");
}
