#!/usr/bin/env bash
# Checks whether a change left all outputs of the command the same, bit for bit: every command on every
# built-in model, posture and scenario and on the problem files, JSON and HDF5, few samples, one
# thread. Times, rates, version and commit, which may differ between runs, are not compared.
#   golden.sh record FILE    writes one digest per run of the command
#   golden.sh compare FILE   runs everything again, names what differs, fails if anything does
# The digests depend on the machine's instruction set and compiler. $CAROM is the
# command, else the build folder's; $GOLDEN_KEEP is a folder that receives the texts behind the
# digests, for diff -r. HDF5 files are compared where h5dump is present.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
usage() {
  sed -n '2,10p' "${BASH_SOURCE[0]}" | sed 's/^# \{0,1\}//' >&2
  exit 2
}
[ $# = 2 ] || usage
mode=$1
file=$2
case $mode in
  record) ;;
  compare) [ -r "$file" ] || { echo "golden: cannot read $file" >&2; exit 2; } ;;
  *) usage ;;
esac
carom=${CAROM:-${CAROM_BUILD_DIR:-$root/build-release}/bin/carom}
carom=$(realpath -e "$carom") || { echo "golden: no command at $carom" >&2; exit 2; }
file=$(realpath -m "$file")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
texts=${GOLDEN_KEEP:-$work/texts}
mkdir -p "$texts"
texts=$(cd "$texts" && pwd)
if command -v h5dump >/dev/null; then hdf5=yes; else hdf5=; fi

# The problem files by relative paths, which some outputs repeat.
mkdir "$work/run"
cd "$work/run"
cp -r "$root/tests/data" data
cp -r "$root/examples/data" examples

timeless() {
  awk '
    /"(seconds|samples_per_second|lcps_per_second|world_steps_per_second|ratio)": \[/ { inside = 1 }
    !inside && !/"[a-z_]*(seconds|_per_second)":|"(ratio|version|commit|compiler|build_type)":/
    inside && /\]/ { inside = 0 }'
}
# Attributes and data sets by name; the values of those that differ between runs are left out.
dump_hdf5() {
  h5dump -m %.17g "$1" | awk '
    /(ATTRIBUTE|DATASET) "(created|commit|carom_version|seconds)"/ { skip = 1 }
    skip && /^ *\([0-9,]+\):/ { skip = 0; next }
    { print }'
}

runs=0
# run LABEL ARGUMENTS...: standard output, error and the exit status; HDF5 output where out.h5 is
# among the arguments.
run() {
  local label=$1 status=0
  shift
  "$carom" "$@" >out.txt 2>err.txt || status=$?
  {
    echo "carom $*"
    echo "exit status $status"
    timeless <out.txt
    sed 's/^/stderr: /' err.txt
    if [ -e out.h5 ] && [ -n "$hdf5" ]; then dump_hdf5 out.h5 | tail -n +2; fi
  } >"$texts/$label.txt"
  rm -f out.h5
  runs=$((runs + 1))
}
names() { "$carom" models | awk -v kind="$1" '/^For /{ on = index($0, kind) } /^[a-z_0-9]+  \(/ && on { print $1 }'; }
one="--threads 1 --json"

record_all() {
  local command name target method cones
  run models models
  run models-json models --json
  run info info --json
  for command in "" impact impact-models equilibrium step stability motion verify solve validate bench models info rerun; do
    run "help-$command" $command --help
  done

  for name in $(names "carom impact,"); do
    run "models-$name" models "$name" --json
    run "impact-$name" impact "$name" --samples 512 $one --output out.h5
    run "impact-$name-text" impact "$name" --samples 64 --threads 1 --quiet
    run "impact-$name-sobol" impact "$name" --samples 256 --sampler sobol $one
    run "impact-$name-lemke" impact "$name" --samples 256 --selection lemke $one
    run "impact-$name-random" impact "$name" --samples 16 --selection random $one
    run "impact-$name-float" impact "$name" --samples 64 --precision float $one
    run "impact-$name-reference" impact "$name" --samples 32 --backend reference $one
    run "impact-models-$name" impact-models "$name" --json
    run "validate-$name" validate "$name" --samples 16 $one
  done
  run bench-rocking_block bench rocking_block --samples 64 --repetitions 1 $one
  for target in block mixed; do
    run "impact-file-$target" impact "examples/$target.json" --samples 256 $one --output out.h5
  done

  for name in $(names "carom equilibrium"); do
    run "models-$name" models "$name" --json
    run "equilibrium-$name" equilibrium "$name" $one --output out.h5
    run "equilibrium-$name-reference" equilibrium "$name" --backend reference $one
    run "validate-$name" validate "$name" $one
    for method in pairs graphic line_sweep; do
      run "equilibrium-$name-$method" equilibrium "$name" --method $method $one
    done
    run "equilibrium-$name-robust" equilibrium "$name" --p=-0.2:0.2 --q=-0.05:0.1 $one --output out.h5
    for cones in inscribed circumscribed pair; do
      run "equilibrium-$name-$cones" equilibrium "$name" --cones $cones $one
    done
    run "equilibrium-$name-held" equilibrium "$name" --centre-of-mass=0.05,0.4 $one
    run "equilibrium-$name-held3" equilibrium "$name" --centre-of-mass=0.05,0.02,0.4 $one
  done

  for name in $(names "carom step"); do
    run "models-$name" models "$name" --json
    run "step-$name" step "$name" --steps 200 $one --output out.h5
    run "step-$name-grid" step "$name" --steps 50 --sweep dt=1e-4:1e-3:7:log $one --output out.h5
    run "step-$name-plain" step "$name" --steps 50 --no-centripetal $one
    run "step-$name-reference" step "$name" --steps 20 --backend reference $one
    run "validate-$name" validate "$name" $one
  done
  run step-random step inclined_block --steps 40 --worlds 33 --random friction=0:1 $one --output out.h5
  run step-file step examples/step.json $one --output out.h5
  run step-file-reference step examples/step.json --backend reference $one
  for method in auto interior_point active_set admm projected; do
    run "step-file-$method" step examples/step.json --law programme --method $method $one
  done

  for name in $(names "carom stability"); do
    run "models-$name" models "$name" --json
    run "stability-$name" stability "$name" --sweep d=0.08:1.18:12 $one --output out.h5
    run "stability-$name-simulate" stability "$name" --sweep d=0.1:1.1:5 --method simulate $one
    run "stability-$name-paper" stability "$name" --sweep d=0.1:1.1:5 --method paper $one
    run "validate-$name" validate "$name" $one
    run "stability-$name-reference" stability "$name" --sweep d=0.1:1.1:3 --backend reference $one
    run "stability-$name-motion" stability "$name" --impact 1:0.3,-1,0 --start 0,0,0,0.3,1,-0.4 $one
  done
  run stability-file stability examples/walker.json $one
  run refuse-stability stability figure2 --sweep d=0:1:2 --sweep d=0:1:2

  for name in $(names "carom motion"); do
    run "models-$name" models "$name" --json
    run "motion-$name" motion "$name" --samples 20 --events $one --output out.h5
    run "validate-$name" validate "$name" --samples 2 $one
  done
  run motion-restitution motion rocking_block_drop --samples 50 --restitution stronge --coefficient 0.5 $one
  run motion-net motion rocking_block_drop --samples 200 --duration 0.1 --epsilon 0.05 $one
  run motion-file motion examples/hopper.json --samples 4 --events $one
  run motion-space motion examples/tumbling_hammer.json --samples 4 --events $one
  run motion-shard motion block_toss --random width=0.5:1 --draws 3 --first-problem 5 --samples 4 $one
  run refuse-motion motion rocking_block_zeno --duration NaN

  for target in examples/lcp.json examples/friction.json data/*/*.json; do
    name=$(echo "$target" | tr / -)
    run "solve-$name" solve "$target" $one
    run "solve-$name-reference" solve "$target" --backend reference $one
  done
  run solve-text solve data/lcp/*.json --threads 1

  run sweep-impact impact box_wall --samples 64 --sweep friction=0.2:0.6:3 $one --output out.h5
  run random-impact impact examples/block.json --samples 64 --random friction=0:1 --draws 3 $one
  for name in two_contacts tripod_flat; do
    centre=0.1,0.1
    [ "$name" = two_contacts ] || centre=0.1,0.1,0.4
    run "sweep-$name" equilibrium "$name" --centre-of-mass $centre --sweep friction=0.05:1:9 $one --output out.h5
    run "critical-$name" equilibrium "$name" --centre-of-mass $centre --critical friction $one
  done
  run solve-batch solve examples/{lcp,lp,qp,socp,friction}.json $one --output out.h5

  # Refusals are outputs too.
  run refuse-model impact no_such_model
  run refuse-file solve examples/nothing.json
  run refuse-set impact rocking_block --set friction=-1
  run refuse-samples impact rocking_block --samples 0
  run refuse-cones equilibrium tripod_flat --cones octagon
  run refuse-sweep step inclined_block --sweep friction=1
}

start=$SECONDS
record_all
(cd "$texts" && sha256sum -- *.txt) | sed 's/\.txt$//' >"$work/digests"
if [ "$mode" = record ]; then
  cp "$work/digests" "$file"
  echo "golden: $runs runs recorded in $((SECONDS - start)) s"
  exit
fi
if changed=$(diff <(sort -k2 "$file") <(sort -k2 "$work/digests") | sed -n 's/^[<>] [0-9a-f]*  //p' | sort -u) &&
  [ -z "$changed" ]; then
  echo "golden: $runs runs, all as recorded, in $((SECONDS - start)) s"
else
  printf '%s\n' "$changed"
  echo "golden: the runs above differ ($(printf '%s\n' "$changed" | wc -l) of $runs)" >&2
  exit 1
fi
