# SPDX-License-Identifier: Apache-2.0
"""PRT-10: the interpreter's lock is released during a run; one session serves many threads, one
after another. Uses the package built with the kernel of rendezvous.cpp."""

import threading
import unittest

import numpy as np
from onnx import TensorProto

import intarsia
import support
from intarsia import _native


def call_all(functions):
    """Calls all at the same time; returns their results, exceptions included."""
    results = [None] * len(functions)
    start = threading.Barrier(len(functions))

    def work(index):
        start.wait()
        try:
            results[index] = functions[index]()
        except Exception as error:  # pylint: disable=broad-except
            results[index] = error
    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def visit(session, parties, milliseconds, **options):
    return session.run([np.array([parties, milliseconds], np.float64)], **options)[0]


class Threads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plan = support.unary("Abs", TensorProto.DOUBLE, [2])

    def test_PRT_10_runs_of_two_sessions_meet(self):
        sessions = [intarsia.ExecutionSession(self.plan) for _ in range(2)]
        results = call_all([lambda s=s: visit(s, 2, 0) for s in sessions])
        for result in results:
            self.assertEqual(list(result[:1]), [2])

    def test_PRT_10_one_session_is_serialised(self):
        session = intarsia.ExecutionSession(self.plan)
        results = call_all([lambda: visit(session, 1, 20)] * 4)
        for result in results:
            self.assertIsInstance(result, np.ndarray, result)  # nobody is told "busy"
            self.assertEqual(result[0], 1)

    def test_PRT_10_sessions_made_used_and_dropped_in_threads(self):
        def work():
            for _ in range(25):
                session = intarsia.ExecutionSession(self.plan)
                for _ in range(4):
                    visit(session, 1, 0)
            return True
        self.assertEqual(call_all([work] * 4), [True] * 4)

    def test_PRT_10_an_operator_that_calls_its_own_session(self):
        session = intarsia.ExecutionSession(self.plan)
        other = intarsia.ExecutionSession(self.plan)
        found = []

        def call():
            found.append(visit(other, 1, 0)[0])
            try:
                visit(session, 1, 0)
            except intarsia.Error as error:
                found.append(error.code)
        _native.set_visitor(call)
        visit(session, 0, 0)
        self.assertEqual(found, [1, "kBusy"])  # an error, where waiting would never end
        self.assertEqual(visit(session, 1, 0)[0], 1)

    def test_PRT_10_operators_in_python_in_many_threads(self):
        _native.set_visitor(lambda: sum(range(1000)))
        sessions = [intarsia.ExecutionSession(self.plan) for _ in range(2)]

        def work(session):
            for _ in range(50):
                visit(session, 0, 0)
            return True
        self.assertEqual(call_all([lambda s=s: work(s) for s in sessions * 2]), [True] * 4)

    def test_PRT_8_out_is_written_in_place(self):
        session = intarsia.ExecutionSession(self.plan)
        out = np.zeros(2, np.float64)
        result = visit(session, 1, 0, out=[out])
        self.assertIs(result, out)
        self.assertEqual(int(result[1]), out.ctypes.data)  # the kernel wrote there itself
        again = visit(session, 1, 0)
        self.assertNotEqual(int(again[1]), out.ctypes.data)

    def test_what_is_bound_is_read_in_place(self):
        session = intarsia.ExecutionSession(self.plan)
        x, out = np.array([1, -1], np.float64), np.zeros(2, np.float64)
        bound = session.bind([x], out=[out])
        self.assertEqual(bound.in_place, ("x",))
        for _ in range(2):
            self.assertEqual(int(bound.run()[0][1]), x.ctypes.data)
            self.assertNotEqual(int(session.run([x])[0][1]), x.ctypes.data)
        np.testing.assert_array_equal(x, [1, -1])


if __name__ == "__main__":
    unittest.main()
