#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a program has a symbol of CUDA or needs a library of it.

  no_cuda.py PROGRAM
"""

import re
import subprocess
import sys


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main():
    program = sys.argv[1]
    symbols = output("nm", "--demangle", program).splitlines()
    if not symbols:
        sys.exit(f"{program} has no symbols; is it stripped?")
    found = [line for line in symbols if re.search(r"\bcuda|intarsia::cuda|\b_?_?cu[A-Z]", line)]
    found += [line for line in output("objdump", "-p", program).splitlines()
              if "NEEDED" in line and re.search(r"libcu|nvidia", line)]
    for line in found[:20]:
        print(line, file=sys.stderr)
    print(f"{program}: {len(found)} symbols and libraries of CUDA among {len(symbols)}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
