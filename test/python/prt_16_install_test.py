# SPDX-License-Identifier: Apache-2.0
"""PRT-16: a wheel of the source tree, repaired as for publishing, in a fresh environment: it brings what
it needs but the C and C++ libraries, is imported without any path set, and converts and runs, operators
written in Python included.

And the short way: a build tree's own folder, which compiles nothing.

Packages come from the test environment through a .pth file, and CMake's build folder is the one of
this test run, so that only what the package adds is compiled.
"""

import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import time
import unittest
import venv
import zipfile
from pathlib import Path

import numpy as np
import onnx
from elftools.elf.elffile import ELFFile
from onnx import helper

import support

SOURCE = Path(__file__).resolve().parents[2]
PACKAGES = os.environ["INTARSIA_BUILD_PACKAGES"]
# The folder stays as it is: no paths of the fresh environment enter CMake's cache, and the project
# is configured as for this test run, not as for a wheel (SKBUILD).
# The long form of the option: pip 23.0, which Debian 12 has, knows no other.
BUILD_FOLDER = [f"--config-settings={setting}" for setting in (
    f"build-dir={os.environ['INTARSIA_BUILD']}", "cmake.python-hints=false",
    "backport.find-python=0", "cmake.define.SKBUILD=", "cmake.define.CMAKE_PREFIX_PATH=",
    f"cmake.define.CMAKE_INSTALL_PREFIX={os.environ['INTARSIA_PREFIX']}")]

# What every Linux has that runs the wheel at all; beyond these a library lies in the wheel.
SYSTEM = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2",
          "libdl.so.2", "libpthread.so.0"}
MOST_BYTES = 12 << 20

PROGRAM = """
import os
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
allowed = {"allow_pyop": True, "pyop_path": os.path.dirname(sys.argv[4])}
scaled = intarsia.InferenceSession(sys.argv[5], cache=False, **allowed)
print(scaled.run(None, {"x": numpy.ones(2, numpy.float32)})[0].tolist())
for name in ("PyRuntime", "PyCompile", "PyCompileAndRuntime", "PyOMCompile", "onnxmlir", "intarsia_operators"):
    __import__(name)
print(sorted({line.split("/")[-1].strip() for line in open("/proc/self/maps")
              if "protobuf" in line or "libfmt" in line}))
"""
OPERATOR = """
domain, inputs, outputs = "own", ["x"], ["y"]
def infer(inputs):
    return inputs[0]
def forward(inputs):
    return inputs[0] * 7
"""
PYOP = """
class Scale:
    def __init__(self, factor):
        self.factor = factor
    def compute(self, x):
        return x * self.factor
"""


def run(*command, **options):
    environment = {**support.plain_environment(), **options.pop("environment", {})}
    done = subprocess.run([str(word) for word in command], env=environment, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stdout}")
    return done.stdout


def fresh(name):
    """An environment that has the packages of this one, and where its own are."""
    folder = support.FOLDER / name
    venv.create(folder, symlinks=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (site / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder / "bin" / "python", site


def install(python, what):
    return run(sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--no-deps",
               "--disable-pip-version-check", what)


class BuildTree(unittest.TestCase):
    def test_PRT_16_pip_install_of_a_build_tree(self):
        """Nothing is compiled: what is there is installed, for the interpreter that it is for."""
        tree = Path(os.environ["INTARSIA_BUILD"], "python")
        of_tree = [tree.parent / name for name in ("CMakeCache.txt", "build.ninja")]
        before = [file.stat().st_mtime_ns for file in of_tree]
        python, site = fresh("of_tree")
        begin = time.monotonic()
        install(python, tree)
        self.assertLess(time.monotonic() - begin, 60)
        self.assertEqual([file.stat().st_mtime_ns for file in of_tree], before)
        plan = support.unary("Neg", shape=[2])
        lines = run(python, "-c", "import sys, numpy, intarsia, PyRuntime, intarsia_operators; print(intarsia.__file__, "
                    "intarsia.InferenceSession(sys.argv[1], cache=False).run(numpy.ones(2, numpy.float32)))",
                    plan.with_suffix(".onnx"), cwd="/").split(" ", 1)
        self.assertEqual(Path(lines[0]).parent.parent.resolve(), site.resolve())
        self.assertEqual(lines[1].strip(), str([-np.ones(2, np.float32)]))
        shown = run(sys.executable, "-m", "pip", "--python", python, "show", "-f", "intarsia")
        self.assertRegex(shown, r"(?s)Version: [0-9.]+\n.*License: Apache-2.0.*Requires: numpy\n.*intarsia/__init__.pyi")
        run(sys.executable, "-m", "pip", "--python", python, "uninstall", "--yes", "intarsia")
        self.assertFalse((site / "intarsia").exists())
        # A tree that is not built, or for another interpreter.
        bare = support.FOLDER / "bare"
        shutil.copytree(tree, bare, ignore=shutil.ignore_patterns("_native.*.so"))
        with self.assertRaisesRegex(AssertionError, "build the tree first, with -DINTARSIA_PYOP=ON"):
            install(python, bare)
        (bare / "intarsia" / "_native.cpython-30-none.so").touch()
        with self.assertRaisesRegex(AssertionError, "has _native.cpython-30-none.so, but this interpreter needs"):
            install(python, bare)


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        built, repaired = support.FOLDER / "built", support.FOLDER / "repaired"
        run(sys.executable, "-m", "pip", "wheel", "--no-index", "--no-deps", "--no-build-isolation",
            "--disable-pip-version-check", "--wheel-dir", built, *BUILD_FOLDER, SOURCE,
            environment={"PYTHONPATH": PACKAGES})
        wheel, = built.iterdir()
        tools = f"{PACKAGES}/bin{os.pathsep}{os.environ['PATH']}"
        run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", repaired, wheel,
            environment={"PYTHONPATH": PACKAGES, "PATH": tools})
        cls.wheel, = repaired.iterdir()
        print(f"{cls.wheel.name}: {cls.wheel.stat().st_size / 1e6:.1f} MB")

    def test_PRT_16_what_a_wheel_holds(self):
        version = "cp{}{}".format(*sys.version_info)
        serves = "cp312-abi3" if sys.version_info >= (3, 12) else f"{version}-{version}"
        self.assertRegex(self.wheel.name, rf"-{serves}-manylinux_2_[0-9]+_x86_64\.whl$")
        self.assertLess(self.wheel.stat().st_size, MOST_BYTES)
        libraries = {}
        with zipfile.ZipFile(self.wheel) as archive:
            names = set(archive.namelist())
            facts, = [archive.read(name).decode() for name in names if name.endswith(".dist-info/METADATA")]
            self.assertTrue([name for name in names if name.endswith("/LICENSE")])
            for name in names:
                if ".so" in pathlib.PurePath(name).name:
                    dynamic = ELFFile(io.BytesIO(archive.read(name))).get_section_by_name(".dynamic")
                    libraries[pathlib.PurePath(name).name] = {
                        tag.needed for tag in dynamic.iter_tags() if tag.entry.d_tag == "DT_NEEDED"}
        version = re.search(r"project\(Intarsia VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)
        for fact in (f"Version: {version}", "Requires-Dist: numpy>=", "Requires-Python: >=3.11"):
            self.assertIn(f"\n{fact}", facts)
        self.assertGreaterEqual(len(libraries), 2)
        # The file is for the interpreters that the wheel's name promises.
        suffix = ".abi3.so" if "-abi3-" in self.wheel.name else sysconfig.get_config_var("EXT_SUFFIX")
        self.assertIn(f"intarsia/_native{suffix}", names)
        for name, needed in libraries.items():
            self.assertEqual(needed - SYSTEM - set(libraries), set(), name)
        self.assertFalse([name for name in libraries if "python3" in name])  # the process has it
        for name in ("intarsia/py.typed", "intarsia/__init__.pyi", "intarsia/_native.pyi",
                     "PyRuntime/__init__.py", "onnxmlir/__init__.py", "intarsia_operators/__init__.py"):
            self.assertIn(name, names)
        source = {f"intarsia/{file.name}"
                  for file in (SOURCE / "pyop_optional/module/intarsia").glob("*.py*")}
        self.assertEqual(source - names, set())

    def test_PRT_16_pip_install(self):
        python, site = fresh("fresh")
        install(python, self.wheel)

        plan = support.unary("Neg", shape=[2])
        mine = support.FOLDER / "mine.py"
        mine.write_text(OPERATOR, encoding="utf-8")
        mine.with_name("user_scale.py").write_text(PYOP, encoding="utf-8")
        values = {"x": (support.FLOAT, [2])}, {"y": (support.FLOAT, [2])}
        onnx.save(support.model([helper.make_node("mine", ["x"], ["y"], domain="own")], *values),
                  support.FOLDER / "mine.onnx")
        node = helper.make_node("PyOp", ["x"], ["y"], domain="pyop", module="user_scale",
                                class_name="Scale", input_types=[support.FLOAT],
                                output_types=[support.FLOAT], factor=3.0)
        onnx.save(support.model([node], *values), support.FOLDER / "scale.onnx")
        lines = run(python, "-c", PROGRAM, plan, plan.with_suffix(".onnx"),
                    support.FOLDER / "mine.onnx", mine, support.FOLDER / "scale.onnx",
                    cwd="/").splitlines()
        self.assertEqual(Path(lines[0]).parent.parent.resolve(), site.resolve())
        self.assertIn('"x"', lines[1])
        self.assertEqual(lines[2], str([-1.0, 2.0]))
        self.assertEqual(lines[3], str([np.array([-1, -1], np.float32)]))
        self.assertEqual(lines[4], "[7.0, 7.0] True")
        self.assertEqual(lines[5], "[3.0, 3.0]")
        # The wheel's own copies, not those of the machine: auditwheel gives them names of their own.
        self.assertRegex(lines[6], r"^\['libfmt-[0-9a-f]+\..*', 'libprotobuf-lite-[0-9a-f]+\..*'\]$")


if __name__ == "__main__":
    unittest.main()
