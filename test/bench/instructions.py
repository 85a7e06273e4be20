#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the loops of every operator to the instructions that they take. Usage:

    instructions.py RUN_PLAN COUNTER LIMITS            fails if a case takes more than its limit allows
    instructions.py RUN_PLAN COUNTER LIMITS --all      the same for cases of many instructions, too
    instructions.py RUN_PLAN COUNTER LIMITS --update   writes what is measured as the new limits, with
                                                       --all those of cases of many instructions, too

Times differ from run to run, instructions do not: one run of each case of the sweep is counted under
callgrind, with AVX2. LIMITS has a line for each case, thousands of instructions and the name. A case may
take a tenth more, and a few thousand, since compilers and libraries differ; one that takes less than
two thirds asks for a lower limit. Cases of more than HEAVY are left out, since callgrind takes seconds
for each. What limits cannot see is memory: the sweep measures that.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import engines
import onnx
import sweep_cases

MARGIN, SLACK = 1.1, 5  # times, and thousands of instructions
LOWER = 1.5
HEAVY = 8000  # thousands


def read(path):
    lines = pathlib.Path(path).read_text().splitlines()
    pairs = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    return {name: int(thousands) for thousands, name in pairs}


def write(path, counts):
    head = [line for line in pathlib.Path(path).read_text().splitlines() if line.startswith("#")]
    rows = [f"{thousands:9d}  {name}" for name, thousands in sorted(counts.items())]
    pathlib.Path(path).write_text("\n".join([*head, *rows]) + "\n")


def convert(runner, case, folder):
    """A line for the counter: the plan of the case and its inputs."""
    folder.mkdir()
    model, feeds = case.build()
    onnx.save(model, folder / "model.onnx")
    session = engines.Intarsia(runner).open(folder / "model.onnx", feeds, folder)
    session.write_plan(folder / "case.plan")
    session.close()
    inputs = [f"{name}={folder / f'input_{number}.pb'}" for number, name in enumerate(feeds)]
    return "\t".join([str(folder / "case.plan"), *inputs])


def count(counter, lines, folder):
    """Thousands of instructions of each line's plan."""
    (folder / "list.txt").write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--collect-atstart=no",
         f"--callgrind-out-file={folder}/counts", str(counter), str(folder / "list.txt")],
        capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"instructions: exit status {done.returncode}\n{done.stderr}")
    results = []
    for number in range(1, len(lines) + 1):
        text = (folder / f"counts.{number}").read_text()
        results.append(-(-int(re.search(r"^totals: (\d+)", text, re.MULTILINE).group(1)) // 1000))
    return results


def problems(names, counts, limits):
    """What is wrong, a line each: `names` are those of all cases, some of which are counted."""
    found = [f"'{name}' has no limit" for name in names if name not in limits]
    found += [f"'{name}' is no case" for name in limits if name not in names]
    for name in sorted(counts.keys() & limits.keys()):
        measured, limit = counts[name], limits[name]
        if measured > limit * MARGIN + SLACK:
            found.append(f"'{name}' takes {measured} thousand instructions, its limit is {limit}")
        if measured * LOWER + SLACK < limit:
            found.append(f"'{name}' takes {measured} thousand instructions only: lower its limit, "
                         f"{limit}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runner")
    parser.add_argument("counter")
    parser.add_argument("limits")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    cases, limits = sweep_cases.all_cases(), read(options.limits)
    names = [case.name for case in cases]
    if not options.all:
        cases = [case for case in cases if limits.get(case.name, 0) <= HEAVY]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lines = [convert(options.runner, case, folder / str(number))
                 for number, case in enumerate(cases)]
        counts = dict(zip((case.name for case in cases), count(options.counter, lines, folder)))
    if options.update:
        kept = {name: limits[name] for name in names if name in limits}
        write(options.limits, kept | counts)
        return 0
    found = problems(names, counts, limits)
    for problem in found:
        print(f"instructions: {problem}; measured anew by --update", file=sys.stderr)
    print(f"{len(counts)} of {len(names)} cases, {sum(counts.values())} thousand instructions")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
