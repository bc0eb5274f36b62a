#pragma once

#include <cstdlib>

namespace carom::test {

/// A number that a longer run sets; what the variable does not say is `otherwise`.
inline int from_environment(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::atoi(value) : otherwise;
}

}  // namespace carom::test
