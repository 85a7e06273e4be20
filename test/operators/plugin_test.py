#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command with operators of one's own.

    plugin_test.py TOOL MODEL.onnx PLUGIN FOREIGN FAILING EMPTY NEWER SWAPPED

MODEL uses the operators of PLUGIN; FOREIGN, FAILING and EMPTY are libraries to be refused; NEWER
and SWAPPED are FAILING as another version makes it, with the same layouts and with another one.
Checks every command that takes --operators, and the sentence for each way in which a library can be
wrong.
Standard library only.
"""

import pathlib
import struct
import subprocess
import sys
import tempfile

problems = []


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def expect(what, status, *texts, command):
    found, output = run(*command)
    if found < 0 or (found == 0) != (status == 0):
        problems.append(f"{what}: exit status {found}, expected {status}:\n{output}")
    for text in texts:
        if text not in output:
            problems.append(f"{what}: expected '{text}' in:\n{output}")


def write_npy(path, values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                     + struct.pack(f"<{len(values)}f", *values))


def read_floats(path):
    if not path.exists():
        return []
    data = path.read_bytes()
    data = data[10 + struct.unpack("<H", data[8:10])[0]:]
    return list(struct.unpack(f"<{len(data) // 4}f", data))


def main():
    if len(sys.argv) != 9:
        sys.exit(__doc__)
    tool, model, plugin, foreign, failing, empty, newer, swapped = (
        pathlib.Path(word).resolve() for word in sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        plan, x = folder / "m.plan", folder / "x.npy"
        write_npy(x, [1, 2, 3])
        convert = [tool, "convert", model, "-o", plan]
        expect("without operators", 1, "sample:Affine", "is not supported",
               "come with --operators LIB.so", command=convert)
        expect("convert", 0, command=[*convert, "--operators", plugin])
        for what, path in (("onnx", model), ("plan", plan)):
            expect(f"run {what}", 0, command=[tool, "run", path, "--input", f"x={x}", "--output-dir",
                                              folder, "--operators", plugin])
            if read_floats(folder / "output_0.npy") != [6, 4, 2]:
                problems.append(f"run {what}: output {read_floats(folder / 'output_0.npy')}")
            (folder / "output_0.npy").unlink(missing_ok=True)
            expect(f"bench {what}", 0, "0 heap calls",
                   command=[tool, "bench", path, "--seconds", "0.01", "--operators", plugin])
            expect(f"inspect {what}", 0, "sample:Affine<float>",
                   command=[tool, "inspect", path, "--operators", plugin])
        expect("verify", 0, "sample:Counter", "3 results compared, largest error 0 ",
               command=[tool, "verify", model, "--operators", plugin])
        expect("a plan without its operators", 1, "kernel sample:Affine<float>", "not in this build",
               "--operators LIB.so",
               command=[tool, "run", plan, "--input", f"x={x}"])

        text = folder / "text.so"
        text.write_text("no library\n")
        refuse = lambda what, path, *texts: expect(
            what, 1, f"--operators {path}", *texts, command=[*convert, "--operators", path])
        refuse("absent", folder / "absent.so", "there is no such file")
        refuse("no library", text, "cannot be loaded")
        refuse("no plug-in", empty, "does not export intarsia_plugin")
        refuse("another text", foreign, "was built for 'intarsia 0.0.1, another layout'",
               "build it again with the headers of this Intarsia")
        refuse("another layout", swapped, "was built for 'intarsia plug-in ", ", layout ",
               "build it again with the headers of this Intarsia")
        for what, library in (("fails", failing), ("has another version alone", newer)):
            expect(f"a plug-in that {what}", 1, "this plug-in has nothing to give",
                   command=[*convert, "--operators", library])
        expect("the same twice", 1, "is defined already",
               command=[*convert, "--operators", plugin, "--operators", plugin])
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"plugin_test: {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
