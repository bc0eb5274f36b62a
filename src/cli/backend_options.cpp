#include "cli/backend_options.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include <carom/backend.hpp>
#include <carom/error.hpp>

#include "cli/numbers.hpp"
#include "core/words.hpp"

namespace carom::cli {

namespace {

void use_devices(const std::string& text) {
  std::vector<int> devices;
  if (text == "all") {
    for (const DeviceInfo& device : cuda_devices()) devices.push_back(device.index);
  } else {
    for (const std::string& index : split(text, ',')) {
      devices.push_back(static_cast<int>(parse_count("--devices", index, 0, INT32_MAX)));
    }
  }
  static std::unique_ptr<CudaScope> chosen;
  chosen.reset();  // of a command before, where one runs others
  chosen = std::make_unique<CudaScope>(std::move(devices));
}

}  // namespace

void add_backend_options(CLI::App& command, std::string& backend) {
  command.add_option("--backend", backend, listed<Backend>(" or "))
      ->type_name("BACKEND")
      ->capture_default_str();
  command
      .add_option_function<std::string>(
          "--devices", use_devices,
          "CUDA devices to use, e.g. 0,1, or all; problems or samples are divided among them")
      ->type_name("LIST");
}

void add_precision(CLI::App& command, std::string& precision) {
  command.add_option("--precision", precision, "Without effect: all is computed in double")
      ->group("");
}

void warn_of_precision(const std::string& precision) {
  if (precision.empty() || precision == "double") return;
  if (precision != "float") {
    throw InvalidInput(fmt::format("--precision is {}: must be double or float", precision));
  }
  fmt::print(stderr, "carom: --precision float has no effect: all is computed in double\n");
}

}  // namespace carom::cli
