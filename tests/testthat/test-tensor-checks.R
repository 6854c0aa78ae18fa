# Arguments of the wrong kind: a condition of joist's that is the user's call, never base R's.
test_that("scalar arguments of any other kind are refused, and warn of nothing", {
  m <- nv_tensor(c(4, 1, 1, 3), "f64", shape = c(2, 2))
  v <- nv_tensor(c(3, 1, 2), "f32")
  key <- nv_key(1)
  calls <- list(
    function(dimension) nv_split(m, 2, dimension), function(dims) rowSums(m, dims = dims),
    function(dims) colMeans(m, dims = dims), function(dims) nv_apply(m, dims, identity),
    function(dims) nv_squeeze(nv_reshape(v, c(1, 3)), dims), function(dim) nv_unsqueeze(v, dim),
    function(dims) nv_reverse(m, dims), function(dim) nv_stack(v, v, dim = dim),
    function(dim) nv_concatenate(v, v, dim = dim),
    function(permutation) nv_transpose(m, permutation), function(dim) nv_iota(dim, "i32", 3L),
    function(start) nv_iota(1L, "i32", 3L, start = start), function(n) nv_eye(n),
    function(dims) nv_reduce_sum(m, dims), function(dim) nv_cumsum(m, dim),
    function(k) nv_top_k(v, k), function(size) nv_sample(v, size, key = key),
    function(n) nv_key_split(key, n), function(n) nv_split(m, n)
  )
  wrong <- list(
    "a", NA, NA_real_, NA_integer_, 1.5, 1e10, Inf, list(1), list(), 1i, raw(1), factor(1),
    Sys.Date(), nv_scalar(1L), data.frame(a = 1), sum, quote(a), globalenv()
  )
  for (call in calls) {
    for (value in wrong) {
      # Whatever iota counts from, it need not be whole.
      if (identical(names(formals(call)), "start") && is.double(value) && is.finite(value)) next
      about <- paste(deparse(body(call)), class(value)[1])
      seen <- NULL
      condition <- withCallingHandlers(
        tryCatch(call(value), error = identity),
        warning = function(w) seen <<- w
      )
      expect_s3_class(condition, "joist_error")
      expect_null(seen, label = about)
      expect_identical(conditionCall(condition)[[1]], body(call)[[1]], label = about)
    }
  }
})

test_that("flags are TRUE or FALSE", {
  m <- nv_tensor(c(4, 1, 1, 3), "f64", shape = c(2, 2))
  v <- nv_tensor(c(3, 1, 2), "f32")
  calls <- list(
    function(logarithm) nv_determinant(m, logarithm), function(lower) nv_chol(m, lower),
    function(transpose) nv_triangular_solve(m, m, lower = FALSE, transpose = transpose),
    function(decreasing) nv_sort(v, decreasing = decreasing),
    function(drop) nv_argmax(v, drop = drop), function(drop) nv_reduce_sum(v, drop = drop),
    function(replace) nv_sample(v, replace = replace),
    function(arr.ind) nv_which(v > 1, arr.ind) # nolint: object_name_linter.
  )
  for (call in calls) {
    name <- names(formals(call))
    for (value in list(NA, "a", 1, c(TRUE, FALSE), logical(), NULL, list(TRUE), Sys.Date())) {
      condition <- tryCatch(call(value), error = identity)
      expect_s3_class(condition, "joist_value_error")
      expect_match(conditionMessage(condition), name, fixed = TRUE)
    }
  }
})

test_that("operands of matrix products that are not arrays are refused", {
  m <- nv_tensor(c(4, 1, 1, 3), "f64", shape = c(2, 2))
  for (value in list(NULL, "a", sum, globalenv(), list(1), factor(1), Sys.Date())) {
    expect_error(nv_matmul(m, value), class = "joist_error")
    expect_error(nv_matmul(value, m), class = "joist_error")
    expect_error(nv_crossprod(value, m), class = "joist_error")
    expect_error(nv_triangular_solve(m, value, lower = FALSE), class = "joist_error")
  }
})
