#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No object outside pyop_optional refers to Python:

    symbols_test.py FILE... --control FILE
    symbols_test.py --built LIST --control FILE

LIST has a line for each archive, program and shared library of a build: the folder of the sources that
declares it, and the file. Those of the folders that know Python are left out, and what has not been
built. The control is a file that must be found to refer to Python.
"""

import re
import subprocess
import sys
from pathlib import Path

PYTHON = re.compile(rb" (_?Py[A-Z_]\w*)(?:@\S+)?$", re.MULTILINE)
# What knows Python, its tests, and the examples that have operators in Python.
KNOWS_PYTHON = re.compile(r"(pyop_optional|test/pyop|test/python|examples/pyop|examples/all_kinds)(/|$)")


def python_symbols(path):
    """Of the file's symbols and, as programs may be stripped, of those that the loader looks for."""
    tables = [["nm", path]] + ([] if path.endswith(".a") else [["nm", "-D", path]])
    text = b"".join(subprocess.run(table, capture_output=True, check=True).stdout for table in tables)
    return sorted({symbol.decode() for symbol in PYTHON.findall(text)})


def built(path):
    listed = [line.split(" ", 1) for line in Path(path).read_text().splitlines()]
    files = [file for folder, file in listed if not KNOWS_PYTHON.match(folder) and Path(file).exists()]
    for name in ("libintarsia_core.a", "libintarsia_converter.a", "intarsia"):
        if name not in [Path(file).name for file in files]:
            sys.exit(f"{path} does not list {name}, or it has not been built")
    return files


*paths, option, control = sys.argv[1:]
assert option == "--control", __doc__
if not python_symbols(control):
    sys.exit("this test has stopped seeing Python's symbols: the control has none")
paths = built(paths[1]) if paths[0] == "--built" else paths
found = {path: symbols for path in paths if (symbols := python_symbols(path))}
for path, symbols in found.items():
    print(f"{path}: {len(symbols)} symbols of Python {' '.join(symbols[:5])}")
print(f"{len(paths) - len(found)} of {len(paths)} files do not know Python")
sys.exit(1 if found else 0)
