#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No compiler run of a cross build looks for headers where those of the build machine lie.

    include_path_test.py BUILD [--add FLAG]    FLAG is added to each command, for the negative control

Takes the commands from BUILD/compile_commands.json and asks the compiler itself, with -v, where each
combination of flags searches. Debian keeps newlib's headers in /usr/include/newlib, and a folder
of Eigen's headers alone, which a build may name.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

OWN = ("/usr/include", "/usr/local/include")
FOREIGN = ("/usr/include/newlib", "/usr/include/eigen3")
PER_FILE = {"-o": 1, "-c": 1, "-MD": 0, "-MT": 1, "-MF": 1}


def flags_of(command):
    """A compile command without what names its file."""
    words, kept = shlex.split(command), []
    while words:
        word = words.pop(0)
        if word in PER_FILE:
            del words[:PER_FILE[word]]
        elif os.path.basename(word) != "ccache":
            kept.append(word)
    return tuple(kept)


def searched(flags):
    command = [*flags, "-E", "-v", "-x", "c++" if "++" in flags[0] else "c", os.devnull]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    folders = re.search(r"search starts here:\n(.*)End of search list", done.stderr, re.DOTALL)
    if done.returncode != 0 or not folders:
        sys.exit(f"{shlex.join(command)}: {done.stderr}")
    return {line.strip() for line in folders.group(1).splitlines() if line.startswith(" ")}


def inside(path, folders):
    return any(path == folder or path.startswith(folder + "/") for folder in folders)


def main():
    if len(sys.argv) not in (2, 4):
        sys.exit(__doc__)
    commands = json.loads((pathlib.Path(sys.argv[1]) / "compile_commands.json").read_text())
    distinct = {flags_of(entry["command"]) + tuple(sys.argv[3:]) for entry in commands}
    folders = set().union(*map(searched, distinct))
    print(f"{len(commands)} commands, {len(distinct)} combinations of flags, {len(folders)} folders:")
    problems = []
    for folder in sorted(folders):
        path = os.path.realpath(folder)
        print(f"  {path}")
        if inside(path, OWN) and not inside(path, FOREIGN):
            problems.append(f"{path}: headers of the build machine are in reach")
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems or not commands else 0)


if __name__ == "__main__":
    main()
