#!/usr/bin/env bash
# Builds carom for this machine's GPU and checks it there: the tests that need a device, both
# backends against each other on every model, posture and scenario, NVIDIA's memory and race checkers
# on small batches, and the benchmarks where they are built. Everything lands in one JSON file.
#
#   scripts/gpu_check.sh [OUTPUT.json]     default: bench/results/<device>-<date>.json
#
# Dependencies that the system lacks are taken from .deps/ (scripts/vendor_deps.sh); nothing is
# downloaded. Exit status: 0 all steps passed, 1 a step failed, 3 no GPU here.
# Environment: CAROM_BUILD_DIR (build-gpu), CAROM_SANITIZE_SECONDS (240), CAROM_SKIP, the names of
# steps to leave out, e.g. "racecheck bench".
# shellcheck disable=SC2317  # functions are run by step
set -uo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
build=${CAROM_BUILD_DIR:-$root/build-gpu}
limit=${CAROM_SANITIZE_SECONDS:-240}

gpu() { nvidia-smi --query-gpu="$1" --format=csv,noheader -i 0 2>/dev/null | head -n 1; }

if ! command -v nvidia-smi >/dev/null || [ -z "$(gpu name)" ]; then
  say "No NVIDIA GPU on this machine: nothing was checked"
  exit 3
fi
command -v python3 >/dev/null || die "python3 is needed to write the report"
find_cuda_compiler
command -v nvcc >/dev/null || [ -n "${CUDACXX:-}" ] || die "A GPU, but no nvcc: install the CUDA toolkit"

device=$(gpu name)
capability=$(gpu compute_cap)
started=$(date -u +%Y-%m-%dT%H:%M:%SZ)
slug=$(printf '%s' "$device" | tr '[:upper:] ' '[:lower:]-' | tr -cd 'a-z0-9-')
output=${1:-$root/bench/results/$slug-$(date -u +%Y%m%d-%H%M%S).json}
mkdir -p "$(dirname "$output")" || die "Cannot write to $(dirname "$output")"
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
failed=0

# step NAME COMMAND...: runs it, keeps status, time and output; later steps run whatever comes out.
step() {
  local name=$1 start=$SECONDS status
  shift
  case " ${CAROM_SKIP:-} " in
    *" $name "*)
      printf '%s\t%s\t%s\t%s\n' "$name" skipped 0 "$*" >>"$logs/steps"
      say "$name: skipped"
      return 0
      ;;
  esac
  "$@" >"$logs/$name.out" 2>"$logs/$name.err"
  status=$?
  printf '%s\t%s\t%s\t%s\n' "$name" "$status" $((SECONDS - start)) "$*" >>"$logs/steps"
  if [ "$status" = 0 ]; then
    say "$name: passed in $((SECONDS - start)) s"
  else
    failed=1
    say "$name: FAILED with status $status after $((SECONDS - start)) s"
    tail -n 15 "$logs/$name.out" "$logs/$name.err"
  fi
  return "$status"
}

# ctest calls a run without tests a success, and a skipped test too: both are failures here.
device_tests() {
  local report=$build/gpu-report.xml
  ctest --test-dir "$build" -L '^cuda$' --no-tests=error --output-on-failure \
    --output-junit "$report" || return 1
  ! grep -q '<skipped' "$report"
}

sanitize() {
  local tool=$1 filter=$2
  timeout "$limit" compute-sanitizer --tool "$tool" --error-exitcode 99 --print-limit 20 \
    "$build/tests/test_cuda" --gtest_filter="$filter"
}

benchmarks() {
  local program status=1
  for program in "$build"/bench/*; do
    if [ ! -f "$program" ] || [ ! -x "$program" ]; then continue; fi
    status=0
    timeout 300 "$program" --benchmark_format=json \
      --benchmark_out="$logs/$(basename "$program").bench.json" --benchmark_out_format=json || return 1
  done
  return "$status"
}

write_report() {
  DEVICE=$device CAPABILITY=$capability DRIVER=$(gpu driver_version) MEMORY=$(gpu memory.total) \
    COMMIT=$(git -C "$root" rev-parse HEAD 2>/dev/null || echo unknown) \
    CHANGED=$(git -C "$root" status --porcelain 2>/dev/null | wc -l) \
    COMPILER=$("${CUDACXX:-nvcc}" --version | tail -n 2 | head -n 1) \
    ROOT=$root BUILD=$build STARTED=$started FINISHED=$(date -u +%Y-%m-%dT%H:%M:%SZ) \
    python3 - "$logs" "$output" <<'PYTHON'
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
        step["output"] = out.splitlines()[-120:]
    step["messages"] = read(os.path.join(logs, name + ".err")).splitlines()[-60:]
    steps.append(step)
report = {
    "device": env["DEVICE"], "compute_capability": env["CAPABILITY"],
    "driver": env["DRIVER"], "memory": env["MEMORY"], "cuda_compiler": env["COMPILER"],
    "commit": env["COMMIT"], "uncommitted_files": int(env["CHANGED"]),
    "started": env["STARTED"], "finished": env["FINISHED"],
    "passed": all(step["passed"] or step["skipped"] for step in steps), "steps": steps,
    "benchmarks": {os.path.basename(path)[:-len(".bench.json")]: parsed(read(path))
                   for path in sorted(glob.glob(os.path.join(logs, "*.bench.json")))},
}
text = json.dumps(report, indent=1)
for folder, name in ((logs, "logs"), (env["BUILD"], "build"), (env["ROOT"], ".")):
    text = text.replace(folder, name)  # the report names no folder of this machine
with open(output, "w") as stream:
    stream.write(text + "\n")
PYTHON
}

finish() {
  write_report || die "The report could not be written"
  say "Report: $output"
  exit "$failed"
}

say "$device, compute capability $capability, driver $(gpu driver_version)"
generator=()
command -v ninja >/dev/null && generator=(-G Ninja)
benchmarked=OFF
[ -f "$root/bench/CMakeLists.txt" ] && benchmarked=ON
step configure cmake -S "$root" -B "$build" ${generator[@]+"${generator[@]}"} \
  -DCMAKE_BUILD_TYPE=Release -DCAROM_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES="${capability/./}" \
  -DCAROM_FETCH=OFF -DCAROM_HDF5=OFF -DCAROM_BUILD_TESTS=ON -DCAROM_BUILD_CLI=ON \
  -DCAROM_BUILD_EXAMPLES=OFF -DCAROM_BUILD_BENCHMARKS="$benchmarked" || finish
targets=(test_cuda carom_command)
[ "$benchmarked" = ON ] && targets=(all)
step build cmake --build "$build" -j "$jobs" --target "${targets[@]}" || finish
step tests device_tests
carom=$build/bin/carom
step info "$carom" info --json
for model in $("$carom" models --json | python3 -c '
import json, sys
models = json.load(sys.stdin)
models = models.get("models", models) if isinstance(models, dict) else models
print(*(model["name"] for model in models))'); do
  step "validate-$model" "$carom" validate "$model" --backend cuda --against cpu --samples 16384 --json
done
small='Cuda*.*Poison*:CudaImpacts.NoContacts:CudaPlanar.MarginsEqualTheCpu:CudaSpatial.*:CudaCompliant.*'
if command -v compute-sanitizer >/dev/null; then
  step memcheck sanitize memcheck "$small:*CudaModel.RandomSelectionAgreesWithCpu/rocking_block:*CudaModel.PolicyDoesNotMatter/*"
  step racecheck sanitize racecheck "$small:*CudaModel.PolicyDoesNotMatter/rocking_block:*CudaModel.PolicyDoesNotMatter/cube_drop"
else
  say "compute-sanitizer is not on PATH: no memory and race checks"
  CAROM_SKIP="${CAROM_SKIP:-} memcheck racecheck"
  step memcheck sanitize
  step racecheck sanitize
fi
[ "$benchmarked" = ON ] && step bench benchmarks
finish
