# SPDX-License-Identifier: Apache-2.0
"""Cast between all element types, and quantisation to all of them at every granularity, beside
ml_dtypes and ONNX's reference implementation. Usage: types_test.py TOOL"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

TOOL = sys.argv.pop(1)
WIDE = ("FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "INT8", "INT16", "INT32", "INT64", "UINT8",
        "UINT16", "UINT32", "UINT64", "BOOL")
FLOAT8 = ("FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ")
SMALL_FLOATS = (*FLOAT8, "FLOAT4E2M1", "FLOAT6E2M3", "FLOAT6E3M2")
SMALL_INTEGERS = ("INT4", "UINT4", "INT2", "UINT2")
SMALL = (*SMALL_FLOATS, "FLOAT8E8M0", *SMALL_INTEGERS)
BITS = {"FLOAT4E2M1": 4, "FLOAT6E2M3": 6, "FLOAT6E3M2": 6, "INT4": 4, "UINT4": 4, "INT2": 2, "UINT2": 2}


def number(name):
    return getattr(TensorProto, name)


def dtype(name):
    return np.dtype(helper.tensor_dtype_to_np_dtype(number(name)))


def is_float(name):
    return "FLOAT" in name or name == "DOUBLE"


def run(nodes, inputs, outputs):
    """What the tool gives for tensors {name: (type, array)}, as arrays of the outputs' types."""
    graph = helper.make_graph(
        nodes, "test",
        [helper.make_tensor_value_info(name, number(kind), x.shape) for name, (kind, x) in inputs.items()],
        [helper.make_tensor_value_info(name, number(kind), None) for name, kind in outputs.items()])
    model = helper.make_model(graph, ir_version=13, opset_imports=[helper.make_opsetid("", 28)])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        onnx.save(model, path / "model.onnx")
        command = [TOOL, "run", path / "model.onnx", "--output-dir", path]
        for name, (kind, x) in inputs.items():
            tensor = numpy_helper.from_array(x.astype(dtype(kind)), name)
            (path / f"{name}.pb").write_bytes(tensor.SerializeToString())
            command += ["--input", f"{name}={path / name}.pb"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        found = {}
        for i, (name, kind) in enumerate(outputs.items()):
            array = np.load(path / f"output_{i}.npy")
            as_bits = array.dtype != dtype(kind) and is_float(kind)
            found[name] = array.view(dtype(kind)) if as_bits else array.astype(dtype(kind))
    return model, found


def values_of(kind):
    """All there are of a small type; of others ordinary ones, special ones, ties of every type."""
    if kind in SMALL:
        codes = np.arange(1 << BITS.get(kind, 8), dtype=np.uint8)
        if kind in SMALL_INTEGERS:
            return codes.view(np.int8).astype(dtype(kind))
        return codes.view(dtype(kind))
    values = np.random.default_rng(1)
    if kind == "BOOL":
        return values.integers(0, 2, 37).astype(np.bool_)
    if not is_float(kind):
        info = np.iinfo(dtype(kind))
        near = [v for p in range(64) for d in (-1, 0, 1) for s in (1, -1)
                if info.min <= (v := s * (1 << p) + d) <= info.max]
        near += [v for v in ((1 << 62) + (1 << 54) + 1, (1 << 62) + (1 << 54)) if v <= info.max]
        return np.array([0, info.min, info.max, *near], dtype(kind))
    wide = np.concatenate([
        values.standard_normal(999) * 10.0 ** values.integers(-9, 9, 999),
        np.arange(-64, 65) / 16, np.arange(-64, 65) * 8.0, np.ldexp(1.0, np.arange(-140, 128)),
        np.ldexp(1.5, np.arange(-140, 120)), np.arange(1, 400) * 2.0**-19,
        [0.0, -0.0, np.inf, -np.inf, np.nan, 448, 464, 464.1, 480, 240, 248, 57344, 61440, 65536]])
    if kind == "DOUBLE":
        wide = np.concatenate([wide, wide * (1 + 2.0**-40), wide * (1 - 2.0**-40)])
    with np.errstate(over="ignore"):
        return wide.astype(dtype(kind))


def to_power(x, saturate, mode):
    """The power of two for float8e8m0 by its definition; x is a positive double."""
    if np.isnan(x):
        return np.nan
    low, high = 2.0**-127, 2.0**127
    if np.isinf(x) or x == 0:
        return (high if x else low) if saturate else np.nan
    if x < low:
        return low if saturate else np.nan
    exponent = int(np.floor(np.log2(x)))
    if 2.0**exponent > x:
        exponent -= 1
    between = x / 2.0**exponent
    if between > 1 and (mode == "up" or (mode == "nearest" and between >= 1.5)):
        exponent += 1
    if -127 <= exponent <= 127:
        return 2.0**exponent
    return (low if exponent < 0 else high) if saturate else np.nan


def expected_cast(x, kind, saturate=True):
    """x, whose numbers are those of a type, as type `kind`."""
    if kind == "BOOL":
        return x.astype(np.float64) != 0
    if kind in SMALL_FLOATS:
        largest = float(ml_dtypes.finfo(dtype(kind)).max)
        wide = x if x.dtype == np.float64 else x.astype(np.float64) if is_small(x) else x
        if wide.dtype.kind in "iu":  # beyond 2^53 every one of these types is at its limit
            wide = wide.astype(np.float64)
        if saturate:
            wide = np.clip(wide, -largest, largest)
        return (round_to_odd(wide) if wide.dtype == np.float64 else wide).astype(dtype(kind))
    if kind == "BFLOAT16" and x.dtype == np.float64:
        x = round_to_odd(x)
    return x.astype(dtype(kind))


def is_small(x):
    return x.dtype.kind not in "fiub"


def round_to_odd(x):
    """Doubles as floats that round on to fewer bits like them; ml_dtypes rounds twice."""
    near = x.astype(np.float32)
    back = near.astype(np.float64)
    bits = near.view(np.uint32)
    even = (back != x) & ~np.isnan(x) & (bits % 2 == 0)
    step = np.where(np.abs(back) > np.abs(x), -1, 1)
    return np.where(even, bits + step, bits).astype(np.uint32).view(np.float32)


class Types(unittest.TestCase):
    def same(self, found, expected, what):
        a, b = found.astype(np.float64), expected.astype(np.float64)
        wrong = ~((a == b) | (np.isnan(a) & np.isnan(b)))
        if wrong.any():
            at = tuple(index[0] for index in np.nonzero(wrong))
            self.fail(f"{what}: {wrong.sum()} differ, first at {at}: {a[at]}, expected {b[at]}")

    def test_casts_between_all_types(self):
        tried = 0
        for source in (*WIDE, *SMALL):
            x = values_of(source)
            targets = [t for t in (*WIDE, *SMALL)
                       if (source in SMALL or t in SMALL or source == "INT64") and t != "FLOAT8E8M0"]
            nodes, outputs = [], {}
            for target in targets:
                for saturate in (1, 0) if target in FLOAT8 else (1,):
                    name = f"{target}_{saturate}"
                    nodes.append(helper.make_node("Cast", ["x"], [name], to=number(target),
                                                  saturate=saturate))
                    outputs[name] = target
            _, found = run(nodes, {"x": (source, x)}, outputs)
            for name, target in outputs.items():
                a, b = x, found[name]
                if not is_float(target) and target != "BOOL" and is_float(source):
                    wide = x.astype(np.float64)  # beyond the range ONNX leaves it undefined
                    info = ml_dtypes.iinfo(dtype(target))
                    fits = (np.trunc(wide) >= int(info.min)) & (np.trunc(wide) < float(int(info.max) + 1))
                    a, b = wide[fits], b[fits]
                elif not is_float(target) and target != "BOOL" and target in SMALL:
                    a = x.astype(np.int64)
                elif source == "INT64" and target == "BFLOAT16":
                    # ml_dtypes rounds twice, by way of float; exact: of 8 bits the rest decides
                    a = np.array([float(v) if abs(v) < 1 << 53 else odd(v) for v in x.tolist()])
                with np.errstate(all="ignore"):
                    expected = expected_cast(a, target, name.endswith("1"))
                self.same(b, expected, f"{source} to {name}")
                tried += 1
        self.assertGreater(tried, 400)

    def test_casts_to_powers_of_two(self):
        for source in (*WIDE, *SMALL):
            x = values_of(source)
            wide = x.astype(np.float64)
            x = x[~(wide < 0)]
            nodes, outputs, modes = [], {}, {}
            for saturate in (0, 1):
                for mode in ("up", "down", "nearest"):
                    name = f"{mode}_{saturate}"
                    nodes.append(helper.make_node("Cast", ["x"], [name], to=TensorProto.FLOAT8E8M0,
                                                  saturate=saturate, round_mode=mode))
                    outputs[name], modes[name] = "FLOAT8E8M0", (saturate, mode)
            _, found = run(nodes, {"x": (source, x)}, outputs)
            for name, (saturate, mode) in modes.items():
                expected = np.array([to_power(float(v) if source != "INT64" and source != "UINT64"
                                              else odd(int(v)), saturate, mode) for v in x])
                self.same(found[name], expected, f"{source}, {name}")

    def test_quantisation(self):
        values = np.random.default_rng(3)
        tried = 0
        for target in ("INT8", "UINT8", "INT16", "UINT16", *SMALL_INTEGERS, *SMALL_FLOATS):
            for shape, axis, block in (((), 1, 0), ((7,), 0, 0), ((3, 5, 7), 1, 0), ((3, 5, 7), -1, 0),
                                       ((4, 300), 0, 0), ((3, 7, 5), 1, 3), ((2, 3, 9), 2, 4),
                                       ((5, 2, 3), 0, 2), ((2, 3, 0), 1, 0), ((1, 9), 1, 100)):
                for kind in ("FLOAT", "FLOAT16", "BFLOAT16"):
                    for zeros in (False, True):
                        self.round_trip(values, target, kind, shape, axis, block, zeros)
                        tried += 1
        self.assertEqual(tried, 15 * 10 * 6)

    def round_trip(self, values, target, kind, shape, axis, block, zeros):
        x = (values.standard_normal(shape) * 3).astype(dtype(kind))
        extents = ()
        if block:
            extents = list(shape)
            extents[axis] = -(-shape[axis] // block)
        elif shape:
            extents = (shape[axis],) if shape != (4, 300) else (1,)
        scale = (values.random(extents) + 0.1).astype(dtype(kind))
        if len(shape) > 1 and "INT" in target and dtype(target).itemsize > 1:
            scale = (scale.astype(np.float64) / 1000).astype(dtype(kind))
        inputs = {"x": (kind, np.asarray(x)), "scale": (kind, np.asarray(scale))}
        names = ["x", "scale"]
        zero = None
        if zeros and target not in FLOAT8:
            low = 0 if target.startswith("U") else -2
            zero = np.asarray(values.integers(low, 2, extents)).astype(dtype(target))
            inputs["zero"] = (target, zero)
            names.append("zero")
        nodes = [helper.make_node("QuantizeLinear", names, ["q"], axis=axis, block_size=block,
                                  output_dtype=number(target)),
                 helper.make_node("DequantizeLinear", ["q", *names[1:]], ["y"], axis=axis,
                                  block_size=block)]
        what = f"{kind} {shape} axis {axis} block {block} zeros {zeros} to {target}"
        try:
            model, found = run(nodes, inputs, {"q": target, "y": kind})
        except RuntimeError as error:
            self.fail(f"{what}: {error}")
        wide = [np.asarray(a, np.float64) for a in (x, scale)]
        along = self.spread(wide[1], shape, axis, block)
        quotient = np.asarray(np.asarray(wide[0] / along).astype(dtype(kind)), np.float64)
        offset = 0 if zero is None else self.spread(zero.astype(np.float64), shape, axis, block)
        if "INT" in target:
            info = ml_dtypes.iinfo(dtype(target))
            q = np.clip(np.rint(quotient) + offset, int(info.min), int(info.max))
        else:
            largest = float(ml_dtypes.finfo(dtype(target)).max)
            q = np.clip((quotient + offset).astype(np.float32), -largest, largest).astype(dtype(target))
        self.same(found["q"], np.asarray(q), what)
        product = (np.asarray(found["q"], np.float64) - offset).astype(np.float32) * along.astype(np.float32)
        self.same(found["y"], np.asarray(product.astype(dtype(kind))), what + " and back")
        if block == 0 and shape:  # the reference implementation, as a whole
            reference = ReferenceEvaluator(model).run(
                None, {name: a.astype(dtype(k)) for name, (k, a) in inputs.items()})
            if kind == "FLOAT":
                self.same(found["q"], reference[0], what + " beside the reference")

    @staticmethod
    def spread(parameter, shape, axis, block):
        """A scale for each element."""
        if block:
            return np.repeat(parameter, block, axis).take(range(shape[axis]), axis)
        if parameter.size == 1 and parameter.ndim <= 1 and (not shape or shape[axis] != 1):
            return np.broadcast_to(parameter.reshape(()), shape)
        form = [1] * len(shape)
        form[axis] = -1
        return np.broadcast_to(parameter.reshape(form), shape)

    def test_quantised_types_are_those_that_the_node_names(self):
        x, scale = np.ones((2,), np.float32), np.float32(0.5)
        inputs = {"x": ("FLOAT", x), "scale": ("FLOAT", np.asarray(scale))}
        for attributes, kind in (({}, "UINT8"), ({"output_dtype": TensorProto.INT4}, "INT4")):
            _, found = run([helper.make_node("QuantizeLinear", ["x", "scale"], ["y"], **attributes)],
                           inputs, {"y": kind})
            self.assertEqual([2, 2], found["y"].astype(int).tolist())
        inputs["zero"] = ("INT8", np.asarray(1, np.int8))
        with self.assertRaisesRegex(RuntimeError, "type of zero point beside output_dtype"):
            run([helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["y"],
                                  output_dtype=TensorProto.UINT8)], inputs, {"y": "UINT8"})

    def test_scales_that_fit_nothing(self):
        x = np.ones((2, 3), np.float32)
        for extents, attributes, message in (((2,), {}, "extent of scale"),
                                             ((2, 3), {}, "rank of scale without block_size"),
                                             ((2, 3), {"block_size": 2}, "extent of scale"),
                                             ((3,), {"axis": 2}, "axis")):
            with self.assertRaisesRegex(RuntimeError, message):
                run([helper.make_node("QuantizeLinear", ["x", "scale"], ["y"], **attributes)],
                    {"x": ("FLOAT", x), "scale": ("FLOAT", np.ones(extents, np.float32))},
                    {"y": "UINT8"})


def odd(v):
    """An integer as a double that rounds like it: the 52nd bit tells of those behind."""
    shift = max(0, abs(v).bit_length() - 52)
    kept = (abs(v) >> shift) | (1 if abs(v) & ((1 << shift) - 1) else 0)
    return float(np.ldexp(float(kept), shift) * (-1 if v < 0 else 1))


if __name__ == "__main__":
    unittest.main()
