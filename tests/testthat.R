library(testthat)
library(joist)

# CRAN's machines have minutes for a package: without NOT_CRAN one quick file for each subject runs,
# and with it all of them.
quick <- readLines("testthat/quick.txt")
all_files <- identical(Sys.getenv("NOT_CRAN"), "true")
test_check("joist", filter = if (!all_files) paste0("^(", paste(quick, collapse = "|"), ")$"))
