# Work on blocks, here or by the processes of the plan() of the package future.

# Units of work, each a list of parts of blocks of the result: `blocks` that are to be combined,
# from 0 on, the `level` in the tree where their part belongs, and whether it `ends` the block. The
# parts of a unit have the same place among those of their blocks. There may be millions: how many
# is `count`, and `at(k)` makes one.
work_units <- function(program, wanted, workers) {
  inner <- inner_count(program)
  size <- unit_size(program, length(wanted), workers)
  level <- size$level
  pieces <- ceiling(inner / 2^level) # of a block of the result
  groups <- groups_of(program, wanted, size$tile)
  list(count = groups$count * pieces, at = function(k) {
    first <- (k - 1) %% pieces * 2^level
    last <- min(inner, first + 2^level) - 1
    lapply(groups$at((k - 1) %/% pieces + 1), function(block) {
      list(blocks = block * inner + first:last, level = level, ends = last == inner - 1)
    })
  })
}

# How many parts of a block of the result are one, as a power of 2 (`level`), and the extents of a
# `tile` of such blocks that have a unit in common.
unit_size <- function(program, wanted, workers) {
  inner <- inner_count(program)
  most <- max(1, min(64, wanted * inner / (8 * workers)))
  level <- 0
  tile <- 1
  if (is_product(program)) {
    # A worker sends the parts of a unit, which should be few beside its blocks.
    if (workers == 1L) most <- 64 else level <- min(floor(log2(min(most, inner))), 3)
    across <- max(block_counts(program)[program$outer])
    while (tile < across && (tile + 1)^2 * 2^level <= most &&
      tile_bytes(program, tile + 1) <= memory_budget() / workers) {
      tile <- tile + 1
    }
    tile <- ceiling(across / ceiling(across / tile)) # as many tiles, about equal
  }
  while (2^(level + 1) * tile^2 <= most && 2^(level + 1) <= inner) level <- level + 1
  if (!is_product(program)) tile <- max(1, most %/% 2^level)
  list(level = level, tile = tile)
}

# Bytes that are in memory for so many rows and columns of blocks of a matrix product: what is read
# for them, and the parts that wait in their trees.
tile_bytes <- function(program, tile) {
  times <- vapply(program$leaves, function(leaf) tile^sum(program$outer %in% leaf$map), 0)
  type <- program$types[[1L]]
  if (!is.null(program$lasts)) type <- .Call(joist_r_part_type, "matmul", type)
  part <- prod(program$chunks[program$outer]) * .Call(joist_r_dtype_size, type)
  sum(times * leaf_bytes(program)) + tile^2 * part * (1 + ceiling(log2(inner_count(program))))
}

# The wanted blocks of the result in groups: those of a tile, and otherwise as many one after
# another.
groups_of <- function(program, wanted, tile) {
  if (is_product(program)) {
    rows <- block_counts(program)[program$outer[1L]]
    tile_of <- wanted %% rows %/% tile + wanted %/% rows %/% tile * rows
    groups <- split(wanted, tile_of)
    return(list(count = length(groups), at = function(k) groups[[k]]))
  }
  count <- ceiling(length(wanted) / tile)
  list(count = count, at = function(k) {
    wanted[seq((k - 1) * tile + 1, min(length(wanted), k * tile))]
  })
}

# Whether blocks of the result in the same row or column need the same chunks.
is_product <- function(program) program$product

# How many blocks make one of the result.
inner_count <- function(program) prod(block_counts(program)[program$inner])

# Runs on a worker. Returns the parts of a unit, NULL for parts already written to the target.
run_unit <- function(work, unit) {
  program <- work$program
  if (!is.null(work$threads)) {
    threads <- nv_get_threads()
    nv_set_threads(work$threads)
    own <- options(joist.memory = work$memory)
    on.exit({
      nv_set_threads(threads)
      options(own)
    })
  }
  own <- if (is.null(work$functions)) kept_functions(work) else work$functions
  if (is.null(program$lasts)) {
    return(run_each(work, own$block, vapply(unit, function(part) part$blocks, 0)))
  }
  trees <- lapply(unit, function(part) tree_new(own$combine))
  # One block of each part, then the next of each: those of a tile read the same chunks.
  blocks <- as.vector(do.call(rbind, lapply(unit, function(part) part$blocks)))
  for (turn in block_turns(program, seq_along(blocks), length(unit))) {
    done <- run_blocks(program, own$block, blocks[turn])
    for (j in seq_along(turn)) trees[[(turn[j] - 1L) %% length(unit) + 1L]]$add(done[[j]], 0L)
  }
  lapply(trees, function(tree) tree$result())
}

# For blocks that need not be combined: each is a part of a result.
run_each <- function(work, f, ks) {
  done <- lapply(block_turns(work$program, ks, length(ks)), function(some) {
    blocks <- run_blocks(work$program, f, some)
    if (is.null(work$target)) {
      return(blocks)
    }
    write_parts(work$target, lapply(some, function(k) result_start(work$program, k)), blocks)
    vector("list", length(some))
  })
  do.call(c, done)
}

# Blocks that are computed at a time: those of a tile, and otherwise as in_turns() says.
block_turns <- function(program, ks, tile) {
  in_turns(ks, sum(leaf_bytes(program)), if (is_product(program)) tile else 1)
}

# What computes a block, and what puts parts together.
functions_of <- function(program) {
  if (!is.null(program$groups)) {
    return(group_functions(program))
  }
  list(block = block_function(program), combine = combiner(program$lasts))
}

# A worker's, compiled once for all units of a run that it gets.
kept_functions <- function(work) {
  if (!identical(counted$run, work$run)) {
    counted$run <- work$run
    counted$functions <- functions_of(work$program)
  }
  counted$functions
}

# Calls take(which, start, block) for every wanted block of each result, in order, except for those
# that a worker has written to the `target`.
run_program <- function(program, take, retries, target = NULL, wanted = NULL) {
  if (is.null(wanted)) wanted <- seq_len(outer_count(program)) - 1
  workers <- worker_count()
  work <- list(program = program, target = target)
  own <- functions_of(program)
  if (workers == 1L) work$functions <- own else work$program$plan <- NULL
  trees <- list()
  each_unit(work, work_units(program, wanted, workers), workers, retries, function(unit, got) {
    for (k in seq_along(unit)) {
      part <- unit[[k]]
      if (is.null(got[[k]])) next
      if (length(trees) < k) trees[[k]] <<- tree_new(own$combine)
      trees[[k]]$add(got[[k]], part$level)
      if (!part$ends) next
      blocks <- finish_block(program, trees[[k]]$result())
      trees[[k]] <<- tree_new(own$combine)
      for (j in seq_along(blocks)) {
        take(j, result_start(program, part$blocks[1L], j), blocks[[j]])
      }
    }
  })
}

outer_count <- function(program) prod(block_counts(program)[program$outer])

worker_count <- function() {
  if (!"future" %in% loadedNamespaces()) {
    return(1L)
  }
  if (inherits(future::plan(), "sequential")) 1L else as.integer(min(future::nbrOfWorkers(), 1024))
}

# Calls take(unit, what run_unit() gave) for all units, in their order.
each_unit <- function(work, units, workers, retries, take) {
  step <- progress_of(units$count)
  if (workers == 1L) {
    for (k in seq_len(units$count)) {
      unit <- units$at(k)
      take(unit, run_unit(work, unit))
      step()
    }
    return(invisible(NULL))
  }
  work$threads <- max(1L, as.integer(future::availableCores()) %/% workers)
  work$run <- unique_name()
  work$memory <- memory_budget()
  waiting <- list()
  next_unit <- 1
  while (length(waiting) > 0L || next_unit <= units$count) {
    while (length(waiting) < workers && next_unit <= units$count) {
      unit <- units$at(next_unit)
      waiting[[length(waiting) + 1L]] <- list(unit = unit, future = start_unit(work, unit))
      next_unit <- next_unit + 1
    }
    oldest <- waiting[[1L]]
    waiting[[1L]] <- NULL
    take(oldest$unit, unit_value(work, oldest, retries))
    step()
  }
}

# Returns an error instead of a future if the worker is gone. The call contains all that it needs:
# each global variable would be sent in a separate message.
start_unit <- function(work, unit) {
  call <- as.call(list(run_unit, work, unit))
  tryCatch(
    future::future(call, substitute = FALSE, globals = FALSE, seed = NULL),
    error = identity
  )
}

# Tried again where a worker fails, the last time in this process. What joist says of the data it
# would say again.
unit_value <- function(work, started, retries) {
  future <- started$future
  for (again in 0:retries) {
    got <- future
    if (!inherits(got, "error")) got <- tryCatch(list(future::value(got)), error = identity)
    if (!inherits(got, "error")) {
      return(got[[1L]])
    }
    if (inherits(got, "joist_error")) stop(got)
    if (again + 1L < retries) {
      future <- start_unit(work, started$unit)
    } else if (again < retries) {
      here <- work
      here$threads <- NULL
      future <- tryCatch(list(run_unit(here, started$unit)), error = identity)
      if (!inherits(future, "error")) {
        return(future[[1L]])
      }
    }
  }
  place <- block_place(work$program, started$unit[[1L]]$blocks[1L]) + 1L
  stop_joist(
    "joist_value_error", "block ", paste(place, collapse = ", "), " failed ",
    if (retries == 0L) "once" else paste(retries + 1L, "times"), ": ", conditionMessage(got)
  )
}

# A function to be called after each step; of the package progressr, where that is loaded.
progress_of <- function(steps) {
  if (!"progressr" %in% loadedNamespaces() || steps == 0L) {
    return(function() NULL)
  }
  progressr::progressor(steps = steps, envir = parent.frame())
}
