#pragma once

#include <cstdint>

#include <carom/qp.hpp>

#include "core/arrays.hpp"
#include "support/random_qps.hpp"

/// Runs of the QP methods that several tests share.
namespace carom::test {

/// One thread.
inline QpSettings with(QpMethod method) {
  QpSettings settings;
  settings.method = method;
  settings.threads = 1;
  return settings;
}

inline QpFlavour with_cones() {
  QpFlavour flavour;
  flavour.equations = 1;
  flavour.cones = {{ConeKind::second_order, 3}, {ConeKind::nonnegative, 1}};
  return flavour;
}

/// Problems [first, first + count).
inline QpBatch part_of(const QpBatch& batch, std::size_t first, std::size_t count) {
  return arrays::slice(batch, static_cast<std::int64_t>(first),
                       static_cast<std::int64_t>(first + count));
}

}  // namespace carom::test
