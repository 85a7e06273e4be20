#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over the sources of the runtime's core, or over all.

  check_tidy.py --build-dir build/release [--full]

Every run checks what runs in products, core/ with the public headers, but for its definitions of
operators; --full also these, kernels_cpu/ and converter/, which takes minutes. The build folder must
be built: generated headers. Precompiled headers are left out: those of GCC are none for clang, and a
source includes what it needs.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import common

FOLDERS = ("include", "core", "kernels_cpu", "kernels_cuda", "converter")


def always(source):
    return source.startswith(("include/", "core/")) and not source.startswith("core/definitions/")


def singles(command):
    """The command of each source that one of CMake's unity files includes; another file's as it is."""
    file = Path(command["file"])
    if file.parent.name != "Unity":
        return [command]
    sources = re.findall(r'^#include "(.*)"', file.read_text(), re.MULTILINE)
    return [{**command, "file": source, "command": command["command"].replace(str(file), source)}
            for source in sources]


def check(root, options):
    tool = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    if not tool:
        return ["clang-tidy is missing; test/install_dependencies.sh installs it"]
    build = root / (options.build_dir or "build/release")
    database = build / "compile_commands.json"
    if not database.is_file():
        return [f"{database}: missing; configure and build first"]
    commands = json.loads(database.read_text())
    commands = [single for command in commands for single in singles(command)]
    compiled = {Path(build, c["directory"], c["file"]).resolve() for c in commands}
    sources = [p.as_posix() for p in common.files(root)
               if p.parts[0] in FOLDERS and (root / p).resolve() in compiled]
    if not sources:
        return [f"{database}: names no source of {', '.join(FOLDERS)}"]

    chosen = [s for s in sources if options.full or always(s)]
    headers = f"^({re.escape(str(root.resolve()))}/)?({'|'.join(FOLDERS)})/"
    config = f"--config-file={common.ROOT / '.clang-tidy'}"

    def tidy(source):
        command = [tool, "-p", plain, "--quiet", config, f"--header-filter={headers}",
                   "--extra-arg=-Wno-unknown-warning-option", str(root / source)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0 and "Skipping" not in done.stderr:
            return []
        found = [line for line in done.stdout.splitlines() if " error: " in line]
        return found or [f"{source}: clang-tidy failed: {(done.stderr or done.stdout).strip()}"]

    with tempfile.TemporaryDirectory() as plain, ThreadPoolExecutor(os.cpu_count()) as pool:
        for command in commands:
            command["command"] = re.sub(r" -include \S*cmake_pch\.hxx", "", command["command"])
        Path(plain, database.name).write_text(json.dumps(commands))
        results = list(pool.map(tidy, chosen))
    print(f"clang-tidy: {len(chosen)} of {len(sources)} sources"
          + ("" if options.full else "; all with --full"))
    return sorted({line for result in results for line in result})


def tree(code, folder="@ROOT@", options=""):
    command = {"directory": folder, "file": "core/a.cpp",
               "command": f"c++ -std=c++20 {options} -c core/a.cpp"}
    return {"core/a.cpp": code, "build/release/compile_commands.json": json.dumps([command])}


SAMPLES = [
    ("good", tree("int f(int a) { return a + 1; }\n"), None),
    ("suspicious", tree("float f(int a, int b) { return 0.5f * (a / b); }\n"),
     "bugprone-integer-division"),
    ("null", tree("int* f() { return 0; }\n"), "modernize-use-nullptr"),
    ("header", {**tree('#include "a.h"\n'), "core/a.h": "inline int* f() { return 0; }\n"},
     "modernize-use-nullptr"),
    ("precompiled", tree("int f();\n", options="-include gone/cmake_pch.hxx"), None),
    ("broken", tree("int f( { return 0; }\n"), "error"),
    # clang-tidy itself passes over a file whose command it does not find.
    ("skipped", tree("int f();\n", "../.."), "Compile command not found"),
    ("no database", {"core/a.cpp": "\n"}, "missing; configure and build first"),
]


def add_arguments(parser):
    parser.add_argument("--build-dir", help="folder with compile_commands.json")
    parser.add_argument("--full", action="store_true", help="every source",
                        default=bool(os.environ.get("INTARSIA_TEST_FULL")))


if __name__ == "__main__":
    common.main(check, SAMPLES, __doc__, add_arguments)
