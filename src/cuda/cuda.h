/* The CUDA devices, as core/device.c sees them. */
#ifndef JOIST_CUDA_CUDA_H
#define JOIST_CUDA_CUDA_H

#include "core/device.h"

enum { JOIST_CUDA_DEVICES = 16 }; /* most that are looked at */

/* How many the driver shows; 0 when there is none, or it cannot be used. */
size_t joist_cuda_count(void);
/* The entry of device `ordinal`, there or not. */
const struct joist_device *joist_cuda_device(size_t ordinal);
/* Whether its library can be loaded; does not wake it. */
bool joist_cuda_has_driver(void);
size_t joist_cuda_diagnose(struct joist_diagnosis *diagnoses);

/* When groups are compiled: once they have run often enough, always, or never (the
 * interpreter then runs all). The environment variable JOIST_CUDA_COMPILE (auto, always,
 * never) sets what a process starts with. */
typedef enum {
  JOIST_CUDA_COMPILE_AUTO,
  JOIST_CUDA_COMPILE_ALWAYS,
  JOIST_CUDA_COMPILE_NEVER
} joist_cuda_policy;
void joist_cuda_set_policy(joist_cuda_policy policy);

/* Whether small blocks of memory share allocations. Not where the environment variable
 * JOIST_CUDA_SMALL is "own", as tools that watch the bounds of allocations want it. */
void joist_cuda_share_small(bool share);

#endif
