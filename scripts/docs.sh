#!/usr/bin/env bash
# Builds the site into build-docs/html, gallery included, warnings as errors, and checks its links (and its pages,
# where there are playwright and a Chromium). From a clean clone it builds the command and the Python package first. CAROM_PYTHON: a Python that has the package and
# docs/requirements.txt; CAROM: the command. With both set, nothing is built first.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

site=$root/build-docs
mkdir -p "$site"
command -v doxygen >/dev/null || {
  command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] || die "doxygen is missing: install it"
  run_quietly "Package lists" apt-get update -q
  run_quietly "doxygen" apt-get install -qy --no-install-recommends doxygen
}

if [ -z "${CAROM:-}" ]; then
  prepare -DCAROM_CUDA=OFF -DCAROM_UNITY=ON -DCAROM_BUILD_TESTS=OFF -DCAROM_BUILD_EXAMPLES=OFF
  build_targets "Building library and command"
  CAROM=$build/bin/carom
fi
if [ -z "${CAROM_PYTHON:-}" ]; then
  python3 -m venv "$site/venv"
  CAROM_PYTHON=$site/venv/bin/python
  run_quietly "Packages for the site" "$CAROM_PYTHON" -m pip install --disable-pip-version-check \
    -r "$root/docs/requirements.txt"
  run_quietly "carom for Python" "$CAROM_PYTHON" -m pip install --disable-pip-version-check \
    "$root/python"
fi

# A header and the structs that it includes from types/ are one page: Breathe tells files by name only.
rm -rf "$site/include"
(cd "$root/include" && find carom -name '*.hpp' ! -path 'carom/types/*') | while read -r header; do
  mkdir -p "$site/include/$(dirname "$header")"
  structs=carom/types/${header#carom/}
  awk -v structs="$root/include/$structs" -v line="#include <$structs>" '
    $0 == line { while ((getline text < structs) > 0) if (text != "#pragma once") print text; next }
    { print }' "$root/include/$header" >"$site/include/$header"
done
{
  printf 'PROJECT_NAME = carom\nINPUT = %s\nRECURSIVE = YES\n' "$site/include/carom"
  printf 'OUTPUT_DIRECTORY = %s\nSTRIP_FROM_PATH = %s\n' "$site/doxygen" "$site"
  printf 'GENERATE_HTML = NO\nGENERATE_LATEX = NO\nGENERATE_XML = YES\nXML_PROGRAMLISTING = NO\n'
  printf 'QUIET = YES\nWARN_IF_UNDOCUMENTED = NO\nWARNINGS = NO\nEXTRACT_ALL = YES\n'
  printf 'MACRO_EXPANSION = YES\nEXPAND_ONLY_PREDEF = YES\n'
  printf 'PREDEFINED = CAROM_INLINE=inline CAROM_HOST_DEVICE=\n'
  printf 'EXCLUDE = %s\nINPUT_FILTER = %s\n' "$root/include/carom/types" "$root/scripts/docs_header.sh"
} >"$site/Doxyfile"
mkdir -p "$site/doxygen"
run_quietly "doxygen" doxygen "$site/Doxyfile"

start=$SECONDS
MPLBACKEND=agg CAROM=$CAROM CAROM_DOXYGEN=$site/doxygen/xml "$CAROM_PYTHON" -m sphinx -W --keep-going \
  -q -j "$jobs" -b html "$root/docs" "$site/html"
"$CAROM_PYTHON" "$root/scripts/check_site.py" "$site/html"
say "Site: $site/html in $((SECONDS - start)) s"
