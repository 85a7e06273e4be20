# SPDX-License-Identifier: Apache-2.0
"""The exception of this package, and the sentences about a model's inputs.

The sentences are those of onnx-mlir's input verification, word for word: programs search for them.
What follows them, in parentheses, names the input and says what to do.
"""


class Error(RuntimeError):
    """A failure of a plan, of a run or of a conversion.

    `code` is the library's name of the reason ("kWrongExtent", "kTruncatedPlan", ...), as listed in
    docs/errors.md, or None where there is none.
    """

    def __init__(self, text, code=None):
        super().__init__(text)
        self.code = code


def wrong_count(expected, found):
    return f"Wrong number of input tensors: expect {expected}, but got {found}"


def wrong_type(index, expected):
    return f"Wrong data type for the input {index}: expect {expected}"


def wrong_rank(index, expected, found):
    return f"Wrong rank for the input {index}: expect {expected}, but got {found}"


def wrong_extent(axis, index, expected, found):
    """`expected` is an extent, or a (minimum, maximum) pair where the extent varies."""
    start = f"Wrong size for the dimension {axis} of the input {index}: expect"
    if found < 0:
        return f"{start} a non-negative value"
    if isinstance(expected, tuple):
        expected = f"{expected[0]} to {expected[1]}"
    return f"{start} {expected}, but got {found}"


def no_entry_point(function, tag):
    suffix = f"_{tag}" if tag and tag != "NONE" else ""
    return (f"Must set an entry point (e.g. run_main_graph{suffix}) before calling {function} "
            "function.")
