#' Follow dtypes through a function
#'
#' `trace_dtypes()` runs a function and lists what each of its operations does with dtypes: what
#' went in, what came out, and where promotion did something that the code does not say.
#'
#' With [nv_aval()] for arguments nothing is computed: dtypes and shapes are all there is, and the
#' function must not look at values. With tensors it is computed as usual, `if` and `while` can look
#' at values, and rules that look at them (`"numpy_legacy"`) have them. A function that [jit()]
#' made is followed as the R function it was made of, under its own rules if it has some.
#'
#' Operations that are repeated, in a loop or in a function that is called again, are one row with a
#' `count`, as long as they see the same dtypes and shapes. What a function of joist does inside is
#' listed under the call of that function. In loops such as [nv_for()] and in [gradient()]
#' operations are listed once, while they are traced.
#'
#' The *marks* say in words
#' * where an ambiguous dtype met a known one: "i32? became known: i16";
#' * where promotion changed the dtype of an operand without a cast in the code: "f32 became f64
#'   without a cast", and what that may lose: "i32 became f32 without a cast; may lose whole numbers
#'   beyond 2^24";
#' * where an R value is not exact in the dtype it is taken in, or does not fit: then running the
#'   function on data is an error.
#'
#' [nv_convert()] is a cast: it has a row, but no marks.
#'
#' Lines are those of the file, or of the text that was typed, if the function has kept its source
#' (`options(keep.source = TRUE)`, R's default in interactive sessions). Without, there is the call
#' alone.
#'
#' @param f A function, jitted or not.
#' @param ... Arguments of `f`: [nv_aval()], tensors, other R values, and lists of them.
#' @inheritParams common_dtype
#' @param x,object A result of `trace_dtypes()`.
#' @param n The number of rows to print.
#' @return A data frame of class `joist_dtype_trace` with a row per place and operation, in the
#'   order in which they first ran, and the columns `line` and `file` (`NA` without source), `call`
#'   (the code of the call), `op` (the operation, as in [program()]), `operands` (their dtypes
#'   before promotion, `?` where ambiguous), `result` (`dtype` with `?` where it is `ambiguous`),
#'   `dtype`, `ambiguous`, `shape`, `bytes` (of the results), `count`, `last` (whether this is what
#'   the call gives, or something in between), the flags `known`, `widening`, `int_to_float`,
#'   `lossy`, `literal` (rounded) and `misfit`, and `marks`, a line each.
#'
#'   `summary()` gives three lines of text: where a dtype first became wider, where something may be
#'   lost, and how many bytes the results have by dtype.
#' @section Errors: those of `f`. `joist_promotion_error` for unknown rules; `joist_value_error` if
#'   `f` is not a function.
#' @seealso [compare_rules()], [program()] for the compiled function.
#' @examples
#' f <- function(x, y) {
#'   h <- x + 1L
#'   h * y
#' }
#' trace_dtypes(f, x = nv_scalar(TRUE), y = nv_aval("i16", 10))
#'
#' trace <- trace_dtypes(\(x, w) sum(x * w) / 3L, nv_aval("f32", 100), nv_aval("f64", 100))
#' trace
#' summary(trace)
#' @export
trace_dtypes <- function(f, ..., rules = NULL) {
  label <- function_label(substitute(f))
  f <- as_function(match.fun(f), "f")
  plain <- unjitted(f)
  if (is.null(rules)) rules <- plain$rules
  recorded <- record_operations(plain$f, list(...), rules, label)
  if (!is.null(recorded$error)) stop(recorded$error$condition)
  trace <- ledger_rows(recorded)
  attr(trace, "function") <- label
  attr(trace, "rules") <- .Call(joist_r_rules_info, recorded$rules)$id
  structure(trace, class = c("joist_dtype_trace", "data.frame"))
}

# The name of a function in what is printed.
function_label <- function(expression) {
  if (is.name(expression)) as.character(expression) else "f"
}

# The R function behind a jitted one, with its own rules, if any.
unjitted <- function(f) {
  if (!inherits(f, "joist_jit")) {
    return(list(f = f, rules = NULL))
  }
  list(f = environment(f)$.jit_function, rules = environment(f)$.jit_promotion)
}

# A row for each place and operation, with a count.
ledger_rows <- function(recorded) {
  events <- as.data.frame(recorded$events, stringsAsFactors = FALSE)
  # The last operation of a call has a separate row, because its result is that of the call.
  same <- c("site", "op", "operands", "result", "shape", "last")
  key <- do.call(paste, c(events[same], sep = "\r"))
  first <- which(!duplicated(key))
  counts <- tabulate(match(key, key[first]), length(first))
  rows <- events[first, , drop = FALSE]
  out <- cbind(
    place_columns(recorded$sites[rows$site]),
    rows[c("op", "operands", "result", "dtype", "ambiguous", "shape", "bytes")],
    count = counts,
    rows[c("last", "known", "widening", "int_to_float", "lossy", "literal", "misfit", "marks")]
  )
  rownames(out) <- NULL
  out
}

call_text <- function(call) paste(gsub("^ +", "", deparse(call, 500L)), collapse = " ")

#' @rdname trace_dtypes
#' @export
print.joist_dtype_trace <- function(x, n = Inf, ...) {
  if (!all(c("call", "operands", "marks", "count", "last") %in% names(x))) {
    return(NextMethod())
  }
  cat(
    attr(x, "function"), "() under the rules ", attr(x, "rules"), ": ", sum(x$count), " operation",
    if (sum(x$count) != 1L) "s", "\n",
    sep = ""
  )
  shown <- utils::head(seq_len(nrow(x)), n)
  cat(paste0(trace_lines(x[shown, ]), "\n"), sep = "")
  if (length(shown) < nrow(x)) cat("...", nrow(x) - length(shown), "more rows\n")
  invisible(x)
}

# A table of at most 80 columns, with the marks of a row below it. A function of joist that does
# several things is one row of it.
trace_lines <- function(x) {
  if (nrow(x) == 0L) {
    return(character())
  }
  x <- rows_of_calls(x)
  types <- paste0(x$operands, " -> ", x$result, ifelse(x$count > 1L, paste0(" x", x$count), ""))
  columns <- list(
    line = cut_text(place_text(x), 24L), call = x$call, dtypes = cut_text(types, 30L),
    bytes = short_bytes(x$bytes)
  )
  width <- vapply(columns, function(column) max(nchar(column)), 0L)
  width <- pmax(width, nchar(names(columns)))
  width[2L] <- min(width[2L], 80L - sum(width[-2L]) - 6L)
  columns[[2L]] <- cut_text(columns[[2L]], width[2L])
  columns <- Map(
    function(name, column, width, flag) formatC(c(name, column), width = width, flag = flag),
    names(columns), columns, width, c(" ", "-", "-", " ")
  )
  rows <- sub(" +$", "", do.call(paste, c(unname(columns), sep = "  ")))
  indent <- strrep(" ", width[1L] + 2L)
  marks <- lapply(strsplit(x$marks, "\n", fixed = TRUE), function(mark) {
    unlist(lapply(mark, strwrap,
      width = 80L, initial = paste0(indent, "! "), prefix = paste0(indent, "  ")
    ))
  })
  c(rows[1L], unlist(Map(c, rows[-1L], marks), use.names = FALSE))
}

place_text <- function(x) {
  files <- unique(x$file[!is.na(x$file) & nzchar(x$file)])
  ifelse(is.na(x$line), "", paste0(if (length(files) > 1L) paste0(x$file, ":"), x$line))
}

short_bytes <- function(bytes) {
  unit <- findInterval(bytes, c(1e4, 1e7, 1e10, 1e13))
  scale <- c(1, 1e3, 1e6, 1e9, 1e12)[unit + 1L]
  paste0(round(bytes / scale), c("", "k", "M", "G", "T")[unit + 1L])
}

# What goes into a call and what comes out, where it is several operations.
rows_of_calls <- function(x) {
  place <- paste(x$file, x$line, x$call)
  inner <- place %in% place[!x$last]
  first <- !inner | !duplicated(place)
  for (k in which(first & inner)) {
    own <- which(place == place[k])
    end <- own[max(which(x$last[own]), 1L)]
    x[k, c("result", "count", "bytes")] <- x[end, c("result", "count", "bytes")]
    marks <- unlist(strsplit(x$marks[own], "\n", fixed = TRUE))
    x$marks[k] <- paste(unique(marks), collapse = "\n")
  }
  x <- x[first, ]
  class(x) <- "data.frame"
  x
}

cut_text <- function(x, width) {
  long <- nchar(x) > width
  x[long] <- paste0(substr(x[long], 1L, width - 3L), "...")
  x
}

#' @rdname trace_dtypes
#' @export
summary.joist_dtype_trace <- function(object, ...) {
  structure(
    c(summarize_widening(object), summarize_losses(object), summarize_bytes(object)),
    class = "joist_dtype_trace_summary"
  )
}

# "line 3, `x * y`" of a row.
where_text <- function(row) {
  paste0(if (!is.na(row$line)) paste0("line ", row$line, ", "), "`", cut_text(row$call, 40L), "`")
}

several_text <- function(n, one) {
  if (n > 0L) sprintf(" (and %d more %s%s)", n, one, if (n > 1L) "s" else "")
}

summarize_widening <- function(x) {
  wider <- which(x$widening)
  if (length(wider) == 0L) {
    return("No dtype becomes wider without a cast.")
  }
  row <- x[wider[1L], ]
  mark <- grep("without a cast", strsplit(row$marks, "\n", fixed = TRUE)[[1L]], value = TRUE)[1L]
  paste0(
    "First wider without a cast: ", where_text(row), ": ", sub(" without.*", "", mark),
    several_text(length(wider) - 1L, "place"), "."
  )
}

summarize_losses <- function(x) {
  loses <- which(x$lossy | x$literal | x$misfit)
  if (length(loses) == 0L) {
    return("Nothing is lost by promotion.")
  }
  row <- x[loses[1L], ]
  marks <- strsplit(row$marks, "\n", fixed = TRUE)[[1L]]
  mark <- grep("may lose|not exact|not fit", marks, value = TRUE)[1L]
  paste0("May lose: ", where_text(row), ": ", mark, several_text(length(loses) - 1L, "place"), ".")
}

summarize_bytes <- function(x) {
  bytes <- tapply(x$bytes * x$count, x$dtype, sum)
  bytes <- bytes[order(-bytes)]
  sums <- paste(grouped_digits(bytes), "in", names(bytes), collapse = ", ")
  paste0("Bytes of results: ", sums, ".")
}

#' @export
print.joist_dtype_trace_summary <- function(x, ...) {
  cat(strwrap(x, 80L, exdent = 2L), sep = "\n")
  invisible(x)
}
