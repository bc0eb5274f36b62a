#pragma once

#include <limits>

#include <carom/types/stability.hpp>

#include "core/pointers.hpp"
#include "stability/kernels/certificate_paper.hpp"
#include "stability/kernels/events.hpp"

/// The verdict on one stance; the cheapest tests come first.
namespace carom::kernels::stability {

/// Numbers of the stances in the bodies' form (stability/prepare.hpp).
template <template <class> class Array>
struct StanceFormArrays {
  using Sizes = StanceSizes;

  Array<double> normal;   ///< N, [problems, contacts, 3]
  Array<double> tangent;  ///< T, [problems, contacts, 3]
  Array<double> friction;
  Array<double> restitution;
  Array<double> wrench;          ///< g, [problems, 3]
  Array<std::uint8_t> accepted;  ///< 0 where a number was refused, [problems]

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p, c] = sizes;
    visit("normal", Extents{p, c, 3}, tables.normal...);
    visit("tangent", Extents{p, c, 3}, tables.tangent...);
    visit("friction", Extents{p, c}, tables.friction...);
    visit("restitution", Extents{p, c}, tables.restitution...);
    visit("wrench", Extents{p, 3}, tables.wrench...);
    visit("accepted", Extents{p}, tables.accepted...);
  }
};

/// What is asked, in plain numbers.
struct CascadeSettings {
  bool certify, simulate;
  bool scan;  ///< simulate more than the cycles of chatter
  std::int64_t angles, states, events;
  std::uint64_t seed;
  std::uint32_t first_problem;  ///< index of the batch's first problem among the run's
};

/// Draws of one state, or of one trajectory's choices.
struct TrajectoryDraws {
  std::uint64_t seed, sample;
  std::uint32_t problem, draw;
  CAROM_INLINE double operator()() { return uniform(seed, problem, sample, draw++); }
};

/// Takes the same of several modes or orders of impacts throughout, so that whoever repeats the
/// motion has four ways to try (exact/replay.cpp).
struct FixedChoice {
  double at;
  explicit CAROM_INLINE FixedChoice(std::int64_t sample)
      : at(0.125 + 0.25 * static_cast<double>(sample & 3)) {}
  CAROM_INLINE double operator()() const { return at; }
};

/// One trajectory's end.
struct Escape {
  bool found;
  EventState start;
  double growth;
  std::int32_t events;
};

/// Trajectories that neither grow nor shrink within their events; others will do no better, as
/// almost all of them come to the same motion.
inline constexpr int kMostEndless = 8;

/// Searches motions of one stance that grow.
class Falsifier {
 public:
  CAROM_INLINE Falsifier(const EventTables& tables, const CascadeSettings& settings,
                         std::uint32_t problem)
      : tables_(tables), settings_(settings), problem_(settings.first_problem + problem) {}

  /// Bodies that turn about one contact as it just stuck, then directions of all impacts of one
  /// contact with the other closed (e = 0: complete, both gaps being 0), or random states.
  CAROM_INLINE Escape search(bool scan) {
    for (int i = 0; i < 2 && !escape_.found; ++i) try_state(turning(i), i);
    const bool inelastic = tables_.restitution[0] == 0.0 && tables_.restitution[1] == 0.0;
    const std::int64_t most = inelastic ? 2 * settings_.angles : settings_.states;
    const std::int64_t count = scan ? most : 0;
    for (std::int64_t k = 0; k < count && !escape_.found && endless_ < kMostEndless; ++k) {
      try_state(inelastic ? direction(k) : random_state(k), k + 2);
    }
    return escape_;
  }
  [[nodiscard]] CAROM_INLINE std::int64_t events() const { return events_; }
  [[nodiscard]] CAROM_INLINE bool met_paradox() const { return paradox_; }

 private:
  CAROM_INLINE EventState turning(int i) const {
    EventState state{};
    const int j = 1 - i;
    state.v[j] = 1.0;
    state.v[2] = without_slip(tables_, i, state.v);
    state.stuck = i;
    return state;
  }
  CAROM_INLINE EventState direction(std::int64_t k) const {
    EventState state{};
    const int j = k < settings_.angles ? 0 : 1;
    const std::int64_t at = k < settings_.angles ? k : k - settings_.angles;
    const double along =
        1.0 - (2.0 * static_cast<double>(at) + 1.0) / static_cast<double>(settings_.angles);
    state.v[j] = (magnitude(along) - 1.0) / square_root(tables_.metric[j == 0 ? 0 : 2]);
    state.v[2] = along;
    state.stuck = -1;
    return state;
  }
  CAROM_INLINE EventState random_state(std::int64_t k) const {
    TrajectoryDraws draw{settings_.seed, static_cast<std::uint64_t>(k) | std::uint64_t{1} << 63,
                         problem_, 0};
    EventState state{};
    const int j = draw() < 0.5 ? 0 : 1;
    for (double& v : state.v) v = 2.0 * draw() - 1.0;
    state.v[j] = -magnitude(state.v[j]);
    state.gap[1 - j] = draw() / tables_.weight;
    state.stuck = -1;
    return state;
  }

  CAROM_INLINE void try_state(const EventState& start, std::int64_t sample) {
    NoListener nobody;
    Motion<FixedChoice, NoListener> motion(tables_, start, FixedChoice(sample), nobody, true);
    MotionLimits limits = kScanLimits;
    limits.events = settings_.events;
    const MotionEnd end = motion.run(limits);
    events_ += motion.events();
    paradox_ = paradox_ || end == MotionEnd::paradox;
    if (end == MotionEnd::limit) ++endless_;
    if (end != MotionEnd::escaped && end != MotionEnd::runaway) return;
    escape_.found = true;
    escape_.start = start;
    escape_.events = static_cast<std::int32_t>(motion.events());
    double growth =
        square_root(squared_size(tables_, motion.state()) / squared_size(tables_, start));
    for (int i = motion.state().scale; i > 0; --i) growth *= 2.0;
    for (int i = motion.state().scale; i < 0; ++i) growth *= 0.5;
    escape_.growth = growth;
  }

  const EventTables& tables_;
  const CascadeSettings& settings_;
  std::uint32_t problem_;
  std::int64_t events_ = 0;
  bool paradox_ = false;
  int endless_ = 0;
  Escape escape_{};
};

/// Closed-form growth of inverse chatter: turn about one contact until the other closes, stick
/// there, turn about that one, stick at the first. NaN where there is no such cycle.
CAROM_INLINE double chatter_growth(const StanceForm& stance, const EventTables& tables) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (tables.restitution[0] != 0.0 || tables.restitution[1] != 0.0) return nan;
  double growth = 1.0;
  for (int i = 0; i < 2; ++i) {
    const int j = 1 - i;
    EventState state{};
    state.v[j] = 1.0;
    state.v[2] = without_slip(tables, i, state.v);
    const unsigned choices = tables.choices[3 * i + 2];
    if (choices == 0U || (choices & (choices - 1U)) != 0U || choices == 1U << kFree) return nan;
    const int letter = lowest_bit(choices);
    const double* a = tables.acceleration[3 * i + letter - 1];
    if (!(a[j] < 0.0)) return nan;
    const double time = -2.0 / a[j];
    double v[3];
    for (int k = 0; k < 3; ++k) v[k] = state.v[k] + a[k] * time;
    v[i] = 0.0, v[j] = -1.0;
    const ContactForm& c = stance.contact[j];
    const Impulses p = impact_of(c.nn, c.nt, c.tt, c.friction, 0.0, v[j], slip_of(tables, j, v));
    if (p.letter != kStick) return nan;
    const double lifted =
        v[i] + p.normal * tables.normal[j][i] + p.tangential * tables.tangent[j][i];
    if (!(lifted > 0.0)) return nan;
    growth *= lifted;
  }
  return growth;
}

/// Everything that is said of one stance.
struct StanceRecord {
  StabilityVerdict verdict;
  double force_margin;
  std::int32_t ambiguous, paradox;
  double growth;
  PaperCertificate paper;
  Escape escape;
  std::int64_t events;
};

CAROM_INLINE StanceRecord judge(const StanceForm& stance, const CascadeSettings& settings,
                                std::uint32_t problem) {
  StanceRecord record{};
  record.growth = std::numeric_limits<double>::quiet_NaN();
  record.verdict = StabilityVerdict::undecided;
  record.force_margin = solve_mode(stance, kStick, kStick).margin;
  const EventTables tables = event_tables(stance);
  record.paradox = static_cast<std::int32_t>(tables.paradox);
  if (!(record.force_margin >= 0.0)) {
    record.verdict = StabilityVerdict::no_equilibrium;
    return record;
  }
  for (int word = 0; word < 16; ++word) {
    const int first = word >> 2, second = word & 3;
    if (first == kStick && second == kStick) continue;
    if (!is_admissible(stance, first, second)) continue;
    if (solve_mode(stance, first, second).margin > 0.0) record.ambiguous |= 1 << word;
  }
  record.growth = chatter_growth(stance, tables);
  if (record.ambiguous != 0) {
    record.verdict = StabilityVerdict::ambiguous;
    return record;
  }
  const bool none = [&] {
    for (const unsigned choices : tables.choices) {
      if (choices == 0U) return true;
    }
    return (tables.paradox & 15U) != 0U;
  }();
  const bool safe = dissipates(stance.contact[0]) && dissipates(stance.contact[1]);
  if (settings.certify && !none && safe) {
    const PaperClass paper(stance);
    record.paper = find_paper_certificate(paper);
    if (record.paper.found) {
      record.verdict = StabilityVerdict::stable;
      return record;
    }
  }
  if (settings.simulate) {
    Falsifier falsifier(tables, settings, problem);
    record.escape = falsifier.search(settings.scan || none);
    record.events = falsifier.events();
    if (record.escape.found) record.verdict = StabilityVerdict::unstable;
    if (record.escape.found) return record;
    if (falsifier.met_paradox()) record.verdict = StabilityVerdict::no_consistent_mode;
  }
  if (none) record.verdict = StabilityVerdict::no_consistent_mode;
  return record;
}

/// The arrays of a batch, and what is asked of it.
struct StabilityView : StanceFormArrays<ConstPointer>, StabilityResultArrays<Pointer> {
  CascadeSettings settings;

  [[nodiscard]] CAROM_INLINE StanceForm form(std::int64_t p) const {
    StanceForm stance{};
    for (int i = 0; i < 2; ++i) {
      const std::int64_t at = 2 * p + i;
      stance.contact[i] =
          contact_form(normal + 3 * at, tangent + 3 * at, friction[at], restitution[at]);
    }
    stance.g = {wrench[3 * p], wrench[3 * p + 1], wrench[3 * p + 2]};
    return stance;
  }

  /// Judges stance p, which has index `problem` for its random numbers.
  CAROM_INLINE void solve(std::int64_t p, std::uint32_t problem) const {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    StanceRecord record{};
    record.verdict = StabilityVerdict::invalid_input;
    record.force_margin = record.growth = nan;
    if (accepted[p] != 0) {
      record = judge(form(p), settings, problem);
    }
    verdict[p] = record.verdict;
    force_margin[p] = record.force_margin;
    ambiguous_modes[p] = record.ambiguous;
    paradox[p] = record.paradox;
    growth[p] = record.growth;
    const bool proven = record.verdict == StabilityVerdict::stable;
    certificate[p] = proven ? CertificateKind::paper : CertificateKind::none;
    s[p] = proven ? record.paper.s : nan;
    kappa[p] = proven ? record.paper.kappa : nan;
    margin[p] = proven ? record.paper.margin : nan;
    for (int k = 0; k < 24; ++k) coefficients[24 * p + k] = nan;
    for (int k = 0; k < 6; ++k) start[6 * p + k] = nan;
    if (record.escape.found) write_start(p, record.escape.start);
    start_growth[p] = record.escape.found ? record.escape.growth : nan;
    start_events[p] = record.escape.found ? record.escape.events : 0;
    events[p] = record.events;
    sos_status[p] = Status::cancelled;
    sos_residual[p] = nan;
    sos_iterations[p] = 0;
  }

 private:
  CAROM_INLINE void write_start(std::int64_t p, const EventState& state) const {
    const StanceForm stance = form(p);
    const ContactForm& a = stance.contact[0];
    const ContactForm& b = stance.contact[1];
    const double ab = dot(a.normal, b.normal), det = a.nn * b.nn - ab * ab;
    const Vec3 first = (b.nn / det) * a.normal + (-ab / det) * b.normal;
    const Vec3 second = (a.nn / det) * b.normal + (-ab / det) * a.normal;
    const Vec3 q = state.gap[0] * first + state.gap[1] * second;
    const Vec3 v = state.v[0] * first + state.v[1] * second + state.v[2] * cyclic_direction(stance);
    double* to = start + 6 * p;
    to[0] = q.y, to[1] = q.z, to[2] = q.t, to[3] = v.y, to[4] = v.z, to[5] = v.t;
  }
};

}  // namespace carom::kernels::stability
