# Work on blocks, here or by the processes of the plan() of the package future.

# Units of work: blocks `from` to `to`, from 0 on. Of a program with inner dims, all of one unit
# belong to one block of the result, and `level` is the level in the tree where their part belongs.
work_units <- function(program, wanted, workers) {
  inner <- prod(block_counts(program)[program$inner])
  level <- 0L
  most <- max(1, length(wanted) * inner / (8 * workers))
  while (2^(level + 1L) <= min(most, inner, 64)) level <- level + 1L
  if (length(program$inner) == 0L) {
    several <- max(1L, min(64L, as.integer(most)))
    groups <- split(wanted, (seq_along(wanted) - 1L) %/% several)
    return(lapply(unname(groups), function(blocks) list(blocks = blocks, level = 0L)))
  }
  unlist(lapply(wanted, function(block) {
    from <- seq(0, inner - 1, by = 2^level)
    lapply(from, function(first) {
      last <- min(inner, first + 2^level) - 1
      list(blocks = block * inner + first:last, level = level, ends = last == inner - 1)
    })
  }), recursive = FALSE)
}

# What a worker does: the part that its blocks make together, or each block, `put` where it belongs.
run_unit <- function(work, unit) {
  program <- work$program
  if (!is.null(work$threads)) {
    threads <- nv_get_threads()
    nv_set_threads(work$threads)
    on.exit(nv_set_threads(threads))
  }
  f <- if (is.null(work$f)) block_function(program) else work$f
  if (length(program$inner) > 0L) {
    tree <- tree_new(combiner(program))
    for (k in unit$blocks) tree$add(run_block(program, f, k), 0L)
    return(tree$result())
  }
  lapply(unit$blocks, function(k) {
    block <- run_block(program, f, k)
    if (is.null(work$target)) {
      return(block)
    }
    write_part(work$target, result_start(program, k), block)
    NULL
  })
}

# Calls take(start, block) for every wanted block of the result, in their order; NULL for a block
# that a worker has written to the `target`.
run_program <- function(program, take, retries, target = NULL, wanted = NULL) {
  inner <- prod(block_counts(program)[program$inner])
  if (is.null(wanted)) wanted <- seq_len(prod(block_counts(program)) / inner) - 1
  workers <- worker_count()
  units <- work_units(program, wanted, workers)
  work <- list(program = program, target = target)
  tree <- tree_new(combiner(program))
  each_unit(work, units, workers, retries, function(unit, got) {
    if (length(program$inner) == 0L) {
      for (k in seq_along(got)) take(result_start(program, unit$blocks[k]), got[[k]])
      return()
    }
    tree$add(got, unit$level)
    if (unit$ends) {
      block <- finish_block(program, tree$result())
      tree <<- tree_new(combiner(program))
      take(result_start(program, unit$blocks[1L]), block)
    }
  })
}

worker_count <- function() {
  if (!"future" %in% loadedNamespaces()) {
    return(1L)
  }
  if (inherits(future::plan(), "sequential")) 1L else as.integer(min(future::nbrOfWorkers(), 1024))
}

# Calls take(unit, what run_unit() gave) for all units, in their order.
each_unit <- function(work, units, workers, retries, take) {
  step <- progress_of(length(units))
  if (workers == 1L) {
    work$f <- block_function(work$program)
    for (unit in units) {
      take(unit, run_unit(work, unit))
      step()
    }
    return(invisible(NULL))
  }
  work$threads <- max(1L, parallel_cores() %/% workers)
  waiting <- list()
  next_unit <- 1L
  while (length(waiting) > 0L || next_unit <= length(units)) {
    while (length(waiting) < workers && next_unit <= length(units)) {
      unit <- units[[next_unit]]
      waiting[[length(waiting) + 1L]] <- list(unit = unit, future = start_unit(work, unit))
      next_unit <- next_unit + 1L
    }
    oldest <- waiting[[1L]]
    waiting[[1L]] <- NULL
    take(oldest$unit, unit_value(work, oldest, retries))
    step()
  }
}

# An error instead of a future where the worker is gone.
start_unit <- function(work, unit) {
  given <- list(run_unit = run_unit, work = work, unit = unit)
  tryCatch(
    future::future(run_unit(work, unit), globals = given, packages = "joist", seed = NULL),
    error = identity
  )
}

# Tried again where a worker fails, the last time in this process. What joist says of the data it
# would say again.
unit_value <- function(work, started, retries) {
  future <- started$future
  for (again in 0:retries) {
    got <- if (inherits(future, "error")) future else {
      tryCatch(list(future::value(future)), error = identity)
    }
    if (!inherits(got, "error")) {
      return(got[[1L]])
    }
    if (inherits(got, "joist_error")) stop(got)
    if (again + 1L < retries) {
      future <- start_unit(work, started$unit)
    } else if (again < retries) {
      here <- work
      here$threads <- NULL
      future <- list(value = tryCatch(list(run_unit(here, started$unit)), error = identity))
      if (!inherits(future$value, "error")) {
        return(future$value[[1L]])
      }
      future <- future$value
    }
  }
  place <- block_place(work$program, started$unit$blocks[1L]) + 1L
  stop_joist(
    "joist_value_error", "block ", paste(place, collapse = ", "), " failed ", retries + 1L,
    " times: ", conditionMessage(got)
  )
}

parallel_cores <- function() {
  if (requireNamespace("future", quietly = TRUE)) as.integer(future::availableCores()) else 1L
}

# A function to be called after each step; of the package progressr, where that is loaded.
progress_of <- function(steps) {
  if (!"progressr" %in% loadedNamespaces() || steps == 0L) {
    return(function() NULL)
  }
  progressr::progressor(steps = steps, envir = parent.frame())
}
