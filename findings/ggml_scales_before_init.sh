#!/bin/sh
# Expected: ggml's quantizers and decoders are functions of their arguments; a library that exports them can be asked.
# Found: until a first ggml_init(), which fills a table of 65,536 half-precision numbers as a side effect, every scale
# that is read back is 0, without an error. Blocks decode to zeros, and blocks of Q4_K have other bytes than afterwards:
# the encoder skips its last step, which fits codes to the rounded scales, and the file keeps its larger error for good.
# Where it matters: whoever compares block types with ggml by its shared library; the errors of its encoders in the
# tests of nv_quantize() were measured after ggml_init().
# ctransformers 0.2.27 (ggml inside), 30 November 2026
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
python3 -m pip download -q --no-deps --only-binary=:all: -d "$folder" ctransformers==0.2.27 || exit 2
python3 -m zipfile -e "$folder"/ctransformers-0.2.27-*.whl "$folder/files" || exit 2
python3 - "$folder/files/ctransformers/lib/basic/libctransformers.so" <<'PYTHON'
import ctypes
import math
import sys

ggml = ctypes.CDLL(sys.argv[1])
n = 256
x = (ctypes.c_float * n)(*[math.sin(k) for k in range(n)])


class Memory(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("buffer", ctypes.c_void_p), ("no_alloc", ctypes.c_bool)]


def written():
    blocks = (ctypes.c_uint8 * 144)()
    ggml.quantize_row_q4_K_reference(x, blocks, ctypes.c_int(n))
    return blocks


def read(blocks):
    y = (ctypes.c_float * n)()
    ggml.dequantize_row_q4_K(blocks, y, ctypes.c_int(n))
    return list(y)


def error(y):
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(y, x)) / n)


early = written()
zeros = read(early)
ggml.ggml_init.argtypes, ggml.ggml_init.restype = [Memory], ctypes.c_void_p
ggml.ggml_init(Memory(1 << 20, None, False))
late = written()
errors = error(read(early)), error(read(late))
print("ctransformers 0.2.27, sines of 0 to 255 as a block of Q4_K")
print("read before ggml_init(): only zeros" if not any(zeros) else "read before ggml_init(): numbers")
print(f"bytes that differ: {sum(a != b for a, b in zip(early, late))} of 144")
print(f"error, written before and after ggml_init(): {errors[0]:.5f} {errors[1]:.5f}")
holds = not any(zeros) and bytes(early) != bytes(late) and errors[0] > errors[1] > 0
print("Scales are 0 before ggml_init()." if holds else "This has changed.")
sys.exit(0 if holds else 1)
PYTHON
