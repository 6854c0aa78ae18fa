# Prints what lintr finds in the R code of the tree at the working folder, or in the files given as
# arguments; exit status 1 if it finds anything. The settings are in .lintr. Needs the package
# installed, which says what functions there are.

# An upper bound of the cyclomatic complexity that cyclocomp::cyclocomp(), more than half of lintr's
# time, finds in a function or expression: their flow graphs without duplicate edges left
# out. Each part of the code has ends from which the flow goes on; more than one is a branch.
complexity_bound <- function(code) {
  counts <- function(ends = 1, branches = 0, breaks = 0, returns = 0) {
    c(ends = ends, branches = branches, breaks = breaks, returns = returns)
  }
  flow <- function(x) {
    if (is.pairlist(x)) x <- as.list(x)
    if (!is.call(x) && !is.list(x)) return(counts())
    name <- if (is.call(x) && is.name(x[[1L]])) as.character(x[[1L]]) else ""
    if (name == "function") {
      body <- flow(x[[3L]])
      defaults <- flow(x[[2L]])
      branches <- body[["branches"]] + defaults[["branches"]] + defaults[["ends"]] - 1
      return(counts(body[["ends"]] + body[["returns"]], branches))
    }
    loop <- name %in% c("for", "while", "repeat")
    branch <- name %in% c("if", "&&", "||")
    parts <- as.list(x)
    if (loop || branch) parts <- parts[-1L]
    if (name == "for") parts <- parts[-1L]
    if (length(parts) == 0L) return(counts())
    flows <- vapply(parts, function(part) if (missing(part)) counts() else flow(part), counts())
    ends <- flows["ends", ]
    last <- ends[[length(ends)]]
    sums <- rowSums(flows)
    branches <- sums[["branches"]] + sum(ends[-length(ends)] - 1)
    breaks <- sums[["breaks"]]
    returns <- sums[["returns"]]
    if (loop) {
      counts(sum(ends) + breaks, branches + last, 0, returns)
    } else if (name == "if" && length(parts) == 3L) {
      counts(ends[[2L]] + last, sums[["branches"]] + 2 * (ends[[1L]] - 1), breaks, returns)
    } else if (branch) {
      counts(sum(ends), branches, breaks, returns)
    } else {
      counts(last, branches + (name == "next"), breaks + (name == "break"),
        returns + (name == "return") * last
      )
    }
  }
  all <- flow(code)
  all[["ends"]] + all[["branches"]] + all[["returns"]]
}

# What the files assign at top level.
defined_in <- function(files) {
  as.character(unlist(lapply(files, function(file) {
    assignments <- Filter(function(x) is.call(x) && identical(x[[1L]], quote(`<-`)), parse(file))
    Filter(nzchar, vapply(assignments, function(x) {
      if (is.name(x[[2L]])) as.character(x[[2L]]) else ""
    }, ""))
  })))
}

settings <- read.dcf(".lintr")
linters <- eval(str2lang(settings[, "linters"]), asNamespace("lintr"))
exact <- linters$cyclocomp_linter
limit <- environment(exact)$complexity_limit
stopifnot(is.function(exact), is.numeric(limit))
linters$cyclocomp_linter <- lintr::Linter(function(source_expression) {
  if (!lintr::is_lint_level(source_expression, "expression")) {
    return(list())
  }
  code <- parse(text = source_expression$content, keep.source = FALSE)
  if (complexity_bound(as.list(code)) <= limit) list() else exact(source_expression)
}, name = "cyclocomp_linter")

# object_usage_linter() parses each function once more, and looks for what codetools says in its
# syntax, which takes as long as codetools. R CMD check leaves out local variables that are not
# used.
linters$object_usage_linter <- NULL
package <- asNamespace("joist")
usage <- character()
report_usage <- function(text) usage <<- c(usage, trimws(text))
asked <- commandArgs(TRUE)
if (length(asked) == 0L) {
  codetools::checkUsageEnv(package, report = report_usage)
} else {
  for (name in defined_in(grep("^R/", asked, value = TRUE))) {
    f <- get0(name, package, inherits = FALSE)
    if (is.function(f)) codetools::checkUsage(f, name, report = report_usage)
  }
}
usage <- grep(".Generic", usage, fixed = TRUE, value = TRUE, invert = TRUE) # R defines it

# lintr asks each linter about each comment and expression of a file. Asked once about the whole
# file, as one expression, they find the same in two thirds of the time.
as_whole <- names(linters) != "cyclocomp_linter"
linters[as_whole] <- lapply(linters[as_whole], function(linter) {
  by_file <- lintr::Linter(function(source_expression) {
    if (!lintr::is_lint_level(source_expression, "file")) {
      return(list())
    }
    lines <- source_expression$file_lines
    whole <- list(
      filename = source_expression$filename, line = 1L, column = 1L, lines = lines,
      parsed_content = source_expression$full_parsed_content,
      xml_parsed_content = source_expression$full_xml_parsed_content,
      content = paste(lines, collapse = "\n"), find_line = identity, find_column = identity
    )
    c(linter(source_expression), linter(whole))
  })
  attr(by_file, "name") <- attr(linter, "name")
  by_file
})

# A file without lints counts as such until it, or a setting, or lintr changes.
folders <- Filter(dir.exists, c("R", "tests", "tools", "bench", "vignettes"))
files <- list.files(folders, "[.]([Rr]|Rmd)$", recursive = TRUE, full.names = TRUE)
states <- paste(
  files, tools::md5sum(files), tools::md5sum(".lintr"), R.version.string, packageVersion("lintr")
)
clean_list <- file.path("local", "lint", "clean")
dir.create(dirname(clean_list), showWarnings = FALSE, recursive = TRUE)
known <- if (file.exists(clean_list)) readLines(clean_list)
clean <- states %in% known | length(asked) > 0L & !files %in% asked

# Scripts and tests have what other files define.
report_script <- function(text) if (!grepl(": no visible", text, fixed = TRUE)) report_usage(text)
scripts <- files[!startsWith(files, "R/") & endsWith(files, ".R")]
for (file in if (length(asked) == 0L) scripts else intersect(scripts, asked)) {
  own <- new.env(parent = package)
  for (code in as.list(parse(file, keep.source = TRUE))) {
    assigns <- is.call(code) && identical(code[[1L]], quote(`<-`)) && is.name(code[[2L]])
    if (!assigns || !is.call(code[[3L]])) next
    if (identical(code[[3L]][[1L]], quote(`function`))) eval(code, own)
  }
  codetools::checkUsageEnv(own, report = report_script)
}

lints <- do.call(c, lapply(folders, function(folder) {
  inside <- files[clean & startsWith(files, paste0(folder, "/"))]
  skipped <- c("renv", "packrat", substring(inside, nchar(folder) + 2L))
  found <- lintr::lint_dir(
    folder,
    linters = linters, cache = FALSE, exclusions = as.list(skipped)
  )
  for (i in seq_along(found)) found[[i]]$filename <- file.path(folder, found[[i]]$filename)
  unclass(found)
}))

# lintr knows the S3 generics of base R only in part (not Re, not %*%), and none of packages
# that are not imported. A method's name is its generic's, then a class, or two.
is_method_name <- function(lint) {
  lint$linter == "object_name_linter" &&
    grepl("^\\s*`?[^`\\s(]+\\.(nv|joist)_[a-z_]+(\\.[a-z0-9_]+)?`?\\s*<-", lint$line, perl = TRUE)
}

lints <- Filter(Negate(is_method_name), lints)

found_in <- vapply(lints, function(lint) lint$filename, "")
writeLines(union(intersect(known, states), states[!clean & !files %in% found_in]), clean_list)

# Of two definitions of a function, R takes the one in the file that comes last.
defined <- defined_in(list.files("R", "[.]R$", full.names = TRUE))
twice <- unique(defined[duplicated(defined)])
if (length(twice) > 0L) cat("defined twice in R/:", twice, "\n")

for (lint in lints) {
  cat(sprintf("%s:%d:%d: [%s] %s\n", lint$filename, lint$line_number, lint$column_number,
              lint$linter, lint$message))
}
writeLines(usage)
cat(length(lints) + length(usage), "lints\n")
quit("no", status = if (length(lints) + length(usage) + length(twice) > 0L) 1L else 0L)
