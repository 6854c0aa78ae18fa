# Runs R code for joist_array_api, one request after the other: Rscript server.R PORT RULES
#
# A request is two sizes (32 bits), R code, and bytes that the code finds in `blob`. The reply is a
# status (0 text, 1 bytes, 2 an error), a size, and that. All numbers are little-endian.
#
# An array is held as the tensor of the reversed shape: R's order of its elements, the first
# dimension first, is then the standard's, the last axis first, and no element has to be moved.

suppressPackageStartupMessages(library(joist))

arguments <- commandArgs(TRUE)
options(joist.promotion = arguments[2L])
here <- Sys.getenv("JOIST_LIVING_TESTS", "tests/living")
source(file.path(here, "compositions.R"))

connection <- socketConnection(
  "127.0.0.1", as.integer(arguments[1L]), blocking = TRUE, open = "r+b", timeout = 1e6
)

# What the other side is told of a value: of a tensor its dtype and shape.
describe <- function(x) {
  if (is_tensor(x)) {
    return(paste(c(format(dtype(x)), rev(shape(x))), collapse = " "))
  }
  if (is.raw(x)) x else paste(as.character(x), collapse = " ")
}

error_text <- function(e) paste0(class(e)[1L], "\n", conditionMessage(e))

reply <- function(status, content) {
  if (!is.raw(content)) content <- charToRaw(content)
  writeBin(
    c(as.raw(status), writeBin(length(content), raw(), endian = "little"), content), connection
  )
}

blob <- raw()
repeat {
  sizes <- readBin(connection, "integer", 2L, endian = "little")
  if (length(sizes) < 2L) break
  code <- rawToChar(readBin(connection, "raw", sizes[1L]))
  blob <- readBin(connection, "raw", sizes[2L])
  result <- tryCatch(
    suppressWarnings(describe(eval(parse(text = code, keep.source = FALSE)))),
    error = function(e) e
  )
  if (inherits(result, "error")) {
    reply(2L, error_text(result))
  } else {
    reply(if (is.raw(result)) 1L else 0L, result)
  }
}
