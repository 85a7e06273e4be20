#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the targets of this folder one after another; docs/security.md says what they cover.
#   test/fuzz/run.sh [--seconds N] [--work DIR] BIN [TARGET...]
#     BIN      folder of the programs, build/fuzz/bin (cmake --preset fuzz), fuzz_seeds among them
#     TARGET   plan, onnx, tensor, options; all of them unless some are named
#     N        seconds per target, 600 by default
#     DIR      where inputs that reach new code and findings go, build/fuzz-work by default
# Goes on from the inputs that the last run left in DIR. Stops at the first finding: the input lies
# in DIR/findings/<target>/; replay it with BIN/fuzz_<target> FILE.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

die() {
  echo "fuzz/run.sh: $*" >&2
  exit 2
}

seconds=600
work=$here/../../build/fuzz-work
while [[ "${1:-}" == --* ]]; do
  [ $# -ge 2 ] || die "$1 needs a value"
  case "$1" in
    --seconds) seconds=$2 ;;
    --work) work=$2 ;;
    *) die "unknown option '$1'; the options are --seconds N and --work DIR" ;;
  esac
  shift 2
done
[ $# -ge 1 ] || die "the folder of the programs is missing, for instance build/fuzz/bin"
bin=$1
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(options tensor onnx plan)

# Tiny models and plans, made by today's converter.
seeds=$work/seeds
mkdir -p "$seeds"
"$bin/fuzz_seeds" "$seeds" >"$work/seeds.log" || die "fuzz_seeds failed; see $work/seeds.log"

for target in "${targets[@]}"; do
  [ -x "$bin/fuzz_$target" ] || die "$bin/fuzz_$target is missing; build it with the preset fuzz"
  corpus=$work/$target
  findings=$work/findings/$target
  mkdir -p "$corpus" "$findings"
  options=(-artifact_prefix="$findings/" -timeout=60 -rss_limit_mb=2048 -print_final_stats=1)
  start=("$here/../golden/v1")
  for folder in "$here/corpus" "$seeds"; do
    [ ! -d "$folder/$target" ] || start+=("$folder/$target")
  done
  [ ! -f "$seeds/$target.dict" ] || options+=(-dict="$seeds/$target.dict")
  # What once was slow would be mutated again and again: it is replayed, and no start.
  again=("$here/regressions/$target"/*)
  [ -f "${again[0]}" ] || again=()
  echo "== fuzz_$target: $seconds s"
  # Timeouts and memory are limits of what is tested, too.
  if ! {
    { [ ${#again[@]} -eq 0 ] || "$bin/fuzz_$target" "${options[@]}" "${again[@]}"; } &&
      "$bin/fuzz_$target" "$corpus" "${start[@]}" "${options[@]}" \
      -max_total_time="$seconds" -max_len=16384
  } >"$work/$target.log" 2>&1; then
    tail -n 60 "$work/$target.log" >&2
    echo "fuzz/run.sh: $target failed; the input is in $findings, the whole log $work/$target.log" >&2
    exit 1
  fi
  grep -E '^(Done|stat::)|cov:' "$work/$target.log" | tail -n 8
done
