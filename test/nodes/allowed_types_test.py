# SPDX-License-Identifier: Apache-2.0
"""Every element type that a schema allows: ONNX's own cases of one node with the operands of each type variable
in every type of its constraint, beside the reference implementation. Usage: allowed_types_test.py TOOL CASES

CASES is the folder that make_cases.py has made. A variant must convert and run wherever the reference
implementation computes it; where the results may differ is said below, by operator and with the reason.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import warnings

import numpy as np
import onnx
from onnx import TensorProto, defs, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

TOOL, CASES = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
NUMBERS = {name: getattr(TensorProto, name.upper()) for name in (
    "float", "double", "float16", "bfloat16", "bool", "string", "complex64", "complex128", "int2", "uint2", "int4",
    "uint4", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float4e2m1", "float6e2m3",
    "float6e3m2", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float8e8m0")}
CHUNK = 40
RANDOM = ("Bernoulli", "Dropout")
# What the types of the case decide beside this one: another type alone makes no valid model.
BOUND = {
    "BitCast": "the width of another type",
    "Adam": "T3 is also the type of outputs that T1 decides", "Momentum": "as Adam",
    "LabelEncoder": "the keys have the type of X", "TfIdfVectorizer": "the pool has the type of X",
    "Loop": "the body declares types", "Scan": "the body declares types", "If": "the branches declare types",
    "SequenceMap": "the body declares types", "FlexAttention": "the graphs declare types",
}
# Pairs that are refused, at least for some attributes, each for a reason that a specialist would accept.
NO_COMPLEX = "there is no arithmetic of complex numbers"
NO_FRACTION = "alpha and beta of these cases are fractions"
REFUSED = {
    **{(operator, kind): NO_COMPLEX for operator in ("Col2Im", "GridSample", "Resize", "ScatterElements", "ScatterND")
       for kind in ("complex64", "complex128")},
    **{("Gemm", kind): NO_FRACTION for kind in ("int32", "int64", "uint32", "uint64")},
    ("Col2Im", "string"): "strings have no sum",
    ("ScatterElements", "string"): "strings have no sum", ("ScatterND", "string"): "strings have no sum",
    ("GridSample", "string"): "between strings lies nothing",
    ("Resize", "string"): "between strings lies nothing", ("Resize", "bool"): "between bools lies nothing",
    ("DequantizeLinear", "float8e8m0"): "without output_dtype the result has the type of the scale, which it may not",
    ("ImageDecoder", "uint8"): "the operator is not built",
}
# Where the reference implementation does not compute what the specification says, or rounds otherwise; an
# operator, or one at a type.
OTHERWISE = {
    "AffineGrid": "it computes in float", "Det": "it gives double", "ReduceSumSquare": "NumPy widens uint32",
    "BatchNormalization": "it gives running statistics in the type of X",
    "LayerNormalization": "it gives statistics in the type of X",
    "RMSNormalization": "it gives the type of X, the specification that of scale",
    "QLinearMatMul": "it drops NaN of float8", "QuantizeLinear": "it ignores zero points of float8",
    "DequantizeLinear": "it ignores zero points of float4", "GridSample": "it cuts integers at every step",
    "CastLike": "NaN, infinities and what an integer cannot hold", "DFT": "it rounds to float at every step",
    ("Cast", "float8e4m3fnuz"): "another code of NaN", ("Cast", "float8e5m2fnuz"): "another code of NaN",
    ("SoftmaxCrossEntropyLoss", "bfloat16"): "it rounds every sum", ("STFT", "bfloat16"): "it rounds every sum",
}
COARSE = ("bfloat16", "float16", "float8", "float6", "float4")


def dtype(name):
    return object if name == "string" else helper.tensor_dtype_to_np_dtype(NUMBERS[name])


def converted(x, name):
    if x.dtype.kind in "OUS" and name != "string":
        x = np.arange(x.size).reshape(x.shape)
    if x.dtype.kind == "c":
        x = x.real
    if x.dtype.kind not in "fiubOUS":
        x = x.astype(np.float64)
    if name == "string":
        return x.astype(str).astype(object)
    if name == "bool":
        return x.astype(bool) if x.dtype.kind == "b" else x > 0.3
    if name.startswith("uint"):
        x = np.abs(x.astype(np.float64))
    return x.astype(dtype(name))


def template(folder):
    """The case's model, its schema and inputs by name, if it is one node that takes tensors."""
    model = onnx.load(folder / "model.onnx")
    if len(model.graph.node) != 1 or model.graph.node[0].op_type in BOUND:
        return None
    node = model.graph.node[0]
    version = next((each.version for each in model.opset_import if each.domain == node.domain), 1)
    inputs = {}
    for i, info in enumerate(model.graph.input):
        if info.type.WhichOneof("value") != "tensor_type":
            return None
        tensor = onnx.TensorProto.FromString((folder / f"test_data_set_0/input_{i}.pb").read_bytes())
        inputs[info.name] = numpy_helper.to_array(tensor)
    return model, defs.get_schema(node.op_type, version, node.domain), inputs


def variants():
    """(title, operator, type, model, inputs): for each operator, version, form and variable one case is enough."""
    done = set()
    for folder in sorted((CASES / "node").iterdir()):
        found = template(folder) if folder.is_dir() else None
        if found is None:
            continue
        model, schema, inputs = found
        node = model.graph.node[0]
        form = (*map(bool, node.input), *sorted(each.name for each in node.attribute))
        for constraint in schema.type_constraints:
            formal = {name: schema.inputs[min(i, len(schema.inputs) - 1)].type_str
                      for i, name in enumerate(node.input) if name}
            members = [name for name in inputs if formal.get(name) == constraint.type_param_str]
            for text in sorted(constraint.allowed_type_strs if members else ()):
                kind = re.fullmatch(r"tensor\((\w+)\)", text)
                key = (schema.domain, schema.name, schema.since_version, constraint.type_param_str, text, form)
                if kind is None or key in done:
                    continue
                done.add(key)
                variant = onnx.ModelProto()
                variant.CopyFrom(model)
                for info in variant.graph.input:
                    if info.name in members:
                        info.type.tensor_type.elem_type = NUMBERS[kind[1]]
                for info in variant.graph.output:
                    info.ClearField("type")
                given = {name: converted(x, kind[1]) if name in members else x for name, x in inputs.items()}
                yield (f"{schema.name}({schema.since_version}) {constraint.type_param_str} = {kind[1]} of "
                       f"{folder.name}", schema.name, kind[1], variant, given)


def write(folder, model, inputs, outputs, kind):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    if kind.startswith(COARSE):
        (folder / "tolerance.json").write_text('{"rtol": 0.03, "atol": 0.03}')
    for what, names, values in (("input", inputs.keys(), inputs.values()),
                                ("output", [info.name for info in model.graph.output], outputs)):
        for i, (name, x) in enumerate(zip(names, values)):
            value = numpy_helper.from_list(x, name) if isinstance(x, list) else (
                numpy_helper.from_array(np.asarray(x), name))
            data.joinpath(f"{what}_{i}.pb").write_bytes(value.SerializeToString())


def messages(folders):
    done = subprocess.run([TOOL, "conformance", *map(str, folders)], capture_output=True, text=True, check=False,
                          timeout=300)
    lines = done.stdout.splitlines()
    if not lines or not re.fullmatch(r"\d+ passed, \d+ failed", lines[-1]):
        raise RuntimeError(f"the tool ended with status {done.returncode}: {done.stdout}{done.stderr}")
    return dict(line.split(": ", 1) for line in lines[:-1])


class AllowedTypes(unittest.TestCase):
    def test_every_pair_of_operator_and_type(self):
        titles, refused, pairs = {}, set(), set()
        with tempfile.TemporaryDirectory() as place, np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for number, (title, operator, kind, model, inputs) in enumerate(variants()):
                try:
                    outputs = ReferenceEvaluator(model).run(None, inputs)
                    folder = pathlib.Path(place, f"v{number}")
                    write(folder, model, inputs, outputs, kind)
                except Exception:  # not implemented there, for this type
                    continue
                titles[folder] = (title, operator, kind)
            folders = list(titles)
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                parts = [folders[i:i + CHUNK] for i in range(0, len(folders), CHUNK)]
                found = {name: text for part in pool.map(messages, parts) for name, text in part.items()}
        for folder, (title, operator, kind) in titles.items():
            text = found.get(folder.name, "")
            pairs.add((operator, kind))
            if not text or operator in RANDOM:
                continue
            with self.subTest(title):
                if not text.startswith("test_data_set_0, output"):
                    refused.add((operator, kind))
                    self.assertIn((operator, kind), REFUSED, text)
                elif operator not in OTHERWISE and (operator, kind) not in OTHERWISE:
                    self.fail(text)
        self.assertGreater(len(pairs), 1200)
        self.assertLessEqual(refused, REFUSED.keys())


if __name__ == "__main__":
    unittest.main()
