# SPDX-License-Identifier: Apache-2.0
"""What sweep.py and networks.py have in common: options, the loop over cases, the report."""

import argparse
import dataclasses
import datetime
import difflib
import fnmatch
import json
import os
import pathlib
import sys
import tempfile
import time

import engines
import measure

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE.parents[1] / "build/release/bin"


@dataclasses.dataclass
class Job:
    """A case: `make(folder)` gives the model's path and its inputs by name."""
    name: str
    group: str
    make: object
    tolerance: float = None


def parser(text, rounds, seconds):
    """The options of both commands; `rounds` and `seconds` are the defaults of a case's effort."""
    result = argparse.ArgumentParser(description=text.splitlines()[0])
    result.add_argument("--runner", default=PROGRAMS / "run_plan", help="the program run_plan")
    result.add_argument("--before", help="run_plan of another build, as one engine more")
    result.add_argument("--quick", action="store_true",
                        help="convert, run and compare every case once; no times")
    result.add_argument("--rounds", type=int, default=rounds, help="alternating rounds of a case")
    result.add_argument("--seconds", type=float, default=seconds,
                        help="per case and engine, over all rounds")
    result.add_argument("--threads", type=int, default=1, help="of every engine")
    result.add_argument("--isa", help="our instruction set: portable, avx2, avx512, "
                                      "avx512vnni, amx, neon")
    result.add_argument("--json", help="file for the figures, every round's minimum among them")
    result.add_argument("--markdown", help="file for the tables, else standard output")
    result.add_argument("names", nargs="*",
                        help="only these cases or groups; * stands for anything")
    return result


def selected(jobs, patterns):
    """The jobs whose name or group fits a pattern; every pattern has to fit one."""
    def fits(job, pattern):
        return fnmatch.fnmatch(job.name, pattern) or fnmatch.fnmatch(job.group, pattern)

    for pattern in patterns:
        if not any(fits(job, pattern) for job in jobs):
            names = [job.name for job in jobs]
            near = difflib.get_close_matches(pattern.strip("*"), names, 5, 0.5)
            hint = f"similar cases are: {', '.join(near)}; " if near else ""
            sys.exit(f"no case or group is named '{pattern}'; {hint}groups are: "
                     + ", ".join(sorted({job.group for job in jobs})))
    return [job for job in jobs if not patterns or any(fits(job, p) for p in patterns)]


def pin(threads):
    """All engines share the last processors that this process may use, one per thread."""
    allowed = sorted(os.sched_getaffinity(0))
    if threads > len(allowed):
        sys.exit(f"--threads {threads}: this machine offers {len(allowed)} processors")
    os.sched_setaffinity(0, set(allowed[-threads:]))


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith(("model name", "CPU part")):
            return line.partition(":")[2].strip()
    return "unknown processor"


def conditions(options, load, seconds):
    """One paragraph: everything a reader needs to judge the figures."""
    return (f"{datetime.date.today()}, {processor()}, {os.cpu_count()} processors, load "
            f"{load[0]:.1f} at the start and {os.getloadavg()[0]:.1f} at the end; "
            f"threads per engine: {options.threads}; {options.rounds} alternating rounds and "
            f"{options.seconds:g} s per case and engine; {seconds:.0f} s in all.")


def run(jobs, options, apart=(), peers=(), refusals=False):
    """Runs the jobs and reports. Returns the exit status: 1 if any case failed.

    `peers` are engines beside ONNX Runtime, with whose outputs all are compared. With `refusals`
    it may refuse cases, which are left out.
    """
    jobs = selected(jobs, options.names)
    pin(options.threads)
    if not pathlib.Path(options.runner).exists():
        sys.exit(f"{options.runner} is missing; build the target run_plan, or give --runner")
    arguments = ["--isa", options.isa] if options.isa else []
    compared = [engines.Intarsia(options.runner, options.threads, arguments),
                engines.OnnxRuntime(options.threads), *peers]
    names = [engine.name for engine in compared]
    if options.before:
        compared.append(engines.Intarsia(options.before, options.threads, arguments, "before"))
    if options.threads > 1:  # what the threads gain
        compared.append(engines.Intarsia(options.runner, 1, arguments, "one thread"))
        compared.append(engines.AtOnce(options.runner, options.threads, arguments))
    own = [engine.name for engine in compared[len(names):]]
    effort = measure.Effort(1, 0) if options.quick else measure.Effort(options.rounds,
                                                                       options.seconds)
    rows, failures, refused = [], [], 0
    load, start = os.getloadavg(), time.monotonic()
    for job in jobs:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            try:
                model, feeds = job.make(folder)
                rows.append(measure.measure(job.name, job.group, compared, model, feeds, folder,
                                            effort, job.tolerance))
            except engines.Failure as failure:
                if refusals and isinstance(failure, engines.Refusal):
                    refused += 1
                    continue
                failures.append(f"{job.name}: {failure}")
                print(f"FAILED {failures[-1]}", file=sys.stderr, flush=True)
                continue
        if not options.quick:
            ratio = rows[-1].ratio(*names)[0]
            print(f"{ratio:7.2f}  {job.name}", file=sys.stderr, flush=True)
    seconds = time.monotonic() - start
    if rows and not options.quick:
        report(rows, names, own, conditions(options, load, seconds), options, apart)
    text = f", the peer refuses {refused}" if refused else ""
    print(f"{len(rows)} of {len(jobs) - refused} cases agree{text}, {seconds:.0f} s",
          file=sys.stderr)
    for failure in failures:
        print(f"FAILED {failure}", file=sys.stderr)
    return 1 if failures else 0


def report(rows, names, own, text, options, apart):
    """Tables beside the peers, then beside each of our `own` other engines."""
    ours, *peers = names
    parts = [text]
    for others in [peers, *([name] for name in own)]:
        parts += [measure.summary(rows, ours, others, apart), measure.table(rows, ours, others)]
    tables = "\n\n".join(parts) + "\n"
    if options.markdown:
        pathlib.Path(options.markdown).write_text(tables)
    else:
        print(tables, end="")
    if options.json:
        record = {"conditions": text, "engines": names,
                  "cases": [row.record(names) for row in rows]}
        pathlib.Path(options.json).write_text(json.dumps(record, indent=1) + "\n")
