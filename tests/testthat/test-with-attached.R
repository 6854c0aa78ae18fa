# joist beside other packages, attached before and after it, each time in a fresh R.

skip_on_cran()

# What each call gives: value, or message and class of the error, and warnings.
attach_and_call <- function(packages, values, calls, own, on_tensors) {
  told <- character()
  attach_package <- function(package) {
    withCallingHandlers(library(package, character.only = TRUE), message = function(m) {
      if (package == "joist") told <<- c(told, conditionMessage(m))
      invokeRestart("muffleMessage")
    })
  }
  for (package in packages) attach_package(package)
  where <- list2env(values, parent = globalenv())
  outcome <- function(call) {
    warned <- character()
    value <- withCallingHandlers(
      tryCatch(eval(call, where), error = function(e) {
        list(message = conditionMessage(e), class = class(e))
      }),
      warning = function(w) {
        warned <<- c(warned, conditionMessage(w))
        invokeRestart("muffleWarning")
      }
    )
    list(value, warned)
  }
  list(
    told = told, plain = lapply(calls, outcome), own = lapply(own, outcome),
    tensors = if ("joist" %in% packages) lapply(on_tensors, outcome)
  )
}

# The names of the functions come first: they are looked up where the packages are attached.
on_tensors <- as.list(expression(
  as_array(rowSums(nv_tensor(w))), as_array(colMeans(nv_tensor(w))), which(nv_tensor(v) > 1),
  which.max(nv_tensor(v)), which.min(nv_tensor(v)), match(2, nv_tensor(v)),
  match(nv_tensor(v), 2:3), nv_tensor(v) %in% 2:3, 2 %in% nv_tensor(v),
  as_array(var(nv_tensor(v))), as_array(sd(nv_tensor(v))), as_array(cor(nv_tensor(v), v)),
  as_array(cov(v, nv_tensor(v))), rank(nv_tensor(v)), as_array(diag(nv_tensor(w))),
  as_array(crossprod(nv_tensor(w))), as_array(tcrossprod(v, nv_tensor(v))),
  as_array(nv_tensor(w) %*% 1:3), as_array(jit(function(x) crossprod(1:2, x))(nv_tensor(w))),
  as_array(ifelse(nv_tensor(v) > 1, nv_tensor(v), 0)), as_array(atan2(nv_tensor(v), 1)),
  as_array(bitwAnd(nv_tensor(1:3), 2)), tabulate(nv_tensor(1:3)),
  findInterval(nv_tensor(v), 1:2), rle(nv_tensor(v))$lengths, rowsum(1:3, nv_tensor(v)),
  as_array(pmax(nv_tensor(v), 2)), as_array(pmin(1:3, nv_tensor(v))), as_array(fft(nv_tensor(v))),
  isTRUE(all(nv_tensor(v) > 0)), as.vector(jit(isTRUE)(nv_tensor(v))),
  length(rowMeans(nv_aval("f32", 2:3)))
))

of_vectors <- as.list(expression(
  rowSums(w), colMeans(w), which(v > 1), which.max(v), which.min(v), match(2, v), match(v, 2:3),
  v %in% 2:3, 2 %in% v, var(v), sd(v), cor(v, v), cov(v, v), rank(v), diag(w), crossprod(w),
  tcrossprod(v, v), w %*% 1:3, crossprod(1:2, w), ifelse(v > 1, v, 0), atan2(v, 1),
  bitwAnd(1:3, 2L), tabulate(1:3), findInterval(v, 1:2), rle(v)$lengths, rowsum(1:3, v),
  pmax(v, 2), pmin(1:3, v), fft(v), TRUE, FALSE, 2L
))

# S3 methods that are defined where they are used, and the packages' own.
own_methods <- list(
  base = expression(
    local({
      merge.other <- function(x, y, ...) "merged"
      na.omit.other <- function(object, ...) "omitted" # nolint: object_name_linter.
      thing <- structure(list(), class = "other")
      c(merge(thing, 1), na.omit(thing))
    }),
    merge(mtcars[1:3], mtcars[2:5]), na.omit(airquality), merge(1:2, 3:4), na.omit(c(1, NA))
  ),
  Matrix = expression(
    sparse <- Matrix::Matrix(matrix(c(1, 0, 0, 2, 0, 3), 2), sparse = TRUE),
    rowSums(sparse), colMeans(sparse), which(sparse > 0), crossprod(sparse),
    tcrossprod(sparse, sparse), sparse %*% 1:3, diag(sparse), 1:2 %*% sparse
  ),
  S4Vectors = expression(
    runs <- S4Vectors::Rle(c(1, 3, 3)),
    which(runs > 1), match(3, runs), match(runs, 3), which.max(runs), runs %in% 3, var(runs),
    sd(runs), cor(runs, runs), rank(runs), unsplit(S4Vectors::List(1, 2), 1:2),
    findInterval(runs, 1:2),
    na.omit(S4Vectors::DataFrame(a = c(1, NA))),
    merge(S4Vectors::DataFrame(a = 1:2), S4Vectors::DataFrame(a = 2:3), by = "a"), sort(runs)
  ),
  MatrixGenerics = expression(
    rowVars(w), colMaxs(w), rowSums(w), rowMeans(matrix(c(1, NA, 3, 4), 2), na.rm = TRUE),
    rowQuantiles(w, probs = 0.5), colSds(w)
  ),
  dplyr = expression(
    dplyr::filter(mtcars, cyl == 4), merge(dplyr::tibble(a = 1:2), dplyr::tibble(a = 2:3)),
    na.omit(dplyr::tibble(a = c(1, NA))),
    dplyr::left_join(dplyr::tibble(a = 1), dplyr::tibble(a = 1), "a")
  ),
  data.table = expression(
    merge(data.table::data.table(a = 1:2, b = 1), data.table::data.table(a = 2:3), by = "a"),
    na.omit(data.table::data.table(a = c(1, NA))), data.table::data.table(a = 1:2)[which(a > 1)]
  ),
  bit64 = expression(
    match(bit64::as.integer64(2), bit64::as.integer64(1:3)), rank(bit64::as.integer64(3:1)),
    bit64::as.integer64(2) %in% bit64::as.integer64(1:3)
  )
)

expect_unchanged <- function(packages, own) {
  values <- c(plain_values(), list(v = c(1, 3, 2), w = matrix(c(1, 0, 0, 2, 0, 3), 2)))
  run <- function(packages) {
    in_fresh_r(attach_and_call, packages, values, plain_calls(), as.list(own), on_tensors)
  }
  without <- run(packages)
  plain <- lapply(of_vectors, function(call) {
    unname(eval(call, values, as.environment("package:stats")))
  })
  for (order in list(c("joist", packages), c(packages, "joist"))) {
    label <- paste(order, collapse = ", ")
    with <- run(order)
    expect_identical(with$told, character(), label = label)
    expect_identical(with$said, character(), label = label)
    for (k in seq_along(plain_calls())) {
      expect_identical(with$plain[[k]], without$plain[[k]],
        label = paste(label, deparse1(plain_calls()[[k]]))
      )
    }
    expect_identical(with$own, without$own, label = label)
    for (k in seq_along(on_tensors)) {
      got <- with$tensors[[k]][[1]]
      # Generics of bit64 that are older than 4.8 stop where the table is a tensor.
      by_table <- deparse1(on_tensors[[k]]) %in% c("match(2, nv_tensor(v))", "2 %in% nv_tensor(v)")
      if ("bit64" %in% packages && by_table && is.list(got)) {
        expect_match(got$message, "vector")
        next
      }
      if (is.numeric(got)) got <- unname(got + 0)
      expect_equal(got, plain[[k]],
        tolerance = 1e-6, label = paste(label, deparse1(on_tensors[[k]]))
      )
    }
  }
}

test_that("base R is unchanged", {
  expect_unchanged(character(), own_methods$base)
})

for (package in setdiff(names(own_methods), "base")) {
  test_that(paste("base R and", package, "are unchanged"), {
    skip_if_not_installed(package)
    packages <- if (package == "S4Vectors") c("BiocGenerics", package) else package
    expect_unchanged(packages, c(own_methods$base, own_methods[[package]]))
  })
}

test_that("one generic serves all packages", {
  skip_if_not_installed("Matrix")
  shared <- in_fresh_r(function() {
    library(joist)
    library(Matrix)
    names <- c("rowSums", "colMeans", "diag", "crossprod")
    names <- Filter(function(name) is(getExportedValue("Matrix", name), "genericFunction"), names)
    list(same = vapply(names, function(name) {
      ours <- getGeneric(name, where = asNamespace("joist"))
      identical(ours@package, "base") && existsMethod(ours, "nv_tensor") ||
        existsMethod(ours, c("nv_tensor", "ANY"))
    }, NA))
  })
  expect_true(all(shared$same))
})

test_that("generics of MatrixGenerics see the values of tensors", {
  skip_if_not_installed("MatrixGenerics")
  for (order in list(c("joist", "MatrixGenerics"), c("MatrixGenerics", "joist"))) {
    got <- in_fresh_r(function(order) {
      for (package in order) {
        suppressPackageStartupMessages(suppressWarnings(library(package, character.only = TRUE)))
      }
      w <- matrix(c(1, 0, NaN, 2, 0, 3), 2)
      x <- nv_tensor(w, "f64")
      both <- function(f) list(f(x), f(w))
      list(
        plain = lapply(list(
          rowVars, colMaxs, rowMedians, function(x) colSds(x, na.rm = TRUE),
          function(x) rowQuantiles(x, probs = 0.5)
        ), both),
        typed = lapply(
          list(rowSums, colMeans, function(x) rowMeans(x, na.rm = TRUE)),
          function(f) list(is_tensor(f(x)), as_array(f(x)), f(w))
        )
      )
    }, order)
    for (pair in got$plain) expect_equal(pair[[1]], pair[[2]])
    for (triple in got$typed) {
      expect_true(triple[[1]])
      expect_equal(triple[[2]], unname(triple[[3]]))
    }
  }
})

test_that("a conflict with something else is still told", {
  told <- in_fresh_r(function() {
    attach(list(shape = function(x) "mine"), name = "mine")
    told <- character()
    withCallingHandlers(library(joist), message = function(m) told <<- c(told, conditionMessage(m)))
    list(told = told)
  })
  expect_match(told$told, "shape", all = FALSE)
  expect_false(any(grepl("rowSums", told$told)))
})

test_that("joist is attached without stats", {
  seen <- in_fresh_r(function() {
    detach("package:stats")
    library(joist)
    list(which = which(nv_tensor(c(FALSE, TRUE))), sd = as_array(sd(nv_tensor(c(1, 3), "f64"))))
  })
  expect_identical(seen$which, 2L)
  expect_equal(seen$sd, sqrt(2))
  expect_identical(seen$said, character())
})

test_that("an integer64 prints as one although bit64 is not attached", {
  skip_if_not_installed("bit64")
  printed <- in_fresh_r(function() {
    library(joist)
    out <- as_array(nv_tensor("9007199254740993", "i64"), as = "integer64")
    list(text = utils::capture.output(print(out)))
  })$text
  expect_identical(printed[length(printed)], "[1] 9007199254740993")
})
