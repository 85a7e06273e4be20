# SPDX-License-Identifier: Apache-2.0
"""The operators of the stress test: stress_test.cpp runs them in many threads, under sanitizers."""

import ctypes

import numpy as np


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def compute(self, x):
        return x * np.float32(self.factor)


class Slow:
    """Python bytecode enough for the interpreter to hand its lock to another thread meanwhile."""

    def compute(self, x):
        total = 0
        for i in range(20000):
            total += i & 1
        return x + np.float32(total - 10000)


class Nested:
    """Runs another session with Python operators, through the program that embeds this Python."""

    def __init__(self):
        self.program = ctypes.CDLL(None)  # lets go of the GIL during the call
        self.program.run_nested.argtypes = [ctypes.c_float]
        self.program.run_nested.restype = ctypes.c_float

    def compute(self, x):
        return np.array([self.program.run_nested(float(v)) for v in x.ravel()], np.float32).reshape(
            x.shape)


class NestedHolding(Nested):
    """The same while this thread keeps the GIL."""

    def __init__(self):
        super().__init__()
        self.program = ctypes.PyDLL(None)
        self.program.run_nested.argtypes = [ctypes.c_float]
        self.program.run_nested.restype = ctypes.c_float


class Raises:
    def compute(self, x):
        raise ValueError("bad")


class Returns:
    """Results of wrong types and shapes, and right ones that are stored in unusual ways."""

    RESULTS = {
        "wrong_double": lambda x: x.astype("float64"),
        "wrong_wide": lambda x: np.zeros((64, 64), "complex128"),
        "wrong_half": lambda x: x.astype("float16"),
        "wrong_shape": lambda x: np.zeros((64, 64), "float32"),
        "wrong_rank": lambda x: x.ravel(),
        "wrong_count": lambda x: [x] * 1000,
        "wrong_object": lambda x: x.astype(object),
        "wrong_none": lambda x: None,
        "right_transposed": lambda x: x.T,
        "right_reversed": lambda x: x[::-1, ::-1],
        "right_swapped": lambda x: x.astype(">f4"),
        "right_broadcast": lambda x: np.broadcast_to(np.float32(1), (2, 2)),
        "right_input": lambda x: x,
    }

    def __init__(self, what):
        self.result = self.RESULTS[what]

    def compute(self, x):
        return self.result(x)
