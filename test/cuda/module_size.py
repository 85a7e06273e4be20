#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the bytes of device code per architecture in an archive, and fails beyond a limit.

  module_size.py libintarsia_cuda.a LIMIT|limits.txt     (CUOBJDUMP names the tool)
"""

import collections
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def sizes(archive):
    """Bytes by "sm_80" or "compute_120" (PTX)."""
    tool = os.environ.get("CUOBJDUMP", "cuobjdump")
    found = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for option in ("-xelf", "-xptx"):
            subprocess.run([tool, option, "all", str(Path(archive).resolve())], cwd=folder,
                           check=True, capture_output=True)
        for path in Path(folder).iterdir():
            match = re.search(r"\.(sm_\w+)\.(cubin|ptx)$", path.name)
            name = match.group(1) if match.group(2) == "cubin" else match.group(1) + " (PTX)"
            found[name] += path.stat().st_size
    return found


def main():
    archive, limit = sys.argv[1:]
    if not limit.isdigit():
        lines = Path(limit).read_text(encoding="utf-8").splitlines()
        limit = next(line for line in lines if line and not line.startswith("#"))
    found = sizes(archive)
    for name, size in sorted(found.items()):
        print(f"{name}: {size} bytes, limit {limit}")
    if not found:
        sys.exit(f"{archive} holds no device code")
    beyond = [name for name, size in found.items() if size > int(limit)]
    if beyond:
        sys.exit(f"beyond the limit: {', '.join(beyond)}")


if __name__ == "__main__":
    main()
