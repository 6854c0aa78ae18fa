# Tensors whose memory is a file: what they cost, that the file stays unchanged, and what other
# processes get.

skip_on_os("windows")

mapped_file <- function(x, envir = parent.frame()) {
  file <- withr::local_tempfile(.local_envir = envir)
  nv_write_npy(x, file)
  file
}

# Only such a tensor can be shared.
is_mapped <- function(x) {
  inherits(tryCatch(nv_share(x), error = identity), "nv_tensor")
}

resident <- function() {
  status <- readLines("/proc/self/status")
  as.numeric(sub("[^0-9]*([0-9]+).*", "\\1", grep("^VmRSS", status, value = TRUE))) / 1024
}

test_that("tensors are mapped where elements lie as in memory", {
  x <- nv_tensor(matrix(1:6, 2), "i16")
  file <- mapped_file(x)
  y <- nv_read_npy(file, mmap = TRUE)
  expect_identical(y, x)
  expect_true(is_mapped(y))
  expect_identical(as_array(y * 2L + t(t(y))), as_array(x) * 3L)
  expect_identical(as_array(y[2, ]), c(2L, 4L, 6L))
  expect_false(is_mapped(nv_read_npy(file)))
  expect_false(is_mapped(nv_read_npy(file, mmap = TRUE, reversed = TRUE)))
  nv_write_npy(x, file, endian = "swap")
  expect_false(is_mapped(nv_read_npy(file, mmap = TRUE)))
  nv_write_npy(x, file, order = "C")
  expect_false(is_mapped(nv_read_npy(file, mmap = TRUE)))
  turned <- nv_read_npy(file, mmap = TRUE, reversed = TRUE)
  expect_true(is_mapped(turned))
  expect_identical(turned, t(x))
  expect_false(is_mapped(nv_read_npy(mapped_file(nv_tensor(TRUE)), mmap = TRUE)))
  nv_write_bin(x, file)
  expect_true(is_mapped(nv_read_bin(file, "i16", c(2, 3), mmap = TRUE)))
  nv_save(list(a = nv_tensor(1:3, "i32"), b = x), file)
  all <- nv_read(file, mmap = TRUE)
  expect_true(is_mapped(all$a))
  expect_false(is_mapped(all$b))
  con <- file(file)
  for (from in list(raw(4), con)) {
    expect_refusal(nv_read_bin(from, "i16", mmap = TRUE), "joist_value_error", "`mmap`")
    expect_refusal(nv_read_npy(from, mmap = TRUE), "joist_value_error", "`mmap`")
  }
  close(con)
  # Elements that do not begin on a multiple of their size.
  bytes <- nv_write_npy(nv_tensor(1:2, "i32"))
  odd <- c(bytes[1:8], as.raw(as.integer(bytes[9]) - 1L), bytes[10:126], bytes[128:136])
  writeBin(odd, file)
  expect_identical(nv_read_npy(file, mmap = TRUE), nv_tensor(1:2, "i32"))
  expect_false(is_mapped(nv_read_npy(file, mmap = TRUE)))
})

test_that("what is written to a mapped tensor stays in it", {
  for (d in c("i32", "f64", "c128", "f32", "ui8")) {
    x <- nv_tensor(1:4, d)
    file <- mapped_file(x)
    bytes <- readBin(file, "raw", 1000)
    y <- nv_read_npy(file, mmap = TRUE)
    z <- nv_read_npy(file, mmap = TRUE)
    w <- y
    y[2] <- 9L
    y[3] <- 8L
    expect_identical(as.integer(Re(y)), c(1L, 9L, 8L, 4L))
    expect_identical(w, x)
    z[1] <- 7L # in place
    expect_identical(as.integer(Re(z)), c(7L, 2L, 3L, 4L))
    expect_refusal(nv_share(z), "joist_value_error", "changed")
    v <- as.vector(nv_read_npy(file, mmap = TRUE))
    v[1] <- v[2]
    expect_identical(nv_read_npy(file), x)
    expect_identical(readBin(file, "raw", 1000), bytes)
  }
})

test_that("saving sends elements, or the path of what is shared", {
  x <- nv_tensor(matrix(rnorm(2e4), 100), "f64")
  file <- mapped_file(x)
  y <- nv_read_npy(file, mmap = TRUE)
  expect_gt(length(serialize(y, NULL)), 1.6e5)
  shared <- nv_share(y)
  expect_identical(shared, x)
  expect_identical(nv_share(shared), shared)
  sent <- serialize(shared, NULL)
  expect_lt(length(sent), 2000L)
  got <- unserialize(sent)
  expect_identical(got, x)
  expect_lt(length(serialize(got, NULL)), 2000L)
  expect_gt(length(serialize(shared, NULL, version = 2L)), 1.6e5)
  expect_gt(length(serialize(shared + 0, NULL)), 1.6e5)
  changed <- shared
  changed[1] <- 5
  expect_identical(shared, x)
  expect_identical(as_array(changed)[1], 5)
  rds <- withr::local_tempfile()
  saveRDS(list(shared, a = 1), rds)
  expect_identical(readRDS(rds)[[1]], x)
  # In another process, from another folder. The tensor is new: R's functions, which take writable
  # pointers, have not touched it.
  shared <- nv_share(nv_read_npy(file, mmap = TRUE))
  cluster <- parallel::makePSOCKcluster(1L)
  on.exit(parallel::stopCluster(cluster))
  library <- .libPaths()
  total <- parallel::clusterCall(cluster, function(x, library) {
    .libPaths(library)
    setwd(tempdir())
    c(sum(joist::as_array(x)), length(serialize(x, NULL)))
  }, shared, library)[[1]]
  expect_identical(total[1], sum(as_array(x)))
  expect_lt(total[2], 2000)
  # A file that is another one now.
  nv_write_npy(x, file)
  expect_identical(shared, x) # it was replaced, not changed
  expect_refusal(unserialize(sent), "joist_value_error", c(basename(file), "changed"))
  expect_refusal(nv_share(y), "joist_value_error", c(basename(file), "changed"))
  unlink(file)
  expect_refusal(unserialize(sent), "joist_value_error", basename(file))
  for (x in list(1, nv_tensor(1:3), nv_aval("f32", 3))) {
    expect_refusal(nv_share(x), "joist_value_error")
  }
})

test_that("what was saved of a shared tensor may be damaged", {
  file <- mapped_file(nv_tensor(1:100, "i32"))
  sent <- serialize(nv_share(nv_read_npy(file, mmap = TRUE)), NULL, ascii = TRUE)
  lines <- strsplit(rawToChar(sent), "\n", fixed = TRUE)[[1]]
  numbers <- which(grepl("^[0-9]+$", lines) & c("", lines[-length(lines)]) == nchar(lines))
  expect_gte(length(numbers), 6L)
  for (at in numbers) {
    for (digit in c("9", "a", "-")) {
      damaged <- lines
      substr(damaged[at], 1, 1) <- digit
      if (identical(damaged, lines)) next
      text <- charToRaw(paste0(paste(damaged, collapse = "\n"), "\n"))
      expect_error(unserialize(text), label = damaged[at])
    }
  }
})

test_that("a file that became shorter is an error", {
  x <- nv_tensor(rep(1, 1e5), "f64")
  file <- mapped_file(x)
  y <- nv_read_npy(file, mmap = TRUE)
  expect_identical(as_array(sum(y)), 1e5)
  con <- file(file, "r+b")
  seek(con, 1000, rw = "write")
  truncate(con)
  close(con)
  for (read in list(function() y + 1, function() as_array(y), function() y[99999])) {
    error <- expect_refusal(read(), "joist_value_error", c(basename(file), "shorter"))
  }
  expect_refusal(nv_share(y), "joist_value_error", basename(file))
  gc()
})

test_that("mapping costs neither time nor memory", {
  skip_on_cran()
  skip_if_not(file.exists("/proc/self/status"))
  folder <- withr::local_tempdir()
  file <- file.path(folder, "sparse.npy")
  n <- 5e9 # 20 GB
  header <- sprintf("{'descr': '<f4', 'fortran_order': True, 'shape': (%.0f, 5), }", n / 5)
  con <- file(file, "wb")
  writeBin(c(as.raw(c(0x93, utf8ToInt("NUMPY"), 1, 0, 118, 0))), con)
  writeBin(charToRaw(formatC(header, width = -117L)), con)
  writeBin(charToRaw("\n"), con)
  close(con)
  made <- system2("truncate", c("-s", format(128 + 4 * n, scientific = FALSE), shQuote(file)))
  skip_if(made != 0L, "no sparse files")
  invisible(nv_read_npy(mapped_file(nv_tensor(1:3)), mmap = TRUE))
  gc()
  x <- NULL
  before <- resident()
  seconds <- min(replicate(5, system.time(x <<- nv_read_npy(file, mmap = TRUE))[["elapsed"]]))
  expect_lte(seconds, 0.01)
  expect_identical(shape(x), c(1000000000L, 5L))
  expect_lt(resident() - before, 10)
  part <- x[999999000:1000000000, 5]
  expect_identical(as_array(part), numeric(1001))
  expect_lt(resident() - before, 20)
  x[7] <- 2
  expect_identical(as_array(x[5:8]), c(0, 0, 2, 0))
  expect_lt(resident() - before, 20)
})
