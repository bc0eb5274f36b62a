#include <cmath>
#include <numbers>
#include <string>

#include "core/parallel.hpp"
#include "reference/stability/biped.hpp"
#include "stability/backends.hpp"

namespace carom::reference {

namespace {

using biped::System;
using biped::Vector3d;

constexpr std::string_view kLetters = "FSPN";

/// A state to start from: q and v.
struct Start {
  Vector3d q, v;
};

std::vector<Start> starts_of(const System& system, const StabilitySettings& settings,
                             std::mt19937_64& random) {
  std::vector<Start> starts;
  biped::Matrix3d basis;
  const Vector3d n = system.contact[0].normal.cross(system.contact[1].normal).normalized();
  basis << system.contact[0].normal, system.contact[1].normal, n;
  const biped::Matrix3d dual = basis.transpose().inverse();
  for (std::size_t i = 0; i < 2; ++i) {
    const biped::Contact& c = system.contact[i];
    Vector3d r = c.normal.cross(c.tangent);
    if (system.contact[1 - i].normal.dot(r) < 0.0) r = -r;
    starts.push_back({Vector3d::Zero(), r.normalized()});
  }
  const bool inelastic =
      system.contact[0].restitution == 0.0 && system.contact[1].restitution == 0.0;
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  if (inelastic) {
    for (int j = 0; j < 2; ++j) {
      for (std::int64_t k = 0; k < settings.angles; ++k) {
        const double angle = std::numbers::pi * (static_cast<double>(k) + 0.5) /
                             static_cast<double>(settings.angles);
        starts.push_back(
            {Vector3d::Zero(), std::cos(angle) * n - std::sin(angle) * dual.col(j).normalized()});
      }
    }
    return starts;
  }
  for (std::int64_t k = 0; k < settings.states; ++k) {
    Start start;
    for (int i = 0; i < 3; ++i) start.v(i) = 2.0 * unit(random) - 1.0;
    start.q = dual.col(k % 2 == 0 ? 0 : 1) * unit(random) / system.g.norm();
    const biped::Contact& hit = system.contact[k % 2 == 0 ? 1 : 0];
    if (hit.normal.dot(start.v) > 0.0) start.v = -start.v;
    starts.push_back(start);
  }
  return starts;
}

void judge(const StanceBatch& batch, const StabilitySettings& settings, std::size_t p,
           StabilityResult& result) {
  StabilityVerdict& verdict = result.verdict.host()[p];
  verdict = StabilityVerdict::invalid_input;
  result.certificate.host()[p] = CertificateKind::none;
  result.ambiguous_modes.host()[p] = result.paradox.host()[p] = 0;
  result.start_events.host()[p] = 0;
  result.events.host()[p] = 0;
  result.sos_status.host()[p] = Status::cancelled;
  result.sos_iterations.host()[p] = 0;
  if (!stability::accepts(batch, static_cast<std::int64_t>(p))) return;
  const System system = biped::system_of(batch, p);
  verdict = StabilityVerdict::no_equilibrium;
  result.force_margin.host()[p] = biped::force_margin(system);
  const int paradox = biped::paradox(system);
  result.paradox.host()[p] = paradox;
  if (!(result.force_margin.host()[p] >= 0.0)) return;
  for (int word = 0; word < 16; ++word) {
    const std::string text{kLetters[static_cast<std::size_t>(word >> 2)],
                           kLetters[static_cast<std::size_t>(word & 3)]};
    if (text == "SS" || !biped::is_admissible(system, text)) continue;
    if (biped::is_consistent_at_rest(system, text)) {
      result.ambiguous_modes.host()[p] |= 1 << word;
    }
  }
  result.growth.host()[p] = biped::chatter_growth(system);
  verdict = StabilityVerdict::ambiguous;
  if (result.ambiguous_modes.host()[p] != 0) return;
  verdict = StabilityVerdict::undecided;
  const bool painleve = (paradox & 15) != 0;
  const StabilityMethod method = settings.method;
  if ((method == StabilityMethod::any || method == StabilityMethod::paper) && !painleve &&
      biped::dissipates(system.contact[0]) && biped::dissipates(system.contact[1])) {
    if (const auto paper = biped::paper_function(system)) {
      verdict = StabilityVerdict::stable;
      result.certificate.host()[p] = CertificateKind::paper;
      result.s.host()[p] = paper->s;
      result.kappa.host()[p] = paper->kappa;
      result.margin.host()[p] = paper->margin;
      return;
    }
  }
  if (painleve) verdict = StabilityVerdict::no_consistent_mode;
  if (method != StabilityMethod::any && method != StabilityMethod::simulate) return;
  const std::uint64_t number = p + static_cast<std::uint64_t>(settings.first_problem) + 1;
  std::mt19937_64 random(settings.seed + 0x9e3779b97f4a7c15ULL * number);
  for (const Start& start : starts_of(system, settings, random)) {
    const biped::Motion motion = biped::simulate(system, start.q, start.v, settings.events, random);
    result.events.host()[p] += motion.events;
    if (motion.stuck) verdict = StabilityVerdict::no_consistent_mode;
    if (!motion.grows) continue;
    verdict = StabilityVerdict::unstable;
    for (int k = 0; k < 3; ++k) {
      result.start.host()[6 * p + static_cast<std::size_t>(k)] = start.q(k);
      result.start.host()[6 * p + 3 + static_cast<std::size_t>(k)] = start.v(k);
    }
    result.start_growth.host()[p] = motion.growth;
    result.start_events.host()[p] = static_cast<std::int32_t>(motion.events);
    return;
  }
}

}  // namespace

StabilityResult analyse_stability(const StanceBatch& batch, const StabilitySettings& settings,
                                  WorkspaceState* /*workspace*/) {
  if (settings.method == StabilityMethod::labelled || poses_a_programme(settings.method)) {
    throw InvalidInput(Refusal{.field = "method",
                               .relation = "",
                               .value = std::string(to_string(settings.method)),
                               .rule = "is known to backends cpu and cuda, not to reference"});
  }
  auto result = allocate<StabilityResult>(batch);
  fill_nan(result);
  parallel_for_each(batch.problems, settings.threads, [&](std::int64_t problem) {
    judge(batch, settings, static_cast<std::size_t>(problem), result);
  });
  return result;
}

template <>
const StabilityEntries& entries() {
  static constexpr StabilityEntries kEntries{analyse_stability};
  return kEntries;
}

}  // namespace carom::reference
