#include <cstdint>
#include <string>

#include "measure.hpp"
#include "problem_sets.hpp"

// sample_impacts on many different problems with few samples each, compared with few with many:
// what a data set of problems costs.
namespace carom::bench {

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
