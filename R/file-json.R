# R values as JSON (RFC 8259): lists with names are objects, other lists and vectors are arrays,
# NULL and NA are null, and what is marked by json_one() is a value by itself.

json_one <- function(x) structure(list(x), class = "json_one")

as_json <- function(x) {
  if (inherits(x, "json_one")) {
    return(json_atoms(x[[1L]]))
  }
  if (is.null(x)) {
    return("null")
  }
  parts <- if (is.list(x)) vapply(x, as_json, "", USE.NAMES = FALSE) else json_atoms(unname(x))
  if (is.null(names(x))) {
    return(paste0("[", paste(parts, collapse = ","), "]"))
  }
  paste0("{", paste0(json_atoms(names(x)), ":", parts, collapse = ","), "}")
}

json_atoms <- function(x) {
  text <- if (is.character(x)) {
    json_strings(x)
  } else if (is.logical(x)) {
    ifelse(x, "true", "false")
  } else if (is.double(x)) {
    # One by one: format() gives numbers of a vector as many digits as the longest has.
    vapply(x, json_number, "")
  } else {
    format(x, trim = TRUE, scientific = FALSE)
  }
  text[is.na(x)] <- "null"
  text
}

json_number <- function(x) {
  if (!is.finite(x)) {
    return("null")
  }
  format(x, digits = 7L, scientific = FALSE, drop0trailing = TRUE, decimal.mark = ".")
}

# Also fit to stand in a script element of a page.
json_strings <- function(x) {
  x <- enc2utf8(x)
  x <- gsub("\\", "\\\\", x, fixed = TRUE)
  x <- gsub('"', '\\"', x, fixed = TRUE)
  for (code in unique(unlist(lapply(x[!is.na(x)], function(text) utf8ToInt(text))))) {
    if (code < 32L || code %in% c(0x3cL, 0x2028L, 0x2029L)) {
      x <- gsub(intToUtf8(code), sprintf("\\u%04x", code), x, fixed = TRUE)
    }
  }
  paste0('"', x, '"', recycle0 = TRUE)
}
