# shellcheck shell=bash
# Functions that the scripts of this folder share; sourced, with the repository's root as $root.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${CAROM_BUILD_DIR:-$root/build-release}
jobs=$(nproc 2>/dev/null || echo 2)
exec </dev/null

say() { printf '%s\n' "$*"; }
die() {
  printf '%s\n' "$*" >&2
  exit 1
}

# run_quietly WHAT COMMAND...: one line and the time; the command's output only if it fails. A
# command that takes longer says every ten seconds how far it is.
run_quietly() {
  local what=$1 start=$SECONDS log child next=10 status=0
  shift
  log=$(mktemp)
  "$@" >"$log" 2>&1 &
  child=$!
  # A background process of a script ignores the keyboard's interrupt.
  trap 'kill "$child" 2>/dev/null; rm -f "$log"; exit 130' INT TERM
  while kill -0 "$child" 2>/dev/null; do
    sleep 0.2
    if [ $((SECONDS - start)) -ge $next ]; then
      say "  $what: $next s$(steps_done "$log")"
      next=$((next + 10))
    fi
  done
  wait "$child" || status=$?
  trap - INT TERM
  if [ $status = 0 ]; then
    say "$what: done in $((SECONDS - start)) s"
    rm -f "$log"
  else
    # the first error lines say more than the end of a parallel build
    grep -nE 'error|Error|E: ' "$log" | head -n 20 >&2 || true
    tail -n 60 "$log" >&2
    rm -f "$log"
    die "$what: failed after $((SECONDS - start)) s"
  fi
}

# ", 31 of 84 steps", of the last count like "[31/84]" that a log has.
steps_done() {
  grep -oE '^\[[0-9]+/[0-9]+\]' "$1" | tail -n 1 | tr -d '[]' |
    sed -E 's#([0-9]+)/([0-9]+)#, \1 of \2 steps#' || true
}

# The Debian and Ubuntu packages that the build, the tests and the pictures need.
libraries="libeigen3-dev libtbb-dev librandom123-dev libboost-dev libgtest-dev libcli11-dev
  nlohmann-json3-dev libfmt-dev libhdf5-dev"

cmake_is_new_enough() {
  local version
  version=$(cmake --version 2>/dev/null | sed -n '1s/[^0-9]*//p')
  [ -n "$version" ] && [ "$(printf '3.22\n%s\n' "$version" | sort -V | head -n 1)" = 3.22 ]
}

missing_packages() {
  local package
  command -v c++ >/dev/null || printf 'g++ '
  command -v cmake >/dev/null || printf 'cmake '
  command -v ninja >/dev/null || printf 'ninja-build '
  command -v gnuplot >/dev/null || printf 'gnuplot-nox '
  for package in $libraries; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      printf '%s ' "$package"
  done
}

install_missing() {
  local packages as_root=
  if ! command -v apt-get >/dev/null; then
    say "No apt-get here: the packages are expected to be in place (docs/howto/install.md lists them)"
    return
  fi
  packages=$(missing_packages)
  if [ -n "$packages" ]; then
    if [ "$(id -u)" != 0 ]; then
      command -v sudo >/dev/null || die "Missing: $packages- install them, or run this as root"
      as_root="sudo -n"
      $as_root true 2>/dev/null || die "Missing: $packages- sudo asks for a password; run first:
  sudo apt-get install --no-install-recommends $packages"
    fi
    say "Installing $packages"
    run_quietly "Package lists" $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q
    # shellcheck disable=SC2086
    run_quietly "Packages" $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qy \
      --no-install-recommends $packages
  fi
  cmake_is_new_enough || die "CMake 3.22 or newer is needed, found: $(cmake --version 2>&1 | head -1)"
}

has_gpu() { [ -e /dev/nvidiactl ] || command -v nvidia-smi >/dev/null; }
# For CAROM_CUDA: without a GPU the CUDA backend would be compiled for nothing.
cuda_if_gpu() { if has_gpu; then echo AUTO; else echo OFF; fi; }

# An nvcc outside PATH, where NVIDIA's packages put it, counts as present.
find_cuda_compiler() {
  if [ -z "${CUDACXX:-}" ] && ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
    export CUDACXX=/usr/local/cuda/bin/nvcc
  fi
}

say_cuda_compiler() {
  local compiler
  compiler=$(sed -n 's/^CMAKE_CUDA_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
  case "$compiler" in
    "" | *NOTFOUND) say "no CUDA compiler: CPU backend only" ;;
    *) say "CUDA compiler: $compiler" ;;
  esac
}

# With ccache, clones and worktrees of one machine use each other's objects: paths count relative to
# the clone, and two options that depend on the machine change no object. A precompiled header would
# hide what a unit includes.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
export CCACHE_IGNOREOPTIONS="--param=ggc-min-heapsize=* -fmacro-prefix-map=*"
if command -v ccache >/dev/null; then
  caching=(CAROM_PRECOMPILE=OFF CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache)
else
  caching=(CAROM_PRECOMPILE=ON)
fi

# configure [CMAKE ARGUMENTS...]; what another script chose for the same folder is not kept.
configure() {
  run_quietly "Configuring" cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCAROM_DEMO=OFF -DCAROM_NATIVE_ONLY=OFF -DCAROM_INSTRUCTION_SETS=all -DCAROM_LIGHT=OFF -DCAROM_UNITY=OFF -DCAROM_CUDA_UNITY=OFF -DCAROM_REFERENCE=ON \
    "-DCMAKE_CUDA_FLAGS=${CUDAFLAGS:-}" "${caching[@]/#/-D}" "$@"
}

# prepare [CMAKE ARGUMENTS...]: from a bare machine to a configured build folder.
prepare() {
  install_missing
  find_cuda_compiler
  configure "$@"
  say_cuda_compiler
}

# build_targets WHAT [TARGETS...]
build_targets() {
  local what=$1
  shift
  if [ $# -gt 0 ]; then
    run_quietly "$what" cmake --build "$build" -j "$jobs" --target "$@"
  else
    run_quietly "$what" cmake --build "$build" -j "$jobs"
  fi
}
