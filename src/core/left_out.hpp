#pragma once

namespace carom {

/// The end of a call of a function that this build leaves out (cmake/CaromDemo.cmake), by its
/// mangled name. Errors: BackendUnavailable.
[[noreturn]] void left_out(const char* function);

}  // namespace carom
