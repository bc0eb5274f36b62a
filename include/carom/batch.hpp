#pragma once

#include <carom/types/batch.hpp>

namespace carom::detail {

// Device memory of batches, provided by the backends. A program that uses a static library and no
// other function of the backends would not link it otherwise (src/api/backend.cpp).
bool provide_backends();
inline const bool backends_provided = provide_backends();

}  // namespace carom::detail
