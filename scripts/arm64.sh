#!/usr/bin/env bash
# arm64.sh [FILE...]: cross-compiles the library, its C test and the command for 64-bit ARM on a Debian or Ubuntu, and runs
# under qemu the C test, `carom validate` against the reference backend and `carom rerun` of the FILEs, whose bits another
# machine made (without files: of some that CAROM, this machine's command, makes).
# Needs g++-aarch64-linux-gnu and qemu-user-static; the libraries are unpacked into the build folder, not installed.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
build=${CAROM_BUILD_DIR:-$root/build-arm64}
sysroot=$build/root
for tool in aarch64-linux-gnu-g++ qemu-aarch64-static; do
  command -v $tool >/dev/null || die "$tool is missing: apt-get install g++-aarch64-linux-gnu qemu-user-static"
done

if [ ! -e "$sysroot/usr/include/CLI" ]; then
  mkdir -p "$build/apt"/{lists/partial,cache/archives/partial} "$sysroot"
  : >"$build/apt/status"
  cat >"$build/apt/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "root";
Dir::State::lists "$build/apt/lists";
Dir::State::status "$build/apt/status";
Dir::Cache "$build/apt/cache";
END
  export APT_CONFIG=$build/apt/apt.conf
  run_quietly "Package lists of arm64" apt-get update
  # shellcheck disable=SC2086
  run_quietly "Packages of arm64" apt-get install -y --download-only --no-install-recommends libc6-dev libstdc++-12-dev $libraries
  for package in "$build"/apt/cache/archives/*.deb; do dpkg -x "$package" "$sysroot"; done
fi
configure "-DCMAKE_TOOLCHAIN_FILE=$root/cmake/toolchains/arm64.cmake" "-DCAROM_ARM64_ROOT=$sysroot" -DCAROM_CUDA=OFF -DCAROM_HDF5=OFF \
  -DCAROM_UNITY=ON -DCAROM_BUILD_EXAMPLES=OFF
build_targets "Building for arm64" carom_command test_c

carom() { qemu-aarch64-static -L "$sysroot" "$build/bin/carom" "$@"; }
qemu-aarch64-static -L "$sysroot" "$build/tests/c/test_c" && say "C interface: passed"
for model in rocking_block cube_drop two_contacts tripod_flat inclined_block figure2; do
  carom validate $model >"$build/validate.log" || { cat "$build/validate.log" && die "carom validate $model"; }
done
say "cpu and reference agree"
if [ $# = 0 ]; then
  here=${CAROM:-$root/build-release/bin/carom}
  [ -x "$here" ] || die "CAROM: no command of this machine"
  # Not of equilibrium, whose directions are the C library's sines, nor of stability, which takes minutes under qemu.
  for run in "impact rocking_block --samples 1000" "impact cube_drop --samples 200 --method events" \
    "step inclined_block" "motion block_toss --samples 20"; do
    # shellcheck disable=SC2086
    "$here" $run --json >"$build/made-${run%% *}-$#.json"
    set -- "$@" "$build/made-${run%% *}-$#.json"
  done
fi
for file in "$@"; do carom rerun "$file" || die "other bits on arm64: $file"; done
say "arm64: the bits of $# files are those of the machine that made them"
