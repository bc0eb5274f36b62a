#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <carom/types/array_field.hpp>
#include <carom/types/backend.hpp>
#include <carom/types/batch.hpp>
#include <carom/types/sdp.hpp>
#include <carom/types/settings.hpp>
#include <carom/types/status.hpp>
#include <carom/types/words.hpp>
#include <carom/types/workspace.hpp>

/// The plain structs of carom/stability.hpp.
namespace carom {

inline constexpr std::int64_t kMaxStanceContacts = 4;

/// One contact of a stance.
struct StanceContact {
  double l = 0.0;            ///< the body's point is (l, -h) [m]
  double h = 0.0;            ///< [m]
  double slope = 0.0;        ///< phi [rad]: the normal is (-sin phi, cos phi)
  double friction = 0.0;     ///< mu >= 0
  double restitution = 0.0;  ///< e in [0, 1), Newton's
};

/// A body on contacts, contact 1 first, under a constant wrench.
struct Stance {
  std::string name;
  std::vector<StanceContact> contacts;
  double force = 1.0;   ///< F > 0 [N]
  double angle = 0.0;   ///< alpha [rad]: the force is F (sin alpha, -cos alpha)
  double torque = 0.0;  ///< T [N m]
};

struct StanceSizes {
  std::int64_t problems = 0;
  std::int64_t contacts = 2;
};

template <template <class> class Array>
struct StanceBatchArrays {
  using Sizes = StanceSizes;

  Array<double> l;            ///< [m], [problems, contacts]
  Array<double> h;            ///< [m], [problems, contacts]
  Array<double> slope;        ///< phi [rad], [problems, contacts]
  Array<double> friction;     ///< mu >= 0, [problems, contacts]
  Array<double> restitution;  ///< e in [0, 1), [problems, contacts]
  Array<double> force;        ///< F > 0 [N], [problems]
  Array<double> angle;        ///< alpha [rad], [problems]
  Array<double> torque;       ///< T [N m], [problems]

  /// See batch.hpp; likewise below.
  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p, c] = sizes;
    visit("l", Extents{p, c}, tables.l...);
    visit("h", Extents{p, c}, tables.h...);
    visit("slope", Extents{p, c}, tables.slope...);
    visit("friction", Extents{p, c}, tables.friction...);
    visit("restitution", Extents{p, c}, tables.restitution...);
    visit("force", Extents{p}, tables.force...);
    visit("angle", Extents{p}, tables.angle...);
    visit("torque", Extents{p}, tables.torque...);
  }
};

/// Stances of one number of contacts.
struct StanceBatch : StanceSizes, StanceBatchArrays<Buffer> {
  [[nodiscard]] StanceBatch to(MemorySpace space) const { return copy_to(*this, space); }
};

/// What is known of a stance, each with its proof or its counterexample.
enum class StabilityVerdict : std::uint8_t {
  stable,              ///< proven by a certificate (StabilityResult::certificate)
  unstable,            ///< a trajectory grows without limit (StabilityResult::start)
  ambiguous,           ///< at rest a mode of motion is consistent, too: never stable
  undecided,           ///< neither proof nor counterexample was found
  no_equilibrium,      ///< no contact forces hold the body at rest
  no_consistent_mode,  ///< Painleve: some state has no consistent mode, or several
  invalid_input,       ///< a number is refused (NaN, negative friction, ...)
};

template <>
inline constexpr auto words<StabilityVerdict> = std::to_array<Word<StabilityVerdict>>({
    {StabilityVerdict::stable, "stable"},
    {StabilityVerdict::unstable, "unstable"},
    {StabilityVerdict::ambiguous, "ambiguous"},
    {StabilityVerdict::undecided, "undecided"},
    {StabilityVerdict::no_equilibrium, "no_equilibrium"},
    {StabilityVerdict::no_consistent_mode, "no_consistent_mode"},
    {StabilityVerdict::invalid_input, "invalid_input"},
});

/// What is asked of a stance after equilibrium and ambiguity.
enum class StabilityMethod : std::uint8_t {
  any,       ///< the cascade: closed forms, certificates, simulation
  paper,     ///< only the paper's class of functions
  labelled,  ///< only functions of the last contact touched
  simulate,  ///< only simulation
  sos,  ///< the paper's own programme of 55 coefficients, Theorem 2 (docs/explanation/stability.md)
  single,  ///< the same with one function, Theorem 1
};

template <>
inline constexpr auto words<StabilityMethod> = std::to_array<Word<StabilityMethod>>({
    {StabilityMethod::any, "any"},
    {StabilityMethod::paper, "paper"},
    {StabilityMethod::labelled, "labelled"},
    {StabilityMethod::simulate, "simulate"},
    {StabilityMethod::sos, "sos"},
    {StabilityMethod::single, "single"},
});

constexpr bool poses_a_programme(StabilityMethod method) {
  return method == StabilityMethod::sos || method == StabilityMethod::single;
}

enum class CertificateKind : std::uint8_t {
  none,
  paper,     ///< V = V1 + (zeta + kappa) c.q + s (c.v)^2 / 2
  labelled,  ///< one function for each contact that was touched last
  sos,       ///< as `paper`, s and kappa read from an answer of methods sos and single
};

template <>
inline constexpr auto words<CertificateKind> = std::to_array<Word<CertificateKind>>({
    {CertificateKind::none, "none"},
    {CertificateKind::paper, "paper"},
    {CertificateKind::labelled, "labelled"},
    {CertificateKind::sos, "sos"},
});

/// A contact's letter in a mode's word.
enum class ContactLetter : std::uint8_t {
  free,      ///< F
  stick,     ///< S
  positive,  ///< P, slips along +t
  negative,  ///< N, slips along -t
};

template <>
inline constexpr auto words<ContactLetter> = std::to_array<Word<ContactLetter>>({
    {ContactLetter::free, "F"},
    {ContactLetter::stick, "S"},
    {ContactLetter::positive, "P"},
    {ContactLetter::negative, "N"},
});

struct StabilitySettings {
  StabilityMethod method = StabilityMethod::any;
  std::int64_t angles = 150;       ///< of a complete scan of a contact, where all e are 0
  std::int64_t states = 30;        ///< random ones, where an e is > 0
  std::int64_t events = 20000;     ///< most of one trajectory
  std::uint64_t seed = 0;          ///< of random states and of choices among several modes
  std::int64_t first_problem = 0;  ///< index of the batch's first among all: shards of a run
  int threads = 0;                 ///< cpu, reference: 0 = all hardware threads

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"method", "Method of the stability analysis"}, tables.method...);
    visit({"angles", "Directions scanned per contact if all restitutions are 0",
           Range::between(1, 1 << 20)},
          tables.angles...);
    visit({"states", "Random states tried if a restitution is > 0", Range::between(0, 1 << 20)},
          tables.states...);
    visit({"events", "Largest number of events of a trajectory", Range::between(1, 1 << 30)},
          tables.events...);
    visit({"seed", "Seed of the random states"}, tables.seed...);
    visit({"first_problem", "Index of the first problem, for shards of a run",
           Range::between(0, 4294967295.0)},
          tables.first_problem...);
    visit({"threads", "CPU threads", Range::at_least(0), "", "all"}, tables.threads...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

template <template <class> class Array>
struct StabilityResultArrays {
  using Sizes = StanceSizes;

  Array<StabilityVerdict> verdict;  ///< [problems]
  /// Largest t with normal forces >= t and mu N - |T| >= t at rest [N]; infinite where internal
  /// forces can grow without limit, negative without equilibrium, [problems].
  Array<double> force_margin;
  /// Bit 4 a + b: word (a, b) of ContactLetter is no rest and consistent at rest, [problems].
  Array<std::int32_t> ambiguous_modes;
  /// Painleve's: bits 0..3: k = W_NN -+ mu W_NT <= 0 for slip 1+, 1-, 2+, 2-; bits 4..11: none or
  /// several of the modes of situation i - 4 (docs/explanation/stability.md) are consistent,
  /// [problems].
  Array<std::int32_t> paradox;
  /// Factor of velocities of one cycle of inverse chatter, in which both impacts stick; NaN where
  /// there is no such cycle or an impact bounces, [problems].
  Array<double> growth;
  Array<CertificateKind> certificate;  ///< [problems]
  Array<double> s;                     ///< of `paper` and `sos`, [problems]; NaN without
  Array<double> kappa;                 ///< likewise
  Array<double> margin;                ///< least slack (labelled: where it was found), [problems]
  /// Of certificate `labelled` (docs/explanation/stability.md, "Labelled functions"): e = 0: a, A,
  /// B, C of labels 1+, 1-, 1S, 2+, 2-, 2S; else q, S_nn, S_nt, S_tt of labels 1 and 2, Q12 along n
  /// and against it; k = 1, c.n = 1. [problems, 24]; NaN without.
  Array<double> coefficients;
  /// Of `unstable`: a state (y, z, theta, u, w, omega) from which the motion grows without limit,
  /// [problems, 6]; NaN otherwise.
  Array<double> start;
  Array<double> start_growth;        ///< by how much it grew within `start_events`, [problems]
  Array<std::int32_t> start_events;  ///< events of that motion, [problems]; 0 otherwise
  Array<std::int64_t> events;        ///< simulated for this stance, [problems]
  /// Of methods `sos` and `single`: `solved` where such functions exist, `infeasible` where it is
  /// proven that none do, `inaccurate` where neither is shown, `cancelled` where nothing was posed.
  /// [problems]
  Array<Status> sos_status;
  /// Of the programme's equalities and cones, or of the proof; recomputed, [problems]; NaN without.
  Array<double> sos_residual;
  Array<std::int32_t> sos_iterations;  ///< [problems]

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const std::int64_t p = sizes.problems;
    visit(ArrayField{"verdict", "", "", "verdict on the stance"}, Extents{p}, tables.verdict...);
    visit(ArrayField{"force_margin", "", "N",
                     "largest t with normal forces >= t and mu N - |T| >= t at rest; negative: no "
                     "equilibrium"},
          Extents{p}, tables.force_margin...);
    visit(
        ArrayField{"ambiguous_modes", "", "",
                   "bit 4 a + b: mode (a, b) of letters F 0, S 1, P 2, N 3 is consistent at rest"},
        Extents{p}, tables.ambiguous_modes...);
    visit(
        ArrayField{"paradox", "", "", "bits of Painleve's paradox (docs/explanation/stability.md)"},
        Extents{p}, tables.paradox...);
    visit(ArrayField{"growth", "", "", "factor of velocities of one cycle of inverse chatter"},
          Extents{p}, tables.growth...);
    visit(ArrayField{"certificate", "", "", "kind of the proof of stability"}, Extents{p},
          tables.certificate...);
    visit(ArrayField{"s", "", "", "s of the certificates paper and sos"}, Extents{p}, tables.s...);
    visit(ArrayField{"kappa", "", "", "kappa of the certificates paper and sos"}, Extents{p},
          tables.kappa...);
    visit(ArrayField{"margin", "", "", "least slack of the certificate's conditions"}, Extents{p},
          tables.margin...);
    visit(ArrayField{"coefficients", "", "", "coefficients of the certificate labelled"},
          Extents{p, 24}, tables.coefficients...);
    visit(ArrayField{"start", "", "m, rad, m/s, rad/s",
                     "unstable: a state (y, z, theta, u, w, omega) from which the motion grows"},
          Extents{p, 6}, tables.start...);
    visit(ArrayField{"start_growth", "", "", "factor by which this motion grew"}, Extents{p},
          tables.start_growth...);
    visit(ArrayField{"start_events", "", "", "number of events of this growth"}, Extents{p},
          tables.start_events...);
    visit(ArrayField{"events", "", "", "number of simulated events"}, Extents{p}, tables.events...);
    visit(ArrayField{"sos_status", "", "",
                     "methods sos and single: status of the program; cancelled: not solved"},
          Extents{p}, tables.sos_status...);
    visit(ArrayField{"sos_residual", "", "",
                     "methods sos and single: recomputed residual of the program"},
          Extents{p}, tables.sos_residual...);
    visit(ArrayField{"sos_iterations", "", "",
                     "methods sos and single: iterations of the interior-point method"},
          Extents{p}, tables.sos_iterations...);
  }
};
struct StabilityResult : StabilityResultArrays<Buffer> {};

/// What methods `sos` and `single` solve: the conditions of Theorem 2 on V2 = y + P, or of Theorem
/// 1 on V = P, P of degrees 1 to 3 in (z, theta, u, w, omega), as sums of squares (section IV.A).
/// `problem` is that on the smallest face found of the cone, with its last variable the least
/// eigenvalue or multiplier to maximise: functions exist if it is not negative.
struct SosProgramme {
  SdpProblem problem;
  std::vector<int> blocks;  ///< sizes of the Gram matrices before the reduction
  int rows = 0;             ///< equalities before: 686 without sliding of both contacts and flights
  int unknowns = 0;         ///< 2220 likewise: entries of the Gram matrices and coefficients
};

/// One contact mode of a stance (section II.C of the paper), state independent.
struct StanceMode {
  std::string word;         ///< a letter of FSPN for each contact
  bool admissible = false;  ///< some velocity slips, sticks and stays as the word says
  bool solvable = false;  ///< forces and acceleration exist; of redundant sticks for some friction
  bool consistent = false;               ///< at rest, with a strict margin
  std::array<double, 3> acceleration{};  ///< NaN unless solvable
  std::vector<double> normal_force;      ///< [contacts] [N]; NaN unless solvable
  std::vector<double> tangential_force;  ///< likewise
  /// Least of: forces (normal; mu N - |T| of S), gap accelerations of F, slip accelerations of P
  /// and N along their signs; -infinity unless solvable.
  double margin = 0.0;
};

enum class ImpactKind : std::uint8_t { stick, slip_positive, slip_negative };

template <>
inline constexpr auto words<ImpactKind> = std::to_array<Word<ImpactKind>>({
    {ImpactKind::stick, "stick"},
    {ImpactKind::slip_positive, "slip+"},
    {ImpactKind::slip_negative, "slip-"},
});

struct StanceImpact {
  ImpactKind kind = ImpactKind::stick;
  double normal_impulse = 0.0;      ///< [N s]
  double tangential_impulse = 0.0;  ///< [N s]
  std::array<double, 3> velocity{};
  int consistent = 0;  ///< how many of the three kinds are; 1 but for grazing and k <= 0
};

enum class StanceEventKind : std::uint8_t {
  start,
  impact,    ///< of `contact`
  slip_end,  ///< slip of `contact` came to zero
  rest,      ///< nothing moves any more
  runaway,   ///< the mode goes on for ever
  paradox,   ///< no mode is consistent
};

template <>
inline constexpr auto words<StanceEventKind> = std::to_array<Word<StanceEventKind>>({
    {StanceEventKind::start, "start"},
    {StanceEventKind::impact, "impact"},
    {StanceEventKind::slip_end, "slip_end"},
    {StanceEventKind::rest, "rest"},
    {StanceEventKind::runaway, "runaway"},
    {StanceEventKind::paradox, "paradox"},
});

struct StanceEvent {
  double time = 0.0;
  StanceEventKind kind = StanceEventKind::start;
  int contact = -1;                  ///< 0 first; -1: none
  std::string mode;                  ///< in which the motion goes on; empty at its end
  std::array<double, 3> position{};  ///< at the event
  std::array<double, 3> velocity{};  ///< after it
};

}  // namespace carom
