#include "cli/choices.hpp"

namespace carom::cli {

Backend backend_named(std::string_view option, const std::string& name) {
  return resolve(choice<Backend>(option, name,
                                 {{"auto", Backend::automatic},
                                  {"cpu", Backend::cpu},
                                  {"cuda", Backend::cuda},
                                  {"reference", Backend::reference}}));
}

}  // namespace carom::cli
