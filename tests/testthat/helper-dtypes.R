# Facts about dtypes, from their names, IEEE 754 and the definitions of formats of few bits, and
# arithmetic that joist has no part in.

kind_of <- function(dtype) {
  kinds <- c(
    bool = "bool", i = "int", int = "int", ui = "uint", uint = "uint", f = "float", bf = "float",
    c = "complex", bc = "complex"
  )
  unname(kinds[sub("[0-9].*$", "", dtype)])
}

# Bits of a value, and of an element in memory.
width_of <- function(dtype) {
  if (dtype == "bool") 8 else as.numeric(sub("^[a-z]+([0-9]+).*$", "\\1", dtype))
}
storage_of <- function(dtype) max(8, width_of(dtype))

# The dtypes of up to a byte, with few values, that compute in another one.
is_narrow <- function(dtype) dtype %in% c(byte_ints, names(byte_specs))
byte_ints <- c("int1", "i2", "i4", "uint1", "ui2", "ui4")
narrow <- function() Filter(is_narrow, dtypes())
wide <- function(dtypes) Filter(Negate(is_narrow), dtypes)

dtypes_of <- function(...) dtypes()[kind_of(dtypes()) %in% c(...)]

ints <- function() dtypes_of("int", "uint")
floats <- function() dtypes_of("float")
complexes <- function() dtypes_of("complex")
small_ints <- function() Filter(function(d) width_of(d) < 64, ints())

# ---- floats ----

# Binary digits with the implied one, exponents of the smallest normal and of the largest number,
# and the largest number. The OCP specifications of 8-bit floats and of microscaling formats; FNUZ:
# Noune and others, "8-bit Numerical Formats for Deep Neural Networks" (2022).
byte_floats <- read.table(header = TRUE, row.names = 1, text = "
  dtype         digits  low high   max
  f4E2M1FN           2    0    2     6
  f6E2M3FN           4    0    2   7.5
  f6E3M2FN           3   -2    4    28
  f8E3M4             5   -2    3  15.5
  f8E4M3             4   -6    7   240
  f8E4M3B11FNUZ      4  -10    4    30
  f8E4M3FN           4   -6    8   448
  f8E4M3FNUZ         4   -7    7   240
  f8E5M2             3  -14   15 57344
  f8E5M2FNUZ         3  -15   15 57344
  f8E8M0FNU          1 -127  127   NaN
")
byte_floats["f8E8M0FNU", "max"] <- 2^127
byte_specs <- lapply(split(byte_floats, rownames(byte_floats)),
  function(row) lapply(row, as.numeric))

# What the suffixes say.
has_nan <- function(dtype) !dtype %in% c("f4E2M1FN", "f6E2M3FN", "f6E3M2FN")
has_infinity <- function(dtype) !grepl("F?N", dtype)
has_minus_zero <- function(dtype) !grepl("UZ|FNU", dtype)
# f8E8M0FNU has neither zero nor negative numbers.
has_zero <- function(dtype) dtype != "f8E8M0FNU"

float_spec <- function(dtype) {
  if (is_narrow(dtype)) {
    return(byte_specs[[dtype]])
  }
  switch(dtype,
    f16 = list(digits = 11, low = -14, high = 15),
    bf16 = list(digits = 8, low = -126, high = 127),
    f32 = list(digits = 24, low = -126, high = 127),
    f64 = list(digits = 53, low = -1022, high = 1023),
    stop("no such float: ", dtype)
  )
}

float_max <- function(dtype) {
  spec <- float_spec(dtype)
  if (is_narrow(dtype)) spec$max else (2 - 2^(1 - spec$digits)) * 2^spec$high
}
float_min_normal <- function(dtype) 2^float_spec(dtype)$low
float_min_subnormal <- function(dtype) with(float_spec(dtype), 2^low * 2^(1 - digits))

# Distance of neighbours of that dtype around x.
ulp_of <- function(x, dtype) {
  spec <- float_spec(dtype)
  x <- abs(x)
  e <- floor(log2(pmax(x, 2^spec$low)))
  e <- e - (2^e > x & x >= 2^spec$low)
  e <- e + (2^(pmin(e, 1022) + 1) <= x & e < 1023)
  2^pmax(e, spec$low) * 2^(1 - spec$digits)
}

# Doubles rounded once to a float dtype, half to even. What overflows is infinity, or else NaN, or
# the largest value; NaN is zero in a dtype that lacks it.
round_to <- function(x, dtype) {
  if (dtype == "f64") {
    return(x)
  }
  if (dtype == "f8E8M0FNU") {
    return(round_to_power(x))
  }
  out <- x
  at <- is.finite(x)
  ulp <- ulp_of(x[at], dtype)
  out[at] <- round(x[at] / ulp) * ulp
  over <- at & abs(out) > float_max(dtype)
  beyond <- if (is_narrow(dtype) && !has_nan(dtype)) float_max(dtype) else Inf
  over <- over | is.infinite(x)
  out[over] <- beyond * sign(out[over])
  if (!has_infinity(dtype) && has_nan(dtype)) out[is.infinite(out)] <- NaN
  if (!has_nan(dtype)) out[is.nan(x)] <- 0
  if (!has_minus_zero(dtype)) out <- out + 0
  out
}

# What a NaN became in a dtype that lacks it is a zero of either sign: makes it 0.
any_zero <- function(got, exact, dtype) {
  if (!has_nan(dtype)) got[is.nan(exact) & got == 0] <- 0
  got
}

# Powers of two from 2^-127 to 2^127: half way between two goes up.
round_to_power <- function(x) {
  # What is zero in f32 is NaN.
  known <- is.finite(x) & x > 2^-150
  e <- floor(log2(x[known]))
  e <- e - (2^e > x[known]) + (2^(e + 1) <= x[known])
  up <- e + (x[known] >= 1.5 * 2^e)
  # All between the two smallest goes up, as in ml_dtypes.
  up[x[known] > 2^-127 & x[known] < 2^-126] <- -126
  out <- rep(NaN, length(x))
  # 2^-127 is subnormal in f32, and all below is it.
  out[known] <- ifelse(up > 127, NaN, 2^pmax(up, -127))
  attributes(out) <- attributes(x)
  out
}

# Floats of fewer bits compute in f32.
round_from_compute <- function(x, dtype) {
  if (width_of(dtype) < 32) round_to(round_to(x, "f32"), dtype) else round_to(x, dtype)
}

part_of <- function(dtype) switch(dtype, c32 = "f16", bc32 = "bf16", c64 = "f32", "f64")

float_values <- function(dtype) {
  positive <- c(
    0, float_min_subnormal(dtype), 3 * float_min_subnormal(dtype), float_min_normal(dtype),
    1e-3, 0.1, 0.5, 0.7, 1, 1.5, 2, 2.5, 3, 10, 88, 100.3, float_max(dtype), Inf
  )
  values <- c(round_to(c(positive, -positive), dtype), NaN)
  if (is_narrow(dtype)) round_to(values[!duplicated(paste(values, 1 / values))], dtype) else values
}

# Which of x a real dtype holds exactly; of the other dtypes these tests ask no such thing.
holds <- function(x, dtype) {
  if (!is_narrow(dtype)) {
    return(rep(TRUE, length(x)))
  }
  if (kind_of(dtype) != "float") {
    return(x %in% as.numeric(int_min(dtype)):as.numeric(int_max(dtype)))
  }
  same <- function(a, b) identical(a, b, num.eq = FALSE)
  mapply(same, round_to(as.double(x), dtype), as.double(x), USE.NAMES = FALSE)
}
held_of <- function(x, dtype) x[holds(x, dtype)]
# Those of some dtypes that hold all numbers of x.
dtypes_with <- function(x, among = dtypes()) {
  Filter(function(d) all(holds(as.vector(x), d)), among)
}

# What numbers become in a dtype: rounded or, in an integer dtype of few bits, wrapped around.
converted_to <- function(x, dtype) {
  if (kind_of(dtype) == "float") round_to(x, dtype) else held(x, dtype)
}

# Numbers like x that a real dtype holds: the nearest ones, for f8E8M0FNU of the magnitudes, and 1
# for zero; of integers, which wrap around.
held <- function(x, dtype) {
  if (!is_narrow(dtype)) {
    return(x)
  }
  if (kind_of(dtype) == "float") {
    if (!has_zero(dtype)) x <- ifelse(x %in% 0, 1, abs(x))
    return(round_to(x, dtype))
  }
  low <- as.numeric(int_min(dtype))
  (x - low) %% 2^width_of(dtype) + low
}


# What results in a complex dtype may be off, by what those in c64 and c128 may.
complex_tolerance <- function(dtype, single, double) {
  switch(dtype, c32 = 2^-8, bc32 = 2^-5, c64 = single, double)
}

complex_values <- function(dtype) {
  re <- round_to(c(0, 1, -1, 0.5, 3, -2.25, 0.1, 10), part_of(dtype))
  im <- round_to(c(0, -1, 2, 0.3, 4, 0.75, -0.2, 0), part_of(dtype))
  complex(real = c(re, re), imaginary = c(im, rev(im)))
}

# ---- integers modulo 2^64: columns of four 16-bit limbs, the lowest first ----

carry <- function(x) {
  for (k in 1:3) {
    up <- floor(x[k, ] / 65536)
    x[k, ] <- x[k, ] - up * 65536
    x[k + 1, ] <- x[k + 1, ] + up
  }
  x[4, ] <- x[4, ] %% 65536
  x
}

limbs <- function(text) {
  one <- function(s) {
    out <- matrix(0, 4, 1)
    for (digit in as.numeric(strsplit(sub("^-", "", s), "")[[1]])) {
      out <- carry(out * 10 + c(digit, 0, 0, 0))
    }
    if (startsWith(s, "-")) limbs_negate(out) else out
  }
  matrix(vapply(text, one, numeric(4)), nrow = 4)
}

limbs_negate <- function(x) carry(65535 - x + c(1, 0, 0, 0))
limbs_add <- function(x, y) carry(x + y)
limbs_sub <- function(x, y) carry(x + limbs_negate(y))
limbs_mul <- function(x, y) {
  out <- x * 0
  for (i in 1:4) {
    for (j in seq_len(5 - i)) out[i + j - 1, ] <- out[i + j - 1, ] + x[i, ] * y[j, ]
  }
  carry(out)
}

# Keeps the low `width` bits; signed ones are extended to 64 bits.
limbs_wrap <- function(x, width, signed) {
  for (k in 1:4) x[k, ] <- x[k, ] %% 2^min(16, max(0, width - 16 * (k - 1)))
  if (!signed) {
    return(x)
  }
  top <- ceiling(width / 16)
  negative <- x[top, ] >= 2^((width - 1) %% 16)
  fill <- matrix(0, 4, sum(negative))
  for (k in 1:4) fill[k, ] <- 65536 - 2^min(16, max(0, width - 16 * (k - 1)))
  x[, negative] <- x[, negative, drop = FALSE] + fill
  x
}

limbs_text <- function(x, signed) {
  negative <- if (signed) x[4, ] >= 32768 else rep(FALSE, ncol(x))
  x[, negative] <- limbs_negate(x[, negative, drop = FALSE])
  text <- character(ncol(x))
  while (any(x != 0)) {
    rest <- numeric(ncol(x))
    for (k in 4:1) {
      value <- rest * 65536 + x[k, ]
      x[k, ] <- floor(value / 10)
      rest <- value %% 10
    }
    text <- paste0(rest, text)
  }
  text <- sub("^0+(?=.)", "", text, perl = TRUE)
  text[!nzchar(text)] <- "0"
  paste0(ifelse(negative, "-", ""), text)
}

is_signed <- function(dtype) kind_of(dtype) == "int"

wrap_text <- function(x, dtype) {
  limbs_text(limbs_wrap(x, width_of(dtype), is_signed(dtype)), is_signed(dtype))
}

# 32 bits per limb pair; a double's bytes carry any 64 bits.
limbs_bytes <- function(x) {
  as.raw(rbind(x[1, ] %% 256, x[1, ] %/% 256, x[2, ] %% 256, x[2, ] %/% 256, x[3, ] %% 256,
    x[3, ] %/% 256, x[4, ] %% 256, x[4, ] %/% 256
  ))
}

int_min <- function(dtype) if (is_signed(dtype)) power_text(width_of(dtype) - 1, "-") else "0"
int_max <- function(dtype) {
  bits <- width_of(dtype) - is_signed(dtype)
  limbs_text(limbs_sub(limbs(power_text(bits)), limbs("1")), FALSE)
}
power_text <- function(bits, sign = "") {
  if (bits == 64) {
    return("0") # 2^64 modulo 2^64, only asked for by int_max()
  }
  paste0(sign, format(2^bits, digits = 22, scientific = FALSE))
}

# A tensor of exactly these integers, given as text.
int_tensor <- function(text, dtype, shape = length(text)) {
  if (width_of(dtype) < 64) {
    return(nv_tensor(as.numeric(text), dtype, shape = shape))
  }
  bits <- readBin(limbs_bytes(limbs(text)), "double", length(text))
  nv_bitcast_convert(nv_tensor(bits, "f64", shape = shape), dtype)
}

int_values <- function(dtype) {
  lowest <- int_min(dtype)
  highest <- int_max(dtype)
  next_to <- function(text, step) {
    limbs_text(limbs_add(limbs(text), limbs(step)), is_signed(dtype))
  }
  small <- c("0", "1", "2", "3", "7", "100")
  if (is_signed(dtype)) small <- c(small, "-1", "-2", "-7", "-100")
  in_range <- as.numeric(small) >= as.numeric(lowest) & as.numeric(small) <= as.numeric(highest)
  unique(c(small[in_range], lowest, next_to(lowest, "1"), next_to(highest, "-1"), highest))
}

# ---- tensors of any dtype ----

# Dtypes to pair one with: all pairs of the wider ones, and of each narrow one a few of each kind.
partners_of <- function(dtype) {
  if (is_narrow(dtype)) {
    return(unique(c(dtype, "bool", "i32", "ui8", "f32", "c64", "i4", "f8E4M3FN", "f8E5M2")))
  }
  c(wide(dtypes()), "i4", "ui2", "f4E2M1FN", "f8E4M3FN")
}

# Some values that every tensor of a dtype can be made of, as an R vector.
sample_values <- function(dtype, n = 6) {
  values <- if (is_narrow(dtype)) few_values(dtype) else switch(kind_of(dtype),
    bool = c(TRUE, FALSE, TRUE),
    int = c(-3, 5, 0, 100, -128, 127),
    uint = c(3, 5, 0, 100, 128, 255),
    float = c(-1.5, 0.25, 0, 100, -2, 3),
    complex = c(1 + 2i, -0.5i, 0, 3, -2 + 0.25i, 10i)
  )
  rep_len(values, n)
}

few_values <- function(dtype) {
  switch(dtype,
    int1 = c(-1, 0),
    i2 = c(-2, 1, 0, -1),
    i4 = c(-3, 5, 0, 7, -8, 1),
    uint1 = c(1, 0),
    ui2 = c(3, 1, 0, 2),
    ui4 = c(3, 5, 0, 15, 8, 1),
    f8E8M0FNU = c(0.5, 4, 1, 8, 2),
    c(-1.5, 0.5, 0, 6, -2, 3)
  )
}

sample_tensor <- function(dtype, n = 6, ...) nv_tensor(sample_values(dtype, n), dtype, ...)

# The bytes of the elements, read without joist from what R saves of a tensor: the object's class, a
# list of the payload and the dtype's name, and the attributes.
bytes_of <- function(x) {
  saved <- serialize(x, NULL, xdr = FALSE, version = 3L)
  list_of_two <- writeBin(c(19L, 2L), raw())
  at <- grepRaw(list_of_two, saved, fixed = TRUE) + length(list_of_two)
  head <- readBin(saved[at + 0:7], "integer", 2)
  size <- switch(as.character(head[1] %% 256L), "24" = 1, "13" = 4, "14" = 8, "15" = 16)
  saved[at + 7 + seq_len(head[2] * size)]
}

# Where the payload of a tensor is, by the first line of what R's .Internal(inspect()) prints.
payload_address <- function(line) sub(".* joist [[:alnum:]]+ (@[0-9a-f]+).*", "\\1", line)

type_of <- function(x) paste0(format(dtype(x)), if (ambiguous(x)) "?")

# ---- expectations ----

describe <- function(x) if (is.character(x)) x else format(x, digits = 17)

# Equal values including the sign of zero; shows where they differ.
expect_values <- function(got, want, label = "") {
  if (identical(got, want, num.eq = FALSE)) {
    succeed()
    return(invisible(TRUE))
  }
  message <- if (length(got) != length(want) || typeof(got) != typeof(want)) {
    sprintf("%s: %s[%d] for %s[%d]", label, typeof(got), length(got), typeof(want), length(want))
  } else if (!identical(attributes(got), attributes(want))) {
    paste0(label, ": attributes ", deparse1(attributes(got)), " for ", deparse1(attributes(want)))
  } else {
    differ <- which(!mapply(function(a, b) identical(a, b, num.eq = FALSE), got, want))
    shown <- utils::head(differ, 3)
    paste0(label, ": ", length(differ), " of ", length(got), " differ: ", paste0(
      "[", shown, "] want ", describe(want[shown]), ", got ", describe(got[shown]),
      collapse = "; "
    ))
  }
  fail(message)
}

# Within `ulps` neighbours of the dtype; special values exactly.
expect_ulps <- function(got, want, dtype, ulps, label = "") {
  special <- !is.finite(want) | !is.finite(got)
  close <- ifelse(special, mapply(identical, got, want),
    abs(got - want) <= ulps * ulp_of(ifelse(special, 1, want), dtype)
  )
  bad <- utils::head(which(!close), 3)
  if (length(got) == length(want) && length(bad) == 0L) {
    succeed()
  } else {
    fail(paste0(label, ": ", paste0(
      "[", bad, "] want ", describe(want[bad]), ", got ", describe(got[bad]),
      collapse = "; "
    )))
  }
}

# What a living library says of dtypes of up to a byte beside all others: a table of inst/extdata.
living_table <- function(name) {
  path <- system.file("extdata", "living", paste0(name, ".csv"), package = "joist", mustWork = TRUE)
  as.matrix(utils::read.csv(path,
    row.names = 1, check.names = FALSE, colClasses = "character", na.strings = character()
  ))
}

# The exported functions, but for those that are base R's: S4 generics, and `%*%`.
own_exports <- function() {
  is_own <- function(name) {
    exported <- getExportedValue("joist", name)
    is.function(exported) && !isS4(exported)
  }
  Filter(is_own, setdiff(sort(getNamespaceExports("joist")), "%*%"))
}

with_halves <- function(cells) {
  for (half in intersect(c("f16", "bf16"), if ("c*" %in% rownames(cells)) rownames(cells))) {
    cells[half, "c*"] <- cells["c*", half] <- if (half == "f16") "c32" else "bc32"
  }
  cells
}

# Cells in which a library has moved on since its table was published: NumPy, whose ml_dtypes have
# bf16; and torch.result_type() of PyTorch 2.15.0, where ui16, ui32 and ui64 meet themselves, floats
# and numbers, numbers do not become double first, and complex ones have c32 and bc32.
as_living <- function(rules, cells) {
  if (rules == "numpy" && "bf16" %in% rownames(cells)) {
    living <- living_table("numpy_ml_dtypes")
    # Guesses are the Python number of their category there.
    weak <- c(bool = "bool", int = "i*", uint = "i*", float = "f*", complex = "c*")
    known <- function(names) {
      guess <- endsWith(names, "?")
      replace(names, guess, weak[kind_of(sub("?", "", names[guess], fixed = TRUE))])
    }
    if ("bf16" %in% colnames(cells)) cells[, "bf16"] <- living[known(rownames(cells)), "bf16"]
    cells["bf16", ] <- living["bf16", known(colnames(cells))]
    return(cells)
  }
  if (rules != "torch") {
    return(cells)
  }
  cells <- with_halves(cells)
  wide <- intersect(c("ui16", "ui32", "ui64"), rownames(cells))
  # True is a number, too: torch.result_type(tensor of ui16, True) is ui16.
  with_number <- c("bool?" = NA, "i*" = NA, "f*" = "f32", "c*" = "c64")
  for (name in wide) {
    cells[name, name] <- name
    for (other in intersect(c("f16", "bf16", "f32", "f64"), rownames(cells))) {
      cells[name, other] <- cells[other, name] <- other
    }
    for (other in intersect(names(with_number), rownames(cells))) {
      number <- with_number[[other]]
      cells[name, other] <- cells[other, name] <- if (is.na(number)) name else number
    }
  }
  for (name in setdiff(intersect(rownames(living_table("torch")), rownames(cells)), "bool")) {
    if ("bool?" %in% rownames(cells)) cells[name, "bool?"] <- cells["bool?", name] <- name
  }
  for (number in intersect(c("f*", "c*"), rownames(cells))) {
    cells[number, number] <- with_number[[number]]
  }
  cells
}
