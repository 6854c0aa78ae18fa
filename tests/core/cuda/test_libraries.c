/* What src/cuda finds at run time: NVRTC, the driver's loader, and where libraries are looked
 * for. libraries.c, nvrtc.c and loader.c call host_dlopen() for dlopen() here, and the
 * functions that they then look up are those below. */
#include "errors.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cuda/codegen/compile.h"
#include "cuda/diagnose.h"
#include "cuda/host/libraries.h"
#include "cuda/host/nvrtc.h"

/* ---- libraries ---- */

enum { NAMES = 64 };
static struct {
  const char *there; /* the one name that can be loaded, but for the driver's */
  char asked[NAMES][128];
  size_t count;
} loader;

void *host_dlopen(const char *name, int flags);
void *host_dlopen(const char *name, int flags) {
  if (loader.count < NAMES) snprintf(loader.asked[loader.count++], 128, "%s", name);
  const bool found = strcmp(name, "libcuda.so.1") == 0 ||
                     (loader.there != NULL && strcmp(name, loader.there) == 0);
  return found ? dlopen(NULL, flags) : NULL;
}

/* Number of the first name asked for that has `text` in it, NAMES if there is none. */
static size_t asked_for(const char *text) {
  for (size_t k = 0; k < loader.count; k++)
    if (strstr(loader.asked[k], text) != NULL) return k;
  return NAMES;
}

static void look(int driver, int runtime) {
  host_runtime.driver = driver;
  host_runtime.runtime = runtime;
  loader.count = 0;
  CHECK(joist_cuda_library("libx") == NULL);
}

static void test_search(void) {
  loader.there = NULL;
  unsetenv("CUDA_HOME");
  look(13000, 12040); /* the release of the build comes first */
  CHECK_STR(loader.asked[0], "libx.so.12");
  CHECK(asked_for(".so.12") < asked_for(".so.13") && asked_for(".so.13") < asked_for(".so.11"));
  CHECK(asked_for(".so.11") < NAMES && asked_for(".so.14") == NAMES);
  look(12040, 12020); /* what the driver need not accept is left alone */
  CHECK_STR(loader.asked[0], "libx.so.12");
  CHECK(asked_for(".so.13") == NAMES && asked_for(".so.14") == NAMES);
  look(12040, 13000);
  CHECK_STR(loader.asked[0], "libx.so.12");
  CHECK(asked_for(".so.13") == NAMES);
  look(0, 13000); /* without a driver nothing is known of it */
  CHECK_STR(loader.asked[0], "libx.so.13");
  CHECK(asked_for(".so.14") < NAMES);
  setenv("CUDA_HOME", "/elsewhere", 1);
  look(13000, 13000);
  CHECK_STR(loader.asked[0], "libx.so.13");
  CHECK_STR(loader.asked[1], "/elsewhere/lib64/libx.so.13");
  CHECK_STR(loader.asked[2], "/elsewhere/lib/libx.so.13");
  CHECK_STR(loader.asked[3], "/elsewhere/targets/x86_64-linux/lib/libx.so.13");
  CHECK_STR(loader.asked[4], "/usr/local/cuda/lib64/libx.so.13");
  loader.there = "/elsewhere/lib/libx.so.12";
  CHECK(joist_cuda_library("libx") != NULL);
  unsetenv("CUDA_HOME");
}

/* ---- NVRTC ---- */

static struct {
  int archs[4], count;
  char target[64];
  bool machine; /* the image that was asked for */
} compiler;

typedef struct nvrtc_program *program;
int nvrtcVersion(int *major, int *minor);
int nvrtcGetNumSupportedArchs(int *count);
int nvrtcGetSupportedArchs(int *archs);
int nvrtcCreateProgram(program *made, const char *source, const char *name, int headers,
                       const char *const *texts, const char *const *names);
int nvrtcCompileProgram(program made, int count, const char *const *options);
int nvrtcDestroyProgram(program *made);
int nvrtcGetProgramLogSize(program made, size_t *size);
int nvrtcGetProgramLog(program made, char *log);
int nvrtcGetCUBINSize(program made, size_t *size);
int nvrtcGetCUBIN(program made, char *image);
int nvrtcGetPTXSize(program made, size_t *size);
int nvrtcGetPTX(program made, char *image);

int nvrtcVersion(int *major, int *minor) {
  *major = 13;
  *minor = 1;
  return 0;
}
int nvrtcGetNumSupportedArchs(int *count) {
  *count = compiler.count;
  return 0;
}
int nvrtcGetSupportedArchs(int *archs) {
  memcpy(archs, compiler.archs, (size_t)compiler.count * sizeof *archs);
  return 0;
}
int nvrtcCreateProgram(program *made, const char *source, const char *name, int headers,
                       const char *const *texts, const char *const *names) {
  *made = (program)(void *)&compiler;
  return source != NULL && name != NULL && headers > 0 && texts[0] != NULL && names[0] != NULL ? 0
                                                                                               : 1;
}
/* Refuses machine code for unlisted architectures, as the real function does. */
int nvrtcCompileProgram(program made, int count, const char *const *options) {
  int number = 0;
  bool listed = false;
  (void)made;
  snprintf(compiler.target, sizeof compiler.target, "%s", count > 0 ? options[0] : "");
  const bool machine = sscanf(compiler.target, "--gpu-architecture=sm_%d", &number) == 1;
  if (!machine) (void)sscanf(compiler.target, "--gpu-architecture=compute_%d", &number);
  for (int k = 0; k < compiler.count; k++) listed |= compiler.archs[k] == number;
  return listed ? 0 : 5;
}
int nvrtcDestroyProgram(program *made) {
  *made = NULL;
  return 0;
}
int nvrtcGetProgramLogSize(program made, size_t *size) {
  (void)made;
  *size = sizeof "joist.cu(1): error:\nno";
  return 0;
}
int nvrtcGetProgramLog(program made, char *log) {
  (void)made;
  strcpy(log, "joist.cu(1): error:\nno");
  return 0;
}
static int image_size(bool machine, size_t *size) {
  compiler.machine = machine;
  *size = 4;
  return 0;
}
int nvrtcGetCUBINSize(program made, size_t *size) { return made == NULL || image_size(true, size); }
int nvrtcGetPTXSize(program made, size_t *size) { return made == NULL || image_size(false, size); }
int nvrtcGetCUBIN(program made, char *image) {
  memcpy(image, "bin", 4);
  return made == NULL;
}
int nvrtcGetPTX(program made, char *image) {
  memcpy(image, "ptx", 4);
  return made == NULL;
}

/* Machine code of the latest architecture of the device's major number that is not newer,
 * else PTX of an older one. */
static void test_architectures(void) {
  static const struct {
    int archs[4], count, device;
    const char *target;
  } cases[] = {{{80, 90, 100}, 3, 90, "sm_90"},
               {{80, 90, 100}, 3, 103, "sm_100"},
               {{80, 90, 100}, 3, 120, "compute_100"},
               {{75, 80, 86, 90}, 4, 89, "sm_86"},
               {{90, 80, 75}, 3, 80, "sm_80"},
               {{80, 90, 100, 103}, 4, 103, "sm_103"},
               {{75, 80, 90}, 3, 70, NULL},
               {{80}, 0, 80, NULL}};
  char log[256];
  loader.there = "libnvrtc.so.13";
  host_runtime.driver = host_runtime.runtime = 13000;
  CHECK(joist_nvrtc_found());
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char want[64];
    memcpy(compiler.archs, cases[k].archs, sizeof compiler.archs);
    compiler.count = cases[k].count;
    char *const image = joist_nvrtc_compile("source", cases[k].device, NULL, log, sizeof log);
    if (cases[k].target == NULL) {
      CHECK(image == NULL && strstr(log, "compute capability") != NULL);
    } else if (CHECK_MSG(image != NULL, "case %zu: %s: %s", k, compiler.target, log)) {
      snprintf(want, sizeof want, "--gpu-architecture=%s", cases[k].target);
      CHECK_STR(compiler.target, want);
      CHECK(compiler.machine == (strncmp(cases[k].target, "sm", 2) == 0));
      CHECK_STR(image, compiler.machine ? "bin" : "ptx");
    }
    free(image);
  }
}

/* ---- the driver ---- */

static struct {
  int load, get, launch, current; /* results of all calls */
  long loads, unloads;
  void *context;
} driver;

int cuModuleLoadData(void **module, const void *image);
int cuModuleUnload(void *module);
int cuCtxGetCurrent(void **context);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   void *stream, void **arguments, void **extra);

int cuModuleLoadData(void **module, const void *image) {
  driver.loads++;
  *module = driver.load == 0 ? &driver : NULL;
  return image == NULL ? 1 : driver.load;
}
int cuCtxGetCurrent(void **context) {
  *context = driver.context;
  return driver.current;
}
int cuModuleUnload(void *module) {
  driver.unloads++;
  return module == &driver ? 0 : 1;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
  *function = module;
  return module == NULL || strcmp(name, "joist_generated") != 0 ? 1 : driver.get;
}
int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   void *stream, void **arguments, void **extra) {
  if (function != &driver || grid_y * grid_z * block_y * block_z != 1 || shared != 0) return 1;
  if (grid_x != 4 || block_x != JOIST_CUDA_BLOCK || stream == NULL || extra != NULL) return 1;
  return arguments[0] == NULL ? 1 : driver.launch;
}

/* Returns the pass of a reduction; each number gets its own kernel. */
static struct joist_cuda_compiled *kernel_of(struct joist_cuda_state *state, int number) {
  return joist_cuda_pass_of(state, JOIST_OP_ADD, (joist_dtype)number, JOIST_F64, 10);
}

/* What cannot be loaded is not tried again, unless it was for want of memory. */
static void test_loading(struct joist_cuda_state *state) {
  struct joist_diagnosis rows[JOIST_DIAGNOSES];
  const struct joist_cuda_compilation *const all = joist_cuda_compilation();
  compiler.archs[0] = 90;
  compiler.count = 1;
  CHECK(kernel_of(state, JOIST_I8) != NULL && kernel_of(state, JOIST_I8) != NULL);
  CHECK_INT(driver.loads, 1);
  driver.load = 2;
  CHECK(kernel_of(state, JOIST_I16) == NULL);
  driver.load = 0;
  CHECK(kernel_of(state, JOIST_I16) != NULL);
  CHECK_INT(driver.loads, 3);
  driver.get = 2;
  CHECK(kernel_of(state, JOIST_I32) == NULL);
  CHECK_INT(driver.unloads, 1);
  driver.get = 0;
  CHECK(kernel_of(state, JOIST_I32) != NULL);
  CHECK_INT(all->compiled, 3);
  CHECK_INT(all->failed, 0);
  joist_cuda_diagnose(rows);
  CHECK_STR(rows[3].detail, "13.1");
  driver.load = 209;
  CHECK(kernel_of(state, JOIST_I64) == NULL);
  driver.load = 0;
  CHECK(kernel_of(state, JOIST_I64) == NULL);
  CHECK_INT(all->failed, 1);
  joist_cuda_diagnose(rows);
  CHECK(rows[3].found);
  CHECK_STR(rows[3].detail,
            "13.1; 1 of 4 kernels could not be compiled: the driver refuses a compiled kernel: "
            "CUresult 209");
  compiler.count = 0;
  CHECK(kernel_of(state, JOIST_F32) == NULL);
  compiler.archs[0] = 80;
  compiler.count = 1;
  CHECK_INT(all->failed, 2);
}

static void test_launches(struct joist_cuda_state *state) {
  static const struct {
    int result;
    joist_error_code code;
  } cases[] = {{1, JOIST_E_GPU_FAILED}, {2, JOIST_E_GPU_MEMORY}, {700, JOIST_E_GPU_LOST},
               {716, JOIST_E_GPU_LOST}, {719, JOIST_E_GPU_LOST}, {0, JOIST_E_COUNT /* none */}};
  const char parameter = 0;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    struct joist_error error = {0};
    driver.launch = cases[k].result;
    const joist_status status = joist_cuda_start_compiled(
        kernel_of(state, JOIST_I8), 3 * JOIST_CUDA_BLOCK + 1, &parameter, state->stream, &error);
    if (cases[k].result == 0)
      CHECK_INT(status, JOIST_OK);
    else
      CHECK_ERROR(status, error, cases[k].code);
  }
}

/* The context of the driver, where it says. */
static void test_context(void) {
  driver.context = &driver;
  CHECK(joist_cuda_context() == &driver);
  driver.current = 3;
  CHECK(joist_cuda_context() == NULL);
  driver.current = 0;
}

int main(void) {
  struct joist_cuda_state *state = NULL;
  struct joist_error error;
  test_search();
  test_architectures();
  joist_cuda_set_policy(JOIST_CUDA_COMPILE_ALWAYS);
  if (CHECK_INT(joist_cuda_open(0, &state, &error), JOIST_OK)) {
    test_loading(state);
    test_launches(state);
    test_context();
  }
  return check_report("cuda libraries");
}
