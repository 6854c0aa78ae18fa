# Facts about dtypes, from their names and IEEE 754, and arithmetic that joist has no part in.

kind_of <- function(dtype) {
  kinds <- c(bool = "bool", i = "int", ui = "uint", f = "float", bf = "float", c = "complex")
  unname(kinds[sub("[0-9]+$", "", dtype)])
}

width_of <- function(dtype) if (dtype == "bool") 8 else as.numeric(sub("^[a-z]+", "", dtype))

dtypes_of <- function(...) dtypes()[kind_of(dtypes()) %in% c(...)]

ints <- function() dtypes_of("int", "uint")
floats <- function() dtypes_of("float")
complexes <- function() dtypes_of("complex")
small_ints <- function() Filter(function(d) width_of(d) < 64, ints())

# ---- floats ----

float_spec <- function(dtype) {
  switch(dtype,
    f16 = list(digits = 11, low = -14, high = 15),
    bf16 = list(digits = 8, low = -126, high = 127),
    f32 = list(digits = 24, low = -126, high = 127),
    f64 = list(digits = 53, low = -1022, high = 1023),
    stop("no such float: ", dtype)
  )
}

float_max <- function(dtype) with(float_spec(dtype), (2 - 2^(1 - digits)) * 2^high)
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

# Doubles rounded once to a float dtype, half to even.
round_to <- function(x, dtype) {
  if (dtype == "f64") {
    return(x)
  }
  out <- x
  at <- is.finite(x)
  ulp <- ulp_of(x[at], dtype)
  out[at] <- round(x[at] / ulp) * ulp
  over <- at & abs(out) > float_max(dtype)
  out[over] <- Inf * sign(out[over])
  out
}

# f16 and bf16 compute in f32.
round_from_compute <- function(x, dtype) {
  if (dtype %in% c("f16", "bf16")) round_to(round_to(x, "f32"), dtype) else round_to(x, dtype)
}

part_of <- function(dtype) if (dtype == "c64") "f32" else "f64"

float_values <- function(dtype) {
  positive <- c(
    0, float_min_subnormal(dtype), 3 * float_min_subnormal(dtype), float_min_normal(dtype),
    1e-3, 0.1, 0.5, 0.7, 1, 1.5, 2, 2.5, 3, 10, 88, 100.3, float_max(dtype), Inf
  )
  c(round_to(c(positive, -positive), dtype), NaN)
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
  c(small, lowest, next_to(lowest, "1"), next_to(highest, "-1"), highest)
}

# ---- tensors of any dtype ----

# Some values that every tensor of a dtype can be made of, as an R vector.
sample_values <- function(dtype, n = 6) {
  values <- switch(kind_of(dtype),
    bool = c(TRUE, FALSE, TRUE),
    int = c(-3, 5, 0, 100, -128, 127),
    uint = c(3, 5, 0, 100, 128, 255),
    float = c(-1.5, 0.25, 0, 100, -2, 3),
    complex = c(1 + 2i, -0.5i, 0, 3, -2 + 0.25i, 10i)
  )
  rep_len(values, n)
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

# Cells in which a library has moved on since its table was published: NumPy, whose ml_dtypes have
# bf16; and torch.result_type() of PyTorch 2.15.0, where ui16, ui32 and ui64 meet themselves, floats
# and numbers, and numbers do not become double first.
as_living <- function(rules, cells) {
  if (rules == "numpy" && "bf16" %in% rownames(cells)) {
    living <- living_table("numpy_ml_dtypes")
    own <- rownames(cells)
    # Guesses are the Python number of their category there.
    known <- replace(own, own == "bool?", "bool")
    cells[own, "bf16"] <- living[known, "bf16"]
    cells["bf16", own] <- living["bf16", known]
    return(cells)
  }
  if (rules != "torch") {
    return(cells)
  }
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
