// The set of outcomes of one impact, and the outcomes of two other models: a compass-gait walker's
// leading foot lands while its trailing foot still touches the ground.
#include <array>
#include <cstdio>
#include <exception>

#include <carom/carom.hpp>

namespace {

void print_outcome(const char* name, const carom::ImpactOutcome& outcome,
                   const carom::ImpactProblem& problem) {
  std::printf("  %-22s normal (%8.5f, %8.5f) m/s  K+ %.5f J  %s\n", name,
              outcome.normal_velocity[0], outcome.normal_velocity[1], outcome.kinetic_energy,
              carom::mode_words(outcome.modes, problem.contacts, problem.dimension).c_str());
}

}  // namespace

int main() try {
  const carom::models::Model& model = carom::models::find("compass_gait");
  const carom::ImpactProblem problem = carom::models::build(model.name);

  carom::ImpactSettings settings;
  settings.samples = 1 << 16;
  settings.step_size = model.step_size;
  settings.max_steps = model.max_steps;
  settings.epsilon = 0.02;  // [m/s]: every sampled velocity lies this close to a point of the net
  const carom::ImpactResult result =
      carom::sample_impacts(carom::make_batch({&problem, 1}), settings);
  const carom::ImpactSummary& summary = result.summary[0];
  const carom::EpsilonNet& net = result.net[0];

  std::printf("%s: %lld samples, %lld points within %g m/s of all of them\n", model.name.c_str(),
              static_cast<long long>(summary.samples), static_cast<long long>(net.points()),
              net.epsilon);
  // The curve flattens when more samples no longer find new outcomes.
  std::printf("points found after\n");
  for (std::size_t i = 8; i < net.coverage.size(); i += 2) {
    std::printf("  2^%-2zu samples  %lld\n", i, static_cast<long long>(net.coverage[i]));
  }

  std::printf("outcomes (foot %s / foot %s)\n", model.contact_names[0].c_str(),
              model.contact_names[1].c_str());
  for (const auto& [modes, count] : summary.mode_counts) {
    std::printf("  %-24s %6.2f %%\n",
                carom::mode_words(modes, problem.contacts, problem.dimension).c_str(),
                100.0 * static_cast<double>(count) / static_cast<double>(summary.terminated));
  }

  // Both contacts resolved at once (all solutions), and one after the other in either order.
  std::printf("other models of the same impact\n");
  for (const carom::ImpactOutcome& outcome : carom::simultaneous_impacts(problem)) {
    print_outcome("simultaneous", outcome, problem);
  }
  for (const std::array<int, 2>& order : {std::array{0, 1}, std::array{1, 0}}) {
    const carom::SequentialOutcome outcome = carom::sequential_impact(problem, order);
    print_outcome(order[0] == 0 ? "sequential, A first" : "sequential, B first", outcome, problem);
  }
  return summary.status == carom::Status::solved ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "outcome_set: %s\n", error.what());
  return 1;
}
