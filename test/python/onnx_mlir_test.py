# SPDX-License-Identifier: Apache-2.0
"""The modules and names that programs for onnx-mlir import; what each does with a plan."""

import contextlib
import inspect
import io
import json
import os
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

import intarsia
import support

FLOAT = support.FLOAT

# As onnx-mlir's documentation of its runtime has it, word for word.
SAMPLE = """
import numpy as np
from PyRuntime import ExecutionSession

model = 'model.so' # LeNet from ONNX Zoo compiled with onnx-mlir
session = ExecutionSession(model)
print("input signature in json", session.input_signature())
print("output signature in json",session.output_signature())
input = np.full((1, 1, 28, 28), 1, np.dtype(np.float32))
outputs = session.run([input])

for output in outputs:
    print(output.shape)
"""


def digits():
    nodes = [helper.make_node("MaxPool", ["image"], ["p"], kernel_shape=[28, 28]),
             helper.make_node("Expand", ["p", "shape"], ["e"]),
             helper.make_node("Flatten", ["e"], ["prediction"])]
    shape = helper.make_tensor("shape", TensorProto.INT64, [4], [1, 10, 1, 1])
    return support.model(nodes, {"image": (FLOAT, [1, 1, 28, 28])}, {"prediction": (FLOAT, [1, 10])},
                         [shape])


class Runtime(unittest.TestCase):
    def run_sample(self, text):
        printed = io.StringIO()
        with contextlib.chdir(support.FOLDER), contextlib.redirect_stdout(printed):
            exec(text, {})  # pylint: disable=exec-used
        return printed.getvalue()

    def test_the_documented_program(self):
        support.convert(digits(), path=support.FOLDER / "model.so")
        expected = ('input signature in json [    { "type" : "f32" , "dims" : [1 , 1 , 28 , 28] , '
                    '"name" : "image" }\n\n]\n'
                    'output signature in json [   { "type" : "f32" , "dims" : [1 , 10] , '
                    '"name" : "prediction" }\n\n]\n(1, 10)\n')
        self.assertEqual(self.run_sample(SAMPLE), expected)
        self.assertEqual(self.run_sample(SAMPLE.replace("ExecutionSession", "OMExecutionSession")),
                         expected)

    def test_debugging(self):
        path = support.convert(digits())
        session = intarsia.OMExecutionSession(str(path))
        self.assertEqual(list(inspect.signature(session.run_debug).parameters),
                         ["inputs", "with_signal_handler", "force_output_data_copy"])
        self.assertRaisesRegex(intarsia.Error, "call run_debug", session.print_instrumentation)
        image, = session.fill_input_debug()
        for options in ({}, {"with_signal_handler": True, "force_output_data_copy": True}):
            np.testing.assert_array_equal(session.run_debug([image], **options)[0],
                                          session.run([image])[0])
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            session.print_instrumentation()
        self.assertRegex(printed.getvalue(), r"(?s)ms a run, 1 runs\n.*MaxPool")
        info = json.loads(session.compilation_info())
        self.assertEqual(info["plan_bytes"], path.stat().st_size)
        self.assertEqual(info["nodes"], len(session.inspect()["nodes"]))
        self.assertEqual(session.get_shared_lib_path(), str(path))
        with self.assertRaisesRegex(intarsia.Error, "not read from a file"):
            intarsia.OMExecutionSession(path.read_bytes()).get_shared_lib_path()

    def test_random_inputs(self):
        inputs = {"f": (FLOAT, ["n", 2]), "i": (TensorProto.INT8, ["n"]), "b": (TensorProto.BOOL, [50]),
                  "s": (TensorProto.STRING, [2]), "h": (TensorProto.BFLOAT16, [3]),
                  "c": (TensorProto.COMPLEX64, [2]), "q": (TensorProto.UINT4, [3]), "r": (FLOAT, [])}
        nodes = [helper.make_node("Identity", [name], [f"{name}_"]) for name in inputs]
        session = intarsia.ExecutionSession(support.convert(support.model(
            nodes, inputs, {f"{name}_": (kind, None) for name, (kind, _) in inputs.items()}),
            "--dim", "n=4"))
        first, again = session.fill_input_debug(), session.fill_input_debug(seed=42)
        for info, one, other in zip(session.inputs, first, again):
            self.assertEqual((one.dtype, one.tolist()), (info.dtype, other.tolist()))
        self.assertEqual((first[0].shape, first[2].sum() not in (0, 50)), ((4, 2), True))
        self.assertNotEqual(first[0].tolist(), session.fill_input_debug(seed=1)[0].tolist())
        for shapes in ({0: (2, 2), 1: (2,)}, "0:2x2,1:2"):
            chosen = session.fill_input_debug(shapes, lower=5, upper=300)
            self.assertEqual([chosen[0].shape, chosen[1].shape], [(2, 2), (2,)])
            self.assertTrue(((chosen[0] >= 5) & (chosen[0] < 300)).all() and (chosen[1] >= 5).all())
            for one, other in zip(session.run(chosen), chosen):
                np.testing.assert_array_equal(one, other)
        self.assertRaises(ValueError, session.fill_input_debug, "0=2x2")


class Compiling(unittest.TestCase):
    def setUp(self):
        os.environ["INTARSIA_CACHE_DIR"] = str(support.FOLDER / "kept")
        self.model = support.FOLDER / "double.onnx"
        node = helper.make_node("Add", ["x", "x"], ["y"])
        onnx.save(support.model([node], {"x": (FLOAT, ["n"])}, {"y": (FLOAT, None)}), self.model)
        self.x = np.ones(2, np.float32)

    def check(self, session):
        np.testing.assert_array_equal(session.run([self.x])[0], [2, 2])

    def test_compile_session(self):
        from PyCompile import OMCompileSession
        session = OMCompileSession(str(self.model))
        for flags, name in (("-O3 --dim n=4", "double.plan"),
                            (["--dim", "n=4", "-o", str(support.FOLDER / "named")], "named.plan")):
            self.assertEqual(session.compile(flags), 0)
            self.assertEqual(session.get_error_message(), "")
            self.assertEqual(session.get_compiled_file_name(), str(support.FOLDER / name))
            self.check(intarsia.ExecutionSession(session.get_compiled_file_name()))
        for flags, reason in (("-O3", "add --dim n=MAX"), ("--mcpu=z16", "--mcpu=z16: no flag of a"),
                              ("-o", "-o: its value is missing")):
            self.assertEqual(session.compile(flags), 1)
            self.assertIn(reason, session.get_error_message())
            self.assertEqual(session.get_compiled_file_name(), "")

    def test_compile(self):
        from PyOMCompile import OMCompile
        plan = OMCompile().compile(self.model, "--dim n=4 -O2")
        self.check(intarsia.ExecutionSession(plan))
        with self.assertRaisesRegex(intarsia.Error, "add --dim n=MAX"):
            OMCompile().compile(self.model)

    def test_compile_and_run(self):
        from PyCompileAndRuntime import OMCompileExecutionSession
        for reuse in (0, 1):
            session = OMCompileExecutionSession(str(self.model), "-O3 --dim n=4",
                                                reuse_compiled_model=reuse)
            self.check(session)
            self.assertEqual((session.get_compiled_result(), session.get_error_message(),
                              session.get_compiled_file_name()), (0, "", str(self.model)))
        session = OMCompileExecutionSession(str(self.model), "--dim n=4", 0)
        self.assertRaisesRegex(RuntimeError, "Must set an entry point", session.run, [self.x])
        session.set_entry_point("run_main_graph")
        self.check(session)
        with self.assertRaisesRegex(intarsia.Error, "add --dim n=MAX"):
            OMCompileExecutionSession(str(self.model), "-O3")

    def test_reuse_of_what_was_compiled(self):
        """0 converts whatever is kept; 1 takes the plan that is there, which says here that it was taken."""
        from PyCompileAndRuntime import OMCompileExecutionSession
        kept = support.FOLDER / "reused"
        os.environ["INTARSIA_CACHE_DIR"] = str(kept)
        def result(**options):
            session = OMCompileExecutionSession(str(self.model), "--dim n=4", **options)
            return session.run([self.x])[0].tolist()
        self.assertEqual(result(reuse_compiled_model=0), [2, 2])
        self.assertFalse(kept.exists())
        self.assertEqual(result(reuse_compiled_model=1), [2, 2])
        plan, = kept.iterdir()
        node = helper.make_node("Mul", ["x", "x"], ["y"])
        square = support.model([node], {"x": (FLOAT, ["n"])}, {"y": (FLOAT, None)})
        plan.write_bytes(intarsia.convert(square, dims={"n": 4}))
        for options, expected in (({"reuse_compiled_model": 1}, [1, 1]), ({"reuse_compiled_model": 0}, [2, 2]),
                                  ({}, [1, 1])):
            self.assertEqual(result(**options), expected)
        self.assertEqual(list(kept.iterdir()), [plan])

    def test_inference_session(self):
        import pickle

        import onnxmlir
        session = onnxmlir.InferenceSession(str(self.model), compile_args="-O3 --dim n=4")
        self.check(session)
        self.check(onnxmlir.InferenceSession(self.model, dims={"n": 4}))
        self.check(pickle.loads(pickle.dumps(session)))


if __name__ == "__main__":
    unittest.main()
