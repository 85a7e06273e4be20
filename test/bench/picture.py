# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of docs/benchmarks.md. Usage: picture.py OUT.svg NETWORKS.json... --operators SWEEP.json

The files are those that networks.py and sweep.py write with --json. Each row has a dot for each case,
at the ratio of the fastest peer's time to ours: right of the line at 1 we are faster.
"""

import argparse
import dataclasses
import json
import math
import pathlib
from xml.sax.saxutils import escape

from measure import geometric_mean

COLOURS = ("#1f6f8b", "#d9822b")  # readable on white and on black
LEFT, WIDTH, ROW, TOP, MARGIN = 230, 560, 17, 64, 24
LOW, HIGH = 0.25, 8.0


@dataclasses.dataclass
class Row:
    """A line of the picture: its ratios per run, in the order of the runs."""
    name: str
    ratios: list
    title: bool = False


def ratio(case, ours, peers):
    times = [case[peer]["min_ns"] for peer in peers if peer in case]
    return min(times) / case[ours]["min_ns"]


def read(path):
    """Names of groups and cases with their ratios: {group: {case: ratio}}, and the conditions."""
    record = json.loads(pathlib.Path(path).read_text())
    ours, *peers = record["engines"]
    groups = {}
    for case in record["cases"]:
        groups.setdefault(case["group"], {})[case["name"]] = ratio(case, ours, peers)
    return groups, record["conditions"]


def network_rows(runs):
    rows = []
    for group in runs[0]:
        means = [[geometric_mean(list(run[group].values()))] for run in runs if group in run]
        rows.append(Row(f"{group}, mean", means, title=True))
        for name in sorted(runs[0][group], key=runs[0][group].get):
            rows.append(Row(name, [[run[group][name]] for run in runs if name in run.get(group, {})]))
    return rows


def operator_rows(groups, apart=("call",)):
    rows = [Row(f"{name} ({len(cases)})", [list(cases.values())])
            for name, cases in groups.items() if name not in apart]
    everything = [value for name, cases in groups.items() if name not in apart
                  for value in cases.values()]
    return [Row(f"all operators ({len(everything)})", [everything], title=True), *rows]


def place(value):
    """The x of a ratio, on a logarithmic scale; what lies outside is drawn at the edge."""
    part = math.log(min(max(value, LOW), HIGH) / LOW) / math.log(HIGH / LOW)
    return LEFT + WIDTH * part


def text(x, y, words, anchor="start", size=12, weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'font-weight="{weight}">{escape(words)}</text>')


def dot(x, y, colour, radius, opacity=1.0):
    return (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}" '
            f'fill-opacity="{opacity}"/>')


def draw(networks, operators, legend):
    height = TOP + ROW * (len(networks) + len(operators) + 2) + MARGIN
    width = LEFT + WIDTH + MARGIN
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             f'viewBox="0 0 {width} {height}" font-family="sans-serif" fill="#333333">',
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
             text(LEFT, 20, "time of the fastest peer / ours; right of 1 we are faster", size=13)]
    for number, words in enumerate(legend):
        parts += [dot(LEFT + 6 + 110 * number, 36, COLOURS[number], 5),
                  text(LEFT + 16 + 110 * number, 40, words)]
    for value in (0.25, 0.5, 0.8, 1, 2, 4, 8):
        x, strong = place(value), value == 1
        parts += [f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{height - MARGIN}" '
                  f'stroke="{"#555555" if strong else "#dddddd"}"/>',
                  text(x, TOP - 10, f"{value:g}", "middle", 11)]
    y = TOP + ROW
    for row in networks:
        parts.append(text(LEFT - 10, y + 4, row.name, "end", weight="bold" if row.title else "normal"))
        for colour, values in zip(COLOURS, row.ratios):
            parts += [dot(place(value), y, colour, 6 if row.title else 4) for value in values]
        y += ROW
    y += ROW
    for row in operators:
        parts.append(text(LEFT - 10, y + 4, row.name, "end", weight="bold" if row.title else "normal"))
        for values in row.ratios:
            parts += [dot(place(value), y, COLOURS[0], 3, 0.35) for value in values]
            x = place(geometric_mean(values))
            parts.append(f'<line x1="{x:.1f}" y1="{y - 7}" x2="{x:.1f}" y2="{y + 7}" '
                         'stroke="#b03030" stroke-width="3"/>')
        y += ROW
    return "\n".join([*parts, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("networks", nargs="+", help="one file for each number of threads")
    parser.add_argument("--operators", required=True)
    options = parser.parse_args()
    runs, conditions = zip(*map(read, options.networks))
    threads = [words.partition("threads per engine: ")[2].partition(";")[0] for words in conditions]
    legend = [f"{count} thread{'s' * (count != '1')}" for count in threads]
    drawing = draw(network_rows(runs), operator_rows(read(options.operators)[0]), legend)
    pathlib.Path(options.out).write_text(drawing)


if __name__ == "__main__":
    main()
