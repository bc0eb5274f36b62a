#!/usr/bin/env bash
# Compares carom with all other solvers of the same problems that can be installed on this machine, in
# one process on the same problems, and prints one table per family. It needs no other set-up.
#   scripts/bench.sh [--quick|--full] [--cuda|--classes|--filter REGEX] [FILE.json]
# FILE defaults to build-bench/bench.json. --full adds the largest sample counts. --cuda: this
# machine's GPU compared with its processor, a table of every family. --classes: problems from the
# literature and other packages (bench/classes.py), with other solvers.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
build=${CAROM_BUILD_DIR:-$root/build-bench}

filter=. repetitions=5 min_time=0.1 full=() output= classes= quick=()
while [ $# -gt 0 ]; do
  case "$1" in
    --quick) repetitions=3 min_time=0.02 quick=(--quick) ;;
    --full) full=(--full) ;;
    --classes) classes=yes ;;
    --cuda)
      command -v nvidia-smi >/dev/null || die "--cuda: no NVIDIA GPU on this machine"
      filter=^device/
      ;;
    --filter)
      [ $# -gt 1 ] || die "--filter needs a regular expression, e.g. '^steps/'"
      filter=$2
      shift
      ;;
    -*) die "Unknown option $1; known: --quick --full --cuda --classes --filter REGEX" ;;
    *) output=$1 ;;
  esac
  shift
done

# Peers are optional: what cannot be installed is reported as absent and left out of the tables.
libraries="$libraries libbenchmark-dev"
install_peers() {
  local packages="" package as_root=
  command -v apt-get >/dev/null || return 0
  for package in libdart-dev libsiconos-numerics-dev libglpk-dev coinor-libclp-dev \
    coinor-csdp python3-venv; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      packages="$packages $package"
  done
  [ -n "$packages" ] || return 0
  if [ "$(id -u)" != 0 ]; then
    as_root="sudo -n"
    if ! $as_root true 2>/dev/null; then
      say "Peers not installed (sudo asks for a password):$packages"
      return 0
    fi
  fi
  say "Installing the peers:$packages"
  for package in $packages; do
    if ! $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qy \
      --no-install-recommends "$package" >/dev/null 2>&1; then
      say "Peer package $package cannot be installed here: goes without it"
    fi
  done
}

# Codes from PyPI, in an environment of their own.
install_python_peers() {
  [ -x "$build/peers/bin/python" ] || python3 -m venv "$build/peers" >/dev/null 2>&1 || return 1
  "$build/peers/bin/python" -m pip install -q "$@" >/dev/null 2>&1
}

install_missing
command -v python3 >/dev/null || die "python3 is missing: it prints the tables"
install_peers
find_cuda_compiler
configure "-DCAROM_CUDA=$(cuda_if_gpu)" -DCAROM_BUILD_BENCHMARKS=ON -DCAROM_BUILD_TESTS=OFF -DCAROM_BUILD_EXAMPLES=OFF \
  -DCAROM_BUILD_CLI=OFF
say_cuda_compiler
if [ -n "$classes" ]; then
  build_targets "Building the driver of classes" carom_classes
  for package in numpy scipy highspy daqp quadprog osqp piqp proxsuite clarabel scs ecos qoco lemkelcp; do
    install_python_peers "$package" || say "$package cannot be installed here: goes without it"
  done
  exec "$build/peers/bin/python" "$root/bench/classes.py" "$build/bin/carom_classes" \
    ${quick[@]+"${quick[@]}"} --json "${output:-$build/classes.json}"
fi
build_targets "Building the benchmarks" carom_bench

output=${output:-$build/bench.json}
rm -rf "$build/sdps"
start=$SECONDS
# One thread for a peer's linear algebra: rates are per core.
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
CAROM_QP_PROBLEMS=$build/qps.bin CAROM_SDP_PROBLEMS=$build/sdps "$build/bin/carom_bench" ${full[@]+"${full[@]}"} \
  --benchmark_filter="$filter" --benchmark_min_time="$min_time" \
  --benchmark_repetitions="$repetitions" --benchmark_enable_random_interleaving=true \
  --benchmark_out="$output.raw" \
  --benchmark_out_format=json >/dev/null
python_peers=()
if [[ qps/contact_pyramids_n012 =~ $filter ]] && [ -f "$build/qps.bin" ]; then
  if install_python_peers numpy scipy daqp quadprog osqp piqp proxsuite &&
    "$build/peers/bin/python" "$root/bench/qp_peers.py" "$build/qps.bin" >"$output.peers"; then
    python_peers=("$output.peers")
  else
    say "QP codes from PyPI cannot be installed here: goes without them"
  fi
fi
if [ -d "$build/sdps" ]; then
  if install_python_peers numpy scipy clarabel scs &&
    "$build/peers/bin/python" "$root/bench/sdp_peers.py" "$build/sdps" >"$output.sdps"; then
    python_peers+=("$output.sdps")
  else
    say "SDP codes from PyPI cannot be installed here: goes without them"
  fi
fi
if [[ worlds/inclined_block =~ $filter ]]; then
  if install_python_peers mujoco &&
    "$build/peers/bin/python" "$root/bench/mujoco_peer.py" >"$output.mujoco"; then
    python_peers+=("$output.mujoco")
  else
    say "MuJoCo cannot be installed here: goes without it"
  fi
fi
python3 "$root/bench/compact.py" "$output.raw" "$output" ${python_peers[@]+"${python_peers[@]}"}
rm -f "$output.raw" "$output.peers" "$output.sdps" "$output.mujoco"
say "Measured in $((SECONDS - start)) s"
python3 "$root/bench/report.py" "$output"
say ""
say "JSON: $output"
