# SPDX-License-Identifier: Apache-2.0
"""Plans with operators of one's own, converted and run from Python with a plug-in."""

import os
import re
import unittest

import numpy as np

import intarsia
import support

OPERATORS = os.environ["INTARSIA_OPERATORS"]
MODEL = os.environ["INTARSIA_MODEL"]


class Operators(unittest.TestCase):
    def test_a_library(self):
        plan = support.FOLDER / "custom.plan"
        intarsia.convert(MODEL, plan, operators=[OPERATORS])
        x = np.array([1, 2, 3], np.float32)
        for operators in ([OPERATORS], OPERATORS, (os.fsencode(OPERATORS),)):
            session = intarsia.ExecutionSession(plan, operators=operators)
            np.testing.assert_array_equal(session.run([x])[0], [6, 4, 2])
        with self.assertRaisesRegex(intarsia.Error, "sample:Affine") as context:
            intarsia.ExecutionSession(plan)
        self.assertEqual(context.exception.code, "kMissingKernel")
        self.assertIn("--operators LIB.so", str(context.exception))

    def test_problems(self):
        plan = support.FOLDER / "no.plan"
        with self.assertRaisesRegex(intarsia.Error, "sample:Affine.*not supported"):
            intarsia.convert(MODEL, plan)
        with self.assertRaisesRegex(intarsia.Error, "missing.so"):
            intarsia.convert(MODEL, plan, operators="missing.so")
        with self.assertRaisesRegex(intarsia.Error, re.escape(support.COMMAND)):
            intarsia.convert(MODEL, plan, operators=[support.COMMAND])


if __name__ == "__main__":
    unittest.main()
