#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each public header compiles alone, without exceptions and without run-time type information, and
without a warning, by every compiler at hand (g++, clang++). Those of the C API (*_c.h) are C99, too."""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import common

FLAGS = ["-std=c++20", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
         "-fsyntax-only", "-x", "c++", "-"]
C_FLAGS = ["-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c",
           "-"]


def compile_alone(root, compiler, header, flags):
    done = subprocess.run([compiler, f"-I{root / 'include'}", *flags], capture_output=True,
                          text=True, input=f'#include "{header}"\n')
    if done.returncode == 0:
        return None
    first = next((line for line in done.stderr.splitlines() if "error:" in line), done.stderr)
    return f"include/{header}: does not compile alone with {compiler} {flags[0]}: {first}"


def check(root, _=None):
    compilers = [c for c in dict.fromkeys([os.environ.get("CXX", "g++"), "g++", "clang++"])
                 if shutil.which(c)]
    headers = [p.relative_to("include").as_posix() for p in common.files(root)
               if p.parts[0] == "include" and p.suffix == ".h"]
    if not compilers:
        return ["no compiler found: neither g++ nor clang++"]
    if not headers:
        return ["no header under include/"]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda job: compile_alone(root, *job),
                         [(c, h, flags) for c in compilers for h in headers
                          for flags in ([FLAGS, C_FLAGS] if h.endswith("_c.h") else [FLAGS])])
        return [problem for problem in found if problem]


def one(text):
    return {"include/intarsia/a.h": f"#pragma once\n{text}\n"}


SAMPLES = [
    ("good", {**one('#include "intarsia/b.h"\ninline B f() { return B(1); }'),
              "include/intarsia/b.h": "#pragma once\n#include <cstdint>\nusing B = int32_t;\n"}, None),
    ("missing include", one("int32_t f();"), "does not compile alone"),
    ("throws", one("inline void f() { throw 1; }"), "does not compile alone"),
    ("dynamic_cast", one("struct A { virtual void f(); };\nstruct B : A {};\n"
                         "inline B* g(A* a) { return dynamic_cast<B*>(a); }"),
     "does not compile alone"),
    ("warning", one("inline int f(int a) { return 0; }"), "does not compile alone"),
    ("good C", {"include/intarsia/a_c.h": "#pragma once\n#include <stdint.h>\n// Says why.\n"
                "typedef struct a { int32_t b; } a;\n"}, None),
    ("C++ for C", {"include/intarsia/a_c.h": "#pragma once\n#include <cstdint>\n"}, "-std=c99"),
    ("enum of a type", {"include/intarsia/a_c.h": "#pragma once\nenum a : int { b };\n"},
     "-std=c99"),
    ("none", {"README.md": "a\n"}, "no header"),
]

if __name__ == "__main__":
    common.main(check, SAMPLES, __doc__)
