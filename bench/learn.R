# What learns, and a long program, for bench/compare.R: gradients and loops in one program.
# bench/learn.py has the same for JAX. Matrices come as R's here and as their transposes there: the
# same numbers side by side.

# 50 steps down the gradient of a logistic regression.
logistic_regression <- function(x, y) {
  loss <- function(w) {
    z <- nv_flatten(nv_matmul(x, w))
    mean(nv_softplus(z) - y * z)
  }
  slope <- gradient(loss)
  nv_for(50L, nv_fill(0, 20L, "f32"), function(i, w) w - 0.5 * slope(w)$w)
}

# The weights of a 784-128-10 network after one step on 128 images.
network <- function(images, targets, weights) {
  w <- list(
    first = nv_reshape(weights[1:100352], c(784, 128)), shift = nv_fill(0, c(1, 128), "f32"),
    second = nv_reshape(weights[100353:101632], c(128, 10)), bias = nv_fill(0, c(1, 10), "f32")
  )
  loss <- function(w) {
    hidden <- nv_max(nv_matmul(images, w$first) + w$shift, 0)
    likelihood <- nv_log_softmax(nv_matmul(hidden, w$second) + w$bias, 2L)
    -mean(nv_reduce_sum(likelihood * targets, 2L))
  }
  slope <- gradient(loss)(w)$w
  moved <- Map(function(w, slope) nv_flatten(w - 0.1 * slope), w, slope)
  do.call(nv_concatenate, unname(moved))
}

# The gradient of the sum of the last state of a recurrence of 10,000 iterations.
recurrence <- function(xs, w) {
  gradient(function(w) {
    last <- nv_scan(nv_fill(0, 16L, "f32"), xs, function(s, x) {
      list(tanh(s * w + x), NULL)
    })
    sum(last$carry)
  })(w)$w
}

# A state of 16 after 10,000 turns.
turns <- function(xs, w) {
  nv_scan(nv_fill(0, 16L, "f32"), xs, function(s, x) {
    list(tanh(s * w + x), NULL)
  })$carry
}

# 2,000 operations, one after the other.
chain <- function(x) {
  for (i in 1:500) x <- nv_max(x * 0.99 + 1.5 - 0.25, 0.1)
  x
}
