# The codecs that nv_zarr_create() writes, from the error for another one.
written_codecs <- function() {
  error <- tryCatch(
    nv_zarr_create(tempfile(), "ui8", 1, codecs = "none"),
    joist_value_error = conditionMessage
  )
  strsplit(sub("^.* among ", "", error), ", ", fixed = TRUE)[[1L]]
}

# A folder with the stores of other libraries that are kept for tests.
saved_stores <- function() {
  files <- readRDS(test_path("zarr-stores.rds"))
  folder <- withr::local_tempdir(.local_envir = parent.frame())
  for (name in names(files)) {
    path <- file.path(folder, name)
    dir.create(dirname(path), showWarnings = FALSE, recursive = TRUE)
    writeBin(files[[name]], path)
  }
  folder
}
