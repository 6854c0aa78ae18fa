# What base R calls for chunked tensors.

chunked_footer <- function(x) {
  array <- array_in(x)
  derived <- !is_source(x) || !is.null(array$read)
  kind <- if (derived) "Delayed " else if (is.null(array)) "Chunked " else "Zarr "
  chunks <- chunks_of(x)
  paste0(
    "[ ", kind, type_text(x),
    if (length(chunks) > 0L) if (derived) ", blocks " else ", chunks ",
    paste(chunks, collapse = "x"), if (kind == "Zarr ") assignment_text(array), " ]"
  )
}

# What `x[...] <- value` does.
assignment_text <- function(array) {
  if (is.null(array$store$put)) ", read only" else ", writable"
}

# A corner of what needs no more than some blocks.
#' @export
print.nv_chunked <- function(x, digits = NULL, max = NULL, ...) {
  if (length(x) > 0L && !needs_all(x)) {
    if (is.null(max)) max <- min(getOption("max.print"), 200L)
    seen <- if (length(x) <= max) nv_compute(x) else x
    shown <- if (ndims(x) > 1L) {
      corner_values(seen, max)
    } else {
      head_values(if (is_chunked(seen)) seen[seq_len(max)] else seen, Inf)
    }
    print(shown, digits = print_digits(x, digits), right = TRUE)
    if (length(x) > length(shown)) {
      cat(" ... ", grouped_digits(length(x) - length(shown)), " more\n", sep = "")
    }
  }
  cat(chunked_footer(x), "\n", sep = "")
  invisible(x)
}

#' @export
format.nv_chunked <- function(x, ...) chunked_footer(x)

#' @export
str.nv_chunked <- function(object, ...) {
  cat(" ", chunked_footer(object), "\n", sep = "")
  invisible(NULL)
}

#' @export
summary.nv_chunked <- function(object, ...) {
  structure(
    list(type = chunked_footer(object), length = length(object)),
    class = "summary.nv_chunked"
  )
}

#' @export
print.summary.nv_chunked <- function(x, ...) {
  cat(x$type, " ", count_of(x$length, "element"), "\n", sep = "")
  invisible(x)
}

# Whether a reduction or a product of blocks is needed for any element.
needs_all <- function(x) {
  round <- .Call(joist_r_block_round, x, NULL)
  !round$last || round$stages[[1L]]$role != "each"
}

#' @export
`[.nv_chunked` <- function(x, ..., drop = TRUE) {
  indices <- read_indices(shape(x), substitute(c(x, ...)), ...)
  check_flag(drop, "drop")
  if (is.null(indices)) {
    indices <- vector("list", ndims(x))
    drop <- FALSE # of x[], as in base R
  }
  indices <- positions_of_names(x, indices)
  if (any(vapply(indices, has_missing, TRUE))) {
    return(with_missing(x, indices, drop))
  }
  array <- array_in(x)
  kept <- new_kept()
  program <- if (is.null(array)) last_program(x, 0L, kept) else list(role = "each")
  if (is_tensor(program) || program$role != "each") {
    whole <- if (is_tensor(program)) program else computed(program, 0L, kept)[[1L]]
    return(.Call(joist_r_subset, whole, indices, drop, FALSE))
  }
  if (length(indices) != ndims(x)) stop_no_whole_index()
  out <- if (is.null(array)) chosen_part(program, indices) else stored_part(array, indices)
  left <- shape(out) != 1L | !drop | ndims(x) == 1L
  named <- if (is_stored(array)) coordinates_of(array)
  if (!is.null(named)) named <- Map(`[`, named, chosen_positions(indices, shape(x)))
  named <- if (is.null(named)) attr(x, "dimension_names")[left] else named[left]
  with_dim_names(nv_reshape(out, shape(out)[left]), named)
}

# A tensor whose dims have the names that those of an array of a store have, or its dimnames.
with_dim_names <- function(x, named) {
  if (is.list(named)) {
    if (ndims(x) == 1L) names(x) <- named[[1L]] else if (ndims(x) > 1L) dimnames(x) <- named
    return(x)
  }
  if (ndims(x) > 1L && any(!is.na(named))) {
    named[is.na(named)] <- ""
    dimnames(x) <- structure(vector("list", ndims(x)), names = named)
  }
  x
}

has_missing <- function(index) {
  (is.numeric(index) || is.logical(index) || is_tensor(index)) && anyNA(index)
}

# What an index for each dim chooses, of a program without reductions.
chosen_part <- function(program, indices) {
  positions <- chosen_positions(indices, program$extents)
  type <- program$types[[1L]]
  out <- .Call(joist_r_blank, nv_aval(dtype(type), lengths(positions), ambiguous(type)))
  f <- block_function(program)
  each_part(positions, program, function(k, own, at) {
    taken <- .Call(joist_r_subset, run_blocks(program, f, k)[[1L]], own, FALSE, FALSE)
    out <<- if (length(at) == 0L) taken else .Call(joist_r_assign, out, at, taken, TRUE, FALSE)
  })
  out
}

# The same of an array: no more than the chunks that have some of it.
stored_part <- function(array, indices) {
  positions <- chosen_positions(indices, array$shape)
  array$indexes <- new.env(parent = emptyenv())
  ranges <- all(vapply(positions, function(at) {
    n <- length(at)
    n > 0L && at[n] - at[1L] == n - 1L && !is.unsorted(at, strictly = TRUE)
  }, TRUE))
  if (ranges) {
    from <- vapply(positions, function(at) at[1L], 1L)
    return(read_parts(array, list(from), list(from + lengths(positions) - 1L))[[1L]])
  }
  out <- .Call(joist_r_blank, nv_aval(array$dtype, lengths(positions)))
  each_part(positions, unit_space(array), function(k, own, at) {
    corner <- as.integer(block_place(unit_space(array), k) * unit_extents(array))
    low <- vapply(own, min, 1L)
    high <- corner + vapply(own, max, 1L)
    there <- read_parts(array, list(corner + low), list(high))[[1L]]
    taken <- .Call(joist_r_subset, there, Map(`-`, own, low - 1L), FALSE, FALSE)
    out <<- .Call(joist_r_assign, out, at, taken, TRUE, FALSE)
    bytes <- length(there) * array$size
    there <- taken <- NULL
    collect_read(bytes)
  })
  out
}

#' @export
`[[.nv_chunked` <- function(x, ..., exact = TRUE) {
  taken <- x[..., drop = TRUE]
  if (length(taken) != 1L) {
    stop_joist("joist_shape_error", "[[ takes one element, and these are ", length(taken))
  }
  nv_reshape(taken, integer())
}

#' @export
`[<-.nv_chunked` <- function(x, ..., value) {
  indices <- read_indices(shape(x), substitute(c(x, ...)), ...)
  if (is.null(indices)) indices <- vector("list", ndims(x))
  indices <- positions_of_names(x, indices)
  array <- array_in(x)
  if (!is_stored(array)) {
    stop_joist(
      "joist_value_error", "only the elements of an array in a store can be assigned to: see ",
      "nv_store()"
    )
  }
  writable_store(array$store)
  check_there(array)
  if (length(indices) != ndims(x)) stop_no_whole_index()
  at <- Position(has_missing, indices)
  if (!is.na(at)) {
    if (length(value) != 1L) {
      stop_joist("joist_value_error", "the index of dimension ", at, " is NA")
    }
    indices <- known_positions(x, indices)
  }
  positions <- chosen_positions(indices, shape(x))
  value <- if (is_chunked(value)) nv_compute(value) else value
  # Converted as a whole, so that what does not fit stops before a chunk is written.
  counts <- if (length(value) == 1L) integer() else lengths(positions)
  fitted <- .Call(joist_r_blank, nv_aval(array$dtype, counts))
  fitted <- .Call(
    joist_r_assign, fitted, vector("list", length(counts)), value, TRUE, FALSE
  )
  fitted <- filled_for(fitted, array, "the value")
  assign_parts(array, positions, fitted)
  x
}

stop_no_whole_index <- function() {
  stop_joist("joist_shape_error", "a chunked tensor takes an index for each dimension")
}

# Positions from an index of R's for each dimension, as of a tensor.
chosen_positions <- function(indices, extents) {
  lapply(seq_along(extents), function(d) {
    index <- indices[[d]]
    extent <- extents[d]
    if (is.null(index)) {
      return(seq_len(extent))
    }
    if (is.null(attributes(index)) && is.numeric(index) && !anyNA(index) &&
      all(index >= 1 & index <= extent)) {
      return(as.integer(index))
    }
    rank <- length(extents)
    all <- nv_iota(d, "i32", replace(rep(1L, rank), d, extent))
    chosen <- replace(vector("list", rank), d, list(index))
    as.integer(.Call(joist_r_subset, all, chosen, FALSE, FALSE))
  })
}

# Calls f(k, own, at) for each block that has some of the positions: which they are within the
# block, and among all.
each_part <- function(positions, program, f) {
  chunks <- program$chunks
  counts <- block_counts(program)
  parts <- Map(function(position, chunk) {
    at <- split(seq_along(position), (position - 1L) %/% chunk)
    lapply(seq_along(at), function(k) {
      block <- as.integer(names(at)[k])
      list(block = block, own = position[at[[k]]] - block * chunk, at = at[[k]])
    })
  }, positions, chunks)
  strides <- cumprod(c(1, counts))[seq_along(counts)]
  ranges <- lengths(parts)
  for (n in seq_len(prod(ranges)) - 1) {
    chosen <- Map(function(part, k) part[[k]], parts, mixed_digits(n, ranges) + 1L)
    k <- sum(vapply(chosen, function(one) one$block, 0L) * strides)
    f(k, lapply(chosen, function(one) one$own), lapply(chosen, function(one) one$at))
  }
}

mixed_digits <- function(n, ranges) {
  digits <- integer(length(ranges))
  for (d in seq_along(ranges)) {
    digits[d] <- as.integer(n %% ranges[d])
    n <- n %/% ranges[d]
  }
  digits
}

# As of a program whose blocks are what is written at once.
unit_space <- function(array) {
  list(
    extents = array$shape, chunks = unit_extents(array), inner = integer(),
    outer = seq_along(array$shape)
  )
}

# Each part of the array that is written at once, as far as the positions go.
assign_parts <- function(array, positions, value) {
  unit <- unit_extents(array)
  space <- unit_space(array)
  each_part(positions, space, function(k, own, at) {
    corner <- as.integer(block_place(space, k) * unit)
    first <- as.integer((vapply(own, min, 1L) - 1L) %/% array$chunks * array$chunks)
    last <- ((vapply(own, max, 1L) - 1L) %/% array$chunks + 1L) * array$chunks
    start <- corner + first + 1L
    stop <- as.integer(base::pmin(array$shape, corner + last))
    there <- read_parts(array, list(start), list(stop))[[1L]]
    part <- if (ndims(value) == 0L) value else .Call(joist_r_subset, value, at, FALSE, FALSE)
    own <- Map(`-`, own, first)
    write_parts(array, list(start), list(.Call(joist_r_assign, there, own, part, FALSE, FALSE)))
  })
}
