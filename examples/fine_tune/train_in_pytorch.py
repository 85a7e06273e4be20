#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same training in PyTorch: the same model, data, order and steps as main.cpp.

    train_in_pytorch.py FOLDER

Runs FOLDER/fonts.onnx node by node in PyTorch and learns from FOLDER/train.u8. Writes the loss
before each step to FOLDER/pytorch.txt, and prints how much of FOLDER/test.u8 is told right.
"""

import pathlib
import sys

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import helper, numpy_helper

STEPS, BATCH, RATE, MOMENTUM = 100, 24, 0.02, 0.9  # as in main.cpp
TRAINABLE = [f"{layer}_{part}" for layer in ("conv12_linear", "conv_last")
             for part in ("weights", "bn_scale", "bn_offset")] + ["fc_0.w_0", "fc_0.b_0"]


def symmetric(pads):
    half = len(pads) // 2
    assert pads[:half] == pads[half:], pads
    return pads[:half]


def conv(a, x, w, bias=None):
    return F.conv2d(x, w, bias, a["strides"], symmetric(a["pads"]), a["dilations"], a["group"])


def norm(a, x, scale, bias, mean, variance):
    return F.batch_norm(x, mean, variance, scale, bias, eps=a["epsilon"])


def clip(a, x, low, high):
    return torch.clamp(x, low.item(), high.item())


def pool(a, x):
    return F.max_pool2d(x, a["kernel_shape"], a["strides"], symmetric(a["pads"]))


def cut(a, x, starts, ends, axes, steps):
    assert axes.tolist() == [0] and steps.tolist() == [1]
    return x[starts.item():ends.item()]


OPERATORS = {
    "Conv": conv,
    "BatchNormalization": norm,
    "Clip": clip,
    "MaxPool": pool,
    "Slice": cut,
    "Add": lambda a, x, y: x + y,
    "Mul": lambda a, x, y: x * y,
    "Div": lambda a, x, y: x / y,
    "Relu": lambda a, x: torch.relu(x),
    "HardSigmoid": lambda a, x: torch.clamp(a["alpha"] * x + a["beta"], 0, 1),
    "GlobalAveragePool": lambda a, x: x.mean((2, 3), keepdim=True),
    "Reshape": lambda a, x, shape: x.reshape([x.shape[i] if n == 0 else int(n)
                                              for i, n in enumerate(shape)]),
    "Shape": lambda a, x: torch.tensor(x.shape),
    "Cast": lambda a, x: x.to({1: torch.float32, 6: torch.int32, 7: torch.int64}[a["to"]]),
    "Concat": lambda a, *x: torch.cat(x, a["axis"]),
    "MatMul": lambda a, x, y: x @ y,
    "Identity": lambda a, x: x,
    "SoftmaxCrossEntropyLoss": lambda a, x, labels: F.cross_entropy(x, labels),
}
DEFAULTS = {"group": 1, "dilations": [1, 1], "strides": [1, 1], "epsilon": 1e-5, "alpha": 0.2,
            "beta": 0.5}


class Network:
    def __init__(self, path, trainable):
        graph = onnx.load(path).graph
        self.values, self.nodes = {}, []
        for tensor in graph.initializer:
            self.values[tensor.name] = torch.tensor(numpy_helper.to_array(tensor))
        for node in graph.node:
            attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            if node.op_type == "Constant":
                value = torch.tensor(numpy_helper.to_array(attributes["value"]))
                self.values[node.output[0]] = value
            else:
                self.nodes.append((OPERATORS[node.op_type], {**DEFAULTS, **attributes},
                                   list(node.input), node.output[0]))
        self.weights = [self.values[name] for name in trainable]
        for weight in self.weights:
            weight.requires_grad_()
        self.scores = graph.output[1].name

    def run(self, x, labels):
        values = {**self.values, "x": x, "labels": labels}
        for function, attributes, inputs, output in self.nodes:
            values[output] = function(attributes, *(values[name] for name in inputs))
        return values["loss"], values[self.scores]


def read(path):
    rows = np.fromfile(path, np.uint8).reshape(-1, 1 + 3 * 48 * 192)
    pictures = rows[:, 1:].reshape(-1, 3, 48, 192).astype(np.float32)
    return torch.tensor(pictures / np.float32(127.5) - 1), torch.tensor(rows[:, 0].astype(np.int64))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    network = Network(folder / "fonts.onnx", TRAINABLE)
    optimiser = torch.optim.SGD(network.weights, RATE, MOMENTUM)
    pictures, labels = read(folder / "train.u8")
    lines = []
    for step in range(STEPS):
        rows = torch.arange(step * BATCH, (step + 1) * BATCH) % len(labels)
        loss, _ = network.run(pictures[rows], labels[rows])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        lines.append(f"{loss.item():.9g}")
    with torch.no_grad():
        pictures, labels = read(folder / "test.u8")
        _, scores = network.run(pictures, labels)
    right = (scores.argmax(1) == labels).sum().item()
    (folder / "pytorch.txt").write_text("\n".join(lines) + "\n")
    print(f"PyTorch: loss {float(lines[0]):.4f} to {float(lines[-1]):.4f}, "
          f"{right} of {len(labels)} test pictures right")


if __name__ == "__main__":
    main()
