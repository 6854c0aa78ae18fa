# S3 generics of other packages whose methods are for numbers or a matrix, which the class hides.
generics_of_numbers <- list(
  dplyr = "recode", forcats = "as_factor", haven = "as_factor", iterators = "iter",
  plyr = "round_any", reshape2 = "melt", scales = "round_any", tidyr = "full_seq",
  units = c("set_units", "units<-")
)

# Methods that call the generic again, on R's numbers. What takes any vector takes tensors, too.
join_generics_of_numbers <- function(package, ...) {
  for (name in generics_of_numbers[[package]]) join_generic_of_numbers(package, name)
}

join_generic_of_numbers <- function(package, name) {
  generic <- get0(name, asNamespace(package), mode = "function", inherits = FALSE)
  if (is.null(generic)) generic <- get0(name, baseenv(), mode = "function", inherits = FALSE)
  if (is.null(generic)) return()
  default <- utils::getS3method(name, "default", optional = TRUE, envir = asNamespace(package))
  method <- function(...) {
    if (!is.null(default) && ndims(..1) < 2L) return(default(...))
    # dplyr's functions take `!!!`.
    given <- if (isNamespaceLoaded("rlang")) getExportedValue("rlang", "list2")(...) else list(...)
    do.call(generic, lapply(given, function(x) if (is_tensor(x)) as_array(x) else x))
  }
  registerS3method(name, "nv_tensor", method, asNamespace(package))
}
