#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone on Debian 12 to a program that reads the text in pictures:
#   examples/read_text.sh                    a letter that examples/read_text/render.py renders
#   examples/read_text.sh PICTURE.png...     your own pictures
# Installs what is missing, fetches the models, builds the converter and the program, and runs it.
# What was rendered is printed beside what was read. Pictures with boxes around the text are written
# to build/read_text.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${INTARSIA_CACHE:-$root/build/cache}
out=$root/build/read_text
step() { printf '\n== %s\n' "$1"; }

step "1/4 Debian packages"
bash "$root/test/install_dependencies.sh" --build-only --with-pictures

step "2/4 Models"
bash "$root/examples/fetch_models.sh" read_text

step "3/4 Converter, models and program"
mkdir -p "$out"
(
  cd "$root"
  cmake --preset release -DINTARSIA_BUILD_EXAMPLES=ON "-DINTARSIA_EXAMPLE_MODELS=$cache/packages" \
    >build/configure.log
  cmake --build --preset release --target read_text
)

step "4/4 read_text"
read_text=$root/build/release/bin/read_text
if [ $# -eq 0 ]; then
  /usr/bin/python3 "$root/examples/read_text/render.py" "$out"
  "$read_text" "$out/letter.png" "$out/letter.boxes.png" | tee "$out/letter.read"
  printf '\nread and rendered, side by side:\n'
  head --lines=-1 "$out/letter.read" | sed 's/^[0-9.]*  //' |
    paste "-d|" - "$out/letter.txt" | awk -F"|" '{ printf "  %-36s %s\n", $1, $2 }'
  printf '\nThe boxes: %s\n' "$out/letter.boxes.png"
else
  for picture in "$@"; do
    boxes=$out/$(basename "${picture%.*}").boxes.png
    printf '%s, the boxes: %s\n' "$picture" "$boxes"
    "$read_text" "$picture" "$boxes"
  done
fi
