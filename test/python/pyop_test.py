# SPDX-License-Identifier: Apache-2.0
"""Python operators, converted and run from Python: the package finds its own plug-in, and operators
run in the interpreter that is there."""

import contextlib
import io
import logging
import os
import subprocess
import sys
import threading
import unittest
import unittest.mock
import warnings

import numpy as np
from onnx import helper

import intarsia
import support

FLOAT = support.FLOAT
USER = """
calls = 0


class Shift:
    domain = "user"
    inputs, outputs = ["x: float32"], ["y"]
    attributes = {"by": 1.0}

    def infer(self, inputs, attributes):
        return inputs[0]

    def forward(self, inputs, attributes):
        global calls
        calls += 1
        (x,) = inputs
        return x + attributes["by"]
"""
PYOP = """
class Scale:
    def __init__(self, factor):
        self.factor = factor

    def compute(self, x):
        if x[0] < 0:
            raise ValueError("a negative number")
        return x * self.factor
"""


def write(name, text):
    folder = support.FOLDER / name
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def user_model(shape=(3,), operator="Shift", domain="user", **attributes):
    node = helper.make_node(operator, ["x"], ["y"], domain=domain, **attributes)
    return support.model([node], {"x": (FLOAT, list(shape))}, {"y": (FLOAT, list(shape))})


def pyop_model(module, class_name, shape=(2,), **attributes):
    return user_model(shape, "PyOp", "pyop", module=module, class_name=class_name,
                      input_types=[FLOAT], output_types=[FLOAT], **attributes)


class PythonOperators(unittest.TestCase):
    def setUp(self):
        self.plan = support.FOLDER / f"{self.id().split('.')[-1]}.plan"

    def test_a_file_of_operators(self):
        file = write("user_shift", USER) / "user_shift.py"
        intarsia.convert(user_model(by=2.5), self.plan, operators=str(file))
        x = np.array([1, 2, 3], np.float32)
        for operators in (file, [os.fsencode(file)]):
            session = intarsia.ExecutionSession(self.plan, operators=operators)
            np.testing.assert_array_equal(session.run([x])[0], [3.5, 4.5, 5.5])
        # It is this interpreter's module, not that of a second one.
        self.assertEqual(sys.modules["user_shift"].calls, 2)
        with self.assertRaises(intarsia.Error) as context:
            intarsia.ExecutionSession(self.plan)
        self.assertEqual(context.exception.code, "kMissingKernel")

    def test_pyop_with_permission(self):
        folder = write("user_scale", PYOP)
        model = pyop_model("user_scale", "Scale", factor=3.0)
        allowed = {"allow_pyop": True, "pyop_path": folder}
        with self.assertRaisesRegex(intarsia.Error, "--allow-pyop"):
            intarsia.convert(model, self.plan)
        intarsia.convert(model, self.plan, **allowed)
        with self.assertRaises(intarsia.Error):
            intarsia.ExecutionSession(self.plan)
        session = intarsia.ExecutionSession(self.plan, **allowed)
        x = np.array([1, 2], np.float32)
        np.testing.assert_array_equal(session.run([x])[0], [3, 6])
        with self.assertRaisesRegex(intarsia.Error, "(?s)user_scale.py.*ValueError: a negative"):
            session.run([-x])
        np.testing.assert_array_equal(session.run([x])[0], [3, 6])

    def test_many_threads(self):
        folder = write("user_threads", PYOP)
        allowed = {"allow_pyop": True, "pyop_path": [folder]}
        intarsia.convert(pyop_model("user_threads", "Scale", factor=2.0), self.plan, **allowed)
        wrong = []

        def work(number):
            session = intarsia.ExecutionSession(self.plan, **allowed)
            for run in range(50):
                x = np.array([number, run], np.float32)
                if not np.array_equal(session.run([x])[0], x * 2):
                    wrong.append((number, run))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_what_an_operator_raises_is_the_cause(self):
        folder = write("user_raises", """
class Raises:
    def __init__(self, where="run"):
        self.where = where
        if where == "open":
            raise LookupError("early")
    def compute(self, x):
        if x[0] == 1:
            try:
                raise KeyError("inner")
            except KeyError as error:
                raise ValueError("outer") from error
        if x[0] == 2:
            raise KeyboardInterrupt
        if x[0] == 3:
            raise SystemExit(5)
        return x
""")
        allowed = {"allow_pyop": True, "pyop_path": [folder]}
        intarsia.convert(pyop_model("user_raises", "Raises"), self.plan, **allowed)
        session = intarsia.ExecutionSession(self.plan, **allowed)
        x = np.zeros(2, np.float32)
        for _ in range(2):
            session.run([x])
            with self.assertRaisesRegex(intarsia.Error, "(?s)ValueError: outer") as context:
                session.run([x + 1])
            cause = context.exception.__cause__
            self.assertIsInstance(cause, ValueError)
            self.assertIsInstance(cause.__cause__, KeyError)
            self.assertEqual(cause.__traceback__.tb_frame.f_code.co_name, "compute")
            self.assertRaises(KeyboardInterrupt, session.run, [x + 2])
            with self.assertRaises(SystemExit) as context:
                session.run([x + 3])
            self.assertEqual(context.exception.code, 5)
        # What fails for another reason has no cause of before.
        session.run([x])
        with self.assertRaises(intarsia.Error) as context:
            session.run([x.astype(np.float64)])
        self.assertIsNone(context.exception.__cause__)
        early = pyop_model("user_raises", "Raises", where="open")
        intarsia.convert(early, self.plan, **allowed)
        with self.assertRaises(intarsia.Error) as context:
            intarsia.ExecutionSession(self.plan, **allowed)
        self.assertIsInstance(context.exception.__cause__, LookupError)

    def test_what_an_operator_raises_keeps_no_inputs(self):
        # A caller may keep exceptions for long: the memory of the session is not theirs.
        folder = write("user_holds", """
import weakref
held = weakref.WeakSet()

class Large:
    pass

class Holds:
    def compute(self, x):
        large = Large()
        held.add(large)
        try:
            self.inner(large)
        except KeyError as error:
            raise ValueError("outer") from error
    def inner(self, large):
        raise KeyError("inner")
""")
        allowed = {"allow_pyop": True, "pyop_path": [folder]}
        intarsia.convert(pyop_model("user_holds", "Holds"), self.plan, **allowed)
        session = intarsia.ExecutionSession(self.plan, **allowed)
        with self.assertRaisesRegex(intarsia.Error, "outer") as context:
            session.run([np.zeros(2, np.float32)])
        cause = context.exception.__cause__
        self.assertIsInstance(cause.__cause__, KeyError)
        self.assertEqual(len(sys.modules["user_holds"].held), 0)

    def test_PYOP_23_what_operators_print_and_warn_of_is_theirs(self):
        folder = write("user_prints", """
import sys
import warnings
class Prints:
    def compute(self, x):
        print("printed", x[0])
        print("aside", file=sys.stderr)
        warnings.warn("careful")
        if x[0] < 0:
            raise ValueError("negative")
        return x
""")
        allowed = {"allow_pyop": True, "pyop_path": [folder]}
        intarsia.convert(pyop_model("user_prints", "Prints"), self.plan, **allowed)
        session = intarsia.ExecutionSession(self.plan, **allowed)
        x = np.ones(2, np.float32)
        printed, aside = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(aside), \
                warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            session.run([x])
            with self.assertRaisesRegex(intarsia.Error, "ValueError: negative"):
                session.run([-x])
        # Why a run failed is in its Error alone.
        self.assertEqual(printed.getvalue(), "printed 1.0\nprinted -1.0\n")
        self.assertEqual(aside.getvalue(), "aside\naside\n")
        self.assertEqual([str(each.message) for each in caught], ["careful"] * 2)
        with support.standard_output() as text, warnings.catch_warnings(action="ignore"):
            session.run([x])
        self.assertEqual(text, ["printed 1.0\n"])
        # The same in a program's own interpreter.
        done = subprocess.run([support.COMMAND, "bench", self.plan, "--allow-pyop", "--pyop-path", folder,
                               "--seconds", "0"], env=support.plain_environment(), text=True, check=True,
                              capture_output=True)
        self.assertRegex(done.stdout, r"^printed [0-9.]+\nprinted")
        self.assertIn("UserWarning: careful", done.stderr)

    def test_PYOP_23_failures_go_to_the_logger(self):
        folder = write("user_logs", """
class Logs:
    def __init__(self, refuses=0):
        if refuses:
            raise LookupError("not today")
    def compute(self, x):
        if x[0] == 1:
            raise ValueError("one")
        if x[0] == 2:
            raise KeyboardInterrupt
        return x if x[0] < 3 else x[:1]
""")
        allowed = {"allow_pyop": True, "pyop_path": [folder]}
        intarsia.convert(pyop_model("user_logs", "Logs"), self.plan, **allowed)
        session = intarsia.ExecutionSession(self.plan, **allowed)
        x = np.zeros(2, np.float32)
        with self.assertNoLogs("intarsia"):
            session.run([x])
            with self.assertRaises(intarsia.Error):
                session.run([x.astype(np.float64)])  # the caller's mistake, not the operator's
            self.assertRaises(KeyboardInterrupt, session.run, [x + 2])
        with self.assertLogs("intarsia", "WARNING") as logs, self.assertRaises(intarsia.Error) as context:
            session.run([x + 1])
        record, = logs.records
        self.assertEqual((record.name, record.levelname), ("intarsia", "WARNING"))
        first, *trace = record.getMessage().splitlines()
        self.assertEqual(first, f"{self.plan}: node 0: user_logs:Logs.compute raised an exception")
        self.assertEqual(trace[-1], "ValueError: one")
        self.assertIn("ValueError: one", str(context.exception))
        with self.assertLogs("intarsia") as logs, self.assertRaises(intarsia.Error):
            session.run([x + 5])
        self.assertIn("node 0: output 0: expected [2], got [1]", logs.output[0])
        with self.assertLogs("intarsia") as logs, self.assertRaises(intarsia.Error):
            intarsia.InferenceSession(pyop_model("user_logs", "Logs", refuses=1), **allowed)
        self.assertIn("LookupError: not today", logs.output[-1])
        # A handler that fails, by a program that has set none up: nothing but the Error.
        def refuse(_):
            raise KeyError("in a filter")
        logger = logging.getLogger("intarsia")
        logger.addFilter(refuse)
        unraisable = []
        with unittest.mock.patch.object(sys, "unraisablehook", unraisable.append), \
                self.assertRaisesRegex(intarsia.Error, "ValueError: one"):
            session.run([x + 1])
        logger.removeFilter(refuse)
        self.assertIsInstance(unraisable[0].exc_value, KeyError)
        session.run([x])
        done = subprocess.run(
            [sys.executable, "-c", "import sys, numpy, intarsia\n"
             "session = intarsia.ExecutionSession(sys.argv[1], allow_pyop=True, pyop_path=sys.argv[2])\n"
             "try:\n    session.run([numpy.ones(2, numpy.float32)])\nexcept intarsia.Error: pass",
             self.plan, folder], text=True, check=True, capture_output=True)
        self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_a_kept_input_outlives_the_session(self):
        folder = write("user_keeps", """
kept = []
class Keeps:
    def compute(self, x):
        kept.extend([x, x[1:], memoryview(x)])
        return x
""")
        allowed = {"allow_pyop": True, "pyop_path": [folder]}
        size = 1 << 20  # memory that goes back to the system
        intarsia.convert(pyop_model("user_keeps", "Keeps", [size]), self.plan, **allowed)
        session = intarsia.ExecutionSession(self.plan, **allowed)
        x = np.arange(size, dtype=np.float32)
        with self.assertRaisesRegex(intarsia.Error, "keeps an input beyond the call"):
            session.run([x])
        del session
        array, tail, view = sys.modules["user_keeps"].kept
        np.testing.assert_array_equal(array, x)
        np.testing.assert_array_equal(tail, x[1:])
        self.assertRaises(ValueError, view.tolist)

    def test_what_is_bound_is_copied(self):
        # What an operator keeps of its input may be there longer than the caller's array.
        folder = write("user_bound", PYOP)
        allowed = {"allow_pyop": True, "pyop_path": [folder]}
        intarsia.convert(pyop_model("user_bound", "Scale", factor=2.0), self.plan, **allowed)
        x = np.ones(2, np.float32)
        bound = intarsia.ExecutionSession(self.plan, **allowed).bind([x])
        self.assertEqual(bound.in_place, ())
        for value in (1, 3):
            x[:] = value
            np.testing.assert_array_equal(bound.run()[0], 2 * x)

    def test_an_address_in_native_code_keeps_the_memory(self):
        folder = write("user_native", """
import numpy as np
kept = []
class Keeps:
    def compute(self, x):
        kept.append(x.flat)
        return x
""")
        allowed = {"allow_pyop": True, "pyop_path": [folder]}
        size = 1 << 20
        intarsia.convert(pyop_model("user_native", "Keeps", [size]), self.plan, **allowed)
        session = intarsia.ExecutionSession(self.plan, **allowed)
        with self.assertRaisesRegex(intarsia.Error, "keeps an input beyond the call"):
            session.run([np.ones(size, np.float32)])
        del session
        self.assertEqual(len(list(sys.modules["user_native"].kept[0])), size)

    def test_reset_states_makes_new_objects(self):
        folder = write("user_counts", """
class Counts:
    calls = 0
    def compute(self, x):
        self.calls += 1
        return x * 0 + self.calls
""")
        allowed = {"allow_pyop": True, "pyop_path": [folder]}
        intarsia.convert(pyop_model("user_counts", "Counts"), self.plan, **allowed)
        session = intarsia.ExecutionSession(self.plan, **allowed)
        x = np.zeros(2, np.float32)
        self.assertEqual([session.run([x])[0][0] for _ in range(3)], [1, 2, 3])
        session.reset_states()
        self.assertEqual(session.run([x])[0][0], 1)

    def test_folders_leave_the_search_path(self):
        folder = write("user_folder", PYOP)
        allowed = {"allow_pyop": True, "pyop_path": [folder]}
        before = [entry for entry in sys.path if entry]
        intarsia.convert(pyop_model("user_folder", "Scale", factor=2.0), self.plan, **allowed)
        session = intarsia.ExecutionSession(self.plan, **allowed)
        self.assertIn(str(folder), sys.path)
        del session
        self.assertEqual([entry for entry in sys.path if entry], before)
        with self.assertRaises(intarsia.Error):
            intarsia.ExecutionSession("/no/such.plan", **allowed)
        self.assertEqual([entry for entry in sys.path if entry], before)

    def test_an_operator_may_not_run_its_own_session(self):
        folder = write("user_nested", """
session = None
class Nested:
    def compute(self, x):
        if session is not None:
            session.run([x])
        return x
""")
        allowed = {"allow_pyop": True, "pyop_path": [folder]}
        intarsia.convert(pyop_model("user_nested", "Nested"), self.plan, **allowed)
        session = intarsia.ExecutionSession(self.plan, **allowed)
        x = np.ones(2, np.float32)
        session.run([x])
        sys.modules["user_nested"].session = session
        with self.assertRaisesRegex(intarsia.Error, "must not call the session that runs it"):
            session.run([x])
        sys.modules["user_nested"].session = None


if __name__ == "__main__":
    unittest.main()
