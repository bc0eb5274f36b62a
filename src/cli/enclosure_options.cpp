#include "cli/enclosure_options.hpp"

namespace carom::cli {

std::span<const OptionForm> enclosure_forms() {
  static constexpr OptionForm kForms[] = {
      {.setting = "tolerance",
       .text = "--enclose: polyhedra that grow by less are moved outward instead, relative to the "
               "largest contact speed"},
      {.setting = "budget", .text = "--enclose: largest number of polyhedra per problem"},
      {.setting = "largest_rounding",
       .text = "--enclose: largest outward move of a set that counts as enclosed, relative to its "
               "extent"},
      {.setting = "polyhedra",
       .text =
           "--enclose: polyhedra per pattern of contact signs; more are merged into their hull"},
      {.setting = "closeness",
       .text =
           "--enclose: effort for bounds where the exact set is not available: 0 (milliseconds), 1 "
           "(seconds) or 2 (up to a minute)"},
      {.setting = "friction_directions", .option = kNoOption},
      {.setting = "law", .option = kNoOption},  // --restitution-law
      {.setting = "threads", .option = kNoOption},
  };
  return kForms;
}

void add_enclosure_options(CLI::App& command, EnclosureOptions& options) {
  command.add_flag("--enclose", options.wanted,
                   "Prove bounds of all outcomes: the exact set (planar, up to 4 contacts), "
                   "otherwise only bounds");
  options.settings.add(command, EnclosureSettings{});
  command
      .add_option("--never", options.never,
                  "Prove that this never happens, or refute it, e.g. \"A separating\" or \"A "
                  "normal > 0.1\"; "
                  "implies --enclose")
      ->type_name("EVENT");
}

EnclosureSettings enclosure_settings(const EnclosureOptions& options, int threads) {
  EnclosureSettings settings;
  options.settings.read(settings);
  settings.threads = threads;
  return settings;
}

}  // namespace carom::cli
