# PyTorch's checkpoints with bytes that were changed, cut out, repeated or taken from another one,
# of the pickle or of the zip archive, some of whose headers have other sizes, offsets, counts and
# methods: SECONDS [SEED], from the root of the tree. Each is tensors and values or an error of
# joist's, within 10 seconds; whatever else comes is printed with the bytes. Exit status 1 for that.
numbers <- as.double(c(commandArgs(TRUE), 60, 1))[1:2]
suppressPackageStartupMessages(library(joist))
read_pickle <- get("read_pickle", asNamespace("joist"))
set.seed(numbers[2L])
files <- list.files(file.path("tests", "testthat"), "[.](pt|pth)$", TRUE, recursive = TRUE)
files <- file.path("tests", "testthat", files)
pickles <- lapply(files, function(file) {
  name <- grep("data[.]pkl$", utils::unzip(file, list = TRUE)$Name, value = TRUE)
  con <- unz(file, name, "rb")
  on.exit(close(con))
  readBin(con, "raw", 1e6)
})
folder <- tempfile()
deflated <- lapply(files, function(file) {
  utils::unzip(file, exdir = folder)
  on.exit(unlink(folder, recursive = TRUE))
  zip::zip(made <- tempfile(), list.files(folder, recursive = TRUE), root = folder)
  made
})
archives <- lapply(c(files, unlist(deflated)), function(file) readBin(file, "raw", 1e6))
codes <- as.raw(as.integer(names(get("pickle_instructions", asNamespace("joist")))))

# Two or four bytes of a header of an archive.
change_header <- function(x) {
  size <- 2L * sample.int(2L, 1L)
  starts <- which(x[-length(x)] == charToRaw("P") & x[-1L] == charToRaw("K"))
  at <- c(starts, 1L)[sample.int(length(starts) + 1L, 1L)] + sample.int(48L, 1L) - 1L
  other <- c(0, 1, 8, 255, length(x), sample.int(length(x), 1L), 2^15, 2^16 - 1, 2^31 - 1, 2^32 - 1)
  value <- other[sample.int(length(other), 1L)]
  replace(x, at + seq_len(size) - 1L, as.raw(value %/% 256^(seq_len(size) - 1) %% 256))
}

change <- function(x, seeds, header) {
  if (header && sample.int(2L, 1L) == 1L) {
    return(change_header(x))
  }
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

file <- tempfile()
kinds <- list(
  pickle = list(
    seeds = pickles, read = function(bytes) read_pickle(bytes, function(key) raw(1024L), "little")
  ),
  archive = list(seeds = archives, read = function(bytes) {
    writeBin(bytes, file)
    nv_read_pt(file)
  })
)
end <- Sys.time() + numbers[1L]
counts <- c(pickle = 0, archive = 0, read = 0, refused = 0, wrong = 0)
kept <- lapply(kinds, `[[`, "seeds")
while (Sys.time() < end) {
  kind <- sample(names(kinds), 1L)
  bytes <- kept[[kind]][[sample.int(length(kept[[kind]]), 1L)]]
  for (k in seq_len(sample.int(4L, 1L))) {
    bytes <- change(bytes, kinds[[kind]]$seeds, kind == "archive")
    bytes <- bytes[!is.na(bytes)]
    if (length(bytes) < 2L) break
  }
  if (length(bytes) < 2L || length(bytes) > 4096L) next
  counts[kind] <- counts[kind] + 1
  setTimeLimit(elapsed = 10, transient = TRUE)
  got <- tryCatch(
    {
      kinds[[kind]]$read(bytes)
      "read"
    },
    joist_error = function(e) "refused", error = conditionMessage, warning = conditionMessage
  )
  setTimeLimit()
  if (!got %in% c("read", "refused")) {
    cat(got, "\n", deparse(paste(bytes, collapse = "")), "\n")
    got <- "wrong"
  }
  if (got == "read" && length(kept[[kind]]) < 1000L) kept[[kind]] <- c(kept[[kind]], list(bytes))
  counts[got] <- counts[got] + 1
}
cat("checkpoints:", paste(names(counts), counts, collapse = ", "), "\n")
quit("no", status = if (counts[["wrong"]] > 0) 1L else 0L)
