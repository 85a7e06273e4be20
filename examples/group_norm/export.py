#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's half of the example: a TorchScript operator of one's own, and a model that uses it.

    export.py FOLDER

Writes FOLDER/epsilon_0.onnx and FOLDER/epsilon_1e-5.onnx, the model with the operator exported as
mydomain::testgroupnorm, and beside each what PyTorch computes (.txt, one number per line). The
operator works on float and double, with any number of channels per group.
"""

import pathlib
import sys

import torch
from torch.onnx import register_custom_op_symbolic, symbolic_helper

# The operator: its schema and what it computes. The name is what `torch.ops` and the tracer see.
library = torch.library.Library("mynamespace", "DEF")
library.define("custom_group_norm(Tensor x, Tensor num_groups, Tensor scale, Tensor bias, "
               "float epsilon) -> Tensor")


def custom_group_norm(x, num_groups, scale, bias, epsilon):
    groups = int(num_groups)
    grouped = x.reshape(x.shape[0], groups, -1)
    mean = grouped.mean(dim=2, keepdim=True)
    variance = ((grouped - mean) ** 2).mean(dim=2, keepdim=True)
    normal = ((grouped - mean) / torch.sqrt(variance + epsilon)).reshape(x.shape)
    per_channel = [1, -1] + [1] * (x.dim() - 2)
    return normal * scale.reshape(per_channel) + bias.reshape(per_channel)


library.impl("custom_group_norm", custom_group_norm, "CPU")


# How the exporter writes it. An attribute's suffix tells its type: `epsilon_f` is the float epsilon.
@symbolic_helper.parse_args("v", "v", "v", "v", "f")
def symbolic(g, x, num_groups, scale, bias, epsilon):
    node = g.op("mydomain::testgroupnorm", x, num_groups, scale, bias, epsilon_f=epsilon)
    return node.setType(x.type())


register_custom_op_symbolic("mynamespace::custom_group_norm", symbolic, 9)


class Model(torch.nn.Module):
    def __init__(self, epsilon):
        super().__init__()
        self.epsilon = epsilon

    def forward(self, x, num_groups, scale, bias):
        return torch.ops.mynamespace.custom_group_norm(x, num_groups, scale, bias, self.epsilon)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    x = torch.tensor([1.5410, -0.2934, -2.1788, 0.5684, -1.0845, -1.3986, 0.4033, 0.8380, -0.7193,
                      -0.4033, -0.5966, 0.1820]).reshape(3, 2, 1, 2)
    inputs = (x, torch.tensor([2.]), torch.tensor([2., 1.]), torch.tensor([1., 0.]))
    for name, epsilon in (("epsilon_0", 0.0), ("epsilon_1e-5", 1e-5)):
        model = Model(epsilon).eval()
        torch.onnx.export(model, inputs, str(folder / f"{name}.onnx"), opset_version=9,
                          input_names=["X", "num_groups", "scale", "bias"], output_names=["Y"],
                          custom_opsets={"mydomain": 2})
        lines = [f"{value:.9g}" for value in model(*inputs).flatten().tolist()]
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
