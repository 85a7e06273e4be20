#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes categories.h: the general categories of Unicode, from Python's own tables."""

import pathlib
import unicodedata

HEADER = """// SPDX-License-Identifier: Apache-2.0
//
// The general categories of Unicode {version}, made by make_categories.py: runs of code points of one
// category, one behind the other. Two letters name the category, the length in base 36 follows; of a
// run that takes turns, two categories stand in front of the length.
#pragma once

#include <string_view>

namespace intarsia::converter::regex {{

// clang-format off
inline constexpr std::string_view kCategories =
{rows};
// clang-format on

}}  // namespace intarsia::converter::regex
"""


def base36(number):
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    text = ""
    while number:
        number, digit = divmod(number, 36)
        text = digits[digit] + text
    return text


def runs():
    of = [unicodedata.category(chr(code)) for code in range(0x110000)]
    code = 0
    while code < len(of):
        plain = code
        while plain < len(of) and of[plain] == of[code]:
            plain += 1
        turns = code
        if code + 1 < len(of):
            pair = (of[code], of[code + 1])
            while turns < len(of) and of[turns] == pair[(turns - code) % 2]:
                turns += 1
        if turns - code >= 4 and turns > plain:
            yield pair[0] + pair[1] + base36(turns - code)
            code = turns
        else:
            yield of[code] + base36(plain - code)
            code = plain


text = "".join(runs())
rows = "\n".join('    "%s"' % text[i:i + 92] for i in range(0, len(text), 92))
target = pathlib.Path(__file__).with_name("categories.h")
target.write_text(HEADER.format(version=unicodedata.unidata_version, rows=rows), encoding="ascii")
