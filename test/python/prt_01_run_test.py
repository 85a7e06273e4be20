# SPDX-License-Identifier: Apache-2.0
"""PRT-1: a session over a convolutional network, by both names and each way of calling run."""

import inspect
import json
import unittest

import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

import intarsia
import support


def digits():
    random = np.random.default_rng(1)

    def constant(name, *shape):
        return numpy_helper.from_array(random.normal(0, 0.3, shape).astype(np.float32), name)
    nodes = [
        helper.make_node("Conv", ["image", "w", "b"], ["c"], pads=[2, 2, 2, 2]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[4, 4], strides=[4, 4]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "m", "n"], ["prediction"]),
    ]
    return support.model(
        nodes, {"image": (support.FLOAT, [1, 1, 28, 28])},
        {"prediction": (support.FLOAT, [1, 10])},
        [constant("w", 8, 1, 5, 5), constant("b", 8), constant("m", 392, 10), constant("n", 10)])


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        proto = digits()
        cls.plan = support.convert(proto)
        cls.image = np.random.default_rng(2).random((1, 1, 28, 28), np.float32)
        reference = onnxruntime.InferenceSession(proto.SerializeToString())
        cls.expected = reference.run(None, {"image": cls.image})[0]

    def check(self, outputs):
        self.assertIs(type(outputs), list)
        self.assertEqual(len(outputs), 1)
        self.assertIs(type(outputs[0]), np.ndarray)
        self.assertEqual(outputs[0].dtype, np.float32)
        self.assertEqual(outputs[0].shape, (1, 10))
        np.testing.assert_allclose(outputs[0], self.expected, rtol=1e-4, atol=1e-4)

    def test_PRT_1_the_document_s_form(self):
        self.check(intarsia.ExecutionSession(str(self.plan)).run([self.image]))

    def test_PRT_1_later_names(self):
        session = intarsia.OMExecutionSession(shared_lib_path=str(self.plan), tag="",
                                              use_default_entry_point=True)
        self.check(session.run(input=[self.image]))
        self.check(session.run(inputs=[self.image]))
        self.check(session.run((self.image,)))

    def test_PRT_1_positions_of_the_constructor(self):
        self.check(intarsia.OMExecutionSession(str(self.plan), "tag", True).run([self.image]))
        self.check(intarsia.ExecutionSession(path=self.plan).run([self.image]))
        self.assertEqual(
            list(inspect.signature(intarsia.OMExecutionSession).parameters)[:3],
            ["shared_lib_path", "tag", "use_default_entry_point"])

    def test_PRT_1_the_names_mean_the_same(self):
        self.assertIs(intarsia.ExecutionSession, intarsia.OMExecutionSession)

    def test_PRT_1_wrong_calls(self):
        session = intarsia.ExecutionSession(self.plan)
        for call in (lambda: session.run(), lambda: session.run([self.image], inputs=[self.image]),
                     lambda: session.run("image"), lambda: session.run(None),
                     lambda: intarsia.ExecutionSession(),
                     lambda: intarsia.ExecutionSession(self.plan, path=self.plan),
                     lambda: intarsia.ExecutionSession(str(self.plan), False)):
            self.assertRaises(TypeError, call)

    def test_PRT_1_no_inputs(self):
        node = helper.make_node("Constant", [], ["y"], value_floats=[1.0, 2.0])
        session = intarsia.ExecutionSession(
            support.convert(support.model([node], {}, {"y": (support.FLOAT, [2])})))
        self.assertEqual(json.loads(session.input_signature()), [])
        for values in ([], {}):
            np.testing.assert_array_equal(session.run(values), [[1, 2]])
        out = np.zeros(2, np.float32)
        session.run([], out=[out])
        np.testing.assert_array_equal(out, [1, 2])
        out[:] = 0  # not the plan's own constant
        np.testing.assert_array_equal(session.run([]), [[1, 2]])

    def test_PRT_1_mnist_signatures(self):
        session = intarsia.ExecutionSession(self.plan)
        self.assertEqual(
            session.input_signature(),
            '[    { "type" : "f32" , "dims" : [1 , 1 , 28 , 28] , "name" : "image" }\n\n]')
        self.assertEqual(
            session.output_signature(),
            '[   { "type" : "f32" , "dims" : [1 , 10] , "name" : "prediction" }\n\n]')


if __name__ == "__main__":
    unittest.main()
