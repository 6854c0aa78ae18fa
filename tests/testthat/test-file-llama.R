# The language model of the vignette, inst/examples/llama.R. tests/files/llama.py wrote what the
# Python package transformers makes of the same weights in doubles.

source(system.file("examples", "llama.R", package = "joist", mustWork = TRUE), local = TRUE)

shape <- list(
  width = 64L, heads = 4L, shared = 2L, hidden = 96L, layers = 2L, tokens = 48L, length = 32L
)

# In the order of the script.
llama_weights <- function() {
  layer <- c(
    "attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down", "attn_norm",
    "ffn_norm"
  )
  names <- c(
    "token_embd", "output_norm", "output", paste0("blk.0.", layer), paste0("blk.1.", layer)
  )
  extents <- lapply(random_model(shape, nv_key(1L)), joist::shape)
  made <- lapply(seq_along(names), function(number) {
    extent <- extents[[paste0(names[number], ".weight")]]
    k <- seq_len(prod(extent)) + 1000 * number
    level <- (k^3 %% 65537 - 32768) / 32768
    if (length(extent) < 2L) {
      return(nv_tensor(1 + level / 4, "f32"))
    }
    nv_tensor(level * sqrt(3 / extent[1L]), "f32", shape = extent)
  })
  stats::setNames(made, paste0(names, ".weight"))
}

test_that("a Llama model in R has the logits and tokens of the package transformers", {
  want <- nv_read_safetensors(test_path("llama.safetensors"))
  tokens <- as.integer(want$tokens) + 1L # which count from 0
  model <- llama_weights()
  first <- nv_scalar(0L, "i32")
  got <- forward(model, shape, nv_tensor(tokens[1:5], "i32"), empty_cache(shape), first)
  expect_equal(as_array(got$logits), t(as_array(want$logits)), tolerance = 1e-5)
  expect_identical(continued(model, shape, tokens[1:5], 20L), tokens)
  # One token after the other, with the cache, is all of them at once.
  cache <- empty_cache(shape)
  step <- jit(forward, static = "shape")
  for (k in 1:5) {
    one <- step(model, shape, nv_tensor(tokens[k], "i32"), cache, nv_scalar(k - 1L, "i32"))
    expect_equal(as_array(one$logits)[, 1], as_array(want$logits)[k, ], tolerance = 1e-5)
    cache <- one$cache
  }
  expect_equal(lapply(cache[[2]], as_array), lapply(got$cache[[2]], as_array), tolerance = 1e-5)
})
