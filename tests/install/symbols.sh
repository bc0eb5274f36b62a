#!/bin/sh
# symbols.sh LIBRARY: the shared library shows carom's names and no other, and has its version.
set -eu
shown=$(nm -DC --defined-only "$1")
if others=$(printf '%s\n' "$shown" | grep -vE 'carom::| T carom_[a-z_]+$'); then
  printf 'shown, and not of carom:\n%s\n' "$others" >&2
  exit 1
fi
for name in 'carom::sample_impacts(' 'typeinfo for carom::InvalidInput' ' T carom_run'; do
  printf '%s\n' "$shown" | grep -qF "$name" || { echo "$1 does not show $name" >&2 && exit 1; }
done
readelf -d "$1" | grep -q 'SONAME.*libcarom\.so\.[0-9]*\.[0-9]*\]' || { echo "$1 has no version" >&2 && exit 1; }
