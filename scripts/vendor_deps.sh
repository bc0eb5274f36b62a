#!/usr/bin/env bash
# Fills .deps/ with what the build needs beyond a compiler and CMake, for a machine without network:
# headers from this machine's packages, sources of TBB, GoogleTest and Google Benchmark from the
# distribution. Nothing is installed and no package list of this machine is changed.
# HDF5 is not carried: configure there with -DCAROM_HDF5=OFF.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
deps=${CAROM_DEPS_DIR:-$root/.deps}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$deps"

# header_tree NAME PROBE: copies the folder of PROBE's headers from the compiler's search path.
header_tree() {
  local name=$1 probe=$2 base
  for base in ${3:-} /usr/local/include /usr/include; do
    if [ -f "$base/$probe" ]; then
      rm -rf "${deps:?}/$name"
      mkdir -p "$deps/$name"
      cp -RL "$base/${probe%%/*}" "$deps/$name/"
      say "$name: headers from $base"
      return
    fi
  done
  die "$name: $probe is not on this machine; scripts/test.sh installs the packages"
}

# Boost is large: only what sobol.hpp includes, and the configuration of every compiler.
boost_headers() {
  rm -rf "${deps:?}/boost"
  mkdir -p "$deps/boost"
  printf '#include <boost/%s.hpp>\n' random/sobol multiprecision/cpp_int multiprecision/cpp_bin_float |
    ${CXX:-c++} -std=c++20 -x c++ -M - | tr ' \\' '\n\n' | grep '/boost/' |
    sed 's|^\(.*\)/boost/|\1 boost/|' >"$work/boost"
  local base
  base=$(head -n 1 "$work/boost" | cut -d ' ' -f 1)
  [ -n "$base" ] || die "boost: boost/random/sobol.hpp is not on this machine (libboost-dev)"
  cut -d ' ' -f 2 "$work/boost" | (cd "$base" && xargs cp -L --parents -t "$deps/boost")
  (cd "$base" && cp -RL --parents boost/config boost/predef boost/mpl/aux_ -t "$deps/boost")
  say "boost: $(find "$deps/boost" -type f | wc -l) headers from $base"
}

# Package lists of the distribution's sources, in a folder of our own.
source_lists() {
  [ -d "$work/lists" ] && return
  local components="main" url codename
  . /etc/os-release
  codename=$VERSION_CODENAME
  [ "$ID" = ubuntu ] && components="main universe"
  # The archive that this machine installs from.
  url=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)
  [ -n "$url" ] || die "apt-get knows no package archive: run apt-get update"
  mkdir -p "$work/lists/partial" "$work/cache"
  echo "deb-src $url $codename $components" >"$work/sources.list"
  apt_options=(-o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=-
    -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root)
  run_quietly "Lists of source packages" apt-get "${apt_options[@]}" update -q
}

# source_tree NAME PACKAGE: the upstream source of a distribution's source package.
source_tree() {
  local name=$1 package=$2 archive
  source_lists
  mkdir -p "$work/$package"
  (cd "$work/$package" &&
    run_quietly "$name: source package $package" \
      apt-get "${apt_options[@]}" source --download-only -q "$package")
  archive=$(find "$work/$package" -name '*.orig.tar.*' ! -name '*.asc' | head -n 1)
  [ -n "$archive" ] || die "$name: $package has no source archive"
  rm -rf "${deps:?}/$name"
  mkdir -p "$deps/$name"
  tar -xf "$archive" -C "$deps/$name" --strip-components=1
}

header_tree eigen Eigen/Core /usr/include/eigen3
header_tree random123 Random123/philox.h
header_tree cli11 CLI/CLI.hpp
header_tree nlohmann_json nlohmann/json.hpp
header_tree fmt fmt/format.h
boost_headers
source_tree tbb onetbb
rm -rf "$deps"/tbb/{doc,examples,test,python,rfcs}
if [ -f /usr/src/googletest/CMakeLists.txt ]; then
  rm -rf "$deps/googletest"
  cp -RL /usr/src/googletest "$deps/googletest"
  say "googletest: from /usr/src"
else
  source_tree googletest googletest
fi
source_tree benchmark benchmark
say "$(du -sh "$deps" | cut -f 1) in $deps"
