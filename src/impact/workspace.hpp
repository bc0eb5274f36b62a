#pragma once

#include <memory>
#include <vector>

#include <carom/impact.hpp>

namespace carom {

/// Scratch of a backend that a workspace keeps between calls.
struct BackendScratch {
  virtual ~BackendScratch() = default;
};

struct ImpactWorkspace::State {
  std::unique_ptr<BackendScratch> cpu;
  std::unique_ptr<BackendScratch> cuda;
};

}  // namespace carom
