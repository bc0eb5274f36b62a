#include "core/words.hpp"

namespace carom {

std::string joined(const std::vector<std::string>& texts, std::string_view last) {
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) all += i + 1 < texts.size() ? ", " : last;
    all += texts[i];
  }
  return all;
}

}  // namespace carom
