# SPDX-License-Identifier: Apache-2.0
"""`intarsia conformance` passes no case that compares nothing. Usage: conformance_test.py TOOL CASE

CASE is a folder that passes; copies of it lack something.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile


def run(tool, folder):
    done = subprocess.run([tool, "conformance", str(folder)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def main():
    tool, case = sys.argv[1], pathlib.Path(sys.argv[2])
    samples = (
        ("whole", (), 0, "1 passed, 0 failed"),
        ("without data", ("test_data_set_*",), 1, "no test_data_set_*"),
        ("without inputs", ("test_data_set_*/input_*",), 1, "no input_*.pb for input 'x'"),
        ("without outputs", ("test_data_set_*/output_*",), 1, "0 files output_*.pb"),
        ("without a model", ("model.onnx",), 1, "holds no case"),
        ("without anything", ("*",), 1, "holds no case"),
    )
    problems = []
    for title, removed, status, text in samples:
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place) / "case"
            shutil.copytree(case, folder)
            for pattern in removed:
                for path in list(folder.glob(pattern)):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            found, output = run(tool, folder)
        if found != status or text not in output:
            problems.append(f"a case {title}: expected status {status} and '{text}', "
                            f"found {found} and: {output}")
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


main()
