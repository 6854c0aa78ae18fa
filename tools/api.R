# Ends with status 1 where the joist that is installed in a library calls what this version of R
# does not open to packages: LIBRARY. Before R 4.6, which has something in their stead, that is what
# R CMD check names, and not all that the manual and the headers leave out.
if (!exists("checkPkgAPI", asNamespace("tools"))) quit("no") # before R 4.5
found <- tools:::checkPkgAPI("joist", commandArgs(TRUE)[1L])$name
if (getRversion() < "4.6.0") found <- intersect(found, tools:::nonAPI)
if (length(found) > 0L) {
  cat("not open to packages:", found, "\n")
  quit("no", status = 1L)
}
cat("every function of R that C calls is open to packages\n")
