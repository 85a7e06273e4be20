# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX's own cases and compares what fails with known_failures.txt.

Usage: node_cases.py TOOL LIST CASES            compare with the list
       node_cases.py TOOL LIST CASES --write    write the list anew
       node_cases.py --self-test                the negative control: every difference is seen

With --operators LIB.so --serves NAME the tool loads an optional library, and cases that the list says fail
for want of the operator NAME have to pass.

CASES is the folder that make_cases.py has made; the folders that the package onnx brings as files
(backend/test/data) are run as well.

Run it with CACHE/venv/bin/python, which has the package. A case that is not in the list must pass;
a case in the list must fail, and for the reason that the list gives. A case that ends the tool or
keeps it busy for too long fails whatever the list says; it does not stop the others.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

GROUPS = ("node", "simple", "pytorch-converted", "pytorch-operator")
CHUNK = 40  # cases per call of the tool
SECONDS_PER_CHUNK = 60
SECONDS_PER_CASE = 20
BROKEN = "the tool "  # how results begin that no list excuses

# What a message of the tool says the cause is: the first pattern that is found tells the reason. A
# message that none knows is a reason of its own.
SMALL_TYPE = r"\b(string|complex64|complex128|float8\w+|float4\w+|u?int[24])\b"
REASONS = (
    (r"the operator (\S+?)(?:\(\d+\))? is not supported", r"operator \1"),
    (r" is (a sequence|a map|an optional|a sparse tensor);", r"type \1"),
    (r"has type " + SMALL_TYPE, r"type \1"),
    (r"no kernel for [^;]*?" + SMALL_TYPE, r"type \1"),
    (r"^(random numbers[^;]*);", r"\1"),
    (r"^test_data_set_\d+, output ", "results differ"),
    (r"^node .*?\((\w+)\): ([^;:,]*)", r"\1: \2"),
)


def reason_of(message):
    for pattern, reason in REASONS:
        if found := re.search(pattern, message):
            message = found.expand(reason)
            break
    return message


def run_tool(command, seconds):
    """Output and exit status; a status of None is a time-out."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              timeout=seconds)
    except subprocess.TimeoutExpired:
        return "", None
    return done.stdout + done.stderr, done.returncode


def messages_of(output, folders):
    """{case: message} of a call that came to its end, or None."""
    closing = re.search(r"^(\d+) passed, (\d+) failed$", output, re.MULTILINE)
    if closing is None:
        return None
    messages = {}
    names = {folder.name for folder in folders}
    for line in output.splitlines():
        name, colon, message = line.partition(": ")
        if colon and name in names:
            messages[name] = message
    whole = int(closing[1]) + int(closing[2]) == len(folders) and int(closing[2]) == len(messages)
    return messages if whole else None


def run_chunk(command, folders):
    """{case: "" or message} for folders of one group."""
    output, status = run_tool([*command, *map(str, folders)], SECONDS_PER_CHUNK)
    messages = messages_of(output, folders) if status in (0, 1) else None
    if messages is not None:
        return {f.name: messages.get(f.name, "") for f in folders}
    results = {}
    for folder in folders:  # one of them ended the tool: each by itself
        output, status = run_tool([*command, str(folder)], SECONDS_PER_CASE)
        messages = messages_of(output, [folder]) if status in (0, 1) else None
        if status is None:
            results[folder.name] = f"{BROKEN}did not end within {SECONDS_PER_CASE} s"
        elif messages is None:
            results[folder.name] = f"{BROKEN}ended with status {status}"
        else:
            results[folder.name] = messages.get(folder.name, "")
    return results


def run_all(command, cases):
    """{"group/case": "" or message}."""
    import onnx.backend.test

    data = pathlib.Path(onnx.backend.test.__file__).parent / "data"
    chunks = []
    for group in GROUPS:
        place = (cases if group == "node" else data) / group
        folders = sorted(p.parent for p in place.glob("*/model.onnx"))
        if not folders:
            sys.exit(f"node_cases: {place} holds no case; has make_cases.py been run?")
        chunks += [(group, folders[i:i + CHUNK]) for i in range(0, len(folders), CHUNK)]
    results = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [(group, pool.submit(run_chunk, command, folders)) for group, folders in chunks]
        for group, job in jobs:
            results.update({f"{group}/{name}": text for name, text in job.result().items()})
    return results


def read_list(text, served=()):
    """{case: reason}, and the problems of the list itself; without what operators of a library serve."""
    known, problems, reason = {}, [], None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, reason = line.partition(" ")
        reason = reason.strip()
        if not reason:
            problems.append(f"line {number}: '{name}' has no reason")
        if name in known:
            problems.append(f"line {number}: '{name}' is listed twice")
        known[name] = reason
    reasons = {f"operator {operator}" for operator in served}
    return {name: reason for name, reason in known.items() if reason not in reasons}, problems


def compare(results, text, served=()):
    """Problems: where the list and the results do not say the same."""
    known, problems = read_list(text, served)
    for name in sorted(known.keys() - results.keys()):
        problems.append(f"{name}: listed, but there is no such case; take it off the list")
    for name, message in sorted(results.items()):
        if message.startswith(BROKEN):
            problems.append(f"{name}: {message}")
        elif not message and name in known:
            problems.append(f"{name}: passes now; take it off the list")
        elif message and name not in known:
            problems.append(f"{name}: fails, and is not listed: {message}")
        elif message and known[name] != reason_of(message):
            problems.append(f"{name}: fails for another reason than '{known[name]}': {message}")
    return problems


def list_text(results):
    groups = collections.defaultdict(list)
    for name, message in results.items():
        if message and not message.startswith(BROKEN):
            groups[reason_of(message)].append(name)
    text = """\
# SPDX-License-Identifier: Apache-2.0
# ONNX's cases that fail, each with the reason. A case that begins to pass has to leave the list; a
# reason that has changed has to be written anew: docs/testing.md says how.
"""
    for reason, names in sorted(groups.items()):
        text += "\n" + "".join(f"{name} {reason}\n" for name in sorted(names))
    return text


def self_test():
    missing = "a (Foo): the operator Foo(13) is not supported"
    good = {"node/a": "", "node/b": missing}
    samples = (
        ("a list that is right", good, "node/b operator Foo\n", None),
        ("a failure that is new", good, "", "not listed"),
        ("a case that passes now", {"node/b": ""}, "node/b operator Foo\n", "passes now"),
        ("another reason", {"node/b": "y differs"}, "node/b operator Foo\n", "another reason"),
        ("a crash that is listed", {"node/b": BROKEN + "ended with status -11"},
         "node/b operator Foo\n", "status -11"),
        ("a case that is gone", {}, "node/b operator Foo\n", "no such case"),
        ("no reason", good, "node/b\n", "no reason"),
        ("a case listed twice", good, "node/b operator Foo\n" * 2, "twice"),
    )
    problems = []
    for served, expected in (((), []), (("Foo",), ["not listed"])):
        found = compare(good, "node/b operator Foo\n", served)
        if len(found) != len(expected) or any(e not in f for e, f in zip(expected, found)):
            problems.append(f"with {served} served found {found}, expected {expected}")
    for title, results, text, expected in samples:
        found = compare(results, text)
        if (found != []) if expected is None else not any(expected in line for line in found):
            problems.append(f"sample '{title}' must report {expected}, found {found}")
    folder = pathlib.Path("case")
    for tool, expected in (("kill -SEGV $$", "ended with status"), ("echo 0 passed, 0 failed", "ended"),
                           ("echo 1 passed, 0 failed", "")):
        script = ["sh", "-c", tool]
        output, status = run_tool(script, 5)
        messages = messages_of(output, [folder]) if status in (0, 1) else None
        seen = "ended with status" if messages is None else messages.get("case", "")
        if not seen.startswith(expected) or (expected == "" and seen):
            problems.append(f"a tool that does '{tool}' is taken as '{seen}'")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool", nargs="?")
    parser.add_argument("list", nargs="?", type=pathlib.Path)
    parser.add_argument("cases", nargs="?", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--operators")
    parser.add_argument("--serves", action="append", default=[])
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        problems = self_test()
    else:
        command = [arguments.tool, "conformance"]
        if arguments.operators:
            command += ["--operators", arguments.operators]
        results = run_all(command, arguments.cases)
        if arguments.write:
            arguments.list.write_text(list_text(results))
        problems = compare(results, arguments.list.read_text(), arguments.serves)
        passed = sum(not message for message in results.values())
        print(f"node_cases: {passed} of {len(results)} cases pass")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"node_cases: {len(problems)} problems")
    sys.exit(1 if problems else 0)


main()
