"""Reading and writing files, for bench/peers.py: bench/files.R has the same for joist."""

import os

import numpy as np
from safetensors.numpy import load_file, save_file


def file_of(name):
    return os.path.join(os.environ["JOIST_BENCH_FILES"], "python-" + name)


def written(name, write):
    path = file_of(name)
    if not os.path.exists(path):
        write(path)
    return path


def read_npy(a):
    return np.load(written("a.npy", lambda path: np.save(path, a)))


def read_npy_rows(a):
    # Here the other order is Fortran's.
    return np.ascontiguousarray(
        np.load(written("rows.npy", lambda path: np.save(path, np.asfortranarray(a)))))


def read_safetensors(a):
    return load_file(written("a.safetensors", lambda path: save_file({"a": a}, path)))["a"]


def new(name):
    path = file_of(name)
    if os.path.exists(path):
        os.unlink(path)
    return path


def new_npy(a):
    np.save(new("new.npy"), a)


def new_safetensors(a):
    save_file({"a": a}, new("new.safetensors"))


def over_npy(a):
    np.save(file_of("over.npy"), a)
