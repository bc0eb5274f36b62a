#!/usr/bin/env bash
# Builds the whole command for this machine: build-release/bin/carom.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cuda=OFF
if has_gpu; then cuda=AUTO; fi
prepare -DCAROM_CUDA=$cuda -DCAROM_NATIVE_ONLY=ON -DCAROM_UNITY=ON -DCAROM_BUILD_TESTS=OFF \
  -DCAROM_BUILD_EXAMPLES=OFF
build_targets "Building the command" carom_command
say "$build/bin/carom"
