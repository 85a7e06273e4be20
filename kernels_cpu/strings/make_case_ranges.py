#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes case_ranges.h: the simple case mappings of Unicode, from Python's own tables."""

import pathlib
import unicodedata

HEADER = """// SPDX-License-Identifier: Apache-2.0
//
// Letters by case: every stride-th code point from `first` to `last` plus `distance` is the letter of
// the other case. Made by make_case_ranges.py from Unicode {version}; mappings to several
// code points are left out.
#pragma once

#include <cstdint>

namespace intarsia::cpu {{

struct CaseRange {{
  uint32_t first;
  uint32_t last;
  int32_t stride;
  int32_t distance;
}};

// clang-format off
inline constexpr CaseRange kToLower[] = {{
{lower}
}};
inline constexpr CaseRange kToUpper[] = {{
{upper}
}};
// clang-format on

}}  // namespace intarsia::cpu
"""


def ranges(convert):
    distance = {}
    for code in range(0x110000):
        other = convert(chr(code))
        if not 0xD800 <= code < 0xE000 and len(other) == 1 and ord(other) != code:
            distance[code] = ord(other) - code
    codes = sorted(distance)
    while codes:
        best = None
        for stride in (1, 2):
            length = 1
            while (length < len(codes) and codes[length] == codes[length - 1] + stride
                   and distance[codes[length]] == distance[codes[0]]):
                length += 1
            if best is None or length > best[0]:
                best = (length, stride)
        length, stride = best
        yield (codes[0], codes[length - 1], stride, distance[codes[0]])
        codes = codes[length:]


def rows(convert):
    items = ["{0x%04x, 0x%04x, %d, %d}," % row for row in ranges(convert)]
    return "\n".join("    " + " ".join(items[i:i + 3]) for i in range(0, len(items), 3))


target = pathlib.Path(__file__).with_name("case_ranges.h")
target.write_text(HEADER.format(version=unicodedata.unidata_version, lower=rows(str.lower),
                                upper=rows(str.upper)), encoding="ascii")
