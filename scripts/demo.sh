#!/usr/bin/env bash
# Samples the post-impact sets of the paper's five examples, 2^20 trajectories each, on the best
# backend of this machine, then shows two other families: equilibrium regions of postures,
# and worlds with compliant contacts. Pictures, HDF5 and JSON files are written to out/.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
build=${CAROM_BUILD_DIR:-$root/build-demo}
models="rocking_block compass_gait box_wall ramone disk_stack"
out=$root/out

# Builds only what it runs: docs/explanation/decisions/0011-build-time.md.
prepare -DCAROM_DEMO=ON "-DCAROM_CUDA=$(cuda_if_gpu)" -DCAROM_NATIVE_ONLY=ON -DCAROM_REFERENCE=OFF -DCAROM_UNITY=ON \
  -DCAROM_BUILD_TESTS=OFF -DCAROM_BUILD_EXAMPLES=OFF
build_targets "Building what the demo shows" carom_command
carom=$build/bin/carom
"$carom" info
mkdir -p "$out"

say ""
for model in $models; do
  start=$SECONDS
  "$carom" impact "$model" --samples 2^20 --backend auto --json \
    --output "$out/$model.h5" --plot "$out/$model.svg" >"$out/$model.json"
  say "$model: 2^20 trajectories sampled, certified, written and drawn in $((SECONDS - start)) s"
done

# One line per example from the keys of the command's JSON, the columns of the paper's Table 3 first.
table() {
  printf '%-14s %12s %12s %12s %10s %13s %9s %9s %9s\n' example LCPs/sample time/sample samples/s \
    residual 'energy ratio' outcomes 'net size' fallbacks
  for model in $models; do
    awk -v model="$model" '
      { gsub(/[",]/, "") }
      $1 == "mode_counts:" { inside = 1; next }
      inside && $1 == "}" { inside = 0 }
      inside { ++outcomes }
      /^  [a-z_]*:/ || $1 == "points:" { value[$1] = $2 }
      END {
        rate = value["samples_per_second:"]
        printf "%-14s %12.3f %9.2f us %12.0f %10.1e %13.6f %9d %9d %9d\n", model,
          value["lcp_per_sample:"], 1e6 / rate, rate, value["max_residual:"],
          value["max_energy_ratio:"], outcomes, value["points:"], value["fallback_solves:"]
      }' "$out/$model.json"
  done
}
say ""
table | tee "$out/table.txt"

say ""
say "Where can the centre of mass be?"
for posture in two_contacts six_contacts biped_patches tripod_steep climbing_four; do
  "$carom" equilibrium "$posture" --plot "$out/$posture.svg" --output "$out/$posture.h5" | sed -n 1,4p
done

say ""
say "Compliant worlds"
"$carom" step inclined_block --sweep friction=0:0.375:4 --plot "$out/inclined_block.svg" | sed -n 1,9p
"$carom" step compliant_block_impact --sweep stiffness_ratio=1e-5:1e5:51:log \
  --plot "$out/compliant_block_impact.svg" --output "$out/compliant_block_impact.h5" --quiet

say ""
say "In $out:"
say "  <example>.svg   the sampled outcomes with the simultaneous and sequential models"
say "  <example>.h5    the epsilon-net, kept samples and paths"
say "  <example>.json  the summary; table.txt holds the table above"
say "  <posture>.svg   contacts, friction cones and the region; inclined_block.svg, and"
say "  compliant_block_impact.svg: compliant outcomes over the sampled set of the rocking block"
say "Everything else carom can do: ./scripts/build.sh, then build-release/bin/carom --help"
