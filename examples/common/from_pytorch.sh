#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone on Debian 12 to a program with a model that PyTorch has exported:
#   examples/common/from_pytorch.sh EXAMPLE
# Installs what is missing, exports the model with Debian's PyTorch, builds the converter, the
# operators and the program, and runs it: our results beside PyTorch's.
set -euo pipefail

example=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${INTARSIA_CACHE:-$root/build/cache}
step() { printf '\n== %s\n' "$1"; }

step "1/4 Debian packages"
bash "$root/test/install_dependencies.sh" --build-only --with-torch

step "2/4 Model, exported by PyTorch"
/usr/bin/python3 -W ignore "$root/examples/$example/export.py" "$cache/examples/$example"

step "3/4 Converter, model and program"
(
  cd "$root" && mkdir -p build
  cmake --preset release -DINTARSIA_BUILD_EXAMPLES=ON >build/configure.log
  cmake --build --preset release --target "$example"
)

step "4/4 $example"
"$root/build/release/bin/$example" "$cache/examples/$example"
