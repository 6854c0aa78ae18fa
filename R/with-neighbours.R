# S3 generics of other packages whose methods are for numbers or a matrix, which the class hides.
# Of packages that name none here, all that have a method for numeric vectors.
generics_of_numbers <- list(
  bayestestR = NULL, datawizard = NULL, effectsize = NULL, insight = NULL, lattice = NULL,
  lubridate = NULL, parameters = NULL, performance = NULL,
  bit = c("as.bit", "as.which"), dplyr = "recode", forcats = "as_factor", haven = "as_factor",
  iterators = "iter", plyr = "round_any", quantmod = c("Lag", "Next"), recipes = "discretize",
  reshape2 = "melt", rlang = "as_bytes", scales = c("fullseq", "round_any"), tidyr = "full_seq",
  units = c("set_units", "units<-")
)

# Methods that call the generic again, on R's numbers. What takes any vector takes tensors, too,
# where no method is for numbers.
join_generics_of_numbers <- function(package, ...) {
  names <- generics_of_numbers[[package]]
  if (is.null(names)) {
    methods <- getNamespaceInfo(package, "S3methods")
    names <- unlist(methods[methods[, 2L] %in% "numeric", 1L])
  }
  for (name in names) join_generic_of_numbers(package, name)
}

join_generic_of_numbers <- function(package, name) {
  generic <- get0(name, asNamespace(package), mode = "function", inherits = FALSE)
  if (is.null(generic)) generic <- get0(name, baseenv(), mode = "function", inherits = FALSE)
  if (is.null(generic)) return()
  of_class <- function(class) {
    utils::getS3method(name, class, optional = TRUE, envir = asNamespace(package))
  }
  default <- if (is.null(of_class("numeric"))) of_class("default")
  method <- function(...) {
    if (!is.null(default) && ndims(..1) < 2L) return(default(...))
    # dplyr's functions take `!!!`.
    given <- if (isNamespaceLoaded("rlang")) getExportedValue("rlang", "list2")(...) else list(...)
    do.call(generic, lapply(given, function(x) if (is_tensor(x)) as_array(x) else x))
  }
  registerS3method(name, "nv_tensor", method, asNamespace(package))
}
