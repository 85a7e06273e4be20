#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's half of the example: torch.inverse(x) + x, exported with ONNX Runtime's operator.

    export.py FOLDER

Writes FOLDER/opset_1.onnx, opset_5.onnx (version 1 and 5 of the domain com.microsoft) and
no_import.onnx (a model that uses the domain without importing it, as some exporters write); the
input and what PyTorch computes are input.txt and expected.txt, one number per line.
"""

import pathlib
import sys

import torch
from torch.onnx import register_custom_op_symbolic

OPSET_IMPORT = 8  # field number in ModelProto


def inverse(g, x):
    return g.op("com.microsoft::Inverse", x).setType(x.type())


# torch.inverse is traced as linalg_inv since version 1.11, as inverse before.
for name in ("aten::linalg_inv", "aten::inverse"):
    register_custom_op_symbolic(name, inverse, 9)


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.inverse(x) + x


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def without_import(data, domain):
    """The serialised model without its entry for `domain`."""
    result, at = b"", 0
    while at < len(data):
        begin = at
        key, at = varint(data, at)
        if key & 7 == 2:
            length, at = varint(data, at)
            at += length
        elif key & 7 == 0:
            _, at = varint(data, at)
        else:
            sys.exit(f"field {key >> 3} of the model has a type that models do not have")
        if key >> 3 != OPSET_IMPORT or domain.encode() not in data[begin:at]:
            result += data[begin:at]
    return result


def write_numbers(path, tensor):
    path.write_text("".join(f"{value:.9g}\n" for value in tensor.flatten().tolist()))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    x = torch.randn(3, 3)
    model = Model().eval()
    for version in (1, 5):
        torch.onnx.export(model, (x,), str(folder / f"opset_{version}.onnx"), opset_version=12,
                          input_names=["x"], output_names=["y"],
                          custom_opsets={"com.microsoft": version})
    (folder / "no_import.onnx").write_bytes(
        without_import((folder / "opset_1.onnx").read_bytes(), "com.microsoft"))
    write_numbers(folder / "input.txt", x)
    write_numbers(folder / "expected.txt", model(x))


if __name__ == "__main__":
    main()
