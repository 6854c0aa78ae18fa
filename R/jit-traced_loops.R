# R's loops on traced conditions, over tensors and up to traced numbers; see jit-control_flow.R.

# Runs a loop by its parts.
run_loop <- function(site, frame) {
  values <- NULL
  if (site$kind == "for") {
    values <- loop_values(site, run_code(site$values, frame))
    if (is_region_of(values)) {
      return(for_region(site, frame, values))
    }
    values <- elements_of(site, values)
  }
  control_start(site)
  done <- if (site$kind == "for") run_for(site, frame, values) else run_while(site, frame)
  control_end(site)
  done
}

# ---- what `for` goes over ----

# The values of `for`; nv_seq_len() of a traced number is a count there, and so are numbers from or
# to a traced one.
loop_values <- function(site, values) {
  before <- flow$counting
  on.exit(flow$counting <- before)
  flow$counting <- if (site$counted) site
  values
}

is_region_of <- function(values) is_tensor(values) && is_tracing() || is_loop_count(values)

# So many numbers, and the one of an iteration; `empty` if there may be none.
is_loop_count <- function(x) inherits(x, "joist_count")

counts_here <- function(x) is_traced(x) && !is.null(flow$counting)

new_count <- function(length) {
  site <- flow$counting
  length <- traced_bound(site, length)
  length <- required(
    nv_convert(length, "i32"), length >= 0L,
    paste0("the length in ", header_of(site), place_of(site), " is negative")
  )
  as_count(length, as_r_number, TRUE)
}

as_count <- function(length, element, empty) {
  structure(list(length = length, element = element, empty = empty), class = "joist_count")
}

# A number that decides how often a loop runs.
traced_bound <- function(site, x) {
  what <- paste("the bounds of", header_of(site))
  if (length(x) != 1L) {
    stop_flow(
      site, what, " must be single numbers, not a tensor of shape ", shape_text(x),
      class = "joist_shape_error"
    )
  }
  if (has_mask(x)) stop_flow(site, what, " may be missing; call nv_replace_na() first")
  if (dtype_kind(dtype(x)) == "complex") {
    stop_flow(site, what, " must be real, not ", format(dtype(x)), class = "joist_dtype_error")
  }
  if (is_number(x)) x <- as_operand(x)
  if (ndims(x) == 0L) x else nv_reshape(x, integer())
}

# `x` in programs that run where `condition` holds, else an error when they run.
required <- function(x, condition, text) {
  apply_operation("require", list(x, condition), list(label = label_number(text)))
}

# ---- iterations ----

# `for` over R values.
run_for <- function(site, frame, values) {
  done <- completion(0L)
  for (k in seq_along(values)) {
    value <- .subset2(values, k)
    if (is_known(done)) {
      assign(site$variable, value, envir = frame)
      ran <- .Call(joist_r_code_parts, site$body, frame)
      if (is.null(ran[[4L]]) && ran[[1L]] %% 2L == 0L) next # normally or by `next`
      done <- run_parts(site$body, frame, in_body, ran)
    } else {
      left <- left_by(done)
      done <- merged_branches(site, frame, done$kind == 0L, function() {
        assign(site$variable, value, envir = frame)
        run_parts(site$body, frame, in_body)
      }, function() left, FALSE)
    }
    if (all(done$may != 0L)) break
  }
  after_loop(done)
}

# `while` and `repeat`, as long as their conditions are R values.
run_while <- function(site, frame) {
  done <- completion(0L)
  repeat {
    going <- next_condition(site, frame, done)
    if (is_traced(going)) {
      return(while_region(site, frame, going, done))
    }
    if (!going) {
      return(after_loop(done))
    }
    done <- run_parts(site$body, frame, in_body)
  }
}

# How a loop ends after an iteration that ended as `done` says: normally or by return().
after_loop <- function(done) {
  if (is_known(done)) {
    return(if (done$kind == 1L) completion(0L) else done)
  }
  if (!3L %of% done$may) {
    return(completion(0L))
  }
  made <- completion(nv_ifelse(done$kind == 3L, 3L, 0L), done$value, c(0L, 3L))
  made$site <- done$site
  made
}

# Whether another iteration follows one that ended as `done` says.
next_condition <- function(site, frame, done) {
  test <- function() {
    completion(0L, condition_of(run_code(site$condition, frame), site))
  }
  if (is_known(done)) {
    return(if (done$kind == 0L) test()$value else FALSE)
  }
  normal <- done$kind == 0L
  if (site$endless) {
    return(normal)
  }
  never <- function() completion(0L, FALSE)
  merged_branches(site, frame, normal, test, never, TRUE)$value
}

for_region <- function(site, frame, values) {
  if (isTRUE(site$stuck)) stop_stuck(site)
  if (is_loop_count(values)) {
    going <- if (values$empty) values$length > 0L else TRUE
    return(in_new_loop(site, frame, !values$empty, !values$empty, function(loop) {
      loop$length <- values$length
      loop$element_at <- values$element
      run_region(loop, going, completion(0L))
    }))
  }
  if (ndims(values) != 1L) values <- nv_reshape(values, length(values))
  if (length(values) == 0L) {
    return(completion(0L))
  }
  warn_elements(site, values)
  made <- tryCatch(
    elements_region(site, frame, values, TRUE, NULL),
    joist_first_iteration = function(e) e
  )
  if (!inherits(made, "joist_first_iteration")) {
    return(made)
  }
  # The first iteration gives a variable such as `best <- NULL` its type.
  if (length(values) < 2L) stop(made)
  assign(site$variable, values[[1L]], envir = frame)
  done <- run_parts(site$body, frame, in_body)
  if (all(done$may != 0L)) {
    return(after_loop(done))
  }
  going <- if (is_known(done)) TRUE else done$kind == 0L
  elements_region(site, frame, values[-1L], going, done)
}

# The dtypes whose elements count and round as the numbers that a plain loop has, or nearly so.
dtypes_of_r <- c("f64", "f32", "i32", "bool", "c128", "c64")

# Warns once of a loop that computes otherwise than the plain one, which R runs over R numbers.
warn_elements <- function(site, values) {
  type <- format(dtype(values))
  if (type %of% dtypes_of_r || isTRUE(site$warned)) {
    return()
  }
  site$warned <- TRUE
  warning(structure(
    class = c("joist_loop_warning", "joist_warning", "warning", "condition"),
    list(message = paste0(
      header_of(site), place_of(site), ": `", site$variable, "` is an element of dtype ", type,
      " here, and an R number where R runs the loop; loop over seq_along() and index for an ",
      "element in both"
    ), call = site$call)
  ))
}

elements_region <- function(site, frame, values, going, done) {
  in_new_loop(site, frame, TRUE, is.null(done), function(loop) {
    if (!any(c("break", "return") %of% site$ways)) {
      return(scan_region(loop, values))
    }
    loop$length <- length(values)
    loop$element_at <- function(at) values[[at]]
    run_region(loop, going, if (is.null(done)) completion(0L) else done)
  })
}

while_region <- function(site, frame, going, done) {
  if (isTRUE(site$stuck)) stop_stuck(site)
  in_new_loop(site, frame, site$endless, TRUE, function(loop) run_region(loop, going, done))
}

# Runs a loop. A variable that an earlier loop may have left without a value counts as unassigned,
# unless the body reads it first: then the program checks the earlier loop. What code of other
# functions assigns is known when the body has been traced.
in_new_loop <- function(site, frame, certain, first, run, doubts = TRUE, extra = list()) {
  world <- look_around(frame)
  loop <- new_loop(site, frame, certain, first, doubts, extra)
  loop$world <- world
  done <- tryCatch(run(loop), joist_maybe_read = function(e) e, joist_more_slots = function(e) e)
  if (!inherits(done, c("joist_maybe_read", "joist_more_slots"))) {
    return(done)
  }
  for (k in names(loop$entered)) write_slot(loop$slots[[as.integer(k)]], loop$entered[[k]])
  if (inherits(done, "joist_maybe_read")) {
    if (length(loop$entered) == 0L) stop(done) # of a variable of a loop around this one
    doubts <- FALSE
  }
  in_new_loop(site, frame, certain, first, run, doubts, c(extra, done$slots))
}

# A loop whose body is traced: the variables that it assigns, each with a `status`:
#   carry  has a value before the loop and another one after an iteration
#   out    has a value after an iteration, which is read after the loop
#   plain  keeps the value it has before the loop
#   temp   has a value within an iteration only
new_loop <- function(site, frame, certain, first, doubts, extra) {
  flow$frames <- enter_region(site, frame)
  hidden <- new.env(parent = emptyenv())
  # `<<-` of functions in the body may be for variables of environments around the frame.
  own <- Filter(function(name) {
    name %of% site$direct || exists(name, envir = frame, inherits = FALSE)
  }, site$assigned)
  slots <- c(lapply(own, function(name) list(name = name, env = frame)), extra)
  returns <- "return" %of% site$ways
  if (returns) slots <- c(slots, list(list(name = "value", env = hidden, hidden = TRUE)))
  loop <- list2env(list(
    site = site, frame = frame, certain = certain, slots = slots, hidden = hidden,
    returns = returns, length = NULL, ran = FALSE, entered = list()
  ), parent = emptyenv())
  loop$before <- lapply(slots, read_slot)
  for (k in if (doubts) which(vapply(loop$before, may_lack_value, NA))) {
    loop$entered[[as.character(k)]] <- loop$before[[k]]
    loop$before[[k]] <- poison(site, slots[[k]]$name, "joist_maybe_read")
  }
  variable <- which(vapply(slots, function(slot) {
    identical(slot$name, site$variable) && identical(slot$env, frame)
  }, NA))
  loop$variable <- variable
  loop$carry <- lapply(seq_along(slots), function(k) {
    # The variable of `for` is assigned before the body reads it.
    if (k %of% variable && first) list(status = "none") else first_carry(loop$before[[k]])
  })
  loop
}

# Traces the body until the types of the carry are settled. `trace` gives a traced body, whose
# outputs have the variables after it, `after`.
settle_region <- function(loop, trace) {
  frames <- flow$frames
  on.exit({
    flow$frames <- frames
    restore_variables(loop)
  })
  flow$frames <- c(frames, list(loop$frame))
  repeat {
    traced <- trace()
    if (!settle_loop(loop, traced$outputs$after)) {
      return(traced)
    }
    restore_variables(loop)
  }
}

restore_variables <- function(loop) {
  for (k in seq_along(loop$slots)) write_slot(loop$slots[[k]], loop$before[[k]])
}

# `for` over the elements of a tensor, without `break` and return().
scan_region <- function(loop, values) {
  frame <- loop$frame
  site <- loop$site
  slice <- nv_aval(dtype(values), integer(), ambiguous(values), has_mask(values))
  effects <- flow$effects
  # A loop that only has effects carries a flag, which keeps it.
  pad <- list()
  trace <- function() {
    types <- c(pad, carried_types(loop))
    trace_body(c(types, list(slice)), function(inputs) {
      bind_variables(loop, inputs[seq_along(types)[seq_along(types) > length(pad)]])
      loop$element <- inputs[[length(inputs)]]
      assign(site$variable, loop$element, envir = frame)
      with_conditions(site, function() run_parts(site$body, frame, in_body))
      list(after = slots_after(loop))
    })
  }
  traced <- settle_region(loop, trace)
  if (length(carried_types(loop)) == 0L && flow$effects > effects) {
    pad <- list(flag_type())
    traced <- settle_region(loop, trace)
  }
  types <- c(pad, carried_types(loop))
  results <- list()
  if (length(types) > 0L) {
    start <- split_masks(c(lapply(pad, as_carried, x = FALSE), carried_before(loop)), types)
    end_body(traced, function() {
      after <- carried_after(loop, traced$outputs$after)
      split_masks(c(lapply(pad, as_carried, x = FALSE), after), types)
    })
    operands <- c(start, split_masks(list(values), list(values)))
    attributes <- list(carries = length(start), reverse = FALSE)
    results <- join_masks(apply_bodies("scan", operands, list(traced$body), attributes), types)
  }
  write_variables(loop, results[seq_along(results) > length(pad)])
  if (!loop$carry[[loop$variable]]$status %of% c("out", "temp")) {
    assign(site$variable, values[[length(values)]], envir = frame)
  }
  completion(0L)
}

# Other loops. `going` says whether there is a first iteration; `done` how the one before ended. The
# carry starts with flags: whether there is a next iteration, whether the function has returned,
# whether there was an iteration, and the number of the iteration.
run_region <- function(loop, going, done) {
  site <- loop$site
  if (loop$returns) hidden_value(loop, done)
  loop$indexed <- !is.null(loop$length)
  # A condition without assignments is a body; otherwise each iteration computes the next condition.
  loop$flagged <- loop$indexed || site$endless || !is_known(done) ||
    any(c("break", "return") %of% site$ways) || length(site$given) > 0L
  loop$flags <- loop_flags(loop)
  effects <- flow$effects
  traced <- settle_region(loop, function() traced_iteration(loop))
  if (length(loop$flags) + length(carried_types(loop)) == 0L && flow$effects > effects) {
    # A loop that only has effects carries a flag, which keeps it.
    loop$flagged <- TRUE
    loop$flags <- loop_flags(loop)
    traced <- settle_region(loop, function() traced_iteration(loop))
  }
  types <- c(loop$flags, carried_types(loop))
  begin <- c(
    if (loop$flagged) list(going),
    if (loop$returns) list(if (3L %of% done$may) done$kind == 3L else FALSE),
    if (loop$ran) list(FALSE), if (loop$indexed) list(1L)
  )
  start <- split_masks(c(Map(as_carried, begin, loop$flags), carried_before(loop)), types)
  end_body(traced, function() {
    flags <- Map(as_carried, traced$outputs$flags, loop$flags)
    split_masks(c(flags, carried_after(loop, traced$outputs$after)), types)
  })
  condition <- loop$condition
  if (loop$flagged) condition <- trace_body(types, function(inputs) inputs[1L])
  end_body(condition, function() lapply(condition$outputs, as_carried, flag_type()))
  bodies <- list(condition$body, traced$body)
  results <- join_masks(apply_bodies("while", start, bodies), types)
  ran <- if (loop$ran) results[[1L + loop$flagged + loop$returns]]
  write_variables(loop, results[seq_along(results) > length(loop$flags)], ran)
  if (loop$returns) returned_value(loop, results[[1L + loop$flagged]]) else completion(0L)
}

loop_flags <- function(loop) {
  c(
    if (loop$flagged) list(flag_type()), if (loop$returns) list(flag_type()),
    if (loop$ran) list(flag_type()), if (loop$indexed) list(nv_aval("i32", integer()))
  )
}

# Traces the condition, if it is a body, and an iteration.
traced_iteration <- function(loop) {
  types <- c(loop$flags, carried_types(loop))
  first <- length(loop$flags)
  site <- loop$site
  used <- list()
  if (!loop$flagged) {
    loop$condition <- trace_body(types, function(inputs) {
      bind_variables(loop, inputs[seq_along(inputs) > first])
      holds <- condition_of(run_code(site$condition, loop$frame), site)
      slots_after(loop)
      list(holds)
    })
    used <- loop$cells
    restore_variables(loop)
  }
  traced <- trace_body(types, function(inputs) {
    bind_variables(loop, inputs[seq_along(inputs) > first])
    at <- if (loop$indexed) inputs[[first]]
    if (loop$indexed) {
      assign(site$variable, loop$element_at(at), envir = loop$frame)
    }
    done <- with_conditions(site, function() run_parts(site$body, loop$frame, in_body))
    flags <- next_flags(loop, done, at)
    list(flags = flags, after = slots_after(loop))
  })
  for (k in seq_along(used)) {
    if (!is.null(used[[k]]) && used[[k]]$used) note_cell(loop$cells[[k]])
  }
  traced
}

next_flags <- function(loop, done, at) {
  going <- if (loop$indexed) {
    next_index(done, at, loop$length)
  } else if (loop$flagged) {
    next_condition(loop$site, loop$frame, done)
  }
  c(
    if (loop$flagged) list(going), if (loop$returns) list(has_returned(loop, done)),
    if (loop$ran) list(TRUE), if (loop$indexed) list(at + nv_scalar(1L, "i32"))
  )
}

# How a loop has ended in which the function may have returned.
returned_value <- function(loop, returned) {
  site <- loop$site
  entry <- read_slot(list(name = "value", env = loop$hidden))
  if (entry$state != "bound") {
    # return() is on conditions that are FALSE in R.
    return(completion(0L))
  }
  if (site$endless && !"break" %of% site$ways) {
    return(completion(3L, entry$value))
  }
  made <- completion(nv_ifelse(returned, 3L, 0L), entry$value, c(0L, 3L))
  made$site <- site
  made
}

flag_type <- function() nv_aval("bool", integer())

next_index <- function(done, at, count) {
  more <- at < count
  if (is_known(done)) {
    return(if (done$kind == 0L) more else FALSE)
  }
  (done$kind == 0L) & more
}

# The value that the function returns from the loop is a variable of the loop's own.
hidden_value <- function(loop, done) {
  if (3L %of% done$may) assign("value", done$value, envir = loop$hidden)
  k <- length(loop$slots)
  loop$before[[k]] <- read_slot(loop$slots[[k]])
  loop$carry[[k]] <- first_carry(loop$before[[k]])
}

has_returned <- function(loop, done) {
  if (3L %of% done$may) assign("value", done$value, envir = loop$hidden)
  if (is_known(done)) done$kind == 3L else if (3L %of% done$may) done$kind == 3L else FALSE
}
