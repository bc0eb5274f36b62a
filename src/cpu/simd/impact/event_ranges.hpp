#pragma once

#include <cstdint>

#include "impact/kernels/event_search.hpp"

namespace carom::cpu::simd {

/// Which modes hold for a face, by the ratio of two contacts' weights. Each condition of a mode is
/// a sum linear in both, so that its sign changes at one ratio; between these ratios the modes that
/// hold are the same. Around each of them lies a zone in which rounding may decide.
struct alignas(64) EventFace {
  static constexpr int kZones = 8;
  static constexpr int kModes = kernels::event_modes(2);
  static constexpr double kAlone = 1e9;  ///< larger ratios: only the first contact

  // What a pack's lane wants to know of a range, in the low byte of `only`.
  static constexpr std::uint32_t kSticks = 3;   ///< the contacts that stick, ...
  static constexpr std::uint32_t kNobody = 4;   ///< no mode holds
  static constexpr std::uint32_t kSeveral = 8;  ///< several do: see `hold`
  static constexpr std::uint32_t kKnown = 16;   ///< in each entry once the face has been looked at

  // A ratio is in a zone where it is at least `low` and below `high`; what stays free is infinite.
  double low[kZones], high[kZones];
  /// After so many zones: the mode that holds where it is the only one, above these 8 bits.
  std::uint32_t only[kZones + 1];
  /// After so many zones; bit n: the n-th of the modes tried.
  std::uint64_t hold[kZones + 1];
  std::uint64_t inverse;       ///< ceil(2^32 / count)
  std::uint32_t count;         ///< of modes that may be tried
  std::uint16_t mode[kModes];  ///< its number, above 8 bits that say which contacts stick

  void forget() {
    for (std::uint32_t& entry : only) entry = 0;
  }
};

/// The faces of one problem with M <= 2 contacts, each looked at when it is met first. With one
/// contact a face has one range.
template <class Isa, int M>
class EventRanges {
  static_assert(M <= 2);
  static constexpr int kRows = 2 * M;
  using Table = kernels::EventTable<Isa, M>;
  using Search = kernels::EventSearch<M>;
  using Rules = kernels::EventRules;

 public:
  /// faces: [kernels::event_modes(M)], seven states a contact, forgotten where one has not been
  /// met.
  CAROM_INLINE EventRanges(const Table& table, const double* friction, EventFace* faces)
      : table_(table), friction_(friction), faces_(faces) {}

  /// Of the states sum_i state_i 7^i.
  [[nodiscard]] CAROM_INLINE const EventFace& face(std::uint32_t states) const {
    return faces_[states];
  }
  void look_at(std::uint32_t states) const { look_at(static_cast<int>(states), faces_[states]); }

 private:
  // Ratios of weights beyond these are those of a single contact: the others lie within 1e5.
  static constexpr double kLeast = 1e-6, kMost = 1e6;
  static constexpr double kRounding = 4e-15;            ///< of the terms of a condition
  static constexpr double kApart = 1.0 + 1e-12;         ///< ratio of zones that are two
  static constexpr int kZones = EventFace::kZones - 2;  // beside the ends of the ratios
  static constexpr int kForms = 6 * M;

  /// Where its sign is a question of rounding.
  struct Zone {
    double low, high;
  };
  /// a ratio + b, with the magnitudes of the terms of both; `wanted`: a mode does not hold where it
  /// is below zero.
  struct Form {
    double a, b, size_a, size_b;
    bool wanted;
    [[nodiscard]] double above(double ratio) const {
      return (a + kRounding * size_a) * ratio + (b + kRounding * size_b);
    }
  };
  struct Mode {
    const double* solution;
    unsigned contradicted;
    int choice[M];
  };

  __attribute__((noinline)) void look_at(int states, EventFace& face) const {
    Search search;
    for (int i = 0, rest = states; i < M; ++i, rest /= kernels::kEventChoices) {
      search.state[i] = rest % kernels::kEventChoices;
    }
    search.begin(0, 0);
    face.count = search.count();
    face.inverse = (0x100000000ULL + face.count - 1) / face.count;
    Mode modes[EventFace::kModes];
    Zone zones[kZones + 1];
    int found = 0;  // above kZones: too many
    for (unsigned n = 0; n < face.count; ++n) {
      const int number = search.next_number();
      unsigned sticks = 0;
      for (int i = 0; i < M; ++i) {
        const bool pushed = search.choice[i] != 0;
        sticks |= (pushed && kernels::event_slip(search.choice[i]) == 0 ? 1U : 0U) << i;
      }
      face.mode[n] = static_cast<std::uint16_t>(number << 8 | static_cast<int>(sticks));
      Mode& mode = modes[n];
      mode.contradicted = 0;
      for (int j = 0; j < M; ++j) {
        if (table_.mode(number, 1U << j) == nullptr) mode.contradicted |= 1U << j;
      }
      mode.solution = table_.mode(number, 0);
      for (int i = 0; i < M; ++i) mode.choice[i] = search.choice[i];
      if (M == 2 && mode.contradicted == 0) add_zones(search, mode, zones, found);
    }
    if (M == 1 || found > kZones) {  // ratios between weights of two are left to others
      zones[0] = {kLeast, kMost};
      found = 1;
    }
    for (int z = 0; z < EventFace::kZones; ++z) face.low[z] = face.high[z] = kernels::kInfinity;
    for (std::uint32_t& entry : face.only) entry = EventFace::kKnown | EventFace::kNobody;
    int above = 0;  // zones so far
    const auto range = [&](double first, double second) {
      face.hold[above] = 0;
      for (unsigned n = 0; n < face.count; ++n) {
        const std::uint64_t one = holds(search, modes[n], first, second) ? 1 : 0;
        face.hold[above] |= one << n;
      }
      const std::uint64_t all = face.hold[above];
      std::uint32_t tells = EventFace::kKnown;
      if ((all & (all - 1)) != 0) tells |= EventFace::kSeveral;
      if (all == 0) tells |= EventFace::kNobody;
      face.only[above] = tells | face.mode[all == 0 ? 0 : __builtin_ctzll(all)];
    };
    const auto zone = [&](double low, double high) {
      face.low[above] = low;
      face.high[above] = high;
      ++above;
    };
    if constexpr (M == 2) {
      range(0.0, 1.0);
      zone(kLeast, kLeast);
      double low = kLeast;
      for (int z = 0; z <= found; ++z) {
        const double high = z < found ? zones[z].low : kMost;
        const double ratio = kernels::square_root(low) * kernels::square_root(high);
        range(ratio / (1.0 + ratio), 1.0 / (1.0 + ratio));
        if (z == found) break;
        zone(zones[z].low, zones[z].high);
        low = zones[z].high;
      }
      zone(kMost, kMost);
    }
    range(1.0, 0.0);
  }

  bool holds(const Search& search, const Mode& mode, double first, double second) const {
    double weight[M], impulse[kRows], rate[kRows];
    unsigned pushing = 0;
    for (int i = 0; i < M; ++i) {
      weight[i] = i == 0 ? first : second;
      pushing |= (weight[i] > 0.0 ? 1U : 0U) << i;
    }
    if ((mode.contradicted & pushing) != 0) return false;
    kernels::event_motion<M>(mode.solution, weight, impulse, rate);
    return kernels::event_holds<M>(search.state, mode.choice, friction_, weight, rate, impulse);
  }

  /// What kernels::event_holds compares with zero.
  int forms_of(const Search& search, const Mode& mode, Form* forms) const {
    int count = 0;
    const double* const first = mode.solution;
    const double* const second = first + 2 * kRows;
    for (int i = 0; i < M; ++i) {
      const int state = search.state[i], choice = mode.choice[i];
      const bool touches = state >= 1 && state <= 3;
      const auto rate = [&](int row, double sign) {
        const double a = sign * first[kRows + row], b = sign * second[kRows + row];
        forms[count++] = {a, b, kernels::magnitude(a), kernels::magnitude(b), true};
      };
      if (choice == 0) {
        if (touches) rate(i, 1.0);
        continue;
      }
      const bool held = kernels::event_held(choice);
      const double a = first[i], b = second[i];
      const double own_a = i == 0 ? 1.0 : 0.0, own_b = 1.0 - own_a;
      if (held) {
        constexpr double kLow = Rules::kNothing, kHigh = 1.0 + Rules::kNothing;
        forms[count++] = {a + kLow * own_a, b + kLow * own_b, kernels::magnitude(a) + kLow * own_a,
                          kernels::magnitude(b) + kLow * own_b, true};
        forms[count++] = {kHigh * own_a - a, kHigh * own_b - b,
                          own_a + kernels::magnitude(a) + own_a,
                          own_b + kernels::magnitude(b) + own_b, true};
        forms[count++] = {a, b, kernels::magnitude(a), kernels::magnitude(b), false};
      } else if (touches) {
        rate(i, -1.0);
      }
      if (state != 2 && state != 5) continue;
      const int slip = kernels::event_slip(choice);
      if (slip != 0) {
        rate(M + i, slip);
        continue;
      }
      const double most = friction_[i] * (1.0 + Rules::kNothing);
      for (const double sign : {-1.0, 1.0}) {
        const double s = sign * first[M + i], t = sign * second[M + i];
        forms[count++] = {most * a + s, most * b + t,
                          most * kernels::magnitude(a) + kernels::magnitude(s),
                          most * kernels::magnitude(b) + kernels::magnitude(t), !held};
      }
    }
    return count;
  }

  /// Leaves of `zone` what lies outside of a ratio + b > 0.
  static void cut(double a, double b, Zone& zone) {
    const double root = -b / a;
    if (a > 0.0) {
      zone.high = kernels::smaller(zone.high, root * (1.0 + kRounding));
    } else if (a < 0.0) {
      zone.low = kernels::larger(zone.low, root * (1.0 - kRounding));
    } else if (b > 0.0) {
      zone.high = -1.0;
    }
  }

  void add_zones(const Search& search, const Mode& mode, Zone* zones, int& found) const {
    Form forms[kForms];
    const int count = forms_of(search, mode, forms);
    for (int f = 0; f < count; ++f) {
      const Form& form = forms[f];
      if (form.size_a == 0.0 && form.size_b == 0.0) continue;  // zero throughout
      Zone zone{kLeast, kMost};
      cut(form.a - kRounding * form.size_a, form.b - kRounding * form.size_b, zone);
      cut(-form.a - kRounding * form.size_a, -form.b - kRounding * form.size_b, zone);
      if (!(zone.low <= zone.high)) continue;
      bool excluded = false;  // by another condition
      for (int g = 0; g < count && !excluded; ++g) {
        excluded =
            forms[g].wanted && forms[g].above(zone.low) < 0.0 && forms[g].above(zone.high) < 0.0;
      }
      if (!excluded) merge(zone, zones, found);
    }
  }

  /// Into `zones`, which are apart and in order.
  static void merge(Zone zone, Zone* zones, int& found) {
    if (found > kZones) return;
    for (int z = 0; z < found;) {
      if (zone.low > zones[z].high * kApart || zone.high * kApart < zones[z].low) {
        ++z;
        continue;
      }
      zone = {kernels::smaller(zone.low, zones[z].low), kernels::larger(zone.high, zones[z].high)};
      --found;
      for (int later = z; later < found; ++later) zones[later] = zones[later + 1];
    }
    int at = found++;
    for (; at > 0 && zones[at - 1].low > zone.low; --at) zones[at] = zones[at - 1];
    zones[at] = zone;
  }

  const Table& table_;
  const double* friction_;
  EventFace* faces_;
};

}  // namespace carom::cpu::simd
