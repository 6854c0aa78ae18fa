#' Matrix products
#'
#' `nv_matmul()` multiplies matrices, also by `%*%`; `nv_crossprod()` is
#' `t(x) %*% y` and `nv_tcrossprod()` is `x %*% t(y)`, without a transposed copy, also by
#' `crossprod()` and `tcrossprod()`. `nv_dot()` sums products over any
#' dimensions of two tensors.
#'
#' The first two dimensions are matrices and the others are a batch, as R indexes it:
#' `nv_matmul(x, y)[, , k]` is the product of `x[, , k]` and `y[, , k]`. Extents of a batch must be
#' equal, or 1; an operand without batch dimensions is used for the whole batch.
#'
#' A vector (rank 1 or 0, or an R vector) is a matrix of one row or one column as in R's
#' `%*%`: on the left a row if the other operand has as many rows, else a column if it has one
#' row; on the right a column if the other has as many columns, else a row if it has one
#' column; two vectors of equal length give an inner product. The transposed operand of a
#' cross product is a column, but `y` of `nv_tcrossprod()` is a row where that fits. The result
#' is always a matrix.
#'
#' Integers wrap and bool is `or` of `and`, as in [nv_add()] and [nv_mul()]. Floats are
#' summed in their own dtype, `f16` and `bf16` in `f32`, and rounded once. `f32`, `f64`,
#' `c64` and `c128` use the BLAS that R uses if that is an optimized one, and otherwise
#' joist's own kernels, like all other dtypes; [joist_info()] says which. Results of our own
#' kernels have the same bits for any number of threads, but not for every instruction set,
#' as some have a fused multiply-add.
#'
#' With `accumulate`, operands are read in their own dtypes and products are summed in that dtype,
#' which is the dtype of the result: sums of products of `i8` are exact in `i32` (of up to 131,071
#' terms) and `i64`, sums of `f16` and `bf16` are not rounded from `f32`. It must hold every value
#' of both operands. No operand is copied: their elements are converted as the kernels read them,
#' which are joist's own, some hundreds at a time.
#'
#' @param lhs,rhs,x,y Tensors or R numbers; `y = NULL` is `x`.
#' @param accumulate A dtype or its name, for the sums and the result; `NULL` for the common dtype
#'   of the operands.
#' @param batch_dims,contracting_dims Lists of two integer vectors of equal length: dimensions
#'   of `lhs` and the dimensions of `rhs` that belong to them. Batch dimensions are kept,
#'   contracting ones are summed over.
#' @return A tensor of the common dtype of the operands, or of dtype `accumulate`. The shape of
#'   `nv_dot()` is that of the remaining dimensions of `lhs`, then those of `rhs`, then the batch
#'   dimensions.
#' @section Errors: `joist_shape_error` when the shapes do not fit; `joist_promotion_error`
#'   without a common dtype; `joist_dtype_error` for an `accumulate` that cannot hold all
#'   values of an operand, or other than `f32` where an operand is packed ([nv_packed]).
#' @examples
#' x <- nv_tensor(matrix(1:6, 2), "f32")
#' nv_matmul(x, t(x))
#' nv_crossprod(x)
#' nv_matmul(x, 1:3)
#' pixels <- nv_tensor(matrix(100:105, 2), "i8")
#' nv_tcrossprod(pixels, accumulate = "i32")
#' shape(nv_matmul(nv_fill(1, c(2, 3, 5)), nv_fill(1, c(3, 4))))
#' nv_dot(x, x, contracting_dims = list(c(1, 2), c(1, 2)))
#' @export
nv_matmul <- function(lhs, rhs, accumulate = NULL) {
  matrix_product(lhs, rhs, FALSE, FALSE, accumulate)
}

#' @rdname nv_matmul
#' @export
nv_crossprod <- function(x, y = NULL, accumulate = NULL) {
  matrix_product(x, if (is.null(y)) x else y, TRUE, FALSE, accumulate)
}

#' @rdname nv_matmul
#' @export
nv_tcrossprod <- function(x, y = NULL, accumulate = NULL) {
  matrix_product(x, if (is.null(y)) x else y, FALSE, TRUE, accumulate)
}

matrix_product <- function(lhs, rhs, lhs_transposed, rhs_transposed, accumulate = NULL) {
  if (is_packed(lhs) || is_packed(rhs)) {
    if (!is.null(accumulate) && !identical(format(as_dtype(accumulate)), "f32")) {
      stop_joist("joist_dtype_error", "products of packed matrices are summed in f32")
    }
    return(packed_product(lhs, rhs, lhs_transposed, rhs_transposed))
  }
  transposed <- c(lhs_transposed, rhs_transposed)
  operands <- list(lhs, rhs)
  if (!is_matrix(lhs) || !is_matrix(rhs)) {
    shapes <- matrix_shapes(part_shape(lhs), part_shape(rhs), transposed)
    operands <- list(with_matrix_shape(lhs, shapes[[1L]]), with_matrix_shape(rhs, shapes[[2L]]))
  }
  attributes <- list(
    transpose_lhs = lhs_transposed, transpose_rhs = rhs_transposed, dtype = accumulate
  )
  .Call(joist_r_operation, "matmul", operands, attributes)
}

# A tensor of matrices, which need no other shape.
is_matrix <- function(x) inherits(x, "nv_tensor") && length(shape(x)) >= 2L

# The shapes of two operands, with vectors as matrices of one row or one column.
matrix_shapes <- function(lhs, rhs, transposed) {
  vectors <- c(length(lhs), length(rhs)) < 2L
  lhs <- if (vectors[1L]) prod(lhs) else lhs
  rhs <- if (vectors[2L]) prod(rhs) else rhs
  terms <- if (!vectors[2L]) rhs[if (transposed[2L]) 2L else 1L]
  if (vectors[1L]) {
    if (transposed[1L]) {
      lhs <- c(lhs, 1)
    } else if (is.null(terms)) {
      # Two vectors: an inner product, or an outer one with a vector of length 1.
      lhs <- if (transposed[2L]) c(lhs, 1) else c(1, lhs)
    } else {
      lhs <- if (lhs != terms && terms == 1) c(lhs, 1) else c(1, lhs)
    }
  }
  if (vectors[2L]) {
    terms <- lhs[if (transposed[1L]) 1L else 2L]
    row <- if (transposed[2L]) rhs == terms && terms != 1 else rhs != terms && terms == 1
    rhs <- if (row) c(1, rhs) else c(rhs, 1)
  }
  list(lhs, rhs)
}

with_matrix_shape <- function(x, extents) {
  if (identical(as.double(part_shape(x)), as.double(extents))) {
    return(x)
  }
  if (is_number(x)) {
    return(.Call(joist_r_with_shape, x, extents))
  }
  if (inherits(x, "nv_tensor")) {
    return(reshaped_number(x, extents))
  }
  if (!is.atomic(x) || is.null(x) || length(x) != prod(extents)) {
    x <- as_operand(x) # which says what it is not
  }
  dim(x) <- extents
  x
}

#' @rdname nv_matmul
#' @export
nv_dot <- function(lhs, rhs, batch_dims = list(integer(), integer()),
                   contracting_dims = list(integer(), integer())) {
  extents <- dot_extents(lhs)
  inner <- length(extents) == 1L && !length(batch_dims[[1L]]) && !length(batch_dims[[2L]]) &&
    identical(contracting_dims, list(1L, 1L)) && identical(dot_extents(rhs), extents)
  if (inner && .Call(joist_r_can_fuse, list(lhs, rhs))) {
    row <- c(1L, extents)
    result <- matrix_product(nv_reshape(lhs, row), nv_reshape(rhs, row), FALSE, TRUE)
    return(nv_reshape(result, integer()))
  }
  check_dot_dims(batch_dims, contracting_dims, extents, dot_extents(rhs))
  left <- dot_matrix(lhs, contracting_dims[[1L]], batch_dims[[1L]], rhs)
  right <- dot_matrix(rhs, contracting_dims[[2L]], batch_dims[[2L]], lhs)
  result <- matrix_product(left$matrix, right$matrix, left$summed == 1L, right$summed == 2L)
  nv_reshape(result, c(left$kept, right$kept, extents[batch_dims[[1L]]]))
}

# R vectors have a dimension here, that of length 1 as well.
dot_extents <- function(x) {
  extents <- part_shape(x)
  if (length(extents) == 0L && (!is_tensor(x) || is_number(x))) 1L else extents
}

# An operand as a batch of matrices, and which of their dimensions is summed over: elements are not
# moved if either will do.
dot_matrix <- function(x, contracting, batch, other) {
  extents <- dot_extents(x)
  kept <- seq_along(extents)
  kept <- kept[!kept %of% c(contracting, batch)]
  summed <- if (identical(as.integer(c(kept, contracting, batch)), seq_along(extents))) 2L else 1L
  order <- if (summed == 1L) c(contracting, kept, batch) else seq_along(extents)
  x <- with_matrix_shape(x, extents)
  if (!identical(as.integer(order), seq_along(extents))) {
    # Moving elements needs their dtype: that of the product.
    if (is_number(x) && is_tensor(other)) {
      one_of <- function(x) nv_aval(dtype(x), 1L, ambiguous(x))
      x <- like(x, .Call(joist_r_op2, "mul", one_of(x), one_of(other)))
    }
    x <- aperm(x, order)
  }
  counts <- c(prod(extents[contracting]), prod(extents[kept]))
  x <- with_matrix_shape(x, c(if (summed == 1L) counts else rev(counts), extents[batch]))
  list(matrix = x, kept = extents[kept], summed = summed)
}

# Whether these are dimensions of two operands, pair by pair.
are_pairs <- function(x) {
  are_dims <- function(dims) is.null(dims) || is_whole(dims)
  is.list(x) && !is.object(x) && length(x) == 2L && are_dims(x[[1L]]) && are_dims(x[[2L]]) &&
    length(x[[1L]]) == length(x[[2L]])
}

check_dot_dims <- function(batch, contracting, lhs, rhs) {
  for (pair in list(batch, contracting)) {
    if (!are_pairs(pair)) {
      stop_joist(
        "joist_shape_error", "`batch_dims` and `contracting_dims` are lists of two integer ",
        "vectors of equal length: dimensions of `lhs` and of `rhs`"
      )
    }
  }
  for (k in 1:2) {
    dims <- c(batch[[k]], contracting[[k]])
    extents <- list(lhs, rhs)[[k]]
    if (!all(dims %of% seq_along(extents)) || anyDuplicated(dims)) {
      stop_joist(
        "joist_shape_error", "dimensions of ", c("`lhs`", "`rhs`")[k], " must be different ones ",
        "from 1 to ", length(extents)
      )
    }
  }
  left <- lhs[c(batch[[1L]], contracting[[1L]])]
  right <- rhs[c(batch[[2L]], contracting[[2L]])]
  if (!identical(left, right)) {
    stop_joist(
      "joist_shape_error", "shapes ", extents_text(lhs), " and ", extents_text(rhs),
      " do not fit: the batch and contracting dimensions have extents ", extents_text(left),
      " and ", extents_text(right)
    )
  }
}

# R's group of matrix operators, from R 4.3 on; registered when the package is loaded.
matrixOps.nv_tensor <- function(x, y = NULL) { # nolint: object_name_linter.
  switch(.Generic,
    `%*%` = nv_matmul(x, y),
    crossprod = nv_crossprod(x, y),
    tcrossprod = nv_tcrossprod(x, y),
    stop_joist("joist_value_error", .Generic, "() is not defined for tensors")
  )
}
