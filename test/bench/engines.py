# SPDX-License-Identifier: Apache-2.0
"""The engines that the sweep compares. Each opens a model and then runs it on command.

An engine has a `name` and `open(model, feeds, folder)`, which gives a session: `outputs()` computes
every output, `time(seconds, runs)` runs until one of them is used up (at least once) and gives a
`Sample`, `close()` ends it. Whatever goes wrong is a `Failure` whose text says what.

All engines meet the same conditions: inputs and outputs lie in buffers of the caller, in ONNX's
layout, which are made before the clock starts; threads as asked for, none of which spins.
"""

import contextlib
import dataclasses
import json
import math
import subprocess
import time

import numpy
import onnx
import onnx.helper
import onnx.numpy_helper
import onnxruntime


class Failure(Exception):
    """An engine refused a model, failed to run it, or computed something else."""


class Refusal(Failure):
    """A peer refused a model."""


@dataclasses.dataclass
class Sample:
    """Times of the runs of one round, in nanoseconds."""
    runs: int
    minimum: float
    median: float
    p99: float


def timed(run, seconds, runs):
    """A Sample of the calls of `run`, until `seconds` have passed or `runs` are done (0: no limit)."""
    clock, limit, most, times = time.perf_counter_ns, 1e9 * seconds, runs or math.inf, []
    begin = end = clock()
    while not times or (end - begin < limit and len(times) < most):
        start = clock()
        run()
        end = clock()
        times.append(end - start)
    times.sort()
    return Sample(len(times), times[0], times[len(times) // 2], times[len(times) * 99 // 100])


class Intarsia:
    """The program run_plan, one process per model."""

    def __init__(self, runner, threads=1, arguments=(), name="Intarsia"):
        self.name = name
        self.runner = str(runner)
        self.arguments = [*arguments, "--threads", str(threads)]

    def open(self, model, feeds, folder):
        command = [self.runner, str(model), *self.arguments]
        for number, (name, array) in enumerate(feeds.items()):
            path = folder / f"input_{number}.pb"
            path.write_bytes(onnx.numpy_helper.from_array(array, name).SerializeToString())
            command += ["--input", f"{name}={path}"]
        return PlanSession(self.name, command, folder)


class PlanSession:
    def __init__(self, name, command, folder):
        self.name = name
        self.folder = folder
        self.errors = open(folder / "errors.txt", "w+", encoding="utf-8")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True)
        try:
            self.opened = self._answer()
        except Failure:
            self.close()
            raise

    def _answer(self):
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        status = self.process.wait()
        self.errors.seek(0)
        raise Failure(f"{self.name}: exit status {status}: {self.errors.read().strip()}")

    def _tell(self, command):
        with contextlib.suppress(BrokenPipeError):  # the answer, or its absence, says why
            print(command, file=self.process.stdin, flush=True)

    def _ask(self, command):
        self._tell(command)
        return self._answer()

    def outputs(self):
        results = []
        for number, port in enumerate(self._ask(f"outputs {self.folder}")):
            dtype = onnx.helper.tensor_dtype_to_np_dtype(port["type"])
            data = numpy.fromfile(self.folder / f"{number}.bin", dtype)
            results.append(data.reshape(port["extents"]))
        return results

    def time(self, seconds, runs=0):
        self.begin(seconds, runs)
        return self.end()

    def begin(self, seconds, runs):
        self._tell(f"time {seconds} {runs}")

    def end(self):
        answer = self._answer()
        return Sample(answer["runs"], answer["min_ns"], answer["median_ns"], answer["p99_ns"])

    def write_plan(self, path):
        self._ask(f"plan {path}")

    def close(self):
        with contextlib.suppress(BrokenPipeError):  # it may have ended with a command unread
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        self.errors.close()


class AtOnce:
    """As many processes of one thread as `threads` says, each with a run of its own at the same time.

    A sample is the time of a run of the slowest divided by their number: what a run would take that
    its threads share without loss, on what processors and memory give at that moment.
    """

    def __init__(self, runner, threads, arguments=()):
        self.name = f"{threads} runs at once"
        self.engines = [Intarsia(runner, 1, arguments, self.name) for _ in range(threads)]

    def open(self, model, feeds, folder):
        sessions = []
        try:
            for number, engine in enumerate(self.engines):
                own = folder / f"at_once_{number}"
                own.mkdir(exist_ok=True)
                sessions.append(engine.open(model, feeds, own))
        except Failure:
            for session in sessions:
                session.close()
            raise
        return SessionsAtOnce(self.name, sessions)


class SessionsAtOnce:
    def __init__(self, name, sessions):
        self.name = name
        self.sessions = sessions

    def outputs(self):
        return self.sessions[0].outputs()

    def time(self, seconds, runs=0):
        for session in self.sessions:
            session.begin(seconds, runs)
        samples = [session.end() for session in self.sessions]
        parts = [[getattr(sample, field) / len(samples) for sample in samples]
                 for field in ("minimum", "median", "p99")]
        return Sample(min(sample.runs for sample in samples), *map(max, parts))

    def close(self):
        for session in self.sessions:
            session.close()


class OnnxRuntime:
    """The wheel `onnxruntime` in this process: all optimisations, inputs and outputs bound.

    A call from Python costs about two microseconds, which the group `call` shows.
    """

    name = f"ONNX Runtime {onnxruntime.__version__}"

    def __init__(self, threads=1):
        self.threads = threads

    def open(self, model, feeds, folder):
        del folder
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.add_session_config_entry("session.inter_op.allow_spinning", "0")
        # Without instructions for sums of products of bytes (VNNI), those of signed weights saturate otherwise.
        options.add_session_config_entry("session.x64quantprecision", "1")
        try:
            session = onnxruntime.InferenceSession(str(model), options,
                                                   providers=["CPUExecutionProvider"])
            return BoundSession(self.name, session, feeds)
        except Exception as error:  # the package raises classes of its own, without a common base
            raise Refusal(f"{self.name}: {error}") from error


class BoundSession:
    def __init__(self, name, session, feeds):
        self.name = name
        self.session = session
        self.binding = session.io_binding()
        for key, array in feeds.items():
            self.binding.bind_ortvalue_input(key, onnxruntime.OrtValue.ortvalue_from_numpy(array))
        # The first run tells the extents of the outputs, and with them the buffers to bind.
        names = [output.name for output in session.get_outputs()]
        for key in names:
            self.binding.bind_output(key, "cpu")
        session.run_with_iobinding(self.binding)
        arrays = [value.numpy() for value in self.binding.get_outputs()]
        self.binding.clear_binding_outputs()
        self.values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in arrays]
        for key, value in zip(names, self.values):
            self.binding.bind_ortvalue_output(key, value)

    def outputs(self):
        try:
            self.session.run_with_iobinding(self.binding)
        except Exception as error:  # into the buffers of its own first run
            raise Refusal(f"{self.name}: {error}") from error
        return [value.numpy() for value in self.values]

    def time(self, seconds, runs=0):
        run, binding = self.session.run_with_iobinding, self.binding
        return timed(lambda: run(binding), seconds, runs)

    def close(self):
        self.session = self.binding = self.values = None
