#include "cli/variations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include <carom/error.hpp>

#include "cli/numbers.hpp"
#include "core/random.hpp"

namespace carom::cli {

double Variation::at(double share) const {
  double value = low;
  if (share >= 1.0) {
    value = high;
  } else if (share > 0.0) {
    value = logarithmic ? low * std::pow(high / low, share) : low + (high - low) * share;
  }
  return whole ? std::round(value) : value;
}

double Variation::value_of(std::int64_t digit) const {
  return at(count == 1 ? 0.0 : static_cast<double>(digit) / static_cast<double>(count - 1));
}

Variation variation_from(const char* option, const std::string& text, std::int64_t most) {
  const bool counted = std::string_view(option) != "--random";
  Variation result;
  result.option = fmt::format("{} {}", option, text);
  const char* form =
      counted ? "NAME=LO:HI:N[:log], e.g. friction=0:1:11" : "NAME=LO:HI[:log], e.g. friction=0:1";
  const std::size_t equals = text.find('=');
  std::vector<std::string> parts;
  if (equals != std::string::npos && equals > 0) parts = split(text.substr(equals + 1), ':');
  const std::size_t least = counted ? 3 : 2;
  result.logarithmic = parts.size() == least + 1 && parts.back() == "log";
  if (parts.size() != least && !result.logarithmic) {
    throw InvalidInput(fmt::format("{}: must be {}", result.option, form));
  }
  result.name = text.substr(0, equals);
  result.low = parse_real(result.option + ": LO", parts[0]);
  result.high = parse_real(result.option + ": HI", parts[1]);
  if (counted) result.count = parse_count(result.option + ": N", parts[2], 1, most);
  if (result.logarithmic && !(result.low > 0.0 && result.high > 0.0)) {
    throw InvalidInput(
        fmt::format("{}: LO and HI of a logarithmic range must be > 0, they are {} and {}",
                    result.option, result.low, result.high));
  }
  if (result.count == 1 && result.low != result.high) {
    throw InvalidInput(result.option + ": one value cannot be both LO and HI: N must be 2 or more");
  }
  return result;
}

GivenOnce::GivenOnce(const std::map<std::string, double>& set) {
  for (const auto& [name, value] : set) option_of_[name] = fmt::format("--set {}={}", name, value);
}

void GivenOnce::add(const std::string& name, const std::string& option) {
  const auto [other, fresh] = option_of_.emplace(name, option);
  if (!fresh) {
    throw InvalidInput(
        fmt::format("{}: {} is also given by {}: leave one out", option, name, other->second));
  }
}

std::int64_t draws_of(const VariationOptions& options, std::int64_t most) {
  if (options.draws.empty()) return 1;
  if (options.random.empty()) {
    throw InvalidInput("--draws: needs --random");
  }
  return parse_count("--draws", options.draws, 1, most);
}

void add_variation_options(CLI::App& command, VariationOptions& options, bool seed) {
  command
      .add_option("--sweep", options.sweep,
                  "Sweep a parameter; several sweeps make a grid, the last the fastest")
      ->type_name("NAME=LO:HI:N[:log]")
      ->allow_extra_args(false);
  command.add_option("--random", options.random, "Draw a parameter for every point")
      ->type_name("NAME=LO:HI[:log]")
      ->allow_extra_args(false);
  command
      .add_option("--draws", options.draws, "Points of --random for each of the sweeps; default: 1")
      ->type_name("N");
  if (seed) {
    command.add_option("--seed", options.seed, "Seed of --random")
        ->type_name("S")
        ->capture_default_str();
  }
}

VariedPoints::VariedPoints(const VariationOptions& options,
                           const std::map<std::string, double>& set,
                           const std::function<void(const std::string&)>& require_known,
                           std::int64_t most) {
  for (const std::string& text : options.sweep) {
    all_.push_back(variation_from("--sweep", text, most));
  }
  for (const std::string& text : options.random) all_.push_back(variation_from("--random", text));
  GivenOnce given(set);
  for (const Variation& variation : all_) {
    require_known(variation.name);
    given.add(variation.name, variation.option);
    grid_ *= std::max<std::int64_t>(variation.count, 1);
    if (grid_ > most) {
      throw InvalidInput(fmt::format("{}: more than 2^{} points", variation.option,
                                     std::bit_width(static_cast<std::uint64_t>(most)) - 1));
    }
  }
  draws_ = draws_of(options, most / grid_);
  seed_ = parse_seed("--seed", options.seed);
  if (!options.first.empty()) first_ = parse_count("--first-problem", options.first, 0);
}

std::vector<double> VariedPoints::at(std::int64_t point) const {
  std::vector<double> values;
  std::int64_t cell = point / draws_;
  std::int64_t below = grid_;
  std::uint32_t drawn = 0;
  for (const Variation& variation : all_) {
    if (variation.count > 0) {
      below /= variation.count;
      values.push_back(variation.value_of(cell / below));
      cell %= below;
    } else {
      const auto address = static_cast<std::uint64_t>(first_ + point);
      values.push_back(variation.at(uniform(seed_, 0, address, drawn++)));
    }
  }
  return values;
}

std::string name_with(const std::string& name, const run::Parameters& point) {
  std::string result = name;
  for (const auto& [parameter, value] : point) {
    result += fmt::format(" {}={:.6g}", parameter, value);
  }
  return result;
}

std::map<std::string, double> values_with(std::map<std::string, double> set,
                                          const run::Parameters& point) {
  for (const auto& [parameter, value] : point) set[parameter] = value;
  return set;
}

std::vector<run::Parameters> varied_points(
    const VariationOptions& options, const std::map<std::string, double>& set,
    const std::function<void(const std::string&)>& require_known) {
  const VariedPoints all(options, set, require_known);
  std::vector<run::Parameters> points(static_cast<std::size_t>(all.size()));
  for (std::int64_t point = 0; point < all.size(); ++point) {
    const std::vector<double> values = all.at(point);
    for (std::size_t k = 0; k < values.size(); ++k) {
      points[static_cast<std::size_t>(point)].emplace_back(all.variations()[k].name, values[k]);
    }
  }
  return points;
}

}  // namespace carom::cli
