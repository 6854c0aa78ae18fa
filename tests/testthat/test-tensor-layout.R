# Arranging, combining and ordering tensors against base R.

layout_dtypes <- c("ui8", "bool", "i16", "f16", "f32", "i32", "f64", "c64", "c128")

layout_values <- function(dtype, n) {
  switch(kind_of(dtype),
    bool = sample(c(TRUE, FALSE), n, TRUE),
    int = sample(-99:99, n, TRUE),
    uint = sample(0:99, n, TRUE),
    float = sample(-99:99, n, TRUE) / 4,
    complex = complex(real = sample(-99:99, n, TRUE), imaginary = sample(9, n, TRUE))
  )
}

layout_array <- function(dtype, extents) {
  v <- layout_values(dtype, prod(extents))
  if (length(extents) > 1L) array(v, extents) else v
}

layout_extents <- function(rank) sample(c(0L, 1L, 2L, 3L, 4L, 5L), rank, TRUE)

# Shapes of rank 0 to 4, among them zero extents and extents around the blocks of a
# transposition.
shapes_to_try <- function() {
  c(
    lapply(rep(0:4, each = 12), layout_extents),
    list(c(33L, 31L), c(65L, 2L), c(2L, 65L), c(33L, 3L, 34L), c(1L, 40L, 1L, 40L))
  )
}

as_base <- function(v) if (length(dim(v)) == 1L) as.vector(v) else v

# f(x) for a tensor is `want` of base R, with the same dtype; in jit() and without data too.
expect_layout <- function(f, x, want, shape, label) {
  got <- f(x)
  right <- identical(as_array(got), want) && identical(shape(got), as.integer(shape)) &&
    identical(type_of(got), type_of(x))
  if (!right) fail(paste0(label, ": ", type_of(got), deparse1(shape(got)), " ",
    deparse1(as_array(got)), " for ", deparse1(want)
  ))
  if (!identical(jit(f)(x), got)) fail(paste("jit:", label))
  abstract <- nv_aval(dtype(x), joist::shape(x))
  if (!identical(f(abstract), nv_aval(dtype(x), joist::shape(got)))) fail(paste("nv_aval:", label))
  succeed()
}

test_that("permutations are those of aperm()", {
  set.seed(21)
  for (extents in shapes_to_try()) {
    d <- sample(layout_dtypes, 1)
    v <- layout_array(d, extents)
    x <- nv_tensor(v, d, extents)
    rank <- length(extents)
    order <- sample.int(rank)
    label <- paste("aperm", d, deparse1(extents), deparse1(order))
    want <- if (rank > 1L) aperm(v, order) else v
    expect_layout(function(x) nv_transpose(x, order), x, want, extents[order], label)
    expect_layout(function(x) aperm(x, order), x, want, extents[order], label)
    want <- if (rank > 1L) aperm(v) else v
    expect_layout(nv_transpose, x, want, rev(extents), label)
    expect_layout(function(x) aperm(x), x, want, rev(extents), label)
    if (rank == 2L) expect_layout(t, x, t(v), rev(extents), paste("t", label))
    if (rank == 1L) expect_layout(t, x, t(v), c(1L, extents), paste("t", label))
    if (rank == 0L) expect_layout(t, x, v, extents, paste("t", label))
  }
  x <- nv_tensor(array(1:24, 2:4), "i16")
  expect_error(t(x), "rank 3", class = "joist_shape_error")
  expect_error(nv_transpose(x, 1:2), class = "joist_shape_error")
  expect_error(nv_transpose(x, c(1, 2, 2)), class = "joist_shape_error")
  expect_error(nv_transpose(x, c(1, 2, 4)), class = "joist_shape_error")
  expect_error(nv_transpose(x, c(1, 2, NA)), class = "joist_shape_error")
  expect_error(jit(function(x) nv_transpose(x, 1:2))(x), class = "joist_shape_error")
  for (d in dtypes()) {
    x <- nv_tensor(sample_values(d, 6), d, c(2, 3), ambiguous = TRUE)
    expect_identical(nv_transpose(nv_transpose(x)), x)
    expect_identical(jit(nv_transpose)(x), nv_transpose(x))
  }
  expect_identical(as_array(nv_transpose(matrix(1:6, 2))), t(matrix(1:6, 2)))
})

test_that("squeezing, unsqueezing and flattening keep the elements in order", {
  set.seed(22)
  for (extents in shapes_to_try()) {
    d <- sample(layout_dtypes, 1)
    v <- layout_array(d, extents)
    x <- nv_tensor(v, d, extents)
    label <- paste(d, deparse1(extents))
    shaped <- function(shape) if (length(shape) > 1L) array(v, shape) else as.vector(v)
    left <- extents[extents != 1L]
    expect_layout(nv_squeeze, x, shaped(left), left, paste("squeeze", label))
    ones <- which(extents == 1L)
    for (dim in ones) {
      f <- function(x) nv_squeeze(x, dim)
      expect_layout(f, x, shaped(extents[-dim]), extents[-dim], paste("squeeze", dim, label))
    }
    for (dim in seq_len(length(extents) + 1L)) {
      longer <- append(extents, 1L, dim - 1L)
      f <- function(x) nv_unsqueeze(x, dim)
      expect_layout(f, x, shaped(longer), longer, paste("unsqueeze", dim, label))
    }
    expect_layout(nv_flatten, x, as.vector(v), length(v), paste("flatten", label))
    f <- function(x) {
      dim(x) <- rev(extents)
      x
    }
    expect_layout(f, x, shaped(rev(extents)), rev(extents), paste("dim<-", label))
  }
  x <- nv_tensor(matrix(1:2, 1), "i8")
  expect_error(nv_squeeze(x, 2), class = "joist_shape_error")
  expect_error(nv_squeeze(x, 3), class = "joist_shape_error")
  expect_error(nv_unsqueeze(x, 4), "1 to 3", class = "joist_shape_error")
  expect_error(nv_unsqueeze(x, 0), class = "joist_shape_error")
  expect_error(nv_unsqueeze(x, NA), class = "joist_shape_error")
  expect_error(nv_unsqueeze(x, 1:2), class = "joist_shape_error")
  expect_error(dim(x) <- c(2, 2), class = "joist_shape_error")
  expect_identical(shape(x), c(1L, 2L))
})

test_that("reversal is that of base R along any dimensions", {
  set.seed(23)
  for (extents in shapes_to_try()) {
    d <- sample(layout_dtypes, 1)
    v <- layout_array(d, extents)
    x <- nv_tensor(v, d, extents)
    rank <- length(extents)
    label <- paste("reverse", d, deparse1(extents))
    turned <- function(dims) {
      if (rank == 0L) {
        return(v)
      }
      indices <- lapply(seq_len(rank), function(k) {
        if (k %in% dims) rev(seq_len(extents[k])) else seq_len(extents[k])
      })
      do.call(`[`, c(list(v), indices, list(drop = FALSE)))
    }
    dims <- which(sample(c(TRUE, FALSE), rank, TRUE))
    expect_layout(nv_reverse, x, turned(seq_len(rank)), extents, label)
    f <- function(x) nv_reverse(x, dims)
    expect_layout(f, x, turned(dims), extents, paste(label, deparse1(dims)))
    expect_layout(rev, x, rev(as.vector(v)), length(v), paste("rev", label))
  }
  expect_error(nv_reverse(nv_tensor(1:3), 2), class = "joist_shape_error")
  expect_error(nv_reverse(nv_tensor(1:3), NA), class = "joist_shape_error")
})

test_that("rep(), head() and tail() are base R's", {
  set.seed(24)
  for (extents in shapes_to_try()) {
    d <- sample(layout_dtypes, 1)
    v <- layout_array(d, extents)
    x <- nv_tensor(v, d, extents)
    flat <- as.vector(v)
    label <- paste(d, deparse1(extents))
    calls <- list(
      function(x) rep(x, 2), function(x) rep(x, each = 3), function(x) rep(x, length.out = 5),
      function(x) rep(x, times = 0), function(x) rep(x, times = 2, each = 2),
      function(x) rep(x, rep(2, length(v)))
    )
    if (length(flat) == 0L) calls <- calls[-3] # base R invents NA
    for (f in calls) expect_layout(f, x, f(flat), length(f(flat)), paste("rep", label))
    if (length(extents) == 0L) {
      expect_identical(head(x), x)
      next
    }
    for (n in list(2, -1, 0, 100, -100, 2.7, -2.3, Inf, c(1, 2), c(NA, 1))) {
      if (length(n) > length(extents)) next
      for (end in list(head, tail)) {
        keep <- lapply(seq_along(extents), function(k) {
          all <- seq_len(extents[k])
          if (k > length(n) || is.na(n[k])) all else end(all, n[k])
        })
        want <- do.call(`[`, c(list(v), keep, list(drop = FALSE)))
        expect_layout(function(x) end(x, n), x, want, lengths(keep), label)
      }
    }
  }
  x <- nv_tensor(matrix(1:20, 10), "i8")
  expect_identical(as_array(head(x)), head(matrix(1:20, 10)))
  expect_identical(as_array(tail(x)), matrix(1:20, 10)[5:10, ])
  expect_error(head(nv_tensor(1:3), 1:2), class = "joist_shape_error")
  expect_error(head(nv_tensor(1:3), "a"), class = "joist_shape_error")
  expect_error(rep(nv_tensor(1:3), times = 1:2))
})

test_that("c() flattens and joins in the common dtype", {
  set.seed(25)
  for (round in 1:150) {
    ds <- sample(layout_dtypes, sample(1:4, 1), TRUE)
    vs <- lapply(ds, function(d) layout_array(d, layout_extents(sample(0:3, 1))))
    xs <- Map(function(v, d) nv_tensor(v, d, if (is.null(dim(v))) length(v)), vs, ds)
    common <- do.call(result_dtype, xs)
    want <- nv_convert(nv_tensor(unlist(lapply(vs, as.vector)), "c128"), common$dtype)
    got <- do.call(c, xs)
    label <- paste("round", round, deparse1(ds))
    expect_identical(got, want, label = label)
    joined <- function(xs) do.call(c, xs)
    expect_identical(jit(joined)(xs), got, label = label)
    abstract <- do.call(c, lapply(xs, function(x) nv_aval(dtype(x), shape(x))))
    expect_identical(abstract, nv_aval(common$dtype, length(want)), label = label)
  }
  x <- nv_tensor(1:2, "i8")
  expect_identical(type_of(c(x, 3L)), "i8")
  expect_identical(as_array(c(x, 3L, 4:5, TRUE)), c(1:5, 1L))
  expect_identical(c(x, NULL), x)
  expect_identical(type_of(c(x, 2.5)), "f32?")
  expect_identical(type_of(c(nv_scalar(1L, "i32"), nv_scalar(2L, "i64"))), "i64")
  expect_identical(as_array(c(x, matrix(1:4, 2))), c(1:2, 1:4))
  expect_identical(as_array(c(a = x, b = 3L)), c(a = 1:2, b = 3L))
  expect_error(c(x, 300L), "300 at position 1 does not fit i8", class = "joist_value_error")
  expect_identical(c(x, NA), nv_tensor(c(1:2, NA), "i8"))
  expect_error(c(x, "a"), class = "joist_value_error")
  expect_error(c(x, list(1)), class = "joist_value_error")
  expect_error(c(x, factor("a")), class = "joist_value_error")
  expect_error(c(x, as.Date("2020-01-01")), class = "joist_value_error")
  big <- structure(unclass(as_array(nv_bitcast_convert(nv_tensor(5, "i64"), "f64"))),
    class = "integer64"
  )
  expect_identical(as_array(c(nv_tensor(1, "i64"), big)), c(1, 5))
  with_promotion("array_api", {
    expect_error(c(x, nv_tensor(1, "f32")), class = "joist_promotion_error")
  })
  # R numbers are exact, eagerly and as arguments of a program.
  exact <- nv_tensor(0, "f64")
  for (f in list(c, rbind, cbind, nv_concatenate)) {
    expect_identical(as_array(f(exact, pi))[2], pi)
    g <- function(x, y) f(x, y)
    expect_identical(jit(g)(exact, pi), g(exact, pi))
    expect_error(f(x, 300L), "300", class = "joist_value_error")
    expect_error(jit(function(x, y) f(x, y))(x, 300L), "300", class = "joist_value_error")
  }
  expect_identical(as_array(nv_stack(nv_scalar(0, "f64"), pi)), c(0, pi))
})

test_that("nv_concatenate() and nv_stack() lay parts along any dimension", {
  set.seed(26)
  index_along <- function(v, dim, at) {
    indices <- lapply(dim(v), seq_len)
    indices[[dim]] <- at
    do.call(`[`, c(list(v), indices, list(drop = FALSE)))
  }
  for (round in 1:120) {
    d <- sample(layout_dtypes, 1)
    rank <- sample(1:4, 1)
    extents <- layout_extents(rank)
    dim <- sample(rank, 1)
    parts <- lapply(seq_len(sample(1:3, 1)), function(k) {
      own <- replace(extents, dim, sample(0:4, 1))
      array(layout_values(d, prod(own)), own)
    })
    xs <- lapply(parts, function(v) nv_tensor(v, d, dim(v)))
    f <- function(...) nv_concatenate(..., dim = dim)
    got <- do.call(f, xs)
    label <- paste("round", round, d, deparse1(extents), dim)
    lengths <- vapply(parts, function(v) dim(v)[dim], 1L)
    if (!identical(shape(got), replace(extents, dim, sum(lengths)))) fail(paste("shape:", label))
    whole <- array(as_array(got), shape(got))
    for (k in seq_along(parts)) {
      at <- sum(lengths[seq_len(k - 1)]) + seq_len(lengths[k])
      if (!identical(index_along(whole, dim, at), parts[[k]])) fail(paste("part", k, label))
    }
    if (!identical(do.call(jit(f), xs), got)) fail(paste("jit:", label))
    abstract <- do.call(f, lapply(xs, function(x) nv_aval(d, shape(x))))
    if (!identical(abstract, nv_aval(d, shape(got)))) fail(paste("nv_aval:", label))
    # Stacked, each part is found at its number.
    place <- sample(rank + 1L, 1)
    g <- function(x, y) nv_stack(x, y, dim = place)
    both <- g(xs[[1]], nv_reverse(xs[[1]]))
    longer <- append(shape(xs[[1]]), 2L, place - 1L)
    if (!identical(shape(both), longer)) fail(paste("stack:", label))
    stacked <- array(as_array(both), shape(both))
    second <- as.vector(index_along(stacked, place, 2L))
    if (!identical(second, as.vector(as_array(nv_reverse(xs[[1]]))))) fail(paste("stack:", label))
    if (!identical(jit(g)(xs[[1]], nv_reverse(xs[[1]])), both)) fail(paste("jit stack:", label))
  }
  x <- nv_tensor(1:3, "i8")
  m <- nv_tensor(matrix(1:6, 2), "f16")
  expect_identical(as_array(nv_concatenate(x, 4L, nv_scalar(5L, "i16"))), 1:5)
  expect_identical(type_of(nv_stack(x, nv_tensor(4:6, "i16"))), "i16")
  expect_identical(as_array(nv_stack(x, 4:6, dim = 2)), cbind(1:3, 4:6))
  expect_identical(as_array(nv_stack(nv_scalar(1L), 2L, 3)), c(1, 2, 3))
  expect_error(nv_concatenate(), "nothing", class = "joist_shape_error")
  expect_error(nv_stack(), "nothing", class = "joist_shape_error")
  expect_error(nv_concatenate(x, m), class = "joist_shape_error")
  expect_error(nv_concatenate(m, t(m)), "dimension 1", class = "joist_shape_error")
  for (dim in list(0, 2, -1, 1.5, NA, 33, 1:2, NULL)) {
    expect_error(nv_concatenate(x, x, dim = dim), class = "joist_shape_error")
  }
  for (dim in list(0, 3, NA, 1:2)) {
    expect_error(nv_stack(x, x, dim = dim), class = "joist_shape_error")
  }
  expect_error(nv_stack(x, m), class = "joist_shape_error")
  expect_error(nv_concatenate(x, "a"), class = "joist_value_error")
})

test_that("rbind() and cbind() are base R's for vectors, matrices and scalars", {
  set.seed(27)
  for (bind in list(rbind, cbind)) {
    for (round in 1:80) {
      d <- sample(layout_dtypes, 1)
      extent <- sample(2:5, 1)
      parts <- lapply(seq_len(sample(1:4, 1)), function(k) {
        switch(sample(3, 1),
          layout_values(d, extent),
          layout_values(d, 1),
          {
            lines <- sample(0:3, 1)
            size <- if (identical(bind, rbind)) c(lines, extent) else c(extent, lines)
            array(layout_values(d, prod(size)), size)
          }
        )
      })
      if (!any(vapply(parts, function(v) length(v) != 1L, NA))) next
      want <- unname(do.call(bind, parts))
      xs <- lapply(parts, function(v) {
        nv_tensor(v, d, if (is.null(dim(v)) && length(v) == 1L) integer() else NULL)
      })
      got <- do.call(bind, xs)
      label <- paste("round", round, d, deparse1(parts))
      if (!identical(as_array(got), want)) fail(label)
      if (!identical(type_of(got), d)) fail(paste("dtype:", label))
      if (!identical(do.call(jit(bind), xs), got)) fail(paste("jit:", label))
      # R values among them.
      mixed <- replace(parts, 1, xs[1])
      if (!identical(as_array(do.call(bind, mixed)), want)) fail(paste("mixed:", label))
    }
  }
  x <- nv_tensor(1:3, "i8")
  expect_identical(as_array(rbind(a = x, b = 4:6)), rbind(a = 1:3, b = 4:6))
  expect_identical(as_array(cbind(0L, x, nv_scalar(9L, "i16"))), cbind(0L, x = 1:3, 9L))
  expect_identical(type_of(cbind(0L, x, nv_scalar(9L, "i16"))), "i16")
  expect_identical(as_array(rbind(NULL, x)), rbind(x = 1:3))
  expect_identical(as_array(cbind(x)), cbind(x = 1:3))
  expect_identical(as_array(cbind(x[2], matrix(1:4, 2))), cbind(2L, matrix(1:4, 2)))
  expect_identical(as_array(rbind(x, y = x[3])), rbind(x = 1:3, y = 3L))
  expect_identical(as_array(rbind(nv_scalar(1L), 2L)), matrix(1:2))
  expect_identical(rbind(nv_aval("f32", 3), 1), nv_aval("f32", c(2, 3)))
  expect_error(rbind(x, 1:2), class = "joist_shape_error")
  expect_error(cbind(x, matrix(1:4, 2)), class = "joist_shape_error")
  expect_error(rbind(x, nv_tensor(array(1:8, c(2, 2, 2)))), "rank 2", class = "joist_shape_error")
  expect_error(rbind(x, "a"), class = "joist_value_error")
  expect_error(rbind(x, list(1, 2, 3)), class = "joist_value_error")
})

test_that("sort() and order() are base R's", {
  set.seed(28)
  for (d in setdiff(dtypes(), complexes())) {
    n <- 40
    v <- if (d == "bool") {
      sample(c(TRUE, FALSE), n, TRUE)
    } else {
      sample(if (kind_of(d) == "uint") 0:9 else -5:5, n, TRUE)
    }
    if (kind_of(d) == "float") v <- c(v / 2, NaN, Inf, -Inf, -0)
    if (is_narrow(d)) v <- held(v[seq_len(n)], d)
    x <- nv_tensor(v, d)
    for (decreasing in c(FALSE, TRUE)) {
      expect_identical(order(x, decreasing = decreasing), order(v, decreasing = decreasing))
      got <- sort(x, decreasing = decreasing)
      expect_identical(as_array(got, "double"), as.numeric(sort(v, decreasing = decreasing)))
      expect_identical(type_of(got), d)
    }
    last <- as_array(sort(x, na.last = TRUE), "double")
    expect_identical(last, as.numeric(sort(v, na.last = TRUE)))
    expect_identical(order(x, seq_along(v)), order(v, seq_along(v)))
    m <- nv_tensor(v[1:12], d, c(3, 4))
    expect_identical(as_array(sort(m), "double"), as.numeric(sort(v[1:12])))
  }
  expect_identical(as_array(sort(nv_scalar(3L))), 3L)
  expect_identical(shape(sort(nv_tensor(numeric()))), 0L)
  expect_error(sort(nv_tensor(1i)), class = "joist_dtype_error")
  lowest <- int_tensor(c("5", "-2147483648", "7"), "i32")
  expect_identical(order(lowest), c(2L, 1L, 3L))
})

test_that("unique(), duplicated() and anyDuplicated() are base R's", {
  set.seed(29)
  for (d in dtypes()) {
    v <- sample(sample_values(d), 30, TRUE)
    if (kind_of(d) == "float") v <- c(v, held_of(c(NaN, 0, -0, NaN), d))
    if (d == "bf16" || d == "f16") v <- round_to(v, d)
    x <- nv_tensor(v, d)
    expect_identical(duplicated(x), duplicated(v), label = d)
    expect_identical(anyDuplicated(x), anyDuplicated(v), label = d)
    expect_identical(unique(x), nv_tensor(unique(v), d), label = d)
  }
  far <- int_tensor(c("9007199254740992", "9007199254740993", "9007199254740992"), "i64")
  expect_identical(duplicated(far), c(FALSE, FALSE, TRUE))
  expect_identical(as_array(unique(far), "character"), c("9007199254740992", "9007199254740993"))
  lowest <- int_tensor(c("-2147483648", "1", "-2147483648"), "i32")
  expect_identical(duplicated(lowest), c(FALSE, FALSE, TRUE))
  expect_identical(anyDuplicated(nv_tensor(1:3)), 0L)
  m <- nv_tensor(matrix(c(1L, 2L, 2L, 1L), 2))
  expect_identical(as_array(unique(m)), 1:2)
})

test_that("range() is base R's", {
  for (d in c(small_ints(), floats())) {
    v <- if (is_narrow(d)) sample_values(d, 4) else c(3, 1, 2, 7)
    x <- nv_tensor(v, d)
    expect_identical(as_array(range(x), "double"), range(v))
    expect_identical(type_of(range(x)), d)
    expect_identical(jit(function(x) range(x))(x), range(x))
    expect_identical(range(nv_aval(d, 4)), nv_aval(d, 2))
  }
  x <- nv_tensor(c(3, 1), "f64")
  expect_identical(as_array(range(x, nv_tensor(c(9, -2), "f64"))), c(-2, 9))
  expect_identical(as_array(range(x, 5)), c(1, 5))
  expect_identical(as_array(range(nv_tensor(matrix(1:6, 2), "i8"))), c(1L, 6L))
  expect_error(range(nv_tensor(1i)), class = "joist_dtype_error")
  expect_error(range(nv_tensor(numeric())), class = "joist_value_error")
  expect_error(range(x, na.rm = 2), class = "joist_value_error")
})

test_that("a dimension of another name is not taken for a part", {
  x <- nv_tensor(1:3)
  for (f in list(nv_concatenate, nv_stack)) {
    expect_error(f(x, x, dims = 1), "see `dim`", class = "joist_value_error")
    expect_error(f(x, x, axis = 1L), "see `dim`", class = "joist_value_error")
    expect_identical(shape(f(a = x, b = x)), shape(f(x, x)))
  }
})

test_that("arguments of c() that are not elements are not taken for elements", {
  x <- nv_tensor(1:2, "i8")
  expect_identical(c(x, 3L, recursive = TRUE, use.names = FALSE), c(x, 3L))
  expect_identical(as_array(c(x, a = 3L)), c(1:2, a = 3L))
})

test_that("nv_concatenate() and nv_stack() take one list of parts", {
  parts <- list(nv_tensor(1:3, "i8"), nv_tensor(4:6, "i16"), 7:9)
  named <- list(a = nv_tensor(c(x = 1, y = 2), "f64"), b = nv_tensor(c(x = 3, y = 4), "f64"))
  plain <- lapply(named, as_array)
  for (f in list(identity, jit)) {
    for (dim in 1:2) {
      listed <- f(function(parts) nv_stack(parts, dim = dim))
      alone <- f(function(x, y, z) nv_stack(x, y, z, dim = dim))
      expect_identical(listed(parts), do.call(alone, parts))
    }
    joined <- f(function(parts) nv_concatenate(parts))
    expect_identical(as_array(joined(parts)), 1:9)
    expect_identical(type_of(joined(parts)), "i16")
    expect_identical(as_array(f(function(x) nv_stack(list(x)))(parts[[1]])), rbind(1:3))
    # Names: base R's c() and rbind().
    vectors <- lapply(named, unname)
    bare <- lapply(vectors, as_array)
    stacked <- f(function(parts) nv_stack(parts))(vectors)
    expect_identical(as_array(stacked), do.call(rbind, bare))
    expect_identical(as_array(f(function(p) nv_stack(p, dim = 2))(vectors)), do.call(cbind, bare))
    expect_identical(
      dimnames(as_array(f(function(p) nv_stack(a = p, p))(vectors$a))),
      dimnames(rbind(a = bare$a, bare$b, deparse.level = 0))
    )
    expect_identical(
      as_array(f(function(parts) nv_concatenate(parts))(vectors)), unlist(bare)
    )
  }
  expect_identical(as_array(nv_stack(named)), do.call(rbind, plain))
  expect_identical(as_array(nv_stack(named, dim = 2)), do.call(cbind, plain))
  expect_identical(
    as_array(jit(function(p) nv_stack(p))(named)), do.call(rbind, plain)
  )
  expect_identical(as_array(nv_concatenate(named)), unlist(plain))
  expect_identical(as_array(nv_concatenate(a = named$a, 5)), c(a = plain$a, 5))
  matrices <- list(a = nv_tensor(matrix(1:4, 2)), b = nv_tensor(matrix(5:8, 2)))
  expect_identical(nv_concatenate(matrices), do.call(rbind, unname(matrices)))
  expect_identical(
    dimnames(as_array(nv_stack(matrices, dim = 3))), list(NULL, NULL, c("a", "b"))
  )
  expect_identical(type_of(nv_stack(list(a = nv_aval("f32", 2), b = nv_aval("i8", 2)))), "f32")
  for (f in list(nv_concatenate, nv_stack)) {
    expect_error(f(list(list(nv_tensor(1)))), "part 1 .* is a list", class = "joist_value_error")
    expect_error(f(nv_tensor(1), list(nv_tensor(1))), "part 2", class = "joist_value_error")
    expect_error(f(list()), "nothing to concatenate", class = "joist_shape_error")
  }
})

test_that("the name of a single element stays, as in base R", {
  one <- c(a = 3)
  calls <- expression(
    t(x), rbind(x, x), cbind(x, 2), rbind(u = x), rbind(x, c(b = 1)), rbind(c(b = 1), x),
    cbind(matrix(1, 1, 1, dimnames = list("r", "c")), x), c(x, c(b = 2)), c(b = 1) + x,
    x + c(b = 1), 5 * c(b = 1) - x, atan2(c(b = 1), x), rbind(1, x)
  )
  for (call in calls) {
    want <- eval(call, list(x = one))
    f <- as.function(c(formals(function(x) NULL), call))
    for (got in list(f(nv_tensor(one, "f64")), jit(f)(nv_tensor(one, "f64")))) {
      expect_identical(dimnames(got), dimnames(want), info = deparse1(call))
      expect_identical(names(got), names(want), info = deparse1(call))
    }
  }
  row <- nv_tensor(matrix(1:2, 1, dimnames = list("r", c("a", "b"))))
  expect_identical(dimnames(nv_stack(row, row, dim = 3)), list("r", c("a", "b"), NULL))
  expect_identical(dimnames(nv_unsqueeze(row, 1)), list(NULL, "r", c("a", "b")))
})

test_that("rbind() and cbind() label vectors by deparse.level, as base R does", {
  both <- function(x, y) {
    lapply(0:2, function(level) {
      lapply(list(
        rbind(x, y, deparse.level = level), cbind(a = x, y, deparse.level = level),
        cbind(x, -y, deparse.level = level)
      ), dimnames)
    })
  }
  expect_identical(both(nv_tensor(3:4, "i8"), nv_tensor(5:6, "i8")), both(3:4, 5:6))
})

test_that("as.character() and paste() heed OutDec and scipen as base R does", {
  values <- c(1.5, 1e15, 1e-7, 123456, 1e5, NA, Inf, NaN, -0.25)
  options <- list(list(OutDec = ","), list(scipen = 20), list(scipen = -3), list(scipen = 0L))
  for (option in options) {
    withr::with_options(option, {
      expect_identical(paste(nv_tensor(values, "f64")), paste(values))
      expect_identical(as.character(nv_tensor(values, "f64")), as.character(values))
      expect_identical(paste(nv_tensor(123456L)), "123456")
    })
  }
  withr::with_options(list(scipen = 20, OutDec = ","), {
    expect_identical(as.character(nv_tensor(c(0.1, 1e-7))), c("0,1", "0,0000001"))
  })
})
