# SPDX-License-Identifier: Apache-2.0
"""PRT-16: `pip install` of the source tree into a fresh environment; the package is imported from
there without any path set, and runs, operators written in Python included.

Packages come from the test environment through a .pth file, and CMake's build folder is the one of
this test run, so that only what the package adds is compiled.
"""

import os
import subprocess
import sys
import sysconfig
import unittest
import venv
from pathlib import Path

import numpy as np
import onnx
from onnx import helper

import support

SOURCE = Path(__file__).resolve().parents[2]
# The folder stays as it is: no paths of the fresh environment enter CMake's cache, and the project
# is configured as for this test run, not as for a wheel (SKBUILD).
# The long form of the option: pip 23.0, which Debian 12 has, knows no other.
BUILD_FOLDER = [f"--config-settings={setting}" for setting in (
    f"build-dir={os.environ['INTARSIA_BUILD']}", "cmake.python-hints=false",
    "backport.find-python=0", "cmake.define.SKBUILD=", "cmake.define.CMAKE_PREFIX_PATH=",
    f"cmake.define.CMAKE_INSTALL_PREFIX={os.environ['INTARSIA_PREFIX']}")]

PROGRAM = """
import sys
import numpy
import intarsia
print(intarsia.__file__)
session = intarsia.OMExecutionSession(shared_lib_path=sys.argv[1])
print(session.input_signature().split())
print(session.run([numpy.array([1, -2], numpy.float32)])[0].tolist())
intarsia.convert(sys.argv[2], sys.argv[1] + ".again")
print(intarsia.ExecutionSession(sys.argv[1] + ".again").run(numpy.ones(2, numpy.float32)))
intarsia.convert(sys.argv[3], sys.argv[1] + ".user", operators=sys.argv[4])
user = intarsia.ExecutionSession(sys.argv[1] + ".user", operators=sys.argv[4])
print(user.run(numpy.ones(2, numpy.float32))[0].tolist(), "mine" in sys.modules)
"""
OPERATOR = """
domain, inputs, outputs = "own", ["x"], ["y"]
def infer(inputs):
    return inputs[0]
def forward(inputs):
    return inputs[0] * 7
"""


class Install(unittest.TestCase):
    def test_PRT_16_pip_install(self):
        folder = support.FOLDER / "fresh"
        venv.create(folder, symlinks=True)
        python = folder / "bin" / "python"
        site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
        packages = [sysconfig.get_path("purelib"), os.environ["INTARSIA_BUILD_PACKAGES"]]
        (site / "packages.pth").write_text("\n".join(packages) + "\n", encoding="utf-8")

        done = subprocess.run(
            [sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--no-deps",
             "--no-build-isolation", "--disable-pip-version-check",
             *BUILD_FOLDER, str(SOURCE)],
            env=support.plain_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

        plan = support.unary("Neg", shape=[2])
        mine = support.FOLDER / "mine.py"
        mine.write_text(OPERATOR, encoding="utf-8")
        values = {"x": (support.FLOAT, [2])}, {"y": (support.FLOAT, None)}
        onnx.save(support.model([helper.make_node("mine", ["x"], ["y"], domain="own")], *values),
                  support.FOLDER / "mine.onnx")
        models = [plan, plan.with_suffix(".onnx"), support.FOLDER / "mine.onnx", mine]
        done = subprocess.run([python, "-c", PROGRAM, *models], cwd="/",
                              env=support.plain_environment(), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(Path(lines[0]).parent.parent.resolve(), site.resolve())
        self.assertIn('"x"', lines[1])
        self.assertEqual(lines[2], str([-1.0, 2.0]))
        self.assertEqual(lines[3], str([np.array([-1, -1], np.float32)]))
        self.assertEqual(lines[4], "[7.0, 7.0] True")


if __name__ == "__main__":
    unittest.main()
