# Evaluates to the condition; fails unless it has the class and its message every part.
expect_refusal <- function(code, class, parts = character()) {
  error <- tryCatch(
    {
      force(code)
      NULL
    },
    error = identity
  )
  if (!inherits(error, class) || !inherits(error, "joist_error")) {
    fail(paste0(
      deparse1(substitute(code)), ": want ", class, ", got ", class(error)[1], ": ",
      if (!is.null(error)) conditionMessage(error)
    ))
    return(invisible(error))
  }
  message <- conditionMessage(error)
  missing <- parts[!vapply(parts, grepl, TRUE, x = message, fixed = TRUE)]
  if (length(missing)) {
    fail(paste0("`", message, "` does not say ", paste(missing, collapse = ", ")))
  } else {
    succeed()
  }
  invisible(error)
}
