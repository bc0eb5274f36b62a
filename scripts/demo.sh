#!/usr/bin/env bash
# Samples the post-impact sets of the paper's five examples, 2^20 trajectories each, on the best
# backend of this machine, and leaves pictures, HDF5 and JSON files in out/.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
models="rocking_block compass_gait box_wall ramone disk_stack"
out=$root/out

# Without a GPU the CUDA backend would be compiled for nothing.
cuda=OFF
if [ -e /dev/nvidiactl ] || command -v nvidia-smi >/dev/null; then cuda=AUTO; fi
prepare -DCAROM_CUDA=$cuda
build_targets "Building the command" carom_command
carom=$build/bin/carom
"$carom" info
mkdir -p "$out"

# A step of the two walkers has several solutions: drawing among all of them is what fills their sets.
selection() {
  case $1 in
    compass_gait | ramone) echo random ;;
    *) echo any ;;
  esac
}

say ""
for model in $models; do
  start=$SECONDS
  "$carom" impact "$model" --samples 2^20 --backend auto --selection "$(selection "$model")" --json \
    --output "$out/$model.h5" --plot "$out/$model.svg" >"$out/$model.json"
  say "$model: 2^20 trajectories sampled, certified, written and drawn in $((SECONDS - start)) s"
done

# One line per example from the keys of the command's JSON, the columns of the paper's Table 3 first.
table() {
  printf '%-14s %-9s %12s %12s %12s %10s %13s %9s %9s %9s\n' example selection LCPs/sample time/sample samples/s \
    residual 'energy ratio' outcomes 'net size' fallbacks
  for model in $models; do
    awk -v model="$model" -v selection="$(selection "$model")" '
      { gsub(/[",]/, "") }
      $1 == "mode_counts:" { inside = 1; next }
      inside && $1 == "}" { inside = 0 }
      inside { ++outcomes }
      /^  [a-z_]*:/ || $1 == "points:" { value[$1] = $2 }
      END {
        rate = value["samples_per_second:"]
        printf "%-14s %-9s %12.3f %9.2f us %12.0f %10.1e %13.6f %9d %9d %9d\n", model, selection,
          value["lcp_per_sample:"], 1e6 / rate, rate, value["max_residual:"],
          value["max_energy_ratio:"], outcomes, value["points:"], value["fallback_solves:"]
      }' "$out/$model.json"
  done
}
say ""
table | tee "$out/table.txt"

say ""
say "In $out:"
say "  <example>.svg   the sampled outcomes beside the simultaneous and sequential models"
say "  <example>.h5    the epsilon-net, kept samples and paths"
say "  <example>.json  the summary; table.txt holds the table above"
