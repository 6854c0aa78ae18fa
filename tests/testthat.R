library(testthat)
library(joist)

test_check("joist")
