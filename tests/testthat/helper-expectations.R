# testthat's expectations take milliseconds each even where they pass. These count a check that
# passes and leave every other one to testthat, so failures read as testthat's do.

# tools/testthat.R counts passes itself: `in_test` is FALSE until the first one of a test, which
# testthat must see, because it skips tests without expectations.
passes <- getOption("joist_test_passes")

succeed <- function(message = "passed", info = NULL) {
  if (is.null(passes) || !passes$in_test) {
    if (!is.null(passes)) passes$in_test <- TRUE
    testthat::succeed(message, info)
  } else {
    passes$count <- passes$count + 1
  }
  invisible()
}

# Objects with what R's doubles cannot tell apart: 64-bit integers in tensors as text.
exact <- function(x) {
  if (is_tensor(x)) {
    if (inherits(x, c("nv_aval", "nv_traced", "nv_chunked")) ||
      !format(dtype(x)) %in% c("i64", "ui64")) {
      return(x)
    }
    text <- unname(c(as_array(x, "character")))
    return(list(text, type_of(x), shape(x), class(x), names(x), dimnames(x)))
  }
  if (is.list(x) && !is.object(x)) lapply(x, exact) else x
}

identical <- function(x, y, ...) base::identical(exact(x), exact(y), ...)

# Whether waldo, and so testthat, sees no difference. It compares tensors by their values and types,
# and takes no writable pointer to them, as base R's identical() does.
same <- function(x, y) {
  compared <- function(x) if (is_tensor(x)) waldo::compare_proxy(x, "")$object else x
  base::identical(compared(x), compared(y))
}

expect_identical <- function(object, expected, info = NULL, label = NULL, ...) {
  got <- exact(object)
  want <- exact(expected)
  if (same(got, want)) {
    succeed()
  } else {
    if (is.null(label)) label <- deparse1(substitute(object))
    testthat::expect_identical(
      got, want,
      info = info, label = label, expected.label = deparse1(substitute(expected)), ...
    )
  }
  invisible(object)
}

# Whether the relative difference of each double is within the tolerance. testthat compares the mean
# difference, which is then within it, too. FALSE for anything but doubles with equal attributes and
# lists of them.
all_close <- function(x, y, tolerance = testthat::testthat_tolerance(), ...) {
  if (...length() > 0L || typeof(x) != typeof(y) || is_tensor(x) || is_tensor(y)) {
    return(FALSE)
  }
  if (length(x) != length(y) || !base::identical(attributes(x), attributes(y))) {
    return(FALSE)
  }
  if (is.list(x) && !is.object(x)) {
    return(all(mapply(function(x, y) same(x, y) || all_close(x, y, tolerance), x, y)))
  }
  is.double(x) && isTRUE(all(x == y | abs(x - y) < tolerance * abs(y)))
}

expect_equal <- function(object, expected, ..., label = NULL) {
  if (same(object, expected) || all_close(object, expected, ...)) {
    succeed()
  } else {
    if (is.null(label)) label <- deparse1(substitute(object))
    testthat::expect_equal(
      object, expected, ...,
      label = label, expected.label = deparse1(substitute(expected))
    )
  }
  invisible(object)
}

expect_true <- function(object, info = NULL, label = NULL) {
  if (base::identical(object, TRUE)) {
    succeed()
  } else {
    if (is.null(label)) label <- deparse1(substitute(object))
    testthat::expect_true(object, info, label)
  }
  invisible(object)
}

expect_false <- function(object, info = NULL, label = NULL) {
  if (base::identical(object, FALSE)) {
    succeed()
  } else {
    if (is.null(label)) label <- deparse1(substitute(object))
    testthat::expect_false(object, info, label)
  }
  invisible(object)
}

# testthat makes a backtrace of each error, which takes longer than all else. It still sees those
# that are not as expected, and `regexp` NA, which stands for no error.
expect_error <- function(object, regexp = NULL, class = NULL, ..., info = NULL, label = NULL) {
  if (is.null(label)) label <- deparse1(substitute(object))
  if (!is.null(regexp) && is.na(regexp)) {
    return(testthat::expect_error(object, regexp, class, ..., info = info, label = label))
  }
  caught <- tryCatch({
    object
    NULL
  }, error = function(condition) condition)
  if (!is.null(caught) && (is.null(class) || inherits(caught, class)) &&
    (is.null(regexp) || grepl(regexp, conditionMessage(caught), ...))) {
    succeed()
    return(invisible(caught))
  }
  testthat::expect_error(
    if (is.null(caught)) object else stop(caught), regexp, class, ..., info = info, label = label
  )
}
