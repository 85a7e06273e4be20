#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the bytes of device code per architecture in an archive, and fails beyond a limit.

  module_size.py libintarsia_cuda.a LIMIT|limits.txt

Reads the section .nv_fatbin of each object with binutils alone, since not every installation of the
toolkit has cuobjdump: containers (magic 0xba55ed50, header size, size) of entries, each with its
kind (1 PTX, 2 machine code), header size, size and architecture.
"""

import collections
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

MAGIC = 0xBA55ED50


def entries(section):
    """Yields (name, bytes) of the fat binaries that stand one after another, padded."""
    at = 0
    while at + 16 <= len(section):
        magic, _, header, size = struct.unpack_from("<IHHQ", section, at)
        if magic != MAGIC:
            at += 8
            continue
        end = at + header + size
        at += header
        while at + 64 <= end:
            kind, _, entry_header, entry_size = struct.unpack_from("<HHIQ", section, at)
            (architecture,) = struct.unpack_from("<I", section, at + 28)
            yield f"{'compute' if kind == 1 else 'sm'}_{architecture}", entry_size
            at += entry_header + entry_size
        at = end


def device_code(archive):
    """Yields (object, name, bytes)."""
    archive = Path(archive).resolve()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["ar", "x", str(archive)], cwd=folder, check=True)
        for member in Path(folder).glob("*.o"):
            section = member.with_suffix(".fatbin")
            subprocess.run(["objcopy", "-O", "binary", "--only-section=.nv_fatbin",
                            "--set-section-flags", ".nv_fatbin=alloc", str(member), str(section)],
                           check=True)
            if section.is_file():
                for name, size in entries(section.read_bytes()):
                    yield member.name, name, size


def sizes(archive):
    found = collections.Counter()
    for _, name, size in device_code(archive):
        found[name] += size
    return found


def forms(archive):
    """For each object, what device code it holds: {"sm_80", "compute_120"}."""
    found = collections.defaultdict(set)
    for member, name, _ in device_code(archive):
        found[member].add(name)
    return found


def main():
    archive, limit = sys.argv[1:]
    if not limit.isdigit():
        lines = Path(limit).read_text(encoding="utf-8").splitlines()
        limit = next(line for line in lines if line and not line.startswith("#"))
    found = sizes(archive)
    for name, size in sorted(found.items()):
        print(f"{name}: {size} bytes, limit {limit}")
    if not found:
        sys.exit(f"{archive} holds no device code")
    beyond = [name for name, size in found.items() if size > int(limit)]
    if beyond:
        sys.exit(f"beyond the limit: {', '.join(beyond)}")


if __name__ == "__main__":
    main()
