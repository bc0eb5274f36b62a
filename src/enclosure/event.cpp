#include "enclosure/event.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/require.hpp"
#include "core/words.hpp"

namespace carom::enclosure {

namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& rule) {
  require::refuse({}, "never", {}, "\"" + std::string(text) + "\"", rule);
}

ContactMode mode_named(std::string_view word, std::string_view text, int dimension) {
  if (dimension == 3) {
    if (word == "separating") return ContactMode::separating;
    if (word == "sticking") return ContactMode::sticking;
    if (word == "sliding") return ContactMode::sliding;
    refuse(text,
           "must say separating, sticking, sliding, normal, tangent1 or tangent2 of a contact");
  }
  if (word == "sliding+") word = "sliding";
  for (const auto& [mode, name] : words<ContactMode>) {
    if (name == word) return mode;
  }
  refuse(text, "must say separating, sticking, sliding+, sliding-, normal or tangent of a contact");
}

double number_of(const std::string& word, std::string_view text) {
  std::size_t used = 0;
  double value = 0.0;
  try {
    value = std::stod(word, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != word.size() || !std::isfinite(value)) {
    refuse(text, "must compare with a finite number");
  }
  return value;
}

constexpr auto kNoRow = static_cast<std::size_t>(-1);

/// Of J: normals first, then the tangents of one contact after another.
std::size_t row_named(std::string_view word, std::size_t contact, std::size_t contacts,
                      int dimension) {
  if (word == "normal") return contact;
  if (dimension == 2) return word == "tangent" ? contacts + contact : kNoRow;
  if (word == "tangent1") return contacts + 2 * contact;
  return word == "tangent2" ? contacts + 2 * contact + 1 : kNoRow;
}

/// The bounds of contact velocity k, low and high.
std::pair<double, double> bounds_of(const ImpactEnclosure& enclosure, std::size_t k) {
  const std::size_t m = enclosure.normal_velocity_min.size();
  if (k < m) return {enclosure.normal_velocity_min[k], enclosure.normal_velocity_max[k]};
  return {enclosure.tangent_velocity_min[k - m], enclosure.tangent_velocity_max[k - m]};
}

/// Whether the bounds exclude that a contact has a mode.
bool excludes(const ImpactEnclosure& enclosure, int contact, ContactMode mode) {
  const std::size_t m = enclosure.normal_velocity_min.size();
  const auto at = static_cast<std::size_t>(contact);
  const std::size_t tangents = enclosure.tangent_velocity_min.size() / m;
  if (mode == ContactMode::separating) return !(enclosure.normal_velocity_max[at] > 0.0);
  if (enclosure.normal_velocity_min[at] > 0.0) return true;
  bool may_stick = true;
  for (std::size_t t = 0; t < tangents; ++t) {
    const auto [low, high] = bounds_of(enclosure, m + tangents * at + t);
    may_stick = may_stick && low <= 0.0 && high >= 0.0;
    if (tangents == 1 && mode == ContactMode::sliding) return !(high > 0.0);
    if (tangents == 1 && mode == ContactMode::sliding_negative) return !(low < 0.0);
  }
  return mode == ContactMode::sticking && !may_stick;
}

/// Whether the bounds exclude the event.
bool bounds_exclude(const ImpactEnclosure& enclosure, const ImpactEvent& event) {
  const auto contacts = static_cast<int>(enclosure.normal_velocity_min.size());
  for (const auto& [contact, mode] : event.modes) {
    require::between("event: contact", contact, 0, contacts - 1);
    if (excludes(enclosure, contact, mode)) return true;
  }
  if (event.direction.empty()) return false;
  double most = 0.0, size = 0.0;
  for (std::size_t k = 0; k < event.direction.size(); ++k) {
    if (event.direction[k] == 0.0) continue;
    const auto [low, high] = bounds_of(enclosure, k);
    const double term = event.direction[k] * (event.direction[k] > 0.0 ? high : low);
    most += term;
    size += std::abs(term);
  }
  return most + 1e-14 * size <= event.bound;
}

double along(const ImpactEvent& event, const double* u) {
  double sum = 0.0;
  for (std::size_t k = 0; k < event.direction.size(); ++k) sum += event.direction[k] * u[k];
  return sum;
}

}  // namespace

bool has_modes(std::uint64_t modes, const ImpactEvent& event) {
  return std::all_of(event.modes.begin(), event.modes.end(), [&](const auto& asked) {
    return ((modes >> (2 * asked.first)) & 3U) == static_cast<std::uint64_t>(asked.second);
  });
}

ImpactEvent parse_event(std::string_view text, std::span<const std::string> contact_names,
                        int dimension) {
  const std::size_t m = contact_names.size();
  ImpactEvent event;
  std::istringstream parts{std::string(text)};
  for (std::string part; std::getline(parts, part, ',');) {
    std::istringstream in(part);
    std::vector<std::string> said;
    for (std::string word; in >> word;) said.push_back(word);
    if (said.size() != 2 && said.size() != 4) {
      refuse(text, "must be like \"A separating\" or \"A normal > 0.1\", joined by commas");
    }
    const auto name = std::find(contact_names.begin(), contact_names.end(), said[0]);
    if (name == contact_names.end()) {
      std::vector<std::string> known(contact_names.begin(), contact_names.end());
      refuse(text, known.empty() ? "must name a contact: the problem has none"
                                 : "must name a contact: " + joined(known, " or "));
    }
    const auto contact = static_cast<std::size_t>(name - contact_names.begin());
    if (said.size() == 2) {
      event.modes.emplace_back(static_cast<int>(contact), mode_named(said[1], text, dimension));
      continue;
    }
    const std::size_t row = row_named(said[1], contact, m, dimension);
    if (row == kNoRow || (said[2] != ">" && said[2] != "<")) {
      refuse(text, dimension == 2 ? "must compare normal or tangent by > or <"
                                  : "must compare normal, tangent1 or tangent2 by > or <");
    }
    if (!event.direction.empty()) refuse(text, "must have one comparison at most");
    const double sign = said[2] == ">" ? 1.0 : -1.0;
    event.direction.assign(static_cast<std::size_t>(dimension) * m, 0.0);
    event.direction[row] = sign;
    event.bound = sign * number_of(said[3], text);
  }
  if (event.modes.empty() && event.direction.empty()) refuse(text, "must not be empty");
  return event;
}

bool never_happens(const ImpactEnclosure& enclosure, const ImpactEvent& event) {
  if (enclosure.status != EnclosureStatus::enclosed && enclosure.status != EnclosureStatus::outer) {
    return false;
  }
  const std::size_t rows =
      enclosure.normal_velocity_min.size() + enclosure.tangent_velocity_min.size();
  if (!event.direction.empty()) require::size("direction", event.direction.size(), rows);
  if (bounds_exclude(enclosure, event)) return true;
  if (enclosure.modes.empty()) return false;
  return std::all_of(enclosure.modes.begin(), enclosure.modes.end(), [&](const EnclosedMode& mode) {
    if (!has_modes(mode.modes, event)) return true;
    if (event.direction.empty()) return false;
    // Vertices were rounded to doubles: what they say is not trusted to the last digits.
    double largest = 0.0;
    for (std::size_t k = 0; k < rows; ++k) {
      const auto [low, high] = bounds_of(enclosure, k);
      largest += std::abs(event.direction[k]) * std::max(std::abs(low), std::abs(high));
    }
    for (std::size_t v = 0; v < mode.vertices.size(); v += rows) {
      if (along(event, mode.vertices.data() + v) + 1e-14 * largest > event.bound) return false;
    }
    return true;
  });
}

bool is_in_doubt(const ImpactEnclosure& enclosure, const ImpactEvent& event,
                 std::span<const std::uint64_t> within_tolerance) {
  if (event.modes.empty() || !enclosure::never_happens(enclosure, event)) return false;
  const ImpactEvent beyond{{}, event.direction, event.bound};
  if (!event.direction.empty() && enclosure::never_happens(enclosure, beyond)) return false;
  return std::any_of(within_tolerance.begin(), within_tolerance.end(),
                     [&](std::uint64_t modes) { return has_modes(modes, event); });
}

std::int64_t first_happening(const ImpactProblem& problem, const ImpactSamples& samples,
                             std::int64_t index, const ImpactEvent& event, double mode_tolerance) {
  const auto m = static_cast<std::size_t>(problem.contacts);
  const auto nv = static_cast<std::size_t>(problem.velocities);
  const auto dimension = static_cast<std::size_t>(problem.dimension);
  const std::size_t rows = dimension * m;
  if (!event.direction.empty()) require::size("direction", event.direction.size(), rows);
  require::between("index", index, 0, samples.problems - 1);
  require::between("velocities", samples.velocities, problem.velocities, problem.velocities);
  std::vector<double> u(rows);
  for (std::int64_t s = 0; s < samples.count; ++s) {
    const auto row = static_cast<std::size_t>(index * samples.count + s);
    if (samples.status.host()[row] != TrajectoryStatus::terminated) continue;
    const double* v = samples.velocity.data() + row * nv;
    std::uint64_t modes = 0;
    for (std::size_t k = 0; k < rows; ++k) {
      const double* line = k < m ? problem.normal_jacobian.data() + k * nv
                                 : problem.tangent_jacobian.data() + (k - m) * nv;
      u[k] = 0.0;
      for (std::size_t j = 0; j < nv; ++j) u[k] += line[j] * v[j];
    }
    for (std::size_t i = 0; i < m; ++i) {
      auto mode = ContactMode::sticking;
      if (u[i] > mode_tolerance) {
        mode = ContactMode::separating;
      } else if (dimension == 3) {
        const double slip = std::hypot(u[m + 2 * i], u[m + 2 * i + 1]);
        if (slip > mode_tolerance) mode = ContactMode::sliding;
      } else if (std::abs(u[m + i]) > mode_tolerance) {
        mode = u[m + i] > 0.0 ? ContactMode::sliding : ContactMode::sliding_negative;
      }
      modes |= static_cast<std::uint64_t>(mode) << (2 * i);
    }
    if (has_modes(modes, event) &&
        (event.direction.empty() || along(event, u.data()) > event.bound)) {
      return s;
    }
  }
  return -1;
}

}  // namespace carom::enclosure
