/* Files of the operating system: POSIX, and Windows, which has no maps here. */
#if !defined(_WIN32) && !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE /* st_mtim, fchmod() */
#endif
#ifdef __MINGW32__
#define __USE_MINGW_ANSI_STDIO 1 /* %lu */
#endif
#if !defined(_WIN32) && !defined(_FILE_OFFSET_BITS)
#define _FILE_OFFSET_BITS 64
#endif
#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifdef _WIN32
#include <io.h>
#include <process.h>
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

enum { AT_ONCE = 1 << 30, /* bytes: systems have bounds below 2^31 */ NAMES = 1000 };

/* ---- what differs between systems ---- */

#ifdef _WIN32

typedef struct _stat64 file_facts;

static wchar_t *wide(const char *path) {
  const int length = MultiByteToWideChar(CP_UTF8, 0, path, -1, NULL, 0);
  wchar_t *const text = length > 0 ? malloc((size_t)length * sizeof *text) : NULL;
  if (text != NULL) MultiByteToWideChar(CP_UTF8, 0, path, -1, text, length);
  return text;
}

static int facts_of(const char *path, file_facts *facts) {
  wchar_t *const name = wide(path);
  const int result = name == NULL ? -1 : _wstat64(name, facts);
  free(name);
  return result;
}

static int facts_of_handle(int handle, file_facts *facts) { return _fstat64(handle, facts); }

static int open_with(const char *path, int flags) {
  wchar_t *const name = wide(path);
  const int handle = name == NULL ? -1 : _wopen(name, flags | _O_BINARY, _S_IREAD | _S_IWRITE);
  free(name);
  return handle;
}

static int open_to_read(const char *path) { return open_with(path, _O_RDONLY); }
static int open_to_write(const char *path) { return open_with(path, _O_WRONLY); }
static int open_new(const char *path) { return open_with(path, _O_WRONLY | _O_CREAT | _O_EXCL); }
static int close_handle(int handle) { return _close(handle); }

static int64_t read_at(int handle, uint64_t from, void *to, size_t bytes) {
  OVERLAPPED place = {0};
  place.Offset = (DWORD)from;
  place.OffsetHigh = (DWORD)(from >> 32);
  DWORD got = 0;
  if (ReadFile((HANDLE)_get_osfhandle(handle), to, (DWORD)bytes, &got, &place)) return got;
  if (GetLastError() == ERROR_HANDLE_EOF) return 0;
  errno = EIO;
  return -1;
}

static int64_t write_next(int handle, const void *from, size_t bytes) {
  return _write(handle, from, (unsigned)bytes);
}

static int rename_over(const char *from, const char *to) {
  wchar_t *const old = wide(from), *const new = wide(to);
  const bool done =
      old != NULL && new != NULL &&MoveFileExW(old, new, MOVEFILE_REPLACE_EXISTING) != 0;
  free(old);
  free(new);
  if (!done) errno = EACCES;
  return done ? 0 : -1;
}

static void remove_file(const char *path) {
  wchar_t *const name = wide(path);
  if (name != NULL) _wunlink(name);
  free(name);
}

static bool is_folder(const file_facts *facts) { return (facts->st_mode & _S_IFDIR) != 0; }
static bool is_plain(const file_facts *facts) { return (facts->st_mode & _S_IFREG) != 0; }
static int64_t modified_at(const file_facts *facts) {
  return facts->st_mtime * INT64_C(1000000000);
}
static unsigned long process_number(void) { return (unsigned long)_getpid(); }
static char *target_of(const char *path) { return _strdup(path); }

static void keep_rights(int handle, const file_facts *old) {
  (void)handle;
  (void)old;
}

#else

typedef struct stat file_facts;

static int facts_of(const char *path, file_facts *facts) { return stat(path, facts); }
static int facts_of_handle(int handle, file_facts *facts) { return fstat(handle, facts); }
/* Another process may put a pipe where a file was: opening it must not wait. */
static int open_to_read(const char *path) { return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); }
static int open_to_write(const char *path) { return open(path, O_WRONLY | O_CLOEXEC); }
static int open_new(const char *path) {
  return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}
static int close_handle(int handle) { return close(handle); }

static int64_t read_at(int handle, uint64_t from, void *to, size_t bytes) {
  return pread(handle, to, bytes, (off_t)from);
}

static int64_t write_next(int handle, const void *from, size_t bytes) {
  return write(handle, from, bytes);
}

static int rename_over(const char *from, const char *to) { return rename(from, to); }
static void remove_file(const char *path) { unlink(path); }
static bool is_folder(const file_facts *facts) { return S_ISDIR(facts->st_mode); }
static bool is_plain(const file_facts *facts) { return S_ISREG(facts->st_mode); }

static int64_t modified_at(const file_facts *facts) {
#ifdef __APPLE__
  const struct timespec time = facts->st_mtimespec;
#else
  const struct timespec time = facts->st_mtim;
#endif
  return (int64_t)time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static unsigned long process_number(void) { return (unsigned long)getpid(); }

/* What a link leads to is replaced, not the link. */
static char *target_of(const char *path) {
  char *const real = realpath(path, NULL);
  return real != NULL ? real : strdup(path);
}

static void keep_rights(int handle, const file_facts *old) {
  if (fchmod(handle, old->st_mode & 07777) != 0) return; /* not its owner: a new file's modes */
}

#endif

static int failure(void) { return errno != 0 ? errno : EIO; }

/* ---- reading ---- */

int joist_file_open(const char *path, struct joist_file *file) {
  file_facts facts;
  errno = 0;
  if (facts_of(path, &facts) != 0) return failure();
  if (is_folder(&facts)) return EISDIR;
  if (!is_plain(&facts)) return JOIST_FILE_SPECIAL;
  const int handle = open_to_read(path);
  if (handle < 0) return failure();
  if (facts_of_handle(handle, &facts) != 0 || !is_plain(&facts)) {
    close_handle(handle);
    return JOIST_FILE_SPECIAL;
  }
  *file = (struct joist_file){.handle = handle,
                              .size = (uint64_t)facts.st_size,
                              .modified = modified_at(&facts),
                              .device = (uint64_t)facts.st_dev,
                              .number = (uint64_t)facts.st_ino};
  return 0;
}

void joist_file_close(struct joist_file *file) {
  if (file->handle >= 0) close_handle((int)file->handle);
  file->handle = -1;
}

int joist_file_read(const struct joist_file *file, uint64_t from, void *to, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const size_t rest = bytes - done, wanted = rest < AT_ONCE ? rest : AT_ONCE;
    errno = 0;
    const int64_t got = read_at((int)file->handle, from + done, (char *)to + done, wanted);
    if (got == 0) return JOIST_FILE_SHORT;
    if (got < 0 && errno != EINTR) return failure();
    if (got > 0) done += (size_t)got;
  }
  return 0;
}

bool joist_file_is_whole(const struct joist_file *file) {
  file_facts facts;
  return facts_of_handle((int)file->handle, &facts) == 0 && (uint64_t)facts.st_size >= file->size;
}

int joist_file_map(const struct joist_file *file, void **memory) {
#ifdef _WIN32
  (void)file;
  (void)memory;
  return JOIST_FILE_NO_MAP;
#else
  if (file->size == 0 || file->size > PTRDIFF_MAX) return JOIST_FILE_NO_MAP;
  int flags = MAP_PRIVATE;
#ifdef MAP_NORESERVE
  flags |= MAP_NORESERVE; /* only pages that are written to take memory */
#endif
  errno = 0;
  void *const mapped =
      mmap(NULL, (size_t)file->size, PROT_READ | PROT_WRITE, flags, (int)file->handle, 0);
  if (mapped == MAP_FAILED) return failure();
  *memory = mapped;
  return 0;
#endif
}

void joist_file_unmap(const struct joist_file *file, void *memory) {
#ifdef _WIN32
  (void)file;
  (void)memory;
#else
  munmap(memory, (size_t)file->size);
#endif
}

/* ---- writing ---- */

static int open_temporary(struct joist_output *output) {
  const size_t size = strlen(output->path) + 64;
  output->temporary = malloc(size);
  if (output->temporary == NULL) return ENOMEM;
  for (int k = 0; k < NAMES; k++) {
    snprintf(output->temporary, size, "%s.%lu-%d.tmp", output->path, process_number(), k);
    errno = 0;
    const int handle = open_new(output->temporary);
    output->handle = handle;
    if (handle >= 0) return 0;
    if (errno != EEXIST) break;
  }
  return failure();
}

static void release(struct joist_output *output) {
  free(output->path);
  free(output->temporary);
  output->path = output->temporary = NULL;
}

int joist_output_open(const char *path, struct joist_output *output) {
  *output = (struct joist_output){.handle = -1, .path = target_of(path)};
  if (output->path == NULL) return ENOMEM;
  file_facts old;
  const bool exists = facts_of(output->path, &old) == 0;
  int code = 0;
  errno = 0;
  if (exists && is_folder(&old)) {
    code = EISDIR;
  } else if (exists) {
    /* Also asks whether this file may be written to. */
    output->handle = open_to_write(output->path);
    if (output->handle < 0) code = failure();
    if (code == 0 && is_plain(&old)) {
      close_handle((int)output->handle);
      code = open_temporary(output);
      if (code == 0) keep_rights((int)output->handle, &old);
    }
  } else {
    code = open_temporary(output);
  }
  if (code != 0) release(output);
  return code;
}

int joist_output_write(const struct joist_output *output, const void *from, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const size_t rest = bytes - done, wanted = rest < AT_ONCE ? rest : AT_ONCE;
    errno = 0;
    const int64_t put = write_next((int)output->handle, (const char *)from + done, wanted);
    if (put < 0 && errno != EINTR) return failure();
    if (put > 0) done += (size_t)put;
  }
  return 0;
}

int joist_output_finish(struct joist_output *output) {
  errno = 0;
  int code = close_handle((int)output->handle) != 0 ? failure() : 0;
  if (code == 0 && output->temporary != NULL && rename_over(output->temporary, output->path) != 0)
    code = failure();
  if (code != 0 && output->temporary != NULL) remove_file(output->temporary);
  release(output);
  return code;
}

void joist_output_discard(struct joist_output *output) {
  if (output->path == NULL) return;
  close_handle((int)output->handle);
  if (output->temporary != NULL) remove_file(output->temporary);
  release(output);
}

const char *joist_file_message(int code) {
  return code == JOIST_FILE_SPECIAL  ? "it is not a regular file"
         : code == JOIST_FILE_SHORT  ? "it became shorter while it was read"
         : code == JOIST_FILE_NO_MAP ? "files cannot be mapped on this system"
                                     : strerror(code);
}
