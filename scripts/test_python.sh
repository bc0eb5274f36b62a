#!/usr/bin/env bash
# Builds the wheel of python/ against the library of a build folder, installs it in a fresh virtual
# environment and runs its tests there. The last line is the totals; "skipped: ..." and nothing
# else where Python, its headers or the packages that pip would fetch are missing.
#   test_python.sh --environment    makes only that environment, which the next run then uses
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

skip() {
  say "Python: skipped: $*"
  exit 0
}

python=${PYTHON:-$(command -v python3)} || skip "there is no python3"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || skip "Python 3.10 is needed"
"$python" -c 'import ensurepip, venv' 2>/dev/null || skip "no venv (package python3-venv)"
"$python" -c 'import os, sysconfig as s, sys
sys.exit(not os.path.exists(os.path.join(s.get_paths()["include"], "Python.h")))' ||
  skip "no Python.h (package python3-dev)"

work=$build/python
venv=$work/venv
pip=("$venv/bin/python" -m pip --disable-pip-version-check --quiet)
if [ ! -e "$work/ready" ]; then
  rm -rf "$work"
  mkdir -p "$work"
  "$python" -m venv "$venv"
  fetch=("${pip[@]}" install --no-compile)
  "${fetch[@]}" "scikit-build-core>=1.1" "nanobind>=3.1" "nanobind-backend>=1.0" "numpy>=1.26" \
    pytest pytest-xdist h5py matplotlib 2>"$work/pip.log" ||
    skip "pip cannot install what is needed: $(tail -n 1 "$work/pip.log")"
  # What some tests compare with, where it can be had in a few megabytes.
  "${fetch[@]}" pandas xarray mujoco pyarrow zarr fsspec mypy 2>/dev/null || true
  "${fetch[@]}" pycddlib-standalone 2>/dev/null || true
  "${fetch[@]}" scipy 2>/dev/null || true
  # Only files of robots, a few megabytes: what else they would install is not needed.
  "${fetch[@]}" --no-deps playground gymnasium 2>/dev/null || true
fi
if [ "${1:-}" = --environment ]; then
  touch "$work/ready"
  exit
fi
rm -f "$work/ready"

run_quietly "Library for Python" cmake --install "$build" --prefix "$work/installed"
config=$(dirname "$(find "$work/installed" -name carom-config.cmake)")
run_quietly "Wheel" "${pip[@]}" wheel --no-build-isolation --no-deps "$root/python" -w "$work" \
  --config-settings "build-dir=$work/build" --config-settings cmake.source-dir=. \
  --config-settings cmake.define.CAROM_UNITY=ON "${caching[@]/#/--config-settings=cmake.define.}" \
  --config-settings "cmake.define.carom_DIR=$config"  # pip 23.0 has no -C
run_quietly "Installing the wheel" "${pip[@]}" install --no-deps "$work"/carom-*.whl

start=$SECONDS
set +e
# As many processes as cores already: threads of NumPy's BLAS would only wait for each other.
(cd "$work" && CAROM=$build/bin/carom OPENBLAS_NUM_THREADS=1 "$venv/bin/python" -m pytest -q -n "$jobs" -p no:cacheprovider \
  --junitxml="$work/report.xml" "$root/python/tests") >"$work/tests.log" 2>&1
status=$?
set -e
[ $status = 0 ] || tail -n 60 "$work/tests.log"
say "Python tests: done in $((SECONDS - start)) s"
[ -s "$work/report.xml" ] || die "pytest wrote no report"
"$venv/bin/python" - "$work/report.xml" <<'END'
import sys
import xml.etree.ElementTree as tree

suite = tree.parse(sys.argv[1]).getroot().find("testsuite")
total, failed, skipped = (
    int(suite.get("tests")), int(suite.get("failures")) + int(suite.get("errors")),
    int(suite.get("skipped")),
)
print(f"Python: {total - failed - skipped} passed, {failed} failed, {skipped} skipped")
END
exit $status
