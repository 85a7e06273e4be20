# SPDX-License-Identifier: Apache-2.0
"""The operator of CUSTOM in make_model.py, in Python."""


class Twice:
    domain = "consumer"
    inputs = ["x: float32"]
    outputs = ["y"]

    def infer(self, inputs):
        return inputs[0]

    def forward(self, inputs):
        return 2 * inputs[0]
