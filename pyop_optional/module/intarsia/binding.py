# SPDX-License-Identifier: Apache-2.0
"""Binding: arrays that a session reads and writes in place."""

from .ports import Port


class Binding:
    """Inputs and outputs of a session, bound by `session.bind(inputs, out)`.

        bound = session.bind({"image": camera}, out={"label": label})
        while next_frame(camera):
            bound.run()

    Each run reads what the arrays hold then: without a copy those that `in_place` names, which are
    numbers of whole bytes at their planned maximum; others (truth values, small integers, shorter
    inputs, all inputs of plans with Python operators) are copied when the run begins. An array that is
    read in place must not be written while a run goes on: kernels trust what they have checked.

    Inputs are arrays or tensors (DLPack) in the processor's memory, C-contiguous. Nothing stays bound
    between runs, so that other runs of the session are not concerned. The arrays live as long as this.
    """

    def __init__(self, session, entry, inputs, out):
        self._session, self._entry = session, entry
        self._arguments = entry.arguments(inputs, Port.bind)
        self._targets = entry.given_targets(out)
        native = session._opened()  # pylint: disable=protected-access
        self.in_place = tuple(
            port.name for port, (_, elements, _) in zip(entry.inputs, self._arguments)
            if native.may_bind(entry.index, port.index, elements))

    def run(self, output_names=None):
        """As ExecutionSession.run; outputs without an array of `out` are new arrays."""
        return self._session._execute(  # pylint: disable=protected-access
            self._entry, self._arguments, self._targets, output_names)
