#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "device.hpp"

namespace cuda_on_host {

namespace {

Settings from_environment() {
  const char* order = std::getenv("CAROM_LANES");
  const char* seed = std::getenv("CAROM_SEED");
  const std::string name = order == nullptr ? "random" : order;
  const char* devices = std::getenv("CAROM_DEVICES");
  Settings settings{Order::random, 0, devices != nullptr ? std::max(1, std::atoi(devices)) : 2};
  if (name == "forwards") settings.order = Order::forwards;
  if (name == "backwards") settings.order = Order::backwards;
  settings.seed = seed != nullptr ? static_cast<unsigned>(std::strtoul(seed, nullptr, 10))
                                  : std::random_device{}();
  if (settings.order == Order::random) {
    std::fprintf(stderr, "CUDA on the host: lanes in random order, CAROM_SEED=%u\n", settings.seed);
  }
  return settings;
}

std::vector<std::string>& problems() {
  static std::vector<std::string> all;
  return all;
}

}  // namespace

std::recursive_mutex& mutex() {
  static auto* const all = new std::recursive_mutex;  // outlives static objects with device memory
  return *all;
}

const Settings& settings() {
  static const Settings all = from_environment();
  return all;
}

void problem(const std::string& text) {
  const std::lock_guard lock(mutex());
  std::fprintf(stderr, "CUDA on the host: %s\n", text.c_str());
  problems().push_back(text);
}

std::vector<std::string> take_problems() {
  const std::lock_guard lock(mutex());
  return std::exchange(problems(), {});
}

}  // namespace cuda_on_host
