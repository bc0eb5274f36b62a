#pragma once

#include <carom/device/host_device.hpp>

namespace carom::kernels {

/// call(the member of each of `rows`) for every number that a constraint's row has beside its
/// Jacobian: of rows, of a batch, of a direction or a gradient of them.
template <class Call, class... Rows>
CAROM_INLINE void each_row_number(Call&& call, Rows&&... rows) {
  call(rows.jacobian_dot_v...);
  call(rows.phi...);
  call(rows.stiffness...);
  call(rows.damping...);
  call(rows.friction...);
}

}  // namespace carom::kernels
