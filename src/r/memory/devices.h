/* Devices as R objects, and what R asks about them. */
#ifndef JOIST_R_DEVICES_H
#define JOIST_R_DEVICES_H

#include "core/device.h"
#include "r/base/sexp.h"

/* The `joist_device` object of a device of this build. */
SEXP joist_r_device_object(const char *name);

/* The device of a name, ready or not. Raises joist_device_error where this build has none. */
const struct joist_device *joist_r_device_named(SEXP name);

/* .Call entry points. */
/* A device from its name; raises joist_device_error. */
SEXP joist_r_device(SEXP name);
SEXP joist_r_device_names(void);
/* Names; wakes no driver. */
SEXP joist_r_devices_in_use(void);
SEXP joist_r_diagnose(void);
/* Bytes used, kept, available and in all; of a device by its name. */
SEXP joist_r_device_memory(SEXP device);
SEXP joist_r_synchronize(SEXP device);

#endif
