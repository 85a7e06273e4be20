# SPDX-License-Identifier: Apache-2.0
"""Sequences and optional values. The programs exchange tensors, so a case begins and ends with one:
a sequence is made of the input's slices, and its elements are joined or one is taken out."""

from sweep_cases import case, constant, exactly, normal

PARTS = (64, 32, 32)

SPLIT = ("SplitToSequence", ["x0"], ["s"], {})
JOIN = ("ConcatFromSequence", ["t"], ["y0"], {"axis": 0})
WRAP = ("Optional", ["x0"], ["o"], {})


def chain(operator, steps, more=(), variant=""):
    return case(operator, variant, [normal(*PARTS), *more], steps=steps)


POSITION = constant(exactly(5))
ELEMENT = normal(1, 32, 32)

CASES = [
    chain("SplitToSequence", [SPLIT, ("SequenceLength", ["s"], ["y0"], {})]),
    chain("ConcatFromSequence",
          [("SequenceConstruct", ["x0", "x0", "x0"], ["t"], {}),
           ("ConcatFromSequence", ["t"], ["y0"], {"axis": 1})]),
    chain("SequenceConstruct", [("SequenceConstruct", ["x0", "x0"], ["t"], {}), JOIN]),
    chain("SequenceEmpty",
          [("SequenceEmpty", [], ["s"], {}), ("SequenceInsert", ["s", "x0"], ["t"], {}), JOIN]),
    chain("SequenceInsert", [SPLIT, ("SequenceInsert", ["s", "x1", "x2"], ["t"], {}), JOIN],
          (ELEMENT, POSITION)),
    chain("SequenceErase", [SPLIT, ("SequenceErase", ["s", "x1"], ["t"], {}), JOIN], (POSITION,)),
    chain("SequenceAt", [SPLIT, ("SequenceAt", ["s", "x1"], ["y0"], {})], (POSITION,)),
    chain("SequenceLength",
          [("SequenceConstruct", ["x0", "x0"], ["s"], {}), ("SequenceLength", ["s"], ["y0"], {})]),
    chain("Optional", [WRAP, ("OptionalGetElement", ["o"], ["y0"], {})]),
    chain("OptionalGetElement", [WRAP, ("OptionalGetElement", ["o"], ["y0"], {})], variant="once more"),
    chain("OptionalHasElement", [WRAP, ("OptionalHasElement", ["o"], ["y0"], {})]),
]
