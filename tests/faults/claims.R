# The calls that the manual's claims are tested by, and those of calls.R, which reach what they do
# not: `calls`, a list. They are evaluated in `claims`, an environment that the caller has made, and
# come from the files `paths` of the folder `tests`.
paths <- file.path(tests, c("testthat/documented-claims.R", "faults/calls.R"))
for (path in paths) sys.source(path, claims, keep.source = TRUE) # programs keep the lines
calls <- c(claims$calls, unlist(lapply(
  c(claims$given_dtypes, claims$raised_errors), function(page) as.list(page)[-1L]
), use.names = FALSE))
