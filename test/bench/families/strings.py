# SPDX-License-Identifier: Apache-2.0
"""Strings. The programs exchange numbers, so a case makes its strings of numbers, and numbers of what
becomes of them."""

from sweep_cases import case, integers

NUMBERS = integers(-10**6, 10**6, 4096)
TEXT, INT64 = 8, 7


def chain(operator, steps, variant=""):
    return case(operator, variant, [NUMBERS], steps=[("Cast", ["x0"], ["s"], {"to": TEXT}), *steps])


BACK = ("Cast", ["t"], ["y0"], {"to": INT64})

CASES = [
    chain("Cast", [("Identity", ["s"], ["t"], {}), BACK], variant="to strings and back"),
    chain("StringConcat", [("StringConcat", ["s", "s"], ["t"], {}), ("Equal", ["s", "t"], ["y0"], {})]),
    chain("StringNormalizer",
          [("StringNormalizer", ["s"], ["t"],
            {"case_change_action": "LOWER", "is_case_sensitive": 1, "locale": "C",
             "stopwords": ["1", "2"]}), BACK]),
    chain("StringSplit", [("StringSplit", ["s"], ["t", "y0"], {"delimiter": "5", "maxsplit": 3})]),
]
