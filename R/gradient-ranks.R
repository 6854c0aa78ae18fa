# Elements of a chunked tensor by their ranks, without sorting. Their bits, as unsigned numbers in
# the same order, are counted 16 at a time from the highest on: first for all elements, then for
# those that begin with the bits found so far.

# How many such beginnings are counted while the elements are read once.
groups_at_once <- 16L

# Those with the ranks, from 1 on, in a tensor of the dtype of `x`; NaN comes last.
ranked_elements <- function(x, ranks) with_promotion("anvil", find_ranked(x, ranks))

find_ranked <- function(x, ranks) {
  nv_sort(nv_aval(dtype(x), 1L), 1L) # an error for a dtype without order
  key <- order_key(x)
  width <- bits_of(key)
  digit <- min(16L, width)
  found <- nv_tensor(integer(length(ranks)), dtype(key))
  for (shift in seq(width - digit, 0L, by = -digit)) {
    first <- shift == width - digit
    names <- as.character(found)
    beginnings <- found[!duplicated(names)]
    counts <- digit_counts(key, shift, digit, if (!first) beginnings)
    digits <- integer(length(ranks))
    for (k in seq_along(ranks)) {
      below <- c(0, cumsum(counts[, match(names[k], unique(names))]))
      digits[k] <- findInterval(ranks[k], below, left.open = TRUE) - 1L
      ranks[k] <- ranks[k] - below[digits[k] + 1L]
    }
    if (!first) found <- nv_shift_left(found, nv_scalar(digit, dtype(key)))
    found <- nv_bitwise_or(found, nv_tensor(digits, dtype(key)))
  }
  from_order_key(found, dtype(x))
}

# How often each number of so many bits comes next: a column for each beginning, NULL for none.
digit_counts <- function(key, shift, digit, beginnings) {
  part <- nv_shift_right_logical(key, nv_scalar(shift, dtype(key)))
  bins <- 2^digit
  if (is.null(beginnings)) {
    return(cbind(counted_bins(nv_convert(part, "i32") + nv_scalar(1L, "i32"), bins)))
  }
  bin <- nv_convert(nv_bitwise_and(part, nv_scalar(bins - 1, dtype(key))), "i32")
  part <- nv_shift_right_logical(part, nv_scalar(digit, dtype(key)))
  all <- seq_along(beginnings)
  do.call(cbind, lapply(split(all, (all - 1L) %/% groups_at_once), function(group) {
    index <- nv_scalar(0L, "i32")
    for (j in seq_along(group)) {
      here <- part == nv_reshape(beginnings[group[j]], integer())
      index <- nv_ifelse(here, bin + nv_scalar((j - 1) * bins + 1, "i32"), index)
    }
    matrix(counted_bins(index, bins * length(group)), bins)
  }))
}

counted_bins <- function(index, bins) as_array(nv_compute(nv_tabulate(index, bins)), "double")

bits_of <- function(dtype) 8L * .Call(joist_r_dtype_size, dtype)
unsigned_like <- function(dtype) paste0("ui", bits_of(dtype))

# Unsigned numbers in the order of the elements: the sign bit of integers is turned, and all bits of
# negative floats.
order_key <- function(x) {
  kind <- dtype_kind(x)
  if (kind == "bool") {
    return(nv_convert(x, "ui8"))
  }
  if (kind == "uint") {
    return(x)
  }
  type <- unsigned_like(dtype(x))
  if (kind == "int") {
    return(nv_bitwise_xor(nv_bitcast_convert(x, type), sign_bit(type)))
  }
  bits <- nv_bitcast_convert(x + nv_scalar(0, dtype(x)), type) # one zero
  ordered <- nv_ifelse(
    bits < sign_bit(type), nv_bitwise_xor(bits, sign_bit(type)), nv_bitwise_not(bits)
  )
  nv_ifelse(nv_is_nan(x), nv_bitwise_not(nv_scalar(0L, type)), ordered)
}

from_order_key <- function(key, dtype) {
  kind <- dtype_kind(dtype)
  if (kind %in% c("bool", "uint")) {
    return(nv_convert(key, dtype))
  }
  type <- unsigned_like(dtype)
  bits <- nv_bitwise_xor(key, sign_bit(type))
  if (kind != "int") bits <- nv_ifelse(key < sign_bit(type), nv_bitwise_not(key), bits)
  nv_bitcast_convert(bits, dtype)
}

sign_bit <- function(type) {
  nv_shift_left(nv_scalar(1L, type), nv_scalar(bits_of(type) - 1L, type))
}
