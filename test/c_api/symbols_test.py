#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program in C with a model linked in needs nothing of a heap and of the C++ runtime library.

    symbols_test.py PROGRAM

The environment names the program NM.
"""

import os
import re
import subprocess
import sys

# The start-up code of the system names __cxa_finalize, which is no exception.
REFUSED = re.compile(r"(?:malloc|calloc|realloc|free|aligned_alloc|_Zn[aw]\w*|_Zd[al]\w*|_ZS[t]\w*|"
                     r"__cxa_(?!finalize)\w*|__gxx_personality_v0|_Unwind_\w+|pthread_\w+)(?:@.*)?$")

done = subprocess.run([os.environ.get("NM", "nm"), "--undefined-only", sys.argv[1]],
                      capture_output=True, text=True, check=True)
names = [line.split()[-1] for line in done.stdout.splitlines()]
if not names:
    sys.exit("the program needs nothing at all; is it the right file?")
found = [name.split("@")[0] for name in names if REFUSED.match(name)]
for name in found:
    print(f"{sys.argv[1]} needs {name}", file=sys.stderr)
sys.exit(1 if found else 0)
