#include <cstdint>
#include <random>
#include <string>

#include "measure.hpp"

// sample_impacts on many different problems with few samples each, beside few with many: what a
// data set of problems costs.
namespace carom::bench {

namespace {

/// Random mechanisms whose contacts all approach: M = I + B B', normal entries throughout.
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

}  // namespace

void add_problems_benchmarks() {
  struct Shape {
    const char* name;
    int dimension, contacts;
    std::int64_t few, many, most_samples;
  };
  for (const Shape& shape :
       {Shape{"planar_2", 2, 2, 20, 500, 50'000}, Shape{"planar_3", 2, 3, 20, 200, 50'000},
        Shape{"spatial_2", 3, 2, 20, 200, 50'000}, Shape{"spatial_4", 3, 4, 6, 100, 20'000}}) {
    for (const std::int64_t samples : {std::int64_t{256}, std::int64_t{1024}, shape.most_samples}) {
      const std::int64_t problems = samples == shape.most_samples ? shape.few : shape.many;
      const auto batch =
          share([=] { return random_impacts(problems, shape.dimension, shape.contacts); });
      add("problems/" + std::string(shape.name) + "/" + std::to_string(problems) + "x" +
              std::to_string(samples),
          [=](benchmark::State& state) {
            ImpactSettings settings;
            settings.samples = samples;
            settings.threads = 1;
            ImpactWorkspace workspace;
            ImpactSummary sums;
            for (auto _ : state) {
              const ImpactResult result =
                  sample_impacts(batch->get(), settings, Backend::cpu, &workspace);
              sums = {};
              for (const ImpactSummary& summary : result.summary) {
                sums.samples += summary.samples;
                sums.failed += summary.failed;
                sums.lcp_solves += summary.lcp_solves;
              }
            }
            const auto all = static_cast<double>(sums.samples);
            state.SetItemsProcessed(state.iterations() * sums.samples);
            state.counters["problems"] = all;
            state.counters["threads"] = 1;
            state.counters["lcps_per_sample"] = static_cast<double>(sums.lcp_solves) / all;
            state.counters["solved"] = static_cast<double>(sums.samples - sums.failed) / all;
          });
    }
  }
}

}  // namespace carom::bench
