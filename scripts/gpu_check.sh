#!/usr/bin/env bash
# Checks carom on this machine's GPU, in stages that each end within nine minutes and write a JSON
# file of their own as soon as they are done:
#   1 smoke        what the machine is, the command, one model on both backends
#   2 tests        every suite of device tests in a process of its own, 120 s each, side by side
#   3 benchmarks   every family in device memory, in host memory and on this machine's cores, 60 s each
#   4 profile      Nsight Compute on one kernel of each family
#   5 sanitizers   memcheck, racecheck and synccheck on small batches
#   6 variants     the benchmarks of every packed variant, compared with the packed build
#
#   scripts/gpu_check.sh [--stage N]... [--families REGEX] [--pack ARCHIVE] [OUTPUT_FOLDER]
#
# All stages where none is named. --families: what stage 3 measures, all by default. --pack: what
# scripts/gpu_pack.sh made, or a folder with its contents; else the sources are compiled here
# (CAROM_BUILD_DIR, default build-gpu), with dependencies from .deps/ (scripts/vendor_deps.sh) where
# the system lacks them. Nothing is downloaded. OUTPUT_FOLDER: default bench/results.
# Exit status: 0 all passed, 1 something failed, 3 no GPU here.
# shellcheck disable=SC2317  # functions are run by step
set -uo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
build=${CAROM_BUILD_DIR:-$root/build-gpu}
stages=() families=. pack="" folder=$root/bench/results
while [ $# -gt 0 ]; do
  case "$1" in
    --stage)
      [[ ${2:-} == [1-6] ]] || die "--stage wants a number from 1 to 6"
      stages+=("$2")
      shift
      ;;
    --families)
      [ $# -gt 1 ] || die "--families needs a regular expression: what stage 3 measures"
      families=$2
      shift
      ;;
    --pack)
      pack=${2:-}
      [ -f "$pack" ] || [ -x "$pack/bin/carom" ] || die "--pack wants pack.tar.xz of scripts/gpu_pack.sh"
      shift
      ;;
    -*) die "Unknown option $1; known: --stage N, --families REGEX, --pack ARCHIVE" ;;
    *) folder=$1 ;;
  esac
  shift
done
[ ${#stages[@]} -gt 0 ] || stages=(1 2 3 4 5 6)

gpu() { nvidia-smi --query-gpu="$1" --format=csv,noheader -i 0 2>/dev/null | head -n 1; }
if ! command -v nvidia-smi >/dev/null || [ -z "$(gpu name)" ]; then
  say "No NVIDIA GPU on this machine: nothing was checked"
  exit 3
fi
command -v python3 >/dev/null || die "python3 is needed to write the reports"
device=$(gpu name)
capability=$(gpu compute_cap)
slug=$(printf '%s' "$device" | tr '[:upper:] ' '[:lower:]-' | tr -cd 'a-z0-9-')
stamp=$(date -u +%Y%m%d-%H%M%S)
mkdir -p "$folder" || die "Cannot write to $folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# step NAME SECONDS COMMAND...: runs it, keeps status, time and output; later ones run whatever comes.
step() {
  local name=$1 limit=$2 start=$SECONDS status
  shift 2
  timeout "$limit" "$@" >"$logs/$name.out" 2>"$logs/$name.err"
  status=$?
  printf '%s\t%s\t%s\t%s\n' "$name" "$status" $((SECONDS - start)) "$*" >>"$logs/steps"
  if [ "$status" = 0 ]; then
    say "  $name: passed in $((SECONDS - start)) s"
  else
    failed=1
    say "  $name: FAILED with status $status after $((SECONDS - start)) s"
    tail -n 15 "$logs/$name.out" "$logs/$name.err"
  fi
  return "$status"
}
# What this machine lacks is said, and no failure.
leave_out() {
  printf '%s\tskipped\t0\t%s\n' "$1" "$2" >>"$logs/steps"
  say "  $1: left out, $2"
}

stage_1() {
  step nvidia_smi 20 nvidia-smi
  step info 20 "$bin/carom" info --json
  step validate 40 "$bin/carom" validate rocking_block --backend cuda --against cpu --samples 4096 --json
  step impact 40 "$bin/carom" impact rocking_block --backend cuda --samples 2^20 --json
}

# ran TESTS...: fails too where no test of the selection has run.
ran() {
  local output status
  output=$("$@" 2>&1)
  status=$?
  printf '%s\n' "$output"
  [ "$status" = 0 ] && grep -qE '^\[==========\] [1-9][0-9]* tests? from .* ran' <<<"$output"
}
export -f ran
# Suites side by side: most of their time is the CPU's, which answers the same problems.
stage_2() {
  local suite processors
  processors=$(nproc 2>/dev/null || echo 2)
  "$bin/test_cuda" --gtest_list_tests >"$work/suites" 2>/dev/null || { failed=1; return; }
  for suite in $(awk '/^[^ ]/ && NF { sub(/#.*/, ""); print $1 }' "$work/suites" | grep '\.$'); do
    while [ "$(jobs -rp | wc -l)" -ge $(((processors + 1) / 2)) ]; do wait -n; done
    step "$(printf '%s' "${suite%.}" | tr / -)" 120 bash -c 'ran "$@"' ran "$bin/test_cuda" --gtest_brief=1 \
      --gtest_filter="$suite*" &
  done
  wait
  awk -F'\t' '$2 != "0" { exit 1 }' "$logs/steps" || failed=1
}

# bench PROGRAM FILTER SECONDS NAME
bench() {
  local raw=$logs/$4.raw.json
  step "$4" "$3" "$1" --benchmark_filter="$2" --benchmark_min_time=0.05 --benchmark_repetitions=3 \
    --benchmark_out="$raw" --benchmark_out_format=json || return
  local peers=$logs/$4.peers.json
  [ -e "$peers" ] || peers=
  python3 "$root/bench/compact.py" "$raw" "$logs/$4.bench.json" ${peers:+"$peers"} &&
    python3 "$root/bench/report.py" "$logs/$4.bench.json"
  rm -f "$raw"
}
# A process for each family, so that what one keeps or breaks is not the next one's.
stage_3() {
  local family
  if python3 -c 'import qpax, jax; jax.devices("gpu")' 2>/dev/null; then
    CAROM_QP_PROBLEMS=$work/problems.bin "$bin/carom_bench" --benchmark_list_tests >"$work/names"
    step qpax 120 python3 "$root/bench/qpax_device.py" "$work/problems.bin" \
      "$logs/contact_pyramids_n12.peers.json"
  else
    leave_out qpax "no qpax, or no jax that sees the GPU"
  fi
  for family in $("$bin/carom_bench" --benchmark_list_tests --benchmark_filter='^device/' |
    sed -n 's,^device/\(.*\)_2^.*,\1,p' | sort -u | grep -E "$families"); do
    bench "$bin/carom_bench" "^device/${family}_2\\^" 60 "$family"
    report 3 "$output"  # what is measured is kept, whatever becomes of the rest
  done
}

# kernel_times FILTER: launches, seconds and registers of each kernel of two calls.
kernel_times() {
  ncu --clock-control none --csv --launch-count 400 \
    --metrics gpu__time_duration.sum,launch__registers_per_thread,launch__grid_size \
    "$bin/carom_bench" --benchmark_min_time=0.001 --benchmark_filter="$1" |
    python3 "$root/bench/kernel_times.py"
}
export -f kernel_times
export bin root
# FAMILY and SIZE of a benchmark and the kernel of it that is looked at
profiled="rocking_block_2^22 sample_tables
  cube_drop_2^18 sample_threads
  steps_n028_2^18 step_groups
  lcps_n28_2^18 solve_lcps
  contact_pyramids_n12_2^18 qp_pivot
  compliant_four_contacts_2^18 solve_
  support_four_contacts_2^14 sweep"
stage_4() {
  local family kernel
  if ! command -v ncu >/dev/null; then leave_out profile "no ncu on this machine"; return; fi
  # the largest batch of each family: which kernels take how much of a call
  for family in $("$bin/carom_bench" --benchmark_list_tests --benchmark_filter='^device/.*/cuda' |
    sed -n 's,^device/\(.*\)_2^\([0-9]*\)/cuda/.*,\1 \2,p' | sort -k1,1 -k2,2n |
    awk '{ last[$1] = $2 } END { for (f in last) print f "_2^" last[f] }' | sort); do
    step "times_${family%%_2^*}" 30 bash -c 'kernel_times "$1"' times "^device/${family/^/\\^}/cuda/"
    report 4 "$output"
  done
  while read -r family kernel; do
    step "${family%%_2^*}" 80 ncu --clock-control none --kernel-name "regex:$kernel" \
      --launch-skip 1 --launch-count 2 \
      --section LaunchStats --section Occupancy --section SpeedOfLight \
      --section MemoryWorkloadAnalysis --section InstructionStats --section WarpStateStats \
      "$bin/carom_bench" --benchmark_min_time=0.001 \
      --benchmark_filter="^device/${family/^/\\^}/cuda/"
  done <<<"$profiled"
}

stage_5() {
  local tool small='Cuda*.*Poison*:CudaImpacts.NoContacts:CudaPlanar.MarginsEqualTheCpu'
  small+=':CudaSpatial.*:CudaCompliant.*:*CudaModel.PolicyDoesNotMatter/rocking_block'
  small+=':*CudaModel.PolicyDoesNotMatter/cube_drop'
  if ! command -v compute-sanitizer >/dev/null; then
    leave_out sanitizers "no compute-sanitizer on this machine"
    return
  fi
  for tool in memcheck racecheck synccheck; do
    step "$tool" 170 compute-sanitizer --tool "$tool" --error-exitcode 99 --print-limit 20 \
      "$bin/test_cuda" --gtest_filter="$small"
  done
}

stage_6() {
  local program found=0
  for program in "$bin"/carom_bench-*; do
    [ -x "$program" ] || continue
    [ $found = 1 ] || bench "$bin/carom_bench" '^device/.*2\^(18|22)/cuda/' 120 packed
    found=1
    bench "$program" '^device/.*2\^(18|22)/cuda/' 120 "$(basename "$program")"
  done
  [ $found = 1 ] || leave_out variants "none in the pack (gpu_pack.sh --variant)"
}

# report STAGE FILE: steps and benchmarks of the stage; names no folder of this machine.
report() {
  STAGE=$1 DEVICE=$device CAPABILITY=$capability DRIVER=$(gpu driver_version) \
    MEMORY=$(gpu memory.total) ABOUT=$about ROOT=$root BIN=$bin STARTED=$started \
    FINISHED=$(date -u +%Y-%m-%dT%H:%M:%SZ) python3 - "$logs" "$2" <<'PYTHON'
import glob, json, os, sys

logs, output = sys.argv[1:]
env = os.environ


def read(path):
    try:
        with open(path, errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""


def parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


steps = []
for line in read(os.path.join(logs, "steps")).splitlines():
    name, status, seconds, command = line.split("\t", 3)
    out = read(os.path.join(logs, name + ".out"))
    step = {"name": name, "passed": status == "0", "skipped": status == "skipped",
            "status": None if status == "skipped" else int(status),
            "seconds": int(seconds), "command": command}
    document = parsed(out)
    if document is not None:
        step["result"] = document
    else:
        step["output"] = out.splitlines()[-400:]
    step["messages"] = read(os.path.join(logs, name + ".err")).splitlines()[-60:]
    steps.append(step)
report = {
    "stage": int(env["STAGE"]), "device": env["DEVICE"], "compute_capability": env["CAPABILITY"],
    "driver": env["DRIVER"], "memory": env["MEMORY"], "build": env["ABOUT"].splitlines(),
    "started": env["STARTED"], "finished": env["FINISHED"],
    "passed": bool(steps) and all(step["passed"] or step["skipped"] for step in steps),
    "steps": steps,
    "benchmarks": {os.path.basename(path)[:-len(".bench.json")]: parsed(read(path))
                   for path in sorted(glob.glob(os.path.join(logs, "*.bench.json")))},
}
text = json.dumps(report, indent=1)
for place, name in ((logs, "logs"), (env["BIN"], "bin"), (env["ROOT"], ".")):
    text = text.replace(place, name)
with open(output, "w") as stream:
    stream.write(text + "\n")
PYTHON
}

say "$device, compute capability $capability, driver $(gpu driver_version)"
if [ -n "$pack" ]; then
  if [ -f "$pack" ]; then
    tar -C "$work" -xJf "$pack" || die "Cannot unpack $pack"
    pack=$work/pack
  fi
  pack=$(cd "$pack" && pwd)
  bin=$pack/bin
  about=$(cat "$pack/about.txt")
  export LD_LIBRARY_PATH=$pack/lib:/usr/local/cuda/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
else
  find_cuda_compiler
  command -v nvcc >/dev/null || [ -n "${CUDACXX:-}" ] || die "A GPU, but no nvcc: install the CUDA toolkit"
  configure -DCAROM_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES="${capability/./}-real" -DCAROM_FETCH=OFF \
    -DCAROM_HDF5=OFF -DCAROM_UNITY=ON -DCAROM_BUILD_TESTS=ON -DCAROM_BUILD_CLI=ON \
    -DCAROM_BUILD_EXAMPLES=OFF -DCAROM_BUILD_BENCHMARKS=ON
  build_targets "Building for this GPU" test_cuda carom_command carom_bench
  bin=$build/bin
  cp "$build/tests/test_cuda" "$bin/"
  about="commit $(git -C "$root" rev-parse HEAD 2>/dev/null || echo unknown)
$("${CUDACXX:-nvcc}" --version | tail -n 2 | head -n 1)"
fi
export CAROM_TEST_DATA=$root/tests/data
for stage in "${stages[@]}"; do
  say "Stage $stage"
  started=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  logs=$work/$stage
  mkdir "$logs"
  output=$folder/$slug-$stamp-stage$stage.json
  "stage_$stage"
  report "$stage" "$output" || die "The report could not be written"
  say "  report: $output"
done
exit "$failed"
