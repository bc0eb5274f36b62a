#!/usr/bin/env bash
# Builds carom and runs all of its tests, from a bare Debian 12 or Ubuntu 22.04 (or later) machine.
# Without a GPU the device tests run on a simulated device (docs/explanation/cuda_on_host.md), and
# the totals say so. The tests of the Python package run in a separate virtual environment
# (scripts/test_python.sh). Code for instruction sets that the machine lacks is not compiled: jobs of
# .github/workflows/build.yml compile all of it. The last line is the totals.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
build=${CAROM_BUILD_DIR:-$root/build-test}  # lightly optimised: not the demo's

# Without a GPU the CUDA code is compiled for one virtual architecture, without optimisation and with
# calls instead of inlined functions: that shows that it compiles and links, in a minute instead of a
# quarter of an hour. scripts/gpu_pack.sh makes machine code.
architectures=()
on_host=OFF
if ! has_gpu; then
  architectures=(-DCMAKE_CUDA_ARCHITECTURES=90-virtual -DCAROM_CUDA_UNITY=ON
    "-DCMAKE_CUDA_FLAGS=-Xcicc=-O0 -DCAROM_DEVICE_INLINE=inline")
  on_host=ON
fi
# The wheel's tests need Python's headers; a Python that has them and is not the system's will do.
python3 -c 'import ensurepip, os, sysconfig, sys
sys.exit(not os.path.exists(sysconfig.get_paths()["include"] + "/Python.h"))' 2>/dev/null ||
  libraries+=" python3-dev python3-venv"
prepare -DCAROM_CUDA=AUTO ${architectures[@]+"${architectures[@]}"} -DCAROM_CUDA_ON_HOST=$on_host \
  -DCAROM_BUILD_TESTS=ON -DCAROM_BUILD_CLI=ON -DCAROM_BUILD_EXAMPLES=ON -DCAROM_UNITY=ON \
  -DCAROM_LIGHT=ON -DCAROM_INSTRUCTION_SETS=runnable
# pip waits for the network while the compiler works.
rm -rf "$build/python"
CAROM_BUILD_DIR=$build "$root/scripts/test_python.sh" --environment >/dev/null 2>&1 &
environment=$!
trap 'kill "$environment" 2>/dev/null || true' EXIT
build_targets "Building library, command, examples and tests"

"$root/scripts/check_linker.sh" --self-test
"$root/scripts/check_linker.sh" "$build"
if grep -q carom_simd_avx "$build/compile_commands.json"; then
  "$root/scripts/check_symbols.sh" "$build"
fi

report=$build/test-report.xml
rm -f "$report"
say "Running the tests; only what does not pass is shown"
start=$SECONDS
set +e
ctest --test-dir "$build" -j "$jobs" --output-on-failure --no-tests=error \
  --output-junit "$report" 2>&1 |
  awk '/ Passed +[0-9.]+ sec *$/ {
         if (++passed % 100 == 0) { split($1, at, "/"); print "  tests: " at[1] " of " at[2]; fflush() }
         next
       }
       !/^ +Start +[0-9]+:|^Internal ctest|^Test project|^ *$/ { sub(/ \.\.+\*\*\*/, " ***"); print; fflush() }'
status=${PIPESTATUS[0]}
set -e
say "Tests: done in $((SECONDS - start)) s"
[ -s "$report" ] || die "ctest wrote no report"

wait "$environment" || true
trap - EXIT
set +e
python_report=$(CAROM_BUILD_DIR=$build "$root/scripts/test_python.sh" 2>&1)
python_status=$?
set -e
say "$python_report"

# A test counts as skipped only where it said so itself; one that could not be started has failed.
totals=$(awk -v on_host=$on_host '
  /<testcase / {
    match($0, /status="[a-z]*"/)
    status = substr($0, RSTART + 8, RLENGTH - 9)
    if (status == "run" && on_host == "ON" && $0 ~ /name="([A-Za-z]+\/)?Cuda[A-Z]/) ++played
    if (status == "run") ++passed
    else if (status == "notrun" || status == "disabled") pending = 1
    else ++failed
  }
  pending && /<skipped / {
    if ($0 ~ /message="SKIP_/) ++skipped
    else ++failed
    pending = 0
  }
  END {
    printf "%d passed, %d failed, %d skipped", passed, failed, skipped
    if (played) printf " (%d device tests on a simulated device, none on a GPU)", played
    printf "\n"
  }' "$report")
say "$totals"
[ $python_status = 0 ] || exit 1
case "$totals" in
  *", 0 failed,"*) exit "$status" ;;
  *) exit 1 ;;
esac
