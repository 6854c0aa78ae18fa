# Runs over blocks that are stopped, killed, resumed, and spread over workers.

made <- function(values, dtype, chunks, ...) {
  x <- nv_zarr_create(tempfile(), dtype, dim(values), chunks, ...)
  x[] <- nv_tensor(values, dtype)
  x
}

# A folder as a store of functions, with something done before each `put`.
watched_store <- function(path, before = function(key, bytes) NULL, after = function(key) NULL) {
  at <- function(key) file.path(path, key)
  nv_zarr_store(
    get = function(key) if (file.exists(at(key))) readBin(at(key), "raw", file.size(at(key))),
    put = function(key, bytes) {
      before(key, bytes)
      dir.create(dirname(at(key)), showWarnings = FALSE, recursive = TRUE)
      writeBin(bytes, at(key))
      after(key)
    },
    list = function(prefix) list.files(at(prefix), all.files = TRUE, no.. = TRUE),
    delete = function(key) unlink(at(key), recursive = TRUE),
    exists = function(key) file.exists(at(key)), label = path
  )
}

test_that("chunks of a reduction or product are whole when they are there", {
  values <- matrix(1:80 / 8, 20)
  x <- made(values, "f64", c(3, 4))
  programs <- list(nv_reduce_sum(x, 2), nv_reduce_max(x, 2, drop = FALSE), x %*% t(x))
  wanted <- list(rowSums(values), cbind(apply(values, 1, max)), values %*% t(values))
  for (k in seq_along(programs)) {
    chunks <- c(8L, 6L)[seq_along(shape(programs[[k]]))]
    for (most in 1:4) {
      path <- tempfile()
      there <- 0L
      stopping <- watched_store(path, function(key, bytes) {
        there <<- there + startsWith(key, "c/")
        if (there > most) stop("stopped")
      })
      store <- function(to, ...) nv_store(programs[[k]], to, chunks = chunks, ...)
      stored <- tryCatch(store(stopping), error = function(e) NULL)
      if (is.null(stored)) {
        expect_length(list.files(file.path(path, "c"), recursive = TRUE), most)
        stored <- store(path, resume = TRUE)
      }
      expect_identical(as_array(nv_compute(stored)), wanted[[k]])
    }
  }
})

test_that("a program is known by its exact numbers and by the chunks of what it reads", {
  path <- tempfile()
  x <- nv_zarr_create(path, "f64", 4L, 2L, fill = 1)
  to <- tempfile()
  nv_store(x * 0.1234567890123, to)
  expect_error(nv_store(x * 0.12345678901234, to, resume = TRUE), "program",
    class = "joist_value_error")
  expect_identical(as_array(nv_store(x * 0.1234567890123, to, resume = TRUE)[]),
    rep(0.1234567890123, 4))
  # The same file under its relative name.
  old <- setwd(dirname(path))
  on.exit(setwd(old))
  nv_store(nv_zarr(basename(path)) * 0.1234567890123, to, resume = TRUE)
  new <- nv_zarr_create(basename(tempfile()), "f64", 4L, 2L)
  setwd(old)
  new[1] <- 5
  expect_identical(as_array(new[]), c(5, 0, 0, 0))
  x <- nv_zarr_create(path, "f64", 4L, 3L, fill = 1, overwrite = TRUE)
  expect_error(nv_store(x * 0.1234567890123, to, resume = TRUE), "program",
    class = "joist_value_error")
})

test_that("a program is known by its elements in memory and by mapped files", {
  to <- tempfile()
  x <- nv_tensor(1:4, "f32")
  nv_store(nv_chunked(x, 2) + 1, to)
  expect_identical(as_array(nv_store(nv_chunked(x, 2) + 1, to, resume = TRUE)[]), 2:5 + 0)
  x[3] <- 9
  expect_error(nv_store(nv_chunked(x, 2) + 1, to, resume = TRUE), "program",
    class = "joist_value_error")
  files <- tempfile(c("a", "b"))
  for (file in files) nv_write_npy(x, file)
  mapped <- function(file) nv_chunked(nv_read_npy(file, mmap = TRUE), 2)
  to <- tempfile()
  nv_store(mapped(files[1]) * 2, to)
  expect_identical(as_array(nv_store(mapped(files[1]) * 2, to, resume = TRUE)[]), c(2, 4, 18, 8))
  expect_error(nv_store(mapped(files[2]) * 2, to, resume = TRUE), "program",
    class = "joist_value_error")
  # A mapped tensor that was written to no longer has the contents of its file.
  y <- nv_read_npy(files[1], mmap = TRUE)
  y[1] <- 7
  expect_error(nv_store(nv_chunked(y, 2) * 2, to, resume = TRUE), "program",
    class = "joist_value_error")
})

test_that("two stores with one label are two", {
  in_memory <- function(value) {
    kept <- new.env()
    store <- nv_zarr_store(
      get = function(key) kept[[key]], put = function(key, bytes) assign(key, bytes, envir = kept)
    )
    x <- nv_zarr_create(store, "f32", c(4, 2), 2)
    x[] <- value
    x
  }
  expect_identical(as_array(nv_compute(in_memory(1) + in_memory(10))), matrix(11, 4, 2))
})

test_that("chunks of an array that was being replaced are not those of the new one", {
  path <- tempfile()
  x <- nv_zarr_create(path, "i32", c(4, 4), 2)
  x[] <- 1:16
  # As left by somebody who was stopped after the metadata was gone.
  unlink(file.path(path, "zarr.json"))
  expect_error(nv_zarr_create(path, "i32", c(4, 4), 2), "chunks of another.*overwrite",
    class = "joist_value_error")
  expect_error(nv_store(x + 1L, path, resume = TRUE), "overwrite", class = "joist_value_error")
  y <- nv_zarr_create(path, "i32", c(4, 4), 2, overwrite = TRUE)
  expect_identical(as_array(y[]), matrix(0L, 4, 4))
  y[] <- 1L
  scalar <- nv_zarr_create(path, "i32", integer(), overwrite = TRUE)
  expect_identical(as_array(scalar[]), 0L)
  scalar[] <- 3L
  unlink(file.path(path, "zarr.json"))
  expect_error(nv_zarr_create(path, "i32", integer()), "overwrite", class = "joist_value_error")
  z <- nv_zarr_create(path, "i32", 2L, overwrite = TRUE)
  z[] <- 1:2
  expect_identical(as_array(nv_zarr(path)[]), 1:2)
})

test_that("units of work cover each block once, and are made one by one", {
  by_hand <- function(program, wanted) {
    inner <- joist:::inner_count(program)
    unlist(lapply(wanted, function(block) block * inner + seq_len(inner) - 1))
  }
  x <- nv_zarr_create(tempfile(), "f32", c(70, 30), c(1, 3))
  for (lazy in list(x + 1, nv_reduce_sum(x, 1), nv_reduce_sum(x, 2), mean(x), nv_crossprod(x))) {
    program <- joist:::block_program(lazy)
    outer <- joist:::outer_count(program)
    for (wanted in list(seq_len(outer) - 1, outer - 1, numeric())) {
      for (workers in c(1, 2, 30)) {
        units <- joist:::work_units(program, wanted, workers)
        parts <- do.call(c, lapply(seq_len(units$count), units$at))
        blocks <- unlist(lapply(parts, function(part) part$blocks))
        expect_equal(sort(blocks), by_hand(program, wanted))
        expect_identical(sum(vapply(parts, function(part) part$ends, TRUE)), length(wanted))
      }
    }
  }
  huge <- nv_zarr_create(tempfile(), "f32", c(2e9, 1000), c(1000, 1000), shards = FALSE)
  program <- joist:::block_program(huge + 1)
  wanted <- seq_len(joist:::outer_count(program)) - 1
  room <- gc(reset = TRUE)
  units <- joist:::work_units(program, wanted, 2)
  last <- units$at(units$count)
  expect_identical(last[[length(last)]]$blocks, 2e6 - 1)
  expect_lt(sum(gc()[, 6] - room[, 6]), 50)
})

# An array that calls `seen` with the key of each chunk that is read.
watched <- function(path, seen) {
  nv_zarr(nv_zarr_store(get = function(key) {
    file <- file.path(path, key)
    if (startsWith(key, "c/")) seen(key)
    if (file.exists(file)) readBin(file, "raw", file.size(file))
  }))
}

test_that("a product reads a chunk once for a tile of blocks, with the same bits in any tiles", {
  values <- matrix(sin(1:(70 * 90)), 70)
  path <- tempfile()
  stored <- nv_zarr_create(path, "f32", c(70, 90), c(10, 10))
  stored[] <- values
  read <- character()
  x <- watched(path, function(key) read <<- c(read, key))
  products <- list(
    nv_crossprod(x), nv_tcrossprod(x), nv_matmul(nv_transpose(x), x * 2), x[1:70, 1:70] %*% x
  )
  wanted <- list(crossprod(values), tcrossprod(values), 2 * crossprod(values),
    values[, 1:70] %*% values
  )
  for (k in seq_along(products)) {
    read <- character()
    got <- nv_compute(products[[k]])
    expect_equal(as_array(got), wanted[[k]], tolerance = 1e-6)
    # Tiles of at most 8 blocks by 8: the 9 columns of blocks of the Gram matrix are two of tiles.
    expect_lte(max(table(read)), c(3, 1, 3, 1)[k])
    # In units as workers get them, and block by block.
    program <- joist:::block_program(products[[k]])
    functions <- joist:::functions_of(program)
    work <- list(program = program, functions = functions)
    for (workers in c(2, 3, 30)) {
      units <- joist:::work_units(program, seq_len(joist:::outer_count(program)) - 1, workers)
      parts <- do.call(c, lapply(seq_len(units$count), function(j) {
        unit <- units$at(j)
        Map(function(part, value) c(part, list(value = value)), unit, joist:::run_unit(work, unit))
      }))
      of <- vapply(parts, function(part) part$blocks[1L] %/% joist:::inner_count(program), 0)
      for (block in unique(of)) {
        tree <- joist:::tree_new(functions$combine)
        for (part in parts[of == block]) tree$add(part$value, part$level)
        start <- joist:::result_start(program, block * joist:::inner_count(program))
        done <- joist:::finish_block(program, tree$result())[[1L]]
        index <- Map(function(from, n) seq(from, length.out = n), start, shape(done))
        expect_identical(as_array(done), as_array(got[index[[1L]], index[[2L]]]))
      }
    }
  }
})

test_that("what is read for reductions is not read again for the rest, as far as there is room", {
  values <- matrix(cos(1:600), 30)
  path <- tempfile()
  stored <- nv_zarr_create(path, "f64", c(30, 20), c(10, 10))
  stored[] <- values
  read <- character()
  x <- watched(path, function(key) read <<- c(read, key))
  standardized <- (x - nv_mean(x, 1, FALSE)) / nv_sd(x, 1, FALSE)
  wanted <- as.vector(scale(values))
  expect_equal(as.vector(as_array(nv_compute(standardized))), wanted)
  expect_identical(max(table(read)), 1L)
  expect_length(read, 6L)
  target <- nv_store(standardized, tempfile())
  expect_equal(as.vector(as_array(nv_compute(target))), wanted)
  expect_length(read, 12L)
  # Nothing is kept for another run, whose chunks may be others by then.
  stored[1, ] <- 5
  changed <- replace(values, cbind(1, 1:20), 5)
  expect_equal(as.vector(as_array(nv_compute(standardized))), as.vector(scale(changed)))
  # Of three chunks, room for two.
  kept <- joist:::new_kept()
  kept$room <- 1600
  parts <- list(list(
    low = list(c(1L, 1L), c(11L, 1L), c(21L, 1L)),
    high = list(c(10L, 10L), c(20L, 10L), c(30L, 10L))
  ))
  array <- joist:::array_in(x)
  read <- character()
  first <- joist:::read_shared(array, parts, kept)
  expect_identical(joist:::read_shared(array, parts, kept), first)
  expect_identical(sort(as.vector(table(read))), c(1L, 1L, 2L))
  expect_identical(kept$bytes, 1600)
})

test_that("progress is signalled, once for each part of the work", {
  skip_if_not_installed("progressr")
  loadNamespace("progressr")
  withr::local_options(progressr.enable = TRUE)
  x <- made(matrix(1:64, 8), "f32", 1)
  steps <- list()
  withCallingHandlers(
    sum <- nv_compute(nv_reduce_sum(x)),
    progression = function(p) steps[[length(steps) + 1L]] <<- p
  )
  expect_identical(as_array(sum), 2080)
  types <- vapply(steps, function(p) p$type, "")
  expect_identical(types[c(1L, length(types))], c("initiate", "finish"))
  expect_gt(steps[[1L]]$steps, 4)
  expect_identical(sum(types == "update"), as.integer(steps[[1L]]$steps))
})

test_that("workers over sockets: the same bits, their threads, and one that dies while it writes", {
  skip_on_cran()
  skip_if_not_installed("future")
  skip_on_os("windows")
  set.seed(2)
  values <- matrix(rnorm(3000), 60)
  folder <- tempfile()
  here <- nv_zarr_create(folder, "f32", c(60, 50), c(7, 9), codecs = "gzip")
  here[] <- nv_tensor(values, "f32")
  seen <- tempfile()
  dir.create(seen)
  x <- nv_zarr(nv_zarr_store(get = function(key) {
    writeLines(format(nv_get_threads()), file.path(seen, Sys.getpid()))
    file <- file.path(folder, key)
    if (file.exists(file)) readBin(file, "raw", file.size(file))
  }, label = "x"))
  programs <- list(
    nv_exp(x) / 3, nv_reduce_sum(nv_exp(x), 1), nv_crossprod(x), nv_sd(x),
    nv_tabulate(nv_convert(x * 4, "i32") + 9L, 20L)
  )
  alone <- lapply(programs, nv_compute)
  quantiles <- nv_quantile(x, c(0.1, 0.5))
  expect_equal(as_array(alone[[1L]], "double"), exp(values) / 3, tolerance = 1e-6)
  expect_equal(as_array(alone[[3L]], "double"), crossprod(values), tolerance = 1e-5)
  withr::local_options(joist.alone = 0)
  old <- future::plan(future::cluster, workers = c("localhost", "localhost"))
  on.exit(future::plan(old))
  unlink(list.files(seen, full.names = TRUE))
  expect_identical(lapply(programs, nv_compute), alone)
  expect_identical(nv_quantile(x, c(0.1, 0.5)), quantiles)
  readers <- list.files(seen)
  expect_length(readers, 2L)
  expect_false(Sys.getpid() %in% readers)
  threads <- as.integer(vapply(file.path(seen, readers), readLines, ""))
  expect_identical(threads, rep(as.integer(max(1, future::availableCores() %/% 2)), 2L))
  # One worker dies after writing half a chunk, another after writing one but before reporting it.
  owner <- Sys.getpid()
  die_once <- function(mark) {
    if (Sys.getpid() != owner && file.create(mark)) tools::pskill(Sys.getpid(), tools::SIGKILL)
  }
  for (whole in c(FALSE, TRUE)) {
    path <- tempfile()
    mark <- tempfile()
    dying <- watched_store(
      path,
      before = function(key, bytes) {
        if (whole || key != "c/1/1" || file.exists(mark)) return()
        dir.create(file.path(path, dirname(key)), showWarnings = FALSE, recursive = TRUE)
        writeBin(utils::head(bytes, length(bytes) %/% 2), file.path(path, paste0(key, ".1-0.tmp")))
        die_once(mark)
      },
      after = function(key) if (whole && key == "c/1/1" && !file.exists(mark)) die_once(mark)
    )
    suppressWarnings(stored <- nv_store(nv_exp(x) / 3, dying, chunks = c(7, 9)))
    expect_true(file.exists(mark))
    expect_identical(stored[], alone[[1L]])
    expect_identical(nv_zarr(path)[], alone[[1L]])
    future::plan(future::sequential)
    future::plan(future::cluster, workers = c("localhost", "localhost"))
  }
  kill_both <- function() {
    both <- lapply(c(0.5, 0.5), function(seconds) {
      future::future({
        Sys.sleep(seconds)
        Sys.getpid()
      })
    })
    tools::pskill(vapply(both, future::value, 0L), tools::SIGKILL)
  }
  kill_both()
  # No worker is left: this session does the work itself, or names the block that failed.
  suppressWarnings(expect_identical(lapply(programs, nv_compute), alone))
  # From version 1.40 on, future starts workers again that died.
  suppressWarnings(try(kill_both(), silent = TRUE))
  last <- tryCatch(
    suppressWarnings(nv_compute(programs[[1L]], retries = 0)),
    joist_value_error = conditionMessage
  )
  if (utils::packageVersion("future") < "1.40") {
    expect_match(last, "block 1, 1 failed once", fixed = TRUE)
  } else {
    expect_identical(last, alone[[1L]])
  }
})
