#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone on Debian 12 to a program in C that runs a plan with two entry points:
#   examples/c_program.sh                    two tiny models, joined
#   examples/c_program.sh FILE.plan [ENTRY]  a plan of yours
# Installs what is missing, builds the converter and the program, makes the plan and runs it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bash test/install_dependencies.sh --build-only
mkdir -p build
cmake --preset release -DINTARSIA_BUILD_EXAMPLES=ON >build/configure.log
cmake --build --preset release --target intarsia_tool c_program
if [ $# -gt 0 ]; then
  exec build/release/bin/c_program "$@"
fi
folder=build/c_program
python3 examples/c_program/make_model.py $folder
build/release/bin/intarsia convert -o $folder/joined.plan --entry scale=$folder/scale.onnx \
  --entry words=$folder/words.onnx --dim batch=1..2
for entry in scale words; do build/release/bin/c_program $folder/joined.plan $entry; done
