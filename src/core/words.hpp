#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <carom/backend.hpp>
#include <carom/batch.hpp>
#include <carom/compliant.hpp>
#include <carom/equilibrium_planar.hpp>
#include <carom/equilibrium_spatial.hpp>
#include <carom/equilibrium_three_contacts.hpp>
#include <carom/impact.hpp>
#include <carom/impact_enclosure.hpp>
#include <carom/motion.hpp>
#include <carom/qp.hpp>
#include <carom/stability.hpp>
#include <carom/status.hpp>

/// The words of every enumeration, once: to_string, options of the command, texts and codes of
/// files, and messages come from these tables.
namespace carom {

template <class Enum>
struct Word {
  Enum value;
  std::string_view word;
};

/// Of an enumeration, in the order in which messages list them.
template <class Enum>
inline constexpr std::array<Word<Enum>, 0> words{};

template <>
inline constexpr auto words<Backend> = std::to_array<Word<Backend>>({
    {Backend::automatic, "auto"},
    {Backend::cpu, "cpu"},
    {Backend::cuda, "cuda"},
    {Backend::reference, "reference"},
});

template <>
inline constexpr auto words<Precision> = std::to_array<Word<Precision>>({
    {Precision::float64, "double"},
    {Precision::float32, "float"},
});

template <>
inline constexpr auto words<MemorySpace> = std::to_array<Word<MemorySpace>>({
    {MemorySpace::host, "host"},
    {MemorySpace::device, "device"},
});

template <>
inline constexpr auto words<MotionMechanism> = std::to_array<Word<MotionMechanism>>({
    {MotionMechanism::block, "block"},
    {MotionMechanism::ball, "ball"},
    {MotionMechanism::rod, "rod"},
    {MotionMechanism::box, "box"},
    {MotionMechanism::box_and_wall, "box_and_wall"},
    {MotionMechanism::walker, "walker"},
    {MotionMechanism::ramone, "ramone"},
    {MotionMechanism::disk_stack, "disk_stack"},
    {MotionMechanism::cube, "cube"},
    {MotionMechanism::bar_on_steps, "bar_on_steps"},
    {MotionMechanism::tree, "tree"},
    {MotionMechanism::spatial_tree, "spatial_tree"},
});

template <>
inline constexpr auto words<Restitution> = std::to_array<Word<Restitution>>({
    {Restitution::newton, "newton"},
    {Restitution::poisson, "poisson"},
    {Restitution::stronge, "stronge"},
});

template <>
inline constexpr auto words<MotionEnd> = std::to_array<Word<MotionEnd>>({
    {MotionEnd::duration, "duration"},
    {MotionEnd::rest, "rest"},
    {MotionEnd::event_limit, "event_limit"},
    {MotionEnd::failed, "failed"},
    {MotionEnd::invalid_input, "invalid_input"},
});

template <>
inline constexpr auto words<MotionEventKind> = std::to_array<Word<MotionEventKind>>({
    {MotionEventKind::impact, "impact"},
    {MotionEventKind::push, "impact_without_collision"},
    {MotionEventKind::lift_off, "lift_off"},
    {MotionEventKind::stick, "stick"},
    {MotionEventKind::slip, "slip"},
    {MotionEventKind::zeno, "zeno"},
    {MotionEventKind::rest, "rest"},
});

template <>
inline constexpr auto words<Status> = std::to_array<Word<Status>>({
    {Status::solved, "solved"},
    {Status::inaccurate, "inaccurate"},
    {Status::infeasible, "infeasible"},
    {Status::unbounded, "unbounded"},
    {Status::nonconvex, "nonconvex"},
    {Status::ray, "ray"},
    {Status::iteration_limit, "iteration_limit"},
    {Status::numerical_error, "numerical_error"},
    {Status::invalid_input, "invalid_input"},
    {Status::cancelled, "cancelled"},
    {Status::no_interior, "no_interior"},
    {Status::contradiction, "contradiction"},
});

template <>
inline constexpr auto words<TrajectoryStatus> = std::to_array<Word<TrajectoryStatus>>({
    {TrajectoryStatus::terminated, "terminated"},
    {TrajectoryStatus::max_steps, "max_steps"},
    {TrajectoryStatus::failed, "failed"},
    {TrajectoryStatus::cancelled, "cancelled"},
});

template <>
inline constexpr auto words<Sampler> = std::to_array<Word<Sampler>>({
    {Sampler::uniform, "uniform"},
    {Sampler::sobol, "sobol"},
});

template <>
inline constexpr auto words<ImpactMethod> = std::to_array<Word<ImpactMethod>>({
    {ImpactMethod::lcp, "lcp"},
    {ImpactMethod::events, "events"},
});

template <>
inline constexpr auto words<Selection> = std::to_array<Word<Selection>>({
    {Selection::any, "any"},
    {Selection::lemke, "lemke"},
    {Selection::random, "random"},
});

template <>
inline constexpr auto words<BadProblem> = std::to_array<Word<BadProblem>>({
    {BadProblem::refuse, "refuse"},
    {BadProblem::isolate, "isolate"},
});

template <>
inline constexpr auto words<ImpactAnswer> = std::to_array<Word<ImpactAnswer>>({
    {ImpactAnswer::never, "never"},
    {ImpactAnswer::happens, "happens"},
    {ImpactAnswer::open, "open"},
    {ImpactAnswer::invalid_input, "invalid_input"},
});

template <>
inline constexpr auto words<EnclosureStatus> = std::to_array<Word<EnclosureStatus>>({
    {EnclosureStatus::enclosed, "enclosed"},
    {EnclosureStatus::outer, "outer"},
    {EnclosureStatus::budget, "budget"},
    {EnclosureStatus::invalid_input, "invalid_input"},
    {EnclosureStatus::contradiction, "contradiction"},
});

/// Spatial sliding has no sign; planar sliding carries its own (mode_words).
template <>
inline constexpr auto words<ContactMode> = std::to_array<Word<ContactMode>>({
    {ContactMode::separating, "separating"},
    {ContactMode::sticking, "sticking"},
    {ContactMode::sliding, "sliding"},
    {ContactMode::sliding_negative, "sliding-"},
});

template <>
inline constexpr auto words<QpMethod> = std::to_array<Word<QpMethod>>({
    {QpMethod::automatic, "auto"},
    {QpMethod::interior_point, "interior_point"},
    {QpMethod::active_set, "active_set"},
    {QpMethod::admm, "admm"},
    {QpMethod::projected, "projected"},
    {QpMethod::lemke, "lemke"},
});

template <>
inline constexpr auto words<ConeKind> = std::to_array<Word<ConeKind>>({
    {ConeKind::zero, "zero"},
    {ConeKind::nonnegative, "nonneg"},
    {ConeKind::second_order, "second_order"},
});

template <>
inline constexpr auto words<PlanarMethod> = std::to_array<Word<PlanarMethod>>({
    {PlanarMethod::lp, "lp"},
    {PlanarMethod::pairs, "pairs"},
    {PlanarMethod::graphic, "graphic"},
    {PlanarMethod::line_sweep, "line_sweep"},
});

template <>
inline constexpr auto words<ConeModel> = std::to_array<Word<ConeModel>>({
    {ConeModel::exact, "exact"},
    {ConeModel::inscribed, "inscribed"},
    {ConeModel::circumscribed, "circumscribed"},
    {ConeModel::pair, "pair"},
});

template <>
inline constexpr auto words<CriticalType> = std::to_array<Word<CriticalType>>({
    {CriticalType::contact, "contact"},
    {CriticalType::edge, "edge"},
    {CriticalType::interior, "interior"},
});

template <>
inline constexpr auto words<StepLaw> = std::to_array<Word<StepLaw>>({
    {StepLaw::complementarity, "complementarity"},
    {StepLaw::programme, "programme"},
});

template <>
inline constexpr auto words<CompliantConstraint::Type> =
    std::to_array<Word<CompliantConstraint::Type>>({
        {CompliantConstraint::Type::bilateral, "bilateral"},
        {CompliantConstraint::Type::unilateral, "unilateral"},
        {CompliantConstraint::Type::contact, "contact"},
    });

template <>
inline constexpr auto words<RowType> = std::to_array<Word<RowType>>({
    {RowType::none, "none"},
    {RowType::bilateral, "bilateral"},
    {RowType::unilateral, "unilateral"},
    {RowType::normal, "normal"},
    {RowType::tangent, "tangent"},
});

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

template <>
inline constexpr auto words<StabilityMethod> = std::to_array<Word<StabilityMethod>>({
    {StabilityMethod::any, "any"},
    {StabilityMethod::paper, "paper"},
    {StabilityMethod::labelled, "labelled"},
    {StabilityMethod::simulate, "simulate"},
    {StabilityMethod::sos, "sos"},
});

template <>
inline constexpr auto words<CertificateKind> = std::to_array<Word<CertificateKind>>({
    {CertificateKind::none, "none"},
    {CertificateKind::paper, "paper"},
    {CertificateKind::labelled, "labelled"},
    {CertificateKind::sos, "sos"},
});

template <>
inline constexpr auto words<ContactLetter> = std::to_array<Word<ContactLetter>>({
    {ContactLetter::free, "F"},
    {ContactLetter::stick, "S"},
    {ContactLetter::positive, "P"},
    {ContactLetter::negative, "N"},
});

template <>
inline constexpr auto words<ImpactKind> = std::to_array<Word<ImpactKind>>({
    {ImpactKind::stick, "stick"},
    {ImpactKind::slip_positive, "slip+"},
    {ImpactKind::slip_negative, "slip-"},
});

template <>
inline constexpr auto words<StanceEventKind> = std::to_array<Word<StanceEventKind>>({
    {StanceEventKind::start, "start"},
    {StanceEventKind::impact, "impact"},
    {StanceEventKind::slip_end, "slip_end"},
    {StanceEventKind::rest, "rest"},
    {StanceEventKind::runaway, "runaway"},
    {StanceEventKind::paradox, "paradox"},
});

/// "unknown" for what is no value of the enumeration.
template <class Enum>
constexpr std::string_view word_of(Enum value) {
  for (const auto& [known, word] : words<Enum>) {
    if (known == value) return word;
  }
  return "unknown";
}

/// The value of a word, or nothing. The enumerations' own "automatic" is understood as "auto".
template <class Enum>
constexpr std::optional<Enum> value_of(std::string_view word) {
  if (word == "automatic") word = "auto";
  for (const auto& [value, known] : words<Enum>) {
    if (known == word) return value;
  }
  return std::nullopt;
}

/// "a, b" + last + "c".
std::string joined(const std::vector<std::string>& texts, std::string_view last);

/// All words but `without`, e.g. "lp, pairs, graphic or line_sweep" with last " or ".
template <class Enum>
std::string listed(std::string_view last = ", ", std::string_view without = {}) {
  std::vector<std::string> texts;
  for (const auto& [value, word] : words<Enum>) {
    if (word != without) texts.emplace_back(word);
  }
  return joined(texts, last);
}

/// What the numbers of an array in a file stand for: "0 solved, 1 inaccurate, ...".
template <class Enum>
std::string codes_meaning(std::string_view last = ", ") {
  std::vector<std::string> texts;
  texts.reserve(std::size(words<Enum>));
  for (const auto& [value, word] : words<Enum>) {
    texts.push_back(std::to_string(static_cast<int>(value)) + " " + std::string(word));
  }
  return joined(texts, last);
}

}  // namespace carom
