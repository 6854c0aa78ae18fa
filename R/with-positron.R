# The pane of variables in Positron. Its kernel takes methods from the packages that it knows, and
# refuses those of others, which then are shown as R vectors.

join_positron <- function() {
  register <- get0(".ark.register_method", globalenv(), mode = "function")
  if (is.null(register)) {
    return()
  }
  for (name in names(positron_methods)) {
    try(register(paste0("ark_positron_variable_", name), "nv_tensor", positron_methods[[name]]),
      silent = TRUE
    )
  }
}

positron_methods <- list(
  display_value = function(x, ..., width = getOption("width")) {
    if (!has_elements(x)) {
      return(footer(x))
    }
    # Two characters are the least that an element takes.
    shown <- .Call(joist_r_format, x, print_digits(x, NULL), max(1, width / 2))
    paste(c(shown, if (length(x) > length(shown)) "..."), collapse = " ")
  },
  display_type = function(x, ..., include_length = TRUE) {
    if (include_length) type_text(x) else type_name(x)
  },
  kind = function(x, ...) if (dtype(x) == "bool") "boolean" else "number",
  has_children = function(x, ...) FALSE
)
