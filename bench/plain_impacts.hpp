#pragma once

#include <cstdint>
#include <random>

#include "plain_lemke.hpp"
#include "problem_sets.hpp"

namespace carom::bench {

/// Algorithm 1 as a user would write it: (75)'s matrix assembled once, one plain Lemke a step, no
/// certificate. Returns the number of LCPs solved; a step that fails ends its trajectory.
class PlainImpacts {
 public:
  PlainImpacts(const ImpactProblem& problem, double step_size, int max_steps, int directions)
      : problem_(problem),
        step_(test::step_problem(problem, test::Vector::Constant(problem.contacts, step_size),
                                 directions)),
        matrix_(test::full_lcp(step_).matrix),
        step_size_(step_size),
        max_steps_(max_steps) {
    const test::Matrix fan = test::directions_of(step_);
    const int t = step_.dimension - 1;
    const int m = step_.contacts;
    const auto k = static_cast<int>(fan.cols());
    stacked_.resize(m + k * m, problem.velocities);
    stacked_.topRows(m) = step_.jacobian.topRows(m);
    for (int i = 0; i < m; ++i) {
      stacked_.middleRows(m + k * i, k) = fan.transpose() * step_.jacobian.middleRows(m + t * i, t);
    }
    response_ = step_.mass.llt().solve(stacked_.transpose());
    vector_.setZero(matrix_.rows());
    solution_.setZero(matrix_.rows());
  }

  std::int64_t run(std::int64_t samples, std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<double> draw(0.0, step_size_);
    const int m = step_.contacts;
    const auto forces = stacked_.rows();
    std::int64_t solves = 0;
    for (std::int64_t s = 0; s < samples; ++s) {
      Eigen::VectorXd v = step_.velocity;
      for (int step = 0; step < max_steps_; ++step) {
        vector_.segment(m, forces).noalias() = stacked_ * v;
        if (vector_.segment(m, m).minCoeff() >= -1e-9) break;
        for (int i = 0; i < m; ++i) vector_[i] = draw(engine);
        ++solves;
        if (!lemke_.solve(matrix_, vector_, solution_)) break;
        v.noalias() += response_ * solution_.segment(m, forces);
      }
      sum_ += v[0];  // nothing may be optimised away
    }
    return solves;
  }

  [[nodiscard]] double sum() const { return sum_; }

 private:
  const ImpactProblem problem_;
  test::StepProblem step_;
  test::Matrix matrix_;
  test::Matrix stacked_;
  Eigen::MatrixXd response_;
  Eigen::VectorXd vector_, solution_;
  double step_size_;
  int max_steps_;
  PlainLemke<Eigen::Dynamic> lemke_;
  double sum_ = 0.0;
};

}  // namespace carom::bench
