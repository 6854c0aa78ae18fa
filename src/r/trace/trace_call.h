/* Operations on traced tensors. */
#ifndef JOIST_R_TRACE_CALL_H
#define JOIST_R_TRACE_CALL_H

#include "r/tensor/call.h"

/* Adds the operation to the body being traced, or to the trace that its operands belong to. */
joist_r_applies joist_r_trace_call;

#endif
