#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the examples for Cortex-M on an emulated board. Standard library only.

    bare_metal_test.py BUILD TOOL MHZ EMULATOR NAME WHAT     EMULATOR is one argument

    run [--shift X]    outputs of NAME equal those of `TOOL run` on the model
    size [--scale F]   sizes stay within limits.txt, times F
    heap               no symbol of a heap is linked
    stack [--scale F]  the program stays below the bound of its generated header, times F, and the
                       bound is not twice as much

NAME.text          code and constants in flash, without the plan
NAME.ram           variables beyond the arena and the stack
NAME.stack         of the stack, what the program used (it is painted before)
NAME.instructions  of one run: the emulator's clock of MHZ counts them
"""

import pathlib
import re
import struct
import subprocess
import sys
import tempfile

HEAP = re.compile(r"(_?(malloc|calloc|realloc|free|sbrk)(_r)?|_Zn[wa]\w*|_Zd[la]\w*)$")
OWN_STACK = 160  # of start, main and what main prints
TOLERANCE = 2e-6  # programs print six decimals; or so much of the largest output


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n"
                 f"{done.stdout}{done.stderr}")
    return done.stdout + done.stderr  # where semihosting writes depends on the emulator


class Example:
    def __init__(self, build, tool, mhz, emulator, name):
        self.tool, self.mhz, self.emulator, self.name = tool, float(mhz), emulator.split(), name
        self.program = build / "bin" / f"{name}_cortex_m7"
        self.folder = build / "examples" / f"{name}_cortex_m7"

    def emulate(self):
        return run(*self.emulator, self.program)

    def printed(self, text, what):
        line = re.search(rf"^{what} (.*)$", text, re.MULTILINE)
        return [float(word) for word in line.group(1).split()] if line else []

    def expected(self):
        """The outputs of the model on the build machine."""
        with tempfile.TemporaryDirectory() as out:
            run(self.tool, "run", self.folder / f"{self.name}.onnx", "--input",
                f"x={self.folder / 'x.npy'}", "--output-dir", out)
            data = (pathlib.Path(out) / "output_0.npy").read_bytes()
        values = data[10 + struct.unpack("<H", data[8:10])[0]:]
        return struct.unpack(f"<{len(values) // 4}f", values)

    def check_run(self, shift):
        text = self.emulate()
        print(text, end="")
        found = self.printed(text, "outputs")
        values = [value + shift for value in self.expected()]
        print("host   ", *(f"{value:.6f}" for value in values))
        if len(found) != len(values):
            return [f"{len(found)} outputs, expected {len(values)}"]
        tolerance = TOLERANCE * max(1, *(abs(value) for value in values))
        return [f"output {i} differs by {abs(a - b):g}: {a}, expected {b:.6f}"
                for i, (a, b) in enumerate(zip(found, values)) if not abs(a - b) <= tolerance]

    def check_size(self, scale):
        model = self.folder / "intarsia_models" / f"{self.name}_model" / f"{self.name}_model"
        arena = int(re.search(r"arena_bytes = (\d+);", model.with_suffix(".h").read_text()).group(1))
        sections = run("arm-none-eabi-objdump", "-h", self.program)
        bytes_of = {name: int(size, 16) for name, size in
                    re.findall(r"^\s*\d+ (\S+)\s+([0-9a-f]{8})\s", sections, re.M)}
        flash = sum(bytes_of.get(name, 0) for name in (".text", ".ARM.exidx", ".data"))
        text = self.emulate()
        sizes = {
            "text": flash - model.with_suffix(".plan").stat().st_size,
            "ram": bytes_of[".data"] + bytes_of[".bss"] - arena,
            "arena": arena,
            "stack": int(self.printed(text, "stack")[0]),
        }
        for cycles in self.printed(text, "cycles"):
            sizes["instructions"] = round(cycles * 1000 / self.mhz)
        lines = (pathlib.Path(__file__).parent / "limits.txt").read_text().splitlines()
        limits = {line.split()[0]: int(line.split()[1]) * scale for line in lines
                  if line and line[0] != "#"}
        problems = []
        for what, size in sizes.items():
            name, unit = f"{self.name}.{what}", "" if what == "instructions" else " bytes"
            print(f"{name}: {size}{unit}, the limit is {limits[name]}")
            if size > limits[name]:
                problems.append(f"{name}: {size}{unit}, above the limit of {limits[name]} of limits.txt")
        missing = [name for name in limits if name.startswith(self.name + ".")
                   and name.split(".")[1] not in sizes]
        return problems + [f"{name}: not measured" for name in missing]

    def check_stack(self, scale):
        text = self.emulate()
        used, bound = (int(self.printed(text, what)[0]) for what in ("stack", "bound"))
        print(f"{self.name}: {used} bytes of stack used, the bound is {bound}")
        if used > bound * scale + OWN_STACK:
            return [f"{self.name}: {used} bytes of stack, above the bound of {bound * scale}"]
        return [f"{self.name}: the bound says little"] if bound > 2 * used else []

    def check_heap(self):
        names = [line.split()[-1] for line in run("arm-none-eabi-nm", self.program).splitlines()]
        if "main" not in names:
            return [f"{self.program}: no symbols"]
        return [f"{name}: linked, and nothing may use a heap" for name in names if HEAP.match(name)]


def main():
    if len(sys.argv) not in (7, 9):
        sys.exit(__doc__)
    example = Example(pathlib.Path(sys.argv[1]), *sys.argv[2:6])
    what, value = sys.argv[6], sys.argv[8] if len(sys.argv) > 8 else None
    checks = {"run": lambda: example.check_run(float(value or 0)),
              "size": lambda: example.check_size(int(value or 1)),
              "heap": example.check_heap,
              "stack": lambda: example.check_stack(float(value or 1))}
    if what not in checks:
        sys.exit(__doc__)
    problems = checks[what]()
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
