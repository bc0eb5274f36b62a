#include "cli/choices.hpp"

namespace carom::cli {

Backend backend_named(std::string_view option, const std::string& name) {
  return resolve(choice<Backend>(option, name));
}

}  // namespace carom::cli
