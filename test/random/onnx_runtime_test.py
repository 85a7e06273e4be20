# SPDX-License-Identifier: Apache-2.0
"""Every node of random models computes what ONNX Runtime computes.

Usage: onnx_runtime_test.py WRITER COUNT [FIRST]

WRITER (write_random_models) writes every tenth model from seed FIRST on, COUNT in all, with the
elements of every tensor in every run. Each node is executed alone on the elements of its inputs: so
one that ONNX Runtime refuses, because it lacks a kernel for a type or reads the specification
otherwise, hides no other. Nodes of which ONNX Runtime is known to compute something else stand in
onnx_runtime_differs.txt with the reason. At least half of all nodes must run.
"""
import collections
import multiprocessing
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime
from onnx import numpy_helper

LONGEST = 20  # seconds for a model
OPSET = 26


def known_differences():
    """Rows of operator, attribute, values that are meant as they are."""
    text = pathlib.Path(__file__).with_name("onnx_runtime_differs.txt").read_text()
    rows = [line.split("#")[0].split() for line in text.splitlines()]
    return [row for row in rows if row]


def name_of(node):
    return f"{node.domain}:{node.op_type}" if node.domain else node.op_type


def differs(node, rows):
    given = {each.name: str(onnx.helper.get_attribute_value(each)) for each in node.attribute
             if each.type != onnx.AttributeProto.GRAPH}
    for mark, names in (("<", node.input), (">", node.output)):
        given.update({f"{mark}{at}": names[at] if at < len(names) else "" for at in range(10)})
    return any(re.fullmatch(operator, name_of(node)) and
               (attribute == "*" or
                attribute in given and not re.fullmatch(values, given[attribute]))
               for operator, attribute, values in rows)


def differs_on(node, rows, elements_of):
    """The same for what elements of an input decide; `elements_of` gives those of a name, or None where a graph within
    makes them."""
    for operator, attribute, values in rows:
        if attribute[0] not in "@%$" or not re.fullmatch(operator, name_of(node)):
            continue
        at = int(attribute[1:])
        name = node.input[at] if at < len(node.input) else ""
        if not name:
            continue
        elements = elements_of(name)
        if elements is None:
            continue
        texts = {"@": map(str, elements), "%": [str(len(elements))],
                 "$": [str(elements.dtype)]}[attribute[0]]
        if not all(re.fullmatch(values, text) for text in texts):
            return True
    return False


def tolerance(node, rows):
    """By how much the node's results may be off, as a part of the largest."""
    return max((float(values) for operator, attribute, values in rows for each in all_nodes(node)
                if attribute == "~" and re.fullmatch(operator, name_of(each))), default=0.0)


def graphs_of(node):
    return [each.g for each in node.attribute if each.type == onnx.AttributeProto.GRAPH]


def all_nodes(node):
    """The node and those of its branches."""
    yield node
    for graph in graphs_of(node):
        for inner in graph.node:
            yield from all_nodes(inner)


def hands_on(node):
    """True for a Scan whose body returns what it is given, or one tensor twice: ONNX Runtime then returns memory that
    nobody wrote."""
    if node.op_type != "Scan":
        return False
    body = graphs_of(node)[0]
    results = {each.name for each in body.output}
    return len(results) < len(body.output) or bool({each.name for each in body.input} & results)


class Case:
    """A model, its runs and the elements of its tensors."""

    def __init__(self, folder):
        self.model = onnx.load(str(folder / "model.onnx"))
        self.runs = []
        for run in sorted(folder.glob("run_*")):
            values = {path.stem: onnx.load_tensor(str(path)) for path in run.glob("*.pb")}
            errors = dict(line.split() for line in (run / "errors.txt").read_text().splitlines())
            self.runs.append((values, errors))
        self.held = {tensor.name: tensor for tensor in self.model.graph.initializer}
        self.types = {name: tensor.data_type for name, tensor in
                      [*self.runs[0][0].items(), *self.held.items()]}

    def session(self, node):
        """A model of that node alone; what it reads and is no constant is an input."""
        made = {name for each in all_nodes(node) for name in each.output}
        # What a loop gives its body.
        made |= {given.name for each in all_nodes(node) for graph in graphs_of(each)
                 for given in graph.input}
        read = {name for each in all_nodes(node) for name in each.input} - made - {""}

        def infos(names):  # no extents: one session serves every run
            return [onnx.helper.make_tensor_value_info(name, self.types[name], None)
                    for name in names]
        graph = onnx.helper.make_graph(
            [node], "node", infos(sorted(read - self.held.keys())),
            infos(name for name in node.output if name),
            [self.held[name] for name in sorted(read & self.held.keys())])
        model = onnx.helper.make_model(graph, opset_imports=self.model.opset_import, ir_version=10)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        return onnxruntime.InferenceSession(model.SerializeToString(), options,
                                            providers=["CPUExecutionProvider"])

    def has_tensors(self, node):
        """Whether all that the node reads and makes are tensors: the files hold no sequences."""
        within = {name for each in all_nodes(node) for name in [*each.input, *each.output]}
        within |= {given.name for each in all_nodes(node) for graph in graphs_of(each)
                   for given in [*graph.input, *graph.output]}
        return within - {""} <= self.types.keys()

    def check(self, node, known):
        """How the node's results differ, run by run. Raises what ONNX Runtime raises."""
        session = self.session(node)
        for number, (values, errors) in enumerate(self.runs):
            def elements_of(name):
                tensor = values.get(name, self.held.get(name))
                if tensor is None:
                    return None
                array = numpy_helper.to_array(tensor).ravel()
                # Their texts would be those of integers.
                return array.astype(numpy.float32) if array.dtype.name.startswith("float8") else array

            if any(differs_on(each, known, elements_of) for each in all_nodes(node)):
                continue
            feeds = {each.name: onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(
                raw(values[each.name]), values[each.name].data_type)
                for each in session.get_inputs()}
            if any(map(is_neither, map(values.get, feeds))):
                continue
            names = [each.name for each in session.get_outputs()]
            for name, result in zip(names, session.run_with_ort_values(names, feeds)):
                if self.types[name] == onnx.TensorProto.BFLOAT16:
                    continue  # numpy has no such type
                text = difference(result.numpy(), element_bytes(values[name]),
                                  float(errors[name]), tolerance(node, known))
                if text:
                    attributes = ", ".join(
                        f"{each.name} {onnx.helper.get_attribute_value(each)}"
                        for each in node.attribute if each.type != onnx.AttributeProto.GRAPH)
                    yield f"run {number}, {node.op_type} {name}: {text}; {attributes}"


PACKED = {getattr(onnx.TensorProto, name) for name in ("UINT4", "INT4", "FLOAT4E2M1", "UINT2", "INT2")
          if hasattr(onnx.TensorProto, name)}


def raw(tensor):
    if tensor.data_type in PACKED:
        raise ValueError("an OrtValue takes no elements of less than a byte from an array")
    if tensor.data_type == onnx.TensorProto.BFLOAT16:
        return numpy.frombuffer(tensor.raw_data, numpy.uint16).reshape(tensor.dims)
    return numpy.array(numpy_helper.to_array(tensor), order="C")


def is_neither(tensor):
    """True for bools of which some, BitCast's, are neither 0 nor 1: ONNX Runtime then computes with their bytes."""
    return (tensor.data_type == onnx.TensorProto.BOOL and
            bool((numpy_helper.to_array(tensor).view(numpy.uint8) > 1).any()))


def element_bytes(tensor):
    """The elements; those of floating-point types of 8 bits as ONNX Runtime hands them out, as bytes."""
    array = numpy_helper.to_array(tensor)
    return array.view(numpy.uint8) if array.dtype.name.startswith("float8") else array


def difference(found, expected, error, part):
    """"" or how the arrays differ by more than `error` and `part` of the largest element, or of 1."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return f"{found.dtype}{found.shape} instead of {expected.dtype}{expected.shape}"
    if found.dtype.kind != "f":
        return "" if numpy.array_equal(found, expected) else "elements differ"
    a, b = found.astype(numpy.float64), expected.astype(numpy.float64)
    if part:
        error += part * max(1, numpy.max(numpy.abs(b), initial=0, where=numpy.isfinite(b)))
    with numpy.errstate(invalid="ignore"):
        # Both round on their own.
        same = (a == b) | (numpy.isnan(a) & numpy.isnan(b)) | (numpy.abs(a - b) <= 2 * error)
    return "" if same.all() else f"off by {numpy.nanmax(numpy.abs(a - b))}, allowed is {2 * error}"


def check_model(folder, known, results):
    """Counts nodes, those that were executed, those that differ; says why, and what was refused."""
    case = Case(folder)
    report = {"nodes": 0, "executed": 0, "failed": 0, "problems": [], "refused": []}
    for node in case.model.graph.node:
        if any(differs(each, known) or hands_on(each) for each in all_nodes(node)):
            continue
        if not case.has_tensors(node):
            continue
        report["nodes"] += 1
        try:
            problems = list(case.check(node, known))
        except Exception as error:  # onnxruntime has many kinds
            text = re.sub(r"[0-9]+", "#", str(error).split(":")[-1].strip())
            report["refused"].append(f"{node.op_type}: {text[:80]}")
            continue
        report["executed"] += 1
        report["failed"] += bool(problems)
        report["problems"] += [f"seed {folder.name}: {problem}" for problem in problems[:1]]
    results.put(report)


def main():
    writer, count = sys.argv[1], int(sys.argv[2])
    first = sys.argv[3] if len(sys.argv) > 3 else "10"
    known = known_differences()
    totals, refused = collections.Counter(), collections.Counter()
    processes = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([writer, folder, first, str(count), "10", str(OPSET)], check=True)
        for path in sorted(pathlib.Path(folder).iterdir(), key=lambda path: int(path.name)):
            # In a process of its own: ONNX Runtime may crash, or run for ever.
            results = processes.Queue()
            child = processes.Process(target=check_model, args=(path, known, results))
            child.start()
            child.join(LONGEST)
            if child.is_alive():
                child.kill()
                child.join()
                refused[f"the whole model: no end within {LONGEST} s"] += 1
                continue
            if child.exitcode != 0:
                refused[f"the whole model: exit status {child.exitcode}"] += 1
                continue
            report = results.get()
            totals.update({key: report[key] for key in ("nodes", "executed", "failed")})
            refused.update(report["refused"])
            print(*report["problems"], sep="\n", end="\n" if report["problems"] else "")
    for reason, times in refused.most_common(20):
        print(f"{times:6} refused: {reason}")
    print(f"{count} models, {totals['executed']} of {totals['nodes']} nodes executed, "
          f"{totals['failed']} of them differ")
    sys.exit(totals["failed"] != 0 or 2 * totals["executed"] < totals["nodes"])


if __name__ == "__main__":
    main()
