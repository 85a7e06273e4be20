#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone on Debian 12 to a perceptron on an emulated Cortex-M7, without an operating
# system: installs what is missing, builds the converter for this machine and the program for the
# board, runs it in QEMU, and prints its outputs beside those of this machine, and its sizes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bash test/install_dependencies.sh --cortex-m
mkdir -p build
cmake --preset release >build/configure.log
cmake --build --preset release --target intarsia_tool
cmake --preset cortex-m7 -DINTARSIA_BUILD_TESTS=OFF >build/configure-cortex-m7.log
cmake --build --preset cortex-m7 --target mlp_cortex_m7
emulator="qemu-system-arm -machine mps2-an500 -display none -monitor none -serial none
  -icount shift=0 -semihosting-config enable=on,target=native -kernel"
for what in run size stack; do
  python3 test/cross/bare_metal_test.py build/cortex-m7 build/release/bin/intarsia 25 "$emulator" \
    mlp $what
done
