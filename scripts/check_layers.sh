#!/usr/bin/env bash
# Arrows between the rooms go one way (docs/architecture.md):
#   cli > io > run > api > cpu, cuda, reference > families > core > include
# Reads the #include lines of include/ and src/, prints every arrow that goes up or from one backend
# into another, and fails on one that is not in the list of known ones below.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# FILE INCLUDED: to be mended; nothing is to be added.
known='
include/carom/certificate.hpp                carom/kernels/contact_geometry.hpp
include/carom/certificate_compliant.hpp      carom/kernels/constraint_rows.hpp
include/carom/certificate_qp.hpp             carom/kernels/qp_problem.hpp
include/carom/certificate_qp_scales.hpp      carom/kernels/qp_problem.hpp
include/carom/compliant.hpp                  carom/kernels/constraint_rows.hpp
src/compliant_backends.hpp                   carom/kernels/compliant_array_body.hpp
src/compliant_backends.hpp                   carom/kernels/world_body.hpp
src/equilibrium_spatial_backends.hpp         carom/kernels/support_sweep_body.hpp
src/compliant_programme.cpp                  cpu/reference/compliant_equations.hpp
src/compliant_programme.cpp                  cpu/reference/compliant_problem.hpp
src/equilibrium_spatial_membership.cpp       cpu/parallel.hpp
src/equilibrium_spatial_membership.cpp       cpu/spatial_contour.hpp
src/impact_models.cpp                        cpu/reference/contact_modes.hpp
src/impact_models.cpp                        cpu/reference/mechanism.hpp
src/impact_models.cpp                        cpu/reference/model_settings.hpp
src/impact_theory.cpp                        cpu/reference/mechanism.hpp
src/impact_theory.cpp                        cpu/reference/model_settings.hpp
src/impact_theory.cpp                        cpu/reference/simplex.hpp
src/impact_theory.cpp                        cpu/reference/step.hpp
src/impact_theory.cpp                        cpu/reference/trajectory.hpp
src/mode_table.cpp                           cpu/simd/dispatch.hpp
src/mode_table.cpp                           cpu/simd/padding.hpp
src/cpu/reference/compliant.cpp              cpu/parallel.hpp
src/cpu/reference/compliant.cpp              models/scenario_kinds.hpp
src/cpu/reference/compliant_equations.hpp    carom/kernels/constraint_rows.hpp
src/cpu/reference/compliant_problem.hpp      carom/kernels/compliant_array_body.hpp
src/cpu/reference/planar_equilibrium.cpp     planar_view.hpp
src/cpu/reference/sampling.cpp               impact_accumulate.hpp
src/cpu/reference/solve_qp.cpp               cpu/qp_single.hpp
src/cpu/reference/solve_qp.cpp               qp_layout.hpp
'

# The room of a path: the first pattern that matches. Below the line, today's files that do not lie
# in the folder of their room yet.
rooms='
^src/cli/                                             cli
^src/io/                                              io
^src/run/                                             run
^src/api/                                             api
^src/cpu/reference/                                   reference
^src/cpu/                                             cpu
^src/cuda/                                            cuda
^src/(programs|impact|equilibrium|compliant|models)/  families
^src/core/                                            core
^include/carom/device/                                include
^include/carom/kernels/(host_device|lanes|memory|numeric|packed|orthonormal_frame)\.hpp$  include
^include/carom/kernels/                               families
^include/carom/                                       include
# ---
^src/(impact|lcp|lp|qp|compliant|step_worlds|equilibrium_planar|equilibrium_spatial)\.cpp$  api
^src/[a-z_]*backends\.hpp$                            core
^src/(message|require|buffer_slice)\.hpp$             core
^src/(batch|backend|status|random)\.cpp$              core
^src/                                                 families
'

files=$(git ls-files 'include/*.hpp' 'src/*.hpp' 'src/*.cpp' 'src/*.cu' 'src/*.cuh')
# shellcheck disable=SC2086
grep -HoE '^[[:space:]]*#[[:space:]]*include[[:space:]]+[<"][^>"]+' $files |
  sed -E 's/:[[:space:]]*#[[:space:]]*include[[:space:]]+[<"]/ /' |
  ROOMS=$rooms KNOWN=$known FILES=$files awk '
    function room(path, i) {
      for (i = 1; i <= rules; ++i) if (path ~ pattern[i]) return name[i]
      return ""
    }
    BEGIN {
      order = split("include core families backends api run io cli", step, " ")
      for (i = 1; i <= order; ++i) rank[step[i]] = i
      rank["cpu"] = rank["cuda"] = rank["reference"] = rank["backends"]
      lines = split(ENVIRON["ROOMS"], line, "\n")
      for (i = 1; i <= lines; ++i) {
        if (split(line[i], part, " ") != 2 || line[i] ~ /^#/) continue
        pattern[++rules] = part[1]
        name[rules] = part[2]
      }
      lines = split(ENVIRON["FILES"], line, "\n")
      for (i = 1; i <= lines; ++i) ours[line[i]] = 1
      lines = split(ENVIRON["KNOWN"], line, "\n")
      for (i = 1; i <= lines; ++i) if (split(line[i], part, " ") == 2) known[part[1] " " part[2]] = 1
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
      # The independent reference shares nothing with the bodies that it judges.
      shares = from == "reference" && to == "families"
      if (rank[to] <= rank[from] && !backends && !shares) next
      up = file " " included
      met[up] = 1
      fresh = !(up in known)
      bad += fresh
      printf "%-8s %-9s > %-9s  %s includes %s\n", fresh ? "NEW" : "known", from, to, file, included
    }
    END {
      for (up in known) if (!(up in met)) printf "mended: take this line from the list: %s\n", up
      printf "check_layers: %d arrows between files of ours, %d of them new and wrong\n", arrows, bad
      exit bad > 0
    }'
