#pragma once

#include <carom/types/batch.hpp>

namespace carom::detail {

// The backends' part in what batches do: memory of a device. A static library would leave it out of
// a program that names nothing else of theirs (src/api/backend.cpp).
bool provide_backends();
inline const bool backends_provided = provide_backends();

}  // namespace carom::detail
