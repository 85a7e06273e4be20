# SPDX-License-Identifier: Apache-2.0
"""Cases of the sweep that nobody chose: nodes of every operator at sizes, types and axes drawn by
chance (test/random/write_nodes.cpp).

Nodes of which ONNX Runtime is known to compute something else stand in
test/random/onnx_runtime_differs.txt.
"""

import contextlib
import pathlib
import subprocess
import sys
import tempfile

import command
import onnx
import onnx.numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "random"))
import onnx_runtime_test as known  # noqa: E402

OPSET = known.OPSET


def described(node, tensors):
    """Operator, types and extents of what it reads, attributes."""
    operands = []
    for name in node.input:
        tensor = tensors.get(name)
        if tensor is None:
            operands.append("-")
            continue
        type = onnx.TensorProto.DataType.Name(tensor.data_type).lower()
        operands.append(f"{type}[{','.join(map(str, tensor.dims))}]")
    attributes = [f"{each.name}={onnx.helper.get_attribute_value(each)}" for each in node.attribute]
    domain = f"{node.domain}:" if node.domain else ""
    return " ".join([domain + node.op_type, *operands, *attributes]).replace("|", "/")


def job(folder, rows):
    """The job of a folder of write_random_nodes; nothing if the engines are known to differ."""
    path = folder / "model.onnx"
    model = onnx.load(str(path))
    node, = model.graph.node
    fed = {file.stem: onnx.load_tensor(str(file)) for file in (folder / "run_0").glob("*.pb")}
    tensors = {**{tensor.name: tensor for tensor in model.graph.initializer}, **fed}
    if known.differs(node, rows) or known.differs_on(
            node, rows, lambda name: onnx.numpy_helper.to_array(tensors[name]).ravel()):
        return None

    def make(_):
        return path, {name: onnx.numpy_helper.to_array(tensor) for name, tensor in fed.items()}
    return command.Job(f"{folder.name} {described(node, tensors)}", node.op_type, make,
                       known.tolerance(node, rows) or None)


@contextlib.contextmanager
def written(writer, seed, count):
    """The jobs of that seed, while their files are there."""
    rows = known.known_differences()
    with tempfile.TemporaryDirectory() as name:
        run = subprocess.run([str(writer), name, str(seed), str(count), str(OPSET)],
                             capture_output=True, text=True, check=True)
        print("no node of:", *run.stdout.split(), file=sys.stderr)
        folders = sorted(pathlib.Path(name).iterdir(), key=lambda folder: int(folder.name))
        jobs = [job(folder, rows) for folder in folders]
        yield [each for each in jobs if each]
