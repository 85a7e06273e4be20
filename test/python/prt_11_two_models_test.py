# SPDX-License-Identifier: Apache-2.0
"""PRT-11, PRT-12: models of one file name in one process; tags; entry points."""

import os
import unittest

import numpy as np

import intarsia
import support


def plan_in(folder, op, shape, options=()):
    path = support.FOLDER / folder / "model.plan"
    path.parent.mkdir(exist_ok=True)
    source = support.unary(op, shape=shape, options=options)
    os.replace(source, path)
    return path


class TwoModels(unittest.TestCase):
    def test_PRT_11_of_one_file_name(self):
        first = intarsia.ExecutionSession(plan_in("a", "Neg", [2]))
        second = intarsia.ExecutionSession(plan_in("b", "Abs", ["n", 1], ("--dim", "n=1..4")))
        third = intarsia.ExecutionSession(support.FOLDER / "a" / "model.plan")
        for session, dims, symbols in ((first, "[2]", {}), (second, "[-1 , 1]", {"n": (1, 4)})):
            self.assertIn(dims, session.input_signature())
            self.assertIn(dims, session.output_signature())
            self.assertEqual(session.dimensions, symbols)
        a, b = np.array([-1, 2], np.float32), np.array([[-1], [2], [3]], np.float32)
        for _ in range(2):
            np.testing.assert_array_equal(first.run([a])[0], -a)
            np.testing.assert_array_equal(second.run([b])[0], np.abs(b))
            for session, x, y in ((first, a, -a), (second, b, np.abs(b))):
                name, = session.entry_points()
                np.testing.assert_array_equal(session.run([x], entry=name)[0], y)
                session.set_entry_point(name)
        np.testing.assert_array_equal(third.run([a])[0], -a)
        del first
        np.testing.assert_array_equal(third.run([a])[0], -a)

    def test_PRT_11_tags_change_nothing(self):
        path = plan_in("c", "Neg", [2])
        for tag in ("", "model", "NONE", "any"):
            session = intarsia.OMExecutionSession(path, tag=tag)
            np.testing.assert_array_equal(session.run([np.ones(2, np.float32)])[0], [-1, -1])

    def test_PRT_11_renaming_the_file_is_harmless(self):
        path = plan_in("d", "Neg", [2])
        session = intarsia.ExecutionSession(path)
        folder = os.fsencode(path.parent)
        # Any name and none of its extensions matters; neither do bytes beyond UTF-8.
        for name in (b"other.so", b"noname", "gr\u00fc\u00df dich".encode(), b"\xff.plan"):
            moved = os.path.join(folder, name)
            os.replace(path, moved)
            path = moved
            again = intarsia.ExecutionSession(os.fsdecode(moved))
            np.testing.assert_array_equal(again.run([np.ones(2, np.float32)])[0], [-1, -1])
        np.testing.assert_array_equal(session.run([np.ones(2, np.float32)])[0], [-1, -1])

    def test_PRT_11_replacing_the_file_is_harmless(self):
        path = plan_in("e", "Neg", [2])
        session = intarsia.ExecutionSession(path)
        with open(path, "wb"):
            pass  # truncated in place: mapped memory would fault now
        np.testing.assert_array_equal(session.run([np.ones(2, np.float32)])[0], [-1, -1])


class EntryPoints(unittest.TestCase):
    def test_PRT_12_must_be_chosen(self):
        path = plan_in("f", "Neg", [2])
        for tag, suffix in (("", ""), ("mine", "_mine"), ("NONE", "")):
            session = intarsia.OMExecutionSession(path, tag, use_default_entry_point=False)
            sentence = rf"Must set an entry point \(e\.g\. run_main_graph{suffix}\) before calling "
            x = [np.ones(2, np.float32)]
            self.assertRaisesRegex(RuntimeError, sentence + "run function", session.run, x)
            for function in (session.input_signature, session.output_signature):
                self.assertRaisesRegex(RuntimeError, sentence + "signature function", function)
            names = session.entry_points()
            self.assertEqual(len(names), 1)
            session.set_entry_point(names[0])
            np.testing.assert_array_equal(session.run(x)[0], [-1, -1])
            self.assertIn("[2]", session.output_signature())

    def test_PRT_12_upstream_s_names(self):
        path = plan_in("g", "Neg", [2])
        for name in ("run_main_graph", "run_main_graph_mine"):
            session = intarsia.ExecutionSession(path, "mine", False)
            session.set_entry_point(name)
            np.testing.assert_array_equal(session.run([np.ones(2, np.float32)])[0], [-1, -1])

    def test_PRT_12_unknown_name(self):
        session = intarsia.ExecutionSession(plan_in("h", "Neg", [2]))
        with self.assertRaisesRegex(RuntimeError, "no entry point 'nobody'; its entry points are"):
            session.set_entry_point("nobody")
        self.assertEqual(len(session.run([np.ones(2, np.float32)])), 1)


if __name__ == "__main__":
    unittest.main()
