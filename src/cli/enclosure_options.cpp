#include "cli/enclosure_options.hpp"

namespace carom::cli {

std::span<const OptionForm> enclosure_forms() {
  static constexpr OptionForm kForms[] = {
      {.setting = "tolerance",
       .text =
           "--enclose: growth, relative to the largest contact speed, below which polyhedra are "
           "moved outward"},
      {.setting = "budget", .text = "--enclose: polyhedra made for one problem at most"},
      {.setting = "largest_rounding",
       .text =
           "--enclose: outward moves up to which a set is called enclosed, relative to its extent"},
      {.setting = "polyhedra",
       .text = "--enclose: polyhedra kept for one pattern of contact signs; more are hulled"},
      {.setting = "closeness",
       .text =
           "--enclose: how close bounds are where there are no polyhedra: 0 in milliseconds, 1 in "
           "seconds, 2 in up to a minute"},
      {.setting = "friction_directions", .option = kNoOption},
      {.setting = "threads", .option = kNoOption},
  };
  return kForms;
}

void add_enclosure_options(CLI::App& command, EnclosureOptions& options) {
  command.add_flag("--enclose", options.wanted,
                   "Enclose all outcomes from outside: exactly (planar, up to 4 contacts), or by "
                   "bounds alone");
  options.settings.add(command, EnclosureSettings{});
  command
      .add_option("--never", options.never,
                  "Ask whether this never happens, e.g. \"A separating\" or \"A normal > 0.1\"; "
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
