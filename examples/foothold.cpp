// Where to put the next foot: a compass gait walker plants its leading foot in front of it, and the
// impact of that foot shakes the trailing one. Rigid-body models do not say which impact happens,
// only which set of outcomes. For every foothold carom decides whether some outcome has the
// trailing foot slide, and proves it where none has.
#include <cmath>
#include <cstdio>
#include <exception>
#include <numbers>
#include <string>
#include <vector>

#include <carom/carom.hpp>
#include <carom/models/models.hpp>

namespace {

constexpr double kFriction = 0.6;

/// The walker in a symmetric step: both legs `angle` from the vertical. [deg]
carom::ImpactProblem step_of(double angle) {
  return carom::models::build(
      "compass_gait",
      {{"friction", kFriction}, {"leading_angle", -angle}, {"trailing_angle", angle}});
}

const char* word(carom::ImpactAnswer answer) {
  switch (answer) {
    case carom::ImpactAnswer::never:
      return "never";
    case carom::ImpactAnswer::happens:
      return "may";
    default:
      return "open";
  }
}

}  // namespace

int main() try {
  std::vector<double> angles;
  for (double angle = 10.0; angle <= 70.0; angle += 2.5) angles.push_back(angle);
  std::vector<carom::ImpactProblem> steps;
  steps.reserve(angles.size());
  for (const double angle : angles) steps.push_back(step_of(angle));
  const carom::ImpactBatch batch = carom::make_batch(steps);

  const std::vector<std::string> feet = {"leading", "trailing"};
  const auto forward = carom::decide_impacts(batch, carom::impact_event("trailing sliding+", feet));
  const auto backward =
      carom::decide_impacts(batch, carom::impact_event("trailing sliding-", feet));
  const auto lifts = carom::decide_impacts(batch, carom::impact_event("trailing separating", feet));

  std::printf("foothold [m]   trailing foot slides forward   backward   lifts\n");
  double widest = 0.0;
  bool proven = true;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double width = 2.0 * 1.0 * std::sin(angles[i] * std::numbers::pi / 180.0);  // legs of 1 m
    std::printf("%12.3f   %-28s   %-8s   %s\n", width, word(forward[i].answer),
                word(backward[i].answer), word(lifts[i].answer));
    if (forward[i].answer != carom::ImpactAnswer::never ||
        backward[i].answer != carom::ImpactAnswer::never) {
      continue;
    }
    widest = width;
    // The proof stands on its own: an invariant that is checked in exact arithmetic.
    proven = proven && carom::proves_enclosure(steps[i], forward[i].proof) &&
             carom::proves_enclosure(steps[i], backward[i].proof);
  }
  std::printf("\nwidest foothold at which the trailing foot never slides: %.3f m, %s\n", widest,
              proven ? "proven anew" : "NOT proven anew");
  return proven && widest > 0.0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "foothold: %s\n", error.what());
  return 1;
}
