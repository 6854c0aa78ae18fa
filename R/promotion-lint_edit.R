# Casts written into the code of functions: which operations of a recording can be cast there, and
# the functions with the casts in them.

# The casts of an edited function, told apart from the author's by their names.
cast_operand <- function(x, dtype) nv_convert(x, dtype)
cast_result <- function(x, dtype) nv_convert(x, dtype)

# ---- finding calls ----

# `x[i] <- value` calls `[<-`(`*tmp*`, i, value = value).
assignment_call <- function(expression) {
  target <- expression[[2L]]
  if (!is.call(target) || !is.name(target[[1L]])) {
    return(NULL)
  }
  as.call(c(
    as.name(paste0(target[[1L]], "<-")), quote(`*tmp*`), as.list(target)[-(1:2)],
    list(value = expression[[3L]])
  ))
}

is_assignment <- function(expression) {
  head <- expression[[1L]]
  (identical(head, quote(`<-`)) || identical(head, quote(`=`)) || identical(head, quote(`<<-`))) &&
    length(expression) == 3L && is.call(expression[[2L]])
}

# Replaces what is written at each of some places (a line, or NA, and a call), wherever that is in
# the code, by what its `change` makes of it. `found` counts how often each was there.
edit_code <- function(code, line, places, found) {
  if (!is.call(code)) {
    return(code)
  }
  if (identical(code[[1L]], quote(`function`))) {
    reference <- if (length(code) > 3L) code[[4L]]
    if (!is.null(reference)) line <- reference[1L]
    code[[3L]] <- edit_code(code[[3L]], line, places, found)
    return(code)
  }
  edited <- edit_parts(code, line, places, found)
  for (k in seq_along(places)) {
    place <- places[[k]]
    if (!is.na(place$line) && !identical(as.integer(line), place$line)) next
    if (if (is.null(place$matches)) is_written(code, place$call) else place$matches(code)) {
      found$counts[k] <- found$counts[k] + 1L
      if (!is.null(place$change)) edited <- place$change(edited)
    }
  }
  edited
}

# Statements in braces have lines of their own.
edit_parts <- function(code, line, places, found) {
  references <- if (identical(code[[1L]], quote(`{`))) attr(code, "srcref")
  for (k in seq_along(code)) {
    part <- code[[k]]
    if (!missing(part) && is.call(part)) {
      at <- if (length(references) >= k) references[[k]][1L] else line
      code[[k]] <- edit_code(part, at, places, found)
    }
  }
  code
}

is_written <- function(code, call) {
  own <- if (is_assignment(code)) assignment_call(code) else code
  !is.null(own) && same_call(own, call)
}

same_call <- function(x, y) {
  identical(x[[1L]], y[[1L]]) && length(x) == length(y) &&
    (identical(x, y) || identical(call_text(x), call_text(y)))
}

edit_function <- function(f, places) {
  found <- list2env(list(counts = integer(length(places))))
  reference <- attr(f, "srcref")
  line <- if (is.null(reference)) NA_integer_ else reference[1L]
  code <- edit_code(body(f), line, places, found)
  list(code = code, counts = found$counts)
}

# R passes some calls with values in place of code, such as those of sum(), and assignments with
# `*tmp*` as the target. Restores them as written in the source, if the line has only one candidate.
# `shown` is the form to print.
restore_calls <- function(sites, homes) {
  lapply(sites, function(site) {
    head <- if (is.name(site$call[[1L]])) as.character(site$call[[1L]]) else ""
    assigns <- endsWith(head, "<-")
    if (site$home > 0L && (assigns || "tensor" %in% all.names(site$call))) {
      calls <- calls_of_line(homes[[site$home]]$code, site$line)
      written <- unique(Filter(function(call) {
        if (assigns) {
          is_assignment(call) && is_written(call, site$call)
        } else {
          identical(call[[1L]], site$call[[1L]])
        }
      }, calls))
      if (length(written) == 1L) {
        if (!assigns) site$call <- written[[1L]]
        site$shown <- written[[1L]]
      }
    }
    if (is.null(site$shown)) site$shown <- shown_call(site$call)
    site
  })
}

# All calls in the code of a function on a line; all there are if it is NA.
calls_of_line <- function(f, wanted) {
  calls <- list()
  gather <- list(list(line = wanted, matches = function(call) {
    calls[[length(calls) + 1L]] <<- call
    FALSE
  }))
  edit_function(f, gather)
  calls
}

# ---- what can be cast ----

# Where in its call each operand of an operation stands: the leading arguments of the function, in
# the order of its formals.
operand_positions <- function(call) {
  head <- call[[1L]]
  if (is.name(head) && endsWith(as.character(head), "<-")) {
    return(c(NA_integer_, length(call) - 1L))
  }
  positions <- seq_len(length(call) - 1L)
  f <- if (is.name(head)) get0(as.character(head), topenv(), mode = "function")
  if (!is.function(f) || is.primitive(f)) {
    return(positions)
  }
  numbered <- as.call(c(head, stats::setNames(as.list(positions), names(call)[-1L])))
  matched <- tryCatch(as.list(match.call(f, numbered))[-1L], error = function(e) NULL)
  as.integer(unlist(matched))
}

# For each site the number of the function that has it in its code: -1 for `f` itself, 0 where there
# is none that could be written anew.
editable_homes <- function(recorded, f) {
  sites <- recorded$sites
  homes <- vapply(sites, `[[`, 0L, "home")
  own <- if (is.primitive(f)) integer(length(sites)) else edit_function(f, sites)$counts
  out <- ifelse(homes > 0L & own > 0L, -1L, 0L)
  for (k in setdiff(unique(homes[out == 0L]), 0L)) {
    home <- recorded$homes[[k]]
    if (!is.name(home$name)) next
    same <- identical(get0(as.character(home$name), environment(f), mode = "function"), home$code)
    at <- which(homes == k & out == 0L)
    if (same) out[at[edit_function(home$code, sites[at])$counts > 0L]] <- k
  }
  out
}

# What the search for casts may cast, `homes` as above.
castable <- function(recorded, homes, operands = TRUE) {
  events <- recorded$events
  written <- homes != 0L
  assigns <- vapply(recorded$sites, function(site) {
    is.name(site$call[[1L]]) && endsWith(as.character(site$call[[1L]]), "<-")
  }, NA)
  single <- tapply(events$last, factor(events$site, seq_along(homes)), all)
  bits <- vapply(seq_along(homes), function(k) {
    if (!operands || !written[k] || !isTRUE(single[[k]])) {
      return(0L)
    }
    positions <- operand_positions(recorded$sites[[k]]$call)
    at <- which(!is.na(positions[seq_len(min(length(positions), 30L))]))
    as.integer(sum(2^(at - 1)))
  }, 0L)
  arguments <- vapply(recorded$arguments, function(leaf) is_settable(leaf$path), NA)
  for (leaf in recorded$outputs) {
    arguments[.Call(joist_r_ledger_argument_of, recorded$ledger, leaf$tensor)] <- FALSE
  }
  list(argument = as.logical(arguments), operand = bits, result = written & !assigns)
}

# A name, or an element of one: not one of `...`.
is_settable <- function(path) {
  while (is.call(path)) path <- path[[2L]]
  is.name(path) && !startsWith(as.character(path), "..")
}

# ---- writing casts ----

# The code of a place with its casts, a data frame with a row each.
cast_code <- function(code, casts, x = quote(nv_convert), result = quote(nv_convert)) {
  cast <- function(head, part, dtype) {
    while (is.call(part) && identical(part[[1L]], quote(`(`))) part <- part[[2L]]
    as.call(list(head, part, dtype))
  }
  call <- if (is_assignment(code)) NULL else code
  for (k in which(casts$kind == "operand")) {
    if (is.null(call)) {
      code[[3L]] <- cast(x, code[[3L]], casts$dtype[k])
    } else {
      at <- operand_positions(call)[casts$operand[k]] + 1L
      code[[at]] <- cast(x, code[[at]], casts$dtype[k])
    }
  }
  for (k in which(casts$kind == "result")) {
    code <- cast(result, code, casts$dtype[k])
  }
  code
}

cast_argument <- function(path, dtype, cast = quote(nv_convert)) {
  call("<-", path, as.call(list(cast, path, dtype)))
}

# The function with the casts in it, whose sites have these editable homes, and in copies of the
# functions that it calls.
edited_function <- function(f, recorded, homes, casts) {
  inner <- casts[casts$kind != "argument", ]
  edit <- function(code, home) {
    sites <- unique(inner$at[homes[inner$at] == home])
    places <- lapply(sites, function(site) {
      own <- inner[inner$at == site, ]
      change <- function(part) cast_code(part, own, quote(cast_operand), quote(cast_result))
      c(recorded$sites[[site]], change = change)
    })
    edit_function(code, places)$code
  }
  around <- function(environment) {
    list2env(list(cast_operand = cast_operand, cast_result = cast_result), parent = environment)
  }
  overlay <- around(environment(f))
  for (home in setdiff(unique(homes[inner$at]), -1L)) {
    helper <- recorded$homes[[home]]$code
    body(helper) <- edit(helper, home)
    environment(helper) <- around(environment(helper))
    assign(as.character(recorded$homes[[home]]$name), helper, overlay)
  }
  code <- edit(f, -1L)
  for (k in which(casts$kind == "argument")) {
    path <- recorded$arguments[[casts$at[k]]]$path
    code <- call("{", cast_argument(path, casts$dtype[k], quote(cast_operand)), code)
  }
  body(f) <- code
  environment(f) <- overlay
  f
}
