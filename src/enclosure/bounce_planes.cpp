#include "enclosure/bounce_planes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "enclosure/integer.hpp"

namespace carom::enclosure {

namespace {

constexpr int kMostPieces = 16;
constexpr double kStill = 1e-9;  // of the largest speed

/// One planar contact's push until all that it stored is given back.
class Bounce {
 public:
  Bounce(const RoundedImpact& impact, int contact)
      : impact_(impact), normal_(at(contact)), tangent_(at(impact.slip_row(contact, 0))) {
    for (int k = 0; k < static_cast<int>(impact.row.size()); ++k) {
      velocity_.push_back(quotient(dot(impact.row[at(k)], impact.start), impact.start[0]));
      still_ = std::max(still_, kStill * std::abs(velocity_.back()));
    }
    for (int corner = 0; corner < impact.corners(); ++corner) {
      if (!impact.most(corner)) continue;
      const std::size_t push = impact.push_at(contact, corner);
      opposed_.push_back(RoundedImpact::opposed(corner, 0));
      std::vector<double>& rates = rates_.emplace_back();
      for (const Vector& row : impact.row) {
        rates.push_back(quotient(dot(row, impact.push[push]), Integer(1)) / impact.impulse[push]);
      }
    }
  }

  /// Whether the bounce comes to an end.
  bool run() {
    const double share = impact_.stored[normal_];
    double stored = 0.0;
    for (int piece = 0; piece < kMostPieces; ++piece) {
      const double u = velocity_[normal_];
      direction_ = rates();
      const double a = direction_[normal_], t = direction_[tangent_];
      if (u >= 0.0 && a <= 0.0) return false;
      double length = 0.0;
      if (u < 0.0) {
        if (a <= 0.0) return false;
        length = -u / a;
      } else {
        length = (std::sqrt(u * u + 2.0 * a * stored) - u) / a;
      }
      const double turn = t == 0.0 ? -1.0 : -velocity_[tangent_] / t;
      const bool slip_ends = turn > 0.0 && turn < length;
      if (slip_ends) length = turn;
      const double work = (u + 0.5 * a * length) * length;
      stored -= u < 0.0 ? share * work : work;
      for (std::size_t k = 0; k < velocity_.size(); ++k) velocity_[k] += direction_[k] * length;
      if (slip_ends) velocity_[tangent_] = 0.0;
      if (!slip_ends && u >= 0.0) return true;
      if (!slip_ends) velocity_[normal_] = 0.0;
    }
    return false;
  }

  [[nodiscard]] const std::vector<double>& velocity() const { return velocity_; }
  [[nodiscard]] const std::vector<double>& direction() const { return direction_; }

 private:
  static std::size_t at(int k) { return static_cast<std::size_t>(k); }

  /// For a unit of normal impulse: with friction against the slip, or what sticks.
  [[nodiscard]] std::vector<double> rates() const {
    const double slip = velocity_[tangent_];
    const auto opposes = [&](int sign) { return rates_[opposed_.front() == sign ? 0 : 1]; };
    if (std::abs(slip) > still_) return opposes(slip > 0.0 ? 1 : -1);
    std::vector<double> first = opposes(1), second = opposes(-1);
    const double one = first[tangent_], other = second[tangent_];
    if (one >= 0.0 && one != 0.0) return first;  // slips although friction opposes it
    if (other <= 0.0 && other != 0.0) return second;
    if (one == other) return first;
    const double share = other / (other - one);
    for (std::size_t k = 0; k < first.size(); ++k) {
      first[k] = share * first[k] + (1.0 - share) * second[k];
    }
    first[tangent_] = 0.0;
    return first;
  }

  const RoundedImpact& impact_;
  std::size_t normal_, tangent_;
  double still_ = 0.0;
  std::vector<double> velocity_, direction_;
  std::vector<int> opposed_;                // of both corners of the most friction ...
  std::vector<std::vector<double>> rates_;  // ... every row's rates
};

}  // namespace

std::vector<PlaneBetween> bounce_planes(const RoundedImpact& impact) {
  std::vector<PlaneBetween> planes;
  if (impact.slips != 1 || impact.stored.empty()) return planes;
  const auto add = [&](int i, int j, const std::vector<double>& v) {
    const double share =
        std::ldexp(v[static_cast<std::size_t>(i)] / v[static_cast<std::size_t>(j)], kRatioBits);
    if (std::abs(share) >= 1.0 && std::abs(share) < 0x1p60) {
      planes.push_back({i, j, std::llround(share)});
    }
  };
  for (int i = 0; i < impact.contacts; ++i) {
    Bounce bounce(impact, i);
    if (bounce.velocity()[static_cast<std::size_t>(i)] >= 0.0 || !bounce.run()) continue;
    for (int j = 0; j < impact.contacts; ++j) {
      if (j == i) continue;
      add(i, j, bounce.velocity());
      add(i, j, bounce.direction());
    }
  }
  return planes;
}

}  // namespace carom::enclosure
