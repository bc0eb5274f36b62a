#include "run/impact_run.hpp"

namespace carom::run {

std::vector<double> contact_velocity(const ImpactProblem& problem, const double* velocity) {
  const auto nv = static_cast<std::size_t>(problem.velocities);
  std::vector<double> result;
  for (const std::vector<double>* jacobian :
       {&problem.normal_jacobian, &problem.tangent_jacobian}) {
    for (std::size_t row = 0; row * nv < jacobian->size(); ++row) {
      double sum = 0.0;
      for (std::size_t j = 0; j < nv; ++j) sum += (*jacobian)[row * nv + j] * velocity[j];
      result.push_back(sum);
    }
  }
  return result;
}

std::string_view answer_word(const NeverAnswer& answer) {
  if (answer.proven && !answer.in_doubt) return "proven";
  return answer.sample && !answer.in_doubt ? "counterexample" : "open";
}

std::vector<int> approaching_contacts(const ImpactRun& run) {
  const std::vector<double> speed = contact_velocity(run.problem, run.problem.velocity.data());
  std::vector<int> contacts;
  for (int i = 0; i < run.problem.contacts; ++i) {
    if (speed[static_cast<std::size_t>(i)] < -run.settings.velocity_tolerance) {
      contacts.push_back(i);
    }
  }
  return contacts;
}

}  // namespace carom::run
