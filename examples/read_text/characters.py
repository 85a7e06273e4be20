#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the characters that a recogniser knows, which its file keeps as metadata, as a C++ header.

    characters.py MODEL.onnx OUT.h

Standard library only: of the file's messages (https://protobuf.dev/programming-guides/encoding) only
the model's metadata_props are looked at.
"""

import pathlib
import sys

METADATA_PROPS = 14  # of ModelProto


def fields(data):
    """(number, value) of each field of a message; values are bytes or None."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        kind, value = key & 7, None
        if kind == 0:
            varint()
        elif kind == 1:
            at += 8
        elif kind == 5:
            at += 4
        elif kind == 2:
            length = varint()
            value = data[at:at + length]
            at += length
        else:
            raise ValueError(f"wire type {kind} at byte {at}")
        yield key >> 3, value


def metadata(model):
    for number, value in fields(model):
        if number == METADATA_PROPS:
            entry = dict(fields(value))
            yield entry[1].decode(), entry[2].decode()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    model = pathlib.Path(sys.argv[1])
    try:
        characters = dict(metadata(model.read_bytes()))["character"].splitlines()
    except (KeyError, IndexError, ValueError) as error:
        sys.exit(f"{model}: no ONNX model with a list of characters in its metadata ({error!r})")
    characters = ["", *characters, " "]
    rows = ("\"" + "".join(f"\\{byte:03o}" for byte in c.encode()) + "\"," for c in characters)
    pathlib.Path(sys.argv[2]).write_text(
        "// Generated from the model's metadata; do not edit.\n#pragma once\n\n"
        "/// What each class of the recogniser stands for, in UTF-8; the first is a gap.\n"
        "inline constexpr const char* kCharacters[] = {\n" + "\n".join(rows) + "\n};\n",
        encoding="ascii")


if __name__ == "__main__":
    main()
