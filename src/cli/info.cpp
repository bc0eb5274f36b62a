#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <carom/backend.hpp>

#include "cli/choices.hpp"
#include "cli/commands.hpp"
#include "cli/info_file.hpp"
#include "cli/json_output.hpp"
#include "core/build_fields.hpp"

namespace carom::cli {

namespace {

constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

std::vector<std::string> backends() {
  std::vector<std::string> names;
  for (const Backend backend : available_backends()) names.emplace_back(to_string(backend));
  return names;
}

void print_json() {
  nlohmann::ordered_json result;
  each_build_field(build_info(),
                   [&](const char* name, const auto& value) { result[name] = value; });
  result["backends"] = backends();
  result["default_backend"] = to_string(resolve(Backend::automatic));
  result["instruction_set"] = cpu_instruction_set();
  result["threads"] = hardware_threads();
  result["devices"] = nlohmann::ordered_json::array();
  for (const DeviceInfo& device : cuda_devices()) {
    nlohmann::ordered_json entry;
    each_device_field(device, [&](const char* name, const auto& value) { entry[name] = value; });
    result["devices"].push_back(entry);
  }
  print_document(result);
}

void print_text() {
  const BuildInfo& build = build_info();
  fmt::print("carom {} (commit {})\n", build.version, build.commit);
  fmt::print("  compiler         {}, {}\n", build.compiler, build.build_type);
  fmt::print("  CUDA             {}\n",
             build.cuda_compiled
                 ? fmt::format("{}, architectures {}", build.cuda_version, build.cuda_architectures)
                 : "not compiled in");
  fmt::print("  backends         {} (auto: {})\n", fmt::join(backends(), ", "),
             to_string(resolve(Backend::automatic)));
  fmt::print("  CPU              {} threads, {}\n", hardware_threads(), cpu_instruction_set());
  if (cuda_devices().empty()) fmt::print("  devices          none usable\n");
  for (const DeviceInfo& device : cuda_devices()) {
    fmt::print("  device {}         {}, {:.1f} GiB, compute capability {}\n", device.index,
               device.name, static_cast<double>(device.memory_bytes) / kGibibyte,
               compute_capability(device));
  }
}

}  // namespace

void add_info(Program& program) {
  CLI::App* command = program.app.add_subcommand(
      "info", "Version, backends and devices; or the contents of a file");
  command->footer("Example: carom info block.h5");
  const auto json = std::make_shared<bool>(false);
  const auto file = std::make_shared<std::string>();
  command
      ->add_option("file", *file,
                   "HDF5 or JSON file: version, commit, command, settings and data sets with units")
      ->type_name("FILE");
  command->add_flag("--json", *json, "One JSON document instead of text");
  command->callback([&program, json, file] {
    program.chosen = [json, file] {
      if (!file->empty()) {
        print_file_info(*file, *json);
        return kSuccess;
      }
      *json ? print_json() : print_text();
      return kSuccess;
    };
  });
}

}  // namespace carom::cli
