#pragma once

#include <cstddef>

namespace carom {

/// A place in an array of the standard library.
constexpr std::size_t index(int i) { return static_cast<std::size_t>(i); }

}  // namespace carom
