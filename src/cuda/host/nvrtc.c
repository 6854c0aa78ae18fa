/* Calling NVRTC. It reads no files: the headers that generated code includes are part of this
 * library (source_text.c, made when joist is built). */
#include "cuda/host/nvrtc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/host/libraries.h"
#include "cuda/kernels/source_text.h"

/* The part of nvrtc.h that is used; the library need not be there when joist is built. */
typedef struct nvrtc_program *program;
typedef int result; /* 0 is success */

static struct nvrtc {
  bool tried, found;
  int major, minor;
  result (*version)(int *, int *);
  result (*arch_count)(int *);
  result (*archs)(int *);
  result (*create)(program *, const char *, const char *, int, const char *const *,
                   const char *const *);
  result (*compile)(program, int, const char *const *);
  result (*destroy)(program *);
  result (*log_size)(program, size_t *);
  result (*log)(program, char *);
  result (*cubin_size)(program, size_t *);
  result (*cubin)(program, char *);
  result (*ptx_size)(program, size_t *);
  result (*ptx)(program, char *);
} nvrtc;

/* What the headers of C would give generated code, which has none. */
static const char *const system_names[] = {"float.h",  "math.h",   "stdbool.h",
                                           "stdint.h", "string.h", "stddef.h"};
static const char *const system_text[] = {
    "#define FLT_MAX 3.402823466e+38f\n#define DBL_MIN 2.2250738585072014e-308\n"
    "#define DBL_MAX 1.7976931348623157e+308\n",
    "#ifndef INFINITY\n#define INFINITY __int_as_float(0x7f800000)\n"
    "#define NAN __int_as_float(0x7fc00000)\n#endif\n",
    "",
    "#ifndef UINT64_C\n"
    "typedef signed char int8_t;\ntypedef short int16_t;\ntypedef int int32_t;\n"
    "typedef long long int64_t;\ntypedef unsigned char uint8_t;\ntypedef unsigned short uint16_t;\n"
    "typedef unsigned int uint32_t;\ntypedef unsigned long long uint64_t;\n"
    "#define UINT64_C(x) x##ULL\n#define UINT64_MAX 0xffffffffffffffffULL\n"
    "#define UINT32_MAX 0xffffffffU\n#endif\n",
    "",
    ""};
enum { SYSTEM_HEADERS = sizeof system_names / sizeof *system_names };

/* Function pointers come as object pointers from dlsym. */
static bool find(void *library, const char *name, void *function) {
  void *const found = dlsym(library, name);
  memcpy(function, &found, sizeof found);
  return found != NULL;
}

bool joist_nvrtc_found(void) {
  if (nvrtc.tried) return nvrtc.found;
  nvrtc.tried = true;
  void *const library = joist_cuda_library("libnvrtc");
  if (library == NULL) return false;
  nvrtc.found = find(library, "nvrtcVersion", &nvrtc.version) &&
                find(library, "nvrtcGetNumSupportedArchs", &nvrtc.arch_count) &&
                find(library, "nvrtcGetSupportedArchs", &nvrtc.archs) &&
                find(library, "nvrtcCreateProgram", &nvrtc.create) &&
                find(library, "nvrtcCompileProgram", &nvrtc.compile) &&
                find(library, "nvrtcDestroyProgram", &nvrtc.destroy) &&
                find(library, "nvrtcGetProgramLogSize", &nvrtc.log_size) &&
                find(library, "nvrtcGetProgramLog", &nvrtc.log) &&
                find(library, "nvrtcGetCUBINSize", &nvrtc.cubin_size) &&
                find(library, "nvrtcGetCUBIN", &nvrtc.cubin) &&
                find(library, "nvrtcGetPTXSize", &nvrtc.ptx_size) &&
                find(library, "nvrtcGetPTX", &nvrtc.ptx) &&
                nvrtc.version(&nvrtc.major, &nvrtc.minor) == 0;
  return nvrtc.found;
}

/* The latest architecture that NVRTC knows and that is not newer than a device's, 0 if there
 * is none: machine code runs on devices of the same major number, PTX on all later ones. */
static int known_architecture(int architecture) {
  int count = 0, latest = 0;
  if (nvrtc.arch_count(&count) != 0 || count <= 0) return 0;
  int *const archs = malloc((size_t)count * sizeof *archs);
  if (archs != NULL && nvrtc.archs(archs) == 0)
    for (int k = 0; k < count; k++)
      if (archs[k] > latest && archs[k] <= architecture) latest = archs[k];
  free(archs);
  return latest;
}

bool joist_cuda_describe_nvrtc(char *text, size_t size) {
  if (joist_nvrtc_found()) snprintf(text, size, "%d.%d", nvrtc.major, nvrtc.minor);
  return nvrtc.found;
}

/* The image of a compiled program, or NULL. */
static char *image_of(program made, bool cubin) {
  size_t size = 0;
  if ((cubin ? nvrtc.cubin_size : nvrtc.ptx_size)(made, &size) != 0 || size == 0) return NULL;
  char *const image = malloc(size);
  if (image != NULL && (cubin ? nvrtc.cubin : nvrtc.ptx)(made, image) == 0) return image;
  free(image);
  return NULL;
}

static void read_log(program made, char *log, size_t log_size) {
  size_t size = 0;
  if (log_size == 0) return;
  snprintf(log, log_size, "NVRTC gave no reason");
  char *const all = nvrtc.log_size(made, &size) == 0 ? malloc(size + 1) : NULL;
  if (all != NULL && nvrtc.log(made, all) == 0) snprintf(log, log_size, "%.*s", (int)size, all);
  free(all);
}

/* A program of the source, with all headers; NULL when it cannot be made. */
static program make_program(const char *source) {
  const size_t headers = SYSTEM_HEADERS + (size_t)joist_source_count;
  const char **const names = malloc(2 * headers * sizeof *names);
  program made = NULL;
  if (names == NULL) return NULL;
  const char **const texts = names + headers;
  for (size_t k = 0; k < headers; k++) {
    const bool system = k < SYSTEM_HEADERS;
    names[k] = system ? system_names[k] : joist_source_names[k - SYSTEM_HEADERS];
    texts[k] = system ? system_text[k] : joist_source_texts[k - SYSTEM_HEADERS];
  }
  if (nvrtc.create(&made, source, "joist.cu", (int)headers, texts, names) != 0) made = NULL;
  free(names);
  return made;
}

void *joist_nvrtc_compile(const char *source, int architecture, const char *option, char *log,
                          size_t log_size) {
  char target[64];
  if (!joist_nvrtc_found()) {
    snprintf(log, log_size, "libnvrtc cannot be loaded");
    return NULL;
  }
  const int known = known_architecture(architecture);
  const bool machine = known / 10 == architecture / 10;
  if (known == 0) {
    snprintf(log, log_size, "NVRTC %d.%d compiles for no GPU as old as compute capability %d.%d",
             nvrtc.major, nvrtc.minor, architecture / 10, architecture % 10);
    return NULL;
  }
  snprintf(target, sizeof target, "--gpu-architecture=%s_%d", machine ? "sm" : "compute", known);
  const char *const options[] = {target, "--std=c++17", "--fmad=false", option};
  program made = make_program(source);
  if (made == NULL) {
    snprintf(log, log_size, "NVRTC cannot make a program");
    return NULL;
  }
  char *image = NULL;
  if (nvrtc.compile(made, option != NULL ? 4 : 3, options) == 0) image = image_of(made, machine);
  if (image == NULL) read_log(made, log, log_size);
  (void)nvrtc.destroy(&made);
  return image;
}
