/* The text of the headers that generated code includes; source_text.c is written by embed.sh
 * from the files themselves when joist is built. */
#ifndef JOIST_CUDA_SOURCE_TEXT_H
#define JOIST_CUDA_SOURCE_TEXT_H

enum { JOIST_SOURCE_TEXTS = 14 };

extern const char *const joist_source_names[JOIST_SOURCE_TEXTS];
extern const char *const joist_source_texts[JOIST_SOURCE_TEXTS];

#endif
