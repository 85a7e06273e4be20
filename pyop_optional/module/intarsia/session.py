# SPDX-License-Identifier: Apache-2.0
"""ExecutionSession: a plan, opened.

The names and the signatures are those of onnx-mlir's PyRuntime; docs/python.md has the walk-through.
Inputs are checked here, before native code sees them, so that a message can name them.
"""

import json
import os
from collections.abc import Mapping
from typing import NamedTuple, Tuple, Union

import numpy as np
from numpy.ma import MaskedArray  # numpy imports it when it is first asked for, in a run then

from . import _native, errors, sequences, strings
from .elements import ELEMENTS, HOLDING_ELEMENTS
from .errors import Error
from .operators import request

FIXED = -1  # of PlanSession: an extent that is no symbol and does not vary
MISSING = object()


class TensorInfo(NamedTuple):
    """An input, output or state. An extent is a number, the name of a symbolic dimension, or None
    where it varies in another way."""

    name: str
    type: str
    dtype: np.dtype
    shape: Tuple[Union[int, str, None], ...]


class Port:
    """What a plan says of one input, output or state, ready for use."""

    def __init__(self, index, kind, native, symbols):
        name, code, self.extents, axes = native
        self.index = index
        self.name = name or f"{kind}_{index}"
        self.kind = kind
        self.code = code
        self.type, self.dtype, self.ml_dtype, _ = ELEMENTS[code]
        self.ranges = tuple(
            None if axis == FIXED else symbols[axis][1:] if axis >= 0 else (0, extent)
            for axis, extent in zip(axes, self.extents))
        self.is_fixed = all(limits is None for limits in self.ranges)
        shape = tuple(extent if axis == FIXED else symbols[axis][0] if axis >= 0 else None
                      for axis, extent in zip(axes, self.extents))
        self.info = TensorInfo(self.name, self.type, self.dtype, shape)

    def __str__(self):
        return f"{self.kind} {self.index}, '{self.name}'"

    @property
    def may_bind(self):
        """Whether native code may write its elements to an array of the caller's."""
        return self.dtype != object

    def elements_of(self, array):
        """The array's elements as native code takes them, its memory if that is possible; None if
        they are of another type."""
        if self.dtype == object:
            packed = strings.pack(array)
            return packed and b"".join(packed)
        if array.dtype == self.dtype:
            return array
        if self.ml_dtype and array.dtype.name == self.ml_dtype:
            return array.view(self.dtype)
        return None

    def accept(self, value):
        """An input as (shape, buffer) for native code. Raises Error if it does not fit."""
        if self.code in HOLDING_ELEMENTS:
            packed, characters = sequences.pack(value, self.code, str(self))
            if len(packed) > self.extents[0]:
                raise Error(f"{self}: its elements take {len(packed)} bytes; the plan has room for "
                            f"{self.extents[0]} (--max-length, --shape)", "kWrongExtent")
            return (len(packed),), packed + characters
        if isinstance(value, MaskedArray):
            raise TypeError(f"{self}: masked elements have no value; pass x.filled(VALUE)")
        array = np.asarray(value)
        elements = self.elements_of(array)
        if elements is None:
            raise Error(f"{errors.wrong_type(self.index, self.type)} ({self}: "
                        f"{self.type_problem(array.dtype)})", "kWrongType")
        if array.ndim != len(self.extents):
            raise Error(f"{errors.wrong_rank(self.index, len(self.extents), array.ndim)} "
                        f"({self}: its shape is {self.shape_text()}, the array's {array.shape})",
                        "kWrongRank")
        if array.shape != self.extents:
            self.check_extents(array.shape)
        if self.may_bind and not elements.flags.c_contiguous:
            elements = elements.copy(order="C")
        return array.shape, elements

    def type_problem(self, dtype):
        found = f"the array holds {dtype}"
        if self.dtype == object:
            return f"{found}; pass str objects, or an array of them"
        if not dtype.isnative and dtype.newbyteorder("=") == self.dtype:
            return f"{found}, which is not this machine's byte order; pass x.astype('{self.dtype}')"
        if self.ml_dtype:
            return f"{found}; pass ml_dtypes' {self.ml_dtype}, or {self.dtype} as docs/python.md says"
        return f"{found}; nothing is converted silently, pass x.astype('{self.dtype}')"

    def check_extents(self, shape):
        for axis, (found, planned, limits) in enumerate(zip(shape, self.extents, self.ranges)):
            fits = found == planned if limits is None else limits[0] <= found <= limits[1]
            if not fits:
                raise Error(f"{errors.wrong_extent(axis, self.index, limits or planned, found)} "
                            f"({self}: its shape is {self.shape_text()}, the array's {shape})",
                            "kWrongExtent")

    def shape_text(self):
        parts = []
        for extent, limits in zip(self.info.shape, self.ranges):
            parts.append(str(extent) if limits is None else f"{extent}={limits[0]}..{limits[1]}")
        return f"[{', '.join(parts)}]"

    def signature(self):
        """One element of a signature, byte for byte as onnx-mlir writes it."""
        dims = " , ".join(str(extent) if limits is None else "-1"
                          for extent, limits in zip(self.extents, self.ranges))
        name = json.dumps(self.name, ensure_ascii=False)
        return f'   {{ "type" : "{self.type}" , "dims" : [{dims}] , "name" : {name} }}\n'

    def target(self, value):
        """A caller's array that shall take this output, checked. Returns it as `dtype`."""
        if not self.may_bind:
            raise Error(f"out: {self} is of type {self.type}, which no array takes in place; leave it "
                        "None", "kUnsupported")
        if not isinstance(value, np.ndarray):
            raise TypeError(f"out: {self} needs a numpy array or None, not "
                            f"{type(value).__name__}")
        elements = self.elements_of(value)
        flags = value.flags
        count = int(np.prod(self.extents, dtype=np.int64))
        if elements is None:
            problem = f"elements of type {self.dtype}, not {value.dtype}"
        elif not (flags.c_contiguous and flags.writeable and flags.aligned):
            problem = "an array that is C-contiguous, aligned and writable"
        elif self.is_fixed and value.shape != self.extents:
            problem = f"shape {self.extents}, not {value.shape}"
        elif value.size < count:
            problem = f"room for {count} elements, the planned maximum, not {value.size}"
        else:
            return elements
        raise Error(f"out: {self} needs {problem}", "kInvalidArgument")

    def result(self, shape, block):
        if self.dtype == object:
            raw = bytes(block)
            holding = self.code in HOLDING_ELEMENTS
            end = shape[0] if holding else 8 * int(np.prod(shape, dtype=np.int64))
            data, characters = raw[:end], raw[end:]
            if holding:
                return sequences.unpack(data, characters, self.code, str(self))
            return strings.unpack(shape, data, characters)
        return np.ndarray(shape, self.dtype, buffer=block)


def _ports(kind, natives, symbols):
    return [Port(i, kind, native, symbols) for i, native in enumerate(natives)]


def _signature(opening, ports):
    return opening + " , ".join(port.signature() for port in ports) + "\n]"


class EntryPoint:
    """Inputs and outputs of one entry point, with the rules by which values are given to them."""

    def __init__(self, index, native, symbols):
        self.index = index
        self.name = native[0]
        self.inputs = _ports("input", native[1], symbols)
        self.outputs = _ports("output", native[2], symbols)

    def arguments(self, values):
        """The inputs in order, from a list, from a dict by name, or from a bare array."""
        if isinstance(values, np.ndarray):
            if len(self.inputs) != 1:
                raise TypeError(
                    f"run() takes a list of arrays, one for each of the {len(self.inputs)} inputs "
                    f"({self.names(self.inputs)}), or a dict by name; it was given one array")
            values = [values]
        elif isinstance(values, Mapping):
            values = self.by_name(values, self.inputs, "input")
            missing = [p.name for p, value in zip(self.inputs, values) if value is MISSING]
            if missing:
                raise Error(f"{errors.wrong_count(len(self.inputs), len(values) - len(missing))} "
                            f"(missing: {', '.join(map(repr, missing))})", "kInvalidArgument")
        elif not isinstance(values, (list, tuple)):
            raise TypeError("run() takes a list of arrays, a dict by name, or for a model with one "
                            f"input an array; it was given {type(values).__name__}")
        if len(values) != len(self.inputs):
            raise Error(f"{errors.wrong_count(len(self.inputs), len(values))} "
                        f"(the inputs are {self.names(self.inputs)})", "kInvalidArgument")
        return [port.accept(value) for port, value in zip(self.inputs, values)]

    def given_targets(self, out):
        """Per output the caller's array, or None."""
        if out is None:
            return [None] * len(self.outputs)
        if isinstance(out, np.ndarray) and len(self.outputs) == 1:
            out = [out]
        elif isinstance(out, Mapping):
            out = [None if value is MISSING else value
                   for value in self.by_name(out, self.outputs, "output")]
        elif not isinstance(out, (list, tuple)):
            raise TypeError("out: takes a list with an array or None for each output, a dict by "
                            f"name, or for a model with one output an array; not "
                            f"{type(out).__name__}")
        if len(out) != len(self.outputs):
            raise Error(f"out: {len(self.outputs)} outputs ({self.names(self.outputs)}), but "
                        f"{len(out)} arrays", "kInvalidArgument")
        targets = [None if value is None else port.target(value)
                   for port, value in zip(self.outputs, out)]
        given = [(i, target) for i, target in enumerate(targets) if target is not None]
        for n, (i, target) in enumerate(given):
            for j, other in given[n + 1:]:
                if np.may_share_memory(target, other):
                    raise Error(f"out: the arrays of {self.outputs[i]} and {self.outputs[j]} "
                                "overlap", "kInvalidArgument")
        return targets

    @staticmethod
    def names(ports):
        return ", ".join(repr(port.name) for port in ports)

    def by_name(self, values, ports, kind):
        known = {port.name for port in ports}
        for name in values:
            if name not in known:
                raise Error(f"the model has no {kind} {name!r}; its {kind}s are "
                            f"{self.names(ports)}", "kUnknownName")
        return [values.get(port.name, MISSING) for port in ports]


class ExecutionSession:
    """A plan, opened for running.

    shared_lib_path: the .plan file (`path` is another name for it). It is read whole; what happens
        to the file afterwards does not matter.
    tag: for compatibility; sessions are independent of one another and need no tag.
    use_default_entry_point: False leaves the choice to set_entry_point().
    threads: at most what the plan was converted for (`intarsia convert --threads N`).
    operators: libraries of operators (.so) and files of Python operators that the plan uses.
    allow_pyop, pyop_path: let Python operators import and execute their modules; where they are.

    Threads: calls on one session from several threads are safe; they wait for one another. Sessions
    run in parallel: the interpreter's lock is released while native code runs.
    """

    def __init__(self, shared_lib_path=None, tag="", use_default_entry_point=True, *, path=None,
                 threads=1, operators=(), allow_pyop=False, pyop_path=()):
        if (shared_lib_path is None) == (path is None):
            raise TypeError("ExecutionSession needs the path of a plan")
        if not isinstance(tag, str):
            raise TypeError(f"tag is a string, not {type(tag).__name__}; give "
                            "use_default_entry_point by name")
        if threads < 1:
            raise ValueError(f"threads is 1 or more, not {threads}")
        name = os.fsencode(shared_lib_path if path is None else path)
        if b"\0" in name:
            raise Error(f"cannot read {os.fsdecode(name)!r}: the path contains a zero byte")
        self._tag = tag
        self._native = _native.PlanSession(
            name, threads, request(operators, allow_pyop, pyop_path))
        symbols = self._native.symbols()
        self._symbols = symbols
        self._entries = [EntryPoint(i, native, symbols)
                         for i, native in enumerate(self._native.entries())]
        self._states = _ports("state", self._native.states(), symbols)
        self._entry = self._entries[0] if use_default_entry_point else None

    def run(self, input=MISSING, *, inputs=MISSING, out=None, entry=None):
        """Runs the model and returns its outputs as a list of arrays.

        input, inputs: a list of arrays in the model's order, a dict by name, or for a model with
            one input the array itself. Arrays are copied; nothing is converted silently.
        out: arrays that take the outputs without a copy: a list with None where none is given, or
            a dict by name. An output whose shape varies needs room for its planned maximum; the
            result is then a view. Without it every result is a new array of its own.
        entry: the name of the entry point to run, if it is not the one that was chosen.
        """
        if (input is MISSING) == (inputs is MISSING):
            raise TypeError("run() takes the inputs once: run([...]), input=[...] or inputs=[...]")
        entry = self._chosen("run") if entry is None else self._named(entry)
        arguments = entry.arguments(inputs if input is MISSING else input)
        targets = entry.given_targets(out)
        buffers = [np.empty(port.extents, port.dtype)
                   if target is None and port.is_fixed and port.may_bind else target
                   for port, target in zip(entry.outputs, targets)]
        found = self._native.run(entry.index, arguments, buffers)
        results = []
        for port, buffer, (shape, block) in zip(entry.outputs, buffers, found):
            if block is not None:
                results.append(port.result(shape, block))
            elif buffer.shape == shape:
                results.append(buffer)
            else:
                count = int(np.prod(shape, dtype=np.int64))
                results.append(buffer.reshape(-1)[:count].reshape(shape))
        return results

    def input_signature(self):
        """The inputs as JSON: type, dims (-1 where one varies) and name of each."""
        return _signature("[ ", self._chosen("signature").inputs)

    def output_signature(self):
        """The outputs as JSON, like input_signature."""
        return _signature("[", self._chosen("signature").outputs)

    @property
    def inputs(self):
        """The inputs as TensorInfo, with the names of symbolic dimensions."""
        return [port.info for port in self._chosen("signature").inputs]

    @property
    def outputs(self):
        """The outputs as TensorInfo."""
        return [port.info for port in self._chosen("signature").outputs]

    @property
    def dimensions(self):
        """The inputs' symbolic dimensions: name -> (minimum, maximum)."""
        names = {extent for entry in self._entries for port in entry.inputs
                 for extent in port.info.shape if isinstance(extent, str)}
        return {name: (low, high) for name, low, high in self._symbols if name in names}

    def entry_points(self):
        """The names of the plan's entry points."""
        return [entry.name for entry in self._entries]

    def set_entry_point(self, name):
        """Chooses what run and the signatures mean. "run_main_graph", with or without the tag, is
        the first entry point."""
        self._entry = self._named(name)

    def _named(self, name):
        for entry in self._entries:
            if entry.name == name:
                return entry
        if name in ("run_main_graph", f"run_main_graph_{self._tag}"):
            return self._entries[0]
        raise Error(f"the plan has no entry point {name!r}; its entry points are "
                    f"{', '.join(map(repr, self.entry_points()))}", "kUnknownName")

    @property
    def states(self):
        """The states (`--state OUTPUT=INPUT`) as TensorInfo."""
        return [port.info for port in self._states]

    def read_state(self, name):
        """A copy of the state."""
        port = self._state(name)
        return port.result(*self._native.read_state(port.index))

    def write_state(self, name, value):
        """Sets the state to an array of its shape."""
        port = self._state(name)
        self._native.write_state(port.index, port.accept(value)[1])

    def reset_states(self):
        """Sets all states to zero, as they are when the session is opened."""
        self._native.reset_states()

    def _state(self, name):
        for port in self._states:
            if port.name == name:
                return port
        raise Error(f"the plan has no state {name!r}; its states are "
                    f"{EntryPoint.names(self._states) or 'none'}", "kUnknownName")

    def _chosen(self, function):
        if self._entry is None:
            raise Error(errors.no_entry_point(function, self._tag), "kInvalidArgument")
        return self._entry


OMExecutionSession = ExecutionSession
