#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

#include <carom/coulomb.hpp>

/// Friction problems whose contacts differ by many orders, and a judge that gives every contact a
/// unit for itself. It shares nothing with the library.
namespace carom::test {

/// The largest share by which a contact breaks the law: its cone and sign by its force, its
/// approach, its slip and its lifting by its rows of |W||r| + |q|. In long double. NaN counts.
inline long double coulomb_violation(const CoulombProblem& p, const std::vector<double>& r) {
  const auto d = static_cast<std::size_t>(p.dimension);
  const std::size_t n = r.size();
  long double worst = 0;
  const auto note = [&](long double share) {
    if (!(share <= worst)) worst = std::isnan(share) ? HUGE_VALL : share;
  };
  const auto over = [](long double value, long double unit) {
    return value == 0 ? 0.0L : value / unit;
  };
  for (std::size_t i = 0; i < n; i += d) {
    long double u[3] = {}, size[3] = {};
    for (std::size_t k = 0; k < d; ++k) {
      u[k] = p.vector[i + k];
      size[k] = std::fabs(u[k]);
      for (std::size_t j = 0; j < n; ++j) {
        const long double term = static_cast<long double>(p.matrix[(i + k) * n + j]) * r[j];
        u[k] += term;
        size[k] += std::fabs(term);
      }
    }
    const long double mu = p.friction[i / d];
    const long double normal = r[i];
    const long double t1 = r[i + 1], t2 = d == 3 ? r[i + 2] : 0.0;
    const long double held = std::hypot(t1, t2);
    const long double force = std::hypot(normal, held);
    const long double slip = std::hypot(u[1], u[2]);
    note(over(std::max(0.0L, -normal), force));
    note(over(std::max(0.0L, held - mu * normal), force));
    note(over(std::max(0.0L, -u[0]), size[0]));
    if (force == 0) continue;
    note(over(std::max(0.0L, u[0]), size[0]));
    const long double unit = std::hypot(size[1], size[2]);
    if (slip == 0 || slip <= 1e-12L * unit) continue;
    // Sliding: the force is -mu r_n u_t / |u_t|.
    const long double off =
        std::hypot(t1 + mu * normal * u[1] / slip, t2 + mu * normal * u[2] / slip);
    note(std::min(slip / unit, off / force));
  }
  return worst;
}

class CoulombProblems {
 public:
  explicit CoulombProblems(unsigned seed) : engine_(seed) {}

  /// W = J J' of any rank, contacts in units of 10^-spread..10^spread, friction of 0 to 1e6, q = J
  /// v or of any sign, at some in units of its own; W asymmetric by 1e-6 in a third, without
  /// coupling between the first contact and the others in a fifth.
  CoulombProblem next(double spread) {
    CoulombProblem p;
    p.dimension = pick(2, 3);
    p.contacts = pick(1, 6);
    const int n = p.dimension * p.contacts;
    const int rank = pick(0, 1) == 0 ? n : pick(1, n);
    const bool consistent = pick(0, 3) > 0;
    const bool asymmetric = pick(0, 2) == 0;
    const bool lonely = pick(0, 4) == 0;
    const bool uneven = pick(0, 3) == 0;
    std::vector<double> j(static_cast<std::size_t>(n * rank)), v, unit;
    for (double& value : j) value = normal();
    if (p.contacts > 1 && pick(0, 4) == 0) {  // two contacts at one place
      std::copy_n(j.begin(), p.dimension * rank, j.begin() + p.dimension * rank);
    }
    for (int k = 0; k < rank; ++k) v.push_back(normal());
    const double all = std::pow(10.0, uniform(-spread, spread));
    for (int i = 0; i < p.contacts; ++i) {
      unit.push_back(std::pow(10.0, uniform(-spread, spread)));
      static constexpr double kFriction[] = {0.0, 1e-9, 0.1, 0.3, 0.7, 1.0, 10.0, 1e3, 1e6};
      p.friction.push_back(kFriction[pick(0, 8)]);
    }
    p.matrix.assign(static_cast<std::size_t>(n * n), 0.0);
    double other = 1.0;
    for (int a = 0; a < n; ++a) {
      const double own = unit[static_cast<std::size_t>(a / p.dimension)];
      double q = consistent ? 0.0 : normal();
      for (int k = 0; k < rank; ++k) {
        if (consistent)
          q += j[static_cast<std::size_t>(a * rank + k)] * v[static_cast<std::size_t>(k)];
        for (int b = 0; b < n; ++b) {
          p.matrix[static_cast<std::size_t>(a * n + b)] +=
              j[static_cast<std::size_t>(a * rank + k)] *
              j[static_cast<std::size_t>(b * rank + k)] * own *
              unit[static_cast<std::size_t>(b / p.dimension)];
        }
      }
      p.vector.push_back(q * own * all);
      if (uneven && a % p.dimension == 0) other = std::pow(10.0, uniform(-spread, spread));
      if (uneven) p.vector.back() *= other;
    }
    for (int a = 0; lonely && a < n; ++a) {
      for (int b = 0; b < n; ++b) {
        if ((a < p.dimension) != (b < p.dimension)) {
          p.matrix[static_cast<std::size_t>(a * n + b)] = 0.0;
        }
      }
    }
    if (asymmetric) {
      for (double& value : p.matrix) value *= 1.0 + 1e-6 * uniform(-1.0, 1.0);
    }
    return p;
  }

 private:
  // The same on every standard library.
  double uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(engine_()) / 4294967296.0);
  }
  int pick(int least, int most) {
    return least + static_cast<int>(engine_() % static_cast<unsigned>(most - least + 1));
  }
  double normal() {
    double sum = -6.0;
    for (int k = 0; k < 12; ++k) sum += uniform(0.0, 1.0);
    return sum;
  }

  std::mt19937 engine_;
};

}  // namespace carom::test
