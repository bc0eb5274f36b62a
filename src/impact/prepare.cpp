#include "impact/prepare.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

#include "core/parallel.hpp"
#include "impact/backends.hpp"
#include "impact/friction_polygon.hpp"
#include "impact/kernels/closing_step.hpp"
#include "impact/kernels/derived_step.hpp"

namespace carom {

namespace {
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixMap = Eigen::Map<const Matrix>;
using VectorMap = Eigen::Map<const Eigen::VectorXd>;
constexpr std::int64_t kGrain = 64;  // problems, some microseconds each
}  // namespace

PreparedImpacts::PreparedImpacts(const ImpactBatch& batch, const ImpactSettings& settings)
    : nv_(batch.velocities),
      m_(batch.contacts),
      rows_(batch.contact_rows()),
      batch_(&batch),
      inelastic_(static_cast<std::size_t>(m_), 0.0) {
  settings_.law = settings.law;
  settings_.vary = settings.vary;
  const auto problems = static_cast<std::size_t>(batch.problems);
  const auto nv = static_cast<std::size_t>(nv_);
  const auto rows = static_cast<std::size_t>(rows_);
  valid_.assign(problems, 0);
  jacobian_.resize(problems * rows * nv);
  response_.resize(problems * nv * rows);
  delassus_.resize(problems * rows * rows);
  scale_.resize(problems * static_cast<std::size_t>(m_));
  contact_velocity_.resize(problems * rows);
  for (std::vector<double>* each : {&energy_, &step_size_, &contact_speed_, &closing_}) {
    each->assign(problems, 0.0);
  }
  const auto prepare_some = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      if (settings.bad_problem == BadProblem::isolate && problem_refusal(batch, p)) continue;
      prepare(batch, settings, p);
      valid_[static_cast<std::size_t>(p)] = 1;
    }
  };
  parallel_for(batch.problems, kGrain, settings.threads, prepare_some);
}

void PreparedImpacts::prepare(const ImpactBatch& batch, const ImpactSettings& settings,
                              std::int64_t p) {
  const int t = rows_ - m_;
  const MatrixMap mass(batch.mass_matrix.data() + p * nv_ * nv_, nv_, nv_);
  const VectorMap v(batch.velocity.data() + p * nv_, nv_);
  Eigen::Map<Matrix> jacobian(jacobian_.data() + p * rows_ * nv_, rows_, nv_);
  jacobian.topRows(m_) = MatrixMap(batch.normal_jacobian.data() + p * m_ * nv_, m_, nv_);
  jacobian.bottomRows(t) = MatrixMap(batch.tangent_jacobian.data() + p * t * nv_, t, nv_);
  const Eigen::LLT<Eigen::MatrixXd> factor(mass);
  Eigen::Map<Matrix> response(response_.data() + p * nv_ * rows_, nv_, rows_);
  response = factor.solve(jacobian.transpose());
  Eigen::Map<Matrix> delassus(delassus_.data() + p * rows_ * rows_, rows_, rows_);
  const Matrix product = jacobian * response;
  delassus = 0.5 * (product + product.transpose());
  double* scale = scale_.data() + p * m_;
  for (int i = 0; i < m_; ++i) {
    scale[i] = batch.dimension == 2 ? kernels::contact_scale<2>(delassus.data(), m_, i)
                                    : kernels::contact_scale<3>(delassus.data(), m_, i);
  }
  const auto scale_of = [&](int row) {
    return scale[row < m_ ? row : (row - m_) / (batch.dimension - 1)];
  };
  for (int i = 0; i < rows_; ++i) {
    for (int j = 0; j < rows_; ++j) delassus(i, j) *= scale_of(i) * scale_of(j);
  }
  Eigen::Map<Eigen::VectorXd>(contact_velocity_.data() + p * rows_, rows_) = jacobian * v;
  energy_[static_cast<std::size_t>(p)] = 0.5 * v.dot(mass * v);

  const double* u = contact_velocity_.data() + p * rows_;
  const auto at = static_cast<std::size_t>(p);
  step_size_[at] = kernels::step_size_of(settings.step_size, m_, rows_, delassus.data(), scale, u,
                                         settings.velocity_tolerance);
  contact_speed_[at] = kernels::contact_speed(rows_, u);
  const double epsilon = epsilon_of(settings, p);
  if (!(epsilon > 0.0) || m_ == 0) return;  // no closing step
  const kernels::FrictionPolygon polygon =
      friction_polygon(batch.dimension, settings.friction_directions);
  const double* friction = batch.friction.data() + p * m_;
  const auto entry = [&](int r, int c) { return response(r, c); };
  const double psi = batch.dimension == 2
                         ? kernels::closing_psi<2>(nv_, m_, polygon, friction, entry)
                         : kernels::closing_psi<3>(nv_, m_, polygon, friction, entry);
  closing_[at] = epsilon / (3.0 * psi);
}

kernels::ImpactProblemView PreparedImpacts::view(std::int64_t p) const {
  kernels::ImpactProblemView view{};
  view.mass = batch_->mass_matrix.data() + p * nv_ * nv_;
  view.jacobian = jacobian_.data() + p * rows_ * nv_;
  view.response = response_.data() + p * nv_ * rows_;
  view.delassus = delassus_.data() + p * rows_ * rows_;
  view.scale = scale_.data() + p * m_;
  view.friction = batch_->friction.data() + p * m_;
  view.velocity = batch_->velocity.data() + p * nv_;
  view.contact_velocity = contact_velocity_.data() + p * rows_;
  view.energy = energy_[static_cast<std::size_t>(p)];
  view.step_size = step_size_[static_cast<std::size_t>(p)];
  view.closing_impulse = closing_[static_cast<std::size_t>(p)];
  return view;
}

std::optional<kernels::RestitutionView> PreparedImpacts::restitution(std::int64_t p) const {
  return restitution_of(*batch_, p, settings_, inelastic_.data());
}

std::optional<kernels::RestitutionView> restitution_of(const ImpactBatch& batch, std::int64_t p,
                                                       const ImpactSettings& settings,
                                                       const double* inelastic) {
  const auto of = [&](const Buffer<double>& values, const double* otherwise) {
    return values.empty() ? otherwise : values.data() + p * batch.contacts;
  };
  const double* const mu = of(batch.friction, nullptr);
  const kernels::RestitutionView view{.restitution_low = of(batch.restitution_low, inelastic),
                                      .restitution_high = of(batch.restitution_high, inelastic),
                                      .friction_low = mu,
                                      .friction_high = of(batch.friction_high, mu),
                                      .law = settings.law,
                                      .vary = settings.vary};
  for (int i = 0; i < batch.contacts; ++i) {
    if (view.restitution_high[i] > 0.0 || view.friction_high[i] > mu[i]) return view;
  }
  return std::nullopt;
}

ImpactSettings part_of(const ImpactSettings& settings, std::int64_t begin, std::int64_t end) {
  ImpactSettings part = settings;
  if (!part.problem_epsilon.empty()) {
    part.problem_epsilon = part.problem_epsilon.subspan(static_cast<std::size_t>(begin),
                                                        static_cast<std::size_t>(end - begin));
  }
  return part;
}

std::vector<std::uint64_t> run_directions(const ImpactBatch& batch,
                                          const ImpactSettings& settings) {
  if (settings.sampler != Sampler::sobol || batch.contacts == 0) return {};
  return sobol_directions(batch.contacts * settings.max_steps);
}

kernels::ImpactRun impact_run(const ImpactBatch& batch, const ImpactSettings& settings,
                              const std::vector<std::uint64_t>& sobol) {
  kernels::ImpactRun run{};
  run.velocities = batch.velocities;
  run.contacts = batch.contacts;
  run.polygon = friction_polygon(batch.dimension, settings.friction_directions);
  run.max_steps = settings.max_steps;
  run.velocity_tolerance = settings.velocity_tolerance;
  run.residual_tolerance = settings.residual_tolerance;
  run.mode_tolerance = settings.mode_tolerance;
  run.seed = settings.seed;
  run.first_problem = static_cast<std::uint32_t>(settings.first_problem);
  run.sampler = settings.sampler;
  run.selection = settings.selection;
  run.sobol_directions = sobol.empty() ? nullptr : sobol.data();
  return run;
}

ImpactProblem problem_of(const ImpactBatch& batch, std::int64_t p) {
  ImpactProblem problem;
  problem.dimension = batch.dimension;
  problem.velocities = batch.velocities;
  problem.contacts = batch.contacts;
  ImpactBatch::each_array(
      batch,
      [&](const char*, const Extents& extents, const Buffer<double>& all,
          std::vector<double>& own) {
        if (all.empty()) return;
        const double* first = all.data() + p * extents.stride();
        own.assign(first, first + extents.stride());
      },
      batch, problem);
  return problem;
}

}  // namespace carom
