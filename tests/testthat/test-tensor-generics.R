# What base R's functions make of a tensor, compared with what they make of the plain vector.

# The values of a tensor of the dtype as base R has them.
plain_of <- function(d) as.vector(as_array(sample_tensor(d)))

expect_as_base <- function(f, d, label) {
  x <- sample_tensor(d)
  want <- tryCatch(f(plain_of(d)), error = identity)
  if (inherits(want, "error")) {
    expect_error(f(x), label = paste(label, d))
    return(invisible())
  }
  got <- f(x)
  if (is_tensor(got)) {
    expect_identical(type_of(got), d, label = paste(label, d))
    got <- as_array(got)
  }
  expect_identical(got, want, label = paste(label, d))
}

test_that("functions of one vector give what they give for an R vector", {
  calls <- list(
    matrix = function(x) matrix(x, 2), matrix_byrow = function(x) matrix(x, 3, byrow = TRUE),
    array = function(x) array(x, c(3, 2)), as.vector = as.vector, as.complex = as.complex,
    as.character = function(x) as.character(as.vector(x)), factor = factor,
    table = function(x) table(x),
    table2 = function(x) table(x, 1:6), paste = function(x) paste(as.vector(x), "a"),
    is.na = is.na, seq_along = seq_along, seq = seq, length = length, rev = rev,
    head = function(x) head(x, 2), tail = function(x) tail(x, -1), rep = function(x) rep(x, 2),
    rep_len = function(x) rep_len(x, 8), unique = unique, duplicated = duplicated,
    anyDuplicated = anyDuplicated, is.vector = function(x) is.vector(as.vector(x)),
    sapply = function(x) sapply(x, as.vector), lapply = function(x) lapply(x, as.vector),
    mapply = function(x) mapply(function(a, b) as.vector(a), x, 1:6),
    Map = function(x) lapply(Map(function(a) a, x), as.vector),
    Filter = function(x) Filter(function(a) as.vector(a) == 3, x),
    Position = function(x) Position(function(a) as.vector(a) == 0, x),
    split = function(x) lapply(split(x, c(1, 1, 2, 2, 3, 3)), as.vector),
    split_by = function(x) split(1:6, x), interaction = function(x) interaction(x, 1:6),
    rowsum_by = function(x) rowsum(1:6, x),
    tapply_by = function(x) tapply(1:6, x, sum), ave_by = function(x) ave(1:6, x),
    tapply = function(x) lapply(tapply(x, rep(1:3, 2), function(v) v[1]), as.vector),
    subset = function(x) subset(x, c(TRUE, FALSE)), sample = function(x) {
      set.seed(1)
      sample(x)
    }, shorten = function(x) {
      length(x) <- 2
      x
    }, as.list = function(x) lapply(as.list(x), as.vector),
    expand.grid = function(x) expand.grid(x, 1:2)[, 2]
  )
  # Levels of a factor are sorted, and complex tensors have no order.
  by_order <- c(
    "factor", "table", "table2", "split_by", "rowsum_by", "interaction", "tapply_by", "ave_by")
  for (name in names(calls)) {
    for (d in if (name %in% by_order) setdiff(dtypes(), complexes()) else dtypes()) {
      expect_as_base(calls[[name]], d, name)
    }
  }
})

test_that("functions of numbers with an order", {
  calls <- list(
    order = order, rank = rank, rank_min = function(x) rank(x, ties.method = "min"),
    cut = function(x) cut(x, 3), cut_at = function(x) cut(x, c(-200, 0, 50, 300)),
    hist = function(x) graphics::hist(x, plot = FALSE)$counts, is.unsorted = is.unsorted,
    boxplot = function(x) graphics::boxplot(x, plot = FALSE)$stats, sort = sort,
    density = function(x) stats::density(x)$bw, as.ts = function(x) as.vector(stats::as.ts(x)),
    as.double = as.double
  )
  for (name in names(calls)) {
    for (d in setdiff(dtypes(), c("bool", complexes()))) {
      f <- calls[[name]]
      x <- sample_tensor(d)
      got <- f(x)
      want <- f(plain_of(d))
      if (is_tensor(got)) {
        if (name != "is.unsorted") expect_identical(type_of(got), d, label = paste(name, d))
        got <- as_array(got)
      }
      expect_equal(got, want, label = paste(name, d))
    }
  }
})

test_that("lists of tensors are put together", {
  x <- nv_tensor(1:4, "i16")
  y <- nv_tensor(c(0.5, 1, 2, 4), "f32")
  expect_identical(Reduce(`+`, list(x, y)), x + y)
  expect_identical(as_array(do.call(rbind, list(x, y))), unname(as_array(rbind(x, y))))
  expect_identical(do.call(c, list(x, y)), c(x, y))
  expect_identical(do.call(cbind, as.list(x)), cbind(x[[1]], x[[2]], x[[3]], x[[4]]))
  expect_identical(as.list(nv_scalar(2, "f16")), list(nv_scalar(2, "f16")))
  far <- nv_scalar(2^53, "i64") + nv_tensor(1:2, "i64")
  expect_identical(do.call(c, as.list(far)), far)
  traced <- jit(function(x) Reduce(`+`, lapply(x, function(e) e * 2L)))
  expect_identical(traced(x), nv_scalar(20L, "i16"))
})

test_that("what cannot work stops and says what to use", {
  x <- nv_tensor(c(3, 1, 2), "f32")
  m <- nv_tensor(matrix(1:6, 2), "i8")
  expect_identical(ifelse(x > 1, "a", "b"), c("a", "b", "a"))
  expect_identical(ifelse(m > 2L, 1, 0), ifelse(matrix(1:6, 2) > 2L, 1, 0))
  for (f in list(rbind, cbind)) expect_error(do.call(f, x), "must be a list")
  for (f in list(as.call, as.function)) expect_error(f(x))
  expect_refusal(nv_tensor(list(x, x)), "joist_value_error", c("do.call(c, x)", "nv_stack"))
  expect_refusal(length(x) <- -5, "joist_value_error", "length")
  y <- nv_tensor(c(1, 2), "f64")
  is.na(y) <- 2
  expect_identical(as_array(y), c(1, NA))
})

test_that("calls with a tensor in them can be shown", {
  forms <- list(nv_tensor(1:3), nv_aval("f32", 2), nv_scalar(1, "c64"))
  for (x in forms) expect_match(paste(deparse(x), collapse = ""), "nv_|object")
  stops <- function(e) stop("no")
  text <- tryCatch(do.call(stops, list(nv_tensor(1:3))), error = function(e) {
    paste(utils::capture.output(print(e)), collapse = " ")
  })
  expect_match(text, "no>$")
  expect_error(jit(function(x) nchar(deparse(x)[1]))(nv_tensor(1:3)), class = "joist_trace_error")
})

test_that("base functions that make other things of numbers", {
  x <- nv_tensor(c(3, 1, 2), "f16")
  expect_identical(as.Date(x, origin = "1970-01-01"), as.Date(c(3, 1, 2), origin = "1970-01-01"))
  expect_identical(
    as.POSIXct(x, tz = "UTC", origin = "1970-01-01"),
    as.POSIXct(c(3, 1, 2), tz = "UTC", origin = "1970-01-01")
  )
  expect_identical(seq(nv_scalar(2L), nv_scalar(6L), 2L), seq(2L, 6L, 2L))
  expect_identical(as.table(nv_tensor(matrix(1:4, 2))), as.table(matrix(1:4, 2)))
  expect_identical(as.raw(nv_tensor(as.raw(c(1, 255)))), as.raw(c(1, 255)))
  expect_identical(as.raw(nv_tensor(1:3, "i64")), as.raw(1:3))
  expect_identical(sprintf("%s of %s", x[[1]], x[3]), "3 of 2")
  expect_error(sprintf(x, 1))
  far <- nv_scalar(2^53, "i64") + nv_tensor(c(1, 2, 1), "i64")
  expect_identical(as.vector(table(as.character(far))), c(2L, 1L))
})

test_that("base graphics draw the values", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (d in setdiff(dtypes(), complexes())) {
    x <- sample_tensor(d)
    m <- nv_reshape(x, c(2, 3))
    v <- as.numeric(plain_of(d))
    expect_silent({
      plot(x)
      lines(x)
      points(x)
    })
    if (d == "bool") next
    expect_silent(stripchart(x))
    plot(x, rev(x))
    expect_equal(graphics::par("usr")[1:2], range(v) + c(-1, 1) * 0.04 * diff(range(v)))
    expect_silent(image(m))
    expect_silent(contour(m))
    expect_silent(persp(m))
    expect_silent(pairs(m))
    expect_identical(barplot(x), barplot(v))
  }
})

test_that("base generics do not pass over the arguments of joist's functions", {
  x <- nv_tensor(matrix(c(3, 1, 2, 5), 2))
  b <- x > 2
  calls <- list(
    nv_reduce_sum = quote(sum(x, dims = 1)), nv_reduce_sum = quote(max(x, dim = 1)),
    nv_reduce_sum = quote(min(x, axis = 1, drop = TRUE)), nv_reduce_sum = quote(all(b, dims = 1)),
    nv_reduce_sum = quote(prod(x, dtype = "f64")), nv_range = quote(range(x, dims = 2)),
    nv_sort = quote(sort(x, dim = 1)), nv_median = quote(median(x, dims = 1)),
    nv_quantile = quote(quantile(x, 0.5, dims = 1)), nv_group = quote(unique(x, dim = 1)),
    nv_transpose = quote(diff(x, dim = 2)), nv_mean = quote(mean(x, dims = 1))
  )
  for (k in seq_along(calls)) {
    expect_error(
      eval(calls[[k]]), paste0("see ", names(calls)[k], "()"),
      fixed = TRUE, class = "joist_value_error", info = deparse1(calls[[k]])
    )
  }
  expect_error(jit(function(x) sum(x, dims = 1))(x), "nv_reduce_sum", class = "joist_value_error")
  expect_identical(as_array(sum(a = x, b = x)), 22)
  expect_identical(as_array(do.call(max, list(a = x, b = 9))), 9)
  expect_identical(as_array(sort(x, method = "radix")), c(1, 2, 3, 5))
})

test_that("logarithms of base 2 and 10 are those of log2() and log10()", {
  for (d in c("f32", "f64")) {
    k <- if (d == "f32") 1:30 else 1:300
    two <- nv_tensor(2^k, d)
    expect_equal(as_array(log(two, 2)), log(2^k, 2), tolerance = 0)
    expect_equal(as_array(log(two, base = 2L)), as.numeric(k), tolerance = 0)
    expect_equal(as_array(jit(function(x) log(x, 2))(two)), as.numeric(k), tolerance = 0)
    expect_identical(log(nv_tensor(c(1, 10, 1000), d), 10), nv_tensor(c(0, 1, 3), d))
    expect_equal(as_array(log(nv_tensor(9, d), 3)), 2, tolerance = 1e-6)
    expect_equal(as_array(jit(log)(nv_tensor(9, d), 3)), 2, tolerance = 1e-6)
    expect_equal(as_array(log(nv_tensor(9, d), nv_tensor(3, d))), 2, tolerance = 1e-6)
  }
  expect_identical(type_of(log(nv_tensor(8L), 2)), "f32?")
})

test_that("NaN and NA are neither TRUE nor FALSE", {
  for (d in setdiff(dtypes(), c(ints(), "bool"))) {
    values <- held_of(c(NaN, 0, 2), d)
    expect_identical(as.logical(nv_tensor(values, d)), as.logical(values), info = d)
  }
  expect_identical(as.logical(nv_tensor(c(NA, 0), "f64")), c(NA, FALSE))
  expect_identical(ifelse(nv_tensor(c(NA, 0), "f64"), 1, 2), c(NA, 2))
})

test_that("diag() and outer() of tensors", {
  m <- matrix(1:6, 2)
  expect_identical(diag(nv_tensor(m)), nv_tensor(diag(m)))
  expect_identical(diag(nv_tensor(1:2)), nv_tensor(diag(1:2), "i32"))
  expect_refusal(diag(nv_scalar(2L)), "joist_value_error", c("nv_diag()", "nv_eye()"))
  expect_refusal(diag(nv_tensor(1:2), 2), "joist_value_error", "nv_diag()")
  for (x in list(1:3, m, array(1:8, c(2, 2, 2)))) {
    for (y in list(c(4, 5), m)) {
      expect_identical(outer(nv_tensor(x), y), outer(x, y))
      expect_identical(y %o% nv_tensor(x), y %o% x)
      expect_identical(base::outer(nv_tensor(x), nv_tensor(y)), outer(x, y))
      expect_identical(as_array(outer(nv_tensor(x), nv_tensor(y), "+")), outer(x, y, "+"))
    }
  }
  expect_identical(as.vector(outer(nv_tensor(1:3), nv_scalar(2L))), c(2, 4, 6))
  expect_identical(diag(2), matrix(c(1, 0, 0, 1), 2))
})

test_that("bit64 and waldo read the values of tensors", {
  skip_if_not_installed("bit64")
  far <- nv_scalar(2^53, "i64") + nv_tensor(1:2, "i64")
  expect_identical(format(bit64::as.integer64(far)), c("9007199254740993", "9007199254740994"))
  skip_if_not_installed("waldo")
  x <- nv_tensor(c(1, 2), "f32")
  expect_length(waldo::compare(x, x * (1 + 2^-23), tolerance = 1e-6), 0)
  expect_match(waldo::compare(far, far + 1L)[1], "9007199254740993", fixed = TRUE)
  expect_match(waldo::compare(x, nv_convert(x, "f64")), "CPUf32{2}", fixed = TRUE)
  expect_match(waldo::compare(nv_tensor(1:3, "i8"), nv_tensor(c(1L, 5L, 3L), "i8")), "5")
  expect_length(waldo::compare(all(x > 0), TRUE, ignore_attr = TRUE), 0)
  expect_length(waldo::compare(all(x > 1), TRUE, ignore_attr = TRUE), 1)
  expect_length(waldo::compare(nv_aval("f32", 2), nv_aval("f32", 2)), 0)
  expect_gt(length(waldo::compare(nv_aval("f32", 2), nv_aval("f32", 3))), 0)
})
