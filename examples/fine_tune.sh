#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone on Debian 12 to a program that fine-tunes a network, beside PyTorch:
#   examples/fine_tune.sh
# Installs what is missing, fetches the network, renders the pictures that it learns from, lets
# PyTorch take the same steps, builds the converter and the program, and runs it.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${INTARSIA_CACHE:-$root/build/cache}
data=$cache/examples/fine_tune
step() { printf '\n== %s\n' "$1"; }

step "1/5 Debian packages"
bash "$root/test/install_dependencies.sh" --build-only --with-training

step "2/5 Network and pictures"
bash "$root/examples/fetch_models.sh" fine_tune
/usr/bin/python3 "$root/examples/fine_tune/make_model.py" \
  "$cache/packages/rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx" "$data"
/usr/bin/python3 "$root/examples/fine_tune/render.py" "$data"

step "3/5 PyTorch"
/usr/bin/python3 -W ignore "$root/examples/fine_tune/train_in_pytorch.py" "$data"

step "4/5 Converter, model and program"
(
  cd "$root" && mkdir -p build
  cmake --preset release -DINTARSIA_BUILD_EXAMPLES=ON "-DINTARSIA_EXAMPLE_EXPORTS=$cache/examples" \
    >build/configure.log
  cmake --build --preset release --target fine_tune
)

step "5/5 fine_tune"
"$root/build/release/bin/fine_tune" "$data"
