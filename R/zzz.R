.onLoad <- function(libname, pkgname) {
  .Call(joist_r_init, topenv())
  .Call(joist_r_rules_init, system.file("promotion", package = "joist"))
  native_setup()
  # Also when the library has been unloaded, which stops compilers, too. The call of joist warns of
  # what base R has read as NA since the last one: R prints warnings after this.
  at_end <- function(namespace) {
    tryCatch(nv_scalar(TRUE), error = function(e) NULL)
    tryCatch(.Call(joist_r_native_stop), error = function(e) NULL)
  }
  reg.finalizer(topenv(), at_end, onexit = TRUE)
  # `%*%` is an S3 generic from R 4.3 on, crossprod() and tcrossprod() from R 4.4 on.
  if (getRversion() >= "4.3.0") {
    registerS3method("matrixOps", "nv_tensor", matrixOps.nv_tensor)
    registerS3method("matrixOps", "nv_packed", matrixOps.nv_tensor) # one method, or R would warn
  }
  for (name in intersect(refusing_generics, c("Summary", "Math", "Complex", names(baseenv())))) {
    registerS3method(name, "nv_packed", refuse_packed)
  }
  when_loaded("BiocGenerics", join_generics)
  when_loaded("MatrixGenerics", join_matrix_generics)
  when_loaded("DelayedArray", join_delayed_array)
  when_loaded("jsonlite", join_jsonlite)
  when_loaded("Matrix", join_matrix)
  for (package in names(generics_of_numbers)) when_loaded(package, join_generics_of_numbers)
  join_positron()
}

when_loaded <- function(package, f) {
  if (isNamespaceLoaded(package)) f(package) else setHook(packageEvent(package, "onLoad"), f)
}

# BiocGenerics and MatrixGenerics have generics of their own for some of these functions.
join_generics <- function(package, ...) {
  set_base_methods(place_for_methods(), asNamespace(package))
}

# An environment for classes and methods that joist has only beside another package.
place_for_methods <- function() {
  where <- new.env(parent = topenv())
  assign(".packageName", "joist", envir = where)
  where
}

# Those of MatrixGenerics that joist does not compute see R's numbers.
join_matrix_generics <- function(package, ...) {
  join_generics(package)
  where <- place_for_methods()
  namespace <- asNamespace(package)
  for (name in setdiff(grep("^(row|col)", names(namespace), value = TRUE), base_generics())) {
    generic <- own_generic(name, namespace)
    if (is.null(generic) || names(formals(generic))[1L] != "x") next
    method <- as.function(c(formals(generic), quote({
      call <- match.call()
      call[[1L]] <- generic
      call$x <- as_array(x)
      eval(call, parent.frame())
    })), envir = list2env(list(generic = generic), parent = topenv()))
    setMethod(generic, "nv_tensor", method, where = where)
  }
}

# The exports of a package are fixed when it is installed, so what depends on the search path can
# only be decided here. It changes the attached copies of joist's exports, and nothing else:
# * Where another package has attached a generic of the same name (BiocGenerics), that generic stays
#   visible; joist has methods for it.
# * The other generics evaluate their arguments before they dispatch, or conditions would lose their
#   class. Generics in the namespace cannot: R replaces them when it loads the namespace.
.onAttach <- function(libname, pkgname) {
  attached <- as.environment("package:joist")
  behind <- parent.env(attached)
  generics <- intersect(c(base_generics(), "crossprod", "tcrossprod"), names(attached))
  taken <- Filter(function(name) {
    other <- get0(name, behind, mode = "function") # none where stats is not attached
    !is.null(other) && !is.primitive(other) && !home_of(other) %in% c("base", "stats")
  }, c(generics, intersect("%*%", names(attached))))
  rm(list = taken, envir = attached)
  for (name in setdiff(generics, taken)) {
    assign(name, evaluating_first(attached[[name]], name), attached)
  }
  # library() reports pmax(), pmin() and, before R 4.3, `%*%` as masking base R's, which they call
  # for all but tensors: R derives no generic on `...` that counts as base's own. This variable is
  # what library() reads to be silent; it is set only if joist hides nothing else.
  hidden <- Filter(function(name) exists(name, behind, mode = "function"), names(attached))
  if (all(hidden %in% c(generics, "%*%"))) assign(".conflicts.OK", TRUE, attached)
}

home_of <- function(f) if (is(f, "genericFunction")) f@package else environmentName(environment(f))
