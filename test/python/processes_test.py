# SPDX-License-Identifier: Apache-2.0
"""Forks and sub-interpreters: they work, or say clearly that they do not. Nothing here may hang, so
each case is a process of its own with a limit."""

import subprocess
import sys
import textwrap
import unittest

import numpy as np
from onnx import helper, numpy_helper

import support

PREAMBLE = """
import faulthandler, os, pathlib, sys, threading, time
import numpy as np
import intarsia
plan = sys.argv[1] if sys.argv[1:] else None
def in_child(function):
    '''The exit status of a child that calls the function: 0 if it returns true.'''
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(15)
        try:
            os._exit(0 if function() else 7)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(8)
    limit = time.time() + 20
    while time.time() < limit:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    for task in pathlib.Path(f"/proc/{child}/task").iterdir():  # where each of its threads waits
        print(task.name, *((task / file).read_text().strip() for file in ("wchan", "syscall")),
              file=sys.stderr)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return "hangs"
"""


def run(program, *arguments):
    done = subprocess.run([sys.executable, "-c", PREAMBLE + textwrap.dedent(program), *arguments],
                          capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout.strip(), done.stderr


class Processes(unittest.TestCase):
    def assert_prints(self, expected, program, *arguments):
        status, output, errors = run(program, *arguments)
        self.assertEqual((status, output), (0, expected), errors)

    @classmethod
    def setUpClass(cls):
        # A product large enough to be shared among threads.
        nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
        shape = [256, 256]
        ones = numpy_helper.from_array(np.ones(shape, np.float32), "w")
        cls.shared = support.convert(
            support.model(nodes, {"x": (support.FLOAT, shape)}, {"y": (support.FLOAT, shape)},
                          [ones]), "--threads", "4")

    def test_a_session_with_threads_works_in_the_child_of_a_fork(self):
        self.assert_prints("0 0 True", """
            x = np.random.default_rng(0).standard_normal((256, 256)).astype(np.float32)
            session = intarsia.ExecutionSession(plan, threads=4)
            y = session.run([x])[0]
            same = lambda: np.array_equal(session.run([x])[0], y)
            def closes():
                global session
                del session
                return True
            print(in_child(same), in_child(closes), same())
        """, str(self.shared))

    def test_threads_that_run_while_others_fork(self):
        # The child of a fork during a run of its session is told so; a session that nobody was
        # running works, and so does one that the child opens.
        self.assert_prints("True", """
            x = np.ones((256, 256), np.float32)
            busy, idle = (intarsia.ExecutionSession(plan, threads=2) for _ in range(2))
            stop = False
            def work():
                while not stop:
                    busy.run([x])
            thread = threading.Thread(target=work)
            thread.start()
            def child():
                try:
                    busy.run([x])
                except intarsia.Error as error:
                    assert error.code == "kBusy" and "forked" in str(error), error
                own = intarsia.ExecutionSession(plan, threads=2)
                return own.run([x])[0][0, 0] == 256 and idle.run([x])[0][0, 0] == 256
            results = [in_child(child) for _ in range(20)]
            stop = True
            thread.join()
            print(results == [0] * 20, *(results if any(results) else ()))
        """, str(self.shared))

    def test_a_sub_interpreter_is_refused(self):
        # Before the main interpreter has imported the package, and after.
        program = """
            interpreters = __import__(
                "_xxsubinterpreters" if sys.version_info < (3, 13) else "_interpreters")
            def refused():
                other = interpreters.create()
                try:
                    failure = interpreters.run_string(other, '''
            try:
                import intarsia
            except ImportError as error:
                assert "interpreter" in str(error), error  # from 3.13 on the words are Python's
            else:
                raise AssertionError("it was imported")
            ''')
                    return failure is None
                finally:
                    interpreters.destroy(other)
            print(refused())
        """
        self.assert_prints("True", program)
        early = textwrap.dedent(program)
        done = subprocess.run([sys.executable, "-c", "import sys\n" + early], capture_output=True,
                              text=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, "True"), done.stderr)


if __name__ == "__main__":
    unittest.main()
