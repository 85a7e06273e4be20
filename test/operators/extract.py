#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the files that a document shows, so that they are known to compile.

    extract.py DOCUMENT.md FOLDER

A block that begins with "```LANGUAGE FILE" is the content of FOLDER/FILE.
"""

import pathlib
import re
import sys


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    document, folder = map(pathlib.Path, sys.argv[1:])
    blocks = re.findall(r"^```\w+ (\S+)\n(.*?)^```$", document.read_text(), re.MULTILINE | re.DOTALL)
    if not blocks:
        sys.exit(f"{document}: no block names a file")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in blocks:
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    main()
