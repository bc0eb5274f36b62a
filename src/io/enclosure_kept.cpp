#include "io/enclosure_kept.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include <carom/error.hpp>

#include "core/words.hpp"
#include "io/hdf5_file.hpp"

namespace carom::io {

namespace {

std::vector<double> half(const std::vector<double>& bounds, std::size_t part, std::size_t m) {
  const auto first = bounds.begin() + static_cast<std::ptrdiff_t>(part * m);
  return {first, first + static_cast<std::ptrdiff_t>(m)};
}

KeptEnclosure kept_from(const Hdf5Reader& reader, const std::string& group,
                        const std::string& file) {
  const auto refuse = [&](const std::string& what) {
    throw InvalidInput(fmt::format("{}: {}: {}", file, group, what));
  };
  KeptEnclosure kept;
  ImpactProblem& problem = kept.problem;
  problem.name = reader.text_attribute(group, "name");
  problem.mass_matrix = reader.doubles(group + "/problem/mass_matrix");
  problem.normal_jacobian = reader.doubles(group + "/problem/normal_jacobian");
  problem.tangent_jacobian = reader.doubles(group + "/problem/tangent_jacobian");
  problem.friction = reader.doubles(group + "/problem/friction");
  problem.velocity = reader.doubles(group + "/problem/velocity");
  const std::size_t m = problem.friction.size();
  if (problem.velocity.size() > static_cast<std::size_t>(kMaxVelocities) ||
      m > static_cast<std::size_t>(kMaxEnclosedContacts)) {
    refuse("has more velocities or contacts than an enclosure");
  }
  problem.velocities = static_cast<int>(problem.velocity.size());
  problem.contacts = static_cast<int>(m);

  const std::string place = group + "/enclosure";
  const auto status = value_of<EnclosureStatus>(reader.text_attribute(place, "status"));
  if (!status) refuse("status of the enclosure is none of " + listed<EnclosureStatus>());
  kept.set.status = *status;
  const std::vector<double> bounds = reader.doubles(place + "/bounds");
  if (bounds.size() != 4 * m) {
    refuse(fmt::format("bounds has {} numbers: must have {}", bounds.size(), 4 * m));
  }
  kept.set.normal_velocity_min = half(bounds, 0, m);
  kept.set.tangent_velocity_min = half(bounds, 1, m);
  kept.set.normal_velocity_max = half(bounds, 2, m);
  kept.set.tangent_velocity_max = half(bounds, 3, m);
  for (const std::int64_t modes : reader.integers(place + "/impossible_modes")) {
    kept.set.impossible_modes.push_back(static_cast<std::uint64_t>(modes));
  }
  const std::vector<std::string> invariant = reader.strings(place + "/invariant");
  if (invariant.size() != 1) refuse("invariant must be one text");
  kept.set.invariant = invariant.front();
  return kept;
}

}  // namespace

bool holds_enclosures(const std::filesystem::path& file) {
  if (!hdf5_available() || !Hdf5Reader::is_hdf5(file)) return false;
  const Hdf5Reader reader(file);
  return reader.has_attribute("/", "enclosures");
}

std::vector<KeptEnclosure> read_kept_enclosures(const std::filesystem::path& file) {
  const Hdf5Reader reader(file);
  const std::vector<std::string> names = reader.names();
  std::vector<KeptEnclosure> kept;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string group = fmt::format("/impact_{}", i);
    if (!reader.has(group)) break;
    if (reader.has(group + "/enclosure")) kept.push_back(kept_from(reader, group, file.string()));
  }
  return kept;
}

}  // namespace carom::io
