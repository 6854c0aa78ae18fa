# Work on blocks, here or by the processes of the plan() of the package future, or by the daemons of
# the package mirai.

# Units of work, each a list of parts of blocks of the result: `blocks` that are to be combined,
# from 0 on, the `level` in the tree where their part belongs, and whether it `ends` the block. The
# parts of a unit have the same place among those of their blocks. There may be millions: how many
# is `count`, of how many `blocks` in all, and `at(k)` makes one.
work_units <- function(program, wanted, workers) {
  inner <- inner_count(program)
  size <- unit_size(program, length(wanted), workers)
  level <- size$level
  pieces <- ceiling(inner / 2^level) # of a block of the result
  groups <- groups_of(program, wanted, size$tile)
  list(count = groups$count * pieces, blocks = length(wanted) * inner, at = function(k) {
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
  if (is_product(program) && workers > 1L) most <- max(1, min(128, wanted * inner / workers))
  level <- 0
  tile <- 1
  if (is_product(program)) {
    # A worker sends the parts of a unit, which should be few beside its blocks.
    if (workers == 1L) most <- 64 else level <- min(floor(log2(min(most, inner))), 3)
    across <- max(1, block_counts(program)[program$outer])
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
    rows <- c(block_counts(program)[program$outer], 1L)[1L]
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

# Runs on a worker. Returns what run_unit() gives of several units, and how long that took, or an
# error, with the block where it was.
run_units <- function(work, units) {
  old <- options(joist.memory = work$memory)
  threads <- nv_set_threads(work$threads)
  native_share(work$native)
  on.exit({
    nv_set_threads(threads)
    options(old)
  })
  start <- proc.time()[[3L]]
  at <- 1L
  tryCatch(
    {
      parts <- lapply(seq_along(units), function(k) {
        at <<- k
        run_unit(work, units[[k]])
      })
      list(parts = parts, seconds = proc.time()[[3L]] - start)
    },
    error = function(e) structure(e, block = units[[at]][[1L]]$blocks[1L])
  )
}

# The parts of a unit, NULL for parts already written to the target.
run_unit <- function(work, unit) {
  program <- work$program
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
    done <- NULL
    collect_blocks(program, length(turn))
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
    blocks <- NULL
    collect_blocks(work$program, length(some))
    vector("list", length(some))
  })
  do.call(c, done)
}

# Blocks that are computed at a time: those of a tile, and otherwise as in_turns() says.
block_turns <- function(program, ks, tile) {
  bytes <- sum(leaf_bytes(program))
  far <- vapply(program$leaves, function(leaf) is_far(leaf$array), NA)
  in_turns(ks, bytes, if (is_product(program)) tile else if (any(far)) asked_at_once(bytes) else 1)
}

collect_blocks <- function(program, n) collect_read(n * sum(leaf_bytes(program)))

# Collects what was read. R would do so later by itself, and what is in use then stays for long.
collect_read <- function(bytes) {
  counted$read <- sum(counted$read, bytes)
  if (counted$read > memory_budget() / 64) {
    counted$read <- 0
    gc(verbose = FALSE, full = FALSE)
  }
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
  mirrored <- is_symmetric(program)
  if (mirrored) wanted <- above_diagonal(wanted, block_counts(program)[program$outer[1L]])
  workers <- worker_count()
  own <- functions_of(program)
  work <- list(program = program, target = target, functions = own)
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
        start <- result_start(program, part$blocks[1L], j)
        take(j, start, blocks[[j]])
        if (mirrored && start[1L] != start[2L]) take(j, rev(start), nv_transpose(blocks[[j]]))
      }
    }
  })
}

# Whether it is one product of a matrix of floats and itself, one of them transposed: blocks below
# the diagonal are those above it, transposed.
is_symmetric <- function(program) {
  text <- paste0(
    "matmul\\((%[0-9]+), \\1, ",
    "transpose_lhs = (TRUE, transpose_rhs = FALSE|FALSE, transpose_rhs = TRUE)\\)",
    "[^\n]*\n *return" # the last one
  )
  program$role == "product" && length(program$types) == 1L && grepl(text, program$program) &&
    is_float_dtype(program$types[[1L]]) && length(unique(program$chunks[program$outer])) == 1L
}

# The blocks of a square, with those below the diagonal in the place above it.
above_diagonal <- function(blocks, rows) {
  at <- cbind(blocks %% rows, blocks %/% rows)
  sort(unique(base::pmin(at[, 1L], at[, 2L]) + rows * base::pmax(at[, 1L], at[, 2L])))
}

outer_count <- function(program) prod(block_counts(program)[program$outer])

worker_count <- function() {
  if (!is_mirai()) {
    return(as.integer(min(future::nbrOfWorkers(), 1024)))
  }
  set <- "mirai" %in% loadedNamespaces() && mirai::daemons_set()
  if (set) max(1L, mirai::status()$connections) else 1L
}

# Whether the package future has no plan, so that workers are daemons, if there are any.
is_mirai <- function() !"future" %in% loadedNamespaces() || inherits(future::plan(), "sequential")

# Calls take(unit, what run_unit() gave) for all units, in their order. The first ones run here,
# and so do all, unless workers would do the rest sooner.
each_unit <- function(work, units, workers, retries, take) {
  step <- progress_of(units$count)
  take_all <- function(some, parts) {
    for (k in seq_along(some)) {
      take(some[[k]], parts[[k]])
      if (is.null(attr(some[[k]], "begun"))) step()
    }
  }
  if (workers > 1L) work$threads <- max(1L, core_count() %/% workers)
  pace <- list(each = NA, start = proc.time(), first = 0, pays = if (workers == 1L) FALSE)
  # What a run of the same program by as many workers has shown holds for this one.
  kind <- list(work$program$program, work$program$chunks, units$blocks, workers)
  if (workers > 1L && identical(counted$paid, kind)) pace$pays <- TRUE
  pace <- pace_of(pace, 0, 0, workers, work$threads)
  queue <- queue_of(units, work$program)
  ran <- 0
  while (!isTRUE(pace$pays) && queue$count() > 0) {
    unit <- queue$take(1, is.null(pace$pays))
    take_all(unit, list(run_unit(work, unit[[1L]])))
    blocks <- vapply(unit[[1L]], function(part) length(part$blocks), 0L)
    ran <- ran + sum(blocks) * units$count / units$blocks
    pace <- pace_of(pace, ran, units$count - ran, workers, work$threads)
  }
  if (isTRUE(pace$pays)) counted$paid <- kind
  run_there(work, queue, pace$each, workers, retries, take_all)
}

# By workers, which each get a batch of units at a time. What they give is taken in order, so that
# a few batches may wait for the oldest one.
run_there <- function(work, queue, each, workers, retries, take_all) {
  work$run <- unique_name()
  work$memory <- memory_budget()
  work$native <- native_shared()
  work$functions <- work$program$plan <- NULL
  waiting <- list()
  ended <- logical()
  since <- proc.time()[[3L]]
  while (length(waiting) > 0L || queue$count() > 0) {
    if (queue$count() > 0 && sum(!ended) < workers && length(waiting) < 2L * workers) {
      batch <- queue$take(batch_size(each, queue$count(), workers))
      waiting[[length(waiting) + 1L]] <- list(units = batch, started = start_units(work, batch))
      ended <- c(ended, FALSE)
    } else if (queue$count() == 0 || ended[1L]) {
      oldest <- waiting[[1L]]
      waiting[[1L]] <- NULL
      ended <- ended[-1L]
      got <- units_value(work, oldest, retries)
      each <- got$seconds / length(oldest$units)
      take_all(oldest$units, got$parts)
    } else {
      known <- sum(ended)
      # Asking the scheduler of a cluster takes long, so that it is asked for the oldest one only.
      asked <- which(!ended)
      quick <- inherits(waiting[[1L]]$started, c("mirai", "MultiprocessFuture"))
      for (k in if (quick) asked else asked[1L]) ended[k] <- has_ended(waiting[[k]]$started)
      now <- proc.time()[[3L]]
      if (sum(ended) == known) Sys.sleep(min(1, max(0.002, (now - since) / 50))) else since <- now
    }
  }
}

# Units of work that are left; the first may be split into parts.
queue_of <- function(units, program) {
  left <- list()
  done <- 0
  list(count = function() length(left) + units$count - done, take = function(n, in_parts = FALSE) {
    while (length(left) < n && done < units$count) {
      done <<- done + 1
      unit <- units$at(done)
      left <<- c(left, if (in_parts) inner_parts(program, unit) else list(unit))
    }
    now <- left[seq_len(min(n, length(left)))]
    left <<- left[-seq_along(now)]
    now
  })
}

# A unit of a matrix product, which takes long, as one for each of its inner blocks.
inner_parts <- function(program, unit) {
  n <- length(unit[[1L]]$blocks)
  if (!is_product(program) || n == 1L) {
    return(list(unit))
  }
  lapply(seq_len(n), function(k) {
    part <- lapply(unit, function(part) {
      list(blocks = part$blocks[k], level = 0, ends = part$ends && k == n)
    })
    structure(part, begun = if (k < n) TRUE)
  })
}

core_count <- function() {
  if (!is_mirai()) {
    return(as.integer(future::availableCores()))
  }
  own <- nv_set_threads(1e6) # gives as many as there may be
  nv_set_threads(own)
}

# After some units, or parts of them, that `ran` here: seconds for `each` of them by a worker, and
# once that is known whether it `pays` to have the rest done by workers, which may have to compile
# the program, too. A program that waits for what it reads, or has one thread, leaves cores for
# workers.
pace_of <- function(pace, ran, left, workers, threads) {
  enough <- getOption("joist.alone", 0.2)
  if (is.null(pace$pays) && enough <= 0) pace$pays <- TRUE
  if (!is.null(pace$pays) || ran == 0) {
    return(pace)
  }
  took <- proc.time() - pace$start
  seconds <- took[[3L]]
  begun <- pace$first > 0
  if (!begun) pace[c("first", "units")] <- c(seconds, ran)
  if (seconds < if (begun) enough else max(1, enough)) {
    return(pace)
  }
  each <- if (begun) (seconds - pace$first) / (ran - pace$units) else seconds / ran
  busy <- max(0.1, sum(took[1:2]) / seconds)
  gain <- min(workers, workers * threads / busy)
  pace$each <- each * workers / gain
  pace$pays <- each * left * (1 - 1 / gain) > pace$first + 8 * call_seconds()
  pace
}

# What it costs to call a worker.
call_seconds <- function() if (is_mirai()) 0.001 else 0.05

# Units that a worker gets at once: calls take up to 5 % of the work, and the last batches of all
# workers are small. One where nothing is known.
batch_size <- function(each, left, workers) {
  if (is.na(each)) {
    return(1)
  }
  times <- function(seconds) ceiling(seconds / max(each, 1e-4))
  fair <- min(left %/% (2 * workers), times(10))
  max(1, min(max(times(20 * call_seconds()), fair), ceiling(left / workers)))
}

# Returns an error instead of a future if the worker is gone. The call contains all that it needs:
# each global variable would be sent in a separate message.
start_units <- function(work, units) {
  call <- as.call(list(run_units, work, units))
  if (is_mirai()) {
    return(mirai::mirai(call))
  }
  tryCatch(
    future::future(call, substitute = FALSE, globals = FALSE, seed = NULL),
    error = identity
  )
}

# Whether a value, or an error, is there.
has_ended <- function(started) {
  if (inherits(started, "mirai")) {
    return(!mirai::unresolved(started))
  }
  tryCatch(
    !inherits(started, "Future") || future::resolved(started, timeout = 0),
    error = function(e) TRUE
  )
}

# What run_units() gave, or an error.
awaited <- function(started) {
  if (inherits(started, "error")) {
    return(started)
  }
  if (!inherits(started, "mirai")) {
    return(tryCatch(future::value(started), error = identity))
  }
  got <- mirai::call_mirai(started)$data
  if (mirai::is_error_value(got)) simpleError(paste("a daemon failed:", format(got))) else got
}

# Tried again where a worker fails, the last time in this process. What joist says of the data it
# would say again.
units_value <- function(work, waiting, retries) {
  started <- waiting$started
  for (again in 0:retries) {
    got <- awaited(started)
    if (!inherits(got, "error")) {
      return(got)
    }
    if (inherits(got, "joist_error")) stop(got)
    if (again + 1L < retries) {
      started <- start_units(work, waiting$units)
    } else if (again < retries) {
      work$threads <- nv_get_threads()
      started <- run_units(work, waiting$units)
      if (!inherits(started, "error")) {
        return(started)
      }
    }
  }
  block <- attr(got, "block")
  if (is.null(block)) block <- waiting$units[[1L]][[1L]]$blocks[1L]
  place <- block_place(work$program, block) + 1L
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
