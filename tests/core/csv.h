/* csv.h: reads the published tables and lattices of inst/extdata (JOIST_EXTDATA). */
#ifndef JOIST_TESTS_CSV_H
#define JOIST_TESTS_CSV_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CSV_MAX = 64, CSV_ROWS = 96, CSV_TEXT = 16 };

struct csv {
  int rows, columns;
  char cell[CSV_ROWS][CSV_MAX][CSV_TEXT];
};

/* anvil spells its bool i1. */
static void csv_put(struct csv *csv, int row, int column, const char *text) {
  const char *bool_name = strcmp(text, "i1") == 0 ? "bool" : text;
  snprintf(csv->cell[row][column], CSV_TEXT, "%.15s", bool_name);
}

/* Returns 1 when the file could be read. */
static int csv_read(const char *file, struct csv *csv) {
  const char *folder = getenv("JOIST_EXTDATA");
  char path[1024], line[1024];
  snprintf(path, sizeof path, "%s/%s", folder != NULL ? folder : "../../inst/extdata", file);
  memset(csv, 0, sizeof *csv);
  FILE *in = fopen(path, "r");
  if (in == NULL) return 0;
  while (csv->rows < CSV_ROWS && fgets(line, sizeof line, in) != NULL) {
    line[strcspn(line, "\r\n")] = '\0';
    int column = 0;
    for (char *text = strtok(line, ","); text != NULL && column < CSV_MAX; text = strtok(NULL, ","))
      csv_put(csv, csv->rows, column++, text);
    if (column > csv->columns) csv->columns = column;
    if (column > 0) csv->rows++;
  }
  fclose(in);
  return csv->rows > 1;
}

#endif
