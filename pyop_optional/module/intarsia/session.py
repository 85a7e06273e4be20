# SPDX-License-Identifier: Apache-2.0
"""ExecutionSession: a plan, opened.

The names and the signatures are those of onnx-mlir's PyRuntime, and `run` and `get_inputs` serve who
knows ONNX Runtime, too; docs/python.md has the walk-through.
"""

import json
from typing import NamedTuple, Tuple, Union

from . import _native, errors
from .binding import Binding
from .debugging import DebugFunctions
from .errors import Error
from .operators import request
from .ports import MISSING, EntryPoint, ort_type, ports_of, signature_of
from .profile import Profile, measured
from .sources import source_of


class NodeArg(NamedTuple):
    """An input or output as ONNX Runtime describes it: `type` is "tensor(float)", an extent is a
    number, the name of a symbolic dimension, or None where it varies in another way."""

    name: str
    type: str
    shape: Tuple[Union[int, str, None], ...]


class ExecutionSession(DebugFunctions):
    """A plan, opened for running.

    shared_lib_path: the plan: a path (`path` is another name for it), its bytes, or a file open for
        reading bytes. It is read whole; what happens to the file afterwards does not matter.
    tag: for compatibility; sessions are independent of one another and need no tag.
    use_default_entry_point: False leaves the choice to set_entry_point().
    threads: at most what the plan was converted for (`intarsia convert --threads N`).
    operators: libraries of operators (.so) and files of Python operators that the plan uses.
    allow_pyop, pyop_path: let Python operators import and execute their modules; where they are.

    Threads: calls on one session from several threads are safe; they wait for one another. Sessions
    run in parallel: the interpreter's lock is released while native code runs.

    A session is a context manager, which closes it, and can be pickled: it is opened anew where it is
    loaded, by its path, or with the plan's bytes if it came without a path. States begin anew.
    """

    def __init__(self, shared_lib_path=None, tag="", use_default_entry_point=True, *, path=None,
                 threads=1, operators=(), allow_pyop=False, pyop_path=()):
        if (shared_lib_path is None) == (path is None):
            raise TypeError(f"{type(self).__name__} needs the path of a plan")
        if not isinstance(tag, str):
            raise TypeError(f"tag is a string, not {type(tag).__name__}; give "
                            "use_default_entry_point by name")
        source = source_of(shared_lib_path if path is None else path, "plan")
        self._open(source, use_default_entry_point, tag=tag, threads=threads, operators=operators,
                   allow_pyop=allow_pyop, pyop_path=pyop_path)

    def _open(self, source, use_default_entry_point=True, *, tag="", threads=1, operators=(),
              allow_pyop=False, pyop_path=()):
        if threads < 1:
            raise ValueError(f"threads is 1 or more, not {threads}")
        self._options = {"threads": threads, "operators": operators, "allow_pyop": allow_pyop,
                         "pyop_path": pyop_path}
        if tag:
            self._options["tag"] = tag
        self._tag = tag
        self._source = source
        name = source.path if source.data is None else source.name.encode("utf-8", "replace")
        self._native = _native.PlanSession(
            source.data or b"", source.data is None, name, threads,
            request(operators, allow_pyop, pyop_path))
        self._source = source._replace(data=None)
        symbols = self._native.symbols()
        self._symbols = symbols
        self._entries = [EntryPoint(i, native, symbols)
                         for i, native in enumerate(self._native.entries())]
        self._states = ports_of("state", self._native.states(), symbols)
        self._entry = self._entries[0] if use_default_entry_point else None

    def close(self):
        """Ends the session and gives its memory back; a run in another thread ends first. Closing
        twice is harmless, any other call afterwards an Error."""
        self._native = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __reduce__(self):
        source = self._opened().plan() if self._source.path is None else self._source.absolute
        return _reopened, (type(self), source, self._options, self._entry and self._entry.name)

    def __repr__(self):
        def texts(ports):
            return ", ".join(f"{port.name} {port.type}{port.shape_text()}" for port in ports)
        name = f"{type(self).__module__.split('.')[0]}.{type(self).__name__}"
        if self._native is None:
            return f"<{name} {self._source.name!r}, closed>"
        entry = self._entry or self._entries[0]
        more = f", {len(self._entries)} entry points" if len(self._entries) > 1 else ""
        return (f"<{name} {self._source.name!r}: {texts(entry.inputs)} -> "
                f"{texts(entry.outputs)}{more}>")

    def run(self, *args, input=MISSING, inputs=MISSING, input_feed=MISSING, output_names=None,
            run_options=None, out=None, entry=None):
        """Runs the model and returns its outputs as a list of arrays.

            run(inputs)                     also input=, inputs=
            run(output_names, input_feed)   as ONNX Runtime has it; output_names may be None

        inputs: a list of arrays in the model's order, a dict by name, or for a model with one input
            the array itself. Arrays are numpy's, tensors of other packages through DLPack, or what
            numpy makes an array of. They are copied; nothing is converted silently.
        output_names: the outputs to return, in that order; None: all.
        out: arrays or tensors that take the outputs without a copy: a list with None where none is
            given, or a dict by name. An output whose shape varies needs room for its planned maximum;
            the result is then a view. Without it every result is a new array of its own.
        entry: the name of the entry point to run, if it is not the one that was chosen.
        """
        if len(args) > 3:
            raise TypeError(f"run() takes at most output_names, input_feed and run_options by "
                            f"position, but {len(args)} were given")
        if len(args) > 1:
            if output_names is not None:
                raise TypeError("run() takes output_names once")
            output_names, run_options = args[0], args[2] if len(args) > 2 else run_options
        if run_options is not None:
            raise TypeError("run_options is there for programs that pass None; a run has no options")
        positional = args[:1] if len(args) == 1 else args[1:2]
        given = [value for value in (*positional, input, inputs, input_feed) if value is not MISSING]
        if len(given) != 1:
            raise TypeError("run() takes the inputs once: run([...]), run(None, {...}), input=[...] or "
                            "inputs=[...]")
        entry = self._entry_of(entry)
        return self._execute(entry, entry.arguments(given[0]), entry.given_targets(out), output_names)

    def _execute(self, entry, arguments, targets, output_names=None):
        wanted = entry.selection(output_names)
        buffers = entry.buffers(targets, wanted)
        found = self._opened().run(entry.index, arguments, buffers)
        return entry.results(found, targets, buffers, wanted)

    def bind(self, inputs, out=None, entry=None):
        """Binds arrays or tensors for many runs: a Binding, whose run() reads the inputs where they
        are and writes the outputs in `out`, all checked once. See Binding."""
        return Binding(self, self._entry_of(entry), inputs, out)

    def profile(self, inputs, *, runs=10, entry=None, continued=None):
        """Runs the model and measures every node: a Profile, which prints as a table. A run in another
        thread meanwhile counts with it. States go on as in any run.

        continued: of an entry point that continues another one, the inputs of that: it runs before
            each run, and is measured, too.
        """
        entry = self._entry_of(entry)
        before = self._entries[entry.continues] if entry.continues >= 0 else None
        if before is None and continued is not None:
            raise TypeError(f"entry point {entry.name!r} continues no other one: it takes no continued=")
        if before is not None and continued is None:
            raise TypeError(f"entry point {entry.name!r} continues a run of {before.name!r}: pass the "
                            "inputs of that, continued=[...]")
        parts = [(each, each.arguments(given), each.given_targets(None))
                 for each, given in ((before, continued), (entry, inputs)) if each is not None]

        def run():
            for part in parts:
                self._execute(*part)
        run()  # memory is touched, caches are warm
        return measured(self._opened(), runs, run)

    def inspect(self):
        """What the plan holds, as `intarsia inspect --json` tells it: bytes of plan, weights and arena;
        entry points, states, and nodes with their kernels and tensors."""
        return json.loads(_native.plan_json(self._opened()))

    def get_inputs(self):
        """The inputs as ONNX Runtime describes them, a list of NodeArg."""
        return _node_args(self._chosen("signature").inputs)

    def get_outputs(self):
        """The outputs, like get_inputs."""
        return _node_args(self._chosen("signature").outputs)

    def get_providers(self):
        """What ONNX Runtime calls execution providers: a session runs on the processor."""
        return ["CPUExecutionProvider"]

    def input_signature(self):
        """The inputs as JSON: type, dims (-1 where one varies) and name of each."""
        return signature_of("[ ", self._chosen("signature").inputs)

    def output_signature(self):
        """The outputs as JSON, like input_signature."""
        return signature_of("[", self._chosen("signature").outputs)

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

    def _entry_of(self, name):
        return self._chosen("run") if name is None else self._named(name)

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
        return port.result(*self._opened().read_state(port.index))

    def write_state(self, name, value):
        """Sets the state to an array, which may be what another session has left: where the state's
        shape varies, the array's becomes the state's."""
        port = self._state(name)
        shape, elements, _ = port.accept(value)
        self._opened().write_state(port.index, shape, elements)

    def reset_states(self):
        """Sets all states to what they are when the session is opened."""
        self._opened().reset_states()

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

    def _opened(self):
        native = self._native
        if native is None:
            raise Error("the session is closed", "kInvalidArgument")
        return native


def _reopened(session_class, source, options, entry):
    session = session_class(source, **options)
    session._entry = session._named(entry) if entry is not None else None  # pylint: disable=protected-access
    return session


def _node_args(ports):
    return [NodeArg(port.name, ort_type(port.code, port.holds), port.info.shape) for port in ports]


OMExecutionSession = ExecutionSession
