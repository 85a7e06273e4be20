# SPDX-License-Identifier: Apache-2.0
"""PYOP-22: operators as decorated functions, the cases of onnxruntime-extensions' test_pyops among them;
strings in Python operators."""

import itertools
import sys
import unittest

import numpy as np
from onnx import TensorProto, helper

import intarsia
import support

FLOAT, DOUBLE, STRING = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.STRING
INT32, INT64 = TensorProto.INT32, TensorProto.INT64
_numbers = itertools.count()

HEAD = "import numpy as np\nfrom intarsia_operators import onnx_op, PyCustomOpDef\n"
CASES = HEAD + """
@onnx_op(op_type="PyReverseMatrix", inputs=[PyCustomOpDef.dt_float], outputs=[PyCustomOpDef.dt_float])
def reverse_matrix(x):
    return np.flip(x, axis=0).astype(np.float32)

@onnx_op(op_type="PyAddEpsilon", inputs=[PyCustomOpDef.dt_double], outputs=[PyCustomOpDef.dt_double])
def add_epsilon(x):
    return x + 1e-3

@onnx_op(op_type="PyNegPos", inputs=[PyCustomOpDef.dt_float],
         outputs=[PyCustomOpDef.dt_float, PyCustomOpDef.dt_float])
def negpos(x):
    neg, pos = x.copy(), x.copy()
    neg[x > 0] = 0
    pos[x < 0] = 0
    return neg, pos

@onnx_op(op_type="PyOpJoin", inputs=[PyCustomOpDef.dt_string], outputs=[PyCustomOpDef.dt_string],
         attrs=["sep"])
def join(x, sep):
    return np.array([sep.join(row) for row in x], dtype=object)

@onnx_op(op_type="CustomOpOne", inputs=[PyCustomOpDef.dt_float, PyCustomOpDef.dt_float])
def custom_one(x, y):
    return np.add(x, y)

@onnx_op(op_type="CustomOpTwo", outputs=[PyCustomOpDef.dt_int32])
def custom_two(f):
    return np.round(f).astype(np.int32)

@onnx_op()
def default_of_all(x):
    return 2 * x

@onnx_op(op_type="own::Scaled", inputs=[PyCustomOpDef.dt_int64], outputs=[PyCustomOpDef.dt_int64],
         attrs={"by": PyCustomOpDef.dt_int64, "add": PyCustomOpDef.dt_float,
                "label": PyCustomOpDef.dt_string})
def scaled(x, by, add, label):
    assert type(by) is int and type(add) is float and label == "n"
    return x * by + int(add)

@onnx_op(op_type="::Wide", attrs={"by": PyCustomOpDef.dt_int32, "add": PyCustomOpDef.dt_double})
def wide(x, by, add):
    assert type(by) is int and type(add) is float
    return x * by + np.float32(add)

@onnx_op(inputs=[PyCustomOpDef.dt_string], outputs=[PyCustomOpDef.dt_int64])
def lengths(texts):
    assert texts.dtype == object and all(type(text) is str for text in texts.ravel())
    return np.array([len(text) for text in texts.ravel()], np.int64).reshape(texts.shape)

@onnx_op(inputs=[PyCustomOpDef.dt_string], outputs=[PyCustomOpDef.dt_string])
def same(texts):
    return texts

@onnx_op(inputs=[PyCustomOpDef.dt_int64], outputs=[PyCustomOpDef.dt_string])
def written(n):
    return {0: "zero", 1: b"one", 2: np.array("two"), 3: np.array(b"three"), 4: 4,
            5: np.array(["too", "many"]), 6: "x" * 100000}[int(n)]
"""


class OnnxOp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.file = support.FOLDER / "decorated.py"
        cls.file.write_text(CASES, encoding="utf-8")

    def session(self, op, inputs, outputs, domain="ai.onnx.contrib", options=None, **attributes):
        """Of one node; `inputs` and `outputs`: (type, shape)."""
        names, results = [f"x{i}" for i in range(len(inputs))], [f"y{i}" for i in range(len(outputs))]
        node = helper.make_node(op, names, results, domain=domain, **attributes)
        proto = support.model([node], dict(zip(names, inputs)), dict(zip(results, outputs)))
        return intarsia.InferenceSession(proto, operators=self.file, cache=False, **(options or {}))

    def test_PYOP_22_reverse_matrix(self):
        session = self.session("PyReverseMatrix", [(FLOAT, [3, 2])], [(FLOAT, [3, 2])])
        x = np.arange(6, dtype=np.float32).reshape(3, 2)
        np.testing.assert_array_equal(session.run([x])[0], x[::-1])

    def test_PYOP_22_add_epsilon(self):
        session = self.session("PyAddEpsilon", [(DOUBLE, [3])], [(DOUBLE, [3])])
        x = np.array([0, 1, 1.5])
        np.testing.assert_array_equal(session.run([x])[0], x + 1e-3)

    def test_PYOP_22_neg_pos(self):
        session = self.session("PyNegPos", [(FLOAT, [2, 2])], [(FLOAT, [2, 2])] * 2)
        x = np.array([[0, -1.5], [2, -3]], np.float32)
        neg, pos = session.run([x])
        np.testing.assert_array_equal(neg, [[0, -1.5], [0, -3]])
        np.testing.assert_array_equal(pos, [[0, 0], [2, 0]])

    def test_PYOP_22_join(self):
        # The extents are not declared: a trial on empty strings tells them.
        for shape in ([1], None):
            session = self.session("PyOpJoin", [(STRING, [1, 2])], [(STRING, shape)], sep=";")
            self.assertEqual(session.run([np.array([["a", "b"]])])[0].tolist(), ["a;b"])
            self.assertEqual(session.run([np.array([["\u00e4" * 9, ""]])])[0].tolist(),
                             ["\u00e4" * 9 + ";"])

    def test_PYOP_22_one_and_two(self):
        names = {"a": (FLOAT, [3]), "b": (FLOAT, [3])}
        nodes = [helper.make_node("CustomOpOne", ["a", "b"], ["s"], domain="ai.onnx.contrib"),
                 helper.make_node("CustomOpTwo", ["s"], ["y"], domain="ai.onnx.contrib")]
        session = intarsia.InferenceSession(
            support.model(nodes, names, {"y": (INT32, [3])}), operators=self.file)
        a, b = np.array([1, 2, 3], np.float32), np.array([0.6, -0.6, 0.2], np.float32)
        y, = session.run([a, b])
        self.assertEqual((y.dtype, y.tolist()), (np.int32, [2, 1, 3]))

    def test_PYOP_22_names_and_defaults(self):
        session = self.session("default_of_all", [(FLOAT, [2])], [(FLOAT, [2])])
        self.assertEqual(session.run([np.ones(2, np.float32)])[0].tolist(), [2, 2])
        values = {"by": 3, "add": 2.0, "label": "n"}
        session = self.session("Scaled", [(INT64, [2])], [(INT64, [2])], "own", **values)
        self.assertEqual(session.run([np.array([1, 2])])[0].tolist(), [5, 8])
        # Of ONNX's own domain; the wider types' attributes are the same.
        session = self.session("Wide", [(FLOAT, [2])], [(FLOAT, [2])], "", by=3, add=2.0)
        self.assertEqual(session.run([np.array([1, 2], np.float32)])[0].tolist(), [5, 8])
        for missing in values:
            rest = {name: value for name, value in values.items() if name != missing}
            with self.assertRaisesRegex(intarsia.Error, f'attribute "{missing}" is required'):
                self.session("Scaled", [(INT64, [2])], [(INT64, [2])], "own", **rest)
        with self.assertRaisesRegex(intarsia.Error, 'attribute "by" must be an integer'):
            self.session("Scaled", [(INT64, [2])], [(INT64, [2])], "own", **{**values, "by": 3.0})
        with self.assertRaisesRegex(intarsia.Error, "PyAddEpsilon"):
            self.session("PyAddEpsilon", [(FLOAT, [2])], [(FLOAT, [2])])
        with self.assertRaisesRegex(intarsia.Error, "own:PyAddEpsilon"):
            self.session("PyAddEpsilon", [(DOUBLE, [2])], [(DOUBLE, [2])], "own")

    def test_PYOP_22_a_decorated_function_is_still_one(self):
        self.session("default_of_all", [(FLOAT, [2])], [(FLOAT, [2])])
        self.assertEqual(sys.modules["decorated"].default_of_all(4), 8)
        self.assertEqual(sys.modules["decorated"].join(x=[["a", "b"]], sep="-").tolist(), ["a-b"])

    def test_PYOP_22_in_the_command_s_interpreter(self):
        # It knows the package's modules only if it brings them itself.
        node = helper.make_node("PyOpJoin", ["x"], ["y"], domain="ai.onnx.contrib", sep=";")
        proto = support.model([node], {"x": (STRING, [1, 2])}, {"y": (STRING, None)})
        plan = support.convert(proto, "--operators", str(self.file))
        session = intarsia.ExecutionSession(plan, operators=self.file)
        self.assertEqual(session.run([np.array([["a", "b"]])])[0].tolist(), ["a;b"])

    def test_PYOP_22_wrong_declarations(self):
        for text, reason in (("inputs=PyCustomOpDef.dt_float", "a list of types"),
                             ("outputs=[99]", "99, which is no type"),
                             ("attrs={'a': PyCustomOpDef.dt_bool}", "attribute 'a' has type 9")):
            file = support.FOLDER / f"wrong_{next(_numbers)}.py"
            file.write_text(f"{HEAD}@onnx_op({text})\ndef f(x):\n    return x\n", encoding="utf-8")
            with self.assertRaisesRegex(intarsia.Error, reason):
                intarsia.convert(b"", operators=file)
        file = support.FOLDER / "wrong_kind.py"
        file.write_text(f"{HEAD}@onnx_op(inputs=[PyCustomOpDef.dt_bfloat16], outputs="
                        "[PyCustomOpDef.dt_bfloat16])\ndef f(x):\n    return x\n", encoding="utf-8")
        node = helper.make_node("f", ["x"], ["y"], domain="ai.onnx.contrib")
        proto = support.model([node], {"x": (TensorProto.BFLOAT16, [2])},
                              {"y": (TensorProto.BFLOAT16, [2])})
        with self.assertRaisesRegex(intarsia.Error, "bfloat16, for which Python has no elements"):
            intarsia.convert(proto, operators=file)

    def test_PYOP_22_every_type(self):
        file = support.FOLDER / "every_type.py"
        file.write_text(HEAD + """
for name, number in vars(PyCustomOpDef).items():
    if not name.startswith("dt_"):
        continue
    def body(x, name=name):
        assert x.dtype == np.dtype({"float": "float32", "double": "float64", "string": "object"}.get(name[3:], name[3:]))
        return x[::-1]
    body.__name__ = "reverse_" + name
    globals()[body.__name__] = onnx_op(inputs=[number], outputs=[number])(body)
""", encoding="utf-8")
        intarsia.convert(support.model([helper.make_node("Neg", ["x"], ["y"])], {"x": (FLOAT, [2])},
                                       {"y": (FLOAT, [2])}), operators=file)
        definitions = vars(sys.modules["intarsia_operators"].PyCustomOpDef)
        types = {name[3:]: number for name, number in definitions.items() if name.startswith("dt_")}
        # All that ONNX had when onnxruntime-extensions made these names.
        self.assertEqual(types, {name.lower(): number for name, number in TensorProto.DataType.items()
                                 if 1 <= number <= TensorProto.BFLOAT16})
        self.assertEqual(definitions["undefined"], TensorProto.UNDEFINED)
        for name, number in types.items():
            with self.subTest(name):
                node = helper.make_node(f"reverse_dt_{name}", ["x"], ["y"], domain="ai.onnx.contrib")
                proto = support.model([node], {"x": (number, [3])}, {"y": (number, None)})
                if number == TensorProto.BFLOAT16:
                    with self.assertRaisesRegex(intarsia.Error, "reverse_dt_bfloat16.*bfloat16, for which Python has no elements"):
                        intarsia.convert(proto, operators=file)
                    continue
                dtype = helper.tensor_dtype_to_np_dtype(number)
                x = np.array(["a", "", "b"], object) if name == "string" else np.array([1, 0, 3], dtype)
                y, = intarsia.InferenceSession(proto, operators=file, cache=False).run([x])
                self.assertEqual((y.dtype, y.tolist()), (x.dtype, x[::-1].tolist()))
                # The other types are not taken for it.
                for other in {FLOAT, INT32} - {number}:
                    wrong = support.model([node], {"x": (other, [3])}, {"y": (number, None)})
                    with self.assertRaisesRegex(intarsia.Error, "which the operator does not allow"):
                        intarsia.convert(wrong, operators=file)

    def test_strings_in(self):
        for shape in ([2, 3], [], [0]):
            axes = ["a", "b"][:len(shape)]
            session = self.session("lengths", [(STRING, axes)], [(INT64, axes)],
                                   options={"shapes": {"x0": shape}})
            texts = np.empty(shape, object)
            texts[...] = "\u00e4bc"
            np.testing.assert_array_equal(session.run([texts])[0], np.full(shape, 3))

    def test_strings_there_and_back(self):
        session = self.session("same", [(STRING, [4])], [(STRING, [4])])
        texts = ["", "a\0b", "gr\u00fc\u00df", b"\xff\xfe".decode("utf-8", "surrogateescape")]
        for _ in range(3):  # each run begins with an empty pool
            self.assertEqual(session.run([np.array(texts, object)])[0].tolist(), texts)

    def test_strings_out(self):
        session = self.session("written", [(INT64, [])], [(STRING, [])])
        for number, text in enumerate(("zero", "one", "two", "three")):
            self.assertEqual(session.run([np.array(number)])[0].item(), text)
        for number, reason in ((4, "expected strings, got an object of type int"),
                               (5, r"expected \[\], got \[2\]")):
            with self.assertRaisesRegex(intarsia.Error, reason):
                session.run([np.array(number)])
        with self.assertRaises(intarsia.Error) as context:
            session.run([np.array(6)])
        self.assertEqual(context.exception.code, "kTooManyCharacters")
        self.assertEqual(session.run([np.array(0)])[0].item(), "zero")

    def test_strings_of_a_pyop(self):
        (support.FOLDER / "upper.py").write_text(
            "class Upper:\n    def compute(self, x):\n        return [[t.upper() for t in x]]\n",
            encoding="utf-8")
        node = helper.make_node("PyOp", ["x"], ["y"], domain="p", module="upper", class_name="Upper",
                                input_types=[STRING], output_types=[STRING])
        proto = support.model([node], {"x": (STRING, ["n"])}, {"y": (STRING, ["n"])})
        session = intarsia.InferenceSession(proto, dims={"n": (0, 3)}, allow_pyop=True,
                                            pyop_path=support.FOLDER)
        for texts in (["a", "bc"], [], ["x", "y", "z"]):
            self.assertEqual(session.run([np.array(texts, object)])[0].tolist(),
                             [text.upper() for text in texts])


if __name__ == "__main__":
    unittest.main()
