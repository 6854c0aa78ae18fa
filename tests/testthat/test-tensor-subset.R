# `[` and `[<-` against base R's arrays, on random indices of every kind.

# One dtype of every element size, and of every payload vector.
subset_dtypes <- c("ui8", "bool", "i16", "f16", "f32", "i32", "f64", "i64", "c64", "c128")

random_values <- function(dtype, n) {
  switch(kind_of(dtype),
    bool = sample(c(TRUE, FALSE), n, TRUE),
    int = if (dtype == "i64") as.numeric(sample(-99:99, n, TRUE)) else sample(-99:99, n, TRUE),
    uint = sample(0:200, n, TRUE),
    float = sample(-99:99, n, TRUE) / 4,
    complex = complex(real = sample(-99:99, n, TRUE), imaginary = sample(9, n, TRUE) / 2)
  )
}

random_array <- function(dtype, extents) {
  v <- random_values(dtype, prod(extents))
  if (length(extents) > 1L) array(v, extents) else v
}

random_extents <- function(rank) sample(c(0L, 1L, 1L, 2L, 3L, 4L, 5L), rank, TRUE)

index_kinds <- c(
  "all", "positive", "one", "negative", "zero", "fraction", "logical", "recycled", "none", "tensor",
  "mask"
)

# An index as base R takes it, and as joist does: the same, or a tensor.
random_index <- function(n, kind = sample(index_kinds, 1)) {
  if (kind == "all") {
    return(alist(base = , ours = )) # nolint: spaces_inside_linter.
  }
  some <- if (n > 0L) sample(n, sample(0:6, 1), TRUE) else integer()
  base <- switch(kind,
    positive = , tensor = some,
    one = if (n > 0L) sample(n, 1) else integer(),
    negative = -some,
    zero = sample(c(0, some, 0)),
    fraction = some + 0.75,
    logical = , mask = sample(c(TRUE, FALSE), n, TRUE),
    recycled = sample(c(TRUE, FALSE), min(n, sample(2, 1)), TRUE),
    none = integer()
  )
  ours <- switch(kind,
    tensor = nv_tensor(base, sample(c("ui8", "i64", "f32"), 1)),
    mask = nv_tensor(base),
    base
  )
  list(base = base, ours = ours)
}

random_indices <- function(extents) lapply(extents, random_index)
side <- function(indices, which) lapply(indices, `[[`, which)

plain <- function(v) if (length(dim(v)) == 1L) as.vector(v) else v

shape_of <- function(v, scalar = FALSE) {
  if (scalar) integer() else if (is.null(dim(v))) length(v) else dim(v)
}

# Quick equality with a label that tells how to repeat the case.
expect_tensor <- function(got, want, type, shape, label) {
  right <- identical(type_of(got), type) && identical(shape(got), shape) &&
    identical(as_array(got), want)
  if (!right) fail(paste0(label, ": got ", type_of(got), deparse1(shape(got)), " ",
    deparse1(as_array(got)), ", want ", deparse1(want)
  ))
}

test_that("subsets are those of base R for indices of every kind, rank and dtype", {
  set.seed(11)
  for (rank in 1:4) {
    for (round in 1:150) {
      d <- sample(subset_dtypes, 1)
      v <- random_array(d, random_extents(rank))
      extents <- shape_of(v)
      x <- nv_tensor(v, d)
      indices <- random_indices(extents)
      drop <- sample(c(TRUE, FALSE), 1)
      f <- function(x) do.call(`[`, c(list(x), side(indices, "ours"), list(drop = drop)))
      want <- do.call(`[`, c(list(v), side(indices, "base"), list(drop = drop)))
      kept <- do.call(`[`, c(list(v), side(indices, "base"), list(drop = FALSE)))
      scalar <- drop && rank > 1L && all(dim(kept) == 1L)
      label <- paste("rank", rank, "round", round, d)
      expect_tensor(f(x), plain(want), d, shape_of(plain(want), scalar), label)
      if (round %% 5 == 0) {
        if (!identical(jit(f)(x), f(x))) fail(paste("jit:", label))
      }
      abstract <- f(nv_aval(d, extents))
      if (!identical(list(dtype(abstract), shape(abstract)), list(dtype(f(x)), shape(f(x))))) {
        fail(paste("nv_aval:", label))
      }
    }
  }
  succeed()
})

# One index for the whole array: a vector, a mask of its shape, a matrix of positions.
random_whole_index <- function(extents) {
  n <- prod(extents)
  kind <- sample(c("vector", "mask", "matrix", "tensor matrix"), 1)
  if (kind == "vector") {
    return(random_index(n, sample(setdiff(index_kinds, "all"), 1)))
  }
  if (kind == "mask") {
    mask <- array(sample(c(TRUE, FALSE), n, TRUE), extents)
    return(list(base = mask, ours = if (sample(2, 1) == 1L) nv_tensor(mask) else mask))
  }
  rows <- if (n > 0L) sample(0:5, 1) else 0L
  positions <- vapply(extents, function(e) sample(max(e, 1L), rows, TRUE), integer(rows))
  positions <- matrix(positions, rows, length(extents))
  list(base = positions, ours = if (kind == "matrix") positions else nv_tensor(positions, "i16"))
}

test_that("a single index selects in column-major order", {
  set.seed(12)
  for (rank in 2:4) {
    for (round in 1:80) {
      d <- sample(subset_dtypes, 1)
      v <- random_array(d, random_extents(rank))
      x <- nv_tensor(v, d)
      index <- random_whole_index(dim(v))
      f <- function(x) x[index$ours]
      want <- v[index$base]
      label <- paste("rank", rank, "round", round, d, deparse1(index$base))
      expect_tensor(f(x), want, d, length(want), label)
      if (round %% 4 == 0 && !identical(jit(f)(x), f(x))) fail(paste("jit:", label))
    }
  }
  x <- nv_tensor(array(1:24, 2:4), "i8")
  expect_identical(x[], x)
  expect_identical(x[, , ], x)
  expect_identical(as_array(x[x > 20L]), 21:24)
  expect_identical(as_array(nv_scalar(5, "f32")[1]), 5)
  expect_identical(shape(nv_scalar(5, "f32")[c(1, 1)]), 2L)
  expect_identical(nv_scalar(5, "f32")[], nv_scalar(5, "f32"))
  # A subset does not depend on whether the dtype is only a guess.
  expect_identical(type_of(nv_tensor(1:3, ambiguous = TRUE)[2]), "i32?")
})

# Dimnames of some dims, which may have names themselves; names for rank 1.
random_names <- function(extents) {
  some <- function(n) if (n > 0L && sample(3, 1) > 1L) c(letters, LETTERS)[sample(52, n)]
  list <- lapply(extents, some)
  if (sample(2, 1) == 1L) names(list) <- paste0("dim", seq_along(list))
  if (all(lengths(list) == 0L)) NULL else list
}

# By names where there are some, in half of the cases.
random_named_index <- function(n, names) {
  if (is.null(names) || sample(2, 1) == 1L) {
    return(random_index(n))
  }
  chosen <- sample(names, sample(0:4, 1), TRUE)
  list(base = chosen, ours = chosen)
}

trunc_of <- function(index) if (is.numeric(index)) trunc(index) else index

test_that("names follow subsets and assignments as in base R", {
  set.seed(14)
  for (round in 1:1500) {
    rank <- sample(4, 1)
    d <- sample(subset_dtypes, 1)
    extents <- random_extents(rank)
    v <- array(random_values(d, prod(extents)), extents)
    labels <- random_names(extents)
    if (rank > 1L) dimnames(v) <- labels else v <- structure(as.vector(v), names = labels[[1L]])
    x <- nv_tensor(v, d)
    indices <- Map(random_named_index, extents, if (is.null(labels)) list(NULL) else labels)
    drop <- sample(c(TRUE, FALSE), 1)
    chosen <- function(x, which) do.call(`[`, c(list(x), side(indices, which), list(drop = drop)))
    got <- chosen(x, "ours")
    want <- chosen(v, "base")
    label <- paste("round", round, d, deparse1(dimnames(v)), deparse1(side(indices, "base")))
    expect_names <- function(got, want) {
      # A tensor of rank 0 has no names.
      scalar <- ndims(got) == 0L
      right <- identical(dimnames(got), dimnames(want)) &&
        identical(names(got), if (!scalar) names(want)) &&
        identical(as.vector(as_array(got)), as.vector(want))
      if (!right) fail(paste0(label, ": got ", deparse1(dimnames(got)), deparse1(names(got)),
        ", want ", deparse1(dimnames(want)), deparse1(names(want))
      ))
    }
    expect_names(got, want)
    by_name <- any(vapply(side(indices, "base"), is.character, NA)) # not while jit() traces
    if (!by_name && round %% 3L == 0L) expect_names(jit(function(x) chosen(x, "ours"))(x), want)
    once <- vapply(side(indices, "base"), function(index) {
      is.symbol(index) || is.logical(index) || !anyDuplicated(trunc_of(index))
    }, NA)
    if (length(want) > 0L && all(once)) {
      value <- random_values(d, length(want))
      y <- do.call(`[<-`, c(list(x), side(indices, "ours"), list(value = nv_tensor(value, d))))
      expect_names(y, do.call(`[<-`, c(list(v), side(indices, "base"), list(value = value))))
    }
  }
  succeed()
})

test_that("[[ gives one element, of rank 0", {
  v <- matrix(c(1.5, 2, 3, 4, 5, 6), 2)
  x <- nv_tensor(v, "f32")
  expect_identical(x[[2, 3]], nv_scalar(6, "f32"))
  expect_identical(x[[5]], nv_scalar(5, "f32"))
  expect_identical(nv_tensor(1:3)[[2]], nv_scalar(2L, "i32"))
  expect_identical(nv_scalar(7L)[[1]], nv_scalar(7L, "i32"))
  expect_identical(jit(function(x) x[[2, 3]])(x), x[[2, 3]])
  expect_identical(nv_aval("f32", c(2, 3))[[2, 3]], nv_aval("f32"))
  expect_error(x[[1:2]], class = "joist_shape_error")
  expect_error(x[[1, 1:2]], class = "joist_shape_error")
  expect_error(x[[1, ]], class = "joist_shape_error")
  expect_error(x[[0]], class = "joist_shape_error")
  expect_error(x[[7]], "index 7", class = "joist_shape_error")
  x[[2, 3]] <- 60
  expect_identical(as_array(x), replace(v, 6, 60))
  expect_error(x[[1:2]] <- 1, class = "joist_shape_error")
  expect_error(x[[1]] <- c(1, 2), class = "joist_shape_error")
})

test_that("indices that select nothing that exists are errors", {
  x <- nv_tensor(matrix(1:6, 2), "i16")
  y <- nv_tensor(1:5)
  range_error <- function(code, pattern) expect_error(code, pattern, class = "joist_shape_error")
  range_error(y[6], "index 6 at position 1 of dimension 1 is out of range .1 to 5.")
  range_error(y[c(1, 2, 9)], "index 9 at position 3")
  range_error(y[c(0, 2, 9)], "index 9 at position 3")
  range_error(y[-6], "index -6 at position 1")
  range_error(y[rep(TRUE, 6)], "out of range")
  range_error(x[3, 1], "index 3 at position 1 of dimension 1")
  range_error(x[1, c(1, 4)], "index 4 at position 2 of dimension 2")
  range_error(x[7], "index 7 at position 1 is out of range")
  range_error(x[cbind(c(1, 3), 1)], "index 3 at position 2 of dimension 1")
  range_error(x[cbind(1, -1)], "index -1 at position 1 of dimension 2")
  range_error(x[1, 1, 1], "3 indices for a tensor of rank 2")
  range_error(y[1, 1], "2 indices for a tensor of rank 1")
  range_error(nv_scalar(1)[1, 1], "2 indices for a tensor of rank 0")
  range_error(y[c(-1, 2)], "mixes")
  range_error(x[1, c(-1, 2)], "dimension 2 mixes")
  range_error(nv_tensor(numeric())[1], "out of range")
  value_error <- function(code, pattern) expect_error(code, pattern, class = "joist_value_error")
  expect_identical(as.vector(x[cbind(1, c(1, NA))]), c(as.vector(x[1, 1]), NA))
  value_error(y[[NA_integer_]], "NA at position 1")
  value_error(x["a"], "names")
  value_error(x[1, "a"], "names")
  value_error(x[factor("a")], "factor")
  expect_identical(length(x[NULL]), 0L)
  value_error(x[list(1)], "list")
  value_error(x$payload, "\\$")
  value_error(x$payload <- 1, "\\$")
  # Assignment has the same indices.
  range_error(y[7] <- 1L, "index 7")
  range_error(x[1, 4] <- 1L, "index 4 at position 1 of dimension 2")
  range_error(x[1, 1, 1] <- 1L, "3 indices")
  value_error(y[c(NA, 1)] <- 1:2, "NA at position 1")
  traced <- jit(function(x, i) x[i])
  range_error(traced(y, 6L), "index 6 at position 1")
  range_error(traced(y, nv_tensor(c(1L, 0L))), "index 0 at position 2")
  expect_error(traced(y, y > 2L), "jit", class = "joist_value_error")
  expect_error(jit(function(x, i) x[i])(x, nv_tensor(matrix(1L, 1, 2))), "jit",
    class = "joist_value_error"
  )
  expect_error(jit(function(x) x[6])(y), "index 6", class = "joist_shape_error")
  call <- conditionCall(tryCatch(x[3, 1], error = identity))
  expect_identical(call, quote(x[3, 1]))
})

test_that("assignments are those of base R for indices of every kind, rank and dtype", {
  set.seed(13)
  for (rank in 1:4) {
    for (round in 1:150) {
      d <- sample(subset_dtypes, 1)
      v <- random_array(d, random_extents(rank))
      extents <- shape_of(v)
      indices <- if (rank > 1L && sample(3, 1) == 1L) {
        list(random_whole_index(extents))
      } else {
        random_indices(extents)
      }
      count <- length(do.call(`[`, c(list(v), side(indices, "base"))))
      value <- random_values(d, sample(c(1L, count), 1))
      ours <- if (sample(2, 1) == 1L) nv_tensor(value, d) else value
      if (d == "i64" && !is_tensor(ours)) ours <- as.integer(ours)
      f <- function(x, value) {
        do.call(`[<-`, c(list(x), side(indices, "ours"), list(value = value)))
      }
      want <- do.call(`[<-`, c(list(v), side(indices, "base"), list(value = value)))
      label <- paste("rank", rank, "round", round, d)
      x <- nv_tensor(v, d)
      before <- nv_tensor(v, d)
      got <- f(x, ours)
      expect_tensor(got, want, d, extents, label)
      if (!identical(x, before)) fail(paste("the argument changed:", label))
      if (round %% 5 == 0) {
        if (!identical(jit(f)(x, ours), got)) fail(paste("jit:", label))
        if (!identical(jit(function(x) f(x, ours))(x), got)) fail(paste("jit constant:", label))
      }
      abstract <- f(nv_aval(d, extents), ours)
      if (!identical(abstract, nv_aval(d, extents))) fail(paste("nv_aval:", label))
    }
  }
  succeed()
})

test_that("assignment in R's syntax, repeated positions and nested places", {
  v <- matrix(as.numeric(1:6), 2)
  x <- nv_tensor(v, "f32")
  x[1, ] <- c(10, 20, 30)
  x[, 2] <- 0
  x[2, 3] <- nv_scalar(7, "f32")
  v[1, ] <- c(10, 20, 30)
  v[, 2] <- 0
  v[2, 3] <- 7
  expect_identical(as_array(x), v)
  x[] <- 1
  expect_identical(x, nv_fill(1, c(2, 3), "f32"))
  s <- nv_scalar(1, "f32")
  s[] <- 2
  expect_identical(s, nv_scalar(2, "f32"))
  y <- nv_tensor(1:5, "i16")
  y[c(2, 2, 4, 2)] <- c(1L, 2L, 3L, 9L)
  expect_identical(as_array(y), c(1L, 9L, 3L, 3L, 5L))
  y[y > 4L] <- 0L
  expect_identical(as_array(y), c(1L, 0L, 3L, 3L, 0L))
  y[-1] <- y[1:4]
  expect_identical(as_array(y), c(1L, 1L, 0L, 3L, 3L))
  y[] <- rev(y)
  expect_identical(as_array(y), c(3L, 3L, 0L, 1L, 1L))
  y[5:1] <- y
  expect_identical(as_array(y), c(1L, 1L, 0L, 3L, 3L))
  expect_identical(as_array(replace(y, 2, 8L)), c(1L, 8L, 0L, 3L, 3L))
  places <- list(a = list(y))
  places$a[[1]][2:3] <- 5L
  expect_identical(as_array(places$a[[1]]), c(1L, 5L, 5L, 3L, 3L))
  expect_identical(as_array(y), c(1L, 1L, 0L, 3L, 3L))
})

# nolint start: cyclocomp_linter.
test_that("the tensor keeps its dtype and takes values that promote to it", {
  for (d in dtypes()) {
    for (e in partners_of(d)) {
      for (weak in c(FALSE, TRUE)) {
        numbers <- c(1, 0, 1)
        if (all(holds(numbers, d) & holds(numbers, e))) {
          x <- nv_tensor(numbers, d)
          value <- nv_tensor(c(0, 1), e, ambiguous = weak)
        } else {
          x <- sample_tensor(d, 3)
          value <- sample_tensor(if (is_narrow(e)) e else "bool", 2, ambiguous = weak)
        }
        common <- tryCatch(result_dtype(x, value)$dtype, joist_promotion_error = function(e) NULL)
        assign <- function(x, value) {
          x[2:3] <- value
          x
        }
        if (!is.null(common) && common == d) {
          if (dtype(value) == "bool" && !all(holds(c(0, 1), d))) {
            expect_error(assign(x, value), "does not fit", class = "joist_value_error")
            expect_error(jit(assign)(x, value), "does not fit", class = "joist_value_error")
            next
          }
          want <- nv_concatenate(x[1], nv_convert(value, d))
          if (!identical(assign(x, value), want)) fail(paste(e, "into", d))
          if (!identical(jit(assign)(x, value), want)) fail(paste("jit:", e, "into", d))
        } else {
          said <- if (is.null(common)) paste0(d, ".*", e) else paste0(e, ".*", d)
          expect_error(assign(x, value), said, class = "joist_promotion_error")
          expect_error(jit(assign)(x, value), d, class = "joist_promotion_error")
        }
      }
    }
  }
  x <- nv_tensor(1:3, "f16")
  x[2] <- 2.5
  expect_identical(type_of(x), "f16")
  x[1] <- 7L
  x[3] <- TRUE
  expect_identical(as_array(x), c(7, 2.5, 1))
  expect_error(x[1] <- 1i, class = "joist_promotion_error")
  i <- nv_tensor(1:3, "i8")
  expect_error(i[1] <- 1.5, "f32\\?.*i8.*numbers as 1L", class = "joist_promotion_error")
  expect_error(i[1] <- 300L, "300 at position 1 does not fit i8", class = "joist_value_error")
  expect_error(i[1:2] <- c(1L, -300L), "-300 at position 2", class = "joist_value_error")
  text <- i
  text[1] <- "a"
  expect_identical(text, c("a", "2", "3"))
  expect_error(i[1] <- factor("a"), class = "joist_value_error")
  expect_error(i[1] <- NULL, class = "joist_value_error")
  set_first <- jit(function(x, v) {
    x[1] <- v
    x
  })
  expect_error(set_first(i, 300L), "300", class = "joist_value_error")
  # A bare R number is exact, in jit() too.
  wide <- nv_tensor(c(0, 0), "f64")
  wide[1] <- pi
  expect_identical(as_array(wide), c(pi, 0))
  expect_identical(set_first(nv_tensor(c(0, 0), "f64"), pi), wide)
  b <- nv_tensor(c(TRUE, FALSE))
  b[2] <- TRUE
  expect_identical(as_array(b), c(TRUE, TRUE))
  expect_error(b[2] <- 5L, "bool", class = "joist_promotion_error")
  guess <- nv_tensor(1:3, "i32", ambiguous = TRUE)
  guess[2] <- nv_scalar(2.5, "f64")
  expect_identical(guess, nv_tensor(c(1, 2.5, 3), "f64"))
  expect_identical(as_array(i), 1:3)
})
# nolint end

test_that("the number of values is one, or as many as are replaced", {
  x <- nv_tensor(1:6, "i16")
  m <- nv_tensor(matrix(1:6, 2), "i16")
  count_error <- function(code) expect_error(code, "cannot replace", class = "joist_shape_error")
  count_error(x[1:4] <- 1:2)
  count_error(x[1:2] <- 1:3)
  count_error(x[1:2] <- integer())
  count_error(x[integer()] <- 1:2)
  count_error(m[1, ] <- 1:2)
  count_error(m[] <- 1:3)
  x[integer()] <- integer()
  x[integer()] <- 5L
  expect_identical(as_array(x), 1:6)
  m[, 2:3] <- matrix(11:14, 2)
  m[1, ] <- nv_tensor(matrix(21:23, 3), "i16")
  expect_identical(as_array(m), matrix(c(21L, 2L, 22L, 12L, 23L, 14L), 2))
})

test_that("no other variable changes", {
  new <- function() nv_tensor(c(1, 2, 3), "f32")
  for (compiled in c(FALSE, TRUE)) {
    run <- function(f) if (compiled) compiler::cmpfun(f)() else f()
    run(function() {
      x <- new()
      y <- x
      x[1] <- 9
      expect_identical(y, new())
      y[2] <- 8
      expect_identical(as_array(x), c(9, 2, 3))
    })
    run(function() {
      x <- new()
      kept <- list(x, b = list(x))
      x[1] <- 9
      kept$b[[1]][2] <- 7
      expect_identical(kept[[1]], new())
      expect_identical(as_array(kept$b[[1]]), c(1, 7, 3))
      expect_identical(as_array(x), c(9, 2, 3))
    })
    run(function() {
      change <- function(z) {
        z[1] <- 9
        z
      }
      x <- new()
      expect_identical(as_array(change(x)), c(9, 2, 3))
      replace(x, 2, 5)
      lapply(list(x), change)
      Map(change, list(x))
      do.call(change, list(x))
      vapply(1:2, function(k) {
        x[k] <- 0
        k
      }, 1L)
      for (z in list(x, x)) z[1] <- 0
      "[<-"(x, 1, value = 5)
      local(x[1] <- 5)
      environment <- new.env()
      environment$x <- x
      environment$x[1] <- 5
      attr(environment, "x") <- x
      attr(environment, "x")[1] <- 5
      expect_identical(x, new())
    })
    run(function() {
      # Other shapes, views and R vectors of the same memory.
      x <- nv_tensor(c(1, 2, 3, 4), "f64")
      m <- nv_reshape(x, c(2, 2))
      v <- as_array(x)
      negated <- -(-x)
      whole <- x[]
      x[1] <- 9
      expect_identical(as_array(m), matrix(c(1, 2, 3, 4), 2))
      expect_identical(v, c(1, 2, 3, 4))
      expect_identical(as_array(whole), c(1, 2, 3, 4))
      dim(x) <- c(2, 2)
      m[1, 1] <- 5
      expect_identical(as_array(x), matrix(c(9, 2, 3, 4), 2))
      expect_identical(as_array(negated), c(1, 2, 3, 4))
      y <- nv_tensor(c(0, 0), "f64")
      z <- y
      z[] <- c(1, 1)
      y[] <- z
      z[1] <- 7
      expect_identical(as_array(y), c(1, 1))
      joined <- c(nv_tensor(c(1, 2), "f64"))
      again <- c(joined)
      joined[1] <- 0
      expect_identical(as_array(again), c(1, 2))
    })
    run(function() {
      # A constant of a program.
      x <- new()
      f <- jit(function(y) x + y)
      f(1)
      x[1] <- 100
      expect_identical(as_array(x), c(100, 2, 3))
      expect_identical(as_array(f(1)), c(2, 3, 4))
    })
  }
  x <- new()
  change_outer <- function() x[1] <<- 9
  y <- x
  change_outer()
  expect_identical(as_array(x), c(9, 2, 3))
  expect_identical(y, new())
  expect_error(x[2] <- quote(a))
  expect_error(x[2:3] <- c(1, 2, 3))
  expect_identical(as_array(x), c(9, 2, 3))
})

test_that("a tensor that nothing else holds is changed in place", {
  # Where the payload of `x` and `y` lies; taking them as arguments would hold them.
  line <- function(lines) payload_address(lines[1])
  address_x <- function() {
    line(utils::capture.output({
      .Internal(inspect(x))
      NULL
    }))
  }
  address_y <- function() {
    line(utils::capture.output({
      .Internal(inspect(y))
      NULL
    }))
  }
  for (d in subset_dtypes) {
    x <- nv_tensor(rep_len(sample_values(d), 1000), d)
    at <- address_x()
    for (k in 1:20) x[k] <- TRUE
    x[] <- TRUE
    x[[3]] <- FALSE
    x[x == 1] <- FALSE
    expect_identical(address_x(), at, label = d)
    y <- x
    x[1] <- TRUE
    expect_false(identical(address_x(), at))
    expect_identical(address_y(), at)
  }
  # So is one that was read from a file, and none that shares its elements.
  for (d in subset_dtypes) {
    values <- rep_len(sample_values(d), 1000)
    y <- nv_tensor(values, d)
    want <- as_array(y)
    x <- unserialize(serialize(y, NULL))
    at <- address_x()
    for (k in 1:3) x[k] <- TRUE
    expect_identical(address_x(), at, label = d)
    for (share in list(
      function(y) `attributes<-`(y, attributes(y)), function(y) structure(y, other = 1),
      function(y) `class<-`(y, class(y)), function(y) `attr<-`(y, "dtype", attr(y, "dtype")),
      function(y) list(y, y)[[2]], function(y) c(list(1), y)[[2]],
      function(y) unlist(list(y, 1))[[1]],
      function(y) environment(local(function() y))$y, function(y) rep(list(y), 3)[[2]]
    )) {
      for (f in list(share, compiler::cmpfun(share))) {
        x <- f(y)
        for (k in 1:3) x[k] <- TRUE
        x[[4]] <- FALSE
        expect_identical(as_array(y), want, label = paste(d, deparse1(body(share))))
      }
    }
  }
  # A loop over a large tensor takes no memory.
  x <- nv_tensor(numeric(2e6), "f64")
  x[1] <- 1
  gc()
  before <- nv_memory()[["used"]]
  for (k in 1:30) x[k] <- k
  expect_lt(nv_memory()[["used"]] - before, 16e6)
})

test_that("subsets and assignment inside a larger jitted function", {
  f <- function(x, y) {
    top <- x[1:2, ]
    x[3, ] <- top[1, ] + top[2, ] * y
    x[x[[1, 1]] > 0 & FALSE] <- 0
    x * 2
  }
  g <- function(x, y) {
    top <- x[1:2, ]
    x[3, ] <- top[1, ] + top[2, ] * y
    z <- x
    z[, -1] <- 0L
    list(x * 2, z, sum(x[, 2]), x[cbind(1:3, 1:3)])
  }
  v <- matrix(as.numeric(1:9), 3)
  for (d in c("f16", "f32", "f64", "i32", "c64")) {
    x <- nv_tensor(v, d)
    expect_identical(jit(g)(x, 2L), g(x, 2L), label = d)
  }
  expect_error(jit(f)(nv_tensor(v), 2), class = "joist_value_error")
  # Positions that depend on a static argument.
  pick <- jit(function(x, i) x[i], static = "i")
  x <- nv_tensor(1:5, "i8")
  expect_identical(as_array(pick(x, 2:3)), 2:3)
  expect_identical(as_array(pick(x, -1)), 2:5)
})

test_that("indices that jit() traces are positions, checked when the program runs", {
  set.seed(14)
  for (rank in 1:4) {
    for (round in 1:25) {
      d <- sample(subset_dtypes, 1)
      v <- random_array(d, pmax(1L, random_extents(rank)))
      extents <- shape_of(v)
      x <- nv_tensor(v, d)
      drop <- sample(c(TRUE, FALSE), 1)
      traced <- sample(c(TRUE, FALSE), rank, TRUE)
      traced[sample(rank, 1)] <- TRUE
      indices <- lapply(extents, function(n) sample(n, sample(4, 1), TRUE))
      fixed <- lapply(extents, function(n) random_index(n, sample(c("all", "positive", "one"), 1)))
      base <- ifelse(traced, indices, side(fixed, "base"))
      f <- function(x, i) {
        ours <- side(fixed, "ours")
        for (k in seq_along(i)) ours[[which(traced)[k]]] <- i[[k]]
        do.call(`[`, c(list(x), ours, list(drop = drop)))
      }
      i <- lapply(indices[traced], nv_tensor, sample(c("i8", "ui16", "i32", "i64", "f64"), 1))
      want <- do.call(`[`, c(list(v), base, list(drop = drop)))
      kept <- do.call(`[`, c(list(v), base, list(drop = FALSE)))
      scalar <- drop && rank > 1L && all(dim(kept) == 1L)
      label <- paste("rank", rank, "round", round, d)
      expect_tensor(jit(f)(x, i), plain(want), d, shape_of(plain(want), scalar), label)
      if (!identical(f(x, i), jit(f)(x, i))) fail(paste("eager:", label))
    }
  }
  m <- nv_tensor(matrix(1:6, 2))
  f <- jit(function(m, i) m[i])
  expect_identical(as_array(f(m, nv_tensor(c(6L, 1L)))), c(6L, 1L))
  expect_identical(as_array(f(m, 5)), 5L)
  expect_identical(jit(function(m, i) m[[i, 2]])(m, 2L), m[[2, 2]])
  # A tensor that is known, at a position that is not.
  expect_identical(jit(function(i) m[i, ])(2L), m[2, ])
  # One value for the elements that a traced mask chooses.
  zero <- function(x, mask) {
    x[mask] <- 0L
    x
  }
  expect_identical(jit(zero)(m, m > 3L), zero(m, m > 3L))
  expect_identical(as_array(zero(m, m > 3L)), matrix(c(1:3, 0L, 0L, 0L), 2))
  expect_error(jit(function(x) x[x > 3L] <- 1:3)(m), "nv_ifelse", class = "joist_value_error")
  expect_error(jit(function(x) x[x > 3L] <- 0.5)(m), class = "joist_promotion_error")
})

test_that("ranges are slices in a program, without a list of positions", {
  m <- nv_tensor(matrix(runif(60), 6), "f32")
  program <- function(f) paste(utils::capture.output(print(f)), collapse = "\n")
  f <- jit(function(x) x[2:4, -1] + x[3, 1])
  f(m)
  expect_match(program(f), "slice(%1, start = 2 2, stop = 4 10)", fixed = TRUE)
  expect_no_match(program(f), "constant")
  expect_identical(f(m), m[2:4, -1] + m[3, 1])
  g <- jit(function(x) {
    x[6:1, c(TRUE, FALSE)] <- 1:30
    x
  })
  x <- m
  x[6:1, c(TRUE, FALSE)] <- 1:30
  expect_identical(g(m), x)
  expect_match(program(g), "update(", fixed = TRUE)
  # Lists of positions are no longer than the extent of their dim.
  h <- jit(function(x) x[c(1, 2, 5), ])
  expect_identical(h(m), m[c(1, 2, 5), ])
  expect_match(program(h), "i64{3} = constant", fixed = TRUE)
})

test_that("sequences that R keeps compact select what their entries do", {
  x <- nv_tensor(1:1000, "i16")
  v <- 1:1000
  sequences <- list(
    1:1000, 1000:1, 5:5, 7:20, 20:7, 0:10, -(1:10), -10:-1, seq(2, 500, 3), 2:999 + 0
  )
  for (i in sequences) {
    expect_identical(as_array(x[i]), v[i])
    y <- x
    y[i] <- 0L
    expect_identical(as_array(y), replace(v, i, 0L))
  }
  i <- 3:10
  i[2] <- 9L
  expect_identical(as_array(x[i]), v[i])
  range_error <- function(code) expect_error(code, "out of range", class = "joist_shape_error")
  range_error(x[1:1001])
  range_error(x[1001:5])
  range_error(x[-(1:1001)])
  expect_error(x[-1:5], "mixes", class = "joist_shape_error")
  expect_identical(shape(x[-(1:1000)]), 0L)
})

test_that("many elements are chosen alike by any number of threads", {
  set.seed(15)
  n <- 4e5
  v <- sample(1e6, n)
  x <- nv_tensor(v)
  keep <- sample(c(TRUE, FALSE), n, TRUE)
  i <- sample(n, n, TRUE)
  before <- nv_get_threads()
  on.exit(nv_set_threads(before))
  for (threads in c(1L, 2L)) {
    nv_set_threads(threads)
    expect_identical(as_array(x[nv_tensor(keep)]), v[keep])
    expect_identical(as_array(x[keep]), v[keep])
    expect_identical(as_array(x[i]), v[i])
    y <- x
    y[nv_tensor(keep)] <- 0L
    y[i[1:1000]] <- 1:1000
    w <- v
    w[keep] <- 0L
    w[i[1:1000]] <- 1:1000
    expect_identical(as_array(y), w)
    y[keep] <- rev(v[keep])
    w[keep] <- rev(v[keep])
    expect_identical(as_array(y), w)
    expect_identical(as_array(t(nv_reshape(x, c(400L, 1000L)))), t(matrix(v, 400)))
  }
})

test_that("a tensor can be its own index while it is assigned to", {
  set.seed(7)
  n <- 20000L
  entries <- sample(n)
  x <- nv_tensor(entries, "i32") + 0L # not shared
  expected <- entries
  x[x] <- rev(entries)
  expected[expected] <- rev(entries)
  expect_identical(as_array(x), expected)
  y <- nv_tensor(entries, "f64") + 0
  y[y] <- 1
  expect_identical(as_array(y), rep(1, n))
  truth <- sample(c(TRUE, FALSE), n, replace = TRUE)
  values <- sample(c(TRUE, FALSE), sum(truth), replace = TRUE)
  mask <- !nv_tensor(!truth)
  mask[mask] <- values
  truth[truth] <- values
  expect_identical(as_array(mask), truth)
})

test_that("indices that select more than memory can hold are refused", {
  x <- nv_tensor(1:8, shape = c(2, 2, 2))
  # 2^22 * 2^21 * 2^21 is 2^64, which is 0 in 64 bits.
  i <- rep(1L, 2^22)
  j <- rep(2L, 2^21)
  expect_error(x[i, j, j], "more elements than memory", class = "joist_shape_error")
  expect_error(x[i, j, j] <- 1L, "more elements than memory", class = "joist_shape_error")
  expect_error(jit(function(x) x[i, j, j])(x), "more elements than memory",
    class = "joist_shape_error"
  )
  # An index that selects nothing comes first.
  expect_identical(shape(x[i, j, 0]), c(4194304L, 2097152L, 0L))
  expect_identical(as_array(`[<-`(x, i, j, integer(), value = 1L)), as_array(x))
})

test_that("invalid indices, and values that do not fit, are named", {
  x <- nv_tensor(1:3)
  expect_refusal(x["a"], "joist_value_error", "no names")
  no_index <- list(
    list = list(1), factor = factor("a"), Date = Sys.Date(), raw = as.raw(1),
    complex = 1i, "complex numbers" = nv_tensor(1i), symbol = quote(a)
  )
  for (what in names(no_index)) {
    expect_refusal(x[no_index[[what]]], "joist_value_error", paste("not by", what))
  }
  expect_refusal(x[Inf], "joist_shape_error", "index Inf at position 1")
  expect_refusal(x[c(1, Inf)], "joist_shape_error", "Inf at position 2")
  expect_refusal(x[2^40], "joist_shape_error", "index 1099511627776 at")
  expect_refusal(x[1:2] <- 1:3, "joist_shape_error", c("{3}", "2 elements;"))
  expect_refusal(x[1] <- 1:2, "joist_shape_error", c("{2}", "1 element;"))
})

test_that("integer64 vectors are positions, `exact` is none, and abstract tensors cannot be", {
  x <- nv_tensor(c(1.5, 2.5, 3.5))
  expect_identical(x[[2, exact = TRUE]], x[[2]])
  expect_refusal(x[nv_aval("i32", 1L)], "joist_value_error", "nv_aval()")
  expect_refusal(x[nv_tensor(rep(TRUE, 5))], "joist_shape_error", c("5", "1 to 3"))
  skip_if_not_installed("bit64")
  expect_identical(x[bit64::as.integer64(c(3, 1))], x[c(3, 1)])
  x[bit64::as.integer64(2)] <- 7
  expect_identical(as_array(x), c(1.5, 7, 3.5))
})

test_that("NA in an index gives missing elements beside any other index, as in base R", {
  set.seed(11)
  plain <- array(as.double(1:24), c(3, 2, 4), list(c("a", "b", "c"), NULL, LETTERS[1:4]))
  some_index <- function(extent, labels) {
    index <- switch(sample(6, 1),
      sample(c(seq_len(extent), NA), sample(4, 1), TRUE), -sample(extent, 1),
      sample(c(TRUE, FALSE, NA), extent, TRUE), c(0, sample(extent, 1)),
      if (is.null(labels)) TRUE else sample(labels, 2, TRUE), TRUE
    )
    if (is.double(index) && stats::runif(1) < 0.3) index + 0.25 * (index > 0) else index
  }
  for (d in c("f32", "i16")) {
    x <- nv_tensor(plain, d)
    for (k in 1:150) {
      m <- k %% 2L == 0L
      here <- if (m) plain[, 1, ] else plain
      there <- if (m) x[, 1, ] else x
      indices <- Map(some_index, dim(here), dimnames(here))
      drop <- k %% 3L > 0L
      want <- do.call(`[`, c(list(here), indices, drop = drop))
      got <- do.call(`[`, c(list(there), indices, drop = drop))
      expect_equal(as.vector(got), as.vector(want))
      if (length(want) < 2L) next
      expect_identical(dimnames(got), dimnames(want))
      expect_identical(dim(got), dim(want))
      if (is.null(dim(want))) expect_identical(names(got), names(want))
    }
  }
  m <- nv_tensor(matrix(1:6, 2, dimnames = list(c("a", "b"), NULL)), "i32")
  expect_identical(rownames(m[match(c("b", "z"), rownames(m)), ]), c("b", NA))
  expect_identical(dim(m[logical(), NA]), c(0L, 3L))
  expect_refusal(m[c(NA, 3), ], "joist_shape_error", "out of range")
  expect_refusal(m[c(NA, FALSE, TRUE), ], "joist_shape_error", "out of range")
  expect_refusal(m[c(NA, "c"), NA], "joist_value_error")
})
