#include "io/impact_hdf5.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <type_traits>

#include "core/words.hpp"
#include "io/fields.hpp"
#include "io/hdf5_file.hpp"
#include "io/hdf5_output.hpp"
#include "io/problem_file.hpp"
#include "io/setting_attributes.hpp"

namespace carom::io {

namespace {

using Words = std::vector<std::string>;

std::uint64_t extent(std::int64_t value) { return static_cast<std::uint64_t>(value); }

// What the group of one problem is written with.
class ProblemGroup {
 public:
  ProblemGroup(Hdf5Writer& writer, const run::ImpactRun& run, std::size_t index)
      : writer_(writer),
        run_(run),
        group_(fmt::format("/impact_{}", index)),
        nv_(extent(run.problem.velocities)),
        contacts_(extent(run.problem.contacts)),
        rows_(extent(run.problem.dimension) * contacts_) {}

  void write() const {
    writer_.group(group_);
    summary();
    problem();
    samples();
    if (run_.net) net(*run_.net);
    if (!run_.paths.offset.empty()) paths();
    if (run_.models) models(*run_.models);
    if (!run_.bounces.empty()) bounces();
    if (run_.enclosure) enclosure(*run_.enclosure);
    if (run_.judgement) judgement(*run_.judgement);
  }

 private:
  [[nodiscard]] std::string at(std::string_view path) const {
    return fmt::format("{}/{}", group_, path);
  }

  /// Whether an array of the problem is written as pairs.
  [[nodiscard]] bool is_interval(const Extents& extents, std::string_view name) const {
    return extents.optional() || (name == "friction" && !run_.problem.friction_high.empty());
  }

  /// One data set for each array of one problem.
  template <class Table, class Arrays>
  void write_arrays(std::string_view group, const typename Table::Sizes& sizes,
                    const Arrays& arrays) const {
    Table::each_array(
        sizes,
        [&](const char* name, const Extents& extents, const auto& values) {
          if (values.empty() && extents.optional()) return;
          if (std::is_same_v<Table, ImpactBatch> && is_interval(extents, name)) return;
          const Shape shape = extents.rank() == 1 ? Shape{1} : shape_of(extents, 1);
          const std::string path = at(fmt::format("{}/{}", group, name));
          if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(values[0])>>) {
            const auto* codes = reinterpret_cast<const std::uint8_t*>(values.data());
            writer_.dataset(path, std::span(codes, values.size()), shape);
          } else {
            writer_.dataset(path, values, shape);
          }
        },
        arrays);
  }

  void summary() const {
    const ImpactSummary& summary = run_.summary;
    writer_.attribute(group_, "name", std::string_view(run_.model));
    for (const auto& [name, value] : run_.parameters) {
      writer_.attribute(group_, "parameter_" + name, value);
    }
    writer_.attribute(group_, "dimension", std::int64_t{run_.problem.dimension});
    writer_.attribute(group_, "backend", carom::to_string(run_.backend));
    write_fields(writer_, group_, summary);
    writer_.attribute(group_, "step_size", run_.settings.step_size);
    writer_.attribute(group_, "max_steps", std::int64_t{run_.settings.max_steps});
    writer_.attribute(group_, "samples_requested", run_.settings.samples);
    writer_.attribute(group_, "complete", std::int64_t{run_.complete ? 1 : 0});
    writer_.attribute(group_, "seconds", run_.seconds);
    Words words;
    std::vector<std::int64_t> counts;
    for (const auto& [modes, count] : summary.mode_counts) {
      words.push_back(mode_words(modes, run_.problem.contacts, run_.problem.dimension));
      counts.push_back(count);
    }
    writer_.dataset(at("mode_counts/modes"), words);
    writer_.dataset(at("mode_counts/count"), counts, {counts.size()});
  }

  void problem() const {
    const ImpactProblem& problem = run_.problem;
    write_arrays<ImpactBatch>(
        "problem", {1, problem.dimension, problem.velocities, problem.contacts}, problem);
    const auto intervals = [this](const char* name, const std::vector<double>& low,
                                  const std::vector<double>& high) {
      if (high.empty()) return;
      std::vector<double> ends;
      for (std::size_t i = 0; i < high.size(); ++i) ends.insert(ends.end(), {low[i], high[i]});
      writer_.dataset(at(fmt::format("problem/{}", name)), ends, {contacts_, 2});
    };
    intervals("restitution", problem.restitution_low, problem.restitution_high);
    intervals("friction", problem.friction, problem.friction_high);
    writer_.dataset(at("problem/contact_names"), run_.contact_names);
  }

  void samples() const {
    const run::SampleRows& rows = run_.rows;
    write_arrays<ImpactSamples>(
        "samples",
        {1, rows.count, run_.problem.velocities, run_.problem.dimension * run_.problem.contacts,
         run_.problem.contacts},
        rows);
    writer_.attribute(at("samples/status"), "meaning", codes_meaning<TrajectoryStatus>());
    writer_.attribute(at("samples/velocity"), "first_sample", run_.settings.first_sample);
  }

  void net(const EpsilonNet& net) const {
    const std::uint64_t points = extent(net.points());
    writer_.dataset(at("net/velocity"), net.velocity, {points, nv_});
    writer_.dataset(at("net/impulse"), net.impulse, {points, rows_});
    writer_.dataset(at("net/modes"), net.modes, {points});
    writer_.dataset(at("net/multiplicity"), net.multiplicity, {points});
    writer_.dataset(at("net/first_sample"), net.first_sample, {points});
    writer_.dataset(at("net/coverage"), net.coverage, {net.coverage.size()});
    writer_.attribute(at("net"), "epsilon", net.epsilon);
    writer_.attribute(at("net"), "requested_epsilon", net.requested_epsilon);
    writer_.attribute(at("net"), "dropped", net.dropped);
  }

  void paths() const {
    const ImpactPaths& paths = run_.paths;
    writer_.dataset(at("paths/offset"), paths.offset, {paths.offset.size()});
    const std::uint64_t rows = extent(paths.offset.back());
    writer_.dataset(at("paths/velocity"), paths.velocity, {rows, nv_});
    if (paths.impulse.empty()) return;
    writer_.dataset(at("paths/impulse"), paths.impulse, {rows, rows_});
    writer_.dataset(at("paths/restitution"), paths.restitution, {rows, contacts_});
    writer_.dataset(at("paths/friction"), paths.friction, {rows, contacts_});
  }

  // One row per outcome in each data set.
  template <class Outcomes>
  void outcomes(std::string_view name, const Outcomes& outcomes) const {
    std::vector<double> velocity;
    std::vector<double> impulse;
    std::vector<double> contact;
    std::vector<double> energy;
    for (const ImpactOutcome& outcome : outcomes) {
      velocity.insert(velocity.end(), outcome.velocity.begin(), outcome.velocity.end());
      impulse.insert(impulse.end(), outcome.impulse.begin(), outcome.impulse.end());
      contact.insert(contact.end(), outcome.normal_velocity.begin(), outcome.normal_velocity.end());
      contact.insert(contact.end(), outcome.tangent_velocity.begin(),
                     outcome.tangent_velocity.end());
      energy.push_back(outcome.kinetic_energy);
    }
    const std::uint64_t count = outcomes.size();
    writer_.dataset(at(fmt::format("models/{}/velocity", name)), velocity, {count, nv_});
    writer_.dataset(at(fmt::format("models/{}/impulse", name)), impulse, {count, rows_});
    writer_.dataset(at(fmt::format("models/{}/contact_velocity", name)), contact, {count, rows_});
    writer_.dataset(at(fmt::format("models/{}/kinetic_energy", name)), energy, {count});
  }

  void models(const run::ComparedModels& models) const {
    outcomes("simultaneous", models.simultaneous);
    writer_.attribute(at("models/simultaneous"), "complete",
                      std::int64_t{models.simultaneous_complete ? 1 : 0});
    outcomes("sequential", models.sequential);
    std::vector<std::int32_t> orders;
    std::vector<std::int32_t> impacts;
    for (const SequentialOutcome& outcome : models.sequential) {
      orders.insert(orders.end(), outcome.order.begin(), outcome.order.end());
      impacts.push_back(outcome.impacts);
    }
    writer_.dataset(at("models/sequential/order"), orders, {models.sequential.size(), contacts_});
    writer_.dataset(at("models/sequential/impacts"), impacts, {impacts.size()});
  }

  // One row per model in each data set.
  void bounces() const {
    std::vector<std::string> model, status;
    std::vector<std::int32_t> impacts;
    std::vector<double> velocity, contact, energy_ratio, distance, resolution, measured;
    for (const run::ModelledBounce& bounce : run_.bounces) {
      const SequentialOutcome& outcome = bounce.outcome;
      model.push_back(bounce.model);
      status.emplace_back(carom::to_string(outcome.status));
      impacts.push_back(outcome.impacts);
      velocity.insert(velocity.end(), outcome.velocity.begin(), outcome.velocity.end());
      contact.insert(contact.end(), outcome.normal_velocity.begin(), outcome.normal_velocity.end());
      contact.insert(contact.end(), outcome.tangent_velocity.begin(),
                     outcome.tangent_velocity.end());
      energy_ratio.push_back(bounce.energy_ratio);
      distance.push_back(bounce.distance);
      resolution.push_back(bounce.resolution);
      measured.push_back(bounce.measured);
    }
    const std::uint64_t count = run_.bounces.size();
    writer_.dataset(at("bounces/model"), model);
    writer_.dataset(at("bounces/status"), status);
    writer_.dataset(at("bounces/impacts"), impacts, {count});
    writer_.dataset(at("bounces/velocity"), velocity, {count, nv_});
    writer_.dataset(at("bounces/contact_velocity"), contact, {count, rows_});
    writer_.dataset(at("bounces/energy_ratio"), energy_ratio, {count});
    writer_.dataset(at("bounces/distance"), distance, {count});
    writer_.dataset(at("bounces/resolution"), resolution, {count});
    writer_.dataset(at("bounces/from_measured"), measured, {count});
  }

  void enclosure(const run::EnclosedRun& enclosed) const {
    const ImpactEnclosure& set = enclosed.set;
    const std::string place = at("enclosure");
    writer_.group(place);
    writer_.attribute(place, "status", carom::to_string(set.status));
    if (!run_.problem.restitution_high.empty()) {
      writer_.attribute(place, "law", carom::to_string(set.law));
    }
    writer_.attribute(place, "exact", std::int64_t{set.exact ? 1 : 0});
    writer_.attribute(place, "rounding", set.rounding);
    writer_.attribute(place, "data_rounding", set.data_rounding);
    writer_.attribute(place, "polyhedra", set.made);
    writer_.attribute(place, "faces", set.faces);
    writer_.attribute(place, "filled", enclosed.filled);
    const auto compared = [&](const std::string& of, const OutsideSamples& samples) {
      writer_.attribute(place, of + "_compared", samples.compared);
      writer_.attribute(place, of + "_outside", samples.outside);
      writer_.attribute(place, of + "_largest", samples.largest);
    };
    compared("samples", enclosed.samples);
    compared("followed", enclosed.followed);
    writer_.attribute(place, "seconds", set.seconds);
    std::vector<double> bounds = set.normal_velocity_min;
    for (const std::vector<double>* part :
         {&set.tangent_velocity_min, &set.normal_velocity_max, &set.tangent_velocity_max}) {
      bounds.insert(bounds.end(), part->begin(), part->end());
    }
    writer_.dataset(at("enclosure/bounds"), bounds, {2, rows_});
    std::vector<std::uint64_t> modes;  // of each vertex
    std::vector<double> vertices;
    for (const EnclosedMode& mode : set.modes) {
      modes.insert(modes.end(), rows_ > 0 ? mode.vertices.size() / rows_ : 0, mode.modes);
      vertices.insert(vertices.end(), mode.vertices.begin(), mode.vertices.end());
    }
    writer_.dataset(at("enclosure/vertices"), vertices, {modes.size(), rows_});
    writer_.dataset(at("enclosure/vertex_modes"), modes, {modes.size()});
    writer_.dataset(at("enclosure/impossible_modes"), set.impossible_modes,
                    {set.impossible_modes.size()});
    writer_.dataset(at("enclosure/modes_within_tolerance"), enclosed.within_tolerance,
                    {enclosed.within_tolerance.size()});
    writer_.dataset(at("enclosure/invariant"), Words{set.invariant});
  }

  void judgement(const run::JudgedRun& judged) const {
    const ImpactSizes sizes{1, run_.problem.dimension, run_.problem.velocities,
                            run_.problem.contacts};
    write_arrays<ImpactJudgementArrays<Values>>("judgement", sizes, judged.samples);
    write_arrays<ImpactFloorArrays<Values>>("judgement", sizes, judged.floor);
    writer_.attribute(at("judgement/verdict"), "meaning", codes_meaning<JudgeVerdict>());
    writer_.attribute(at("judgement/floor_status"), "meaning", codes_meaning<Status>());
    writer_.dataset(at("judgement/nearest_path"), judged.nearest_path,
                    {judged.nearest_path.size() / nv_, nv_});
  }

  Hdf5Writer& writer_;
  const run::ImpactRun& run_;
  std::string group_;
  std::uint64_t nv_;
  std::uint64_t contacts_;
  std::uint64_t rows_;
};

/// Of all runs together, as each of them has it.
void identification(Hdf5Writer& writer, std::span<const run::ImpactRun> runs) {
  const bool all = std::all_of(runs.begin(), runs.end(), [](const run::ImpactRun& run) {
    return run.identified.has_value();
  });
  if (!all) return;
  const run::IdentifiedRun& first = *runs.front().identified;
  const std::uint64_t n = runs.size(), e = first.restitution.size(), mu = first.friction.size();
  std::vector<double> distance;
  for (const run::ImpactRun& run : runs) {
    const std::vector<double>& own = run.identified->distance;
    distance.insert(distance.end(), own.begin(), own.end());
  }
  std::vector<std::uint8_t> explains;
  explains.reserve(distance.size());
  for (const double d : distance) explains.push_back(d <= first.tolerance ? 1 : 0);
  writer.group("/identify");
  writer.attribute("/identify", "tolerance", first.tolerance);
  writer.dataset("/identify/restitution", first.restitution, {e});
  writer.dataset("/identify/friction", first.friction, {mu});
  writer.dataset("/identify/distance", distance, {n, e, mu});
  writer.dataset("/identify/explains", explains, {n, e, mu});
  writer.dataset("/identify/smallest_interval", first.smallest_interval, {2, 2});
  writer.dataset("/identify/bounds", first.bounds, {2, 2, 2});
}

void root_attributes(Hdf5Writer& writer, std::span<const run::ImpactRun> runs) {
  const run::ImpactRun& first = runs.front();
  Words models;
  for (const run::ImpactRun& run : runs) models.push_back(run.model);
  const bool complete =
      std::all_of(runs.begin(), runs.end(), [](const run::ImpactRun& run) { return run.complete; });
  write_settings(writer, "/", first.settings);
  writer.attribute(
      "/", "model",
      std::string_view(runs.size() == 1 ? first.model : fmt::format("{} problems", runs.size())));
  writer.attribute("/", "backend", carom::to_string(first.backend));
  writer.attribute("/", "complete", std::int64_t{complete ? 1 : 0});
  writer.attribute("/", "problems", static_cast<std::int64_t>(runs.size()));
  const auto enclosures = std::count_if(runs.begin(), runs.end(), [](const run::ImpactRun& run) {
    return run.enclosure.has_value();
  });
  if (enclosures > 0) writer.attribute("/", "enclosures", std::int64_t{enclosures});
}

}  // namespace

void write_impact_hdf5(const std::filesystem::path& file, std::span<const run::ImpactRun> runs,
                       const std::string& command_line) {
  write_hdf5(file, command_line, [&](Hdf5Writer& writer) {
    root_attributes(writer, runs);
    for (std::size_t i = 0; i < runs.size(); ++i) ProblemGroup(writer, runs[i], i).write();
    identification(writer, runs);
  });
}

}  // namespace carom::io
