# SPDX-License-Identifier: Apache-2.0
"""The name of onnx-mlir's module that compiles and runs."""

import intarsia
from intarsia.flags import options_of

__all__ = ["OMCompileExecutionSession"]


class OMCompileExecutionSession(intarsia.InferenceSession):
    """A model, converted and opened.

    flags: those of `intarsia convert`, for instance "--dim batch=8".
    reuse_compiled_model: whether a plan may be used that was made before from the same contents with the
        same flags (intarsia.InferenceSession, `cache`).
    """

    def __init__(self, input_model_name, flags=(), use_default_entry_point=1, reuse_compiled_model=1,
                 **options):
        super().__init__(input_model_name,
                         **{"cache": bool(reuse_compiled_model), **options_of(flags), **options})
        if not use_default_entry_point:
            self._entry = None

    def get_compiled_result(self):
        """0: a session whose model cannot be converted is an Error where it is made."""
        return 0

    def get_compiled_file_name(self):
        """The model that the session was made of; the plan is no file of the caller's."""
        return self.get_shared_lib_path()

    def get_error_message(self):
        """Empty, see get_compiled_result."""
        return ""
