/* Allocations that can be made to fail: included before everything else in each C file of a build
 * for tests. Every place in the sources that allocates becomes a site, known to faults.c from the
 * time that the library is loaded, whether or not it is ever reached. */
#ifndef JOIST_TEST_FAULTS_H
#define JOIST_TEST_FAULTS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct joist_fault_site {
  const char *file, *what;
  int line;
  unsigned hits;
};

void joist_faults_know(struct joist_fault_site *const *from, struct joist_fault_site *const *to);
/* Whether this call is to fail. */
bool joist_faults_due(struct joist_fault_site *site);
/* Blocks in use. */
void *joist_faults_took(void *block);
void joist_faults_gives(const void *block);

/* The sites of a library are a section of it. */
extern struct joist_fault_site *const __start_joist_faults[]
    __attribute__((weak, visibility("hidden")));
extern struct joist_fault_site *const __stop_joist_faults[]
    __attribute__((weak, visibility("hidden")));

__attribute__((constructor)) static void joist_faults_tell(void) {
  if (__start_joist_faults != NULL) joist_faults_know(__start_joist_faults, __stop_joist_faults);
}

#define JOIST_FAULT(name)                                                                        \
  __extension__({                                                                                \
    static struct joist_fault_site site = {__FILE__, name, __LINE__, 0};                         \
    static struct joist_fault_site *const known __attribute__((section("joist_faults"), used)) = \
        &site;                                                                                   \
    joist_faults_due(&site);                                                                     \
  })

#define malloc(size) (JOIST_FAULT("malloc") ? NULL : joist_faults_took(malloc(size)))
#define calloc(n, size) (JOIST_FAULT("calloc") ? NULL : joist_faults_took(calloc(n, size)))
#define realloc(block, size) (JOIST_FAULT("realloc") ? NULL : joist_faults_moves(block, size))
#define realpath(path, at) (JOIST_FAULT("realpath") ? NULL : joist_faults_took(realpath(path, at)))
#define strdup(text) (JOIST_FAULT("strdup") ? NULL : joist_faults_took(strdup(text)))
#define mmap(...) (JOIST_FAULT("mmap") ? MAP_FAILED : mmap(__VA_ARGS__))

static inline void *joist_faults_moves(void *block, size_t size) {
  void *const moved = (realloc)(block, size);
  return block == NULL ? joist_faults_took(moved) : moved;
}

static inline void joist_faults_free(void *block) {
  joist_faults_gives(block);
  free(block);
}
#define free joist_faults_free

#ifdef JOIST_FAULTS_OF_R
/* What R allocates for us, and whatever else may raise an error there. */
#ifndef R_NO_REMAP
#define R_NO_REMAP
#endif
#include <Rinternals.h>
/* after the one above */
#include <R_ext/Altrep.h>

#define JOIST_FAULT_R(name) \
  (JOIST_FAULT(name) ? Rf_error("an allocation failed, as a test wanted") : (void)0)

#define Rf_allocVector(...) (JOIST_FAULT_R("Rf_allocVector"), Rf_allocVector(__VA_ARGS__))
#define Rf_allocVector3(...) (JOIST_FAULT_R("Rf_allocVector3"), Rf_allocVector3(__VA_ARGS__))
#define Rf_allocMatrix(...) (JOIST_FAULT_R("Rf_allocMatrix"), Rf_allocMatrix(__VA_ARGS__))
#define Rf_allocS4Object(...) (JOIST_FAULT_R("Rf_allocS4Object"), Rf_allocS4Object(__VA_ARGS__))
#define R_alloc(...) (JOIST_FAULT_R("R_alloc"), R_alloc(__VA_ARGS__))
#define Rf_mkChar(...) (JOIST_FAULT_R("Rf_mkChar"), Rf_mkChar(__VA_ARGS__))
#define Rf_mkCharCE(...) (JOIST_FAULT_R("Rf_mkCharCE"), Rf_mkCharCE(__VA_ARGS__))
#define Rf_mkCharLenCE(...) (JOIST_FAULT_R("Rf_mkCharLenCE"), Rf_mkCharLenCE(__VA_ARGS__))
#define Rf_mkString(...) (JOIST_FAULT_R("Rf_mkString"), Rf_mkString(__VA_ARGS__))
#define Rf_mkNamed(...) (JOIST_FAULT_R("Rf_mkNamed"), Rf_mkNamed(__VA_ARGS__))
#define Rf_setAttrib(...) (JOIST_FAULT_R("Rf_setAttrib"), Rf_setAttrib(__VA_ARGS__))
#define Rf_classgets(...) (JOIST_FAULT_R("Rf_classgets"), Rf_classgets(__VA_ARGS__))
#define Rf_ScalarLogical(...) (JOIST_FAULT_R("Rf_ScalarLogical"), Rf_ScalarLogical(__VA_ARGS__))
#define Rf_ScalarInteger(...) (JOIST_FAULT_R("Rf_ScalarInteger"), Rf_ScalarInteger(__VA_ARGS__))
#define Rf_ScalarReal(...) (JOIST_FAULT_R("Rf_ScalarReal"), Rf_ScalarReal(__VA_ARGS__))
#define Rf_ScalarString(...) (JOIST_FAULT_R("Rf_ScalarString"), Rf_ScalarString(__VA_ARGS__))
#define Rf_translateChar(...) (JOIST_FAULT_R("Rf_translateChar"), Rf_translateChar(__VA_ARGS__))
#define Rf_translateCharUTF8(...) \
  (JOIST_FAULT_R("Rf_translateCharUTF8"), Rf_translateCharUTF8(__VA_ARGS__))
#define R_PreserveObject(...) (JOIST_FAULT_R("R_PreserveObject"), R_PreserveObject(__VA_ARGS__))
#define R_MakeExternalPtr(...) (JOIST_FAULT_R("R_MakeExternalPtr"), R_MakeExternalPtr(__VA_ARGS__))
#define R_RegisterCFinalizerEx(...) \
  (JOIST_FAULT_R("R_RegisterCFinalizerEx"), R_RegisterCFinalizerEx(__VA_ARGS__))
#define Rf_xlengthgets(...) (JOIST_FAULT_R("Rf_xlengthgets"), Rf_xlengthgets(__VA_ARGS__))
#define Rf_shallow_duplicate(...) \
  (JOIST_FAULT_R("Rf_shallow_duplicate"), Rf_shallow_duplicate(__VA_ARGS__))
#define Rf_cons(...) (JOIST_FAULT_R("Rf_cons"), Rf_cons(__VA_ARGS__))
#define Rf_lang1(...) (JOIST_FAULT_R("Rf_lang1"), Rf_lang1(__VA_ARGS__))
#define Rf_lang2(...) (JOIST_FAULT_R("Rf_lang2"), Rf_lang2(__VA_ARGS__))
#define Rf_lang3(...) (JOIST_FAULT_R("Rf_lang3"), Rf_lang3(__VA_ARGS__))
#define Rf_lang4(...) (JOIST_FAULT_R("Rf_lang4"), Rf_lang4(__VA_ARGS__))
#define Rf_eval(...) (JOIST_FAULT_R("Rf_eval"), Rf_eval(__VA_ARGS__))
#define R_new_altrep(...) (JOIST_FAULT_R("R_new_altrep"), R_new_altrep(__VA_ARGS__))
#define R_mapAttrib(...) (JOIST_FAULT_R("R_mapAttrib"), R_mapAttrib(__VA_ARGS__))
#define R_MakeUnwindCont(...) (JOIST_FAULT_R("R_MakeUnwindCont"), R_MakeUnwindCont(__VA_ARGS__))
#endif

#endif
