/* The CUDA devices: what core/device.c includes of src/cuda. */
#ifndef JOIST_CUDA_CUDA_H
#define JOIST_CUDA_CUDA_H

#include "core/device.h"

extern const struct joist_device_kind joist_cuda_devices;

#endif
