#include "io/impact_kept.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "impact/exact/kept_mechanics.hpp"
#include "io/file_words.hpp"
#include "io/hdf5_file.hpp"
#include "io/other_fields.hpp"
#include "io/problem_file.hpp"

namespace carom::io {

namespace {

// A tolerance that a proof may have: beyond it the file's own word decides what is an outcome.
constexpr double kMostTolerance = 1e-6;

constexpr const char* kRanges[] = {"velocity", "normal_velocity", "tangent_velocity"};

/// Numbers, or pairs [low, high] of which `high` takes the second.
std::vector<double> read_pairs(const Hdf5Reader& reader, const std::string& name,
                               std::vector<double>& high) {
  std::vector<double> values = reader.doubles(name), low;
  if (reader.shape(name).size() < 2) return values;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
    low.push_back(values[i]);
    high.push_back(values[i + 1]);
  }
  return low;
}

/// What one group of a file is read with.
class GroupReader {
 public:
  GroupReader(const Hdf5Reader& reader, std::string group, std::string file)
      : reader_(reader), group_(std::move(group)), file_(std::move(file)) {}

  KeptImpact read() const {
    KeptImpact kept;
    kept.problem = kept_problem(reader_, group_, file_);
    samples(kept);
    summary(kept);
    if (reader_.has(group_ + "/net/velocity")) net(kept);
    return kept;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw InvalidInput(fmt::format("{}: {}: {}", file_, group_, what));
  }

  void samples(KeptImpact& kept) const {
    const ImpactProblem& p = kept.problem;
    const std::string place = group_ + "/samples/";
    const Shape steps = reader_.shape(place + "steps");
    if (steps.size() != 1) refuse("samples/steps must have one axis");
    kept.count = static_cast<std::int64_t>(steps[0]);
    ImpactSamples::each_array(
        {1, kept.count, p.velocities, p.dimension * p.contacts, p.contacts},
        [&](const char* name, const Extents& extents, auto& values) {
          if (extents.optional() && !reader_.has(place + name)) return;
          const Shape wanted = shape_of(extents, 1), own = reader_.shape(place + name);
          if (own != wanted) {
            refuse(
                fmt::format("samples/{} has another shape than samples/steps and problem", name));
          }
          using Value = std::remove_cvref_t<decltype(values[0])>;
          if constexpr (std::is_same_v<Value, double>) {
            values = reader_.doubles(place + name);
          } else {
            for (const std::int64_t value : reader_.integers(place + name)) {
              values.push_back(static_cast<Value>(value));
            }
          }
        },
        kept.rows);
    kept.first_sample = integer(place + "velocity", "first_sample");
  }

  [[nodiscard]] std::int64_t integer(const std::string& object, const char* name) const {
    const double value = reader_.number_attribute(object, name);
    if (!(std::fabs(value) < 9e15)) refuse(fmt::format("{} is {}", name, value));
    return static_cast<std::int64_t>(value);
  }

  void summary(KeptImpact& kept) const {
    kept.samples = integer(group_, "samples");
    kept.terminated = integer(group_, "terminated");
    kept.max_steps_reached = integer(group_, "max_steps_reached");
    kept.failed = integer(group_, "failed");
    kept.max_energy_ratio = reader_.number_attribute(group_, "max_energy_ratio");
    kept.max_residual = reader_.number_attribute(group_, "max_residual");
    const auto nv = static_cast<std::size_t>(kept.problem.velocities);
    const auto m = static_cast<std::size_t>(kept.problem.contacts);
    const std::size_t sizes[] = {nv, m, m * static_cast<std::size_t>(kept.problem.dimension - 1)};
    for (std::size_t i = 0; i < std::size(kRanges); ++i) {
      KeptRange range{kRanges[i], {}, {}};
      range.low = reader_.numbers_attribute(group_, range.name + "_min");
      range.high = reader_.numbers_attribute(group_, range.name + "_max");
      if (range.low.size() != sizes[i] || range.high.size() != sizes[i]) {
        refuse(fmt::format("{}_min and _max must have {} numbers", range.name, sizes[i]));
      }
      kept.ranges.push_back(std::move(range));
    }
    const std::vector<std::string> words = reader_.strings(group_ + "/mode_counts/modes");
    const std::vector<std::int64_t> counts = reader_.integers(group_ + "/mode_counts/count");
    if (words.size() != counts.size()) refuse("mode_counts has more modes than counts, or fewer");
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!kept.mode_counts.emplace(words[i], counts[i]).second) {
        refuse(fmt::format("mode_counts has \"{}\" twice", words[i]));
      }
    }
  }

  void net(KeptImpact& kept) const {
    const std::string place = group_ + "/net/";
    kept.net_velocity = reader_.doubles(place + "velocity");
    kept.net_impulse = reader_.doubles(place + "impulse");
    kept.net_modes = reader_.integers(place + "modes");
    kept.net_multiplicity = reader_.integers(place + "multiplicity");
    kept.net_first_sample = reader_.integers(place + "first_sample");
    kept.net_dropped = integer(group_ + "/net", "dropped");
    const ImpactProblem& p = kept.problem;
    const std::size_t points = kept.net_modes.size();
    if (kept.net_velocity.size() != points * static_cast<std::size_t>(p.velocities) ||
        kept.net_impulse.size() != points * static_cast<std::size_t>(p.dimension * p.contacts) ||
        kept.net_multiplicity.size() != points || kept.net_first_sample.size() != points) {
      refuse("the data sets of its net have not the same points");
    }
  }

  const Hdf5Reader& reader_;
  std::string group_, file_;
};

double tolerance(const Hdf5Reader& reader, const char* name, const std::string& file) {
  const double value = reader.number_attribute("/", name);
  if (value >= 0.0 && value <= kMostTolerance) return value;
  throw InvalidInput(
      fmt::format("{}: {} is {}: must be 0..{} to be judged", file, name, value, kMostTolerance));
}

}  // namespace

std::string impact_group(std::size_t index) { return fmt::format("/impact_{}", index); }

ImpactProblem kept_problem(const Hdf5Reader& reader, const std::string& group,
                           const std::string& file) {
  ImpactProblem p;
  const std::string own = group + "/problem/";
  p.mass_matrix = reader.doubles(own + "mass_matrix");
  p.normal_jacobian = reader.doubles(own + "normal_jacobian");
  p.tangent_jacobian = reader.doubles(own + "tangent_jacobian");
  p.velocity = reader.doubles(own + "velocity");
  p.friction = read_pairs(reader, own + "friction", p.friction_high);
  if (reader.has(own + "restitution")) {
    p.restitution_low = read_pairs(reader, own + "restitution", p.restitution_high);
  }
  const std::size_t nv = p.velocity.size(), m = p.friction.size();
  const auto require = [&](bool good, const char* what) {
    if (!good) throw InvalidInput(fmt::format("{}: {}: {}", file, group, what));
  };
  require(nv > 0 && nv <= static_cast<std::size_t>(kMaxVelocities) && m > 0 &&
              m <= static_cast<std::size_t>(kMaxContacts),
          "has more velocities or contacts than an impact, or none");
  p.velocities = static_cast<int>(nv);
  p.contacts = static_cast<int>(m);
  p.dimension = p.tangent_jacobian.size() == 2 * m * nv ? 3 : 2;
  const std::size_t tangents = m * static_cast<std::size_t>(p.dimension - 1);
  require(p.mass_matrix.size() == nv * nv && p.normal_jacobian.size() == m * nv &&
              p.tangent_jacobian.size() == tangents * nv &&
              p.restitution_low.size() == p.restitution_high.size() &&
              (p.restitution_high.empty() || p.restitution_high.size() == m) &&
              (p.friction_high.empty() || p.friction_high.size() == m),
          "the arrays of its problem do not fit each other");
  for (const auto* values :
       {&p.mass_matrix, &p.normal_jacobian, &p.tangent_jacobian, &p.velocity, &p.friction,
        &p.friction_high, &p.restitution_low, &p.restitution_high}) {
    require(std::all_of(values->begin(), values->end(), exact::KeptMechanics::moderate),
            "a number of its problem is not one, or beyond 1e60");
  }
  return p;
}

bool holds_impacts(const std::filesystem::path& file) {
  return Hdf5Reader::is_hdf5(file) && Hdf5Reader(file).has(impact_group(0) + "/samples/velocity");
}

std::vector<KeptImpact> read_kept_impacts(const std::filesystem::path& file,
                                          std::vector<std::string>& other_fields) {
  const Hdf5Reader reader(file);
  const std::string name = file.string();
  exact::OutcomeSettings settings;
  const double directions = reader.number_attribute("/", "friction_directions");
  if (!(directions >= 4 && directions <= kMaxFrictionDirections)) {
    throw InvalidInput(fmt::format("{}: friction_directions is {}: must be 4..{}", name, directions,
                                   kMaxFrictionDirections));
  }
  settings.method = word_of<ImpactMethod>(reader.text_attribute("/", "method"), "method", name);
  settings.law = word_of<RestitutionLaw>(reader.text_attribute("/", "law"), "law", name);
  settings.friction_directions = static_cast<int>(directions);
  settings.velocity_tolerance = tolerance(reader, "velocity_tolerance", name);
  settings.residual_tolerance = tolerance(reader, "residual_tolerance", name);
  settings.mode_tolerance = reader.number_attribute("/", "mode_tolerance");
  std::vector<KeptImpact> all;
  for (std::size_t i = 0; reader.has(impact_group(i)); ++i) {
    all.push_back(GroupReader(reader, impact_group(i), name).read());
    all.back().settings = settings;
  }
  static constexpr std::string_view kJudged[] = {
      "/@method",
      "/@law",
      "/@friction_directions",
      "/@velocity_tolerance",
      "/@residual_tolerance",
      "/@mode_tolerance",
      "/impact_*@samples",
      "/impact_*@terminated",
      "/impact_*@max_steps_reached",
      "/impact_*@failed",
      "/impact_*@max_energy_ratio",
      "/impact_*@max_residual",
      "/impact_*@velocity_min",
      "/impact_*@velocity_max",
      "/impact_*@normal_velocity_min",
      "/impact_*@normal_velocity_max",
      "/impact_*@tangent_velocity_min",
      "/impact_*@tangent_velocity_max",
      "/impact_*/problem/mass_matrix",
      "/impact_*/problem/normal_jacobian",
      "/impact_*/problem/tangent_jacobian",
      "/impact_*/problem/velocity",
      "/impact_*/problem/friction",
      "/impact_*/problem/restitution",
      "/impact_*/mode_counts/modes",
      "/impact_*/mode_counts/count",
      "/impact_*/samples/velocity",
      "/impact_*/samples/impulse",
      "/impact_*/samples/modes",
      "/impact_*/samples/status",
      "/impact_*/samples/restitution",
      "/impact_*/samples/friction",
      "/impact_*/samples/stored",
      "/impact_*/samples/released",
      "/impact_*/samples/lost_compression",
      "/impact_*/samples/lost_friction",
      "/impact_*/samples/velocity@first_sample",
      "/impact_*/net@dropped",
      "/impact_*/net/velocity",
      "/impact_*/net/impulse",
      "/impact_*/net/modes",
      "/impact_*/net/first_sample",
  };
  other_fields = other_hdf5_fields(reader, kJudged);
  return all;
}

}  // namespace carom::io
