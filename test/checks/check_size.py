#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sources stay small: a file that outgrows its limit is split, not excused. The public headers are
about half prose, as they are the manual of the API. Prints the largest files, and the share of
comments in each public header."""

import common

LIMIT = 600          # lines of any source
KERNEL_LIMIT = 400   # lines of a kernel
KERNEL_WARN = 250
ROOT_CMAKE_LIMIT = 150
PROSE_LIMIT = 35     # percent of comment lines in the public headers together; 50 is the aim
LARGEST = 10


def limit_of(path):
    if path.parts[0] in ("kernels_cpu", "kernels_cuda"):
        return KERNEL_LIMIT
    return ROOT_CMAKE_LIMIT if str(path) == "CMakeLists.txt" else LIMIT


def check(root, _=None):
    problems, sizes, headers = [], [], []
    for path in filter(common.is_source, common.files(root)):
        lines = common.lines_of(root, path)
        sizes.append((len(lines), path))
        limit = limit_of(path)
        if len(lines) > limit:
            problems.append(f"{path}: {len(lines)} lines, the limit is {limit}; split the file")
        elif limit == KERNEL_LIMIT and len(lines) > KERNEL_WARN:
            print(f"warning: {path}: {len(lines)} lines; a kernel is near 100")
        if path.parts[0] == "include" and path.suffix == ".h" and "internal" not in path.parts:
            headers += lines
            print(f"{common.comment_percent(lines):3} % comment lines in {path}")
    prose = common.comment_percent(headers)
    print(f"{prose:3} % comment lines in the public headers together")
    if headers and prose < PROSE_LIMIT:
        problems.append(f"include/: {prose} % comment lines in the public headers; they are the "
                        f"manual of the API, {PROSE_LIMIT} % is the least")
    print(f"{sum(n for n, _ in sizes)} lines in {len(sizes)} sources; the largest:")
    for count, path in sorted(sizes, reverse=True)[:LARGEST]:
        print(f"  {count:5} {path}")
    return problems


def text(comments, code):
    return "// Says why.\n" * comments + "int a;\n" * code


SAMPLES = [
    ("good", {"include/intarsia/a.h": text(50, 50), "kernels_cpu/a.cpp": text(20, 300),
              "core/a.cpp": text(60, 540)}, None),
    ("long source", {"core/a.cpp": text(60, 541)}, "601 lines, the limit is 600"),
    ("long kernel", {"kernels_cpu/a.cpp": text(60, 341)}, "401 lines, the limit is 400"),
    ("long script", {"test/a.py": "a = 1\n" * 601}, "601 lines"),
    ("long root build file", {"CMakeLists.txt": "#\n" * 151}, "151 lines"),
    ("bare headers", {"include/intarsia/a.h": text(34, 66)}, "34 % comment lines"),
]

if __name__ == "__main__":
    common.main(check, SAMPLES, __doc__)
