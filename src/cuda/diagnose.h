/* What CUDA needs, and whether it is there. */
#ifndef JOIST_CUDA_DIAGNOSE_H
#define JOIST_CUDA_DIAGNOSE_H

#include "core/device.h"

/* As joist_device_diagnose(). */
size_t joist_cuda_diagnose(struct joist_diagnosis *rows);

#endif
