# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python module share: models made in place and converted by the command.

The environment names what is tested: INTARSIA_COMMAND, and PYTHONPATH for the module.
"""

import atexit
import contextlib
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx
from onnx import TensorProto, helper

COMMAND = os.environ["INTARSIA_COMMAND"]
FOLDER = Path(tempfile.mkdtemp(prefix="intarsia-python-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
_numbers = itertools.count()

FLOAT = TensorProto.FLOAT


def model(nodes, inputs, outputs, initializers=(), opset=22):
    """An onnx.ModelProto. `inputs` and `outputs`: {name: (element type, shape)}."""
    def infos(values):
        return [helper.make_tensor_value_info(name, element, shape)
                for name, (element, shape) in values.items()]
    graph = helper.make_graph(nodes, "test", infos(inputs), infos(outputs), list(initializers))
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", opset)])


def plain_environment():
    """The environment for other programs: a sanitizer loaded for the interpreter is not theirs."""
    return {name: value for name, value in os.environ.items()
            if name not in ("LD_PRELOAD", "PYTHONPATH")}


def convert(proto, *options, path=None):
    """Converts with the command and returns the plan's path."""
    path = Path(path or FOLDER / f"model{next(_numbers)}.plan")
    source = path.with_suffix(".onnx")
    onnx.save(proto, source)
    done = subprocess.run([COMMAND, "convert", source, "-o", path, *options],
                          capture_output=True, text=True, env=plain_environment())
    if done.returncode != 0:
        raise RuntimeError(f"intarsia convert {' '.join(options)}: {done.stderr}")
    return path


def unary(op, element=FLOAT, shape=(2, 3), options=(), opset=22, names=("x", "y"), **attributes):
    """The plan of a model with one node of one input and one output."""
    shape = list(shape)
    node = helper.make_node(op, [names[0]], [names[1]], **attributes)
    return convert(model([node], {names[0]: (element, shape)}, {names[1]: (element, None)},
                         opset=opset), *options)


@contextlib.contextmanager
def standard_output():
    """Collects what the process writes to its standard output, native code included."""
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush()
        saved = os.dup(1)
        os.dup2(file.fileno(), 1)
        text = []
        try:
            yield text
        finally:
            sys.stdout.flush()
            os.dup2(saved, 1)
            os.close(saved)
            file.seek(0)
            text.append(file.read().decode())
