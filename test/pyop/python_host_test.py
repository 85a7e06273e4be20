#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Python operators inside a Python process: python_host_test.py LIBRARY OPERATORS_FOLDER PLANS_FOLDER

The library is called with the interpreter's lock released (CDLL) and held (PyDLL), by threads of
Python. It must use this interpreter, not start one, and leave it as it was."""

import atexit
import ctypes
import subprocess
import sys
import threading

library, operators, plans = sys.argv[1:4]
if len(sys.argv) == 4:
    # The end of the process is part of the test: a finalised interpreter would crash there.
    done = subprocess.run([sys.executable, *sys.argv, "inner"], capture_output=True, text=True,
                          timeout=120)
    print(done.stdout, done.stderr)
    sys.exit(0 if done.returncode == 0 and done.stdout.endswith("left in order\n") else 1)

atexit.register(lambda: print("left in order"))
path = list(sys.path)


def run(loader, plan, x, runs=20):
    function = loader(library).run_plan
    function.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_float,
                         ctypes.POINTER(ctypes.c_float)]
    result = ctypes.c_float()
    status = function(f"{plans}/{plan}.plan".encode(), operators.encode(), runs, x,
                      ctypes.byref(result))
    return status, result.value


for each in (ctypes.CDLL, ctypes.PyDLL):
    assert run(each, "two", 2.0) == (0, 12.0), each
    assert run(each, "slow", 2.0) == (0, 6.0), each
    assert run(each, "raises", 1.0)[0] == 1, each
# The operators' module is this interpreter's module.
assert "stress_operators" in sys.modules
assert "numpy" in sys.modules
assert sys.path == path, sys.path

failures = []


def work(number):
    for plan, factor in (("two", 6), ("slow", 3)):
        loader = ctypes.CDLL if number % 2 else ctypes.PyDLL
        if run(loader, plan, float(number)) != (0, float(number * factor)):
            failures.append((number, plan))


threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failures, failures
print("runs agree")
