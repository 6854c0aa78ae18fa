# A Llama-like language model in R, with joist: root mean square norms, rotary positions,
# heads that share keys and values, gated layers, and a cache of keys and values.
#
# `shape` is a list of `width`, `heads`, `shared` (heads of keys and values), `hidden`, `layers`,
# `tokens` and `length` (of the cache). A model is a list of tensors by the names that GGUF files
# have; matrices have a column per output. They can be packed.

## ---- model ----
normed <- function(x, weight) {
  x / sqrt(nv_mean(x^2, 1L, drop = FALSE) + 1e-5) * nv_unsqueeze(weight, 2L)
}

# Pairs of the first and second half of a head, turned by angles that grow with the position.
rotated <- function(x, at) {
  half <- nrow(x) %/% 2L
  angle <- nv_outer(10000^(-(seq_len(half) - 1) / half), nv_convert(at, "f32"))
  turn <- nv_reshape(angle, c(half, 1L, length(at)))
  first <- x[seq_len(half), , , drop = FALSE]
  second <- x[half + seq_len(half), , , drop = FALSE]
  nv_concatenate(
    first * cos(turn) - second * sin(turn), second * cos(turn) + first * sin(turn), dim = 1L
  )
}

# Columns of `x` are tokens at the positions `at`, counted from 0.
attention <- function(w, shape, x, at, cache) {
  n <- ncol(x)
  size <- shape$width %/% shape$heads
  group <- shape$heads %/% shape$shared
  of_heads <- function(name, heads) nv_reshape(crossprod(w(name), x), c(size, heads, n))
  query <- rotated(of_heads("attn_q", shape$heads), at)
  cache$key[, at + 1L, ] <- aperm(rotated(of_heads("attn_k", shape$shared), at), c(1L, 3L, 2L))
  cache$value[, at + 1L, ] <- aperm(of_heads("attn_v", shape$shared), c(1L, 3L, 2L))
  query <- aperm(nv_reshape(query, c(size, group, shape$shared, n)), c(1L, 2L, 4L, 3L))
  query <- nv_reshape(query, c(size, group * n, shape$shared))
  scores <- nv_reshape(
    nv_crossprod(cache$key, query) / sqrt(size), c(shape$length, group, n, shape$shared)
  )
  later <- nv_reshape(nv_seq_len(shape$length) - 1L, c(shape$length, 1L, 1L, 1L)) >
    nv_reshape(at, c(1L, 1L, n, 1L))
  share <- nv_softmax(nv_ifelse(later, -Inf, scores), 1L)
  mixed <- nv_matmul(
    cache$value, nv_reshape(share, c(shape$length, group * n, shape$shared))
  )
  mixed <- aperm(nv_reshape(mixed, c(size, group, n, shape$shared)), c(1L, 2L, 4L, 3L))
  list(out = crossprod(w("attn_output"), nv_reshape(mixed, c(shape$width, n))), cache = cache)
}

# The logits of what follows each of `tokens`, after `done` others, and the cache.
forward <- function(model, shape, tokens, cache, done) {
  x <- model$token_embd.weight[, tokens, drop = FALSE]
  at <- done + nv_seq_len(length(tokens)) - 1L
  for (k in seq_len(shape$layers)) {
    w <- function(name) model[[paste0("blk.", k - 1L, ".", name, ".weight")]]
    mixed <- attention(w, shape, normed(x, w("attn_norm")), at, cache[[k]])
    cache[[k]] <- mixed$cache
    x <- x + mixed$out
    y <- normed(x, w("ffn_norm"))
    gate <- crossprod(w("ffn_gate"), y)
    x <- x + crossprod(w("ffn_down"), gate * nv_logistic(gate) * crossprod(w("ffn_up"), y))
  }
  list(logits = crossprod(model$output.weight, normed(x, model$output_norm.weight)), cache = cache)
}

empty_cache <- function(shape) {
  extents <- c(shape$width %/% shape$heads, shape$length, shape$shared)
  one <- list(key = nv_fill(0, extents, "f32"), value = nv_fill(0, extents, "f32"))
  rep(list(one), shape$layers)
}

## ---- decode ----
# The likeliest next token, `count` times: first of all tokens at once, then of one after the other.
best_next <- jit(function(model, shape, tokens, cache, done) {
  made <- forward(model, shape, tokens, cache, done)
  list(token = which.max(made$logits[, length(tokens)]), cache = made$cache)
}, static = "shape")

continued <- function(model, shape, tokens, count) {
  state <- list(token = nv_tensor(tokens, "i32"), cache = empty_cache(shape))
  done <- 0L
  for (k in seq_len(count)) {
    given <- state$token
    state <- best_next(model, shape, given, state$cache, nv_scalar(done, "i32"))
    done <- done + length(given)
    tokens <- c(tokens, as.integer(state$token))
  }
  tokens
}

## ---- weights ----
# Random weights; norms begin as ones.
random_model <- function(shape, key) {
  kept <- shape$width %/% shape$heads * shape$shared
  square <- c(shape$width, shape$width)
  layer <- list(
    attn_q = square, attn_k = c(shape$width, kept), attn_v = c(shape$width, kept),
    attn_output = square, ffn_gate = c(shape$width, shape$hidden),
    ffn_up = c(shape$width, shape$hidden), ffn_down = c(shape$hidden, shape$width),
    attn_norm = shape$width, ffn_norm = shape$width
  )
  extents <- rep(list(layer), shape$layers)
  names(extents) <- paste0("blk.", seq_along(extents) - 1L)
  extents <- c(
    list(token_embd = c(shape$width, shape$tokens), output_norm = shape$width,
      output = c(shape$width, shape$tokens)),
    unlist(extents, recursive = FALSE)
  )
  keys <- nv_key_split(key, length(extents))
  model <- Map(function(extents, k) {
    if (length(extents) == 1L) {
      return(nv_fill(1, extents, "f32"))
    }
    nv_rnorm(extents, sd = 1 / sqrt(extents[1L]), dtype = "f32", key = keys[[k]])
  }, extents, seq_along(extents))
  stats::setNames(model, paste0(names(model), ".weight"))
}

# Packs the matrices in blocks of `type` and leaves other tensors unchanged.
quantized <- function(model, type) {
  lapply(model, function(w) if (ndims(w) == 2L) nv_quantize(w, type = type) else w)
}
