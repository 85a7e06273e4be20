#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing asks CUDA for the program's last error: launches return their own.

  launch_errors.py libintarsia_cuda.a

cudaGetLastError gives whatever went wrong anywhere in the program before, and clears it. Only
runtime::pin may call it, for an error that it has just caused itself and that does not matter.
"""

import re
import subprocess
import sys

SECTION = re.compile(r"RELOCATION RECORDS FOR \[(.*)\]:")
ASKS = re.compile(r"\bcuda(GetLast|PeekAtLast)Error\b")
ALLOWED = ".text._ZN8intarsia4cuda7runtime3pinE"


def main():
    listing = subprocess.run(["objdump", "-r", sys.argv[1]], capture_output=True, text=True,
                             check=True).stdout
    section, asking, launching = "", [], False
    for line in listing.splitlines():
        if match := SECTION.match(line):
            section = match.group(1)
        elif ASKS.search(line) and not section.startswith((ALLOWED, ".debug")):
            asking.append(section)
        launching = launching or "cudaLaunchKernel" in line
    if not launching:
        sys.exit(f"{sys.argv[1]} launches nothing")
    if asking:
        sys.exit(f"asks for the program's last error: {' '.join(asking)}")


if __name__ == "__main__":
    main()
