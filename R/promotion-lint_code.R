# What lint_promotion() does in the process that runs the code: recordings of scripts under each
# rule set, and the findings in them.

lint_in_child <- function(job_file, out_file) {
  job <- readRDS(job_file)
  options(keep.source = TRUE, device = function(...) grDevices::pdf(NULL))
  # Else the rest of the code would not be judged.
  end <- function(...) stop(structure(class = c("joist_lint_end", "condition"), list()))
  own <- list(q = end, quit = end)
  recorded <- lapply(job$rules, record_units, job = job, own = own)
  found <- lapply(seq_along(job$units), function(k) {
    unit_findings(lapply(recorded, `[[`, k), job)
  })
  counts <- vapply(recorded[[1L]], function(unit) length(unit$events$op), 0L)
  findings <- do.call(rbind, c(list(no_findings()), found))
  saveRDS(list(findings = findings, operations = sum(counts)), out_file)
}

# ---- running ----

# All units under one rule set, from a session without what others have left.
record_units <- function(rules, job, own) {
  before <- search()
  old <- options()
  on.exit({
    grDevices::graphics.off()
    for (name in setdiff(search(), before)) detach(name, character.only = TRUE, force = TRUE)
    rm(list = ls(globalenv(), all.names = TRUE), envir = globalenv())
    options(stats::setNames(vector("list", length(setdiff(names(options()), names(old)))),
      setdiff(names(options()), names(old))
    ))
    options(old)
    setwd(job$wd)
  })
  attach_lint(c(own, shared_functions(job$shared)))
  set.seed(1L)
  if (!is.null(job$package)) {
    setwd(tempdir())
    library(job$package, character.only = TRUE)
  }
  lapply(seq_along(job$units), function(k) {
    unit <- job$units[[k]]
    writeLines(as.character(k), job$progress)
    if (job$chdir && is.null(unit$lines)) {
      here <- setwd(dirname(unit$file))
      on.exit(setwd(here))
    }
    record_unit(unit, rules, job)
  })
}

# R CMD check looks for attach() by its name.
attach_lint <- function(functions) {
  do.call("attach", list(functions, name = "joist_lint", warn.conflicts = FALSE))
}

# Functions that scripts of a folder define at their top level, in the global environment.
shared_functions <- function(files) {
  functions <- new.env(parent = globalenv())
  for (file in files) {
    code <- tryCatch(parse_unit(list(file = file)), error = function(e) expression())
    for (k in seq_along(code)) {
      if (defines_function(code[[k]])) eval(code[k], functions)
    }
  }
  functions <- as.list(functions)
  lapply(functions, function(f) {
    environment(f) <- globalenv()
    f
  })
}

defines_function <- function(code) {
  is.call(code) && (identical(code[[1L]], quote(`<-`)) || identical(code[[1L]], quote(`=`))) &&
    is.name(code[[2L]]) && is.call(code[[3L]]) && identical(code[[3L]][[1L]], quote(`function`))
}

# The lines of a script. Text that is not UTF-8 is taken as Latin-1, which any bytes are.
read_script <- function(file) {
  bytes <- readBin(file, "raw", file.size(file))
  if (length(bytes) >= 3L && all(bytes[1:3] == as.raw(c(0xef, 0xbb, 0xbf)))) bytes <- bytes[-(1:3)]
  if (any(bytes == as.raw(0L))) stop("the file is not text: it contains NUL bytes", call. = FALSE)
  text <- rawToChar(bytes)
  if (validUTF8(text)) Encoding(text) <- "UTF-8" else text <- iconv(text, "latin1", "UTF-8")
  strsplit(text, "\r\n|\n|\r")[[1L]]
}

parse_unit <- function(unit) {
  lines <- if (is.null(unit$lines)) read_script(unit$file) else unit$lines
  source <- srcfilecopy(unit$file, lines)
  parse(text = lines, keep.source = TRUE, srcfile = source, encoding = "UTF-8")
}

# As record_operations() gives it, with `warnings` of joist and an `error` of message, file, line
# and call.
record_unit <- function(unit, rules, job) {
  depth <- set_promotion(rules, NULL)
  on.exit(restore_promotion(depth))
  places <- new_places(NULL)
  ledger <- .Call(joist_r_ledger_begin, places$site, rules)
  run <- new.env(parent = emptyenv())
  run$warnings <- list()
  if (is.finite(job$timeout)) {
    # Code may catch the error of one limit; that of the other comes with each operation.
    places$deadline <- proc.time()[[3L]] + job$timeout
    setTimeLimit(elapsed = job$timeout, transient = TRUE)
    on.exit(setTimeLimit(), add = TRUE)
  }
  tryCatch(
    withCallingHandlers(
      evaluate_unit(unit, run, places),
      warning = function(w) {
        kind <- lint_kind_of(w)
        if (!is.null(kind)) {
          place <- place_of_condition(sys.nframe() - 1L, places)
          run$warnings[[length(run$warnings) + 1L]] <- list(
            kind = kind, place = place, condition = w
          )
        }
        tryInvokeRestart("muffleWarning")
      },
      error = function(e) {
        if (is.null(run$error)) run$error <- lint_error(e, sys.nframe(), run, places, unit)
      }
    ),
    error = function(e) if (is.null(run$error)) run$error <- lint_error(e, 0L, run, places, unit),
    joist_lint_end = function(e) NULL
  )
  recorded <- list(
    ledger = ledger, events = .Call(joist_r_ledger_table, ledger), sites = places$table(),
    homes = places$homes, arguments = list(), error = run$error, rules = rules, outputs = NULL,
    warnings = run$warnings
  )
  name_sites(recorded, job)
}

evaluate_unit <- function(unit, run, places) {
  code <- parse_unit(unit)
  references <- attr(code, "srcref")
  # Frames up to those of eval() are not the user's.
  places$floor <- sys.nframe() + 2L
  for (k in seq_along(code)) {
    run$at <- references[[k]]
    eval(code[k], globalenv())
  }
}

# The kind of finding that a warning is; NULL for those of others. Promotion that the code asks to
# be warned of is found without warnings.
lint_kind_of <- function(w) {
  if (inherits(w, "joist_rounding_warning")) {
    return("loss")
  }
  if (!any(startsWith(class(w), "joist_")) || !is.character(w$kind)) {
    return(NULL)
  }
  setdiff(intersect(w$kind, lint_kinds), promotion_kinds)[1L]
}

is_own_frame <- function(frame) {
  identical(topenv(environment(sys.function(frame)), baseenv()), topenv())
}

# Where the user called the function of joist that signals a condition in `frame`, or NULL.
place_of_condition <- function(frame, places) {
  while (frame > places$floor && is_base_frame(frame)) frame <- frame - 1L
  entry <- NULL
  # What C evaluates goes on from the frame below.
  while (frame > places$floor && is_own_frame(frame)) {
    entry <- entry_frame(frame, places$floor)
    frame <- entry - 1L
  }
  if (!is.null(entry)) place_of_frame(entry, places)
}

# An error, signalled below `frame`: its message and where the user's code was.
lint_error <- function(e, frame, run, places, unit) {
  reached <- places$floor > 0L
  place <- if (reached && frame > 0L) place_of_condition(frame - 1L, places)
  reference <- place$reference
  while (reached && is.null(reference) && frame > places$floor) {
    reference <- attr(sys.call(frame), "srcref")
    frame <- frame - 1L
  }
  if (is.null(reference)) reference <- run$at
  error <- list(
    condition = e, message = conditionMessage(e), line = NA_integer_, place = place,
    file = if (is.null(reference)) srcfile(unit$file) else attr(reference, "srcfile")
  )
  if (!is.null(reference)) error$line <- reference[1L]
  if (is.null(run$at)) {
    return(parse_error(error))
  }
  error$call <- call_of_error(e, place, reference)
  error
}

# The whole statement where R gives no call, or the one by which the statement was evaluated.
call_of_error <- function(e, place, reference) {
  call <- if (is.null(place)) conditionCall(e) else place$call
  if (!is_time_limit(e) && !is.null(call) && !identical(call, quote(eval(code[k], globalenv())))) {
    return(call)
  }
  statement <- function_of_statement(reference)
  if (!is.null(statement)) body(statement)
}

# The parser's messages begin with file, line and column, and end with the code.
parse_error <- function(error) {
  pattern <- "^.*:([0-9]+):[0-9]+: ([^\n]*).*$"
  if (grepl(pattern, error$message)) {
    error$line <- as.integer(sub(pattern, "\\1", error$message))
    error$message <- sub(pattern, "\\2", error$message)
  }
  error
}

# ---- places ----

# The sites with the file names to show, and with their calls as written in the source.
name_sites <- function(recorded, job) {
  homes <- recorded$homes
  sites <- lapply(recorded$sites, function(site) {
    if (site$home == 0L && !is.null(site$reference)) {
      statement <- function_of_statement(site$reference)
      if (!is.null(statement)) {
        homes[[length(homes) + 1L]] <<- list(code = statement)
        site$home <- length(homes)
      }
    }
    site$file <- shown_file(attr(site$reference, "srcfile"), job)
    if (is.na(site$file) && site$home > 0L && is.name(homes[[site$home]]$name)) {
      site$file <- paste0(homes[[site$home]]$name, "()")
    }
    site
  })
  recorded$sites <- restore_calls(sites, homes)
  recorded
}

# A statement of the top level as the body of a function, for restore_calls().
function_of_statement <- function(reference) {
  code <- tryCatch(
    parse(text = as.character(reference), keep.source = FALSE),
    error = function(e) NULL
  )
  if (length(code) != 1L) {
    return(NULL)
  }
  f <- as.function(list(code[[1L]]))
  attr(f, "srcref") <- reference
  f
}

# Below the working folder as seen from there, or else the whole path; in the folder of a package,
# though it was installed from a copy.
shown_file <- function(source, job) {
  if (is.null(source)) {
    return(NA_character_)
  }
  file <- source$filename
  absolute <- grepl("^(/|~|[A-Za-z]:|\\\\)", file)
  full <- if (absolute) path.expand(file) else file.path(source$wd, file)
  if (!file.exists(full)) {
    return(sub("^.*/(R/[^/]+)$", "\\1", file))
  }
  full <- normalizePath(full, winslash = "/")
  below <- function(path, folder) startsWith(path, paste0(sub("/$", "", folder), "/"))
  copy <- job$folder[["from"]]
  if (nzchar(copy) && below(full, copy)) {
    full <- paste0(job$folder[["to"]], substring(full, nchar(copy) + 1L))
  }
  wd <- normalizePath(job$wd, winslash = "/")
  if (below(full, wd)) substring(full, nchar(sub("/$", "", wd)) + 2L) else full
}

# ---- findings ----

findings_frame <- function(columns) {
  n <- length(columns$kind)
  take <- function(name, missing) {
    x <- columns[[name]]
    if (is.null(x)) rep(missing, n) else rep_len(unname(x), n)
  }
  data_frame(list(
    file = take("file", NA_character_), line = as.integer(take("line", NA_integer_)),
    call = take("call", NA_character_), kind = as.character(columns$kind),
    rules = take("rules", NA_character_), from = take("from", NA_character_),
    to = take("to", NA_character_), starts = take("starts", TRUE),
    count = as.numeric(take("count", 1)), message = take("message", NA_character_),
    instead = take("instead", NA_character_)
  ))
}

no_findings <- function() findings_frame(list(kind = character()))

# What was found in one unit; `recorded` is named by rules, those that are in force first.
unit_findings <- function(recorded, job) {
  under <- names(recorded)
  own <- lapply(under, function(id) {
    one <- recorded[[id]]
    rbind(promotion_findings(one, id, job), warning_findings(one, id, job))
  })
  compared <- lapply(under[-1L], function(id) change_findings(recorded[c(under[1L], id)], job))
  do.call(rbind, c(own, compared, list(error_findings(recorded, job))))
}

# ---- implicit promotion ----

promotion_findings <- function(recorded, id, job) {
  events <- recorded$events
  kinds <- intersect(promotion_kinds, job$kinds)
  kind <- rep(NA_character_, length(events$op))
  for (name in rev(kinds)) kind[events[[name]]] <- name
  at <- which(!is.na(kind))
  key <- paste(events$site, kind, events$operands, events$result, sep = "\r")[at]
  first <- at[!duplicated(key)]
  places <- place_columns(recorded$sites[events$site[first]])
  findings_frame(list(
    file = places$file, line = places$line, call = places$call, kind = kind[first], rules = id,
    from = events$operands[first], to = events$result[first],
    count = tabulate(match(key, unique(key)), length(first)),
    message = gsub("\n", "; ", events$marks[first], fixed = TRUE),
    instead = vapply(first, function(k) promotion_advice(recorded, k, kind[k]), "")
  ))
}

# The call of an event with casts in it: to a dtype in which nothing is lost, if there is one, or
# else those that promotion does.
promotion_advice <- function(recorded, k, kind) {
  events <- recorded$events
  if (kind %in% c("literal", "misfit")) {
    return("give the R number as a tensor of a dtype that holds it")
  }
  operands <- strsplit(events$operands[k], ", ", fixed = TRUE)[[1L]]
  wider <- if (kind == "lossy") lossless_dtype(operands, events$op[k], recorded$rules)
  dtypes <- if (is.null(wider)) marked_dtypes(operands, events$marks[k]) else wider
  dtypes <- rep_len(dtypes, length(operands))
  casts <- data_frame(list(operand = seq_along(operands), dtype = dtypes))
  casts <- casts[!is.na(casts$dtype) & casts$dtype != operands, ]
  casts$kind <- rep("operand", nrow(casts))
  site <- recorded$sites[[events$site[k]]]
  # Where a call is several operations, the operands are not those in the code.
  single <- all(events$last[events$site == events$site[k]])
  if (single && nrow(casts) > 0L) {
    written <- tryCatch(call_text(cast_code(site$shown, casts)), error = function(e) NULL)
    if (!is.null(written)) {
      return(written)
    }
  }
  "convert the arguments with nv_convert() where this is meant"
}

# The dtype of both operands in which nothing is lost, which assignment does not change.
lossless_dtype <- function(operands, op, rules) {
  if (length(operands) != 2L || op == "update" || any(endsWith(operands, "?"))) {
    return(NULL)
  }
  found <- tryCatch(
    .Call(joist_r_explain, as.list(operands), op, NULL, rules)$cast,
    error = function(e) NULL
  )
  if (isTRUE(found$lossless)) found$result
}

# What the operands became, as the marks say; NA for those that stayed.
marked_dtypes <- function(operands, marks) {
  pattern <- "^(\\S+) became (\\S+) without a cast.*$"
  marks <- grep(pattern, strsplit(marks, "\n", fixed = TRUE)[[1L]], value = TRUE)
  sub(pattern, "\\2", marks)[match(operands, sub(pattern, "\\1", marks))]
}

# ---- warnings and errors ----

warning_findings <- function(recorded, id, job) {
  found <- lapply(recorded$warnings, function(one) {
    w <- one$condition
    advice <- regmatches(w$message, regexec("; ([^;]*)$", w$message))[[1L]]
    place <- one$place
    text <- function(x) if (is.character(x)) paste(x, collapse = ", ") else NA_character_
    findings_frame(c(
      place_fields(place, attr(place$reference, "srcfile"), place$line, w$call, job),
      list(
        kind = one$kind, rules = id, from = text(w$operands), to = text(w$dtype),
        count = if (is.numeric(w$count)) w$count else 1,
        message = sub("; [^;]*$", "", w$message),
        instead = if (length(advice) == 2L) advice[2L] else NA_character_
      )
    ))
  })
  do.call(rbind, found)
}

place_fields <- function(place, source, line, call, job) {
  call <- if (is.null(place)) call else shown_call(place$call)
  list(
    file = shown_file(source, job), line = if (is.null(line)) NA_integer_ else line,
    call = if (is.null(call)) NA_character_ else call_text(call)
  )
}

error_findings <- function(recorded, job) {
  found <- lapply(names(recorded), function(id) {
    e <- recorded[[id]]$error
    if (is.null(e)) {
      return(NULL)
    }
    undefined <- id != names(recorded)[1L] && inherits(e$condition, "joist_promotion_error")
    findings_frame(c(place_fields(e$place, e$file, e$line, e$call, job), list(
      kind = if (undefined) "undefined" else "error", rules = id, message = e$message
    )))
  })
  do.call(rbind, found)
}

# ---- other rules ----

# For how many operations casts are looked for, and how hard.
most_cast_events <- 2000L
cast_effort <- 2000

change_findings <- function(recorded, job) {
  from <- recorded[[1L]]
  to <- recorded[[2L]]
  id <- names(recorded)[2L]
  dtypes <- lapply(recorded, dtypes_under, from = from)
  rows <- differing_lines(recorded, dtypes)
  undefined <- is.na(rows[[id]])
  was <- rows[[names(recorded)[1L]]]
  instead <- cast_advice(from, to, rows, was)
  message <- paste0(
    ifelse(undefined, "has no dtype", paste("gives", rows[[id]])), ", but ", was, " under ",
    names(recorded)[1L], ifelse(rows$starts, "", ", because of what it is given")
  )
  findings_frame(list(
    file = rows$file, line = rows$line, call = rows$call,
    kind = ifelse(undefined, "undefined", "changes"), rules = id, from = was, to = rows[[id]],
    starts = rows$starts, count = rows$count, message = message, instead = instead
  ))
}

# A cast on the lines where a dtype begins to differ: one of a small set that is enough, if it is
# found, or else one of the result.
cast_advice <- function(from, to, rows, was) {
  casts <- if (length(from$events$op) <= most_cast_events) search_casts(from, to)
  if (!is.null(casts)) {
    key <- function(x) paste(x$file, x$line, x$call, sep = "\r")
    return(casts$code[match(key(rows), key(casts))])
  }
  calls <- paste0("nv_convert(", rows$call, ", \"", was, "\")")
  ifelse(rows$starts & !is.na(rows[[ncol(rows)]]) & !grepl("<-", rows$call), calls, NA_character_)
}

search_casts <- function(from, to) {
  homes <- ifelse(vapply(from$sites, function(site) is.call(site$shown), NA), 1L, 0L)
  found <- .Call(
    joist_r_ledger_casts, from$ledger, to$ledger, to$rules, castable(from, homes), cast_effort
  )
  if (found$found) casts_result(from, data_frame(found[1:4]), TRUE, TRUE, NA)$table
}

# ---- all findings ----

# One row for what was found several times, be it under several rules: then those of the first.
merge_findings <- function(found, rules) {
  # What fails where no dtype is defined is said once, in the words of the error.
  place <- paste(found$file, found$line, found$rules, sep = "\r")
  said <- found$kind %in% c("undefined", "error") & is.na(found$from)
  inferred <- found$kind == "undefined" & !said
  double <- said & place %in% place[inferred]
  same <- match(place[inferred], place[said])
  found$message[inferred] <- ifelse(is.na(same), found$message[inferred], found$message[said][same])
  found <- found[!double, , drop = FALSE]
  found <- found[order(match(found$rules, rules)), , drop = FALSE]
  what <- found[c("file", "line", "call", "kind", "message")]
  compares <- found$kind %in% c("changes", "undefined")
  key <- do.call(paste, c(what, list(ifelse(compares, found$rules, ""), sep = "\r")))
  first <- !duplicated(key)
  # Counts of the rules under which it was found first.
  first_rules <- found$rules[first][match(key, key[first])]
  counted <- found$rules == first_rules
  sums <- tapply(found$count[counted], factor(key[counted], key[first]), sum)
  found <- found[first, , drop = FALSE]
  found$count <- as.numeric(sums)
  files <- unique(found$file)
  found[order(match(found$file, files), found$line, match(found$kind, lint_kinds)), , drop = FALSE]
}
