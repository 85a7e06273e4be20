# SPDX-License-Identifier: Apache-2.0
"""convert: from an ONNX model to a plan, as the command `intarsia convert` does it."""

import inspect
import os
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from . import _native
from .operators import request
from .sources import source_of


def _range(limits):
    if isinstance(limits, str):
        return limits
    return (1, limits) if isinstance(limits, (int, np.integer)) else tuple(limits)


def _names(names):
    return [names] if isinstance(names, str) else list(names)


def replace_file(path, block):
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


def _callers_level():
    """For warnings.warn: the first caller outside this package."""
    level, frame = 1, sys._getframe(1)  # pylint: disable=protected-access
    while frame.f_back and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    return level


def convert(model, out=None, *, dims=None, shapes=None, fixed=None, values=None, bounds=None,
            max_trips=None, max_lengths=None, max_string=None, states=None, layouts=None, seed=0,
            threads=1, strip_names=False, target="generic", plan_growth=None, gradients=None,
            trainable=(), operators=(), allow_pyop=False, pyop_path=(), progress=None):
    """Converts `model` (a path, the bytes of a model, a file open for reading bytes, or an
    onnx.ModelProto) to a plan: in the file `out`, or, without it, as the bytes that are returned.
    A dict of models makes a plan with entry points: {"encode": "encoder.onnx", "step": decoder}.

    The options are those of the command: dims={"batch": 8, "length": (1, 512), "x@1": "length"},
    shapes={"x": (1, 3, 224, 224)}, fixed={"rate": 16000} (a number, a list, an array or an .npy file),
    values={"axis": 1} (likewise), bounds={"y": (100,)}, max_trips={"loop": 50}, max_lengths={"list": 9},
    max_string=64, states={"state_out": "state_in"}, layouts={"image": "nhwc"}, seed=1,
    gradients={"loss": ["x"]} and trainable=["fc.weight"] (docs/training.md), operators=["libmine.so"].
    Raises Error with one line per problem, whose cause is what a Python operator has raised; warnings are
    issued through the module `warnings`.

    progress(stage, fraction) is called as the conversion goes on, with the name of a stage and the fraction
    of the whole that is done, from 0 to 1. What it raises ends the conversion, as Ctrl-C does; then no file
    has changed.
    """
    entries = model if isinstance(model, Mapping) else {"main": model}
    if not entries:
        raise ValueError("no model is given")
    models = []
    for name, each in entries.items():
        source = source_of(each, "model")
        models.append((name, bytes(source.data) if source.path is None else source.path,
                       source.path is not None))
    with tempfile.TemporaryDirectory() as folder:
        options = {
            "dims": {name: _range(limits) for name, limits in (dims or {}).items()},
            "shapes": dict(shapes or {}), "fixed": _written(fixed, folder, "fixed"),
            "values": _written(values, folder, "value"), "bounds": dict(bounds or {}),
            "max_trips": dict(max_trips or {}), "max_lengths": dict(max_lengths or {}),
            "max_string": max_string, "states": dict(states or {}), "layouts": dict(layouts or {}),
            "seed": seed, "threads": threads, "strip_names": strip_names, "target": target,
            "plan_growth": plan_growth,
            "gradients": {name: _names(inputs) for name, inputs in (gradients or {}).items()},
            "trainable": _names(trainable)}
        block, texts = _native.convert_model(models, options,
                                             request(operators, allow_pyop, pyop_path), progress)
    for text in texts:
        warnings.warn(text, stacklevel=_callers_level())
    if out is None:
        return bytes(block)
    replace_file(out, block)
    return None


OPTIONS = tuple(name for name, parameter in inspect.signature(convert).parameters.items()
                if parameter.kind is parameter.KEYWORD_ONLY)
# Those that change nothing of the plan.
SILENT_OPTIONS = ("progress",)
# Those that a session needs as well.
SESSION_OPTIONS = ("threads", "operators", "allow_pyop", "pyop_path")
