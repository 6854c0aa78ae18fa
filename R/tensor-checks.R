# Checks of scalar arguments, which come before the core sees them: conditions name the argument.

# Base R's %in%, which joist's own functions call without the dispatch of the generic.
`%of%` <- base::`%in%`

# Base R's error for an argument without a value, with the user's call. To be called by the function
# that the argument was passed on to.
stop_missing <- function(name) {
  message <- gettextf(
    "argument \"%s\" is missing, with no default", as.character(name), domain = "R"
  )
  stop(simpleError(message, user_call(sys.nframe() - 1L)))
}

check_flag <- function(x, name) {
  if (!is.logical(x) || length(x) != 1L || is.na(x)) {
    stop_joist("joist_value_error", "`", name, "` must be TRUE or FALSE")
  }
}

check_choice <- function(x, name, choices) {
  if (!is.character(x) || length(x) != 1L || !x %of% choices) {
    stop_joist(
      "joist_value_error", "`", name, "` must be one of ",
      paste0("\"", choices, "\"", collapse = ", ")
    )
  }
}

check_text <- function(x, name) {
  if (!is.character(x) || is.object(x) || length(x) != 1L || is.na(x)) {
    stop_joist("joist_value_error", "`", name, "` must be a string")
  }
}

check_number <- function(x, name) {
  if (!is.numeric(x) || is.object(x) || length(x) != 1L || is.na(x)) {
    stop_joist("joist_value_error", "`", name, "` must be a number")
  }
}

check_real <- function(x) {
  if (if (is_tensor(x)) is_complex_dtype(x) else is.complex(x)) {
    what <- if (is_tensor(x)) format(dtype(x)) else "complex numbers"
    stop_joist("joist_dtype_error", "a function of real numbers, not of ", what)
  }
}

check_environment <- function(x, name) {
  if (!is.environment(x)) {
    stop_joist("joist_value_error", "`", name, "` must be an environment")
  }
}

# For functions that ignore further arguments or take them for operands: refuses arguments that
# other functions of joist or of array libraries have, since the caller expects them to change the
# result.
check_no_dims <- function(name, instead, ...) {
  if (is.null(...names())) {
    return()
  }
  unknown <- c("dims", "dim", "dimension", "axis", "margin", "MARGIN", "drop", "keepdim")
  unknown <- c(unknown, "keepdims", "dtype")
  found <- intersect(...names(), unknown)
  if (length(found) > 0L) {
    stop_joist(
      "joist_value_error", name, "() of tensors takes no `", found[1L], "`; see ", instead
    )
  }
}

# Whether every element is a whole number that R's integers have.
is_whole <- function(x) .Call(joist_r_is_whole, x)

# An R number among the arguments of jit(), where its value has to be known.
check_static <- function(x, name) {
  if (missing(x)) stop_missing(name)
  if (.Call(joist_r_is_number, x)) {
    stop_joist(
      "joist_value_error", "`", name, "` decides about shapes, so that jit() must know its value: ",
      "name the argument in `static` of jit()"
    )
  }
}

check_whole <- function(x, name, least = 0) {
  if (missing(x) || !.Call(joist_r_is_whole, x) || length(x) != 1L || x < least) {
    check_static(x, name)
    stop_joist("joist_value_error", "`", name, "` must be a whole number of at least ", least)
  }
}

# Whether this is one of the numbers from 1 to n.
is_one_of <- function(x, n) {
  is.numeric(x) && length(x) == 1L && !is.object(x) && !is.na(x) && x >= 1 && x <= n &&
    x == trunc(x)
}

# Numbers for the names of dimensions.
dims_by_name <- function(dims, x, name = "dims") {
  .Call(joist_r_dims_by_name, dims, x, name)
}

# Numbers of different dimensions of `x`, which may be given by name.
dims_of <- function(dims, x, name = "dims", single = FALSE) {
  if (!.Call(joist_r_are_dims, dims, x, single)) {
    dims <- dims_by_name(dims, x, name)
    check_dims(dims, name, ndims(x), single)
  }
  dims
}

# Dimensions among the first `rank`, each at most once.
check_dims <- function(dims, name, rank, single = FALSE) {
  fits <- is_one_of(dims, rank) ||
    is_whole(dims) && all(dims >= 1 & dims <= rank) && !anyDuplicated(dims)
  if (!fits || single && length(dims) != 1L) {
    stop_joist(
      "joist_shape_error", "`", name, "` must be ",
      if (single) "one" else "different ones", " of the dimensions from 1 to ", rank
    )
  }
}

# What match.fun() found, which must be called where the argument is.
as_function <- function(found, name) {
  tryCatch(found, error = function(e) {
    stop_joist("joist_value_error", "`", name, "` must be a function")
  })
}

# A number for each dimension, from one for all.
per_dimension <- function(x, rank, what) {
  if (missing(x)) stop_missing(what)
  if (!is_whole(x) || !length(x) %of% c(1L, rank)) {
    stop_joist(
      "joist_shape_error", "`", what, "` must be a whole number",
      if (rank != 1L) paste0(", or one for each of the ", rank, " dimensions")
    )
  }
  rep_len(as.integer(x), rank)
}
