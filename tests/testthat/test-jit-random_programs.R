# Random programs in R's own words: the same expressions evaluated by base R on its arrays, by
# joist on tensors, and in jit(). The rules map R's types to the same types of joist: integer is
# i32, double f64, complex c128.

base_dtypes <- c(logical = "bool", integer = "i32", double = "f64", complex = "c128")

random_array <- function(extents, type) {
  n <- prod(extents)
  x <- switch(type,
    integer = sample(-9:9, n, TRUE),
    double = sample(c(-4:4, 0.5, 2.25, -1.5), n, TRUE) + 0,
    complex = complex(real = sample(-3:3, n, TRUE), imaginary = sample(-3:3, n, TRUE))
  )
  if (length(extents) > 1L) array(x, extents) else x
}

extents_of <- function(x) if (is.null(dim(x))) length(x) else dim(x)

# Each template is an expression of .a and .b (values made so far), of indices .i and .j, and
# of a condition on the base R values.
templates <- list(
  list(quote(.a + .b), "fit numbers"), list(quote(.a - .b), "fit numbers"),
  list(quote(.a * .b), "fit numbers"), list(quote(.a / .b), "fit numbers"),
  list(quote(.a %/% .b), "fit ordered numbers"), list(quote(.a %% .b), "fit ordered numbers"),
  list(quote(-.a), "no_logical"), list(quote(.a^2L), "no_logical"),
  list(quote(.a > .b), "fit ordered"), list(quote(.a == .b), "fit"), list(quote(.a != .b), "fit"),
  list(quote(.a + 1L), "no_logical"), list(quote(2 * .a), "no_logical"),
  list(quote(abs(.a)), "no_logical"), list(quote(sqrt(abs(.a))), "no_logical"),
  list(quote(exp(-abs(.a))), "no_logical"), list(quote(floor(.a)), "ordered no_logical"),
  list(quote(Re(.a)), "no_logical"), list(quote(Conj(.a)), "no_logical"),
  list(quote(sum(.a)), "no_logical"), list(quote(mean(.a)), "no_logical"),
  list(quote(max(.a)), "ordered no_logical some"), list(quote(min(.a)), "ordered no_logical some"),
  list(quote(any(.a > 0)), "ordered"), list(quote(all(.a != .b)), "fit"),
  list(quote(t(.a)), "rank2"), list(quote(aperm(.a)), "rank2"), list(quote(rev(.a)), "rank1"),
  list(quote(.a[.i]), "rank1 some"), list(quote(.a[-.i]), "rank1 some"),
  list(quote(.a[.i, ]), "rank2 some"), list(quote(.a[, .j]), "rank2 some"),
  list(quote(.a[.i, .j, drop = FALSE]), "rank2 some"), list(quote(.a[-.i, ]), "rank2 some"),
  list(quote(rbind(.a, .b)), "rank2 same_columns same"),
  list(quote(cbind(.a, .b)), "rank2 same_rows same"),
  list(quote(c(.a, .b)), "rank1 both1 same"), list(quote(rep(.a, 2L)), "rank1"),
  list(quote(head(.a, 2L)), ""), list(quote(tail(.a, 2L)), "rank1"),
  list(quote(cumsum(.a)), "no_logical"), list(quote(cumprod(sign(.a))), "ordered no_logical"),
  list(quote(cummax(.a)), "ordered no_logical"), list(quote(cummin(.a)), "ordered no_logical"),
  list(quote(sort(.a)), "rank1 ordered"), list(quote(sort(.a, decreasing = TRUE)), "rank1 ordered"),
  list(quote(replace_at(.a, .i, 3L)), "rank1 no_logical some"),
  list(quote(replace_row(.a, .i, 0L)), "rank2 no_logical some")
)

replace_at <- function(x, i, value) {
  x[i] <- value
  x
}

replace_row <- function(x, i, value) {
  x[i, ] <- value
  x
}

conditions <- list(
  fit = function(a, b) identical(extents_of(a), extents_of(b)),
  same = function(a, b) identical(typeof(a), typeof(b)),
  ordered = function(a, b) !is.complex(a) && !is.complex(b),
  no_logical = function(a, b) !is.logical(a),
  numbers = function(a, b) !is.logical(a) && !is.logical(b),
  some = function(a, b) length(a) > 0L,
  rank1 = function(a, b) is.null(dim(a)),
  both1 = function(a, b) is.null(dim(b)),
  rank2 = function(a, b) length(dim(a)) == 2L,
  same_rows = function(a, b) identical(nrow(a), nrow(b)),
  same_columns = function(a, b) identical(ncol(a), ncol(b))
)

# One more value: the expression and what base R makes of it, or NULL.
next_value <- function(pool) {
  template <- templates[[sample(length(templates), 1L)]]
  a <- sample(length(pool), 1L)
  b <- sample(length(pool), 1L)
  wanted <- strsplit(template[[2L]], " ", fixed = TRUE)[[1L]]
  fits <- vapply(wanted, function(w) isTRUE(conditions[[w]](pool[[a]], pool[[b]])), NA)
  if (!all(fits)) {
    return(NULL)
  }
  extents <- extents_of(pool[[a]])
  index <- function(n) if (n > 0L) sample(n, sample(3L, 1L), TRUE) else integer()
  parts <- list(
    .a = as.name(paste0("v", a)), .b = as.name(paste0("v", b)), .i = index(extents[1L]),
    .j = index(extents[length(extents)])
  )
  code <- do.call(substitute, list(template[[1L]], parts))
  value <- tryCatch(eval(code, pool), error = function(e) NULL, warning = function(w) NULL)
  # What base R has no number for, or computes modulo nothing, is not compared.
  if (is.null(value) || anyNA(value) || any(Mod(value) > 1e6)) {
    return(NULL)
  }
  list(code = code, value = value)
}

random_program <- function() {
  extents <- sample(1:4, sample(2L, 1L), TRUE)
  if (runif(1) < 0.05) extents[1L] <- 0L
  pool <- list()
  for (k in seq_len(sample(2:3, 1L))) {
    pool[[paste0("v", k)]] <- random_array(extents, sample(names(base_dtypes)[-1L], 1L))
  }
  inputs <- length(pool)
  code <- list()
  for (attempt in 1:20) {
    made <- next_value(pool)
    if (is.null(made)) next
    name <- paste0("v", length(pool) + 1L)
    pool[[name]] <- made$value
    code[[name]] <- made$code
  }
  list(inputs = pool[seq_len(inputs)], code = code, values = pool[-seq_len(inputs)])
}

as_input <- function(x) nv_tensor(x, base_dtypes[[typeof(x)]], extents_of(x))

# Sums of integers are i64, so types are compared by kind. What R rounds to doubles and joist
# keeps in the dtype (floor() and Re() of integers) is an integer here.
expect_same <- function(tensor, value, what) {
  kind <- kind_of(format(dtype(tensor)))
  wanted <- switch(typeof(value),
    logical = "bool", integer = "int", double = c("float", "int"), "complex"
  )
  own <- as.vector(tensor, if (kind == "complex") "complex" else "double")
  scale <- max(1, Mod(as.vector(value)))
  near <- length(own) == length(value) && all(Mod(own - as.vector(value)) <= 1e-13 * scale)
  extents <- if (length(shape(tensor)) == 0L) 1L else shape(tensor)
  expect(
    kind %in% wanted && near && identical(as.integer(extents), as.integer(extents_of(value))),
    sprintf(
      "%s: %s, shape %s, values %s; base R: %s, %s, %s", what, format(dtype(tensor)),
      toString(shape(tensor)), toString(own), typeof(value), toString(extents_of(value)),
      toString(value)
    )
  )
}

test_that("random programs give what base R gives, eager and in jit()", {
  set.seed(20)
  local_promotion("numpy")
  for (k in 1:300) {
    program <- random_program()
    if (length(program$code) == 0L) next
    run <- function(...) {
      values <- list(...)
      for (name in names(program$code)) {
        values[[name]] <- eval(program$code[[name]], values, environment(replace_at))
      }
      values[names(program$code)]
    }
    inputs <- lapply(program$inputs, as_input)
    listing <- paste(names(program$code), vapply(program$code, deparse1, ""), sep = " = ")
    eager <- do.call(run, inputs)
    traced <- do.call(jit(run), inputs)
    for (name in names(program$code)) {
      at <- match(name, names(program$code))
      what <- paste(utils::tail(listing[seq_len(at)], 6L), collapse = "; ")
      expect_same(eager[[name]], program$values[[name]], what)
      expect_identical(dtype(traced[[name]]), dtype(eager[[name]]))
      expect_identical(as.vector(traced[[name]]), as.vector(eager[[name]]), info = what)
    }
  }
})
