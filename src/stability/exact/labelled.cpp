#include <cmath>
#include <optional>
#include <string>

#include "stability/exact/label_frame.hpp"
#include "stability/exact/proofs.hpp"

namespace carom::exact {

template <class Interval>
Frame<Interval> frame_of(const Stance& stance) {
  Frame<Interval> f;
  f.data = data_of<Interval>(stance);
  const ContactData<Interval>& a = f.data.contact[0];
  const ContactData<Interval>& b = f.data.contact[1];
  f.n = cross(a.normal, b.normal);
  if (product(f.n, f.data.g).negative()) f.n = scaled(Interval(-1.0), f.n);
  const Interval square = product(f.n, f.n);
  if (!square.positive() || !product(f.n, f.data.g).positive()) {
    f.valid = false;
    return f;
  }
  f.n = scaled(Interval::quotient(Interval(1.0), root(square), f.valid), f.n);
  f.m = Interval::quotient(Interval(1.0), product(f.n, f.data.g), f.valid);
  for (std::size_t i = 0; i < 2; ++i) {
    const ContactData<Interval>& k = f.data.contact[i];
    f.turn[i] = cross(k.normal, k.tangent);
    f.turn2[i] = product(f.turn[i], f.turn[i]);
    const Interval inverse = Interval::quotient(Interval(1.0), k.nn * k.tt - k.nt * k.nt, f.valid);
    f.normal_dual[i] = scaled(inverse, minus(scaled(k.tt, k.normal), scaled(k.nt, k.tangent)));
    f.tangent_dual[i] = scaled(inverse, minus(scaled(k.nn, k.tangent), scaled(k.nt, k.normal)));
    f.load[i] = -product(k.normal, f.data.g);
    f.valid = f.valid && f.load[i].positive();
    for (std::size_t way = 0; way < 2; ++way) {
      const Interval sign(way == 0 ? 1.0 : -1.0);
      const Interval stiffness = k.nn - sign * k.mu * k.nt;
      f.valid = f.valid && stiffness.positive();
      if (!f.valid) return f;
      const Interval force = Interval::quotient(f.load[i], stiffness, f.valid);
      f.slipping[i][way] =
          plus(f.data.g, scaled(force, minus(k.normal, scaled(sign * k.mu, k.tangent))));
    }
  }
  f.c = cross(f.turn[0], f.turn[1]);
  f.c = scaled(Interval::quotient(Interval(1.0), product(f.c, f.n), f.valid), f.c);
  const Interval ab = product(a.normal, b.normal);
  const Interval inverse = Interval::quotient(Interval(1.0), a.nn * b.nn - ab * ab, f.valid);
  f.gap_dual[0] = scaled(inverse, minus(scaled(b.nn, a.normal), scaled(ab, b.normal)));
  f.gap_dual[1] = scaled(inverse, minus(scaled(a.nn, b.normal), scaled(ab, a.normal)));
  return f;
}

namespace {

/// Both contacts slide along way * n: whether they stay, or one of them leaves;
/// nothing where that is not certain.
enum class Sliding { both, one };
template <class Interval>
std::optional<Sliding> sliding(const Frame<Interval>& f, double way, Interval& pull) {
  std::string word;
  for (const ContactData<Interval>& k : f.data.contact) {
    const int sign = certain_sign(Interval(way) * product(k.tangent, f.n));
    if (sign == 0) return std::nullopt;
    word += sign > 0 ? 'P' : 'N';
  }
  bool both = false;
  if (!never_presses(f.data, word)) {
    ModeData<Interval> mode;
    if (!solve(f.data, word, mode)) return std::nullopt;
    const int first = certain_sign(mode.normal[0]), second = certain_sign(mode.normal[1]);
    if (first == 0 || second == 0) return std::nullopt;
    both = first > 0 && second > 0;
    pull = product(mode.acceleration, f.n);
  }
  // Another mode is consistent too, or instead of both: contact i slides, the
  // other leaves.
  int alone = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const Triple<Interval>& a = f.slipping[i][word[i] == 'P' ? 0 : 1];
    const int leaves = certain_sign(product(f.data.contact[1 - i].normal, a));
    if (leaves == 0) return std::nullopt;
    alone += leaves > 0 ? 1 : 0;
  }
  if ((both ? 1 : 0) + alone != 1) return std::nullopt;
  return both ? Sliding::both : Sliding::one;
}

}  // namespace

template <class Interval>
bool slides_down(const Frame<Interval>& f, const Interval& at_n) {
  for (const double way : {1.0, -1.0}) {
    Interval pull;
    const auto kind = sliding(f, way, pull);
    if (!kind) return false;
    if (*kind == Sliding::one) continue;
    bool found = false;
    for (const double share : {1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999, 1.0}) {
      const Interval q12 = Interval(share) * (at_n + f.m) - f.m;
      const bool falls = (Interval(-way) * (Interval(1.0) + q12 * pull)).positive();
      found = found || (falls && (q12 + f.m).positive());
    }
    if (!found) return false;
  }
  return true;
}

template Frame<PlainInterval> frame_of(const Stance&);
template Frame<FineInterval> frame_of(const Stance&);
template bool slides_down(const Frame<PlainInterval>&, const PlainInterval&);
template bool slides_down(const Frame<FineInterval>&, const FineInterval&);

namespace {

bool are_judged(const Stance& stance, const std::array<double, 24>& numbers) {
  if (stance.contacts.size() != 2 || !is_judged(stance)) return false;
  for (const double number : numbers) {
    if (std::fabs(number) > 1e3 * kLargestJudged) return false;
  }
  return true;
}

template <class Interval>
bool prove_by(const Stance& stance, const std::array<double, 24>& numbers) {
  const Frame<Interval> f = frame_of<Interval>(stance);
  if (!f.valid || !held(f.data)) return false;
  bool flights = false;
  for (const ContactData<Interval>& k : f.data.contact) {
    if (!dissipates(k)) return false;
    flights = flights || k.restitution > 0.0;
  }
  return flights ? elastic_labels_hold(f, numbers) : inelastic_labels_hold(f, numbers);
}

}  // namespace

bool labelled_functions_prove_plainly(const Stance& stance, const std::array<double, 24>& numbers) {
  return are_judged(stance, numbers) && prove_by<PlainInterval>(stance, numbers);
}

bool labelled_functions_prove(const Stance& stance, const std::array<double, 24>& numbers) {
  return labelled_functions_prove_plainly(stance, numbers) ||
         (are_judged(stance, numbers) && prove_by<FineInterval>(stance, numbers));
}

}  // namespace carom::exact
