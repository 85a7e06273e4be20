# SPDX-License-Identifier: Apache-2.0
"""The names of onnx-mlir's runtime module, for programs that import them: a "compiled model" is a plan.

    from PyRuntime import OMExecutionSession
"""

from intarsia import ExecutionSession, OMExecutionSession

__all__ = ["ExecutionSession", "OMExecutionSession"]
