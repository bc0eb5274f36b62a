#include "cli/option_table.hpp"

#include <regex>

#include <carom/models/models.hpp>
#include <carom/models/motions.hpp>
#include <carom/models/postures.hpp>
#include <carom/models/scenarios.hpp>
#include <carom/models/stances.hpp>

namespace carom::cli {

namespace {

// "lcp or events" of "Sampler of the inclusion: lcp or events"; remarks in brackets are no words.
std::vector<std::string> listed_words(const std::string& meaning) {
  const std::string plain = std::regex_replace(meaning, std::regex(" \\([^)]*\\)"), "");
  std::smatch found;
  static const std::regex list(
      "(?:^|[:;] )((?:[a-z0-9_-]+, )*[a-z0-9_-]+ or [a-z0-9_-]+)(?=$|[;,])");
  if (!std::regex_search(plain, found, list)) return {};
  const std::string text = found[1];
  static const std::regex separator(", | or ");
  return {std::sregex_token_iterator(text.begin(), text.end(), separator, -1),
          std::sregex_token_iterator()};
}

template <class Models>
void append_names(std::vector<std::string>& names, const Models& models) {
  for (const auto& model : models) names.emplace_back(model.name);
}

}  // namespace

std::vector<OptionRow> option_table(const CLI::App& command) {
  std::vector<OptionRow> rows;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    OptionRow row;
    row.positional = !option->nonpositional();
    if (row.positional) row.names.push_back(option->get_name(true));
    for (const std::string& name : option->get_snames()) row.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) row.names.push_back("--" + name);
    if (option->get_items_expected_max() > 0) row.type = option->get_type_name();
    row.initial = option->get_default_str();
    row.meaning = option->get_description();
    row.several = option->get_expected_max() > 1;
    row.required = option->get_required();
    // a word like METHOD, no number like N or X
    static const std::regex word("[A-Z]{3,}");
    if (std::regex_match(row.type, word)) row.values = listed_words(row.meaning);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<const CLI::App*> commands_of(const CLI::App& program) {
  return program.get_subcommands(
      [](const CLI::App* command) { return !command->get_name().empty(); });
}

std::vector<std::string> target_names(const std::string& command) {
  const bool any = command == "models" || command == "validate" || command == "bench";
  std::vector<std::string> names;
  if (any || command == "impact" || command == "impact-models") append_names(names, models::all());
  if (any || command == "equilibrium") append_names(names, models::postures());
  if (any || command == "step") append_names(names, models::scenarios());
  if (any || command == "stability") append_names(names, models::stances());
  if (any || command == "motion") append_names(names, models::motions());
  return names;
}

}  // namespace carom::cli
