# Put among the sources of a build for tests, where the calls of C that joist makes go through it.
recorder <- new.env()
recorder$record <- NULL
# Collects garbage at every so many allocations within a call; 0 is never.
recorder$torture <- 0L
.Call <- function(entry, ...) { # nolint: object_name_linter.
  arguments <- list(...)
  if (is.function(recorder$record)) recorder$record(entry, arguments)
  if (recorder$torture > 0L) {
    before <- gctorture2(recorder$torture)
    on.exit(gctorture2(before))
  }
  base::.Call(entry, ...)
}
