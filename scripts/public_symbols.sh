#!/usr/bin/env bash
# public_symbols.sh LIBRARY [--strict|--renew]: compares the public functions that libcarom.a or libcarom.so
# defines with the list in cmake/public_symbols.txt. A missing function breaks programs that link the
# shared library. A new one is reported; a release needs it in the list (--strict). --renew writes the list.
set -euo pipefail
export LC_ALL=C
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
library=${1:?usage: public_symbols.sh LIBRARY [--strict|--renew]}
list=$root/cmake/public_symbols.txt
found=$(mktemp)
trap 'rm -f "$found"' EXIT
words=$(cat "$root"/include/carom/*.h "$root"/include/carom/*.hpp "$root"/include/carom/types/*.hpp | grep -oE '[A-Za-z_][A-Za-z0-9_]+' | sort -u)
flags=-gC
[[ $library == *.so* ]] && flags=-DC
# A name of namespace carom itself, or of a struct of it; rooms have namespaces of their own.
nm "$flags" --defined-only "$library" 2>/dev/null |
  sed -nE 's/^[0-9a-f]+ [TDBR] (carom::.*|carom_[a-z_0-9]+)$/\1/p' | sort -u |
  awk -v words="$words" '
    BEGIN { n = split(words, each, "\n"); for (i = 1; i <= n; ++i) known[each[i]] = 1 }
    {
      name = $0
      sub(/\(.*/, "", name)
      sub(/\[abi:cxx11\]/, "", name)
      parts = split(name, part, "::")
      for (i = 2; i <= parts; ++i) if (!(part[i] in known) && part[i] !~ /^~/) next
      if (parts > 2 && part[2] ~ /^[a-z]/) next
      print
    }' >"$found"
[ -s "$found" ] || { echo "public_symbols: none in $library" >&2 && exit 2; }
if [ "${2:-}" = --renew ]; then
  cp "$found" "$list"
else
  lost=$(comm -23 "$list" "$found")
  new=$(comm -13 "$list" "$found")
  [ -z "$new" ] || printf 'not in the list: %s\n' "${new//$'\n'/$'\n'not in the list: }"
  if [ -n "$lost" ] || { [ "${2:-}" = --strict ] && [ -n "$new" ]; }; then
    printf 'public_symbols: %s lacks\n%s\n--renew writes the list\n' "$library" "${lost:-nothing, but has more}" >&2
    exit 1
  fi
fi
echo "public_symbols: $(wc -l <"$list") names of the list"
