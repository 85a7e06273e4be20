# SPDX-License-Identifier: Apache-2.0
"""OFK-11: operators with a gradient as classes that derive from `Function`, whose forward leaves a context to
their backward."""

import gc
import itertools
import re
import subprocess
import unittest
import weakref

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import intarsia
import support
from support import FLOAT

HEAD = "import numpy as np\nfrom intarsia_operators import Function, PyCustomOpDef, onnx_op\n"
FUNCTIONS = HEAD + """
class Relu(Function):
    domain = "own"
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clip(min=0)
    @staticmethod
    def backward(ctx, dy):
        x, = ctx.saved_tensors
        dx = dy.copy()
        dx[x < 0] = 0
        return dx

class Product(Function):
    domain = "own"
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y
    @staticmethod
    def backward(ctx, dz):
        x, y = ctx.saved_tensors
        return y * dz, x * dz

class ProductAndSum(Function):
    domain, outputs = "own", ["product", "sum"]
    @staticmethod
    def forward(ctx, x, y):
        product, total = x * y, x + y
        ctx.save_for_backward(x, y)
        ctx.mark_non_differentiable(total)
        return product, total
    @staticmethod
    def backward(ctx, dproduct, dsum=None):
        assert dsum is None
        x, y = ctx.saved_tensors
        return y * dproduct, x * dproduct

class AllMarked(Function):
    domain = "own"
    @staticmethod
    def forward(ctx, x):
        y = np.floor(x)
        ctx.mark_non_differentiable(y)
        return y
    @staticmethod
    def backward(ctx, dy):
        raise AssertionError("nothing is to be differentiated")

class Three(Function):
    domain, outputs = "own", ["a", "b", "c"]
    needed = None
    @staticmethod
    def forward(ctx, x, y, z):
        return x.copy(), y.copy(), z.copy()
    @staticmethod
    def backward(ctx, da, db, dc):
        Three.needed = ctx.needs_input_grad
        return da, db, dc

class Scaled(Function):
    domain = "own"
    @staticmethod
    def forward(ctx, x, by=2.0):
        ctx.scale = np.float32(by)
        ctx.part = x[:1]                  # becomes a copy: x is not there behind the call
        ctx.view = memoryview(x)          # likewise
        return ctx.scale * x
    @staticmethod
    def backward(ctx, dy):
        assert ctx.part.shape == (1,) and ctx.part[0] == 1 and not hasattr(ctx, "other")
        assert ctx.view.format == "f" and ctx.view[0] == 1
        return ctx.scale * dy

class NoneForOne(Function):
    domain = "own"
    @staticmethod
    def forward(ctx, x, y, bias=None):
        ctx.save_for_backward(x, bias)
        return x * 3 + y + (0 if bias is None else bias)
    @staticmethod
    def backward(ctx, dz):
        x, bias = ctx.saved_tensors
        return 3 * dz, None, None if bias is None else dz

class WrongCount(Function):
    domain = "own"
    @staticmethod
    def forward(ctx, x, y, z):
        return x + y + z
    @staticmethod
    def backward(ctx, dy):
        return dy, dy

class WrongOne(Function):
    domain = "own"
    @staticmethod
    def forward(ctx, x):
        return x.copy()
    @staticmethod
    def backward(ctx, dy):
        return ()

class Held(Function):
    domain = "own"
    held = None
    @staticmethod
    def forward(ctx, x):
        Held.held = ctx
        ctx.rate = 5
        ctx.save_for_backward(x)
        return x.copy()
    @staticmethod
    def backward(ctx, dy):
        assert ctx is Held.held and ctx.rate == 5
        return dy

class Failing(Function):
    domain = "own"
    @staticmethod
    def forward(ctx, x):
        case = int(x[0])
        if case == 1:
            ctx.save_for_backward(x, 3)
        if case == 2:
            ctx.mark_non_differentiable(x)
        if case == 3:
            return x, x
        if case == 4:
            return ctx.needs_input_grad
        if case == 5:
            ctx.saved_tensors = ()
        if case == 6:
            return ctx.missing
        if case == 7:
            ctx.kept = [x[1:]]            # inside of something: nothing finds it but the loan's end
        if case == 8:
            raise ValueError("no eight")
        ctx.case = case
        return x.copy()
    @staticmethod
    def backward(ctx, dy):
        if ctx.case == 9:
            raise ValueError("no nine in backward")
        if ctx.case == 11:
            dy[0] = 0
        if ctx.case == 12:
            return dy.astype(np.float64)
        return dy[:1] if ctx.case == 10 else dy

class Shaped(Function):
    domain, inputs, outputs = "own", ["x: float32|float64", "n: int64"], ["context", "y: int64"]
    asked = 0
    def infer(self, inputs):
        Shaped.asked += 1
        x, n = inputs
        return (x.dtype, (2, *x.shape)), n
    def forward(self, ctx, x, n):
        ctx.n = int(n[0])
        return np.stack([x, ctx.n * x]), n
    def backward(self, ctx, dcontext, dn):
        return dcontext[0] + ctx.n * dcontext[1], None

class Typed(Function):
    domain, attributes = "own", {"by": int}     # what is written counts, not the default
    @staticmethod
    def forward(ctx, x, by=2.5):
        assert type(by) is int
        return by * x

class Plain(Function):
    domain = "own"
    @staticmethod
    def forward(ctx, x):
        return -x

class Witness:
    pass

class Kept(Function):
    domain = "own"
    witnesses = []
    seen = []
    @staticmethod
    def forward(ctx, x):
        import weakref
        Kept.seen = [each() for each in Kept.witnesses]
        ctx.witness = Witness()
        Kept.witnesses.append(weakref.ref(ctx.witness))
        return x.copy()
    @staticmethod
    def backward(ctx, dy):
        return dy

@onnx_op(op_type="deco::Twice", inputs=[PyCustomOpDef.dt_float], outputs=[PyCustomOpDef.dt_float],
         attrs={"by": PyCustomOpDef.dt_float})
class Decorated(Function):
    @staticmethod
    def forward(ctx, x, by):
        ctx.by = np.float32(by)
        return ctx.by * x
    @staticmethod
    def backward(ctx, dy):
        return ctx.by * dy
"""

_numbers = itertools.count()


def graph(nodes, inputs, outputs, **options):
    for node in nodes:
        if node.op_type[0].isupper() and node.op_type not in ("Add", "Mul", "If", "Loop", "ReduceSum", "Gradient"):
            node.domain = node.domain or "own"
    element = options.pop("elements", {})
    return support.model(nodes, {name: (element.get(name, FLOAT), shape) for name, shape in inputs.items()},
                         {name: (element.get(name, FLOAT), None) for name in outputs}, **options)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, **attributes)


class Functions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.file = support.FOLDER / "own_functions.py"
        cls.file.write_text(FUNCTIONS)

    def session(self, model, gradients=None, **options):
        plan = intarsia.convert(model, gradients=gradients, operators=self.file, **options)
        return intarsia.ExecutionSession(plan, operators=self.file)

    @staticmethod
    def module():
        import own_functions  # pylint: disable=import-error,import-outside-toplevel
        return own_functions

    # What OneFlow tests of its autograd.Function, in graphs that are planned.

    def test_simple_input(self):
        session = self.session(graph([node("Relu", ["x"], ["y"])], {"x": [4, 5]}, ["y"]), {"y": "x"})
        rng = np.random.default_rng(1)
        for _ in range(3):
            x = rng.standard_normal((4, 5)).astype(np.float32)
            np.testing.assert_array_equal(session.run([x])[0], x.clip(min=0))
            dy = rng.standard_normal((4, 5)).astype(np.float32)
            np.testing.assert_array_equal(session.run([dy], entry="backward")[0], np.where(x < 0, 0, dy))

    def test_multi_input(self):
        session = self.session(graph([node("Product", ["x", "y"], ["z"])], {"x": [4, 5], "y": [4, 5]}, ["z"]),
                               {"z": ["x", "y"]})
        x, y, dz = np.random.default_rng(2).standard_normal((3, 4, 5)).astype(np.float32)
        np.testing.assert_array_equal(session.run([x, y])[0], x * y)
        dx, dy = session.run([dz], entry="backward")
        np.testing.assert_array_equal(dx, y * dz)
        np.testing.assert_array_equal(dy, x * dz)

    def test_non_differentiable_outputs(self):
        model = graph([node("ProductAndSum", ["x", "y"], ["p", "s"])], {"x": [3], "y": [3]}, ["p", "s"])
        session = self.session(model, {"p": ["x", "y"], "s": ["x", "y"]})
        x, y = np.array([1, 2, 3], np.float32), np.array([4, -5, 6], np.float32)
        session.run([x, y])
        dp, ds = np.array([1, 10, 100], np.float32), np.full(3, 1000, np.float32)
        dx, dy = session.run({"p_grad": dp, "s_grad": ds}, entry="backward")
        np.testing.assert_array_equal(dx, dp * y)
        np.testing.assert_array_equal(dy, dp * x)
        session = self.session(graph([node("AllMarked", ["x"], ["y"])], {"x": [3]}, ["y"]), {"y": "x"})
        session.run([x])
        np.testing.assert_array_equal(session.run([ds], entry="backward")[0], np.zeros(3))

    def test_inputs_without_gradients(self):
        model = graph([node("Three", ["x", "y", "z"], ["a", "b", "c"])], {n: [2] for n in "xyz"}, ["a", "b", "c"])
        session = self.session(model, {"a": ["x", "z"], "c": ["x", "z"]})
        session.run([np.ones(2, np.float32)] * 3)
        da, dc = np.array([1, 2], np.float32), np.array([3, 4], np.float32)
        dx, dz = session.run({"a_grad": da, "c_grad": dc}, entry="backward")
        np.testing.assert_array_equal(dx, da)
        np.testing.assert_array_equal(dz, dc)
        self.assertEqual(self.module().Three.needed, (True, False, True))

    def test_attributes_of_the_context(self):
        for by, given in ((2.0, {}), (-3.0, {"by": -3.0})):
            session = self.session(graph([node("Scaled", ["x"], ["y"], **given)], {"x": [3]}, ["y"]), {"y": "x"})
            x, dy = np.array([1, 2, 3], np.float32), np.array([1, 10, 100], np.float32)
            np.testing.assert_array_equal(session.run([x])[0], np.float32(by) * x)
            np.testing.assert_array_equal(session.run([dy], entry="backward")[0], np.float32(by) * dy)

    def test_none_for_a_gradient(self):
        x, y, bias, dz = np.random.default_rng(3).standard_normal((4, 2, 3)).astype(np.float32)
        for inputs in (["x", "y"], ["x", "y", "bias"]):
            model = graph([node("NoneForOne", inputs, ["z"])], {name: [2, 3] for name in inputs}, ["z"])
            session = self.session(model, {"z": inputs})
            session.run([x, y, bias][:len(inputs)])
            gradients = session.run([dz], entry="backward")
            np.testing.assert_array_equal(gradients[0], 3 * dz)
            np.testing.assert_array_equal(gradients[1], np.zeros((2, 3)))
            if len(inputs) == 3:
                np.testing.assert_array_equal(gradients[2], dz)

    def test_wrong_number_of_gradients(self):
        model = graph([node("WrongCount", ["x", "y", "z"], ["s"])], {n: [2] for n in "xyz"}, ["s"])
        session = self.session(model, {"s": ["x", "y", "z"]})
        ones = np.ones(2, np.float32)
        session.run([ones] * 3)
        with self.assertRaisesRegex(intarsia.Error, re.escape(
                "WrongCount.backward returned an incorrect number of gradients (expected 3, got 2)")):
            session.run([ones], entry="backward")
        np.testing.assert_array_equal(session.run([ones] * 3)[0], 3 * ones)
        session = self.session(graph([node("WrongOne", ["x"], ["y"])], {"x": [2]}, ["y"]), {"y": "x"})
        session.run([ones])
        with self.assertRaisesRegex(intarsia.Error, re.escape("(expected 1, got 0)")):
            session.run([ones], entry="backward")

    def test_a_context_outside(self):
        session = self.session(graph([node("Held", ["x"], ["y"])], {"x": [2]}, ["y"]), {"y": "x"})
        message = "holds nothing outside of forward and backward"
        for _ in range(2):
            session.run([np.ones(2, np.float32)])
            held = self.module().Held.held
            for use in (lambda c: c.saved_tensors, lambda c: c.rate, lambda c: c.save_for_backward(),
                        lambda c: setattr(c, "rate", 1), lambda c: delattr(c, "rate"),
                        lambda c: c.mark_non_differentiable(), lambda c: c.needs_input_grad):
                with self.assertRaisesRegex(RuntimeError, f"Held {message}"):
                    use(held)
            session.run([np.ones(2, np.float32)], entry="backward")
            with self.assertRaisesRegex(RuntimeError, message):
                held.saved_tensors  # pylint: disable=pointless-statement

    # What plans bring with them.

    def test_the_operator_gradient(self):
        """Gradients in the model itself: two of one node, and of a node in a chain with itself."""
        training = "ai.onnx.preview.training"
        nodes = [node("Relu", ["x"], ["r"]), node("Product", ["r", "x"], ["p"]), node("Product", ["p", "p"], ["q"]),
                 node("Gradient", ["x", "x"], ["dp"], domain=training, xs=["x"], y="p"),
                 node("Gradient", ["x", "x"], ["dq"], domain=training, xs=["x"], y="q")]
        for each in nodes[3:]:
            del each.input[1:]
        model = graph(nodes, {"x": [4]}, ["q", "dp", "dq"])
        model.opset_import.append(helper.make_opsetid(training, 1))
        session = self.session(model)
        for x in (np.array([1, -2, 3, -4], np.float32), np.array([-5, 6, 7, 0.5], np.float32)):
            q, dp, dq = session.run([x])
            p = x.clip(min=0) * x
            np.testing.assert_array_equal(q, p * p)
            np.testing.assert_array_equal(dp, np.where(x < 0, 0, 2 * x))
            np.testing.assert_array_equal(dq, 2 * p * dp)

    def test_nodes_of_one_kind_and_sessions(self):
        """Each node of each session has a context of its own."""
        nodes = [node("Scaled", ["x"], ["a"], by=2.0), node("Scaled", ["x"], ["b"], by=5.0)]
        plan = intarsia.convert(graph(nodes, {"x": ["n"]}, ["a", "b"]), dims={"n": 4}, gradients={"a": "x", "b": "x"},
                                operators=self.file)
        sessions = [intarsia.ExecutionSession(plan, operators=self.file) for _ in range(2)]
        for n, session in enumerate(sessions, 3):
            session.run([np.ones(n, np.float32)])
        for n, session in reversed(list(enumerate(sessions, 3))):
            dy = np.ones(n, np.float32)
            np.testing.assert_array_equal(session.run([dy, 3 * dy], entry="backward")[0], np.full(n, 17))

    def test_a_chain_against_differences(self):
        rng = np.random.default_rng(4)
        w = numpy_helper.from_array(rng.standard_normal((3, 3)).astype(np.float32), "w")
        nodes = [node("Product", ["x", "w"], ["p"]), node("Relu", ["p"], ["r"]),
                 node("NoneForOne", ["p", "x", "r"], ["n"]), node("Mul", ["n", "p"], ["m"]),
                 node("ReduceSum", ["m"], ["loss"], keepdims=0)]
        session = self.session(graph(nodes, {"x": [3, 3]}, ["loss"], initializers=[w]), {"loss": []}, trainable="w")
        x = rng.standard_normal((3, 3)).astype(np.float32)
        session.run([x])
        found, = session.run([], entry="backward")
        weights = session.read_state("w").astype(np.float64)
        for at in np.ndindex(3, 3):
            losses = []
            for step in (1e-4, -1e-4):
                moved = weights.copy()
                moved[at] += step
                p = x * moved
                losses.append(np.sum((3 * p + x + p.clip(min=0)) * p))
            self.assertAlmostEqual(found[at], (losses[0] - losses[1]) / 2e-4, delta=1e-4)

    def test_a_branch(self):
        """The way back through a branch runs a copy of it, and nobody knows that Python says the same again."""
        def branch(op, **attributes):
            return helper.make_graph([node(op, ["x"], ["b"], domain="own", **attributes)], op, [],
                                     [helper.make_tensor_value_info("b", FLOAT, [3])])
        choose = node("If", ["c"], ["y"], then_branch=branch("Scaled", by=4.0), else_branch=branch("Relu"))
        model = graph([choose], {"c": [], "x": [3]}, ["y"], elements={"c": TensorProto.BOOL})
        with self.assertRaisesRegex(intarsia.Error, "'Scaled' .own:Scaled. in a branch has other results each time"):
            self.session(model, {"y": "x"})

    def test_shapes_and_names(self):
        """infer speaks of the operator's own outputs; methods may be ordinary ones; an output may be called context."""
        model = graph([node("Shaped", ["x", "n"], ["y", "m"])], {"x": ["k", 2], "n": [1]}, ["y", "m"],
                      elements={"x": TensorProto.DOUBLE, "y": TensorProto.DOUBLE, "n": TensorProto.INT64,
                                "m": TensorProto.INT64})
        session = self.session(model, {"y": "x"}, dims={"k": (1, 3)})
        self.assertGreater(self.module().Shaped.asked, 0)
        x = np.arange(6.0).reshape(3, 2)
        for k in (3, 1):
            y, m = session.run([x[:k], np.array([3])])
            np.testing.assert_array_equal(y, [x[:k], 3 * x[:k]])
            dy = np.stack([x[:k] + 1, x[:k]])
            np.testing.assert_array_equal(session.run([dy], entry="backward")[0], dy[0] + 3 * dy[1])

    def test_without_a_gradient(self):
        session = self.session(graph([node("Plain", ["x"], ["y"])], {"x": [2]}, ["y"]))
        np.testing.assert_array_equal(session.run([np.ones(2, np.float32)])[0], [-1, -1])
        with self.assertRaisesRegex(intarsia.Error, "own:Plain.*no gradient rule"):
            self.session(graph([node("Plain", ["x"], ["y"])], {"x": [2]}, ["y"]), {"y": "x"})

    def test_lifetime(self):
        """A context lives until the node's next run, and not behind its session; without a backward it does not live."""
        model = graph([node("Kept", ["x"], ["y"])], {"x": [2]}, ["y"])
        witnesses = lambda: [each() for each in self.module().Kept.witnesses]  # pylint: disable=unnecessary-lambda-assignment
        ones = np.ones(2, np.float32)
        session = self.session(model, {"y": "x"})
        self.module().Kept.witnesses.clear()
        for run in range(3):
            session.run([ones])
            session.run([ones], entry="backward")
            self.assertEqual([each is not None for each in witnesses()], [False] * run + [True])
            self.assertEqual(self.module().Kept.seen, [None] * run, "its memory goes before the next one is made")
        session.reset_states()
        self.assertEqual(set(witnesses()), {None})
        session.run([ones])
        self.assertIsNotNone(witnesses()[-1])
        del session
        gc.collect()
        self.assertEqual(set(witnesses()), {None})
        forward = self.session(model)
        forward.run([ones])
        self.assertEqual(set(witnesses()), {None})

    def test_failures(self):
        session = self.session(graph([node("Failing", ["x"], ["y"])], {"x": [2]}, ["y"]), {"y": "x"})
        def forward(case):
            return session.run([np.array([case, 7], np.float32)])[0]
        for case, message in ((1, "expected an array or None as element 1, but got int"),
                              (2, "element 0 is no array that forward returns"), (3, "expected 1 outputs, got 2"),
                              (4, "known in backward only"), (5, "saved_tensors is its own"),
                              (6, "the context of Failing has no attribute 'missing'"),
                              (7, "keeps an input beyond the call"), (8, "(?s)Failing.forward.*Traceback.*no eight")):
            with self.subTest(case), self.assertRaisesRegex(intarsia.Error, message):
                forward(case)
        for case, message in ((9, "(?s)Failing.backward.*Traceback.*no nine in backward"), (10, "shape of a result"),
                              (11, "(?s)ValueError: .*read-only"), (12, "expected float32, got float64")):
            forward(case)
            with self.subTest(case), self.assertRaisesRegex(intarsia.Error, message):
                session.run([np.ones(2, np.float32)], entry="backward")
        forward(0)
        np.testing.assert_array_equal(session.run([np.ones(2, np.float32)], entry="backward")[0], [1, 1])

    def test_contexts_that_a_model_makes_up(self):
        """The number of a context is a tensor: what is none, or another function's, is an error."""
        ones = np.ones(2, np.float32)
        backward = node("Relu_backward", ["x", "c", "dy"], ["dx"])
        model = graph([backward], {"x": [2], "c": [], "dy": [2]}, ["dx"], elements={"c": TensorProto.INT64})
        session = self.session(model)
        for number in (0, -1, 2 ** 62):
            with self.assertRaisesRegex(intarsia.Error, "Relu: there is no context of a run of forward"):
                session.run([ones, np.array(number), ones])
        inputs = {"x": [2], "dy": [2]}
        session = self.session(graph([node("Relu", ["x"], ["y", "c"]), backward], inputs, ["y", "dx"]))
        np.testing.assert_array_equal(session.run([-ones, ones])[1], 0 * ones)
        session = self.session(graph([node("Scaled", ["x"], ["y", "c"]), backward], inputs, ["y", "dx"]))
        with self.assertRaisesRegex(intarsia.Error, "Relu: there is no context of a run of forward"):
            session.run([ones, ones])

    def test_what_a_file_must_say(self):
        for text, message in (
                ("class Any(Function):\n    def forward(ctx, *all): return all[0]", "Any: forward takes \\*all"),
                ("class Any(Function):\n    def forward(ctx, x, **all): return x", "Any: forward takes \\*all"),
                ("class Same(Function):\n    inputs, outputs = ['dy'], ['y']\n    def forward(ctx, dy): return dy\n"
                 "    def backward(ctx, g): return g", "input 'dy' has the name of the gradient of the output 'y'")):
            file = support.FOLDER / f"wrong_functions{next(_numbers)}.py"
            file.write_text(HEAD + text)
            with self.subTest(text), self.assertRaisesRegex(intarsia.Error, message):
                intarsia.convert(graph([node("Any", ["x"], ["y"])], {"x": [2]}, ["y"]), operators=file)

    def test_attributes_that_are_written(self):
        session = self.session(graph([node("Typed", ["x"], ["y"], by=3)], {"x": [2]}, ["y"]))
        self.assertEqual(session.run([np.array([1, 2], np.float32)])[0].tolist(), [3, 6])
        with self.assertRaisesRegex(intarsia.Error, "attribute \"by\" is required"):
            self.session(graph([node("Typed", ["x"], ["y"])], {"x": [2]}, ["y"]))

    def test_the_decorator(self):
        model = graph([node("Twice", ["x"], ["y"], domain="deco", by=2.5)], {"x": [2]}, ["y"])
        session = self.session(model, {"y": "x"})
        session.run([np.ones(2, np.float32)])
        np.testing.assert_array_equal(session.run([np.array([1, 2], np.float32)], entry="backward")[0], [2.5, 5])
        with self.assertRaisesRegex(intarsia.Error, "attribute \"by\" is required"):
            self.session(graph([node("Twice", ["x"], ["y"], domain="deco")], {"x": [2]}, ["y"]))

    def test_by_hand(self):
        functions = self.module()
        x = np.array([1, -1], np.float32)
        for applied in (functions.Relu.apply(x), functions.Relu().apply(x), functions.Relu()(x)):
            np.testing.assert_array_equal(applied, [1, 0])
        np.testing.assert_array_equal(functions.Scaled.apply(x, by=3.0), [3, -3])

    def test_the_command(self):
        """The interpreter that a program starts has the module, too, whatever the working directory has."""
        folder = support.FOLDER / "with_a_folder"
        (folder / "intarsia_operators").mkdir(parents=True)
        plan = support.convert(graph([node("Scaled", ["x"], ["y"])], {"x": [3]}, ["y"]), "--operators", str(self.file),
                               "--gradient", "y=x")
        np.save(folder / "x.npy", np.array([1, 2, 3], np.float32))
        np.save(folder / "dy.npy", np.array([1, 10, 100], np.float32))
        subprocess.run([support.COMMAND, "run", plan, "--operators", self.file, "--entry", "backward", "--input",
                        f"x={folder / 'x.npy'}", "--input", f"y_grad={folder / 'dy.npy'}", "--output-dir", folder],
                       check=True, capture_output=True, env=support.plain_environment(), cwd=folder)
        np.testing.assert_array_equal(np.load(folder / "output_0.npy"), [2, 20, 200])


if __name__ == "__main__":
    unittest.main()
