"""What joist does in Python: memory of R's tensors for NumPy and DLPack, and the other way around.

Addresses come from R and go there as text in hexadecimal digits. The functions of C that are called
here take no part in R and can be called from any thread.
"""

import ctypes
import sys
import types

_pointer_to = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_set_name = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_SetName", ctypes.pythonapi)
)
_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))
# A capsule that is being destroyed is not an object that could be referred to: it is an address.
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)

# Capsules do not copy their names.
_VERSIONED, _PLAIN = b"dltensor_versioned", b"dltensor"
_USED = {_VERSIONED: b"used_dltensor_versioned", _PLAIN: b"used_dltensor"}
_CPU = 1
_PADDED = 4  # a flag: elements of fewer than 8 bits have a byte each

_end = _again = _copied = _drop = None


def connect(functions):
    """Takes the addresses of the functions of C, see joist_r_dlpack_functions()."""
    global _end, _again, _copied, _drop
    end, again, copied, connect_capsules, _drop = [int(address, 16) for address in functions]
    _end = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(end)
    _again = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(again)
    _copied = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(copied)
    # The destructor is one of C: it may be called while an exception is pending.
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(connect_capsules)(
        ctypes.cast(ctypes.pythonapi.PyCapsule_IsValid, ctypes.c_void_p),
        ctypes.cast(ctypes.pythonapi.PyCapsule_GetPointer, ctypes.c_void_p),
    )


# ---- from R ----


class Memory:
    """Memory of a tensor in R, given back when Python lets go of this."""

    def __init__(self, struct):
        self._struct = int(struct, 16)

    def __del__(self):
        _end(self._struct)


def as_numpy(struct, data, typestr, shape, extension):
    """A read-only NumPy array of the elements, which stay where they are."""
    memory = Memory(struct)
    import numpy

    shape = tuple(shape)
    if 0 in shape:
        array = numpy.empty(shape, typestr, order="F")
        array.flags.writeable = False
    else:
        strides = [int(typestr[2:])]
        for extent in shape:
            strides.append(strides[-1] * extent)
        memory.__array_interface__ = {
            "version": 3,
            "typestr": typestr,
            "shape": shape,
            "strides": tuple(strides[:-1]),
            "data": (int(data, 16), True),
        }
        array = numpy.asarray(memory)
    if extension is None:
        return array
    try:
        import ml_dtypes

        return array.view(getattr(ml_dtypes, extension))
    except (ImportError, AttributeError):
        raise ImportError(
            "joist: NumPy has the dtype %s only with the Python package ml_dtypes (in a version that "
            "knows it); install that, or convert the tensor in R, by nv_convert()" % extension
        ) from None


def _capsule(struct, name):
    if not struct:
        raise MemoryError("joist: out of memory")
    return _new_capsule(struct, name, _drop)


class Lent:
    """A tensor of R for from_dlpack() of other libraries, as often as they ask."""

    def __init__(self, struct, device_type, device_id, flags):
        self._struct = int(struct, 16)
        self._device = (int(device_type, 16), int(device_id, 16))
        self._padded = bool(int(flags, 16) & _PADDED)

    def __del__(self):
        _end(self._struct)

    def __dlpack_device__(self):
        return self._device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if dl_device is not None and tuple(dl_device) != self._device:
            raise BufferError("joist: move the tensor to the device in R, by nv_to()")
        if self._padded and (max_version is None or tuple(max_version) < (1, 1)):
            raise BufferError(
                "joist: elements of fewer than 8 bits, with a byte each, need DLPack 1.1, which "
                "this library does not ask for; pass nv_bitcast_convert(x, \"ui8\")"
            )
        if not copy and max_version is not None and max_version[0] >= 1:
            return _capsule(_again(self._struct), _VERSIONED)
        # A copy may be written; before version 1 nothing tells who reads that memory must not be.
        if self._device[0] != _CPU or copy is False:
            raise BufferError(
                "joist: DLPack before version 1 knows no read-only memory; "
                "make a copy in R, by nv_to_dlpack(x, versioned = FALSE)"
            )
        return _capsule(_copied(self._struct), _PLAIN)


class Given:
    """A copy of a tensor for from_dlpack() of one other library, in DLPack before version 1."""

    def __init__(self, struct, device_type, device_id, flags):
        self._capsule = _capsule(int(struct, 16), _PLAIN)
        self._device = (int(device_type, 16), int(device_id, 16))

    def __dlpack_device__(self):
        return self._device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if self._capsule is None:
            raise BufferError("joist: this copy was taken already")
        capsule, self._capsule = self._capsule, None
        return capsule


# ---- to R ----


def take(x):
    """The struct of an object with __dlpack__(), which its taker owns, and its name; None where
    there is none to be had."""
    numpy = sys.modules.get("numpy")
    is_numpy = numpy is not None and isinstance(x, (numpy.ndarray, numpy.generic))
    if is_numpy or not hasattr(x, "__dlpack__"):
        return None
    if hasattr(x, "block_until_ready"):
        x.block_until_ready()
    # Views of PyTorch that change the sign of what is in memory: it gives that away as it is.
    if hasattr(x, "resolve_conj") and hasattr(x, "resolve_neg"):
        x = x.resolve_conj().resolve_neg()
    try:
        try:
            capsule = x.__dlpack__(max_version=(1, 1))
        except TypeError:
            capsule = x.__dlpack__()
    except Exception:
        if hasattr(x, "__array__"):
            return None
        raise
    for name in (_VERSIONED, _PLAIN):
        if _is_valid(id(capsule), name):
            struct = _pointer_to(capsule, name)
            _set_name(capsule, _USED[name])
            return [format(struct, "x"), name.decode()]
    raise BufferError("joist: __dlpack__() gave no capsule of a tensor")


def is_masked(x):
    """Whether it is a masked array of NumPy's, with an element that is masked."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(x, numpy.ma.MaskedArray) and numpy.ma.is_masked(x)


def mask_of(x):
    """Whether each element of such an array is masked."""
    import numpy

    return numpy.ma.getmaskarray(x)


def describe(x):
    """An array, and of it address, dtype, shape and strides, which count elements. A masked array
    is described without its mask."""
    import numpy

    if not (hasattr(x, "__array_interface__") or hasattr(x, "__array__")):
        raise TypeError(
            "joist: a Python object of type %s is not an array; make one by numpy.asarray()"
            % type(x).__name__
        )
    array = numpy.asarray(x)
    size = array.dtype.itemsize
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="), order="F")
    elif not array.flags.aligned or any(step % max(size, 1) for step in array.strides):
        array = array.copy(order="F")
    text = [format(array.ctypes.data, "x"), array.dtype.name]
    text.append(" ".join(str(extent) for extent in array.shape))
    text.append(" ".join(str(step // max(size, 1)) for step in array.strides))
    return types.SimpleNamespace(array=array, text=text)


# ---- columns, which have missing values ----

_ARRAY, _SCHEMA = 80, 72  # bytes of the structs of Arrow's C Data Interface
_RELEASE = {_ARRAY: 64, _SCHEMA: 56}  # where their callbacks are


def _move(address, to, size):
    """Moves a struct, whose former place is then that of one that was released."""
    ctypes.memmove(to, address, size)
    ctypes.c_void_p.from_address(address + _RELEASE[size]).value = None


class Exported:
    """An array, with its type, that can be moved to where R says, once."""

    def __init__(self, array, write_schema):
        self._array = array
        self._write_schema = write_schema

    def _export_to_c(self, array, schema):
        _move(ctypes.addressof(self._array), array, _ARRAY)
        self._write_schema(schema)


class ArrowColumn:
    """What an object exports by Arrow's PyCapsule interface, as chunks."""

    def __init__(self, x):
        if hasattr(x, "__arrow_c_stream__"):
            self._owner = x.__arrow_c_stream__()
            stream = _pointer_to(self._owner, b"arrow_array_stream")
            self._read_stream(stream)
        else:
            self._owner = x.__arrow_c_array__()
            schema, array = self._owner
            made = ctypes.create_string_buffer(_ARRAY)
            _move(_pointer_to(array, b"arrow_array"), ctypes.addressof(made), _ARRAY)
            source = _pointer_to(schema, b"arrow_schema")
            self.write_schema = lambda to: _move(source, to, _SCHEMA)
            self.chunks = [Exported(made, self.write_schema)]

    def _read_stream(self, stream):
        call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        slots = (ctypes.c_void_p * 3).from_address(stream)
        get_schema, get_next = call(slots[0]), call(slots[1])
        get_error = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)(slots[2])

        def check(code):
            if code != 0:
                text = get_error(stream)
                raise ValueError("joist: " + (text.decode() if text else "Arrow error %d" % code))

        self.write_schema = lambda to: check(get_schema(stream, to))
        self.chunks = []
        while True:
            made = ctypes.create_string_buffer(_ARRAY)
            check(get_next(stream, ctypes.addressof(made)))
            if not ctypes.c_void_p.from_buffer(made, _RELEASE[_ARRAY]).value:
                return
            self.chunks.append(Exported(made, self.write_schema))


def column(x):
    """How to read a column with missing values: an ArrowColumn; or an array and which of its
    elements are missing; or None for what is no such column."""
    numpy = sys.modules.get("numpy")
    own = getattr(x, "dtype", None)
    if numpy is not None and (isinstance(x, numpy.ndarray) or isinstance(own, numpy.dtype)):
        return None
    plain = getattr(own, "numpy_dtype", None)
    if hasattr(own, "pyarrow_dtype"):
        import pyarrow

        x = pyarrow.array(x)
    elif plain is not None and hasattr(x, "to_numpy") and hasattr(x, "isna"):
        missing = numpy.asarray(x.isna())
        return types.SimpleNamespace(
            array=x.to_numpy(dtype=plain, na_value=plain.type(0)), missing=missing
        )
    if hasattr(x, "columns"):
        return _of_frame(x)
    if not (hasattr(x, "__arrow_c_array__") or hasattr(x, "__arrow_c_stream__")):
        return None
    if hasattr(x, "rechunk"):  # of polars, where a stream may have many small chunks
        x = x.rechunk()
    return ArrowColumn(x)


def _of_frame(x):
    """A data frame is a matrix only if no column would change in the dtype of others."""
    kinds = {str(dtype) for dtype in x.dtypes}
    extension = any(hasattr(dtype, "numpy_dtype") for dtype in x.dtypes)
    counted = x.null_count() if hasattr(x, "null_count") else None
    missing = counted is not None and any(counted.row(0))
    if len(kinds) > 1 or extension or missing:
        raise TypeError(
            "joist: the columns of this data frame have several dtypes, or missing values; "
            "take each column by itself"
        )
    return None
