# SPDX-License-Identifier: Apache-2.0
"""Runs plans of Intarsia from Python: see docs/python.md.

    session = intarsia.InferenceSession("model.onnx")   # or a plan
    outputs = session.run(None, {"x": array})           # or run([array])
"""

from ._native import require_main_interpreter, version as __version__

require_main_interpreter()

# pylint: disable=wrong-import-position
from . import logs as _logs
from .binding import Binding
from .conversion import convert
from .errors import Error
from .inference import InferenceSession, compile_and_load
from .ports import TensorInfo
from .profile import NodeTime, Profile
from .session import ExecutionSession, NodeArg, OMExecutionSession

__all__ = ["Binding", "Error", "ExecutionSession", "InferenceSession", "NodeArg", "NodeTime",
           "OMExecutionSession", "Profile", "TensorInfo", "__version__", "compile_and_load", "convert"]
