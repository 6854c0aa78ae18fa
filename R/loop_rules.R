# The derivatives of loops and branches, from their bodies as they are in the program under way.
# Loops become scans: one forward, which keeps the state before each turn, one backward.

# The operands of an instruction with bodies, by what they are to it.
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
  .Call(joist_r_body_inline, trace, number, region, tracing$trace, inputs)
}

slice_type <- function(x) {
  nv_aval(dtype(x), shape(x)[-ndims(x)], ambiguous(x))
}

zeros_where_null <- function(g, like) {
  Map(function(g, like) if (is.null(g)) zeros_like(like) else g, g, like)
}

is_float <- function(x) vapply(x, is_float_dtype, NA)

# A scan over the instructions of another loop: `body` gives a list of `carry` and `kept` for lists
# of carries and slices. Carries keep their types, as cotangents do.
rule_scan <- function(start, arrays, body, reverse) {
  own <- seq_along(start)
  like <- c(start, lapply(arrays, slice_type))
  traced <- trace_body(like, function(inputs) {
    given <- body(inputs[seq_along(inputs) %in% own], inputs[!seq_along(inputs) %in% own])
    c(Map(fit_cotangent, given$carry, start), given$kept)
  })
  end_body(traced)
  attributes <- list(carries = length(start), reverse = reverse)
  results <- apply_bodies("scan", c(start, arrays), list(traced$body), attributes)
  list(
    carry = results[seq_along(results) %in% own], kept = results[!seq_along(results) %in% own]
  )
}

# The cotangents of what the turns of a loop read. `turn(inputs)` is a body of lists of carries,
# slices and captures, which gives carries and further results; `g` has the cotangents of both.
loop_gradient <- function(turn, carries, arrays, captures, g, reverse) {
  states <- rule_scan(carries, arrays, function(state, at) {
    list(carry = turn(state, at, captures)[seq_along(state)], kept = state)
  }, reverse)$kept
  smooth <- which(is_float(carries))
  moving <- which(is_float(arrays))
  reading <- which(is_float(captures))
  before <- seq_along(carries)
  g_carries <- zeros_where_null(g[smooth], carries[smooth])
  g_kept <- g[-before]
  kept <- which(!vapply(g_kept, is.null, NA))
  sums <- lapply(captures[reading], zeros_like)
  slices <- c(states, arrays, g_kept[kept])
  back <- rule_scan(c(g_carries, sums), slices, function(state, at) {
    own <- at[before]
    x <- at[length(before) + seq_along(arrays)]
    seeds <- at[-seq_len(length(before) + length(arrays))]
    # Each under a name of its own: captures may be the same value.
    read <- lapply(captures, traced_constant)
    read[reading] <- lapply(captures[reading], function(x) marked(list(x)))
    outputs <- turn(own, x, read)
    values <- c(outputs[smooth], outputs[-before][kept])
    inputs <- list(own[smooth], x[moving], read[reading])
    found <- cotangents(values, c(state[seq_along(smooth)], seeds), inputs)
    summed <- Map(`+`, state[length(smooth) + seq_along(reading)], found[[3L]])
    list(carry = c(found[[1L]], summed), kept = found[[2L]])
  }, !reverse)
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

# Several results come as lists, one as it is.
result_cotangents <- function(g, results) if (length(results) == 1L) list(g) else g

scan_gradient <- function(g, x, y, at) {
  trace <- tracing$trace
  parts <- loop_parts(x, at$carries, at$arrays)
  turn <- function(state, slices, captures) {
    inline_body(trace, at$number, 1L, c(state, slices, captures))
  }
  loop_gradient(
    turn, parts$carries, parts$arrays, parts$captures, result_cotangents(g, y), isTRUE(at$reverse)
  )
}

for_gradient <- function(g, x, y, at) {
  if (is.null(at$turns)) {
    stop_joist(
      "joist_value_error", "nv_for() has a derivative where the number of turns is known: make ",
      "`n` an R number, or a static argument"
    )
  }
  trace <- tracing$trace
  parts <- loop_parts(x, length(y), first = 1L)
  index <- traced_constant(nv_tensor(seq_len(at$turns), at$index, at$turns))
  turn <- function(state, slices, captures) {
    inline_body(trace, at$number, 1L, c(slices, state, captures))
  }
  found <- loop_gradient(
    turn, parts$carries, list(index), parts$captures, result_cotangents(g, y), FALSE
  )
  c(list(NULL), found[-(length(y) + 1L)])
}

# Of the branch that was taken; what only the other one reads has none.
if_gradient <- function(g, x, y, at) {
  trace <- tracing$trace
  g <- result_cotangents(g, y)
  used <- which(is_float(y) & !vapply(g, is.null, NA))
  captures <- x[-1L]
  own <- list(seq_along(captures) <= at$captures, seq_along(captures) > at$captures)
  smooth <- is_float(captures)
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
