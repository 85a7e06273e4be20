#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The embedded archives (core, kernels) need nothing but arithmetic and memory copies: no heap, no
exceptions, no run-time type information, no static initialisers, no mutable globals, no locks, no
threads, no system calls, no output. What they may leave undefined is a list; all else is refused.

  check_symbols.py libintarsia_core.a libintarsia_kernels_cpu.a
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import common

MATH = """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1
    fabs fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p
    log2 logb lrint lround modf nearbyint nextafter pow remainder rint round scalbn sin sincos sinh
    sqrt tan tanh tgamma trunc"""
ALLOWED = re.compile("|".join([
    rf"(?:{'|'.join(MATH.split())})[fl]?",
    r"mem(?:cpy|move|set|cmp|chr)|bcmp|strlen|strn?cmp",
    r"__[a-z]+(?:[hsdtxb][fic]){1,2}\d?",          # libgcc: __udivti3, __mulsc3, __extendhfsf2
    r"__aeabi_\w+",                                # the same on 32-bit Arm
    r"__aarch64_(?:cas|swp|ldadd|ldclr|ldeor|ldset)\d+_\w+",  # atomics without a lock, in libgcc
    r"__cpu_model|__cpu_features2|__cpu_indicator_init",  # __builtin_cpu_supports
    # std::from_chars and std::to_chars of float and double: no heap, no locale.
    r"_ZSt10from_charsPKcS0_R[fd]St12chars_format|_ZSt8to_charsPcS_[fd]St12chars_formati",
    r"__stack_chk_fail|_GLOBAL_OFFSET_TABLE_",
]))
INITIALISER = re.compile(r"\.(?:init_array|fini_array|preinit_array|ctors|dtors)\b")
OWN_INSTANCE = re.compile(r"IL(?:N8intarsia|NS\d*_)3IsaE[1-9]\d*E")  # <Isa::kAvx2>, mangled
MUTABLE = re.compile(r"(?:\.data(?!\.rel\.ro)|\.t?bss|\.tdata|\.ldata|\.lbss)\b|\*COM\*")
# Typeinfo and vtables, in Itanium mangling.
RTTI = re.compile(r"_ZT[VISC]")
# Files of one instruction set: see check_layers.py.
ISA_MEMBER = re.compile(r"_(?:avx\w*|sse\w*|fma|vnni|bf16|neon\w*|i8mm|sve\w*)\.")

MEMBER = re.compile(r"^(\S.*?):\s+file format ")
SECTION = re.compile(r"^\s*\d+ (\S+)\s+[0-9a-f]{8}")
SYMBOL = re.compile(r"^[0-9a-f]+ (.{7}) (\S+)\t[0-9a-f]+\s+(?:\.(?:hidden|protected|internal) )?(\S+)$")


def demangle(name):
    if not name.startswith("_Z") or not shutil.which("c++filt"):
        return name
    return subprocess.run(["c++filt", name], capture_output=True, text=True).stdout.strip()


def read(archive):
    """Yields (member, section, None, "") for sections and (member, section, name, flags)."""
    tool = os.environ.get("OBJDUMP", "objdump")
    done = subprocess.run([tool, "-htw", str(archive)], capture_output=True, text=True, check=True)
    member = "?"
    for line in done.stdout.splitlines():
        if match := MEMBER.match(line):
            member = match.group(1)
        elif match := SECTION.match(line):
            yield member, match.group(1), None, ""
        elif match := SYMBOL.match(line):
            yield member, match.group(2), match.group(3), match.group(1)


def problem_of(member, section, name, flags, defined):
    """Why this section or symbol must not be there, or None."""
    if name is None:
        return f"static initialiser ({section})" if INITIALISER.match(section) else None
    if RTTI.match(name):
        return "virtual functions or run-time type information"
    if section == "*UND*":
        if name in defined or ALLOWED.fullmatch(name):
            return None
        return "neither the project's own nor on the list of what embedded code may call"
    if MUTABLE.match(section) and "d" not in flags and name[0] != "$":  # d, $: sections, markers
        return f"a variable that can change ({section}); state belongs to the session or the caller"
    weak = "F" in flags and ("w" in flags or "u" in flags)
    # A template over the instruction set is another function in every file.
    if ISA_MEMBER.search(member) and weak and not OWN_INSTANCE.search(name):
        return ("a weak function compiled for one instruction set; another file's copy may be "
                "replaced by it at link time; give it internal linkage or force inlining")
    return None


def check_archives(archives):
    entries = [(Path(a).name, *entry) for a in archives for entry in read(a)]
    defined = {name for _, _, section, name, flags in entries
               if name and section not in ("*UND*", "*ABS*") and "d" not in flags}
    problems = []
    for archive, member, section, name, flags in entries:
        if problem := problem_of(member, section, name, flags, defined):
            problems.append(f"{archive}({member}): {demangle(name) if name else 'section'}: "
                            f"{problem}")
    if not defined:
        problems.append("the archives define no symbol at all; are they the right files?")
    return sorted(set(problems))


def check(root, options):
    if options.self_test:  # a sample: one source file, compiled into an archive
        archive = root / "sample.a"
        for source in root.glob("*.cpp"):
            compiler = os.environ.get("CXX", "c++")
            subprocess.run([compiler, "-std=c++20", "-O2", "-c", source.name], cwd=root, check=True)
        subprocess.run(["ar", "crs", archive, *map(str, root.glob("*.o"))], check=True)
        return check_archives([archive])
    if not options.archive:
        sys.exit("check_symbols.py: name the archives to check")
    return check_archives(options.archive)


def sample(title, code, expected, name="a.cpp"):
    return (title, {name: code + "\n"}, expected)


SAMPLES = [
    sample("good", "#include <cmath>\n#include <cstring>\nextern const int* const table[];\n"
           "static const int a = 3;\nextern const int* const table[] = {&a};\n"
           "float f(float* p, int n) { std::memcpy(p, p + n, 4 * n); return std::exp(*p); }\n"
           "float g(float* p) { return f(p, 2) + std::lround(*p); }", None),
    sample("malloc", "#include <cstdlib>\nvoid* f(int n) { return std::malloc(n); }", "malloc"),
    sample("free", "#include <cstdlib>\nvoid f(void* p) { std::free(p); }", "free"),
    sample("new", "int* f(int n) { return new int[n]; }", "operator new[]"),
    sample("vector", "#include <vector>\nstd::vector<int> f(int n) { return std::vector<int>(n); }",
           "operator new(unsigned long)"),
    sample("throw", "void f(int n) { if (n) throw n; }", "__cxa_throw"),
    sample("guard", "int g();\nint f() { static int a = g(); return a; }", "__cxa_guard_acquire"),
    sample("static initialiser", "int g() { return 1; }\nint g2(int);\n"
           "extern int a;\nint a = g2(g());", "static initialiser"),
    sample("virtual", "struct A { virtual int f(); };\nint A::f() { return 1; }",
           "virtual functions"),
    sample("typeinfo", "#include <typeinfo>\nstruct A;\n"
           "const char* f(const std::type_info& t) { return typeid(int) == t ? \"i\" : \"\"; }",
           "run-time type information"),
    sample("mutable global", "int counter = 1;\nint f() { return counter++; }", "can change"),
    sample("zeroed global", "static int counter;\nint f() { return counter++; }", "can change"),
    sample("thread local", "thread_local int counter;\nint f() { return counter++; }", "can change"),
    sample("lock", "#include <mutex>\nvoid f(std::mutex& m) { m.lock(); }", "pthread_mutex_lock"),
    sample("printf", '#include <cstdio>\nvoid f(int a) { std::printf("%d", a); }', "printf"),
    sample("snprintf", '#include <cstdio>\nint f(char* p) { return std::snprintf(p, 9, "%p", p); }',
           "snprintf"),
    sample("cout", "#include <iostream>\nvoid f() { std::cout << 1; }", "std::cout"),
    sample("system call", "#include <sys/mman.h>\nvoid f(void* p) { munmap(p, 4096); }", "munmap"),
    sample("abort", "#include <cstdlib>\nvoid f(int a) { if (a) std::abort(); }", "abort"),
    sample("assert", "#include <cassert>\nvoid f(int a) { assert(a); }", "__assert_fail"),
    sample("weak in ISA file", "inline int __attribute__((noinline)) f(int a) { return a * a; }\n"
           "int g(int a) { return f(a) + 1; }", "weak function", "gemm_avx2.cpp"),
    sample("empty", "", "no symbol at all"),
]


def add_arguments(parser):
    parser.add_argument("archive", nargs="*")


if __name__ == "__main__":
    common.main(check, SAMPLES, __doc__, add_arguments)
