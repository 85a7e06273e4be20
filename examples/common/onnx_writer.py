# SPDX-License-Identifier: Apache-2.0
"""Writes small ONNX models and .npy files with Python's standard library alone.

An ONNX file is a Protobuf message. Each function gives the bytes of one message or field; the
numbers of the fields are those of onnx.proto. `fields` joins them:

    graph = [node("Relu", ["x"], "y"), graph_input("x", "batch", 3), graph_output("y", "batch", 3)]
    pathlib.Path("relu.onnx").write_bytes(model("relu", graph))
"""

import struct

FLOAT, INT32, INT64, STRING = 1, 6, 7, 8


def varint(value):
    value &= (1 << 64) - 1  # negative numbers are written in two's complement
    data = b""
    while value > 0x7f:
        data += bytes([value & 0x7f | 0x80])
        value >>= 7
    return data + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    """A string, bytes, or a message."""
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


def fields(field, values):
    return b"".join(text(field, value) for value in values)


def tensor(extents, values, element=FLOAT):
    """A TensorProto without a name."""
    data = floats(values) if element == FLOAT else struct.pack(
        f"<{len(values)}{'i' if element == INT32 else 'q'}", *values)
    return b"".join(number(1, extent) for extent in extents) + number(2, element) + text(9, data)


def attribute(name, value):
    """An AttributeProto of the kind that the value is: a tensor is bytes, lists have one kind."""
    first = value[0] if isinstance(value, list) else value
    single = {int: (3, 2), float: (2, 1), str: (4, 3), bytes: (5, 4)}  # field, AttributeType
    listed = {int: (8, 7), float: (7, 6), str: (9, 8)}
    field, kind = (listed if isinstance(value, list) else single)[type(first)]
    data = b""
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, int):
            data += number(field, each)
        elif isinstance(each, float):
            data += varint(field << 3 | 5) + floats([each])
        else:
            data += text(field, each)
    return text(1, name) + data + number(20, kind)


def node(op, inputs, *outputs, domain="", **attributes):
    data = fields(1, inputs) + fields(2, outputs) + text(4, op)
    data += fields(5, [attribute(name, value) for name, value in attributes.items()])
    return text(1, data + (text(7, domain) if domain else b""))


def weight(name, extents, values):
    return text(5, tensor(extents, values) + text(8, name))


def port(name, dims, element):
    axes = fields(1, [number(1, d) if isinstance(d, int) else text(2, d) for d in dims])
    return text(1, name) + text(2, text(1, number(1, element) + text(2, axes)))


def graph_input(name, *dims, element=FLOAT):
    return text(11, port(name, dims, element))


def graph_output(name, *dims, element=FLOAT):
    return text(12, port(name, dims, element))


def model(name, parts):
    """A ModelProto of format 8 and operator set 17."""
    return number(1, 8) + text(7, b"".join(parts) + text(2, name)) + text(8, number(2, 17))


def npy(extents, values):
    """An array of float32."""
    shape = "".join(f"{extent}, " for extent in extents)
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({shape}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + floats(values)
