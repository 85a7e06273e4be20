# SPDX-License-Identifier: Apache-2.0
"""PRT-9: runs leak nothing. INTARSIA_RUNS says how many there are."""

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


class Memory(unittest.TestCase):
    def setUp(self):
        self.session = intarsia.ExecutionSession(support.unary("Neg", shape=[64, 64]))
        self.varies = intarsia.ExecutionSession(
            support.unary("Neg", shape=["n", 64], options=["--dim", "n=64"]))
        self.x = np.ones((64, 64), np.float32)
        self.out = np.zeros((64, 64), np.float32)

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


if __name__ == "__main__":
    unittest.main()
