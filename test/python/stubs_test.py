# SPDX-License-Identifier: Apache-2.0
"""The type stubs say what the package has, no more and no less, and type checkers find them."""

import ast
import inspect
import os
import subprocess
import sys
import unittest
from pathlib import Path

import intarsia
import support

# What a type checker must accept, and below what it must refuse, line by line.
GOOD = """
import io
import os
from pathlib import Path
import numpy as np
import intarsia

x = np.ones((2, 3), np.float32)
session = intarsia.InferenceSession("m.onnx", providers=[("CPUExecutionProvider", {})], provider_options=[{}],
                                    dims={"n": (1, 8), "x@1": "n"}, threads=2)
with intarsia.ExecutionSession(Path("m.plan")) as plan:
    outputs: list[np.ndarray] = plan.run([x, None])
    plan.run({"x": x}, out={"y": x}, entry="main")
    plan.run(None, {"x": x})
    plan.run(["y"], [x])
    plan.run(input=[x], output_names=["y"])
    plan.bind([x], out=[x]).run()
    plan.profile(x).nodes[0].milliseconds + 1
name: str = session.get_inputs()[0].name
intarsia.compile_and_load(io.BytesIO(b""), "--dim n=4", cache="folder", seed=3)
block: bytes = intarsia.convert({"a": b"", "b": Path("b")}, fixed={"rate": 2.5, "w": x})
intarsia.convert("m.onnx", "m.plan", operators=["a.so", Path("b.py")])
intarsia.Error("text").code
"""
BAD = """
import intarsia
intarsia.InferenceSession("m.onnx", dim={"n": 4})
intarsia.InferenceSession(5)
intarsia.ExecutionSession("m.plan").run()
intarsia.ExecutionSession("m.plan").run(None, None)
intarsia.convert("m.onnx", threads="two")
intarsia.nothing
"""


def mypy(module, *arguments):
    environment = {**support.plain_environment(), "MYPYPATH": "",
                   "PYTHONPATH": os.pathsep.join([os.environ["PYTHONPATH"],
                                                  os.environ["INTARSIA_BUILD_PACKAGES"]])}
    return subprocess.run([sys.executable, "-m", module, *arguments], cwd=support.FOLDER, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
                          check=False)


class Stubs(unittest.TestCase):
    def test_they_are_shipped(self):
        folder = Path(intarsia.__file__).parent
        for name in ("py.typed", "__init__.pyi"):
            self.assertTrue((folder / name).is_file(), name)

    def test_they_are_what_the_package_has(self):
        done = mypy("mypy.stubtest", "intarsia", "--concise", "--ignore-unused-allowlist", "--allowlist",
                    str(Path(__file__).with_name("stubs_allowlist.txt")))
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_parameters_of_overloads(self):
        stub = ast.parse(Path(intarsia.__file__).with_name("__init__.pyi").read_text("ascii"))
        found = {node.name: node for node in ast.walk(stub) if isinstance(node, ast.ClassDef)}

        def names(function):
            return {name for name, parameter in inspect.signature(function).parameters.items()
                    if parameter.kind is parameter.KEYWORD_ONLY}
        options = {line.target.id for line in found["_Options"].body}
        self.assertEqual(options, names(intarsia.convert))
        overloads = [node.args for node in found["ExecutionSession"].body
                     if isinstance(node, ast.FunctionDef) and node.name == "run"]
        self.assertEqual({argument.arg for each in overloads for argument in each.kwonlyargs},
                         names(intarsia.ExecutionSession.run))
        self.assertEqual({argument.arg for each in overloads for argument in each.posonlyargs},
                         {"self", "inputs", "output_names", "input_feed", "run_options"})

    def test_values_are_of_the_types_that_they_say(self):
        """stubtest compares names and parameters, not what a call returns or a field holds."""
        stub = ast.parse(Path(intarsia.__file__).with_name("__init__.pyi").read_text("ascii"))
        classes = {node.name: node for node in ast.walk(stub) if isinstance(node, ast.ClassDef)}
        aliases = {"_Shape": "tuple", "_Result": "list"}

        def named(annotation):
            while isinstance(annotation, ast.Subscript):
                annotation = annotation.value
            name = annotation.attr if isinstance(annotation, ast.Attribute) else annotation.id
            return aliases.get(name, name)

        def check(value, annotation, where):
            kinds = {each.__name__ for each in type(value).__mro__}
            self.assertIn(named(annotation), kinds, where)

        session = intarsia.ExecutionSession(support.unary("Neg", shape=[2]))
        calls = 0
        for node in classes["ExecutionSession"].body:
            if not isinstance(node, ast.FunctionDef) or isinstance(node.returns, (ast.Constant, ast.BinOp)):
                continue
            given = node.args
            required = len(given.posonlyargs) + len(given.args) - len(given.defaults)
            if node.name.startswith("__") or required != 1 or any(each is None for each in given.kw_defaults):
                continue
            found = getattr(session, node.name)
            check(found() if callable(found) else found, node.returns, node.name)
            calls += 1
        self.assertGreater(calls, 10)
        profile = session.profile(session.fill_input_debug(), runs=1)
        for value in (session.inputs[0], session.get_inputs()[0], profile, profile.nodes[0]):
            fields = [line for line in classes[type(value).__name__].body if isinstance(line, ast.AnnAssign)]
            self.assertEqual([line.target.id for line in fields], list(value._fields))
            for line in fields:
                check(getattr(value, line.target.id), line.annotation, f"{type(value).__name__}.{line.target.id}")

    def test_what_a_checker_accepts_and_refuses(self):
        file = support.FOLDER / "checked.py"
        file.write_text(GOOD, encoding="ascii")
        done = mypy("mypy", "--strict", str(file))
        self.assertEqual(done.returncode, 0, done.stdout)
        file.write_text(BAD, encoding="ascii")
        found = {int(line.split(":")[1]) for line in mypy("mypy", str(file)).stdout.splitlines()
                 if ": error:" in line}
        self.assertEqual(found, set(range(3, 9)))


if __name__ == "__main__":
    unittest.main()
