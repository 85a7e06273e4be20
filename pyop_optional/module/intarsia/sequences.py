# SPDX-License-Identifier: Apache-2.0
"""Sequences as lists of arrays, optional values as one of them or None, maps as dicts, as their bytes
in a plan (docs/plan_format.md): a record for each element, then its data up to a multiple of 16
bytes. Strings in them are a table of offsets and lengths, as in strings.py."""

import struct
from collections.abc import Mapping

import numpy as np

from . import strings
from .elements import ELEMENTS, HOLDING_ELEMENTS, MAP, OPTIONAL, SEQUENCE, STRING
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
    """The bytes of a list, an optional value or a dict, and the characters of the strings in it.
    Raises Error, which names `where`."""
    characters = bytearray()
    data = _pack(value, kind, where, characters)
    return data, bytes(characters)


def _pack(value, kind, where, characters):
    if kind == MAP:
        if not isinstance(value, Mapping):
            raise Error(f"{where} is a map: pass a dict, not {type(value).__name__}", "kWrongType")
        elements = [_entries(part, where) for part in (value.keys(), value.values())] if value else []
    elif kind == OPTIONAL:
        elements = [] if value is None else [value]
    elif isinstance(value, (list, tuple)):
        elements = value
    else:
        raise Error(f"{where} is a sequence: pass a list of arrays, not {type(value).__name__}",
                    "kWrongType")
    return b"".join(_packed(element, f"element {i} of {where}", characters)
                    for i, element in enumerate(elements))


def _entries(part, where):
    """Keys or values of a dict as an array: a float is a float32, other types are numpy's."""
    part = list(part)
    if all(isinstance(entry, (str, bytes)) for entry in part):
        return np.array(part, object)
    array = np.array(part)
    if array.ndim != 1 or array.dtype == object or array.dtype.kind in "US":
        raise Error(f"{where}: keys, and values, are numbers or strings, all of one type", "kWrongType")
    if array.dtype == np.float64 and not all(isinstance(entry, np.float64) for entry in part):
        return array.astype(np.float32)
    return array


def _packed(element, where, characters):
    if element is None or isinstance(element, (list, tuple, Mapping)):
        kind = OPTIONAL if element is None else MAP if isinstance(element, Mapping) else SEQUENCE
        data = _pack(element, kind, where, characters)
        shape = (len(data),)
    else:
        array = np.asarray(element)
        shape = array.shape
        texts = strings.pack(array, len(characters))
        kind = STRING if texts else _codes.get(array.dtype, _codes.get(array.dtype.name))
        if kind is None or array.ndim > MOST_AXES or ELEMENTS[kind].bits < 8:
            raise Error(f"{where}: arrays of {array.dtype} with {array.ndim} axes cannot be elements "
                        f"of a sequence", "kWrongType")
        data = texts[0] if texts else array.tobytes()
        characters += texts[1] if texts else b""
    header = HEADER.pack(len(data), kind, len(shape), *shape, *(0,) * (MOST_AXES - len(shape)))
    return header + data + bytes(-len(data) % ALIGNMENT)


def unpack(data, characters, kind, where):
    """What `pack` has packed."""
    elements, at = [], 0
    while at < len(data):
        size, code, rank, *extents = HEADER.unpack_from(data, at)
        at += HEADER.size
        elements.append(_unpacked(data[at:at + size], characters, code, extents[:rank], where))
        at += size + -size % ALIGNMENT
    if kind == SEQUENCE:
        return elements
    if kind == MAP:
        return dict(zip(*(part.tolist() for part in elements))) if elements else {}
    return elements[0] if elements else None


def _unpacked(data, characters, code, shape, where):
    if code in HOLDING_ELEMENTS:
        return unpack(data, characters, code, where)
    if code == STRING:
        return strings.unpack(shape, data, characters)
    if ELEMENTS[code].bits < 8:
        raise Error(f"{where}: elements of type {ELEMENTS[code].name} cannot be taken out of a "
                    "sequence", "kUnsupported")
    return np.frombuffer(bytearray(data), ELEMENTS[code].dtype).reshape(shape)
