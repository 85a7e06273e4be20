# SPDX-License-Identifier: Apache-2.0
"""The names of onnx-mlir's compiling module: `compile` makes a plan."""

import os
from pathlib import Path

import intarsia
from intarsia.flags import options_of, without_output

__all__ = ["OMCompileSession"]


class OMCompileSession:
    """Converts one model.

        session = OMCompileSession("model.onnx")
        if session.compile("--dim batch=8 -o model") != 0:
            raise RuntimeError(session.get_error_message())
        session.get_compiled_file_name()   # "model.plan"
    """

    def __init__(self, input_file_name):
        self._model = os.fsdecode(os.fspath(input_file_name))
        self._file, self._error = "", ""

    def compile(self, flags=()):
        """The flags are those of `intarsia convert`; -o NAME makes NAME.plan, without it the plan lies
        beside the model. Returns 0, or 1 where get_error_message() says why."""
        self._file, self._error = "", ""
        try:
            output, flags = without_output(flags)
            plan = f"{output}.plan" if output else str(Path(self._model).with_suffix(".plan"))
            intarsia.convert(self._model, plan, **options_of(flags))
        except (intarsia.Error, OSError) as error:
            self._error = str(error)
            return 1
        self._file = plan
        return 0

    def get_compiled_file_name(self):
        """The plan that compile() has made, or ""."""
        return self._file

    def get_error_message(self):
        """Why the last compile() failed, or ""."""
        return self._error
