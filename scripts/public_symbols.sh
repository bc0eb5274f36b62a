#!/usr/bin/env bash
# public_symbols.sh LIBRARY [--renew]: the functions that libcarom.a or libcarom.so defines of those that the
# public headers name, beside the list in cmake/public_symbols.txt. A function that is gone breaks who links the
# shared library; one that is new belongs to the list. --renew writes the list.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
library=${1:?usage: public_symbols.sh LIBRARY [--renew]}
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
elif ! diff "$list" "$found"; then
  echo "public_symbols: $library lacks (<) or adds (>) the names above; scripts/public_symbols.sh LIBRARY --renew writes the list" >&2
  exit 1
fi
echo "public_symbols: $(wc -l <"$found") names, those of the list"
