#pragma once

#include <cfloat>
#include <limits>

/// Structs of settings list their members once, in `each_setting`: it calls
///
///     visit(setting, values...)
///
/// for every member but callbacks, with what there is to say of it (a Setting) and the members of
/// that name of the structs given. validate(), the options of the command, attributes of files and
/// docs/reference/settings.md come from that list; defaults are the members' own.
namespace carom {

/// The numbers that a setting takes. NaN is never among them.
struct SettingRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool open_least = false;  ///< least itself is refused
  bool open_most = false;   ///< most itself is refused

  static constexpr SettingRange at_least(double least) { return {.least = least}; }
  static constexpr SettingRange between(double least, double most) {
    return {.least = least, .most = most};
  }
  /// The finite numbers above `least`.
  static constexpr SettingRange above(double least) {
    return {.least = least, .most = DBL_MAX, .open_least = true};
  }
  static constexpr SettingRange finite_from(double least) {
    return {.least = least, .most = DBL_MAX};
  }
  /// Above least, below most.
  static constexpr SettingRange inside(double least, double most) {
    return {.least = least, .most = most, .open_least = true, .open_most = true};
  }
  /// Of a certified residual: a larger tolerance would certify what is no answer at all.
  static constexpr SettingRange tolerance() {
    return {.least = 0.0, .most = 1e-3, .open_least = true};
  }

  [[nodiscard]] constexpr bool holds(double value) const {
    return (open_least ? value > least : value >= least) &&
           (open_most ? value < most : value <= most);
  }
};

/// One member of a struct of settings.
struct Setting {
  const char* name;       ///< the member's
  const char* help;       ///< one phrase, without unit
  SettingRange range{};   ///< of numbers; enumerations take all their words
  const char* unit = "";  ///< e.g. "m/s"
  const char* zero = "";  ///< what 0 means if it is not an ordinary number, e.g. "all"
};

}  // namespace carom
