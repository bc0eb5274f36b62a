#include "io/stability_hdf5.hpp"

#include "io/fields.hpp"
#include "io/hdf5_output.hpp"
#include "io/setting_attributes.hpp"

namespace carom::io {

void write_stability_hdf5(const std::filesystem::path& file, const run::StabilityRun& run,
                          const std::string& command_line) {
  std::vector<Stance> pairs;
  std::vector<std::int64_t> points;
  const run::StancePoints& all = run.points;
  for (std::size_t i = 0; i < all.stances.size(); ++i) {
    if (run.row[i] < 0) continue;
    pairs.push_back(all.stances[i]);
    points.push_back(static_cast<std::int64_t>(i));
  }
  const StanceSizes sizes{static_cast<std::int64_t>(pairs.size()), 2};
  write_hdf5(file, command_line, [&](Hdf5Writer& writer) {
    writer.attribute("/", "kind", std::string_view("stability"));
    writer.attribute("/", "model", std::string_view(all.name));
    writer.attribute("/", "backend", to_string(run.backend));
    writer.attribute("/", "complete", std::int64_t{run.complete ? 1 : 0});
    write_settings(writer, "/", run.settings);
    writer.dataset("/varied", all.varied);
    for (std::size_t k = 0; k < all.varied.size(); ++k) {
      if (all.axes[k].empty()) continue;
      writer.dataset("/axes/" + all.varied[k], all.axes[k], {all.axes[k].size()});
    }
    for (std::size_t k = 0; k < all.varied.size() && all.drawn(); ++k) {
      std::vector<double> values;
      for (const std::vector<double>& at : all.at) values.push_back(at[k]);
      writer.dataset("/parameter/" + all.varied[k], values, {values.size()});
    }
    writer.dataset("/point", points, {points.size()});
    write_table(writer, "/stance", stance_batch(pairs), sizes);
    write_table(writer, "/result", run.result, sizes);
    writer.dataset("/result/exact", run.exact, {run.exact.size()});
  });
}

}  // namespace carom::io
