# SPDX-License-Identifier: Apache-2.0
"""Entry points that compute gradients, from Python; gradients of operators that Python defines."""

import json
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import intarsia
import support
from support import FLOAT

USER_OPERATORS = """
import numpy as np

class user_relu:                 # a backward of its own
    domain = "user"
    inputs = ["x: float32"]
    outputs = ["y"]
    attributes = {"slope": 0.0}
    calls = 0
    def infer(self, inputs):
        return inputs[0]
    def forward(self, args, attributes):
        (x,) = args
        return np.where(x > 0, x, attributes["slope"] * x).astype(np.float32)
    def backward(self, args, attributes):
        x, y, dy = args
        assert not any(each.flags.writeable or each.flags.owndata for each in args)
        return np.where(x > 0, dy, attributes["slope"] * dy).astype(np.float32)

class user_sigmoid:              # a rule of other operators
    domain = "user"
    inputs = ["x: float32"]
    outputs = ["y"]
    gradient = "square = Mul(y, y); slope = Sub(y, square); dx = Mul(slope, dy)"
    def infer(self, inputs):
        return inputs[0]
    def forward(self, args):
        (x,) = args
        return (1 / (1 + np.exp(-x))).astype(np.float32)

class user_product:              # two inputs, two outputs; results and arguments in order
    domain = "user"
    inputs = ["a: float32", "b: float32"]
    outputs = ["product", "sum"]
    def infer(self, inputs):
        return [inputs[0], inputs[0]]
    def forward(self, args):
        a, b = args
        return a * b, a + b
    def backward(self, args):
        a, b, product, sum_, dproduct, dsum = args
        assert np.array_equal(product, a * b) and np.array_equal(sum_, a + b)
        return dproduct * b + dsum, dproduct * a + dsum

class user_failing:
    domain = "user"
    inputs = ["x: float32"]
    outputs = ["y"]
    def infer(self, inputs):
        return inputs[0]
    def forward(self, args):
        return args[0].copy()
    def backward(self, args):
        if args[0][0] < 0:
            raise ValueError("no gradient below zero")
        if args[0][0] == 20:
            args[2][0] = 0
        if args[0][0] == 30:
            return args[2].astype(np.float64)
        return args[2][:1] if args[0][0] > 9 else args[2].copy()

class user_optional:             # an input that may be lacking; None, and a wrong number of gradients
    domain = "user"
    inputs = ["x: float32", "n: int64", "b?: float32"]
    outputs = ["y"]
    def infer(self, inputs):
        return inputs[0]
    def forward(self, args):
        x, n, b = args
        return (x * n + (0 if b is None else b)).astype(np.float32)
    def backward(self, args):
        x, n, b, y, dy = args
        if n < 0:
            return dy if n == -1 else (dy, None)
        return None if n == 0 else (n * dy).astype(np.float32), None, dy if b is not None else None

class user_needs_b:
    domain = "user"
    inputs = ["x: float32", "b?: float32"]
    outputs = ["y"]
    gradient = "dx = Mul(dy, b)"
    def infer(self, inputs):
        return inputs[0]
    def forward(self, args):
        return args[0].copy()

class user_plain:
    domain = "user"
    inputs = ["x: float32"]
    outputs = ["y"]
    def infer(self, inputs):
        return inputs[0]
    def forward(self, args):
        return args[0].copy()
"""


def user_model(nodes, inputs, outputs, initializers=()):
    for node in nodes:
        if node.op_type.startswith("user_"):
            node.domain = "user"
    return support.model(nodes, {name: (FLOAT, shape) for name, shape in inputs.items()},
                         {name: (FLOAT, None) for name in outputs}, initializers)


class Gradients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.file = support.FOLDER / "user_gradients.py"
        cls.file.write_text(USER_OPERATORS)

    def session(self, model, gradients, **options):
        plan = intarsia.convert(model, gradients=gradients, operators=self.file, **options)
        return intarsia.ExecutionSession(plan, operators=self.file)

    def test_ofk_8_backward_in_python(self):
        x = np.array([-2, -1, 0, 1, 2], np.float32)
        dy = np.array([1, 10, 100, 1000, 10000], np.float32)
        for slope in (0.0, 0.5):
            node = helper.make_node("user_relu", ["x"], ["y"], **({"slope": slope} if slope else {}))
            session = self.session(user_model([node], {"x": [5]}, ["y"]), {"y": "x"})
            self.assertEqual(session.entry_points(), ["forward", "backward"])
            np.testing.assert_array_equal(session.run([x])[0], np.where(x > 0, x, slope * x))
            np.testing.assert_array_equal(session.run({"y_grad": dy}, entry="backward")[0],
                                          np.where(x > 0, dy, slope * dy))

    def test_ofk_8_a_rule_of_other_operators(self):
        node = helper.make_node("user_sigmoid", ["x"], ["y"])
        session = self.session(user_model([node], {"x": [1, 10]}, ["y"]), {"y": ["x"]})
        session.run([np.zeros((1, 10), np.float32)])
        dy = np.full((1, 10), 0.2, np.float32)
        np.testing.assert_allclose(session.run([dy], entry="backward")[0], 0.05, rtol=1e-6)

    def test_ofk_8_several_operands(self):
        node = helper.make_node("user_product", ["a", "b"], ["p", "s"])
        model = user_model([node], {"a": [3], "b": [3]}, ["p", "s"])
        session = self.session(model, {"p": ["a", "b"], "s": ["a", "b"]})
        a, b = np.array([1, 2, 3], np.float32), np.array([4, -5, 6], np.float32)
        dp, ds = np.array([1, 10, 100], np.float32), np.array([0.5, 0, 2], np.float32)
        session.run([a, b])
        da, db = session.run({"p_grad": dp, "s_grad": ds}, entry="backward")
        np.testing.assert_array_equal(da, dp * b + ds)
        np.testing.assert_array_equal(db, dp * a + ds)

    def test_ofk_9_a_chain(self):
        """Convolution, operators of the user's, a loss: against central differences."""
        rng = np.random.default_rng(3)
        w = numpy_helper.from_array(rng.standard_normal((2, 2, 3, 3)).astype(np.float32), "w")
        nodes = [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("user_sigmoid", ["c"], ["s"]),
                 helper.make_node("user_relu", ["c"], ["r"], slope=0.1),
                 helper.make_node("user_product", ["s", "r"], ["p", "q"]),
                 helper.make_node("Mul", ["p", "q"], ["t"]), helper.make_node("ReduceMean", ["t"], ["loss"], keepdims=0)]
        session = self.session(user_model(nodes, {"x": [1, 2, 5, 5]}, ["loss"], [w]), {"loss": ["x"]},
                               trainable="w")
        x = rng.standard_normal((1, 2, 5, 5)).astype(np.float32)
        session.run([x])
        found = dict(zip(("x", "w"), session.run([], entry="backward")))
        weights = session.read_state("w")
        for name, value in (("x", x), ("w", weights)):
            for at in list(np.ndindex(value.shape))[::5]:
                losses = []
                for step in (1e-2, -1e-2):
                    moved = value.copy()
                    moved[at] += step
                    session.write_state("w", moved if name == "w" else weights)
                    losses.append(float(session.run([moved if name == "x" else x])[0]))
                self.assertAlmostEqual(found[name][at], (losses[0] - losses[1]) / 2e-2, delta=1e-3)
            session.write_state("w", weights)

    def test_ofk_10_what_has_no_rule_is_named(self):
        node = helper.make_node("user_plain", ["x"], ["y"])
        with self.assertRaisesRegex(intarsia.Error, r"user:user_plain.*no gradient rule"):
            self.session(user_model([node], {"x": [3]}, ["y"]), {"y": "x"})
        with self.assertRaisesRegex(intarsia.Error, "no output 'z'"):
            self.session(user_model([node], {"x": [3]}, ["y"]), {"z": "x"})

    def test_ofk_7_an_exception_in_backward(self):
        node = helper.make_node("user_failing", ["x"], ["y"])
        session = self.session(user_model([node], {"x": [3]}, ["y"]), {"y": "x"})
        def backward(first):
            session.run([np.array([first, 1, 2], np.float32)])
            return session.run([np.ones(3, np.float32)], entry="backward")[0]
        with self.assertRaisesRegex(intarsia.Error, "(?s)Traceback.*no gradient below zero"):
            backward(-1)
        with self.assertRaisesRegex(intarsia.Error, "shape"):
            backward(10)  # OFK-3: extents of a gradient are those of its input
        with self.assertRaisesRegex(intarsia.Error, "(?s)ValueError: .*read-only"):
            backward(20)  # OFK-4
        with self.assertRaisesRegex(intarsia.Error, "user_failing.*expected float32, got float64") as context:
            backward(30)  # OFK-6
        self.assertEqual(context.exception.code, "kWrongType")
        np.testing.assert_array_equal(backward(1), np.ones(3))
        with self.assertRaisesRegex(intarsia.Error, "no run of the entry point that this one continues"):
            session.run([np.ones(3, np.float32)], entry="backward")

    def test_optional_inputs_and_none(self):
        x, b, dy = np.array([[1, 2, 3], [4, 5, 6], [1, 10, 100]], np.float32)
        def session(inputs):
            node = helper.make_node("user_optional", inputs, ["y"], domain="user")
            elements = {"n": TensorProto.INT64}
            model = support.model([node], {name: (elements.get(name, FLOAT), [] if name == "n" else [3])
                                           for name in inputs}, {"y": (FLOAT, None)})
            return self.session(model, {"y": [name for name in inputs if name != "n"]})
        with_b, without = session(["x", "n", "b"]), session(["x", "n"])
        for n in (3, 0):
            for each, given in ((with_b, [x, np.array(n), b]), (without, [x, np.array(n)])):
                y, = each.run(given)
                np.testing.assert_array_equal(y, n * x + (b if each is with_b else 0))
                gradients = each.run([dy], entry="backward")
                np.testing.assert_array_equal(gradients[0], n * dy)
                self.assertEqual(len(gradients), 2 if each is with_b else 1)
                if each is with_b:
                    np.testing.assert_array_equal(gradients[1], dy)
        for n, count in ((-1, 1), (-2, 2)):
            with_b.run([x, np.array(n), b])
            with self.assertRaisesRegex(intarsia.Error, rf"incorrect number of gradients .expected 3, got {count}."):
                with_b.run([dy], entry="backward")
        node = helper.make_node("user_needs_b", ["x"], ["y"])
        with self.assertRaisesRegex(intarsia.Error, r"user_needs_b.*operator Mul lacks input 1 \('B'\)"):
            self.session(user_model([node], {"x": [3]}, ["y"]), {"y": "x"})

    def test_a_file_says_it_once(self):
        twice = support.FOLDER / "said_twice.py"
        twice.write_text(USER_OPERATORS.replace(
            'attributes = {"slope": 0.0}', 'attributes = {"slope": 0.0}\n    gradient = "dx = Neg(dy)"'))
        node = helper.make_node("user_relu", ["x"], ["y"])
        with self.assertRaisesRegex(intarsia.Error, "both backward and gradient"):
            intarsia.convert(user_model([node], {"x": [5]}, ["y"]), operators=twice)

    def test_learning(self):
        """Steps of gradient descent, beside NumPy; flags say the same as options."""
        w = numpy_helper.from_array(np.array([[0.5], [-0.25]], np.float32), "w")
        nodes = [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Sub", ["y", "t"], ["e"]),
                 helper.make_node("Mul", ["e", "e"], ["q"]), helper.make_node("ReduceMean", ["q"], ["loss"], keepdims=0)]
        model = support.model(nodes, {"x": (FLOAT, ["n", 2]), "t": (FLOAT, ["n", 1])},
                              {"loss": (FLOAT, None)}, [w])
        path = support.FOLDER / "learner.onnx"
        path.write_bytes(model.SerializeToString())
        plan = intarsia.convert(model, dims={"n": 8}, gradients={"loss": []}, trainable=["w"])
        session = intarsia.ExecutionSession(plan)
        flagged = intarsia.compile_and_load(path, "--dim n=8 --gradient loss --trainable w")
        rng = np.random.default_rng(1)
        expected = np.array([[0.5], [-0.25]])
        for n in (8, 3, 5, 8):
            x, t = (rng.standard_normal((n, k)).astype(np.float32) for k in (2, 1))
            for each in (session, flagged):
                each.run({"x": x, "t": t}, entry="forward")
                gradient = each.run([], entry="backward")[0]
                each.write_state("w", each.read_state("w") - np.float32(0.1) * gradient)
            expected -= 0.1 * 2 / n * x.T @ (x @ expected - t)
            np.testing.assert_allclose(session.read_state("w"), expected, rtol=1e-5)
            np.testing.assert_array_equal(session.read_state("w"), flagged.read_state("w"))
        # What is learnt goes on in another session, between forward and backward, too.
        other = intarsia.ExecutionSession(plan)
        other.run({"x": x, "t": t}, entry="forward")
        other.write_state("w", session.read_state("w"))
        other.run([], entry="backward")
        for each in (session, other):
            each.run({"x": x, "t": t}, entry="forward")
        for one, two in zip(session.run([], entry="backward"), other.run([], entry="backward")):
            np.testing.assert_array_equal(one, two)
        # Entry points that continue another are measured together with it.
        profile = session.profile([], entry="backward", continued={"x": x, "t": t}, runs=3)
        self.assertEqual({node.calls for node in profile.nodes}, {3})
        self.assertEqual(len(profile.nodes), len(session.inspect()["nodes"]))
        saved = support.FOLDER / "learner.plan"
        saved.write_bytes(plan)
        done = support.subprocess.run(
            [support.COMMAND, "bench", saved, "--entry", "backward", "--seconds", "0", "--json"],
            capture_output=True, text=True, env=support.plain_environment())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertGreater(json.loads(done.stdout)["runs"], 0)
        forward = session.profile({"x": x, "t": t}, entry="forward", runs=3)
        self.assertEqual({node.calls for node in forward.nodes}, {0, 3})
        with self.assertRaisesRegex(TypeError, "'backward' continues a run of 'forward'"):
            session.profile([], entry="backward")
        with self.assertRaisesRegex(TypeError, "'forward' continues no other one"):
            session.profile({"x": x, "t": t}, entry="forward", continued=[])


if __name__ == "__main__":
    unittest.main()
