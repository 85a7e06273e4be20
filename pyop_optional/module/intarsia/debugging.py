# SPDX-License-Identifier: Apache-2.0
"""The functions by which scripts for onnx-mlir look into a session."""

import json

import numpy as np

from .elements import ELEMENTS, HOLDING_ELEMENTS
from .errors import Error
from .profile import measured


class DebugFunctions:
    """Of ExecutionSession; what each means for a plan."""

    _measured = None

    def run_debug(self, inputs, with_signal_handler=False, force_output_data_copy=False):
        """As run(), with the time of every node measured for print_instrumentation().

        with_signal_handler: there is nothing to catch: plans are verified when they are opened, and
            whatever is wrong with a run is an Error.
        force_output_data_copy: outputs are arrays of their own anyway.
        """
        del with_signal_handler, force_output_data_copy
        results = []
        self._measured = measured(self._opened(), 1, lambda: results.append(self.run(inputs)))
        return results[0]

    def print_instrumentation(self):
        """Prints the times of the nodes in the last run_debug(), slowest first."""
        if self._measured is None:
            raise Error("nothing has been measured; call run_debug() first", "kInvalidArgument")
        print(self._measured)

    def compilation_info(self):
        """What the plan says of how it was made, as JSON: bytes of plan, weights and arena, threads,
        number of nodes, bytes of outputs by operator. The options of the conversion are not kept."""
        plan = self.inspect()
        left_out = ("entries", "states", "nodes")
        info = {name: value for name, value in plan.items() if name not in left_out}
        return json.dumps({**info, "nodes": len(plan["nodes"])})

    def get_shared_lib_path(self):
        """The path that the plan was read from."""
        if self._source.path is None:
            raise Error("the plan was not read from a file", "kInvalidArgument")
        return self._source.name

    def fill_input_debug(self, shape_info=None, lower=0.0, upper=1.0, seed=42):
        """Arrays for all inputs, in order: random numbers from `lower` to below `upper`, truth values,
        or digits as strings. A symbolic extent is its maximum.

        shape_info: shapes by the number of the input, {0: (1, 10)} or "0:1x10,1:7x5".
        """
        if isinstance(shape_info, str):
            shape_info = _parsed_shapes(shape_info)
        random = np.random.default_rng(seed)
        return [self._filled(port, (shape_info or {}).get(port.index, port.extents), random, lower,
                             upper)
                for port in self._chosen("signature").inputs]

    @staticmethod
    def _filled(port, shape, random, lower, upper):
        if port.code in HOLDING_ELEMENTS:
            raise Error(f"{port} is a {port.type}; random values are made for tensors", "kUnsupported")
        if port.dtype == object:
            return random.integers(0, 10, shape).astype(str).astype(object)
        if port.dtype == bool:
            return random.integers(0, 2, shape).astype(bool)
        if port.ml_dtype == "bfloat16":
            numbers = random.uniform(lower, upper, shape).astype(np.float32)
            return (np.asarray(numbers).view(np.uint32) >> 16).astype(np.uint16)
        if port.dtype.kind in "iu":
            low, high = int(np.floor(lower)), int(np.ceil(upper))
            least, most = _limits_of(port)
            low = min(max(low, least), most)
            return random.integers(low, min(max(high, low + 1), most + 1), shape).astype(port.dtype)
        numbers = random.uniform(lower, upper, shape)
        if port.dtype.kind == "c":
            numbers = numbers + 1j * random.uniform(lower, upper, shape)
        return np.asarray(numbers).astype(port.dtype)


def _limits_of(port):
    """The least and the largest integer; of float8 and smaller, codes of small positive numbers."""
    if not port.ml_dtype:
        return np.iinfo(port.dtype).min, np.iinfo(port.dtype).max
    bits = ELEMENTS[port.code].bits
    if port.ml_dtype.startswith("float"):
        return 0, 2 ** (bits - 1) // 2
    return (-2 ** (bits - 1), 2 ** (bits - 1) - 1) if port.dtype.kind == "i" else (0, 2 ** bits - 1)


def _parsed_shapes(text):
    try:
        return {int(index): tuple(int(extent) for extent in extents.split("x"))
                for index, _, extents in (part.partition(":") for part in text.split(","))}
    except ValueError:
        raise ValueError(f"shape_info {text!r}: expected NUMBER:EXTENTS,..., for instance "
                         "'0:1x10,1:7x5'") from None
