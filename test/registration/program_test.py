#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the linker put into a program with a model, compared with what the converter asked for.

    program_test.py kernels PROGRAM TOOL PLAN SOURCE LIBRARY
    program_test.py initialisers PROGRAM EMPTY
        [--must-fail PATTERN]   the negative control: a problem must match it, no other may occur

kernels       the kernels linked into PROGRAM are those that the library of the model names, these
              are as many as the generated SOURCE lists, and the list is that of PLAN
initialisers  PROGRAM runs no more code before main than the program EMPTY

The environment names the programs NM and OBJDUMP.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

RUN = re.compile(r"\bintarsia::cpu::.*::run\(intarsia::KernelContext const&\)$")
ROW = re.compile(r"^intarsia::LinkedKernel<\w+>::trusted$")
KEY = re.compile(r'LinkedKernel<intarsia::kernel_key\(\{"([^"]*)", "([^"]*)", \{([^}]*)\}\}\)>')
CHECK = re.compile(r"\bintarsia::cpu::.*::check\(intarsia::KernelContext const&\)$")


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def symbols(file, pattern, defined):
    """The symbols of `file` that match; those it defines, or those that it needs from elsewhere."""
    lines = output(os.environ.get("NM", "nm"), "--demangle", file).splitlines()
    found = (re.match(r"[0-9a-f]*\s+(\w) (.*)$", line) for line in lines)
    return {m.group(2) for m in found
            if m and (m.group(1) != "U") == defined and pattern.search(m.group(2))}


def text_of(op, variant, types):
    """A kernel as `inspect` shows it: "Conv.packed<float>"."""
    names = [re.sub(r"intarsia::ElementWidth::k(\d+)", r"\1 bits",
                    re.sub(r"intarsia::DataType::k(\w+)", lambda m: m.group(1).lower(), name))
             for name in types.split(", ") if name]
    return op + (f".{variant}" if variant else "") + (f"<{', '.join(names)}>" if names else "")


def check_kernels(program, tool, plan, source, library):
    nodes = json.loads(output(tool, "inspect", "--json", plan))["nodes"]
    planned = {node["kernel"] for node in nodes}
    emitted = {text_of(*match) for match in KEY.findall(pathlib.Path(source).read_text())}
    named = symbols(library, ROW, defined=False)
    linked = symbols(program, ROW, defined=True)
    code = symbols(program, RUN, defined=True)
    print(f"{len(nodes)} nodes, {len(planned)} kernels: {', '.join(sorted(planned))}")

    problems = [f"{name}: in the plan, but not in {source}" for name in planned - emitted]
    problems += [f"{name}: in {source}, but not in the plan" for name in emitted - planned]
    problems += [f"{name}: named by the model, but not linked" for name in named - linked]
    problems += [f"{name}: linked, but not named by the model" for name in linked - named]
    if len(named) != len(emitted):
        problems.append(f"{source} lists {len(emitted)} kernels, its object file names {len(named)}:"
                        f" {sorted(named)}")
    if len(code) != len(linked):
        problems.append(f"{len(linked)} rows are linked, but the code of {len(code)} kernels: "
                        f"{sorted(code)}: linked, but not named by the model")
    if len(planned) < 4:
        problems.append(f"{len(planned)} kernels are too few to compare, expected at least 4")
    # All extents of this model are fixed and the plan is trusted: nothing is left to check.
    problems += [f"{name}: linked, though the plan is trusted"
                 for name in symbols(program, CHECK, defined=True)]
    return problems


def initialisers(program):
    """Bytes of the tables of functions that run before main, by section."""
    lines = output(os.environ.get("OBJDUMP", "objdump"), "-h", "-w", program).splitlines()
    rows = (line.split() for line in lines)
    return {row[1]: int(row[2], 16) for row in rows
            if len(row) > 2 and re.fullmatch(r"\.(preinit_array|init_array|ctors)", row[1])}


def check_initialisers(program, empty):
    found, expected = initialisers(program), initialisers(empty)
    print(f"{program}: {found}, the empty program: {expected}")
    if not expected:
        sys.exit(f"{empty}: no table of initialisers; the C library's own was expected")
    return [f"{program}: {name} has {found.get(name, 0)} bytes, expected {expected.get(name, 0)}: "
            "a static initialiser" for name in found.keys() | expected.keys()
            if found.get(name, 0) != expected.get(name, 0)]


def main():
    arguments, pattern = sys.argv[1:], None
    if "--must-fail" in arguments:
        at = arguments.index("--must-fail")
        pattern = arguments[at + 1]
        del arguments[at:at + 2]
    checks = {"kernels": (check_kernels, 5), "initialisers": (check_initialisers, 2)}
    check, count = checks.get(arguments[0] if arguments else "", (None, 0))
    if check is None or len(arguments) != count + 1:
        sys.exit(__doc__)
    problems = check(*arguments[1:])
    for problem in problems:
        print(problem, file=sys.stderr)
    if pattern is None:
        sys.exit(1 if problems else 0)
    if not problems or not all(re.search(pattern, problem) for problem in problems):
        sys.exit(f"expected problems that match '{pattern}' and no others, found {len(problems)}")


if __name__ == "__main__":
    main()
