# SPDX-License-Identifier: Apache-2.0
"""PYOP-11, PYOP-12: Python numbers that operators return: stored if the output's type holds them, else refused."""

import itertools
import sys
import unittest

import numpy as np
from onnx import AttributeProto, helper

import intarsia
import support

RETURNS = """
value = None
class Returns:
    def compute(self):
        return value
"""
INF, NAN, HUGE = float("inf"), float("nan"), 10 ** 400
INTEGERS = [np.dtype(f"{kind}int{bits}") for kind in ("", "u") for bits in (8, 16, 32, 64)]
REALS = [np.dtype(f"float{bits}") for bits in (16, 32, 64)]
COMPLEX = [np.dtype("complex64"), np.dtype("complex128")]


class Fraction(float):
    """A number of a class of its own."""


class Count(int):
    """Likewise."""


class Numbers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        (support.FOLDER / "user_numbers.py").write_text(RETURNS, encoding="utf-8")

    def setUp(self):
        self.sessions = {}

    def returned(self, dtype, value):
        """What a session gives whose operator returns the value for an output of the type."""
        if dtype not in self.sessions:
            number = helper.np_dtype_to_tensor_dtype(dtype)
            node = helper.make_node("PyOp", [], ["y"], domain="p", module="user_numbers", class_name="Returns",
                                    output_types=[number])
            node.attribute.append(helper.make_attribute("input_types", [], attr_type=AttributeProto.INTS))
            proto = support.model([node], {}, {"y": (number, [])})
            self.sessions[dtype] = intarsia.InferenceSession(proto, cache=False, allow_pyop=True,
                                                             pyop_path=support.FOLDER)
        sys.modules["user_numbers"].value = value
        return self.sessions[dtype].run([])[0]

    def accepted(self, dtype, values):
        for value in values:
            with self.subTest(dtype=dtype, value=value):
                found = self.returned(dtype, value)
                self.assertEqual((found.dtype, found.shape), (dtype, ()))
                with np.errstate(all="ignore"):
                    expected = np.array(complex(value) if dtype in COMPLEX else value, dtype)
                self.assertEqual(found.tobytes(), expected.tobytes(), f"{found} is not {expected}")

    def refused(self, dtype, values):
        for value in values:
            with self.subTest(dtype=dtype, value=value):
                with self.assertRaises(intarsia.Error) as context:
                    self.returned(dtype, value)
                self.assertEqual(context.exception.code, "kWrongType")
                self.assertIn(f"output 0: expected {dtype}, got the number {value!r}, which that type does not hold",
                              str(context.exception))
                self.assertIsNone(context.exception.__cause__)

    def test_PYOP_12_integers(self):
        for dtype in INTEGERS:
            low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
            self.accepted(dtype, [0, 1, low, low + 1, high - 1, high, True, False, Count(7)])
            self.refused(dtype, [low - 1, high + 1, 2 ** 63 if high < 2 ** 63 else 2 ** 64, -2 ** 63 - 1, HUGE, -HUGE,
                                 1.0, 0.5, NAN, INF, 1j, 0j])
            if low == 0:
                self.refused(dtype, [-1, -high, -high - 1, -2 ** 63])

    def test_PYOP_12_truth_values(self):
        self.accepted(np.dtype(bool), [True, False])
        self.refused(np.dtype(bool), [0, 1, 1.0, 0.0, 1j, NAN, Count(1)])

    def test_PYOP_12_reals(self):
        for dtype in REALS:
            most = np.finfo(dtype).max.item()
            least = np.finfo(dtype).smallest_subnormal.item()
            self.accepted(dtype, [0.0, -0.0, 1.5, -1.5, 0.1, most, -most, least, -least, least / 4, -least / 4, INF, -INF,
                                  0, -1, 3, True, False, Fraction(0.25), Count(7), 2 ** 11 + 1])
            self.assertTrue(np.isnan(self.returned(dtype, NAN)))
            self.refused(dtype, [HUGE, -HUGE, 1j, 0j])
        for sign in (1, -1):
            # Half of the last place beyond the largest is rounded to infinity, a little less to the largest.
            self.refused(REALS[0], [sign * 65520.0, sign * 65520, sign * 1e5, sign * 1e300])
            self.accepted(REALS[0], [sign * 65519.0, sign * 65519])
            self.refused(REALS[1], [sign * 2.0 ** 128, sign * 2 ** 128, sign * 1e300, sign * 2 ** 1000])
            beyond = (2.0 - 2.0 ** -24) * 2.0 ** 127
            self.refused(REALS[1], [sign * beyond])
            self.accepted(REALS[1], [sign * np.nextafter(beyond, 0).item()])
            self.refused(REALS[2], [sign * 2 ** 1024])
            self.accepted(REALS[2], [sign * 2 ** 1023, sign * 1e300])

    def test_PYOP_12_complex_numbers(self):
        parts = [0.0, -0.0, 1.5, INF, -INF, -3.0]
        for dtype in COMPLEX:
            most = np.finfo(dtype).max.item()
            pairs = itertools.product([*parts, most, -most], repeat=2)
            self.accepted(dtype, [complex(*pair) for pair in pairs])
            self.accepted(dtype, [1, -1, True, 0.5, -0.0, INF, most])
            for pair in itertools.product((NAN, 2.0), repeat=2):
                found = self.returned(dtype, complex(*pair))
                np.testing.assert_array_equal([found.real, found.imag], pair)
            self.refused(dtype, [HUGE, -HUGE])
        for large in (1e300, -1e300):
            self.refused(COMPLEX[0], [large, int(large), complex(large, 0), complex(0, large), complex(INF, large),
                                      complex(large, NAN)])
            self.accepted(COMPLEX[1], [large, complex(large, 0), complex(0, large)])

    def test_PYOP_11_scalars_of_numpy(self):
        # One of another type is a number like Python's.
        for dtype in REALS:
            self.accepted(dtype, [np.float64(0.5), np.float32(0.5), np.int8(-3), np.uint64(3), np.bool_(True),
                                  np.float64(INF), np.float64(-0.0)])
        for dtype, value in ((REALS[0], np.float32(1e5)), (REALS[1], np.float64(1e300)),
                             (INTEGERS[0], np.int64(128)), (INTEGERS[4], np.int8(-1)), (INTEGERS[0], np.float32(1)),
                             (COMPLEX[0], np.complex128(1e300)), (REALS[2], np.complex64(1))):
            with self.subTest(dtype=dtype, value=value), \
                    self.assertRaisesRegex(intarsia.Error, f"expected {dtype}, got the number .*does not hold"):
                self.returned(dtype, value)


if __name__ == "__main__":
    unittest.main()
