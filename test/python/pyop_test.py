# SPDX-License-Identifier: Apache-2.0
"""Python operators, converted and run from Python: the package finds its own plug-in, and operators
run in the interpreter that is there."""

import builtins
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
import onnx
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

    def test_what_a_file_raises_is_the_cause(self):
        (support.FOLDER / "user_import.py").write_text(
            "import builtins\nif builtins.to_raise is not None:\n    raise builtins.to_raise\n" + USER, encoding="utf-8")
        file = support.FOLDER / "user_import.py"
        self.addCleanup(lambda: builtins.__dict__.pop("to_raise", None))
        builtins.to_raise = None
        intarsia.convert(user_model(), self.plan, operators=file)
        plan = self.plan.read_bytes()

        def both():
            yield lambda: intarsia.convert(user_model(), operators=file)
            yield lambda: intarsia.ExecutionSession(plan, operators=file)
        # The first import, and that of a file that has changed since.
        for first in (True, False):
            if not first:
                builtins.to_raise = None
                intarsia.convert(user_model(), operators=file)
                file.write_text(file.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
            for call in both():
                for raised in (ValueError("early"), KeyboardInterrupt(), SystemExit(7)):
                    if first:
                        sys.modules.pop("user_import", None)
                    builtins.to_raise = raised
                    if isinstance(raised, Exception):
                        with self.assertRaisesRegex(intarsia.Error, "(?s)user_import.py: importing it raised.*"
                                                    "line 3, in <module>.*ValueError: early") as context:
                            call()
                        self.assertIs(context.exception.__cause__, raised)
                        self.assertIsNone(context.exception.code)
                    else:
                        with self.assertRaises(type(raised)) as context:
                            call()
                        self.assertIs(context.exception, raised)

    def test_what_a_shape_function_raises_is_the_cause(self):
        folder = write("user_shapes", """
raised = {}
calls = []
class Raises:
    def __init__(self, where):
        self.where = where
        calls.append(where)
        if where == "constructor":
            raise raised[where]
        if where != "shape":
            self.infer_shape = None
            del self.infer_shape
    def compute(self, x):
        if self.where == "trial":
            raise raised["trial"]
        return x
class Asks(Raises):
    def infer_shape(self, x):
        raise raised["shape"]
""")
        allowed = {"allow_pyop": True, "pyop_path": [folder]}

        def model(where, extents=None, count=1):
            names = [f"h{i}" for i in range(count)] + ["y"]
            nodes = [helper.make_node("PyOp", [before], [after], domain="pyop", module="user_shapes", where=where,
                                      class_name="Asks" if where == "shape" else "Raises", input_types=[FLOAT],
                                      output_types=[FLOAT]) for before, after in zip(["x", *names], names)]
            return support.model(nodes, {"x": (FLOAT, [2])}, {"y": (FLOAT, extents)})
        intarsia.convert(model("none"), self.plan, **allowed)
        module = sys.modules["user_shapes"]
        for where in ("constructor", "shape", "trial"):
            module.raised[where] = ValueError(f"bad {where}")
            for count in (0, 1):
                with self.assertRaisesRegex(intarsia.Error, f"ValueError: bad {where}") as context:
                    intarsia.convert(model(where, count=count), self.plan, **allowed)
                self.assertIs(context.exception.__cause__, module.raised[where])
            for raised in (KeyboardInterrupt(), SystemExit(3)):
                module.raised[where] = raised
                with self.assertRaises(type(raised)) as context:
                    intarsia.convert(model(where), self.plan, **allowed)
                self.assertIs(context.exception, raised)
                # Where the extents are declared, too, and then no other operator is asked.
                if where == "trial":
                    continue
                module.calls.clear()
                with self.assertRaises(type(raised)) as context:
                    intarsia.convert(model(where, [2]), self.plan, bounds={"h0": [2]}, **allowed)
                self.assertEqual(module.calls, [where])
        # A branch that fails is one that is never taken; one that is interrupted is none.
        module.raised["shape"] = KeyboardInterrupt()
        branches = {f"{where}_branch": model(where, [2]).graph for where in ("shape", "none")}
        for graph in branches.values():
            graph.ClearField("input")
        for first, second in (("shape", "none"), ("none", "shape")):
            node = helper.make_node("If", ["c"], ["y"], then_branch=branches[f"{first}_branch"],
                                    else_branch=branches[f"{second}_branch"])
            proto = support.model([node], {"c": (onnx.TensorProto.BOOL, []), "x": (FLOAT, [2])}, {"y": (FLOAT, [2])})
            module.calls.clear()
            with self.assertRaises(KeyboardInterrupt) as context:
                intarsia.convert(proto, self.plan, bounds={"h0": [2]}, **allowed)
            self.assertIs(context.exception, module.raised["shape"])
            self.assertEqual(module.calls[module.calls.index("shape"):], ["shape"])
        # In a thread other than the main one, which it does not concern.
        module.raised["shape"] = KeyboardInterrupt()
        caught = []

        def work():
            try:
                intarsia.convert(model("shape"), self.plan, **allowed)
            except BaseException as error:  # pylint: disable=broad-exception-caught
                caught.append(error)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        self.assertEqual(caught, [module.raised["shape"]])

    def test_what_a_conversion_goes_on_without_is_no_cause(self):
        # The shape function of the first fails, but its extents are declared; the second node is wrong.
        folder = write("user_declared", """
class Asks:
    def infer_shape(self, x):
        raise ValueError("no shape")
    def compute(self, x):
        raise ValueError("no trial")
""")
        nodes = [helper.make_node("PyOp", ["x"], ["h"], domain="pyop", module="user_declared", class_name="Asks",
                                  input_types=[FLOAT], output_types=[FLOAT]),
                 helper.make_node("Gemm", ["h", "x"], ["y"])]
        proto = support.model(nodes, {"x": (FLOAT, [2])}, {"y": (FLOAT, None)})
        allowed = {"allow_pyop": True, "pyop_path": [folder]}
        for bounds in ({"h": [3]}, {}):
            with self.assertRaises(intarsia.Error) as context:
                intarsia.convert(proto, self.plan, bounds=bounds, **allowed)
            self.assertEqual(repr(context.exception.__cause__), "None" if bounds else "ValueError('no shape')")

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
        before = list(sys.path)
        intarsia.convert(pyop_model("user_folder", "Scale", factor=2.0), self.plan, **allowed)
        session = intarsia.ExecutionSession(self.plan, **allowed)
        self.assertIn(str(folder), sys.path)
        self.assertEqual(sys.path[-1], "")
        del session
        self.assertEqual(sys.path, before)
        with self.assertRaises(intarsia.Error):
            intarsia.ExecutionSession("/no/such.plan", **allowed)
        self.assertEqual(sys.path, before)

    def test_PYOP_19_the_model_s_folder_is_searched_if_it_is_named(self):
        folder = write("user_beside", PYOP)
        onnx.save(pyop_model("user_beside", "Scale", factor=2.0), folder / "model.onnx")
        plan = folder / "model.plan"
        intarsia.convert(folder / "model.onnx", plan, allow_pyop=True)  # the shapes are declared
        self.assertNotIn("user_beside", sys.modules)
        for call in (lambda: intarsia.ExecutionSession(plan, allow_pyop=True),
                     lambda: intarsia.InferenceSession(folder / "model.onnx", allow_pyop=True, cache=False)):
            with self.assertRaisesRegex(intarsia.Error, "No module named 'user_beside'"):
                call()
        bench = [support.COMMAND, "bench", plan, "--seconds", "0", "--allow-pyop"]
        done = subprocess.run(bench, env=support.plain_environment(), text=True, check=False, capture_output=True)
        self.assertIn("No module named 'user_beside'", done.stderr)
        subprocess.run([*bench, "--pyop-path", folder], env=support.plain_environment(), check=True,
                       capture_output=True)
        session = intarsia.ExecutionSession(plan, allow_pyop=True, pyop_path=folder)
        self.assertEqual(session.run([np.ones(2, np.float32)])[0].tolist(), [2, 2])

    def test_PYOP_19_the_working_directory_of_an_isolated_program(self):
        folder = write("user_cwd", PYOP)
        intarsia.convert(pyop_model("user_cwd", "Scale", factor=2.0), self.plan, allow_pyop=True)
        program = ("import sys\nsys.path.extend(sys.argv[2:])\nbefore = list(sys.path)\nimport intarsia\n"
                   "try:\n    session = intarsia.ExecutionSession(sys.argv[1], allow_pyop=True)\n"
                   "except intarsia.Error as error:\n    print(type(error.__cause__).__name__)\n"
                   "else:\n    print('found', sys.path == before + [''])\n    del session\n"
                   "assert sys.path == before, sys.path")
        places = [entry for entry in sys.path if entry and entry != os.path.dirname(__file__)]
        for options, expected in (((), "found True"), (("-P",), "ModuleNotFoundError"), (("-I",), "ModuleNotFoundError")):
            # A file, whose folder comes first in the search path, where "" would be with -c.
            script = support.FOLDER / "isolated.py"
            script.write_text(program, encoding="utf-8")
            done = subprocess.run([sys.executable, *options, script, self.plan, *places], cwd=folder, text=True,
                                  check=False, capture_output=True)
            self.assertEqual((done.stdout.strip(), done.returncode), (expected, 0), done.stderr)

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
