#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/text_options.hpp"
#include "run/control.hpp"

namespace carom::cli {

/// A progress line on standard error if that is a terminal and the output is not JSON. A run of
/// more than a minute prints an estimate of its duration once.
/// --quiet suppresses both.
class ProgressBar {
 public:
  /// unit: what is counted, e.g. "samples". at_interrupt: what Ctrl-C does then.
  explicit ProgressBar(const TextOptions& text, std::string unit = "samples",
                       std::string at_interrupt = "Ctrl-C stops it and keeps what is done.");
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::int64_t done, std::int64_t total);

 private:
  using Clock = std::chrono::steady_clock;
  void announce(double seconds, std::int64_t done, std::int64_t total);

  bool announces_;
  bool draws_;
  std::string unit_, at_interrupt_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

/// Shows a run on the bar, which must outlive it, and stops it at an interrupt.
run::Control follow(ProgressBar& bar);

}  // namespace carom::cli
