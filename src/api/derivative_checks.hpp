#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include <carom/backend.hpp>
#include <carom/error.hpp>

#include "core/arrays.hpp"
#include "core/require.hpp"

/// Checks of arguments that all public derivative functions share.
namespace carom::derivative_checks {

/// Errors: BackendUnavailable where derivatives are not to be had.
inline void require_cpu(Backend backend) {
  if (backend != Backend::automatic && backend != Backend::cpu) {
    throw BackendUnavailable("only backend cpu computes derivatives");
  }
}

/// Every number of a cotangent or direction is finite. Errors: InvalidInput naming field, place,
/// problem and value.
template <class Table>
void require_finite(const Table& table, const typename Table::Sizes& sizes,
                    const std::string& prefix) {
  Table::each_array(
      sizes,
      [&](const char* name, const Extents& extents, const auto& array) {
        const std::int64_t stride = extents.stride();
        const std::int64_t columns = extents.rank() > 2 ? extents[2] : 0;
        if (array.empty() || stride == 0) return;
        bool all = true;  // the message is for what fails
        for (std::size_t i = 0; i < array.size(); ++i) all = all && std::isfinite(array.data()[i]);
        if (all) return;
        for (std::int64_t p = 0; p < extents[0]; ++p) {
          require::finite(prefix + name, array.data() + p * stride,
                          static_cast<std::size_t>(stride), columns, Refusal{.problem = p});
        }
      },
      table);
}

}  // namespace carom::derivative_checks
