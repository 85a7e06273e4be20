# SPDX-License-Identifier: Apache-2.0
"""How far a conversion is: `progress` of convert and InferenceSession, the line of the command; what ends one."""

import os
import pickle
import pty
import signal
import subprocess
import threading
import time
import unittest

import numpy as np
from onnx import helper

import intarsia
import support
from support import FLOAT

PRESSED = """
import signal
inputs, outputs = ["x"], ["y"]
def infer(inputs):
    signal.raise_signal(signal.SIGINT)
    return inputs[0]
def forward(inputs):
    return inputs[0].copy()
"""
STAGES = ["reading", "inferring", "optimising", "choosing kernels", "planning memory", "writing", "done"]


def small():
    return support.model([helper.make_node("Relu", ["x"], ["y"])], {"x": (FLOAT, [3])}, {"y": (FLOAT, None)})


def large(count=50000):
    """Takes seconds to convert."""
    nodes = [helper.make_node("Sin", [f"v{i}"], [f"v{i + 1}"]) for i in range(count)]
    return support.model(nodes, {"v0": (FLOAT, [3])}, {f"v{count}": (FLOAT, None)}).SerializeToString()


def stages_of(calls):
    return [stage for at, (stage, _) in enumerate(calls) if at == 0 or calls[at - 1][0] != stage]


class Progress(unittest.TestCase):
    def listener(self):
        calls = []
        def listen(stage, fraction):
            self.assertIs(type(stage), str)
            self.assertIs(type(fraction), float)
            calls.append((stage, fraction))
        return calls, listen

    def require_rising(self, calls):
        fractions = [fraction for _, fraction in calls]
        self.assertEqual(fractions, sorted(fractions))
        self.assertEqual((fractions[0], fractions[-1]), (0.0, 1.0))

    def test_stages(self):
        calls, listen = self.listener()
        intarsia.convert(small(), progress=listen)
        self.assertEqual(stages_of(calls), STAGES)
        self.require_rising(calls)

    def test_parts_of_a_stage(self):
        calls, listen = self.listener()
        intarsia.convert(large(), progress=listen)
        self.assertEqual(stages_of(calls), STAGES)
        self.require_rising(calls)
        inside = {fraction for stage, fraction in calls if stage == "choosing kernels"}
        self.assertGreater(len(inside), 3)
        self.assertLess(max(inside), dict(calls[::-1])["planning memory"] + 1e-9)

    def test_entry_points(self):
        calls, listen = self.listener()
        intarsia.convert({"a": small(), "b": small()}, progress=listen)
        self.assertEqual(stages_of(calls), ["reading"] + 2 * STAGES[1:3] + STAGES[3:])
        self.require_rising(calls)

    def test_what_a_listener_raises(self):
        class Enough(BaseException):
            pass
        plan = support.FOLDER / "stopped.plan"
        intarsia.convert(small(), plan)
        before, files = plan.read_bytes(), sorted(os.listdir(support.FOLDER))
        for kind in (Enough, KeyboardInterrupt, ValueError, intarsia.Error):
            for stage in STAGES:
                raised = kind("enough")
                def listen(at, _fraction, raised=raised, stage=stage):
                    if at == stage:
                        raise raised
                with self.subTest(kind=kind, stage=stage), self.assertRaises(kind) as caught:
                    intarsia.convert(small(), plan, seed=7, progress=listen)
                self.assertIs(caught.exception, raised)
                self.assertEqual(plan.read_bytes(), before)
                self.assertEqual(sorted(os.listdir(support.FOLDER)), files)
        intarsia.convert(small(), plan, progress=lambda *_: None)
        self.assertEqual(plan.read_bytes(), before)

    def test_signals(self):
        """Ctrl-C ends a conversion in its midst, listener or not."""
        model = large()
        begin = time.monotonic()
        intarsia.convert(model)
        whole = time.monotonic() - begin
        for progress in (None, lambda *_: None):
            threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
            begin = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                intarsia.convert(model, progress=progress)
                time.sleep(10)  # pragma: no cover; the signal comes in any case
            self.assertLess(time.monotonic() - begin, whole)

    def test_a_signal_in_an_operator(self):
        """It is not taken for a mistake of the operator's shape function."""
        file = support.FOLDER / "pressed.py"
        file.write_text(PRESSED)
        node = helper.make_node("pressed", ["x"], ["y"])
        for shape in (None, [3]):
            model = support.model([node], {"x": (FLOAT, [3])}, {"y": (FLOAT, shape)})
            with self.subTest(shape), self.assertRaises(KeyboardInterrupt):
                intarsia.convert(model, operators=file)
                time.sleep(1)

    def test_kept_plans(self):
        """A listener is no part of what a plan is made of."""
        cache = support.FOLDER / "kept"
        calls, listen = self.listener()
        path = support.FOLDER / "kept.onnx"
        path.write_bytes(small().SerializeToString())
        def stop(stage, _fraction):
            if stage == "writing":
                raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            intarsia.InferenceSession(path, cache=cache, progress=stop)
        self.assertEqual(list(cache.iterdir()), [])
        intarsia.InferenceSession(path, cache=cache, progress=listen)
        self.assertEqual(stages_of(calls), STAGES)
        plan, = cache.iterdir()
        del calls[:]
        session = intarsia.compile_and_load(path, cache=cache, progress=listen)
        self.assertEqual((calls, list(cache.iterdir())), ([], [plan]))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(session)).run([-np.ones(3, np.float32)])[0], np.zeros(3))
        intarsia.InferenceSession(plan, progress=listen)
        self.assertEqual(calls, [])

    def test_a_call_that_is_wrong(self):
        with self.assertRaises(TypeError):
            intarsia.convert(small(), progress=3)
        with self.assertRaisesRegex(intarsia.Error, "Nothing"):  # the model's own problem comes as ever
            intarsia.convert(support.model([helper.make_node("Nothing", ["x"], ["y"])], {"x": (FLOAT, [3])},
                                           {"y": (FLOAT, None)}), progress=lambda *_: None)


SLOW = """
import time
inputs, outputs = ["x"], ["y"]
def infer(inputs):
    time.sleep(0.6)
    return inputs[0]
def forward(inputs):
    return inputs[0].copy()
"""


class Line(unittest.TestCase):
    """Of the command: only where standard error is a terminal, only of what takes longer than a second."""

    def convert(self, model, *options):
        source = support.FOLDER / "line.onnx"
        source.write_bytes(model.SerializeToString())
        ours, theirs = pty.openpty()
        with subprocess.Popen([support.COMMAND, "convert", source, "-o", support.FOLDER / "line.plan", *options],
                              stdout=subprocess.PIPE, stderr=theirs, env=support.plain_environment()) as process:
            os.close(theirs)
            shown = b""
            while True:
                try:
                    part = os.read(ours, 4096)
                except OSError:
                    break
                if not part:
                    break
                shown += part
        os.close(ours)
        return process.returncode, shown.decode()

    def slow(self, *last):
        (support.FOLDER / "slow.py").write_text(SLOW)
        nodes = [helper.make_node("slow", [f"v{i}"], [f"v{i + 1}"]) for i in range(3)] + list(last)
        return support.model(nodes, {"v0": (FLOAT, [3])}, {"v3": (FLOAT, None)})

    def test_a_line_that_goes(self):
        code, shown = self.convert(self.slow(), "--operators", str(support.FOLDER / "slow.py"))
        self.assertEqual(code, 0)
        self.assertRegex(shown, "^(\r\x1b\\[K +[0-9]+ % [a-z ]+)+\r\x1b\\[K$")
        self.assertIn("% inferring", shown)

    def test_a_line_before_an_error(self):
        wrong = helper.make_node("Gemm", ["v3", "v3"], ["w"])
        code, shown = self.convert(self.slow(wrong), "--operators", str(support.FOLDER / "slow.py"))
        self.assertEqual(code, 1)
        self.assertRegex(shown, "^(\r\x1b\\[K +[0-9]+ % [a-z ]+)+\r\x1b\\[Kintarsia: .*Gemm")

    def test_no_line(self):
        code, shown = self.convert(small())
        self.assertEqual((code, shown), (0, ""))
        done = subprocess.run([support.COMMAND, "convert", support.FOLDER / "line.onnx", "-o", support.FOLDER / "l.plan"],
                              capture_output=True, check=True, env=support.plain_environment())
        self.assertEqual(done.stderr, b"")


if __name__ == "__main__":
    unittest.main()
