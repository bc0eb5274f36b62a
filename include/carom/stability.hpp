#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <carom/backend.hpp>
#include <carom/batch.hpp>
#include <carom/error.hpp>
#include <carom/sdp.hpp>
#include <carom/settings.hpp>
#include <carom/status.hpp>
#include <carom/types/stability.hpp>
#include <carom/workspace.hpp>

/// Does a rigid body on two frictional contacts return to rest after a small push? (Varkonyi,
/// "Lyapunov stability analysis of rigid body systems with multiple contacts by sums-of-squares
/// programming"; docs/explanation/stability.md derives what is used and corrects what is printed.)
///
/// The body has mass 1 and radius of gyration 1; the frame's origin is its centre of mass at rest,
/// position q = (y, z, theta), velocity v = (u, w, omega). Everything is said of the zero-order
/// dynamics, in which gaps and slips are linear in q and forces and inertia are constant.
namespace carom {

/// Errors: InvalidInput where the stances differ in their number of contacts.
StanceBatch stance_batch(std::span<const Stance> stances);

/// Stance `problem` of a batch on the host, without a name. Errors: InvalidInput for an index that
/// the batch has not, and for arrays of other shapes.
Stance stance_at(const StanceBatch& batch, std::int64_t problem);

/// Verdicts of stances on two contacts. One with a number that is refused gets
/// StabilityVerdict::invalid_input (`stance_refusal` says why) and leaves its neighbours unchanged.
/// Everything lives in the memory space of `batch`. Errors: InvalidInput for shapes that do not
/// fit, for another number of contacts; BackendUnavailable.
StabilityResult analyse_stability(const StanceBatch& batch, const StabilitySettings& settings = {},
                                  Backend backend = Backend::automatic,
                                  Workspace* workspace = nullptr);

/// Why analyse_stability gives stance `problem` of a batch in host memory
/// StabilityVerdict::invalid_input: the first number that is refused, or nothing. Errors:
/// InvalidInput for shapes and for a batch elsewhere.
std::optional<Refusal> stance_refusal(const StanceBatch& batch, std::int64_t problem);

/// Judges the certificates of a result anew, in interval arithmetic with 128 binary digits, from
/// the stances' numbers and the certificates' own only: 1 where one proves stability, [problems].
/// threads: 0 = all. batch, result: on the host. Errors: InvalidInput for shapes that do not fit.
std::vector<std::uint8_t> verify_certificates(const StanceBatch& batch,
                                              const StabilityResult& result, int threads = 0);

/// The same of one function V = V1 + (zeta + kappa) c.q + s (c.v)^2 / 2 of the paper's class.
bool proves_stable(const Stance& stance, double s, double kappa);
/// The same of labelled functions (StabilityResult::coefficients).
bool proves_stable(const Stance& stance, const std::array<double, 24>& coefficients);
/// Whether the mode `word` certainly makes the equilibrium ambiguous, likewise.
bool proves_ambiguous(const Stance& stance, const std::string& word);
/// Whether contact forces within their cones certainly hold the body at rest, likewise; whether
/// certainly none do. Neither where that is too close to tell. Both false for other than two
/// contacts.
bool proves_equilibrium(const Stance& stance);
bool proves_no_equilibrium(const Stance& stance);
/// Largest growth of the motion from (q, v) within `events` events, simulated anew with 60 decimal
/// digits; where several modes or orders of impacts are possible, of four ways to choose. 1e300
/// where a mode goes on for ever, 0 where none is possible.
double replayed_growth(const Stance& stance, const std::array<double, 6>& start,
                       std::int64_t events);

/// The programme of `method`, `sos` or `single`. Errors: InvalidInput as validate, for other
/// methods, for other than two contacts, and where no such function can exist or be posed: a wrench
/// with no part along both contacts, a mode that is not unique, k = W_NN -+ mu W_NT <= 0.
SosProgramme sos_programme(const Stance& stance, StabilityMethod method = StabilityMethod::sos);

/// All 4^contacts modes in the order of their words, F < S < P < N, contact 1 first.
/// Errors: InvalidInput as validate(stance).
std::vector<StanceMode> contact_modes(const Stance& stance);

/// problem: index among others, which refusals tell; < 0: there are none. Errors: InvalidInput
/// naming field, contact and value.
void validate(const Stance& stance, std::int64_t problem = -1);

/// The impact of contact `contact` (0 first) from velocity v with N.v <= 0: Newton's restitution,
/// Coulomb's law on impulses (15)-(21). Errors: InvalidInput as validate; for N.v > 0.
StanceImpact stance_impact(const Stance& stance, int contact, const std::array<double, 3>& v);

/// Whether no single impact creates kinetic energy, whatever the state before it: the test that
/// V1 of (34) needs where e > 0. Errors: InvalidInput as validate.
bool impacts_dissipate(const Stance& stance);

/// The motion from (q, v) by closed forms between events, at most `events` of them, a start event
/// first. Gaps must not be negative. Errors: InvalidInput as validate, for a stance of other than
/// two contacts, for a penetrating start.
std::vector<StanceEvent> stance_trajectory(const Stance& stance, const std::array<double, 3>& q,
                                           const std::array<double, 3>& v, std::int64_t events,
                                           std::uint64_t seed = 0);

}  // namespace carom
