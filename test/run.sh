#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The test command: installs what is missing, checks, builds and tests, from a clean checkout on.
#   test/run.sh                every stage
#   test/run.sh --stage a,b    only these stages, in the order below
#   test/run.sh --full         also what is slow: large models, soak tests, clang-tidy on all files
#   test/run.sh --no-install   everything but the stage that installs Debian packages
# Stops at the first stage that fails. Prints the seconds of each stage and fails when one took
# longer than test/budgets.txt allows. The last line sums up ctest's closing lines.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

stages=(install checks build unit asan models nodes consumer python cross cuda)
jobs=$(nproc)
cache=${INTARSIA_CACHE:-$PWD/build/cache}
full=""

die() {
  echo "test/run.sh: $*" >&2
  exit 1
}

[[ " $* " != *" --full "* ]] || stages+=(fuzz)
selected=("${stages[@]}")
while [ $# -gt 0 ]; do
  case "$1" in
    --stage)
      [ $# -ge 2 ] || die "--stage needs a name, one of: ${stages[*]}"
      IFS=, read -r -a selected <<<"$2"
      shift 2
      ;;
    --full)
      full=1
      shift
      ;;
    --no-install)
      selected=("${selected[@]/install/}")
      shift
      ;;
    *) die "unknown option '$1'; the options are --stage NAME, --full, --no-install" ;;
  esac
done
for name in "${selected[@]}"; do
  [[ -z "$name" || " ${stages[*]} " == *" $name "* ]] ||
    die "unknown stage '$name'; the stages are: ${stages[*]}"
done

export INTARSIA_CACHE=$cache INTARSIA_TEST_FULL=$full
export CTEST_PARALLEL_LEVEL=$jobs CMAKE_BUILD_PARALLEL_LEVEL=$jobs
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
mkdir -p build
rm -f build/ctest-*.log

# Labels sort the tests: models, nodes and consumer have a stage of their own; check and bench mean
# nothing under sanitizers; full marks what is left to --full.
slow=$([ -n "$full" ] || echo '|full')
run_ctest() { ctest --preset "$@" 2>&1 | tee "build/ctest-$stage.log"; }

stage_install() { bash test/install_dependencies.sh; }

stage_checks() { # those that need no build: a mistake shows within seconds
  local check failed=0
  for check in text size layers docs format headers; do
    python3 "test/checks/check_$check.py" || failed=1
  done
  return $failed
}

stage_build() {
  cmake --preset release -DINTARSIA_DEVELOPER=ON -DINTARSIA_BUILD_TESTS=ON -DINTARSIA_IMAGES=ON \
    -DINTARSIA_UNITY=ON
  cmake --build --preset release
}

stage_unit() { run_ctest release --label-exclude "^(models|nodes|consumer|python|cuda$slow)\$"; }

stage_asan() {
  cmake --preset asan
  # The programs that run here; the command and the examples have no test of their own in this stage.
  cmake --build --preset asan --target \
    test_core test_kernels test_converter test_passes test_operators test_runtime test_random \
    test_cuda test_c_api \
    examples_wav_test \
    fuzz_plan fuzz_onnx fuzz_tensor fuzz_options fuzz_seeds
  run_ctest asan --label-exclude "^(models|nodes|consumer|python|check|bench$slow)\$"
}

stage_models() {
  sh test/models/setup_env.sh "$cache"
  "$cache/venv/bin/python" test/models/make_models.py --cache "$cache" ${full:+--full}
  run_ctest release --label-regex '^models$' --label-exclude "^(none$slow)\$"
}

stage_nodes() {
  sh test/models/setup_env.sh "$cache"
  "$cache/venv/bin/python" test/nodes/make_cases.py "$cache/onnx_cases"
  run_ctest release --label-regex '^nodes$'
}

stage_python() { # on top of the stages build and asan, whose objects it uses
  # Debian's Python, which has numpy, is what programs embed; nanobind comes with the test's packages.
  local python=(-DPython3_EXECUTABLE=/usr/bin/python3 -Dnanobind_DIR="$cache/python-build/nanobind/cmake")
  sh test/python/setup_env.sh "$cache"
  cmake --preset release -DINTARSIA_DEVELOPER=ON -DINTARSIA_BUILD_TESTS=ON -DINTARSIA_PYOP=ON \
    "${python[@]}"
  cmake --build --preset release
  run_ctest release --label-regex '^python$' --label-exclude "^(none$slow)\$"
  cmake --preset asan -DINTARSIA_PYOP=ON "${python[@]}"
  cmake --build --preset asan --target \
    intarsia_tool intarsia_python python_rendezvous test_pyop intarsia_pyop_plugin \
    pyop_make_plans pyop_stress_plain
  ctest --preset asan --label-regex '^python$' --label-exclude "^(none$slow)\$" 2>&1 |
    tee "build/ctest-$stage-asan.log"
}

stage_consumer() { run_ctest release --label-regex '^consumer$' --label-exclude "^(none$slow)\$"; }

stage_cuda() { # needs NVIDIA's toolkit and no GPU; on top of stage build, whose objects it uses
  if ! command -v nvcc >/dev/null && [ ! -x /usr/local/cuda/bin/nvcc ]; then
    echo "skipped: there is no nvcc; the emulated tests of CUDA ran in stage asan"
    return 0
  fi
  cmake --preset cuda
  # One architecture and PTX: each takes as long again.
  cmake --preset release -DINTARSIA_DEVELOPER=ON -DINTARSIA_BUILD_TESTS=ON -DINTARSIA_CUDA=ON \
    -DINTARSIA_CUDA_ARCHITECTURES=90
  cmake --build --preset release --target intarsia_cuda intarsia_tool test_cuda_device
  run_ctest release --label-regex '^cuda$'
}

stage_cross() { # plans come from the release build's converter, programs run in emulators
  local preset
  [ -f "$cache/speech/report.txt" ] &&
    [ -f build/release/test/examples/build/group_norm/libgroup_norm_ops.so ] ||
    die "stage 'cross' compares with results that stage 'models' makes: run that first"
  for preset in aarch64 armhf cortex-m4 cortex-m7 cortex-m55; do
    cmake --preset $preset
    cmake --build --preset $preset
    ctest --preset $preset 2>&1 | tee "build/ctest-$preset.log"
  done
}

stage_fuzz() { # with --full only: the corpora are replayed by the stage asan
  cmake --preset fuzz
  cmake --build --preset fuzz --target fuzz_plan fuzz_onnx fuzz_tensor fuzz_options fuzz_seeds
  bash test/fuzz/run.sh build/fuzz/bin
}

# Sets `pace`, what this machine may take of a budget, in percent: more if it compiles more slowly
# now than the one that budgets are for; and a quarter for what the probe does not see, emulators and
# what else the machine was doing.
measure_pace() {
  local LC_ALL=C TIMEFORMAT=%U least='' seconds
  for _ in 1 2 3; do
    seconds=$({ time g++ -std=c++20 -O1 -c test/budget_probe.cpp -o /dev/null; } 2>&1)
    least=$(printf '%s\n' $least "$seconds" | sort -n | head -1)
  done
  pace=$(awk -v seconds="$least" '$1 == "probe" { share = int(100 * seconds / $2) }
    END { print int((share < 100 ? 100 : share) * 5 / 4) }' test/budgets.txt)
  echo "budgets: $pace % of test/budgets.txt (the probe takes $least s)"
}

table=$(printf '%-10s %8s %8s' stage seconds budget)
beyond=()
started=$SECONDS
for stage in "${stages[@]}"; do
  [[ " ${selected[*]} " == *" $stage "* ]] || continue
  budget=$(awk -v stage="$stage" '$1 == stage { print $2 }' test/budgets.txt)
  # What runs with --full only takes the time that it is given.
  [ "$stage" != fuzz ] || budget=$((24 * 3600))
  [ -n "$budget" ] || die "stage '$stage' has no budget; add a line to test/budgets.txt"
  echo "== $stage"
  start=$SECONDS
  # A subshell of its own: with "if" or "||" around it the shell would ignore failures inside.
  set +e
  (
    set -e
    "stage_$stage"
  )
  status=$?
  set -e
  seconds=$((SECONDS - start))
  table+=$(printf '\n%-10s %8d %8d' "$stage" "$seconds" "$budget")
  if [ $status -ne 0 ]; then
    die "stage '$stage' failed after $seconds s (exit status $status); the reason is above"
  fi
  if [ "$seconds" -gt "$budget" ]; then
    measure_pace
    allowed=$((budget * pace / 100))
    [ "$seconds" -le "$allowed" ] ||
      beyond+=("stage '$stage' took $seconds s, its budget is $allowed s ($pace % of test/budgets.txt)")
  fi
done

printf '\n%s\n%-10s %8d\n' "$table" total $((SECONDS - started))
if [ ${#beyond[@]} -gt 0 ]; then
  printf 'test/run.sh: %s\n' "${beyond[@]}" >&2
  exit 1
fi
# Every ctest above passed whole, or its stage would have failed; this is their sum.
find build -maxdepth 1 -name 'ctest-*.log' -exec cat {} + |
  awk '/% tests passed/ { total += $NF }
    END { if (total) print "100% tests passed, 0 tests failed out of " total }'
