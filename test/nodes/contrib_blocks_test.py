# SPDX-License-Identifier: Apache-2.0
"""Weights of ONNX Runtime's domain of which many codes lie in a byte, or blocks of which have scales of their own.
Usage: contrib_blocks_test.py TOOL"""

import itertools
import pathlib
import subprocess
import tempfile
import unittest

import ml_dtypes
import numpy as np
import onnx
from contrib import ContribCase, contrib_model, in_runtime
from one_node import TOOL, codes, run
from onnx import TensorProto, helper, numpy_helper


def plan_size(model):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        onnx.save(model, path / "model.onnx")
        subprocess.run([TOOL, "convert", path / "model.onnx", "-o", path / "model.plan"], check=True,
                       capture_output=True)
        return (path / "model.plan").stat().st_size


def packed(values, bits):
    """Codes of few bits along the last axis, those of the lowest bits first; whole bytes."""
    each = 8 // bits
    missing = -values.shape[-1] % each
    values = np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, missing)]).astype(np.uint8)
    parts = values.reshape(*values.shape[:-1], -1, each)
    return np.bitwise_or.reduce(parts << (np.arange(each, dtype=np.uint8) * bits), axis=-1).astype(np.uint8)


class Blocks(ContribCase):
    def weights(self, values, n, k, block, bits, zeros, real=np.float32):
        blocks = -(-k // block)
        result = {"B": packed(values.integers(0, 1 << bits, (n, blocks * block)), bits).reshape(n, blocks, -1),
                  "scales": values.uniform(0.01, 0.1, (n, blocks)).astype(real), "zeros": None}
        if zeros == "packed":
            result["zeros"] = packed(values.integers(0, 1 << bits, (n, blocks)), bits)
        elif zeros == "real":
            result["zeros"] = values.uniform(0, 1 << bits, (n, blocks)).astype(real)
        return result

    def test_matmul(self):
        values = np.random.default_rng(15)
        shapes = [((3, 64), 5, 64, 32), ((2, 3, 48), 7, 48, 16), ((1, 100), 8, 100, 32), ((4, 40), 3, 40, 64)]
        for (shape, n, k, block), bits, zeros, bias, constant in itertools.product(
                shapes, (4, 8, 2), (None, "packed", "real"), (False, True), (False, True)):
            if zeros == "real" and bits != 4:
                continue  # refused by ONNX Runtime
            inputs = {"A": values.standard_normal(shape).astype(np.float32),
                      **self.weights(values, n, k, block, bits, zeros), "groups": None,
                      "bias": values.standard_normal(n).astype(np.float32) if bias else None}
            held = [name for name in inputs if name != "A" and inputs[name] is not None] if constant else ()
            self.beside("MatMulNBits", inputs, constants=held, tolerance=1e-4, K=k, N=n, bits=bits, block_size=block)

    def numbers(self, w, k, groups):
        """What the weights of 4 bits stand for, [n, k]; `groups`: the block of each term."""
        unpacked = lambda x: (x[..., None] >> np.array([0, 4], np.uint8) & 15).reshape(len(x), -1)
        blocks = w["B"].shape[1]
        z = np.full((len(w["B"]), blocks), 8) if w["zeros"] is None else w["zeros"]
        z = unpacked(z)[:, :blocks] if z.dtype == np.uint8 else z
        return (unpacked(w["B"])[:, :k] - z[:, groups].astype(np.float64)) * w["scales"][:, groups]

    def test_halves_and_groups(self):
        """Beside the formula: few of these has ONNX Runtime on CPUs. Groups say which block a term belongs to."""
        values = np.random.default_rng(16)
        n, k, block = 5, 60, 16
        for real, zeros, grouped, biased in itertools.product(
                (np.float32, np.float16), (None, "packed", "real"), (False, True), (False, True)):
            w = self.weights(values, n, k, block, 4, zeros, real)
            groups = values.integers(0, 4, k).astype(np.int32) if grouped else np.arange(k) // block
            inputs = {"A": values.standard_normal((3, k)).astype(real), **w, "groups": groups if grouped else None,
                      "bias": values.standard_normal(n).astype(real) if biased else None}
            held = [name for name in ("B", "scales", "zeros") if inputs[name] is not None]
            expected = inputs["A"].astype(np.float64) @ self.numbers(w, k, groups).T
            expected = (expected if inputs["bias"] is None else expected + inputs["bias"]).astype(real)
            for constants in (held, ()):
                model = contrib_model("MatMulNBits", inputs, (helper.np_dtype_to_tensor_dtype(np.dtype(real)),),
                                      constants=constants, K=k, N=n, block_size=block)
                fed = {name: x for name, x in inputs.items() if x is not None and name not in constants}
                with self.subTest(real=real, zeros=zeros, grouped=grouped, biased=biased, constants=constants):
                    self.agree(run(model, fed), [expected], 1e-4 if real == np.float32 else 2e-3)

    def test_accuracy_levels(self):
        """All are allowed; they say how coarsely one may compute."""
        values = np.random.default_rng(26)
        weights = self.weights(values, 5, 64, 32, 4, "packed")
        inputs = {"A": values.standard_normal((3, 64)).astype(np.float32), **weights}
        sizes = {"constants": list(weights), "K": 64, "N": 5, "block_size": 32}
        for level in range(5):
            # At level 4 ONNX Runtime quantises A.
            self.beside("MatMulNBits", inputs, tolerance=0.1 if level == 4 else 1e-4, accuracy_level=level, **sizes)
            model = contrib_model("MatMulNBits", inputs, (TensorProto.FLOAT,), accuracy_level=level, **sizes)
            self.agree(run(model, {"A": inputs["A"]}), [
                (inputs["A"] @ self.numbers(weights, 64, np.arange(64) // 32).T).astype(np.float32)], 1e-4)

    def test_weights_stay_codes(self):
        values = np.random.default_rng(20)
        n, k, block = 384, 512, 32
        weights = {name: x for name, x in self.weights(values, n, k, block, 4, "packed").items()}
        inputs = {"A": values.standard_normal((2, k)).astype(np.float32), **weights}
        self.beside("MatMulNBits", inputs, constants=list(weights), tolerance=1e-4, K=k, N=n, block_size=block, bits=4)
        model = contrib_model("MatMulNBits", inputs, (TensorProto.FLOAT,), constants=list(weights), K=k, N=n, bits=4,
                              block_size=block)
        self.assertLess(plan_size(model), model.ByteSize() + 10000)

    def test_gather_bytes(self):
        values = np.random.default_rng(18)
        for shape, bits, zeros, kind, real, constant in itertools.product(
                ((6, 64), (6, 3, 48), (6, 80)), (4, 8, 2), (False, True), (np.int32, np.int64),
                (np.float32, np.float16), (False, True)):
            block, blocks = 32, -(-shape[-1] // 32)
            inputs = {"data": packed(values.integers(0, 1 << bits, shape), bits),
                      "indices": np.array([[0, 5, -1], [2, 7, 0]], kind),
                      "scales": values.uniform(0.01, 0.1, (*shape[:-1], blocks)).astype(real),
                      "zeros": packed(values.integers(0, 1 << bits, (*shape[:-1], blocks)), bits) if zeros else None}
            held = [name for name in ("data", "scales", "zeros") if inputs[name] is not None] if constant else ()
            self.beside("GatherBlockQuantized", inputs, (helper.np_dtype_to_tensor_dtype(np.dtype(real)),), exact=True,
                        constants=held, bits=bits, block_size=block, quantize_axis=-1)
            # Along the axis that holds blocks and packed codes.
            inputs["indices"] = np.array([[0, shape[-1] - 1, -33], [31, 32, 200]], kind)
            self.along(inputs, held, bits, zeros, block)

    def along(self, inputs, held, bits, zeros, block):
        """By the formula: ONNX Runtime gathers bytes along axis 0 alone."""
        unpack = lambda x: (x[..., None] >> np.arange(0, 8, bits, dtype=np.uint8) & ((1 << bits) - 1)).reshape(
            *x.shape[:-1], -1)
        data, scales, index = unpack(inputs["data"]), inputs["scales"], inputs["indices"]
        extent = data.shape[-1]
        valid = (index >= -extent) & (index < extent)
        place = np.where(valid, index % extent, 0)
        zero = unpack(inputs["zeros"])[..., :scales.shape[-1]] if zeros else np.full(scales.shape, 1 << bits - 1)
        expected = (data.astype(np.int32)[..., place] - zero.astype(np.int32)[..., place // block]).astype(
            np.float32) * scales[..., place // block].astype(np.float32)
        expected = np.where(valid, expected, 0).astype(scales.dtype)
        model = contrib_model("GatherBlockQuantized", inputs, (helper.np_dtype_to_tensor_dtype(scales.dtype),),
                              constants=held, bits=bits, block_size=block, quantize_axis=-1, gather_axis=-1)
        fed = {name: x for name, x in inputs.items() if x is not None and name not in held}
        with self.subTest(bits=bits, zeros=zeros, held=held):
            self.agree(run(model, fed), [expected])

    def test_gather_codes(self):
        values = np.random.default_rng(19)
        for kind, axes, zeros, last in itertools.product(
                (ml_dtypes.uint4, ml_dtypes.int4), ((0, 1), (1, 0), (1, 2), (2, 1), (-1, 0), (0, 0), (1, 1), (2, 2)),
                (False, True), (4, 5)):
            gathered, split = axes
            low = 0 if kind == ml_dtypes.uint4 else -8
            shape = [4, 36, last]
            blocks = list(shape)
            blocks[split] = -(-shape[split] // 16)
            inputs = {"data": values.integers(low, low + 16, shape).astype(kind),
                      "indices": np.array([1, 0, -2, 9], np.int64) if gathered != 1 else np.array(35, np.int64),
                      "scales": values.uniform(0.01, 0.1, blocks).astype(np.float32),
                      "zeros": values.integers(low, low + 16, blocks).astype(kind) if zeros else None}
            held = [name for name in ("data", "zeros") if inputs[name] is not None]
            self.nibbles_beside(inputs, held, block_size=16, gather_axis=gathered, quantize_axis=split)

    def test_gather_small_floats(self):
        """By the formula, with numbers that all of these types hold: along the blocks and beside them, in whole bytes
        or not, to a scalar."""
        values = np.random.default_rng(29)
        cases = [((48,), 5, 0, 0), ((48,), [5, -1, 20], 0, 0), ((3, 48), [[5, -1], [20, 0]], 1, 1), ((3, 48), 2, 0, 1),
                 ((32, 5), [17, 3], 0, 0), ((4, 33), [32, 3], 1, 1), ((33, 3), [1, 2], 1, 0)]
        for kind, (shape, index, gathered, split) in itertools.product(
                (TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E5M2, TensorProto.FLOAT4E2M1), cases):
            blocks = list(shape)
            blocks[split] = -(-shape[split] // 16)
            x, scales = values.integers(-4, 5, shape).astype(np.float32) / 2, values.uniform(0.5, 2, blocks)
            scales = scales.astype(np.float32)
            held = [numpy_helper.from_array(scales, "s"), numpy_helper.from_array(np.array(index, np.int64), "i")]
            nodes = [helper.make_node("Cast", ["x"], ["d"], to=kind),
                     helper.make_node("GatherBlockQuantized", ["d", "i", "s"], ["y"], domain="com.microsoft", bits=8,
                                      gather_axis=gathered, quantize_axis=split, block_size=16)]
            graph = helper.make_graph(nodes, "test", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                                      [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], held)
            model = helper.make_model(graph, ir_version=11, opset_imports=[
                helper.make_opsetid("", 24), helper.make_opsetid("com.microsoft", 1)])
            whole = x * np.repeat(scales, 16, axis=split).take(np.arange(shape[split]), axis=split)
            with self.subTest(kind=kind, shape=shape, index=index, gathered=gathered, split=split):
                self.agree(run(model, {"x": x}), [np.asarray(np.take(whole, np.array(index), axis=gathered))])

    def test_gather_defaults(self):
        values = np.random.default_rng(27)
        indices = np.array([2, 0], np.int64)
        self.beside("GatherBlockQuantized", {
            "data": codes(values, (6, 300), np.uint8), "indices": indices,
            "scales": values.uniform(0.01, 0.1, (6, 3)).astype(np.float32)}, exact=True, bits=8)
        for attributes, blocks in (({}, (4, 2, 5)), ({"block_size": 64}, (4, 3, 5)), ({"quantize_axis": 2}, (4, 150, 1)),
                                   ({"gather_axis": 2}, (4, 2, 5))):
            self.nibbles_beside({"data": values.integers(0, 16, (4, 150, 5)).astype(ml_dtypes.uint4), "indices": indices,
                                 "scales": values.uniform(0.01, 0.1, blocks).astype(np.float32), "zeros": None},
                                ["data"], **attributes)

    def nibbles_beside(self, inputs, held, **attributes):
        """As `beside`, with constants of elements below a byte."""
        whole = {name: x if x is None or name not in held else x.astype(np.int8) for name, x in inputs.items()}
        model = contrib_model("GatherBlockQuantized", whole, (TensorProto.FLOAT,), constants=held, **attributes)
        for tensor in model.graph.initializer:
            tensor.data_type = helper.np_dtype_to_tensor_dtype(inputs[tensor.name].dtype)
            tensor.raw_data = packed(whole[tensor.name].astype(np.uint8).ravel() & 15, 4).tobytes()
        fed = {name: x for name, x in inputs.items() if x is not None and name not in held}
        with self.subTest(shapes={name: x.shape for name, x in inputs.items() if x is not None}, **attributes):
            expected = in_runtime(model, fed)
            self.agree(run(model, fed), expected)

    def test_quantize_to_nibbles(self):
        """Codes of 4 bits, by the formula: to one another, as they are no inputs here."""
        values = np.random.default_rng(28)
        for kind, real, per_axis, zeros, axis in itertools.product(
                (ml_dtypes.int4, ml_dtypes.uint4), (np.float32, np.float16), (False, True), (False, True), (None, 0)):
            low = -8 if kind == ml_dtypes.int4 else 0
            shape = ((4, 7)[1 if axis is None else axis],) if per_axis else ()
            x, y = values.integers(low, low + 16, (4, 7)), values.standard_normal((4, 7)).astype(real)
            scale = np.asarray(values.uniform(0.1, 0.2, shape), real)
            zero = np.asarray(values.integers(low, low + 16, shape)) if zeros else np.zeros(shape, int)
            element = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
            held = [onnx.TensorProto(name=name, data_type=element, dims=v.shape,
                                     raw_data=packed(np.atleast_1d(v).ravel() & 15, 4).tobytes())
                    for name, v in (("x", x), ("z", zero))]
            held = [*held[:2 if zeros else 1], numpy_helper.from_array(scale, "s")]
            operands, order = ["s", "z"][:2 if zeros else 1], {} if axis is None else {"axis": axis}
            def node(name, *names, order=order):
                return helper.make_node(name, names[:-1], names[-1:], domain="com.microsoft", **order)
            nodes = [node("DequantizeLinear", "x", *operands, "d")]
            if zeros:  # else the codes are bytes
                nodes += [node("QuantizeLinear", "y", *operands, "q"), node("DequantizeLinear", "q", *operands, "e")]
            width = helper.np_dtype_to_tensor_dtype(np.dtype(real))
            graph = helper.make_graph(
                nodes, "test", [helper.make_tensor_value_info("y", width, y.shape)],
                [helper.make_tensor_value_info(name, width, None) for name in ("d", "e")[:2 if zeros else 1]], held)
            model = helper.make_model(graph, ir_version=10, opset_imports=[
                helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)])
            if axis == 0 and per_axis:
                scale, zero = scale[:, None], zero[:, None]
            quotients = (y / scale).astype(np.float64) if real == np.float32 else y.astype(np.float64) / scale
            again = np.clip(np.rint(quotients) + zero, low, low + 15)
            expected = [((each - zero) * scale.astype(np.float64)).astype(real) for each in (x, again)]
            with self.subTest(kind=kind, real=real, per_axis=per_axis, zeros=zeros, axis=axis):
                found = run(model, {"y": y})
                self.agree(found, expected[:2 if zeros else 1], 1e-6 if real == np.float32 else 1e-3)
                self.agree(found, in_runtime(model, {"y": y}), 1e-6)


if __name__ == "__main__":
    unittest.main()
