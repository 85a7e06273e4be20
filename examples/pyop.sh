#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone on Debian 12 to a C++ program that runs Python operators inside a model:
#   examples/pyop.sh
# Installs what is missing, writes the model, builds the converter, converts the model, builds the
# program with the model linked in, and runs it. A second run takes seconds.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${INTARSIA_PYTHON:-/usr/bin/python3}

step() { printf '\n== %s\n' "$1"; }
die() {
  printf '\npyop.sh: %s\n' "$@" >&2
  exit 1
}

step "1/4 Debian packages"
bash "$root/test/install_dependencies.sh" --python ||
  die "installing the packages failed, the reason is above"

step "2/4 Model"
mkdir -p "$root/build/pyop"
"$python" "$root/examples/pyop/make_model.py" "$root/build/pyop/model.onnx" ||
  die "writing the model failed, the reason is above"

step "3/4 Converter, model and program"
(
  cd "$root"
  cmake --preset release -DINTARSIA_BUILD_EXAMPLES=ON -DINTARSIA_PYOP=ON \
    -DPython3_EXECUTABLE="$python" >build/configure.log ||
    die "cmake failed, the reason is above and in build/configure.log"
  cmake --build --preset release --target pyop || die "the build failed, the reason is above"
)

step "4/4 pyop"
"$root/build/release/bin/pyop" "$root/examples/pyop"
