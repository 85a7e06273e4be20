#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every file is ASCII, every source names its licence, no file holds a note to self or a path of
one machine."""

import re

import common

SPDX = "SPDX-License-Identifier: Apache-2.0"

# The words are spelled in pieces so that this file passes its own check.
FORBIDDEN = [
    (re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b"), "note to self; do it, or open an issue"),
    (re.compile(r"(?<![\w$.{}<>)*/-])/(?:root|home|work|Users)(?![\w.-])|/tm[p]/w\b"),
     "absolute path of one machine"),
    (re.compile(r"\.\./sha" r"red\b|\b(?:design|style|rivals|acceptance)\.m" r"d\b"),
     "refers to a file outside the repository"),
    (re.compile(r"--(?:extra-)?index-u" r"rl|--trusted-h" r"ost"),
     "names a package host; that is the user's configuration"),
]


# The same in kernels.
OF_KERNELS = [
    (re.compile(r"(?:\bthread\)? \* \w|\* (?:static_cast<\w+>\()?thread\b)"),
     "cuts memory by threads; PerThread does, so that they share no line of the cache"),
]


def check(root, _=None):
    problems = []
    for path in common.files(root):
        data = (root / path).read_bytes()
        # Binaries, and bytes that are what they are: what fuzzing starts from, what it found.
        if b"\0" in data or {"corpus", "regressions"} & set(path.parts):
            continue
        lines = data.decode("utf-8", "replace").splitlines()
        forbidden = FORBIDDEN + (OF_KERNELS if path.parts[0] == "kernels_cpu" else [])
        if common.is_source(path):
            # After "#!", where there is one.
            head = lines[1:2] if lines and lines[0].startswith("#!") else lines[:1]
            if not head or SPDX not in head[0]:
                problems.append(f"{path}:1: the first line must be a comment with '{SPDX}'")
        if data and not data.endswith(b"\n"):
            problems.append(f"{path}:{len(lines)}: the last line has no end")
        for number, line in enumerate(lines, 1):
            where = f"{path}:{number}"
            if not line.isascii():
                problems.append(f"{where}: a character beyond ASCII")
            if line.endswith((" ", "\t", "\r")):
                problems.append(f"{where}: white space at the end of the line")
            problems += [f"{where}: '{m.group()}': {why}" for pattern, why in forbidden
                         for m in pattern.finditer(line)]
    return problems


HEAD = f"// {SPDX}\n"
SAMPLES = [
    ("good", {"core/a.h": HEAD + "// see docs/ERRORS.md and/or work/file, FIXMEUP\n",
              "t.sh": f"#!/bin/sh\n# {SPDX}\nmktemp /tmp/a.XXXXXX\ncd build/work\n"}, None),
    ("no licence", {"core/a.h": "#pragma once\n"}, "SPDX"),
    ("no licence in a script", {"a.sh": "#!/bin/sh\necho\n"}, "SPDX"),
    ("not ASCII", {"README.md": "5 \u00b5s\n"}, "beyond ASCII"),
    ("note", {"core/a.h": HEAD + "// TO" "DO: later\n"}, "note to self"),
    ("machine path", {"a.sh": f"# {SPDX}\ncd /" "home/me\n"}, "absolute path"),
    ("scratch path", {"README.md": "see /tmp/" "w/x\n"}, "absolute path"),
    ("outside file", {"README.md": "see ../sha" "red/x\n"}, "outside the repository"),
    ("package host", {"a.sh": f"# {SPDX}\npip --index-u" "rl x\n"}, "package host"),
    ("a piece by hand", {"kernels_cpu/a.h": HEAD + "T* own = all + thread * each;\n"}, "PerThread"),
    ("another by hand", {"kernels_cpu/a.h": HEAD + "p + share * static_cast<size_t>(thread)\n"},
     "PerThread"),
    ("trailing blank", {"README.md": "a \n"}, "white space"),
    ("no end of line", {"README.md": "a"}, "no end"),
]

if __name__ == "__main__":
    common.main(check, SAMPLES, __doc__)
