# SPDX-License-Identifier: Apache-2.0
"""Cases of the sweep: one node at an ordinary size each, and how they become models.

A family (families/*.py) is a list CASES of `case(...)`: operator, what is special, inputs,
attributes. Inputs are described (`normal(1, 64, 56, 56)`), and drawn when the case is made: a case
costs nothing before. An input is fed at run time unless it is wrapped in `constant(...)`, which makes it an
initialiser, as weights, axes and extents are in real models; None leaves an optional input out.
"""

import dataclasses
import importlib
import math
import pathlib
import sys

import numpy
import onnx
import onnx.helper
import onnx.numpy_helper
import onnx.shape_inference

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "models"))
import inputs as seeded  # noqa: E402  (test/models/inputs.py)

FAMILIES = ("elementwise", "reduction", "movement", "indexing", "shape", "nn", "linear_algebra",
            "recurrent", "ml", "control", "sequence", "strings", "quantization", "random", "contrib")
OPSET = 21

# Sizes that many cases share.
IMAGE = (1, 64, 56, 56)
MATRIX = (1024, 1024)
TOKENS = (1, 128, 768)


@dataclasses.dataclass(frozen=True)
class Input:
    """How to draw an input; `draw` takes a generator of NumPy and gives an array."""
    draw: object
    constant: bool = False


def normal(*shape, type="float32", scale=1.0, shift=0.0):
    return Input(lambda rng: (scale * rng.standard_normal(shape) + shift).astype(type))


def uniform(low, high, *shape, type="float32"):
    return Input(lambda rng: rng.uniform(low, high, shape).astype(type))


def integers(low, high, *shape, type="int64"):
    """From low to high, both included."""
    return Input(lambda rng: rng.integers(low, high + 1, shape).astype(type))


def flags(*shape):
    return Input(lambda rng: rng.integers(0, 2, shape).astype(bool))


def exactly(values, type="int64"):
    return Input(lambda rng: numpy.array(values, type))


def constant(value):
    """An initialiser: a described input, or a list of integers."""
    value = value if isinstance(value, Input) else exactly(value)
    return dataclasses.replace(value, constant=True)


def weight(*shape, type="float32"):
    """Constant, of a spread that keeps the size of what passes through (Conv: [out, in, ...])."""
    fan = math.prod(shape[1:]) if len(shape) > 1 else 1
    return constant(normal(*shape, type=type, scale=fan ** -0.5))


@dataclasses.dataclass(frozen=True)
class Case:
    operator: str
    variant: str
    inputs: tuple
    attributes: dict
    outputs: int
    opset: int
    family: str
    tolerance: float
    bodies: object
    steps: object

    @property
    def name(self):
        return f"{self.operator} {self.variant}".strip()

    @property
    def domain(self):
        return self.operator.rpartition(":")[0]

    def in_type(self, type):
        """The same case with floats of that type (its name in numpy) in the place of float32."""
        def changed(described):
            def draw(rng):
                array = described.draw(rng)
                return array.astype(type) if array.dtype == numpy.float32 else array
            return described and dataclasses.replace(described, draw=draw)
        return dataclasses.replace(self, inputs=tuple(map(changed, self.inputs)),
                                   variant=f"{self.variant} in {type}".strip())

    def listed_steps(self):
        return self.steps() if callable(self.steps) else self.steps or ()

    def build(self):
        """The model and its inputs by name."""
        rng = seeded.generator("sweep", self.name)
        names, initializers, infos, feeds = [], [], [], {}
        for number, described in enumerate(self.inputs):
            names.append(f"x{number}" if described else "")
            if not described:
                continue
            array = described.draw(rng)
            if described.constant:
                initializers.append(onnx.numpy_helper.from_array(array, names[-1]))
            else:
                feeds[names[-1]] = array
                element = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
                infos.append(onnx.helper.make_tensor_value_info(names[-1], element, array.shape))
        outputs = [f"y{number}" for number in range(self.outputs)]
        attributes = {**self.attributes, **(self.bodies() if self.bodies else {})}
        nodes = [onnx.helper.make_node(type, read, made, **given)
                 for type, read, made, given in self.listed_steps()]
        if not nodes:
            nodes = [onnx.helper.make_node(self.operator.rpartition(":")[2], names, outputs,
                                           domain=self.domain, **attributes)]
        opsets = [onnx.helper.make_opsetid("", self.opset)]
        if self.domain:
            opsets.append(onnx.helper.make_opsetid(self.domain, 1))
        graph = onnx.helper.make_graph(
            nodes, "case", infos, [onnx.ValueInfoProto(name=name) for name in outputs],
            initializers)
        model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)
        model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        for output in model.graph.output:
            if not output.type.HasField("tensor_type"):  # onnx has no rule: like the first input
                output.CopyFrom(infos[0])
                output.name = outputs[0]
                if self.domain in ("ai.onnx.ml", "com.microsoft"):
                    output.type.tensor_type.ClearField("shape")
        return model, feeds


def case(operator, variant, inputs, outputs=1, opset=OPSET, family="", tolerance=None, bodies=None,
         steps=None, **attributes):
    """One case. `operator` is a qualified name, `family` replaces that of the file, `tolerance`
    that of the output's type, `bodies` gives attributes that are graphs, `steps` the nodes (type,
    inputs x0, x1, ..., outputs y0, ..., attributes) where there are several."""
    return Case(operator, variant, tuple(inputs), attributes, outputs, opset, family, tolerance,
                bodies, steps)


def all_cases():
    """The cases of every family, in order. Names differ."""
    cases = []
    for family in FAMILIES:
        for one in importlib.import_module(f"families.{family}").CASES:
            cases.append(one if one.family else dataclasses.replace(one, family=family))
    names = [one.name for one in cases]
    for name in names:
        if names.count(name) > 1:
            raise SystemExit(f"sweep: two cases are named '{name}'")
    return cases


def read_uncovered(path=HERE / "uncovered.txt"):
    """Operators that have no case, each with the reason."""
    reasons = {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, reason = line.partition(" ")
            reasons[name] = reason.strip()
    return reasons


def check_coverage(operators, cases, uncovered):
    """What is wrong with the coverage, one text per problem: every operator of the definitions has
    a case or a reason, not both, and nothing else is named."""
    problems = []
    covered = {one.operator for one in cases}
    for name in sorted(operators - covered - set(uncovered)):
        problems.append(f"operator {name} has no case in test/bench/families, and no reason in "
                        "test/bench/uncovered.txt")
    for name in sorted(covered & set(uncovered)):
        problems.append(f"operator {name} has a case, so it has to leave test/bench/uncovered.txt")
    # Operators of ai.onnx.ml become others as a model is read, so they have no definitions.
    named = {name for name in covered | set(uncovered) if not name.startswith("ai.onnx.ml:")}
    for name in sorted(named - operators):
        problems.append(f"operator {name} is named, but no definition has that name")
    problems += [f"uncovered.txt: {name} lacks a reason"
                 for name, reason in uncovered.items() if not reason]
    return problems
