#pragma once

#include <carom/device/host_device.hpp>

namespace carom::kernels {

/// call(this member of each of `rows`) for every number of a constraint's row other than its
/// Jacobian. `rows`: rows, a batch of rows, or a direction or gradient of them.
template <class Call, class... Rows>
CAROM_INLINE void each_row_number(Call&& call, Rows&&... rows) {
  call(rows.jacobian_dot_v...);
  call(rows.phi...);
  call(rows.stiffness...);
  call(rows.damping...);
  call(rows.friction...);
}

}  // namespace carom::kernels
