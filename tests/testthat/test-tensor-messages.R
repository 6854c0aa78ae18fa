# What messages say to somebody who wrote what comes to mind first.

test_that("a value that jit() traces but must know is to be static", {
  f <- jit(function(x, k) nv_top_k(x, k)$values)
  x <- nv_tensor(c(3, 1, 2))
  expect_refusal(f(x, 2L), "joist_value_error", c("`k`", "`static`"))
  expect_identical(as.vector(jit(nv_top_k, static = "k")(x, k = 2L)$values), c(3, 2))
  expect_refusal(jit(nv_eye)(3), "joist_value_error", c("`n`", "`static`"))
  # A tensor is no such argument.
  expect_error(f(x, nv_scalar(2L)), "whole number", class = "joist_value_error")
})

test_that("functions that make tensors name the argument that does not fit", {
  expect_refusal(nv_fill(1:2, 3), "joist_shape_error", c("`value`", "one value", "nv_tensor"))
  expect_refusal(nv_fill(numeric(), 3), "joist_shape_error", c("`value`", "not 0"))
  expect_refusal(nv_iota(2, "i32", 3), "joist_shape_error", c("`dim` is 2", "`shape`", "1 extent"))
  expect_refusal(nv_iota(3, "i32", 1:2), "joist_shape_error", "2 extents")
})

test_that("advice is a call that can be run unchanged", {
  skip_if_not_installed("bit64")
  far <- nv_tensor("9007199254740993", "i64")
  for (text in c("integer64", "character")) {
    call <- sprintf("as_array(x, as = \"%s\")", text)
    expect_refusal(as.vector(far), "joist_value_error", call)
    x <- far # nolint: object_usage_linter. The call names it.
    expect_identical(format(eval(str2lang(call))), "9007199254740993")
  }
})

test_that("pictures of other packages are told to as_tensor(), fractions to round()", {
  picture <- as.raster(matrix(c("red", "blue"), 1))
  expect_refusal(nv_tensor(picture), "joist_value_error", c("raster", "as_tensor()"))
  native <- structure(matrix(-1L, 1), class = "nativeRaster", channels = 3L)
  expect_refusal(nv_tensor(native, "ui8"), "joist_value_error", c("nativeRaster", "as_tensor()"))
  expect_identical(shape(as_tensor(native)), c(1L, 1L, 4L))
  expect_refusal(nv_tensor(0.3, "ui8"), "joist_value_error", c("round()", "nv_convert()"))
})

test_that("as.vector() of a traced tensor names nv_flatten()", {
  m <- nv_tensor(matrix(1:2, 2))
  expect_refusal(jit(function(x) as.vector(x) + 1L)(m), "joist_value_error", "nv_flatten()")
  expect_identical(as.vector(jit(function(x) nv_flatten(x) + 1L)(m)), 2:3)
})

test_that("one thing is not many", {
  lines <- function(x) capture.output(print(x))
  one <- promotion_lattice(cbind("f32", "f64"), "own_one")
  expect_match(lines(one), "and 1 edge$", all = FALSE)
  two <- promotion_lattice(cbind(c("f16", "f32"), c("f32", "f64")), "own_two")
  expect_match(lines(two), "and 2 edges$", all = FALSE)
})

test_that("stopifnot() and isTRUE() take all() of a tensor", {
  x <- nv_tensor(c(1, 2))
  expect_silent(stopifnot(all(x > 0), x > 0))
  expect_error(stopifnot(all(x > 1)))
  expect_error(stopifnot(x > 1))
  expect_true(isTRUE(all(x > 0)))
  expect_false(isTRUE(all(x > 1)))
  expect_true(isFALSE(all(x > 1)))
})

test_that("stopifnot() sees what is TRUE", {
  x <- nv_tensor(c(1, 2))
  expect_silent(stopifnot(all(x > 0)))
  expect_error(stopifnot(all(x > 1)), "is not TRUE")
})

test_that("messages suggest what helps", {
  x <- nv_tensor(1:4)
  m <- nv_tensor(matrix(1:12, 4))
  message <- conditionMessage(expect_error(x + m, class = "joist_shape_error"))
  expect_match(message, "nv_unsqueeze()", fixed = TRUE)
  expect_match(message, "drop = FALSE", fixed = TRUE)
  expect_identical(as_array(nv_unsqueeze(x, 2) + m), matrix(1:12, 4) + 1:4)
  expect_error(order(nv_aval("f32", 3)), "xtfrm() and order() of a tensor depend on", fixed = TRUE)
  expect_error(unique(nv_aval("f32", 3)), "unique() of a tensor depends on", fixed = TRUE)
  skip_if_not_installed("Matrix")
  sparse <- Matrix::sparseMatrix(1:2, 1:2, x = c(1, 2))
  expect_error(nv_tensor(sparse), "dgCMatrix.*as.matrix()", class = "joist_value_error")
  expect_identical(shape(nv_tensor(as.matrix(sparse))), c(2L, 2L))
})

test_that("conditions in arguments of S4 generics keep their class", {
  x <- nv_tensor(1:3)
  y <- nv_tensor(1:2)
  calls <- list(
    quote(rowSums(x + y)), quote(sd(x + y)), quote(var(x + y)), quote(cor(1:3, x + y)),
    quote(pmax(x + y, 1)), quote(pmin(1, x + y)), quote(match(1, x + y)), quote(1 %in% (x + y)),
    quote(ifelse(x == y, 1, 0)), quote(which.max(x + y)), quote(isTRUE(all(x == y))),
    quote(crossprod(x + y)), quote(atan2(x + y, 1)), quote(rank(x + y))
  )
  # As their users see them: in functions attached by library().
  attached <- list2env(list(x = x, y = y), parent = as.environment("package:joist"))
  for (call in calls) {
    error <- tryCatch(eval(call, attached), error = identity)
    expect_s3_class(error, "joist_shape_error")
    expect_match(conditionMessage(error), "^shapes")
  }
})

test_that("a whole number that the default dtype rounds is warned about", {
  expect_warning(nv_tensor(123456789), "123456789 at position 1", class = "joist_rounding_warning")
  expect_warning(nv_tensor(c(1, -16777217)), "position 2", class = "joist_rounding_warning")
  expect_warning(nv_scalar(299792458), class = "joist_rounding_warning")
  expect_warning(nv_fill(123456789, 2), class = "joist_rounding_warning")
  for (fine in list(16777216, c(1e10, 0.1, 6.02e23, Inf, NaN, NA)[1:5], 123456789L, 0.1, 1e30)) {
    expect_silent(nv_tensor(fine))
  }
  expect_silent(nv_tensor(123456789, "f32"))
  expect_silent(nv_tensor(123456789, "f64"))
  expect_silent(nv_tensor(123456789, ambiguous = TRUE))
  expect_silent(with_promotion("numpy", nv_tensor(123456789)))
})

test_that("doubles beyond 2^53 that R may have rounded are warned about", {
  told <- function(code, position) {
    text <- paste0("at position ", position, " .*text")
    expect_warning(code, text, class = "joist_rounding_warning")
  }
  ids <- nv_tensor(c("9007199254740993", "9007199254740997"), "i64")
  told(nv_tensor(c(1, 9007199254740997), "i64"), 2)
  told(nv_scalar(0x9E3779B97F4A7C15, "ui64"), 1)
  told(nv_fill(-9007199254740997, 2, "i64"), 1)
  told(ids == 9007199254740997, 1)
  told(match(9007199254740997, ids), 1)
  octave <- with_promotion("octave", ids + 0L)
  told(with_promotion("octave", octave[2] <- 9007199254740997), 1)
  told(with_promotion("numpy", nv_tensor(c(0, 0, 2^60 + 2^9), "i64")), 3)
  for (fine in list(2^53, -2^53, 2^60, 3 * 2^61, 1e16, 1e17, -2^63, 9007199254740991, NA, 0)) {
    expect_silent(nv_tensor(fine, "i64"))
  }
  expect_silent(nv_tensor("9007199254740997", "i64"))
  expect_silent(nv_tensor(9007199254740997, "f64"))
  expect_silent(ids == 2^60)
  ok <- c(loss = "ok")
  expect_silent(with_promotion(NULL, nv_tensor(9007199254740997, "i64"), on = ok))
  expect_error(
    with_promotion(NULL, nv_tensor(9007199254740997, "i64"), on = c(loss = "error")),
    class = "joist_rounding_error"
  )
  # Columns of random ids that are read without colClasses.
  set.seed(9)
  caught <- vapply(1:200, function(k) {
    digits <- cbind(sample(1:8, 10, TRUE), matrix(sample(0:9, 180, TRUE), 10))
    text <- apply(digits, 1, paste, collapse = "")
    table <- utils::read.csv(text = c("id", text))
    made <- tryCatch(nv_tensor(table$id, "i64"), joist_rounding_warning = function(w) NULL)
    is.null(made) || identical(as.character(made), text)
  }, NA)
  expect_true(all(caught))
})

test_that("expect_equal_tensor() has the tolerance of the dtype", {
  for (d in c("f16", "bf16", "f32", "f64", "c64", "c128")) {
    x <- nv_tensor(c(1, 2, -3), d)
    ulp <- 2^-switch(d, f16 = , c32 = 10, bf16 = , bc32 = 7, f32 = , c64 = 23, 52)
    near <- nv_tensor(c(1, 2, -3) * (1 + 2 * ulp), d)
    expect_false(identical(as.vector(near), as.vector(x)))
    expect_success(expect_equal_tensor(x, x))
    expect_identical(expect_invisible(expect_equal_tensor(x, x)), x)
    expect_success(expect_equal_tensor(near, x))
    far <- nv_tensor(c(1, 2, -3) * 1.2, d)
    expect_failure(expect_equal_tensor(far, x), "relative difference|Mod")
    expect_success(expect_equal_tensor(far, x, tolerance = 0.5))
    expect_failure(expect_equal_tensor(x, x[1:2]), "shapes")
  }
  expect_failure(expect_equal_tensor(nv_tensor(1), nv_tensor(1, "f64")), "f32 and f64")
  expect_failure(expect_equal_tensor(nv_tensor(1), 1), "numeric")
  expect_error(expect_equal_tensor(1, 1), class = "joist_value_error")
})

test_that("objects other than numbers are named as R users name them", {
  x <- nv_tensor(c(1, 2))
  expect_error(gradient(function(x) sum(nv_tensor(1:3)))(x), "float scalar, not i64$")
  expect_error(jit(function(f, x) f(x))(sqrt, x), "^a function is neither a tensor")
  expect_error(jit(function(f, x) f(x))(mean, x), "^a function is neither a tensor")
  expect_error(nv_tensor(quote(x + y)), "^a call is neither a tensor")
})

test_that("errors name the function that was called, not one that it calls", {
  expect_refusal(nv_argsort(nv_tensor(1i)), "joist_dtype_error", "nv_argsort() is not defined")
  empty <- nv_tensor(numeric())
  for (p in c(-Inf, Inf)) {
    expect_refusal(nv_norm(empty, p = p), "joist_value_error", c("nv_norm()", "one element"))
    expect_refusal(
      jit(function(x) nv_norm(x, p = p))(empty), "joist_value_error", c("nv_norm()", "one element")
    )
  }
  expect_identical(shape(nv_norm(nv_empty("f32", c(0, 0)), 1, p = Inf)), 0L)
  # A function that another one got is called by the user.
  bool <- nv_tensor(TRUE)
  expect_refusal(nv_outer(bool, bool, nv_sub), "joist_dtype_error", "nv_sub() is not defined")
  expect_refusal(bool - bool, "joist_dtype_error", "nv_sub() is not defined")
})

test_that("errors about weights name the argument", {
  for (logits in list(c(-Inf, -Inf), c(NaN, 1), c(Inf, 1))) {
    expect_refusal(nv_rcategorical(3, logits, key = nv_key(1)), "joist_value_error", "`logits`")
  }
  for (prob in list(c(0, 0), c(-1, 1), c(NaN, 1))) {
    expect_refusal(
      nv_sample(2, replace = TRUE, prob = prob, key = nv_key(1)), "joist_value_error", "`prob`"
    )
  }
})

test_that("a missing argument is base R's error, with the user's call", {
  x <- nv_tensor(c(1, 2, 3))
  calls <- list(
    ids = quote(nv_segment_sum(x, count = 3)),
    index = quote(nv_scatter_add(x, values = 1)), indices = quote(nv_gather(x)),
    n = quote(nv_split(x)), k = quote(nv_top_k(x)), x = quote(nv_flatten()),
    y = quote(nv_outer(x)), edge_padding_low = quote(nv_pad(x, 0)), shift = quote(nv_roll(x))
  )
  for (name in names(calls)) {
    error <- tryCatch(eval(calls[[name]]), error = identity)
    expect_identical(conditionCall(error), calls[[name]])
    f <- function(x) NULL
    names(formals(f)) <- name
    body(f) <- as.name(name)
    expect_identical(conditionMessage(error), tryCatch(f(), error = conditionMessage))
  }
})

test_that("errors name what was called and given", {
  for (f in list(
    function() nv_rgeom(3, 1e-12), function() nv_rbernoulli(3, 2),
    function() nv_rmultinom(2, 300L, c(0.5, 0.5), "ui8")
  )) {
    e <- expect_error(f(), class = "joist_value_error")
    expect_no_match(conditionMessage(e), "nv_r", fixed = TRUE)
  }
  m <- nv_tensor(matrix(1:4, 2, dimnames = list(c("a", "b"), c("x", "y"))))
  expect_refusal(m[cbind("a", "x")], "joist_value_error", "a matrix of names")
  expect_refusal(nv_iota(1, "i64", 2, start = "9"), "joist_value_error", "`start`")
})
