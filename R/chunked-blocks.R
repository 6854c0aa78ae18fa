# Programs over blocks: what nv_compute() and nv_store() run.
#
# A program is a stage that C plans (src/r/trace/blocks.h): a list of the text of its `program`,
# the space of its blocks (`extents`, `chunks`, and which dims are `inner`, combined), the `types`
# of what it gives, and for what is put together from parts the `lasts`; and, from its `inputs`,
# the `leaves` that a block reads: an `array` or `tensor` with a `map` into the space (which of its
# dims each of theirs follows, 0 for its full extent), and the `constants`. The `plan` of C is one
# that no other process can have. Whether it is `reversed`, see chunked-reversed.R.

# The program of what runs last, of a tensor that needs no other stage.
block_program <- function(x) stage_program(.Call(joist_r_block_round, x, NULL)$stages[[1L]], list())

# With what it reads: each array and tensor, as often as blocks need different parts of it. `known`
# has the tensors of stages before, by the numbers of their values.
stage_program <- function(stage, known) {
  plan <- block_plan(stage)
  inputs <- lapply(stage$inputs, function(input) {
    if (is.list(input)) input else list(tensor = known[[as.character(input)]])
  })
  reads <- Map(function(input, map) {
    leaf <- inputs[[input]]
    leaf$map <- map
    leaf$extents <- if (is.null(leaf$array)) shape(leaf$tensor) else leaf$array$shape
    if (!is.null(leaf$array$prepare)) leaf$array$prepare()
    leaf$large <- is.null(leaf$array) && !is.null(leaf$chunks)
    leaf
  }, plan$inputs, plan$maps)
  constant <- vapply(reads, function(leaf) {
    stage$role != "none" && length(leaf$extents) == 0L && is.null(leaf$chunks)
  }, TRUE)
  program <- stage[c(
    "role", "values", "types", "program", "lasts", "parts", "extents", "chunks", "inner", "outer"
  )]
  program$leaves <- reads[!constant]
  program$constants <- lapply(reads, function(leaf) leaf$tensor)
  program$constants[!constant] <- list(NULL)
  program$varies <- which(!constant)
  program$plan <- plan$plan
  program$reversed <- FALSE
  program$product <- stage$role == "product" ||
    stage$role == "each" && grepl(" = matmul(", stage$program, fixed = TRUE)
  program
}

block_plan <- function(program) {
  plan <- .Call(joist_r_block_plan, program$program, program$parts, length(program$extents))
  names(plan) <- c("plan", "inputs", "maps")
  plan
}

# The function of the elements of the leaves that gives a block or the parts of one, compiled for
# each shape that blocks have.
block_function <- function(program) {
  plan <- if (is.null(program$plan)) block_plan(program)$plan else program$plan
  jit(
    function(extents, leaves) {
      reads <- replace(program$constants, program$varies, leaves)
      made <- .Call(joist_r_block_append, plan, extents, program$reversed, reads)
      if (program$role == "each") {
        made[[1L]]
      } else {
        by_anvil(Map(part_or_moments, made, program$lasts, list(program)))
      }
    },
    static = "extents"
  )
}

part_or_moments <- function(x, last, program) {
  if (is_moments(last) && program$role == "fold") moments(x, program$inner) else x
}

is_moments <- function(last) identical(last$op, "moments")

# Of a block or of several: the mean, the sum of squared distances from it, and how many elements
# (Chan, Golub and LeVeque 1983). One pass: distances are from the first elements, which are no
# further from the mean than the spread allows.
moments <- function(x, dims) {
  count <- as.numeric(prod(shape(x)[dims]))
  n <- nv_scalar(count, "f64")
  if (is_int64(x)) {
    none <- nv_fill(0, replace(shape(x), dims, 1L), dtype(x))
    least <- if (count > 0) least_along(x, dims) else none
    add_up <- function(part) nv_reduce_sum(part, dims, FALSE)
    return(int64_moments(x, least, least, n, count, 64, add_up))
  }
  first <- if (count > 0) {
    at_first <- lapply(seq_along(shape(x)), function(d) if (d %in% dims) 1L)
    in_double(.Call(joist_r_subset, x, at_first, FALSE, FALSE))
  } else {
    nv_fill(0, replace(shape(x), dims, 1L), "f64")
  }
  distance <- in_double(x) - first
  sums <- nv_reduce_sum(distance, dims, FALSE)
  squares <- nv_reduce_sum(square_size(distance), dims, FALSE)
  # Squares beyond f64 stay infinite; those of infinite elements are NaN.
  beyond <- nv_and(nv_is_infinite(squares), nv_is_finite(sums))
  squares <- nv_ifelse(beyond, squares, squares - square_size(sums) / n)
  list(mean = first + sums / n, squares = squares, n = n)
}

joined_moments <- function(a, b) {
  if (!is.null(a$first)) {
    return(joined_int64_moments(a, b))
  }
  n <- a$n + b$n
  apart <- b$mean - a$mean
  list(
    mean = a$mean + apart * (b$n / n),
    squares = a$squares + b$squares + square_size(apart) * (a$n * (b$n / n)),
    n = n
  )
}

result_of_moments <- function(x, last) {
  if (!is.null(x$first)) {
    if (is.null(last$correction)) {
      return(mean_of_moments(x))
    }
    return(by_freedom(x$squares, x$n, last$correction, last$root))
  }
  left <- nv_scalar(max(as_array(x$n) - last$correction, 0), "f64")
  value <- x$squares / left
  if (last$root) nv_sqrt(value) else value
}

# Part by part of complex numbers: infinite ones stay so.
divided_parts <- function(sum, count) {
  if (!is_complex_dtype(sum)) {
    return(sum / count)
  }
  parts <- lapply(list(nv_real(sum), nv_imag(sum)), function(part) as.vector(part / nv_real(count)))
  numbers <- complex(real = parts[[1L]], imaginary = parts[[2L]])
  nv_tensor(numbers, dtype(sum), shape(sum), ambiguous(sum))
}

# The results of parts that are put together, of which `program` says the types.
finish_block <- function(program, parts) by_anvil(finished_block(program, parts))

finished_block <- function(program, parts) {
  if (!is.null(program$groups)) {
    return(list(result_of_groups(program$groups, parts)))
  }
  if (is.null(program$lasts)) {
    return(list(parts))
  }
  Map(function(last, part, type) {
    if (last$op == "mean") {
      count <- nv_scalar(prod(program$extents[program$inner]), "f64")
      part <- divided_parts(part, nv_convert(count, dtype(part)))
    } else if (is_moments(last)) {
      part <- result_of_moments(part, last)
    }
    if (last$drop) part <- nv_reshape(part, shape(part)[program$outer])
    # Integers are summed in one of 64 bits.
    finished <- if (is_integer_dtype(part) && is_integer_dtype(type)) converted_into else nv_convert
    finished(part, dtype(type), ambiguous(type))
  }, program$lasts, parts, program$types)
}

# ---- the blocks ----

# How many blocks there are along each dim of the space, at least one.
block_counts <- function(program) {
  base::pmax(1L, as.integer(ceiling(program$extents / program$chunks)))
}

# The place of block `k`, from 0 on: inner dims run fastest.
block_place <- function(program, k) {
  counts <- block_counts(program)
  order <- c(program$inner, program$outer)
  replace(integer(length(counts)), order, mixed_digits(k, counts[order]))
}

# Several blocks, whose chunks are read side by side, and once where several need the same.
run_blocks <- function(program, f, ks) {
  places <- lapply(ks, function(k) block_place(program, k))
  starts <- lapply(places, function(place) as.integer(place * program$chunks) + 1L)
  stops <- lapply(places, function(place) {
    as.integer(base::pmin(program$extents, (place + 1) * program$chunks))
  })
  run_boxes(program, f, starts, stops)
}

# The same of any parts of the space.
run_boxes <- function(program, f, starts, stops) {
  asked <- lapply(program$leaves, function(leaf) {
    whole <- leaf$map == 0L
    at <- base::pmax(leaf$map, 1L)
    list(
      low = lapply(starts, function(start) replace(c(start, 0L)[at], whole, 1L)),
      high = lapply(stops, function(stop) replace(c(stop, 0L)[at], whole, leaf$extents[whole]))
    )
  })
  read <- Map(function(leaf, part) {
    if (!is.null(leaf$array)) {
      NULL
    } else if (isTRUE(leaf$reversed)) {
      Map(
        function(low, high) nv_transpose(part_of(leaf$tensor, rev(low), rev(high))),
        part$low, part$high
      )
    } else {
      Map(part_of, list(leaf$tensor), part$low, part$high)
    }
  }, program$leaves, asked)
  names_of <- vapply(program$leaves, function(leaf) {
    if (is.null(leaf$array)) "" else paste(leaf$array$store$id, leaf$array$node)
  }, "")
  for (name in setdiff(names_of, "")) {
    which <- which(names_of == name)
    read[which] <- read_shared(program$leaves[[which[1L]]]$array, asked[which], program$kept)
  }
  lapply(seq_along(starts), function(j) {
    own <- list(extents = stops[[j]] - starts[[j]] + 1L, leaves = lapply(read, `[[`, j))
    if (!is.null(program$groups)) own$start <- starts[[j]]
    do.call(f, own)
  })
}

# What several leaves of an array need, each part of it read once.
read_shared <- function(array, asked, kept) {
  low <- do.call(c, lapply(asked, function(part) part$low))
  high <- do.call(c, lapply(asked, function(part) part$high))
  names <- vapply(seq_along(low), function(k) {
    paste(c(array$store$id, array$node, array$reversed, low[[k]], high[[k]]), collapse = " ")
  }, "")
  first <- !duplicated(names)
  parts <- lapply(names[first], function(name) kept$parts[[name]])
  new <- vapply(parts, is.null, TRUE)
  parts[new] <- read_parts(array, low[first][new], high[first][new])
  if (!is_read_again(array)) {
    for (k in which(new)) keep_part(kept, names[first][k], parts[[k]], array$size)
  }
  of <- rep(seq_along(asked), each = length(asked[[1L]]$low))
  unname(split(parts[match(names, names[first])], of))
}

# Files are in the system's cache: reading them again takes no longer. Decoding them does, and is
# saved by memory that was asked for.
is_read_again <- function(array) {
  decoded <- length(array$codecs) > 0L || !is.null(array$shard)
  is_stored(array) && !is.null(array$store$folder) &&
    !(decoded && !is.null(getOption("joist.memory")))
}

# A cache of what a run reads for reductions and needs again: `parts` by name, as far as there is
# `room` for them.
new_kept <- function() {
  list2env(list(parts = new.env(parent = emptyenv()), bytes = 0, room = 0), parent = emptyenv())
}

keep_part <- function(kept, name, part, size) {
  bytes <- prod(shape(part)) * size
  if (is.null(kept) || bytes > kept$room) {
    return(invisible(NULL))
  }
  assign(name, part, envir = kept$parts)
  kept$room <- kept$room - bytes
  kept$bytes <- kept$bytes + bytes
}

# Bytes that are read for a block, of each leaf.
leaf_bytes <- function(program) {
  vapply(program$leaves, function(leaf) {
    if (is.null(leaf$array)) {
      return(0)
    }
    own <- leaf$extents
    own[leaf$map > 0L] <- program$chunks[leaf$map[leaf$map > 0L]]
    prod(base::pmin(own, leaf$extents)) * leaf$array$size
  }, 0)
}

# Where the block of a result begins that these belong to.
result_start <- function(program, k, which = 1L) {
  if (program$role == "counts") {
    return(1L)
  }
  start <- as.integer(block_place(program, k) * program$chunks) + 1L
  kept <- program$role == "fold" && !program$lasts[[which]]$drop
  if (kept) replace(start, program$inner, 1L) else start[program$outer]
}

# ---- combining ----

# Parts in the order of blocks, combined in a tree that depends on their number alone: the parts of
# 2^p blocks that begin at a multiple of 2^p make one.
tree_new <- function(combine) {
  levels <- list()
  list(
    add = function(part, level) {
      while (length(levels) > 0L && levels[[length(levels)]]$level == level) {
        part <- combine(levels[[length(levels)]]$part, part)
        levels[[length(levels)]] <<- NULL
        level <- level + 1L
      }
      levels[[length(levels) + 1L]] <<- list(part = part, level = level)
    },
    result = function() {
      part <- NULL
      for (one in rev(levels)) part <- if (is.null(part)) one$part else combine(one$part, part)
      part
    }
  )
}

combiner <- function(lasts) {
  if (is.null(lasts)) {
    return(NULL)
  }
  combine_one <- function(last, a, b) {
    if (is_moments(last)) joined_moments(a, b) else .Call(joist_r_op2, combining(last$op), a, b)
  }
  all <- function(a, b) Map(combine_one, lasts, a, b)
  combine <- if (length(lasts) == 1L && !is_moments(lasts[[1L]])) all else jit(all)
  function(a, b) by_anvil(combine(a, b))
}
