#' Sequences of numbers
#'
#' `nv_linspace()` gives `steps` numbers at equal distances, both ends included. `nv_seq()` gives
#' the numbers from `from` to at most `to`, as R's [seq()] does. `nv_seq_len()` gives the whole
#' numbers from 1 to `length`, and none if that is 0.
#'
#' Number i of `nv_linspace()`, counted from 0, is `start + i * step` with
#' `step = (end - start) / (steps - 1)`, as in NumPy, computed in double and rounded once; the first
#' is `start` and the last is `end`, exactly. For `f64` the error is at most 4 ulp of the greatest
#' of the ends and their distance, for narrower floats that of rounding. For integers it is the
#' exact number, rounded down. `nv_seq()` of floats gives the doubles of [seq()], rounded once; of
#' integers, `i64` and `ui64` included, it is exact.
#'
#' @param start,end,from,to The ends: numbers, or tensors with one element. `nv_linspace()` takes
#'   traced ones and has derivatives with respect to them. Those of `nv_seq()` determine the shape,
#'   so `jit()` must know their values, as it must know `length`, except in
#'   `for (i in nv_seq_len(n))`. As in [nv_tensor()], strings stand for large `i64` and `ui64`.
#' @param steps,length The number of numbers.
#' @param by The distance, of the sign of `to - from`; `NULL` for 1 or -1.
#' @param dtype A dtype or its name: an integer or float dtype, for `nv_linspace()` also a complex
#'   one. `NULL` is the dtype of `start / end` in `nv_linspace()`, the default dtype of integers in
#'   `nv_seq_len()`, and the common dtype of the arguments in `nv_seq()`. If all of these are R
#'   numbers, they have the type of the result of [seq()]: integer if `by` is absent and `from` is a
#'   whole number, or if all of them are integers.
#' @param ambiguous,device As for [nv_tensor()].
#' @return A tensor of rank 1 and of that dtype.
#' @section Errors: `joist_value_error` for a `by` of the wrong sign, for a `steps` or `length` that
#'   is not a whole number of at least 0, for numbers that the dtype cannot hold, and for values
#'   that are not known in `jit()`; `joist_shape_error` for an end or `by` of more than one number,
#'   and for a sequence of more than 2^31 - 1 numbers; `joist_dtype_error` for a dtype that the
#'   function does not support; `joist_promotion_error` without a common dtype.
#' @seealso [nv_iota()], for numbers along a dimension.
#' @examples
#' nv_linspace(0, 1, 5)
#' nv_linspace(-1, 1, 3, dtype = "bf16")
#' nv_linspace(0, 10, 4, dtype = "i8")
#' nv_seq(2, 5)
#' nv_seq_len(3)
#' nv_seq(0, 1, by = 0.25)
#' nv_seq("18446744073709551610", "18446744073709551615", by = 2, dtype = "ui64")
#' gradient(function(to) sum(nv_linspace(0, to, 3)))(nv_scalar(1))
#' @export
nv_linspace <- function(start, end, steps, dtype = NULL, ambiguous = FALSE, device = NULL) {
  if (!is.null(device)) device <- nv_device(device)
  check_whole(steps, "steps")
  given <- !is.null(dtype)
  dtype <- as_dtype(if (given) dtype else quotient_dtype(start, end))
  if (!given) lapply(list(start, end), tell_of_end, dtype)
  wide <- switch(dtype_kind(dtype), float = "f64", complex = "c128", bool = NULL, dtype)
  if (is.null(wide)) {
    stop_joist("joist_dtype_error", "nv_linspace() gives numbers, not ", format(dtype))
  }
  intervals <- max(steps - 1, 1)
  if (wide == "f64" && is_finite_number(start) && is_finite_number(end)) {
    x <- start + (seq_len(steps) - 1) * ((end - start) / intervals) # as the operations below
    x[steps] <- end
    x[min(steps, 1)] <- start
    return(place_on(nv_convert(nv_tensor(x, "f64"), dtype, ambiguous), device))
  }
  first <- one_number(start, "start", wide)
  last <- one_number(end, "end", wide)
  whole <- dtype_kind(dtype) %of% c("int", "uint")
  number <- beside(nv_iota(1L, if (whole) "ui64" else wide, steps, start = 0), first)
  x <- if (whole) {
    whole_steps(first, last, number, intervals)
  } else {
    by_anvil({
      gap <- last - first
      between <- first + number * (gap / intervals)
      if (is_traced(between) || !all(is.finite(gap))) {
        share <- number / intervals
        between <- nv_ifelse(nv_is_finite(gap), between, first * (1 - share) + last * share)
      }
      nv_ifelse(number == 0, first, nv_ifelse(number == intervals, last, between))
    })
  }
  place_on(nv_convert(x, dtype, ambiguous), device)
}

# Differences of such doubles are finite.
is_finite_number <- function(x) {
  is.double(x) && !is.object(x) && length(x) == 1L && isTRUE(abs(x) < 8e307)
}

# The dtype of a quotient of such numbers.
quotient_dtype <- function(from, to) {
  one_of <- function(x) if (is_finite_number(x)) x[0L] else none_of(as_operand(x))
  first <- one_of(from)
  dtype(nv_div(first, if (is_finite_number(from) && is_finite_number(to)) first else one_of(to)))
}

# Both ends are exact, or told of.
tell_of_end <- function(x, dtype) {
  if (is_finite_number(x) && abs(x) <= 2^24 && format(dtype) %of% c("f32", "f64")) {
    return()
  }
  whole <- if (is_tensor(x)) is_integer_dtype(x) else is.numeric(x) && isTRUE(x == round(x))
  if (whole && !is_traced(x)) {
    if (is.double(x) && !is_tensor(x)) x <- nv_tensor(x, "f64")
    judge_rounding(as_operand(x), format(dtype), "linspace", session()$loss)
  }
}

check_one <- function(x, name) {
  plain <- is.atomic(x) && !is.object(x) && length(x) == 1L
  if (!plain && prod(part_shape(x)) != 1) {
    stop_joist("joist_shape_error", "`", name, "` must be one number")
  }
}

# Converts `x` to a scalar of that dtype, exactly if it is not a tensor.
one_number <- function(x, name, dtype, ambiguous = FALSE) {
  known <- is_tensor(x) && !is_number(x)
  check_one(x, name)
  if (!known) {
    return(nv_scalar(x, dtype, ambiguous))
  }
  nv_convert(nv_reshape(x, integer()), dtype, ambiguous)
}

# Whole numbers between both, in 64 bits that wrap: the quotient and the rest of the span apart, so
# that no product is too large.
whole_steps <- function(first, last, number, steps) {
  by_anvil(wrapping(steps_that_wrap(first, last, number, steps)))
}

steps_that_wrap <- function(first, last, number, steps) {
  down <- last < first
  start <- nv_convert(first, "i64")
  stop <- nv_convert(last, "i64")
  span <- nv_convert(nv_ifelse(down, start - stop, stop - start), "ui64")
  steps <- scalar_like(steps, span)
  up <- nv_ifelse(down, steps - 1L, 0L)
  moved <- nv_convert(number * (span %/% steps) + (number * (span %% steps) + up) %/% steps, "i64")
  nv_ifelse(down, start - moved, start + moved)
}

#' @rdname nv_linspace
#' @export
nv_seq_len <- function(length, dtype = NULL, ambiguous = FALSE, device = NULL) {
  if (counts_here(length)) {
    return(new_count(length))
  }
  if (is_tensor(length)) {
    stop_joist(
      "joist_value_error", "`length` decides about the shape, so that it must be an R number; in ",
      "jit() name the argument in `static`, or write `for (i in nv_seq_len(n))`"
    )
  }
  check_whole(length, "length")
  if (is.null(dtype)) dtype <- dtype_or_default(NULL, 1L)
  x <- outside_bodies(nv_iota(1L, dtype, as.vector(length), start = 1L))
  place_on(nv_convert(x, dtype, ambiguous), device)
}

#' @rdname nv_linspace
#' @export
nv_seq <- function(from, to, by = NULL, dtype = NULL, ambiguous = FALSE, device = NULL) {
  if (!is.null(device)) device <- nv_device(device)
  given <- c(list(from = from, to = to), if (!is.null(by)) list(by = by))
  for (name in names(given)) {
    check_static(given[[name]], name)
    check_one(given[[name]], name)
    if (anyNA(given[[name]])) stop_joist("joist_value_error", "`", name, "` is NA")
  }
  asked <- !is.null(dtype)
  dtype <- as_dtype(if (asked) dtype else sequence_dtype(given))
  x <- outside_bodies(switch(dtype_kind(dtype),
    int = ,
    uint = whole_sequence(given, dtype),
    float = float_sequence(lapply(given, one_double)),
    stop_joist("joist_dtype_error", "nv_seq() gives integers and floats, not ", format(dtype))
  ))
  # As nv_tensor() tells of whole R numbers.
  whole <- !asked && is_float_dtype(dtype) && all(unlist(lapply(given, one_double)) %% 1 == 0)
  if (whole && !is_traced(x)) judge_rounding(x, format(dtype), "seq", session()$loss)
  made <- identical(dtype(x), dtype) && identical(ambiguous(x), ambiguous)
  place_on(if (made) x else nv_convert(x, dtype, ambiguous), device)
}

sequence_dtype <- function(given) {
  plain <- TRUE
  for (x in given) plain <- plain && is.numeric(x) && !is.object(x)
  if (plain) {
    whole <- if (is.null(given$by)) is_whole(given$from) else all(vapply(given, is.integer, NA))
    return(dtype_or_default(NULL, if (whole) 1L else 0))
  }
  do.call(result_dtype, unname(given))$dtype
}

one_double <- function(x) {
  as.vector(as_array(if (is_tensor(x)) nv_convert(x, "f64") else nv_scalar(x, "f64")))
}

# As seq.default() has it.
float_sequence <- function(given) {
  from <- given$from
  distance <- given$to - from
  if (!is.finite(distance)) wrong_steps(distance)
  by <- if (!is.null(given$by)) given$by else if (distance < 0) -1 else 1
  last <- if (distance == 0) 0 else distance / by
  if (!is.finite(last) || last < 0) wrong_steps(last)
  same <- distance != 0 && abs(distance) / max(abs(given$to), abs(from)) < 100 * 2^-52
  count <- sequence_count(if (same) 0 else floor(last + 1e-10))
  by_anvil({
    x <- from + nv_iota(1L, "f64", count, start = 0) * nv_scalar(by, "f64")
    if (by > 0) nv_min(x, given$to) else nv_max(x, given$to)
  })
}

# In 64 bits that wrap.
whole_sequence <- function(given, dtype) {
  up <- is.null(given$by) && is_whole(given$from) && is_whole(given$to) && given$from <= given$to
  if (up && format(dtype) %of% c("i32", "i64")) {
    ends <- c(given$from, given$to)
    return(nv_iota(1L, dtype, ends[2L] - ends[1L] + 1, ends[1L]))
  }
  by_anvil(wrapping(sequence_that_wraps(given, dtype)))
}

sequence_that_wraps <- function(given, dtype) {
  to <- given$to
  if (is.double(to) && is.double(given$from) && !is.object(to) && is.finite(to)) {
    to <- if (isTRUE(to < given$from)) ceiling(to) else floor(to)
  }
  first <- one_number(given$from, "from", dtype)
  last <- one_number(to, "to", dtype)
  down <- as.logical(last < first)
  by <- one_number(if (is.null(given$by)) if (down) -1 else 1 else given$by, "by", "i64")
  backward <- as.logical(by < 0L)
  start <- nv_convert(first, "i64")
  span <- nv_convert(last, "i64") - start
  if (as.logical(span == 0L)) {
    count <- 1
  } else {
    if (as.logical(by == 0L) || down != backward) wrong_steps(if (down == backward) Inf else -1)
    size <- nv_convert(if (backward) -by else by, "ui64")
    count <- sequence_count(as_array(nv_convert(if (down) -span else span, "ui64") %/% size,
      as = "double"
    ))
  }
  start + nv_iota(1L, "i64", count, start = 0) * by
}

sequence_count <- function(last) {
  if (last >= .Machine$integer.max) {
    stop_joist("joist_shape_error", "a sequence of more than 2^31 - 1 numbers")
  }
  last + 1
}

wrong_steps <- function(last) {
  stop_joist(
    "joist_value_error",
    if (is.finite(last)) {
      "`by` has the wrong sign: it does not lead from `from` to `to`"
    } else {
      "`from`, `to` and `by` must be finite, and `by` not 0"
    }
  )
}

#' Positions as columns of zeros and ones
#'
#' `nv_one_hot()` gives a one at the place of each position and zeros elsewhere, along a new last
#' dimension.
#'
#' @param x An integer tensor of positions, counted from 1, or an R vector of whole numbers.
#' @param n How many places there are: a whole number. Positions beyond them have zeros only.
#' @param dtype The dtype of the result; `NULL` for the one that the promotion rules give a double.
#' @return A tensor of dtype `dtype`, with the extents of `x` and then `n`.
#' @section Errors: `joist_dtype_error` for an `x` that is not of an integer dtype;
#'   `joist_value_error` for an `n` that is not a whole number.
#' @examples
#' nv_one_hot(c(2L, 1L, 3L), 3)
#' @export
nv_one_hot <- function(x, n, dtype = NULL) {
  check_whole(n, "n")
  x <- if (is_double(x) && !is_tensor(x)) nv_tensor(x, "i64") else as_operand(x)
  if (!is_integer_dtype(x)) {
    stop_joist(
      "joist_dtype_error", "positions must be of an integer dtype, not ", format(dtype(x))
    )
  }
  if (!is_int64(x)) x <- nv_convert(x, "i64")
  rank <- ndims(x)
  places <- nv_iota(rank + 1L, "i64", c(rep(1L, rank), n))
  same <- by_anvil(nv_reshape(x, c(shape(x), 1L)) == places)
  nv_convert(same, dtype_or_default(dtype, 0))
}
