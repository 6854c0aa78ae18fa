/* The text of the headers that generated code includes; source_text.c is written by embed.sh
 * from the files themselves when joist is built. */
#ifndef JOIST_CUDA_KERNELS_SOURCE_TEXT_H
#define JOIST_CUDA_KERNELS_SOURCE_TEXT_H

extern const int joist_source_count;

extern const char *const joist_source_names[];
extern const char *const joist_source_texts[];

#endif
