# SPDX-License-Identifier: Apache-2.0
"""The operators of the model: the two classes of ONNX Runtime's document of PyOp."""

import numpy as np


class Multi_1:
    def __init__(self, W1, W2, W3):
        self.W1 = int(W1)
        self.W2 = int(W2)
        self.W3 = int(W3)

    def compute(self, S, P):
        ret = S + P
        return ret + self.W1, ret + self.W2, ret + self.W3


class Multi_2:
    def compute(self, H, N, E):
        if np.isnan(H).any():
            raise ValueError("H is not a number")
        r1, r2 = H + N, N + E
        return r1, r2
