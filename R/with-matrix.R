# The package Matrix: its matrices beside tensors. Matrix computes in the common dtype of the
# operands. Sparse results stay matrices of Matrix, dense ones are tensors of that dtype. Where
# doubles cannot hold the dtype, or the elements are unknown, joist computes with the dense matrix.
# The methods are set when Matrix is loaded.

join_matrix <- function(package, ...) {
  where <- place_for_methods()
  namespace <- asNamespace(package)
  set <- function(name, body, class = "Matrix") {
    generic <- methods::getGeneric(name, where = namespace)
    method <- as.function(c(formals(generic), body), envir = topenv())
    setMethod(generic, c(class, "nv_tensor"), method, where = where)
    if (class == "Matrix") setMethod(generic, c("nv_tensor", class), method, where = where)
  }
  for (group in c("Arith", "Compare", "Logic")) {
    set(group, quote(elementwise_beside(get(.Generic, baseenv()), e1, e2)))
  }
  set("%*%", quote(computed_beside(base::`%*%`, nv_matmul, x, y)))
  set("crossprod", quote(computed_beside(Matrix::crossprod, nv_crossprod, x, y)))
  set("tcrossprod", quote(computed_beside(Matrix::tcrossprod, nv_tcrossprod, x, y)))
  set("kronecker", quote(computed_beside(methods::kronecker, nv_kron, X, Y)))
  set("cbind2", quote(computed_beside(methods::cbind2, cbind, x, y)))
  set("rbind2", quote(computed_beside(methods::rbind2, rbind, x, y)))
  set("solve", quote(computed_beside(Matrix::solve, nv_solve, a, b)))
  set("solve", quote(as_solved(Matrix::solve(a, as_array(b), ...), b)), "MatrixFactorization")
  set_index_methods(where)
  methods::setAs("nv_chunked", "dgCMatrix", function(from) sparse_matrix(from), where = where)
}

# Indices and values that are tensors are R's numbers to Matrix. R would tell of several methods
# that are as near, so each place where one can be has its own.
set_index_methods <- function(where) {
  classes <- c("ANY", "nv_tensor")
  plain <- function(x) if (is_tensor(x)) as_array(x) else x
  take <- function(x, i, j, ..., drop = TRUE) {
    if (!missing(i)) i <- plain(i)
    if (!missing(j)) j <- plain(j)
    if (nargs() - (!missing(drop)) < 3L) return(x[i])
    if (missing(i)) return(x[, j, drop = drop])
    if (missing(j)) x[i, , drop = drop] else x[i, j, drop = drop]
  }
  put <- function(x, i, j, ..., value) {
    if (!missing(i)) i <- plain(i)
    if (!missing(j)) j <- plain(j)
    value <- plain(value)
    if (nargs() < 4L && missing(i)) x[] <- value else if (nargs() < 4L) x[i] <- value else
      if (missing(i) && missing(j)) x[, ] <- value else if (missing(i)) x[, j] <- value else
        if (missing(j)) x[i, ] <- value else x[i, j] <- value
    x
  }
  places <- expand.grid(i = classes, j = classes, value = classes, stringsAsFactors = FALSE)[-1L, ]
  for (k in seq_len(nrow(places))) {
    setMethod("[<-", c("Matrix", unlist(places[k, ])), put, where = where)
    if (k < 4L) setMethod("[", c("Matrix", places$i[k], places$j[k]), take, where = where)
  }
}

computed_beside <- function(of_matrix, of_tensors, x, y) {
  type <- type_beside(x, y)
  if (is.null(type)) {
    return(of_tensors(dense_operand(x), dense_operand(y)))
  }
  result_of_matrix(of_matrix(operand_of_matrix(x, type), operand_of_matrix(y, type)), type)
}

result_of_matrix <- function(out, type) {
  if (is_sparse(out)) out else like(nv_tensor(as.matrix(out), "f64"), type)
}

# Shapes must agree as those of a tensor and R's matrix do.
elementwise_beside <- function(f, x, y) {
  shapes <- list(shape_beside(x), shape_beside(y))
  agree <- any(lengths(shapes) == 0L) || identical(shapes[[1L]], shapes[[2L]])
  type <- if (agree) type_beside(x, y)
  if (!is.null(type)) {
    out <- f(operand_of_matrix(x, type), operand_of_matrix(y, type))
    if (is_sparse(out)) return(out)
  }
  f(dense_operand(x), dense_operand(y))
}

shape_beside <- function(x) as.integer(if (is_tensor(x)) shape(x) else dim(x))

# What the solver of a factorization gives, which computes in doubles.
as_solved <- function(out, b) {
  result_of_matrix(out, nv_mul(double(), nv_aval(dtype(b), 0L, ambiguous(b))))
}

# The common dtype of both, as an abstract tensor, or NULL where joist computes.
type_beside <- function(x, y) {
  tensor <- if (is_tensor(x)) x else y
  if (!has_elements(tensor) || is_chunked(tensor) || ndims(tensor) > 2L) return()
  matrix <- if (is_tensor(x)) y else x
  values <- if (methods::.hasSlot(matrix, "x")) vector(typeof(matrix@x), 0L) else logical()
  type <- nv_mul(values, nv_aval(dtype(tensor), 0L, ambiguous(tensor)))
  if (is_float_dtype(type)) type
}

operand_of_matrix <- function(x, type) {
  if (is_tensor(x)) {
    return(as_array(converted_into(x, dtype(type), ambiguous(type))))
  }
  if (format(dtype(type)) != "f64" && methods::.hasSlot(x, "x")) {
    x@x <- as_array(nv_tensor(x@x, dtype(type), length(x@x)))
    if (methods::.hasSlot(x, "factors")) x@factors <- list() # of the values before
  }
  x
}

dense_operand <- function(x) if (is_tensor(x)) x else as.matrix(x)

is_sparse <- function(x) {
  any(vapply(c("sparseMatrix", "diagonalMatrix", "indMatrix"), function(class) is(x, class), NA))
}
