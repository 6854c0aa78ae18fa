# Statistics of integers that are rounded once. Integers, less the least of them, are cut into
# digits, doubles so small that sums of their products are exact. What follows from these sums is
# computed with pairs of doubles, about 106 bits.

# ---- pairs of doubles ----
# A pair stands for the sum of `high` and `low`, of which the latter is what rounding the sum loses
# (Dekker 1971).

sum_pair <- function(x, y) {
  high <- x + y
  part <- high - x
  list(high = high, low = (x - (high - part)) + (y - part))
}

# Of numbers the first of which is the larger one.
near_pair <- function(x, y) {
  high <- x + y
  list(high = high, low = y - (high - x))
}

product_pair <- function(x, y) {
  high <- x * y
  a <- halved(x)
  b <- halved(y)
  rest <- (a$high * b$high - high) + a$high * b$low + a$low * b$high
  list(high = high, low = rest + a$low * b$low)
}

# A double as two of 26 bits.
halved <- function(x) {
  scaled <- x * double_beside(2^27 + 1, x)
  high <- scaled - (scaled - x)
  list(high = high, low = x - high)
}

add_pairs <- function(x, y) {
  high <- sum_pair(x$high, y$high)
  low <- sum_pair(x$low, y$low)
  near <- near_pair(high$high, high$low + low$high)
  near_pair(near$high, near$low + low$low)
}

negated <- function(x) lapply(x, nv_negate)

multiply_pairs <- function(x, y) {
  product <- product_pair(x$high, y$high)
  near_pair(product$high, product$low + (x$high * y$low + x$low * y$high))
}

divide_pairs <- function(x, y) {
  high <- x$high / y$high
  rest <- add_pairs(x, negated(multiply_pairs(as_pair(high), y)))
  near_pair(high, rest$high / y$high)
}

root_of_pair <- function(x) {
  high <- nv_sqrt(x$high)
  rest <- add_pairs(x, negated(product_pair(high, high)))
  near_pair(high, rest$high / (high + high))
}

as_pair <- function(x) list(high = x, low = double_beside(0, x))

# `otherwise` where the result is not finite, or a root of 0, of which the low part is not a number.
rounded_pair <- function(x, otherwise) {
  sum <- x$high + x$low
  masked_as(nv_ifelse(nv_is_finite(sum), sum, otherwise), list(sum)) # NA is not finite
}

# ---- digits ----

# Whether statistics of x come from digits: of integers whose mean has as many bits as a double.
# Those of narrower dtypes are right when they are computed in double.
has_digits <- function(x) {
  is_tensor(x) && is_integer_dtype(x) && !is_chunked(x) &&
    type_string(nv_mean(none_of(x))) %of% c("f64", "f64?")
}

# How many bits the distances of the elements of x from each other have, in steps of a few, so that
# few programs are made; those of the dtype where the elements are not known.
span_of <- function(x) {
  bits <- dtype_facts(dtype(x))$bits
  if (is_traced(x) || !has_elements(x) || length(x) < 2L) {
    return(bits)
  }
  span <- as.vector(fused("span", span, x))
  if (is.na(span)) 16 else min(bits, 16 * ceiling(log2(span + 1) / 16))
}

span <- function(x) {
  least <- nv_reduce_min(x, na_rm = may_be_na(x))
  greatest <- nv_reduce_max(x, na_rm = may_be_na(x))
  by_anvil(half_by_half(in_halves(greatest), in_halves(least)))
}

# Digits of integers less the least of them along `dims`, which have up to `bits` bits, and the
# places that the digits have as powers of 2. Sums of `n` products of two digits are exact.
digits_of <- function(x, dims, n, bits) digits_from(x, least_along(x, dims), n, bits)

least_along <- function(x, dims) {
  least <- nv_reduce_min(x, dims, drop = FALSE, na_rm = may_be_na(x))
  if (may_be_na(x)) nv_replace_na(least, 0) else least
}

# The same of distances from integers that need not be the least ones.
digits_from <- function(x, least, n, bits) {
  x <- in_halves(x)
  least <- in_halves(least)
  if (bits <= 48) { # a double holds them
    return(cut_into_digits(half_by_half(x, least), 0, bits, n))
  }
  low <- x$low - least$low
  unit <- double_beside(2^32, low)
  borrowed <- nv_ifelse(low < double_beside(0, low), unit, double_beside(0, low))
  high <- (x$high - least$high - borrowed) / unit
  Map(c, cut_into_digits(low + borrowed, 0, 32, n), cut_into_digits(high, 32, 32, n))
}

cut_into_digits <- function(x, place, bits, n) {
  bits <- max(bits, 1)
  most <- (53 - ceiling(log2(max(n, 1)))) %/% 2
  width <- ceiling(bits / ceiling(bits / most))
  places <- seq(0, bits - 1, width)
  digits <- vector("list", length(places))
  for (k in rev(seq_along(places)[-1L])) {
    unit <- double_beside(2^places[k], x)
    digits[[k]] <- nv_floor(x / unit)
    x <- x - digits[[k]] * unit
  }
  digits[[1L]] <- x
  list(digits = digits, places = place + places)
}

# 96 bits of doubles less the least of each column, which is a pair, below a power of 2 above the
# largest of the column, the `unit`.
digits_of_doubles <- function(x, n) {
  least <- nv_reduce_min(x, 1L, drop = FALSE, na_rm = TRUE)
  x <- sum_pair(x, nv_negate(least))
  most <- nv_reduce_max(x$high, 1L, drop = FALSE, na_rm = TRUE)
  unit <- nv_ldexp(double_beside(1, most), nv_frexp(most)$exponent)
  width <- (53 - ceiling(log2(max(4 * n, 1)))) %/% 2
  places <- -width * seq_len(ceiling(96 / width))
  parts <- lapply(x, function(part) {
    part <- part / unit
    lapply(places, function(place) {
      digit <- nv_floor(part / double_beside(2^place, part))
      part <<- part - digit * double_beside(2^place, part)
      digit
    })
  })
  list(digits = Map(`+`, parts$high, parts$low), places = places, unit = unit)
}

# The sum of exact sums at their places.
sum_at_places <- function(sums, places) {
  total <- NULL
  for (k in order(places, decreasing = TRUE)) {
    unit <- double_beside(2^places[k], sums[[k]]$high)
    part <- lapply(sums[[k]], function(sum) sum * unit)
    total <- if (is.null(total)) part else add_pairs(total, part)
  }
  total
}

sum_of_digits <- function(x, f) {
  sum_at_places(lapply(x$digits, function(digit) as_pair(f(digit))), x$places)
}

# Of f(digit of x, digit of y). The two sums for a pair of places are added first, so that the
# result is the same for y and x.
sum_of_products <- function(x, y, f) {
  sums <- list()
  places <- numeric()
  if (!identical(x$places, y$places)) {
    pairs <- expand.grid(i = seq_along(x$digits), j = seq_along(y$digits))
    sums <- Map(function(i, j) as_pair(f(x$digits[[i]], y$digits[[j]])), pairs$i, pairs$j)
    return(sum_at_places(sums, x$places[pairs$i] + y$places[pairs$j]))
  }
  for (i in seq_along(x$digits)) {
    for (j in seq_len(i)) {
      sum <- f(x$digits[[i]], y$digits[[j]])
      other <- if (i != j) f(x$digits[[j]], y$digits[[i]])
      sums <- c(sums, list(if (i == j) as_pair(sum) else sum_pair(sum, other)))
      places <- c(places, x$places[i] + x$places[j])
    }
  }
  sum_at_places(sums, places)
}

sum_of_squares <- function(x, f) sum_of_products(x, x, function(a, b) f(a * b))

# ---- statistics ----

# Sums of products less what the means contribute: of `count` products, and sums of their factors.
central_sum <- function(product, left, right, count) {
  add_pairs(product, negated(divide_pairs(multiply_pairs(left, right), as_pair(count))))
}

# Divided by the degrees of freedom that are left.
by_freedom <- function(sum, count, correction, root) {
  zero <- double_beside(0, count)
  rest <- sum_pair(count, double_beside(-correction, count))
  none <- rest$high <= zero
  rest <- lapply(rest, function(part) nv_ifelse(none, zero, part))
  value <- divide_pairs(sum, rest)
  rough <- sum$high / rest$high
  if (root) rounded_pair(root_of_pair(value), nv_sqrt(rough)) else rounded_pair(value, rough)
}

# The sum of 64-bit integers, of whose two halves add_up() gives the sums.
sum_of_int64 <- function(x, add_up) pair_of_sums(lapply(integer_halves(x), add_up))

pair_of_sums <- function(sums) {
  pairs <- lapply(sums, function(sum) do.call(sum_pair, unname(in_halves(sum))))
  unit <- double_beside(2^32, pairs$high$high)
  add_pairs(lapply(pairs$high, function(part) part * unit), pairs$low)
}

mean_of_sum <- function(sum, count) {
  rounded_pair(divide_pairs(sum, as_pair(count)), sum$high / count)
}

# Of 64-bit integers: `first`, one that is near them, in halves; the distance of their mean from it
# and the sum of their squared distances from the mean, in pairs; and their number. `count` is at
# least that of the elements in a sum.
int64_moments <- function(x, first, each, n, count, bits, add_up) {
  digits <- digits_from(x, each, count, bits)
  sum <- sum_of_digits(digits, add_up)
  squares <- central_sum(sum_of_squares(digits, add_up), sum, sum, n)
  empty <- n == double_beside(0, n)
  none <- function(part) nv_ifelse(empty, double_beside(0, part), part)
  mean <- divide_pairs(sum, as_pair(n))
  list(first = in_halves(first), mean = lapply(mean, none), squares = lapply(squares, none), n = n)
}

# Of the elements of two parts (Chan, Golub and LeVeque 1983). Empty parts change nothing.
joined_int64_moments <- function(a, b) {
  one <- double_beside(1, a$n)
  empty <- a$n < one
  first <- Map(function(x, y) nv_ifelse(empty, y, x), a$first, b$first)
  n <- a$n + b$n
  between <- sum_pair(b$first$high - first$high, b$first$low - first$low)
  apart <- add_pairs(add_pairs(between, b$mean), negated(a$mean))
  share <- divide_pairs(as_pair(b$n), as_pair(nv_max(n, one)))
  squares <- multiply_pairs(multiply_pairs(apart, apart), multiply_pairs(share, as_pair(a$n)))
  list(
    first = first, mean = add_pairs(a$mean, multiply_pairs(apart, share)),
    squares = add_pairs(add_pairs(a$squares, b$squares), squares), n = n
  )
}

mean_of_moments <- function(x) {
  value <- add_pairs(sum_pair(x$first$high, x$first$low), x$mean)
  nv_ifelse(x$n == double_beside(0, x$n), double_beside(NaN, x$n), rounded_pair(value, value$high))
}

# Of the elements that are not missing.
exact_mean <- function(x, dims, drop, bits) {
  add_up <- function(part) nv_reduce_sum(part, dims, drop, na_rm = TRUE)
  sum <- sum_of_digits(digits_of(x, dims, count_reduced(x, dims), bits), add_up)
  count <- nv_reduce_sum(!nv_is_na(x), dims, drop, "f64")
  least <- in_halves(nv_replace_na(nv_reduce_min(x, dims, drop = drop, na_rm = TRUE), 0))
  mean <- add_pairs(sum_pair(least$high, least$low), divide_pairs(sum, as_pair(count)))
  rounded_pair(mean, sum$high / count)
}

exact_variance <- function(x, dims, drop, correction, root, remove, bits) {
  add_up <- function(part) nv_reduce_sum(part, dims, drop, na_rm = remove)
  count <- double_beside(count_reduced(x, dims), x)
  digits <- digits_of(x, dims, count_reduced(x, dims), bits)
  if (remove) count <- nv_reduce_sum(!nv_is_na(x), dims, drop, "f64")
  sum <- sum_of_digits(digits, add_up)
  squares <- sum_of_squares(digits, add_up)
  by_freedom(central_sum(squares, sum, sum, count), count, correction, root)
}

# Covariances of the columns of matrices, which may be one, or correlations where `correction` is
# NULL.
exact_moments <- function(parts, observed, correction, root, bits) {
  numbers <- if (!is.null(observed)) observed_numbers(parts, observed)
  itself <- length(parts) == 1L
  last <- length(parts)
  digits <- lapply(parts, function(part) {
    n <- shape(part)[1L]
    if (is_float_dtype(part)) digits_of_doubles(part, n) else digits_of(part, 1L, n, bits)
  })
  units <- lapply(digits, function(part) part$unit)
  if (is.null(numbers)) {
    count <- double_beside(shape(parts[[1L]])[1L], parts[[1L]])
    add_up <- function(part) nv_reduce_sum(part, 1L, drop = FALSE)
    of_left <- function(part) nv_transpose(add_up(part))
    of_right <- add_up
  } else {
    digits <- Map(digits_among, digits, numbers)
    weight <- lapply(numbers, nv_convert, dtype = "f64")
    count <- nv_crossprod(weight[[1L]], weight[[last]])
    of_left <- function(part) nv_crossprod(part, weight[[last]])
    of_right <- function(part) nv_crossprod(weight[[1L]], part)
  }
  left <- sum_of_digits(digits[[1L]], of_left)
  right <- sum_of_digits(digits[[last]], of_right)
  product <- sum_of_products(digits[[1L]], digits[[last]], nv_crossprod)
  product <- central_sum(product, left, right, count)
  if (!is.null(correction)) {
    result <- by_freedom(product, count, correction, root)
    if (!is.null(units[[1L]])) result <- result * nv_transpose(units[[1L]])
    return(if (is.null(units[[last]])) result else result * units[[last]])
  }
  squares <- multiply_pairs(
    central_sum(sum_of_squares(digits[[1L]], of_left), left, left, count),
    central_sum(sum_of_squares(digits[[last]], of_right), right, right, count)
  )
  none <- double_beside(NaN, product$high)
  ratio <- rounded_pair(divide_pairs(product, root_of_pair(squares)), none)
  correlation(ratio, count, product$high, itself, observed)
}

digits_among <- function(x, number) {
  zero <- double_beside(0, number)
  x$digits <- lapply(x$digits, function(digit) nv_ifelse(number, without_mask(digit), zero))
  x
}
