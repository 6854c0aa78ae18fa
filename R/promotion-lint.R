#' Lint promotion in scripts and packages
#'
#' `lint_promotion()` runs an R script, the scripts in a folder, or the examples of a package, and
#' lists by file and line what promotion does there: what may be or is lost, what overflows, and
#' which dtypes change under other promotion rules.
#'
#' The code runs in a separate R process, once under each rule set, so nothing in your session
#' changes: not its options, packages, working directory, random numbers or global environment. The
#' code does not see your variables either: a script has to be complete, as for `Rscript`. It starts
#' in your working directory, or in the folder of the script with `chdir = TRUE`, and it does run:
#' files that it writes are written. What it prints is dropped.
#'
#' Only operations that run are judged, with the data that they run on. An operation in a loop or in
#' a function that is called again is one finding with a `count`. Functions made by [jit()] run as
#' the R functions that they were made of. In [gradient()] and in loops such as [nv_for()],
#' operations are judged once, while they are traced. All tensors of a script stay in memory until
#' it ends, and each operation takes about a millisecond more, so lint a small example rather than a
#' long computation.
#'
#' The scripts of a folder (`.R` files, also in its subfolders) run one after another, in
#' alphabetical order, in one session. Functions that any of them defines at its top level are there
#' from the start. Files that a script reads with [source()] are judged where they are read, and do
#' not run on their own.
#'
#' Of a package, the examples on its help pages run, but not what they wrap in `\dontrun{}` or
#' `\donttest{}`. Findings have lines if the package has kept its source; a source folder is
#' installed that way, into a temporary library. Without source, `file` is the name of the function.
#'
#' @section Kinds of findings:
#'
#' | kind | what was found |
#' |---|---|
#' | `error` | the code failed; what comes after that line did not run |
#' | `undefined` | a result has no dtype under the rules of `to` |
#' | `changes` | a result has another dtype under the rules of `to` |
#' | `overflow` | integer results did not fit their dtype, as far as operations report it |
#' | `loss` | elements or R numbers were rounded, as operations and constructors report it |
#' | `misfit` | an R number does not fit the dtype it is taken in (only with [nv_aval()]) |
#' | `literal`, `lossy`, `int_to_float`, `widening` | implicit promotion, as in [with_promotion()] |
#'
#' An operation that shows several kinds of implicit promotion is one finding of the first of them.
#' A cast by [nv_convert()] is not a finding. Nor is a warning that the code itself suppresses.
#'
#' @param path An R script, a folder, or a package: its source folder, or the name of an installed
#'   one, if there is no such file.
#' @param from Promotion rules as in [common_dtype()]; `NULL` is the rules in force.
#' @param to Rules to compare with: an id, several ids, or a list of rules. By default none.
#' @param kinds The kinds of findings that are wanted, see below; `NULL` is all of them.
#' @param args Command-line arguments of the code, as [commandArgs()] gives them.
#' @param chdir Whether a script runs in its own folder.
#' @param timeout The time limit in seconds for a script, or for the examples of a page, under each
#'   rule set; exceeding it is a finding of kind `error`.
#' @param x,object A result of `lint_promotion()`.
#' @param row.names,optional Ignored.
#' @param lintr Whether the columns are those that `as.data.frame()` gives for the lints of package
#'   lintr: `filename`, `line_number`, `column_number`, `type`, `message`, `line`, `linter`.
#' @param ... Ignored.
#' @return A data frame of class `joist_lint` with a row per finding and the columns `file`, `line`
#'   (`NA` if unknown), `call` (the code), `kind`, `rules` (under which it was found: `from`, or one
#'   of `to` if it is new there), `from` and `to` (dtypes: of the operands and the result of a
#'   promotion, `?` where ambiguous; of the result under the two rule sets for `changes`), `starts`
#'   (`FALSE` for a change that only follows from a change of the operands), `count` (how many
#'   times; values for `overflow` and `loss`), `message` and `instead`, code that avoids the finding
#'   or says that it is meant, `NA` if there is none.
#'
#'   Where it is cheap, `instead` of a change is found as by [compare_rules()], but not checked.
#'
#'   It prints like the output of a linter, `file:line: kind: text`; `format()` gives the lines.
#'   `summary()` counts findings by file and kind.
#' @section Errors: `joist_promotion_error` for unknown rules; `joist_value_error` for a `path` that
#'   is neither a file nor a folder nor an installed package, for a package that cannot be installed
#'   and for unknown `kinds`. Errors of the code are findings.
#' @seealso [trace_dtypes()] and [compare_rules()] for one function.
#' @examples
#' script <- tempfile(fileext = ".R")
#' writeLines(c(
#'   "library(joist)",
#'   "scale_by <- function(x, n) x * n",
#'   "counts <- nv_tensor(1:3, \"i32\")",
#'   "for (k in 1:4) scale_by(nv_tensor(c(0.5, 1, 2)), counts)"
#' ), script)
#' lint_promotion(script)
#' kinds <- c("changes", "undefined")
#' lint_promotion(script, from = "jax", to = c("numpy", "array_api"), kinds = kinds)
#' @export
lint_promotion <- function(path, from = NULL, to = NULL, kinds = NULL, args = character(),
                           chdir = FALSE, timeout = Inf) {
  if (inherits(to, "joist_rules")) to <- list(to)
  if (!(is.null(to) || is.character(to) || is.list(to))) {
    stop_joist("joist_value_error", "`to` must be rule sets: ids, or a list of them")
  }
  rules <- lapply(c(list(from), as.list(to)), promotion_rules)
  names(rules) <- make.unique(vapply(rules, rules_id, ""))
  if (!is.character(args) || anyNA(args)) {
    stop_joist("joist_value_error", "`args` must be a character vector")
  }
  if (!is_one(chdir, is.logical)) stop_joist("joist_value_error", "`chdir` must be TRUE or FALSE")
  if (!is_one(timeout, is.numeric) || timeout <= 0) {
    stop_joist("joist_value_error", "`timeout` must be a positive number of seconds")
  }
  kinds <- lint_kinds_of(kinds)
  if (!is_one(path, is.character)) stop_joist("joist_value_error", "`path` must be one file name")
  folder <- tempfile("lint")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  job <- lint_job(path, folder)
  job[c("rules", "kinds", "chdir", "timeout")] <- list(rules, kinds, chdir, timeout)
  found <- run_lint_job(job, folder, args)
  findings <- merge_findings(found$findings, names(rules))
  findings <- findings[findings$kind %in% kinds, , drop = FALSE]
  rownames(findings) <- NULL
  structure(
    findings,
    class = c("joist_lint", "data.frame"), path = path, rules = names(rules),
    operations = found$operations
  )
}

is_one <- function(x, is) is(x) && length(x) == 1L && !is.na(x)

# Kinds of implicit promotion, the worst first.
promotion_kinds <- c("misfit", "literal", "lossy", "int_to_float", "widening")
lint_kinds <- c("error", "undefined", "changes", "overflow", "loss", promotion_kinds)

lint_kinds_of <- function(kinds) {
  if (is.null(kinds)) {
    return(lint_kinds)
  }
  if (!is.character(kinds) || !all(kinds %in% lint_kinds)) {
    stop_joist(
      "joist_value_error", "`kinds` must be some of ", paste(lint_kinds, collapse = ", "),
      if (is.character(kinds)) paste0("; there is no '", setdiff(kinds, lint_kinds)[1L], "'")
    )
  }
  kinds
}

# ---- what is run ----

# What the other process has to do. `units` are recorded one by one: a script each, or the examples
# of a page, which are in `lines` already.
lint_job <- function(path, folder) {
  job <- list(wd = getwd(), folder = job_folder(), package = NULL, shared = character())
  if (file.exists(path) && !dir.exists(path)) {
    if (grepl("\\.(rmd|qmd|rnw)$", path, ignore.case = TRUE)) {
      stop_joist(
        "joist_value_error", "'", path, "' is a document, not a script; extract its code with ",
        "knitr::purl()"
      )
    }
    job$units <- list(list(file = path))
    return(job)
  }
  if (is_package_folder(path)) {
    return(source_package_job(job, path, folder))
  }
  if (dir.exists(path)) {
    files <- list.files(path, "\\.[Rr]$", recursive = TRUE)
    files <- files[!grepl("(^|/)(renv|packrat)/", files)]
    if (length(files) == 0L) {
      stop_joist("joist_value_error", "the folder '", path, "' has no R scripts")
    }
    job$shared <- file.path(path, files)
    job$units <- lapply(without_sourced(job$shared), function(file) list(file = file))
    return(job)
  }
  if (!grepl("^[[:alpha:]][[:alnum:].]*$", path) || !nzchar(system.file(package = path))) {
    stop_joist(
      "joist_value_error", "'", path, "' is neither a file nor a folder nor an installed package"
    )
  }
  job$package <- path
  job$units <- example_units(tools::Rd_db(path))
  job
}

job_folder <- function() c(from = "", to = "")

# The scripts that no other one reads with source(): those run where they are read.
without_sourced <- function(files) {
  sourced <- unlist(lapply(files, function(file) {
    code <- tryCatch(parse_unit(list(file = file)), error = function(e) NULL)
    named <- basename(as.character(sourced_files(as.list(code))))
    files[basename(files) %in% named & files != file]
  }))
  left <- setdiff(files, sourced)
  if (length(left) > 0L) left else files
}

# The files that calls of source() name.
sourced_files <- function(code) {
  if (is.call(code) && is.name(code[[1L]]) &&
    as.character(code[[1L]]) %in% c("source", "sys.source") && length(code) > 1L) {
    return(if (is.character(code[[2L]])) code[[2L]])
  }
  parts <- if (is.call(code) || is.list(code)) as.list(code)
  unlist(lapply(parts, function(part) if (!missing(part)) sourced_files(part)))
}

is_package_folder <- function(path) {
  file <- file.path(path, "DESCRIPTION")
  dir.exists(path) && file.exists(file) && "Package" %in% colnames(read.dcf(file))
}

# The package is installed from a copy: compiling writes to the folder.
source_package_job <- function(job, path, folder) {
  name <- read.dcf(file.path(path, "DESCRIPTION"), "Package")[[1L]]
  copy <- file.path(normalizePath(folder), "source")
  library <- file.path(folder, "library")
  dir.create(copy)
  dir.create(library)
  file.copy(normalizePath(path), copy, recursive = TRUE)
  copy <- file.path(copy, basename(normalizePath(path)))
  said <- run_r(
    c(
      "CMD", "INSTALL", "--with-keep.source", "--no-docs", "--no-test-load", "--no-multiarch",
      paste0("--library=", shQuote(library)), shQuote(copy)
    ),
    file.path(folder, "install.log"), "R",
    libraries = .libPaths()
  )
  if (!dir.exists(file.path(library, name))) {
    stop_joist(
      "joist_value_error", "the package in '", path, "' cannot be installed: ",
      paste(utils::tail(said, 5L), collapse = "\n")
    )
  }
  job$package <- name
  job$library <- library
  job$folder <- c(from = copy, to = normalizePath(path))
  job$units <- example_units(tools::Rd_db(dir = path), path)
  job
}

# The examples of each page, on the lines of its Rd file.
example_units <- function(pages, path = NULL) {
  units <- lapply(names(pages), function(name) {
    lines <- example_lines(pages[[name]])
    file <- file.path("man", basename(name))
    if (length(lines) > 0L) {
      list(file = if (is.null(path)) file else file.path(path, file), lines = lines)
    }
  })
  Filter(Negate(is.null), units)
}

example_lines <- function(page) {
  tags <- vapply(page, function(part) attr(part, "Rd_tag"), "")
  lines <- character()
  gather <- function(part) {
    tag <- attr(part, "Rd_tag")
    if (is.list(part)) {
      if (!tag %in% c("\\dontrun", "\\donttest")) lapply(part, gather)
      return(NULL)
    }
    reference <- attr(part, "srcref")
    if (identical(tag, "COMMENT") || is.null(reference)) {
      return(NULL)
    }
    at <- reference[1L]
    text <- paste0(lines[at], sub("\n$", "", part))
    lines[at] <<- sub("^NA", "", text)
  }
  for (part in page[tags == "\\examples"]) lapply(part, gather)
  lines[is.na(lines)] <- ""
  if (any(grepl("[^[:space:]]", lines))) lines
}

# Runs R, or Rscript, and gives what it said.
run_r <- function(arguments, log, program, libraries = NULL, timeout = 0) {
  old <- Sys.getenv("R_LIBS", NA)
  if (!is.null(libraries)) {
    Sys.setenv(R_LIBS = paste(libraries, collapse = .Platform$path.sep))
    on.exit(if (is.na(old)) Sys.unsetenv("R_LIBS") else Sys.setenv(R_LIBS = old))
  }
  suppressWarnings(system2(
    file.path(R.home("bin"), program), arguments,
    stdout = log, stderr = log, input = "", timeout = timeout
  ))
  if (file.exists(log)) readLines(log, warn = FALSE) else character()
}

run_lint_job <- function(job, folder, args) {
  files <- c("job.rds", "found.rds", "lint.R", "log", "progress")
  files <- file.path(normalizePath(folder), files)
  unlink(files)
  job$progress <- files[5L]
  own <- dirname(getNamespaceInfo(topenv(), "path"))
  job$libraries <- unique(c(job$library, own, .libPaths()))
  saveRDS(job, files[1L])
  code <- bquote({
    .libPaths(readRDS(.(files[1L]))$libraries)
    getFromNamespace("lint_in_child", "joist")(.(files[1L]), .(files[2L]))
  })
  writeLines(enc2utf8(deparse(code)), files[3L], useBytes = TRUE)
  # For code that heeds no other limit.
  runs <- length(job$units) * length(job$rules)
  limit <- if (is.finite(job$timeout)) ceiling(60 + 2 * runs * job$timeout) else 0
  said <- run_r(
    c("--vanilla", shQuote(files[3L]), shQuote(args)), files[4L], "Rscript",
    timeout = limit
  )
  if (file.exists(files[2L])) {
    return(readRDS(files[2L]))
  }
  # The rest is run again, without what ended R.
  at <- if (file.exists(files[5L])) as.integer(readLines(files[5L])) else 1L
  why <- paste(utils::tail(said[nzchar(said)], 3L), collapse = "\n")
  message <- paste0("R ended while this ran", if (nzchar(why)) paste0(": ", why))
  ended <- findings_frame(list(
    file = shown_file(srcfile(job$units[[at]]$file), job), kind = "error", message = message,
    rules = names(job$rules)[1L]
  ))
  job$units <- job$units[-at]
  if (length(job$units) == 0L) {
    return(list(findings = ended, operations = 0L))
  }
  rest <- run_lint_job(job, folder, args)
  list(findings = rbind(ended, rest$findings), operations = rest$operations)
}

# ---- printing ----

#' @rdname lint_promotion
#' @export
format.joist_lint <- function(x, ...) {
  if (!is_lint(x)) {
    return(NextMethod())
  }
  place <- ifelse(is.na(x$file), attr(x, "path"), x$file)
  place <- paste0(place, ifelse(is.na(x$line), "", paste0(":", x$line)))
  own <- x$rules == attr(x, "rules")[1L]
  times <- ifelse(!is.na(x$count) & x$count > 1L & !x$kind %in% c("overflow", "loss"),
    paste0(" (", x$count, " times)"), ""
  )
  under <- ifelse(own, "", paste0("under ", x$rules, ": "))
  call <- ifelse(is.na(x$call), "", paste0("`", cut_text(x$call, 60L), "`: "))
  instead <- ifelse(is.na(x$instead), "", paste0("\n    instead: ", x$instead))
  message <- gsub("\n", " ", x$message, fixed = TRUE)
  paste0(place, ": ", x$kind, ": ", under, call, message, times, instead)
}

# Columns may have been left out.
is_lint <- function(x) {
  all(c(names(no_findings()), "file") %in% names(x)) && !is.null(attr(x, "rules"))
}

#' @rdname lint_promotion
#' @export
print.joist_lint <- function(x, ...) {
  if (!is_lint(x)) {
    return(NextMethod())
  }
  if (nrow(x) > 0L) cat(paste0(format(x), "\n"), sep = "")
  rules <- attr(x, "rules")
  operations <- attr(x, "operations")
  cat(
    how_many(nrow(x), "finding"),
    " in ", how_many(operations, "operation"),
    " under the rules ", rules[1L],
    if (length(rules) > 1L) paste0(", compared with ", toString(rules[-1L])), "\n",
    sep = ""
  )
  invisible(x)
}

how_many <- function(n, one) paste0(if (n == 0L) "no" else n, " ", one, if (n != 1L) "s")

#' @rdname lint_promotion
#' @export
summary.joist_lint <- function(object, ...) {
  kinds <- factor(object$kind, intersect(lint_kinds, object$kind))
  files <- ifelse(is.na(object$file), attr(object, "path"), object$file)
  table(file = factor(files, unique(files)), kind = kinds)
}

#' @rdname lint_promotion
#' @export
as.data.frame.joist_lint <- function(x, row.names = NULL, optional = FALSE, ..., # nolint
                                     lintr = FALSE) {
  rules <- attr(x, "rules")
  attributes(x) <- attributes(x)[c("names", "row.names")]
  class(x) <- "data.frame"
  if (!lintr) {
    return(x)
  }
  lines <- source_lines(x$file, x$line)
  own <- x$rules == rules[1L]
  data.frame(
    filename = x$file, line_number = x$line, column_number = rep(1L, nrow(x)),
    type = ifelse(x$kind %in% c("error", "undefined"), "error", "warning"),
    message = paste0(ifelse(own, "", paste0("under ", x$rules, ": ")), x$message), line = lines,
    linter = paste0("joist_", x$kind), stringsAsFactors = FALSE
  )
}

# These lines of these files; empty where there are none.
source_lines <- function(files, lines) {
  out <- rep("", length(files))
  for (file in unique(files[!is.na(files) & file.exists(files)])) {
    at <- which(files == file & !is.na(lines))
    text <- tryCatch(read_script(file), error = function(e) character())[lines[at]]
    out[at] <- ifelse(is.na(text), "", text)
  }
  out
}
