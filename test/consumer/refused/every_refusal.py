#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every FATAL_ERROR of the functions that users call is what a case of this folder ends with.

    every_refusal.py CMAKE SOURCE_DIR BUILD_FOLDER [LEFT_OUT_CASE...]
"""

import re
import subprocess
import sys
from pathlib import Path

FILES = ("IntarsiaAddModel.cmake", "IntarsiaAddOperators.cmake")
MESSAGE = re.compile(r'message\(FATAL_ERROR((?:\s*"(?:[^"\\]|\\.)*")+)\)')
# What a variable stands for; "$<...>" and the like do not occur in messages.
VARIABLE = re.compile(r"\\\$\\\{\w+\\\}")


def refusals(folder):
    """Yields (file, line, pattern, text) of each message; CMake breaks lines at blanks."""
    for name in FILES:
        source = (folder / name).read_text(encoding="ascii")
        assert source.count("FATAL_ERROR") == len(MESSAGE.findall(source)), name
        for match in MESSAGE.finditer(source):
            text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match.group(1)))
            words = [VARIABLE.sub(".*?", re.escape(word)) for word in text.split()]
            line = source.count("\n", 0, match.start()) + 1
            yield name, line, re.compile(r"\s+".join(words), re.DOTALL), text


def main():
    cmake, source, build, *left_out = sys.argv[1:]
    project = Path(__file__).resolve().parent
    cases = re.findall(r'CASE STREQUAL "(\w+)"', (project / "CMakeLists.txt").read_text())
    printed = []
    for case in sorted(set(cases) - set(left_out)):
        done = subprocess.run(
            [cmake, "-S", project, "-B", f"{build}/{case}", f"-DCASE={case}",
             f"-DINTARSIA_SOURCE_DIR={source}"], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            sys.exit(f"the case '{case}' is refused by nothing")
        printed.append(done.stderr)
    missing = [f"cmake/{name}:{line}: no case shows '{text}'"
               for name, line, pattern, text in refusals(Path(source) / "cmake")
               if not any(map(pattern.search, printed))]
    print("\n".join(missing) or f"{len(printed)} cases show every refusal")
    sys.exit(1 if missing else 0)


main()
