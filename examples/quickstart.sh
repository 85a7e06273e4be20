#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone on Debian 12 to a program that finds speech in a sound file:
#   examples/quickstart.sh                       a recorded voice of the package alsa-utils
#   examples/quickstart.sh SOUND.wav...          your own sound
#   examples/quickstart.sh --file-kind FILE...   the other example: what kind of file is this?
# Installs what is missing, fetches the model, builds the converter, converts the model, builds the
# program with the model linked in, and runs it. A second run takes seconds.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
example=speech_segments
if [ "${1:-}" = --file-kind ]; then
  example=file_kind
  shift
fi
if [ $# -eq 0 ]; then
  if [ $example = file_kind ]; then
    set -- "$root/README.md" "$root/examples/quickstart.sh" /bin/ls
  else
    set -- /usr/share/sounds/alsa/Front_Center.wav
  fi
fi

step() { printf '\n== %s\n' "$1"; }
die() {
  printf '\nquickstart.sh: %s\n' "$@" >&2
  exit 1
}

step "1/4 Debian packages"
bash "$root/test/install_dependencies.sh" --build-only ||
  die "installing the packages failed, the reason is above"

step "2/4 Model"
bash "$root/examples/fetch_models.sh" $example

step "3/4 Converter, model and program"
(
  cd "$root" && mkdir -p build
  cmake --preset release -DINTARSIA_BUILD_EXAMPLES=ON >build/configure.log ||
    die "cmake failed, the reason is above and in build/configure.log"
  cmake --build --preset release --target $example || die "the build failed, the reason is above"
)

step "4/4 $example"
if [ $example = file_kind ]; then
  "$root/build/release/bin/file_kind" "$@"
else
  for sound in "$@"; do "$root/build/release/bin/speech_segments" "$sound"; done
fi
