"""Writes the model files that test-file-gguf.R and test-file-pytorch.R read.

    python models.py tests/testthat/gguf tests/testthat/pytorch

Blocks have random bytes and scales of a usual size; values are what the package gguf makes of them.
Checkpoints are pickles as torch.save() writes them, without torch: modules of its names stand in.
"""
import collections
import io
import os
import pickle
import sys
import types
import zipfile

import gguf
import numpy as np

rng = np.random.default_rng(57)
Q = gguf.GGMLQuantizationType
SCALES = {"Q5_0": [0], "Q5_1": [0, 2], "Q2_K": [80, 82], "Q3_K": [108], "Q5_K": [0, 2],
          "IQ4_XS": [0], "TQ2_0": [64], "NVFP4": []}
GRIDS = {"IQ2_XXS": [0], "IQ2_XS": [0], "IQ2_S": [0], "IQ3_XXS": [0], "IQ3_S": [0],
         "IQ1_S": [0], "IQ1_M": [48]}


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_blocks(folder, types):
    for name, places in types.items():
        elements, size = gguf.GGML_QUANT_SIZES[Q[name]]
        blocks = rng.integers(0, 256, (3 * 256 // elements, size), dtype=np.uint8)
        for at in places:
            scales = rng.normal(0, 0.1, len(blocks)).astype(np.float16)
            if name == "IQ1_M":  # four bits in each of four numbers
                for k in range(4):
                    four = scales.view(np.uint16) >> (4 * k) & 15
                    blocks[:, at + 2 * k + 1] = blocks[:, at + 2 * k + 1] & 15 | four << 4
            else:
                blocks[:, at:at + 2] = scales.view(np.uint8).reshape(-1, 2)
        data = blocks.reshape(3, -1)
        writer = gguf.GGUFWriter(os.path.join(folder, name + ".gguf"), "test")
        writer.add_tensor("x", data, raw_dtype=Q[name])
        writer.add_tensor("one", np.array([1.5, -2], np.float32))
        finish(writer)
        values = gguf.quants.dequantize(data, Q[name]).astype(np.float32)
        np.save(os.path.join(folder, name + ".values.npy"), values)


def write_metadata(folder, name, endian):
    writer = gguf.GGUFWriter(os.path.join(folder, name + ".gguf"), "test", endianess=endian)
    writer.add_custom_alignment(64)
    writer.add_uint8("u8", 255)
    writer.add_int8("i8", -128)
    writer.add_uint16("u16", 65535)
    writer.add_int16("i16", -32768)
    writer.add_uint32("u32", 4294967295)
    writer.add_int32("i32", -2147483648)
    writer.add_float32("f32", 0.1)
    writer.add_uint64("u64", 18446744073709551615)
    writer.add_int64("i64", -9223372036854775808)
    writer.add_float64("f64", 0.1)
    writer.add_bool("yes", True)
    writer.add_string("text", "gr\u00fc\u00df")
    writer.add_array("numbers", [1, 2, 3])
    writer.add_array("words", ["a", "", "bc"])
    writer.add_tensor("a", np.arange(6, dtype=np.float32).reshape(2, 3))
    writer.add_tensor("b", np.arange(4, dtype=np.int16))
    writer.add_tensor("c", np.array([1.5, 2.5], np.float64))
    blocks = gguf.quants.quantize(np.linspace(-2, 2, 64, dtype=np.float32).reshape(2, 32), Q.Q8_0)
    if endian == gguf.GGUFEndian.BIG:
        blocks = blocks.copy()
        blocks[:, [0, 1]] = blocks[:, [1, 0]]
    writer.add_tensor("q", blocks, raw_dtype=Q.Q8_0)
    finish(writer)


# ---- checkpoints ----

def module(name, **members):
    sys.modules[name] = made = types.ModuleType(name)
    for key, value in members.items():
        value.__module__ = name
        value.__qualname__ = value.__name__ = key
        setattr(made, key, value)
    return made


class Storage:
    def __init__(self, kind, key, data):
        self.kind, self.key, self.data = kind, key, data


class Tensor:
    def __init__(self, storage, offset, size, stride, parameter=False):
        self.fields, self.parameter = (storage, offset, size, stride), parameter

    def __reduce__(self):
        rest = (*self.fields, False, collections.OrderedDict())
        if self.parameter:
            plain = Tensor(*self.fields)
            return utils._rebuild_parameter, (plain, True, collections.OrderedDict())
        return utils._rebuild_tensor_v2, rest


utils = module("torch._utils", _rebuild_tensor_v2=lambda *a: a, _rebuild_parameter=lambda *a: a)
kinds = {name: type(name, (), {}) for name in ("FloatStorage", "LongStorage", "BFloat16Storage")}
module("torch", **kinds)


class Pickler(pickle.Pickler):
    def persistent_id(self, x):
        if isinstance(x, Storage):
            return ("storage", kinds[x.kind], x.key, "cpu", len(x.data) // 4)
        return None


def write_checkpoint(path, x, storages):
    out = io.BytesIO()
    Pickler(out, protocol=2).dump(x)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", out.getvalue())
        archive.writestr("archive/byteorder", "little")
        for s in storages:
            archive.writestr("archive/data/" + s.key, s.data)


class Hostile:
    def __reduce__(self):
        return print, ("this was run",)


def write_checkpoints(folder):
    floats = Storage("FloatStorage", "0", np.arange(12, dtype=np.float32).tobytes())
    longs = Storage("LongStorage", "1", np.array([1, -2**62], np.int64).tobytes())
    state = collections.OrderedDict(
        weight=Tensor(floats, 0, (3, 4), (4, 1)), turned=Tensor(floats, 0, (4, 3), (1, 4)),
        part=Tensor(floats, 5, (2, 2), (4, 1), parameter=True), longs=Tensor(longs, 0, (2,), (1,)),
        scalar=Tensor(floats, 3, (), ()))
    other = {"state": state, "epoch": 7, "rate": 0.5, "name": "gr\u00fc\u00df", "best": None,
             "flags": [True, False], "big": -70000, "pair": (1, "a"), "list": [state["longs"]]}
    write_checkpoint(os.path.join(folder, "state.pt"), other, [floats, longs])
    write_checkpoint(os.path.join(folder, "hostile.pt"), {"a": Hostile()}, [])
    beyond = Tensor(floats, 9, (2, 2), (2, 1))
    write_checkpoint(os.path.join(folder, "beyond.pt"), {"a": beyond}, [floats])


os.makedirs(sys.argv[1], exist_ok=True)
os.makedirs(sys.argv[2], exist_ok=True)
write_blocks(sys.argv[1], SCALES)
write_metadata(sys.argv[1], "meta", gguf.GGUFEndian.LITTLE)
write_metadata(sys.argv[1], "big", gguf.GGUFEndian.BIG)
write_checkpoints(sys.argv[2])
write_blocks(sys.argv[1], GRIDS)
