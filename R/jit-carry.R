# Values that branches and loops hand on; see jit-control_flow.R.

# ---- values ----

undefined <- structure(list(), class = "joist_undefined")
is_undefined <- function(x) inherits(x, "joist_undefined")

is_plain_number <- function(x) {
  (is.numeric(x) || is.logical(x) || is.complex(x)) && !is.object(x)
}

is_carriable <- function(x) is_tensor(x) || is_plain_number(x)

# Two values as one: equal R values stay what they are, and each pair of numbers becomes a place,
# to be with_results by a result of the instruction.
merge_values <- function(a, b, plan, path) {
  if (are_same(a, b)) {
    return(a)
  }
  if (is_undefined(a)) {
    return(merge_undefined(b, plan, "no"))
  }
  if (is_undefined(b)) {
    return(merge_undefined(a, plan, "yes"))
  }
  if (is_carriable(a) && is_carriable(b)) {
    for (x in list(a, b)) check_own_attributes(x, path)
    return(new_place(plan, a, b, joint_type(a, b, path, plan$site)))
  }
  if (!same_list(a, b)) {
    kinds <- kind_texts(a, b)
    stop_mismatch("`", path, "` is ", kinds[1L], " if TRUE and ", kinds[2L], " if FALSE")
  }
  paths <- element_paths(a, path)
  for (k in seq_along(a)) {
    part <- merge_values(.subset2(a, k), .subset2(b, k), plan, paths[k])
    if (!is.null(part)) a <- with_element(a, k, part)
  }
  a
}

same_list <- function(x, y) {
  is.list(x) && is.list(y) && length(x) == length(y) && identical(attributes(x), attributes(y))
}

with_element <- function(x, k, value) {
  kept <- attributes(x)
  x <- unclass(x)
  x[k] <- list(value)
  attributes(x) <- kept
  x
}

# A value of one branch, where the other has none and none is asked for.
merge_undefined <- function(x, plan, side) {
  if (is_tensor(x)) {
    pair <- if (side == "yes") list(x, undefined) else list(undefined, x)
    return(new_place(plan, pair[[1L]], pair[[2L]], carried_type(x)))
  }
  if (is.list(x)) {
    for (k in seq_along(x)) {
      part <- merge_undefined(.subset2(x, k), plan, side)
      if (!is.null(part)) x <- with_element(x, k, part)
    }
  }
  x
}

new_place <- function(plan, yes, no, type) {
  numbers <- c(is_r_number(yes), is_r_number(no))
  mixed <- base::bitwOr(mixed(yes), mixed(no))
  if (!is_undefined(yes) && !is_undefined(no)) {
    mixed <- base::bitwOr(mixed, mixture(yes, no, numbers[1L], numbers[2L]))
  }
  pair <- list(yes = yes, no = no, type = type, number = all(numbers), mixed = mixed)
  plan$pairs <- c(plan$pairs, list(pair))
  place(length(plan$pairs))
}

place <- function(number) structure(list(number), class = "joist_place")
is_place <- function(x) inherits(x, "joist_place")

# Nested lists with results in their places.
with_results <- function(x, results) {
  if (is_place(x)) {
    return(results[[unclass(x)[[1L]]]])
  }
  if (is.list(x)) {
    for (k in seq_along(x)) {
      part <- .subset2(x, k)
      if (is.list(part)) x <- with_element(x, k, with_results(part, results))
    }
  }
  x
}

element_paths <- function(x, path) {
  names <- names(x)
  vapply(seq_along(x), function(k) {
    named <- !is.null(names) && nzchar(names[k])
    paste0(path, if (named) paste0("$", names[k]) else paste0("[[", k, "]]"))
  }, "")
}

stop_mismatch <- function(..., kind = NULL) {
  stop(structure(
    class = c("joist_mismatch", "error", "condition"),
    list(message = paste0(...), call = NULL, kind = kind)
  ))
}

kind_text <- function(x) {
  if (is_carriable(x)) {
    return(type_text(carried_type(x)))
  }
  if (is.null(x)) {
    return("NULL")
  }
  if (is.list(x)) paste("a list of", length(x)) else paste("of class", class(x)[1L])
}

# The texts of two values that are not of one kind, with what differs.
kind_texts <- function(a, b) {
  texts <- c(kind_text(a), kind_text(b))
  if (texts[1L] != texts[2L]) {
    return(texts)
  }
  by_names <- !identical(names(a), names(b))
  own <- lapply(list(a, b), function(x) setdiff(names(attributes(x)), "names"))
  if (!by_names && identical(own[[1L]], own[[2L]])) {
    is_short <- is.character(a) && is.character(b) && length(a) == 1L && length(b) == 1L
    return(if (is_short) dQuote(c(a, b), FALSE) else c(texts[1L], paste("another one", texts[2L])))
  }
  paste0(texts, vapply(list(a, b), function(x) {
    if (!by_names) {
      own <- setdiff(names(attributes(x)), "names")
      return(if (length(own) == 0L) {
        " without attributes"
      } else {
        paste0(" with the attributes ", paste0("`", own, "`", collapse = ", "))
      })
    }
    if (is.null(names(x))) {
      " without names"
    } else {
      paste0(" with the names ", paste0("`", names(x), "`", collapse = ", "))
    }
  }, ""))
}

# An R number as a tensor: of full precision, where the rules let that yield.
carried_number <- function(x) {
  if (is_tensor(x) && !is_traced(x)) x else if (is_double(x)) double_number(x) else as_operand(x)
}

double_number <- function(x) if (double_yields()) in_full(x) else as_operand(x)

carried_type <- function(x) {
  if (!is_r_number(x)) {
    return(named_like(abstract_of(x), x))
  }
  missing <- if (is_tensor(x)) has_mask(x) else anyNA(x) && any(is.na(x) & !is.nan(x))
  if (is_double(x) && double_yields()) {
    return(named_like(nv_aval("f64", part_shape(x), TRUE, missing), x))
  }
  type <- if (is_tensor(x)) x else as_operand(x)
  named_like(nv_aval(dtype(type), part_shape(x), ambiguous(type), missing), x)
}

# What the plain run has as one of R's own numbers, which joist may have computed or handed on.
is_r_number <- function(x) !is_tensor(x) || is_number(x) || is_computed(x)

is_own_number <- function(x) if (is_tensor(x)) is_r_number(x) else is_plain_number(x)

is_computed <- function(x) is_traced(x) && .Call(joist_r_trace_is_number, x)

# Says so of a traced tensor.
as_r_number <- function(x) {
  if (!ambiguous(x) && format(dtype(x)) != "bool") x <- nv_convert(x, dtype(x), TRUE)
  .Call(joist_r_trace_as_number, x)
}

# The results of a branch or loop, of which some are R numbers.
as_r_numbers <- function(tensors, which, mixed) {
  tensors[which] <- lapply(tensors[which], as_r_number)
  for (k in which(mixed > 0L)) .Call(joist_r_trace_mixed, tensors[[k]], mixed[k])
  tensors
}

# How values that a branch or loop joins differ in the plain run; see joist_r_trace_mixed().
mixed <- function(x) if (is.object(x) && is_traced(x)) .Call(joist_r_trace_mixed, x, 0L) else 0L

mixture <- function(x, y, x_number, y_number) (typeof(x) != typeof(y)) + 2L * (x_number != y_number)

# Attributes of the user's own are not those of a result.
check_own_attributes <- function(x, path) {
  own <- setdiff(names(attributes(x)), tensor_attributes)
  if (length(own) > 0L) {
    stop_mismatch("`", path, "` has an attribute `", own[1L], "`, which jit() does not keep,")
  }
}

tensor_attributes <- c("class", "dtype", "rank", "dim", "names", "dimnames", "joist_doubt")

joint_type <- function(a, b, path, site = NULL) {
  x <- carried_type(a)
  y <- carried_type(b)
  extents <- joint_shape(shape(x), shape(y), is_r_number(a), is_r_number(b))
  if (is.null(extents)) {
    stop_mismatch(
      "`", path, "` has shape ", shape_text(x), " if TRUE and ", shape_text(y), " if FALSE",
      kind = "joist_shape_error"
    )
  }
  joined <- tryCatch(
    if (same_type(x, y)) {
      list(dtype = dtype(x), ambiguous = ambiguous(x))
    } else {
      common_dtype(dtype(x), dtype(y), ambiguous(x), ambiguous(y))
    },
    joist_promotion_error = function(e) {
      stop_mismatch(
        "`", path, "` is ", type_name(x), " if TRUE and ", type_name(y), " if FALSE, which have ",
        "no common dtype",
        kind = "joist_promotion_error"
      )
    }
  )
  type <- nv_aval(joined$dtype, extents, joined$ambiguous, has_mask(x) || has_mask(y))
  if (same_labels(x, y)) {
    return(named_like(type, x))
  }
  undecided_labels(type, site, "`", path, "` has other names if TRUE than if FALSE after ")
}

# A type whose names a traced condition decides, or whether there are any: an error where they are
# read, and in a result.
undecided_labels <- function(type, site, ...) {
  if (is.null(site) || ndims(type) == 0L) stop_mismatch(...)
  .Call(joist_r_with_undecided, type, trace_condition(site$call, paste0(
    ..., header_of(site), place_of(site), "; leave them out with unname()"
  )))
}

# One element is a scalar or a vector, unless the rules tell these apart; an R number is either.
joint_shape <- function(x, y, x_number, y_number) {
  if (identical(x, y)) {
    return(x)
  }
  if (prod(x) != 1 || prod(y) != 1) {
    return(NULL)
  }
  if (x_number && length(x) == 0L) {
    return(y)
  }
  if (y_number && length(y) == 0L) {
    return(x)
  }
  if (length(x) <= 1L && length(y) <= 1L && !rank_decides()) 1L
}

# Whether scalars take the dtype of vectors, as in PyTorch.
rank_decides <- function() dtype(nv_aval("f32", 1L) * nv_aval("f64", integer())) == "f32"

# Converts to a type in which it is carried.
as_carried <- function(x, type) {
  if (is_undefined(x)) {
    zero <- if (format(dtype(type)) == "bool") FALSE else 0L
    return(nv_fill(zero, shape(type), dtype(type), ambiguous(type)))
  }
  if (!is_tensor(x)) {
    return(nv_tensor(x, dtype(type), shape(type), ambiguous(type)))
  }
  if (is_double(x) && dtype(type) == "f64") x <- in_full(x)
  x <- as_type(x, nv_aval(dtype(type), shape(x), ambiguous(type)))
  if (identical(shape(x), shape(type))) x else nv_reshape(x, shape(type))
}

# ---- the variables of a loop ----

# Whether an earlier loop has assigned the variable, if that had an iteration.
may_lack_value <- function(entry) {
  flow$doubts && entry$state == "bound" &&
    any(vapply(split_value(entry$value, TRUE)$leaves, is_in_doubt, NA))
}

is_in_doubt <- function(x) !is.null(attr(x, "joist_doubt"))

in_doubt <- function(x) {
  flow$doubts <- TRUE
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
  carry_of(template, leaves)
}

# `numbers` says which of the leaves are R numbers in the plain run, `mixed` and `after` how they
# differ between iterations and after one.
carry_of <- function(template, leaves) {
  numbers <- vapply(leaves, is_r_number, NA)
  mixed <- vapply(leaves, mixed, 1L)
  list(
    template = template, leaves = leaves, types = lapply(leaves, carried_type), numbers = numbers,
    mixed = mixed, after = mixed
  )
}

# Gives the variables their values at the start of an iteration; `inputs` are those of the carry.
bind_variables <- function(loop, inputs) {
  at <- 0L
  loop$cells <- lapply(seq_along(loop$slots), function(k) {
    slot <- loop$slots[[k]]
    carry <- loop$carry[[k]]
    before <- loop$before[[k]]
    if (k %of% loop$variable) {
      if (carry$status %of% c("carry", "out")) at <<- at + length(carry$leaves)
      return(NULL)
    }
    if (carry$status == "carry") {
      own <- as_r_numbers(inputs[at + seq_along(carry$leaves)], carry$numbers, carry$mixed)
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
    if (carry$status %of% c("carry", "out")) carry$types
  })))
}

# The values of the carry after an iteration, converted to the types of carried_types().
carried_after <- function(loop, after) {
  do.call(c, c(list(list()), Map(function(carry, entry) {
    if (carry$status %of% c("carry", "out")) {
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
    if (are_same(like, x)) {
      return(like)
    }
    if (is_carriable(like) && is_carriable(x)) {
      more <<- TRUE
      return(like)
    }
    if (!same_list(like, x)) {
      kinds <- kind_texts(like, x)
      stop_mismatch("`", path, "` is ", kinds[1L], " before and ", kinds[2L], " after")
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
    if (!are_same(new, carry)) changed <- TRUE
    loop$carry[[k]] <- new
  }
  changed
}

settled_carry <- function(loop, k, entry) {
  slot <- loop$slots[[k]]
  carry <- loop$carry[[k]]
  cell <- loop$cells[[k]]
  used <- !is.null(cell) && cell$used
  live <- !is.null(slot$hidden) || slot$name %of% loop$site$live
  unchanged <- if (is.null(cell)) {
    are_same(entry, loop$before[[k]]) ||
      k %of% loop$variable && entry$state == "bound" && are_same(entry$value, loop$element)
  } else {
    entry$state == "bound" && are_same(entry$value, cell$value)
  }
  as <- function(status) {
    if (status == carry$status) carry else list(status = status)
  }
  if (unchanged) {
    # What is a carry because an iteration changes it may be the same of one that is carried.
    settled <- is.null(cell) || isTRUE(carry$changes)
    return(if (settled) carry else as("plain"))
  }
  if (carry$status == "temp") {
    return(carry)
  }
  if (!entry$state %of% c("bound")) {
    if (used) stop_carry(loop, poison_text(slot, entry))
    return(as("temp"))
  }
  if (!used && !live) {
    return(as("temp"))
  }
  tryCatch(
    switch(carry$status,
      "carry" = grown_carry(carry, entry$value, loop$before[[k]]$value, slot$name, loop$site),
      "out" = grown_carry(carry, entry$value, NULL, slot$name, loop$site),
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
      made$changes <- TRUE
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
grown_carry <- function(carry, value, before, name, site) {
  found <- aligned(carry, value, name)
  if (found$more) {
    # Numbers of a list that change.
    from <- if (carry$status == "out") value else before
    again <- split_changed(carry$template, from, value)
    again$status <- carry$status
    again$changes <- carry$changes
    return(again)
  }
  for (j in seq_along(found$leaves)) {
    number <- carry$status == "carry" && is_r_number(carry$leaves[[j]])
    type <- widened_type(carry$types[[j]], found$leaves[[j]], number, name, site)
    x <- found$leaves[[j]]
    for (part in list(x, if (carry$status == "carry") carry$leaves[[j]])) {
      check_own_attributes(part, name)
    }
    is_number <- is_r_number(x)
    carry$mixed[j] <- base::bitwOr(
      carry$mixed[j],
      base::bitwOr(mixed(x), mixture(carry$types[[j]], x, carry$numbers[j], is_number))
    )
    # Types are objects, which are replaced only by other ones.
    if (!same_carried_type(type, carry$types[[j]])) carry$types[[j]] <- type
    carry$numbers[j] <- carry$numbers[j] && is_number
    carry$after[j] <- base::bitwOr(
      mixed(x), mixture(carry$types[[j]], x, carry$numbers[j], is_number)
    )
  }
  carry
}

# The places of `template`, and one for each of its numbers that is another one in `value`; what is
# in these places in `from`.
split_changed <- function(template, from, value) {
  leaves <- list()
  split <- function(like, x, y) {
    if (is_place(like) || is_carriable(like) && !are_same(like, y)) {
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
  carry_of(template, leaves)
}

same_carried_type <- function(x, y) {
  same_type(x, y) && identical(shape(x), shape(y)) && has_mask(x) == has_mask(y) &&
    same_labels(x, y)
}

# The type of a carry that starts as `own` and that an iteration makes `x`.
widened_type <- function(own, x, number, name, site) {
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
  made <- nv_aval(dtype(new), extents, ambiguous(new), has_mask(own) || has_mask(type))
  if (same_labels(own, type) || .Call(joist_r_are_undecided, own)) {
    return(named_like(made, own))
  }
  undecided_labels(
    made, site, "`", name, "` has other names before than after an iteration of "
  )
}

# Gives the variables their values after the loop, and notes which of those before it were used.
write_variables <- function(loop, results, ran = NULL) {
  at <- 0L
  for (k in seq_along(loop$slots)) {
    slot <- loop$slots[[k]]
    carry <- loop$carry[[k]]
    entry <- loop$entered[[as.character(k)]]
    if (is.null(entry)) entry <- loop$before[[k]]
    if (carry$status %of% c("carry", "out")) {
      mixed <- if (loop$certain || carry$status == "out") carry$after else carry$mixed
      own <- results[at + seq_along(carry$types)]
      at <- at + length(carry$types)
      doubts <- carry$status == "out" && !loop$certain && is.null(slot$hidden)
      if (doubts) own <- lapply(own, required, ran, no_iteration_text(loop, slot))
      own <- as_r_numbers(own, carry$numbers, mixed)
      if (doubts) own <- lapply(own, in_doubt)
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
      before <- loop$before[[k]]
      if (!loop$certain && (before$state == "unbound" || isTRUE(before$around))) {
        entry <- undecided(entry)
      }
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
