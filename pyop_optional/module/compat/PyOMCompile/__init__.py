# SPDX-License-Identifier: Apache-2.0
"""The names of onnx-mlir's compiling module since 2026: `compile` makes a plan, or raises."""

from intarsia import Error
from PyCompile import OMCompileSession

__all__ = ["OMCompile"]


class OMCompile:
    """Converts models: OMCompile().compile("model.onnx", "--dim batch=8 -o model")."""

    def compile(self, input_model, flags=()):
        """The path of the plan. The flags are those of PyCompile.OMCompileSession.compile."""
        session = OMCompileSession(input_model)
        if session.compile(flags) != 0:
            raise Error(session.get_error_message())
        return session.get_compiled_file_name()
