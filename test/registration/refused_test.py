#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that the compiler or the linker must refuse.

    refused_test.py CASE.cpp [--link] COMPILER [FLAG]...

CASE.cpp as it stands must build. Each of its lines "// BROKEN=N: pattern" is a way to break it:
with -DBROKEN=N it must not build, and the compiler must say what matches the regular expression;
with "BROKEN=N only" as its one error, but for Clang, which goes on with a class that is wrong. With
--link the program is linked too, else its syntax is checked alone.
"""

import pathlib
import re
import subprocess
import sys
import tempfile


def build(command, case, link, *flags):
    with tempfile.TemporaryDirectory() as folder:
        last = ["-o", f"{folder}/program"] if link else ["-fsyntax-only"]
        done = subprocess.run([*command, "-std=c++20", *flags, case, *last], capture_output=True,
                              text=True)
    return done.returncode == 0, done.stdout + done.stderr


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    case, link = sys.argv[1], sys.argv[2] == "--link"
    command = sys.argv[3 if link else 2:]
    ways = re.findall(r"^// BROKEN=(\d+)( only)?: (.*)$",
                      pathlib.Path(case).read_text(), re.MULTILINE)
    if not ways:
        sys.exit(f"{case}: no line '// BROKEN=N: pattern'")
    version = subprocess.run([command[0], "--version"], capture_output=True, text=True).stdout
    goes_on = "clang" in version
    problems = []
    built, text = build(command, case, link)
    if not built:
        problems.append(f"{case}: must build as it stands, the compiler says:\n{text}")
    for number, only, pattern in ways:
        built, text = build(command, case, link, f"-DBROKEN={number}")
        if built:
            problems.append(f"{case}: builds with -DBROKEN={number}, expected: {pattern}")
            continue
        if not re.search(pattern, text):
            problems.append(f"{case}: -DBROKEN={number}: expected a message that matches "
                            f"'{pattern}', the compiler says:\n{text}")
            continue
        errors = re.findall(r"\berror: .*", text)
        if only and not goes_on and not (len(errors) == 1 and re.search(pattern, errors[0])):
            problems.append(f"{case}: -DBROKEN={number}: expected this to be the one error, the "
                            f"compiler says {len(errors)}:\n{text}")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{case}: 1 program that builds, {len(ways)} that must not, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
