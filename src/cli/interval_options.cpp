#include "cli/interval_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include <carom/error.hpp>

#include "cli/numbers.hpp"

namespace carom::cli {

namespace {

/// NUMBER or LOW:HIGH.
void set_interval(std::string_view option, std::string_view text, double& low, double& high) {
  const std::size_t colon = text.find(':');
  low = parse_real(option, text.substr(0, colon));
  high = colon == std::string_view::npos ? low : parse_real(option, text.substr(colon + 1));
  if (low > high) {
    throw InvalidInput(fmt::format("{} {}: LOW must not exceed HIGH", option, text));
  }
}

/// "0.3", "0.2:0.4" or "A=0.2:0.4,B=0"; contacts that are not named keep what they have.
void set_all(std::string_view option, const std::string& text,
             const std::vector<std::string>& names, std::vector<double>& low,
             std::vector<double>& high) {
  for (const std::string& piece : split(text, ',')) {
    const std::size_t equals = piece.rfind('=');
    if (equals == std::string::npos) {
      if (piece != text) {
        throw InvalidInput(fmt::format(
            "{} {}: must be a number, LOW:HIGH, or CONTACT=NUMBER or CONTACT=LOW:HIGH, ...", option,
            text));
      }
      for (std::size_t i = 0; i < low.size(); ++i) set_interval(option, text, low[i], high[i]);
      return;
    }
    const auto found = std::find(names.begin(), names.end(), piece.substr(0, equals));
    if (found == names.end()) {
      throw InvalidInput(fmt::format("{} {}: there is no contact \"{}\"; known are {}", option,
                                     text, piece.substr(0, equals), fmt::join(names, ", ")));
    }
    const auto i = static_cast<std::size_t>(found - names.begin());
    set_interval(option, piece.substr(equals + 1), low[i], high[i]);
  }
}

}  // namespace

void add_interval_options(CLI::App& command, IntervalOptions& options) {
  command
      .add_option("--restitution", options.restitution,
                  "Restitution of the contacts in 0..1, a number or LOW:HIGH, e.g. 0.2:0.4 or "
                  "A=0.2:0.4,B=0; default: the file's, or 0")
      ->type_name("E");
  command
      .add_option("--friction", options.friction,
                  "Friction coefficients in place of the problem's, in the same form")
      ->type_name("MU");
}

void set_intervals(const IntervalOptions& options, const std::vector<std::string>& contact_names,
                   ImpactProblem& problem) {
  const auto contacts = static_cast<std::size_t>(problem.contacts);
  if (!options.restitution.empty()) {
    problem.restitution_low.resize(contacts, 0.0);
    problem.restitution_high.resize(contacts, 0.0);
    set_all("--restitution", options.restitution, contact_names, problem.restitution_low,
            problem.restitution_high);
  }
  if (!options.friction.empty()) {
    std::vector<double> high =
        problem.friction_high.empty() ? problem.friction : problem.friction_high;
    set_all("--friction", options.friction, contact_names, problem.friction, high);
    problem.friction_high = high == problem.friction ? std::vector<double>() : high;
  }
}

}  // namespace carom::cli
