.onLoad <- function(libname, pkgname) {
  .Call(joist_r_init, topenv())
  # `%*%` is an S3 generic from R 4.3 on, crossprod() and tcrossprod() from R 4.4 on.
  if (getRversion() >= "4.3.0") {
    registerS3method("matrixOps", "nv_tensor", matrixOps.nv_tensor)
  }
  on_load_of_matrix()
}
