"""Writes the logits and tokens of a small Llama model, by the package transformers, that
test-file-llama.R expects.

    python llama.py tests/testthat/llama.safetensors

The weights are made by a formula, there and here.
"""
import sys

import numpy as np
import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(
    vocab_size=48, hidden_size=64, intermediate_size=96, num_hidden_layers=2,
    num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=32, rms_norm_eps=1e-5,
    rope_theta=10000.0, tie_word_embeddings=False, bos_token_id=None, eos_token_id=None,
    attn_implementation="eager")
model = LlamaForCausalLM(config).double().eval()


def weights(number, extents, norm):
    k = np.arange(1, np.prod(extents) + 1)
    level = ((k + 1000 * number)**3 % 65537 - 32768) / 32768
    if norm:
        return 1 + level / 4
    return (level * np.sqrt(3 / extents[-1])).reshape(extents)


names = ["model.embed_tokens", "model.norm", "lm_head"]
for layer in range(2):
    names += [f"model.layers.{layer}.{name}" for name in (
        "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
        "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj", "input_layernorm",
        "post_attention_layernorm")]
with torch.no_grad():
    for number, name in enumerate(names, 1):
        weight = model.get_submodule(name).weight
        made = weights(number, tuple(weight.shape), weight.dim() == 1)
        weight.copy_(torch.from_numpy(made.astype(np.float32)).double())
    start = torch.tensor([[25, 46, 1, 24, 11]])
    logits = model(start).logits[0]
    tokens = model.generate(start, max_new_tokens=20, do_sample=False)[0]
    whole = model(tokens[None]).logits[0]
best = torch.sort(whole, dim=1, descending=True).values
print("tokens", tokens.tolist(), "gaps", (best[:, 0] - best[:, 1]).min().item())
save_file({"logits": logits.contiguous(), "tokens": tokens}, sys.argv[1])
