# SPDX-License-Identifier: Apache-2.0
"""Operators whose values are positions of other elements, and sorting."""

import numpy

from sweep_cases import (IMAGE, MATRIX, TOKENS, Input, case, constant, exactly, integers, normal,
                         uniform)


def distinct_rows(count, *extents):
    """Indices in which no position occurs twice, so that the order of writes says nothing."""
    def draw(rng):
        flat = rng.permutation(int(numpy.prod(extents)))[:count]
        return numpy.stack(numpy.unravel_index(flat, extents), axis=-1).astype(numpy.int64)
    return Input(draw)


def permutations(rows, columns):
    """Row i holds a permutation of the columns."""
    return Input(lambda rng: rng.permuted(numpy.tile(numpy.arange(columns), (rows, 1)), axis=1))


def boxes(count):
    """Corners of boxes of at most a tenth of the unit square."""
    def draw(rng):
        corner, size = rng.uniform(0, 0.9, (1, count, 2)), rng.uniform(0.01, 0.1, (1, count, 2))
        return numpy.concatenate([corner, corner + size], axis=2).astype(numpy.float32)
    return Input(draw)


CASES = [
    case("Gather", "rows", [constant(normal(30000, 768)), integers(0, 29999, 1, 128)], axis=0),
    case("Gather", "columns", [normal(*MATRIX), integers(0, 1023, 512)], axis=1),
    case("Gather", "one token", [normal(*TOKENS), constant(exactly(0))], axis=1),
    case("GatherElements", "last axis", [normal(*MATRIX), integers(0, 1023, 1024, 256)], axis=1),
    case("GatherElements", "first axis", [normal(*MATRIX), integers(0, 1023, 256, 1024)], axis=0),
    case("GatherND", "elements", [normal(*MATRIX), distinct_rows(50000, 1024, 1024)]),
    case("GatherND", "rows", [normal(1024, 768), distinct_rows(512, 1024)]),
    case("ScatterElements", "last axis", [normal(*MATRIX), permutations(1024, 1024),
                                          normal(*MATRIX)], axis=1),
    case("ScatterElements", "add", [normal(*MATRIX), integers(0, 1023, 1024, 256),
                                    normal(1024, 256)], axis=1, reduction="add"),
    case("ScatterND", "rows", [normal(1024, 768), distinct_rows(256, 1024), normal(256, 768)]),
    case("ScatterND", "add", [normal(1024, 768), integers(0, 1023, 256, 1), normal(256, 768)],
         reduction="add"),
    case("OneHot", "", [integers(0, 999, 512), constant(exactly(1000)),
                        constant(exactly([0, 1], "float32"))], axis=-1),
    case("NonZero", "", [integers(0, 1, *IMAGE, type="float32")]),
    case("Compress", "rows", [normal(*MATRIX), Input(lambda rng: rng.integers(0, 2, 1024) > 0)],
         axis=0),
    case("Unique", "sorted", [integers(0, 999, 20000)], sorted=1),
    case("TopK", "5 of 1000", [normal(64, 1000), constant([5])], outputs=2),
    case("TopK", "100 of one long row", [normal(1, 100000), constant([100])], outputs=2),
    case("TopK", "1 of short rows", [normal(20000, 3), constant([1])], outputs=2),
    case("TopK", "first axis", [normal(1000, 64), constant([10])], outputs=2, axis=0),
    case("NonMaxSuppression", "1000 boxes", [
        boxes(1000), uniform(0, 1, 1, 4, 1000), constant([100]),
        constant(exactly([0.5], "float32")), constant(exactly([0.3], "float32"))]),
]
