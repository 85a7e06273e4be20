#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""C++ is formatted by clang-format 14 (Debian 12's) with the project's .clang-format; other
releases format differently."""

import shutil
import subprocess

import common


def check(root, _=None):
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    if not tool:
        return ["clang-format 14 is missing; test/install_dependencies.sh installs it"]
    sources = [str(p) for p in common.files(root) if p.suffix in common.CPP]
    if not sources:
        return []
    style = f"--style=file:{common.ROOT / '.clang-format'}"
    done = subprocess.run([tool, "--dry-run", "-Werror", style, *sources], cwd=root,
                          capture_output=True, text=True)
    problems = [line for line in done.stderr.splitlines() if ": error:" in line]
    if done.returncode != 0 and not problems:
        problems = [done.stderr]
    files = sorted({line.split(":")[0] for line in problems if ": error:" in line})
    if files:
        problems.append(f"repair with: clang-format -i {' '.join(files)}")
    return problems


SAMPLES = [
    ("good", {"core/a.h": "#pragma once\nint f(int* a);\n"}, None),
    ("no source", {"README.md": "a\n"}, None),
    ("wrong spaces", {"core/a.h": "int  f( int *a );\n"}, "clang-format-violations"),
    ("long line", {"core/a.h": "int f(" + "int, " * 30 + "int);\n"}, "clang-format-violations"),
]

if __name__ == "__main__":
    common.main(check, SAMPLES, __doc__)
