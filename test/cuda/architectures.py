#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Device code runs on every architecture that nvcc compiles for.

  architectures.py libintarsia_cuda.a NVCC [--without compute_75]

An architecture runs machine code of its own major version with the same or a lower minor one, and
PTX of the same or a lower architecture, which the driver compiles. Every object must have one of
them for each. --without leaves a form out, for the negative control. Reads the fat binaries itself:
not every installation of the toolkit has cuobjdump.
"""

import re
import subprocess
import sys

import module_size


def serves(form, architecture):
    kind, number = form.split("_")
    number = int(number)
    if kind == "compute":
        return number <= architecture
    return number // 10 == architecture // 10 and number <= architecture


def main():
    archive, nvcc = sys.argv[1:3]
    without = sys.argv[4] if sys.argv[3:4] == ["--without"] else None
    codes = subprocess.run([nvcc, "--list-gpu-code"], capture_output=True, text=True, check=True)
    known = sorted(int(number) for number in re.findall(r"sm_(\d+)", codes.stdout))
    problems = 0
    objects = module_size.forms(archive)
    for name, forms in sorted(objects.items()):
        forms = forms - {without}
        lacking = [number for number in known if not any(serves(form, number) for form in forms)]
        print(f"{name}: {' '.join(sorted(forms))}")
        if lacking:
            problems += 1
            print(f"{name}: no code for {' '.join(f'sm_{number}' for number in lacking)}",
                  file=sys.stderr)
    if not known or not objects:
        sys.exit(f"{archive} holds no device code, or {nvcc} names no architecture")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
