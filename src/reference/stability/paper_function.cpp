#include <cmath>

#include "core/constants.hpp"
#include "reference/stability/biped.hpp"

namespace carom::reference::biped {

namespace {

/// V = p.q + v'Q v / 2.
struct Function {
  Vector3d p;
  Matrix3d q;
};

/// How much V rises over a flight of duration `time` and an impact of `contact` with the impulses
/// (normal, tangential), after which it slips at `slip`. Nothing depends on the rotation about the
/// contact, which is left out.
double rise(const System& system, const Contact& c, const Function& f, double normal,
            double tangential, double slip, double time) {
  Matrix2d w;
  w << c.normal.squaredNorm(), c.normal.dot(c.tangent), c.normal.dot(c.tangent),
      c.tangent.squaredNorm();
  const double pushed = w(0, 0) * normal + w(0, 1) * tangential;
  const double e = c.restitution;
  const Vector2d parts = w.inverse() * Vector2d(e / (1.0 + e) * pushed, slip);
  const Vector3d after = parts(0) * c.normal + parts(1) * c.tangent;
  const Vector3d before = after - normal * c.normal - tangential * c.tangent;
  const Vector3d start = before - time * system.g;
  const Vector3d moved = (start + 0.5 * time * system.g) * time;
  return f.p.dot(moved) + 0.5 * after.dot(f.q * after) - 0.5 * start.dot(f.q * start);
}

/// Hadeler's test of a 3 x 3 form: not negative where no variable is.
bool copositive(const Matrix3d& m) {
  for (int i = 0; i < 3; ++i) {
    if (m(i, i) < 0.0) return false;
  }
  const auto pair = [&m](int i, int j) { return m(i, j) + std::sqrt(m(i, i) * m(j, j)); };
  const double a = pair(0, 1), b = pair(0, 2), c = pair(1, 2);
  if (a < 0.0 || b < 0.0 || c < 0.0) return false;
  const double roots = std::sqrt(m(0, 0) * m(1, 1) * m(2, 2)) + m(0, 1) * std::sqrt(m(2, 2)) +
                       m(0, 2) * std::sqrt(m(1, 1)) + m(1, 2) * std::sqrt(m(0, 0));
  return roots + std::sqrt(2.0 * a * b * c) >= 0.0;
}

/// Rays (normal, tangential, slip, time) of a cone; the fall of V over it is copositive.
bool falls_on(const System& system, const Contact& c, const Function& f,
              const std::array<Eigen::Vector4d, 3>& rays) {
  const auto fall = [&](const Eigen::Vector4d& x) {
    return -rise(system, c, f, x(0), x(1), x(2), x(3));
  };
  Matrix3d m;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      m(static_cast<int>(i), static_cast<int>(j)) =
          i == j ? fall(rays[i]) : 0.5 * (fall(rays[i] + rays[j]) - fall(rays[i]) - fall(rays[j]));
    }
  }
  return copositive(m);
}

bool never_rises(const System& system, const Function& f, const Vector3d& n, bool flights) {
  for (std::size_t i = 0; i < 2; ++i) {
    const Contact& c = system.contact[i];
    const double load = -c.normal.dot(system.g);
    Matrix2d w;
    w << c.normal.squaredNorm(), c.normal.dot(c.tangent), c.normal.dot(c.tangent),
        c.tangent.squaredNorm();
    const auto longest = [&](double r) {
      return flights ? 2.0 * (w(0, 0) + r * w(0, 1)) / ((1.0 + c.restitution) * load) : 0.0;
    };
    const double mu = c.friction;
    for (const double sign : {1.0, -1.0}) {
      const Vector3d force = c.normal - sign * mu * c.tangent;
      const Vector3d a = system.g + load / c.normal.dot(force) * force;
      const Vector2d dual = w.inverse() * Vector2d(0.0, sign);
      const Vector3d v = dual(0) * c.normal + dual(1) * c.tangent;
      if (f.p.dot(v) + v.dot(f.q * a) > 0.0) return false;
      const double r = -sign * mu;
      if (!falls_on(system, c, f,
                    {Eigen::Vector4d(1, r, 0, 0), Eigen::Vector4d(1, r, 0, longest(r)),
                     Eigen::Vector4d(0, 0, sign, 0)})) {
        return false;
      }
    }
    const Eigen::Vector4d low(1, -mu, 0, 0), high(1, mu, 0, 0);
    const Eigen::Vector4d low_far(1, -mu, 0, longest(-mu)), high_far(1, mu, 0, longest(mu));
    if (!falls_on(system, c, f, {low, high, low_far})) return false;
    if (!falls_on(system, c, f, {high, low_far, high_far})) return false;
  }
  for (const double sign : {1.0, -1.0}) {
    std::string word;
    for (const Contact& c : system.contact) word += sign * c.tangent.dot(n) > 0.0 ? 'P' : 'N';
    const auto mode = solve_mode(system, word);
    if (!mode) return false;
    if (mode->normal.minCoeff() < 0.0) continue;
    const Vector3d v = sign * n;
    if (f.p.dot(v) + v.dot(f.q * mode->acceleration) > 0.0) return false;
  }
  return true;
}

}  // namespace

std::optional<PaperFunction> paper_function(const System& system) {
  const Contact& a = system.contact[0];
  const Contact& b = system.contact[1];
  Vector3d n = a.normal.cross(b.normal).normalized();
  if (n.dot(system.g) < 0.0) n = -n;
  Vector3d c = a.normal.cross(a.tangent).cross(b.normal.cross(b.tangent));
  if (!(c.head<2>().norm() > 0.0) || std::fabs(c.dot(n)) < 1e-9 * c.norm()) return std::nullopt;
  c *= (c.dot(n) < 0.0 ? -1.0 : 1.0) / c.head<2>().norm();
  bool flights = false;
  for (const Contact& k : system.contact) {
    flights = flights || k.restitution > 0.0;
    if (!(k.normal.dot(system.g) < 0.0)) return std::nullopt;
    for (const double sign : {1.0, -1.0}) {
      if (!(k.normal.dot(k.normal - sign * k.friction * k.tangent) > 0.0)) return std::nullopt;
    }
  }
  const double zeta = n.dot(system.g) / n.dot(c), kappa = 1e-9 * system.g.norm();
  Matrix3d basis;
  basis << a.normal, b.normal, n;
  const Vector3d gaps = basis.fullPivLu().solve(zeta * c - system.g);
  if (!(gaps(0) > 0.0 && gaps(1) > 0.0)) return std::nullopt;
  const bool level = std::fabs(zeta) <= 1e-3 * kappa;
  // The s that do are an interval: its ends on a grid of s |c|^2 from -1 on, dense at small sizes.
  double low = kInfinity, high = -kInfinity;
  constexpr int kSteps = 1500;
  for (int k = -kSteps; k <= kSteps; ++k) {
    const double x = 1e-5 * (std::pow(10.0, 9.0 * std::abs(k) / kSteps) - 1.0) * (k < 0 ? -1 : 1);
    if (x <= -1.0) continue;
    const double s = x / c.squaredNorm();
    bool good = true;
    for (const double side : {1.0, -1.0}) {
      if (side < 0.0 && !level) continue;
      const Function f{(zeta + side * kappa) * c - system.g,
                       Matrix3d::Identity() + s * c * c.transpose()};
      good = good && never_rises(system, f, n, flights);
    }
    if (!good) continue;
    low = std::min(low, s), high = std::max(high, s);
  }
  if (low > high) return std::nullopt;
  return PaperFunction{0.5 * (low + high), kappa, high - low};
}

}  // namespace carom::reference::biped
