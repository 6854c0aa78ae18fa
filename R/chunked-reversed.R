# Programs with all dims reversed. The elements of a chunk in C order are those of a tensor with the
# reverse extents: a program over such arrays runs on them unchanged, and only its results and the
# arrays in memory are transposed, a large tensor part by part.

# The program, reversed if more bytes that it reads and writes are in the order of C than are not.
reversed_program <- function(program, target = NULL) {
  arrays <- Filter(Negate(is.null), lapply(program$leaves, function(leaf) leaf$array))
  saved <- vapply(c(arrays, if (!is.null(target)) list(target)), function(array) {
    ranks <- seq_along(array$order)
    size <- prod(array$shape) * array$size
    if (is_line(array$shape)) {
      0
    } else if (identical(array$order, ranks)) {
      size
    } else if (identical(array$order, rev(ranks))) {
      -size
    } else {
      0
    }
  }, 0)
  # Arrays in memory are transposed if the program is reversed.
  kept <- vapply(program$leaves, function(leaf) {
    if (isTRUE(leaf$large)) -prod(leaf$extents) * .Call(joist_r_dtype_size, leaf$tensor) else 0
  }, 0)
  saved <- c(saved, kept)
  if (is.null(target)) {
    saved <- c(saved, -sum(vapply(program$types, function(type) {
      if (is_line(shape(type))) 0 else prod(shape(type)) * .Call(joist_r_dtype_size, type)
    }, 0)) / 2)
  }
  if (sum(saved) <= 0) {
    return(program)
  }
  rank <- length(program$extents)
  turn <- function(dims) rev(ifelse(dims == 0L, 0L, rank + 1L - dims))
  program$extents <- rev(program$extents)
  program$chunks <- rev(program$chunks)
  program$inner <- turn(program$inner)
  program$outer <- turn(program$outer)
  program$leaves <- lapply(program$leaves, function(leaf) {
    leaf$map <- turn(leaf$map)
    leaf$extents <- rev(leaf$extents)
    if (is.null(leaf$array)) {
      if (leaf$large) leaf$reversed <- TRUE else leaf$tensor <- nv_transpose(leaf$tensor)
    } else {
      leaf$array <- reversed_array(leaf$array)
    }
    leaf
  })
  program$types <- lapply(program$types, reversed_type)
  program$reversed <- TRUE
  program
}

reversed_type <- function(type) nv_aval(dtype(type), rev(shape(type)), ambiguous(type))

# Whether the order of the dims makes no difference.
is_line <- function(extents) sum(extents > 1L) < 2L

reversed_array <- function(array) {
  array$shape <- rev(array$shape)
  array$chunks <- rev(array$chunks)
  array$order <- length(array$order) + 1L - array$order
  if (!is.null(array$shard)) {
    array$shard$extents <- rev(array$shard$extents)
    array$shard$counts <- rev(array$shard$counts)
  }
  array$reversed <- !isTRUE(array$reversed)
  array
}
