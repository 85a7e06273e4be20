# SPDX-License-Identifier: Apache-2.0
"""InferenceSession: a model converted and opened in one step, with the calls of ONNX Runtime, whose own
session runs the same code here."""

import contextlib
import copy
import io
import json
import os
import pickle
import subprocess
import sys
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

import intarsia
import support

FLOAT, INT64 = support.FLOAT, TensorProto.INT64


def two_outputs():
    """y = x - z and w = |x| over a symbolic batch."""
    nodes = [helper.make_node("Sub", ["x", "z"], ["y"]), helper.make_node("Abs", ["x"], ["w"])]
    return support.model(nodes, {"x": (FLOAT, ["batch", 3]), "z": (FLOAT, [3])},
                         {"y": (FLOAT, ["batch", 3]), "w": (FLOAT, ["batch", 3])})


class Inference(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ["INTARSIA_CACHE_DIR"] = str(support.FOLDER / "kept")
        cls.proto = two_outputs()
        cls.block = cls.proto.SerializeToString()
        cls.path = support.FOLDER / "two.onnx"
        onnx.save(cls.proto, cls.path)
        cls.options = {"dims": {"batch": (1, 4)}}
        cls.plan = support.FOLDER / "two.plan"
        intarsia.convert(cls.proto, cls.plan, **cls.options)
        cls.x = np.array([[1, -2, 3], [-4, 5, -6]], np.float32)
        cls.z = np.array([1, 1, 2], np.float32)
        cls.reference = onnxruntime.InferenceSession(cls.block)

    def session(self, model=None, **options):
        return intarsia.InferenceSession(self.path if model is None else model,
                                         **{**self.options, **options})

    def check(self, session):
        y, w = session.run(None, {"x": self.x, "z": self.z})
        np.testing.assert_array_equal(y, self.x - self.z)
        np.testing.assert_array_equal(w, np.abs(self.x))

    def test_a_model_in_every_form(self):
        odd = support.FOLDER / "model called.plan"
        odd.write_bytes(self.block)
        for cache in (True, False):
            for model in (self.path, str(self.path), odd, self.block, bytearray(self.block),
                          memoryview(self.block), io.BytesIO(self.block), self.proto,
                          {"main": self.path}):
                self.check(self.session(model, cache=cache))
        with open(self.path, "rb") as file:
            self.check(self.session(file))

    def test_a_plan_in_every_form(self):
        block = self.plan.read_bytes()
        odd = support.FOLDER / "plan called.onnx"
        odd.write_bytes(block)
        for session_class in (intarsia.InferenceSession, intarsia.ExecutionSession):
            for plan in (self.plan, str(self.plan), odd, block, bytearray(block), memoryview(block),
                         io.BytesIO(block)):
                self.check(session_class(plan))
            with open(self.plan, "rb") as file:
                self.check(session_class(file))
        self.assertEqual(intarsia.convert(self.path, **self.options), block)
        with open(self.path, "rb") as file:
            self.assertEqual(intarsia.convert(file, **self.options), block)

    def test_bytes_are_copied(self):
        block = bytearray(self.plan.read_bytes())
        before = sys.getrefcount(block)
        session = intarsia.ExecutionSession(block)
        self.assertEqual(sys.getrefcount(block), before)
        block[:] = bytes(len(block))
        self.check(session)

    def test_the_calls_of_onnx_runtime(self):
        session = self.session(providers=["CPUExecutionProvider"])
        feed = {"x": self.x, "z": self.z}
        for names in (None, ["y", "w"], ["w", "y"], ["w"], ["y"], ["w", "w"]):
            expected = self.reference.run(names, feed)
            for found in (session.run(names, feed), session.run(names, feed, None),
                          session.run(output_names=names, input_feed=feed),
                          session.run(names, [self.x, self.z]),
                          session.run([self.x, self.z], output_names=names)):
                self.assertEqual(len(found), len(expected))
                for one, other in zip(found, expected):
                    np.testing.assert_array_equal(one, other)
        for ours, theirs in ((session.get_inputs(), self.reference.get_inputs()),
                             (session.get_outputs(), self.reference.get_outputs())):
            self.assertEqual([(port.name, port.type, list(port.shape)) for port in ours],
                             [(port.name, port.type, port.shape) for port in theirs])
        self.assertEqual(session.get_providers(), ["CPUExecutionProvider"])

    def test_out_and_chosen_outputs(self):
        session = self.session()
        w = np.zeros((4, 3), np.float32)
        found, = session.run(["w"], {"x": self.x, "z": self.z}, out={"w": w})
        np.testing.assert_array_equal(found, np.abs(self.x))
        self.assertTrue(np.shares_memory(found, w))
        # What is not asked for is not written either.
        w[:] = 7
        session.run(["y"], {"x": self.x, "z": self.z}, out={"w": w})
        np.testing.assert_array_equal(w, np.full((4, 3), 7))

    def test_types_as_onnx_runtime_writes_them(self):
        for element in (FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT8,
                        TensorProto.UINT8, TensorProto.INT16, TensorProto.UINT16, TensorProto.INT32,
                        TensorProto.UINT32, INT64, TensorProto.UINT64, TensorProto.BOOL,
                        TensorProto.STRING, TensorProto.BFLOAT16, TensorProto.FLOAT8E4M3FN,
                        TensorProto.FLOAT8E5M2, TensorProto.FLOAT8E4M3FNUZ,
                        TensorProto.FLOAT8E5M2FNUZ, TensorProto.INT4, TensorProto.UINT4):
            proto = support.model([helper.make_node("Identity", ["x"], ["y"])],
                                  {"x": (element, [2])}, {"y": (element, [2])}, opset=21)
            try:
                theirs = onnxruntime.InferenceSession(proto.SerializeToString()).get_inputs()[0].type
            except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
                theirs = f"tensor({TensorProto.DataType.Name(element).lower()})"
            ours = intarsia.InferenceSession(proto, cache=False).get_inputs()[0].type
            self.assertEqual(ours, theirs)

    def test_wrong_calls(self):
        session, feed = self.session(), {"x": self.x, "z": self.z}
        for call in (lambda: session.run(None), lambda: session.run(None, None),
                     lambda: session.run(None, feed, object()), lambda: session.run("y", feed),
                     lambda: session.run(None, feed, None, None), lambda: session.run(),
                     lambda: session.run(feed, input_feed=feed),
                     lambda: session.run(None, feed, output_names=["y"])):
            self.assertRaises(TypeError, call)
        with self.assertRaisesRegex(intarsia.Error, "no output 'v'; its outputs are 'y', 'w'"):
            session.run(["v"], feed)
        with self.assertRaisesRegex(intarsia.Error, r"got 1 \(missing: 'z'\)"):
            session.run(None, {"x": self.x})

    def test_wrong_sources(self):
        with self.assertRaisesRegex(TypeError, "open as text"):
            self.session(io.StringIO("x"))
        for wrong in (5, None, ["two.onnx"]):
            with self.assertRaisesRegex(TypeError, "a model is a path, bytes or a file"):
                intarsia.InferenceSession(wrong)
        with self.assertRaisesRegex(intarsia.Error, "missing.onnx"):
            intarsia.InferenceSession("missing.onnx")
        with self.assertRaisesRegex(intarsia.Error, "add --dim batch=MAX"):
            intarsia.InferenceSession(self.path)
        pipe = support.FOLDER / "pipe"
        os.mkfifo(pipe)
        with self.assertRaisesRegex(intarsia.Error, "not a regular file"):
            intarsia.InferenceSession(pipe)
        with self.assertRaisesRegex(intarsia.Error, "the plan: .*not a plan"):
            intarsia.ExecutionSession(self.block)
        with self.assertRaisesRegex(TypeError, "no option 'dim'; its options are dims"):
            intarsia.InferenceSession(self.path, dim={"batch": 4})
        with self.assertRaisesRegex(TypeError, "two.plan is a plan; dims is an option of a conv"):
            self.session(self.plan)
        for provider in ("CUDAExecutionProvider", ("CUDAExecutionProvider", {})):
            with self.assertRaisesRegex(intarsia.Error, "pass 'CPUExecutionProvider'"):
                self.session(providers=[provider])
        self.assertRaises(TypeError, self.session, sess_options=object())
        for options in ({"provider_options": [{"device_id": 1}]},
                        {"providers": [("CPUExecutionProvider", {"use_arena": "1"})]}):
            self.assertRaises(TypeError, self.session, **options)
        for options in ({"providers": [("CPUExecutionProvider", {})]},
                        {"providers": ["CUDAExecutionProvider", "CPUExecutionProvider"]},
                        {"providers": ["CPUExecutionProvider"], "provider_options": [{}]}):
            self.check(self.session(**options))

    def test_closing(self):
        with self.session() as session:
            self.check(session)
        session.close()
        for call in (lambda: self.check(session), lambda: session.read_state("s"), session.inspect,
                     session.reset_states, lambda: pickle.dumps(intarsia.ExecutionSession(
                         self.plan.read_bytes())) and session.bind([self.x, self.z])):
            self.assertRaises(intarsia.Error, call)
        self.assertEqual(repr(session), f"<intarsia.InferenceSession {str(self.path)!r}, closed>")
        with self.assertRaises(KeyError), self.session() as session:
            raise KeyError("x")
        self.assertRaisesRegex(intarsia.Error, "the session is closed", self.check, session)

    def test_repr(self):
        self.assertEqual(
            repr(self.session()),
            f"<intarsia.InferenceSession {str(self.path)!r}: x f32[batch=1..4, 3], z f32[3] -> "
            "y f32[batch=1..4, 3], w f32[batch=1..4, 3]>")
        self.assertEqual(repr(intarsia.ExecutionSession(self.plan.read_bytes()))[:40],
                         "<intarsia.ExecutionSession 'the plan': x")

    def test_threads(self):
        self.check(self.session(threads=2))
        self.assertEqual(self.session(threads=2).inspect()["threads"], 2)

    def test_pickling_by_path(self):
        with contextlib.chdir(support.FOLDER):
            kept = {name: pickle.dumps(session) for name, session in (
                ("model", intarsia.InferenceSession("two.onnx", **self.options)),
                ("plan", intarsia.ExecutionSession("two.plan", "tag")))}
        for name, block in kept.items():
            self.assertLess(len(block), 1000)
            again = pickle.loads(block)  # in another folder
            self.check(again)
            self.assertIn(name == "model", (isinstance(again, intarsia.InferenceSession),))
        self.check(copy.copy(self.session()))
        moved = support.FOLDER / "moved.plan"
        moved.write_bytes(self.plan.read_bytes())
        block = pickle.dumps(intarsia.ExecutionSession(moved))
        moved.unlink()
        self.assertRaisesRegex(intarsia.Error, "moved.plan", pickle.loads, block)

    def test_pickling_by_bytes(self):
        plan = self.plan.read_bytes()
        for session in (intarsia.ExecutionSession(plan), self.session(self.proto),
                        self.session(self.block, cache=False), self.session({"main": self.path})):
            block = pickle.dumps(session)
            self.assertIn(plan[:64], block)
            again = pickle.loads(block)
            self.assertIs(type(again), type(session))
            self.check(again)
            self.check(pickle.loads(pickle.dumps(again)))

    def test_pickling_keeps_entry_point_and_options(self):
        plan = intarsia.convert({"a": self.proto, "b": self.proto}, threads=2, **self.options)
        session = intarsia.ExecutionSession(plan, use_default_entry_point=False, threads=2)
        again = pickle.loads(pickle.dumps(session))
        self.assertRaisesRegex(intarsia.Error, "Must set an entry point", again.run, [])
        session.set_entry_point("b")
        again = pickle.loads(pickle.dumps(session))
        self.assertEqual(repr(again), repr(session))
        self.check(again)

    def test_pickling_into_another_process(self):
        program = ("import pickle, sys, numpy as np; s = pickle.load(sys.stdin.buffer); "
                   "print(s.run(None, {'x': np.full((1, 3), -2, np.float32), "
                   "'z': np.zeros(3, np.float32)})[1].tolist())")
        done = subprocess.run([sys.executable, "-c", program], input=pickle.dumps(self.session()),
                              stdout=subprocess.PIPE, check=True, cwd="/")
        self.assertEqual(done.stdout.strip(), b"[[2.0, 2.0, 2.0]]")

    def test_profile(self):
        session = self.session()
        profile = session.profile([self.x, self.z], runs=7)
        self.assertEqual((profile.runs, [node.calls for node in profile.nodes]), (7, [7, 7]))
        self.assertEqual({node.operator for node in profile.nodes}, {"Sub", "Abs"})
        square = (FLOAT, [300, 300])
        product = intarsia.InferenceSession(support.model(
            [helper.make_node("MatMul", ["a", "b"], ["c"])], {"a": square, "b": square}, {"c": square}))
        large = product.profile([np.ones((300, 300), np.float32)] * 2, runs=20)
        spent = sum(node.milliseconds for node in large.nodes)
        self.assertTrue(large.milliseconds / 4 < spent < large.milliseconds, large)
        lines = str(profile).splitlines()
        self.assertEqual(len(lines), 3)
        self.assertGreaterEqual(float(lines[1].split()[0]), float(lines[2].split()[0]))
        # Runs outside are not measured, and each profile begins anew.
        session.run([self.x, self.z])
        self.assertEqual([node.calls for node in session.profile([self.x, self.z], runs=1).nodes],
                         [1, 1])
        self.assertRaises(ValueError, session.profile, [self.x, self.z], runs=0)
        with self.assertRaises(intarsia.Error):
            session.profile([self.x])
        self.check(session)

    def test_inspect(self):
        plan = self.session().inspect()
        self.assertEqual(plan["plan_bytes"], self.plan.stat().st_size)
        self.assertEqual([port["name"] for port in plan["entries"][0]["inputs"]], ["x", "z"])
        self.assertEqual(sorted(node["operator"] for node in plan["nodes"]), ["Abs", "Sub"])
        done = subprocess.run([support.COMMAND, "inspect", self.plan, "--json"], check=True,
                              capture_output=True, env=support.plain_environment())
        self.assertEqual(intarsia.ExecutionSession(self.plan).inspect(),
                         json.loads(done.stdout))

    def test_warnings_point_at_the_caller(self):
        old = onnx.helper.make_model(self.proto.graph, ir_version=4,
                                     opset_imports=[helper.make_opsetid("", 6)])
        for call in (lambda: intarsia.convert(old, **self.options),
                     lambda: self.session(old, cache=False)):
            with self.assertWarnsRegex(UserWarning, "operator set 6") as context:
                call()
            self.assertEqual(context.filename, __file__)


if __name__ == "__main__":
    unittest.main()
