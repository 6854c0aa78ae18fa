# The derivatives of loops and branches, from their bodies in the program being traced. Loops become
# two scans: one forward, which keeps the state before each iteration, and one backward.

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

# For cotangents(): what `outputs` of a body were, besides those that are its `inputs`; asking for
# one of them calls `note` with its number.
values_known <- function(outputs, were, inputs, note) {
  keys <- vapply(outputs, value_key, "")
  own <- which(!duplicated(keys) & !keys %in% vapply(inputs, value_key, ""))
  known <- lapply(own, function(k) {
    function() {
      note(k)
      were[[k]]
    }
  })
  names(known) <- keys[own]
  known
}

zeros_where_null <- function(g, like) {
  Map(function(g, like) if (is.null(g)) zeros_like(like) else g, g, like)
}

is_float <- function(x) vapply(x, is_float_dtype, NA)

# The body of a scan over the instructions of another loop: `body` gives a list of `carry` and
# `kept` for lists of carries and slices. Carries keep their types, as cotangents do.
trace_scan <- function(start, slices, body) {
  own <- seq_along(start)
  traced <- trace_body(c(start, slices), function(inputs) {
    given <- body(inputs[seq_along(inputs) %in% own], inputs[!seq_along(inputs) %in% own])
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
# loop_parts() returns them, and `depends` says which cotangents are requested. Each backward
# iteration gets the state before the iteration and those values of the state after it that its
# rules read: the rest of the body is computed again.
loop_gradient <- function(turn, parts, depends, g, reverse) {
  carries <- parts$carries
  arrays <- parts$arrays
  captures <- parts$captures
  smooth <- which(is_float(carries))
  moving <- which(is_float(arrays) & unlist(depends$arrays))
  reading <- which(is_float(captures) & unlist(depends$captures))
  before <- seq_along(carries)
  after <- length(before) + before
  g_carries <- zeros_where_null(g[smooth], carries[smooth])
  g_kept <- g[-before]
  kept <- which(!vapply(g_kept, is.null, NA))
  sums <- lapply(captures[reading], zeros_like)
  start <- c(g_carries, sums)
  wanted <- logical(length(carries))
  types <- lapply(carries, type_of)
  slices <- c(types, types, lapply(c(arrays, g_kept[kept]), slice_type))
  body <- trace_scan(start, slices, function(state, at) {
    own <- at[before]
    x <- at[2L * length(before) + seq_along(arrays)]
    seeds <- at[-seq_len(2L * length(before) + length(arrays))]
    # Each gets a separate name: captures may be the same value.
    read <- lapply(captures, traced_constant)
    read[reading] <- lapply(captures[reading], function(x) marked(list(x)))
    outputs <- turn(own, x, read)
    known <- values_known(outputs[before], at[after], c(own, x, read), function(k) {
      wanted[k] <<- TRUE
    })
    values <- c(outputs[smooth], outputs[-before][kept])
    inputs <- list(own[smooth], x[moving], read[reading])
    found <- cotangents(values, c(state[seq_along(smooth)], seeds), inputs, known)
    summed <- Map(`+`, state[length(smooth) + seq_along(reading)], found[[3L]])
    list(carry = c(found[[1L]], summed), kept = found[[2L]])
  })
  forward <- trace_scan(carries, lapply(arrays, slice_type), function(state, at) {
    given <- turn(state, at, captures)[before]
    list(carry = given, kept = c(state, given[wanted]))
  })
  states <- apply_scan(forward, carries, arrays, reverse)$kept
  # The state before stands in for values that no rule reads.
  all_after <- states[before]
  all_after[wanted] <- states[-before]
  all_slices <- c(states[before], all_after, arrays, g_kept[kept])
  back <- apply_scan(body, start, all_slices, !reverse)
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

# Several results come as a list, a single one without a list.
result_cotangents <- function(g, results) if (length(results) == 1L) list(g) else g

scan_gradient <- function(g, x, y, at) {
  trace <- session()$trace
  parts <- loop_parts(x, at$carries, at$arrays)
  turn <- function(state, slices, captures) {
    inline_body(trace, at$number, 1L, c(state, slices, captures))
  }
  depends <- loop_parts(at$depends, at$carries, at$arrays)
  loop_gradient(turn, parts, depends, result_cotangents(g, y), isTRUE(at$reverse))
}

for_gradient <- function(g, x, y, at) {
  if (is.null(at$turns)) {
    stop_joist(
      "joist_value_error", "nv_for() has a derivative where the number of turns is known: make ",
      "`n` an R number, or a static argument"
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
  found <- loop_gradient(turn, parts, depends, result_cotangents(g, y), FALSE)
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
