#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Device code whose products are rounded by themselves, as another device rounds them.

    rounding.py NVCC ROOT SOURCE.cu

Compiles ROOT/SOURCE.cu to PTX. There must be no product that nvcc has fused with a sum (`fma`), and
none that what makes machine code of PTX may fuse: a `mul` without `.rn` that a sum reads. Standard
library only.
"""

import pathlib
import re
import subprocess
import sys
import tempfile


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    nvcc, root, source = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    with tempfile.TemporaryDirectory() as folder:
        ptx = pathlib.Path(folder) / "code.ptx"
        subprocess.run([nvcc, "-std=c++20", "-O3", "--expt-relaxed-constexpr", "-arch=sm_80", "-ptx",
                        "-I", root, "-I", root / "include", root / source, "-o", ptx], check=True)
        text = ptx.read_text()
    rounded = len(re.findall(r"mul\.rn\.f(?:32|64)", text))
    fused = len(re.findall(r"fma\.\w+\.f(?:32|64)", text))
    for kernel in text.split(".entry"):
        sums = " ".join(re.findall(r"(?:add|sub)\.(?:\w+\.)?f(?:32|64)\s([^;]*);", kernel))
        products = re.findall(r"mul\.f(?:32|64)\s+(%\w+),", kernel)
        fused += sum(re.search(product + r"\b", sums) is not None for product in products)
    print(f"{source}: {rounded} rounded products, {fused} fused")
    sys.exit(0 if rounded and not fused else 1)


if __name__ == "__main__":
    main()
