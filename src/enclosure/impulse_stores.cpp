#include "enclosure/impulse_stores.hpp"

#include <algorithm>
#include <cstddef>

#include "enclosure/exact_impact.hpp"

namespace carom::enclosure {

namespace {

constexpr int kMostContacts = 2;

Integer normal_rate(const RoundedImpact& impact, int contact, const Vector& push) {
  return dot(impact.row[static_cast<std::size_t>(contact)], push);
}

/// The guard ends no release of P where u < a P (16 + 4 e^2 - e^4) / (8 e^2), a being the least
/// normal rate for the contact's own impulse: that fraction.
struct GuardedShare {
  Integer upper, lower;

  GuardedShare(const Integer& gain, const Integer& whole) {  // e = gain / whole
    const Integer e2 = gain * gain, one = whole * whole;
    upper = 16 * one * one + 4 * e2 * one - e2 * e2;
    lower = 8 * e2 * one;
  }
};

/// Whether all motions lift the contact of a store, and with its own impulse so much that `guard`
/// says where its release ends.
bool lifts(const RoundedImpact& impact, const Face& face, std::size_t store,
           const RoundedImpact::Guard& guard) {
  const std::size_t at = impact.basis.size() + 1 + store;
  const GuardedShare share(impact.most_gain[store], impact.whole_gain);
  return std::all_of(face.pushed.begin(), face.pushed.end(), [&](const Vector& ray) {
    const Integer rate = normal_rate(impact, impact.stores[store], ray);
    return rate >= 0 && guard.lower * share.lower * ray[at] <= guard.upper * share.upper * rate;
  });
}

/// The guard of a store whose contact all motions lift, or none.
RoundedImpact::Guard guard_of(const RoundedImpact& impact, const std::vector<const Face*>& faces,
                              std::size_t store) {
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
  const GuardedShare share(impact.most_gain[store], impact.whole_gain);
  const Integer upper = share.lower * impulse, lower = share.upper * least;
  constexpr unsigned kShortBits = 20;  // of the plane's numbers: it becomes a row of polyhedra
  const auto length = [](const Integer& x) { return static_cast<unsigned>(msb(x)) + 1; };
  const unsigned shift =
      length(upper) + kShortBits > length(lower) ? length(upper) + kShortBits - length(lower) : 0;
  RoundedImpact::Guard guard{Integer(1) << shift, Integer((lower << shift) / upper)};
  return guard.lower > 0 ? guard : RoundedImpact::Guard{};
}

void set_guard_rows(RoundedImpact& impact) {
  for (std::size_t s = 0; s < impact.stores.size(); ++s) {
    const auto i = static_cast<std::size_t>(impact.stores[s]);
    Vector& row = impact.store_row[static_cast<std::size_t>(impact.contacts) + i];
    row = impact.row[i];
    for (Integer& x : row) x *= impact.guard[s].upper;
    row[impact.basis.size() + 1 + s] = -impact.guard[s].lower;
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
    return !impact.speeds || (guard.upper == 0 && guard.lower == 0);
  });
}

bool find_guards(const std::vector<const Face*>& faces, RoundedImpact& impact) {
  bool some = false;
  if (impact.speeds) return some;
  for (std::size_t s = 0; s < impact.stores.size(); ++s) {
    impact.guard[s] = guard_of(impact, faces, s);
    some = some || impact.guard[s].lower > 0;
  }
  set_guard_rows(impact);
  return some;
}

bool keeps_guards(const RoundedImpact& impact, const Face& face) {
  for (std::size_t s = 0; s < impact.stores.size(); ++s) {
    const RoundedImpact::Guard& guard = impact.guard[s];
    if (guard.lower == 0 && guard.upper == 0) continue;
    if (!(guard.lower > 0 && guard.upper > 0) || !lifts(impact, face, s, guard)) return false;
  }
  return true;
}

}  // namespace carom::enclosure
