# Reductions against base R's apply() over every subset of dimensions.

reduce_in_r <- function(x, dims, f, drop) {
  extents <- dim(x)
  kept <- setdiff(seq_along(extents), dims)
  if (length(kept) == 0L) {
    out <- f(as.vector(x))
  } else {
    index <- arrayInd(seq_along(x), extents)[, kept, drop = FALSE]
    key <- as.vector((index - 1) %*% cumprod(c(1, extents[kept]))[seq_along(kept)])
    groups <- split(as.vector(x), factor(key, levels = seq_len(prod(extents[kept])) - 1))
    out <- unname(vapply(groups, f, f(as.vector(x)[1])))
  }
  left <- if (drop) extents[kept] else replace(extents, dims, 1L)
  if (length(left) > 1L) array(out, left) else out
}

reductions <- list(
  nv_reduce_sum = sum, nv_reduce_prod = prod, nv_reduce_min = min, nv_reduce_max = max,
  nv_mean = mean, nv_reduce_any = function(x) any(x != 0), nv_reduce_all = function(x) all(x != 0)
)

subsets <- function(rank) {
  lapply(seq_len(2^rank) - 1, function(k) which(k %/% 2^(seq_len(rank) - 1) %% 2 == 1))
}

test_that("every operation is in the table of this test", {
  table <- operation_table()
  expect_setequal(paste0("nv_", table$name[table$family == "reduction"]), names(reductions))
})

test_that("every subset of dimensions reduces as in base R", {
  for (rank in 1:4) {
    extents <- c(3L, 2L, 4L, 2L)[seq_len(rank)]
    set.seed(rank)
    v <- array(as.numeric(sample(c(-2, -1, 0, 1, 2, 3), prod(extents), TRUE)), extents)
    x <- nv_tensor(v, "f64")
    for (name in names(reductions)) {
      for (dims in subsets(rank)) {
        for (drop in c(TRUE, FALSE)) {
          # Empty `dims` reduce nothing; NULL reduces all dims.
          got <- getExportedValue("joist", name)(x, dims = dims, drop = drop)
          want <- if (length(dims)) reduce_in_r(v, dims, reductions[[name]], drop) else v
          if (length(dims) == 0L) {
            if (name %in% c("nv_reduce_any", "nv_reduce_all")) want <- v != 0
            if (rank == 1L) want <- as.vector(want)
          }
          same <- identical(as_array(got), want)
          if (!same) fail(paste(name, "rank", rank, "dims", deparse1(dims), "drop", drop))
        }
      }
      whole <- getExportedValue("joist", name)(x)
      expect_identical(as_array(whole), reductions[[name]](as.vector(v)), label = name)
      expect_identical(shape(whole), integer())
      kept <- getExportedValue("joist", name)(x, drop = FALSE)
      expect_identical(shape(kept), rep(1L, rank))
      # Negative dims are kept.
      first_kept <- getExportedValue("joist", name)(x, dims = -1)
      others <- if (rank > 1) seq_len(rank)[-1] else integer()
      expect_identical(first_kept, getExportedValue("joist", name)(x, dims = others))
    }
  }
  expect_error(nv_reduce_sum(nv_tensor(1:3), dims = c(1, -1)), class = "joist_shape_error")
})

test_that("results have the promised dtypes", {
  for (d in dtypes()) {
    kind <- kind_of(d)
    x <- sample_tensor(d)
    sum_type <- c(bool = "i64", int = "i64", uint = "ui64", float = d, complex = d)[[kind]]
    mean_type <- if (kind %in% c("bool", "int", "uint")) "f32?" else d
    expect_identical(type_of(nv_reduce_sum(x)), sum_type)
    expect_identical(type_of(nv_reduce_prod(x)), sum_type)
    expect_identical(type_of(nv_mean(x)), mean_type)
    expect_identical(type_of(nv_reduce_any(x)), "bool")
    expect_identical(type_of(nv_reduce_all(x)), "bool")
    for (f in list(nv_reduce_min, nv_reduce_max)) {
      if (kind == "complex") {
        expect_error(f(x), d, class = "joist_dtype_error")
      } else {
        expect_identical(type_of(f(x)), d)
      }
    }
    expect_identical(type_of(nv_reduce_sum(sample_tensor(d, ambiguous = TRUE))),
      type_of(nv_reduce_sum(nv_aval(d, 3, ambiguous = TRUE)))
    )
    expect_identical(type_of(nv_reduce_any(sample_tensor(d, ambiguous = TRUE))), "bool")
  }
})

test_that("`dtype` is the dtype of the result", {
  for (d in setdiff(dtypes(), complexes())) {
    values <- if (is_narrow(d)) rev(held(c(1, 0, 1), d))[-2] else c(1, 0, 1)
    total <- sum(values)
    x <- nv_tensor(values, d)
    for (to in partners_of(d)) {
      got <- nv_reduce_sum(x, dtype = to)
      expect_identical(format(dtype(got)), to)
      want <- if (kind_of(to) == "uint") total %% 2^width_of(to) else converted_to(total, to)
      if (to != "bool") expect_true(as_array(got) == want, label = paste(d, to))
      expect_false(ambiguous(got))
    }
  }
  x <- nv_tensor(c(100, 100, 100), "i8")
  expect_identical(as_array(nv_reduce_sum(x, dtype = "i8")), 44L) # 300 - 256
  expect_identical(as_array(nv_reduce_sum(x, dtype = "f16")), 300)
  expect_identical(as_array(nv_reduce_prod(x, dtype = "f64")), 1e6)
  tenths <- nv_tensor(rep(0.1, 10), "f32")
  wide <- as_array(nv_reduce_sum(tenths, dtype = "f64"))
  expect_equal(wide, 10 * round_to(0.1, "f32"), tolerance = 1e-15)
  expect_error(nv_reduce_sum(x, dtype = "f33"), class = "joist_dtype_error")
})

int_max_number <- function(d) if (width_of(d) < 64) as.numeric(int_max(d)) else 2^40

test_that("sums and products of integers are exact and wrap at 64 bits", {
  for (d in ints()) {
    text <- int_values(d)
    wide <- if (is_signed(d)) "i64" else "ui64"
    total <- limbs("0")
    product <- limbs("1")
    for (k in seq_along(text)) {
      total <- limbs_add(total, limbs(text[k]))
      if (text[k] != "0") product <- limbs_mul(product, limbs(text[k]))
    }
    x <- int_tensor(text, d)
    expect_identical(as_array(nv_reduce_sum(x), "character"), wrap_text(total, wide))
    nonzero <- int_tensor(text[text != "0"], d)
    expect_identical(as_array(nv_reduce_prod(nonzero), "character"), wrap_text(product, wide))
    n <- 100001L
    many <- nv_fill(int_max_number(d), n, d)
    if (width_of(d) < 64) {
      want <- sprintf("%.0f", n * int_max_number(d))
      expect_identical(as_array(nv_reduce_sum(many), "character"), want)
    }
    order <- c("0", int_max(d), int_min(d), int_max(d))
    expect_identical(as_array(nv_reduce_max(int_tensor(order, d)), "character"), int_max(d))
    expect_identical(as_array(nv_reduce_min(int_tensor(order, d)), "character"), int_min(d))
  }
  flags <- nv_tensor(rep(c(TRUE, TRUE, FALSE), 50000))
  expect_identical(as_array(nv_reduce_sum(flags)), 1e5)
  expect_identical(as_array(nv_mean(nv_tensor(c(TRUE, FALSE)))), 0.5)
})

test_that("no elements: identities, or errors where there is none", {
  for (d in dtypes()) {
    none <- nv_tensor(sample_values(d, 0), d)
    # f8E8M0FNU has no zero.
    is_sum <- function(x) all(if (has_zero(d)) x == 0 else is.nan(x))
    expect_true(is_sum(as_array(nv_reduce_sum(none))))
    expect_true(as_array(nv_reduce_prod(none)) == 1)
    expect_identical(as_array(nv_reduce_any(none)), FALSE)
    expect_identical(as_array(nv_reduce_all(none)), TRUE)
    if (kind_of(d) != "complex") {
      expect_error(nv_reduce_min(none), class = "joist_value_error")
      expect_error(nv_reduce_max(none), class = "joist_value_error")
    }
    columns <- nv_tensor(sample_values(d, 0), d, c(0, 3))
    expect_true(is_sum(as_array(nv_reduce_sum(columns, dims = 1))))
    expect_identical(shape(nv_reduce_sum(columns, dims = 1)), 3L)
    expect_identical(shape(nv_reduce_sum(columns, dims = 2)), 0L)
    if (kind_of(d) != "complex") {
      expect_identical(shape(nv_reduce_max(columns, dims = 2)), 0L)
      expect_error(nv_reduce_max(columns, dims = 1), class = "joist_value_error")
    }
  }
  expect_true(is.nan(as_array(nv_mean(nv_tensor(numeric())))))
})

test_that("scalars reduce to themselves", {
  for (d in dtypes()) {
    one <- if (d == "int1") -1 else 1
    x <- nv_scalar(one, d)
    expect_true(as_array(nv_reduce_sum(x)) == one)
    expect_identical(shape(nv_reduce_sum(x)), integer())
    expect_identical(as_array(nv_reduce_all(x)), TRUE)
    if (kind_of(d) != "complex") expect_identical(nv_reduce_max(x), x)
  }
})

test_that("NaN anywhere makes a minimum or maximum NaN; infinities count", {
  for (d in Filter(has_nan, floats())) {
    for (n in if (is_narrow(d)) c(1, 1000) else c(1, 7, 1000, 70000)) {
      for (at in unique(c(1, n %/% 2 + 1, n))) {
        v <- replace(held(as.numeric(seq_len(n) %% if (is_narrow(d)) 10 else 100), d), at, NaN)
        expect_identical(as_array(nv_reduce_min(nv_tensor(v, d))), NaN)
        expect_identical(as_array(nv_reduce_max(nv_tensor(v, d))), NaN)
      }
    }
    if (!has_infinity(d)) next
    infinite <- nv_tensor(c(1, Inf, -Inf, 0), d)
    expect_identical(as_array(nv_reduce_max(infinite)), Inf)
    expect_identical(as_array(nv_reduce_min(infinite)), -Inf)
    expect_identical(as_array(nv_reduce_sum(infinite)), NaN)
    expect_identical(as_array(nv_reduce_min(nv_tensor(c(-1, -5, -2), d))), -5)
    expect_identical(as_array(nv_reduce_max(nv_tensor(c(-1, -5, -2), d))), -1)
  }
  for (d in Filter(is_narrow, floats())) {
    v <- few_values(d)
    expect_identical(as_array(nv_reduce_min(nv_tensor(v, d))), min(v))
    expect_identical(as_array(nv_reduce_max(nv_tensor(v, d))), max(v))
  }
  expect_identical(as_array(nv_reduce_any(nv_tensor(c(0, NaN)))), TRUE)
})

test_that("long float sums are as close as the dtype allows", {
  set.seed(3)
  v <- runif(1e6)
  for (d in floats()) {
    # Kept small enough for f16, whose largest number is 65504.
    exact <- round_to(if (d == "f16") v / 64 else v, d)
    # Sums are of f32 until they are rounded, so that means of many numbers are right.
    if (is_narrow(d)) exact <- held(v[1:1e5], d)
    got <- as_array(nv_reduce_sum(nv_tensor(exact, d)))
    expect_ulps(got, round_to(sum(exact), d), d, if (d == "f64") 64 else 1, d)
    middle <- as_array(nv_mean(nv_tensor(exact, d)))
    expect_ulps(middle, round_to(mean(exact), d), d, if (d == "f64") 64 else 1, paste("mean", d))
    expect_identical(as_array(nv_reduce_max(nv_tensor(exact, d))), max(exact))
    expect_identical(as_array(nv_reduce_min(nv_tensor(exact, d))), min(exact))
  }
  tenths <- as_array(nv_reduce_sum(nv_fill(0.1, 1e6, "f32")))
  expect_identical(tenths, round_to(1e6 * round_to(0.1, "f32"), "f32"))
})

test_that("the bits do not depend on the number of threads", {
  old <- nv_set_threads(1)
  on.exit(nv_set_threads(old))
  set.seed(4)
  v <- rnorm(400000)
  compute <- function(threads) {
    nv_set_threads(threads)
    lapply(c("f16", "bf16", "f32", "f64", "c64", "c128"), function(d) {
      x <- nv_tensor(v, d)
      m <- nv_tensor(v, d, c(1000, 400))
      list(
        sum(x), mean(x), nv_reduce_sum(m, dims = 1), nv_reduce_sum(m, dims = 2),
        nv_reduce_prod(nv_tensor(1 + v[1:50] / 100, d)), sum(x * x + 1)
      )
    })
  }
  one <- compute(1)
  expect_identical(compute(2), one)
  expect_identical(compute(64), one)
})

test_that("reductions of matrices in both directions are right for odd sizes", {
  for (extents in list(c(1, 5), c(5, 1), c(1000, 3), c(3, 1000), c(257, 129), c(70000, 2))) {
    v <- matrix(as.numeric(seq_len(prod(extents)) %% 17), extents[1])
    for (d in c("f32", "i32", "f64", "ui8")) {
      x <- nv_tensor(v, d)
      expect_identical(as_array(nv_reduce_sum(x, 1), "double"), colSums(v))
      expect_identical(as_array(nv_reduce_sum(x, 2), "double"), rowSums(v))
      expect_identical(as_array(nv_reduce_max(x, 1), "double"), apply(v, 2, max))
      expect_identical(as_array(nv_reduce_min(x, 2), "double"), apply(v, 1, min))
    }
  }
})

test_that("reductions of broadcast and fused operands", {
  v <- matrix(as.numeric(1:12), 3)
  f <- function(x, y) nv_reduce_sum(x * y + 1, dims = 1)
  x <- nv_tensor(v, "f32")
  y <- nv_tensor(c(2, 3, 4), "f32", c(3, 1))
  want <- colSums(v * c(2, 3, 4) + 1)
  expect_identical(as_array(f(x, y)), want)
  expect_identical(jit(f)(x, y), f(x, y))
  centred <- jit(function(x) x - nv_mean(x, dims = 1, drop = FALSE))
  expect_identical(as_array(centred(x)), sweep(v, 2, colMeans(v)))
})

test_that("nv_range() has the minima and the maxima", {
  m <- matrix(c(3, -1, 2, 7, 0, 5), 2)
  for (dtype in setdiff(dtypes(), c("bool", complexes()))) {
    values <- if (startsWith(dtype, "u")) m + 1 else m
    x <- nv_tensor(array(held(values, dtype), dim(m)), dtype)
    own <- as_array(x, "double")
    expect_equal(as_array(nv_range(x), "double"), range(own))
    expect_equal(as_array(nv_range(x, 1), "double"), apply(own, 2, range))
    expect_identical(shape(nv_range(x, 2, drop = FALSE)), c(2L, 2L, 1L))
    expect_true(dtype(nv_range(x)) == dtype)
  }
  compiled <- jit(nv_range, static = "dims")
  expect_identical(as_array(compiled(nv_tensor(m, "f64"), 2)), apply(m, 1, range))
})

test_that("every function of dims takes their names", {
  v <- array(as.numeric(1:24), c(2, 3, 4), list(a = NULL, b = letters[1:3], c = NULL))
  x <- nv_tensor(v, "f64")
  more <- list(
    nv_apply = list(f = nv_reduce_sum), nv_gather = list(indices = 2:1), nv_roll = list(shift = 1),
    nv_split = list(n = 3), nv_take_along = list(indices = nv_tensor(array(1L, c(2, 3, 4)))),
    nv_top_k = list(k = 2), nv_partition = list(k = 2), nv_cross = list(y = x),
    nv_put_along = list(indices = nv_tensor(array(1L, c(2, 3, 4))), values = x),
    nv_percentile = list(percent = 50),
    nv_reduce_window = list(window = 2), nv_unfold = list(window = 2), nv_rolling = list(k = 2),
    nv_resize = list(size = 2)
  )
  # These count dimensions, say where a new one goes, or take two.
  other <- c(
    "rowSums", "colSums", "rowMeans", "colMeans", "nv_iota", "nv_stack", "nv_concatenate",
    "nv_unsqueeze", "nv_rot90"
  )
  groups <- grep("^nv_segment_", getNamespaceExports("joist"), value = TRUE)
  more[groups] <- list(list(ids = c(1L, 2L, 1L), count = 2L))
  more$nv_segment_quantile$probs <- 0.5
  tried <- character()
  for (name in setdiff(getNamespaceExports("joist"), other)) {
    f <- getExportedValue("joist", name)
    if (!is.function(f)) next
    argument <- intersect(names(formals(args(f))), c("dim", "dims", "dimension"))
    if (length(argument) == 0L) next
    along <- function(x, dims) {
      do.call(f, c(list(x), more[[name]], structure(list(dims), names = argument)))
    }
    input <- switch(name,
      nv_squeeze = x[, 2, , drop = FALSE],
      nv_packbits = x > 12,
      nv_unpackbits = nv_convert(x, "ui8"),
      x
    )
    expect_identical(along(input, "b"), along(input, 2L), info = name)
    expect_error(along(input, "d"), "no dimension is named \"d\"", class = "joist_shape_error")
    tried <- c(tried, name)
  }
  expect_gt(length(tried), 25L)
  expect_identical(nv_rot90(x, dims = c("c", "a")), nv_rot90(x, dims = c(3L, 1L)))
  expect_identical(nv_mean(x, c("c", "a")), nv_mean(x, c(1L, 3L)))
  expect_identical(aperm(x, c("c", "a", "b")), aperm(x, c(3L, 1L, 2L)))
  expect_identical(as_array(aperm(x, c("c", "a", "b"))), aperm(v, c("c", "a", "b")))
  expect_identical(jit(function(x) nv_mean(x, "b"))(x), nv_mean(x, "b"))
  dimnames(x) <- list(a = NULL, a = NULL, b = NULL)
  expect_error(nv_mean(x, "a"), "several dimensions", class = "joist_shape_error")
  expect_error(nv_mean(nv_tensor(1:3), "a"), "no dimension is named", class = "joist_shape_error")
})

test_that("nv_apply() names its result as apply() does, and the slices", {
  v <- array(as.numeric(1:24), 2:4, list(a = c("x", "y"), NULL, c = letters[1:4]))
  x <- nv_tensor(v, "f64")
  fs <- list(function(s) sum(s), function(s) s * 2)
  for (dims in list(1L, 2L, 3L, 1:2, c(1L, 3L), c(3L, 1L), 2:3)) {
    for (f in fs) {
      got <- nv_apply(x, dims, f)
      want <- apply(v, dims, f)
      if (length(shape(got)) != max(1L, length(dim(want)))) next # apply() keeps no slices of rank 2
      expect_identical(unname(dimnames(got)), unname(dimnames(want)))
      expect_identical(names(got), names(want))
      expect_identical(as.vector(got), as.vector(want))
    }
  }
  expect_identical(names(nv_apply(nv_tensor(c(p = 1, q = 2)), 1L, fs[[2]])), c("p", "q"))
})

test_that("means of 64-bit integers are exact in f64, too", {
  x <- nv_tensor(c("9223372036854775807", "-9223372036854775808", "0", "24"), "i64")
  gaps <- nv_tensor(c("9007199254740993", "-9007199254740992", NA, "1", "1"), "i64")
  expect_identical(as_array(nv_mean(x, dtype = "f64")), 5.75)
  expect_identical(as_array(nv_compute(nv_mean(nv_chunked(x, 2), dtype = "f64"))), 5.75)
  expect_identical(as_array(nv_mean(nv_reshape(x, c(2, 2)), 1, dtype = "f64")), c(-0.5, 12))
  expect_identical(nv_mean(gaps, dtype = "f64", na_rm = TRUE), nv_scalar(0.75, "f64"))
  named <- nv_tensor(matrix(c(1, NA, 3, 4), 2, dimnames = list(r = NULL, c = NULL)), "i64")
  expect_identical(as.vector(nv_mean(named, "r", na_rm = TRUE)), c(1, 3.5))
})

test_that("sums of floats in an integer dtype are told of where they do not fit", {
  x <- nv_tensor(c(200.7, 200.7), "f32")
  for (f in list(nv_reduce_sum, nv_reduce_prod, nv_cumsum, nv_cumprod)) {
    for (run in list(identity, jit)) {
      whole <- run(function(x) f(x, dtype = "ui8"))
      expect_error(
        with_promotion(NULL, whole(x), on = c(overflow = "error")), class = "joist_overflow_error"
      )
    }
    expect_identical(f(nv_tensor(c(2.9, 3.1)), dtype = "i32"), f(nv_tensor(2:3), dtype = "i32"))
  }
  most <- nv_tensor(c("18446744073709551615", "1"), "ui64")
  expect_identical(nv_reduce_sum(most, dtype = "bool"), nv_scalar(TRUE))
})

test_that("reductions keep the names of the dims kept, and with drop = FALSE all labels", {
  a <- array(runif(24), 2:4, dimnames = list(A = letters[1:2], B = LETTERS[1:3], C = NULL))
  x <- nv_tensor(a, "f64")
  reductions <- list(
    nv_reduce_sum, nv_reduce_max, nv_mean, nv_var, nv_norm, nv_median, nv_count_nonzero, nv_range,
    function(x, dims, drop) nv_reduce_any(x > 0.5, dims, drop),
    function(x, dims, drop) nv_quantile(x, c(0.2, 0.4), dims, drop)
  )
  for (f in reductions) {
    for (dims in list(1, 2, c(1, 3), "B")) {
      at <- if (is.character(dims)) 2 else dims
      for (run in list(f, jit(f, static = c("dims", "drop")))) {
        if (is.character(dims) && !identical(run, f)) next # a traced tensor has no names
        kept <- run(x, dims, FALSE)
        more <- vector("list", ndims(kept) - 3L)
        expect_identical(dimnames(kept), c(more, replace(dimnames(a), at, list(NULL))))
        if (length(at) == 1L) {
          expect_identical(dimnames(run(x, dims, TRUE)), c(more, dimnames(a)[-at]))
        }
      }
    }
  }
  expect_identical(dimnames(nv_sort(x, dim = 2)), replace(dimnames(a), 2, list(NULL)))
})
