# Zarr stores of other writers and of joist, with shards, new codecs, grids, fields, text and sparse
# matrices, in which bytes of a key were changed, cut out, repeated or taken from another key, or a
# value of the metadata was replaced: SECONDS [SEED], from the root of the tree. Each is read, part
# of it written and read again, or an error of joist's, within 10 seconds; whatever else comes is
# told, with a file of the keys. Exit status 1 for that.
numbers <- as.double(c(commandArgs(TRUE), 60, 1))[1:2]
suppressPackageStartupMessages(library(joist))
set.seed(numbers[2L])
one_of <- function(x) x[[sample.int(length(x), 1L)]]

# Keys and bytes, of functions: nothing is written to files.
store_of <- function(files, list = TRUE) {
  all <- list2env(files)
  nv_zarr_store(
    get = function(key) all[[key]], put = function(key, bytes) assign(key, bytes, envir = all),
    list = if (list) {
      function(prefix) {
        keys <- ls(all, all.names = TRUE)
        unique(sub("/.*", "", substring(keys[startsWith(keys, prefix)], nchar(prefix) + 1L)))
      }
    }, delete = function(key) rm(list = key, envir = all),
    exists = function(key) exists(key, all, inherits = FALSE)
  )
}

# ---- the stores that are changed ----

saved <- readRDS(file.path("tests", "testthat", "zarr-stores.rds"))
saved <- saved[lengths(saved) > 0L & lengths(saved) < 20000L]
marks <- grep("(zarr[.]json|[.]zarray|[.]zgroup)$", names(saved), value = TRUE)
seeds <- lapply(unique(dirname(marks)), function(root) {
  own <- saved[startsWith(names(saved), paste0(root, "/"))]
  names(own) <- substring(names(own), nchar(root) + 2L)
  as.list(own)
})
codec <- function(name, ...) {
  how <- c(...)
  sprintf("{\"name\":\"%s\",\"configuration\":{%s}}", name, paste0("\"", names(how), "\":", how,
    collapse = ",", recycle0 = TRUE
  ))
}
bytes <- codec("bytes", endian = "\"little\"")
shards <- function(chunk, inner, place = "end") {
  codec("sharding_indexed",
    chunk_shape = chunk, codecs = paste0("[", inner, "]"),
    index_codecs = paste0("[", bytes, ",", codec("crc32c"), "]"),
    index_location = paste0("\"", place, "\"")
  )
}
cast <- codec("cast_value",
  data_type = "\"int16\"", rounding = "\"nearest-away\"", out_of_range = "\"clamp\"",
  scalar_map = "{\"encode\":[[\"NaN\",-1]],\"decode\":[[-1,\"NaN\"]]}"
)
made <- function(type, codecs, grid = "[4,6]", fill = "0", kind = "regular",
                 field = "chunk_shape") {
  text <- sprintf(paste0(
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[6,7],\"data_type\":%s,",
    "\"chunk_grid\":%s,\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":%s,",
    "\"codecs\":[%s]}"
  ), type, codec(kind, c(structure(grid, names = field), if (kind != "regular") {
    c(kind = "\"inline\"")
  })), fill, paste(codecs, collapse = ","))
  all <- list2env(list(zarr.json = charToRaw(text)))
  x <- nv_zarr(nv_zarr_store(
    get = function(key) all[[key]], put = function(key, bytes) assign(key, bytes, envir = all)
  ))
  values <- nv_tensor(matrix(1:42, 6) %% 8L)
  if (is_tensor(x) && kind == "regular") x[] <- nv_convert(values, dtype(x))
  as.list(all)
}
seeds <- c(seeds, list(
  made("\"float32\"", c(codec("scale_offset", offset = "1", scale = "2"), cast, bytes)),
  made("\"float64\"", c(
    cast, codec("reshape", shape = "[[0,1]]"), bytes, codec("gzip", level = "5")
  )),
  made("\"uint8\"", c(codec("transpose", order = "[1,0]"), codec("packbits", first_bit = "0"))),
  made("\"int4\"", codec("packbits", padding_encoding = "\"last_byte\"")),
  made("\"float32\"", c(codec("bitround", keepbits = "3"), bytes, codec("crc32c"))),
  made("\"int32\"", shards("[2,3]", paste0(bytes, ",", codec("gzip", level = "1")), "start")),
  made("\"uint16\"", shards("[4,3]", shards("[2,3]", bytes))),
  made("\"float32\"", shards("[2,2]", paste0(cast, ",", bytes))),
  made("\"int32\"", bytes, "[[1,3,2],[[4,2]]]", kind = "rectilinear", field = "chunk_shapes"),
  made("{\"name\":\"struct\",\"configuration\":{\"fields\":[[\"a\",\"int16\"],[\"b\",\"int8\"]]}}",
    shards("[2,2]", bytes), "[4,6]", "\"AAAA\""
  )
))

# ---- changes ----

values <- paste0(
  "\"[^\"]*\":(*SKIP)(*FAIL)|\"[^\"]*\"|-?[0-9.]+|\\[[^][]*\\]|\\{[^{}]*\\}|null|true|false"
)
others <- c(
  "1", "0", "-1", "3", "7", "64", "1e9", "99999999999", "null", "true", "\"x\"", "[]", "{}", "[1]",
  "[[1,2]]", "[2,3]", "\"int8\"", "\"float16\"", "\"NaN\"", "0.5", "{\"name\":\"bytes\"}", "\"\""
)
change_value <- function(text) {
  found <- gregexpr(values, text, perl = TRUE)[[1L]]
  at <- sample.int(length(found), 1L)
  if (found[1L] < 0L) {
    return(text)
  }
  end <- found[at] + attr(found, "match.length")[at]
  paste0(substr(text, 1L, found[at] - 1L), one_of(others), substring(text, end))
}
change_bytes <- function(x, other) {
  if (length(x) == 0L) {
    return(other)
  }
  at <- sample.int(length(x), 1L)
  part <- at + seq_len(min(sample.int(16L, 1L), length(x) - at + 1L)) - 1L
  switch(sample.int(6L, 1L),
    replace(x, at, as.raw(sample.int(256L, 1L) - 1L)), replace(x, part, one_of(as.raw(c(0, 255)))),
    x[-part], append(x, x[part], sample.int(length(x), 1L)), utils::head(x, -length(part)), other
  )
}
changed <- function(files) {
  key <- one_of(names(files))
  is_text <- grepl("json$|[.]z", key) && !any(files[[key]] == 0)
  files[[key]] <- if (is_text && sample.int(4L, 1L) > 1L) {
    charToRaw(change_value(iconv(rawToChar(files[[key]]), "latin1", "UTF-8")))
  } else {
    change_bytes(files[[key]], files[[one_of(names(files))]])
  }
  files
}

# ---- runs ----

use <- function(x) {
  if (is.list(x)) {
    for (one in utils::head(x, 6L)) use(one)
  } else if (is_tensor(x) && prod(shape(x)) < 1e5) {
    got <- nv_compute(x)
    if (length(got) > 0L && grepl("writable", utils::capture.output(print(x))[1L])) {
      first <- rep(list(1L), ndims(x))
      do.call(`[<-`, c(list(x), first, list(value = got[1L])))
    }
  }
}
ends <- proc.time()[[3L]] + numbers[1L]
outcomes <- c(read = 0, refused = 0, wrong = 0)
while (proc.time()[[3L]] < ends) {
  files <- one_of(seeds)
  for (k in seq_len(sample.int(2L, 1L))) files <- changed(files)
  start <- proc.time()[[3L]]
  said <- tryCatch(
    {
      use(suppressWarnings(nv_zarr(store_of(files, sample.int(4L, 1L) > 1L))))
      "read"
    },
    joist_error = function(e) "refused", error = function(e) {
      paste(conditionMessage(e), "in", deparse(conditionCall(e))[1L])
    }
  )
  if (proc.time()[[3L]] - start > 10) said <- "it took more than 10 seconds"
  if (!said %in% names(outcomes)) {
    saveRDS(files, file <- tempfile("wrong", fileext = ".rds", tmpdir = dirname(tempdir())))
    cat("wrong:", said, "of", file, "\n")
    said <- "wrong"
  }
  outcomes[said] <- outcomes[said] + 1
}
cat(paste(outcomes, names(outcomes), collapse = ", "), "\n")
quit("no", status = as.integer(outcomes[["wrong"]] > 0))
