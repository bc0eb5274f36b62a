#include <string>

#include "cpu/impact/impact_driver.hpp"
#include "cpu/simd/dispatch.hpp"
#include "measure.hpp"

// What the parts of the CPU's fast way give: the same trajectories with each instruction set, in
// packs and one at a time, with the mode table and without.
namespace carom::bench {

void add_part_benchmarks() {
  for (const char* name : {"rocking_block", "box_wall"}) {
    const models::Model& model = models::find(name);
    for (const cpu::simd::InstructionSet* set : cpu::simd::instruction_sets()) {
      for (const auto& [label, packs, table] :
           {std::tuple{"packs", true, true}, {"table", false, true}, {"path", false, false}}) {
        ImpactSettings settings;
        settings.step_size = model.step_size;
        settings.max_steps = model.max_steps;
        settings.samples = 1 << 16;
        settings.threads = 1;
        settings.mode_table = table;
        add("parts/" + model.name + "/" + std::string(set->name) + "_" + label,
            [&model, settings, set, packs = packs](benchmark::State& state) {
              const std::vector<ImpactProblem> problems{models::build(model.name)};
              const ImpactBatch batch = make_batch(problems);
              std::int64_t failed = 0;
              for (auto _ : state) {
                const ImpactResult result =
                    cpu::drive_impacts<2>(batch, settings, packs, set->run_block);
                failed = result.summary.front().failed;
              }
              state.SetItemsProcessed(state.iterations() * settings.samples);
              const auto samples = static_cast<double>(settings.samples);
              state.counters["problems"] = samples;
              state.counters["solved"] = 1.0 - static_cast<double>(failed) / samples;
            });
      }
    }
  }
}

}  // namespace carom::bench
