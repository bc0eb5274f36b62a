#include <carom/stability.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "core/arrays.hpp"
#include "core/backends.hpp"
#include "core/parallel.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"
#include "core/workspace.hpp"
#include "stability/backends.hpp"
#include "stability/exact/proofs.hpp"
#include "stability/modes.hpp"
#include "stability/numbers.hpp"
#include "stability/prepare.hpp"
#include "stability/sos.hpp"

namespace carom {

namespace {

namespace body = kernels::stability;

void require_two_contacts(const Stance& stance) {
  validate(stance);
  if (stance.contacts.size() == 2) return;
  throw InvalidInput(Refusal{.field = "contacts",
                             .kind = "stance",
                             .name = stance.name,
                             .relation = "has",
                             .value = std::to_string(stance.contacts.size()),
                             .rule = "must have two for this"});
}

constexpr std::int64_t kVerifyGrain = 64;

body::ContactForm contact_of(const Stance& stance, int contact) {
  require::between("contact", contact, 0, static_cast<std::int64_t>(stance.contacts.size()) - 1);
  const stability::PreparedStances prepared = stability::prepare(stance);
  const auto i = static_cast<std::size_t>(contact);
  return body::contact_form(prepared.normal.data() + 3 * i, prepared.tangent.data() + 3 * i,
                            stance.contacts[i].friction, stance.contacts[i].restitution);
}

}  // namespace

void StabilitySettings::validate() const { require::settings(*this); }

StanceBatch stance_batch(std::span<const Stance> stances) { return stability::batch_of(stances); }

Stance stance_at(const StanceBatch& batch, std::int64_t problem) {
  arrays::require_sizes(batch, batch);
  require::between("problem", problem, 0, batch.problems - 1);
  return stability::stance_at(batch, problem);
}

void validate(const Stance& stance, std::int64_t problem) {
  const auto which = problem < 0 ? std::nullopt : std::optional(problem);
  const auto contacts = static_cast<std::int64_t>(stance.contacts.size());
  require::between("contacts", contacts, 1, kMaxStanceContacts,
                   {.kind = "stance", .problem = which, .name = stance.name});
  auto wrong = stance_refusal(stance_batch({&stance, 1}), 0);
  if (!wrong) return;
  wrong->problem = which;
  wrong->name = stance.name;
  throw InvalidInput(*std::move(wrong));
}

std::optional<Refusal> stance_refusal(const StanceBatch& batch, std::int64_t problem) {
  arrays::require_sizes(batch, batch);
  require::between("problem", problem, 0, batch.problems - 1);
  require::reachable(Backend::cpu, arrays::common_space("stance batch", batch));
  Refusal wrong = stability::refused(batch, problem);
  if (wrong.field.empty()) return std::nullopt;
  wrong.problem = problem;
  return wrong;
}

StabilityResult analyse_stability(const StanceBatch& batch, const StabilitySettings& settings,
                                  Backend backend, Workspace* workspace) {
  settings.validate();
  require::at_least("problems", batch.problems, 0);
  if (batch.problems > 0) require::between("contacts", batch.contacts, 2, 2);
  arrays::require_sizes(batch, batch);
  const Backend chosen = resolve(backend);
  require::reachable(chosen, arrays::common_space("stance batch", batch));
  const WorkspaceLease lease(workspace);
  return entries<StabilityEntries>(chosen).analyse(batch, settings, lease.state());
}

std::vector<std::uint8_t> verify_certificates(const StanceBatch& batch,
                                              const StabilityResult& result, int threads) {
  arrays::require_sizes(batch, batch);
  arrays::require_sizes(result, batch);
  if (batch.problems > 0) require::between("contacts", batch.contacts, 2, 2);
  std::vector<std::uint8_t> exact(static_cast<std::size_t>(batch.problems), 0);
  parallel_for(batch.problems, kVerifyGrain, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      const auto i = static_cast<std::size_t>(p);
      bool proven = false;
      const CertificateKind kind = result.certificate.host()[i];
      if (kind == CertificateKind::paper || kind == CertificateKind::sos) {
        proven = exact::paper_function_proves(stance_at(batch, p), result.s.host()[i],
                                              result.kappa.host()[i]);
      } else if (kind == CertificateKind::labelled) {
        std::array<double, 24> numbers{};
        std::copy_n(result.coefficients.data() + 24 * p, numbers.size(), numbers.begin());
        proven = exact::labelled_functions_prove(stance_at(batch, p), numbers);
      }
      exact[i] = proven ? 1 : 0;
    }
  });
  return exact;
}

bool proves_stable(const Stance& stance, double s, double kappa) {
  require_two_contacts(stance);
  return exact::paper_function_proves(stance, s, kappa);
}

bool proves_stable(const Stance& stance, const std::array<double, 24>& coefficients) {
  require_two_contacts(stance);
  return exact::labelled_functions_prove(stance, coefficients);
}

bool proves_equilibrium(const Stance& stance) {
  validate(stance);
  return exact::is_held(stance);
}

bool proves_no_equilibrium(const Stance& stance) {
  validate(stance);
  return exact::is_never_held(stance);
}

bool proves_ambiguous(const Stance& stance, const std::string& word) {
  require_two_contacts(stance);
  return exact::is_ambiguous_by(stance, word);
}

double replayed_growth(const Stance& stance, const std::array<double, 6>& start,
                       std::int64_t events) {
  require_two_contacts(stance);
  return exact::replayed_growth(stance, start, events);
}

SosProgramme sos_programme(const Stance& stance, StabilityMethod method) {
  require_two_contacts(stance);
  if (!poses_a_programme(method)) {
    throw InvalidInput(
        Refusal{.field = "method",
                .value = std::string(to_string(method)),
                .rule = "must be sos or single: the others solve no sums-of-squares program"});
  }
  const auto setting = stability::setting_of(stability::form_of(stance));
  if (!setting.usable) {
    throw InvalidInput(Refusal{.field = "contacts",
                               .kind = "stance",
                               .name = stance.name,
                               .relation = "",
                               .value = "",
                               .rule =
                                   "have no sums-of-squares program: the wrench has no part along "
                                   "both, they do not press, or a mode is not unique"});
  }
  const auto theorem =
      method == StabilityMethod::single ? stability::SosTheorem::one : stability::SosTheorem::two;
  const auto of_p = stability::monomials_of_p();
  SosProgramme programme;
  programme.unknowns = static_cast<int>(of_p.size());
  for (const auto& c : stability::sos_conditions(setting, theorem, {})) {
    programme.rows +=
        static_cast<int>(stability::monomials(c.variables, 0, 2 * c.main_degree).size());
    for (std::size_t k = 0; k <= c.where.size(); ++k) {
      const auto n = static_cast<int>(c.basis(k).size());
      programme.blocks.push_back(n);
      programme.unknowns += n * (n + 1) / 2;
    }
  }
  programme.problem = stability::sos_face(setting, theorem).largest_margin();
  return programme;
}

std::vector<StanceMode> contact_modes(const Stance& stance) {
  validate(stance);
  return stability::contact_modes(stance);
}

StanceImpact stance_impact(const Stance& stance, int contact, const std::array<double, 3>& v) {
  validate(stance);
  const body::ContactForm c = contact_of(stance, contact);
  require::finite("velocity", v.data(), v.size(), 0);
  const body::Vec3 before{v[0], v[1], v[2]};
  const double approach = dot(c.normal, before);
  if (!(approach <= 0.0)) {
    throw InvalidInput(Refusal{.field = "velocity",
                               .relation = "has",
                               .value = "gap velocity " + settings::shown(approach),
                               .rule = "must not be positive: the contact opens"});
  }
  const body::Impulses p = body::impact_of(c.nn, c.nt, c.tt, c.friction, c.restitution, approach,
                                           dot(c.tangent, before));
  const body::Vec3 after = before + p.normal * c.normal + p.tangential * c.tangent;
  const ImpactKind kinds[] = {ImpactKind::stick, ImpactKind::stick, ImpactKind::slip_positive,
                              ImpactKind::slip_negative};
  return {kinds[p.letter], p.normal, p.tangential, {after.y, after.z, after.t}, p.consistent};
}

bool impacts_dissipate(const Stance& stance) {
  validate(stance);
  for (int i = 0; i < static_cast<int>(stance.contacts.size()); ++i) {
    if (!body::dissipates(contact_of(stance, i))) return false;
  }
  return true;
}

std::vector<StanceEvent> stance_trajectory(const Stance& stance, const std::array<double, 3>& q,
                                           const std::array<double, 3>& v, std::int64_t events,
                                           std::uint64_t seed) {
  require_two_contacts(stance);
  require::at_least("events", events, 0);
  require::finite("position", q.data(), q.size(), 0);
  require::finite("velocity", v.data(), v.size(), 0);
  return stability::trajectory(stance, q, v, events, seed);
}

}  // namespace carom
