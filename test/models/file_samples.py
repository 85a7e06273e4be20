# SPDX-License-Identifier: Apache-2.0
"""100 files of differing kinds for Magika, and the features that its model reads.

Nearly all are generated, so that they are the same everywhere: short texts in many languages, and
binary formats written by Python's standard library or packed by hand. A few come from the running
Debian system (programs, sounds), because no small generator gives real ones.
"""

import bz2
import csv
import gzip
import io
import json
import lzma
import marshal
import pathlib
import pickle
import plistlib
import sqlite3
import struct
import tarfile
import wave
import zipfile
import zlib

import numpy as np

import cases
import inputs

BEGIN = END = 1024
BLOCK = 4096
PADDING = 256


def features(data):
    """The 2048 numbers of Magika's features v2, int32: the first 1024 bytes behind leading white
    space and the last 1024 before trailing white space, each searched in 4096 bytes; the missing
    ones are 256, behind the first part and in front of the second."""
    begin = data[:BLOCK].lstrip()[:BEGIN]
    end = data[-BLOCK:].rstrip()[-END:]
    numbers = np.full(BEGIN + END, PADDING, np.int32)
    numbers[:len(begin)] = list(begin)
    numbers[len(numbers) - len(end):] = list(end)
    return numbers


def samples():
    """Returns 104 pairs of file name and content."""
    files = {**_texts(), **_binaries(), **_system_files()}
    for number in range(104 - len(files)):  # a system that lacks some of the files above
        files[f"random{number}.bin"] = inputs.generator("file", number).bytes(3000 + number)
    return sorted(files.items())



def _snippets():
    """The sections of snippets.txt, whose heads give file suffix and, if not plain, line ends."""
    found = {}
    sections = ("\n" + (cases.HERE / "snippets.txt").read_text()).split("\n=== ")[1:]
    for section in sections:
        head, text = (section + "\n").split("\n", 1)
        suffix, *crlf = head.split()
        found[suffix] = text.replace("\n", "\r\n") if crlf else text
    return found


def _repeat(text, size):
    """Repeats a snippet up to a size, with every {n} as the number of the repetition."""
    parts, length = [], 0
    while length < size:
        parts.append(text.replace("{n}", str(len(parts) + 1)))
        length += len(parts[-1])
    return "".join(parts).encode()


def _texts():
    """Source and text files between half a kilobyte and several blocks."""
    snippets = _snippets()
    files = {f"text.{kind}": _repeat(text, 500 + 137 * index % 7000)
             for index, (kind, text) in enumerate(snippets.items())}
    rows = io.StringIO()
    writer = csv.writer(rows)
    writer.writerow(["id", "name", "price"])
    writer.writerows([i, f"item {i}", i * 1.25] for i in range(200))
    items = [{"id": i, "name": f"item {i}", "tags": ["a", "b"]} for i in range(60)]
    files["table.csv"] = rows.getvalue().encode()
    files["table.tsv"] = rows.getvalue().replace(",", "\t").encode()
    files["data.json"] = json.dumps(items, indent=2).encode()
    files["lines.jsonl"] = "\n".join(map(json.dumps, items)).encode()
    files["spaces.py"] = b"\n" * 300 + _repeat(snippets["py"], 300) + b" \t\n" * 400
    files["short.sh"] = b"#!/bin/sh\nls\n"
    files["utf16.txt"] = ("\ufeff" + "Some text, with umlauts: \u00e4\u00f6\u00fc.\n" * 60).encode(
        "utf-16-le")
    return files


def _png(width, height):
    """A PNG image of 8-bit RGB noise."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rng = inputs.generator("file", "png")
    rows = b"".join(b"\0" + rng.bytes(3 * width) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows))
            + chunk(b"IEND", b""))


def _zip(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return stream.getvalue()


def _tar(members):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return stream.getvalue()


def _binaries():
    """Archives, images, sounds and other binary formats."""
    snippets = _snippets()
    text = _repeat(snippets["txt"], 20000)
    noise = inputs.generator("file", "noise").bytes(6000)
    members = {"readme.txt": text, "noise.bin": noise}
    files = {
        "image.png": _png(40, 30),
        "image.bmp": struct.pack("<2sIHHI", b"BM", 54 + 2700, 0, 0, 54) + struct.pack(
            "<IiiHHIIiiII", 40, 30, 30, 1, 24, 0, 2700, 2835, 2835, 0, 0) + noise[:2700],
        "image.gif": b"GIF89a" + struct.pack("<HHBBB", 16, 16, 0xF7, 0, 0) + noise[:768]
        + b"\x21\xf9\x04\0\0\0\0\0\x2c\0\0\0\0\x10\0\x10\0\0\x08\xff" + noise[:255] + b"\0\x3b",
        "image.tiff": b"II*\0" + struct.pack("<IH", 8, 3) + struct.pack(
            "<HHIIHHIIHHII", 256, 3, 1, 30, 257, 3, 1, 30, 273, 4, 1, 64) + bytes(8) + noise[:900],
        "image.ppm": b"P6\n30 30\n255\n" + noise[:2700],
        "icon.ico": struct.pack("<HHH", 0, 1, 1) + struct.pack(
            "<BBBBHHII", 40, 30, 0, 0, 1, 24, len(_png(40, 30)), 22) + _png(40, 30),
        "archive.zip": _zip(members),
        "archive.jar": _zip({"META-INF/MANIFEST.MF": b"Manifest-Version: 1.0\r\n",
                             "org/example/Sample.class": b"\xca\xfe\xba\xbe\0\0\0\x37" + noise}),
        "document.docx": _zip({"[Content_Types].xml": _repeat(snippets["xml"], 900),
                               "_rels/.rels": b"<Relationships/>",
                               "word/document.xml": _repeat(snippets["xml"], 5000)}),
        "archive.tar": _tar(members),
        "archive.tar.gz": gzip.compress(_tar(members), mtime=0),
        "text.gz": gzip.compress(text, mtime=0),
        "text.bz2": bz2.compress(text + noise),
        "text.xz": lzma.compress(text + noise),
        "stream.zlib": zlib.compress(noise + text),
        "list.pickle": pickle.dumps([{"id": i, "name": f"item {i}"} for i in range(99)], 4),
        "list.plist": plistlib.dumps({f"key{i}": i for i in range(99)}, fmt=plistlib.FMT_BINARY),
        "code.pyc": b"\xa7\r\r\n" + bytes(12) + marshal.dumps(
            compile(_repeat(snippets["py"], 1500), "sample.py", "exec")),
        "array.npy": _saved(np.save, np.arange(999.0)),
        "random.bin": noise,
        "zeros.bin": bytes(5000),
        "page.pdf": b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n"
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n4 0 obj\n<< /Length 3000 /Filter "
        b"/FlateDecode >>\nstream\n" + zlib.compress(noise[:3000]) + b"\nendstream\nendobj\n"
        b"xref\n0 5\n0000000000 65535 f\ntrailer\n<< /Root 1 0 R >>\nstartxref\n9\n%%EOF\n",
        "module.wasm": b"\0asm\1\0\0\0\1\x07\1\x60\2\x7f\x7f\1\x7f\3\2\1\0\7\7\1\3add\0\0\n\t\1\7\0"
        b" \0 \1j\x0b",
        "capture.pcap": struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + b"".join(
            struct.pack("<IIII", i, 0, 60, 60) + noise[60 * i:60 * i + 60] for i in range(40)),
        "song.mid": b"MThd" + struct.pack(">IHHH", 6, 0, 1, 96) + b"MTrk" + struct.pack(">I", 1604)
        + b"".join(bytes([0, 0x90, 60 + i % 12, 64, 48, 0x80, 60 + i % 12, 0]) for i in range(200))
        + b"\0\xff\x2f\0",
    }
    sound = io.BytesIO()
    with wave.open(sound, "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes((9000 * np.sin(np.arange(8000) / 5)).astype("<i2").tobytes())
    files["tone.wav"] = sound.getvalue()
    base = sqlite3.connect(":memory:")
    base.executescript("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT);"
                       + "".join(f"INSERT INTO items VALUES ({i}, 'item {i}');" for i in range(50)))
    files["items.sqlite"] = base.serialize()
    return files


def _saved(save, value):
    stream = io.BytesIO()
    save(stream, value)
    return stream.getvalue()


def _system_files():
    """Files that every system with the packages of setup_env.sh has."""
    found = {}
    for name, pattern in (("program.elf", "/usr/bin/ls"),
                          ("library.so", "/usr/lib/*/libz.so.1"),
                          ("voice.wav", "/usr/share/sounds/alsa/Front_Center.wav"),
                          ("license.txt", "/usr/share/common-licenses/GPL-3"),
                          ("passwd", "/etc/passwd")):
        for path in sorted(pathlib.Path("/").glob(pattern.lstrip("/")))[:1]:
            found[name] = path.read_bytes()
    return found
