#!/usr/bin/env bash
# The short form of the presets `sanitize` and `thread`, for CI: the command without optimisation
# and without line numbers (a fifth of the compile time; the presets print them), for one instruction
# set and without the reference, over runs that reach every family in one or in four threads.
#   sanitize.sh [address|thread]...    both where none is named
# Builds into build-short-<name>. A finding is printed and fails the script.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[ $# -gt 0 ] || set -- address thread
compiler=()
if command -v clang++ >/dev/null; then compiler=(-DCMAKE_CXX_COMPILER=clang++); fi
finding=99
export ASAN_OPTIONS=exitcode=$finding UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:exitcode=$finding:suppressions=$root/cmake/undefined_sanitizer.supp
export TSAN_OPTIONS=halt_on_error=1:exitcode=$finding:suppressions=$root/cmake/thread_sanitizer.supp
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT

runs=0
files=0
# What a run answers is the tests' business; here it must not stumble.
run() {
  local status=0
  "$build/bin/carom" "$@" >"$log/out" 2>"$log/err" || status=$?
  runs=$((runs + 1))
  if [ $status = $finding ] || [ $status -ge 128 ]; then
    cat "$log/err" >&2
    die "carom $* (exit status $status)"
  fi
}

for name in "$@"; do
  case $name in
    # Without the checks of every pointer (null, alignment, object-size, vptr), which are a fifth of
    # the compile time; the preset has them.
    address) sanitizers=address,bounds,shift,integer-divide-by-zero,signed-integer-overflow,bool,enum
      sanitizers+=,return,unreachable,pointer-overflow,nonnull-attribute,returns-nonnull-attribute
      sanitizers+=,float-cast-overflow threads=1 ;;
    thread) sanitizers=thread threads=4 ;;
    *) die "unknown sanitizer $name: address or thread" ;;
  esac
  build=$root/build-short-$name
  prepare -DCAROM_CUDA=OFF -DCAROM_SANITIZE=$sanitizers -DCMAKE_BUILD_TYPE=Debug -DCAROM_REFERENCE=OFF \
    -DCMAKE_CXX_FLAGS_DEBUG="-O0" -DCAROM_UNITY=ON -DCAROM_NATIVE_ONLY=ON \
    -DCAROM_NATIVE_SET=generic -DCAROM_BUILD_TESTS=OFF -DCAROM_BUILD_EXAMPLES=OFF \
    ${compiler[@]+"${compiler[@]}"}
  build_targets "Building the command for the $name sanitizer" carom_command
  runs=0
  start=$SECONDS
  with="--threads $threads"
  for model in rocking_block disk_stack cube_drop; do
    run impact $model --samples 200 --epsilon 0.05 $with --output "$log/out.h5"
    run impact $model --samples 20 --selection lemke --sampler sobol $with --json
  done
  run impact-models compass_gait
  for posture in two_contacts tripod; do run equilibrium $posture $with --plot "$log/out.svg"; done
  run step inclined_block --sweep angle=10:40:4 $with --output "$log/out.h5"
  run step sphere_stack --steps 5 $with
  for file in "$root"/tests/data/{lcp,lp,qp,socp}/*.json; do
    case $((files++ % 4)) in 0) run solve "$file" $with --json ;; esac
  done
  run impact compass_gait --method events --samples 50 --enclose $with --output "$log/set.h5"
  run verify "$log/set.h5"
  run stability figure2 --sweep mu1=0.2:1:3 --sweep d=0.2:1.1:3 $with --output "$log/chart.h5"
  run verify "$log/chart.h5"
  run motion rocking_block_zeno --samples 4 --restitution stronge $with --output "$log/motion.h5"
  run motion bar_on_steps_drop --samples 2 --duration 0.5 $with
  run motion "$root/examples/data/tumbling_hammer.json" --samples 2 --duration 0.5 $with --json
  run solve "$root/README.md"
  say "$runs runs of the command under the $name sanitizer: no finding ($((SECONDS - start)) s)"
done
