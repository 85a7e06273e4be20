# SPDX-License-Identifier: Apache-2.0
"""Other engines that networks.py compares: OpenVINO and ncnn, where their wheels are installed.

    CACHE/venv/bin/python -m pip install -r test/bench/peers.txt

Both are optional: a network that one of them refuses, or computes otherwise, is measured without it.
"""

import importlib.util
import pathlib
import subprocess
import sysconfig

import numpy
from engines import Failure, timed


class OpenVino:
    """The wheel `openvino`: float32 throughout, one stream, outputs in its own buffers."""

    optional = True

    def __init__(self, threads=1):
        import openvino
        self.package = openvino
        self.name = "OpenVINO " + openvino.__version__.split("-")[0]
        self.threads = threads

    def open(self, model, feeds, folder):
        del folder
        core = self.package.Core()
        settings = {"INFERENCE_NUM_THREADS": self.threads, "NUM_STREAMS": 1,
                    "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
        try:
            graph = core.read_model(str(model))
            graph.reshape({name: list(array.shape) for name, array in feeds.items()})
            request = core.compile_model(graph, "CPU", settings).create_infer_request()
            for name, array in feeds.items():
                request.set_tensor(name, self.package.Tensor(array))
            request.infer()
        except Exception as error:  # the package raises classes of its own, without a common base
            text = str(error).strip().splitlines()
            raise Failure(f"{self.name}: {text[-1] if text else type(error).__name__}") from error
        return OpenVinoSession(self.name, request)


class OpenVinoSession:
    def __init__(self, name, request):
        self.name = name
        self.request = request

    def outputs(self):
        self.request.infer()
        return [numpy.array(tensor.data) for tensor in self.request.output_tensors]

    def time(self, seconds, runs=0):
        return timed(self.request.infer, seconds, runs)

    def close(self):
        self.request = None


class Ncnn:
    """The wheel `ncnn`, in float32; its wheel `pnnx` converts. Only networks of one input."""

    optional = True
    name = "ncnn"

    def __init__(self, threads=1):
        import ncnn
        self.package = ncnn
        self.name = f"ncnn {ncnn.__version__}"
        self.threads = threads

    def open(self, model, feeds, folder):
        if len(feeds) != 1:
            raise Failure(f"{self.name}: more than one input is not tried")
        ((_, array),) = feeds.items()
        target = pathlib.Path(folder) / "pnnx"
        target.mkdir()
        copy = target / "model.onnx"
        copy.symlink_to(pathlib.Path(model).resolve())
        shape = "[" + ",".join(map(str, array.shape)) + "]"
        if array.dtype != numpy.float32:
            raise Failure(f"{self.name}: inputs of {array.dtype} are not tried")
        program = pathlib.Path(sysconfig.get_path("scripts")) / "pnnx"
        done = subprocess.run([program, copy, f"inputshape={shape}", "fp16=0"], cwd=target,
                              capture_output=True, text=True)
        files = [target / f"model.ncnn.{end}" for end in ("param", "bin")]
        if done.returncode or not all(file.exists() for file in files):
            raise Failure(f"{self.name}: pnnx does not convert it (exit status {done.returncode})")
        net = self.package.Net()
        net.opt.num_threads = self.threads
        net.opt.openmp_blocktime = 0
        for option in ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic",
                       "use_bf16_storage"):
            setattr(net.opt, option, False)
        if net.load_param(str(files[0])) or net.load_model(str(files[1])):
            raise Failure(f"{self.name}: the converted network does not load")
        return NcnnSession(self, net, array)


class NcnnSession:
    """ncnn has no batch: a first extent of one is left out on the way in and put back."""

    def __init__(self, engine, net, array):
        self.name = engine.name
        self.package = engine.package
        self.net = net
        self.array = numpy.ascontiguousarray(array[0] if array.shape[0] == 1 else array)
        self.input = self.package.Mat(self.array)

    def _run(self):
        extractor = self.net.create_extractor()
        extractor.input(self.net.input_names()[0], self.input)
        results = []
        for name in self.net.output_names():
            status, value = extractor.extract(name)
            if status:
                raise Failure(f"{self.name}: '{name}' is not computed (status {status})")
            results.append(value)
        return results

    def outputs(self):
        return [numpy.array(value)[None] for value in self._run()]

    def time(self, seconds, runs=0):
        return timed(self._run, seconds, runs)

    def close(self):
        self.net = self.input = None


def installed(threads):
    """The peers whose packages this environment has."""
    return [engine(threads) for package, engine in (("openvino", OpenVino), ("ncnn", Ncnn))
            if importlib.util.find_spec(package)]
