#!/usr/bin/env bash
# check_symbols.sh [BUILD_DIR]: fails if code compiled for one instruction set could run on a
# machine without it. The linker keeps one definition of a weak function, from any object, so
# objects for AVX2 and AVX-512 (CMake's list carom_simd_rooms) must not define one that another
# target's object also defines. (Weak data are the same bytes in all of them.) Optimised
# builds only: without inlining, templates of the standard library are shared.
set -euo pipefail
build=${1:-${CAROM_BUILD_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build-release}}
# Those of this build's rooms that were compiled, not what an earlier one left in the folder.
mapfile -t objects < <(
  cd "$build"
  grep -oE ' -o [^ ]+\.o ' compile_commands.json | sed -E 's/^ -o | $//g' | sort -u |
    grep -E '(^|/)CMakeFiles/carom_[^/]+\.dir/' | while read -r object; do
    if [ -f "$object" ]; then realpath "$object"; fi
  done)
special=$(printf '%s\n' ${objects[@]+"${objects[@]}"} | grep -cE '/carom_([a-z]+_)?simd_avx(2|512)\.dir/' || true)
if [ "$special" = 0 ]; then
  echo "check_symbols: no object of an instruction set of its own in $build" >&2
  exit 2
fi

nm -A --defined-only "${objects[@]}" | awk '
  {
    at = index($0, ".o:")
    object = substr($0, 1, at + 1)
    n = split(substr($0, at + 3), part, " ")
    kind = part[n - 1]
    symbol = part[n]
    if (kind !~ /[TW]/) next
    set = "plain"
    if (match(object, /simd_avx(2|512)\.dir\//)) set = substr(object, RSTART + 5, RLENGTH - 10)
    sub(/.*\/CMakeFiles\//, "", object)
    if (kind == "W" && set != "plain") leaks[symbol] = 1
    if (!(symbol SUBSEP set in seen)) {
      seen[symbol, set] = object
      sets[symbol] = sets[symbol] " " set
    }
  }
  END {
    for (symbol in leaks) {
      if (split(sets[symbol], of, " ") < 2) continue
      ++found
      printf "%s\n", symbol
      for (i = 1; i in of; ++i) printf "  %-7s %s\n", of[i], seen[symbol, of[i]]
    }
    if (found) exit 1
  }' | c++filt && {
  echo "check_symbols: $special objects of their own instruction sets, nothing shared"
  exit 0
}
echo "check_symbols: the symbols above are shared between instruction sets" >&2
exit 1
