# SPDX-License-Identifier: Apache-2.0
"""intarsia.convert: the converter from Python; the same plan as the command's, byte for byte."""

import unittest

import numpy as np
import onnx
from onnx import helper

import intarsia
import support

FLOAT = support.FLOAT


class Convert(unittest.TestCase):
    def setUp(self):
        nodes = [helper.make_node("Mul", ["x", "rate"], ["y"])]
        self.proto = support.model(nodes, {"x": (FLOAT, ["n", 3]), "rate": (FLOAT, [])},
                                   {"y": (FLOAT, None)})
        self.model = support.FOLDER / "convert.onnx"
        onnx.save(self.proto, self.model)
        self.out = support.FOLDER / "convert.out"

    def check(self, model, **options):
        intarsia.convert(model, self.out, **options)
        session = intarsia.ExecutionSession(self.out)
        self.assertEqual([info.name for info in session.inputs], ["x"])
        x = np.ones((2, 3), np.float32)
        np.testing.assert_array_equal(session.run([x])[0], 2.5 * x)

    def test_models_and_options(self):
        self.check(self.model, dims={"n": 4}, fixed={"rate": 2.5})
        self.check(str(self.model), dims={"n": (2, 4)}, fixed={"rate": np.float32(2.5)})
        self.check(self.proto, shapes={"x": (2, 3)}, fixed={"rate": np.array(2.5, np.float32)})
        self.check(self.proto.SerializeToString(), dims={"x@0": 2}, fixed={"rate": "2.5"},
                   target="cortex-m", plan_growth=1.5, strip_names=True)

    def test_values_that_the_plan_is_made_for(self):
        for value in (2.5, np.array(2.5, np.float32)):
            intarsia.convert(self.model, self.out, shapes={"x": (2, 3)}, values={"rate": value})
            session = intarsia.ExecutionSession(self.out)
            self.assertEqual([info.name for info in session.inputs], ["x", "rate"])
            x, rate = np.ones((2, 3), np.float32), np.array(2.5, np.float32)
            np.testing.assert_array_equal(session.run([x, rate])[0], 2.5 * x)
            with self.assertRaisesRegex(intarsia.Error, "not what the plan was made for"):
                session.run([x, rate + 1])

    def test_same_bytes_as_the_command(self):
        intarsia.convert(self.model, self.out, dims={"n": (2, 4)}, threads=2)
        plan = support.convert(self.proto, "--dim", "n=2..4", "--threads", "2")
        self.assertEqual(self.out.read_bytes(), plan.read_bytes())

    def test_seed(self):
        node = helper.make_node("RandomUniform", [], ["y"], shape=[4])
        proto = support.model([node], {}, {"y": (FLOAT, None)})
        plans = []
        for options in ({}, {"seed": 0}, {"seed": 1}):
            intarsia.convert(proto, self.out, **options)
            plans.append(self.out.read_bytes())
        self.assertEqual(plans[0], plans[1])
        self.assertNotEqual(plans[0], plans[2])
        self.assertEqual(plans[2], support.convert(proto, "--seed", "1").read_bytes())

    def test_problems(self):
        with self.assertRaisesRegex(intarsia.Error, "add --dim n=MAX"):
            intarsia.convert(self.model, self.out)
        with self.assertRaisesRegex(intarsia.Error, "missing.onnx"):
            intarsia.convert("missing.onnx", self.out)
        with self.assertRaisesRegex(intarsia.Error, "no such target"):
            intarsia.convert(self.model, self.out, dims={"n": 4}, target="toaster")
        self.assertRaises(intarsia.Error, intarsia.convert, b"no model", self.out)
        self.assertRaises(TypeError, intarsia.convert, self.model, self.out, dims={"n": 1.5})

    def test_a_failure_leaves_the_file_alone(self):
        self.out.write_bytes(b"as it was")
        self.assertRaises(intarsia.Error, intarsia.convert, self.model, self.out)
        self.assertEqual(self.out.read_bytes(), b"as it was")
        self.assertEqual(list(support.FOLDER.glob("*.part")), [])

    def test_a_file_that_cannot_be_replaced_leaves_none_beside_it(self):
        folder = support.FOLDER / "a folder"
        folder.mkdir()
        with self.assertRaises(OSError):
            intarsia.convert(self.model, folder, dims={"n": 4})
        self.assertEqual(list(support.FOLDER.glob("a folder?*")), [])

    def test_threads_of_a_session(self):
        intarsia.convert(self.model, self.out, dims={"n": 4}, threads=2)
        values = [np.ones((4, 3), np.float32), np.array(3, np.float32)]
        for threads in (1, 2):
            session = intarsia.ExecutionSession(self.out, threads=threads)
            np.testing.assert_array_equal(session.run(values)[0], 3 * values[0])
        with self.assertRaisesRegex(intarsia.Error, "threads: expected 2, found 3"):
            intarsia.ExecutionSession(self.out, threads=3)
        self.assertRaises(ValueError, intarsia.ExecutionSession, self.out, threads=0)


if __name__ == "__main__":
    unittest.main()
