# The 740 expressions of tests/living/2026/octave.tsv.xz with the classes and values that Octave 7.3
# gives, translated to R and computed by joist under its rules:
#
#   Rscript tests/living/octave.R
#
# What differs, and what has no translation, is data: tests/living/octave.csv, with a reason and a
# count for each line. Every other difference is a failure, and so is a line that is not true any
# more. JOIST_LIVING_DIFFERENCES names a file for all that differ.

suppressPackageStartupMessages(library(joist))
options(warn = -1)

folder <- Sys.getenv("JOIST_LIVING_TESTS", "tests/living")
lines <- strsplit(readLines(xzfile(file.path(folder, "2026", "octave.tsv.xz")))[-1L], "\t")
asked <- data.frame(
  expression = vapply(lines, `[[`, "", 1L), class = vapply(lines, `[[`, "", 2L),
  value = vapply(lines, function(x) c(x, "", "")[[3L]], "")
)

# ---- Octave's words ----

classes <- c(
  logical = "bool", int8 = "i8", int16 = "i16", int32 = "i32", int64 = "i64", uint8 = "ui8",
  uint16 = "ui16", uint32 = "ui32", uint64 = "ui64", single = "f32", double = "f64",
  "single complex" = "c64", "double complex" = "c128"
)
class_of <- function(x) {
  if (is_tensor(x)) return(names(classes)[match(format(dtype(x)), classes)])
  if (is.logical(x)) "logical" else if (is.character(x)) "char" else "double"
}
# A conversion rounds halves away from zero and saturates; NaN becomes 0.
to_class <- function(dtype) {
  function(x) {
    stopifnot(!is.complex(x))
    x <- as_operand(x)
    if (!grepl("i", dtype)) return(nv_convert(x, dtype))
    if (!grepl("64", format(dtype(x)))) x <- nv_convert(x, "f64")
    if (grepl("^f", format(dtype(x)))) {
      whole <- nv_trunc(nv_abs(x))
      x <- nv_sign(x) * nv_ifelse(nv_abs(x) - whole >= 0.5, whole + 1, whole)
      x <- nv_ifelse(x == x, x, 0)
    }
    with_promotion(NULL, nv_convert(x, dtype), on = c(overflow = "saturate"))
  }
}
limit <- function(which) {
  function(class = "int32") {
    bits <- as.integer(sub("\\D+", "", class))
    unsigned <- startsWith(class, "u")
    number <- if (which == "max") 2^(bits - !unsigned) - 1 else if (unsigned) 0 else -2^(bits - 1)
    x <- nv_tensor(number, "f64")
    with_promotion(NULL, nv_convert(x, classes[[class]]), on = c(overflow = "saturate"))
  }
}
as_operand <- function(x) {
  if (is_tensor(x)) x else nv_tensor(x, if (is.logical(x)) "bool" else "f64")
}
# "native" is the class of the operand, "double" that in which it is summed.
reduced <- function(f) {
  function(x, type = "") {
    stopifnot(type %in% c("", "native", "double"))
    x <- as_operand(x)
    result <- f(if (type == "double") nv_convert(x, "f64") else x)
    if (type != "native") return(result)
    if (format(dtype(x)) == "bool") result != 0 else to_class(format(dtype(x)))(result)
  }
}
one_or_two <- function(one, two) {
  function(x, y) if (missing(y)) one(as_operand(x)) else two(as_operand(x), y)
}
octave <- c(
  lapply(classes[-1L], to_class),
  list(
    true = nv_tensor(TRUE), false = nv_tensor(FALSE), class = class_of, intmax = limit("max"),
    intmin = limit("min"), power = `^`, combine = nv_concatenate,
    idivide = function(x, y, how = "fix") {
      switch(how, fix = , floor = x %/% y, round = x / y, stop("joist does not divide so"))
    },
    mod = function(x, y) as_operand(x) %% y, rem = function(x, y) nv_remainder(as_operand(x), y),
    bitand = nv_bitwise_and, bitor = nv_bitwise_or, bitxor = nv_bitwise_xor,
    bitcmp = nv_bitwise_not,
    bitshift = function(x, n) {
      if (n < 0) return(nv_shift_right_arithmetic(as_operand(x), as.integer(-n)))
      nv_shift_left(as_operand(x), as.integer(n))
    },
    sum = reduced(sum), prod = reduced(prod), mean = reduced(mean), cumsum = reduced(cumsum),
    cumprod = reduced(cumprod), gcd = nv_gcd, lcm = nv_lcm,
    sumsq = reduced(function(x) sum(nv_convert(x, "f64")^2)),
    eye = function(n) nv_eye(as.integer(n), dtype = "f64"), max = one_or_two(nv_reduce_max, nv_max),
    min = one_or_two(nv_reduce_min, nv_min), sqrt = function(x) sqrt(as_operand(x)),
    abs = function(x) abs(as_operand(x)), floor = function(x) floor(as_operand(x)),
    fix = function(x) nv_trunc(as_operand(x)), transpose = t, hypot = nv_hypot,
    dot = function(x, y) sum(as_operand(x) * y), std = function(x) sd(as_operand(x)),
    typecast = function(x, class) nv_bitcast_convert(as_operand(x), classes[[class]]),
    cast = function(x, class) to_class(classes[[class]])(x),
    merge = function(test, x, y) nv_ifelse(test, x, y)
  )
)

# A row in brackets, whose elements are separated by commas or spaces.
bracket <- function(text) {
  if (grepl("[];:]", text)) stop("a matrix or a range")
  for (repeat_ in 1:3) text <- gsub("(\\([^()]*) +([^()]*\\))", "\\1\\2", text)
  parts <- strsplit(gsub(" *, *", ",", trimws(text)), "[ ,]+")[[1L]]
  sprintf("combine(%s)", paste(parts, collapse = ", "))
}
translate <- function(text) {
  if (grepl(":|;|'|\\\\|0[xb]|\\{|\\[\\]", text)) stop("not translated")
  at <- regexpr("\\[[^][]*\\]", text)
  while (at > 0L) {
    inside <- substr(text, at + 1L, at + attr(at, "match.length") - 2L)
    text <- paste0(
      substr(text, 1L, at - 1L), bracket(inside), substring(text, at + attr(at, "match.length"))
    )
    at <- regexpr("\\[[^][]*\\]", text)
  }
  text <- gsub("\\.([*/^])", "\\1", text)
  # A literal beyond 2^53 is exact in int64(...).
  text <- gsub("\\b(u?int64)\\((-?[0-9]{16,20})\\)", "exact(\"\\2\", \"\\1\")", text)
  parse(text = text)[[1L]]
}
octave$exact <- function(text, class) {
  nv_tensor(text, classes[[class]])
}
world <- list2env(octave, parent = asNamespace("joist"))

# ---- asking joist ----

shown <- function(x) {
  if (is.character(x)) return(x)
  if (!is_tensor(x)) x <- nv_tensor(x, if (is.logical(x)) "bool" else "f64")
  if (format(dtype(x)) == "bool") return(paste(as.integer(as.vector(x)), collapse = " "))
  if (grepl("i", format(dtype(x)))) return(paste(as_array(x, as = "character"), collapse = " "))
  paste(format(as.vector(x), digits = 17L, trim = TRUE), collapse = " ")
}
ours <- function(text) {
  tryCatch(
    {
      x <- with_promotion("octave", eval(translate(text), world), on = c(overflow = "saturate"))
      c(class_of(x), shown(x))
    },
    error = function(e) c("ERROR", conditionMessage(e))
  )
}
same_value <- function(mine, theirs, class) {
  is_integer <- grepl("int", class)
  if (identical(mine, theirs)) return(TRUE)
  numbers <- lapply(list(mine, theirs), function(x) {
    suppressWarnings(as.numeric(strsplit(trimws(x), " +")[[1L]]))
  })
  identical(lengths(numbers)[[1L]], lengths(numbers)[[2L]]) && !anyNA(unlist(numbers)) &&
    all(abs(numbers[[1L]] - numbers[[2L]]) <= 4e-16 * abs(numbers[[2L]])) &&
    (!is_integer || all(nchar(strsplit(theirs, " ")[[1L]]) <= 15L))
}

got <- vapply(asked$expression, ours, c("", ""), USE.NAMES = FALSE)
asked$joist <- got[1L, ]
asked$joist_value <- got[2L, ]
same <- mapply(identical, asked$joist, asked$class) &
  (asked$class == "ERROR" | mapply(same_value, asked$joist_value, asked$value, asked$class))
differ <- asked[!same, ]
if (nzchar(Sys.getenv("JOIST_LIVING_DIFFERENCES"))) {
  write.csv(differ, Sys.getenv("JOIST_LIVING_DIFFERENCES"), row.names = FALSE)
}

reasons <- read.csv(file.path(folder, "octave.csv"), colClasses = "character")
explained <- logical(nrow(differ))
failed <- 0L
for (k in seq_len(nrow(reasons))) {
  found <- !explained & grepl(reasons$expression[k], differ$expression, perl = TRUE) &
    grepl(paste0("^(", reasons$joist[k], ")"), perl = TRUE, paste(differ$joist, differ$joist_value))
  if (sum(found) != as.integer(reasons$count[k])) {
    cat("octave.csv, line ", k + 1L, ": ", sum(found), " expressions, not ", reasons$count[k], "\n",
      sep = "")
    failed <- failed + 1L
  }
  explained <- explained | found
}
left <- differ[!explained, ]
cat(sprintf(
  "%s: %s %s in joist, %s %s in Octave\n", left$expression, left$joist, left$joist_value,
  left$class, left$value
), sep = "")
failed <- failed + nrow(left)
cat(
  "note: ", nrow(asked), " expressions, ", sum(same), " equal, ", sum(explained),
  " listed with a reason\n", "counts: ", nrow(asked) - failed, " ", failed, " 0\n", sep = ""
)
quit(status = as.integer(failed > 0L))
