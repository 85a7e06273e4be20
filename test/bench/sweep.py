# SPDX-License-Identifier: Apache-2.0
"""Measures every operator beside ONNX Runtime. Usage: sweep.py [OPTION]... [CASE|FAMILY]...

    sweep.py                         all cases, tables on standard output
    sweep.py nn 'Add*' --json FILE   a family and some cases, with the figures as JSON
    sweep.py --quick                 every case converts, runs and agrees; no times
    sweep.py --check                 every operator of the definitions has a case or a reason
    sweep.py --random 7 --cases 3    three nodes of every operator that random models are made of
    sweep.py --floats float16        the cases with floats of another type

Run it with CACHE/venv/bin/python after building the targets run_plan, bench_operators and, for
--random, write_random_nodes. How the figures come about: docs/benchmarks.md.
"""

import subprocess
import sys

import command
import onnx
import random_cases
import sweep_cases


def job(case):
    def make(folder):
        model, feeds = case.build()
        path = folder / "model.onnx"
        onnx.save(model, path)
        return path, feeds
    return command.Job(case.name, case.family, make, case.tolerance)


def check(program, cases):
    """Ends the program unless the cases cover the definitions."""
    listed = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    operators = set(listed.split())
    problems = sweep_cases.check_coverage(operators, cases, sweep_cases.read_uncovered())
    if problems:
        sys.exit("\n".join(f"sweep: {problem}" for problem in problems))
    print(f"{len(operators)} operators, {len(cases)} cases", file=sys.stderr)


def in_type(cases, type):
    """Those with a float32 in them whose operators allow floats of that type."""
    for case in cases:
        graph = case.build()[0].graph
        types = [each.type.tensor_type.elem_type for each in graph.input]
        types += [each.data_type for each in graph.initializer]
        if onnx.TensorProto.FLOAT not in types:
            continue
        changed = case.in_type(type)
        try:
            changed.build()
        except onnx.shape_inference.InferenceError:
            continue
        yield changed


def main():
    parser = command.parser(__doc__, rounds=8, seconds=0.8)
    parser.add_argument("--operators", default=command.PROGRAMS / "bench_operators",
                        help="the program bench_operators")
    parser.add_argument("--check", action="store_true",
                        help="only whether all operators are covered")
    parser.add_argument("--random", type=int, metavar="SEED",
                        help="nodes drawn by chance from that seed on, in place of the cases")
    parser.add_argument("--floats", metavar="TYPE",
                        help="float16 or float64 in the place of float32, where operators allow it")
    parser.add_argument("--cases", type=int, default=2, help="how many of each operator")
    parser.add_argument("--writer", default=command.PROGRAMS / "write_random_nodes",
                        help="the program write_random_nodes")
    options = parser.parse_args()
    if options.random is not None:
        with random_cases.written(options.writer, options.random, options.cases) as jobs:
            return command.run(jobs, options, refusals=True)
    cases = sweep_cases.all_cases()
    check(options.operators, cases)
    if options.check:
        return 0
    if options.floats:
        jobs = [job(case) for case in in_type(cases, options.floats)]
        return command.run(jobs, options, refusals=True)
    return command.run([job(case) for case in cases], options, apart=("call",))


if __name__ == "__main__":
    sys.exit(main())
