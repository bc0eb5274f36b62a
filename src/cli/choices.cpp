#include "cli/choices.hpp"

namespace carom::cli {

Backend backend_named(std::string_view option, const std::string& name) {
  return resolve(choice<Backend>(option, name));
}

std::vector<Backend> available_backends() {
  std::vector<Backend> found;
  for (const Backend backend : {Backend::cpu, Backend::cuda, Backend::reference}) {
    try {
      found.push_back(resolve(backend));
    } catch (const BackendUnavailable&) {
    }
  }
  return found;
}

}  // namespace carom::cli
