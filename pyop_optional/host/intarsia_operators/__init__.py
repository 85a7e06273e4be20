# SPDX-License-Identifier: Apache-2.0
"""The decorator `onnx_op`: an operator of a Python file as a function, as onnxruntime-extensions has it.

    from intarsia_operators import onnx_op, PyCustomOpDef

    @onnx_op(op_type="own::Join", inputs=[PyCustomOpDef.dt_string], outputs=[PyCustomOpDef.dt_string],
             attrs={"sep": PyCustomOpDef.dt_string})
    def join(x, sep):
        return np.array([sep.join(row) for row in x])

The function's name becomes a class that the converter finds; called with arguments, it is the function.
"""

__all__ = ["PyCustomOpDef", "onnx_op"]


class PyCustomOpDef:
    """Element types, with the numbers of onnx.TensorProto."""

    undefined = 0
    dt_float = 1
    dt_uint8 = 2
    dt_int8 = 3
    dt_uint16 = 4
    dt_int16 = 5
    dt_int32 = 6
    dt_int64 = 7
    dt_string = 8
    dt_bool = 9
    dt_float16 = 10
    dt_double = 11
    dt_uint32 = 12
    dt_uint64 = 13
    dt_complex64 = 14
    dt_complex128 = 15
    dt_bfloat16 = 16


_NAMES = {number: name[3:] for name, number in vars(PyCustomOpDef).items() if name.startswith("dt_")}
_ATTRIBUTES = {PyCustomOpDef.dt_float: float, PyCustomOpDef.dt_double: float,
               PyCustomOpDef.dt_int32: int, PyCustomOpDef.dt_int64: int, PyCustomOpDef.dt_string: str}


class _Callable(type):
    """Calls with arguments are the function's; without any they make an object for a node."""

    def __call__(cls, *arguments, **options):
        if arguments or options:
            return cls.function(*arguments, **options)
        return super().__call__()


def _operands(name, kind, types):
    if isinstance(types, int):
        raise TypeError(f"{name}: {kind} is a list of types, such as [PyCustomOpDef.dt_float]")
    for number in types:
        if number not in _NAMES:
            raise ValueError(f"{name}: {kind} has {number!r}, which is no type of PyCustomOpDef")
    return [f"{kind[:-1]}{index}: {_NAMES[number]}" for index, number in enumerate(types)]


def _attributes(name, attrs):
    """Name -> type, which makes it required, or default. A list names strings."""
    if not isinstance(attrs, dict):
        attrs = {each: PyCustomOpDef.dt_string for each in attrs or ()}
    for each, kind in attrs.items():
        if kind not in _ATTRIBUTES and kind not in (int, float, str):
            raise ValueError(f"{name}: attribute {each!r} has type {kind!r}; attributes are dt_int64, "
                             "dt_float or dt_string")
    return {each: _ATTRIBUTES.get(kind, kind) for each, kind in attrs.items()}


def onnx_op(op_type=None, inputs=None, outputs=None, attrs=None):
    """Makes an operator of a function: function(*inputs, **attributes) returns the output, or a tuple
    of several.

    op_type: "Name" of the domain ai.onnx.contrib, "domain::Name", or by default the function's name.
    inputs, outputs: lists of PyCustomOpDef's types; by default one of dt_float.
    attrs: {name: dt_int64, dt_float or dt_string}, or a list of names of strings.
    """
    def decorate(function):
        full = op_type or function.__name__
        domain, colons, name = full.rpartition("::")
        default = [PyCustomOpDef.dt_float]

        def forward(feed, attributes):
            return function(*feed, **attributes)
        return _Callable(function.__name__, (), {
            "__module__": function.__module__, "__doc__": function.__doc__,
            "function": staticmethod(function), "forward": staticmethod(forward),
            "domain": domain if colons else "ai.onnx.contrib", "name": name,
            "inputs": _operands(full, "inputs", default if inputs is None else inputs),
            "outputs": _operands(full, "outputs", default if outputs is None else outputs),
            "attributes": _attributes(full, attrs)})
    return decorate
