# Random programs with loops, branches, moves and reductions, for compiled code beside the
# interpreter: a function of a list of tensors, made of expressions that keep a vector of `n`
# elements, a matrix of `n` x `m` and a scalar going.

can_compile <- function() {
  headers <- system.file("native", package = "joist")
  nzchar(headers) && .Platform$OS.type == "unix"
}

native_dtypes <- c("f64", "f32", "i32", "i64", "ui8", "f16", "i16")

native_pick <- function(...) {
  choices <- list(...)
  choices[[sample(length(choices), 1L)]]
}

# A power of which the exponent is the same for all elements.
native_power <- function(a) {
  x <- call("nv_convert", a, native_pick("f64", "f32"))
  call("^", x, native_pick(2L, 3L, 4L, 0.5, -1L, 1.5))
}

# `s` is a scalar, `v` a vector of 5, `m` a matrix of 5 x 4, `i` the number of an iteration.
native_scalar <- function(depth) {
  if (depth == 0L) {
    return(native_pick(quote(s), quote(at(v, 2L)), quote(at(m[3L, ], 2L)), 2L, 0.5, quote(i)))
  }
  a <- native_scalar(depth - 1L)
  switch(sample(9L, 1L),
    call("+", a, native_scalar(depth - 1L)),
    call("*", a, native_scalar(depth - 1L)),
    call("sum", native_vector(depth - 1L)),
    call("max", native_vector(depth - 1L)),
    call("nv_mean", native_matrix(depth - 1L)),
    bquote(at(v, position(.(a)))),
    call("sin", call("nv_convert", a, "f64")),
    call("nv_ifelse", call("<", a, native_scalar(depth - 1L)), a, 3L),
    bquote(nv_if(.(a) > 0, .(native_scalar(depth - 1L)), .(a)))
  )
}

native_vector <- function(depth) {
  if (depth == 0L) {
    return(native_pick(quote(v), quote(v), quote(m[, 2L]), quote(w), quote(rev(v))))
  }
  a <- native_vector(depth - 1L)
  switch(sample(14L, 1L),
    call("+", a, native_vector(depth - 1L)),
    native_power(a),
    call("*", a, native_scalar(depth - 1L)),
    call("c", bquote(.(a)[2:5]), native_scalar(depth - 1L)),
    bquote(nv_pad(.(a)[1:3], 0L, 1L, 1L)),
    bquote(nv_reduce_sum(.(native_matrix(depth - 1L)), 2L)),
    bquote(nv_reduce_max(.(native_matrix(depth - 1L)), 2L)),
    bquote(t(.(native_matrix(depth - 1L)))[3L, ]),
    bquote(replaced(.(a), 2:4, .(native_scalar(depth - 1L)))),
    bquote(replaced(.(a), position(i), .(native_scalar(depth - 1L)))),
    bquote(.(a)[c(5L, 3L, 1L, 2L, 4L)] - .(native_vector(depth - 1L))),
    call("exp", call("nv_convert", call("nv_min", a, 1L), "f64")),
    call("nv_cumsum", a),
    bquote(nv_if(.(native_scalar(depth - 1L)) < 1, .(a), .(native_vector(depth - 1L))))
  )
}

native_matrix <- function(depth) {
  if (depth == 0L) {
    return(native_pick(quote(m), quote(m), quote(m[5:1, ])))
  }
  a <- native_matrix(depth - 1L)
  switch(sample(9L, 1L),
    call("+", a, native_matrix(depth - 1L)),
    call("*", a, bquote(nv_reshape(.(native_vector(depth - 1L)), c(5L, 1L)))),
    bquote(.(a) + nv_reshape(.(a)[2L, ], c(1L, 4L))),
    bquote(t(t(.(a))[4:1, ])),
    bquote(cbind(.(a)[, 2:4], .(native_vector(depth - 1L)))),
    bquote(rbind(.(a)[1:2, ], .(native_matrix(depth - 1L))[3:5, ])),
    bquote(nv_pad(.(a)[2:4, 2:3], 1L, c(1L, 1L), c(1L, 1L))),
    bquote(nv_pad(.(a)[1:4, 2:4] + .(native_matrix(depth - 1L))[2:5, 1:3], s, 0:1, 1:0)),
    bquote(replaced(.(a), 2:3, .(native_scalar(depth - 1L))))
  )
}

# The next state, of the dtypes of the one before.
native_step <- function(depth) {
  bquote(list(
    s = like(.(native_scalar(depth)), s), v = like(.(native_vector(depth)), v),
    m = like(.(native_matrix(depth)), m)
  ))
}

native_parts <- list(
  like = function(x, y) nv_convert(nv_broadcast_to(x, shape(y)), dtype(y), ambiguous(y)),
  at = function(x, i) nv_reshape(x[i], integer()),
  position = function(x) nv_convert(x, "i64") %% 5L + 1L,
  near = function(x, n) nv_convert(x, "i32") %% n + 1L,
  replaced = function(x, i, value) {
    x[i] <- nv_convert(value, dtype(x))
    x
  }
)

# A function of s, v, m and n that is compiled by jit().
native_program <- function() {
  step <- native_step(sample(2L, 1L))
  body <- switch(sample(4L, 1L),
    bquote(nv_for(n, list(s = s, v = v, m = m), function(i, s, v, m) .(step))),
    bquote(nv_while(list(k = 0L, s = s, v = v, m = m), function(k, s, v, m) k < n,
      function(k, s, v, m) {
        i <- k
        c(list(k = k + 1L), .(step))
      })),
    bquote(nv_scan(list(s = s, v = v, m = m), 1L:6L + 0L * n, function(state, i) {
      s <- state$s
      v <- state$v
      m <- state$m
      list(.(step), list(.(native_scalar(1L)), .(native_vector(1L))))
    })),
    bquote(nv_for(n, list(s = s, v = v, m = m), function(j, s, v, m) {
      nv_for(3L, list(s = s, v = v, m = m), function(i, s, v, m) .(step))
    }))
  )
  empty <- formals(function(s, v, m, w, n) NULL)
  f <- eval(call("function", empty, body))
  environment(f) <- list2env(native_parts, parent = environment())
  f
}

native_arguments <- function() {
  dtypes <- sample(native_dtypes, 4L, TRUE)
  missing <- runif(1) < 0.2
  number <- function(n) sample(c(0, 1, 2, 3, 5, 7), n, TRUE) / native_pick(1, 1, 2)
  v <- nv_convert(nv_tensor(number(5)), dtypes[2L])
  if (missing) v[3L] <- NA
  list(
    s = nv_convert(nv_scalar(number(1)), dtypes[1L]), v = v,
    m = nv_convert(nv_tensor(matrix(number(20), 5)), dtypes[3L]),
    w = nv_convert(nv_tensor(number(5)), dtypes[4L]), n = nv_scalar(sample(0:7, 1L), "i32")
  )
}

# A matrix of 30 x 20, from moves of others, outside of loops. `p` are 20 positions, `i` is 1.
native_wide <- function(depth) {
  if (depth == 0L) {
    return(native_pick(quote(m), quote(m), quote(k), quote(m[30:1, ]), quote(k[, 20:1])))
  }
  a <- native_wide(depth - 1L)
  b <- if (runif(1) < 0.3) a else native_wide(depth - 1L)
  switch(sample(21L, 1L),
    call("+", a, b),
    native_power(a),
    call("+", native_power(call("-", a, b)), native_power(a)),
    call("*", a, b),
    bquote(.(a) - nv_reshape(.(b)[, 3L], c(30L, 1L))),
    bquote(.(a) - nv_reshape(nv_reduce_sum(.(b), 1L), c(1L, 20L))),
    bquote(.(a)[.(sample(30L, 30L, TRUE)), ]),
    bquote(.(a)[, .(sample(20L, 20L, TRUE))]),
    bquote(.(a)[.(sample(30L, 30L, TRUE)), .(sample(20L, 20L, TRUE))]),
    bquote(nv_gather(.(a), p, 2L)),
    bquote(nv_gather(.(a), near(.(b)[, 2L], 30L), 1L)),
    bquote(nv_reshape(nv_reshape(.(a), 600L)[.(sample(600L, 600L, TRUE))], c(30L, 20L))),
    bquote(nv_reshape(nv_gather(nv_reshape(.(a), 600L), near(.(b), 600L)), c(30L, 20L))),
    bquote(nv_reshape(nv_gather(.(a), nv_reshape(p, c(4L, 5L)), 2L), c(30L, 20L))),
    bquote(nv_pad(.(a)[2:29, 3:19], 1L, c(1L, 2L), c(1L, 1L))),
    bquote(nv_pad(.(a), 0L, c(-1L, 2L), c(1L, -2L))),
    bquote(nv_pad(.(a)[seq(1L, 30L, 2L), seq(20L, 1L, -2L)], 2L, c(0L, 1L), c(1L, 0L), c(1L, 1L))),
    bquote(cbind(.(a)[, 5:20], .(b)[, 1:4])),
    bquote(rbind(.(a)[21:30, ], .(b)[20:1, ])),
    bquote(t(t(.(a))[20:1, ])),
    bquote(nv_ifelse(.(a) < .(b), .(a), sin(nv_convert(.(b), "f64"))))
  )
}

# A function of m, k and p that is compiled by jit(), without loops.
native_wide_program <- function() {
  body <- bquote({
    all <- .(native_wide(3L))
    list(all, nv_reduce_sum(all * .(native_wide(1L)), .(sample(2L, 1L))), max(.(native_wide(2L))))
  })
  f <- eval(call("function", formals(function(m, k, p) NULL), body))
  environment(f) <- list2env(native_parts, parent = environment())
  f
}

native_wide_arguments <- function() {
  dtypes <- sample(c(native_dtypes, "f32", "f64"), 2L, TRUE)
  matrix_of <- function(d) nv_convert(nv_tensor(matrix(sample(0:7, 600, TRUE) / 2, 30)), d)
  p <- sample(20L, 20L, TRUE)
  if (runif(1) < 0.1) p[7L] <- sample(c(0L, 21L, -3L), 1L)
  list(
    m = matrix_of(dtypes[1L]), k = matrix_of(dtypes[2L]),
    p = nv_tensor(p, sample(c("i32", "i64", "i16"), 1L))
  )
}

# What a call gives, in all that can differ: or the message of its error.
native_outcome <- function(f, arguments) {
  tryCatch(
    rapply(do.call(f, arguments), function(x) {
      bytes <- nv_serialize(list(x = x), na = 0)
      list(format(dtype(x)), ambiguous(x), shape(x), is.na(as_array(x)), bytes)
    }, how = "list"),
    error = function(e) conditionMessage(e)
  )
}
