.onLoad <- function(libname, pkgname) {
  .Call(joist_r_init, topenv())
  # `%*%` is an S3 generic from R 4.3 on, crossprod() and tcrossprod() from R 4.4 on.
  if (getRversion() >= "4.3.0") {
    registerS3method("matrixOps", "nv_tensor", matrixOps.nv_tensor)
  }
  when_loaded("BiocGenerics", join_generics)
  when_loaded("DelayedArray", join_delayed_array)
  when_loaded("jsonlite", join_jsonlite)
  join_positron()
}

when_loaded <- function(package, f) {
  if (isNamespaceLoaded(package)) f(package) else setHook(packageEvent(package, "onLoad"), f)
}

# BiocGenerics has generics of its own for some of these functions.
join_generics <- function(package, ...) {
  where <- new.env(parent = topenv())
  assign(".packageName", "joist", envir = where)
  set_base_methods(where, asNamespace(package))
}

# What another package has attached under the name of one of the generics stays in reach.
.onAttach <- function(libname, pkgname) {
  attached <- as.environment("package:joist")
  behind <- parent.env(attached)
  generics <- c(base_generics(), "crossprod", "tcrossprod", "%*%")
  taken <- Filter(function(name) {
    other <- get0(name, behind, mode = "function") # none where stats is not attached
    !is.null(other) && !is.primitive(other) && !home_of(other) %in% c("base", "stats")
  }, intersect(generics, names(attached)))
  rm(list = taken, envir = attached)
  # `%*%` of R before 4.3 is what base R's is for all else: alone it is not worth a message.
  hidden <- Filter(function(name) exists(name, behind, mode = "function"), names(attached))
  if ("%*%" %in% hidden && all(hidden %in% generics)) assign(".conflicts.OK", TRUE, attached)
}

home_of <- function(f) if (is(f, "genericFunction")) f@package else environmentName(environment(f))
