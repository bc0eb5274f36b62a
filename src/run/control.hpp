#pragma once

#include <cstdint>
#include <functional>
#include <limits>

namespace carom::run {

/// The value of results that were not computed.
inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// How a caller follows a run, and ends it between two calls of the library.
struct Control {
  std::function<void(std::int64_t done, std::int64_t total)> progress;  ///< may be empty
  std::function<bool()> stopped;                                        ///< may be empty

  void show(std::int64_t done, std::int64_t total) const {
    if (progress) progress(done, total);
  }
  [[nodiscard]] bool is_stopped() const { return stopped && stopped(); }
};

}  // namespace carom::run
