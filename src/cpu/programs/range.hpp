#pragma once

#include <cstdint>

#include "core/arrays.hpp"

namespace carom::cpu {

/// Problems [begin, end) of a batch and their indices in the result, in the order of packs.
template <class Range, class Batch, class Result>
Range range_of(const Batch& batch, double tolerance, Result& result, std::int64_t begin,
               std::int64_t end) {
  Range range{};
  arrays::bind(range, batch);
  arrays::bind(range, result);
  range.begin = begin;
  range.end = end;
  range.order = batch.order;
  range.tolerance = tolerance;
  return range;
}

}  // namespace carom::cpu
