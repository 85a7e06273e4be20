# SPDX-License-Identifier: Apache-2.0
"""PRT-9: runs leak nothing, and allocate nothing but results. INTARSIA_RUNS says how many there are;
where heap_counter.cpp is loaded before all else, allocations are counted."""

import ctypes
import os
import resource
import unittest

import numpy as np

import intarsia
import support

RUNS = int(os.environ["INTARSIA_RUNS"])


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


class Sessions(unittest.TestCase):
    def setUp(self):
        self.session = intarsia.ExecutionSession(support.unary("Neg", shape=[64, 64]))
        self.varies = intarsia.ExecutionSession(
            support.unary("Neg", shape=["n", 64], options=["--dim", "n=64"]))
        self.x = np.ones((64, 64), np.float32)
        self.out = np.zeros((64, 64), np.float32)


class Memory(Sessions):
    def grown(self, once):
        """What the process has grown by RUNS calls, in bytes."""
        for _ in range(200):
            once()
        before = resident_bytes()
        for _ in range(RUNS):
            once()
        return resident_bytes() - before

    def test_PRT_9_results_are_given_back(self):
        def once():
            self.session.run([self.x])
            self.varies.run([self.x[:9]])
        self.assertLess(self.grown(once), 1 << 20)  # results of 5000 runs are 80 MB

    def test_PRT_9_results_in_the_caller_s_memory(self):
        def once():
            self.session.run([self.x], out=[self.out])
            self.varies.run({"x": self.x[:9]}, out={"y": self.out})
        self.assertLess(self.grown(once), 1 << 20)

    def test_PRT_9_failing_runs(self):
        def once():
            for wrong in ([], [self.x.T[:3]], [self.x.astype(np.float64)]):
                self.assertRaises(intarsia.Error, self.session.run, wrong)
        self.assertLess(self.grown(once), 1 << 20)


def module_range():
    """Where the code of the native module lies."""
    with open("/proc/self/maps", encoding="ascii") as file:
        lines = [line.split()[0] for line in file if "/intarsia/_native" in line]
    return int(lines[0].split("-")[0], 16), int(lines[-1].split("-")[1], 16)


@unittest.skipUnless("INTARSIA_COUNTS_HEAP" in os.environ, "nothing counts")
class Heap(Sessions):
    """Of the module's own code: Python's objects are Python's."""

    def allocations(self, once, runs=50):
        """What a run asks the heap for, on average; the first ones find their room."""
        counter = ctypes.CDLL(None)
        for _ in range(20):
            once()
        begin, end = module_range()
        counter.heap_counter_begin(ctypes.c_size_t(begin), ctypes.c_size_t(end))
        for _ in range(runs):
            once()
        return counter.heap_counter_calls() / runs

    def test_PRT_9_results_alone(self):
        # numpy's own memory where the shape is known, a block of the module's where it varies.
        two = intarsia.ExecutionSession(support.convert(support.model(
            [support.helper.make_node("Split", ["x"], ["a", "b"], num_outputs=2)], {"x": (support.FLOAT, [64, 64])},
            {"a": (support.FLOAT, None), "b": (support.FLOAT, None)})))
        self.assertEqual(self.allocations(lambda: self.session.run([self.x])), 0)
        self.assertEqual(self.allocations(lambda: self.varies.run({"x": self.x[:9]})), 1)
        self.assertEqual(self.allocations(lambda: two.run([self.x])), 0)

    def test_PRT_9_none_where_results_go_to_the_caller_s_memory(self):
        self.assertEqual(self.allocations(lambda: self.session.run([self.x], out=[self.out])), 0)
        self.assertEqual(self.allocations(lambda: self.varies.run({"x": self.x[:9]}, out={"y": self.out})), 0)

    def test_PRT_9_what_allocates_is_counted(self):
        self.assertGreater(self.allocations(lambda: self.session.profile([self.x], runs=1), 5), 1)
        plan = support.unary("Neg")
        self.assertGreater(self.allocations(lambda: intarsia.ExecutionSession(plan), 3), 3)


if __name__ == "__main__":
    unittest.main()
