# SPDX-License-Identifier: Apache-2.0
"""Plans that were made before: a folder of files that are called by what they were made of.

The key is a hash of the models' contents (external data included), of all options (what files hold that
they name, not how these are called), and of the version of the package, down to the build. Whoever
changes any of these gets another plan; whoever moves or touches a file does not. Files are replaced as a
whole, so that processes may share the folder, and are verified when they are opened, like every plan.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from . import _native
from .conversion import SILENT_OPTIONS, convert, replace_file
from .errors import Error
from .sources import source_of

VARIABLE = "INTARSIA_CACHE_DIR"


def cache_directory(cache):
    """The folder that the argument `cache` means: True is $INTARSIA_CACHE_DIR, else `intarsia` in
    $XDG_CACHE_HOME, else in ~/.cache; a path is itself; False and None are none."""
    if cache is None or cache is False:
        return None
    if cache is not True:
        return Path(os.fsdecode(os.fspath(cache)))
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "intarsia"


def may_keep(options):
    """What Python operators depend on, nobody knows: their conversions are not kept."""
    operators = options.get("operators") or ()
    one = isinstance(operators, (str, bytes, os.PathLike))
    names = [os.fsdecode(os.fspath(name)) for name in ([operators] if one else operators)]
    return not options.get("allow_pyop") and not any(name.endswith(".py") for name in names)


def kept_plan(models, options, directory):
    """The path of the plan, and whether it was made now; no path if it cannot be kept."""
    path = directory / f"{_key(models, options)}.plan"
    if path.exists():
        return path, False
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(directory, os.W_OK):
            return None, False
        replace_file(path, convert(models, **options))
    except OSError:
        return None, False
    return path, True


def _key(models, options):
    library = os.stat(_native.__file__)
    entries = models if isinstance(models, Mapping) else {"main": models}
    described = {
        "version": [_native.version, library.st_size, library.st_mtime_ns],
        "models": [[name, _model(source_of(model, "model"))] for name, model in entries.items()],
        "options": {name: _described(value) for name, value in sorted(options.items())
                    if name not in SILENT_OPTIONS},
    }
    return _digest(json.dumps(described, sort_keys=True).encode())


def _digest(data):
    return hashlib.blake2b(data, digest_size=32).hexdigest()


def _model(source):
    if source.path is None:
        return [_digest(source.data)]
    return [_file(source.path)] + [[os.fsdecode(os.path.basename(path)), _file(path)]
                                   for path in _native.external_files(source.path)]


def _file(path):
    if not os.path.isfile(path):  # a pipe would wait for ever; the converter will say so
        return "no file"
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=32)).hexdigest()
    except OSError as error:
        return str(error)  # the converter will say so


def _described(value):
    """An option as JSON that changes when its meaning does. Text may be the name of a file."""
    if isinstance(value, np.ndarray):
        return ["array", str(value.dtype), value.shape, _digest(np.ascontiguousarray(value).tobytes())]
    if isinstance(value, Mapping):
        return [[str(name), _described(each)] for name, each in value.items()]
    if isinstance(value, (list, tuple)):
        return [_described(each) for each in value]
    if isinstance(value, (str, bytes, os.PathLike)):
        name = os.fsdecode(value)
        return [name, _file(name)] if os.path.isfile(name) else name
    if isinstance(value, np.generic):
        return _described(value.item())
    if value is None or isinstance(value, (bool, int, float)):
        return value
    raise Error(f"an option is {type(value).__name__}, which cannot be looked up among kept plans; pass "
                "numbers, text, arrays, or lists and dicts of these", "kInvalidArgument")
