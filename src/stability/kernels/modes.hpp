#pragma once

#include "stability/kernels/stance.hpp"

/// Contact modes of two contacts (section II.C, appendix B of the paper).
namespace carom::kernels::stability {

inline constexpr double kSingularPivot = 1e-12;  ///< relative to the largest entry

/// Forces and acceleration of a word. Of SS the forces of the largest margin.
struct ModeSolution {
  bool solvable;
  Vec3 acceleration;
  double normal[2], tangential[2];
  double margin;  ///< as StanceMode::margin
};

/// x of K x = b for 3 x 3 or smaller, in b; false where K is singular. Full pivots, ties to the
/// lowest index.
CAROM_INLINE bool solve_small(int n, double (&k)[3][3], double (&b)[3]) {
  int column[3] = {0, 1, 2};
  double largest = 0.0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) largest = larger(largest, magnitude(k[i][j]));
  }
  for (int step = 0; step < n; ++step) {
    int row = step, pivot = step;
    for (int i = step; i < n; ++i) {
      for (int j = step; j < n; ++j) {
        if (magnitude(k[i][j]) > magnitude(k[row][pivot])) row = i, pivot = j;
      }
    }
    if (!(magnitude(k[row][pivot]) > kSingularPivot * largest)) return false;
    for (int j = 0; j < n; ++j) {
      const double swapped = k[step][j];
      k[step][j] = k[row][j];
      k[row][j] = swapped;
    }
    const double swapped = b[step];
    b[step] = b[row];
    b[row] = swapped;
    for (int i = 0; i < n; ++i) {
      const double moved = k[i][step];
      k[i][step] = k[i][pivot];
      k[i][pivot] = moved;
    }
    const int other = column[step];
    column[step] = column[pivot];
    column[pivot] = other;
    for (int i = step + 1; i < n; ++i) {
      const double factor = k[i][step] / k[step][step];
      for (int j = step; j < n; ++j) k[i][j] -= factor * k[step][j];
      b[i] -= factor * b[step];
    }
  }
  double x[3];
  for (int i = n - 1; i >= 0; --i) {
    double sum = b[i];
    for (int j = i + 1; j < n; ++j) sum -= k[i][j] * x[j];
    x[i] = sum / k[i][i];
  }
  for (int i = 0; i < n; ++i) b[column[i]] = x[i];
  return true;
}

/// Normal, tangential force and margins of one contact that sticks, linear in the size t of the
/// internal force along the line of contacts.
struct InternalForce {
  double value[6], slope[6];
};

/// max over t of the least of the six; infinite where all grow together.
CAROM_INLINE double largest_margin(const InternalForce& f, double& best) {
  const auto least = [&f](double t) {
    double value = kInfinity;
    for (int i = 0; i < 6; ++i) value = smaller(value, f.value[i] + f.slope[i] * t);
    return value;
  };
  best = 0.0;
  bool rises = true, falls = true;
  for (int i = 0; i < 6; ++i) {
    rises = rises && f.slope[i] > 0.0;
    falls = falls && f.slope[i] < 0.0;
  }
  if (rises || falls) {  // far enough for all of them to be positive
    for (int i = 0; i < 6; ++i) {
      const double reach = (magnitude(f.value[i]) + 1.0) / magnitude(f.slope[i]);
      best = larger(best, reach);
    }
    if (falls) best = -best;
    return kInfinity;
  }
  double margin = least(0.0);
  for (int i = 0; i < 6; ++i) {
    for (int j = i + 1; j < 6; ++j) {
      if (!(f.slope[i] * f.slope[j] < 0.0)) continue;
      const double t = (f.value[j] - f.value[i]) / (f.slope[i] - f.slope[j]);
      const double value = least(t);
      if (value > margin) margin = value, best = t;
    }
  }
  return margin;
}

/// SS: no acceleration; forces that add up to -g, one internal force being free.
CAROM_INLINE ModeSolution both_stick(const StanceForm& stance) {
  ModeSolution mode{};
  const ContactForm& a = stance.contact[0];
  const ContactForm& b = stance.contact[1];
  // Forces of contact 1 and one component of contact 2, the one with the larger arm about it.
  const Vec3 r = rotation_about(a);
  const bool by_normal = magnitude(dot(r, b.normal)) >= magnitude(dot(r, b.tangent));
  const Vec3 third = by_normal ? b.normal : b.tangent;
  const Vec3 fourth = by_normal ? b.tangent : b.normal;
  const auto forces = [&](Vec3 load, double(&x)[3]) {
    double k[3][3] = {{a.normal.y, a.tangent.y, third.y},
                      {a.normal.z, a.tangent.z, third.z},
                      {a.normal.t, a.tangent.t, third.t}};
    x[0] = load.y, x[1] = load.z, x[2] = load.t;
    return solve_small(3, k, x);
  };
  double base[3], change[3];
  if (!forces(-1.0 * stance.g, base) || !forces(-1.0 * fourth, change)) {
    mode.margin = -kInfinity;
    return mode;
  }
  // normal 1, tangential 1, normal 2, tangential 2 at t = 0 and per t
  const double value[4] = {base[0], base[1], by_normal ? base[2] : 0.0, by_normal ? 0.0 : base[2]};
  const double slope[4] = {change[0], change[1], by_normal ? change[2] : 1.0,
                           by_normal ? 1.0 : change[2]};
  InternalForce f{};
  for (int i = 0; i < 2; ++i) {
    const double mu = stance.contact[i].friction;
    const double* v = value + 2 * i;
    const double* s = slope + 2 * i;
    f.value[3 * i] = v[0], f.slope[3 * i] = s[0];
    f.value[3 * i + 1] = mu * v[0] - v[1], f.slope[3 * i + 1] = mu * s[0] - s[1];
    f.value[3 * i + 2] = mu * v[0] + v[1], f.slope[3 * i + 2] = mu * s[0] + s[1];
  }
  double t = 0.0;
  mode.margin = largest_margin(f, t);
  mode.solvable = true;
  for (int i = 0; i < 2; ++i) {
    mode.normal[i] = value[2 * i] + slope[2 * i] * t;
    mode.tangential[i] = value[2 * i + 1] + slope[2 * i + 1] * t;
  }
  return mode;
}

/// Forces and acceleration of the word (first, second), and its margin at rest.
CAROM_INLINE ModeSolution solve_mode(const StanceForm& stance, int first, int second) {
  const int letter[2] = {first, second};
  if (first == kStick && second == kStick) return both_stick(stance);
  ModeSolution mode{};
  Vec3 row[3], force[3];
  int n = 0, of[3] = {};
  for (int i = 0; i < 2; ++i) {
    const ContactForm& c = stance.contact[i];
    if (letter[i] == kFree) continue;
    row[n] = c.normal;
    force[n] = c.slip_force(sign_of(letter[i]));
    of[n++] = i;
    if (letter[i] != kStick) continue;
    row[n] = c.tangent;
    force[n] = c.tangent;
    of[n++] = i + 2;
  }
  double k[3][3] = {}, x[3] = {};
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) k[i][j] = dot(row[i], force[j]);
    x[i] = -dot(row[i], stance.g);
  }
  mode.margin = -kInfinity;
  if (n > 0 && !solve_small(n, k, x)) return mode;
  mode.solvable = true;
  mode.acceleration = stance.g;
  for (int i = 0; i < n; ++i) {
    mode.acceleration = mode.acceleration + x[i] * force[i];
    (of[i] < 2 ? mode.normal[of[i]] : mode.tangential[of[i] - 2]) = x[i];
  }
  mode.margin = kInfinity;
  for (int i = 0; i < 2; ++i) {
    const ContactForm& c = stance.contact[i];
    double least = mode.normal[i];
    if (letter[i] == kFree) {
      least = dot(c.normal, mode.acceleration);
    } else if (letter[i] == kStick) {
      least = smaller(least, c.friction * mode.normal[i] - magnitude(mode.tangential[i]));
    } else {
      mode.tangential[i] = -sign_of(letter[i]) * c.friction * mode.normal[i];
      least = smaller(least, sign_of(letter[i]) * dot(c.tangent, mode.acceleration));
    }
    mode.margin = smaller(mode.margin, least);
  }
  return mode;
}

/// Both slip: whether no forces >= 0 keep both gaps closed. Cramer's numerators of opposite signs
/// say so even where the determinant vanishes and solve_mode() has no answer.
CAROM_INLINE bool never_presses(const StanceForm& stance, int first, int second) {
  const ContactForm& a = stance.contact[0];
  const ContactForm& b = stance.contact[1];
  const Vec3 f = a.slip_force(sign_of(first)), h = b.slip_force(sign_of(second));
  const double p = -dot(a.normal, stance.g), q = -dot(b.normal, stance.g);
  const double of_first = p * dot(b.normal, h) - q * dot(a.normal, h);
  const double of_second = q * dot(a.normal, f) - p * dot(b.normal, f);
  return of_first * of_second < 0.0;
}

/// Whether some velocity moves as the word says: with one contact free always; with both slipping
/// along n or -n; SS at rest; a contact that sticks leaves the other no slip.
CAROM_INLINE bool is_admissible(const StanceForm& stance, int first, int second) {
  if (first == kFree || second == kFree) return true;
  if (first == kStick || second == kStick) return first == second;
  const Vec3 n = cyclic_direction(stance);
  const double product = dot(stance.contact[0].tangent, n) * dot(stance.contact[1].tangent, n);
  return product * sign_of(first) * sign_of(second) > 0.0;
}

}  // namespace carom::kernels::stability
