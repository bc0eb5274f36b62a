#include "enclosure/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/require.hpp"
#include "enclosure/summary.hpp"

namespace carom::enclosure {

namespace {

constexpr double kOutside = 1e-9;  // of the largest contact speed before the impact

std::vector<double> contact_velocity(const ImpactProblem& problem, const double* v) {
  const auto nv = static_cast<std::size_t>(problem.velocities);
  std::vector<double> u;
  for (const std::vector<double>* rows : {&problem.normal_jacobian, &problem.tangent_jacobian}) {
    for (std::size_t at = 0; at < rows->size(); at += nv) {
      double sum = 0.0;
      for (std::size_t j = 0; j < nv; ++j) sum += (*rows)[at + j] * v[j];
      u.push_back(sum);
    }
  }
  return u;
}

/// Before the impact.
double fastest_contact(const ImpactProblem& problem) {
  double speed = 0.0;
  for (const double u : contact_velocity(problem, problem.velocity.data())) {
    speed = std::max(speed, std::abs(u));
  }
  return speed;
}

double outside_bounds(const ImpactEnclosure& set, const std::vector<double>& u) {
  const std::size_t m = set.normal_velocity_min.size();
  double most = 0.0;
  for (std::size_t k = 0; k < u.size(); ++k) {
    const bool normal = k < m;
    const double low = normal ? set.normal_velocity_min[k] : set.tangent_velocity_min[k - m];
    const double high = normal ? set.normal_velocity_max[k] : set.tangent_velocity_max[k - m];
    most = std::max({most, low - u[k], u[k] - high});
  }
  return most;
}

/// Of planar contacts: from the closure of the mode and its constraints.
double outside_mode(const EnclosedMode& mode, const std::vector<double>& u, double least) {
  const std::size_t rows = u.size(), m = rows / 2;
  double most = 0.0;
  for (std::size_t i = 0; i < m; ++i) {
    const auto word = static_cast<ContactMode>(mode.modes >> (2 * i) & 3U);
    const double normal = u[i], slip = u[m + i];
    most = std::max(most, word == ContactMode::separating ? -normal : std::abs(normal));
    if (word == ContactMode::sticking) most = std::max(most, std::abs(slip));
    if (word == ContactMode::sliding) most = std::max(most, -slip);
    if (word == ContactMode::sliding_negative) most = std::max(most, slip);
  }
  for (std::size_t c = 0; c < mode.constraints.size() && most < least; c += rows + 1) {
    double value = -mode.constraints[c + rows];
    for (std::size_t k = 0; k < rows; ++k) value += mode.constraints[c + k] * u[k];
    most = std::max(most, value);
  }
  return most;
}

double distance(const ImpactEnclosure& set, const std::vector<double>& u) {
  const double bounds = outside_bounds(set, u);
  if (set.modes.empty()) return bounds;
  double least = std::numeric_limits<double>::infinity();
  for (const EnclosedMode& mode : set.modes) least = std::min(least, outside_mode(mode, u, least));
  return std::max(bounds, least);
}

/// Least and largest of every contact velocity, normals first.
struct Box {
  std::vector<double> low, high;
};

std::vector<double> all_rows(std::vector<double> normals, const std::vector<double>& tangents) {
  normals.insert(normals.end(), tangents.begin(), tangents.end());
  return normals;
}

Box box_of(const EnclosedMode& mode, std::size_t rows) {
  Box box{{mode.vertices.begin(), mode.vertices.begin() + static_cast<std::ptrdiff_t>(rows)}, {}};
  box.high = box.low;
  for (std::size_t at = rows; at < mode.vertices.size(); at += rows) {
    for (std::size_t k = 0; k < rows; ++k) {
      box.low[k] = std::min(box.low[k], mode.vertices[at + k]);
      box.high[k] = std::max(box.high[k], mode.vertices[at + k]);
    }
  }
  return box;
}

/// Whether a contact's velocity within the box may be classified as such (contact_modes), where
/// numbers are off by up to `room`.
bool may_be(ContactMode mode, const Box& box, std::size_t contacts, std::size_t contact,
            double tolerance, double room) {
  if (mode == ContactMode::separating) return box.high[contact] > tolerance - room;
  if (box.low[contact] > tolerance + room) return false;
  const std::size_t slips = box.low.size() / contacts - 1, first = contacts + slips * contact;
  if (slips == 1 && mode == ContactMode::sliding) return box.high[first] > tolerance - room;
  if (mode == ContactMode::sliding_negative) return box.low[first] < room - tolerance;
  double slowest = 0.0, fastest = 0.0;
  for (std::size_t k = first; k < first + slips; ++k) {
    slowest = std::hypot(slowest, std::max({0.0, box.low[k], -box.high[k]}));
    fastest = std::hypot(fastest, std::max(-box.low[k], box.high[k]));
  }
  return mode == ContactMode::sticking ? slowest <= tolerance + room : fastest > tolerance - room;
}

bool may_have(std::uint64_t modes, const Box& box, std::size_t contacts, double tolerance,
              double room) {
  for (std::size_t i = 0; i < contacts; ++i) {
    const auto mode = static_cast<ContactMode>(modes >> (2 * i) & 3U);
    if (!may_be(mode, box, contacts, i, tolerance, room)) return false;
  }
  return true;
}

}  // namespace

bool is_known(const ImpactEnclosure& enclosure) {
  return enclosure.status == EnclosureStatus::enclosed ||
         enclosure.status == EnclosureStatus::outer;
}

OutsideSamples compare_samples(const ImpactProblem& problem, const ImpactSamples& samples,
                               std::int64_t index, const ImpactEnclosure& enclosure) {
  OutsideSamples result;
  if (samples.count == 0 || problem.contacts == 0 || !is_known(enclosure)) return result;
  require::between("index", index, 0, samples.problems - 1);
  require::between("velocities", samples.velocities, problem.velocities, problem.velocities);
  const double speed = fastest_contact(problem);
  for (std::int64_t s = 0; s < samples.count; ++s) {
    const auto row = static_cast<std::size_t>(index * samples.count + s);
    if (samples.status.host()[row] != TrajectoryStatus::terminated) continue;
    const double* v = samples.velocity.data() + row * static_cast<std::size_t>(problem.velocities);
    const double far = distance(enclosure, contact_velocity(problem, v));
    ++result.compared;
    result.largest = std::max(result.largest, far);
    if (!(far <= kOutside * speed)) ++result.outside;
  }
  return result;
}

ComparedModes compare_modes(const ImpactProblem& problem, std::span<const std::uint64_t> modes,
                            double mode_tolerance, const ImpactEnclosure& enclosure) {
  ComparedModes result;
  const std::size_t contacts = enclosure.normal_velocity_min.size();
  if (!is_known(enclosure) || contacts == 0) return result;
  const Box bounds{all_rows(enclosure.normal_velocity_min, enclosure.tangent_velocity_min),
                   all_rows(enclosure.normal_velocity_max, enclosure.tangent_velocity_max)};
  std::vector<Box> boxes;
  for (const EnclosedMode& mode : enclosure.modes) boxes.push_back(box_of(mode, bounds.low.size()));
  if (boxes.empty()) boxes.push_back(bounds);
  const double room = kOutside * fastest_contact(problem);
  for (const std::uint64_t word : modes) {
    const bool possible =
        enclosure.modes.empty()
            ? may_have(word, bounds, contacts, 0.0, 0.0)
            : std::any_of(enclosure.modes.begin(), enclosure.modes.end(),
                          [&](const EnclosedMode& mode) { return mode.modes == word; });
    if (possible) continue;
    const bool within = std::any_of(boxes.begin(), boxes.end(), [&](const Box& box) {
      return may_have(word, box, contacts, mode_tolerance, room);
    });
    (within ? result.within_tolerance : result.outside).push_back(word);
  }
  return result;
}

void take_back(const ImpactProblem& problem, ImpactEnclosure& enclosure) {
  enclosure.status = EnclosureStatus::contradiction;
  enclosure.exact = false;
  enclosure.modes.clear();
  enclosure.impossible_modes.clear();
  enclosure.invariant.clear();
  set_unknown(problem, enclosure);
}

}  // namespace carom::enclosure
