# SPDX-License-Identifier: Apache-2.0
"""Strings between numpy and native code: a table of offsets and lengths, then the characters.

Characters cross as UTF-8; bytes that are none become surrogates in a str and bytes again on the way
back (PEP 383), so nothing is lost.
"""

import numpy as np

ENCODING = ("utf-8", "surrogateescape")


def pack(array, begin=0):
    """The elements of an array of str or bytes, as their table and their characters, the first of
    which is character `begin`; None if it holds something else."""
    if array.dtype.kind not in "USO":
        return None
    texts = []
    for element in array.ravel().tolist():
        if isinstance(element, str):
            element = element.encode(*ENCODING)
        elif not isinstance(element, bytes):
            return None
        texts.append(element)
    lengths = np.array([len(text) for text in texts], np.uint64)
    table = np.empty((len(texts), 2), "<u4")
    table[:, 0] = begin + np.cumsum(lengths) - lengths
    table[:, 1] = lengths
    return table.tobytes(), b"".join(texts)


def unpack(shape, data, characters):
    """An array of str, from what `pack` gives."""
    array = np.empty(shape, object)
    table = np.frombuffer(data, "<u4", 2 * array.size).reshape(-1, 2).tolist()
    flat = array.reshape(-1)
    for i, (offset, length) in enumerate(table):
        flat[i] = characters[offset:offset + length].decode(*ENCODING)
    return array
