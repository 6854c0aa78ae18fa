# R's loops on traced conditions, over tensors and up to traced numbers; see control_flow.R.

# A loop that a node runs.
run_loop <- function(site, frame) {
  if (site$kind == "for") {
    values <- loop_values(site, eval(site$values, frame))
    if (is_region_of(values)) {
      return(for_region(site, frame, values))
    }
    values <- elements_of(site, values)
    assign(site$record, record_of(values), envir = frame)
  }
  continue_loop(site, frame, completion(0L))
}

in_body <- list(needed = FALSE, tail = "loop")

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
  as_count(length, identity, TRUE)
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

# The iterations of a loop after one that ended as `done` says. Ends normally or by return().
continue_loop <- function(site, frame, done) {
  repeat {
    done <- at_end(done, in_body)
    if (is_known(done) && done$kind != 0L) {
      return(if (done$kind == 1L) completion(0L) else done)
    }
    if (site$kind == "for") {
      record <- get(site$record, envir = frame)
      if (record$at >= length(record$values)) {
        return(after_loop(done))
      }
      control_turn(record)
      turn <- function() {
        assign(site$variable, .subset2(record$values, record$at), envir = frame)
        run_nodes(site$body, frame, in_body)
      }
      if (is_known(done)) {
        done <- turn()
      } else {
        variable <- list(list(assigned = site$variable, supers = character()))
        done <- guarded(site, frame, done, turn, c(variable, site$body))
      }
      next
    }
    going <- if (is_known(done)) condition_of(eval(site$condition, frame), site) else TRUE
    if (identical(going, FALSE)) {
      return(completion(0L))
    }
    if (!is_known(done)) going <- next_condition(site, frame, done)
    if (is_traced(going)) {
      return(while_region(site, frame, going, done))
    }
    done <- run_nodes(site$body, frame, in_body)
  }
}

# After the last iteration `break` has no effect.
after_loop <- function(done) {
  force(done)
  if (is_known(done)) {
    return(if (done$kind == 1L) completion(0L) else done)
  }
  if (!3L %in% done$may) {
    return(completion(0L))
  }
  made <- completion(nv_ifelse(done$kind == 3L, 3L, 0L), done$value, c(0L, 3L))
  made$site <- done$site
  made
}

guarded <- function(site, frame, done, compute, nodes) {
  other <- setdiff(done$may, 0L)
  left <- completion(if (length(other) == 1L) other else done$kind, done$value, other)
  merged_branches(site, frame, done$kind == 0L, compute, function() left, nodes, FALSE)
}

# Whether another iteration follows one that ended as `done` says.
next_condition <- function(site, frame, done) {
  test <- function() {
    value <- eval(site$condition, frame)
    completion(0L, condition_of(value, site))
  }
  if (is_known(done)) {
    return(if (done$kind == 0L) test()$value else FALSE)
  }
  normal <- done$kind == 0L
  if (site$endless) {
    return(normal)
  }
  nodes <- list(list(assigned = site$given, supers = character()))
  merged_branches(
    site, frame, normal, test, function() completion(0L, FALSE), nodes, TRUE
  )$value
}

# Whether the function has ended in a loop, or because of it: its value is in `flow`.
left_function <- function(site, frame, done) {
  if (identical(done$kind, 0L)) {
    return(FALSE)
  }
  if (is.null(site$chain)) stop_stuck(site)
  done <- follow_chain(site$chain, frame, done)
  flow$value <- done$value
  TRUE
}

for_region <- function(site, frame, values) {
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
  done <- run_nodes(site$body, frame, in_body)
  if (is_known(done) && done$kind != 0L) {
    return(if (done$kind == 1L) completion(0L) else done)
  }
  going <- if (is_known(done)) TRUE else done$kind == 0L
  elements_region(site, frame, values[-1L], going, done)
}

elements_region <- function(site, frame, values, going, done) {
  in_new_loop(site, frame, TRUE, is.null(done), function(loop) {
    if (!any(c("break", "return") %in% site$ways)) {
      return(scan_region(loop, values))
    }
    loop$length <- length(values)
    loop$element_at <- function(at) values[[at]]
    run_region(loop, going, if (is.null(done)) completion(0L) else done)
  })
}

while_region <- function(site, frame, going, done) {
  in_new_loop(site, frame, site$endless, TRUE, function(loop) run_region(loop, going, done))
}

# Runs a loop. A variable that an earlier loop may have left without a value counts as unassigned,
# unless the body reads it first: then the program checks the earlier loop.
in_new_loop <- function(site, frame, certain, first, run) {
  loop <- new_loop(site, frame, certain, first)
  if (length(loop$entered) == 0L) {
    return(run(loop))
  }
  tryCatch(run(loop), joist_maybe_read = function(e) {
    for (k in names(loop$entered)) write_slot(loop$slots[[as.integer(k)]], loop$entered[[k]])
    run(new_loop(site, frame, certain, first, FALSE))
  })
}

# A loop whose body is traced: the variables that it assigns, each with a `status`:
#   carry  has a value before the loop and another one after an iteration
#   out    has a value after an iteration, which is read after the loop
#   plain  keeps the value it has before the loop
#   temp   has a value within an iteration only
new_loop <- function(site, frame, certain, first, doubts = TRUE) {
  enter_region(site, frame)
  flow$depth <- flow$depth - 1L
  own <- list(list(assigned = site$assigned, supers = site$supers))
  hidden <- new.env(parent = emptyenv())
  slots <- slots_of(own, frame, site)
  returns <- "return" %in% site$ways
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
    if (k %in% variable && first) list(status = "none") else first_carry(loop$before[[k]])
  })
  loop
}

# Whether an earlier loop has assigned the variable, if that had an iteration.
may_lack_value <- function(entry) {
  entry$state == "bound" &&
    any(vapply(split_value(entry$value, TRUE)$leaves, is_in_doubt, NA))
}

is_in_doubt <- function(x) !is.null(attr(x, "joist_doubt"))

in_doubt <- function(x) {
  attr(x, "joist_doubt") <- TRUE
  x
}

first_carry <- function(entry) {
  if (entry$state != "bound") {
    return(list(status = "none"))
  }
  carry <- split_value(entry$value, TRUE)
  carry$status <- if (length(carry$leaves) > 0L) "carry" else "plain"
  carry
}

# A nested list with places for its tensors, `leaves`. R numbers in lists are left where they are,
# until the body changes them.
split_value <- function(x, top = FALSE) {
  leaves <- list()
  split <- function(x, top) {
    if (is_tensor(x) || top && is_plain_number(x)) {
      leaves[[length(leaves) + 1L]] <<- x
      return(place(length(leaves)))
    }
    if (is.list(x)) {
      for (k in seq_along(x)) {
        part <- .subset2(x, k)
        if (!is.null(part)) x <- with_element(x, k, split(part, FALSE))
      }
    }
    x
  }
  template <- split(x, top)
  list(template = template, leaves = leaves, types = lapply(leaves, carried_type))
}

# Gives the variables their values at the start of an iteration; `inputs` are those of the carry.
bind_variables <- function(loop, inputs) {
  at <- 0L
  loop$cells <- lapply(seq_along(loop$slots), function(k) {
    slot <- loop$slots[[k]]
    carry <- loop$carry[[k]]
    before <- loop$before[[k]]
    if (k %in% loop$variable) {
      if (carry$status %in% c("carry", "out")) at <<- at + length(carry$leaves)
      return(NULL)
    }
    if (carry$status == "carry") {
      own <- inputs[at + seq_along(carry$leaves)]
      at <<- at + length(carry$leaves)
      return(note_variable(slot, with_results(carry$template, own)))
    }
    if (carry$status == "out") at <<- at + length(carry$leaves)
    if (before$state != "bound" || isTRUE(before$around) && carry$status != "plain") {
      write_slot(slot, before)
      return(NULL)
    }
    note_variable(slot, before$value, before$cell)
  })
}

carried_types <- function(loop) {
  do.call(c, c(list(list()), lapply(loop$carry, function(carry) {
    if (carry$status %in% c("carry", "out")) carry$types
  })))
}

# The values of the carry after an iteration, converted to the types of carried_types().
carried_after <- function(loop, after) {
  do.call(c, c(list(list()), Map(function(carry, entry) {
    if (carry$status %in% c("carry", "out")) {
      Map(as_carried, aligned(carry, entry$value, "")$leaves, carry$types)
    }
  }, loop$carry, after)))
}

carried_before <- function(loop) {
  do.call(c, c(list(list()), Map(function(carry, entry) {
    if (carry$status == "carry") {
      note_use(entry)
      Map(as_carried, carry$leaves, carry$types)
    } else if (carry$status == "out") {
      lapply(carry$types, as_carried, x = undefined)
    }
  }, loop$carry, loop$before)))
}

# The leaves of a value in the places of a template. An R number in the template that the value
# has another number for becomes a leaf: `grown` is the carry with it.
aligned <- function(carry, value, path) {
  leaves <- list()
  more <- FALSE
  align <- function(like, x, path) {
    if (is_place(like)) {
      if (!is_carriable(x)) {
        type <- carry$types[[unclass(like)[[1L]]]]
        stop_mismatch("`", path, "` is ", type_text(type), " before and ", kind_text(x), " after")
      }
      leaves[[length(leaves) + 1L]] <<- x
      return(like)
    }
    if (identical(like, x)) {
      return(like)
    }
    if (is_carriable(like) && is_carriable(x)) {
      more <<- TRUE
      return(like)
    }
    if (!same_list(like, x)) {
      stop_mismatch("`", path, "` is ", kind_text(like), " before and ", kind_text(x), " after")
    }
    paths <- element_paths(like, path)
    for (k in seq_along(like)) align(.subset2(like, k), .subset2(x, k), paths[k])
    like
  }
  align(carry$template, value, path)
  list(leaves = leaves, more = more)
}

# Adapts the carry to the values after a traced iteration. Returns whether it has changed, so that
# the body must be traced again.
settle_loop <- function(loop, after) {
  changed <- FALSE
  for (k in seq_along(loop$slots)) {
    carry <- loop$carry[[k]]
    new <- settled_carry(loop, k, after[[k]])
    if (!identical(new, carry)) changed <- TRUE
    loop$carry[[k]] <- new
  }
  changed
}

settled_carry <- function(loop, k, entry) {
  slot <- loop$slots[[k]]
  carry <- loop$carry[[k]]
  cell <- loop$cells[[k]]
  used <- !is.null(cell) && cell$used
  live <- !is.null(slot$hidden) || slot$name %in% loop$site$live
  unchanged <- if (is.null(cell)) {
    identical(entry, loop$before[[k]]) ||
      k %in% loop$variable && entry$state == "bound" && identical(entry$value, loop$element)
  } else {
    entry$state == "bound" && identical(entry$value, cell$value)
  }
  as <- function(status) {
    if (status == carry$status) carry else list(status = status)
  }
  if (unchanged) {
    return(as(if (is.null(cell)) carry$status else "plain"))
  }
  if (carry$status == "temp") {
    return(carry)
  }
  if (!entry$state %in% c("bound")) {
    if (used) stop_carry(loop, poison_text(slot, entry))
    return(as("temp"))
  }
  if (!used && !live) {
    return(as("temp"))
  }
  tryCatch(
    switch(carry$status,
      "carry" = grown_carry(carry, entry$value, loop$before[[k]]$value, slot$name),
      "out" = grown_carry(carry, entry$value, NULL, slot$name),
      new_carry(loop, slot, cell, entry$value, used)
    ),
    joist_mismatch = function(e) {
      if (used) stop_carry(loop, conditionMessage(e), class = e$kind)
      loop$carry_reason[[slot$name]] <- conditionMessage(e)
      as("temp")
    }
  )
}

# The carry of a variable that had no tensor in it before the loop.
new_carry <- function(loop, slot, cell, value, used) {
  if (!is.null(cell)) {
    made <- tryCatch(
      {
        aligned(list(template = cell$value), value, slot$name)
        split_changed(cell$value, cell$value, value)
      },
      joist_mismatch = function(e) {
        if (used) stop_carry(loop, conditionMessage(e), class = c(e$kind, "joist_first_iteration"))
      }
    )
    if (!is.null(made)) {
      made$status <- "carry"
      return(made)
    }
  }
  made <- split_value(value, TRUE)
  if (!loop$certain && is.null(slot$hidden)) {
    if (length(made$leaves) == 0L) {
      return(list(status = "temp"))
    }
    # The value is there after the loop if that has had an iteration, which the program checks.
    loop$ran <- TRUE
    loop$flags <- loop_flags(loop)
  }
  made$status <- "out"
  made
}

poison_text <- function(slot, entry) {
  if (entry$state == "poison") {
    conditionMessage(entry$condition)
  } else {
    paste0("`", slot$name, "` has no value after an iteration")
  }
}

stop_carry <- function(loop, ..., class = NULL) {
  stop_flow(loop$site, ..., " an iteration of ", header_of(loop$site), class = class)
}

# The carry with types for the value after an iteration as well.
grown_carry <- function(carry, value, before, name) {
  found <- aligned(carry, value, name)
  if (found$more) {
    # Numbers of a list that change.
    from <- if (carry$status == "out") value else before
    again <- split_changed(carry$template, from, value)
    again$status <- carry$status
    return(again)
  }
  for (j in seq_along(found$leaves)) {
    number <- carry$status == "carry" && is_r_number(carry$leaves[[j]])
    type <- widened_type(carry$types[[j]], found$leaves[[j]], number, name)
    # Types are objects, which are replaced only by other ones.
    if (!same_carried_type(type, carry$types[[j]])) carry$types[[j]] <- type
  }
  carry
}

# The places of `template`, and one for each of its numbers that is another one in `value`; what is
# in these places in `from`.
split_changed <- function(template, from, value) {
  leaves <- list()
  split <- function(like, x, y) {
    if (is_place(like) || is_carriable(like) && !identical(like, y)) {
      leaves[[length(leaves) + 1L]] <<- x
      return(place(length(leaves)))
    }
    if (is.list(like)) {
      for (k in seq_along(like)) {
        part <- .subset2(like, k)
        if (!is.null(part)) {
          like <- with_element(like, k, split(part, .subset2(x, k), .subset2(y, k)))
        }
      }
    }
    like
  }
  template <- split(template, from, value)
  list(template = template, leaves = leaves, types = lapply(leaves, carried_type))
}

same_carried_type <- function(x, y) {
  same_type(x, y) && identical(shape(x), shape(y)) && has_mask(x) == has_mask(y)
}

# The type of a carry that starts as `own` and that an iteration makes `x`.
widened_type <- function(own, x, number, name) {
  type <- carried_type(x)
  extents <- joint_shape(shape(own), shape(type), number, is_r_number(x))
  if (is.null(extents)) {
    stop_mismatch(
      "`", name, "` has shape ", shape_text(own), " before and ", shape_text(type), " after",
      kind = "joist_shape_error"
    )
  }
  new <- own
  if (!same_type(own, type)) {
    joined <- joined_type(own, type)
    if ((ambiguous(own) || number) && joined == type_name(type)) {
      new <- type
    } else if (!(joined == type_name(own) && (ambiguous(type) || is_r_number(x)))) {
      stop_mismatch(
        "`", name, "` is ", type_name(own), " before and ", type_name(type), " after",
        kind = "joist_promotion_error"
      )
    }
  }
  nv_aval(dtype(new), extents, ambiguous(new), has_mask(own) || has_mask(type))
}

# Traces the body until the types of the carry are settled. `trace` gives a traced body, whose
# outputs have the variables after it, `after`.
settle_region <- function(loop, trace) {
  flow$depth <- flow$depth + 1L
  on.exit({
    flow$depth <- flow$depth - 1L
    restore_variables(loop)
  })
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

# Gives the variables their values after the loop, and notes which of those before it were used.
write_variables <- function(loop, results, ran = NULL) {
  at <- 0L
  for (k in seq_along(loop$slots)) {
    slot <- loop$slots[[k]]
    carry <- loop$carry[[k]]
    entry <- loop$entered[[as.character(k)]]
    if (is.null(entry)) entry <- loop$before[[k]]
    if (carry$status %in% c("carry", "out")) {
      own <- results[at + seq_along(carry$types)]
      at <- at + length(carry$types)
      if (carry$status == "out" && !loop$certain && is.null(slot$hidden)) {
        own <- lapply(own, required, ran, no_iteration_text(loop, slot))
        own <- lapply(own, in_doubt)
      }
      entry <- list(state = "bound", value = with_results(carry$template, own))
    } else if (carry$status == "temp") {
      reason <- loop$carry_reason[[slot$name]]
      entry <- poison(loop$site, paste0(
        if (is.null(reason)) {
          paste0(
            "`", slot$name, "` has a value within an iteration of ", header_of(loop$site),
            place_of(loop$site), ", and none after the loop, which may have had no iteration; ",
            "assign it before"
          )
        } else {
          paste0(reason, " an iteration of ", header_of(loop$site), place_of(loop$site))
        }
      ))
    }
    write_slot(slot, entry)
  }
}

no_iteration_text <- function(loop, slot) {
  paste0(
    "`", slot$name, "` has no value: ", header_of(loop$site), place_of(loop$site),
    " had no iteration; assign `", slot$name, "` before"
  )
}

# `for` over the elements of a tensor, without `break` and return().
scan_region <- function(loop, values) {
  frame <- loop$frame
  site <- loop$site
  slice <- nv_aval(dtype(values), integer(), ambiguous(values), has_mask(values))
  traced <- settle_region(loop, function() {
    types <- carried_types(loop)
    trace_body(c(types, list(slice)), function(inputs) {
      bind_variables(loop, inputs[seq_along(types)])
      loop$element <- inputs[[length(inputs)]]
      assign(site$variable, loop$element, envir = frame)
      run_nodes(site$body, frame, in_body)
      list(after = lapply(loop$slots, read_slot))
    })
  })
  types <- carried_types(loop)
  if (length(types) > 0L) {
    start <- split_masks(carried_before(loop), types)
    end_body(traced, function() {
      split_masks(carried_after(loop, traced$outputs$after), types)
    })
    operands <- c(start, split_masks(list(values), list(values)))
    attributes <- list(carries = length(start), reverse = FALSE)
    results <- join_masks(apply_bodies("scan", operands, list(traced$body), attributes), types)
  } else {
    results <- list()
  }
  write_variables(loop, results)
  if (!loop$carry[[loop$variable]]$status %in% c("out", "temp")) {
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
    any(c("break", "return") %in% site$ways) || length(site$given) > 0L
  loop$flags <- loop_flags(loop)
  traced <- settle_region(loop, function() traced_iteration(loop))
  types <- c(loop$flags, carried_types(loop))
  begin <- c(
    if (loop$flagged) list(going),
    if (loop$returns) list(if (3L %in% done$may) done$kind == 3L else FALSE),
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
      list(condition_of(eval(site$condition, loop$frame), site))
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
    done <- run_nodes(site$body, loop$frame, in_body)
    flags <- next_flags(loop, done, at)
    list(flags = flags, after = lapply(loop$slots, read_slot))
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
  if (site$endless && !"break" %in% site$ways) {
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
  if (3L %in% done$may) assign("value", done$value, envir = loop$hidden)
  k <- length(loop$slots)
  loop$before[[k]] <- read_slot(loop$slots[[k]])
  loop$carry[[k]] <- first_carry(loop$before[[k]])
}

has_returned <- function(loop, done) {
  if (3L %in% done$may) assign("value", done$value, envir = loop$hidden)
  if (is_known(done)) done$kind == 3L else if (3L %in% done$may) done$kind == 3L else FALSE
}
