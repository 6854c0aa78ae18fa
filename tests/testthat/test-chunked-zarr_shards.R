# Shards of Zarr arrays: stores that other libraries wrote, with the values that they read; what
# joist writes, in memory beside the store; what is wrong in shards.

test_that("stores of TensorStore and zarr-python are read as these read them", {
  files <- readRDS(test_path("zarr-stores.rds"))
  folder <- saved_stores()
  for (name in grep("[.]fbytes$", names(files), value = TRUE)) {
    x <- nv_compute(nv_zarr(file.path(folder, sub("[.]fbytes$", "", name))))
    expect_identical(nv_write_bin(x, endian = "little"), files[[name]], info = name)
  }
})

# A store in memory that notes what is read.
noted_store <- function() {
  kept <- new.env()
  noted <- new.env()
  noted$reads <- list()
  note <- function(...) noted$reads[[length(noted$reads) + 1L]] <- list(...)
  store <- nv_zarr_store(
    get = function(key) {
      note(key)
      kept[[key]]
    },
    put = function(key, bytes) assign(key, bytes, envir = kept),
    list = function(prefix) {
      keys <- ls(kept)
      unique(sub("/.*", "", substring(keys[startsWith(keys, prefix)], nchar(prefix) + 1)))
    },
    delete = function(key) rm(list = key, envir = kept),
    exists = function(key) exists(key, kept, inherits = FALSE),
    range = function(key, from, size) {
      note(key, from, size)
      bytes <- kept[[key]]
      if (is.null(bytes)) return(NULL)
      if (from < 0) from <- length(bytes) + from
      bytes[from + seq_len(min(size, length(bytes) - from))]
    }
  )
  list(store = store, kept = kept, noted = noted)
}

test_that("what is written to shards is read again, of any shape, in any order", {
  withr::local_seed(1)
  for (k in 1:40) {
    rank <- sample(0:3, 1L)
    extents <- sample(1:9, rank, TRUE)
    chunks <- sample(1:3, rank, TRUE)
    shards <- chunks * sample(1:3, rank, TRUE)
    folder <- if (k %% 2L == 0L) tempfile() else noted_store()$store
    x <- nv_zarr_create(folder, "i16", extents, chunks, fill = 7L, shards = shards,
      codecs = list(character(), "gzip", c("zlib", "crc32c")[2L])[[k %% 3L + 1L]],
      order = c("C", "F")[k %% 2L + 1L], endian = c("little", "big")[k %% 3L %/% 2L + 1L])
    want <- if (rank == 0L) 7L else array(7L, extents)
    for (again in 1:3) {
      at <- lapply(extents, function(n) sort(sample(n, sample(n, 1L))))
      value <- sample(1e4L, prod(lengths(at)), TRUE)
      if (rank == 0L) {
        x[] <- value
        want <- value
      } else {
        want <- do.call(`[<-`, c(list(want), at, list(value = value)))
        x <- do.call(`[<-`, c(list(x), at, list(value = array(value, lengths(at)))))
      }
      expect_identical(as.vector(as_array(nv_compute(nv_zarr(folder)))), as.vector(want))
    }
    y <- nv_store(nv_zarr(folder) + 1L, tempfile(), chunks = chunks, shards = shards)
    expect_identical(as.vector(as_array(y[])), as.vector(want) + 1L)
    if (rank == 2L) {
      at <- sample(extents[1L], 2L, TRUE)
      expect_identical(as_array(nv_zarr(folder)[at, ]), want[at, ])
    }
  }
})

test_that("of a shard, the index and the chunks that are needed are read, neighbours together", {
  made <- noted_store()
  x <- nv_zarr_create(made$store, "ui8", c(64, 64), chunks = c(16, 16), shards = c(64, 64))
  x[] <- matrix(0:255, 64, 64)
  expect_identical(sort(ls(made$kept)), c("c/0/0", "zarr.json"))
  made$noted$reads <- list()
  expect_identical(as_array(x[3, ]), rep(as.integer(c(2, 66, 130, 194)), 16))
  index <- 16 * 16 + 4
  ours <- Filter(function(read) length(read) > 1L, made$noted$reads)
  expect_identical(ours, list(list("c/0/0", -index, index), list("c/0/0", 0, 1024)))
  expect_identical(length(made$kept[["c/0/0"]]), as.integer(64 * 64 + index))
})

test_that("chunks far apart are read apart", {
  made <- noted_store()
  chunk <- 2^19
  x <- nv_zarr_create(made$store, "ui8", 5 * chunk, chunks = chunk, shards = 5 * chunk)
  x[] <- rep_len(0:250, 5 * chunk)
  made$noted$reads <- list()
  array <- joist:::array_in(x)
  at_end <- as.integer(4 * chunk)
  parts <- joist:::read_parts(array, list(1L, at_end + 1L), list(5L, at_end + 2L))
  ranges <- Filter(function(read) length(read) > 1L, made$noted$reads)
  expect_identical(vapply(ranges[-1L], function(read) read[[2L]], 0), c(0, 4 * chunk))
  expect_identical(as_array(parts[[2L]]), as.integer((4 * chunk + 0:1) %% 251))
  made$noted$reads <- list()
  joist:::read_parts(array, list(1L, at_end %/% 2L + 1L), list(5L, at_end %/% 2L + 2L))
  ranges <- Filter(function(read) length(read) > 1L, made$noted$reads)
  expect_identical(length(ranges), 2L) # a gap of half a megabyte
})

test_that("a shard keeps the bytes of chunks that are not written to, and has none of others", {
  made <- noted_store()
  x <- nv_zarr_create(made$store, "i32", c(6, 4), chunks = c(2, 2), shards = c(6, 4), fill = -1L)
  x[1, 1] <- 5L
  expect_identical(length(made$kept[["c/0/0"]]), as.integer(16 + 16 * 6 + 4))
  x[5, 3] <- 6L
  expect_identical(length(made$kept[["c/0/0"]]), as.integer(32 + 16 * 6 + 4))
  want <- matrix(-1L, 6, 4)
  want[1, 1] <- 5L
  want[5, 3] <- 6L
  expect_identical(as_array(nv_compute(nv_zarr(made$store))), want)
})

test_that("arrays of more than 10,000 chunks get shards, unless told not to", {
  grid <- function(...) {
    made <- noted_store()
    nv_zarr_create(made$store, "f64", ..., chunks = 10)
    rawToChar(made$kept[["zarr.json"]])
  }
  expect_match(grid(100010), "sharding_indexed")
  expect_no_match(grid(100000), "sharding_indexed")
  expect_no_match(grid(100010, shards = FALSE), "sharding_indexed")
  for (shards in list(15, 0, c(10, 10), "a")) {
    expect_error(grid(100, shards = shards), class = "joist_error")
  }
})

# ---- what is wrong ----

shard_with <- function(..., extents = c(4, 4), bytes = NULL) {
  folder <- tempfile()
  x <- nv_zarr_create(folder, "i16", extents, chunks = 2, shards = 4)
  x[] <- matrix(seq_len(prod(extents)), extents[1L])
  path <- file.path(folder, "zarr.json")
  json <- paste(readLines(path), collapse = "\n")
  for (change in list(...)) {
    changed <- sub(change[1L], change[2L], json, fixed = TRUE)
    expect_false(identical(json, changed))
    json <- changed
  }
  writeLines(json, path)
  folder
}

test_that("metadata of shards that is wrong is an error that names the field", {
  wrong <- function(field, ...) {
    expect_error(nv_zarr(shard_with(...)), field, class = "joist_value_error")
  }
  wrong("`chunk_shape`.*divide", c("\"chunk_shape\":[2,2]", "\"chunk_shape\":[3,2]"))
  wrong("`chunk_shape`", c("\"chunk_shape\":[2,2]", "\"chunk_shape\":[2]"))
  wrong("`chunk_shape`", c("\"chunk_shape\":[2,2]", "\"chunk_shape\":[0,2]"))
  wrong("`index_location`", c("\"end\"", "\"middle\""))
  wrong("`index_location`", c("\"end\"", "7"))
  wrong("`index_codecs`.*gzip", c("\"crc32c\"", "\"gzip\""))
  wrong("`index_codecs`", c("\"index_codecs\":", "\"other\":"))
  wrong("`codecs`", c(",\"codecs\":[", ",\"codecs\":[7,"))
  index <- "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\""
  wrong("`endian`", c(paste0(index, "little"), paste0(index, "small")))
})

test_that("a shard that ends early, or whose index is wrong, is an error that names it", {
  folder <- shard_with()
  path <- file.path(folder, "c/0/0")
  bytes <- readBin(path, "raw", 1e4)
  expect_broken <- function(bytes) {
    writeBin(bytes, path)
    expect_error(nv_compute(nv_zarr(folder)), "c/0/0", class = "joist_value_error")
    expect_error(nv_zarr(folder)[1, 1] <- 1L, "c/0/0", class = "joist_value_error")
  }
  for (n in c(0, 1, 31, 67, 68, length(bytes) - 1L)) expect_broken(bytes[seq_len(n)])
  flipped <- bytes
  flipped[40L] <- as.raw(1)
  expect_broken(flipped)
  # An index whose sum is right, of a chunk behind the end, and of one of another size.
  index <- bytes[32 + 1:64]
  for (change in list(list(6L, as.raw(1)), list(9L, as.raw(7)), list(1L, as.raw(200)))) {
    other <- replace(index, change[[1L]], change[[2L]])
    sum <- joist:::checksum("crc32c", other)
    expect_broken(c(bytes[1:32], other, sum))
  }
})

test_that("shards within shards and shards with codecs around them are read and written", {
  inner <- "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
  twice <- paste0(
    "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[1,2],\"codecs\":[", inner,
    ",{\"name\":\"gzip\"}],\"index_codecs\":[", inner, "],\"index_location\":\"start\"}}"
  )
  changes <- list(
    nested = c(paste0("\"codecs\":[", inner, "]"), paste0("\"codecs\":[", twice, "]")),
    packed = c("\"end\"}}", "\"end\"}},{\"name\":\"gzip\"}"),
    turned = c("\"codecs\": [",
      "\"codecs\": [{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}},")
  )
  want <- matrix(1:42, 7)
  for (change in changes) {
    folder <- shard_with(change, extents = c(7, 6))
    unlink(file.path(folder, "c"), recursive = TRUE)
    x <- nv_zarr(folder)
    x[] <- want
    expect_identical(as_array(nv_compute(nv_zarr(folder))), want)
    expect_identical(as_array(nv_zarr(folder)[7, ]), want[7, ])
    x[2, 3] <- 0L
    expect_identical(as_array(x[]), replace(want, 16, 0L))
  }
})
