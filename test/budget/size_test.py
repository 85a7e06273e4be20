#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what the runtime costs in bytes and fails above limits.txt.

    size_test.py NOOP EMPTY PLAN CORE_ARCHIVE TRUSTED VERIFIED [--scale FACTOR]

runtime.text   code and constants of the program NOOP, less those of EMPTY and the bytes of PLAN,
               which lie in it; likewise runtime.file, the whole file
core.trusted   code and constants of the program TRUSTED, less those of EMPTY: the core optimised for
core.verified  size, without kernels; likewise VERIFIED, which verifies its plan
core.data      variables in the archive that start with a value; core.bss those that start as 0.
               Constants that the loader relocates (.data.rel.ro) are not variables.

The environment names the program OBJDUMP. --scale multiplies the limits, for the negative control.
"""

import os
import pathlib
import re
import subprocess
import sys

SECTION = re.compile(r"^\s*\d+ (\S+)\s+([0-9a-f]{8,})\s.*\n\s+(.*)$", re.MULTILINE)


def sections(file):
    """(name, bytes, flags) of every section of a program, or of all members of an archive."""
    done = subprocess.run([os.environ.get("OBJDUMP", "objdump"), "-h", file], capture_output=True,
                          text=True)
    if done.returncode != 0:
        sys.exit(f"{file}: {done.stderr}")
    found = [(m.group(1), int(m.group(2), 16), m.group(3)) for m in SECTION.finditer(done.stdout)]
    if not found:
        sys.exit(f"{file}: no sections")
    return found


def text(file):
    return sum(size for _, size, flags in sections(file)
               if "ALLOC" in flags and "READONLY" in flags)


def variables(file, pattern):
    return sum(size for name, size, _ in sections(file) if re.match(pattern, name))


def limits(scale):
    lines = (pathlib.Path(__file__).parent / "limits.txt").read_text().splitlines()
    return {words[0]: int(words[1]) * scale for words in map(str.split, lines)
            if words and not words[0].startswith("#")}


def main():
    arguments, scale = sys.argv[1:], 1
    if len(arguments) == 8 and arguments[6] == "--scale":
        scale = int(arguments[7])
        del arguments[6:]
    if len(arguments) != 6:
        sys.exit(__doc__)
    noop, empty, plan, core, trusted, verified = arguments
    plan_bytes = os.path.getsize(plan)
    sizes = {
        "runtime.text": text(noop) - text(empty) - plan_bytes,
        "runtime.file": os.path.getsize(noop) - os.path.getsize(empty) - plan_bytes,
        "core.trusted": text(trusted) - text(empty),
        "core.verified": text(verified) - text(empty),
        "core.data": variables(core, r"\.(data|tdata)(?!\.rel\.ro)"),
        "core.bss": variables(core, r"\.t?bss"),
    }
    allowed = limits(scale)
    problems = [f"{name}: no such figure, but limits.txt has it" for name in allowed.keys() - sizes]
    for name, size in sizes.items():
        if name not in allowed:
            problems.append(f"{name}: {size} bytes; add a limit to limits.txt")
        elif size > allowed[name]:
            problems.append(f"{name}: {size} bytes, above the limit of {allowed[name]}")
        else:
            print(f"{name}: {size} bytes, the limit is {allowed[name]}")
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
