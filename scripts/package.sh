#!/usr/bin/env bash
# package.sh deb [CMAKE ARGUMENTS...]   builds libcarom0.1, libcarom-dev, carom and python3-carom into $CAROM_BUILD_DIR/packages
# package.sh check                      as root: makes a clean Debian of this release by debootstrap, installs
#                                       the packages there, runs the command, man and Python, completes a
#                                       word, compiles consumers by CMake and by pkg-config, removes
#                                       the packages and compares the files with those before
# python3-carom is for /usr/bin/python3 and needs python3-dev and python3-venv; without them it is left out.
# Maintainer: DEBFULLNAME and DEBEMAIL, else the last commit's author.
# CAROM_ROOT: a root that debootstrap made already; it is changed.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
build=${CAROM_BUILD_DIR:-$root/build-package}
out=$build/packages

make_packages() {
  local name=${DEBFULLNAME:-$(git -C "$root" log -1 --format=%an)}
  local address=${DEBEMAIL:-$(git -C "$root" log -1 --format=%ae)}
  export SOURCE_DATE_EPOCH
  SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
  prepare -DBUILD_SHARED_LIBS=ON -DCMAKE_SKIP_INSTALL_RPATH=ON -DCAROM_PACKAGE_PYTHON= -DCAROM_CUDA=OFF -DCAROM_BUILD_TESTS=OFF -DCAROM_BUILD_EXAMPLES=OFF -DCAROM_UNITY=ON \
    -DCMAKE_INSTALL_PREFIX=/usr "-DCMAKE_INSTALL_LIBDIR=lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)" \
    "-DCAROM_PACKAGE_MAINTAINER=$name <$address>" "$@"
  build_targets "Building" carom carom_manual
  stage_python
  rm -rf "$out"
  run_quietly "Packing" cpack --config "$build/CPackConfig.cmake" -B "$out"
  rm -rf "$out/_CPack_Packages"
  ls "$out"/*.deb
  if command -v lintian >/dev/null; then
    lintian --fail-on error --tag-display-limit 0 "$out"/*.deb
    say "lintian: no errors"
  else
    say "lintian is missing: not judged by it"
  fi
}

# The Python package, in $build/python-stage. nanobind is in the module: Debian has no package of its backend.
stage_python() {
  local python=/usr/bin/python3 stage=$build/python-stage library=$build/stage launcher=()
  "$python" -c 'import ensurepip, os, sysconfig as s, sys, venv
sys.exit(not os.path.exists(os.path.join(s.get_paths()["include"], "Python.h")))' 2>/dev/null ||
    { say "python3-carom is left out: no Python.h or venv of $python" && return; }
  command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  [ -d "$build/venv" ] || "$python" -m venv "$build/venv"
  run_quietly "nanobind" "$build/venv/bin/pip" install -q "nanobind>=3.1"
  rm -rf "$stage" "$library"
  run_quietly "Library for Python" cmake --install "$build" --prefix "$library"
  run_quietly "Configuring python3-carom" cmake -S "$root/python" -B "$build/python" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCAROM_PYTHON_ALONE=ON "-DPython_EXECUTABLE=$python" "${launcher[@]}" -DCMAKE_SKIP_INSTALL_RPATH=ON \
    "-Dnanobind_DIR=$("$build/venv/bin/python" -m nanobind --cmake_dir)" \
    "-Dcarom_DIR=$(dirname "$(find "$library" -name carom-config.cmake)")"
  run_quietly "Building python3-carom" cmake --build "$build/python" -j "$jobs"
  cmake --install "$build/python" --prefix "$stage" --component python >/dev/null
  cp "$root"/python/carom/*.py "$root"/python/carom/*.pyi "$root/python/carom/py.typed" "$stage/carom"
  run_quietly "Configuring packages" cmake "-DCAROM_PACKAGE_PYTHON=$stage" "$build"
}

files_of() { (cd "$1" && find usr etc -type f -o -type l | grep -vE '\.pyc$|^etc/ld.so.cache$' | sort); }

check_packages() {
  local clean=${CAROM_ROOT:-} release simulated remove=:
  compgen -G "$out/*.deb" >/dev/null || die "No packages in $out: package.sh deb makes them"
  [ "$(id -u)" = 0 ] || die "package.sh check needs root, for chroot"
  if [ -z "$clean" ]; then
    command -v debootstrap >/dev/null || die "debootstrap is missing"
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    clean=$(mktemp -d)
    remove="rm -rf --one-file-system '$clean'"
    # shellcheck disable=SC2064
    trap "$remove" EXIT
    run_quietly "Clean root" debootstrap --variant=minbase "$release" "$clean"
  fi
  mount -t proc proc "$clean/proc"  # for /dev/fd
  # shellcheck disable=SC2064
  trap "umount '$clean/proc' && $remove" EXIT
  inside() { chroot "$clean" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
  cp /etc/resolv.conf "$clean/etc/resolv.conf"
  # Some roots leave out manual pages and locales.
  run_quietly "Tools for the check" inside sh -c 'apt-get update -q && apt-get install -qy --no-install-recommends g++ cmake make pkg-config man-db bash-completion libtbb-dev'
  mkdir -p "$clean/tmp/packages" "$clean/tmp/install"
  cp "$out"/*.deb "$clean/tmp/packages"
  cp -r "$root"/tests/install/{consumer,makefile_consumer} "$clean/tmp/install"
  files_of "$clean" >"$out/before"
  simulated=$(inside sh -c 'apt-get install -sqy --no-install-recommends /tmp/packages/*.deb' | grep ^Inst)
  say "$simulated" | sed 's/^/  /'
  run_quietly "Installing" inside sh -c 'apt-get install -qy --no-install-recommends /tmp/packages/*.deb'
  say "$(inside carom --version)"
  inside carom impact rocking_block --samples 1000 --seed 1 --json >"$out/answer.json"
  grep -q '"terminated": 1000' "$out/answer.json" || die "carom impact: not all samples terminated"
  inside sh -c 'MANWIDTH=80 man carom-impact | grep -q -- "--friction-directions K"' || die "man carom-impact: no page"
  # shellcheck disable=SC2016
  [ "$(inside bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader carom
    COMP_WORDS=(carom impact rocking_b) COMP_CWORD=2; _carom; echo "${COMPREPLY[*]}"')" = rocking_block ] ||
    die "bash completes nothing"
  if compgen -G "$out/python3-carom_*.deb" >/dev/null; then
    inside python3 -c 'import carom
assert carom.check(verbose=False) and carom.impact.sample("rocking_block", samples=64).status.tolist() == [0]'
    say "python3-carom: solves a problem of each family"
  fi
  run_quietly "Consumer by CMake" inside sh -c 'cd /tmp/install && cmake -S consumer -B cmake -DCMAKE_PREFIX_PATH=/usr && cmake --build cmake && cmake/consumer'
  run_quietly "Consumer by pkg-config" inside make -C /tmp/install/makefile_consumer run
  run_quietly "Removing" inside sh -c 'apt-get purge -qy $(dpkg-query -W -f="\${Package} " "*carom*") && apt-get autoremove -qy --purge'
  files_of "$clean" >"$out/after"
  diff "$out/before" "$out/after" || die "The packages left (>) or took (<) the files above"
  say "Installed, used, compiled against and removed without a rest"
}

case "${1:-}" in
  deb) shift && make_packages "$@" ;;
  check) check_packages ;;
  *) die "usage: package.sh deb [CMAKE ARGUMENTS...] | check" ;;
esac
