#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the example programs and compares what they print with ONNX Runtime's results, or with the
text that was rendered.

    programs_test.py speech_segments PROGRAM REFERENCES   REFERENCES made by speech_reference.py
    programs_test.py file_kind PROGRAM CASE               CASE is the folder `magika` of make_models.py
    programs_test.py read_text PROGRAM PICTURES           PICTURES made by examples/read_text/render.py

--emulator COMMAND runs the program, which is that of another machine: the sizes of programs are not
compared then.
Standard library only. limits.txt holds the largest sizes.
"""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

SOUNDS = pathlib.Path("/usr/share/sounds/alsa")
TOLERANCE = 1e-4


def floats(path):
    """The elements of a one-dimensional .npy file, or of a raw one, of float32."""
    data = pathlib.Path(path).read_bytes()
    if data[:6] == b"\x93NUMPY":
        header = struct.unpack("<H", data[8:10])[0]
        if b"'<f4'" not in data[10:10 + header]:
            sys.exit(f"{path}: expected float32 elements")
        data = data[10 + header:]
    return struct.unpack(f"<{len(data) // 4}f", data)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def limits():
    lines = (pathlib.Path(__file__).parent / "limits.txt").read_text().splitlines()
    return {words[0]: int(words[1]) for words in map(str.split, lines) if words and words[0] != "#"}


EMULATOR = []


def stripped_size(program):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "program"
        shutil.copy(program, copy)
        run("strip", copy)
        return copy.stat().st_size


def check_speech(program, references):
    problems, worst, sizes = [], 0.0, {}
    report = (references / "report.txt").read_text()
    sounds = sorted(SOUNDS.glob("*.wav"))
    if len(sounds) != 9:
        sys.exit(f"{len(sounds)} WAV files in {SOUNDS}, expected the 9 of alsa-utils")
    with tempfile.TemporaryDirectory() as folder:
        raw = pathlib.Path(folder) / "probabilities"
        for sound in sounds:
            text = run(*EMULATOR, program, "--probabilities", raw, sound)
            found, expected = floats(raw), floats(references / f"{sound.stem}.npy")
            if len(found) != len(expected):
                problems.append(f"{sound.name}: {len(found)} frames, expected {len(expected)}")
                continue
            error = max(abs(a - b) for a, b in zip(found, expected))
            worst = max(worst, error)
            if not error <= TOLERANCE:  # also if it is not a number
                problems.append(f"{sound.name}: a probability differs by {error:g}, "
                                f"at most {TOLERANCE:g} is expected")
            spans = re.findall(r"^speech ([\d.]+) s to ([\d.]+) s", text, re.MULTILINE)
            line = re.search(rf"^{re.escape(sound.name)}:.* speech: (.*)$", report, re.MULTILINE)
            if (", ".join(f"{a}-{b} s" for a, b in spans) or "none") != line.group(1):
                problems.append(f"{sound.name}: segments {spans}, expected {line.group(1)}")
            numbers = re.search(r"plan (\d+) bytes, arena (\d+) bytes, heap calls (-?\d+)$", text,
                                re.MULTILINE).groups()
            sizes = dict(zip(("plan", "arena", "heap_calls"), map(int, numbers)))
            if sizes["heap_calls"] != 0:
                problems.append(f"{sound.name}: {sizes['heap_calls']} heap calls, expected 0")
    print(f"{len(sounds)} sounds, largest difference of a probability {worst:.2e}")
    if not EMULATOR:
        sizes["program"] = stripped_size(program)
        sizes["code"] = sizes["program"] - sizes["plan"]
    del sizes["heap_calls"]
    for name in sizes:
        limit = limits()[f"speech_segments.{name}"]
        print(f"speech_segments.{name}: {sizes[name]} bytes, the limit is {limit}")
        if sizes[name] > limit:
            problems.append(f"speech_segments.{name}: {sizes[name]} bytes, above {limit} of limits.txt")
    return problems


def check_file_kind(program, case):
    problems, worst = [], 0.0
    expected = [line.split() for line in (case / "labels.txt").read_text().splitlines()]
    if len(expected) != 100:
        sys.exit(f"{case}/labels.txt has {len(expected)} lines, expected 100")
    lines = run(*EMULATOR, program, *(case / "files" / name for name, _, _ in expected)).splitlines()
    if len(lines) != len(expected):
        return [f"{len(lines)} lines for {len(expected)} files"]
    for line, (name, kind, score) in zip(lines, expected):
        found_kind, found_score, path = line.split(maxsplit=2)
        error = abs(float(found_score) - float(score))
        worst = max(worst, error)
        if found_kind != kind or os.path.basename(path) != name or not error <= TOLERANCE:
            problems.append(f"{name}: expected {kind} {score}, the program says: {line}")
    print(f"{len(lines)} files, largest difference of a score {worst:.2e}")
    return problems


def check_read_text(program, pictures):
    problems = []
    names = sorted(path.stem for path in pictures.glob("*.txt"))
    if len(names) != 4:
        sys.exit(f"{len(names)} texts in {pictures}, expected 4")
    with tempfile.TemporaryDirectory() as folder:
        boxes = pathlib.Path(folder) / "boxes.png"
        for name in names:
            picture = pictures / f"{name}.png"
            *lines, summary = run(*EMULATOR, program, picture, boxes).splitlines()
            found = [line.split(maxsplit=1)[1].strip() for line in lines]
            expected = (pictures / f"{name}.txt").read_text().splitlines()
            if found != expected:
                problems.append(f"{name}: read {found}, expected {expected}")
            if not summary.endswith(" heap calls 0"):
                problems.append(f"{name}: expected no heap calls while the models run: {summary}")
            if boxes.read_bytes() == picture.read_bytes() or boxes.read_bytes()[1:4] != b"PNG":
                problems.append(f"{name}: no picture with boxes")
            print(f"{name}: {summary}")
        cut = pathlib.Path(folder) / "cut.png"
        cut.write_bytes((pictures / "letter.png").read_bytes()[:1000])
        for picture, message in ((cut, "no PNG file that can be read"),
                                 (pathlib.Path(folder) / "none.png", "No such file")):
            done = subprocess.run([*EMULATOR, program, picture], capture_output=True, text=True)
            if done.returncode != 1 or message not in done.stderr or str(picture) not in done.stderr:
                problems.append(f"{picture.name}: exit status {done.returncode}, {done.stderr!r}; "
                                f"expected 1 and '{message}'")
    return problems


CHECKS = {"speech_segments": check_speech, "file_kind": check_file_kind, "read_text": check_read_text}


def main():
    if len(sys.argv) == 6 and sys.argv[4] == "--emulator":
        EMULATOR.extend(sys.argv[5].split())
        del sys.argv[4:]
    if len(sys.argv) != 4 or sys.argv[1] not in CHECKS:
        sys.exit(__doc__)
    problems = CHECKS[sys.argv[1]](pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
