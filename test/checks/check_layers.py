#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layering: include <- core <- kernels; nothing but pyop_optional knows Python; the public
headers know only the standard library. Includes are written from the root."""

import re

import common

# folder, or a part of one with rules of its own: (folders of the project, third-party libraries) that its files may include.
LAYERS = {
    "include": ("include", ""),
    "core": ("include core", "flatbuffers"),
    "core/definitions": ("include core core/definitions", ""),  # for hosts: the converter's view
    "core/threads": ("include core/threads", ""),  # for programs with an operating system
    "kernels_cpu": ("include core kernels_cpu", "Eigen"),
    "kernels_cuda": ("include core kernels_cuda", "cuda"),
    "core/c_api": ("include core core/c_api", "flatbuffers"),
    "core/c_api/host": ("include core kernels_cpu core/c_api", ""),  # for programs with an operating system
    "converter": ("include core core/definitions kernels_cpu kernels_cuda converter",
                  "flatbuffers google CLI fmt nlohmann"),
    "converter/tool/device": ("include core kernels_cuda converter converter/tool/device",
                              "cuda fmt"),  # of builds with CUDA
    "pyop_optional": ("include core core/definitions core/threads kernels_cpu converter "
                      "pyop_optional", "Python nanobind"),
    "kernels_cpu/images": ("include kernels_cpu/images", "png jpeg tiff webp openjpeg"),
    "examples": ("include examples", "Eigen png"),
    "test": ("include core core/definitions kernels_cpu kernels_cuda converter "
             "converter/tool/device pyop_optional examples test",
             "flatbuffers google CLI fmt nlohmann Eigen gtest gmock benchmark cuda nanobind"),
}
# Embedded code: of the standard library only what neither allocates, throws, locks nor prints.
EMBEDDED = ("include", "core", "core/c_api", "kernels_cpu", "kernels_cuda")
HOSTED = set("""any condition_variable deque exception filesystem forward_list fstream functional
    future iomanip ios iostream istream list locale map memory mutex ostream queue random regex set
    shared_mutex sstream stack stdexcept streambuf string thread typeindex typeinfo unordered_map
    unordered_set vector cstdio stdio.h unistd.h fcntl.h pthread.h semaphore sys/mman.h sys/stat.h
    sys/types.h csignal signal.h""".split())
# Files compiled for one instruction set: a template or inline function that they emit could
# replace the portable copy of another file at link time, and then run on any CPU.
ISA_FILE = re.compile(r"_(?:avx\w*|sse\w*|fma|vnni|bf16|neon\w*|i8mm|sve\w*)\.cpp$")
ISA_HOSTED = {"algorithm", "numeric", "array", "optional", "variant", "tuple", "ranges"}

INCLUDE = re.compile(r'\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
THIRD_PARTY = {"flatbuffers", "google", "CLI", "fmt", "nlohmann", "Eigen", "gtest", "gmock",
               "benchmark", "cuda", "Python", "nanobind", "numpy", "png", "jpeg", "tiff",
               "webp", "openjpeg"}


def layer_of(name):
    """The layer of a path from the root, or None; "intarsia/..." is how `include` is named."""
    parts = name.split("/")
    if parts[0] == "intarsia":
        return "include"
    candidates = ["/".join(parts[:depth]) for depth in (3, 2, 1)]
    return next((c for c in candidates if c in LAYERS), None)


def library_of(name):
    first = name.split("/")[0].removesuffix(".h").removesuffix(".hpp")
    if first.startswith(("cuda", "cublas")):
        return "cuda"
    first = {"jpeglib": "jpeg", "jerror": "jpeg", "tiffio": "tiff"}.get(first, first)
    return first if first in THIRD_PARTY else None


def problem_of(path, layer, quoted, angled):
    """Why the file may not include this, or None."""
    folders, libraries = (field.split() for field in LAYERS[layer])
    name = quoted or angled
    library = library_of(name)
    if library:
        return None if library in libraries else f"{layer} may not include {library}"
    if angled:
        if layer in EMBEDDED and angled in HOSTED:
            return f"{layer} may not use the hosted part of the standard library"
        if ISA_FILE.search(path.name) and angled in ISA_HOSTED:
            return "a file of one instruction set may not instantiate standard templates"
        return None
    target = layer_of(quoted)
    if target:
        return None if target in folders else f"{layer} may not include {target}"
    if layer in ("examples", "test") or quoted.endswith(("_generated.h", ".pb.h")):
        return None  # files beside the program, generated model headers
    return "an include is written from the root of the project"


def check(root, _=None):
    problems = []
    for path in common.files(root):
        layer = layer_of(path.as_posix())
        if not layer or path.suffix not in common.CPP:
            continue
        for number, line in enumerate(common.lines_of(root, path), 1):
            match = INCLUDE.match(line)
            problem = match and problem_of(path, layer, *match.groups())
            if problem:
                name = match.group(1) or match.group(2)
                problems.append(f"{path}:{number}: \"{name}\": {problem}")
    return problems


def one(path, line):
    return {path: line + "\n"}


SAMPLES = [
    ("good", {
        "include/intarsia/a.h": '#include <cstdint>\n#include "intarsia/b.h"\n',
        "core/a.cpp": '#include "core/a.h"\n#include "intarsia/b.h"\n#include "plan_generated.h"\n'
                      "#include <flatbuffers/flatbuffers.h>\n#include <span>\n",
        "core/definitions/rows.h": "#include <string>\n",
        "core/definitions/a.h": '#include <vector>\n#include "core/definitions/b.h"\n',
        "kernels_cpu/a.cpp": '#include "core/a.h"\n#include <cmath>\n#include <algorithm>\n',
        "converter/a.cpp": '#include "kernels_cpu/a.h"\n#include <vector>\n#include <fmt/core.h>\n',
        "converter/tool/device/a.cpp": '#include <cuda_runtime.h>\n#include "converter/tool/a.h"\n',
        "core/c_api/a.cpp": '#include "core/a.h"\n#include "core/c_api/a.h"\n',
        "core/c_api/host/a.cpp": '#include "kernels_cpu/a.h"\n#include <cstdio>\n',
        "pyop_optional/a.cpp": "#include <Python.h>\n",
        "kernels_cpu/images/a.cpp": '#include <jpeglib.h>\n#include "intarsia/kernel.h"\n',
        "test/a.cpp": '#include <gtest/gtest.h>\n#include "core/a.h"\n',
        "examples/a/main.cpp": '#include "silero_vad.h"\n#include "intarsia/session.h"\n',
    }, None),
    ("core on kernels", one("core/a.cpp", '#include "kernels_cpu/a.h"'), "may not include kernels"),
    ("core on converter", one("core/a.h", '#include "converter/a.h"'), "may not include converter"),
    ("core on definitions", one("core/a.h", '#include "core/definitions/a.h"'),
     "core may not include core/definitions"),
    ("kernel on definitions", one("kernels_cpu/a.cpp", '#include "core/definitions/a.h"'),
     "kernels_cpu may not include core/definitions"),
    ("kernels on converter", one("kernels_cpu/a.h", '# include "converter/a.h"'), "converter"),
    ("public on core", one("include/intarsia/a.h", '#include "core/a.h"'), "may not include core"),
    ("public on library", one("include/intarsia/a.h", "#include <flatbuffers/flatbuffers.h>"),
     "may not include flatbuffers"),
    ("CUDA's kernels on the CPU's", one("kernels_cuda/a.cu", '#include "kernels_cpu/a.h"'),
     "kernels_cuda may not include kernels_cpu"),
    ("CUDA outside", one("core/a.cpp", "#include <cuda_runtime.h>"), "may not include cuda"),
    ("CUDA in the command", one("converter/tool/a.cpp", '#include "converter/tool/device/a.h"'),
     "converter may not include converter/tool/device"),
    ("Python outside", one("converter/a.cpp", "#include <Python.h>"), "may not include Python"),
    ("decoder outside", one("kernels_cpu/a.cpp", "#include <jpeglib.h>"), "may not include jpeg"),
    ("decoders on core", one("kernels_cpu/images/a.cpp", '#include "core/a.h"'), "may not include core"),
    ("examples on core", one("examples/a/a.cpp", '#include "core/a.h"'), "may not include core"),
    ("C API on kernels", one("core/c_api/a.cpp", '#include "kernels_cpu/a.h"'),
     "core/c_api may not include kernels_cpu"),
    ("files in the C API", one("core/c_api/a.cpp", "#include <cstdio>"), "hosted part"),
    ("hosted in core", one("core/a.cpp", "#include <vector>"), "hosted part"),
    ("print in kernel", one("kernels_cpu/a.cpp", "#include <cstdio>"), "hosted part"),
    ("relative", one("core/a.cpp", '#include "../core/a.h"'), "from the root"),
    ("beside", one("kernels_cpu/a.cpp", '#include "a.h"'), "from the root"),
    ("template in ISA file", one("kernels_cpu/a_avx2.cpp", "#include <algorithm>"),
     "one instruction set"),
]

if __name__ == "__main__":
    common.main(check, SAMPLES, __doc__)
