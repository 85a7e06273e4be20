#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No object outside pyop_optional refers to Python: symbols_test.py FILE... --control FILE"""

import re
import subprocess
import sys

PYTHON = re.compile(r" U (_?Py[A-Z_]\w*)$")


def python_symbols(path):
    lines = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    return sorted({m.group(1) for m in map(PYTHON.search, lines.splitlines()) if m})


split = sys.argv.index("--control")
if not python_symbols(sys.argv[split + 1]):
    sys.exit("this test has stopped seeing Python's symbols: the control has none")
found = {path: python_symbols(path) for path in sys.argv[1:split]}
for path, symbols in found.items():
    print(f"{path}: {len(symbols)} symbols of Python {' '.join(symbols[:5])}")
sys.exit(1 if any(found.values()) else 0)
