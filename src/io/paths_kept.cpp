#include "io/paths_kept.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

#include <carom/types/error.hpp>

#include "io/file_words.hpp"
#include "io/hdf5_file.hpp"
#include "io/impact_kept.hpp"
#include "io/other_fields.hpp"

namespace carom::io {

namespace {

KeptPaths paths_of(const Hdf5Reader& reader, const std::string& group, const std::string& file) {
  KeptPaths kept;
  kept.problem = kept_problem(reader, group, file);
  const auto nv = static_cast<std::size_t>(kept.problem.velocities);
  const auto m = static_cast<std::size_t>(kept.problem.contacts);
  const std::size_t rows = m * static_cast<std::size_t>(kept.problem.dimension);
  const auto require = [&](bool good, const char* what) {
    if (!good) throw InvalidInput(fmt::format("{}: {}: {}", file, group, what));
  };
  kept.offset = reader.integers(group + "/paths/offset");
  kept.velocity = reader.doubles(group + "/paths/velocity");
  kept.impulse = reader.doubles(group + "/paths/impulse");
  kept.restitution = reader.doubles(group + "/paths/restitution");
  kept.friction = reader.doubles(group + "/paths/friction");
  const std::size_t count = kept.velocity.size() / nv;
  require(kept.velocity.size() == count * nv && kept.impulse.size() == count * rows &&
              kept.restitution.size() == count * m && kept.friction.size() == count * m,
          "the data sets of its paths have not the same rows");
  require(!kept.offset.empty() && kept.offset.front() == 0 &&
              kept.offset.back() == static_cast<std::int64_t>(count),
          "offset does not begin and end with its paths");
  for (std::size_t i = 1; i < kept.offset.size(); ++i) {
    require(kept.offset[i - 1] <= kept.offset[i], "offset falls");
  }
  kept.outcome = reader.doubles(group + "/samples/velocity");
  kept.steps = reader.integers(group + "/samples/steps");
  kept.status = reader.integers(group + "/samples/status");
  kept.max_steps = static_cast<std::int64_t>(reader.number_attribute(group, "max_steps"));
  require(kept.outcome.size() == kept.steps.size() * nv && kept.steps.size() == kept.status.size(),
          "the data sets of its samples have not the same rows");
  return kept;
}

}  // namespace

exact::KeptPath KeptPaths::path(std::size_t i) const {
  const auto rows = [&](const std::vector<double>& all) {
    const auto count = static_cast<std::size_t>(offset.back());
    const auto width = static_cast<std::ptrdiff_t>(count > 0 ? all.size() / count : 0);
    return std::vector<double>(all.begin() + offset[i] * width,
                               all.begin() + offset[i + 1] * width);
  };
  exact::KeptPath own = settings;
  own.problem = &problem;
  own.velocity = rows(velocity);
  own.impulse = rows(impulse);
  own.restitution = rows(restitution);
  own.friction = rows(friction);
  return own;
}

bool holds_paths(const std::filesystem::path& file) {
  if (!Hdf5Reader::is_hdf5(file)) return false;
  const Hdf5Reader reader(file);
  for (std::size_t i = 0; reader.has(impact_group(i)); ++i) {
    if (reader.has(impact_group(i) + "/paths/impulse")) return true;
  }
  return false;
}

std::vector<KeptPaths> read_kept_paths(const std::filesystem::path& file,
                                       std::vector<std::string>& other_fields) {
  const Hdf5Reader reader(file);
  const std::string name = file.string();
  exact::KeptPath settings;
  settings.method = word_of<ImpactMethod>(reader.text_attribute("/", "method"), "method", name);
  settings.vary = reader.number_attribute("/", "vary") != 0.0;
  settings.friction_directions =
      static_cast<int>(reader.number_attribute("/", "friction_directions"));
  settings.velocity_tolerance = reader.number_attribute("/", "velocity_tolerance");
  settings.residual_tolerance = reader.number_attribute("/", "residual_tolerance");
  if (settings.friction_directions < 4 || settings.friction_directions > kMaxFrictionDirections) {
    throw InvalidInput(fmt::format("{}: friction_directions is {}: must be 4..{}", name,
                                   settings.friction_directions, kMaxFrictionDirections));
  }
  std::vector<KeptPaths> all;
  for (std::size_t i = 0; reader.has(impact_group(i)); ++i) {
    if (!reader.has(impact_group(i) + "/paths/impulse")) continue;
    all.push_back(paths_of(reader, impact_group(i), name));
    all.back().settings = settings;
    all.back().law = word_of<RestitutionLaw>(reader.text_attribute("/", "law"), "law", name);
  }
  static constexpr std::string_view kJudged[] = {
      "/@method",
      "/@vary",
      "/@law",
      "/@friction_directions",
      "/@velocity_tolerance",
      "/@residual_tolerance",
      "/impact_*@max_steps",
      "/impact_*/problem/mass_matrix",
      "/impact_*/problem/normal_jacobian",
      "/impact_*/problem/tangent_jacobian",
      "/impact_*/problem/velocity",
      "/impact_*/problem/friction",
      "/impact_*/problem/restitution",
      "/impact_*/paths/offset",
      "/impact_*/paths/velocity",
      "/impact_*/paths/impulse",
      "/impact_*/paths/restitution",
      "/impact_*/paths/friction",
      "/impact_*/samples/velocity",
      "/impact_*/samples/status",
  };
  other_fields = other_hdf5_fields(reader, kJudged);
  return all;
}

}  // namespace carom::io
