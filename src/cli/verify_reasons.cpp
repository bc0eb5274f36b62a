#include "cli/verify_reasons.hpp"

#include <algorithm>
#include <cstdint>

#include "cli/progress.hpp"
#include "core/parallel.hpp"

namespace carom::cli {

std::vector<std::string> reasons(std::size_t count, const std::string& things,
                                 const TextOptions& text,
                                 const std::function<std::string(std::size_t)>& why) {
  constexpr std::size_t kBlock = 512;  // between two looks at the bar
  std::vector<std::string> found(count);
  ProgressBar bar(text, things, "Ctrl-C ends it.");
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t size = std::min(kBlock, count - begin);
    parallel_for_each(static_cast<std::int64_t>(size), 0, [&](std::int64_t i) {
      const std::size_t at = begin + static_cast<std::size_t>(i);
      found[at] = why(at);
    });
    bar.show(static_cast<std::int64_t>(begin + size), static_cast<std::int64_t>(count));
  }
  return found;
}

}  // namespace carom::cli
