# SPDX-License-Identifier: Apache-2.0
"""An operator that is defined in this file alone."""

domain, inputs, outputs = "user", ["x: float32"], ["y"]


def infer(inputs):
    return inputs[0]


def forward(args):
    (x,) = args
    return (x > 0) * x
