#!/usr/bin/env bash
# Formats all C++ and CUDA sources; with --check, says which differ and fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tool=${CLANG_FORMAT:-$(command -v clang-format-14 || command -v clang-format)} || {
  echo "clang-format is missing (package clang-format)" >&2
  exit 1
}
mode=(-i)
case "${1:-}" in
  "") ;;
  --check) mode=(--dry-run -Werror) ;;
  *)
    echo "usage: $0 [--check]" >&2
    exit 2
    ;;
esac
find include src tests bench examples python/src -type f \
  \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0 |
  xargs -0 -r -n 100 -P "$(nproc)" "$tool" "${mode[@]}"
