# SPDX-License-Identifier: Apache-2.0
"""Runs plans of Intarsia from Python: see docs/python.md.

    session = intarsia.InferenceSession("model.onnx")   # or a plan
    outputs = session.run(None, {"x": array})           # or run([array])
"""

from . import logs as _logs
from ._native import version as __version__
from .binding import Binding
from .conversion import convert
from .errors import Error
from .inference import InferenceSession, compile_and_load
from .ports import TensorInfo
from .profile import NodeTime, Profile
from .session import ExecutionSession, NodeArg, OMExecutionSession

__all__ = ["Binding", "Error", "ExecutionSession", "InferenceSession", "NodeArg", "NodeTime",
           "OMExecutionSession", "Profile", "TensorInfo", "__version__", "compile_and_load", "convert"]
