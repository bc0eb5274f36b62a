#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/interrupt.hpp"

namespace carom::cli {

namespace {
constexpr auto kQuietStart = std::chrono::milliseconds(400);  // short runs draw nothing
constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr int kWidth = 32;
}  // namespace

ProgressBar::ProgressBar(bool wanted, std::string unit)
    : active_(wanted && ::isatty(STDERR_FILENO) == 1), unit_(std::move(unit)) {}

ProgressBar::~ProgressBar() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
}

void ProgressBar::show(std::int64_t done, std::int64_t total) {
  const Clock::time_point now = Clock::now();
  if (!active_ || total <= 0 || now - start_ < kQuietStart || (drawn_ && now - last_ < kInterval)) {
    return;
  }
  last_ = now;
  drawn_ = true;
  const double share = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
  const int filled = static_cast<int>(share * kWidth);
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double left = share > 0.0 ? elapsed * (1.0 - share) / share : 0.0;
  fmt::print(stderr, "\r[{:#<{}}{:.<{}}] {:5.1f} %  {} of {} {}, {:.0f} s left \x1b[K", "", filled,
             "", kWidth - filled, 100.0 * share, done, total, unit_, left);
  std::fflush(stderr);
}

run::Control follow(ProgressBar& bar) {
  return {[&bar](std::int64_t done, std::int64_t total) { bar.show(done, total); }, interrupted};
}

}  // namespace carom::cli
