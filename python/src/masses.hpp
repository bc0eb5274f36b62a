#pragma once

#include <cstddef>
#include <cstdint>

#include "call.hpp"
#include "tables.hpp"

namespace carom::python {

/// Mass matrices of states: numbers [states, k] at `lower` and at `upper` [k] of a matrix.
struct Masses {
  Buffer<double> numbers;
  Buffer<std::int64_t> lower, upper;

  explicit Masses(const nb::dict& given)
      : numbers(borrowed<double>(given["numbers"])),
        lower(borrowed<std::int64_t>(given["lower"])),
        upper(borrowed<std::int64_t>(given["upper"])) {}

  /// The numbers of a state; the others of M stay.
  void fill(std::size_t state, double* M) const {
    const double* const mine = numbers.data() + lower.size() * state;
    for (std::size_t k = 0; k < lower.size(); ++k) {
      M[lower.data()[k]] = M[upper.data()[k]] = mine[k];
    }
  }
};

}  // namespace carom::python
