# SPDX-License-Identifier: Apache-2.0
"""Sequences and optional values. The programs exchange tensors, so a case begins and ends with one:
a sequence is made of the input's slices, and its elements are joined or one is taken out. Positions
come at run time, so that sequences are made; where all are known (variant known), there are none."""

from sweep_cases import case, constant, exactly, normal

PARTS = (64, 32, 32)

SPLIT = ("SplitToSequence", ["x0"], ["s"], {})
JOIN = ("ConcatFromSequence", ["t"], ["y0"], {"axis": 0})
WRAP = ("Optional", ["x0"], ["o"], {})


def chain(operator, steps, more=(), variant=""):
    return case(operator, variant, [normal(*PARTS), *more], steps=steps)


POSITION = exactly(5)
KNOWN = constant(POSITION)
ELEMENT = normal(1, 32, 32)
TAKE = ("SequenceAt", ["t", "x1"], ["y0"], {})
ERASE = ("SequenceErase", ["s", "x1"], ["t"], {})

CASES = [
    chain("SplitToSequence", [SPLIT, ("SequenceAt", ["s", "x1"], ["y0"], {})], (POSITION,)),
    chain("ConcatFromSequence", [SPLIT, ERASE, JOIN], (POSITION,)),
    chain("ConcatFromSequence",
          [("SequenceConstruct", ["x0", "x0", "x0"], ["t"], {}),
           ("ConcatFromSequence", ["t"], ["y0"], {"axis": 1})], variant="known"),
    chain("SequenceConstruct", [("SequenceConstruct", ["x0", "x0"], ["t"], {}), TAKE],
          (exactly(1),)),
    chain("SequenceConstruct", [("SequenceConstruct", ["x0", "x0"], ["t"], {}), JOIN],
          variant="known"),
    chain("SequenceEmpty",
          [("SequenceEmpty", [], ["s"], {}), ("SequenceInsert", ["s", "x0", "x1"], ["t"], {}), JOIN],
          (exactly(0),)),
    chain("SequenceInsert", [SPLIT, ("SequenceInsert", ["s", "x1", "x2"], ["t"], {}), JOIN],
          (ELEMENT, POSITION)),
    chain("SequenceInsert", [SPLIT, ("SequenceInsert", ["s", "x1", "x2"], ["t"], {}), JOIN],
          (ELEMENT, KNOWN), variant="known"),
    chain("SequenceErase", [SPLIT, ERASE, ("SequenceAt", ["t", "x1"], ["y0"], {})], (POSITION,)),
    chain("SequenceErase", [SPLIT, ERASE, JOIN], (KNOWN,), variant="known"),
    chain("SequenceAt", [SPLIT, ("SequenceAt", ["s", "x1"], ["y0"], {})], (POSITION,)),
    chain("SequenceAt", [SPLIT, ("SequenceAt", ["s", "x1"], ["y0"], {})], (KNOWN,),
          variant="known"),
    chain("SequenceLength",
          [("SequenceConstruct", ["x0", "x0"], ["s"], {}), ("SequenceLength", ["s"], ["y0"], {})]),
    chain("Optional", [WRAP, ("OptionalGetElement", ["o"], ["y0"], {})]),
    chain("OptionalGetElement", [WRAP, ("OptionalGetElement", ["o"], ["y0"], {})], variant="once more"),
    chain("OptionalHasElement", [WRAP, ("OptionalHasElement", ["o"], ["y0"], {})]),
]
