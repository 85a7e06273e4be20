# SPDX-License-Identifier: Apache-2.0
"""Compares and measures one case on several engines, and writes the tables.

The first engine is ours. Rounds alternate: each round runs every engine for a moment, in turn, so
that whatever else the machine does falls on all of them. The figure of an engine is the minimum
over all rounds: other programs only ever add time. The ratio is that of the fastest peer's minimum
to ours, above 1 where we are faster. Its range says how far it would have moved had the better
quarter of the rounds been lost on either side: from (their minimum / the lower quartile of our
rounds' minima) to (the lower quartile of theirs / our minimum).

An engine with `optional` may refuse a model or compute something else: that case is without it.
"""

import dataclasses
import math
import sys

import numpy

from engines import Failure

# Largest difference as a part of the output's scale. Types that are not listed agree exactly.
TOLERANCES = {"float16": 2e-3, "float32": 1e-4, "float64": 1e-9}


@dataclasses.dataclass
class Effort:
    """What a case may cost: rounds, and seconds per engine over all of them."""
    rounds: int
    seconds: float


@dataclasses.dataclass
class Row:
    """One line of the table. `samples` holds, per engine, one Sample for each round."""
    name: str
    group: str
    samples: dict

    def times(self, engine):
        return [sample.minimum for sample in self.samples[engine]]

    def minimum(self, engine):
        return min(self.times(engine))

    def middle(self, engine, field):
        """The median over all rounds of each round's median or p99."""
        values = sorted(getattr(sample, field) for sample in self.samples[engine])
        return values[len(values) // 2]

    def quartile(self, engine):
        return sorted(self.times(engine))[len(self.times(engine)) // 4]

    def fastest(self, engines):
        return min((e for e in engines if e in self.samples), key=self.minimum)

    def ratio(self, ours, *peers):
        """The ratio to the fastest of the peers, and its range."""
        best = self.fastest(peers)
        return (self.minimum(best) / self.minimum(ours),
                self.minimum(best) / self.quartile(ours),
                self.quartile(best) / self.minimum(ours))

    def record(self, engines):
        """What goes into the JSON file."""
        ours = engines[0]
        record = {"name": self.name, "group": self.group}
        for engine in self.samples:
            record[engine] = {"min_ns": round(self.minimum(engine), 1),
                              "median_ns": round(self.middle(engine, "median"), 1),
                              "p99_ns": round(self.middle(engine, "p99"), 1),
                              "rounds_min_ns": [round(time, 1) for time in self.times(engine)]}
            if engine != ours:
                values = self.ratio(ours, engine)
                record[engine].update(zip(("ratio", "low", "high"), (round(v, 4) for v in values)))
        return record


def difference(found, expected, tolerance=None):
    """"" if two outputs agree, else how they differ."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return (f"{found.dtype} {list(found.shape)}, expected "
                f"{expected.dtype} {list(expected.shape)}")
    if found.dtype.name not in TOLERANCES:
        wrong = found != expected
        if tolerance and (numpy.abs(found.astype(int) - expected.astype(int)) <= 1).all():
            wrong = wrong if wrong.mean() > tolerance else numpy.zeros(1)  # codes next to a middle between two
        return f"{int(wrong.sum())} of {found.size} elements differ" if wrong.any() else ""
    a, b = found.astype(numpy.float64), expected.astype(numpy.float64)
    ordinary = numpy.isfinite(b)
    if not numpy.array_equal(a[~ordinary], b[~ordinary], equal_nan=True):
        return "NaN or infinity on one side only"
    if not ordinary.any():
        return ""
    scale = max(float(numpy.abs(b[ordinary]).max()), 1e-30)
    error = float(numpy.abs(a[ordinary] - b[ordinary]).max()) / scale
    limit = max(tolerance or 0, TOLERANCES[found.dtype.name])
    if error <= limit:
        return ""
    return f"error {error:.2g} of the scale {scale:.3g}, allowed {limit:g}"


def compare(session, expected, reference, tolerance=None):
    """Raises Failure unless the session's outputs are those of the reference."""
    found = session.outputs()
    if len(found) != len(expected):
        raise Failure(f"{len(found)} outputs, {reference} has {len(expected)}")
    for number, pair in enumerate(zip(found, expected)):
        text = difference(*pair, tolerance)
        if text:
            raise Failure(f"output {number} differs from that of {reference}: {text}")


def measure(name, group, engines, model, feeds, folder, effort, tolerance=None):
    """Opens a model on every engine, compares all outputs with those of the second, then times."""
    sessions = []
    ours, reference, *others = engines
    try:
        sessions.append(reference.open(model, feeds, folder))
        expected = sessions[0].outputs()
        sessions.insert(0, ours.open(model, feeds, folder))
        compare(sessions[0], expected, reference.name, tolerance)
        for engine in others:
            try:
                sessions.append(engine.open(model, feeds, folder))
                compare(sessions[-1], expected, reference.name, tolerance)
            except Failure as failure:
                if not getattr(engine, "optional", False):
                    raise
                print(f"{name}: without {engine.name}: {failure}", file=sys.stderr, flush=True)
                if sessions[-1].name == engine.name:
                    sessions.pop().close()
        row = Row(name, group, {session.name: [] for session in sessions})
        for number in range(effort.rounds):
            for session in sessions if number % 2 == 0 else sessions[::-1]:
                row.samples[session.name].append(session.time(effort.seconds / effort.rounds))
        return row
    finally:
        for session in sessions:
            session.close()


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def duration(nanoseconds):
    """Three significant digits in the unit that suits."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            value = nanoseconds / size
            return f"{value:.{max(0, 2 - int(math.log10(value)))}f} {unit}"
    return f"{nanoseconds:.0f} ns"


def table(rows, ours, peers):
    """The cases, worst first, as Markdown: minima, and our median and 99th percentile."""
    lines = ["| case | " + " | ".join([ours, "median", "p99", *peers]) + " | ratio | range |",
             "|---" + "|---:" * (4 + len(peers)) + "|---|"]
    for row in sorted(rows, key=lambda row: row.ratio(ours, *peers)[0]):
        ratio, low, high = row.ratio(ours, *peers)
        cells = [duration(row.minimum(ours)), duration(row.middle(ours, "median")),
                 duration(row.middle(ours, "p99"))]
        cells += [duration(row.minimum(peer)) if peer in row.samples else "-" for peer in peers]
        lines.append(f"| {row.name} | {' | '.join(cells)} | {ratio:.2f} | {low:.2f} to {high:.2f} |")
    return "\n".join(lines)


def summary(rows, ours, peers, apart=()):
    """Per group and, without the groups of `apart`, for all: how many cases, mean, worst, best."""
    lines = ["| group | cases | geometric mean | below 0.8 | below 0.33 | worst | best |",
             "|---|---:|---:|---:|---:|---:|---:|"]

    def line(title, ratios):
        lines.append(f"| {title} | {len(ratios)} | {geometric_mean(ratios):.2f} | "
                     f"{sum(r < 0.8 for r in ratios)} | {sum(r < 0.33 for r in ratios)} | "
                     f"{min(ratios):.2f} | {max(ratios):.2f} |")

    ratios = {}
    for row in rows:
        ratios.setdefault(row.group, []).append(row.ratio(ours, *peers)[0])
    for group, values in ratios.items():
        line(group, values)
    whole = [value for group, values in ratios.items() if group not in apart for value in values]
    if len(ratios) > 1 and whole:
        line("all" + "".join(f" without {group}" for group in apart if group in ratios), whole)
    return "\n".join(lines)
