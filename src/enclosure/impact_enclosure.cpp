#include <carom/impact_enclosure.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/arrays.hpp"
#include "core/parallel.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"
#include "enclosure/comparison.hpp"
#include "enclosure/enclose.hpp"
#include "enclosure/event.hpp"
#include "enclosure/impulse_stores.hpp"
#include "enclosure/invariant.hpp"
#include "enclosure/quadratic_bound.hpp"
#include "enclosure/rounded_impact.hpp"
#include "impact/backends.hpp"
#include "impact/prepare.hpp"

namespace carom {

namespace {

/// Whether polyhedra enclose such an impact; others have only bounds.
bool by_polyhedra(const ImpactProblem& problem, RestitutionLaw law) {
  const int most = problem.dimension == 2 ? kMaxEnclosedContacts : 0;
  return problem.contacts <= most && (enclosure::stored_shares(problem, law).empty() ||
                                      !enclosure::impulse_stores(problem, law).empty());
}

bool has_restitution(const ImpactProblem& problem, RestitutionLaw law) {
  return !enclosure::stored_shares(problem, law).empty();
}

/// Whether polyhedra enclosed it: where stores were not followed to an end, bounds did.
bool of_polyhedra(const ImpactProblem& problem, const ImpactEnclosure& enclosure) {
  return by_polyhedra(problem, enclosure.law) &&
         (!has_restitution(problem, enclosure.law) || enclosure::is_invariant(enclosure.invariant));
}

/// Whether two normal rows, velocities in units of 1 / sqrt(M_jj), are parallel up to what samples
/// may take for rounding.
bool all_but_parallel(const ImpactProblem& problem) {
  constexpr double kApart = 1e-6;
  const auto n = static_cast<std::size_t>(problem.velocities);
  const auto dot = [&](std::size_t a, std::size_t b) {
    double sum = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      sum += problem.normal_jacobian[a * n + j] * problem.normal_jacobian[b * n + j] /
             problem.mass_matrix[j * n + j];
    }
    return sum;
  };
  for (std::size_t a = 0; a < static_cast<std::size_t>(problem.contacts); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (dot(a, b) * dot(a, b) >= (1.0 - kApart * kApart) * dot(a, a) * dot(b, b)) return true;
    }
  }
  return false;
}

/// Doubles may tell rows apart by less than what samples can follow: then both are compared. Where
/// normals are all but parallel, few of them may leave.
void check_unrounded(const ImpactProblem& problem, int threads, ImpactEnclosure& enclosure) {
  const std::int64_t compared = all_but_parallel(problem) ? 1 << 14 : 1 << 10;
  if (!enclosure::is_known(enclosure) || enclosure.data_rounding > 0.0) return;
  ImpactSettings settings;
  settings.method = ImpactMethod::events;
  settings.samples = settings.keep_samples = compared;
  settings.epsilon = 0.0;
  settings.law = enclosure.law;
  settings.threads = threads;
  const ImpactResult result = sample_impacts(make_batch({&problem, 1}), settings, Backend::cpu);
  check_by_samples(problem, result.samples, 0, enclosure);
}

ImpactEnclosure enclosed(const ImpactProblem& problem, const EnclosureSettings& settings) {
  if (!by_polyhedra(problem, settings.law)) {
    return enclosure::bound_by_forms(problem, settings);
  }
  ImpactEnclosure result = enclosure::enclose(problem, settings);
  if (has_restitution(problem, settings.law) && !enclosure::is_known(result)) {
    return enclosure::bound_by_forms(problem, settings);
  }
  check_unrounded(problem, settings.threads, result);
  return result;
}

ImpactDecision decided(const ImpactProblem& problem, const ImpactEvent& event,
                       const EnclosureSettings& settings) {
  const bool restitution = has_restitution(problem, settings.law);
  if (!restitution && by_polyhedra(problem, settings.law)) {
    ImpactDecision decision = enclosure::decide(problem, event, settings);
    if (decision.answer == ImpactAnswer::never) {
      decision.proof.law = settings.law;
      check_unrounded(problem, settings.threads, decision.proof);
      if (!enclosure::is_known(decision.proof)) decision.answer = ImpactAnswer::open;
    }
    return decision;
  }
  ImpactDecision decision;
  ImpactEnclosure bounds = by_polyhedra(problem, settings.law)
                               ? enclosed(problem, settings)
                               : enclosure::bound_by_forms(problem, settings, &event);
  decision.made = bounds.made;
  decision.seconds = bounds.seconds;
  if (enclosure::never_happens(bounds, event)) {
    decision.answer = ImpactAnswer::never;
    decision.proof = std::move(bounds);
  }
  return decision;
}

/// visit(p, problem, settings of its own) on all threads that the settings allow; null where the
/// numbers are refused.
template <class Visit>
void for_each_good_problem(const ImpactBatch& batch, const EnclosureSettings& settings,
                           Visit&& visit) {
  settings.validate();
  arrays::require_sizes(batch, batch);
  require::reachable(Backend::cpu, arrays::common_space("impact batch", batch));
  EnclosureSettings own = settings;
  if (batch.problems > 1) own.threads = 1;
  parallel_for_each(batch.problems, settings.threads, [&](std::int64_t p) {
    if (problem_refusal(batch, p)) return visit(p, nullptr, own);
    const ImpactProblem problem = problem_of(batch, p);
    visit(p, &problem, own);
  });
}

}  // namespace

void EnclosureSettings::validate() const { require::settings(*this); }

std::vector<ImpactEnclosure> enclose_impacts(const ImpactBatch& batch,
                                             const EnclosureSettings& settings) {
  std::vector<ImpactEnclosure> result(static_cast<std::size_t>(batch.problems));
  for_each_good_problem(
      batch, settings,
      [&](std::int64_t p, const ImpactProblem* problem, const EnclosureSettings& own) {
        ImpactEnclosure& enclosure = result[static_cast<std::size_t>(p)];
        if (problem == nullptr) {
          enclosure.status = EnclosureStatus::invalid_input;
        } else {
          enclosure = enclosed(*problem, own);
        }
      });
  return result;
}

ImpactEnclosure enclose_impact(const ImpactProblem& problem, const EnclosureSettings& settings) {
  settings.validate();
  validate(problem);
  return enclosed(problem, settings);
}

namespace {

void require_event(const ImpactEvent& event, int dimension, int contacts) {
  if (event.modes.empty() && event.direction.empty()) {
    require::refuse({}, "event", {}, "empty", "must ask for modes or a half-space");
  }
  for (const auto& [contact, mode] : event.modes) {
    require::between("event: contact", contact, 0, contacts - 1);
  }
  if (!event.direction.empty()) {
    require::size("direction", event.direction.size(),
                  static_cast<std::size_t>(dimension) * static_cast<std::size_t>(contacts));
  }
}

}  // namespace

std::vector<ImpactDecision> decide_impacts(const ImpactBatch& batch, const ImpactEvent& event,
                                           const EnclosureSettings& settings) {
  std::vector<ImpactDecision> result(static_cast<std::size_t>(batch.problems));
  require_event(event, batch.dimension, batch.contacts);
  for_each_good_problem(
      batch, settings,
      [&](std::int64_t p, const ImpactProblem* problem, const EnclosureSettings& own) {
        ImpactDecision& decision = result[static_cast<std::size_t>(p)];
        if (problem == nullptr) {
          decision.answer = ImpactAnswer::invalid_input;
        } else {
          decision = decided(*problem, event, own);
        }
      });
  return result;
}

ImpactDecision decide_impact(const ImpactProblem& problem, const ImpactEvent& event,
                             const EnclosureSettings& settings) {
  settings.validate();
  validate(problem);
  require_event(event, problem.dimension, problem.contacts);
  return decided(problem, event, settings);
}

bool proves_enclosure(const ImpactProblem& problem, const ImpactEnclosure& enclosure) {
  validate(problem);
  return of_polyhedra(problem, enclosure) ? enclosure::proves(problem, enclosure)
                                          : enclosure::proves_bound(problem, enclosure);
}

ImpactEnclosure proven_enclosure(const ImpactProblem& problem, const ImpactEnclosure& enclosure) {
  validate(problem);
  const bool outer = enclosure.status == EnclosureStatus::outer;
  if (!outer && enclosure.status != EnclosureStatus::enclosed) return {};
  const bool polyhedra = of_polyhedra(problem, enclosure);
  if (!polyhedra && !outer) return {};
  std::optional<ImpactEnclosure> held =
      polyhedra ? enclosure::proven(problem, enclosure.law, outer, enclosure.invariant)
                : enclosure::proven_bound(problem, enclosure.law, enclosure.invariant);
  if (!held) return {};
  held->status = enclosure.status;
  held->invariant = enclosure.invariant;
  held->law = enclosure.law;
  return std::move(*held);
}

ImpactEvent impact_event(std::string_view text, std::span<const std::string> contact_names,
                         int dimension) {
  require::between("dimension", dimension, 2, 3);
  return enclosure::parse_event(text, contact_names, dimension);
}

bool never_happens(const ImpactEnclosure& enclosure, const ImpactEvent& event) {
  return enclosure::never_happens(enclosure, event);
}

std::int64_t first_happening(const ImpactProblem& problem, const ImpactSamples& samples,
                             std::int64_t index, const ImpactEvent& event, double mode_tolerance) {
  return enclosure::first_happening(problem, samples, index, event, mode_tolerance);
}

OutsideSamples compare_samples(const ImpactProblem& problem, const ImpactSamples& samples,
                               std::int64_t index, const ImpactEnclosure& enclosure) {
  return enclosure::compare_samples(problem, samples, index, enclosure);
}

OutsideSamples check_by_samples(const ImpactProblem& problem, const ImpactSamples& samples,
                                std::int64_t index, ImpactEnclosure& enclosure) {
  const OutsideSamples found = enclosure::compare_samples(problem, samples, index, enclosure);
  if (found.outside > 0) enclosure::take_back(problem, enclosure);
  return found;
}

ComparedModes compare_modes(const ImpactProblem& problem, std::span<const std::uint64_t> modes,
                            double mode_tolerance, const ImpactEnclosure& enclosure) {
  return enclosure::compare_modes(problem, modes, mode_tolerance, enclosure);
}

ComparedModes check_by_modes(const ImpactProblem& problem, std::span<const std::uint64_t> modes,
                             double mode_tolerance, ImpactEnclosure& enclosure) {
  ComparedModes found = enclosure::compare_modes(problem, modes, mode_tolerance, enclosure);
  if (!found.outside.empty()) enclosure::take_back(problem, enclosure);
  return found;
}

bool is_in_doubt(const ImpactEnclosure& enclosure, const ImpactEvent& event,
                 std::span<const std::uint64_t> within_tolerance) {
  return enclosure::is_in_doubt(enclosure, event, within_tolerance);
}

double filled_share(const ImpactEnclosure& enclosure, std::span<const double> low,
                    std::span<const double> high) {
  const std::size_t m = enclosure.normal_velocity_min.size();
  const std::size_t rows = m + enclosure.tangent_velocity_min.size();
  require::size("low", low.size(), rows);
  require::size("high", high.size(), rows);
  const auto outer = [&](std::size_t k) {
    return k < m ? std::pair(enclosure.normal_velocity_min[k], enclosure.normal_velocity_max[k])
                 : std::pair(enclosure.tangent_velocity_min[k - m],
                             enclosure.tangent_velocity_max[k - m]);
  };
  double fastest = 0.0;
  for (std::size_t k = 0; k < rows; ++k) {
    fastest = std::max({fastest, std::abs(outer(k).first), std::abs(outer(k).second)});
  }
  double share = 1.0;
  for (std::size_t k = 0; k < rows; ++k) {
    const double range = outer(k).second - outer(k).first;
    if (!(range > 1e-9 * fastest)) continue;
    const double within = std::min(high[k], outer(k).second) - std::max(low[k], outer(k).first);
    const double missing = range - std::max(0.0, within);
    share = std::min(share, 1.0 - missing / std::max(range, kNarrowRange * fastest));
  }
  return share;
}

}  // namespace carom
