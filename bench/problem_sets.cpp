#include "problem_sets.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include <carom/device/orthonormal_frame.hpp>

namespace carom::bench {

namespace {

constexpr std::uint64_t kSeed = 20200403;
constexpr std::int64_t kTrajectories = 2048;

StepSet finish(std::string name, int directions, std::vector<test::StepProblem> steps) {
  StepSet set;
  set.name = std::move(name);
  set.directions = directions;
  set.steps = std::move(steps);
  set.batch = test::step_batch(set.steps);
  set.lcp.count = static_cast<long>(set.steps.size());
  set.lcp.step = true;
  for (const test::StepProblem& step : set.steps) {
    const test::FullLcp lcp = test::full_lcp(step);
    set.lcp.order = static_cast<int>(lcp.vector.size());
    set.lcp.matrix.insert(set.lcp.matrix.end(), lcp.matrix.data(),
                          lcp.matrix.data() + lcp.matrix.size());
    set.lcp.vector.insert(set.lcp.vector.end(), lcp.vector.data(),
                          lcp.vector.data() + lcp.vector.size());
  }
  return set;
}

}  // namespace

long set_size(int order) { return std::clamp(160'000L / (order * order), 64L, 1024L); }

StepSet model_steps(const models::Model& model) {
  const ImpactProblem problem = models::build(model.name);
  ImpactSettings settings;
  settings.samples = kTrajectories;
  settings.keep_paths = kTrajectories;
  settings.seed = kSeed;
  settings.step_size = model.step_size;
  settings.max_steps = model.max_steps;
  const std::vector<ImpactProblem> problems{problem};
  const ImpactResult result = sample_impacts(make_batch(problems), settings, Backend::cpu);
  const ImpactPaths& paths = result.paths.front();
  // A path's last velocity is not stepped from.
  std::vector<const double*> met;
  for (std::size_t s = 0; s + 1 < paths.offset.size(); ++s) {
    for (std::int64_t k = paths.offset[s]; k + 1 < paths.offset[s + 1]; ++k) {
      met.push_back(paths.velocity.data() + k * problem.velocities);
    }
  }
  const int k = model.dimension == 2 ? 2 : settings.friction_directions;
  const long count = set_size(problem.contacts * (k + 3));
  test::Generator random(kSeed);
  std::vector<test::StepProblem> steps;
  for (long i = 0; i < count; ++i) {
    const double* velocity =
        met[static_cast<std::size_t>(random.integer(0, static_cast<int>(met.size()) - 1))];
    ImpactProblem here = problem;
    here.velocity.assign(velocity, velocity + problem.velocities);
    test::Vector limit(problem.contacts);
    for (double& value : limit) value = random.between(0.0, model.step_size);
    steps.push_back(test::step_problem(here, limit, settings.friction_directions));
  }
  return finish(model.name, settings.friction_directions, std::move(steps));
}

StepSet random_steps(test::Flavour flavour, int dimension, int contacts, int directions) {
  const int k = dimension == 2 ? 2 : directions;
  const long count = set_size(contacts * (k + 3));
  test::Generator random(kSeed + static_cast<std::uint64_t>(1000 * dimension + contacts));
  std::vector<test::StepProblem> steps;
  for (long i = 0; i < count; ++i) {
    const ImpactProblem problem = test::random_problem(random, flavour, dimension, contacts);
    steps.push_back(
        test::step_problem(problem, test::random_limits(random, flavour, contacts), directions));
  }
  const std::string name =
      std::string(test::to_string(flavour)) + (dimension == 2 ? "_planar" : "_spatial") + "_m" +
      std::to_string(contacts) + (dimension == 2 ? "" : "_k" + std::to_string(directions));
  return finish(name, directions, std::move(steps));
}

DenseSet random_lcps(int order) {
  test::Generator random(kSeed + static_cast<std::uint64_t>(order));
  DenseSet set;
  set.order = order;
  set.count = set_size(order);
  for (long p = 0; p < set.count; ++p) {
    const test::Matrix factor = random.normal_matrix(order, order);
    const test::Matrix twist = random.normal_matrix(order, order);
    const test::Matrix matrix = factor * factor.transpose() / order +
                                test::Matrix::Identity(order, order) +
                                (twist - twist.transpose()) / std::sqrt(order);
    const test::Vector vector = random.normal_vector(order);
    set.matrix.insert(set.matrix.end(), matrix.data(), matrix.data() + matrix.size());
    set.vector.insert(set.vector.end(), vector.data(), vector.data() + vector.size());
  }
  return set;
}

LcpBatch lcp_batch(const DenseSet& set) {
  LcpBatch batch;
  batch.problems = set.count;
  batch.order = set.order;
  batch.matrix = Buffer<double>::from(set.matrix);
  batch.vector = Buffer<double>::from(set.vector);
  return batch;
}

std::vector<Posture> four_contact_postures(int count) {
  std::mt19937_64 draw(2026);
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(draw);
  };
  std::vector<Posture> postures;
  for (int p = 0; p < count; ++p) {
    Posture posture;
    posture.dimension = 3;
    posture.contacts = 4;
    for (int c = 0; c < 4; ++c) {
      const double at = 0.5 * std::numbers::pi * c + between(-0.3, 0.3);
      const double reach = between(0.5, 1.5);
      const double x[3] = {reach * std::cos(at), reach * std::sin(at), between(-0.2, 0.2)};
      double n[3] = {between(-0.3, 0.3), between(-0.3, 0.3), 1.0};
      const double size = std::sqrt(kernels::dot3(n, n));
      for (double& value : n) value /= size;
      posture.position.insert(posture.position.end(), x, x + 3);
      posture.normal.insert(posture.normal.end(), n, n + 3);
      posture.friction.push_back(between(0.2, 0.8));
    }
    postures.push_back(posture);
  }
  return postures;
}

ImpactBatch random_impacts(std::int64_t problems, int dimension, int contacts) {
  const int nv = dimension == 2 ? 3 : 6;
  ImpactBatch batch = allocate<ImpactBatch>({problems, dimension, nv, contacts}, MemorySpace::host);
  std::mt19937_64 generator(7);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> friction(0.1, 1.0);
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  for (std::int64_t p = 0; p < problems; ++p) {
    std::vector<double> b(at(nv) * at(nv));
    for (double& x : b) x = normal(generator);
    double* const v = batch.velocity.host().data() + p * nv;
    for (int i = 0; i < nv; ++i) {
      for (int j = 0; j < nv; ++j) {
        double sum = i == j ? 1.0 : 0.0;
        for (int k = 0; k < nv; ++k) sum += b[at(i * nv + k)] * b[at(j * nv + k)];
        batch.mass_matrix.host()[at((p * nv + i) * nv + j)] = sum;
      }
      v[i] = normal(generator);
    }
    for (int i = 0; i < contacts; ++i) {
      double* const row = batch.normal_jacobian.host().data() + (p * contacts + i) * nv;
      double speed = 0.0;
      for (int j = 0; j < nv; ++j) speed += (row[j] = normal(generator)) * v[j];
      for (int j = 0; speed > 0.0 && j < nv; ++j) row[j] = -row[j];
      batch.friction.host()[at(p * contacts + i)] = friction(generator);
    }
    const std::int64_t tangents = static_cast<std::int64_t>(dimension - 1) * contacts * nv;
    for (std::int64_t k = 0; k < tangents; ++k) {
      batch.tangent_jacobian.host()[at(p * tangents + k)] = normal(generator);
    }
  }
  return batch;
}

}  // namespace carom::bench
