#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the golden plans of a format version: tiny models, converted by the command, with inputs
and with the outputs that ONNX Runtime gives. Run once per format version, before its first release:

    build/cache/venv/bin/python test/golden/make_golden.py --tool build/release/bin/intarsia

writes test/golden/v<N>/<case>/: model.onnx, model.plan, and run_<n>/input_<i>.npy, output_<i>.npy for the runs
of one session, in order. Everything follows from the seeds."""

import argparse
import pathlib
import shutil
import struct
import subprocess

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FORMAT_VERSION = 1


def random(seed, *shape):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


class Case:
    """A model under construction, the options that convert it, and the inputs of its runs."""

    def __init__(self, *options, states=None):
        self.options, self.states = options, states or {}
        self.nodes, self.inputs, self.outputs, self.weights, self.runs = [], [], [], [], []

    def input(self, name, shape, kind=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))

    def output(self, name, kind=TensorProto.FLOAT):
        self.outputs.append(helper.make_tensor_value_info(name, kind, None))

    def weight(self, name, value):
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))

    def node(self, kind, inputs, outputs, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, outputs, f"{kind}_{len(self.nodes)}",
                                           **attributes))

    def value(self, name, kind, output=False):
        """An input or output that is no tensor."""
        (self.outputs if output else self.inputs).append(helper.make_value_info(name, kind))

    def model(self):
        graph = helper.make_graph(self.nodes, "golden", self.inputs, self.outputs, self.weights)
        return helper.make_model(graph, ir_version=10,
                                 opset_imports=[helper.make_opsetid("", 21),
                                                helper.make_opsetid("ai.onnx.ml", 3)])


def record(value):
    """A value as an element of a sequence, byte for byte as docs/plan_format.md says."""
    held = elements(value)
    kind = {dict: 29, list: 31}.get(type(value)) or helper.np_dtype_to_tensor_dtype(value.dtype)
    data = value.tobytes() if held is None else held
    shape = value.shape if held is None else (len(data),)
    head = struct.pack("<qBB6x8i", len(data), kind, len(shape), *shape, *[0] * (8 - len(shape)))
    return head + data + bytes(-len(data) % 16)


def elements(value):
    """The bytes of a list of values or of a map from integers to floats; None of an array."""
    if isinstance(value, dict):
        value = [np.array(list(value), np.int64), np.array(list(value.values()), np.float32)]
    return b"".join(map(record, value)) if isinstance(value, list) else None


def mlp():
    """Packed weights, bias and activation fused, softmax."""
    case = Case()
    case.input("x", [2, 5])
    case.output("y")
    case.weight("w1", random(1, 5, 7))
    case.weight("b1", random(2, 7))
    case.weight("w2", random(3, 7, 3))
    case.node("Gemm", ["x", "w1", "b1"], ["h"])
    case.node("Relu", ["h"], ["r"])
    case.node("MatMul", ["r", "w2"], ["m"])
    case.node("Softmax", ["m"], ["y"])
    case.runs = [[random(4, 2, 5)], [random(5, 2, 5)]]
    return case


def image():
    """Convolutions with padding, stride and groups, a residual, pooling; a workspace."""
    case = Case("--threads", "2")
    case.input("x", [1, 3, 8, 8])
    case.output("y")
    case.weight("w1", random(1, 8, 3, 3, 3))
    case.weight("b1", random(2, 8))
    case.weight("w2", random(3, 8, 1, 3, 3))
    case.node("Conv", ["x", "w1", "b1"], ["a"], pads=[1, 1, 1, 1], strides=[2, 2])
    case.node("Conv", ["a", "w2"], ["b"], pads=[1, 1, 1, 1], group=8)
    case.node("Add", ["a", "b"], ["c"])
    case.node("Relu", ["c"], ["d"])
    case.node("MaxPool", ["d"], ["e"], kernel_shape=[2, 2], strides=[2, 2])
    case.node("GlobalAveragePool", ["e"], ["f"])
    case.node("Flatten", ["f"], ["y"])
    case.runs = [[random(4, 1, 3, 8, 8)]]
    return case


def varying():
    """A symbolic dimension: extents and shape functions at run time."""
    case = Case("--dim", "n=1..6")
    case.input("x", ["n", 4])
    case.output("y")
    case.output("s", TensorProto.INT64)
    case.node("Concat", ["x", "x"], ["c"], axis=0)
    case.node("Transpose", ["c"], ["t"], perm=[1, 0])
    case.node("ReduceMean", ["t"], ["m"], keepdims=1)
    case.node("Sub", ["t", "m"], ["y"])
    case.node("Shape", ["y"], ["s"])
    case.runs = [[random(n, n, 4)] for n in (6, 1, 3)]
    return case


def branches():
    """If with two branches, each with a node of its own."""
    case = Case()
    case.input("condition", [], TensorProto.BOOL)
    case.input("x", [3])
    case.output("y")
    case.weight("two", np.float32([2]))
    graphs = {}
    for branch, kind in (("then_branch", "Add"), ("else_branch", "Mul")):
        node = helper.make_node(kind, ["x", "two"], [branch])
        info = helper.make_tensor_value_info(branch, TensorProto.FLOAT, [3])
        graphs[branch] = helper.make_graph([node], branch, [], [info])
    case.node("If", ["condition"], ["y"], **graphs)
    case.runs = [[np.array(value), random(1, 3)] for value in (True, False)]
    return case


def recurrent():
    """An LSTM whose state is kept between runs."""
    case = Case("--state", "h_out=h_in", "--state", "c_out=c_in",
                states={"h_out": "h_in", "c_out": "c_in"})
    case.input("x", [2, 1, 3])
    case.input("h_in", [1, 1, 4])
    case.input("c_in", [1, 1, 4])
    case.output("y")
    case.output("h_out")
    case.output("c_out")
    case.weight("w", random(1, 1, 16, 3))
    case.weight("r", random(2, 1, 16, 4))
    case.weight("b", random(3, 1, 32))
    case.node("LSTM", ["x", "w", "r", "b", "", "h_in", "c_in"], ["y", "h_out", "c_out"],
              hidden_size=4)
    case.runs = [[random(seed, 2, 1, 3)] for seed in (4, 5, 6)]
    return case


def values():
    """Extents that depend on values, indices, integers."""
    case = Case("--bound", "nonzero=1x6")
    case.input("x", [6])
    case.input("table", [3, 2], TensorProto.INT64)
    case.input("i", [2], TensorProto.INT64)
    case.output("picked")
    case.output("rows", TensorProto.INT64)
    case.node("NonZero", ["x"], ["nonzero"])
    case.node("Transpose", ["nonzero"], ["places"])
    case.node("GatherND", ["x", "places"], ["picked"])
    case.node("Gather", ["table", "i"], ["rows"], axis=0)
    indices = np.array([2, -3], np.int64)
    table = np.arange(6, dtype=np.int64).reshape(3, 2) * 10**12
    case.runs = [[np.float32(x), table, indices]
                 for x in ([0, 1, 0, 2, 0, 3], [0] * 6, [1, 2, 3, 4, 5, 6])]
    return case


def loops():
    """A Loop that feeds a value back, stops early, and keeps every step; a sequence that it grows."""
    case = Case("--max-trips", "Loop_1=5")
    case.input("trips", [], TensorProto.INT64)
    case.input("x", [2, 3])
    for name in ("last", "steps", "joined"):
        case.output(name)
    case.output("length", TensorProto.INT64)
    for name, value in (("half", np.float32(0.5)), ("few", np.float32(0.1))):
        case.weight(name, value)
    nodes = [helper.make_node("Mul", ["old", "half"], ["new"]),
             helper.make_node("Add", ["new", "x"], ["step"]),
             helper.make_node("SequenceInsert", ["so_far", "step"], ["more"]),
             helper.make_node("ReduceMax", ["new"], ["largest"], keepdims=0),
             helper.make_node("Greater", ["largest", "few"], ["goes_on"])]
    info = helper.make_tensor_value_info
    row = helper.make_tensor_type_proto(TensorProto.FLOAT, [2, 3])
    rows = helper.make_sequence_type_proto(row)
    body = helper.make_graph(
        nodes, "body",
        [info("trip", TensorProto.INT64, []), info("go", TensorProto.BOOL, []),
         info("old", TensorProto.FLOAT, [2, 3]), helper.make_value_info("so_far", rows)],
        [info("goes_on", TensorProto.BOOL, []), info("new", TensorProto.FLOAT, [2, 3]),
         helper.make_value_info("more", rows), info("step", TensorProto.FLOAT, [2, 3])])
    case.node("SequenceConstruct", ["x"], ["first"])
    case.node("Loop", ["trips", "", "x", "first"], ["last", "all", "steps"], body=body)
    case.node("ConcatFromSequence", ["all"], ["joined"], axis=0)
    case.node("SequenceLength", ["all"], ["length"])
    case.runs = [[np.array(trips), np.full([2, 3], 0.9, np.float32) * random(1, 2, 3)]
                 for trips in (1, 5, 2)]
    return case


def strings():
    """Strings: constants, joined, compared, cut, and made in a loop."""
    case = Case("--max-trips", "Loop_4=3", "--max-string", "24")
    case.input("x", [3], TensorProto.STRING)
    case.input("trips", [], TensorProto.INT64)
    for name in ("joined", "parts", "longer"):
        case.output(name, TensorProto.STRING)
    case.output("same", TensorProto.BOOL)
    case.output("counts", TensorProto.INT64)
    case.weights += [helper.make_tensor("tails", TensorProto.STRING, [3], [b" a", b"", b" b c"]),
                     helper.make_tensor("bang", TensorProto.STRING, [], [b"!"])]
    case.node("StringConcat", ["x", "tails"], ["joined"])
    case.node("Equal", ["x", "joined"], ["same"])
    case.node("StringSplit", ["joined"], ["parts", "counts"], maxsplit=2)
    case.node("Identity", ["bang"], ["mark"])
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("StringConcat", ["old", "mark"], ["new"])], "body",
        [info("trip", TensorProto.INT64, []), info("go", TensorProto.BOOL, []),
         info("old", TensorProto.STRING, [3])],
        [info("go", TensorProto.BOOL, []), info("new", TensorProto.STRING, [3])])
    case.node("Loop", ["trips", "", "x"], ["longer"], body=body)
    case.runs = [[np.array(words), np.array(trips)]
                 for words, trips in ((["stop", "go", "wait"], 3), (["", "x y z", "1"], 1))]
    return case


def counter():
    """A state that begins with values of the model."""
    case = Case("--state", "sum_out=sum", states={"sum_out": "sum"})
    case.input("x", [2, 2])
    case.input("sum", [2, 2])
    case.output("sum_out")
    case.output("y")
    case.weight("sum", random(1, 2, 2))
    case.node("Add", ["sum", "x"], ["sum_out"])
    case.node("Exp", ["sum_out"], ["y"])
    case.runs = [[random(seed, 2, 2)] for seed in (2, 3, 4)]
    return case


def maps():
    """Maps made of rows, looked up and put in order."""
    case = Case("--max-length", "m=4")
    number = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
    kind = onnx.TypeProto()
    kind.map_type.key_type = TensorProto.INT64
    kind.map_type.value_type.CopyFrom(number)
    case.input("x", [2, 3])
    case.value("m", kind)
    case.value("rows", helper.make_sequence_type_proto(kind), output=True)
    case.output("found")
    case.output("ordered")
    domain = "ai.onnx.ml"
    case.node("ZipMap", ["x"], ["rows"], domain=domain, classlabels_int64s=[-5, 0, 7])
    case.node("DictVectorizer", ["m"], ["found"], domain=domain, int64_vocabulary=[9, -1, 3, 4])
    case.node("CastMap", ["m"], ["ordered"], domain=domain)
    case.runs = [[random(1, 2, 3), {1: 0.5, 3: -1.5, 9: 2.0}], [random(2, 2, 3), {4: 1.25}]]
    return case


def entries():
    """Two entry points with a weight and a state in common: one fills it, the other uses it up."""
    shared = random(1, 4, 4)
    fill = Case("--state", "fill:memory_out=memory", states={"memory_out": "memory"})
    fill.input("x", [3, 4])
    fill.output("memory_out")
    fill.output("y")
    fill.weight("w", shared)
    fill.node("MatMul", ["x", "w"], ["memory_out"])
    fill.node("Tanh", ["memory_out"], ["y"])
    fill.runs = [[random(seed, 3, 4)] for seed in (2, 3)]
    step = Case("--state", "step:rest=memory", "--state", "step:count_out=count",
                states={"rest": "memory", "count_out": "count"})
    step.input("x", [3, 4])
    step.input("memory", [3, 4])
    step.input("count", [1])
    step.output("z")
    step.output("rest")
    step.output("count_out")
    step.weight("w", shared)
    step.weight("one", np.ones(1, np.float32))
    step.node("MatMul", ["memory", "w"], ["mixed"])
    step.node("Add", ["mixed", "x"], ["sum"])
    step.node("Mul", ["sum", "count"], ["z"])
    step.node("Sub", ["memory", "sum"], ["rest"])
    step.node("Add", ["count", "one"], ["count_out"])
    step.runs = [[random(seed, 3, 4)] for seed in (4, 5)]
    return {"fill": fill, "step": step}


CASES = [mlp, image, varying, branches, recurrent, values, loops, strings, counter, maps, entries]


def write_runs(cases, folder):
    """Inputs and ONNX Runtime's outputs; states are fed back here and stay inside the session. Run i
    is of entry point i modulo their number."""
    sessions, kept = {}, {}
    for name, case in cases.items():
        sessions[name] = onnxruntime.InferenceSession(case.model().SerializeToString(),
                                                      providers=["CPUExecutionProvider"])
        for i in case.inputs:
            if i.name in case.states.values():
                shape = [d.dim_value for d in i.type.tensor_type.shape.dim]
                begin = [w for w in case.weights if w.name == i.name]
                kept[i.name] = (numpy_helper.to_array(begin[0]) if begin
                                else np.zeros(shape, np.float32))
    for number in range(sum(len(case.runs) for case in cases.values())):
        entry = list(cases)[number % len(cases)]
        case = cases[entry]
        inputs = case.runs[number // len(cases)]
        names = [i.name for i in case.inputs]
        feed = {name: kept[name] for name in names if name in kept}
        feed.update(zip((name for name in names if name not in kept), inputs, strict=True))
        outputs = dict(zip((o.name for o in case.outputs), sessions[entry].run(None, feed)))
        for source, target in case.states.items():
            kept[target] = outputs.pop(source)
        run = folder / f"run_{number}"
        run.mkdir(parents=True)
        for kind, arrays in (("input", inputs), ("output", outputs.values())):
            for i, array in enumerate(arrays):
                held = elements(array)
                if held is not None:
                    array = np.frombuffer(held, np.uint8)
                if array.dtype == object:  # strings, which are saved as bytes
                    array = np.char.encode(array.astype(str))
                np.save(run / f"{kind}_{i}.npy", array)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the intarsia command")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    arguments = parser.parse_args()
    for make in CASES:
        made = make()
        cases = made if isinstance(made, dict) else {"main": made}
        folder = arguments.out / f"v{FORMAT_VERSION}" / make.__name__
        shutil.rmtree(folder, ignore_errors=True)
        write_runs(cases, folder)
        models = []
        for name, case in cases.items():
            file = folder / ("model.onnx" if made is case else f"{name}.onnx")
            onnx.save(case.model(), file)
            models += [file] if made is case else ["--entry", f"{name}={file}"]
            models += case.options
        subprocess.run([arguments.tool, "convert", *models, "-o", folder / "model.plan"], check=True)
        print(f"{folder}: {sum(f.stat().st_size for f in folder.rglob('*.*'))} bytes")


if __name__ == "__main__":
    main()
