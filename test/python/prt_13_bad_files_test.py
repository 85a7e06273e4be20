# SPDX-License-Identifier: Apache-2.0
"""PRT-13: files that are no plans, or not this library's, are RuntimeErrors with path and reason."""

import json
import os
import random
import struct
import subprocess
import unittest

import numpy as np

import intarsia
import support


class BadFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.good = support.unary("Softmax", shape=["n", 3], options=["--dim", "n=4"]).read_bytes()
        cls.path = support.FOLDER / "bad file.plan"

    def refused(self, content, reason, code):
        self.path.write_bytes(content)
        with self.assertRaisesRegex(RuntimeError, reason) as context:
            intarsia.ExecutionSession(self.path)
        self.assertIn(str(self.path), str(context.exception))
        self.assertEqual(context.exception.code, code)

    def test_PRT_13_the_whole_file_opens(self):
        self.path.write_bytes(self.good)
        intarsia.ExecutionSession(self.path)

    def test_PRT_13_missing_and_unreadable(self):
        for path, reason in ((support.FOLDER / "missing.plan", "No such file"),
                             (support.FOLDER, "not a regular file"),
                             ("/dev/null", "not a regular file"),
                             (str(support.FOLDER / "x" / "y.plan"), "No such file")):
            with self.assertRaisesRegex(RuntimeError, reason) as context:
                intarsia.ExecutionSession(path)
            self.assertIn(str(path), str(context.exception))
        pipe = support.FOLDER / "pipe"
        os.mkfifo(pipe)
        self.assertRaisesRegex(RuntimeError, "not a regular file", intarsia.ExecutionSession, pipe)
        self.assertRaisesRegex(RuntimeError, "zero byte", intarsia.ExecutionSession, "a\0b")

    def test_PRT_13_not_a_plan(self):
        self.refused(b"", "not a plan", "kNotAPlan")
        self.refused(b"\x7fELF" + bytes(100), "not a plan", "kNotAPlan")

    def test_PRT_13_truncated(self):
        for size in range(8, len(self.good), 37):
            self.refused(self.good[:size], "incomplete|damaged", "kTruncatedPlan")
        self.refused(self.good[:-1], "incomplete", "kTruncatedPlan")

    def test_PRT_13_wrong_version(self):
        self.refused(self.good[:8] + struct.pack("<I", 99) + self.good[12:],
                     "plan format version: expected 1, found 99", "kUnsupportedVersion")

    def test_PRT_13_foreign_endian(self):
        fields = struct.unpack("<8sIIQQQQQQ", self.good[:64])
        self.refused(struct.pack(">8sIIQQQQQQ", *fields) + self.good[64:], "byte order",
                     "kUnsupportedVersion")

    def test_PRT_13_changed_bytes(self):
        generator = random.Random(6)
        x = np.ones((2, 3), np.float32)
        opened = 0
        for _ in range(600):
            content = bytearray(self.good)
            for _ in range(generator.choice((1, 1, 2, 8))):
                content[generator.randrange(len(content))] = generator.randrange(256)
            self.path.write_bytes(content)
            try:
                intarsia.ExecutionSession(self.path).run([x])
                opened += 1
            except RuntimeError:
                pass
        self.assertLess(opened, 600)

    def test_PRT_13_an_arena_beyond_all_memory(self):
        # With a checksum to match: the size is looked at before memory is asked for.
        position = self.good.index(struct.pack("<Q", self.arena_bytes()))
        content = bytearray(self.good)
        content[position:position + 8] = struct.pack("<Q", 1 << 50)
        content[48:56] = struct.pack("<Q", checksum(content))
        self.refused(bytes(content), "arena", "kCorruptPlan")

    def arena_bytes(self):
        self.path.write_bytes(self.good)
        done = subprocess.run([support.COMMAND, "inspect", self.path, "--json"],
                              capture_output=True, text=True, check=True,
                              env=support.plain_environment())
        return json.loads(done.stdout)["arena_bytes"]


def checksum(content):
    offset, size = struct.unpack("<QQ", content[16:32])
    state = 0xcbf29ce484222325
    for part in (content[:48], content[offset:offset + size]):
        part = bytes(part) + bytes(-len(part) % 8)
        for word, in struct.iter_unpack("<Q", part):
            state = (state ^ word) * 0x100000001b3 % (1 << 64)
    return state


if __name__ == "__main__":
    unittest.main()
