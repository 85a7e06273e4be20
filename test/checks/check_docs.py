#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Documents stay short and whole: every top-level folder explains itself, and every relative
link leads somewhere."""

import re

import common

LIMITS = {"README.md": 150, "CONTRIBUTING.md": 120}
FOLDER_README_LIMIT = 40
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def check(root, _=None):
    problems = []
    paths = common.files(root)
    limits = {name: (limit, "every project has one") for name, limit in LIMITS.items()}
    for folder in {p.parts[0] for p in paths if len(p.parts) > 1 and p.parts[0][0] != "."}:
        limits[f"{folder}/README.md"] = (
            FOLDER_README_LIMIT,
            "it says what lives here, what it may include, how to add one, what it must never do")
    for name, (limit, why) in sorted(limits.items()):
        if not (root / name).is_file():
            problems.append(f"{name}: missing; {why}")
        elif len(common.lines_of(root, name)) > limit:
            problems.append(f"{name}: {len(common.lines_of(root, name))} lines, "
                            f"the limit is {limit}")
    for path in (p for p in paths if p.suffix == ".md"):
        for number, line in enumerate(common.lines_of(root, path), 1):
            for target in LINK.findall(line):
                if "://" not in target and not (root / path.parent / target).exists():
                    problems.append(f"{path}:{number}: the link to '{target}' leads nowhere")
    return problems


TREE = {"README.md": "[a](core/README.md#a)\n", "CONTRIBUTING.md": "c\n", "core/a.h": "\n",
        "core/README.md": "[b](../README.md) [c](https://example.org/x)\n"}
SAMPLES = [
    ("good", TREE, None),
    ("long readme", {**TREE, "README.md": "a\n" * 151}, "README.md: 151 lines"),
    ("long folder readme", {**TREE, "core/README.md": "a\n" * 41}, "core/README.md: 41 lines"),
    ("no folder readme", {**TREE, "converter/a.cpp": "\n"}, "converter/README.md: missing"),
    ("no contributing", {"README.md": "a\n"}, "CONTRIBUTING.md: missing"),
    ("dead link", {**TREE, "README.md": "[a](docs/gone.md)\n"}, "'docs/gone.md' leads nowhere"),
]

if __name__ == "__main__":
    common.main(check, SAMPLES, __doc__)
