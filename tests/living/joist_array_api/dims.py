"""Axes of the standard as joist's dimensions, which are in reverse order and count from 1 on."""


def dim_of(axis, rank):
    if not -rank <= axis < rank:
        raise IndexError("there is no such axis")
    return rank - axis % rank


def dims_of(axis, rank):
    if axis is None:
        return None
    return [dim_of(a, rank) for a in ((axis,) if isinstance(axis, int) else axis)]
