#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs examples/c_program on the plan that examples/c_program.sh makes.

    c_program_test.py PROGRAM INTARSIA FOLDER
"""

import pathlib
import subprocess
import sys

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "c_program"
ENTRIES = "entry point 0: scale\nentry point 1: words\n"
# Arguments, exit status, what the program prints.
CASES = [
    (["scale"], 0, ENTRIES, "\ny: float [2, 2] 0 28.5 27 64.5\n"),
    (["words"], 0, ENTRIES, '\ny: string [2] "HELLO" "WORLD"\n'),
    ([], 0, ENTRIES, "28.5 27 64.5\n"),
    (["none"], 1, ENTRIES, "c_program: ENTRY: entry point 'none' is not known\n"),
    (["scale", "words"], 2, "usage", "[ENTRY]\n"),
]


def main():
    program, tool, folder = sys.argv[1:]
    subprocess.run([sys.executable, EXAMPLE / "make_model.py", folder], check=True)
    plan = f"{folder}/joined.plan"
    subprocess.run([tool, "convert", "-o", plan, "--entry", f"scale={folder}/scale.onnx",
                    "--entry", f"words={folder}/words.onnx", "--dim", "batch=1..2"], check=True)
    for arguments, status, begin, end in CASES:
        done = subprocess.run([program, plan, *arguments], capture_output=True, text=True)
        found = done.stdout + done.stderr
        if done.returncode != status or not found.startswith(begin) or not found.endswith(end):
            sys.exit(f"{arguments}: exit status {done.returncode}, expected {status}; it printed\n"
                     f"{found}\nexpected were\n{begin}...{end}")
    print(f"{len(CASES)} cases as expected")


if __name__ == "__main__":
    main()
