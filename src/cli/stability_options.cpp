#include "cli/stability_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include <carom/error.hpp>
#include <carom/models/stances.hpp>

#include "cli/choices.hpp"
#include "cli/numbers.hpp"
#include "cli/target.hpp"
#include "cli/variations.hpp"
#include "io/stability_input.hpp"

namespace carom::cli {

namespace {

constexpr std::int64_t kMostPoints = std::int64_t{1} << 24;
constexpr std::int64_t kChartSide = 300;  ///< points along an axis of a model's own chart

struct Sweep {
  std::string option;
  std::string name;
  std::vector<double> values;
};

std::vector<double> spaced(double low, double high, std::int64_t count) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const double share = count == 1 ? 0.0 : static_cast<double>(i) / static_cast<double>(count - 1);
    values.push_back(i + 1 == count && count > 1 ? high : low + (high - low) * share);
  }
  return values;
}

Sweep sweep_from(const std::string& text) {
  const Variation variation = variation_from("--sweep", text, kMostPoints);
  Sweep sweep{variation.option, variation.name, {}};
  for (std::int64_t i = 0; i < variation.count; ++i) sweep.values.push_back(variation.value_of(i));
  return sweep;
}

std::vector<Sweep> sweeps_of(const StabilityOptions& options,
                             const std::map<std::string, double>& set) {
  std::vector<Sweep> sweeps;
  for (const std::string& text : options.sweep) {
    Sweep sweep = sweep_from(text);
    for (const Sweep& other : sweeps) {
      if (other.name != sweep.name) continue;
      throw InvalidInput(fmt::format("{}: {} is also given by {}: leave one out", sweep.option,
                                     sweep.name, other.option));
    }
    if (set.count(sweep.name) != 0) {
      throw InvalidInput(
          fmt::format("{}: {} is also given by --set: leave one out", sweep.option, sweep.name));
    }
    sweeps.push_back(std::move(sweep));
  }
  if (sweeps.size() > 2) {
    throw InvalidInput(sweeps[2].option + ": at most two parameters are swept");
  }
  return sweeps;
}

// build(values by name) at every point of the grid, the last sweep fastest.
template <class Build>
void fill_grid(run::StancePoints& points, const std::vector<Sweep>& sweeps,
               std::map<std::string, double> set, Build&& build) {
  std::int64_t count = 1;
  for (const Sweep& sweep : sweeps) {
    points.varied.push_back(sweep.name);
    points.values.push_back(sweep.values);
    count *= static_cast<std::int64_t>(sweep.values.size());
    if (count > kMostPoints) throw InvalidInput(sweep.option + ": more than 2^24 points");
  }
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t rest = k;
    std::vector<double> at(sweeps.size());
    for (std::size_t i = sweeps.size(); i-- > 0;) {
      const auto size = static_cast<std::int64_t>(sweeps[i].values.size());
      at[i] = sweeps[i].values[static_cast<std::size_t>(rest % size)];
      set[sweeps[i].name] = at[i];
      rest /= size;
    }
    points.stances.push_back(build(set));
    points.at.push_back(std::move(at));
  }
}

run::StancePoints model_points(const StabilityOptions& options) {
  const models::StanceModel& model = models::find_stance(options.target);
  const auto set = parse_assignments("--set", options.set);
  for (const auto& [name, value] : set) models::parameter_index(model, name);
  std::vector<Sweep> sweeps = sweeps_of(options, set);
  for (const Sweep& sweep : sweeps) models::parameter_index(model, sweep.name);
  const bool single = !options.impact.empty() || !options.start.empty();
  if (sweeps.empty() && !single) {  // the model's own chart, over what was not set
    for (const models::ChartAxis& axis : model.axes) {
      if (set.count(axis.parameter) != 0) continue;
      sweeps.push_back({"the chart", axis.parameter, spaced(axis.low, axis.high, kChartSide)});
    }
  }
  run::StancePoints points;
  points.name = model.name;
  points.set = set;
  fill_grid(points, sweeps, set, [&](const std::map<std::string, double>& values) {
    std::vector<double> all;
    for (const models::Parameter& parameter : model.parameters) {
      const auto found = values.find(parameter.name);
      all.push_back(found == values.end() ? parameter.value : found->second);
    }
    return models::stance_of(model, all);
  });
  return points;
}

run::StancePoints file_points(const StabilityOptions& options) {
  const std::vector<Stance> stances = read_as(options.target, io::FileKind::stance,
                                              [&] { return io::read_stances(options.target); });
  const auto set = parse_assignments("--set", options.set);
  const std::vector<Sweep> sweeps = sweeps_of(options, set);
  if (!sweeps.empty() && stances.size() > 1) {
    throw InvalidInput(fmt::format("{}: {} has {} stances: sweeps are of one", sweeps[0].option,
                                   options.target, stances.size()));
  }
  run::StancePoints points;
  points.set = set;
  points.name = stances.size() == 1 && !stances[0].name.empty() ? stances[0].name : options.target;
  if (stances.size() == 1) {
    for (const Sweep& sweep : sweeps) {
      models::parameter_index(models::model_of(stances[0]), sweep.name);
    }
    fill_grid(points, sweeps, set, [&](const std::map<std::string, double>& values) {
      return models::changed(stances[0], values);
    });
    return points;
  }
  for (const Stance& stance : stances) {
    points.stances.push_back(models::changed(stance, set));
    points.at.emplace_back();
  }
  return points;
}

std::vector<double> numbers_of(const std::string& option, const std::string& text,
                               std::size_t count, const char* form) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() != count) {
    throw InvalidInput(fmt::format("{} is {}: must be {}", option, text, form));
  }
  std::vector<double> values;
  values.reserve(parts.size());
  for (const std::string& part : parts) values.push_back(parse_real(option, part));
  return values;
}

}  // namespace

std::span<const OptionForm> stability_forms() {
  static constexpr OptionForm kForms[] = {
      {.setting = "method", .type = "METHOD"},
      {.setting = "events", .option = "--most-events"},
      {.setting = "threads", .most = kMostThreads},
  };
  return kForms;
}

void add_stability_options(CLI::App& command, StabilityOptions& options) {
  const auto text = [&command](const char* name, std::string& value, const char* type,
                               const char* help) {
    return add_text(command, name, value, type, help);
  };
  text("target", options.target, "MODEL|FILE", "figure2, figure3, or a JSON file of stances")
      ->required();
  command.add_option("--set", options.set, "Set a parameter; repeat for several")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--sweep", options.sweep, "Sweep a parameter; two sweeps make a chart")
      ->type_name("NAME=LO:HI:N[:log]")
      ->allow_extra_args(false);
  options.settings.add(command, StabilitySettings{}, [&](std::string_view setting) {
    if (setting == "threads") {
      text("--backend", options.backend, "BACKEND", listed<Backend>(" or ").c_str());
    }
    return true;
  });
  text("--impact", options.impact, "CONTACT:U,W,OMEGA",
       "One point: the impact of a contact (1 first) from this velocity");
  text("--start", options.start, "Y,Z,THETA,U,W,OMEGA", "One point: the motion from this state");
  text("--events", options.count, "N", "Events of --start that are recorded; default 100");
  text("--output", options.output, "FILE.h5", "Write everything to this HDF5 file");
  text("--plot", options.plot, "FILE.svg|.png", "Draw the chart or the motion (needs gnuplot)");
  add_text_options(command, options);
}

run::StancePoints stance_points(const StabilityOptions& options) {
  if (is_named(models::stances(), options.target)) return model_points(options);
  if (file_exists(options.target)) return file_points(options);
  refuse_target(options.target, models::stances(), "stance");
}

run::StanceQuestions stance_questions(const StabilityOptions& options,
                                      const run::StancePoints& points) {
  run::StanceQuestions questions;
  const auto require_one = [&](const char* option) {
    if (points.stances.size() == 1) return;
    throw InvalidInput(fmt::format("{} asks of one point, there are {}: leave --sweep out", option,
                                   points.stances.size()));
  };
  if (!options.impact.empty()) {
    require_one("--impact");
    const char* form = "CONTACT:U,W,OMEGA, e.g. 1:0.3,-1,0";
    const std::vector<std::string> parts = split(options.impact, ':');
    if (parts.size() != 2) {
      throw InvalidInput(fmt::format("--impact is {}: must be {}", options.impact, form));
    }
    const auto contacts = static_cast<std::int64_t>(points.stances.front().contacts.size());
    questions.contact =
        static_cast<int>(parse_count("--impact: CONTACT", parts[0], 1, contacts)) - 1;
    const auto v = numbers_of("--impact", parts[1], 3, form);
    std::copy(v.begin(), v.end(), questions.impact.begin());
  }
  if (!options.start.empty()) {
    require_one("--start");
    const auto x = numbers_of("--start", options.start, 6, "Y,Z,THETA,U,W,OMEGA");
    questions.start.emplace();
    std::copy(x.begin(), x.end(), questions.start->begin());
  }
  if (!options.count.empty()) {
    if (options.start.empty()) throw InvalidInput("--events: belongs to --start, which is missing");
    questions.events = parse_count("--events", options.count, 1, std::int64_t{1} << 24);
  }
  return questions;
}

}  // namespace carom::cli
