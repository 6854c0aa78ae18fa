# The derivatives of loops and branches, from their bodies in the program being traced. Loops become
# two scans: one forward, which takes the place of the loop and keeps what derivatives need of each
# iteration, and one backward.

# The operands of an instruction with bodies, by their role.
loop_parts <- function(x, carries, arrays = 0L, first = 0L) {
  at <- seq_along(x)
  list(
    carries = x[at > first & at <= first + carries],
    arrays = x[at > first + carries & at <= first + carries + arrays],
    captures = x[at > first + carries + arrays]
  )
}

# What a body of an instruction gives for other operands, in the body that is traced now.
inline_body <- function(trace, number, region, inputs) {
  .Call(joist_r_region_inline, trace, number, region, session()$trace, inputs)
}

slice_type <- function(x) nv_aval(dtype(x), shape(x)[-ndims(x)], ambiguous(x))

zeros_where_null <- function(g, like) {
  Map(function(g, like) if (is.null(g)) zeros_like(like) else g, g, like)
}

is_float <- function(x) vapply(x, is_float_dtype, NA)

# The body of a scan over the instructions of another loop: `body` gives a list of `carry` and
# `kept` for lists of carries and slices. Carries keep their types, as cotangents do.
trace_scan <- function(start, slices, body) {
  traced <- trace_body(c(start, slices), function(inputs) {
    given <- body(utils::head(inputs, length(start)), utils::tail(inputs, length(slices)))
    c(Map(fit_cotangent, given$carry, start), given$kept)
  })
  end_body(traced)
  traced$body
}

apply_scan <- function(body, start, arrays, reverse) {
  attributes <- list(carries = length(start), reverse = reverse)
  results <- apply_bodies("scan", c(start, arrays), list(body), attributes)
  own <- seq_along(start)
  list(
    carry = results[seq_along(results) %in% own], kept = results[!seq_along(results) %in% own]
  )
}

# The cotangents of the operands of a loop. `turn(state, slices, captures)` is one iteration, which
# returns carries and further results; `g` has the cotangents of both. `parts` has the operands as
# loop_parts() returns them, and `depends` says which cotangents are requested. The instruction
# `number` of the trace is the loop.
loop_gradient <- function(turn, parts, depends, g, reverse, number) {
  carries <- parts$carries
  arrays <- parts$arrays
  captures <- parts$captures
  smooth <- which(is_float(carries))
  moving <- which(is_float(arrays) & unlist(depends$arrays))
  reading <- which(is_float(captures) & unlist(depends$captures))
  before <- seq_along(carries)
  g_kept <- g[-before]
  kept <- which(!vapply(g_kept, is.null, NA))
  start <- c(
    zeros_where_null(g[smooth], carries[smooth]), lapply(captures[reading], zeros_like)
  )
  loop <- backward_turn(turn, parts, list(
    start = start, smooth = smooth, moving = moving, reading = reading, kept = kept,
    seeds = lapply(g_kept[kept], slice_type)
  ))
  turns <- utils::tail(shape(arrays[[1L]]), 1L)
  chosen <- .Call(
    joist_r_body_keep, loop$body, loop$forward, loop$state, loop$slices, loop$outputs[-before],
    turns
  )
  forward <- forward_scan(loop, chosen[[1L]], carries, arrays, reverse)
  .Call(joist_r_trace_replace, session()$trace, number)
  back <- backward_scan(loop, forward, start, arrays, g_kept[kept], chosen[[2L]], !reverse)
  spread_over <- function(x, at, values) {
    all <- vector("list", length(x))
    all[at] <- values
    all
  }
  at_end <- seq_along(smooth)
  c(
    spread_over(carries, smooth, back$carry[at_end]),
    spread_over(arrays, moving, back$kept),
    spread_over(captures, reading, back$carry[-at_end][seq_along(reading)])
  )
}

# A body that runs an iteration, by its first `forward` instructions, and then its derivatives: from
# the `state` before it, `slices` of the arrays and `seeds`, the cotangents of further results; with
# its inputs of that name, the `carry` of cotangents, and the `outputs` of the iteration.
backward_turn <- function(turn, parts, by) {
  loop <- list()
  types <- lapply(parts$carries, type_of)
  slices <- c(types, lapply(parts$arrays, slice_type), by$seeds)
  loop$body <- trace_scan(by$start, slices, function(carry, at) {
    own <- seq_along(types)
    arrays <- length(own) + seq_along(parts$arrays)
    loop$carry <<- carry
    loop$state <<- at[own]
    loop$slices <<- at[arrays]
    loop$seeds <<- at[-c(own, arrays)]
    # Each gets a separate name: captures may be the same value.
    read <- lapply(parts$captures, traced_constant)
    read[by$reading] <- lapply(parts$captures[by$reading], function(x) marked(list(x)))
    loop$outputs <<- turn(loop$state, loop$slices, read)
    loop$forward <<- .Call(joist_r_trace_instructions, session()$trace)
    values <- c(loop$outputs[by$smooth], loop$outputs[-own][by$kept])
    inputs <- list(loop$state[by$smooth], loop$slices[by$moving], read[by$reading])
    found <- cotangents(values, c(carry[seq_along(by$smooth)], loop$seeds), inputs)
    summed <- Map(`+`, carry[length(by$smooth) + seq_along(by$reading)], found[[3L]])
    list(carry = c(found[[1L]], summed), kept = found[[2L]])
  })
  loop
}

copy_of_body <- function(loop, known, tensors, outputs = NULL) {
  .Call(joist_r_body_copy, loop$body, session()$trace, known, tensors, outputs)
}

# Runs the loop forward. Returns what is known of each iteration, by the `keys` of the values in the
# body: `arrays` with a slice for each, or the number of the carry that it is after an iteration.
forward_scan <- function(loop, chosen, carries, arrays, reverse) {
  own <- seq_along(carries)
  keys <- vapply(chosen, value_key, "")
  outputs <- vapply(loop$outputs, value_key, "")
  states <- vapply(loop$state, value_key, "")
  # A state after an iteration is that before the next one.
  carried <- match(keys, outputs[own])
  carried[!states[carried] %in% keys | keys %in% states] <- NA
  collected <- match(keys, outputs[-own])
  added <- is.na(carried) & is.na(collected)
  body <- trace_scan(carries, lapply(arrays, slice_type), function(state, at) {
    made <- copy_of_body(loop, c(loop$state, loop$slices), c(state, at), c(
      loop$outputs, chosen[added]
    ))
    list(carry = made[own], kept = made[-own])
  })
  results <- apply_scan(body, carries, arrays, reverse)
  of_iterations <- vector("list", length(keys))
  of_iterations[!is.na(collected)] <- results$kept[collected[!is.na(collected)]]
  of_iterations[added] <- utils::tail(results$kept, sum(added))
  list(
    keys = keys, values = chosen, arrays = of_iterations, carried = carried,
    carry = results$carry, before = match(states, keys)
  )
}

# Runs the derivatives of the iterations. `reads` says which slices of `arrays` they read.
backward_scan <- function(loop, forward, start, arrays, seeds, reads, reverse) {
  carried <- which(!is.na(forward$carried))
  after <- forward$carried[carried]
  stacked <- setdiff(seq_along(forward$keys), carried)
  # A scan has an array.
  if (length(stacked) + length(seeds) == 0L && !any(reads)) reads[1L] <- TRUE
  all_start <- c(start, forward$carry[after])
  all_arrays <- c(forward$arrays[stacked], arrays[reads], seeds)
  own <- seq_along(start)
  body <- trace_scan(all_start, lapply(all_arrays, slice_type), function(carry, at) {
    made <- copy_of_body(
      loop, c(loop$carry, forward$values[c(carried, stacked)], loop$slices[reads], loop$seeds),
      c(carry, at)
    )
    states <- at[match(forward$before[after], stacked)]
    list(carry = c(made[own], states), kept = made[-own])
  })
  back <- apply_scan(body, all_start, all_arrays, reverse)
  list(carry = back$carry[own], kept = back$kept)
}

# Several results come as a list, a single one without a list.
result_cotangents <- function(g, results) if (length(results) == 1L) list(g) else g

scan_gradient <- function(g, x, y, at) {
  trace <- session()$trace
  parts <- loop_parts(x, at$carries, at$arrays)
  turn <- function(state, slices, captures) {
    inline_body(trace, at$number, 1L, c(state, slices, captures))
  }
  depends <- loop_parts(at$depends, at$carries, at$arrays)
  loop_gradient(turn, parts, depends, result_cotangents(g, y), isTRUE(at$reverse), at$number)
}

for_gradient <- function(g, x, y, at) {
  if (is.null(at$turns)) {
    stop_joist(
      "joist_value_error", "nv_for() has a derivative where the number of iterations is known: ",
      "make `n` an R number, or a static argument"
    )
  }
  trace <- session()$trace
  parts <- loop_parts(x, length(y), first = 1L)
  depends <- loop_parts(at$depends, length(y), first = 1L)
  parts$arrays <- list(traced_constant(nv_tensor(seq_len(at$turns), at$index, at$turns)))
  depends$arrays <- FALSE
  turn <- function(state, slices, captures) {
    inline_body(trace, at$number, 1L, c(slices, state, captures))
  }
  found <- loop_gradient(turn, parts, depends, result_cotangents(g, y), FALSE, at$number)
  c(list(NULL), found[-(length(y) + 1L)])
}

# Of the branch that was taken; what only the other one reads has none.
if_gradient <- function(g, x, y, at) {
  trace <- session()$trace
  g <- result_cotangents(g, y)
  used <- which(is_float(y) & !vapply(g, is.null, NA))
  captures <- x[-1L]
  own <- list(seq_along(captures) <= at$captures, seq_along(captures) > at$captures)
  smooth <- is_float(captures) & at$depends[-1L]
  bodies <- lapply(1:2, function(region) {
    traced <- trace_body(list(), function(inputs) {
      read <- lapply(captures, traced_constant)
      here <- smooth & own[[region]]
      read[here] <- lapply(captures[here], function(x) marked(list(x)))
      outputs <- inline_body(trace, at$number, region, read[own[[region]]])
      found <- lapply(captures, zeros_like)
      found[here] <- cotangents(outputs[used], g[used], read[here])
      found[smooth]
    })
    end_body(traced)
    traced$body
  })
  all <- vector("list", length(captures))
  all[smooth] <- apply_bodies("if", x[1L], bodies)
  c(list(NULL), all)
}
