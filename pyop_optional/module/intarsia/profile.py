# SPDX-License-Identifier: Apache-2.0
"""Profile: where the time of a run goes."""

import json
import time
from typing import List, NamedTuple

from . import _native


class NodeTime(NamedTuple):
    """A node of the plan. The time of a loop or a branch holds that of its body's nodes."""

    node: int
    name: str
    operator: str
    kernel: str
    calls: int             # in all runs together
    milliseconds: float    # a run's, on average


class Profile(NamedTuple):
    """What ExecutionSession.profile has measured."""

    runs: int
    milliseconds: float    # a run's, on average, arrays in and out included
    nodes: List[NodeTime]  # in the plan's order

    def __str__(self):
        lines = [f"{self.milliseconds:9.4f} ms a run, {self.runs} runs"]
        lines += [f"{node.milliseconds:9.4f} ms  {node.node:<5} {node.operator:<18} {node.kernel:<40} "
                  f"{node.name}".rstrip()
                  for node in sorted(self.nodes, key=lambda node: -node.milliseconds)]
        return "\n".join(lines)


def measured(native, runs, run):
    """The Profile of so many calls of `run`."""
    if runs < 1:
        raise ValueError(f"runs is 1 or more, not {runs}")
    native.start_profile()
    try:
        begin = time.perf_counter()
        for _ in range(runs):
            run()
        passed = time.perf_counter() - begin
    finally:
        times = native.stop_profile()
    return Profile(runs, 1e3 * passed / runs, node_times(native, times, runs))


def node_times(native, times, runs):
    nodes = json.loads(_native.plan_json(native))["nodes"]
    return [NodeTime(node["index"], node["name"], node["operator"], node["kernel"], calls,
                     nanoseconds / 1e6 / runs)
            for node, (nanoseconds, calls) in zip(nodes, times)]
