.onLoad <- function(libname, pkgname) {
  .Call(joist_r_init, topenv())
  # `%*%` is an S3 generic from R 4.3 on, crossprod() and tcrossprod() from R 4.4 on.
  if (getRversion() >= "4.3.0") {
    registerS3method("matrixOps", "nv_tensor", matrixOps.nv_tensor)
  }
  # A directive for the generic of stats would be taken for one about the function here.
  registerS3method("na.omit", "nv_tensor", omit_nan, asNamespace("stats"))
  if (getRversion() < "4.4.0") define_classes(topenv())
  on_load_of_matrix()
}

# Before R 4.4, deparse() fails for an object that is no vector if its class has no definition. It
# is what shows the calls of errors and warnings, in which there may be tensors.
#' @importFrom methods setOldClass
define_classes <- function(namespace) {
  for (class in list("nv_tensor", c("nv_aval", "nv_tensor"), c("nv_traced", "nv_tensor"))) {
    setOldClass(class, where = namespace)
  }
}
