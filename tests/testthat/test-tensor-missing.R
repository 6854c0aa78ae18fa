# Missing values, beside base R's vectors and three-valued logic written out here.

missing_of <- list(NA, NA_integer_, NA_real_)
floats <- c("f16", "bf16", "f32", "f64", "c64", "c128")

# The values of a tensor are those of an R vector, NA apart from NaN.
same_values <- function(x, values) {
  got <- as.vector(x)
  values <- as.vector(values)
  if (is.complex(got)) values <- as.complex(values)
  expect_identical(is.na(got) & !is.nan(got), is.na(values) & !is.nan(values))
  expect_equal(got[!is.na(got)] + 0, values[!is.na(values)] + 0, tolerance = 1e-6)
}

mask <- function(x) .Call(joist:::joist_r_mask_of, x)

test_that("NA of every type is missing in every dtype, and comes out as NA", {
  v <- c(1, 0, 1)
  for (d in dtypes()) {
    same_values(nv_tensor(c(NA, NA), d), c(NA, NA))
    if (is_narrow(d)) { # NA_real_ is a number that its integers have no common dtype with
      two <- sample_values(d, 2)
      x <- nv_tensor(c(two, NA), d)
      same_values(x, c(two, NA))
      x[1] <- NA
      same_values(c(x, x), c(NA, two[2], NA, NA, two[2], NA))
      next
    }
    x <- nv_tensor(v, d)
    expect_null(mask(x))
    for (na in missing_of) {
      same_values(nv_tensor(na, d), NA)
      same_values(nv_tensor(c(1L, na, 1L), d), c(1, NA, 1))
      same_values(nv_scalar(na, d), NA)
      same_values(nv_fill(na, 2, d), c(NA, NA))
      y <- x
      y[2] <- na
      same_values(y, c(1, NA, 1))
      same_values(x, v)
      y[c(TRUE, FALSE, TRUE)] <- nv_tensor(c(na, TRUE), d)
      same_values(y, c(NA, NA, 1))
      y[1:2] <- x[2:3]
      same_values(y, c(0, 1, 1))
      expect_null(mask(y))
      same_values(c(x, NA), c(v, NA))
      same_values(nv_concatenate(NA, x), c(NA, v))
      same_values(replace(x, 3, na), c(1, 0, NA))
      same_values(append(x, NA, 1), c(1, NA, 0, 1))
      same_values(ifelse(nv_tensor(c(TRUE, FALSE, TRUE)), x, NA), c(1, NA, 1))
      same_values(x == na, c(NA, NA, NA))
      same_values(jit(function(x) nv_concatenate(x, NA))(x), c(v, NA))
      same_values(jit(function(x) replace(x, 2, NA))(x), c(1, NA, 1))
      same_values(rbind(x, c(TRUE, na, TRUE))[2, ], c(1, NA, 1))
    }
    if (d != "bool") same_values(jit(function(x, y) x * y)(x, NA_integer_), c(NA, NA, NA))
    expect_identical(dtype(c(x, NA)), as_dtype(d))
    is.na(x) <- c(1, 3)
    same_values(x, c(NA, 0, NA))
    expect_identical(is.na(x), c(TRUE, FALSE, TRUE))
    expect_true(anyNA(x))
    length(x) <- 5
    same_values(x, c(NA, 0, NA, NA, NA))
    expect_identical(unserialize(serialize(x, NULL)), x)
    expect_identical(as.character(x)[c(1, 3)], c(NA_character_, NA))
    expect_match(capture.output(print(x))[1], "NA")
  }
  skip_if_not_installed("bit64")
  same_values(nv_tensor(bit64::as.integer64(c(5, NA))), c(5, NA))
  text <- c("9007199254740993", NA)
  expect_identical(as.character(nv_tensor(text, "i64")), text)
})

test_that("`na` says what NA becomes", {
  for (d in dtypes()) {
    one <- if (d == "bool") 1L else as.integer(held(1, d))
    expect_refusal(nv_tensor(c(one, NA), d, na = "error"), "joist_value_error", "position 2")
    if (kind_of(d) %in% c("float", "complex") && has_nan(d)) {
      expect_true(is.nan(Re(as.vector(nv_tensor(c(1, NA), d, na = "nan")))[2]))
    } else {
      position <- if (kind_of(d) == "float") "position 1" else "position 2"
      expect_refusal(nv_tensor(c(one, NA), d, na = "nan"), "joist_value_error", position)
    }
  }
})

test_that("NaN is not missing", {
  for (d in floats) {
    x <- nv_tensor(c(1, NaN, NA), d)
    expect_identical(as.vector(mask(x)), c(FALSE, FALSE, TRUE))
    expect_identical(as.vector(nv_is_nan(x)), c(FALSE, TRUE, FALSE))
    expect_identical(as.vector(nv_is_na(x)), c(FALSE, TRUE, TRUE))
    expect_identical(as.vector(x == x), c(TRUE, FALSE, NA))
  }
  v <- c(1.5, NA, NaN, 1.5)
  expect_identical(as.character(nv_tensor(v, "f64")), as.character(v))
})

test_that("every operation has a rule, and those that refuse say what to do", {
  table <- .Call(joist:::joist_r_op_names)
  rules <- stats::setNames(table$missing, table$name)
  expect_false(any(rules == "none"))
  m <- nv_tensor(matrix(c(2, NA, 1, 2), 2), "f64")
  calls <- list(
    chol = nv_chol, solve = function(x) nv_solve(x, x), inverse = nv_inv, qr = nv_qr, svd = nv_svd,
    eigh = nv_eigh, lu = nv_lu, eig = nv_eig, eigvals = nv_eigvals,
    singular_values = nv_matrix_rank
  )
  for (name in names(calls)) {
    expect_identical(rules[[name]], "refuse")
    expect_refusal(calls[[name]](m), "joist_value_error", c("missing values", "nv_replace_na"))
  }
  expect_refusal(
    nv_rnorm(2, mean = nv_tensor(c(1, NA)), key = nv_key(1)), "joist_value_error", "missing values"
  )
})

test_that("the determinant of a matrix with a missing element is missing", {
  m <- array(c(2, 1, 1, 3, 2, NA, 1, 3, 4, 1, 0, 2), c(2, 2, 3))
  for (d in floats[1:4]) {
    x <- nv_tensor(m, d)
    same_values(nv_det(x), c(5, NA, 8))
    expect_identical(is.na(nv_determinant(x)$modulus), c(FALSE, TRUE, FALSE))
    same_values(nv_determinant(x)$sign, c(1, NA, 1))
  }
})

test_that("logic has three values", {
  truth <- c(TRUE, FALSE, NA)
  pairs <- expand.grid(a = truth, b = truth)
  a <- nv_tensor(pairs$a)
  b <- nv_tensor(pairs$b)
  for (f in list(`&`, `|`, xor, `==`, `!=`)) {
    expect_identical(as.vector(f(a, b)), f(pairs$a, pairs$b))
    expect_identical(as.vector(jit(f)(a, b)), f(pairs$a, pairs$b))
    for (one in truth) expect_identical(as.vector(f(a, one)), f(pairs$a, one))
  }
  expect_identical(as.vector(!nv_tensor(truth)), !truth)
  sets <- expand.grid(truth, truth, truth)
  x <- nv_tensor(as.matrix(sets))
  for (k in seq_len(nrow(sets))) {
    own <- unlist(sets[k, ])
    expect_identical(as.vector(any(x[k, ])), any(own))
    expect_identical(as.vector(all(x[k, ])), all(own))
    expect_identical(as.vector(any(x[k, ], na.rm = TRUE)), any(own, na.rm = TRUE))
    expect_identical(as.vector(all(x[k, ], na.rm = TRUE)), all(own, na.rm = TRUE))
  }
  expect_identical(as.vector(nv_reduce_any(x, 2)), unname(apply(sets, 1, any)))
  expect_identical(as.vector(nv_reduce_all(x, 2)), unname(apply(sets, 1, all)))
  expect_error(if (nv_tensor(NA)) 1, "TRUE/FALSE")
})

test_that("operands may share a mask, in another shape too", {
  v <- c(3, NA, 5, 7)
  w <- c(NA, 1, 2, NA)
  for (d in c("i8", "i32", "f16", "f64")) {
    x <- nv_tensor(v, d)
    y <- x * nv_scalar(2, d)
    z <- nv_tensor(w, d)
    same_values(x + y, 3 * v)
    same_values(x * x - z, v * v - w)
    same_values(ifelse(x > y, y, x), v)
    same_values(ifelse(z > x, x, y), ifelse(w > v, v, 2 * v))
    same_values(nv_clamp(x, y, z), pmin(2 * v, w))
    same_values(nv_matmul(nv_reshape(x, c(4, 1)), nv_reshape(x, c(1, 4))), v %o% v)
    x[2] <- nv_scalar(1, d)
    same_values(y, 2 * v)
    expect_false(anyNA(x))
  }
})

test_that("elements that are missing have no say: no error, no value", {
  for (d in c("i8", "i32", "i64", "ui8", "ui64")) {
    x <- nv_tensor(c(7, NA, 9), d)
    y <- nv_mask(nv_tensor(c(2, 0, 3), d), c(FALSE, TRUE, FALSE))
    same_values(x %/% y, c(3, NA, 3))
    same_values(x %% y, c(1, NA, 0))
    same_values(nv_remainder(x, y), c(1, NA, 0))
    same_values(jit(function(x, y) x %/% y)(x, y), c(3, NA, 3))
    expect_error(x %/% nv_tensor(c(0, 1, 1), d), "position 1", class = "joist_value_error")
  }
  x <- nv_tensor(c(5, NA, 6), "i32")
  same_values(x^nv_mask(nv_tensor(c(2, -1, 2), "i32"), c(FALSE, TRUE, FALSE)), c(25, NA, 36))
  index <- nv_mask(nv_tensor(c(3L, 99L), "i32"), c(FALSE, TRUE))
  same_values(nv_gather(nv_tensor(1:3), index), c(3, NA))
  same_values(jit(function(x, i) nv_gather(x, i))(nv_tensor(1:3), index), c(3, NA))
})

test_that("an index that is NA gives NA", {
  v <- c(1, 2, 3, 4)
  m <- matrix(1:6, 2)
  for (d in c("f64", "f16", "i64", "ui8", "c64")) {
    x <- nv_tensor(v, d)
    for (at in list(
      NA, NA_integer_, NA_real_, c(2, NA, 4), c(NA, 0, 1L), c(TRUE, NA), c(FALSE, NA, TRUE, TRUE),
      nv_tensor(c(1, NA), "f64"), nv_tensor(c(TRUE, NA, FALSE, TRUE)), -5:-6 * NA
    )) {
      same_values(x[at], v[as.vector(at)])
      expect_identical(dtype(x[at]), as_dtype(d))
    }
    y <- nv_tensor(m, d)
    for (j in list(c(1, NA, 3), c(NA, TRUE, FALSE))) {
      same_values(y[c(2, NA), j], as.vector(m[c(2, NA), j]))
      expect_identical(shape(y[c(2, NA), j]), dim(m[c(2, NA), j]))
    }
    same_values(y[NA_integer_, ], m[NA_integer_, ])
    expect_identical(shape(y[NA_integer_, , drop = FALSE]), c(1L, 3L))
    same_values(nv_tensor(numeric(), d)[c(NA_integer_, NA)], c(NA, NA))
    expect_error(x[c(NA, 9)], "9", class = "joist_shape_error")
    expect_error(x[[NA_integer_]], "NA", class = "joist_value_error")
    expect_error(x[c(1, NA)] <- nv_tensor(1:2, d), "NA", class = "joist_value_error")
    same_values(jit(function(x) x[c(2, NA)])(x), c(2, NA))
    x[c(1, NA)] <- nv_tensor(9L, d)
    same_values(x, c(9, 2, 3, 4))
    x[nv_tensor(c(NA, TRUE, FALSE, NA))] <- nv_tensor(8L, d)
    same_values(x, c(9, 8, 3, 4))
  }
  expect_identical(shape(nv_aval("f64", 4)[c(1, NA)]), 2L)
})

test_that("nv_mask(), nv_replace_na() and nv_coalesce() set and fill missing values", {
  for (d in c(wide(setdiff(dtypes(), "bool")), "i4")) {
    x <- nv_mask(nv_tensor(1:4, d), c(TRUE, FALSE, FALSE, TRUE))
    same_values(x, c(NA, 2, 3, NA))
    same_values(nv_replace_na(x, 0L), c(0, 2, 3, 0))
    same_values(nv_replace_na(x, nv_tensor(4:7, d)), c(4, 2, 3, 7))
    same_values(nv_coalesce(x, nv_tensor(c(6L, 6L, 6L, NA), d), 7L), c(6, 2, 3, 7))
    same_values(jit(function(x) nv_replace_na(x, 1L))(x), c(1, 2, 3, 1))
    more <- nv_tensor(c(FALSE, TRUE, FALSE, NA))
    same_values(jit(function(x, m) nv_mask(x, m))(x, more), c(NA, NA, 3, NA))
    expect_identical(names(nv_replace_na(nv_tensor(c(a = 1, b = NA), d), 1L)), c("a", "b"))
    expect_error(nv_replace_na(x, 1:2), class = "joist_shape_error")
  }
  expect_error(nv_replace_na(nv_tensor(c(1L, NA), "ui8"), 300), class = "joist_value_error")
  expect_error(
    nv_replace_na(nv_tensor(c(1L, NA), "ui8"), nv_scalar(1, "f32")),
    class = "joist_promotion_error"
  )
  expect_error(nv_mask(nv_tensor(1:2), 1:2), class = "joist_dtype_error")
  same_values(nv_replace_na(nv_tensor(c(1, NaN, NA)), 2), c(1, 2, 2))
  expect_identical(as.vector(na.omit(nv_tensor(c(1L, NA, 3L), "ui8"))), c(1L, 3L))
})

test_that("without missing values `na_rm` leaves out the same elements as base R", {
  m <- matrix(c(1, NA, 3, 4, 5, NA, 7, 8, NA, NA, NA, 2), 3)
  for (d in c("f64", "f32", "i32", "i64", "ui8")) {
    x <- nv_tensor(m, d)
    for (k in 1:2) {
      over <- if (k == 1) 2 else 1
      rest <- function(f) apply(m, over, f, na.rm = TRUE)
      same_values(nv_reduce_sum(x, k, na_rm = TRUE), rest(sum))
      same_values(nv_reduce_prod(x, k, na_rm = TRUE), rest(prod))
      same_values(nv_mean(x, k, na_rm = TRUE), rest(mean))
      same_values(nv_reduce_max(x, k, na_rm = TRUE), rest(max))
      same_values(nv_reduce_min(x, k, na_rm = TRUE), rest(min))
      some <- apply(!is.na(m), over, sum) > 1
      same_values(nv_var(x, k, na_rm = TRUE)[some], rest(var)[some])
      same_values(nv_sd(x, k, na_rm = TRUE)[some], rest(sd)[some])
      same_values(nv_reduce_sum(x, k), apply(m, over, sum))
    }
    same_values(nv_cumsum(x, 1, na_rm = TRUE), apply(m, 2, function(v) {
      ifelse(is.na(v), NA, cumsum(ifelse(is.na(v), 0, v)))
    }))
    same_values(nv_range(x, na_rm = TRUE), c(1, 8))
    same_values(rowMeans(x, na.rm = TRUE), rowMeans(m, na.rm = TRUE))
    none <- nv_tensor(c(NA, NA), d)
    same_values(sum(none, na.rm = TRUE), 0)
    same_values(prod(none, na.rm = TRUE), 1)
    expect_true(is.nan(as.vector(mean(none, na.rm = TRUE))))
    same_values(nv_reduce_max(none, na_rm = TRUE), if (d %in% floats) -Inf else NA)
  }
})

test_that("a median or quantile of missing values is missing", {
  x <- nv_tensor(c(1, 2, 3, 4, NA), "f32")
  same_values(nv_median(x), NA)
  same_values(nv_quantile(x, c(0, 0.5)), c(NA, NA))
  same_values(nv_median(nv_tensor(matrix(c(1, 2, NA, 4), 2)), 1), c(1.5, NA))
  same_values(median(x, na.rm = TRUE), 2.5)
})

test_that("signatures say whether an argument has missing values", {
  f <- jit(function(x) sum(x + 1L))
  same_values(f(nv_tensor(1:3)), 9)
  same_values(f(nv_tensor(c(1L, NA))), NA)
  same_values(f(nv_tensor(c(1L, NA))), NA)
  expect_match(paste(capture.output(print(f)), collapse = "\n"), "mask of argument 1")
  same_values(f(nv_tensor(4:5)), 11)
  g <- jit(function(x) x + 1)
  expect_null(mask(g(nv_tensor(c(1, 2)))))
  x <- nv_aval("f32", 3, missing = TRUE)
  expect_false(is.null(mask(x + 1)))
  expect_false(is.null(mask(g(x))))
  expect_null(mask(nv_is_nan(x)))
  expect_null(mask(sum(x, na.rm = TRUE)))
  expect_identical(shape(x[1:2]), 2L)
  expect_null(mask(nv_aval("f32", 3) + 1))
})

test_that("loops and branches carry missing values", {
  x <- nv_tensor(c(1, NA, 3))
  same_values(nv_for(3, x, function(i, s) s + 1), c(4, NA, 6))
  same_values(nv_for(3, nv_tensor(1:3, "f32"), function(i, s) nv_mask(s + 1, s > 3)), c(4, NA, NA))
  gained <- nv_while(
    list(i = nv_scalar(0L), s = nv_tensor(c(1, 2))), function(i, s) i < 3L,
    function(i, s) list(i = i + 1L, s = nv_mask(s + 1, s > 3))
  )
  same_values(gained$s, c(4, NA))
  scanned <- nv_scan(nv_scalar(0), x, function(s, v) list(nv_coalesce(s + v, s), v * 2))
  same_values(scanned$carry, 4)
  same_values(scanned$ys, c(2, NA, 6))
  choose <- jit(function(p, x) nv_if(p, x, nv_tensor(c(1, 2, 3))))
  same_values(choose(TRUE, x), c(1, NA, 3))
  same_values(choose(FALSE, x), c(1, 2, 3))
  expect_error(
    nv_while(x, function(s) s[[1]] > 1, function(s) s), "nv_replace_na",
    class = "joist_value_error"
  )
})

test_that("gradients are zero by missing elements, and those of missing values are missing", {
  y <- nv_tensor(c(2, NA, 5), "f64")
  x <- nv_tensor(c(1, 2, 3), "f64")
  slopes <- list(
    list(function(x) sum(x^2, na.rm = TRUE), y, c(4, 0, 10)),
    list(function(x) sum(x * y, na.rm = TRUE), x, c(2, 0, 5)),
    list(function(x) sum(x[1] * y, na.rm = TRUE), x, c(7, 0, 0)),
    list(function(x) nv_mean(x * 3, na_rm = TRUE), y, c(1.5, 0, 1.5)),
    list(function(x) sum(nv_replace_na(x, 1) * x, na.rm = TRUE), y, c(4, 0, 10)),
    list(function(x) sum(acos(x / 9) * y, na.rm = TRUE), x, c(-2, 0, -5) / sqrt(81 - c(1, 4, 9))),
    list(function(x) sum(x * 2) + sum(nv_mask(x, x > 2) * 2, na.rm = TRUE), x, c(4, 4, 2)),
    list(function(x) sum(x * 0) + sum(x * NA, na.rm = TRUE), x, c(0, 0, 0)),
    list(function(x) mean(x), y, c(NA, NA, NA))
  )
  for (slope in slopes) {
    same_values(gradient(slope[[1]])(slope[[2]])$x, slope[[3]])
    same_values(jit(gradient(slope[[1]]))(slope[[2]])$x, slope[[3]])
  }
  checked <- check_gradient(function(x) nv_var(x * y, na_rm = TRUE) + sum(exp(y), na.rm = TRUE), y)
  expect_lt(max(checked$error), 1e-6)
  same_values(gradient(function(x) sum(nv_for(2, x, function(i, s) s * s), na.rm = TRUE))(y)$x,
    c(32, 0, 500)
  )
})

test_that("random functions give the same eagerly and compiled, by every rule set", {
  words <- random_words
  words$literals <- c(words$literals, "NA", "NA", "nv_flatten(NA)")
  words$binary <- c(
    words$binary, "nv_and(%s, %s)", "nv_or(%s, %s)", "nv_coalesce(%s, %s)", "%s %%/%% %s",
    "%s^%s", "nv_max(%s, %s)", "nv_mask(%s, nv_is_na(%s))", "%s >= %s",
    "nv_concatenate(nv_flatten(%s), nv_flatten(%s))", "nv_match(nv_flatten(%s), nv_flatten(%s))"
  )
  words$unary <- c(
    words$unary, "max(%s)", "min(%s)", "nv_reduce_sum(%s, na_rm = TRUE)", "nv_is_na(%s)",
    "nv_mean(%s, na_rm = TRUE)", "nv_reduce_max(%s, na_rm = TRUE)", "nv_replace_na(%s, 1L)",
    "nv_cumsum(%s)", "cummax(%s)", "nv_argmax(%s)", "any(%s > 1L)", "all(%s > 1L)",
    "nv_not(nv_convert(%s, \"bool\"))", "nv_sort(%s)", "nv_argsort(%s)", "nv_is_finite(%s)",
    "nv_cumsum(%s, na_rm = TRUE)", "nv_reduce_any(%s, na_rm = TRUE)", "nv_clamp(0L, %s, 3L)",
    "nv_reverse(nv_flatten(%s))", "nv_flatten(%s)[1L]", "nv_var(%s, na_rm = TRUE)",
    "nv_median(%s)", "nv_reduce_prod(%s, na_rm = TRUE)", "trunc(%s)"
  )
  input <- function(dtypes) {
    x <- random_input(dtypes)
    if (runif(1) < 0.6) nv_mask(x, nv_tensor(runif(length(x)) < 0.5, shape = shape(x))) else x
  }
  bits <- function(x) {
    if (is.list(x) && !is_tensor(x)) {
      return(lapply(x, bits))
    }
    missing <- mask(x)
    elements <- joist:::without_mask(x)
    if (!is.null(missing)) elements <- nv_ifelse(missing, nv_scalar(0L, dtype(x)), elements)
    list(type_text(x), shape(x), nv_write_bin(elements), as.vector(missing))
  }
  sets <- promotion_rule_sets()$id
  compared <- 0L
  for (k in 1:600) {
    set.seed(7e6 + k)
    program <- random_function(words, input)
    f <- function_of(program$lines)
    run <- function(f) {
      tryCatch(
        bits(suppressWarnings(with_promotion(sets[k %% length(sets) + 1L], {
          do.call(f, program$inputs)
        }))),
        joist_error = conditionMessage
      )
    }
    eager <- run(f)
    compiled <- run(jit(f))
    # A program is inferred before it runs, and rules that look at values cannot.
    if (is.character(eager) && is.character(compiled)) next
    if (is.character(compiled) && grepl("promote by the value", compiled)) next
    expect_identical(compiled, eager)
    compared <- compared + 1L
  }
  expect_gt(compared, 150L)
})

test_that("dtypes without 0, 1 or infinity have missing values, too", {
  # What takes the place of a missing element in a sum, a product or an extreme.
  for (d in c("int1", "f8E8M0FNU", "f4E2M1FN", "f8E4M3FNUZ")) {
    one <- held(1, d)
    x <- nv_tensor(c(one, NA, one), d)
    y <- nv_tensor(rep(one, 3), d)
    functions <- list(
      list(function(x) sum(x, na.rm = TRUE), 2 * one),
      list(function(x) prod(x, na.rm = TRUE), one^2),
      list(function(x) min(x, na.rm = TRUE), one), list(function(x) max(x, na.rm = TRUE), one),
      list(function(x) mean(x, na.rm = TRUE), one),
      list(function(x) nv_cumsum(x, na_rm = TRUE), c(one, NA, 2 * one)),
      list(function(x) nv_cumprod(x, na_rm = TRUE), c(one, NA, one^2)),
      list(function(x) any(x, na.rm = TRUE), 1), list(function(x) all(x, na.rm = TRUE), 1),
      list(function(x) nv_sort(x), c(one, one, NA)), list(function(x) nv_argsort(x), c(1, 3, 2)),
      list(function(x) y %/% x, c(one, NA, one)), list(function(x) x[c(2, 3)], c(NA, one))
    )
    for (k in seq_along(functions)) {
      f <- functions[[k]][[1]]
      want <- functions[[k]][[2]]
      expect_identical(as.double(as_array(f(x))), as.double(want), label = paste(d, k))
      expect_identical(jit(f)(x), f(x), label = paste(d, k))
    }
  }
})

test_that("views, pointers and plain vectors know NA", {
  for (d in dtypes_with(1)) {
    x <- nv_tensor(c(1, NA, 1), d)
    same_values(unclass(x), c(1, NA, 1))
    y <- structure(unclass(as.vector(x)), class = "nv_tensor", dtype = d)
    same_values(y, c(1, NA, 1))
    same_values(nv_convert(y, d), c(1, NA, 1))
    expect_identical(sum(is.na(as.list(x))), 1L)
    expect_identical(vapply(x, function(e) is.na(e), NA), c(FALSE, TRUE, FALSE))
    z <- x
    z[[2]] <- nv_scalar(if (d == "bool") TRUE else 1L, d)
    same_values(z, c(1, 1, 1))
    same_values(x, c(1, NA, 1))
  }
})

test_that("data frames, dplyr and data.table treat missing values as base R's", {
  k <- c(2L, NA, 1L, 2L, NA)
  v <- c(1, 2, NA, 4, 5)
  for (d in c("i64", "ui8", "f32")) {
    plain <- data.frame(k = k, v = v)
    typed <- data.frame(k = nv_tensor(k, d), v = nv_tensor(v, "f32"))
    expect_identical(as.vector(is.na(typed$k)), is.na(k))
    same_values(typed[order(typed$k), ]$v, plain[order(plain$k), ]$v)
    expect_identical(rownames(na.omit(typed)), rownames(na.omit(plain)))
    expect_identical(complete.cases(to_r(typed)), complete.cases(plain))
    other <- data.frame(k = c(1L, NA, 3L), w = 1:3)
    joined <- merge(plain, other, all = TRUE)
    typed_joined <- merge(typed, data.frame(k = nv_tensor(other$k, d), w = 1:3), all = TRUE)
    same_values(typed_joined$k, joined$k)
    same_values(typed_joined$v, joined$v)
    counts <- function(k) as.vector(table(k, useNA = "ifany"))
    expect_identical(counts(typed$k), counts(k))
    skip_if_not_installed("dplyr")
    means <- function(data) {
      groups <- dplyr::group_by(data, k)
      dplyr::summarise(groups, s = sum(v, na.rm = TRUE), n = dplyr::n(), m = any(is.na(v)))
    }
    same_values(means(typed)$k, means(plain)$k)
    same_values(means(typed)$s, means(plain)$s)
    expect_identical(means(typed)$n, means(plain)$n)
    joined <- dplyr::left_join(plain, other, by = "k")
    typed_joined <- dplyr::left_join(
      typed, data.frame(k = nv_tensor(other$k, d), w = 1:3), by = "k"
    )
    same_values(typed_joined$k, joined$k)
    expect_identical(typed_joined$w, joined$w)
    same_values(dplyr::coalesce(typed$k, nv_tensor(9L, d)), dplyr::coalesce(k, 9L))
    same_values(dplyr::lag(typed$k), dplyr::lag(k))
    same_values(dplyr::if_else(c(TRUE, NA, FALSE, TRUE, NA), typed$k, typed$k), c(2, NA, 1, 2, NA))
  }
})

test_that("data.table groups and joins missing values as base R's", {
  skip_if_not_installed("data.table")
  at_top <- function(f) `environment<-`(f, globalenv())
  for (d in c("i64", "ui8", "f32")) {
    k <- c(2L, NA, 1L, 2L, NA)
    table <- data.table::data.table(k = nv_tensor(k, d), v = nv_tensor(c(1, 2, NA, 4, 5), "f32"))
    sums <- at_top(function(x) x[, sum(v, na.rm = TRUE), by = k]$V1)
    expect_identical(as.vector(sums(table)), c(5, 7, 0))
    rows <- at_top(function(x) x[is.na(k)]$v)
    same_values(rows(table), c(2, 5))
    other <- data.table::data.table(k = nv_tensor(c(1L, NA), d), w = 1:2)
    joined <- merge(table, other, by = "k")
    same_values(joined$k, c(NA, NA, 1))
    expect_identical(joined$w, c(2L, 2L, 1L))
  }
})

test_that("a mask with NA changes nothing there, in jit() too", {
  f <- function(x, b) {
    x[b] <- 0L
    x
  }
  x <- nv_tensor(c(5L, 6L, 7L))
  b <- nv_tensor(c(TRUE, NA, FALSE))
  plain <- c(5L, 6L, 7L)
  plain[c(TRUE, NA, FALSE)] <- 0L
  expect_identical(as_array(f(x, b)), plain)
  expect_identical(as_array(jit(f)(x, b)), plain)
  expect_identical(as_array(jit(f)(x, nv_tensor(c(TRUE, FALSE, FALSE)))), c(0L, 6L, 7L))
  g <- function(x, y) {
    x[y > 0] <- 0
    sum(x)
  }
  expect_identical(as_array(jit(g)(nv_tensor(c(5, 6, 7)), nv_tensor(c(1, NA, -1)))), 13)
})

test_that("a reduction of all elements, one of them missing, is missing, of the usual type", {
  for (type in c("i8", "i32", "i64", "ui64", "f32", "f64", "bf16", "c64")) {
    x <- nv_tensor(matrix(c(100, NA, 100, 100), 2), type)
    for (f in list(nv_reduce_sum, nv_reduce_prod, nv_mean)) {
      full <- f(nv_replace_na(x, 100))
      expect_no_warning(whole <- f(x))
      expect_identical(is.na(whole), TRUE)
      expect_identical(format(dtype(whole)), format(dtype(suppressWarnings(full))))
      expect_identical(shape(whole), integer())
      expect_identical(shape(f(x, drop = FALSE)), c(1L, 1L))
      expect_identical(as.vector(is.na(f(x, 1L))), c(TRUE, FALSE))
    }
  }
  expect_identical(as.vector(nv_reduce_max(x[, 2] |> Re(), na_rm = TRUE)), 100)
  x <- nv_tensor(c(1, NaN, NA, 2), "f64")
  for (f in list(var, sd, median, nv_median, nv_sd)) {
    expect_identical(is.na(f(x)), TRUE)
    expect_identical(shape(f(x)), integer())
  }
  expect_identical(shape(nv_var(x, drop = FALSE)), 1L)
  expect_identical(anyNA(x), TRUE)
  expect_identical(anyNA(x[4:1][1:2]), TRUE)
  expect_identical(anyNA(x[c(1, 4)]), FALSE)
  expect_identical(anyNA(x[1:2]), TRUE)
  expect_identical(anyNA(nv_tensor(1:3)), FALSE)
})

test_that("as.integer(), as.logical() and as.complex() agree with base R, also for NA", {
  values <- c(-1.9, 0, NA, NaN, 2.5, 1e9)
  for (type in c("f64", "f32")) {
    x <- nv_tensor(values, type)
    expect_identical(as.integer(x), as.integer(values))
    expect_identical(as.logical(x), as.logical(values))
    expect_identical(as.complex(x), as.complex(as.vector(x)))
  }
  expect_error(as.integer(nv_tensor(c(NA, NaN, 3e9), "f64")), class = "joist_value_error")
  expect_error(as.integer(nv_tensor(c(NA, Inf), "f64")), class = "joist_value_error")
  whole <- c(NA, 0, 7)
  for (type in c("i8", "i32", "i64", "ui64", "ui8")) {
    x <- nv_tensor(whole, type)
    expect_identical(as.integer(x), as.integer(whole))
    expect_identical(as.logical(x), as.logical(whole))
    expect_identical(as.double(x), whole)
  }
  large <- nv_tensor(c("9007199254740993", "0", NA), "i64")
  expect_identical(as.logical(large), c(TRUE, FALSE, NA))
  expect_identical(as.logical(nv_tensor(c(TRUE, NA, FALSE))), c(TRUE, NA, FALSE))
  # What a mask covers need not fit R's integers.
  x <- nv_mask(nv_tensor(c("9223372036854775807", "3"), "i64"), c(TRUE, FALSE))
  expect_identical(as_array(x, "integer"), c(NA, 3L))
  expect_identical(as.vector(x), c(NA, 3))
})

test_that("a number that stands for missing values in a file is one of the dtype", {
  writers <- list(
    function(x, na) nv_write_npy(x, na = na), function(x, na) nv_serialize(list(x = x), na = na),
    function(x, na) nv_write_gguf(list(x = x), tempfile(), na = na),
    function(x, na) {
      con <- rawConnection(raw(), "w")
      on.exit(close(con))
      nv_write_bin(x, con, na = na)
    },
    function(x, na) nv_store(x, tempfile(), na = na),
    function(x, na) nv_zarr_create(tempfile(), dtype(x), 2L, fill = na)
  )
  rounded <- list(f16 = c(-9999, 1e-50), bf16 = c(-9999, 257), f32 = c(16777217, 1e-50))
  for (d in names(rounded)) {
    x <- nv_tensor(c(1, NA), d)
    for (write in writers) {
      for (na in rounded[[d]]) expect_refusal(write(x, na), "joist_value_error", c(d, "rounds"))
      expect_silent(write(x, -2048))
      expect_silent(write(x, 0.1)) # a fraction is that of the dtype
    }
  }
})
