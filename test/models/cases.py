# SPDX-License-Identifier: Apache-2.0
"""Test cases in the layout of ONNX's backend tests, with outputs of ONNX Runtime.

    CASE/model.onnx
    CASE/test_data_set_<s>/input_<i>.pb, output_<i>.pb
    CASE/options.txt      options of `intarsia convert`, when the case needs any
    CASE/tolerance.json   {"rtol": 0, "atol": 1e-4 of the output's scale}
    CASE/stamp            hash of everything that the case is made from

A case that could not catch a wrong kernel is refused: see check().
"""

import hashlib
import importlib.metadata
import json
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
RELATIVE_TOLERANCE = 1e-4


def source_key():
    """A hash of the scripts of this folder and of the versions of the packages behind them."""
    digest = hashlib.sha256()
    for path in sorted(HERE.glob("*.py")) + sorted(HERE.glob("*.txt")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    for package in ("numpy", "onnx", "onnxruntime"):
        digest.update(importlib.metadata.version(package).encode())
    debian = subprocess.run(["dpkg-query", "-W", "python3-torch", "python3-torchvision",
                             "alsa-utils"], capture_output=True, text=True, check=True)
    digest.update(debian.stdout.encode())
    return digest.hexdigest()


def session(model, optimise=False):
    """A session on a path or on the bytes of a model; unoptimised, so that every node runs."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = (
        levels.ORT_ENABLE_ALL if optimise else levels.ORT_DISABLE_ALL)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _is_float(array):
    return array.dtype.kind == "f"


def check(name, sets, optimised, minimum_change):
    """Refuses a case that accepts wrong outputs or rejects right ones; returns its tolerance.

    `sets` holds the outputs of every data set, `optimised` those of ONNX Runtime's optimised
    session. For every floating-point output: all finite; its scale, the largest magnitude over
    all sets, lies in [0.01, 100]; some set differs from the first one by at least `minimum_change`
    of the scale; and the optimised session agrees within half the tolerance, which an
    ill-conditioned network does not.
    """
    import numpy

    def refuse(reason):
        raise SystemExit(f"make_models: case {name} is refused as a test: {reason}")

    tolerance = float("inf")
    for index, first in enumerate(sets[0]):
        if not _is_float(first):
            continue
        values = [outputs[index] for outputs in sets]
        if not all(numpy.isfinite(value).all() for value in values):
            refuse(f"output {index} is not finite")
        scale = max(float(numpy.abs(value).max()) for value in values)
        if not 0.01 <= scale <= 100:
            refuse(f"the largest magnitude of output {index} is {scale:.3g}, not in [0.01, 100]")
        change = max((float(numpy.abs(value - first).max()) for value in values[1:]
                      if value.shape == first.shape), default=0.0)
        if change < minimum_change * scale:
            refuse(f"output {index} changes by {change / scale:.1%} between inputs, less than "
                   f"{minimum_change:.0%} of its scale {scale:.3g}")
        error = max(float(numpy.abs(value - other[index]).max())
                    for value, other in zip(values, optimised))
        if error > 0.5 * RELATIVE_TOLERANCE * scale:
            refuse(f"output {index} differs by {error / scale:.2g} of its scale between two runs "
                   "of ONNX Runtime, which is more than half the tolerance")
        print(f"    output {index}: {str(first.shape):20} scale {scale:8.4f}  "
              f"change {change / scale:6.1%}  ONNX Runtime against itself {error / scale:.1e}")
        tolerance = min(tolerance, RELATIVE_TOLERANCE * scale)
    return tolerance


class Writer:
    """Writes cases into a folder, and skips those that are up to date."""

    def __init__(self, out, key):
        self.out = pathlib.Path(out)
        self.key = key
        self.names = []

    def wanted(self, name):
        """Whether the case has to be made; every case is announced through this function."""
        self.names.append(name)
        stamp = self.out / name / "stamp"
        return not (stamp.exists() and stamp.read_text() == self.key)

    def write(self, name, model, feeds, options="", minimum_change=0.1, runner=None):
        """Writes one case from a model (bytes) and one dictionary of inputs per data set.

        With `--fix` the model keeps all its inputs, so `runner` (default: the model itself) says
        how a feed gives outputs; a returned list follows the order of the model's outputs.
        Returns the outputs of every set.
        """
        import onnx.numpy_helper

        print(f"  {name}", flush=True)
        plain = session(model)
        optimised = session(model, optimise=True)
        run = runner or (lambda runtime, feed: runtime.run(None, feed))
        sets = [run(plain, feed) for feed in feeds]
        tolerance = check(name, sets, [run(optimised, feed) for feed in feeds], minimum_change)

        partial = self.out / f".{name}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        (partial / "model.onnx").write_bytes(model)
        outputs = [value.name for value in plain.get_outputs()]
        for number, (feed, results) in enumerate(zip(feeds, sets)):
            folder = partial / f"test_data_set_{number}"
            folder.mkdir()
            # Inputs follow the order of the graph, like the file names of ONNX's own tests.
            order = [value.name for value in plain.get_inputs() if value.name in feed]
            for kind, names, arrays in (("input", order, [feed[key] for key in order]),
                                        ("output", outputs, results)):
                for index, (key, array) in enumerate(zip(names, arrays)):
                    tensor = onnx.numpy_helper.from_array(array, key)
                    (folder / f"{kind}_{index}.pb").write_bytes(tensor.SerializeToString())
        if options:
            (partial / "options.txt").write_text(options + "\n")
        (partial / "tolerance.json").write_text(json.dumps({"rtol": 0, "atol": tolerance}) + "\n")
        self.publish(name, partial)
        return sets

    def publish(self, name, partial):
        """Moves a finished folder into place, so that an interrupted run leaves no half case."""
        (partial / "stamp").write_text(self.key)
        shutil.rmtree(self.out / name, ignore_errors=True)
        partial.rename(self.out / name)

    def prune(self):
        """Removes cases of earlier versions of the scripts that are no longer made."""
        for stamp in self.out.glob("*/stamp"):
            if stamp.parent.name not in self.names and stamp.read_text() != self.key:
                print(f"  removing {stamp.parent.name}, which is no longer made")
                shutil.rmtree(stamp.parent)
