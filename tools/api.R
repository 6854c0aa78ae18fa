# Ends with status 1 where the joist that is installed in a library calls what this version of R
# does not name in its manual or headers as open to packages: LIBRARY.
if (!exists("checkPkgAPI", asNamespace("tools"))) quit("no") # before R 4.5
found <- tools:::checkPkgAPI("joist", commandArgs(TRUE)[1L])
if (NROW(found) > 0L) {
  cat("not open to packages:", found$name, "\n")
  quit("no", status = 1L)
}
cat("every function of R that C calls is open to packages\n")
