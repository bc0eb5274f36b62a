#include "core/left_out.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>

#include <carom/types/error.hpp>

namespace carom {

void left_out(const char* function) {
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(function, nullptr, nullptr, nullptr), &std::free);
  const std::string signature = readable ? readable.get() : function;
  throw BackendUnavailable(signature.substr(0, signature.find('(')) +
                           ": not in this build, which has only what scripts/demo.sh shows; "
                           "scripts/build.sh builds everything");
}

}  // namespace carom
