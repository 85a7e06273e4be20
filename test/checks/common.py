# SPDX-License-Identifier: Apache-2.0
"""What the checks of this folder share: the list of files, the command line, the negative control.

A check is a function from the root of a source tree to a list of problems ("file:line: text").
Beside it stand samples: small trees with the problem that each must report, or None for a tree
that must pass. `--self-test` runs the check on the samples, so a check that has stopped seeing
its problem fails a test of its own.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CPP = {".h", ".cpp", ".cc", ".c", ".cu", ".cuh"}
SOURCE = CPP | {".py", ".sh", ".cmake", ".fbs", ".proto", ".S", ".in"}


def git(root, *args):
    """The output lines of a git command in `root`, or None where it fails."""
    try:
        done = subprocess.run(["git", "-C", str(root), *args], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.splitlines() if done.returncode == 0 else None


def files(root):
    """Relative paths of the tree's files: what git tracks or would track; all of it without git."""
    top = git(root, "rev-parse", "--show-toplevel")
    if top and Path(top[0]).resolve() == Path(root).resolve():
        names = git(root, "ls-files", "--cached", "--others", "--exclude-standard")
    else:
        names = []
        for folder, folders, entries in os.walk(root):
            folders[:] = [f for f in folders if f not in ("build", ".git", "__pycache__")]
            names += [os.path.relpath(os.path.join(folder, e), root) for e in entries]
    return sorted(Path(n) for n in set(names) if (Path(root) / n).is_file())


def is_source(path):
    return path.suffix in SOURCE or path.name == "CMakeLists.txt" or path == Path(".ci/run")


def lines_of(root, path):
    return (Path(root) / path).read_text(encoding="utf-8", errors="replace").splitlines()


def comment_percent(lines):
    """Comment lines of a C++ file as a percentage of its lines that are not blank."""
    lines = [line.strip() for line in lines if line.strip()]
    return 100 * sum(line.startswith("//") for line in lines) // max(len(lines), 1)


def finish(name, problems):
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{name}: {len(problems)} problems")
    sys.exit(1 if problems else 0)


def self_test(name, check, samples):
    """Each sample is (title, {path: text}, part of the problem to report or None); @ROOT@ in a text
    stands for the folder that the sample is unpacked to."""
    problems = []
    for title, tree, expected in samples:
        with tempfile.TemporaryDirectory() as folder:
            for path, text in tree.items():
                target = Path(folder) / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text.replace("@ROOT@", folder), encoding="utf-8")
            found = check(Path(folder))
        if expected is None and found:
            problems.append(f"sample '{title}' is correct, but the check reports: {found}")
        if expected is not None and not any(expected in problem for problem in found):
            problems.append(f"sample '{title}' must report '{expected}', the check found: {found}")
    finish(f"{name} --self-test, {len(samples)} samples", problems)


def main(check, samples, doc, add_arguments=lambda parser: None):
    """Runs `check(root, options)` on the source tree, or `--self-test` on the samples."""
    name = Path(sys.argv[0]).stem
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--self-test", action="store_true", help="run on the built-in samples")
    add_arguments(parser)
    options = parser.parse_args()
    if options.self_test:
        self_test(name, lambda root: check(root, options), samples)
    finish(name, check(ROOT, options))
