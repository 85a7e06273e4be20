#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opening a plan takes time in proportion to its bytes, whatever it is made of.

    open_cost_test.py PROGRAM

PROGRAM opens plans of N records of a kind (open_cost.cpp). Under callgrind the instructions of
Session::open are counted, for N and for twice as many: they may grow by as much as the plan does, and
a tenth more, since a node's operands are sorted. The kind `pairs` has a kernel that looks at every
pair of operands, and must be found."""

import re
import subprocess
import sys

N = 2000
MARGIN = 1.1


def measure(program, kind, n):
    """Instructions of open, and the plan's bytes."""
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
         "--toggle-collect=intarsia::Session::open(*", program, kind, str(n)],
        capture_output=True, text=True)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or collected is None or int(collected.group(1)) == 0:
        sys.exit(f"{kind} {n}: exit status {done.returncode}\n{done.stderr}")
    return int(collected.group(1)), int(done.stdout)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = sys.argv[1]
    kinds = subprocess.run([program], capture_output=True, text=True).stdout.split()
    if "pairs" not in kinds:
        sys.exit(f"{program} lists no kinds")
    failed = False
    for kind in kinds:
        small, small_bytes = measure(program, kind, N)
        large, large_bytes = measure(program, kind, 2 * N)
        growth, allowed = large / small, MARGIN * large_bytes / small_bytes
        print(f"{kind}: {small} instructions for {small_bytes} bytes, {large} for {large_bytes}: "
              f"{growth:.2f} times, {allowed:.2f} are allowed")
        if (growth > allowed) != (kind == "pairs"):
            print(f"{kind}: {'not found' if kind == 'pairs' else 'more than in proportion'}",
                  file=sys.stderr)
            failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
