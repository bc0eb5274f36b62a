#!/usr/bin/env bash
# Builds the whole command for this machine: build-release/bin/carom.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

prepare "-DCAROM_CUDA=$(cuda_if_gpu)" -DCAROM_NATIVE_ONLY=ON -DCAROM_UNITY=ON -DCAROM_BUILD_TESTS=OFF \
  -DCAROM_BUILD_EXAMPLES=OFF
build_targets "Building the command" carom_command
say "$build/bin/carom"
