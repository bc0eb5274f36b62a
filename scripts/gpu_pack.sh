#!/usr/bin/env bash
# Makes what scripts/gpu_check.sh needs on a machine without network: device tests, command and
# benchmarks, compiled for one architecture and stripped, with the shared libraries that a CUDA
# machine may lack.
#   scripts/gpu_pack.sh [--variant NAME=CMAKE_ARGUMENTS]... [ARCHITECTURE]     default: 90
# into build-gpu-pack/pack.tar.xz (pack/bin, lib, about.txt). Each --variant adds bin/carom_bench-NAME,
# compiled with those arguments, for stage 6. The archive may have 64 MiB.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
build=${CAROM_BUILD_DIR:-$root/build-gpu-pack}
most_mib=64
architecture=90 variants=()
while [ $# -gt 0 ]; do
  case "$1" in
    --variant)
      [[ ${2:-} == ?*=?* ]] || die "--variant wants NAME=CMAKE_ARGUMENTS"
      variants+=("$2")
      shift
      ;;
    -*) die "Unknown option $1; known: --variant NAME=CMAKE_ARGUMENTS" ;;
    *) architecture=$1 ;;
  esac
  shift
done
libraries="$libraries libbenchmark-dev"
pack=$build/pack
rm -rf "$pack"
mkdir -p "$pack/bin" "$pack/lib"

# compile FOLDER TARGETS -- CMAKE ARGUMENTS
compile() {
  local targets=()
  build=$1
  shift
  while [ "$1" != -- ]; do targets+=("$1"); shift; done
  shift
  prepare -DCAROM_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES="$architecture-real" -DCAROM_HDF5=OFF \
    -DCAROM_UNITY=ON -DCAROM_BUILD_CLI=ON -DCAROM_BUILD_EXAMPLES=OFF -DCAROM_BUILD_BENCHMARKS=ON \
    -DCAROM_BUILD_TESTS=ON "$@"
  build_targets "Building ${targets[*]} for sm_$architecture" "${targets[@]}"
}
keep() {
  strip -o "$pack/bin/$2" "$1"
}

whole=$build
compile "$whole" test_cuda carom_command carom_bench --
keep "$whole/tests/test_cuda" test_cuda
keep "$whole/bin/carom" carom
keep "$whole/bin/carom_bench" carom_bench
for variant in ${variants[@]+"${variants[@]}"}; do
  read -ra arguments <<<"${variant#*=}"
  compile "$whole-${variant%%=*}" carom_bench -- "${arguments[@]}"
  keep "$build/bin/carom_bench" "carom_bench-${variant%%=*}"
done

# CUDA's own libraries and those of every Linux are there.
for program in "$pack"/bin/*; do
  ldd "$program" | awk '/=> \// { print $3 }'
done | sort -u | while read -r library; do
  case $(basename "$library") in
    libc.so* | libm.so* | libdl.so* | librt.so* | libpthread.so* | libgcc_s.so* | libcu* | libnv*) ;;
    *) cp -L "$library" "$pack/lib/" ;;
  esac
done
{
  echo "commit $(git -C "$root" rev-parse HEAD 2>/dev/null || echo unknown)"
  echo "uncommitted files $(git -C "$root" status --porcelain 2>/dev/null | wc -l)"
  echo "architecture sm_$architecture"
  "${CUDACXX:-nvcc}" --version | tail -n 2 | head -n 1
} >"$pack/about.txt"
# The programs hold the same library: one dictionary over all of them makes 30 MiB of 134.
tar -C "$whole" -c pack | xz --lzma2=preset=4,dict=192MiB >"$whole/pack.tar.xz"
mib=$(($(stat -c %s "$whole/pack.tar.xz") / 1048576 + 1))
say "Pack: $whole/pack.tar.xz, $mib MiB"
[ "$mib" -le "$most_mib" ] || die "more than $most_mib MiB: leave out variants"
pack=$whole/pack.tar.xz
say "There: scripts/gpu_check.sh --pack ${pack#"$root"/} --stage 1"
