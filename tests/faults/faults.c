/* The sites of faults.h, which of them fails when, and how many blocks are in use. Loaded before
 * joist, by LD_PRELOAD; R calls what is below by .C(). */
#define JOIST_TEST_FAULTS_H /* nothing here fails */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct joist_fault_site {
  const char *file, *what;
  int line;
  unsigned hits;
};

enum { MOST = 8192 };
static struct joist_fault_site *sites[MOST];
static int count = 0;
static long in_use = 0;

/* What is to fail: a call of one site. */
static const struct joist_fault_site *chosen = NULL;
static unsigned chosen_hit = 0;
static int fired = 0;

void joist_faults_know(struct joist_fault_site *const *from, struct joist_fault_site *const *to);
bool joist_faults_due(struct joist_fault_site *site);
void *joist_faults_took(void *block);
void joist_faults_gives(const void *block);

/* FILE:LINE FUNCTION. */
enum { NAME = 200 };
static void write_name(const struct joist_fault_site *site, char *name) {
  snprintf(name, NAME, "%s:%d %s", site->file, site->line, site->what);
}

/* Every object of the library tells. What JOIST_FAULT names fails when the library is loaded. */
void joist_faults_know(struct joist_fault_site *const *from, struct joist_fault_site *const *to) {
  for (int k = 0; k < count; k++)
    if (sites[k] == *from) return;
  for (; from < to; from++) {
    if (count == MOST) {
      fputs("faults.c: too many sites\n", stderr);
      abort();
    }
    sites[count++] = *from;
    const struct joist_fault_site *const site = *from;
    const char *const wanted = getenv("JOIST_FAULT");
    char name[NAME];
    write_name(site, name);
    if (wanted != NULL && strcmp(wanted, name) == 0) {
      chosen = site;
      chosen_hit = 1;
    }
  }
}

bool joist_faults_due(struct joist_fault_site *site) {
  const unsigned hit = __atomic_add_fetch(&site->hits, 1, __ATOMIC_RELAXED);
  if (site != chosen || hit != chosen_hit) return false;
  fired++;
  return true;
}

void *joist_faults_took(void *block) {
  if (block != NULL) __atomic_add_fetch(&in_use, 1, __ATOMIC_RELAXED);
  return block;
}

void joist_faults_gives(const void *block) {
  if (block != NULL) __atomic_sub_fetch(&in_use, 1, __ATOMIC_RELAXED);
}

/* ---- for .C() ---- */

void faults_count(int *n);
void faults_name(const int *site, char **name);
void faults_arm(const int *site, const int *hit);
void faults_hits(int *hits);
void faults_fired(int *n);
void faults_in_use(double *blocks);

void faults_count(int *n) { *n = count; }

void faults_name(const int *site, char **name) { write_name(sites[*site - 1], *name); }

/* From now on hits count from 0, and that hit of that site fails, of no site if it is 0. */
void faults_arm(const int *site, const int *hit) {
  for (int k = 0; k < count; k++) sites[k]->hits = 0;
  chosen = *site > 0 ? sites[*site - 1] : NULL;
  chosen_hit = (unsigned)*hit;
  fired = 0;
}

void faults_hits(int *hits) {
  for (int k = 0; k < count; k++) hits[k] = (int)sites[k]->hits;
}

void faults_fired(int *n) { *n = fired; }

void faults_in_use(double *blocks) { *blocks = (double)in_use; }
