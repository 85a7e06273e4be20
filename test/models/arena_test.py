# SPDX-License-Identifier: Apache-2.0
"""The arena of every model is close to what its tensors need.

Usage: arena_test.py INTARSIA MODELS [LIMIT]

Compares (arena - metadata) with the peak of live tensors and workspace, unpadded, that `inspect`
reports as lower_bound_bytes; LIMIT is the largest ratio allowed (1.10). A ratio below 1 says that the
bound is none.
"""
import json
import pathlib
import subprocess
import sys


def inputs_of(case):
    """--input options for the first data set; the files carry the tensors' names."""
    import onnx
    for file in sorted((case / "test_data_set_0").glob("input_*.pb")):
        yield "--input"
        yield f"{onnx.load_tensor(str(file)).name}={file}"


def ratio(tool, case):
    options = case / "options.txt"
    command = [tool, "inspect", str(case / "model.onnx"), "--json", *inputs_of(case)]
    command += options.read_text().split() if options.exists() else []
    plan = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return (plan["arena_bytes"] - plan["metadata_bytes"]) / plan["lower_bound_bytes"]


def main():
    tool, models = sys.argv[1], pathlib.Path(sys.argv[2])
    limit = float(sys.argv[3]) if len(sys.argv) > 3 else 1.10
    cases = sorted(path.parent for path in models.glob("*/model.onnx"))
    if not cases:
        sys.exit(f"arena_test.py: no model under '{models}'")
    ratios = {case.name: ratio(tool, case) for case in cases}
    verdicts = {name: "   above the limit" if value > limit else "   below its bound" if value < 1
                else "" for name, value in ratios.items()}
    for name, value in ratios.items():
        print(f"{name:40} {value:.3f}{verdicts[name]}")
    sys.exit(any(verdicts.values()))


if __name__ == "__main__":
    main()
