#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what the model scripts of this folder need. Usage: setup_env.sh [CACHE]
#
#   CACHE/venv                Python environment with the packages of requirements.txt
#   CACHE/packages/<package>  the unpacked packages of packages.txt (models and sources)
#
# CACHE is $INTARSIA_CACHE, else build/cache of this checkout. Debian packages are installed only
# when missing. Safe to repeat: what is already there is left alone, and a second run takes well
# under a second.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cache=${1:-${INTARSIA_CACHE:-$here/../../build/cache}}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
say() { printf 'setup_env: %s\n' "$*"; }

missing=
for package in python3-venv python3-torch python3-torchvision alsa-utils; do
  [ -e "/usr/share/doc/$package/copyright" ] || missing="$missing $package"
done
if [ -n "$missing" ]; then
  root=
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      say "missing Debian packages:$missing; install them as root, or install sudo" >&2
      exit 1
    }
    root=sudo
  fi
  say "installing Debian packages:$missing"
  $root apt-get update
  # The variable is a list on purpose. Recommended packages are not needed.
  # shellcheck disable=SC2086
  $root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
fi

# The stamp holds what was installed, so that an edited list is noticed.
if ! cmp -s "$here/requirements.txt" "$cache/venv/stamp"; then
  say "creating the Python environment $cache/venv"
  rm -rf "$cache/venv"
  /usr/bin/python3 -m venv "$cache/venv"
  "$cache/venv/bin/python" -m pip install --disable-pip-version-check --only-binary=:all: \
    -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$cache/venv/stamp"
fi

if ! cmp -s "$here/packages.txt" "$cache/packages/stamp"; then
  say "fetching the packages of packages.txt"
  rm -rf "$cache/packages" "$cache/wheels"
  mkdir -p "$cache/packages"
  "$cache/venv/bin/python" -m pip download --disable-pip-version-check --no-deps \
    --only-binary=:all: --dest "$cache/wheels" -r "$here/packages.txt"
  for wheel in "$cache"/wheels/*.whl; do
    name=$(basename "$wheel")
    # Only the importable folder: model files, and the sources that define how they are used.
    "$cache/venv/bin/python" - "$wheel" "$cache/packages" "${name%%-*}" <<'PY'
import sys, zipfile
wheel, destination, package = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    names = [n for n in archive.namelist() if n.startswith(package + "/")]
    archive.extractall(destination, names)
    print(f"setup_env: {package}: {len(names)} files")
PY
  done
  rm -rf "$cache/wheels"
  cp "$here/packages.txt" "$cache/packages/stamp"
fi
say "ready: $cache"
