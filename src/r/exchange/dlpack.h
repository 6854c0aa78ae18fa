/* Tensors to and from other libraries of arrays, by DLPack's structs in external pointers. The tag
 * of such a pointer is a symbol of the name that Python's capsules have: dltensor_versioned or,
 * before version 1, dltensor. Who takes the struct clears the pointer. */
#ifndef JOIST_R_DLPACK_H
#define JOIST_R_DLPACK_H

#include "r/base/sexp.h"

/* .Call entry points. */
/* An external pointer to what others read of x; before version 1, which knows of no memory that
 * must not be written, to a copy. */
SEXP joist_r_to_dlpack(SEXP x, SEXP versioned);
/* The tensor of an external pointer, whose struct is taken. */
SEXP joist_r_from_dlpack(SEXP pointer);

/* Addresses are text, in hexadecimal digits. */
/* The address of the struct, which is taken, that of the elements, the device as DLPack numbers it
 * (type and id), and the name of the tag. */
SEXP joist_r_dlpack_take(SEXP pointer);
/* An external pointer to the struct at an address, with the tag of that name. */
SEXP joist_r_dlpack_pointer(SEXP address, SEXP name);
/* The tensor of elements at an address; strides count elements, `owner` keeps the memory. */
SEXP joist_r_from_memory(SEXP address, SEXP dtype, SEXP shape, SEXP strides, SEXP owner);
/* The addresses of functions that take a struct: its deleter's call, another one for the same
 * memory, and one of a copy, before version 1; and the deleter's call of that. */
SEXP joist_r_dlpack_functions(void);

#endif
