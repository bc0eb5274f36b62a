#pragma once

namespace carom::cli {

/// While it lives, the first SIGINT or SIGTERM only sets a flag, so that a run ends cleanly between
/// two chunks and what it has is reported and written; a second one ends the process as usual.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

bool interrupted();

}  // namespace carom::cli
