.onLoad <- function(libname, pkgname) {
  .Call(joist_r_init, topenv())
}
