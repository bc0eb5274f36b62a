#!/usr/bin/env bash
# compare_commits.sh OLD [NEW] [--filter REGEX] [--limit SHARE]: builds carom_bench of two commits (NEW: HEAD), runs
# both in turn on this machine and fails where carom became slower by more than 5 % (bench/history.py).
# Builds lie in build-compare/COMMIT/build and are used again. With ccache they are as warm as any other build with CAROM_UNITY.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
filter=. limit=0.05 commits=()
while [ $# -gt 0 ]; do
  case "$1" in
    --filter) filter=$2 && shift ;;
    --limit) limit=$2 && shift ;;
    -*) die "usage: compare_commits.sh OLD [NEW] [--filter REGEX] [--limit SHARE]" ;;
    *) commits+=("$1") ;;
  esac
  shift
done
[ ${#commits[@]} -ge 1 ] || die "usage: compare_commits.sh OLD [NEW] [--filter REGEX] [--limit SHARE]"
old=$(git -C "$root" rev-parse --short "${commits[0]}^{commit}")
new=$(git -C "$root" rev-parse --short "${commits[1]:-HEAD}^{commit}")
top=${CAROM_BUILD_DIR:-$root/build-compare}
libraries="$libraries libbenchmark-dev"
install_missing
for commit in "$old" "$new"; do
  build=$top/$commit/build
  if [ ! -x "$build/bin/carom_bench" ]; then
    mkdir -p "$build"
    git -C "$root" archive "$commit" | tar -x -C "$top/$commit"
    root=$top/$commit configure -DCAROM_CUDA=OFF -DCAROM_BUILD_BENCHMARKS=ON -DCAROM_BUILD_TESTS=OFF \
      -DCAROM_BUILD_EXAMPLES=OFF -DCAROM_BUILD_CLI=OFF -DCAROM_UNITY=ON
    build_targets "Building $commit" carom_bench
  fi
done
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
for turn in 1 2 3; do
  for commit in "$old" "$new"; do
    run_quietly "$commit, turn $turn" "$top/$commit/build/bin/carom_bench" --benchmark_filter="($filter).*/carom" \
      --benchmark_min_time=0.1 --benchmark_repetitions=3 --benchmark_enable_random_interleaving=true \
      --benchmark_out="$top/$commit/build/$turn.raw" --benchmark_out_format=json
    python3 "$root/bench/compact.py" "$top/$commit/build/$turn.raw" "$top/$commit/build/$turn.json"
  done
done
for commit in "$old" "$new"; do
  python3 - "$top/$commit/build" <<'END'
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
turns = [json.loads((folder / f"{turn}.json").read_text()) for turn in (1, 2, 3)]
for entry in turns[0]["benchmarks"]:  # the repetitions of all turns
    for other in turns[1:]:
        entry["cpu_time"] += next(e["cpu_time"] for e in other["benchmarks"] if e["name"] == entry["name"])
(folder / "all.json").write_text(json.dumps(turns[0]))
END
done
python3 "$root/bench/history.py" compare "$top/$old/build/all.json" "$top/$new/build/all.json" --limit "$limit"
