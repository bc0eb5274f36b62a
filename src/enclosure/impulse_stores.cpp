#include "enclosure/impulse_stores.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <Eigen/Dense>

#include "enclosure/exact_impact.hpp"

namespace carom::enclosure {

namespace {

constexpr int kMostContacts = 2;

Integer normal_rate(const RoundedImpact& impact, int contact, const Vector& push) {
  return dot(impact.row[static_cast<std::size_t>(contact)], push);
}

/// Fractions, a being the least normal rate for the contact's own impulse, of which L is what it
/// had so far: the guard ends no release of P where u < a P store / whole, store / whole being (16
/// + 4 e^2 - e^4) / (8 e^2). With L known it ends none where u < a (P store + L impulse) / whole,
/// impulse / whole = (1 + e^2) / (2 e (1 + e)), store / whole = (1 - e^2) / (2 e^2) more.
struct GuardedShare {
  Integer store, impulse = 0, whole;

  /// e = gain / one
  GuardedShare(const Integer& gain, const Integer& one, bool knows_impulse) {
    const Integer e2 = gain * gain, square = one * one;
    if (knows_impulse) {
      impulse = gain * (square + e2);
      store = impulse + (square - e2) * (one + gain);
      whole = 2 * e2 * (one + gain);
    } else {
      store = 16 * square * square + 4 * e2 * square - e2 * e2;
      whole = 8 * e2 * square;
    }
  }
};

/// Product of a row of the guard's impulse with a ray's velocities.
Integer guarded_impulse(const Vector& row, const Vector& ray) {
  Integer sum = 0;
  for (std::size_t a = 0; a < row.size(); ++a) sum += row[a] * ray[a + 1];
  return sum;
}

/// Whether all motions lift the contact of a store, and with its own impulse so much that `guard`
/// says where its release ends.
bool lifts(const RoundedImpact& impact, const Face& face, std::size_t store,
           const RoundedImpact::Guard& guard) {
  const std::size_t at = impact.basis.size() + 1 + store;
  const GuardedShare share(impact.most_gain[store], impact.whole_gain, !guard.impulse.empty());
  return std::all_of(face.pushed.begin(), face.pushed.end(), [&](const Vector& ray) {
    const Integer rate = normal_rate(impact, impact.stores[store], ray);
    return rate >= 0 && guard.lower * share.whole * ray[at] <= guard.upper * share.store * rate &&
           (guard.impulse.empty() || guarded_impulse(guard.impulse, ray) * share.store <=
                                         guard.lower * share.impulse * ray[at]);
  });
}

/// Velocities' row that is the normal impulse of a store's contact in all pushes but for a little
/// less; empty where the velocities do not tell it.
Eigen::VectorXd impulse_row(const RoundedImpact& impact, std::size_t store) {
  constexpr double kLess = 0x1p-12, kTold = 1e-6;
  const auto n = static_cast<Eigen::Index>(impact.basis.size());
  const auto count = static_cast<Eigen::Index>(impact.push.size());
  Eigen::MatrixXd pushes(count, n);
  Eigen::VectorXd wanted(count);
  for (Eigen::Index g = 0; g < count; ++g) {
    const auto push = static_cast<std::size_t>(g);
    const double impulse = impact.impulse[push];
    for (Eigen::Index a = 0; a < n; ++a) {
      pushes(g, a) =
          quotient(impact.push[push][static_cast<std::size_t>(a) + 1], Integer(1)) / impulse;
    }
    const Integer& own = impact.push[push][n + 1 + store];
    wanted(g) = own == 0 ? 0.0 : quotient(own, Integer(1)) / impulse;
  }
  const double unit = wanted.maxCoeff();
  wanted = (wanted.array() - kLess * unit).matrix();
  const Eigen::VectorXd row = pushes.completeOrthogonalDecomposition().solve(wanted);
  const bool told = (pushes * row - wanted).cwiseAbs().maxCoeff() <= kTold * unit;
  return told ? row : Eigen::VectorXd();
}

/// The guard that also knows the contact's impulse, for a least rate least / impulse.
RoundedImpact::Guard guard_by_impulse(const RoundedImpact& impact, std::size_t store,
                                      const Integer& least, const Integer& impulse) {
  const Eigen::VectorXd row = impulse_row(impact, store);
  if (row.size() == 0) return {};
  const GuardedShare share(impact.most_gain[store], impact.whole_gain, true);
  const double of_store = quotient(least * share.store, impulse * share.whole);
  const Eigen::VectorXd of_row = quotient(least * share.impulse, impulse * share.whole) * row;
  constexpr int kShortBits = 24;
  const double smallest = std::min(of_store, of_row.cwiseAbs().maxCoeff());
  if (!(smallest > 0.0)) return {};
  const int shift = std::max(0, kShortBits - std::ilogb(smallest));
  if (shift > 900) return {};
  RoundedImpact::Guard guard;
  guard.upper = Integer(1) << static_cast<unsigned>(shift);
  guard.lower = guard.upper * least * share.store / (impulse * share.whole);
  for (const double x : of_row) guard.impulse.push_back(rounded(x, shift));
  return guard;
}

/// The guard of a store whose contact all motions lift, or none.
RoundedImpact::Guard guard_of(const RoundedImpact& impact, const std::vector<const Face*>& faces,
                              bool impulses, std::size_t store) {
  const std::size_t at = impact.basis.size() + 1 + store;
  Integer least = 1, impulse = 0;  // rate for an impulse
  for (const Face* face : faces) {
    for (const Vector& ray : face->pushed) {
      const Integer rate = normal_rate(impact, impact.stores[store], ray);
      if (rate < 0) return {};
      if (ray[at] > 0 && (impulse == 0 || rate * impulse < least * ray[at])) {
        least = rate, impulse = ray[at];
      }
    }
  }
  if (least == 0 || impulse == 0) return {};
  if (impulses) {
    RoundedImpact::Guard knowing = guard_by_impulse(impact, store, least, impulse);
    if (knowing.lower > 0 && std::all_of(faces.begin(), faces.end(), [&](const Face* face) {
          return lifts(impact, *face, store, knowing);
        })) {
      return knowing;
    }
  }
  const GuardedShare share(impact.most_gain[store], impact.whole_gain, false);
  const Integer upper = share.whole * impulse, lower = share.store * least;
  constexpr unsigned kShortBits = 20;  // of the plane's numbers: it becomes a row of polyhedra
  const auto length = [](const Integer& x) { return static_cast<unsigned>(msb(x)) + 1; };
  const unsigned shift =
      length(upper) + kShortBits > length(lower) ? length(upper) + kShortBits - length(lower) : 0;
  RoundedImpact::Guard guard{Integer(1) << shift, Integer((lower << shift) / upper), {}};
  return guard.lower > 0 ? guard : RoundedImpact::Guard{};
}

void set_guard_rows(RoundedImpact& impact) {
  for (std::size_t s = 0; s < impact.stores.size(); ++s) {
    const auto i = static_cast<std::size_t>(impact.stores[s]);
    Vector& row = impact.store_row[static_cast<std::size_t>(impact.contacts) + i];
    const auto& [upper, lower, impulse] = impact.guard[s];
    row = impact.row[i];
    for (Integer& x : row) x *= upper;
    row[impact.basis.size() + 1 + s] = -lower;
    if (!impulse.empty()) {
      for (std::size_t a = 0; a < impulse.size(); ++a) row[a + 1] -= impulse[a];
      for (Integer& x : row) x *= impact.start[0];
      row[0] += guarded_impulse(impulse, impact.start);
    }
    make_primitive(row);
  }
}

/// What a store is beyond the speed of approach, and what of its release is left.
void set_speed_rows(RoundedImpact& impact) {
  const auto m = static_cast<std::size_t>(impact.contacts);
  for (std::size_t s = 0; s < impact.stores.size(); ++s) {
    const auto i = static_cast<std::size_t>(impact.stores[s]);
    const std::size_t store = impact.basis.size() + 1 + s;
    Vector& beyond = impact.store_row[m + i];
    beyond = impact.row[i];
    beyond[store] = 1;
    Vector& left = impact.store_row[2 * m + i];
    left = impact.row[i];
    for (Integer& x : left) x *= -impact.whole_gain;
    left[store] = impact.most_gain[s];
  }
}

}  // namespace

std::vector<int> impulse_stores(const ImpactProblem& problem, RestitutionLaw law) {
  std::vector<int> stores;
  if (law == RestitutionLaw::stronge || problem.dimension != 2 ||
      problem.contacts > kMostContacts) {
    return stores;
  }
  for (std::size_t i = 0; i < problem.restitution_high.size(); ++i) {
    if (problem.restitution_high[i] > 0.0) stores.push_back(static_cast<int>(i));
  }
  return stores;
}

bool complete_stores(const ImpactProblem& problem, RestitutionLaw law, RoundedImpact& impact) {
  impact.speeds = law == RestitutionLaw::newton;
  std::vector<Dyadic> gains;
  for (const int i : impact.stores) {
    const auto at = static_cast<std::size_t>(i);
    const double most = problem.restitution_high[at];
    gains.push_back(dyadic(problem.restitution_low.empty() ? most : problem.restitution_low[at]));
    gains.push_back(dyadic(most));
    for (int corner = 0; corner < impact.corners(); ++corner) {
      const Vector& push = impact.push[impact.push_at(i, corner)];
      const bool moves = std::any_of(
          push.begin(), push.begin() + static_cast<std::ptrdiff_t>(impact.basis.size()) + 1,
          [](const Integer& x) { return x != 0; });
      if (!moves || !(push[impact.store_at(i)] > 0)) return false;
    }
  }
  gains.push_back({Integer(1), 0});
  Vector numbers = align(gains).numbers;
  make_primitive(numbers);
  impact.least_gain.clear();
  impact.most_gain.clear();
  for (std::size_t s = 0; s < impact.stores.size(); ++s) {
    impact.least_gain.push_back(numbers[2 * s]);
    impact.most_gain.push_back(numbers[2 * s + 1]);
  }
  impact.whole_gain = numbers.back();
  const auto m = static_cast<std::size_t>(impact.contacts);
  impact.store_row.assign((impact.speeds ? 3 : 2) * m, Vector(impact.size()));
  impact.guard.resize(impact.stores.size());
  if (impact.speeds) set_speed_rows(impact);
  for (std::size_t s = 0; s < impact.stores.size(); ++s) {
    impact.store_row[static_cast<std::size_t>(impact.stores[s])][impact.basis.size() + 1 + s] = 1;
  }
  if (!impact.speeds) set_guard_rows(impact);
  return std::all_of(impact.guard.begin(), impact.guard.end(), [&](const auto& guard) {
    return !impact.speeds || (guard.upper == 0 && guard.lower == 0 && guard.impulse.empty());
  });
}

bool find_guards(const std::vector<const Face*>& faces, bool impulses, RoundedImpact& impact) {
  bool some = false;
  if (impact.speeds) return some;
  for (std::size_t s = 0; s < impact.stores.size(); ++s) {
    impact.guard[s] = guard_of(impact, faces, impulses, s);
    some = some || (impulses ? !impact.guard[s].impulse.empty() : impact.guard[s].lower > 0);
  }
  set_guard_rows(impact);
  return some;
}

bool keeps_guards(const RoundedImpact& impact, const Face& face) {
  for (std::size_t s = 0; s < impact.stores.size(); ++s) {
    const RoundedImpact::Guard& guard = impact.guard[s];
    if (guard.lower == 0 && guard.upper == 0 && guard.impulse.empty()) continue;
    if (!(guard.lower > 0 && guard.upper > 0) || !lifts(impact, face, s, guard)) return false;
  }
  return true;
}

}  // namespace carom::enclosure
