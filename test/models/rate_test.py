# SPDX-License-Identifier: Apache-2.0
"""The sampling rate of Silero VAD stays an input of the plan.

Usage: rate_test.py INTARSIA SILERO_VAD.onnx

A plan for 576 samples serves 16 kHz; at 8 kHz it fails with the message that the other branch
contradicts itself at these extents. With --fix sr=16000 that branch and the input are gone.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


def require(condition, message, result):
    if not condition:
        sys.exit(f"rate_test.py: {message}\n{result.stdout}{result.stderr}")


def main():
    tool, model = sys.argv[1], sys.argv[2]
    shapes = ["--shape", "input=1x576", "--shape", "state=2x1x128"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        numpy.save(folder / "input.npy", numpy.zeros((1, 576), numpy.float32))
        numpy.save(folder / "state.npy", numpy.zeros((2, 1, 128), numpy.float32))
        plan = folder / "vad.plan"
        result = run(tool, "convert", model, "-o", plan, *shapes)
        require(result.returncode == 0, "conversion failed", result)
        for rate, good in ((16000, True), (8000, False)):
            numpy.save(folder / "sr.npy", numpy.array(rate, numpy.int64))
            inputs = [f"--input={port}={folder / port}.npy" for port in ("input", "state", "sr")]
            result = run(tool, "run", plan, "--output-dir", folder, *inputs)
            require((result.returncode == 0) == good, f"{rate} Hz: exit {result.returncode}", result)
            message = "branch contradicts itself at the planned extents: node '"
            require(good or message in result.stderr, f"{rate} Hz: no clear message", result)
        result = run(tool, "convert", model, "-o", plan, *shapes, "--fix", "sr=16000")
        require(result.returncode == 0, "conversion with --fix failed", result)
        result = run(tool, "inspect", plan, "--json")
        shown = json.loads(result.stdout)
        inputs = [port["name"] for port in shown["entries"][0]["inputs"]]
        require(inputs == ["input", "state"], f"inputs are {inputs}", result)
        kinds = {node["operator"] for node in shown["nodes"]}
        require("If" not in kinds, "the branch is still there", result)


if __name__ == "__main__":
    main()
