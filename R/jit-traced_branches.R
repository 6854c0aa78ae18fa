# Statements of functions that are traced, run one by one, and branches on traced conditions; see
# control_flow.R.

# ---- statements ----

# How evaluation ended: normally (0), by `break` (1), `next` (2) or `return()` (3), with a value.
# `kind` is one of these, or a traced number, and then `may` has those that it can be.
completion <- function(kind, value = NULL, may = kind) list(kind = kind, may = may, value = value)

is_known <- function(done) !is_tensor(done$kind)

# What comes at the end of nodes: that of the function, of an iteration, or of neither.
level_of <- function(chain) {
  in_loop <- !is.null(chain$loop)
  list(needed = !in_loop, tail = if (in_loop) "loop" else "function")
}

run_nodes <- function(nodes, frame, level) {
  count <- length(nodes)
  if (count == 0L) {
    return(at_end(completion(0L), level))
  }
  for (k in seq_len(count)) {
    node <- nodes[[k]]
    inner <- level
    if (k < count) inner <- list(needed = FALSE, tail = "none")
    rest <- nodes[-seq_len(k)]
    site <- node$site
    # A branch that is always left takes no part in the rest.
    if (k < count && node$type == "if" && (site$yes_always || site$no_always)) {
      return(at_end(run_if(node, frame, level, rest), level))
    }
    done <- run_node(node, frame, inner)
    if (k == count && (is_known(done) || level$tail != "function")) {
      return(at_end(done, level))
    }
    if (!is_known(done)) {
      return(follow(done, rest, frame, level))
    }
    if (done$kind != 0L) {
      return(at_end(done, level))
    }
  }
}

# At the end of an iteration `next` changes nothing, at the end of a function its value is returned.
at_end <- function(done, level) {
  force(done) # not within a method for %in%, which would take the class from an error
  if (level$tail == "loop" && 2L %in% done$may) {
    done$may <- union(0L, setdiff(done$may, 2L))
    if (is_known(done)) {
      done$kind <- 0L
    } else if (length(done$may) == 1L) {
      done$kind <- done$may
    } else {
      done$kind <- nv_ifelse(done$kind == 2L, 0L, done$kind)
    }
  }
  if (level$tail == "function" && identical(done$kind, 0L)) done$kind <- done$may <- 3L
  done
}

run_node <- function(node, frame, level) {
  switch(node$type,
    "leaf" = {
      if (node$exits) {
        stop_flow(
          list(call = quote(on.exit()), ref = node$ref), "on.exit() cannot depend on a traced ",
          "condition; call it before"
        )
      }
      flow$left <- NULL
      value <- eval(node$code, frame)
      left <- flow$left
      flow$left <- NULL
      completion(if (is.null(left)) 0L else match(left, c("break", "next", "return")), value)
    },
    "if" = run_if(node, frame, level, NULL),
    "loop" = run_loop(node$site, frame),
    "break" = completion(1L),
    "next" = completion(2L),
    "return" = completion(3L, eval(node$code, frame))
  )
}

# What comes after statements that may have been left.
follow <- function(done, rest, frame, level) {
  force(done)
  if (is_known(done)) {
    return(if (done$kind == 0L) run_nodes(rest, frame, level) else at_end(done, level))
  }
  if (!0L %in% done$may) {
    return(at_end(done, level))
  }
  if (length(rest) == 0L && level$tail != "function") {
    return(at_end(done, level))
  }
  other <- setdiff(done$may, 0L)
  left <- completion(if (length(other) == 1L) other else done$kind, done$value, other)
  merged_branches(
    done$site, frame, done$kind == 0L, function() run_nodes(rest, frame, level),
    function() at_end(left, level), rest, level$needed
  )
}

follow_chain <- function(chain, frame, done) {
  repeat {
    done <- follow(done, chain$nodes, frame, level_of(chain))
    if (is.null(chain$loop)) {
      return(done)
    }
    done <- continue_loop(chain$loop, frame, done)
    chain <- chain$up
    if (is.null(chain)) stop_stuck(done$site)
  }
}

# ---- branches ----

run_if <- function(node, frame, level, rest) {
  site <- node$site
  condition <- node$given
  if (is.null(condition)) condition <- condition_of(eval(site$condition, frame), site)
  if (is_traced(condition)) {
    return(run_branches(site, frame, condition, level, rest))
  }
  nodes <- if (condition) site$yes else site$no
  run_nodes(c(nodes, rest), frame, level)
}

run_branches <- function(site, frame, condition, level, rest = NULL) {
  yes <- site$yes
  no <- site$no
  if (site$yes_always) no <- c(no, rest) else yes <- c(yes, rest)
  merged_branches(
    site, frame, condition, function() run_nodes(yes, frame, level),
    function() run_nodes(no, frame, level), c(yes, no), level$needed
  )
}

# Traces both branches, functions that give completions, and merges what they assign.
merged_branches <- function(site, frame, condition, yes, no, nodes, needed) {
  enter_region(site, frame)
  on.exit(flow$depth <- flow$depth - 1L)
  slots <- slots_of(nodes, frame, site)
  before <- lapply(slots, read_slot)
  raises <- Filter(function(node) isTRUE(node$raises), nodes)
  y <- traced_branch(site, yes, slots, before, raises)
  n <- traced_branch(site, no, slots, before, raises)
  plan <- list2env(list(pairs = list()), parent = emptyenv())
  after <- Map(function(slot, a, b, was) {
    merged_slot(site, slot, a, b, was, plan)
  }, slots, y$slots, n$slots, before)
  done <- merged_completion(site, y$done, n$done, needed, plan)
  results <- finish_branches(condition, y, n, plan$pairs)
  for (k in seq_along(slots)) write_slot(slots[[k]], with_results(after[[k]], results))
  done <- lapply(done, with_results, results)
  done$site <- site
  done
}

# The deepest nesting of branches and loops on traced conditions.
region_depth <- 32L

enter_region <- function(site, frame) {
  flow$depth <- flow$depth + 1L
  if (flow$depth > region_depth) {
    flow$depth <- flow$depth - 1L
    stop_flow(
      site, "more than ", region_depth, " branches and loops within each other at ",
      header_of(site), ": a function that calls itself on a traced condition never ends ",
      "while it is traced"
    )
  }
  # Arguments that nothing has looked at yet would be computed within a branch.
  for (name in site$forced) force_argument(name, frame)
}

force_argument <- function(name, frame) {
  while (!identical(frame, emptyenv()) && !exists(name, envir = frame, inherits = FALSE)) {
    frame <- parent.env(frame)
  }
  if (identical(frame, emptyenv()) || isNamespace(frame) || identical(frame, globalenv())) {
    return()
  }
  if (name == "...") {
    tryCatch(eval(quote(list(...)), frame), error = function(e) NULL)
  } else if (is.null(own_promise(name, frame))) {
    tryCatch(get(name, envir = frame), error = function(e) NULL)
  }
}

# `raises` has the statements of the branches that are calls of stop().
traced_branch <- function(site, compute, slots, before, raises) {
  begun <- .Call(joist_r_region_begin, session()$trace, list())
  on.exit(for (k in seq_along(slots)) write_slot(slots[[k]], before[[k]]))
  within_body(begun[[1L]], {
    done <- if (length(raises) == 0L) {
      compute()
    } else {
      withCallingHandlers(compute(), simpleError = function(e) {
        stop_flow(
          site, "stop() on a traced condition cannot raise an error when the program runs (\"",
          conditionMessage(e), "\"); check the value outside of jit(), or return a flag"
        )
      })
    }
    list(body = begun[[1L]], done = done, slots = lapply(slots, read_slot))
  })
}

finish_branches <- function(condition, y, n, pairs) {
  if (length(pairs) == 0L) {
    return(list())
  }
  types <- lapply(pairs, `[[`, "type")
  end <- function(traced, side) {
    end_body(traced, function() {
      split_masks(Map(as_carried, lapply(pairs, `[[`, side), types), types)
    })
  }
  end(y, "yes")
  end(n, "no")
  results <- apply_bodies("if", list(condition), list(y$body, n$body))
  join_masks(results, types)
}

# The variable after both branches.
merged_slot <- function(site, slot, a, b, was, plan) {
  if (identical(a, b)) {
    return(a)
  }
  lacking <- function(which) {
    poison(site, paste0(
      "`", slot$name, "` has a value only if the condition of ", header_of(site), " is ", which,
      place_of(site)
    ))
  }
  if (!slot$name %in% site$merged && is.null(slot$hidden)) {
    return(poison(site, paste0(
      "`", slot$name, "` is assigned in ", header_of(site), place_of(site), " and read in a way ",
      "that jit() does not see"
    )))
  }
  if (a$state == "poison") {
    return(a)
  }
  if (b$state == "poison") {
    return(b)
  }
  if (a$state == "unbound") {
    return(lacking("FALSE"))
  }
  if (b$state == "unbound") {
    return(lacking("TRUE"))
  }
  if (may_lack_value(a) || may_lack_value(b)) {
    return(poison(site, paste0(
      "`", slot$name, "` has a value after ", header_of(site), place_of(site), " only if a loop ",
      "before has had an iteration; assign it before that loop"
    )))
  }
  count <- length(plan$pairs)
  tryCatch(
    {
      value <- merge_values(a$value, b$value, plan, slot$name)
      for (entry in list(a, b)) note_use(entry)
      list(state = "bound", value = value)
    },
    joist_mismatch = function(e) {
      plan$pairs <- plan$pairs[seq_len(count)]
      poison(site, paste0(
        conditionMessage(e), " after ", header_of(site), place_of(site)
      ), class = e$kind)
    }
  )
}

merged_completion <- function(site, y, n, needed, plan) {
  may <- sort(union(y$may, n$may))
  kind <- y$kind
  if (length(may) > 1L) kind <- merge_values(y$kind, n$kind, plan, "kind")
  value <- NULL
  if (3L %in% may || (needed && identical(may, 0L))) {
    # Where the function does not return, no value is asked for.
    part <- function(done) if (3L %in% may && !3L %in% done$may) undefined else done$value
    value <- tryCatch(
      merge_values(part(y), part(n), plan, "the value"),
      joist_mismatch = function(e) {
        lacks <- xor(is.null(part(y)), is.null(part(n)))
        message <- paste0(
          conditionMessage(e), " of ", header_of(site),
          if (lacks) "; both ways must give a value: add `else`, or a value at the end"
        )
        # That of `if (traced) total <<- x` at the end of a function is rarely used.
        if (lacks) no_value(site, message) else stop_flow(site, message, class = e$kind)
      }
    )
  }
  completion(kind, value, may)
}

# Stands for a value that only one branch has: an error where it is used.
no_value <- function(site, message) {
  entry <- poison(site, paste0(message, place_of_message(site)))
  structure(list(condition = entry$condition), class = "joist_no_value")
}

check_value <- function(x) if (inherits(x, "joist_no_value")) stop(unclass(x)$condition) else x

#' @export
Ops.joist_no_value <- function(e1, e2) {
  check_value(e1)
  check_value(e2)
}

#' @export
Math.joist_no_value <- function(x, ...) check_value(x)

#' @export
Summary.joist_no_value <- function(..., na.rm = FALSE) lapply(list(...), check_value)
