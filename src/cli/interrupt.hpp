#pragma once

namespace carom::cli {

/// While this object exists, the first SIGINT or SIGTERM only sets a flag: the run then ends after
/// the present chunk, and reports and writes its results so far. A second one ends the process.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

bool interrupted();

}  // namespace carom::cli
