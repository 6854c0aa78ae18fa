"""The Python half of narrow.R: files of dtypes that NumPy lacks, by NumPy, ml_dtypes and safetensors.

    python narrow.py write FOLDER
    python narrow.py compare FOLDER
"""

import ast
import json
import os
import sys

import ml_dtypes
import numpy
from safetensors import TensorSpec, deserialize, safe_open, serialize

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "narrow"))
from ml_names import ML_NAMES

try:
    import torch
    from safetensors.torch import save_file
except ImportError:
    torch = None

# Which the library of safetensors writes from memory, and those that it only reads.
WRITTEN = {"f8E4M3FN": "F8_E4M3", "f8E4M3FNUZ": "F8_E4M3FNUZ", "f8E5M2": "F8_E5M2",
           "f8E5M2FNUZ": "F8_E5M2FNUZ", "f8E8M0FNU": "F8_E8M0"}
SIX = {"f6E2M3FN": "F6_E2M3", "f6E3M2FN": "F6_E3M2"}
HALVES = {"c32": ml_dtypes.complex32, "bc32": ml_dtypes.bcomplex32}


def torch_types():
    """Those of WRITTEN that this PyTorch has."""
    return [name for name in WRITTEN if torch is not None and hasattr(torch, ML_NAMES[name])]


def bits_of(name):
    digits = "".join(c for c in ML_NAMES[name].split("_")[0] if c.isdigit())
    return int(digits)


def codes(name, count=256):
    return (numpy.arange(count) % 2 ** bits_of(name)).astype(numpy.uint8)


def typed(bytes_, name):
    return bytes_.view(getattr(ml_dtypes, ML_NAMES[name]))


def packed(values, bits):
    """The bits of the first element lowest, as one long number."""
    number = sum(int(value) << (bits * k) for k, value in enumerate(values))
    return number.to_bytes(len(values) * bits // 8, "little")


def safetensors_file(tensors):
    """A file made by hand: name, type, shape, bytes."""
    header, start = {}, 0
    for name, kind, shape, data in tensors:
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [start, start + len(data)]}
        start += len(data)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + b"".join(data for _, _, _, data in tensors)


def halves(kind):
    """Complex numbers of two halves, of all bits but those of NaN."""
    parts = numpy.random.default_rng(1).integers(0, 0x7c00, (5, 4, 3, 2), numpy.uint16)
    return (parts | (parts & 1) << 15).view(kind)[..., 0]


def write(folder):
    everything = {}
    for name in ML_NAMES:
        every = numpy.arange(256, dtype=numpy.uint8)
        numpy.save(os.path.join(folder, name + "-bytes.npy"), typed(every, name))
        # Of a byte with unused bits set, ml_dtypes takes the sign from these.
        values = typed(codes(name), name).astype(numpy.float64)
        numpy.save(os.path.join(folder, name + "-values.npy"), values)
        cube = typed(codes(name), name).reshape(4, 8, 8)
        numpy.save(os.path.join(folder, name + "-C.npy"), cube)
        numpy.save(os.path.join(folder, name + "-F.npy"), numpy.asfortranarray(cube))
        everything[name] = cube
    numpy.savez(os.path.join(folder, "all.npz"), **everything)
    kept = {name: codes(name) for name in WRITTEN}
    specs = {name: TensorSpec(dtype=ML_NAMES[name], shape=[4, 8, 8], data_ptr=data.ctypes.data,
                              data_len=256) for name, data in kept.items()}
    four = numpy.frombuffer(packed(codes("f4E2M1FN"), 4), numpy.uint8)
    specs["f4E2M1FN"] = TensorSpec(dtype="float4_e2m1fn_x2", shape=[4, 8, 4],
                                   data_ptr=four.ctypes.data, data_len=128)
    with open(os.path.join(folder, "theirs.safetensors"), "wb") as file:
        file.write(bytes(serialize(specs)))
    with open(os.path.join(folder, "six.safetensors"), "wb") as file:
        file.write(safetensors_file(
            [(name, kind, [4, 8, 8], packed(codes(name), 6)) for name, kind in SIX.items()]))
    kept = torch_types()
    for name in kept:
        cube = torch.from_numpy(codes(name)).view(getattr(torch, ML_NAMES[name]))
        tensors = {"cube": cube.view(4, 8, 8), "values": cube.to(torch.float64)}
        save_file(tensors, os.path.join(folder, name + "-torch.safetensors"))
    for name, kind in HALVES.items():
        words = halves(kind)
        numpy.save(os.path.join(folder, name + ".npy"), words)
        numpy.save(os.path.join(folder, name + "-values.npy"), words.astype(numpy.complex64))
    records = numpy.zeros((2, 3), [("a", "<i2"), ("b", "S5")])
    records["a"] = numpy.arange(6).reshape(2, 3)
    records["b"] = b"hello"
    numpy.save(os.path.join(folder, "records.npy"), records)
    days = numpy.arange(6).reshape(2, 3).astype("<M8[s]")
    numpy.save(os.path.join(folder, "days.npy"), days)
    numpy.save(os.path.join(folder, "objects.npy"), numpy.array([1, "a"], object))


def parts(path):
    """The header of an npy file and its data."""
    with open(path, "rb") as file:
        data = file.read()
    length = 10 + int.from_bytes(data[8:10], "little")
    return ast.literal_eval(data[10:length].decode()), data[length:]


def compare(folder):
    failed = passed = 0

    def check(ok, what):
        nonlocal failed, passed
        passed += bool(ok)
        failed += not ok
        if not ok:
            print("differs:", what)

    for name in ML_NAMES:
        for order in "CF":
            theirs = os.path.join(folder, f"{name}-{order}.npy")
            check(parts(theirs) == parts(theirs.replace(".npy", "-joist.npy")), theirs)
    with numpy.load(os.path.join(folder, "joist.npz")) as archive:
        for name in ML_NAMES:
            if name == "f8E5M2":
                continue  # NumPy writes its type, f1, and does not read it
            array = archive[name].view(getattr(ml_dtypes, ML_NAMES[name]))
            check(array.tobytes() == codes(name).tobytes() and array.shape == (4, 8, 8), name)
    for name, kind in HALVES.items():
        read = numpy.load(os.path.join(folder, name + "-joist.npy"))
        check(read.dtype == "V4" and read.view(kind).tobytes() == halves(kind).tobytes(), name)
    with open(os.path.join(folder, "joist.safetensors"), "rb") as file:
        read = dict(deserialize(file.read()))
    check(len(read) == len(WRITTEN) + len(SIX) + 1, "all tensors")
    for name, tensor in read.items():
        kind = {**WRITTEN, **SIX, "f4E2M1FN": "F4"}[name]
        data = packed(codes(name), bits_of(name))
        check(tensor["dtype"] == kind and tensor["shape"] == [4, 8, 8], name)
        check(bytes(tensor["data"]) == data, name)
    if torch_types():
        theirs = safe_open(os.path.join(folder, "joist.safetensors"), "pt")
        for name in torch_types():
            read = theirs.get_tensor(name)
            check(read.dtype == getattr(torch, ML_NAMES[name]), name + " of PyTorch")
            check(tuple(read.shape) == (4, 8, 8), name + " of PyTorch")
            data = read.view(torch.uint8).numpy().tobytes()
            check(data == codes(name).tobytes(), name + " of PyTorch")
        print(f"PyTorch {torch.__version__}: {len(torch_types())} dtypes")
    print(f"NumPy {numpy.__version__}: {passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit({"write": write, "compare": compare}[sys.argv[1]](sys.argv[2]))
