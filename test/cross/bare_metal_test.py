#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests examples/mlp_cortex_m7 on an emulated board. Standard library only.

    bare_metal_test.py BUILD TOOL run [--shift X]    outputs equal those of `TOOL run` on the model
    bare_metal_test.py BUILD TOOL size [--scale F]   sizes stay within limits.txt, times F
    bare_metal_test.py BUILD TOOL heap PROGRAM       no symbol of a heap is linked

mlp.text   code and constants in flash, without the plan
mlp.ram    variables beyond the arena and the stack
mlp.stack  of the stack, what the run used (it is painted before)
"""

import pathlib
import re
import struct
import subprocess
import sys
import tempfile

HEAP = re.compile(r"(_?(malloc|calloc|realloc|free|sbrk)(_r)?|_Zn[wa]\w*|_Zd[la]\w*)$")
TOLERANCE = 2e-6  # the program prints six decimals


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n"
                 f"{done.stdout}{done.stderr}")
    return done.stdout


def emulate(build):
    return run("qemu-system-arm", "-machine", "mps2-an500", "-display", "none", "-monitor", "none",
               "-serial", "none", "-chardev", "stdio,id=text",
               "-semihosting-config", "enable=on,target=native,chardev=text",
               "-kernel", build / "bin" / "mlp_cortex_m7")


def expected(build, tool):
    """The outputs of the model on the build machine."""
    folder = build / "examples" / "mlp_cortex_m7"
    with tempfile.TemporaryDirectory() as out:
        run(tool, "run", folder / "mlp.onnx", "--input", f"x={folder / 'x.npy'}",
            "--output-dir", out)
        data = (pathlib.Path(out) / "output_0.npy").read_bytes()
    values = data[10 + struct.unpack("<H", data[8:10])[0]:]
    return struct.unpack(f"<{len(values) // 4}f", values)


def check_run(build, tool, shift):
    text = emulate(build)
    print(text, end="")
    line = re.search(r"^outputs (.*)$", text, re.MULTILINE)
    found = [float(word) for word in line.group(1).split()] if line else []
    values = [value + shift for value in expected(build, tool)]
    print("host   ", *(f"{value:.6f}" for value in values))
    if len(found) != len(values):
        return [f"{len(found)} outputs, expected {len(values)}"]
    return [f"output {i} differs by {abs(a - b):g}: {a}, expected {b:.6f}"
            for i, (a, b) in enumerate(zip(found, values)) if not abs(a - b) <= TOLERANCE]


def check_size(build, scale):
    folder = build / "examples" / "mlp_cortex_m7" / "intarsia_models" / "mlp_model"
    header = (folder / "mlp_model.h").read_text()
    arena = int(re.search(r"arena_bytes = (\d+);", header).group(1))
    sections = run("arm-none-eabi-objdump", "-h", build / "bin" / "mlp_cortex_m7")
    bytes_of = {name: int(size, 16)
                for name, size in re.findall(r"^\s*\d+ (\S+)\s+([0-9a-f]{8})\s", sections, re.M)}
    flash = sum(bytes_of.get(name, 0) for name in (".text", ".ARM.exidx", ".data"))
    sizes = {
        "mlp.text": flash - (folder / "mlp_model.plan").stat().st_size,
        "mlp.ram": bytes_of[".data"] + bytes_of[".bss"] - arena,
        "mlp.arena": arena,
        "mlp.stack": int(re.search(r"^stack (\d+)$", emulate(build), re.MULTILINE).group(1)),
    }
    lines = (pathlib.Path(__file__).parent / "limits.txt").read_text().splitlines()
    limits = {line.split()[0]: int(line.split()[1]) * scale for line in lines
              if line and line[0] != "#"}
    for name, size in sizes.items():
        print(f"{name}: {size} bytes, the limit is {limits[name]}")
    return [f"{name}: {size} bytes, above the limit of {limits[name]} of limits.txt"
            for name, size in sizes.items() if size > limits[name]]


def check_heap(program):
    names = [line.split()[-1] for line in run("arm-none-eabi-nm", program).splitlines()]
    if "main" not in names:
        return [f"{program}: no symbols"]
    return [f"{name}: linked, and nothing may use a heap" for name in names if HEAP.match(name)]


def main():
    arguments = dict(enumerate(sys.argv))
    build, tool, what = pathlib.Path(arguments.get(1, "")), arguments.get(2), arguments.get(3)
    value = arguments.get(5, arguments.get(4))
    checks = {"run": lambda: check_run(build, tool, float(value or 0)),
              "size": lambda: check_size(build, int(value or 1)),
              "heap": lambda: check_heap(value)}
    if what not in checks:
        sys.exit(__doc__)
    problems = checks[what]()
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
