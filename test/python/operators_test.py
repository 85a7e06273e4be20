# SPDX-License-Identifier: Apache-2.0
"""Plans with operators of one's own, converted and run from Python with a plug-in."""

import contextlib
import os
import re
import subprocess
import sys
import unittest
from unittest import mock

import numpy as np
import onnx
from onnx import helper

import intarsia
import support

OPERATORS = os.environ["INTARSIA_OPERATORS"]
MODEL = os.environ["INTARSIA_MODEL"]


class Operators(unittest.TestCase):
    def test_a_library(self):
        plan = support.FOLDER / "custom.plan"
        intarsia.convert(MODEL, plan, operators=[OPERATORS])
        x = np.array([1, 2, 3], np.float32)
        for operators in ([OPERATORS], OPERATORS, (os.fsencode(OPERATORS),)):
            session = intarsia.ExecutionSession(plan, operators=operators)
            np.testing.assert_array_equal(session.run([x])[0], [6, 4, 2])
        with self.assertRaisesRegex(intarsia.Error, "sample:Affine") as context:
            intarsia.ExecutionSession(plan)
        self.assertEqual(context.exception.code, "kMissingKernel")
        self.assertIn("--operators LIB.so", str(context.exception))

    def test_problems(self):
        plan = support.FOLDER / "no.plan"
        with self.assertRaisesRegex(intarsia.Error, "sample:Affine.*not supported"):
            intarsia.convert(MODEL, plan)
        with self.assertRaisesRegex(intarsia.Error, "missing.so"):
            intarsia.convert(MODEL, plan, operators="missing.so")
        with self.assertRaisesRegex(intarsia.Error, re.escape(support.COMMAND)):
            intarsia.convert(MODEL, plan, operators=[support.COMMAND])


def scaled(factor):
    return f"""
class scaled:
    domain, inputs, outputs = "own", ["x"], ["y"]
    def infer(self, inputs):
        return inputs[0]
    def forward(self, inputs):
        return inputs[0] * {factor}
"""


class Sources(unittest.TestCase):
    """What `--operators FILE.py` does with the file and the folder it lies in."""

    def setUp(self):
        self.folder = support.FOLDER / self._testMethodName
        self.folder.mkdir()
        values = {"x": (support.FLOAT, [2])}, {"y": (support.FLOAT, [2])}
        self.model = self.folder.with_suffix(".onnx")
        onnx.save(support.model([helper.make_node("scaled", ["x"], ["y"], domain="own")], *values),
                  self.model)

    def by_command(self, file):
        """The first element of the result for ones."""
        x, y = self.folder.with_suffix(".x.npy"), self.folder.with_suffix(".y")
        np.save(x, np.ones(2, np.float32))
        y.mkdir(exist_ok=True)
        subprocess.run([support.COMMAND, "run", self.model, "--operators", file, "--input", f"x={x}",
                        "--output-dir", y], cwd=self.folder, env=support.plain_environment(), check=True,
                       capture_output=True)
        return np.load(y / "output_0.npy")[0]

    def in_process(self, file):
        plan = intarsia.convert(self.model, operators=file)
        session = intarsia.ExecutionSession(plan, operators=file)
        return session, session.run(np.ones(2, np.float32))[0][0]

    def test_OFK_12_loading_leaves_the_folder_alone(self):
        # A folder of the operator's name, which is no module.
        (self.folder / "scaled").mkdir()
        (self.folder / "scaled" / "notes.txt").write_text("kept", encoding="utf-8")
        (self.folder / "here.py").write_text(scaled(2), encoding="utf-8")
        def everything():
            return {path: (path.stat().st_mtime_ns, path.is_dir() or path.read_bytes())
                    for path in [self.folder, *self.folder.rglob("*")]}
        before = everything()
        self.assertEqual(self.by_command("here.py"), 2)
        with contextlib.chdir(self.folder), mock.patch.object(sys, "dont_write_bytecode", False):
            self.assertEqual(self.in_process("here.py")[1], 2)
            self.assertFalse(sys.dont_write_bytecode)
        self.assertEqual(everything(), before)
        # A PyOp, by the command: the interpreter that it starts leaves nothing either.
        (self.folder / "there.py").write_text("class Same:\n    def compute(self, x):\n        return x\n",
                                              encoding="utf-8")
        before = everything()
        node = helper.make_node("PyOp", ["x"], ["y"], domain="pyop", module="there", class_name="Same",
                                input_types=[support.FLOAT], output_types=[support.FLOAT])
        values = {"x": (support.FLOAT, [2])}, {"y": (support.FLOAT, [2])}
        onnx.save(support.model([node], *values), self.model)
        subprocess.run([support.COMMAND, "bench", self.model, "--allow-pyop", "--seconds", "0"], check=True,
                       cwd=self.folder, env=support.plain_environment(), capture_output=True)
        self.assertEqual(everything(), before)

    def test_OFK_12_a_file_that_changes_is_read_anew(self):
        file = self.folder / "changing.py"
        sessions = []
        for factor in (2, 3):
            file.write_text(scaled(factor), encoding="utf-8")
            os.utime(file, (1e9, 1e9))  # within a second, and as long as before
            self.assertEqual(self.by_command(file), factor)
            session, found = self.in_process(file)
            self.assertEqual(found, factor)
            sessions.append((session, factor))
        for session, factor in sessions:  # each has its own object
            self.assertEqual(session.run(np.ones(2, np.float32))[0][0], factor)
        # What is wrong with a new version is an error, and the next one is read.
        broken = (("raise LookupError('broken')", "LookupError: broken"), ("class scaled(", "SyntaxError"))
        for text, problem in broken * 2:
            file.write_text(text, encoding="utf-8")
            with self.assertRaisesRegex(intarsia.Error, f"(?s)changing.py: importing it raised.*{problem}"):
                self.in_process(file)
        file.write_text(scaled(4), encoding="utf-8")
        self.assertEqual(self.in_process(file)[1], 4)


if __name__ == "__main__":
    unittest.main()
