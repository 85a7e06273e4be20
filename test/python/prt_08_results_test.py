# SPDX-License-Identifier: Apache-2.0
"""PRT-8: results are arrays of their own; `out=` takes them without a copy."""

import gc
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import intarsia
import support

FLOAT = support.FLOAT


class Results(unittest.TestCase):
    def test_PRT_8_outlive_the_session_and_the_next_run(self):
        # The second plan has results whose shape varies: they take another way out of the arena.
        for shape, options in (([512, 64], ()), (["n", 64], ("--dim", "n=512"))):
            session = intarsia.ExecutionSession(support.unary("Neg", shape=shape, options=options))
            x = np.random.default_rng(5).normal(0, 1, (512, 64)).astype(np.float32)
            first, = session.run([x])
            second, = session.run([x + 1])
            self.assertFalse(np.shares_memory(first, second))
            np.testing.assert_array_equal(first, -x)
            first += 1  # its own memory: writable, and no part of the session
            third, = session.run([x])
            np.testing.assert_array_equal(third, -x)
            del session
            gc.collect()
            filler = [np.ones((512, 64), np.float32) for _ in range(8)]
            np.testing.assert_array_equal(second, -(x + 1))
            np.testing.assert_array_equal(third, -x)
            del filler

    def test_PRT_8_an_output_given_twice(self):
        nodes = [helper.make_node("Neg", ["x"], ["y"]), helper.make_node("Identity", ["y"], ["z"])]
        session = intarsia.ExecutionSession(support.convert(support.model(
            nodes, {"x": (FLOAT, [3])}, {"y": (FLOAT, [3]), "z": (FLOAT, [3])})))
        y, z = session.run([np.ones(3, np.float32)])
        self.assertFalse(np.shares_memory(y, z))
        np.testing.assert_array_equal([y, z], -np.ones((2, 3)))
        out = [np.zeros(3, np.float32), np.zeros(3, np.float32)]
        session.run([np.ones(3, np.float32)], out=out)
        np.testing.assert_array_equal(out, -np.ones((2, 3)))

    def test_PRT_8_an_output_that_is_an_input(self):
        session = intarsia.ExecutionSession(support.unary("Identity", shape=[3]))
        x, out = np.arange(3, dtype=np.float32), np.zeros(3, np.float32)
        y, = session.run([x], out=[out])
        self.assertIs(y, out)
        np.testing.assert_array_equal(y, [0, 1, 2])
        self.assertFalse(np.shares_memory(session.run([x])[0], x))

    def test_PRT_8_out(self):
        nodes = [helper.make_node("Neg", ["x"], ["y"]), helper.make_node("Abs", ["x"], ["z"])]
        session = intarsia.ExecutionSession(support.convert(support.model(
            nodes, {"x": (FLOAT, [2, 3])}, {"y": (FLOAT, None), "z": (FLOAT, None)})))
        x = np.array([[1, -2, 3], [-4, 5, -6]], np.float32)
        out = np.zeros((2, 3), np.float32)
        for given, position in (([None, out], 1), ({"z": out}, 1), ([out, None], 0),
                                ({"y": out}, 0)):
            results = session.run([x], out=given)
            self.assertIs(results[position], out)
            np.testing.assert_array_equal(results, [-x, np.abs(x)])
        # The next run without it leaves it alone.
        out[:] = 7
        session.run([x])
        np.testing.assert_array_equal(out, np.full((2, 3), 7))
        # The inputs may be the outputs' memory: inputs are copied.
        same = x.copy()
        results = session.run([same], out=[same, None])
        np.testing.assert_array_equal(results, [-x, np.abs(x)])

    def test_PRT_8_out_of_an_output_that_varies(self):
        session = intarsia.ExecutionSession(
            support.unary("Neg", shape=["n", 3], options=["--dim", "n=4"]))
        out = np.zeros((4, 3), np.float32)
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        y, = session.run(x, out=out)
        np.testing.assert_array_equal(y, -x)
        self.assertTrue(np.shares_memory(y, out))
        full, = session.run(np.ones((4, 3), np.float32), out=out)
        self.assertIs(full, out)

    def test_PRT_8_out_that_is_no_memory_for_kernels(self):
        """Elements of less than a byte; an entry point whose outputs another one reads."""
        session = intarsia.ExecutionSession(support.convert(support.model(
            [helper.make_node("Cast", ["x"], ["y"], to=TensorProto.INT4), helper.make_node("Neg", ["x"], ["z"])],
            {"x": (FLOAT, [3])}, {"y": (TensorProto.INT4, [3]), "z": (FLOAT, [3])})))
        x, out = np.array([1, -8, 7], np.float32), [np.full(3, 99, np.int8), np.zeros(3, np.float32)]
        y, z = session.run([x], out=out)
        self.assertTrue(y is out[0] and z is out[1])
        np.testing.assert_array_equal([y, z], [x, -x])
        plan = intarsia.convert(support.model([helper.make_node("Exp", ["x"], ["y"])], {"x": (FLOAT, [3])},
                                              {"y": (FLOAT, [3])}), gradients={"y": "x"})
        session = intarsia.ExecutionSession(plan)
        out = np.zeros(3, np.float32)
        self.assertIs(session.run([x], out=[out])[0], out)
        np.testing.assert_allclose(out, np.exp(x), rtol=1e-6)
        out[:] = 0  # what is the caller's is not read again
        np.testing.assert_allclose(session.run([np.ones(3, np.float32)], entry="backward")[0], np.exp(x), rtol=1e-6)

    def test_PRT_8_out_that_does_not_fit(self):
        session = intarsia.ExecutionSession(support.unary("Neg", shape=[2, 3], names=("x", "hue")))
        x = np.ones((2, 3), np.float32)
        good = np.zeros((2, 3), np.float32)
        frozen = good.copy()
        frozen.flags.writeable = False
        misaligned = np.frombuffer(bytearray(25), np.uint8)[1:].view(np.float32).reshape(2, 3)
        for bad, part in ((good.astype(np.float64), "float32, not float64"),
                          (np.zeros((3, 2), np.float32), r"shape \(2, 3\)"),
                          (np.zeros((2, 3), np.float32, order="F"), "C-contiguous"),
                          (np.zeros((4, 3), np.float32)[::2], "C-contiguous"),
                          (frozen, "writable"), (misaligned, "aligned"),
                          (np.zeros((2, 3), ">f4"), "float32, not >f4")):
            with self.assertRaisesRegex(intarsia.Error, f"output 0, 'hue' needs .*{part}"):
                session.run([x], out=[bad])
        self.assertRaises(TypeError, session.run, [x], out=[[0.0] * 6])
        self.assertRaises(TypeError, session.run, [x], out="hue")
        self.assertRaisesRegex(intarsia.Error, "1 outputs .* 2 arrays", session.run, [x],
                               out=[good, good.copy()])
        self.assertRaisesRegex(intarsia.Error, "no output 'gray'", session.run, [x],
                               out={"gray": good})
        varies = intarsia.ExecutionSession(
            support.unary("Neg", shape=["n", 3], options=["--dim", "n=4"]))
        with self.assertRaisesRegex(intarsia.Error, "room for 12 elements"):
            varies.run([x], out=[good])

    def test_PRT_8_out_arrays_that_overlap(self):
        nodes = [helper.make_node("Neg", ["x"], ["y"]), helper.make_node("Abs", ["x"], ["z"])]
        session = intarsia.ExecutionSession(support.convert(support.model(
            nodes, {"x": (FLOAT, [3])}, {"y": (FLOAT, None), "z": (FLOAT, None)})))
        memory = np.zeros(5, np.float32)
        with self.assertRaisesRegex(intarsia.Error, "arrays of output 0, 'y' and output 1, 'z' overlap"):
            session.run([np.ones(3, np.float32)], out=[memory[:3], memory[2:]])
        with self.assertRaisesRegex(intarsia.Error, r"2 outputs \('y', 'z'\), but 1 arrays"):
            session.run([np.ones(3, np.float32)], out=[memory[:3]])

    def test_PRT_8_an_array_is_written_by_its_own_run_only(self):
        # Where the shape varies, a run without `out` writes to the session's own memory.
        session = intarsia.ExecutionSession(
            support.unary("Neg", shape=["n", 3], options=["--dim", "n=2"]))
        out = np.zeros((2, 3), np.float32)
        x = np.ones((2, 3), np.float32)
        for given in (out, None, out):
            out[:] = 7
            result, = session.run([x], out=[given])
            np.testing.assert_array_equal(result, -x)
            np.testing.assert_array_equal(out, 7 * x if given is None else -x)
        # Nor does a run that has failed leave it behind.
        node = helper.make_node("Div", ["a", "b"], ["c"])
        integers = (TensorProto.INT32, ["n"])
        session = intarsia.ExecutionSession(support.convert(support.model(
            [node], {"a": integers, "b": integers}, {"c": (TensorProto.INT32, None)}),
            "--dim", "n=2"))
        six, out = np.array([6, 6], np.int32), np.zeros(2, np.int32)
        with self.assertRaises(intarsia.Error):
            session.run([six, 0 * six], out=[out])
        out[:] = 7
        np.testing.assert_array_equal(session.run([six, six])[0], [1, 1])
        np.testing.assert_array_equal(out, [7, 7])

    def test_PRT_8_after_a_failed_run(self):
        node = helper.make_node("Div", ["a", "b"], ["c"])
        integers = (TensorProto.INT32, [2])
        session = intarsia.ExecutionSession(support.convert(support.model(
            [node], {"a": integers, "b": integers}, {"c": (TensorProto.INT32, None)})))
        six, zero = np.array([6, 6], np.int32), np.array([3, 0], np.int32)
        out = np.zeros(2, np.int32)
        with self.assertRaisesRegex(intarsia.Error, r"\(Div\): integer divisor") as context:
            session.run([six, zero], out=[out])
        self.assertEqual(context.exception.code, "kDivisionByZero")
        out[:] = 7
        np.testing.assert_array_equal(session.run([six, np.array([3, 2], np.int32)])[0], [2, 3])
        np.testing.assert_array_equal(out, [7, 7])


class States(unittest.TestCase):
    def test_states(self):
        nodes = [helper.make_node("Add", ["x", "sum"], ["total"]),
                 helper.make_node("Identity", ["total"], ["y"])]
        session = intarsia.ExecutionSession(support.convert(
            support.model(nodes, {"x": (FLOAT, [2]), "sum": (FLOAT, [2])},
                          {"y": (FLOAT, None), "total": (FLOAT, None)}), "--state", "total=sum"))
        self.assertEqual([(s.name, s.shape) for s in session.states], [("sum", (2,))])
        self.assertEqual([s.name for s in session.inputs], ["x"])
        x = np.array([1, 2], np.float32)
        session.run([x])
        np.testing.assert_array_equal(session.run([x])[0], 2 * x)
        kept = session.read_state("sum")
        np.testing.assert_array_equal(kept, 2 * x)
        session.reset_states()
        np.testing.assert_array_equal(session.run([x])[0], x)
        session.write_state("sum", kept)
        np.testing.assert_array_equal(session.run([x])[0], 3 * x)
        self.assertRaisesRegex(intarsia.Error, "no state 'mean'", session.read_state, "mean")
        self.assertRaisesRegex(intarsia.Error, "expect 2, but got 3", session.write_state, "sum",
                               np.ones(3, np.float32))

    def test_extents_of_states_are_reset(self):
        zero = numpy_helper.from_array(np.array([0], np.int64), "zero")
        one = numpy_helper.from_array(np.array(1, np.float32), "one")
        nodes = [helper.make_node("Add", ["past", "one"], ["more"]),
                 helper.make_node("Slice", ["more", "zero", "end"], ["next"]),
                 helper.make_node("Identity", ["next"], ["y"])]
        plan = support.convert(
            support.model(nodes, {"end": (TensorProto.INT64, [1]), "past": (FLOAT, ["p"])},
                          {"y": (FLOAT, None), "next": (FLOAT, None)}, [zero, one]),
            "--state", "next=past", "--dim", "p=4")
        session = intarsia.ExecutionSession(plan)

        def run(end):
            return session.run([np.array([end])])[0].tolist()
        self.assertEqual([run(3), run(2), run(4)], [[1, 1, 1], [2, 2], [3, 3]])
        session.reset_states()
        self.assertEqual(run(4), [1, 1, 1, 1])
        # A session goes on where another one has been, whatever the extents are there.
        self.assertEqual(run(3), [2, 2, 2])
        kept = session.read_state("past")
        other = intarsia.ExecutionSession(plan)
        other.write_state("past", kept)
        np.testing.assert_array_equal(other.read_state("past"), kept)
        for each in (session, other):
            self.assertEqual(each.run([np.array([2])])[0].tolist(), [3, 3])
        for wrong in (5, 0):
            self.assertRaises(intarsia.Error, other.write_state, "past", np.ones(wrong, np.float32))


if __name__ == "__main__":
    unittest.main()
