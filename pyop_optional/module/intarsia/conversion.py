# SPDX-License-Identifier: Apache-2.0
"""convert: from an ONNX model to a plan, as the command `intarsia convert` does it."""

import os
import tempfile
import warnings
from pathlib import Path

import numpy as np

from . import _native
from .operators import request


def _range(limits):
    if isinstance(limits, str):
        return limits
    return (1, limits) if isinstance(limits, (int, np.integer)) else tuple(limits)


def _source(model):
    """A path or the model's bytes, and whether it is a path."""
    if isinstance(model, (str, os.PathLike)):
        return os.fsencode(model), True
    return model if isinstance(model, bytes) else model.SerializeToString(), False


def _replace(path, block):
    """Writes the file beside its place and moves it there: readers see the old or the new one."""
    path = Path(path)
    handle, name = tempfile.mkstemp(prefix=path.name, suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(block)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _written(values, folder, kind):
    """Values of inputs as the command takes them: arrays become files of `folder`."""
    texts = {}
    for index, (name, value) in enumerate((values or {}).items()):
        if isinstance(value, np.ndarray):
            file = Path(folder, f"{kind}{index}.npy")
            np.save(file, value)
            value = file
        texts[name] = str(value)
    return texts


def convert(model, out, *, dims=None, shapes=None, fixed=None, values=None, bounds=None, max_trips=None,
            states=None, layouts=None, seed=0, threads=1, strip_names=False, target="generic",
            plan_growth=None, operators=(), allow_pyop=False, pyop_path=()):
    """Converts `model` (a path, the bytes of a model, or an onnx.ModelProto) to the plan file `out`.
    A dict of models makes a plan with entry points: {"encode": "encoder.onnx", "step": decoder}.

    The options are those of the command: dims={"batch": 8, "length": (1, 512), "x@1": "length"},
    shapes={"x": (1, 3, 224, 224)}, fixed={"rate": 16000} (a number, a list, an array or an .npy file),
    values={"axis": 1} (likewise), bounds={"y": (100,)}, max_trips={"loop": 50}, states={"state_out": "state_in"},
    layouts={"image": "nhwc"}, seed=1, operators=["libmine.so"]. Raises Error with one line per problem; warnings are issued through the module `warnings`.
    """
    entries = model if isinstance(model, dict) else {"main": model}
    if not entries:
        raise ValueError("no model is given")
    models = [(name, *_source(each)) for name, each in entries.items()]
    with tempfile.TemporaryDirectory() as folder:
        block, texts = _native.convert_model(
            models, {name: _range(limits) for name, limits in (dims or {}).items()},
            dict(shapes or {}), _written(fixed, folder, "fixed"), _written(values, folder, "value"),
            dict(bounds or {}), dict(max_trips or {}),
            dict(states or {}), dict(layouts or {}), seed, threads, strip_names, target, plan_growth,
            request(operators, allow_pyop, pyop_path))
    for text in texts:
        warnings.warn(text, stacklevel=2)
    _replace(out, block)
