# Random loops: a body of random operations, run turn by turn by R, by nv_for(), nv_scan() and
# nv_while(), and within jit(). All give the same dtypes, flags and bits.

bits <- function(x) {
  width <- c(f16 = "ui16", bf16 = "ui16", f32 = "ui32", f64 = "ui64")[format(dtype(x))]
  if (is.na(width)) as_array(x) else as_array(nv_bitcast_convert(x, width), as = "character")
}

described <- function(state) {
  lapply(state, function(x) list(format(dtype(x)), ambiguous(x), joist::shape(x), bits(x)))
}

random_expression <- function(depth) {
  leaf <- list(quote(s[[1]]), quote(s[[2]]), quote(i), quote(w), 2L, 0.5, TRUE)
  if (depth == 0L || runif(1) < 0.15) {
    return(leaf[[sample(length(leaf), 1L)]])
  }
  part <- function() random_expression(depth - 1L)
  switch(sample(9L, 1L),
    call("+", part(), part()),
    call("*", part(), part()),
    call("nv_min", part(), part()),
    call("nv_max", part(), part()),
    call("nv_sin", part()),
    call("nv_convert", part(), sample(c("i16", "f16", "f32", "i64"), 1L)),
    call("nv_ifelse", call("<", part(), part()), part(), part()),
    call("branch", call("<", call("sum", part()), 1L), call("+", part(), quote(w)), quote(w)),
    call("again", call("+", part(), quote(w)), random_expression(1L))
  )
}

# Functions of a state of two tensors of the shape of `w`. Each is converted to its type, so that
# every body has a fixed point.
random_body <- function(types) {
  own <- lapply(1:2, function(k) {
    bquote(nv_convert(nv_broadcast_to(.(random_expression(3L)), c(3L)), .(types[k]), .(k == 2L)))
  })
  eval(bquote(function(i, s, w, branch, again) list(.(own[[1]]), .(own[[2]]))))
}

by_r <- list(
  branch = function(pred, yes, no) nv_ifelse(pred, yes, no),
  again = function(x, y) {
    for (k in 1:2) x <- nv_convert(x * 0.5 + y, dtype(x), ambiguous(x))
    x
  }
)
by_loops <- list(
  branch = function(pred, yes, no) nv_if(pred, yes, no),
  again = function(x, y) {
    nv_for(2L, x, function(k, x) nv_convert(x * 0.5 + y, dtype(x), ambiguous(x)))
  }
)

test_that("random loops give what R's loops give", {
  set.seed(20)
  dtypes <- c("i16", "ui8", "i32", "i64", "f16", "bf16", "f32", "f64")
  ran <- 0L
  while (ran < 60L) {
    types <- sample(dtypes, 2L)
    start <- list(
      nv_convert(nv_tensor(c(1, 3, 2)), types[1]), nv_convert(nv_tensor(c(2, 0, 1)), types[2], TRUE)
    )
    w <- nv_convert(nv_tensor(c(1, 2, 3)), sample(dtypes, 1L))
    body <- random_body(types)
    n <- sample(0:4, 1L)
    turn <- function(i) nv_tensor(i, shape = integer(), ambiguous = TRUE)
    # What no program can do, such as the sum of an operand of another rank, fails at once.
    expected <- tryCatch(
      {
        state <- start
        body(turn(1L), start, w, by_r$branch, by_r$again)
        for (i in seq_len(n)) state <- body(turn(i), state, w, by_r$branch, by_r$again)
        state
      },
      joist_error = function(e) NULL
    )
    if (is.null(expected)) next
    ran <- ran + 1L
    step <- function(i, s, w) body(i, s, w, by_loops$branch, by_loops$again)
    loops <- list(
      "for" = function(start, w, n) nv_for(n, start, function(i, s) step(i, s, w)),
      "while" = function(start, w, n) {
        nv_while(
          list(i = 1L, s = start), function(i, s) i <= n,
          function(i, s) list(i = i + 1L, s = step(i, s, w))
        )$s
      },
      scan = function(start, w, n) {
        turns <- nv_tensor(seq_len(4L), ambiguous = TRUE)
        out <- nv_scan(list(start, start), turns, function(s, i) {
          s <- list(s[[1]], Map(function(old, new) nv_ifelse(i <= n, new, old), s[[2]],
            step(i, s[[2]], w)
          ))
          list(s, NULL)
        })
        Map(function(x, like) nv_convert(x, dtype(like), ambiguous(like)), out$carry[[2]], start)
      }
    )
    for (name in names(loops)) {
      for (f in list(loops[[name]], jit(loops[[name]]))) {
        expect_identical(
          described(f(start, w, n)), described(expected),
          label = paste(name, paste(deparse(body), collapse = " "))
        )
      }
    }
  }
})
