#' Expect equal tensors
#'
#' An expectation for the testthat package, which fails unless [all.equal.nv_tensor()] is `TRUE`
#' with the tolerance of the dtype. (`testthat::expect_equal()` compares tensors, too, but in its
#' third edition with the tolerance of `f64` if none is given; `expect_identical()` compares bits.)
#'
#' @param object,expected Tensors.
#' @param tolerance The largest relative difference that counts as equal; `NULL` for the square root
#'   of the machine epsilon of the dtype of `object`.
#' @param ... Passed on to [all.equal()] for the values.
#' @return `object`, invisibly. A failure says what differs: dtype, ambiguity, shape or values.
#' @section Errors: `joist_value_error` when `object` is not a tensor.
#' @examples
#' if (requireNamespace("testthat", quietly = TRUE)) {
#'   x <- nv_tensor(c(0.1, 0.2), "f32")
#'   expect_equal_tensor(x * 10 / 10 + 1e-7, x)
#' }
#' @export
expect_equal_tensor <- function(object, expected, tolerance = NULL, ...) {
  dtype(object)
  differences <- all.equal(object, expected, tolerance = tolerance, ...)
  said <- paste(c("the tensors are not equal:", differences), collapse = "\n")
  testthat::expect(isTRUE(differences), said)
  invisible(object)
}
