#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches the models of the examples. Usage: fetch_models.sh [EXAMPLE...]: speech_segments,
# file_kind, read_text, fine_tune; by default all.
# Downloads the Python packages that contain them (nothing of Python is installed or run) and
# unpacks the model files to $INTARSIA_CACHE/packages, by default build/cache/packages. What is
# already there is left alone.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${INTARSIA_CACHE:-$root/build/cache}

die() {
  printf 'fetch_models.sh: %s\n' "$@" >&2
  exit 1
}

# fetch PACKAGE FILE...: the package by its name and its folder, files relative to that folder
fetch() {
  local package=$1 folder=${1//-/_} file missing=""
  shift
  for file in "$@"; do
    [ -s "$cache/packages/$folder/$file" ] || missing=1
  done
  [ -n "$missing" ] || return 0
  local requirement
  requirement=$(grep "^$package==" "$root/test/models/packages.txt") ||
    die "test/models/packages.txt has no line '$package==VERSION'"

  local python=$cache/venv/bin/python
  if [ ! -x "$python" ]; then
    python=$cache/fetch/bin/python
    "$python" -m pip --version >/dev/null 2>&1 || python3 -m venv "$cache/fetch" ||
      die "python3 -m venv failed; install the Debian package python3-venv"
  fi
  echo "Fetching the package $requirement"
  rm -rf "$cache/wheels"
  "$python" -m pip download --disable-pip-version-check --quiet --no-deps --only-binary=:all: \
    --dest "$cache/wheels" "$requirement" ||
    die "the package $requirement could not be downloaded (see above). Is there a network?" \
      "Without one, put these files in $cache/packages/$folder by hand: $*"
  "$python" - "$cache/wheels"/*.whl "$cache/packages" "$folder" "$@" <<'PY'
import sys, zipfile
wheel, destination, folder, *files = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for file in files:
        archive.extract(f"{folder}/{file}", destination)
        print(f"  {file}")
PY
  rm -rf "$cache/wheels"
}

[ $# -gt 0 ] || set -- speech_segments file_kind read_text fine_tune
mkdir -p "$cache/packages"
for example in "$@"; do
  case "$example" in
    speech_segments) fetch silero-vad data/silero_vad.onnx ;;
    file_kind)
      fetch magika models/standard_v3_3/model.onnx models/standard_v3_3/config.min.json
      ;;
    read_text)
      fetch rapidocr-onnxruntime models/ch_PP-OCRv4_det_infer.onnx models/ch_PP-OCRv4_rec_infer.onnx
      ;;
    fine_tune) fetch rapidocr-onnxruntime models/ch_ppocr_mobile_v2.0_cls_infer.onnx ;;
    *) die "unknown example '$example'; there are speech_segments, file_kind, read_text and fine_tune" ;;
  esac
done
