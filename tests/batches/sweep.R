# nv_vmap() of every operation beside a loop over the slices: random operands, some of which have
# slices, of all dtypes, eagerly and nested.
#
#   Rscript tests/batches/sweep.R [calls of each operation] [seed]
#
# Bits are the same, except where a sum, a product or a decomposition may add in another order.

suppressPackageStartupMessages(library(joist))
source("tests/testthat/helper-operations.R")
for (name in c("parts", "valid_tensors", "valid_operations")) {
  source(file.path("tests", "fuzz", paste0(name, ".R")))
}
arguments <- as.integer(commandArgs(TRUE))
calls <- c(arguments, 6L)[1L]
seed <- c(arguments[-1L], 1L)[1L]
options(warn = -1L)
nv_set_threads(1)

# Sums of another order, and what is made of them.
reordered <- c(
  "reduce_sum", "reduce_prod", "mean", "matmul", "cumsum", "cumprod", "scatter_add", "scatter_mul",
  "solve", "inverse", "triangular_solve", "chol", "det", "determinant", "lu", "qr", "svd", "eigh",
  "eig", "eigvals", "singular_values", "fft", "rfft", "irfft", "conv", "conv_input", "conv_kernel"
)

# Other slices like an operand: its elements in another order. Keys and square matrices of
# decompositions are changed a little.
other_slice <- function(x, name, k) {
  if (name %in% c("chol", "solve", "inverse", "triangular_solve", "det", "determinant", "lu", "qr",
    "svd", "singular_values", "eigh", "eig", "eigvals") || k == 0L) {
    return(x)
  }
  if (ndims(x) == 0L || length(x) < 2L || format(dtype(x)) == "ui32" && length(x) == 2L) {
    return(x)
  }
  nv_reshape(nv_flatten(x)[(seq_along(x) + k - 1L) %% length(x) + 1L], shape(x))
}

same_elements <- function(x, y) {
  identical(dtype(x), dtype(y)) && ambiguous(x) == ambiguous(y) &&
    identical(shape(x), shape(y)) &&
    (identical(nv_write_bin(x, raw()), nv_write_bin(y, raw())) ||
      !grepl("64$", format(dtype(x))) && identical(as_array(x), as_array(y), num.eq = FALSE) ||
      format(dtype(x)) %in% c("f64", "c64") && identical(as_array(x), as_array(y), num.eq = FALSE))
}

near <- function(x, y) {
  if (!identical(dtype(x), dtype(y)) || !identical(shape(x), shape(y))) return(FALSE)
  wide <- if (startsWith(format(dtype(x)), "c")) "c128" else "f64"
  a <- as_array(nv_convert(x, wide))
  b <- as_array(nv_convert(y, wide))
  unit <- switch(format(dtype(x)), f64 = , c128 = 1e-11, f32 = , c64 = 2e-3, 0.2)
  both <- is.finite(a) & is.finite(b)
  identical(is.finite(a), is.finite(b)) && all(abs(a - b)[both] <= unit * max(1, abs(b[both])))
}

first_of <- function(x, k) {
  extents <- shape(x)
  at <- list(start = c(k, rep(1, length(extents) - 1L)), stop = c(k, extents[-1L]))
  nv_reshape(run_operation("slice", list(x), at), extents[-1L])
}

problems <- 0L
done <- 0L
refused <- 0L
rows <- split(operations, factor(operations$name, operations$name))
count <- 3L

# What a call gives for each slice of some operands, and for all at once.
both_ways <- function(call, name, mapped) {
  slices <- lapply(seq_len(count) - 1L, function(k) {
    operands <- call$operands
    operands[mapped] <- lapply(operands[mapped], other_slice, name, k)
    unname(operands)
  })
  operands <- unname(call$operands)
  along <- rep(NA_integer_, length(operands))
  for (k in mapped) {
    parts <- lapply(slices, `[[`, k)
    along[k] <- sample.int(ndims(parts[[1L]]) + 1L, 1L)
    operands[[k]] <- do.call(nv_stack, c(parts, list(dim = along[k])))
  }
  sink <- if (name == "print") utils::capture.output else force
  sink({
    each <- lapply(slices, function(own) tryCatch(do.call(call$f, own), error = identity))
    made <- tryCatch(do.call(nv_vmap(call$f, along), operands), error = identity)
  })
  list(each = each, made = made)
}

# What is wrong with them; NULL if nothing is.
difference <- function(found, name) {
  failed <- vapply(found$each, inherits, NA, "error")
  if (any(failed)) {
    return(if (!inherits(found$made, "error")) "no error where the loop has one")
  }
  if (inherits(found$made, "error")) {
    return(conditionMessage(found$made))
  }
  same <- if (name %in% reordered) near else same_elements
  leaves <- joist:::leaves_of(found$made)
  for (r in seq_along(leaves)) {
    for (k in seq_len(count)) {
      one <- joist:::leaves_of(found$each[[k]])[[r]]
      x <- leaves[[r]]
      own <- if (ndims(x) == 1L) nv_reshape(x[k], integer()) else first_of(x, k)
      if (!same(own, one)) {
        return(paste("differs in slice", k))
      }
    }
  }
}

for (row in rows[names(rows) != "require"]) {
  for (number in seq_len(calls)) {
    set.seed(seed * 1000003 + number * 1009 + match(row$name, names(rows)))
    call <- operation_call(row)
    tensors <- which(vapply(call$operands, is_tensor, NA))
    mapped <- tensors[runif(length(tensors)) < 0.7]
    if (length(mapped) == 0L) mapped <- tensors
    if (length(mapped) == 0L) next
    found <- both_ways(call, row$name, mapped)
    done <- done + 1L
    refused <- refused + inherits(found$each[[1L]], "error")
    what <- difference(found, row$name)
    if (is.null(what)) next
    problems <- problems + 1L
    cat("PROBLEM:", row$name, number, "mapped", mapped, "of", length(tensors), "-", what, "\n")
  }
}
cat(done, "calls,", refused, "refused,", problems, "problems\n")
quit(status = as.integer(problems > 0L))
