# SPDX-License-Identifier: Apache-2.0
# The public names of the package, for type checkers and editors; test/python/stubs_test.py compares
# them with the package. What each does: its docstring, and docs/python.md.
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple, Protocol, TypeAlias, TypedDict, overload

import numpy as np
import numpy.typing as npt
from typing_extensions import Self, Unpack

__all__ = [
    "Binding", "Error", "ExecutionSession", "InferenceSession", "NodeArg", "NodeTime",
    "OMExecutionSession", "Profile", "TensorInfo", "__version__", "compile_and_load", "convert",
]

__version__: str

_Path: TypeAlias = str | os.PathLike[str] | os.PathLike[bytes]
_Plan: TypeAlias = _Path | bytes | bytearray | memoryview | BinaryIO

class _ModelProto(Protocol):
    def SerializeToString(self) -> bytes: ...

class _Dlpack(Protocol):
    def __dlpack__(self) -> Any: ...

_Model: TypeAlias = _Plan | _ModelProto
_Models: TypeAlias = _Model | Mapping[str, _Model]
# What a value is given as: arrays, tensors (DLPack), and what numpy makes an array of; lists for
# sequences, dicts for maps, None for optional values.
_Value: TypeAlias = _Dlpack | npt.ArrayLike | Sequence[Any] | Mapping[Any, Any] | None
_Inputs: TypeAlias = Sequence[_Value] | Mapping[str, _Value] | _Dlpack
_Array: TypeAlias = npt.NDArray[Any] | _Dlpack
_Outputs: TypeAlias = Sequence[_Array | None] | Mapping[str, _Array | None] | _Array
_Result: TypeAlias = list[Any]  # arrays, for the most part
_Shape: TypeAlias = tuple[int | str | None, ...]
_Operators: TypeAlias = _Path | bytes | Iterable[_Path | bytes]
_Extent: TypeAlias = int | tuple[int, int] | str
_Constant: TypeAlias = float | str | Sequence[Any] | npt.NDArray[Any] | np.generic | os.PathLike[str]

class _Options(TypedDict, total=False):
    dims: Mapping[str, _Extent] | None
    shapes: Mapping[str, Sequence[int]] | None
    fixed: Mapping[str, _Constant] | None
    values: Mapping[str, _Constant] | None
    bounds: Mapping[str, Sequence[int]] | None
    max_trips: Mapping[str, int] | None
    max_lengths: Mapping[str, int] | None
    max_string: int | None
    states: Mapping[str, str] | None
    layouts: Mapping[str, str] | None
    seed: int
    threads: int
    strip_names: bool
    target: str
    plan_growth: float | None
    gradients: Mapping[str, str | Sequence[str]] | None
    trainable: str | Sequence[str]
    operators: _Operators
    allow_pyop: bool
    pyop_path: _Operators
    progress: Callable[[str, float], object] | None

class Error(RuntimeError):
    code: str | None
    def __init__(self, text: str, code: str | None = None) -> None: ...

class TensorInfo(NamedTuple):
    name: str
    type: str
    dtype: np.dtype[Any]
    shape: _Shape

class NodeArg(NamedTuple):
    name: str
    type: str
    shape: _Shape

class NodeTime(NamedTuple):
    node: int
    name: str
    operator: str
    kernel: str
    calls: int
    milliseconds: float

class Profile(NamedTuple):
    runs: int
    milliseconds: float
    nodes: list[NodeTime]

class Binding:
    in_place: tuple[str, ...]
    def __init__(
        self, session: ExecutionSession, entry: Any, inputs: _Inputs, out: _Outputs | None,
    ) -> None: ...
    def run(self, output_names: Iterable[str] | None = None) -> _Result: ...

class ExecutionSession:
    def __init__(
        self, shared_lib_path: _Plan | None = None, tag: str = "",
        use_default_entry_point: bool = True, *, path: _Plan | None = None, threads: int = 1,
        operators: _Operators = (), allow_pyop: bool = False, pyop_path: _Operators = (),
    ) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None, /,
    ) -> None: ...
    @overload
    def run(
        self, inputs: _Inputs, /, *, output_names: Iterable[str] | None = None, run_options: None = None,
        out: _Outputs | None = None, entry: str | None = None,
    ) -> _Result: ...
    @overload
    def run(
        self, output_names: Iterable[str] | None, input_feed: _Inputs, run_options: None = None, /, *,
        out: _Outputs | None = None, entry: str | None = None,
    ) -> _Result: ...
    @overload
    def run(
        self, *, input: _Inputs, output_names: Iterable[str] | None = None, run_options: None = None,
        out: _Outputs | None = None, entry: str | None = None,
    ) -> _Result: ...
    @overload
    def run(
        self, *, inputs: _Inputs, output_names: Iterable[str] | None = None, run_options: None = None,
        out: _Outputs | None = None, entry: str | None = None,
    ) -> _Result: ...
    @overload
    def run(
        self, *, input_feed: _Inputs, output_names: Iterable[str] | None = None,
        run_options: None = None, out: _Outputs | None = None, entry: str | None = None,
    ) -> _Result: ...
    def bind(
        self, inputs: _Inputs, out: _Outputs | None = None, entry: str | None = None,
    ) -> Binding: ...
    def profile(
        self, inputs: _Inputs, *, runs: int = 10, entry: str | None = None,
        continued: _Inputs | None = None,
    ) -> Profile: ...
    def inspect(self) -> dict[str, Any]: ...
    def get_inputs(self) -> list[NodeArg]: ...
    def get_outputs(self) -> list[NodeArg]: ...
    def get_providers(self) -> list[str]: ...
    def input_signature(self) -> str: ...
    def output_signature(self) -> str: ...
    @property
    def inputs(self) -> list[TensorInfo]: ...
    @property
    def outputs(self) -> list[TensorInfo]: ...
    @property
    def dimensions(self) -> dict[str, tuple[int, int]]: ...
    def entry_points(self) -> list[str]: ...
    def set_entry_point(self, name: str) -> None: ...
    @property
    def states(self) -> list[TensorInfo]: ...
    def read_state(self, name: str) -> Any: ...
    def write_state(self, name: str, value: _Value) -> None: ...
    def reset_states(self) -> None: ...
    def run_debug(
        self, inputs: _Inputs, with_signal_handler: bool = False, force_output_data_copy: bool = False,
    ) -> _Result: ...
    def print_instrumentation(self) -> None: ...
    def compilation_info(self) -> str: ...
    def get_shared_lib_path(self) -> str: ...
    def fill_input_debug(
        self, shape_info: Mapping[int, Sequence[int]] | str | None = None, lower: float = 0.0,
        upper: float = 1.0, seed: int = 42,
    ) -> list[npt.NDArray[Any]]: ...

OMExecutionSession = ExecutionSession

class InferenceSession(ExecutionSession):
    def __init__(
        self, model: _Models, sess_options: None = None, providers: Sequence[Any] | None = None,
        provider_options: Sequence[Mapping[str, Any]] | None = None, *, cache: bool | _Path | None = True,
        **options: Unpack[_Options],
    ) -> None: ...

def compile_and_load(
    model: _Models, flags: str | Sequence[str] | Mapping[str, Any] = (), *,
    cache: bool | _Path | None = True, **options: Unpack[_Options],
) -> InferenceSession: ...

@overload
def convert(model: _Models, out: None = None, **options: Unpack[_Options]) -> bytes: ...
@overload
def convert(model: _Models, out: _Path, **options: Unpack[_Options]) -> None: ...
