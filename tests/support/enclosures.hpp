#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <carom/impact_enclosure.hpp>

#include "support/bits.hpp"
#include "support/random_problems.hpp"

namespace carom::test {

/// Settings of solutions followed from event to event, every sample kept.
inline ImpactSettings events(std::int64_t samples) {
  ImpactSettings settings;
  settings.method = ImpactMethod::events;
  settings.samples = samples;
  settings.keep_samples = -1;
  settings.seed = 3;
  return settings;
}

inline ImpactResult followed(const ImpactProblem& problem, const ImpactSettings& settings) {
  return sample_impacts(make_batch({&problem, 1}), settings, Backend::cpu);
}

/// A sample depends only on the seed, the problem and its index.
inline void expect_addressed(const ImpactProblem& problem) {
  ImpactSettings settings = events(3000);
  settings.threads = 1;
  const ImpactResult all = followed(problem, settings);
  settings.threads = 2;
  const ImpactResult again = followed(problem, settings);
  settings.first_sample = 1000;
  settings.samples = 500;
  const ImpactResult part = followed(problem, settings);
  settings.seed = 4;
  const ImpactResult other = followed(problem, settings);
  const auto nv = static_cast<std::size_t>(problem.velocities);
  EXPECT_EQ(first_difference(all.samples.velocity, again.samples.velocity), -1);
  EXPECT_EQ(first_difference(all.samples.velocity, 1000 * nv, part.samples.velocity, 0, 500 * nv),
            -1);
  EXPECT_GE(first_difference(part.samples.velocity, other.samples.velocity), 0);
}

/// A planar problem with J and v normally distributed, M well conditioned, mu in [0, most], contact
/// 0 approaching.
inline ImpactProblem random_impact(Generator& random, int contacts, int velocities, double most) {
  ImpactProblem problem;
  problem.velocities = velocities;
  problem.contacts = contacts;
  const Matrix half = random.normal_matrix(velocities, velocities);
  const Matrix mass = half * half.transpose() + 0.3 * Matrix::Identity(velocities, velocities);
  const Matrix normal = random.normal_matrix(contacts, velocities);
  const Matrix tangent = random.normal_matrix(contacts, velocities);
  Vector v = random.normal_vector(velocities);
  if (contacts > 0 && normal.row(0).dot(v) > 0.0) v = -v;
  const auto list = [](const auto& m) {
    return std::vector<double>(m.data(), m.data() + m.size());
  };
  problem.mass_matrix = list(mass);
  problem.normal_jacobian = list(normal);
  problem.tangent_jacobian = list(tangent);
  problem.velocity = list(v);
  for (int i = 0; i < contacts; ++i) problem.friction.push_back(random.between(0.0, most));
  return problem;
}

/// How many of an invariant's words, from `first` on, every `step`-th one of at least 10^9, were
/// raised and lowered by a hundredth, and how many of the changes a proof refused.
struct Changes {
  int made = 0, refused = 0;
};

inline Changes change_entries(const ImpactProblem& problem, const ImpactEnclosure& set,
                              const std::string& first, std::size_t step) {
  std::istringstream in(set.invariant);
  const std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
  const auto start = std::find(words.begin(), words.end(), first) - words.begin();
  Changes changes;
  for (std::size_t i = static_cast<std::size_t>(start) + 3; i < words.size(); i += step) {
    const long long value = std::stoll(words[i]);
    if (std::abs(value) < 1'000'000'000) continue;
    for (const double by : {0.99, 1.01}) {
      ImpactEnclosure damaged = set;
      damaged.invariant.clear();
      for (std::size_t k = 0; k < words.size(); ++k) {
        damaged.invariant +=
            (k == i ? std::to_string(std::llround(by * static_cast<double>(value))) : words[k]) +
            ' ';
      }
      ++changes.made;
      changes.refused += proves_enclosure(problem, damaged) ? 0 : 1;
    }
  }
  return changes;
}

/// The same problem of two contacts, the second one first.
inline ImpactProblem swapped(ImpactProblem problem) {
  const std::ptrdiff_t nv = problem.velocities;
  for (std::vector<double>* rows : {&problem.normal_jacobian, &problem.tangent_jacobian}) {
    std::rotate(rows->begin(), rows->begin() + nv, rows->end());
  }
  std::swap(problem.friction[0], problem.friction[1]);
  return problem;
}

/// Bounds of contact velocities, normals, then tangents.
struct Bounds {
  std::vector<double> low, high;
};

template <class Source>  // an enclosure or a summary
Bounds bounds_of(const Source& source) {
  Bounds b{source.normal_velocity_min, source.normal_velocity_max};
  b.low.insert(b.low.end(), source.tangent_velocity_min.begin(), source.tangent_velocity_min.end());
  b.high.insert(b.high.end(), source.tangent_velocity_max.begin(),
                source.tangent_velocity_max.end());
  return b;
}

/// The largest speed of a contact before the impact, in one direction of its frame.
inline double contact_speed(const ImpactProblem& problem) {
  double most = 0.0;
  for (const auto* rows : {&problem.normal_jacobian, &problem.tangent_jacobian}) {
    for (std::size_t at = 0; at < rows->size(); at += problem.velocity.size()) {
      double u = 0.0;
      for (std::size_t j = 0; j < problem.velocity.size(); ++j) {
        u += (*rows)[at + j] * problem.velocity[j];
      }
      most = std::max(most, std::abs(u));
    }
  }
  return most;
}

/// By how much `inner` leaves `outer`; negative inside.
inline double excess(const Bounds& inner, const Bounds& outer) {
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < outer.low.size(); ++k) {
    most = std::max({most, outer.low[k] - inner.low[k], inner.high[k] - outer.high[k]});
  }
  return most;
}

/// By how much contact velocities lie outside of the mode's polyhedron that holds them best;
/// infinite where no mode has constraints.
inline double outside(const ImpactEnclosure& enclosure, const std::vector<double>& u) {
  double least = std::numeric_limits<double>::infinity();
  for (const EnclosedMode& mode : enclosure.modes) {
    double most = mode.constraints.empty() ? std::numeric_limits<double>::infinity() : 0.0;
    for (std::size_t c = 0; c < mode.constraints.size(); c += u.size() + 1) {
      double value = -mode.constraints[c + u.size()];
      for (std::size_t k = 0; k < u.size(); ++k) value += mode.constraints[c + k] * u[k];
      most = std::max(most, value);
    }
    for (std::size_t i = 0; i < u.size() / 2; ++i) {  // the face's own closure
      const auto word = static_cast<ContactMode>((mode.modes >> (2 * i)) & 3U);
      const double t = u[u.size() / 2 + i];
      most = std::max(most, word == ContactMode::separating ? -u[i] : std::abs(u[i]));
      if (word == ContactMode::sticking) most = std::max(most, std::abs(t));
      if (word == ContactMode::sliding) most = std::max(most, -t);
      if (word == ContactMode::sliding_negative) most = std::max(most, t);
    }
    least = std::min(least, most);
  }
  return least;
}

}  // namespace carom::test
