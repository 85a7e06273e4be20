#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the files that a document shows, so that they are known to compile.

    extract.py DOCUMENT.md FOLDER
    extract.py --follow DOCUMENT.md FOLDER
    extract.py --self-test

A block that begins with "```LANGUAGE FILE" is the content of FOLDER/FILE, or continues it.

With --follow the document is followed from its top to its end, as a reader would: files are written
where they are shown, blocks that begin with "```sh" are run in FOLDER, and what each prints must end
with the block "```text" behind it. "..." stands for any text.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def write(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def extract(blocks, folder):
    files = {}
    for _, name, text in blocks:
        if name:
            files[name] = files.get(name, "") + text
    for name, text in files.items():
        write(folder / name, text)
    return files


def run(commands, folder):
    print(commands, flush=True)
    result = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=folder, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    print(result.stdout, flush=True)
    if result.returncode != 0:
        sys.exit(f"a command failed with {result.returncode}")
    return result.stdout


def follow(blocks, folder):
    printed, compared = None, 0
    for i, (language, name, text) in enumerate(blocks):
        if name:
            extract(blocks[:i + 1], folder)
        elif language == "sh":
            printed = run(text, folder)
        elif language == "text":
            end = ".*".join(re.escape(part) for part in text.split("..."))
            if printed is None or not re.search(rf"(?:^|\n){end}\Z", printed, re.DOTALL):
                sys.exit(f"the document says that this ends with\n{text}")
            compared += 1
    if compared == 0:
        sys.exit("the document says nowhere what a command prints")


# Whether a reader who follows it finds what it says.
SAMPLES = [
    (True, "```txt a\nx\n```\n```txt a\ny\n```\n```sh\necho begin; cat a\n```\n```text\nx\ny\n```\n"),
    (True, "```txt a\nx\n```\n```sh\necho 1 b 2\n```\n```text\n1 ... 2\n```\n"),
    (False, "```sh\ncat a\n```\n```txt a\nx\n```\n```text\nx\n```\n"),  # the file comes too late
    (False, "```sh\necho x\n```\n```text\ny\n```\n"),
    (False, "```sh\necho xy\n```\n```text\ny\n```\n"),
    (False, "```sh\necho x; false\n```\n```text\nx\n```\n"),
    (False, "```text\nx\n```\n"),
    (False, "```sh\necho x\n```\n"),
]


def self_test():
    for expected, document in SAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            try:
                follow(BLOCK.findall(document), pathlib.Path(folder))
                found = True
            except SystemExit:
                found = False
        if found != expected:
            sys.exit(f"{'refused' if expected else 'accepted'}:\n{document}")


def main():
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        self_test()
        return
    following = arguments[:1] == ["--follow"]
    if len(arguments) != 2 + following:
        sys.exit(__doc__)
    document, folder = map(pathlib.Path, arguments[-2:])
    blocks = BLOCK.findall(document.read_text())
    if not any(name for _, name, _ in blocks):
        sys.exit(f"{document}: no block names a file")
    folder.mkdir(parents=True, exist_ok=True)
    if following:
        follow(blocks, folder)
    else:
        extract(blocks, folder)


if __name__ == "__main__":
    main()
