#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <carom/types/error.hpp>

namespace carom::models::detail {

/// Definitions of one family with their descriptions, found by name.
template <class Definition>
class NamedDefinitions {
 public:
  using Model = decltype(Definition::model);

  /// word: what messages call one of them.
  NamedDefinitions(const char* word, std::vector<Definition> definitions)
      : word_(word), definitions_(std::move(definitions)) {
    for (const Definition& definition : definitions_) models_.push_back(definition.model);
  }

  [[nodiscard]] const std::vector<Model>& models() const { return models_; }

  /// Errors: InvalidInput listing the known names.
  [[nodiscard]] const Definition& find(std::string_view name) const {
    std::string known;
    for (const Definition& definition : definitions_) {
      if (definition.model.name == name) return definition;
      known += (known.empty() ? "" : ", ") + definition.model.name;
    }
    throw InvalidInput(Refusal{.field = std::string("unknown ") + word_,
                               .relation = "",
                               .value = "\"" + std::string(name) + "\"",
                               .rule = "known are " + known});
  }

 private:
  const char* word_;
  std::vector<Definition> definitions_;
  std::vector<Model> models_;
};

}  // namespace carom::models::detail
