#pragma once

#include <string>

#include <carom/types/backend.hpp>

/// Names and values that describe a build and a device, for all code that prints them.
namespace carom {

template <class Visit>
void each_build_field(const BuildInfo& build, Visit&& visit) {
  visit("version", build.version);
  visit("commit", build.commit);
  visit("compiler", build.compiler);
  visit("build_type", build.build_type);
  visit("cuda_compiled", build.cuda_compiled);
  visit("cuda_version", build.cuda_version);
  visit("cuda_architectures", build.cuda_architectures);
}

/// e.g. "9.0"
inline std::string compute_capability(const DeviceInfo& device) {
  return std::to_string(device.compute_capability_major) + "." +
         std::to_string(device.compute_capability_minor);
}

template <class Visit>
void each_device_field(const DeviceInfo& device, Visit&& visit) {
  visit("index", device.index);
  visit("name", device.name);
  visit("compute_capability", compute_capability(device));
  visit("memory_bytes", device.memory_bytes);
}

}  // namespace carom
