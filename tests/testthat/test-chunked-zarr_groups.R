# Groups of Zarr stores: text, names along dimensions, consolidated metadata; stores of anndata.

counts <- matrix((0:11) %% 5, 4, 3, byrow = TRUE)

test_that("a store of anndata 0.12 is read in full", {
  folder <- file.path(saved_stores(), "anndata")
  dense <- nv_zarr(file.path(folder, "ad_dense2.zarr"))
  expect_identical(as_array(dense$X[]), counts)
  csr <- nv_zarr(file.path(folder, "ad_csr3.zarr"))
  for (x in list(csr$X, csr$layers$counts)) {
    expect_identical(attr(x, "zarr_attributes")$`encoding-type`, "csr_matrix")
    expect_identical(as_array(x[]) + 0, counts)
  }
  for (obs in list(dense$obs, csr$obs)) {
    expect_identical(obs$`_index`, paste0("cell", 0:3))
    expect_identical(obs$s, c("x", "", "yy", "z"))
    expect_identical(as_array(obs$n[]) + 0, c(1, 2, 3, 4))
    type <- obs$type$categories[as_array(obs$type$codes[]) + 1L]
    expect_identical(type, c("a", "b", "a", "\u00e9"))
  }
  expect_identical(csr$var$`_index`, c("g1", "g2", "g3"))
  expect_identical(as_array(csr$var$len[]), c(1.5, 2, 3))
})

test_that("text with missing values is read as anndata 0.13 writes it", {
  folder <- tempfile()
  for (type in c("nullable-string-array", "other")) {
    nv_zarr_create_group(folder, type, attributes = list(`encoding-type` = type))
    nv_store(nv_tensor(c(FALSE, TRUE, FALSE)), folder, paste0(type, "/mask"),
      dimnames = list(values = c("a", "b", "\u00e9"))
    )
  }
  all <- nv_zarr(folder)
  expect_identical(all$`nullable-string-array`, c("a", NA, "\u00e9"))
  expect_named(all$other, c("mask", "values"))
  nv_store(nv_tensor(c(FALSE, TRUE)), folder, "nullable-string-array/mask", overwrite = TRUE)
  expect_error(nv_zarr(folder), "`mask` must be as many", class = "joist_value_error")
})

test_that("text is read as zarr-python writes it", {
  folder <- file.path(saved_stores(), "anndata")
  want <- rbind(
    c("a", "b\u00e9", ""), c("long one", "x", "\u65e5\u672c"), c("q", "r", "s")
  )
  x <- nv_zarr(file.path(folder, "texts.zarr"))
  expect_identical(x$fixed, want)
  expect_identical(x$sharded, want)
  want[3, ] <- ""
  expect_identical(x$vlen, want)
  expect_identical(nv_zarr(file.path(folder, "texts2.zarr"))$fixed[1:2, ], want[1:2, ])
})

test_that("text that is broken is an error", {
  folder <- tempfile()
  nv_store(nv_tensor(1:2), folder, node = "x", dimnames = list(a = c("one", "two")))
  path <- file.path(folder, "a/c/0")
  bytes <- readBin(path, "raw", 99)
  expect_identical(nv_zarr(folder)$a, c("one", "two"))
  for (other in list(
    bytes[-length(bytes)], raw(), bytes[1:6], replace(bytes, 1L, as.raw(3)),
    replace(bytes, 9L, as.raw(0)), replace(bytes, 9L, as.raw(0xff)), replace(bytes, 8L, as.raw(9))
  )) {
    writeBin(other, path)
    expect_error(nv_zarr(folder), "a/c/0", class = "joist_value_error")
  }
})

test_that("names along dimensions are written beside an array, and are its dimnames", {
  folder <- tempfile()
  names <- list(cell = c("a", "b"), gene = c("u", "\u00e4", ""))
  x <- nv_tensor(matrix(1:6, 2))
  y <- nv_store(x, folder, node = "counts/raw", dimnames = names)
  expect_identical(dimnames(y[]), names)
  expect_identical(dimnames(nv_compute(y)), names)
  expect_identical(dimnames(y[2:1, c(3, 1)]), list(cell = c("b", "a"), gene = c("", "u")))
  expect_identical(names(y[2, ]), names$gene)
  expect_identical(attr(y, "dimension_names"), c("cell", "gene"))
  expect_identical(nv_zarr(folder)$counts[c("cell", "gene")], names)
  for (wrong in list(
    list(1, 2), list(a = "x", b = NULL), list(a = c("x", NA), b = NULL), list(cell = NULL),
    list(a = NULL, a = NULL), "a", list(`a/b` = c("x", "y"), c = NULL)
  )) {
    expect_error(
      nv_store(x, tempfile(), node = "x", dimnames = wrong), "dimnames", class = "joist_value_error"
    )
  }
  expect_error(nv_store(x, tempfile(), dimnames = names), "node", class = "joist_value_error")
})

test_that("coordinates that are numbers, or do not fit, are names or none", {
  folder <- tempfile()
  x <- nv_zarr_create(folder, "i16", c(2, 3), node = "x", dimension_names = c("t", "s"))
  nv_store(nv_tensor(c(1.5, 2)), folder, node = "t")
  nv_store(nv_tensor(1:2), folder, node = "s")
  expect_identical(dimnames(x[]), list(t = c("1.5", "2"), s = NULL))
})

# A store of a folder that cannot list its keys.
blind_store <- function(folder) {
  at <- function(key) file.path(folder, key)
  nv_zarr_store(function(key) if (file.exists(at(key))) readBin(at(key), "raw", 1e6))
}

test_that("groups of stores without lists are read through consolidated metadata", {
  folder <- file.path(saved_stores(), "anndata")
  for (name in c("ad_dense2.zarr", "ad_csr3.zarr")) {
    seen <- nv_zarr(blind_store(file.path(folder, name)))
    expect_identical(seen$obs$`_index`, paste0("cell", 0:3))
    expect_true(all(c("X", "obs", "var", "layers", "uns") %in% names(seen)))
  }
  expect_identical(as_array(nv_zarr(blind_store(file.path(folder, "ad_dense2.zarr")))$X[]), counts)
})

test_that("a consolidated group keeps the metadata of what is made in it", {
  folder <- tempfile()
  nv_zarr_create_group(folder, attributes = list(a = 1), consolidated = TRUE)
  expect_identical(names(nv_zarr(blind_store(folder))), character())
  x <- nv_zarr_create(folder, "f32", c(4, 2), node = "g/x", attributes = list(u = "m"))
  x[] <- 1:8
  nv_zarr_create_group(folder, "h")
  seen <- nv_zarr(blind_store(folder))
  expect_identical(attr(seen, "zarr_attributes"), list(a = 1))
  expect_identical(names(seen), c("g", "h"))
  expect_identical(attr(seen$g$x, "zarr_attributes"), list(u = "m"))
  expect_identical(as_array(seen$g$x[]), matrix(1:8 + 0, 4))
  expect_error(nv_zarr(blind_store(tempfile())), class = "joist_value_error")
  nv_zarr_create_group(folder <- tempfile())
  expect_error(nv_zarr(blind_store(folder)), "cannot say", class = "joist_value_error")
  writeLines(paste0(
    "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{},\"consolidated_metadata\":7}"
  ), file.path(folder, "zarr.json"))
  expect_error(nv_zarr(folder), "consolidated_metadata", class = "joist_value_error")
})

test_that("files are read again unless decoding them again is to be saved", {
  bytes_kept <- function(x) {
    kept <- joist:::new_kept()
    joist:::last_program(x - nv_mean(x, 1, drop = FALSE), 0L, kept)
    kept$bytes
  }
  x <- nv_store(nv_tensor(matrix(1:64, 8), "f32"), plain <- tempfile(), chunks = 4)
  coded <- nv_store(x, tempfile(), codecs = "gzip")
  withr::local_options(joist.memory = NULL)
  expect_identical(bytes_kept(x), 0)
  expect_identical(bytes_kept(coded), 0)
  expect_identical(bytes_kept(nv_zarr(blind_store(plain))), 256)
  withr::local_options(joist.memory = 2^28)
  expect_identical(bytes_kept(x), 0)
  expect_identical(bytes_kept(coded), 256)
})

test_that("what a subset reads is given back as that of blocks is", {
  x <- nv_store(nv_tensor(matrix(1:64, 8), "f32"), tempfile(), chunks = 4)
  withr::local_options(joist.memory = 2^40)
  before <- sum(joist:::counted$read)
  expect_identical(as_array(x[c(1, 8), ]), rbind(8 * 0:7 + 1, 8 * 1:8))
  expect_identical(joist:::counted$read - before, 64)
})

test_that("the budget of memory is a number of bytes", {
  x <- nv_zarr_create(tempfile(), "f32", c(40, 40), chunks = 10)
  x[] <- matrix(1:1600, 40)
  want <- nv_compute(nv_reduce_sum(x + 1, 1))
  for (budget in c(1, 1000, 2^40)) {
    withr::local_options(joist.memory = budget)
    expect_identical(nv_compute(nv_reduce_sum(x + 1, 1)), want)
    turns <- joist:::in_turns(1:100, 250)
    expect_identical(max(lengths(turns)), as.integer(max(1, min(nv_get_threads(), budget / 1000))))
  }
  for (wrong in list("a", 0, NA_real_, c(1, 2))) {
    withr::local_options(joist.memory = wrong)
    expect_error(nv_compute(x), "joist.memory", class = "joist_value_error")
  }
})
