#include "cli/stability_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include <carom/error.hpp>
#include <carom/models/stances.hpp>

#include "cli/backend_options.hpp"
#include "cli/choices.hpp"
#include "cli/numbers.hpp"
#include "cli/target.hpp"
#include "cli/variations.hpp"
#include "io/stability_input.hpp"

namespace carom::cli {

namespace {

constexpr std::int64_t kMostPoints = std::int64_t{1} << 24;
constexpr std::int64_t kChartSide = 300;  ///< points along an axis of a model's own chart

/// What --sweep and --random ask for; `chart`: sweeps where nothing was asked.
VariedPoints varied(const StabilityOptions& options, const std::map<std::string, double>& set,
                    const std::vector<std::string>& chart,
                    const std::function<void(const std::string&)>& require_known) {
  VariationOptions variations = options.variations;
  variations.seed = options.settings["seed"];
  if (variations.sweep.size() > 2) {
    throw InvalidInput("--sweep " + variations.sweep[2] + ": at most two parameters are swept");
  }
  if (variations.sweep.empty() && variations.random.empty()) variations.sweep = chart;
  return {variations, set, require_known, kMostPoints};
}

/// build(values by name) at every point.
template <class Build>
void fill(run::StancePoints& points, const VariedPoints& varied, std::map<std::string, double> set,
          Build&& build) {
  for (const Variation& variation : varied.variations()) {
    points.varied.push_back(variation.name);
    std::vector<double>& axis = points.axes.emplace_back();
    for (std::int64_t i = 0; i < variation.count; ++i) axis.push_back(variation.value_of(i));
  }
  for (std::int64_t k = 0; k < varied.size(); ++k) {
    std::vector<double> at = varied.at(k);
    for (std::size_t i = 0; i < at.size(); ++i) set[points.varied[i]] = at[i];
    points.stances.push_back(build(set));
    points.at.push_back(std::move(at));
  }
}

run::StancePoints model_points(const StabilityOptions& options) {
  const models::StanceModel& model = models::find_stance(options.target);
  const auto set = parse_assignments("--set", options.set);
  for (const auto& [name, value] : set) models::parameter_index(model, name);
  const bool single = !options.impact.empty() || !options.start.empty();
  std::vector<std::string> chart;  // the model's own, over what was not set
  for (const models::ChartAxis& axis : model.axes) {
    if (single || set.count(axis.parameter) != 0) continue;
    chart.push_back(
        fmt::format("{}={:.17g}:{:.17g}:{}", axis.parameter, axis.low, axis.high, kChartSide));
  }
  const VariedPoints all = varied(
      options, set, chart, [&](const std::string& name) { models::parameter_index(model, name); });
  run::StancePoints points;
  points.name = model.name;
  points.set = set;
  fill(points, all, set, [&](const std::map<std::string, double>& values) {
    std::vector<double> parameters;
    for (const models::Parameter& parameter : model.parameters) {
      const auto found = values.find(parameter.name);
      parameters.push_back(found == values.end() ? parameter.value : found->second);
    }
    return models::stance_of(model, parameters);
  });
  return points;
}

run::StancePoints file_points(const StabilityOptions& options) {
  const std::vector<Stance> stances = read_as(options.target, io::FileKind::stance,
                                              [&] { return io::read_stances(options.target); });
  const auto set = parse_assignments("--set", options.set);
  const VariedPoints all = varied(options, set, {}, [&](const std::string& name) {
    if (stances.size() == 1) models::parameter_index(models::model_of(stances[0]), name);
  });
  if (!all.variations().empty() && stances.size() > 1) {
    throw InvalidInput(fmt::format("{}: {} has {} stances: parameters of one vary",
                                   all.variations()[0].option, options.target, stances.size()));
  }
  run::StancePoints points;
  points.set = set;
  points.name = stances.size() == 1 && !stances[0].name.empty() ? stances[0].name : options.target;
  if (stances.size() == 1) {
    fill(points, all, set, [&](const std::map<std::string, double>& values) {
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
  text("target", options.target, "MODEL|FILE",
       "figure2, figure3, or a JSON or HDF5 file of stances")
      ->required();
  command.add_option("--set", options.set, "Set a parameter; repeat for several")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  add_variation_options(command, options.variations, false);
  options.settings.add(command, StabilitySettings{}, [&](std::string_view setting) {
    if (setting == "threads") {
      add_backend_options(command, options.backend);
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
    throw InvalidInput(
        fmt::format("{} is for one point, there are {}: leave --sweep and --random out", option,
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
    if (options.start.empty()) throw InvalidInput("--events: needs --start");
    questions.events = parse_count("--events", options.count, 1, std::int64_t{1} << 24);
  }
  return questions;
}

}  // namespace carom::cli
