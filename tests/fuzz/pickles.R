# Pickles of PyTorch's checkpoints with bytes that were changed, cut out, repeated or taken from
# another pickle: SECONDS [SEED], from the root of the tree. Each is tensors and values or an error
# of joist's, within 10 seconds; whatever else comes is printed with the bytes. Exit status 1 for
# that.
numbers <- as.double(c(commandArgs(TRUE), 60, 1))[1:2]
suppressPackageStartupMessages(library(joist))
read_pickle <- get("read_pickle", asNamespace("joist"))
set.seed(numbers[2L])
files <- list.files(file.path("tests", "testthat"), "[.](pt|pth)$", TRUE, recursive = TRUE)
files <- file.path("tests", "testthat", files)
seeds <- lapply(files, function(file) {
  name <- grep("data[.]pkl$", utils::unzip(file, list = TRUE)$Name, value = TRUE)
  con <- unz(file, name, "rb")
  on.exit(close(con))
  readBin(con, "raw", 1e6)
})
codes <- as.raw(as.integer(names(get("pickle_instructions", asNamespace("joist")))))

change <- function(x) {
  at <- sample.int(length(x), 1L)
  n <- min(sample.int(16L, 1L), length(x) - at + 1L)
  part <- at + seq_len(n) - 1L
  other <- seeds[[sample.int(length(seeds), 1L)]]
  switch(sample.int(6L, 1L),
    replace(x, at, as.raw(sample.int(256L, 1L) - 1L)), replace(x, at, sample(codes, 1L)),
    x[-part], append(x, x[part], sample.int(length(x), 1L)), utils::head(x, -n),
    append(x, other[sample.int(length(other), 1L) + 0:7], at)
  )
}

end <- Sys.time() + numbers[1L]
counts <- c(runs = 0, read = 0, refused = 0, wrong = 0)
kept <- seeds
while (Sys.time() < end) {
  bytes <- kept[[sample.int(length(kept), 1L)]]
  for (k in seq_len(sample.int(4L, 1L))) bytes <- change(bytes)
  bytes <- bytes[!is.na(bytes)]
  if (length(bytes) == 0L || length(bytes) > 4096L) next
  counts["runs"] <- counts["runs"] + 1
  setTimeLimit(elapsed = 10, transient = TRUE)
  got <- tryCatch(
    {
      read_pickle(bytes, function(key) raw(1024L), "little")
      "read"
    },
    joist_error = function(e) "refused", error = conditionMessage, warning = conditionMessage
  )
  setTimeLimit()
  if (!got %in% c("read", "refused")) {
    cat(got, "\n", deparse(paste(bytes, collapse = "")), "\n")
    got <- "wrong"
  }
  if (got == "read" && length(kept) < 1000L) kept <- c(kept, list(bytes))
  counts[got] <- counts[got] + 1
}
cat("pickles:", paste(names(counts), counts, collapse = ", "), "\n")
quit("no", status = if (counts[["wrong"]] > 0) 1L else 0L)
