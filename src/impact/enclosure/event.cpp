#include "impact/enclosure/event.hpp"

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

ContactMode mode_named(std::string_view word, std::string_view text) {
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

ImpactEvent parse_event(std::string_view text, std::span<const std::string> contact_names) {
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
      refuse(text, "must name a contact: " + joined(known, " or "));
    }
    const auto contact = static_cast<std::size_t>(name - contact_names.begin());
    if (said.size() == 2) {
      event.modes.emplace_back(static_cast<int>(contact), mode_named(said[1], text));
      continue;
    }
    const bool normal = said[1] == "normal";
    if ((!normal && said[1] != "tangent") || (said[2] != ">" && said[2] != "<")) {
      refuse(text, "must compare normal or tangent by > or <");
    }
    if (!event.direction.empty()) refuse(text, "must have one comparison at most");
    const double sign = said[2] == ">" ? 1.0 : -1.0;
    event.direction.assign(2 * m, 0.0);
    event.direction[normal ? contact : m + contact] = sign;
    event.bound = sign * number_of(said[3], text);
  }
  if (event.modes.empty() && event.direction.empty()) refuse(text, "must not be empty");
  return event;
}

bool never_happens(const ImpactEnclosure& enclosure, const ImpactEvent& event) {
  if (enclosure.status != EnclosureStatus::enclosed && enclosure.status != EnclosureStatus::outer) {
    return false;
  }
  const std::size_t rows = 2 * enclosure.normal_velocity_min.size();
  if (!event.direction.empty()) require::size("direction", event.direction.size(), rows);
  return std::all_of(enclosure.modes.begin(), enclosure.modes.end(), [&](const EnclosedMode& mode) {
    if (!has_modes(mode.modes, event)) return true;
    if (event.direction.empty()) return false;
    // Vertices were rounded to doubles: what they say is not trusted to the last digits.
    double largest = 0.0;
    for (std::size_t k = 0; k < rows; ++k) {
      const std::size_t m = rows / 2;
      const double low =
          k < m ? enclosure.normal_velocity_min[k] : enclosure.tangent_velocity_min[k - m];
      const double high =
          k < m ? enclosure.normal_velocity_max[k] : enclosure.tangent_velocity_max[k - m];
      largest += std::abs(event.direction[k]) * std::max(std::abs(low), std::abs(high));
    }
    for (std::size_t v = 0; v < mode.vertices.size(); v += rows) {
      if (along(event, mode.vertices.data() + v) + 1e-14 * largest > event.bound) return false;
    }
    return true;
  });
}

std::int64_t first_happening(const ImpactProblem& problem, const ImpactSamples& samples,
                             std::int64_t index, const ImpactEvent& event, double mode_tolerance) {
  const auto m = static_cast<std::size_t>(problem.contacts);
  const auto nv = static_cast<std::size_t>(problem.velocities);
  if (!event.direction.empty()) require::size("direction", event.direction.size(), 2 * m);
  require::between("index", index, 0, samples.problems - 1);
  require::between("velocities", samples.velocities, problem.velocities, problem.velocities);
  std::vector<double> u(2 * m);
  for (std::int64_t s = 0; s < samples.count; ++s) {
    const auto row = static_cast<std::size_t>(index * samples.count + s);
    if (samples.status.host()[row] != TrajectoryStatus::terminated) continue;
    const double* v = samples.velocity.data() + row * nv;
    std::uint64_t modes = 0;
    for (std::size_t k = 0; k < 2 * m; ++k) {
      const double* line = k < m ? problem.normal_jacobian.data() + k * nv
                                 : problem.tangent_jacobian.data() + (k - m) * nv;
      u[k] = 0.0;
      for (std::size_t j = 0; j < nv; ++j) u[k] += line[j] * v[j];
    }
    for (std::size_t i = 0; i < m; ++i) {
      auto mode = ContactMode::sticking;
      if (u[i] > mode_tolerance) {
        mode = ContactMode::separating;
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
