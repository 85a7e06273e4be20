# SPDX-License-Identifier: Apache-2.0
"""Inputs, outputs and states: what a plan says of them, and the rules by which values are given.

They are checked here, before native code sees them, so that a message can name them.
"""

import json
from collections.abc import Mapping
from typing import NamedTuple, Tuple, Union

import numpy as np

from . import arrays, errors, sequences, strings
from .elements import ELEMENTS, HOLDING_ELEMENTS, MAP, OPTIONAL, SEQUENCE, STRING
from .errors import Error

FIXED = -1  # of PlanSession: an extent that is no symbol and does not vary
MISSING = object()

# The names that programs for ONNX Runtime know, of types that ONNX calls otherwise than numpy.
_ORT_NAMES = {"float32": "float", "float64": "double", "float8_e8m0fnu": "float8e8m0",
              "float8_e4m3fn": "float8e4m3fn", "float8_e4m3fnuz": "float8e4m3fnuz",
              "float8_e5m2": "float8e5m2", "float8_e5m2fnuz": "float8e5m2fnuz",
              "float4_e2m1fn": "float4e2m1", "float6_e2m3fn": "float6e2m3",
              "float6_e3m2fn": "float6e3m2"}
_HOLDING_NAMES = {MAP: "map", OPTIONAL: "optional", SEQUENCE: "seq"}


def ort_type(code, holds=()):
    """A type as ONNX Runtime writes it: "tensor(float)", "seq(tensor(float))". `holds` are the
    numbers of a Port in core/plan.fbs; without them nothing is said of what a sequence holds."""
    if code in HOLDING_ELEMENTS and not holds:
        return _HOLDING_NAMES[code]
    opening, closing, numbers = "", "", iter(holds)
    while code in HOLDING_ELEMENTS:
        key = f"{_ort_name(next(numbers, 0))}," if code == MAP else ""
        opening, closing = f"{opening}{_HOLDING_NAMES[code]}({key}", closing + ")"
        code = next(numbers, 0)
    return f"{opening}tensor({_ort_name(code)}){closing}"


def _ort_name(code):
    if code not in ELEMENTS:
        return "undefined"
    element = ELEMENTS[code]
    name = "string" if code == STRING else element.ml_dtype or element.dtype.name
    return _ORT_NAMES.get(name, name)


def _signature(code, holds, dims, name):
    """What onnx-mlir writes of a tensor or a sequence; optional values and maps look alike."""
    opening, closing, numbers = "", "", iter(holds)
    while code in HOLDING_ELEMENTS:
        key = f'"key" : "{_mlir_name(next(numbers, 0))}" , ' if code == MAP else ""
        opening, closing = f'{opening}   {{{key}"{_HOLDING_NAMES[code]}" : ', closing + " }\n"
        code, dims = next(numbers, 0), numbers
    dims = " , ".join(map(str, dims))
    return (f'{opening}   {{ "type" : "{_mlir_name(code)}" , "dims" : [{dims}] , "name" : {name} }}\n'
            f"{closing}")


def _mlir_name(code):
    return ELEMENTS[code].name if code in ELEMENTS else "none"


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
        name, code, self.extents, axes, self.holds = native
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

    def elements_of(self, array, name):
        """The array's elements as native code takes them, its memory if that is possible; None if
        they are of another type. `name` is that of the elements' type, which numpy may not know."""
        if self.dtype == object:
            packed = strings.pack(array)
            return packed and b"".join(packed)
        if self.ml_dtype and name == self.ml_dtype:
            return array.view(self.dtype)
        if array.dtype == self.dtype and name == array.dtype.name:
            return array
        return None

    def accept(self, value):
        """An input as (shape, buffer, False) for native code, which copies it. Raises Error if it
        does not fit."""
        if self.code in HOLDING_ELEMENTS:
            packed, characters = sequences.pack(value, self.code, str(self))
            if len(packed) > self.extents[0]:
                raise Error(f"{self}: its elements take {len(packed)} bytes; the plan has room for "
                            f"{self.extents[0]} (--max-length, --shape)", "kWrongExtent")
            return (len(packed),), packed + characters, False
        array, elements = self.checked(value)
        if self.may_bind and not elements.flags.c_contiguous:
            elements = elements.copy(order="C")
        return array.shape, elements, False

    def bind(self, value):
        """The same for elements that are read from `value` itself in every run."""
        if not self.may_bind:
            raise Error(f"{self} is of type {self.type}, which no array gives in place; pass it to run()",
                        "kUnsupported")
        if not (isinstance(value, np.ndarray) or arrays.has_dlpack(value)):
            raise TypeError(f"{self}: an array or a tensor can be bound, not {type(value).__name__}")
        array, elements = self.checked(value)
        if not elements.flags.c_contiguous:
            raise Error(f"{self}: what is bound must be C-contiguous; pass a copy, or give it to run()",
                        "kInvalidArgument")
        return array.shape, elements, True

    def checked(self, value):
        """An array and its elements, which fit."""
        array, name = arrays.as_array(value, str(self))
        elements = self.elements_of(array, name)
        if elements is None:
            raise Error(f"{errors.wrong_type(self.index, self.type)} ({self}: "
                        f"{self.type_problem(array.dtype, name)})", "kWrongType")
        if array.ndim != len(self.extents):
            raise Error(f"{errors.wrong_rank(self.index, len(self.extents), array.ndim)} "
                        f"({self}: its shape is {self.shape_text()}, the array's {array.shape})",
                        "kWrongRank")
        if array.shape != self.extents:
            self.check_extents(array.shape)
        return array, elements

    def type_problem(self, dtype, name):
        found = f"the array holds {dtype if name == dtype.name else name}"
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
        dims = [extent if limits is None else -1
                for extent, limits in zip(self.extents, self.ranges)]
        return _signature(self.code, self.holds, dims, json.dumps(self.name, ensure_ascii=False))

    def target(self, value):
        """A caller's array that shall take this output, checked. Returns it as `dtype`."""
        if not self.may_bind:
            raise Error(f"out: {self} is of type {self.type}, which no array takes in place; leave it "
                        "None", "kUnsupported")
        if not (isinstance(value, np.ndarray) or arrays.has_dlpack(value)):
            raise TypeError(f"out: {self} needs an array, a tensor or None, not "
                            f"{type(value).__name__}")
        value, name = arrays.as_array(value, f"out: {self}", in_place=True)
        elements = self.elements_of(value, name)
        flags = value.flags
        count = int(np.prod(self.extents, dtype=np.int64))
        if elements is None:
            problem = f"elements of type {self.dtype}, not {value.dtype if name == value.dtype.name else name}"
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


def ports_of(kind, natives, symbols):
    return [Port(i, kind, native, symbols) for i, native in enumerate(natives)]


def signature_of(opening, ports):
    return opening + " , ".join(port.signature() for port in ports) + "\n]"


class EntryPoint:
    """Inputs and outputs of one entry point, with the rules by which values are given to them."""

    def __init__(self, index, native, symbols):
        self.index = index
        self.name = native[0]
        self.inputs = ports_of("input", native[1], symbols)
        self.outputs = ports_of("output", native[2], symbols)
        self.continues = native[3]  # the entry point whose last run this one reads; -1: none

    def arguments(self, values, take=Port.accept):
        """The inputs in order, from a list, from a dict by name, or from a bare array; each as `take`
        has it."""
        if isinstance(values, np.ndarray) or arrays.has_dlpack(values):
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
        return [take(port, value) for port, value in zip(self.inputs, values)]

    def given_targets(self, out):
        """Per output the caller's array and its elements for native code; two times None without."""
        if out is None:
            return [(None, None)] * len(self.outputs)
        if (isinstance(out, np.ndarray) or arrays.has_dlpack(out)) and len(self.outputs) == 1:
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
        self.check_overlap(targets)
        return list(zip(out, targets))

    def check_overlap(self, targets):
        given = [(i, target) for i, target in enumerate(targets) if target is not None]
        for n, (i, target) in enumerate(given):
            for j, other in given[n + 1:]:
                if np.may_share_memory(target, other):
                    raise Error(f"out: the arrays of {self.outputs[i]} and {self.outputs[j]} "
                                "overlap", "kInvalidArgument")

    def selection(self, names):
        """Positions of the outputs that are asked for by name; all, where none are named."""
        if names is None:
            return range(len(self.outputs))
        if isinstance(names, str):
            raise TypeError(f"output_names is a list of names or None, not the string {names!r}")
        positions = {port.name: port.index for port in reversed(self.outputs)}
        for name in names:
            if name not in positions:
                raise Error(f"the model has no output {name!r}; its outputs are "
                            f"{self.names(self.outputs)}", "kUnknownName")
        return [positions[name] for name in names]

    def buffers(self, targets, wanted):
        """For native code: where each output goes; False where it is not wanted."""
        return [False if port.index not in wanted else
                np.empty(port.extents, port.dtype)
                if target is None and port.is_fixed and port.may_bind else target
                for port, (_, target) in zip(self.outputs, targets)]

    def results(self, found, targets, buffers, wanted):
        """The outputs of a run, from what native code gives."""
        values = []
        for i in wanted:
            port, (given, _), buffer, (shape, block) = self.outputs[i], targets[i], buffers[i], found[i]
            if block is not None:
                values.append(port.result(shape, block))
            elif buffer.shape == shape:
                values.append(buffer if given is None else given)
            else:
                count = int(np.prod(shape, dtype=np.int64))
                values.append(buffer.reshape(-1)[:count].reshape(shape))
        return values

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
