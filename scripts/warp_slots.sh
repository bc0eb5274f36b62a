#!/usr/bin/env bash
# Counts the warp slots of the kernels for single and compliant steps and linear programs, without a
# GPU: compiles them for sm_90, carries the machine code out instruction by instruction on this host
# (bench/warp_slots/machine.hpp says how) and prints slots and traffic of an answer. Fails where an
# answer has not the CPU's bits, or on an instruction that it does not know.
#   scripts/warp_slots.sh [--profile DEPTH] [--problems N] [SET...]
# SET: spatial2 to spatial4, planar2, planar4 for random steps of as many contacts, a model's name,
# boxes for compliant steps, support_cold and support_warm for linear programs; by default spatial4
# cube_drop boxes support_cold, two minutes without what is compiled.
# --profile: where the slots go, by source line, so many functions deep from the kernel on.
# Needs nvcc and nvdisasm of CUDA 12 or 13 and what the library needs; listings and program are put
# into CAROM_BUILD_DIR (build-slots). The counts belong to the compiler: its version is printed.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
build=${CAROM_BUILD_DIR:-$root/build-slots}

find_tool() {
  command -v "$1" || command -v "/usr/local/cuda/bin/$1" || die "$1 is missing: $2"
}
nvcc=$(find_tool nvcc "it is in NVIDIA's toolkit")
nvdisasm=${NVDISASM:-$(find_tool nvdisasm "it is in NVIDIA's toolkit, and by itself in the Python \
package nvidia-cuda-nvdisasm; put it on PATH or name it by NVDISASM=FILE")}

[ -f "$build/CMakeCache.txt" ] || prepare -DCAROM_CUDA=OFF -DCAROM_UNITY=ON -DCAROM_REFERENCE=OFF
build_targets "The machine" carom_warp_slots
listings=$build/warp_slots
mkdir -p "$listings"
# list FILE.cu: the machine code with the source lines it comes from
list() {
  local name
  name=$listings/$(basename "$1" .cu)
  run_quietly "$1" "$nvcc" -std=c++20 -O3 -fmad=false --extended-lambda --expt-relaxed-constexpr \
    -lineinfo -arch=sm_90 -cubin -I"$root/include" -I"$root/src" -I"$build/generated" \
    -o "$name.cubin" "$root/$1"
  "$nvdisasm" -c -gi -hex "$name.cubin" >"$name.sass"
}
list src/cuda/impact/step_groups.cu
list src/cuda/compliant/solve_compliant.cu
list src/cuda/programs/solve_lp.cu
"$nvcc" --version | sed -n 's/^Cuda compilation tools, //p'
"$build/bin/carom_warp_slots" "$listings/step_groups.sass" "$listings/solve_compliant.sass" \
  "$listings/solve_lp.sass" "$@"
