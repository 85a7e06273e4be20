#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that Intarsia needs, and only those that are missing.
#   test/install_dependencies.sh               building, examples, tests and checks (the test
#                                              models need more: test/models/setup_env.sh)
#   test/install_dependencies.sh --build-only  building and running the examples
#   ... --build-only --with-torch              and those with a model that PyTorch exports
#   ... --build-only --with-pictures           and those that read pictures
#   ... --build-only --with-training           and the one that learns, beside PyTorch
#   test/install_dependencies.sh --cortex-m    the same for examples/mlp_cortex_m7.sh
#   test/install_dependencies.sh --python      and those with Python operators
# Silent when everything is there. Needs root or sudo only when something is missing.
set -euo pipefail

build=(
  cmake ninja-build g++ git ca-certificates
  libflatbuffers-dev flatbuffers-compiler libeigen3-dev             # core, kernels_cpu
  libprotobuf-dev protobuf-compiler                                 # converter
  libcli11-dev nlohmann-json3-dev libfmt-dev                        # the command
  python3 python3-venv alsa-utils                                   # examples: models, recorded voice
)
python=(
  python3-dev python3-numpy python3-onnx                            # Python operators
)
pictures=(
  libpng-dev python3-pil fonts-dejavu-core                          # examples/read_text, fine_tune
)
images=(
  libpng-dev libjpeg-dev libtiff-dev libwebp-dev libopenjp2-7-dev   # kernels_cpu/images
  pkg-config python3-pil
)
test=(
  libgtest-dev libbenchmark-dev strace valgrind                     # unit tests, benchmarks
  clang-format clang-tidy                                           # checks
  clang libclang-rt-dev                                             # fuzzing, with --full
  g++-aarch64-linux-gnu g++-arm-linux-gnueabihf qemu-user-static    # cross builds: Linux
)
cortex_m=(
  gcc-arm-none-eabi libnewlib-arm-none-eabi                         # cross builds: bare metal
  libstdc++-arm-none-eabi-newlib qemu-system-arm
)

case "$*" in
  "")
    packages=("${build[@]}" "${python[@]}" "${pictures[@]}" "${images[@]}" "${test[@]}"
      "${cortex_m[@]}")
    ;;
  --build-only) packages=("${build[@]}") ;;
  "--build-only --with-torch") packages=("${build[@]}" python3-torch) ;;
  "--build-only --with-pictures") packages=("${build[@]}" "${pictures[@]}") ;;
  "--build-only --with-training")
    packages=("${build[@]}" "${pictures[@]}" python3-torch python3-onnx)
    ;;
  --cortex-m) packages=("${build[@]}" "${cortex_m[@]}") ;;
  --python) packages=("${build[@]}" "${python[@]}") ;;
  *)
    echo "install_dependencies.sh: unknown options '$*'; it takes --build-only" \
      "[--with-torch|--with-pictures|--with-training], --cortex-m or --python" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "install_dependencies.sh: this is not a Debian system (no apt-get). Install the" >&2
  echo "equivalents of these Debian 12 packages by hand, then run test/run.sh --no-install:" >&2
  echo "  ${packages[*]}" >&2
  exit 1
fi

installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' "${packages[@]}" \
  2>/dev/null || true)
missing=()
for package in "${packages[@]}"; do
  grep --quiet --line-regexp --fixed-strings "installed $package" <<<"$installed" ||
    missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install_dependencies.sh: these packages are missing: ${missing[*]}" >&2
    echo "Installing them needs root, and there is no sudo. Run as root:" >&2
    echo "  apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "Installing ${#missing[@]} packages: ${missing[*]}"
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3
  -o DPkg::Lock::Timeout=300)
"${apt[@]}" update
"${apt[@]}" install --yes --no-install-recommends "${missing[@]}" >/dev/null
