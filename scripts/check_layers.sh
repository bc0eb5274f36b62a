#!/usr/bin/env bash
# Includes between the layers go one way (docs/explanation/architecture.md):
#   cli, python > io > run > analysis, enclosure > api > cpu, cuda, reference > families > core > types
# Reads the #include lines of include/, src/ and python/src/, and of the folders of these names in
# tests/toy_family; prints every include of a higher layer or of another backend, and fails on
# any. A public header that declares functions belongs to api, so that the layers below it include
# only carom/types/, carom/device/ and certificates. Fails also if a thread index, shuffle,
# barrier or atomic operation of CUDA is used outside src/cuda/lanes.cuh, or if a public header
# includes anything but the standard library and other public headers, because users have
# nothing else. #include lines do not show calls: scripts/check_linker.sh reads the objects.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The layer of a path: the first pattern that matches.
rooms='
^python/src/                                                                   python
^src/(cli|io|run|analysis|enclosure|api|reference|cpu|cuda|core)/             =
^src/models/[a-z_]+\.                                                         models
^src/(programs|impact|equilibrium|compliant|motion|stability|models)/         families
^include/carom/(types/|device/|certificate|equilibrium_certificate)           types
^include/carom/                                                               public
'

toy=tests/toy_family
files=$(git ls-files {,$toy/}{include/,src/}'*'{.hpp,.cpp,.cu,.cuh} 'python/src/*')

# gridDim and blockDim are also members of a launch's configuration (src/cuda/launch.cuh).
threads='\b(threadIdx|blockIdx|warpSize)\b|(^|[^.])\b(gridDim|blockDim)\b|\b__shared__\b'
threads+='|\b__(shfl|syncthreads|syncwarp|ballot|any|all|activemask|match|reduce|threadfence)(_|\b)'
threads+='|\batomic[A-Z][A-Za-z]*\(|\bcooperative_groups\b'
# shellcheck disable=SC2086
if grep -nE "$threads" ${files/src\/cuda\/lanes.cuh/}; then
  echo "check_layers: the lines above belong into src/cuda/lanes.cuh" >&2
  exit 1
fi

if git ls-files {,$toy/}'include/*.hpp' | xargs grep -nE '^[[:space:]]*#[[:space:]]*include' |
  grep -vE 'include <(carom/[a-z_/0-9]+\.hpp|[a-z_]+)>$'; then
  echo "check_layers: public headers include the standard library and each other" >&2
  exit 1
fi

# shellcheck disable=SC2086
grep -HoE '^[[:space:]]*#[[:space:]]*include[[:space:]]+[<"][^>"]+' $files |
  sed -E "s/:[[:space:]]*#[[:space:]]*include[[:space:]]+[<\"]/ /; s|^$toy/||" |
  ROOMS=$rooms FILES=${files//$toy\//} awk '
    function room(path, i, folder) {
      for (i = 1; i <= rules; ++i) {
        if (path !~ pattern[i]) continue
        if (name[i] != "=") return name[i]
        split(path, folder, "/")
        return folder[2]
      }
      return ""
    }
    BEGIN {
      order = split("types core families models backends public api analysis run io cli", step, " ")
      for (i = 1; i <= order; ++i) rank[step[i]] = i
      rank["cpu"] = rank["cuda"] = rank["reference"] = rank["backends"]
      rank["enclosure"] = rank["analysis"]
      rank["python"] = rank["cli"]
      lines = split(ENVIRON["ROOMS"], line, "\n")
      for (i = 1; i <= lines; ++i) {
        if (split(line[i], part, " ") != 2 || line[i] ~ /^#/) continue
        pattern[++rules] = part[1]
        name[rules] = part[2]
      }
      lines = split(ENVIRON["FILES"], line, "\n")
      for (i = 1; i <= lines; ++i) ours[line[i]] = 1
    }
    {
      file = $1
      included = $2
      from = room(file)
      if (included ~ /^carom\//) {
        to = room("include/" included)
      } else {
        to = room("src/" included)
        if (!(("src/" included) in ours)) next
      }
      ++arrows
      backends = rank[from] == rank["cpu"] && rank[to] == rank["cpu"] && from != to
      # The independent reference shares no mathematics with what it judges: it may include the
      # contract, the plumbing in core, and the declarations of its entries, by which only it is
      # called. Two texts of QPs are shared: what sets the rounding of a proof to zero before it is
      # judged, and the second opinion on cones without interior, which can only withdraw a claim.
      shares = (from == "reference" || to == "reference") && from != to && to != "types" &&
        to != "core" && included !~ /\/([a-z]+_)?backends\.hpp$/ &&
        included !~ /^programs\/qp\/(cone_faces|kernels\/qp_proofs)\.hpp$/
      if (rank[to] <= rank[from] && !backends && !shares) next
      ++wrong
      printf "%-9s > %-9s  %s includes %s\n", from, to, file, included
    }
    END {
      printf "check_layers: %d arrows between files of ours, %d of them wrong\n", arrows, wrong
      exit wrong > 0
    }'
