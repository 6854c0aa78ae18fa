#' Sum products by index (Einstein notation)
#'
#' `nv_einsum()` multiplies tensors and sums over indices, as NumPy's `einsum()` does and in its
#' notation: a letter for every dimension of each operand, after `->` those of the result. Indices
#' that are not among these are summed over.
#'
#' Without `->` the result has the indices that occur once, in alphabetical order. An index that an
#' operand has twice takes its diagonal. `...` stands for dimensions without a name: the last one of
#' an operand belongs to the last one of another, and so on. They are the first ones of a result
#' that is not written out. An extent of 1 is repeated to that of another operand.
#'
#' All operands are converted to their common dtype. Two at a time are then multiplied by
#' [nv_matmul()], or by [nv_mul()] where nothing is summed over, and the result of each step is
#' rounded to that dtype; integers wrap and bool is `or` of `and`. The cheapest two of those that
#' share an index come first, by the number of multiplications.
#'
#' @param equation The indices: letters, commas, `->` and `...`; spaces are ignored.
#' @param ... Tensors, or R numbers or arrays, as many as the equation has.
#' @return A tensor of the common dtype of the operands.
#' @section Errors: `joist_value_error` for an invalid equation, and for a wrong number of operands;
#'   `joist_shape_error` when the numbers of dimensions and indices differ, and for an index with
#'   two extents; `joist_promotion_error` without a common dtype.
#' @examples
#' x <- nv_tensor(matrix(1:6, 2), "f32")
#' nv_einsum("ij,kj->ik", x, x)
#' nv_einsum("ij->ji", x)
#' nv_einsum("ii", nv_eye(3))
#' nv_einsum("i,ij,j", nv_tensor(c(1, 2)), x, nv_tensor(c(1, 0, -1)))
#' shape(nv_einsum("...ij,...jk", nv_fill(1, c(5, 2, 3)), nv_fill(1, c(5, 3, 4))))
#' @export
nv_einsum <- function(equation, ...) {
  operands <- list(...)
  if (!is.character(equation) || length(equation) != 1L || is.na(equation)) {
    stop_joist("joist_value_error", "`equation` must be one string, such as \"ij,jk->ik\"")
  }
  if (!is_tracing() && !session()$strict && all(vapply(operands, is_plain_float, NA))) {
    value <- planned_einsum(equation, operands)
    if (!is.null(value)) {
      return(value)
    }
  }
  read <- read_equation(equation, length(operands))
  shapes <- Map(einsum_extents, operands, read$inputs)
  inputs <- Map(name_dimensions, read$inputs, shapes, seq_along(shapes), USE.NAMES = FALSE)
  output <- output_indices(read, inputs)
  extents <- index_extents(inputs, shapes)
  type <- common_operand(operands)
  terms <- Map(function(x, extents, indices) {
    x <- if (is_tensor(x) && !is_number(x)) {
      converted_into(x, dtype(type), ambiguous(type))
    } else {
      nv_tensor(judged(x, dtype(type)), dtype(type), extents, ambiguous(type))
    }
    list(x = x, indices = indices)
  }, operands, shapes, inputs)
  terms <- lapply(terms, without_repetition, extents)
  while (length(terms) > 1L) {
    pair <- cheapest_pair(terms, extents)
    needed <- c(output, unlist(lapply(terms[-pair], `[[`, "indices")))
    both <- lapply(terms[pair], sum_all_but, c(needed, shared_indices(terms[pair])))
    terms <- c(terms[-pair], list(multiply_terms(both[[1L]], both[[2L]], needed)))
  }
  last <- sum_all_but(terms[[1L]], output)
  named_by_index(in_order(last, output), output, inputs, operands)
}

# With the names that the first operand with an index has along it, and the label of its dimension.
named_by_index <- function(x, output, inputs, operands) {
  all <- lapply(operands, function(x) {
    if (is_tensor(x)) labels_of(x) else if (is.null(dim(x))) list(names(x)) else dimnames(x)
  })
  labels <- lapply(seq_along(output), function(k) {
    own <- lapply(seq_along(inputs), function(i) all[[i]][match(output[k], inputs[[i]], 0L)])
    own <- Filter(function(names) length(names[[1L]]) == shape(x)[k], own[lengths(own) > 0L])
    if (length(own) > 0L) own[[1L]] else list(NULL)
  })
  with_labels(unname(x), do.call(c, labels))
}

# Nothing of floats is watched for values that do not fit.
is_plain_float <- function(x) {
  is_tensor(x) && !is_chunked(x) && has_elements(x) && is_float_dtype(x)
}

# The equation as a program, planned once for each choice of shapes and dtypes; NULL where that is
# an error, which is raised outside of it. The latest equations are kept.
planned_einsum <- function(equation, operands) {
  name <- paste0(equation, ";") # also of an empty equation
  if (is.null(equations[[name]])) {
    if (length(equations) >= 100L) rm(list = names(equations), envir = equations)
    program <- jit(function(operands, equation) do.call(nv_einsum, c(list(equation), operands)),
      static = "equation"
    )
    assign(name, program, equations)
  }
  tryCatch(equations[[name]](operands, equation), joist_error = function(e) NULL)
}

equations <- new.env(parent = emptyenv())

# The letters of each operand, with "..." as one of them, and of the result: NULL if not written.
read_equation <- function(equation, count) {
  sides <- strsplit(paste0(gsub(" ", "", equation, fixed = TRUE), " "), "->", fixed = TRUE)[[1L]]
  sides <- sub(" $", "", sides)
  parts <- strsplit(paste0(sides[1L], ","), ",", fixed = TRUE)[[1L]]
  if (length(parts) != count) {
    stop_joist(
      "joist_value_error", "\"", equation, "\" is of ", count_of(length(parts), "operand"),
      ", but there ", if (count == 1L) "is " else "are ", count
    )
  }
  wrong <- length(sides) > 2L || !all(grepl("^[a-zA-Z]*([.]{3})?[a-zA-Z]*$", c(parts, sides[-1L])))
  if (wrong) {
    stop_joist(
      "joist_value_error", "\"", equation, "\" is not an equation: of each operand, and after -> ",
      "of the result, there are letters, and ... at most once"
    )
  }
  letters_of <- function(part) regmatches(part, gregexpr("[a-zA-Z]|[.]{3}", part))[[1L]]
  list(inputs = lapply(parts, letters_of), output = if (length(sides) == 2L) letters_of(sides[2L]))
}

# One R number is a scalar, but where it has an index.
einsum_extents <- function(x, indices) {
  if (length(letters_only(indices)) == 0L) part_shape(x) else dot_extents(x)
}

# A name for every dimension: those of `...` are numbers, from the last on.
name_dimensions <- function(indices, extents, number) {
  unnamed <- length(extents) - length(letters_only(indices))
  if (unnamed < 0L || unnamed > 0L && !"..." %of% indices) {
    stop_joist(
      "joist_shape_error", "operand ", number, " has rank ", length(extents), ", but ",
      "`", paste(indices, collapse = ""), "` names ", length(letters_only(indices))
    )
  }
  fill_dots(indices, unnamed)
}

letters_only <- function(indices) indices[indices != "..."]

fill_dots <- function(indices, count) {
  at <- match("...", indices)
  if (is.na(at)) indices else append(indices[-at], as.character(rev(seq_len(count))), at - 1L)
}

output_indices <- function(read, inputs) {
  own <- unlist(inputs)
  dots <- max(0L, suppressWarnings(as.integer(own)), na.rm = TRUE)
  if (is.null(read$output)) {
    named <- grep("[a-zA-Z]", own, value = TRUE)
    once <- sort(named[!named %of% named[duplicated(named)]], method = "radix")
    return(c(as.character(rev(seq_len(dots))), once))
  }
  output <- fill_dots(read$output, dots)
  twice <- output[anyDuplicated(output)]
  if (length(twice) > 0L) {
    stop_joist("joist_value_error", "the result has index `", twice, "` twice")
  }
  lacking <- setdiff(output, own)[1L]
  if (!is.na(lacking)) {
    stop_joist("joist_value_error", "the result has index `", lacking, "`, which no operand has")
  }
  if (dots > 0L && !"..." %of% read$output) {
    stop_joist("joist_value_error", "the result lacks the `...` of the operands")
  }
  output
}

# The extent of every index, by its name.
index_extents <- function(inputs, shapes) {
  indices <- unlist(inputs)
  number <- rep(seq_along(inputs), lengths(inputs))
  all <- unlist(shapes)
  vapply(stats::setNames(nm = unique(indices)), function(index) {
    own <- which(indices == index)
    first <- own[match(number[own], number[own])]
    one <- c(own[all[own] != 1L], own[1L])[1L]
    # Within an operand an extent of 1 is not repeated.
    for (other in list(first, rep(one, length(own)))) {
      wrong <- all[own] != all[other] & (number[own] == number[other] | all[own] != 1L)
      if (any(wrong)) {
        pair <- c(other[wrong][1L], own[wrong][1L])
        stop_joist(
          "joist_shape_error", "index `", index, "` has extent ", all[pair[1L]], " in operand ",
          number[pair[1L]], " and ", all[pair[2L]], " in operand ", number[pair[2L]]
        )
      }
    }
    as.double(all[one])
  }, 0)
}

# A tensor without data of the common dtype.
common_operand <- function(operands) {
  one_of <- function(x) {
    x <- as_operand(x)
    nv_aval(dtype(x), 1L, ambiguous(x))
  }
  apply_operation("concatenate", lapply(operands, one_of), list(dim = 1L))
}

# Diagonals for indices that occur twice; extents of 1 that are to be repeated are dropped.
without_repetition <- function(term, extents) {
  x <- term$x
  indices <- term$indices
  repeated <- shape(x) == 1L & extents[indices] != 1
  x <- nv_reshape(x, shape(x)[!repeated])
  indices <- indices[!repeated]
  while (anyDuplicated(indices)) {
    second <- anyDuplicated(indices)
    first <- match(indices[second], indices)
    n <- shape(x)[first]
    rest <- seq_along(indices)[-c(first, second)]
    kept <- shape(x)[rest]
    x <- nv_reshape(nv_transpose(x, c(first, second, rest)), c(n * n, kept))
    ones <- rep(1L, length(rest))
    x <- slice(x, c(1L, ones), c(n + 1L, ones), c(n, kept))
    indices <- c(indices[first], indices[rest])
  }
  list(x = x, indices = indices)
}

sum_all_but <- function(term, needed) {
  out <- which(!term$indices %of% needed)
  if (length(out) == 0L) {
    return(term)
  }
  x <- if (is_inexact_dtype(term$x)) {
    like(nv_reduce_sum(term$x, out), term$x)
  } else {
    # Products with ones wrap as other products do, and say so.
    ones <- beside(nv_fill(TRUE, shape(term$x)[out], dtype(term$x)), term$x)
    like(nv_dot(term$x, ones, contracting_dims = list(out, seq_along(out))), term$x)
  }
  list(x = x, indices = term$indices[-out])
}

shared_indices <- function(pair) intersect(pair[[1L]]$indices, pair[[2L]]$indices)

# Of those that share an index, if there are such.
cheapest_pair <- function(terms, extents) {
  pairs <- utils::combn(length(terms), 2L, simplify = FALSE)
  shares <- vapply(pairs, function(pair) length(shared_indices(terms[pair])) > 0L, NA)
  if (any(shares)) pairs <- pairs[shares]
  cost <- vapply(pairs, function(pair) {
    prod(extents[union(terms[[pair[1L]]]$indices, terms[[pair[2L]]]$indices)])
  }, 0)
  pairs[[which.min(cost)]]
}

multiply_terms <- function(left, right, needed) {
  shared <- intersect(left$indices, right$indices)
  batch <- intersect(shared, needed)
  summed <- setdiff(shared, needed)
  if (length(summed) == 0L) {
    indices <- union(left$indices, right$indices)
    return(list(x = nv_mul(spread_term(left, indices), spread_term(right, indices)),
      indices = indices
    ))
  }
  at <- function(indices) list(match(indices, left$indices), match(indices, right$indices))
  x <- nv_dot(left$x, right$x, at(batch), at(summed))
  list(x = x, indices = c(
    setdiff(left$indices, shared), setdiff(right$indices, shared), batch
  ))
}

# With dimensions of extent 1 for indices that it does not have.
spread_term <- function(term, indices) {
  own <- intersect(indices, term$indices)
  x <- in_order(term, own)
  nv_reshape(x, replace(rep(1L, length(indices)), match(own, indices), shape(x)))
}

in_order <- function(term, indices) {
  order <- match(indices, term$indices)
  if (identical(order, seq_along(order))) term$x else nv_transpose(term$x, order)
}
