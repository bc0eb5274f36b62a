#include "motion/first_impact.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/arrays.hpp"
#include "motion/mechanisms.hpp"
#include "motion/prepare.hpp"

namespace carom::motion {

namespace {

MotionSettings probe_settings(MotionSettings settings) {
  settings.samples = 1;
  settings.first_sample = 0;
  settings.keep_samples = 0;
  return settings;
}

/// A batch of one problem, without its arrays.
MotionBatch shape_of_one(const MotionBatch& batch) {
  MotionBatch one;
  static_cast<MotionSizes&>(one) = batch;
  one.problems = 1;
  return one;
}

}  // namespace

bool wants_first_impacts(const MotionBatch& batch, const MotionSettings& settings) {
  return settings.mode_table && batch.contacts > 0 && batch.position_spread.empty() &&
         batch.velocity_spread.empty();
}

FirstImpactBuilder::FirstImpactBuilder(const MotionBatch& batch, const MotionSettings& settings,
                                       SimulateRow simulate)
    : dimension_(dimension_of(batch.mechanism)),
      simulate_(std::move(simulate)),
      result_(empty_result(shape_of_one(batch), probe_settings(settings))),
      view_(view_of(batch, probe_settings(settings), result_)),
      first_problem_(settings.first_problem),
      tables_(host_pilot_code()) {
  settings_.step_size = settings.step_size;
  settings_.friction_directions = settings.friction_directions;
  settings_.velocity_tolerance = settings.velocity_tolerance;
  arrays::bind(arrays_, batch);
  arrays::bind(view_.result, result_);
  const auto nv = static_cast<std::size_t>(batch.velocities);
  const auto m = static_cast<std::size_t>(batch.contacts);
  state_.resize(static_cast<std::size_t>(batch.positions) + nv);
  mass_.resize(nv * nv);
  jacobian_.resize(static_cast<std::size_t>(dimension_) * m * nv);
  friction_.resize(m);
  probe_ = {0, state_.data(), mass_.data(), jacobian_.data(), friction_.data()};
  view_.run.probe = &probe_;
}

const kernels::motion::FirstImpact& FirstImpactBuilder::build(std::int64_t p, std::int64_t sample) {
  if (p != found_) find(p);
  if (first_.contacts == 0) return first_;
  const int contacts = impact_.contacts;
  if (wants_mode_table(dimension_, contacts, settings_)) {
    tables_.build(dimension_, first_.problem, impact_run(impact_, settings_, {}), table_,
                  table_stretch(dimension_, contacts, sample).breadth);
    first_.problem.table = table_.view();
  }
  return first_;
}

void FirstImpactBuilder::find(std::int64_t p) {
  found_ = p;
  view_.batch = view_.batch_steps.at(arrays_, static_cast<long>(p), 0);
  view_.first_problem = static_cast<long>(first_problem_ + p);
  probe_.contacts = 0;
  simulate_(view_);
  first_ = {};
  if (probe_.contacts != 0) prepare();
}

void FirstImpactBuilder::prepare() {
  prepared_.reset();  // it looks at the batch
  ImpactSizes sizes;
  sizes.problems = 1;
  sizes.dimension = dimension_;
  sizes.velocities = result_.velocities;
  sizes.contacts = std::popcount(probe_.contacts);
  impact_ = allocate<ImpactBatch>(sizes);
  const auto copy = [](const double* from, Buffer<double>& to) {
    // The sum turns -0 into 0, as in the built-in impact models.
    std::transform(from, from + to.size(), to.data(), [](double x) { return x + 0.0; });
  };
  copy(mass_.data(), impact_.mass_matrix);
  copy(jacobian_.data(), impact_.normal_jacobian);
  copy(jacobian_.data() + impact_.normal_jacobian.size(), impact_.tangent_jacobian);
  copy(friction_.data(), impact_.friction);
  copy(state_.data() + (state_.size() - static_cast<std::size_t>(sizes.velocities)),
       impact_.velocity);
  prepared_.emplace(impact_, settings_);
  first_.contacts = probe_.contacts;
  first_.state = state_.data();
  first_.problem = prepared_->view(0);
}

}  // namespace carom::motion
