# Every way that puts a value of one dtype into another: the value is kept, or the user is told, as
# the policy in force says. tests/silence/ways.R asks more.

test_that("no way into another dtype changes a value in silence", {
  expect_identical(wrong_among(questions(1600)), NULL)
})

test_that("integers of bit64 that a float rounds are told of, eager and compiled", {
  id <- bit64::as.integer64("9007199254740993")
  x <- nv_tensor(c(1, 1), "f64")
  put <- function(x, v) {
    x[1] <- v
    x
  }
  mixed <- jit(function(x, v) c(x, v))
  branch <- function(x, v) nv_if(nv_scalar(TRUE), v, x[[1]])
  for (way in list(put, nv_add, mixed, mixed, branch, jit(branch), nv_fill_like)) {
    local_promotion(NULL, on = c(loss = "warn"))
    expect_warning(way(x, id), "9007199254740993 at position 1 is rounded to f64",
      class = "joist_loss_warning"
    )
    local_promotion(NULL, on = c(loss = "error"))
    expect_error(way(x, id), "rounded to f64", class = "joist_loss_error")
    expect_silent(way(x, bit64::as.integer64("9007199254740992")))
    local_promotion(NULL, on = c(loss = "ok"))
    expect_silent(way(x, id))
  }
  # nv_convert() is asked to round.
  local_promotion(NULL, on = c(loss = "error"))
  expect_silent(nv_convert(nv_tensor(id), "f64"))
  expect_silent(jit(function(v) nv_convert(v, "f64"))(id))
})

test_that("functions compute by one set of rules, whatever those of the session join", {
  v <- c(7e9, -3, 31, 5e9 + 1, 7)
  id <- c(1L, 2L, 1L, 3L, 2L)
  pieces <- split(v, id)
  x <- nv_tensor(v, "i64")
  a <- matrix(c(1, 1, 1, 1, 1, 2, 3, 4, 5, 7), 5)
  b <- c(1, 2, 4, 5, 9)
  ab <- list(nv_tensor(a, "i64"), nv_tensor(b, "i64"))
  gap <- nv_mask(x, c(FALSE, TRUE, FALSE, FALSE, FALSE))
  by <- function(f, x = v) as.vector(tapply(x, id, f))
  cases <- list(
    list(quote(nv_segment_sum(x, id, 3)), by(sum)),
    list(quote(nv_segment_prod(nv_tensor(b, "i64"), id, 3)), by(prod, b)),
    list(quote(nv_segment_mean(x, id, 3)), by(mean)),
    list(quote(nv_segment_mean(x, id, 3, weights = b)), by(sum, v * b) / by(sum, b)),
    list(quote(nv_segment_mean(gap, id, 3, na_rm = TRUE)), c(3.5e9 + 15.5, 7, 5e9 + 1)),
    list(quote(nv_segment_mean(nv_chunked(x, 2L), id, 3)), by(mean)),
    list(quote(nv_segment_sum(nv_chunked(x, 2L), id, 3)), by(sum)),
    list(quote(nv_segment_var(x, id, 3)), by(stats::var)),
    list(quote(nv_segment_median(x, id, 3)), by(stats::median)),
    list(quote(nv_segment_max(x, id, 3)), by(max)),
    list(quote(nv_segment_first(x, id, 3)), v[c(1, 2, 4)]),
    list(quote(nv_segment_mode(x, id, 3)), v[c(1, 2, 4)]),
    list(quote(nv_segment_rank(x, id, 3)), stats::ave(v, id, FUN = rank)),
    list(quote(nv_segment_cumsum(nv_tensor(b, "i64"), id, 3)), stats::ave(b, id, FUN = cumsum)),
    list(quote(nv_tabulate(id, 3, x)), by(sum)),
    list(quote(range(x)), range(v)), list(quote(nv_roll(x, 2)), v[c(4, 5, 1:3)]),
    list(quote(nv_partition(x, 1)), v[c(2, 1, 3:5)]),
    list(quote(round(x, -1)), c(7e9, 0, 30, 5e9, 10)),
    list(quote(signif(x, 1)), c(7e9, -3, 30, 5e9, 7)),
    list(quote(nv_frexp(nv_tensor(b, "i64"))$mantissa), c(0.5, 0.5, 0.5, 0.625, 0.5625)),
    list(quote(nv_replace_na(gap, 0L)), replace(v, 2, 0)),
    list(quote(nv_take_along(x, id, 1)), v[id]),
    list(quote(nv_put_along(x, 2L, x[1], 1)), replace(v, 2, v[1])),
    list(quote(replace(x, 2, x[4])), replace(v, 2, v[4])),
    list(quote(qr.solve(ab[[1]], ab[[2]])), unname(stats::lm.fit(a, b)$coefficients)),
    list(quote(nv_lstsq(ab[[1]], ab[[2]])), unname(stats::lm.fit(a, b)$coefficients)),
    list(quote(qr.resid(qr(ab[[1]]), 1:5)), unname(stats::lm.fit(a, 1:5)$residuals)),
    list(quote(sum(nv_chunked(x, 2L))), sum(v))
  )
  for (rules in c("jax_default", "keras", "octave", "sqlite")) {
    for (case in cases) {
      # A sum of `jax_default` is an i32.
      if (rules == "jax_default" && deparse1(case[[1L]]) == "sum(nv_chunked(x, 2L))") next
      found <- with_promotion(rules, nv_convert(eval(case[[1L]]), "f64"), on = c(loss = "ok"))
      told <- paste(rules, deparse1(case[[1L]]))
      found <- as.vector(as_array(nv_compute(found)))
      expect_equal(found, case[[2L]], tolerance = 1e-5, info = told)
    }
  }
})
