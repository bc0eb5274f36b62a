#pragma once

#include <cmath>
#include <cstdint>

#include <carom/stability.hpp>

/// Motions of a stance on two level contacts with e = 0, as one would first write them: scalars,
/// the modes' accelerations known beforehand, sizes by square roots and logarithms. A peer of the
/// event simulation; shares nothing with it.
namespace carom::bench {

class PlainStance {
 public:
  explicit PlainStance(const Stance& stance) {
    g_[0] = stance.force * std::sin(stance.angle);
    g_[1] = -stance.force * std::cos(stance.angle);
    g_[2] = stance.torque;
    for (int i = 0; i < 2; ++i) {
      const StanceContact& c = stance.contacts[static_cast<std::size_t>(i)];
      const double n[3] = {0.0, 1.0, c.l}, t[3] = {1.0, 0.0, c.h};
      for (int k = 0; k < 3; ++k) normal_[i][k] = n[k], tangent_[i][k] = t[k];
      mu_[i] = c.friction;
      nn_[i] = dot(n, n), nt_[i] = dot(n, t), tt_[i] = dot(t, t);
    }
    for (int i = 0; i < 2; ++i) {
      for (int letter = 0; letter < 3; ++letter) alone(i, letter);
    }
    for (int way = 0; way < 2; ++way) both(way == 0 ? 1.0 : -1.0, sliding_[way]);
  }

  enum class End { escaped, contracted, endless };

  /// Impact directions of both contacts with both gaps closed; the first that escapes ends it.
  End scan(int angles, std::int64_t events) {
    End worst = End::contracted;
    for (int j = 0; j < 2; ++j) {
      for (int k = 0; k < angles; ++k) {
        const double along = 1.0 - (2.0 * k + 1.0) / angles;
        double v[3] = {along, 0.0, 0.0};
        approach(j, (std::fabs(along) - 1.0) / std::sqrt(nn_[j]), v);
        const End end = run(v, events);
        if (end == End::escaped) return end;
        if (end == End::endless) worst = end;
      }
    }
    return worst;
  }
  [[nodiscard]] std::int64_t events() const { return count_; }

 private:
  struct Mode {
    bool presses = false;
    double a[3] = {};
  };
  static double dot(const double* a, const double* b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  }

  /// Contact i alone: slip +, slip -, stick.
  void alone(int i, int letter) {
    Mode& mode = alone_[i][letter];
    const double load = -dot(normal_[i], g_);
    double normal = 0.0, tangential = 0.0;
    if (letter == 2) {
      const double pull = -dot(tangent_[i], g_), det = nn_[i] * tt_[i] - nt_[i] * nt_[i];
      normal = (tt_[i] * load - nt_[i] * pull) / det;
      tangential = (nn_[i] * pull - nt_[i] * load) / det;
      mode.presses = normal >= 0.0 && std::fabs(tangential) <= mu_[i] * normal;
    } else {
      const double sign = letter == 0 ? 1.0 : -1.0;
      normal = load / (nn_[i] - sign * mu_[i] * nt_[i]);
      tangential = -sign * mu_[i] * normal;
      mode.presses = normal >= 0.0;
    }
    for (int k = 0; k < 3; ++k) {
      mode.a[k] = g_[k] + normal * normal_[i][k] + tangential * tangent_[i][k];
    }
  }
  void both(double sign, Mode& mode) {
    double f[2][3];
    for (int i = 0; i < 2; ++i) {
      for (int k = 0; k < 3; ++k) f[i][k] = normal_[i][k] - sign * mu_[i] * tangent_[i][k];
    }
    const double a = dot(normal_[0], f[0]), b = dot(normal_[0], f[1]);
    const double c = dot(normal_[1], f[0]), d = dot(normal_[1], f[1]);
    const double p = -dot(normal_[0], g_), q = -dot(normal_[1], g_), det = a * d - b * c;
    const double first = (p * d - b * q) / det, second = (a * q - p * c) / det;
    mode.presses = first >= 0.0 && second >= 0.0;
    for (int k = 0; k < 3; ++k) mode.a[k] = g_[k] + first * f[0][k] + second * f[1][k];
  }
  /// Adds to v what gives contact j the gap velocity `speed` and the other one 0.
  void approach(int j, double speed, double (&v)[3]) const {
    const double l = normal_[j][2], other = normal_[1 - j][2];
    const double omega = speed / (l - other);
    v[1] += -other * omega, v[2] += omega;
  }

  void impact(int i, double (&v)[3]) const {
    const double gap = dot(normal_[i], v), slip = dot(tangent_[i], v);
    const double det = nn_[i] * tt_[i] - nt_[i] * nt_[i];
    double normal = (-tt_[i] * gap + nt_[i] * slip) / det;
    double tangential = (nt_[i] * gap - nn_[i] * slip) / det;
    if (std::fabs(tangential) > mu_[i] * normal) {
      for (const double sign : {1.0, -1.0}) {
        normal = -gap / (nn_[i] - sign * mu_[i] * nt_[i]);
        tangential = -sign * mu_[i] * normal;
        if (normal >= 0.0 && sign * (slip + nt_[i] * normal + tt_[i] * tangential) >= 0.0) break;
      }
    }
    for (int k = 0; k < 3; ++k) v[k] += normal * normal_[i][k] + tangential * tangent_[i][k];
  }

  End run(double (&v)[3], std::int64_t most) {
    constexpr double kZero = 1e-10;
    double gap[2] = {0.0, 0.0}, size = 0.0;
    const double weight = std::sqrt(dot(g_, g_));
    for (std::int64_t event = 0; event < most; ++event) {
      ++count_;
      const double rho = std::sqrt(dot(v, v) + weight * (gap[0] + gap[1]));
      if (rho == 0.0) return End::contracted;
      for (double& value : v) value /= rho;
      for (double& value : gap) value /= rho * rho;
      size += std::log(rho);
      if (size > 20.0 * std::log(2.0)) return End::escaped;
      if (size < -10.0 * std::log(2.0)) return End::contracted;
      bool struck = false, closed[2];
      for (int i = 0; i < 2 && !struck; ++i) {
        const double speed = dot(normal_[i], v);
        closed[i] = gap[i] <= 0.0 && std::fabs(speed) <= kZero;
        if (gap[i] > 0.0 || speed >= -kZero) continue;
        impact(i, v);
        gap[i] = 0.0;
        struck = true;
      }
      if (struck) continue;
      const double* a = g_;
      int slipping = -1;  // of which contact slip may end
      if (closed[0] && closed[1]) {
        const double slip = dot(tangent_[0], v);
        if (std::fabs(slip) <= kZero) return End::contracted;
        const int way = slip > 0.0 ? 0 : 1;
        slipping = 0;
        a = sliding_[way].a;
        for (int i = 0; i < 2 && !sliding_[way].presses; ++i) {
          if (!alone_[i][way].presses || dot(normal_[1 - i], alone_[i][way].a) <= 0.0) continue;
          a = alone_[i][way].a;
          slipping = i;
          closed[1 - i] = false;
          break;
        }
      } else if (closed[0] || closed[1]) {
        const int i = closed[0] ? 0 : 1;
        const double slip = dot(tangent_[i], v);
        int letter = slip > 0.0 ? 0 : 1;
        if (std::fabs(slip) <= kZero) {
          letter = 2;
          if (!alone_[i][2].presses) letter = dot(tangent_[i], alone_[i][0].a) > 0.0 ? 0 : 1;
        } else {
          slipping = i;
        }
        a = alone_[i][letter].a;
      }
      double time = -1.0;
      int next = -1;
      const auto earlier = [&](double t, int what) {
        if (t > 0.0 && (time < 0.0 || t < time)) time = t, next = what;
      };
      for (int i = 0; i < 2; ++i) {
        if (closed[i]) continue;
        const double speed = dot(normal_[i], v), rate = dot(normal_[i], a);
        const double root = speed * speed - 2.0 * rate * gap[i];
        if (root < 0.0 || (rate >= 0.0 && speed >= 0.0)) continue;
        earlier(speed < 0.0 ? 2.0 * gap[i] / (std::sqrt(root) - speed)
                            : -(speed + std::sqrt(root)) / rate,
                i);
      }
      if (slipping >= 0) {
        const double slip = dot(tangent_[slipping], v), rate = dot(tangent_[slipping], a);
        if (slip * rate < 0.0) earlier(-slip / rate, 2);
      }
      if (next < 0) return End::escaped;
      for (int i = 0; i < 2; ++i) {
        if (!closed[i]) {
          gap[i] += time * dot(normal_[i], v) + 0.5 * time * time * dot(normal_[i], a);
        }
      }
      for (int k = 0; k < 3; ++k) v[k] += time * a[k];
      for (int i = 0; i < 2; ++i) {
        if (closed[i] || i == next) gap[i] = 0.0;
      }
    }
    return End::endless;
  }

  double g_[3], normal_[2][3], tangent_[2][3], mu_[2], nn_[2], nt_[2], tt_[2];
  Mode alone_[2][3], sliding_[2];
  std::int64_t count_ = 0;
};

}  // namespace carom::bench
