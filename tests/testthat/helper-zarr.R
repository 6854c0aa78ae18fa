# The codecs that nv_zarr_create() writes, from the error for another one.
written_codecs <- function() {
  error <- tryCatch(
    nv_zarr_create(tempfile(), "ui8", 1, codecs = "none"),
    joist_value_error = conditionMessage
  )
  strsplit(sub("^.* among ", "", error), ", ", fixed = TRUE)[[1L]]
}
