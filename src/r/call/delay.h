/* Operations on chunked tensors, which are recorded instead of run. */
#ifndef JOIST_R_DELAY_H
#define JOIST_R_DELAY_H

#include "r/tensor/call.h"

/* Gives the chunked tensor of the program of its operands and this operation. */
joist_r_applies joist_r_delay_call;

#endif
