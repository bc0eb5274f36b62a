#!/usr/bin/env bash
# Runs clang-tidy over the host sources, or over the files given, with the build folder's commands.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
command -v clang-tidy >/dev/null || die "clang-tidy is missing (package clang-tidy)"
[ -f "$build/compile_commands.json" ] || prepare
cd "$root"
files=("$@")
[ ${#files[@]} -gt 0 ] || mapfile -t files < <(find src examples -name '*.cpp' | sort)
# not_compiled.cpp and the real CUDA backend exclude one another
known=()
for file in "${files[@]}"; do
  if grep -qF "$(realpath "$file")\"" "$build/compile_commands.json"; then known+=("$file"); fi
done
printf '%s\0' "${known[@]}" |
  xargs -0 -r -n 4 -P "$jobs" clang-tidy -p "$build" --quiet --warnings-as-errors='*'
