# SPDX-License-Identifier: Apache-2.0
"""Runs the walk-through of docs/python.md: its Python blocks, one after another, in one namespace; a
comment `# prints TEXT` is compared with what the line prints."""

import contextlib
import io
import os
import re
import unittest
from pathlib import Path

import onnx
from onnx import helper

import support

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


def blocks():
    text = PAGE.read_text(encoding="ascii")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


class WalkThrough(unittest.TestCase):
    def test_code_of_the_page(self):
        float32 = support.FLOAT
        nodes = [helper.make_node("Flatten", ["image"], ["flat"]),
                 helper.make_node("Softmax", ["flat"], ["prediction"])]
        onnx.save(support.model(nodes, {"image": (float32, ["batch", 1, 4, 4])},
                                {"prediction": (float32, ["batch", 16])}),
                  support.FOLDER / "digits.onnx")
        onnx.save(support.model([helper.make_node("shift", ["x"], ["y"], domain="own", by=2.5)],
                                {"x": (float32, [2])}, {"y": (float32, [2])}),
                  support.FOLDER / "shift.onnx")
        node = helper.make_node("Join", ["x"], ["y"], domain="own", sep=";")
        string = onnx.TensorProto.STRING
        onnx.save(support.model([node], {"x": (string, [2, 2])}, {"y": (string, [2])}),
                  support.FOLDER / "join.onnx")
        onnx.save(support.model([helper.make_node("user_square", ["x"], ["y"])],
                                {"x": (float32, [3])}, {"y": (float32, [3])}),
                  support.FOLDER / "square.onnx")
        onnx.save(support.model([helper.make_node("SmoothRelu", ["x"], ["y"], domain="own")],
                                {"x": (float32, [3])}, {"y": (float32, [3])}),
                  support.FOLDER / "smooth.onnx")
        onnx.save(support.model([helper.make_node("positive", ["x"], ["y"])],
                                {"x": (float32, [1])}, {"y": (float32, [1])}),
                  support.FOLDER / "positive.onnx")
        onnx.save(support.model([helper.make_node("user_relu", ["x"], ["y"], domain="user", slope=0.5)],
                                {"x": (float32, [3])}, {"y": (float32, [3])}),
                  support.FOLDER / "relu.onnx")
        names = {}
        code = blocks()
        self.assertGreater(len(code), 14)
        with contextlib.chdir(support.FOLDER):
            for block in code:
                expected = re.findall(r"# prints (.*)", block)
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(compile(block, str(PAGE), "exec"), names)  # pylint: disable=exec-used
                found = [line for line in printed.getvalue().splitlines() if line]
                self.assertEqual(found, expected, block)

    def test_no_code_of_the_page_is_left_out(self):
        """Code that is indented instead of fenced would be run by nothing. There are the commands that install
        the package (PRT-16 does it), and pictures, at the end."""
        text = PAGE.read_text(encoding="ascii")
        text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
        indented = re.findall(r"^    .*", text.partition("\n## Inside\n")[0], re.MULTILINE)
        self.assertEqual([line.split("#")[0].strip() for line in indented],
                         ["pip install .", "pip install build/release/python"])


if __name__ == "__main__":
    os.environ["INTARSIA_CACHE_DIR"] = str(support.FOLDER / "kept")
    os.environ.setdefault("PYTHONWARNINGS", "error")
    unittest.main()
