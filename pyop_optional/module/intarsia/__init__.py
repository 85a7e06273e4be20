# SPDX-License-Identifier: Apache-2.0
"""Runs plans of Intarsia from Python: see docs/python.md.

    session = intarsia.ExecutionSession("model.plan")
    outputs = session.run([array])
"""

from ._native import require_main_interpreter, version as __version__

require_main_interpreter()

# pylint: disable=wrong-import-position
from .conversion import convert
from .errors import Error
from .session import ExecutionSession, OMExecutionSession, TensorInfo

__all__ = ["Error", "ExecutionSession", "OMExecutionSession", "TensorInfo", "__version__",
           "convert"]
