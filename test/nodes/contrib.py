# SPDX-License-Identifier: Apache-2.0
"""Operators of ONNX Runtime's domain beside ONNX Runtime itself, at random forms."""

import numpy as np
import onnxruntime
from one_node import Case, run
from onnx import TensorProto, helper

DOMAIN = "com.microsoft"


def contrib_model(operator, inputs, outputs, domain=DOMAIN, constants=(), opset=17, **attributes):
    """A model of one node. `inputs`: arrays by name in the operator's order, None where an optional
    one is absent; `outputs`: ONNX types in that order, None likewise. Those in `constants` are
    initialisers."""
    names = [name if x is not None else "" for name, x in inputs.items()]
    while names and not names[-1]:
        names.pop()
    results = [f"y{i}" if kind is not None else "" for i, kind in enumerate(outputs)]
    node = helper.make_node(operator, names, results, domain=domain, **attributes)
    given = {name: x for name, x in inputs.items() if x is not None}
    def info(name, x):
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
    graph = helper.make_graph(
        [node], "test", [info(name, x) for name, x in given.items() if name not in constants],
        [helper.make_tensor_value_info(name, kind, None)
         for name, kind in zip(results, outputs, strict=True) if kind is not None],
        [helper.make_tensor(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape,
                            x.tobytes(), raw=True) for name, x in given.items() if name in constants])
    return helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", opset), helper.make_opsetid(DOMAIN, 1)])


def in_runtime(model, inputs):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1  # DynamicQuantizeLSTM would quantise the states of each thread on their own
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {name: np.asarray(x) for name, x in inputs.items()})


class ContribCase(Case):
    def beside(self, operator, inputs, outputs=(TensorProto.FLOAT,), tolerance=1e-5, exact=False,
               constants=(), reference=None, **attributes):
        """Runs the node here and in ONNX Runtime; returns what was found here. `reference`: inputs
        that mean the same, for ONNX Runtime, where it does not take these."""
        def given(which):
            return {name: x for name, x in which.items() if x is not None and name not in constants}
        model = contrib_model(operator, inputs, outputs, constants=constants, **attributes)
        theirs = model if reference is None else contrib_model(
            operator, reference, outputs, constants=constants, **attributes)
        shapes = {name: (x.shape, x.dtype.name) for name, x in inputs.items() if x is not None}
        with self.subTest(operator, shapes=shapes, constants=constants, **attributes):
            expected = in_runtime(theirs, given(inputs if reference is None else reference))
            found = run(model, given(inputs))
            self.assertIsInstance(found, list, found)
            if exact:
                for a, b in zip(found, expected, strict=True):
                    self.assertEqual(a.dtype, b.dtype)
                    np.testing.assert_array_equal(a, b)
            else:
                self.agree(found, expected, tolerance)
            return found

    def alone(self, operator, inputs, first, **attributes):
        """The first output is the same where a node has no other."""
        model = contrib_model(operator, inputs, (helper.np_dtype_to_tensor_dtype(first.dtype),), **attributes)
        with self.subTest(operator, outputs=1, **attributes):
            self.agree(run(model, {name: x for name, x in inputs.items() if x is not None}), [first])
