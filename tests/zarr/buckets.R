# Stores in a bucket of moto's S3, which checks signatures and permissions: written and read by
# joist, also through a server that fails every second request, and by zarr-python.
#
#   Rscript tests/zarr/buckets.R PYTHON
#
# PYTHON must have moto[s3,server], zarr 3 and obstore; R the packages digest and curl.

suppressPackageStartupMessages(library(joist))

script <- file.path(Sys.getenv("JOIST_ZARR_TESTS", "tests/zarr"), "buckets.py")
python <- commandArgs(TRUE)[1L]
Sys.unsetenv("LD_LIBRARY_PATH") # R's, by which Python may find another libssl
said <- tempfile()
log <- tempfile()
call_python <- function(..., wait = TRUE) {
  arguments <- c("-W", "ignore", shQuote(c(script, ...)))
  system2(python, arguments, wait = wait, stdout = log, stderr = log)
}
call_python("serve", said, wait = FALSE)
for (k in 1:300) if (file.exists(said)) break else Sys.sleep(0.1)
if (!file.exists(said)) stop("no server: ", paste(tail(readLines(log), 5), collapse = "\n"))
server <- readLines(said)
use <- function(port, user) {
  Sys.setenv(
    AWS_ENDPOINT_URL = paste0("http://127.0.0.1:", server[port]), AWS_REGION = "us-east-1",
    AWS_ACCESS_KEY_ID = server[user], AWS_SECRET_ACCESS_KEY = server[user + 1L]
  )
}
plain <- 2L
faulty <- 3L
writer <- 4L
reader <- 6L

counts <- c(passed = 0L, failed = 0L)
check <- function(ok, what) {
  if (!isTRUE(ok)) cat("differs:", what, "\n")
  counts <<- counts + c(isTRUE(ok), !isTRUE(ok))
}
refused <- function(expr, what) {
  said <- tryCatch(expr, joist_value_error = conditionMessage)
  check(is.character(said) && grepl(what, said), what)
}
x <- nv_tensor(matrix(1:35, 7))
ways <- list(plain = list(), sharded = list(shards = c(6, 4)), packed = list(codecs = "gzip"))
for (port in c(plain, faulty)) {
  use(port, writer)
  for (way in if (port == plain) names(ways) else "sharded") {
    where <- paste0("s3://data/", way)
    for (again in 1:2) { # the second replaces the first
      nv_zarr_create_group(paste0(where, again), consolidated = TRUE)
      y <- do.call(nv_store, c(
        list(x, paste0(where, again), "x", chunks = c(3, 2), overwrite = TRUE), ways[[way]]
      ))
      check(identical(nv_compute(y), x), paste(way, "as it was written"))
    }
    y[2:4, 3] <- 0L
    check(identical(as_array(y[, 3]), c(15L, 0L, 0L, 0L, 19:21)), paste(way, "after an assignment"))
    y[2:4, 3] <- 16:18
    sums <- nv_store(nv_reduce_sum(y, 1), paste0(where, 1), "sums", overwrite = TRUE)
    check(all(as_array(sums[]) == colSums(matrix(1:35, 7))), paste(way, "sums"))
    check(setequal(names(nv_zarr(paste0(where, 1))), c("x", "sums")), paste(way, "as a group"))
  }
  use(port, reader)
  refused(nv_store(x, "s3://data/no"), "write \"no/zarr.json\" of the bucket \"data\": permission")
  theirs <- nv_zarr("s3://data/sharded1", "x")
  check(identical(nv_compute(theirs), x), "what another user wrote")
  refused(theirs[1, 1] <- 0L, "write \"sharded1/x/c/0/0\" .* permission")
  use(port, writer)
  refused(nv_zarr("s3://data/no"), "no Zarr array or group")
  Sys.setenv(AWS_SECRET_ACCESS_KEY = "wrong")
  refused(nv_zarr("s3://data/sharded1", "x"), "permission denied.*403")
  use(port, writer)
  if (port == plain) {
    for (way in outer(names(ways), 1:2, paste0)) {
      joist:::remove_node(joist:::zarr_store(paste0("s3://data/", way)), "")
      refused(nv_zarr(paste0("s3://data/", way)), "no Zarr array or group")
    }
  }
}
use(plain, writer)
nv_zarr_create_group("s3://data/own")
invisible(nv_store(x, "s3://data/own", "x", chunks = 2, codecs = "gzip"))
check(call_python("check", "sharded1", "sharded2", "own") == 0L, "zarr-python")
check(identical(as_array(nv_compute(nv_zarr("s3://data/theirs")$x)), matrix(1:35, 7)), "theirs")
tools::pskill(server[1L])
cat(sprintf("counts: %d %d 0\n", counts[["passed"]], counts[["failed"]]))
quit("no", status = as.integer(counts[["failed"]] > 0L))
