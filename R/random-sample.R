#' Random samples
#'
#' `nv_sample()` draws elements of a tensor at random, by default all of them once, in random order.
#' As for [sample()], a single R number n of at least 1 stands for the numbers from 1 to n, which
#' have the dtype of `1:n`. A tensor with one element is that element, whatever its value.
#'
#' @param x A tensor or an R vector; a rank other than 1 is flattened in column-major order. In
#'   [jit()], an R number is an argument that must be `static`, as it says how many elements there
#'   are.
#' @param size How many elements to draw; `NULL` for as many as there are.
#' @param replace Whether an element may be drawn more than once.
#' @param prob Weights of the elements, finite and at least 0, which need not add up to 1; `NULL`
#'   for equal ones. Without replacement each element is drawn by the weights of those that are
#'   left, as [sample()] does.
#' @param key A key, see [nv_key()]; `NULL` for one from R's own generator.
#' @return A tensor of rank 1 and of the dtype of `x`. All arrangements are equally likely, except
#'   for ties among the random 64-bit numbers that order the elements. Without replacement and
#'   weights, drawing up to 2^18 elements does not allocate memory for the order of all.
#' @section Errors: `joist_value_error` if `size` is greater than the number of elements or, where
#'   the weights are known, of positive weights; for invalid weights, and without a key while
#'   `jit()` traces; `joist_shape_error` for an R number from 2^31 on and for a wrong number of
#'   weights; `joist_dtype_error` and `joist_shape_error` for an invalid key.
#' @examples
#' x <- nv_tensor(1:10, "i16")
#' nv_sample(x, key = nv_key(1))
#' nv_sample(x, 3, key = nv_key(2))
#' nv_sample(x, 20, replace = TRUE, key = nv_key(3))
#' nv_sample(5, key = nv_key(4))
#' nv_sample(x, 3, prob = 10:1, key = nv_key(5))
#' @export
nv_sample <- function(x, size = NULL, replace = FALSE, prob = NULL, key = NULL) {
  check_flag(replace, "replace")
  n <- if (is_sampled_to(x)) trunc(x)
  x <- as_operand(if (is.null(n)) x else seq_len(min(n, 2)))
  if (ndims(x) != 1L) x <- nv_flatten(x)
  positions_only <- !is.null(n)
  if (!positions_only) n <- length(x)
  if (is.null(size)) size <- n
  check_whole(size, "size")
  if (size > n && !(replace && n > 0L)) {
    stop_joist("joist_value_error", "cannot take ", size, " of ", count_of(n, "element"),
      if (n > 0L) "; use replace = TRUE to take some more than once"
    )
  }
  key <- as_key(key, x)
  positions <- if (!is.null(prob)) {
    weighted_positions(prob, n, size, replace, key)
  } else if (replace && n > 0L) {
    nv_randint(size, 0, n - 1, "i64", key) + 1L
  } else {
    random_positions(n, size, key)
  }
  if (positions_only) nv_convert(positions, dtype(x), ambiguous(x)) else nv_gather(x, positions)
}

# By weights: those whose waiting times are shortest, if every position is drawn once.
weighted_positions <- function(prob, n, size, replace, key) {
  check_real(prob)
  known <- is_tensor(prob) && !is_number(prob)
  prob <- nv_flatten(if (known) nv_convert(prob, "f64") else nv_tensor(prob, "f64"))
  if (length(prob) != n) {
    stop_joist(
      "joist_shape_error", "`prob` has ", length(prob), " of ", count_of(n, "weight")
    )
  }
  if (replace || n == 0L) {
    return(if (n == 0L) nv_empty("i64", 0L) else draw_category(prob, size, "i64", key))
  }
  times <- nv_rexp(n, prob / nv_reduce_max(prob), "f64", key)
  if (has_elements(times)) {
    positive <- as.double(nv_count_nonzero(prob))
    if (positive < size) {
      stop_joist(
        "joist_value_error", "cannot take ", size, " of ", count_of(positive, "element"),
        " with positive weights; use replace = TRUE to take some more than once"
      )
    }
  }
  nv_top_k(times, size, decreasing = FALSE)$indices
}

# The first `size` of the positions to n in random order, which is that of random bits. Few of them
# are looked for part by part, so that there are never the bits of more than one part.
random_positions <- function(n, size, key, part = 2^18) {
  starts <- seq(0, max(n - 1, 0), by = part)
  bits_from <- function(k) {
    own <- if (length(starts) == 1L) key else nv_fold_in(key, k)
    nv_random_bits(min(part, n - starts[k]), "ui64", own)
  }
  if (size == n || size > part) {
    order <- nv_argsort(do.call(c, lapply(seq_along(starts), bits_from)))
    return(if (size < n) order[seq_len(size)] else order)
  }
  bits <- positions <- NULL
  for (k in seq_along(starts)) {
    drawn <- bits_from(k)
    first <- nv_top_k(drawn, min(size, length(drawn)), decreasing = FALSE)
    indices <- if (k == 1L) first$indices else first$indices + as.integer(starts[k])
    bits <- if (k == 1L) first$values else c(bits, first$values)
    positions <- if (k == 1L) indices else c(positions, indices)
    if (length(bits) > size) {
      first <- nv_top_k(bits, size, decreasing = FALSE)
      bits <- first$values
      positions <- nv_gather(positions, first$indices)
    }
  }
  positions
}

# Base R's sample() takes one number from 1 on for the numbers up to it.
is_sampled_to <- function(x) {
  check_static(x, "x")
  if (!is.numeric(x) || is.object(x) || length(x) != 1L || !is.finite(x) || x < 1) {
    return(FALSE)
  }
  if (x >= 2^31) {
    stop_joist("joist_shape_error", "`x` is ", x, "; the largest extent is 2^31 - 1")
  }
  TRUE
}
