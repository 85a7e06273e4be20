#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over the sources that changed since the base commit, or over all of them.

  check_tidy.py --build-dir build/release [--base COMMIT] [--full] [--seconds N]

Without --full the run stops taking up files after N seconds and says how many it left; the order
is drawn from the commit, so that successive commits cover different files. A changed header counts
through the first source that includes it. The build folder must be built: generated headers.
"""

import json
import os
import random
import re
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import common

FOLDERS = ("include", "core", "kernels_cpu", "converter")
SECONDS = 150


def changed(root, base):
    """Paths that differ from the base commit, the work tree included; None: there is no base."""
    since = common.git(root, "diff", "--name-only", base)
    if since is None:
        return None
    return set(since) | set(common.git(root, "ls-files", "--others", "--exclude-standard"))


def select(root, sources, names):
    """The sources among `names`, and for each header there the first source that includes it."""
    texts = {s: (root / s).read_text(encoding="utf-8", errors="replace") for s in sources}
    chosen = {s for s in sources if s in names}
    for header in (n for n in names if n.endswith(".h") and n.split("/")[0] in FOLDERS):
        include = f'"{header.removeprefix("include/")}"'
        chosen |= set([s for s in sources if include in texts[s]][:1])
    return chosen


def check(root, options):
    tool = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    if not tool:
        return ["clang-tidy is missing; test/install_dependencies.sh installs it"]
    build = root / (options.build_dir or "build/release")
    database = build / "compile_commands.json"
    if not database.is_file():
        return [f"{database}: missing; configure and build first"]
    compiled = {Path(build, c["directory"], c["file"]).resolve()
                for c in json.loads(database.read_text())}
    sources = [p.as_posix() for p in common.files(root)
               if p.parts[0] in FOLDERS and (root / p).resolve() in compiled]
    if not sources:
        return [f"{database}: names no source of {', '.join(FOLDERS)}"]

    names = None if options.full else changed(root, options.base)
    chosen = sorted(sources if names is None else select(root, sources, names))
    random.Random(str(common.git(root, "rev-parse", "HEAD"))).shuffle(chosen)
    deadline = None if options.full else time.monotonic() + options.seconds
    headers = f"^({re.escape(str(root.resolve()))}/)?({'|'.join(FOLDERS)})/"
    config = f"--config-file={common.ROOT / '.clang-tidy'}"

    def tidy(source):
        if deadline and time.monotonic() > deadline:
            return None
        command = [tool, "-p", str(build), "--quiet", config, f"--header-filter={headers}",
                   "--extra-arg=-Wno-unknown-warning-option", str(root / source)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0 and "Skipping" not in done.stderr:
            return []
        found = [line for line in done.stdout.splitlines() if " error: " in line]
        return found or [f"{source}: clang-tidy failed: {(done.stderr or done.stdout).strip()}"]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(tidy, chosen))
    done = sum(result is not None for result in results)
    print(f"clang-tidy: {done} of {len(chosen)} chosen sources, {len(sources)} in all"
          + ("" if done == len(chosen) else f"; out of time ({options.seconds} s), see --full"))
    return sorted({line for result in results for line in result or []})


def tree(code, folder="@ROOT@"):
    command = {"directory": folder, "file": "core/a.cpp", "command": "c++ -std=c++20 -c core/a.cpp"}
    return {"core/a.cpp": code, "build/release/compile_commands.json": json.dumps([command])}


SAMPLES = [
    ("good", tree("int f(int a) { return a + 1; }\n"), None),
    ("suspicious", tree("float f(int a, int b) { return 0.5f * (a / b); }\n"),
     "bugprone-integer-division"),
    ("null", tree("int* f() { return 0; }\n"), "modernize-use-nullptr"),
    ("header", {**tree('#include "a.h"\n'), "core/a.h": "inline int* f() { return 0; }\n"},
     "modernize-use-nullptr"),
    ("broken", tree("int f( { return 0; }\n"), "error"),
    # clang-tidy itself passes over a file whose command it does not find.
    ("skipped", tree("int f();\n", "../.."), "Compile command not found"),
    ("no database", {"core/a.cpp": "\n"}, "missing; configure and build first"),
]


def add_arguments(parser):
    parser.add_argument("--build-dir", help="folder with compile_commands.json")
    parser.add_argument("--base", default="HEAD~1", help="commit to compare with")
    parser.add_argument("--full", action="store_true", help="every source, no time limit",
                        default=bool(os.environ.get("INTARSIA_TEST_FULL")))
    parser.add_argument("--seconds", type=float, default=SECONDS)


if __name__ == "__main__":
    common.main(check, SAMPLES, __doc__, add_arguments)
