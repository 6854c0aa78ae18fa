# Codecs of Zarr that make arrays of arrays: `cast_value`, `scale_offset`, `bitround` and `reshape`,
# and `transpose` before them. A chunk with such `steps` is that of an array `within` after them.
# Source: <https://github.com/zarr-developers/zarr-extensions>, codecs.

step_names <- c("cast_value", "scale_offset", "bitround", "reshape")

# The codecs of an array of which `last` is the last one with a step.
stepped_codecs <- function(x, codecs, last, dtype, chunks, key) {
  steps <- list()
  to <- list(dtype = dtype, chunks = chunks)
  for (codec in codecs[seq_len(last)]) {
    step <- array_step(codec, to, key)
    steps <- c(steps, list(step))
    to <- step$to
  }
  list(
    chunks = chunks, order = seq_along(chunks), codecs = list(), filters = list(), swapped = FALSE,
    dtype = dtype, size = .Call(joist_r_dtype_size, nv_aval(dtype)), steps = steps,
    within = codecs_of_v3(x[-seq_len(last)], to$dtype, to$chunks, key)
  )
}

do_steps <- function(x, steps) {
  for (step in steps) x <- step$encode(x)
  x
}

undo_steps <- function(x, steps) {
  for (step in rev(steps)) x <- step$decode(x)
  x
}

# Steps are those of the dims of the store, see chunked-reversed.R.
turned_steps <- function(x, array) {
  if (isTRUE(array$reversed) && ndims(x) > 1L) nv_transpose(x) else x
}

# What a fill value is after the steps.
fill_within <- function(fill, steps, key) {
  scalar <- Filter(function(step) step$each, steps)
  tryCatch(do_steps(fill, scalar), joist_error = function(e) {
    stop_field(key, "fill_value", "has no value after the codecs: ", conditionMessage(e))
  })
}

# A codec as a list of functions that `encode` and `decode` a tensor of a chunk, what it becomes
# (`to`), and whether it changes `each` element by itself.
array_step <- function(codec, from, key) {
  fields <- list(
    cast_value = c("data_type", "rounding", "out_of_range", "scalar_map"),
    scale_offset = c("offset", "scale"), bitround = "keepbits", reshape = "shape",
    transpose = "order"
  )[[codec$name]]
  if (is.null(fields)) {
    stop_field(key, "codecs", "has \"", codec$name, "\" before an array codec")
  }
  other <- setdiff(names(codec$configuration), fields)
  if (length(other) > 0L) {
    stop_field(key, other[1L], "of the codec \"", codec$name, "\" is not known")
  }
  make <- switch(codec$name,
    cast_value = cast_step, scale_offset = scale_step, bitround = bitround_step,
    reshape = reshape_step, transpose = transpose_step
  )
  step <- make(codec$configuration, from, key)
  if (is.null(step$to)) step$to <- from
  step$each <- !codec$name %in% c("reshape", "transpose")
  step
}

choice_field <- function(x, choices, key, field) {
  if (is.null(x)) {
    return(choices[1L])
  }
  x <- text_field(x, key, field)
  if (!x %in% choices) stop_field(key, field, "must be among ", toString(choices))
  x
}

# Under rules that no setting of the session changes.
plainly <- function(expr) wrapping(with_promotion("anvil", expr))

transpose_step <- function(how, from, key) {
  order <- transposed_order(how[["order"]], length(from$chunks), key)
  list(
    to = list(dtype = from$dtype, chunks = from$chunks[order]),
    encode = function(x) nv_transpose(x, order),
    decode = function(x) nv_transpose(x, match(seq_along(order), order))
  )
}

# ---- reshape ----

reshape_step <- function(how, from, key) {
  extents <- reshaped_extents(how[["shape"]], from$chunks, key)
  # Of the order of C.
  reshaped <- function(x, extents) {
    if (ndims(x) > 1L) x <- nv_transpose(x)
    x <- nv_reshape(x, rev(extents))
    if (length(extents) > 1L) nv_transpose(x) else x
  }
  list(
    to = list(dtype = from$dtype, chunks = extents),
    encode = function(x) reshaped(x, extents), decode = function(x) reshaped(x, from$chunks)
  )
}

reshaped_extents <- function(x, own, key) {
  wrong <- wrong_reshape(key)
  if (!is.list(x) || !is.null(names(x))) wrong("must be a list")
  dims <- lapply(x, function(one) {
    if (inherits(one, "json_number")) NULL else whole_field(one, key, "shape", 0) + 1L
  })
  if (any(unlist(dims) > length(own)) || any(diff(unlist(dims)) <= 0)) {
    wrong("must name dimensions in rising order")
  }
  extents <- vapply(seq_along(x), function(k) {
    if (is.null(dims[[k]])) as.numeric(x[[k]]) else prod(own[dims[[k]]])
  }, 0)
  free <- which(extents == -1)
  if (length(free) == 1L) extents[free] <- prod(own) / prod(extents[-free])
  if (length(free) > 1L || !is_whole(c(0, extents)) || any(extents < 1) ||
    prod(extents) != prod(own)) {
    wrong("does not fit chunks of ", toString(own))
  }
  check_reshaped(dims, extents, own, key)
  as.integer(extents)
}

wrong_reshape <- function(key) function(...) stop_field(key, "shape", "of \"reshape\" ", ...)

# Extents that are those of dims must have as many elements before and after them as these.
check_reshaped <- function(dims, extents, own, key) {
  for (k in which(lengths(dims) > 0L)) {
    first <- dims[[k]][1L]
    last <- dims[[k]][length(dims[[k]])]
    fits <- prod(extents[seq_len(k - 1L)]) == prod(own[seq_len(first - 1L)]) &&
      prod(extents[-seq_len(k)]) == prod(own[-seq_len(last)]) && all(diff(dims[[k]]) == 1L)
    if (!fits) wrong_reshape(key)("has dimensions that are not those of the chunk")
  }
}

# ---- bitround ----

mantissa_bits <- c(f16 = 10L, bf16 = 7L, f32 = 23L, f64 = 52L)

# As numcodecs rounds: to the nearest, ties to even.
bitround_step <- function(how, from, key) {
  keep <- whole_field(list(how[["keepbits"]]), key, "keepbits", 1)
  encode <- function(x) {
    bits <- mantissa_bits[from$dtype]
    if (is.na(bits)) {
      stop_joist("joist_value_error", "joist does not write the codec \"bitround\" of ", from$dtype)
    }
    drop <- bits - keep
    if (drop <= 0L) {
      return(x)
    }
    as <- paste0("ui", 8L * .Call(joist_r_dtype_size, x))
    one <- nv_scalar(1L, as)
    places <- nv_scalar(drop, as)
    plainly({
      x <- nv_bitcast_convert(x, as)
      half <- nv_shift_left(one, nv_scalar(drop - 1L, as)) - one
      x <- x + nv_bitwise_and(nv_shift_right_logical(x, places), one) + half
      nv_bitcast_convert(nv_shift_left(nv_shift_right_logical(x, places), places), from$dtype)
    })
  }
  list(encode = encode, decode = identity)
}

# ---- scale_offset ----

scale_step <- function(how, from, key) {
  dtype <- from$dtype
  check_numbers(dtype, key, "scale_offset")
  number <- function(field, none) {
    if (is.null(how[[field]])) none else tryCatch(parse_fill(how[[field]], dtype, key),
      joist_error = function(e) stop_field(key, field, "is not a value of ", dtype)
    )
  }
  scale <- number("scale", nv_scalar(1L, dtype))
  offset <- number("offset", nv_scalar(0L, dtype))
  if (as_array(scale == nv_scalar(0L, dtype))) stop_field(key, "scale", "must not be 0")
  # Integers are exact or an error.
  exactly <- function(x, f) {
    if (!is_integer_dtype(x)) {
      return(plainly(f(x, scale, offset)))
    }
    plainly({
      out <- f(exact_doubles(x), exact_doubles(scale), exact_doubles(offset))
      cast_value(check_all(
        out, nv_floor(out) == out & nv_abs(out) <= nv_scalar(2^53, "f64"), "scale_offset"
      ), dtype, "nearest-even", "error")
    })
  }
  list(
    encode = function(x) exactly(x, function(x, scale, offset) (x - offset) * scale),
    decode = function(x) exactly(x, function(x, scale, offset) x / scale + offset)
  )
}

check_numbers <- function(dtype, key, codec) {
  known <- is_integer_dtype(nv_aval(dtype)) || dtype %in% names(mantissa_bits)
  if (!known) stop_field(key, "data_type", "is ", dtype, ", which the codec \"", codec, "\" lacks")
}

# An error unless all elements are `good`.
check_all <- function(x, good, codec) {
  if (length(x) > 0L && !as_array(nv_reduce_all(good))) {
    first <- as_array(nv_flatten(x)[which(!as.vector(as_array(good)))[1L]], "character")
    stop_joist(
      "joist_value_error", "its codec \"", codec, "\" cannot represent the value ", first
    )
  }
  x
}

exact_doubles <- function(x) {
  out <- nv_convert(x, "f64")
  most <- nv_scalar(2^53, "f64")
  check_all(x, nv_abs(out) <= most, "scale_offset")
  out
}

# ---- cast_value ----

roundings <- c(
  "nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"
)

cast_step <- function(how, from, key) {
  to <- zarr_dtype(how[["data_type"]], key)
  for (dtype in c(from$dtype, to)) check_numbers(dtype, key, "cast_value")
  rounding <- choice_field(how[["rounding"]], roundings, key, "rounding")
  range <- choice_field(how[["out_of_range"]], c("error", "clamp", "wrap"), key, "out_of_range")
  maps <- how[["scalar_map"]]
  if (!is.null(maps) && (!is_object_json(maps) || !all(names(maps) %in% c("encode", "decode")))) {
    stop_field(key, "scalar_map", "must be an object of `encode` and `decode`")
  }
  encoded <- scalar_pairs(maps[["encode"]], from$dtype, to, key)
  decoded <- scalar_pairs(maps[["decode"]], to, from$dtype, key)
  list(
    to = list(dtype = to, chunks = from$chunks),
    encode = function(x) plainly(cast_value(x, to, rounding, range, encoded)),
    decode = function(x) plainly(cast_value(x, from$dtype, rounding, range, decoded))
  )
}

scalar_pairs <- function(x, from, to, key) {
  lapply(x, function(pair) {
    if (!is.list(pair) || length(pair) != 2L) {
      stop_field(key, "scalar_map", "must have pairs of scalars")
    }
    tryCatch(
      list(from = parse_fill(pair[[1L]], from, key), to = parse_fill(pair[[2L]], to, key)),
      joist_error = function(e) stop_field(key, "scalar_map", "has a value of another data type")
    )
  })
}

# A tensor of numbers cast to another dtype by value: `pairs` first, then by rounding. Where the
# dtype has no such value, `range` says what to do.
cast_value <- function(x, to, rounding, range, pairs = list()) {
  if (length(x) == 0L) {
    return(nv_convert(x, to))
  }
  mapped <- list()
  free <- nv_broadcast_to(nv_scalar(TRUE), shape(x))
  for (pair in pairs) {
    same <- x == pair$from
    if (!is_integer_dtype(x) && as_array(nv_is_nan(pair$from))) same <- nv_is_nan(x)
    mapped <- c(mapped, list(list(at = same & free, to = pair$to)))
    free <- free & !same
  }
  if (length(pairs) > 0L) x <- nv_ifelse(free, x, nv_scalar(0L, dtype(x)))
  from_integer <- is_integer_dtype(x)
  out <- if (!is_integer_dtype(nv_aval(to))) {
    cast_to_float(x, to, rounding, range)
  } else if (from_integer) {
    cast_integer(x, to, range)
  } else {
    cast_float_to_integer(x, to, rounding, range)
  }
  for (one in mapped) out <- nv_ifelse(one$at, one$to, out)
  out
}

# The bounds of an integer dtype as numbers, exact: from the least to below `end`.
integer_range <- function(dtype) {
  facts <- dtype_facts(dtype)
  c(least = if (facts$kind == "int") -2^facts$digits else 0, end = 2^facts$digits)
}

cast_integer <- function(x, to, range) {
  from <- format(dtype(x))
  if (range == "wrap") {
    return(nv_convert(x, to))
  }
  own <- integer_range(from)
  want <- integer_range(to)
  bounds <- dtype_info(to)
  low <- if (want[["least"]] > own[["least"]]) nv_convert(bounds$min, from)
  high <- if (want[["end"]] < own[["end"]]) nv_convert(bounds$max, from)
  if (range == "clamp") {
    if (!is.null(low)) x <- nv_max(x, low)
    if (!is.null(high)) x <- nv_min(x, high)
  } else {
    if (!is.null(low)) check_all(x, x >= low, "cast_value")
    if (!is.null(high)) check_all(x, x <= high, "cast_value")
  }
  nv_convert(x, to)
}

rounded_to_integer <- function(x, rounding) {
  switch(rounding,
    "nearest-even" = nv_round(x),
    "towards-zero" = nv_trunc(x),
    "towards-positive" = nv_ceiling(x),
    "towards-negative" = nv_floor(x),
    "nearest-away" = apply_operation("round_away", list(x))
  )
}

cast_float_to_integer <- function(x, to, rounding, range) {
  number <- function(value) nv_scalar(value, "f64")
  check_all(x, !nv_is_nan(x), "cast_value")
  whole <- rounded_to_integer(nv_convert(x, "f64"), rounding)
  bounds <- integer_range(to)
  below <- whole < number(bounds[["least"]])
  above <- whole >= number(bounds[["end"]])
  if (range == "error") check_all(x, !(below | above), "cast_value")
  if (range == "wrap") {
    check_all(x, nv_is_finite(x), "cast_value")
    # Of values beyond the range, and with a power of 2, this is exact.
    size <- bounds[["end"]] - bounds[["least"]]
    left <- whole - nv_floor(whole / number(size)) * number(size)
    left <- nv_ifelse(left >= number(bounds[["end"]]), left - number(size), left)
    out <- nv_convert(nv_ifelse(below | above, left, whole), to)
    if (to != "ui64") {
      return(out)
    }
    # Those next to 2^64 are not doubles.
    negative <- below & whole >= number(-2^63)
    return(nv_ifelse(
      negative, nv_convert(nv_convert(nv_ifelse(negative, whole, number(0)), "i64"), to), out
    ))
  }
  inside <- nv_convert(nv_ifelse(below | above, number(0), whole), to)
  nv_ifelse(above, dtype_info(to)$max, nv_ifelse(below, dtype_info(to)$min, inside))
}

cast_to_float <- function(x, to, rounding, range) {
  if (format(dtype(x)) == to) {
    return(x)
  }
  near <- nv_convert(x, to)
  finite <- if (is_integer_dtype(x)) nv_broadcast_to(nv_scalar(TRUE), shape(x)) else nv_is_finite(x)
  over <- finite & !nv_is_finite(near)
  if (rounding != "nearest-even") near <- directed_floats(x, near, finite & !over, rounding)
  over <- finite & !nv_is_finite(near)
  if (range != "clamp") {
    check_all(x, !over, "cast_value")
    return(near)
  }
  most <- dtype_info(to)$max
  nv_ifelse(over, nv_ifelse(x > nv_scalar(0L, dtype(x)), most, -most), near)
}

# Of floats that are the nearest to x, and of the next ones beyond x, those that are asked for.
directed_floats <- function(x, near, which, rounding) {
  wide <- if (is_integer_dtype(x)) exact_doubles(x) else nv_convert(x, "f64")
  at <- nv_convert(near, "f64")
  infinite <- nv_scalar(Inf, dtype(near))
  other <- nv_nextafter(near, nv_ifelse(at > wide, -infinite, infinite))
  beside <- nv_convert(other, "f64")
  take <- switch(rounding,
    "towards-zero" = nv_abs(beside) < nv_abs(at),
    "towards-positive" = beside > at,
    "towards-negative" = beside < at,
    "nearest-away" = nv_abs(beside - wide) == nv_abs(at - wide) & nv_abs(beside) > nv_abs(at)
  )
  nv_ifelse(take & which & at != wide, other, near)
}

# ---- packbits ----

# Elements of so many bits, one after another, the lowest bit first.
packbits_in <- function(how, dtype, key) {
  padding <- choice_field(
    how[["padding_encoding"]], c("none", "first_byte", "last_byte"), key, "padding_encoding"
  )
  parts <- if (startsWith(dtype, "c")) 2L else 1L
  bits <- dtype_info(dtype)$bits %/% parts
  bit <- function(field, none) {
    if (is.null(how[[field]])) none else whole_field(list(how[[field]]), key, field, 0)
  }
  first <- bit("first_bit", 0L)
  last <- bit("last_bit", bits - 1L)
  if (last >= bits) stop_field(key, "last_bit", "must be below ", bits)
  if (last < first) stop_field(key, "last_bit", "must not be less than `first_bit`")
  list(
    padding = padding, parts = parts, bits = bits, first = first, last = last,
    signed = grepl("^i[0-9]", dtype)
  )
}

unpack_elements <- function(bytes, array) {
  how <- array$packed
  width <- how$last - how$first + 1L
  count <- prod(array$chunks) * how$parts
  whole <- ceiling(width * count / 8)
  wanted <- whole + (how$padding != "none")
  if (length(bytes) != wanted) {
    stop_joist(
      "joist_value_error", "it has ", number_text(length(bytes)), " bytes, and ",
      number_text(wanted), " are needed"
    )
  }
  if (how$padding != "none") {
    at <- if (how$padding == "first_byte") 1L else wanted
    if (as.integer(bytes[at]) != whole * 8 - width * count) {
      stop_joist("joist_value_error", "it says of another number of padding bits")
    }
    bytes <- bytes[-at]
  }
  size <- 8L * array$size %/% how$parts
  bits <- matrix(as.raw(0), size, count)
  bits[how$first + seq_len(width), ] <- utils::head(rawToBits(bytes), width * count)
  if (how$signed) {
    above <- seq_len(size)[-seq_len(how$last + 1L)]
    bits[above, ] <- rep(bits[how$last + 1L, ], each = length(above))
  }
  packBits(as.vector(bits))
}

pack_elements <- function(bytes, array) {
  how <- array$packed
  count <- prod(array$chunks) * how$parts
  bits <- matrix(rawToBits(bytes), ncol = count)[(how$first:how$last) + 1L, , drop = FALSE]
  padding <- -length(bits) %% 8L
  packed <- packBits(c(as.vector(bits), raw(padding)))
  switch(how$padding,
    none = packed, first_byte = c(as.raw(padding), packed), last_byte = c(packed, as.raw(padding))
  )
}
