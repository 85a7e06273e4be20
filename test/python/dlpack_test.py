# SPDX-License-Identifier: Apache-2.0
"""Tensors of other packages, in and out: through DLPack, without a copy where that is possible. PyTorch's
are tried in Debian's Python, which has it."""

import ctypes
import os
import subprocess
import sys
import unittest

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

import intarsia
import support

FLOAT = support.FLOAT


class Tensor:
    """An array of another package: it has no buffer and no __array__."""

    def __init__(self, array, device=(1, 0), versioned=True):
        self.array, self.device, self.versioned = array, device, versioned
        self.exports = 0

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        if options and not self.versioned:
            raise TypeError("unexpected keyword")
        self.exports += 1
        return self.array.__dlpack__(**options)


class DlTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32),
                ("rank", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class DlVersioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", DlTensor)]


class Written:
    """A tensor [2, 2] of floats as DLPack has it, without strides, two elements behind its address.
    Its structures have no deleter: they live as long as the process."""
    alive = []

    def __init__(self, array, **changes):
        self.alive.append(self)
        self.array, self.shape = array, (ctypes.c_int64 * 2)(2, 2)
        self.managed = DlVersioned(1, 0, None, None, 0, DlTensor(
            array.ctypes.data, 1, 0, 2, 2, 32, 1, self.shape, None, 8))
        for name, value in changes.items():
            setattr(self.managed if hasattr(self.managed, name) else self.managed.tensor, name, value)

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **_):
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.managed), b"dltensor_versioned", None)


class Dlpack(unittest.TestCase):
    def test_what_numpy_never_writes(self):
        session = intarsia.ExecutionSession(support.unary("Neg", shape=[2, 2]))
        array = np.arange(8, dtype=np.float32)
        self.assertEqual(session.run(Written(array))[0].tolist(), [[-2, -3], [-4, -5]])
        out = np.zeros(8, np.float32)
        session.run(array[:4].reshape(2, 2), out=Written(out))
        self.assertEqual(out.tolist(), [0, 0, 0, -1, -2, -3, 0, 0])
        for changes, reason in (({"major": 2}, "of a version later than 1"), ({"lanes": 4}, "have no numpy type"),
                                ({"bits": 24}, "type 2 with 24 bits"), ({"device_type": 2}, "processor's memory")):
            with self.assertRaisesRegex(intarsia.Error, reason):
                session.run(Written(array, **changes))
        with self.assertRaisesRegex(intarsia.Error, "writable"):
            session.run(array[:4].reshape(2, 2), out=Written(out, flags=1))

    def test_inputs_in_every_form(self):
        session = intarsia.ExecutionSession(support.unary("Neg", shape=[2, 3]))
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        for versioned in (True, False):
            for array in (x, np.asfortranarray(x), x[::-1].copy()[::-1], np.tile(x, 2)[:, :3],
                          np.repeat(x, 2, axis=1)[:, ::2]):
                for form in (lambda t: t, lambda t: [t], lambda t: {"x": t}):
                    tensor = Tensor(array, versioned=versioned)
                    np.testing.assert_array_equal(session.run(form(tensor))[0], -x)
                    self.assertEqual(tensor.exports, 1)
        np.testing.assert_array_equal(session.run(None, {"x": Tensor(x)})[0], -x)
        frozen = x.copy()
        frozen.flags.writeable = False
        np.testing.assert_array_equal(session.run(Tensor(frozen))[0], -x)

    def test_every_element_type(self):
        for element, dtype in ((FLOAT, "f4"), (TensorProto.DOUBLE, "f8"), (TensorProto.FLOAT16, "f2"),
                               (TensorProto.INT8, "i1"), (TensorProto.INT16, "i2"),
                               (TensorProto.INT32, "i4"), (TensorProto.INT64, "i8"),
                               (TensorProto.UINT8, "u1"), (TensorProto.UINT16, "u2"),
                               (TensorProto.UINT32, "u4"), (TensorProto.UINT64, "u8"),
                               (TensorProto.BOOL, "?"), (TensorProto.COMPLEX64, "c8"),
                               (TensorProto.COMPLEX128, "c16")):
            session = intarsia.ExecutionSession(support.unary("Identity", element, [4]))
            x = np.array([0, 1, 0, 1]).astype(dtype)
            y, = session.run(Tensor(x))
            self.assertEqual(y.dtype, x.dtype)
            np.testing.assert_array_equal(y, x)
            with self.assertRaises(intarsia.Error) as context:
                session.run(Tensor(np.zeros(4, "f4" if dtype != "f4" else "f8")))
            self.assertEqual(context.exception.code, "kWrongType")

    def test_shapes_without_elements_or_axes(self):
        for shape, planned in (((), ()), ((0, 3), ("n", 3)), ((1, 1, 1), (1, 1, 1))):
            session = intarsia.ExecutionSession(support.unary(
                "Neg", shape=planned, options=["--dim", "n=0..2"] if "n" in planned else []))
            y, = session.run(Tensor(np.full(shape, 2, np.float32)))
            np.testing.assert_array_equal(y, np.full(shape, -2, np.float32))

    def test_what_does_not_fit(self):
        session = intarsia.ExecutionSession(support.unary("Neg", shape=[2], names=("hue", "y")))
        x = np.ones(2, np.float32)
        with self.assertRaisesRegex(intarsia.Error, "'hue'.*memory of a device.*cpu"):
            session.run(Tensor(x, device=(2, 0)))
        np.testing.assert_array_equal(session.run(Tensor(x, device=(3, 0)))[0], -x)
        with self.assertRaisesRegex(intarsia.Error, "rank .* expect 1, but got 2"):
            session.run(Tensor(np.ones((2, 2), np.float32)))
        class Broken(Tensor):
            def __dlpack__(self, **_):
                return "no capsule"
        class Raising(Tensor):
            def __dlpack__(self, **_):
                raise BufferError("not today")
        with self.assertRaisesRegex(intarsia.Error, "no capsule of DLPack"):
            session.run(Broken(x))
        with self.assertRaisesRegex(intarsia.Error, "not today") as context:
            session.run(Raising(x))
        self.assertIsInstance(context.exception.__cause__, BufferError)
        class ByArray(Raising):
            def __array__(self, *_, **__):
                return self.array.copy()
        np.testing.assert_array_equal(session.run(ByArray(x))[0], -x)
        with self.assertRaisesRegex(intarsia.Error, "out: .*not today"):
            session.run(x, out=ByArray(x))  # the result would be in a copy
        class Used(Tensor):
            capsule = None
            def __dlpack__(self, **options):
                self.capsule = self.capsule or super().__dlpack__(**options)
                return self.capsule
        used = Used(x)
        session.run(used)
        with self.assertRaisesRegex(intarsia.Error, "taken already"):
            session.run(used)

    def test_a_tensor_is_let_go(self):
        session = intarsia.ExecutionSession(support.unary("Neg", shape=[2]))
        x = np.ones(2, np.float32)
        before = sys.getrefcount(x)
        for tensor in (Tensor(x), Tensor(x, versioned=False)):
            session.run(tensor)
            self.assertRaises(intarsia.Error, session.run, Tensor(x[:1]))
            session.run(tensor, out=Tensor(np.zeros(2, np.float32)))
            del tensor
        self.assertEqual(sys.getrefcount(x), before)

    def test_outputs_go_on_through_dlpack(self):
        session = intarsia.ExecutionSession(support.unary("Neg", shape=[2]))
        y, = session.run(np.ones(2, np.float32))
        np.testing.assert_array_equal(np.from_dlpack(y), [-1, -1])

    def test_out(self):
        session = intarsia.ExecutionSession(support.unary("Neg", shape=[2, 3]))
        x, memory = np.ones((2, 3), np.float32), np.zeros((2, 3), np.float32)
        tensor = Tensor(memory)
        for out in (tensor, [tensor], {"y": tensor}):
            memory[:] = 0
            y, = session.run(x, out=out)
            self.assertIs(y, tensor)
            np.testing.assert_array_equal(memory, -x)
        # It is written by its own run only.
        memory[:] = 7
        session.run(x)
        np.testing.assert_array_equal(memory, 7 * x)
        memory.flags.writeable = False
        for versioned, reason in ((True, "writable"), (False, "")):
            with self.assertRaisesRegex(intarsia.Error, reason):
                session.run(x, out=Tensor(memory, versioned=versioned))
        with self.assertRaisesRegex(intarsia.Error, "memory of a device"):
            session.run(x, out=Tensor(np.zeros((2, 3), np.float32), device=(2, 0)))

    def test_types_that_numpy_lacks(self):
        for element, name in ((TensorProto.BFLOAT16, "bfloat16"),
                              (TensorProto.FLOAT8E4M3FN, "float8_e4m3fn")):
            session = intarsia.ExecutionSession(support.unary("Identity", element, [3]))
            x = np.array([1, 2, -3]).astype(getattr(ml_dtypes, name))
            out = np.zeros_like(x)
            y, = session.run([x], out=[out])
            self.assertIs(y, out)
            self.assertEqual(out.tolist(), x.tolist())


TORCH = """
import sys
import numpy as np
import torch
import intarsia
double, bf16, truth, words = (intarsia.ExecutionSession(path) for path in sys.argv[1:])
x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
for given in (x, x.t().contiguous().t(), x.repeat(1, 2)[:, :3]):
    y, = double.run(None, {"x": given})
    assert torch.equal(torch.from_dlpack(y), 2 * x), y
out = torch.zeros(2, 3)
pointer = out.data_ptr()
y, = double.run([x], out=[out])
assert y is out and out.data_ptr() == pointer and torch.equal(out, 2 * x)
out.zero_()
double.run([x])
assert not out.any()
bound = double.bind([x], out=[out])
bound.run()
assert torch.equal(out, 2 * x)
x += 1
bound.run()
assert torch.equal(out, 2 * x) and bound.in_place == ("x",)
try:
    double.run([x.clone().requires_grad_()])
    raise SystemExit("a tensor that needs a gradient was taken")
except intarsia.Error as error:
    assert "detach" in str(error), error
half = torch.tensor([1.0, -2.5, 3.0], dtype=torch.bfloat16)
out = torch.zeros(3, dtype=torch.bfloat16)
y, = bf16.run([half], out=[out])
assert torch.equal(out, half)
try:
    words.run([half])
    raise SystemExit("bfloat16 was taken for uint16")
except intarsia.Error as error:
    assert error.code == "kWrongType" and "holds bfloat16" in str(error), error
flags = torch.tensor([True, False])
assert truth.run([flags])[0].tolist() == [False, True]
print("done")
"""


class Torch(unittest.TestCase):
    @unittest.skipUnless(os.path.isdir("/usr/lib/python3/dist-packages/torch"), "Debian's python3-torch")
    @unittest.skipIf("LD_PRELOAD" in os.environ, "PyTorch under a sanitizer")
    def test_tensors_of_pytorch(self):
        node = helper.make_node("Add", ["x", "x"], ["y"])
        plans = [support.convert(support.model([node], {"x": (FLOAT, [2, 3])}, {"y": (FLOAT, None)})),
                 support.unary("Identity", TensorProto.BFLOAT16, [3]),
                 support.unary("Not", TensorProto.BOOL, [2]),
                 support.unary("Identity", TensorProto.UINT16, [3])]
        done = subprocess.run(["/usr/bin/python3", "-c", TORCH, *plans], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual((done.stdout, done.returncode), ("done\n", 0))


class Bound(unittest.TestCase):
    def setUp(self):
        self.session = intarsia.ExecutionSession(
            support.unary("Neg", shape=["n", 2], options=["--dim", "n=3"]))
        self.x = np.ones((3, 2), np.float32)
        self.y = np.zeros((3, 2), np.float32)

    def test_runs_read_what_the_array_holds_then(self):
        for given in (self.x, Tensor(self.x)):
            bound = self.session.bind([given], out=[self.y])
            self.assertEqual(bound.in_place, ("x",))
            for value in range(3):
                self.x[:] = value
                result, = bound.run()
                self.assertIs(result, self.y)
                np.testing.assert_array_equal(self.y, -self.x)
                # A run between is another matter.
                np.testing.assert_array_equal(self.session.run([self.x[:1] + 1])[0],
                                              -self.x[:1] - 1)
        np.testing.assert_array_equal(self.x, np.full((3, 2), 2))

    def test_without_out(self):
        bound = self.session.bind({"x": self.x})
        first, second = bound.run()[0], bound.run(["y"])[0]
        self.assertFalse(np.shares_memory(first, second))
        np.testing.assert_array_equal(first, -self.x)

    def test_what_is_shorter_is_copied_and_still_read_anew(self):
        bound = self.session.bind([self.x[:2]])
        self.assertEqual(bound.in_place, ())
        for value in range(2):
            self.x[:] = value
            np.testing.assert_array_equal(bound.run()[0], -self.x[:2])

    def test_truth_values_are_copied(self):
        # A view may hold bytes that are no truth values, which kernels must not see.
        session = intarsia.ExecutionSession(support.unary("Not", TensorProto.BOOL, [2]))
        x = np.array([2, 0], np.uint8).view(bool)
        bound = session.bind([x])
        self.assertEqual(bound.in_place, ())
        self.assertEqual(bound.run()[0].view(np.uint8).tolist(), [0, 1])

    def test_memory_that_kernels_cannot_read(self):
        misaligned = np.frombuffer(bytearray(25), np.uint8)[1:].view(np.float32).reshape(3, 2)
        self.assertEqual(self.session.bind([misaligned]).in_place, ())
        np.testing.assert_array_equal(self.session.bind([misaligned]).run()[0], 0 * self.x)

    def test_what_cannot_be_bound(self):
        for wrong, reason in ((np.ones((2, 3), np.float32).T, "C-contiguous"),
                              (self.x.astype(np.float64), "Wrong data type"),
                              (self.x[:, :1].copy(), "Wrong size")):
            with self.assertRaisesRegex(intarsia.Error, reason):
                self.session.bind([wrong])
        self.assertRaises(TypeError, self.session.bind, [[[0.0, 0.0]]])
        strings = intarsia.ExecutionSession(support.unary("Identity", TensorProto.STRING, [1]))
        with self.assertRaisesRegex(intarsia.Error, "no array gives in place"):
            strings.bind([np.array(["a"])])

    def test_an_input_that_is_an_output_s_memory(self):
        with self.assertRaises(intarsia.Error) as context:
            self.session.bind([self.x], out=[self.x]).run()
        self.assertEqual(context.exception.code, "kInvalidArgument")
        # Neither stays bound.
        np.testing.assert_array_equal(self.session.run([np.zeros((3, 2), np.float32)])[0], 0 * self.x)
        np.testing.assert_array_equal(self.x, np.ones((3, 2)))

    def test_inputs_are_let_go(self):
        # Were it bound still, this run would not read the array that it is given.
        bound = self.session.bind([self.x], out=[self.y])
        bound.run()
        self.x[:] = 5
        np.testing.assert_array_equal(self.session.run([np.full((3, 2), 3, np.float32)])[0],
                                      np.full((3, 2), -3))
        np.testing.assert_array_equal(self.x, np.full((3, 2), 5))  # nor write it
        del bound

    def test_the_arrays_live_as_long(self):
        bound = self.session.bind([np.full((3, 2), 4, np.float32)])
        junk = [np.zeros((3, 2), np.float32) for _ in range(100)]
        np.testing.assert_array_equal(bound.run()[0], np.full((3, 2), -4))
        del junk


if __name__ == "__main__":
    unittest.main()
