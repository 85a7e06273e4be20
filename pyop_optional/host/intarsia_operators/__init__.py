# SPDX-License-Identifier: Apache-2.0
"""What files of Python operators may import: the decorator `onnx_op`, for an operator as a function, as
onnxruntime-extensions has it, and `Function`, for one with a gradient, as PyTorch and OneFlow have it.

    from intarsia_operators import onnx_op, PyCustomOpDef

    @onnx_op(op_type="own::Join", inputs=[PyCustomOpDef.dt_string], outputs=[PyCustomOpDef.dt_string],
             attrs={"sep": PyCustomOpDef.dt_string})
    def join(x, sep):
        return np.array([sep.join(row) for row in x])

The function's name becomes a class that the converter finds; called with arguments, it is the function.
"""

import inspect
import itertools
import sys
import weakref

__all__ = ["Function", "PyCustomOpDef", "onnx_op"]


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
    of several. Of a class that derives from Function, it says the same things.

    op_type: "Name" of the domain ai.onnx.contrib, "domain::Name", or by default the function's name.
    inputs, outputs: lists of PyCustomOpDef's types; by default one of dt_float.
    attrs: {name: dt_int64, dt_float or dt_string}, or a list of names of strings.
    """
    def decorate(function):
        full = op_type or function.__name__
        domain, colons, name = full.rpartition("::")
        default = [PyCustomOpDef.dt_float]
        facts = {
            "domain": domain if colons else "ai.onnx.contrib", "name": name,
            "inputs": _operands(full, "inputs", default if inputs is None else inputs),
            "outputs": _operands(full, "outputs", default if outputs is None else outputs),
            "attributes": _attributes(full, attrs)}
        if isinstance(function, type) and issubclass(function, Function):
            for each, value in facts.items():
                setattr(function, each, value)
            return function

        def forward(feed, attributes):
            return function(*feed, **attributes)
        return _Callable(function.__name__, (), {
            "__module__": function.__module__, "__doc__": function.__doc__,
            "function": staticmethod(function), "forward": staticmethod(forward), **facts})
    return decorate


def _own(value, inputs):
    """A copy of an array that shows the memory of an input, which is not there behind the call."""
    if isinstance(value, memoryview):
        return memoryview(value.tobytes()).cast("B").cast(value.format, value.shape)
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.ndarray):
        return value
    shows = any(isinstance(each, numpy.ndarray) and numpy.may_share_memory(value, each) for each in inputs)
    return value.copy() if shows else value


class Context:
    """What a call of `forward` leaves for the `backward` that belongs to it: saved tensors, and attributes
    of any name. There is nothing in it outside of these two."""

    __slots__ = ("_inputs", "_saved", "_marked", "_attributes", "_name", "_needed", "_open")

    def __init__(self, name):
        self._name, self._inputs, self._saved, self._marked, self._attributes = name, (), (), (), {}
        self._needed, self._open = None, False

    def save_for_backward(self, *tensors):
        """Keeps arrays, or None; what is an input is not copied. A second call replaces the first one's."""
        self._require_open()
        for index, tensor in enumerate(tensors):
            if tensor is not None and not hasattr(tensor, "shape"):
                raise TypeError(f"save_for_backward: expected an array or None as element {index}, but got "
                                f"{type(tensor).__name__}; anything else is kept as an attribute, such as ctx.scale")
        places = {id(each): place for place, each in enumerate(self._inputs)}
        self._saved = tuple((places.get(id(each)), None if id(each) in places else _own(each, self._inputs))
                            for each in tensors)

    @property
    def saved_tensors(self):
        """What was saved, as a tuple."""
        self._require_open()
        return tuple(kept if place is None else self._inputs[place] for place, kept in self._saved)

    def mark_non_differentiable(self, *outputs):
        """Says of arrays that `forward` returns that nothing is to be differentiated through them: `backward`
        has None for their gradients."""
        self._require_open()
        self._marked = outputs

    @property
    def needs_input_grad(self):
        """In `backward`: whether the gradient of each input is asked for."""
        self._require_open()
        if self._needed is None:
            raise RuntimeError(f"{self._name}: needs_input_grad is known in backward only")
        return self._needed

    def __getattr__(self, name):
        self._require_open()
        try:
            return self._attributes[name]
        except KeyError:
            raise AttributeError(f"the context of {self._name} has no attribute {name!r}") from None

    def __setattr__(self, name, value):
        if name in Context.__slots__:
            object.__setattr__(self, name, value)
            return
        if hasattr(Context, name):
            raise AttributeError(f"the context of {self._name}: {name} is its own")
        self._require_open()
        self._attributes[name] = _own(value, self._inputs)

    def __delattr__(self, name):
        self._require_open()
        self._attributes.pop(name)

    def _require_open(self):
        if not self._open:
            raise RuntimeError(f"the context of {self._name} holds nothing outside of forward and backward; keep "
                               "what you need of it, not the context")

    def _call(self, function, inputs, arguments, options):
        self._inputs, self._open = inputs, True
        try:
            return function(self, *arguments, **options)
        finally:
            self._inputs, self._open = (), False


class _Node:
    """One node's Function, as the host calls it. A node whose backward is in the plan keeps the context of its
    last run, and hands out its number, by which the backward node finds it."""

    wanted_outputs = ()
    _numbers = itertools.count(1)
    _nodes = weakref.WeakValueDictionary()

    def __init__(self, kind):
        self._function = object.__new__(kind)
        self._context = None
        self._number = next(_Node._numbers)
        _Node._nodes[self._number] = self
        if hasattr(self._function, "infer"):
            self.infer = self._function.infer

    def forward(self, inputs, attributes):
        self._context = None  # its memory first
        context, outputs = _forward(self._function, inputs, attributes)
        if self.wanted_outputs[-1]:
            self._context = context
        return outputs, self._number

    def backward(self, arguments):
        count = len(self._function.inputs)
        inputs, number, gradients = arguments[:count], arguments[count], arguments[count + 1:]
        node = _Node._nodes.get(int(number[()]))
        if node is None or type(node._function) is not type(self._function) or node._context is None:
            raise RuntimeError(f"{_name(self._function)}: there is no context of a run of forward")
        context = node._context
        if all(context._marked):
            return [None] * count
        gradients = [None if marked else each for each, marked in zip(gradients, context._marked)]
        context._needed = self.wanted_outputs
        return context._call(self._function.backward, inputs, gradients, {})

    def apply(self, *inputs, **attributes):
        return self._function.apply(*inputs, **attributes)

    __call__ = apply


def _name(function):
    return type(function).__name__


def _forward(function, inputs, attributes):
    """The context, and what `forward` returns."""
    context = Context(_name(function))
    outputs = context._call(function.forward, inputs, inputs, attributes)
    each = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    for place, marked in enumerate(context._marked):
        if not any(marked is output for output in each):
            raise ValueError(f"mark_non_differentiable: element {place} is no array that forward returns")
    context._marked = tuple(any(output is marked for marked in context._marked) for output in each)
    return context, outputs


class Function:
    """An operator with a gradient, as PyTorch and OneFlow have `autograd.Function`.

        class Scaled(Function):
            domain = "own"

            @staticmethod
            def forward(ctx, x, by=2.0):
                ctx.by = by
                return x * np.float32(by)

            @staticmethod
            def backward(ctx, dy):
                return dy * np.float32(ctx.by)

    `forward` takes the inputs, and the node's attributes by name; `backward` the gradients of the outputs, and
    returns one for each input, None where it is 0. `inputs`, `outputs`, `attributes`, `infer`, `name` and `domain`
    are written as those of any operator of a file. Without `inputs` the parameters of `forward` say what there is:
    with the default None they are optional inputs, with another default attributes. Without `outputs` there is one.
    """

    def __new__(cls):
        return _Node(cls)

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if not hasattr(cls, "outputs"):
            cls.outputs = ["output"]
        if not hasattr(cls, "forward") or hasattr(cls, "inputs"):
            return
        parameters = list(inspect.signature(cls.forward).parameters.values())
        del parameters[:2 if parameters[0].name == "self" else 1]
        cls.inputs, cls.attributes = [], dict(getattr(cls, "attributes", {}))
        for each in parameters:
            if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
                raise TypeError(f"{cls.__name__}: forward takes *{each.name}; `inputs` has to say what they are")
            if each.name in cls.attributes:
                continue
            if each.default is each.empty or each.default is None:
                cls.inputs.append(each.name + ("?" if each.default is None else ""))
            else:
                cls.attributes[each.name] = each.default

    @classmethod
    def apply(cls, *inputs, **attributes):
        """What `forward` returns, in Python: to try it out."""
        return _forward(object.__new__(cls), inputs, attributes)[1]
