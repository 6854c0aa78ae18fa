# Tensors in tibbles and as vectors of vctrs, beside R vectors of the same values.

skip_if_not_installed("vctrs")

expect_same_vector <- function(got, want, d, label) {
  label <- paste(label, d)
  if (is_tensor(got)) {
    expect_identical(type_of(got), d, label = label)
    expect_identical(shape(got), length(want), label = label)
    got <- as.vector(got)
  }
  expect_identical(got, want, label = label)
}

test_that("tensors are cut, put together and compared as R vectors are", {
  calls <- list(
    slice = function(x) vctrs::vec_slice(x, c(2, 2, 5)), none = function(x) vctrs::vec_slice(x, 0),
    c = function(x) vctrs::vec_c(x, x, x), rep = function(x) vctrs::vec_rep(x, 2),
    rep_each = function(x) vctrs::vec_rep_each(x, 3), unique = function(x) vctrs::vec_unique(x),
    assign = function(x) vctrs::vec_assign(x, 2:3, vctrs::vec_slice(x, 4)),
    interleave = function(x) vctrs::vec_interleave(x, x),
    recycle = function(x) vctrs::vec_recycle(vctrs::vec_slice(x, 3), 9),
    chop = function(x) as.vector(vctrs::vec_chop(x, list(1:2, 3))[[1]]), size = vctrs::vec_size,
    detect = vctrs::vec_detect_missing, duplicated = vctrs::vec_duplicate_detect,
    equal = function(x) vctrs::vec_equal(x, rev(x)), group = vctrs::vec_group_id,
    match = function(x) vctrs::vec_match(rev(x), x), ptype = vctrs::vec_ptype,
    in_tibble = function(x) tibble::tibble(x = x, y = 1)$x,
    rbind = function(x) vctrs::vec_rbind(tibble::tibble(x = x), tibble::tibble(x = rev(x)))$x
  )
  for (name in names(calls)) {
    f <- calls[[name]]
    if (grepl("tibble|rbind", name)) skip_if_not_installed("tibble")
    for (d in dtypes()) {
      for (n in c(6, 12)) {
        x <- sample_tensor(d, n)
        expect_same_vector(f(x), f(as.vector(x)), d, name)
      }
    }
  }
  for (d in setdiff(dtypes(), complexes())) {
    x <- sample_tensor(d)
    v <- as.vector(x)
    expect_same_vector(vctrs::vec_sort(x), vctrs::vec_sort(v), d, "sort")
    expect_identical(vctrs::vec_order(x), vctrs::vec_order(v))
    expect_identical(vctrs::vec_compare(x, rev(x)), vctrs::vec_compare(v, rev(v)))
  }
  expect_error(vctrs::vec_sort(nv_tensor(1i)), class = "joist_dtype_error")
})

test_that("every value of every dtype comes back with the same bits", {
  for (d in ints()) {
    x <- int_tensor(int_values(d), d)
    back <- vctrs::vec_slice(x, seq_along(x))
    expect_identical(back, x, label = d)
    expect_identical(vctrs::vec_c(x, rev(x)), c(x, rev(x)), label = d)
    expect_false(any(vctrs::vec_detect_missing(x)), label = d)
    n <- length(x)
    expect_identical(vctrs::vec_unique(vctrs::vec_c(x, x)), unique(x), label = d)
    expect_identical(as.character(vctrs::vec_sort(x)), as.character(sort(x)), label = d)
  }
  for (d in floats()) {
    x <- nv_tensor(float_values(d), d)
    expect_identical(vctrs::vec_slice(x, seq_along(x)), x, label = d)
    expect_identical(vctrs::vec_detect_missing(x), is.na(x), label = d)
  }
  for (d in complexes()) {
    x <- nv_tensor(complex_values(d), d)
    expect_identical(vctrs::vec_slice(x, seq_along(x)), x, label = d)
  }
  x <- nv_tensor(c(1, NA, NaN), "f64")
  expect_identical(vctrs::vec_slice(x, 3:1), x[3:1])
  guess <- nv_tensor(1:9, "i32", ambiguous = TRUE)
  expect_identical(vctrs::vec_slice(guess, 2:9), guess[2:9])
})

test_that("the common type is that of the promotion rules", {
  for (rules in c("anvil", "numpy", "torch", "jax")) {
    with_promotion(rules, {
      for (a in dtypes()) {
        x <- sample_tensor(a, 1)
        for (b in partners_of(a)) {
          common <- tryCatch(common_dtype(a, b), joist_promotion_error = function(e) NULL)
          if (is.null(common)) next
          got <- vctrs::vec_ptype2(x, sample_tensor(b, 1))
          expect_identical(dtype(got), common$dtype, label = paste(rules, a, b))
          expect_identical(ambiguous(got), common$ambiguous, label = paste(rules, a, b))
        }
        for (v in list(TRUE, 1L, 1, 1i, as.raw(1))) {
          common <- tryCatch(result_dtype(x, rep(v, 2)),
            joist_promotion_error = function(e) NULL
          )
          if (is.null(common)) next
          for (got in list(
            vctrs::vec_ptype2(x, v), vctrs::vec_ptype2(v, x)
          )) {
            expect_identical(dtype(got), common$dtype, label = paste(rules, a, typeof(v)))
          }
        }
      }
    })
  }
  x <- nv_tensor(1:2, "i8")
  with_promotion("array_api", {
    expect_error(vctrs::vec_c(x, nv_tensor(1, "f32")), class = "joist_promotion_error")
  })
  expect_identical(vctrs::vec_c(x, 3L), nv_tensor(1:3, "i8"))
  expect_identical(vctrs::vec_c(nv_tensor(1, "f64"), pi), nv_tensor(c(1, pi), "f64"))
  expect_identical(vctrs::vec_c(x, nv_tensor(0.5, "f16")), nv_tensor(c(1, 2, 0.5), "f16"))
  expect_error(vctrs::vec_c(x, 300L), class = "joist_value_error")
  expect_error(vctrs::vec_c(x, "a"), class = "vctrs_error_incompatible_type")
})

test_that("casts lose nothing", {
  x <- nv_tensor(1:2, "i8")
  expect_identical(vctrs::vec_cast(x, nv_tensor(0, "f32")), nv_tensor(1:2, "f32"))
  expect_identical(vctrs::vec_cast(c(1, 2), x), x)
  expect_identical(vctrs::vec_cast(x, integer()), 1:2)
  expect_identical(vctrs::vec_cast(x, double()), c(1, 2))
  expect_identical(vctrs::vec_cast(x, character()), c("1", "2"))
  expect_error(vctrs::vec_cast(nv_tensor(1.5), x), class = "joist_promotion_error")
  expect_error(vctrs::vec_cast(1.5, x), class = "joist_value_error")
  expect_error(vctrs::vec_cast(nv_tensor(1.5), integer()), class = "vctrs_error_cast_lossy")
  expect_error(vctrs::vec_assign(x, 1, nv_tensor(1.5)), class = "joist_promotion_error")
})

test_that("a row that is missing is NA in every dtype", {
  for (d in dtypes()) {
    x <- sample_tensor(d, 9)
    slice <- vctrs::vec_slice(x, c(1, NA, 3))
    expect_identical(type_of(slice), d)
    expect_identical(is.na(as.vector(slice)), c(FALSE, TRUE, FALSE))
    expect_identical(slice[c(1, 3)], x[c(1, 3)])
    none <- vctrs::vec_init(x, 8)
    expect_identical(none, nv_tensor(rep(NA, 8), d))
    expect_identical(vctrs::vec_detect_missing(vctrs::vec_c(none[1], x[1])), c(TRUE, FALSE))
  }
  expect_error(vctrs::vec_slice(nv_tensor(matrix(1:4, 2)), 1), class = "joist_shape_error")
})

test_that("tibbles hold, bind and show tensors", {
  skip_if_not_installed("tibble")
  for (d in dtypes()) {
    tb <- tibble::tibble(x = sample_tensor(d, 8), y = 1:8)
    expect_identical(tb$x, sample_tensor(d, 8))
    expect_identical(tb[2:3, ]$x, sample_tensor(d, 8)[2:3])
    expect_identical(tb[tb$y > 6, ]$x, sample_tensor(d, 8)[7:8])
    expect_identical(rbind(tb, tb)$x, c(tb$x, tb$x))
    expect_identical(merge(tb, tb[c(2, 4), ], by = "y")$x.y, tb$x[c(2, 4)])
    if (all(holds(0:1, d))) {
      tb$x[2] <- TRUE
      tb[3, "x"] <- FALSE
      expect_identical(as.vector(tb$x[2:3]), as.vector(nv_tensor(c(1, 0), d)))
    }
    shown <- utils::capture.output(print(tb))
    expect_true(any(grepl(paste0("<", d, ">"), shown, fixed = TRUE)), label = d)
    expect_identical(tibble::as_tibble(as.data.frame(tb)), tb)
  }
  expect_identical(tibble::tibble(x = nv_scalar(2, "f16"), y = 1:2)$x, nv_tensor(c(2, 2), "f16"))
  far <- tibble::tibble(x = nv_scalar(2^53, "i64") + nv_tensor(1:2, "i64"))
  expect_output(print(far), "9007199254740993")
  expect_error(tibble::tibble(x = nv_tensor(matrix(1:4, 2))), class = "joist_shape_error")
})

test_that("glimpse() shows the values", {
  skip_if_not_installed("pillar")
  tb <- tibble::tibble(x = nv_tensor(c(1.5, 20), "f16"), id = nv_tensor(c(1000000001, 2), "i64"))
  shown <- utils::capture.output(pillar::glimpse(tb))
  expect_match(shown[3], "<f16> 1.5, 20.0", fixed = TRUE)
  expect_match(shown[4], "<i64> 1000000001, 2", fixed = TRUE)
})

test_that("vectors of a common dtype that would round whole numbers are refused", {
  skip_if_not_installed("vctrs")
  ids <- nv_tensor(c(16777216, 16777217), "i64")
  expect_error(vctrs::vec_c(ids, 0.5), "16777217 at position 2.*f32", class = "joist_value_error")
  expect_identical(vctrs::vec_match(ids, c(16777216, 16777217.5)), c(1L, NA))
  expect_error(vctrs::vec_c(ids, nv_tensor(1, "f32")), class = "joist_value_error")
  expect_identical(vctrs::vec_c(ids, nv_tensor(1, "f64")), nv_convert(c(ids, 1L), "f64"))
  expect_identical(as.vector(vctrs::vec_c(nv_tensor(1:2, "i32"), 0.5)), c(1, 2, 0.5))
})

test_that("dplyr::lag() and lead() fill missing rows with NA or `default`", {
  skip_if_not_installed("dplyr")
  for (d in dtypes()) {
    x <- sample_tensor(d, 5)
    value <- if (d == "bool") TRUE else as.integer(held(1L, d))
    if (is_narrow(d) && d %in% floats()) value <- as.double(value)
    for (f in list(dplyr::lag, dplyr::lead)) {
      want <- f(as.vector(x), default = as.vector(nv_tensor(value, d)))
      expect_same_vector(f(x, default = value), want, d, "default")
      expect_same_vector(f(x, 2), f(as.vector(x), 2), d, "NA")
    }
  }
})

test_that("names are kept where vctrs assigns", {
  skip_if_not_installed("vctrs")
  for (d in c("f32", "f64", "i32", "i64", "bool", "c64")) {
    x <- nv_tensor(c(a = 1, b = 0, c = 1), d)
    names(x) <- c("a", "b", "c")
    want <- x[c(1, 3, 3)]
    names(want) <- names(x)
    expect_identical(vctrs::vec_assign(x, 2L, x[3]), want, label = d)
    expect_identical(vctrs::list_unchop(vctrs::vec_chop(x)), x, label = d)
    expect_identical(names(x), c("a", "b", "c"))
    if (d == "c64") next
    expect_identical(names(xtfrm(x)), names(x), label = d)
  }
})

test_that("a column of abstract tensors is shown as missing", {
  skip_if_not_installed("pillar")
  shown <- format(pillar::pillar_shaft(nv_aval("f32", 3L)), width = 5)
  expect_identical(trimws(as.character(shown)), rep("NA", 3))
})

test_that("no integer changes where columns are put together", {
  wide <- nv_tensor(c("18446744073709551615", "3"), "ui64")
  signed <- nv_tensor(c(-1L, 3L), "i64")
  half <- nv_tensor(1, "f16")
  expect_error(vctrs::vec_c(wide, signed), "18446744073709551615 at position 1 does not fit i64")
  expect_error(vctrs::vec_c(signed, wide), "18446744073709551615 at position 3 does not fit i64")
  expect_error(
    vctrs::vec_c(nv_tensor(65535L, "ui16"), half), "65535 at position 1 is not exact in f16"
  )
  expect_error(vctrs::vec_c(half, nv_tensor(2049L, "ui16")), class = "joist_value_error")
  expect_identical(vctrs::vec_c(wide[2], signed), nv_tensor(c(3L, -1L, 3L), "i64"))
  expect_identical(vctrs::vec_c(half, nv_tensor(2048L, "ui16")), nv_tensor(c(1, 2048), "f16"))
  expect_error(vctrs::vec_c(nv_tensor(1:2, "ui8"), 300L), class = "joist_value_error")
  # explicit casts, of guesses too
  expect_error(vctrs::vec_cast(nv_tensor(1.5, ambiguous = TRUE), signed),
    class = "joist_value_error"
  )
  expect_error(vctrs::vec_cast(nv_tensor(300L, ambiguous = TRUE), nv_tensor(1L, "ui8")),
    class = "joist_value_error"
  )
  expect_error(vctrs::vec_cast(nv_tensor(2^24 + 1, "f64", ambiguous = TRUE), nv_tensor(1, "f32")),
    class = "joist_value_error"
  )
  expect_identical(vctrs::vec_cast(nv_tensor(0.1, "f64", ambiguous = TRUE), nv_tensor(1, "f32")),
    nv_tensor(0.1, "f32")
  )
  skip_if_not_installed("dplyr")
  a <- tibble::tibble(k = wide, v = 1:2)
  b <- tibble::tibble(k = signed, w = 1:2)
  expect_error(dplyr::bind_rows(a, b), class = "joist_value_error")
  expect_error(dplyr::union(a["k"], b["k"]), class = "joist_value_error")
  expect_error(dplyr::full_join(a, b, by = "k"), class = "joist_error")
  expect_error(dplyr::coalesce(nv_mask(signed, c(TRUE, FALSE)), wide), class = "joist_value_error")
  expect_error(dplyr::rows_update(a, tibble::tibble(k = signed[1], v = 9L), by = "k"))
})

test_that("keys are compared, not converted", {
  skip_if_not_installed("dplyr")
  keys <- function(x, y) {
    at <- dplyr::inner_join(
      tibble::tibble(k = x, left = seq_along(x)), tibble::tibble(k = y, right = seq_along(y)),
      by = "k"
    )
    cbind(at$left, at$right)
  }
  pair <- function(left, right) cbind(left, right, deparse.level = 0)
  wide <- nv_tensor(c("18446744073709551615", "3"), "ui64")
  signed <- nv_tensor(c(-1L, 3L), "i64")
  bytes <- nv_tensor(1:3, "ui8")
  expect_identical(keys(wide, signed), pair(2L, 2L))
  expect_identical(keys(signed, wide), pair(2L, 2L))
  expect_identical(keys(bytes, c(300L, 2L)), pair(2L, 2L))
  expect_identical(keys(c(300L, 2L), bytes), pair(2L, 2L))
  expect_identical(keys(bytes, c(256 + 1, 1)), pair(1L, 2L))
  expect_identical(keys(nv_tensor(c(2^24 + 1, 7), "i64"), c(2^24, 2^24 + 1, 7)), pair(1:2, 2:3))
  expect_identical(keys(c(2^24, 2^24 + 1, 7), nv_tensor(c(2^24 + 1, 7), "i64")), pair(2:3, 1:2))
  expect_error(keys(nv_tensor("9007199254740993", "i64"), 2^53), class = "joist_value_error")
  x <- tibble::tibble(k = c(300L, 2L), v = 1:2)
  joined <- dplyr::left_join(x, tibble::tibble(k = bytes, w = 1:3), by = "k")
  expect_identical(as.vector(joined$k), c(300L, 2L))
  expect_identical(as.vector(dplyr::filter(joined, v == 1L)$k), 300L)
  expect_output(print(joined), "300")
  # Newer versions of dplyr keep the dtype of the left key.
  bound <- tryCatch(
    dplyr::bind_rows(joined["k"], tibble::tibble(k = bytes))$k,
    joist_value_error = conditionMessage
  )
  if (is.character(bound)) {
    expect_match(bound, "300 .*does not fit ui8")
  } else {
    expect_identical(bound, nv_tensor(c(300L, 2L, 1:3), "i32"))
  }
  # Beside the same as text.
  left <- c("18446744073709551615", "9223372036854775808", "9223372036854775807", "4294967296", "3")
  right <- c("-1", "9223372036854775807", "-9223372036854775808", "3", NA, "-4294967296")
  expect_identical(keys(nv_tensor(left, "ui64"), nv_tensor(right, "i64")), keys(left, right))
  expect_identical(keys(nv_tensor(right, "i64"), nv_tensor(left, "ui64")), keys(right, left))
})
