# Parts of functions that are traced, and branches on traced conditions; see jit-rewrite.R.

# ---- parts ----

# How evaluation ended: normally (0), by `break` (1), `next` (2) or `return()` (3), with a value.
# `kind` is one of these, or a traced number, and then `may` has those that it can be.
completion <- function(kind, value = NULL, may = kind) list(kind = kind, may = may, value = value)

is_known <- function(done) !is.object(done$kind)

# What comes at the end of parts: the end of the function, of an iteration, or of neither.
in_function <- list(needed = TRUE, tail = "function")
in_body <- list(needed = FALSE, tail = "loop")
in_middle <- list(needed = FALSE, tail = "none")
in_value <- list(needed = TRUE, tail = "none")

# `ran` is how far C has got with the parts.
run_parts <- function(parts, frame, level, ran = .Call(joist_r_code_parts, parts, frame)) {
  repeat {
    rest <- ran[[4L]]
    if (is.null(rest)) {
      return(at_end(completion(ran[[1L]], ran[[2L]]), level))
    }
    part <- rest[[1L]]
    rest <- rest[-1L]
    site <- part$site
    done <- if (ran[[1L]] == if_kind) {
      condition <- condition_of(ran[[3L]], site)
      if (!is_traced(condition)) {
        rest <- c(if (condition) site$yes else site$no, rest)
        ran <- .Call(joist_r_code_parts, rest, frame)
        next
      }
      if (length(rest) == 0L || site$leaves) {
        return(at_end(run_branches(site, frame, condition, level, rest), level))
      }
      run_branches(site, frame, condition, in_middle)
    } else if (is.null(site)) {
      run_inner(part$code, frame)
    } else if (site$kind == "switch") {
      chosen <- run_code(site$chosen, frame)
      ran <- .Call(joist_r_code_parts, c(if (!is.null(chosen)) site$arms[[chosen]], rest), frame)
      next
    } else {
      run_loop(site, frame)
    }
    if (!is_known(done)) {
      return(follow(done, rest, frame, level))
    }
    if (done$kind != 0L || length(rest) == 0L) {
      return(at_end(done, level))
    }
    ran <- .Call(joist_r_code_parts, rest, frame)
  }
}

# A statement with ways out that are parts of its expressions.
run_inner <- function(code, frame) {
  around <- mget(c("left", "inside"), flow)
  on.exit(list2env(around, flow))
  flow$left <- ""
  flow$inside <- frame
  value <- eval(code, frame)
  completion(match(flow$left, ways_out, 0L), value)
}

# Evaluates code in a frame as a part of the function that it is the frame of.
run_code <- function(code, frame) {
  if (is.call(code)) .Call(joist_r_code_run, code, frame) else eval(code, frame)
}

# At the end of an iteration `next` changes nothing, at the end of a function its value is returned.
at_end <- function(done, level) {
  if (is_known(done)) {
    if (level$tail == "loop" && done$kind == 2L) done$kind <- done$may <- 0L
    if (level$tail == "function" && done$kind == 0L) done$kind <- done$may <- 3L
  } else if (level$tail == "loop" && any(done$may == 2L)) {
    done$may <- union(0L, setdiff(done$may, 2L))
    done$kind <- if (length(done$may) == 1L) done$may else nv_ifelse(done$kind == 2L, 0L, done$kind)
  }
  done
}

# What comes after parts that may have been left.
follow <- function(done, rest, frame, level) {
  if (all(done$may != 0L) || length(rest) == 0L && level$tail != "function") {
    return(at_end(done, level))
  }
  left <- left_by(done)
  merged_branches(
    done$site, frame, done$kind == 0L, function() run_parts(rest, frame, level),
    function() at_end(left, level), level$needed
  )
}

# How evaluation ended if it did not end normally.
left_by <- function(done) {
  other <- setdiff(done$may, 0L)
  completion(if (length(other) == 1L) other else done$kind, done$value, other)
}

# ---- branches ----

# `rest` has the parts that follow, if one of the branches is always left.
run_branches <- function(site, frame, condition, level, rest = list()) {
  yes <- if (site$yes_always) site$yes else c(site$yes, rest)
  no <- if (site$yes_always) c(site$no, rest) else site$no
  merged_branches(
    site, frame, condition, function() run_parts(yes, frame, level),
    function() run_parts(no, frame, level),
    level$needed
  )
}

# Traces both branches, functions that give completions, and merges what they assign.
merged_branches <- function(site, frame, condition, yes, no, needed) {
  frames <- enter_region(site, frame)
  on.exit(flow$frames <- frames)
  world <- look_around(frame)
  effects <- flow$effects
  y <- traced_branch(site, frame, yes, world)
  n <- traced_branch(site, frame, no, world)
  slots <- c(y$slots, n$slots)
  slots <- slots[!duplicated(names(slots))]
  plan <- list2env(list(pairs = list(), site = site), parent = emptyenv())
  after <- lapply(names(slots), function(key) {
    slot <- slots[[key]]
    part <- function(side) if (is.null(side$slots[[key]])) slot$before else side$slots[[key]]$after
    if (has_stopped(y$done)) {
      return(slot_beside(part(n), slot, plan, "no"))
    }
    if (has_stopped(n$done)) {
      return(slot_beside(part(y), slot, plan, "yes"))
    }
    merged_slot(site, slot, part(y), part(n), plan)
  })
  if (length(plan$pairs) == 0L && flow$effects > effects) {
    new_place(plan, undefined, undefined, flag_type())
  }
  done <- merged_completion(site, y$done, n$done, needed, plan)
  results <- finish_branches(condition, y, n, plan$pairs)
  for (k in seq_along(slots)) write_slot(slots[[k]], with_results(after[[k]], results))
  done <- lapply(done, with_results, results)
  done$site <- site
  done
}

# The deepest nesting of branches and loops on traced conditions.
region_depth <- 32L

# Returns the frames whose branches and loops are under way.
enter_region <- function(site, frame) {
  before <- flow$frames
  if (length(before) >= region_depth) {
    stop_flow(
      site, "more than ", region_depth, " branches and loops within each other at ",
      header_of(site), ": a function that calls itself on a traced condition never ends ",
      "while it is traced"
    )
  }
  if (site$dots) tryCatch(eval(quote(list(...)), frame), error = function(e) NULL)
  flow$frames <- c(before, list(frame))
  before
}

traced_branch <- function(site, frame, compute, world) {
  begun <- .Call(joist_r_region_begin, session()$trace, list())
  slots <- NULL
  on.exit({
    if (is.null(slots)) {
      slots <- tryCatch(changed_slots(world, frame, site), error = function(e) list())
    }
    for (slot in slots) write_slot(slot, slot$before)
  })
  done <- within_body(begun[[1L]], with_conditions(site, compute))
  slots <- changed_slots(world, frame, site)
  list(body = begun[[1L]], done = done, slots = lapply(slots, function(slot) {
    slot$after <- read_slot(slot)
    slot
  }))
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
  numbers <- vapply(pairs, `[[`, NA, "number")
  as_r_numbers(join_masks(results, types), numbers, vapply(pairs, `[[`, 1L, "mixed"))
}

# The variable after a branch beside one that has raised an error.
slot_beside <- function(entry, slot, plan, side) {
  if (entry$state == "bound" && !are_same(entry, slot$before)) {
    entry$value <- merge_undefined(entry$value, plan, side)
  }
  entry
}

# The variable after both branches.
merged_slot <- function(site, slot, a, b, plan) {
  if (are_same(a, b)) {
    return(a)
  }
  lacking <- function(which) {
    undecided(poison(site, paste0(
      "`", slot$name, "` has a value only if the condition of ", header_of(site), " is ", which,
      place_of(site)
    )))
  }
  if (!slot$name %of% site$merged && is.null(slot$hidden)) {
    entry <- poison(site, paste0(
      "`", slot$name, "` is assigned in ", header_of(site), place_of(site), " and read in a way ",
      "that jit() does not see"
    ))
    return(if (exists_after(a) && exists_after(b)) entry else undecided(entry))
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

# Whether the variable is there, even if its value cannot be used.
exists_after <- function(entry) {
  entry$state %of% c("bound", "kept") && !isTRUE(entry$around) ||
    entry$state == "poison" && !isTRUE(entry$condition$undecided)
}

merged_completion <- function(site, y, n, needed, plan) {
  may <- (0:3)[tabulate(c(y$may, n$may) + 1L, 4L) > 0L]
  kind <- if (has_stopped(y)) n$kind else y$kind
  if (length(may) > 1L) {
    part <- function(done) if (has_stopped(done)) undefined else done$kind
    kind <- merge_values(part(y), part(n), plan, "kind")
  }
  value <- NULL
  if (any(may == 3L) || (needed && identical(may, 0L))) {
    # Where the function does not return, no value is asked for.
    part <- function(done) {
      if (has_stopped(done) || any(may == 3L) && all(done$may != 3L)) undefined else done$value
    }
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
