#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "run/parameters.hpp"

/// --sweep NAME=LO:HI:N[:log] and --random NAME=LO:HI[:log], parsed in one way for all commands.
namespace carom::cli {

/// One of them.
struct Variation {
  std::string option;  ///< as messages name it, e.g. "--sweep friction=0:1:5"
  std::string name;
  double low = 0.0;
  double high = 0.0;
  bool logarithmic = false;
  std::int64_t count = 0;  ///< 0: drawn
  bool whole = false;      ///< values are rounded

  /// share: in [0, 1] from low to high.
  [[nodiscard]] double at(double share) const;
  /// The value of place `digit` of `count`.
  [[nodiscard]] double value_of(std::int64_t digit) const;
};

/// option: "--random", or one that has a count of at most `most`. Errors: InvalidInput.
Variation variation_from(const char* option, const std::string& text,
                         std::int64_t most = std::int64_t{1} << 32);

/// Refuses a parameter that two options give.
class GivenOnce {
 public:
  explicit GivenOnce(const std::map<std::string, double>& set);  ///< those of --set
  /// Errors: InvalidInput naming both options.
  void add(const std::string& name, const std::string& option);

 private:
  std::map<std::string, std::string> option_of_;
};

/// Texts of the options that vary parameters.
struct VariationOptions {
  std::vector<std::string> sweep;
  std::vector<std::string> random;
  std::string draws;
  std::string seed = "0";
  std::string first;  ///< index of the first point, which addresses what is drawn; empty: 0
};

/// --draws, 1 where it is not given. Errors: InvalidInput where nothing is drawn or beyond `most`.
std::int64_t draws_of(const VariationOptions& options, std::int64_t most);

/// --sweep, --random and --draws; --seed where the command has none.
void add_variation_options(CLI::App& command, VariationOptions& options, bool seed);

/// Every point of the grid of sweeps, the last one the fastest, with `draws` drawn ones each; one
/// point without values where nothing varies. A drawn value is a function of seed, the point's
/// index and the place of its --random.
class VariedPoints {
 public:
  static constexpr std::int64_t kMostPoints = std::int64_t{1} << 20;

  /// require_known refuses unknown names; `set` are those of --set, which may not vary. Errors:
  /// InvalidInput naming the option.
  VariedPoints(const VariationOptions& options, const std::map<std::string, double>& set,
               const std::function<void(const std::string&)>& require_known,
               std::int64_t most = kMostPoints);

  /// Sweeps, then what is drawn.
  [[nodiscard]] const std::vector<Variation>& variations() const { return all_; }
  [[nodiscard]] std::int64_t size() const { return grid_ * draws_; }
  /// The values of a point, in the order of variations().
  [[nodiscard]] std::vector<double> at(std::int64_t point) const;

 private:
  std::vector<Variation> all_;
  std::int64_t grid_ = 1;
  std::int64_t draws_ = 1;
  std::uint64_t seed_ = 0;
  std::int64_t first_ = 0;
};

/// "NAME friction=0.5", what reports call a point.
std::string name_with(const std::string& name, const run::Parameters& point);

/// `set` and the point's values.
std::map<std::string, double> values_with(std::map<std::string, double> set,
                                          const run::Parameters& point);

/// All of them by name.
std::vector<run::Parameters> varied_points(
    const VariationOptions& options, const std::map<std::string, double>& set,
    const std::function<void(const std::string&)>& require_known);

}  // namespace carom::cli
