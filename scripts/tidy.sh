#!/usr/bin/env bash
# Runs clang-tidy over the host sources, over the files given, or with --changed over those that the
# last commit touched (the short form, for CI).
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
build=${CAROM_BUILD_DIR:-$root/build-tidy}
command -v clang-tidy >/dev/null || die "clang-tidy is missing (package clang-tidy)"
# Without unity builds: each file has its own compile command.
[ -f "$build/compile_commands.json" ] || prepare -DCAROM_CUDA=OFF -DCAROM_BUILD_TESTS=OFF
cd "$root"
files=("$@")
if [ "${1:-}" = --changed ]; then
  mapfile -t files < <(git diff --name-only --diff-filter=d HEAD~1 -- 'src/*.cpp' 'examples/*.cpp' | head -n 12)
  [ ${#files[@]} -gt 0 ] || { say "clang-tidy: the last commit touched no host source"; exit 0; }
fi
[ ${#files[@]} -gt 0 ] || mapfile -t files < <(find src examples -name '*.cpp' | sort)
# not_compiled.cpp and the real CUDA backend exclude one another
known=()
for file in "${files[@]}"; do
  if grep -qF "$(realpath "$file")\"" "$build/compile_commands.json"; then known+=("$file"); fi
done
[ ${#known[@]} -gt 0 ] || { say "clang-tidy: none of these is compiled here"; exit 0; }
printf '%s\0' "${known[@]}" |
  xargs -0 -r -n 4 -P "$jobs" clang-tidy -p "$build" --quiet --warnings-as-errors='*' 2>/dev/null
say "clang-tidy: ${#known[@]} files clean"
