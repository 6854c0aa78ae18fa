"""R, in whose process this runs: array_api.R has made its functions the module joist_r."""
import ctypes

import joist_r

ERRORS = {
    "joist_promotion_error": TypeError,
    "joist_dtype_error": TypeError,
    "joist_shape_error": ValueError,
    "joist_value_error": ValueError,
}


class RError(RuntimeError):
    """An error that is not joist's own."""


class Process:
    def __init__(self):
        self.dropped = []
        self.count = 0

    def run(self, code, blob=b""):
        """The text or bytes that R code gives."""
        if self.dropped:
            names, self.dropped = ", ".join(self.dropped), []
            code = f"rm({names}); {code}"
        name, content = joist_r.answer(code, bytearray(blob))
        if name:
            raise ERRORS.get(name, RError)(content)
        return content

    def keep(self, code, blob=b""):
        """The name of the tensor that R code gives, its dtype and its shape."""
        self.count += 1
        name = f"t{self.count}"
        dtype, *extents = self.run(f"{name} <- {code}", blob).split(" ")
        return name, dtype, tuple(map(int, extents))


process = Process()


# ---- DLPack: the memory of a tensor, with the standard's order of dimensions ----

class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("dtype", ctypes.c_uint8 * 4), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


# What is before it in a DLManagedTensorVersioned and in a DLManagedTensor.
_BEFORE = {b"dltensor_versioned": 32, b"dltensor": 0}
_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))


def turned(capsule):
    """Reverses the dimensions of what a capsule of ours points to."""
    name = next(name for name in _BEFORE if _valid(capsule, name))
    tensor = Tensor.from_address(_pointer(capsule, name) + _BEFORE[name])
    for numbers in (tensor.shape, tensor.strides):
        for k, number in enumerate(reversed(numbers[:tensor.ndim])):
            numbers[k] = number
    return capsule


class Turned:
    """What has a __dlpack__() of ours, for R, which has its own order of dimensions."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **given):
        return turned(self.x.__dlpack__(**given))


def lend(name):
    """An object with __dlpack__(): the tensor with its dimensions in R's order."""
    return joist_r.lend(name)


def borrow(x):
    """The tensor of such an object: its name, dtype and shape."""
    joist_r.borrow(x)
    return process.keep("borrowed")
