#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone on Debian 12 to a program with a model whose operators come from C++, from ONNX
# Runtime's domain and from Python:
#   examples/all_kinds.sh
# Installs what is missing, writes the model, builds converter, operators and program, and runs it.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
data=${INTARSIA_CACHE:-$root/build/cache}/examples/all_kinds
step() { printf '\n== %s\n' "$1"; }

step "1/4 Debian packages"
bash "$root/test/install_dependencies.sh" --python

step "2/4 Model"
/usr/bin/python3 "$root/examples/all_kinds/make_model.py" "$data"

step "3/4 Converter, operators, model and program"
(
  cd "$root" && mkdir -p build
  cmake --preset release -DINTARSIA_BUILD_EXAMPLES=ON -DINTARSIA_PYOP=ON \
    -DPython3_EXECUTABLE=/usr/bin/python3 "-DINTARSIA_EXAMPLE_EXPORTS=$(dirname "$data")" \
    >build/configure.log
  cmake --build --preset release --target all_kinds
)

step "4/4 all_kinds"
"$root/build/release/bin/all_kinds" "$data" "$root/examples/all_kinds"
