# SPDX-License-Identifier: Apache-2.0
"""Runs plans of Intarsia from Python: see docs/python.md.

    session = intarsia.ExecutionSession("model.plan")
    outputs = session.run([array])
"""

from ._native import version as __version__
from .conversion import convert
from .errors import Error
from .session import ExecutionSession, OMExecutionSession, TensorInfo

__all__ = ["Error", "ExecutionSession", "OMExecutionSession", "TensorInfo", "__version__",
           "convert"]
