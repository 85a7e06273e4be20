# SPDX-License-Identifier: Apache-2.0
"""The sweep notices what it must: missing cases, wrong results, engines that fail.

Usage: sweep_test.py RUN_PLAN
"""

import argparse
import dataclasses
import json
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import command
import engines
import instructions
import measure
import numpy
import onnx
import picture
import sweep_cases


class Steady:
    """An engine whose outputs and times are given; each round is a millisecond slower."""

    def __init__(self, name, outputs, start=0.0):
        self.name, self.result, self.clock, self.closed = name, outputs, start, 0

    def open(self, model, feeds, folder):
        return self

    def outputs(self):
        return self.result

    def time(self, seconds, runs=0):
        self.clock += 1e6
        return engines.Sample(1, self.clock, self.clock, self.clock)

    def close(self):
        self.closed += 1


def measured(ours, theirs, **options):
    compared = [Steady("ours", ours), Steady("theirs", theirs, 3e6)]
    try:
        return measure.measure("case", "group", compared, None, {}, None, measure.Effort(4, 0),
                               **options)
    finally:
        assert all(engine.closed == 1 for engine in compared), "a session stays open"


class Results(unittest.TestCase):
    def refused(self, found, expected, text):
        with self.assertRaisesRegex(engines.Failure, text):
            measured([numpy.asarray(found)], [numpy.asarray(expected)])

    def test_equal_results_are_timed_and_the_ratio_has_a_range(self):
        row = measured([numpy.float32([1, 2])], [numpy.float32([1, 2])])
        self.assertEqual(row.times("ours"), [1e6, 2e6, 3e6, 4e6])
        self.assertEqual(row.ratio("ours", "theirs"), (4.0, 2.0, 5.0))

    def test_a_wrong_element_is_refused(self):
        self.refused(numpy.float32([1, 2]), numpy.float32([1, 2.001]), "output 0 differs")
        self.refused(numpy.int64([1, 2]), numpy.int64([1, 3]), "1 of 2 elements differ")
        self.refused(numpy.float32([1, 2]), numpy.float32([numpy.nan, 2]), "NaN or infinity")
        self.refused(numpy.float32([1, numpy.inf]), numpy.float32([1, -numpy.inf]), "infinity")

    def test_a_wrong_type_or_shape_is_refused(self):
        self.refused(numpy.float32([1]), numpy.float64([1]), "expected float64")
        self.refused(numpy.float32([[1]]), numpy.float32([1]), r"expected float32 \[1\]")

    def test_a_missing_output_is_refused(self):
        with self.assertRaisesRegex(engines.Failure, "0 outputs, theirs has 1"):
            measured([], [numpy.float32([1])])

    def test_a_case_may_have_a_tolerance_of_its_own(self):
        measured([numpy.float32([1])], [numpy.float32([1.01])], tolerance=0.1)


class Coverage(unittest.TestCase):
    CASES = [sweep_cases.case("Add", "", [])]

    def problems(self, operators, uncovered):
        return sweep_cases.check_coverage(set(operators), self.CASES, uncovered)

    def test_an_operator_needs_a_case_or_a_reason(self):
        self.assertEqual(self.problems(["Add", "Loop"], {"Loop": "has no size"}), [])
        self.assertRegex(self.problems(["Add", "Loop"], {})[0], "operator Loop has no case")
        self.assertRegex(self.problems(["Add", "Loop"], {"Loop": ""})[0], "lacks a reason")

    def test_what_is_covered_or_unknown_leaves_the_list(self):
        self.assertRegex(self.problems(["Add"], {"Add": "why"})[0], "Add has a case")
        self.assertRegex(self.problems(["Add"], {"Loop": "why"})[0], "Loop is named, but")

    def test_every_case_has_an_input_that_is_fed(self):
        """Else both engines would compute the result before the clock starts."""
        for case in sweep_cases.all_cases():
            inputs = [one for one in case.inputs if one]
            self.assertTrue(not inputs or any(not one.constant for one in inputs), case.name)


class Instructions(unittest.TestCase):
    def test_more_or_far_fewer_than_the_limit_are_found(self):
        names, limits = ["a", "b"], {"a": 100, "b": 1000}
        self.assertEqual(instructions.problems(names, {"a": 114, "b": 700}, limits), [])
        self.assertEqual(instructions.problems(names, {"a": 100}, limits), [])
        for cases, counts, words in ((names, {"a": 116}, "'a' takes 116 .* limit is 100"),
                                     (names, {"b": 660}, "'b' takes 660 .* only"),
                                     (["a", "b", "c"], {}, "'c' has no limit"),
                                     (["a"], {"a": 100}, "'b' is no case")):
            (problem,) = instructions.problems(cases, counts, limits)
            self.assertRegex(problem, words)


class Picture(unittest.TestCase):
    def test_dots_stand_at_the_ratios(self):
        row = measured([numpy.zeros(1, numpy.float32)], [numpy.zeros(1, numpy.float32)])
        with tempfile.TemporaryDirectory() as name:
            file = pathlib.Path(name) / "figures.json"
            options = argparse.Namespace(markdown=pathlib.Path(name) / "tables.md", json=file)
            command.report([row], ["ours", "theirs"], [], "threads per engine: 2; ", options, ())
            groups, conditions = picture.read(file)
        self.assertEqual(groups, {row.group: {row.name: row.ratio("ours", "theirs")[0]}})
        drawing = picture.draw(picture.network_rows([groups]), picture.operator_rows(groups), ["2"])
        dots = [float(part.get("cx")) for part in xml.etree.ElementTree.fromstring(drawing).iter()
                if part.tag.endswith("circle")]
        expected = picture.place(groups[row.group][row.name])
        for x in dots[1:]:  # the first one is the legend's
            self.assertAlmostEqual(x, expected, delta=0.1)
        self.assertEqual(len(dots), 1 + 4)
        self.assertLess(picture.place(0.9), picture.place(1))
        self.assertEqual(picture.place(1000), picture.place(picture.HIGH))


class Engines(unittest.TestCase):
    """The two engines themselves, on a model of one node."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "model.onnx"
        self.engines = [engines.Intarsia(RUNNER), engines.OnnxRuntime()]

    def write(self, case):
        model, feeds = case.build()
        onnx.save(model, self.path)
        return feeds

    def test_both_compute_and_run_as_often_as_they_are_told(self):
        case = sweep_cases.case("Add", "", [sweep_cases.normal(3), sweep_cases.normal(3)])
        feeds = self.write(case)
        for engine in self.engines:
            session = engine.open(self.path, feeds, self.folder)
            numpy.testing.assert_array_equal(session.outputs()[0], feeds["x0"] + feeds["x1"])
            self.assertEqual(session.time(60, 5).runs, 5)
            sample = session.time(0.05)
            self.assertGreater(sample.runs, 5)
            self.assertLessEqual(sample.minimum, sample.median)
            self.assertLessEqual(sample.median, sample.p99)
            session.close()

    def test_a_model_that_is_refused_is_a_failure_with_its_reason(self):
        case = sweep_cases.case("Add", "", [sweep_cases.normal(3), sweep_cases.normal(4)])
        model, feeds = dataclasses.replace(case, inputs=case.inputs[:1] * 2).build()
        model.graph.node[0].op_type = "Addition"
        onnx.save(model, self.path)
        for engine in self.engines:
            with self.assertRaisesRegex(engines.Failure, "Addition"):
                engine.open(self.path, feeds, self.folder)

    def test_an_engine_that_ends_is_a_failure(self):
        case = sweep_cases.case("Add", "", [sweep_cases.normal(3), sweep_cases.normal(3)])
        session = self.engines[0].open(self.path, self.write(case), self.folder)
        session.process.kill()
        session.process.wait()
        with self.assertRaisesRegex(engines.Failure, "exit status -9"):
            session.outputs()
        session.close()


if __name__ == "__main__":
    RUNNER = sys.argv.pop()
    unittest.main()
