/* Operations on tensors with elements. */
#ifndef JOIST_R_EAGER_H
#define JOIST_R_EAGER_H

#include "r/tensor/call.h"

/* Runs the operation. */
joist_r_applies joist_r_run_call;

#endif
