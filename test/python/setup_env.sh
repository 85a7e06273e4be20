#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what the tests of the Python module need. Usage: setup_env.sh [CACHE]
#
#   CACHE/venv           the environment of test/models/setup_env.sh: onnx, onnxruntime, numpy
#   CACHE/python-build   the packages of requirements.txt, for installing and for checking types
#
# CACHE is $INTARSIA_CACHE, else build/cache of this checkout. Safe to repeat.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cache=${1:-${INTARSIA_CACHE:-$here/../../build/cache}}
sh "$here/../models/setup_env.sh" "$cache"
if ! cmp -s "$here/requirements.txt" "$cache/python-build/stamp"; then
  rm -rf "$cache/python-build"
  "$cache/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    --only-binary=:all: --no-deps --target "$cache/python-build" -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$cache/python-build/stamp"
fi
