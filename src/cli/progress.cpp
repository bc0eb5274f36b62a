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
constexpr double kLong = 60.0;       // seconds that are announced ...
constexpr double kFirstGuess = 1.0;  // ... once a run has taken so many

std::string duration(double seconds) {
  if (seconds < 90.0) return fmt::format("{:.0f} seconds", seconds);
  if (seconds < 5400.0) return fmt::format("{:.0f} minutes", seconds / 60.0);
  return fmt::format("{:.1f} hours", seconds / 3600.0);
}
}  // namespace

ProgressBar::ProgressBar(const TextOptions& text, std::string unit, std::string at_interrupt)
    : announces_(!text.quiet),
      draws_(!text.quiet && !text.json && ::isatty(STDERR_FILENO) == 1),
      unit_(std::move(unit)),
      at_interrupt_(std::move(at_interrupt)) {}

ProgressBar::~ProgressBar() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
}

void ProgressBar::announce(double seconds, std::int64_t done, std::int64_t total) {
  if (!announces_ || done <= 0 || seconds < kFirstGuess) return;
  announces_ = false;
  const double whole = seconds * static_cast<double>(total) / static_cast<double>(done);
  if (whole < kLong) return;
  fmt::print(stderr, "{}This will take about {}: {} of {} {} took {:.1f} s. {}\n",
             drawn_ ? "\r\x1b[K" : "", duration(whole), done, total, unit_, seconds, at_interrupt_);
}

void ProgressBar::show(std::int64_t done, std::int64_t total) {
  const Clock::time_point now = Clock::now();
  announce(std::chrono::duration<double>(now - start_).count(), done, total);
  if (!draws_ || total <= 0 || now - start_ < kQuietStart || (drawn_ && now - last_ < kInterval)) {
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
