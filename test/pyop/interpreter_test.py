#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which Python an embedded interpreter is: interpreter_test.py COMMAND PLAN OPERATORS_FOLDER PYTHON

The command starts an interpreter of its own for a plan with Python operators. It is the one that
Intarsia was built with, PYTHON, or the one that --pyop-python names, whatever the environment says.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMMAND, PLAN, OPERATORS, PYTHON = sys.argv[1:5]


def bench(*options, folder=OPERATORS, **environment):
    done = subprocess.run([COMMAND, "bench", PLAN, "--seconds", "0.01", "--allow-pyop",
                           "--pyop-path", folder, *options],
                          capture_output=True, text=True, check=False, timeout=60,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout + done.stderr


class Interpreter(unittest.TestCase):
    def setUp(self):
        # pylint: disable=consider-using-with
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        # The plan's module, replaced by one that tells where it runs.
        code = "import sys\nprint('PREFIX', sys.prefix, sys.executable)\nprint('PATH', sys.path)\n"
        module = Path(OPERATORS, "stress_operators.py").read_text(encoding="utf-8")
        self.operators = self.folder / "operators"
        self.operators.mkdir()
        (self.operators / "stress_operators.py").write_text(code + module, encoding="utf-8")
        version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        # A folder that looks as if a Python were installed there, with a broken library.
        self.fake = self.folder / "fake"
        for folder in ("bin", f"lib/{version}/lib-dynload"):
            (self.fake / folder).mkdir(parents=True)
        for name in ("python", "python3", version):
            file = self.fake / "bin" / name
            file.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
            file.chmod(0o755)
        (self.fake / "lib" / version / "os.py").write_text("raise RuntimeError\n", encoding="utf-8")

    def prefix_of(self, output):
        lines = [line.split() for line in output.splitlines() if line.startswith("PREFIX")]
        self.assertEqual(len(lines), 1, output)
        return lines[0][1:]

    def test_the_environment_does_not_choose(self):
        expected = subprocess.run([PYTHON, "-c", "import sys; print(sys.prefix)"], text=True,
                                  capture_output=True, check=True).stdout.strip()
        misleading = [
            {"PATH": f"{self.fake}/bin:{os.environ['PATH']}"},
            {"PATH": ""},
            {"PYTHONHOME": str(self.fake)},
            {"PYTHONPATH": str(self.fake / "lib"), "PYTHONSTARTUP": "/no/file"},
            {"LC_ALL": "C", "PYTHONIOENCODING": "nonsense"},
            {"VIRTUAL_ENV": str(self.fake)},
        ]
        for environment in misleading:
            status, output = bench(folder=self.operators, **environment)
            self.assertEqual(status, 0, f"{environment}: {output}")
            self.assertEqual(self.prefix_of(output), [expected, PYTHON], environment)
            self.assertNotIn(str(self.fake), output)

    def test_an_option_chooses(self):
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", "--system-site-packages",
                        self.folder / "venv"], check=True)
        chosen = self.folder / "venv" / "bin" / "python"
        for name in (chosen, os.path.relpath(chosen)):
            status, output = bench("--pyop-python", name, folder=self.operators)
            self.assertEqual(status, 0, output)
            self.assertEqual(self.prefix_of(output)[0], str(self.folder / "venv"))
        status, output = bench("--pyop-python", str(self.folder / "none"))
        self.assertNotEqual(status, 0)
        self.assertIn(f"there is no interpreter '{self.folder}/none'", output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
