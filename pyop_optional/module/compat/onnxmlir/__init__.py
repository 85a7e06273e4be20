# SPDX-License-Identifier: Apache-2.0
"""The name of onnx-mlir's package that compiles and runs in one step."""

import intarsia
from intarsia.flags import options_of

__all__ = ["InferenceSession"]


class InferenceSession(intarsia.InferenceSession):
    """InferenceSession("model.onnx", compile_args="--dim batch=8").run([...])."""

    def __init__(self, model, compile_args=(), **options):
        super().__init__(model, **{**options_of(compile_args), **options})
