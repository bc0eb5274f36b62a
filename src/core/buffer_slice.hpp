#pragma once

#include <cstddef>
#include <vector>

#include <carom/types/batch.hpp>

namespace carom {

/// Array type for a single problem of a batch.
template <class T>
using Values = std::vector<T>;

/// The `width` values of one problem of a batch. Errors: InvalidInput where they are on a device.
template <class T>
std::vector<T> slice(const Buffer<T>& values, std::size_t problem, std::size_t width) {
  const auto own = values.host().subspan(problem * width, width);
  return {own.begin(), own.end()};
}

}  // namespace carom
