#!/usr/bin/env bash
# check_symbols.sh [BUILD_DIR]: fails where code compiled for one instruction set could run on a
# machine without it. The linker keeps one definition of a weak function, whichever object it came
# from, so an object of src/cpu/simd compiled for AVX2 or AVX-512 may define none that an object of
# another instruction set defines too. (Weak data are the same bytes in all of them.) Optimised
# builds only: without inlining the standard library's own templates are shared.
set -euo pipefail
build=${1:-${CAROM_BUILD_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build-release}}
mapfile -t objects < <(find "$build" -path '*/CMakeFiles/carom_*.dir/*' -name '*.o' | sort)
special=$(printf '%s\n' ${objects[@]+"${objects[@]}"} | grep -cE '_avx(2|512)\.cpp\.o$' || true)
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
    if (match(object, /_avx(2|512)\.cpp\.o$/)) {
      set = substr(object, RSTART + 1, RLENGTH - 7)
    }
    sub(/.*\.dir\//, "", object)
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
