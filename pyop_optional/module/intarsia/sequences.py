# SPDX-License-Identifier: Apache-2.0
"""Sequences as lists of arrays, optional values as one of them or None, as their bytes in a plan
(docs/plan_format.md): a record for each element, then its data up to a multiple of 16 bytes."""

import struct

import numpy as np

from .elements import ELEMENTS, OPTIONAL, SEQUENCE, STRING
from .errors import Error

HEADER = struct.Struct("<qBB6x8i")
ALIGNMENT = 16
MOST_AXES = 8

# Of several types that numpy has one for (bits in an integer) the integer is meant.
_codes = {}
for _code, _element in ELEMENTS.items():
    if not _element.ml_dtype and _element.dtype != object:
        _codes[_element.dtype] = _code
    elif _element.ml_dtype:
        _codes[_element.ml_dtype] = _code


def pack(value, kind, where):
    """The bytes of a list, or of an optional value. Raises Error, which names `where`."""
    if kind == OPTIONAL:
        elements = [] if value is None else [value]
    elif isinstance(value, (list, tuple)):
        elements = value
    else:
        raise Error(f"{where} is a sequence: pass a list of arrays, not {type(value).__name__}",
                    "kWrongType")
    return b"".join(_packed(element, f"element {i} of {where}")
                    for i, element in enumerate(elements))


def _packed(element, where):
    if element is None or isinstance(element, (list, tuple)):
        kind = OPTIONAL if element is None else SEQUENCE
        data = pack(element, kind, where)
        shape = (len(data),)
    else:
        array = np.asarray(element)
        kind = _codes.get(array.dtype, _codes.get(array.dtype.name))
        if kind is None or array.ndim > MOST_AXES or ELEMENTS[kind].bits < 8:
            raise Error(f"{where}: arrays of {array.dtype} with {array.ndim} axes cannot be elements "
                        f"of a sequence", "kWrongType")
        data, shape = array.tobytes(), array.shape
    header = HEADER.pack(len(data), kind, len(shape), *shape, *(0,) * (MOST_AXES - len(shape)))
    return header + data + bytes(-len(data) % ALIGNMENT)


def unpack(data, kind, where):
    """What `pack` has packed."""
    elements, at = [], 0
    while at < len(data):
        size, code, rank, *extents = HEADER.unpack_from(data, at)
        at += HEADER.size
        elements.append(_unpacked(data[at:at + size], code, extents[:rank], where))
        at += size + -size % ALIGNMENT
    if kind == SEQUENCE:
        return elements
    return elements[0] if elements else None


def _unpacked(data, code, shape, where):
    if code in (SEQUENCE, OPTIONAL):
        return unpack(data, code, where)
    if code == STRING or ELEMENTS[code].bits < 8:
        raise Error(f"{where}: elements of type {ELEMENTS[code].name} cannot be taken out of a "
                    "sequence", "kUnsupported")
    return np.frombuffer(bytearray(data), ELEMENTS[code].dtype).reshape(shape)
