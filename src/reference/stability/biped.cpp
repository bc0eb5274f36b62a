#include "reference/stability/biped.hpp"

#include <algorithm>
#include <cmath>

#include "core/constants.hpp"

namespace carom::reference::biped {

namespace {

double sign_of(char letter) { return letter == 'P' ? 1.0 : (letter == 'N' ? -1.0 : 0.0); }

Vector3d kernel_of_both(const System& system) {
  const Vector3d n = system.contact[0].normal.cross(system.contact[1].normal).normalized();
  return n.dot(system.g) < 0.0 ? Vector3d(-n) : n;
}

}  // namespace

System system_of(const StanceBatch& batch, std::size_t problem) {
  System system;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t at = 2 * problem + i;
    const double phi = batch.slope.host()[at];
    const double l = batch.l.host()[at], h = batch.h.host()[at];
    // The contact's point moves by (u + h omega, w + l omega).
    const Eigen::RowVector2d normal(-std::sin(phi), std::cos(phi));
    const Eigen::RowVector2d tangent(std::cos(phi), std::sin(phi));
    Eigen::Matrix<double, 2, 3> motion;
    motion << 1.0, 0.0, h, 0.0, 1.0, l;
    system.contact[i] = {(normal * motion).transpose(), (tangent * motion).transpose(),
                         batch.friction.host()[at], batch.restitution.host()[at]};
  }
  const double force = batch.force.host()[problem], angle = batch.angle.host()[problem];
  system.g = {force * std::sin(angle), -force * std::cos(angle), batch.torque.host()[problem]};
  return system;
}

std::optional<Mode> solve_mode(const System& system, const std::string& word) {
  // Unknowns A, lambda_N, lambda_T of both contacts; equations as Table I has them.
  Eigen::Matrix<double, 7, 7> equations = Eigen::Matrix<double, 7, 7>::Zero();
  Eigen::Matrix<double, 7, 1> right = Eigen::Matrix<double, 7, 1>::Zero();
  equations.topLeftCorner<3, 3>().setIdentity();
  right.head<3>() = system.g;
  for (int i = 0; i < 2; ++i) {
    const Contact& c = system.contact[static_cast<std::size_t>(i)];
    const char letter = word[static_cast<std::size_t>(i)];
    equations.block<3, 1>(0, 3 + i) = -c.normal;
    equations.block<3, 1>(0, 5 + i) = -c.tangent;
    if (letter == 'F') {
      equations(3 + i, 3 + i) = 1.0;
      equations(5 + i, 5 + i) = 1.0;
      continue;
    }
    equations.block<1, 3>(3 + i, 0) = c.normal.transpose();
    if (letter == 'S') {
      equations.block<1, 3>(5 + i, 0) = c.tangent.transpose();
    } else {
      equations(5 + i, 5 + i) = 1.0;
      equations(5 + i, 3 + i) = sign_of(letter) * c.friction;
    }
  }
  Eigen::FullPivLU<Eigen::Matrix<double, 7, 7>> lu(equations);
  lu.setThreshold(1e-12);
  if (!lu.isInvertible()) return std::nullopt;
  const Eigen::Matrix<double, 7, 1> x = lu.solve(right);
  return Mode{x.head<3>(), x.segment<2>(3), x.tail<2>()};
}

double force_margin(const System& system) {
  Eigen::Matrix<double, 3, 4> forces;
  forces << system.contact[0].normal, system.contact[0].tangent, system.contact[1].normal,
      system.contact[1].tangent;
  Eigen::FullPivLU<Eigen::Matrix<double, 3, 4>> lu(forces);
  if (lu.rank() < 3) return -kInfinity;
  const Eigen::Vector4d base = lu.solve(-system.g);
  const Eigen::Vector4d free = lu.kernel().col(0).normalized();
  Eigen::Matrix<double, 6, 4> cone = Eigen::Matrix<double, 6, 4>::Zero();
  for (int i = 0; i < 2; ++i) {
    const double mu = system.contact[static_cast<std::size_t>(i)].friction;
    cone.block<3, 2>(3 * i, 2 * i) << 1.0, 0.0, mu, -1.0, mu, 1.0;
  }
  const Eigen::Matrix<double, 6, 1> value = cone * base, slope = cone * free;
  if (slope.minCoeff() > 0.0 || slope.maxCoeff() < 0.0) return kInfinity;
  // A concave function of one number: golden section.
  const auto least = [&](double t) { return (value + t * slope).minCoeff(); };
  double low = -1.0, high = 1.0;
  while (least(2.0 * low) > least(low) && low > -1e12) low *= 2.0;
  while (least(2.0 * high) > least(high) && high < 1e12) high *= 2.0;
  low *= 2.0, high *= 2.0;
  const double ratio = 0.5 * (std::sqrt(5.0) - 1.0);
  for (int step = 0; step < 200; ++step) {
    const double a = high - ratio * (high - low), b = low + ratio * (high - low);
    (least(a) < least(b) ? low : high) = least(a) < least(b) ? a : b;
  }
  return least(0.5 * (low + high));
}

bool is_admissible(const System& system, const std::string& word) {
  if (word.find('F') != std::string::npos) return true;
  if (word.find('S') != std::string::npos) return word == "SS";
  const Vector3d n = kernel_of_both(system);
  const double first = sign_of(word[0]) * system.contact[0].tangent.dot(n);
  const double second = sign_of(word[1]) * system.contact[1].tangent.dot(n);
  return (first > 0.0 && second > 0.0) || (first < 0.0 && second < 0.0);
}

bool is_consistent_at_rest(const System& system, const std::string& word) {
  const auto mode = solve_mode(system, word);
  if (!mode) return false;
  for (int i = 0; i < 2; ++i) {
    const Contact& c = system.contact[static_cast<std::size_t>(i)];
    const char letter = word[static_cast<std::size_t>(i)];
    if (letter == 'F') {
      if (!(c.normal.dot(mode->acceleration) > 0.0)) return false;
      continue;
    }
    if (!(mode->normal(i) > 0.0)) return false;
    if (letter == 'S') {
      if (!(std::fabs(mode->tangential(i)) < c.friction * mode->normal(i))) return false;
    } else if (!(sign_of(letter) * c.tangent.dot(mode->acceleration) > 0.0)) {
      return false;
    }
  }
  return true;
}

namespace {

/// Letters that a contact may have by its gap and velocity.
std::string letters_of(bool closed, double slip) {
  if (!closed) return "F";
  if (slip > 0.0) return "FP";
  if (slip < 0.0) return "FN";
  return "FSPN";
}

/// Consistent words of a state: closed contacts, and their slips (exactly 0 where one sticks).
std::vector<std::pair<std::string, Mode>> consistent_words(const System& system,
                                                           const std::array<bool, 2>& closed,
                                                           const std::array<double, 2>& slip) {
  std::vector<std::pair<std::string, Mode>> words;
  for (const char first : letters_of(closed[0], slip[0])) {
    for (const char second : letters_of(closed[1], slip[1])) {
      const std::string word{first, second};
      const auto mode = solve_mode(system, word);
      if (!mode) continue;
      bool consistent = true;
      for (int i = 0; i < 2; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const Contact& c = system.contact[k];
        if (!closed[k]) continue;
        if (word[k] == 'F') {
          consistent = consistent && c.normal.dot(mode->acceleration) > 0.0;
          continue;
        }
        consistent = consistent && mode->normal(i) >= 0.0;
        if (word[k] == 'S') {
          consistent = consistent &&
                       std::fabs(mode->tangential(i)) <= c.friction * mode->normal(i) * (1 + 1e-12);
        } else if (slip[k] == 0.0) {
          consistent = consistent && sign_of(word[k]) * c.tangent.dot(mode->acceleration) > 0.0;
        }
      }
      if (consistent) words.emplace_back(word, *mode);
    }
  }
  return words;
}

}  // namespace

int paradox(const System& system) {
  int bits = 0;
  for (int i = 0; i < 2; ++i) {
    const Contact& c = system.contact[static_cast<std::size_t>(i)];
    for (int way = 0; way < 2; ++way) {
      const double sign = way == 0 ? 1.0 : -1.0;
      const Vector3d force = c.normal - sign * c.friction * c.tangent;
      if (!(c.normal.dot(force) > 0.0)) bits |= 1 << (2 * i + way);
      std::array<bool, 2> closed{i == 0, i == 1};
      std::array<double, 2> slip{};
      slip[static_cast<std::size_t>(i)] = sign;
      if (consistent_words(system, closed, slip).size() != 1) bits |= 1 << (4 + 3 * i + way);
      slip = {};
      if (consistent_words(system, closed, slip).size() != 1) bits |= 1 << (4 + 3 * i + 2);
    }
  }
  const Vector3d n = kernel_of_both(system);
  for (int way = 0; way < 2; ++way) {
    const double sign = way == 0 ? 1.0 : -1.0;
    const std::array<double, 2> slip{sign * system.contact[0].tangent.dot(n),
                                     sign * system.contact[1].tangent.dot(n)};
    if (consistent_words(system, {true, true}, slip).size() != 1) bits |= 1 << (10 + way);
  }
  return bits;
}

Motion simulate(const System& system, const Vector3d& q, Vector3d v, std::int64_t events,
                std::mt19937_64& random) {
  Motion motion;
  std::array<double, 2> gap{}, speed{};
  const auto read = [&] {
    for (std::size_t i = 0; i < 2; ++i) speed[i] = system.contact[i].normal.dot(v);
  };
  for (std::size_t i = 0; i < 2; ++i) gap[i] = system.contact[i].normal.dot(q);
  const double weight = system.g.norm();
  const auto size_of = [&] { return std::sqrt(v.squaredNorm() + weight * (gap[0] + gap[1])); };
  for (double& x : gap) x = std::fabs(x) < 1e-12 ? 0.0 : x;
  const double start = size_of();
  double scale = 1.0;
  int sticking = -1;
  for (std::size_t i = 0; i < 2; ++i) {
    if (gap[i] == 0.0 && std::fabs(system.contact[i].normal.dot(v)) < 1e-12 * start &&
        std::fabs(system.contact[i].tangent.dot(v)) < 1e-12 * start) {
      sticking = static_cast<int>(i);
    }
  }
  for (; motion.events < events; ++motion.events) {
    read();
    const double size = size_of();
    std::vector<std::size_t> hits;
    for (std::size_t i = 0; i < 2; ++i) {
      if (gap[i] == 0.0 && speed[i] < -1e-12 * size) hits.push_back(i);
    }
    if (!hits.empty()) {
      const std::size_t i = hits[random() % hits.size()];
      const Contact& c = system.contact[i];
      const double wanted = -c.restitution * speed[i], slip = c.tangent.dot(v);
      sticking = -1;
      Matrix2d w;
      w << c.normal.squaredNorm(), c.normal.dot(c.tangent), c.normal.dot(c.tangent),
          c.tangent.squaredNorm();
      const Vector2d stick = w.inverse() * Vector2d(wanted - speed[i], -slip);
      Vector2d impulse = stick;
      if (stick(0) >= 0.0 && std::fabs(stick(1)) <= c.friction * stick(0)) {
        sticking = static_cast<int>(i);
      } else {
        for (const double sign : {1.0, -1.0}) {
          const double pressed = (wanted - speed[i]) / (w(0, 0) - sign * c.friction * w(0, 1));
          const Vector2d candidate(pressed, -sign * c.friction * pressed);
          if (pressed >= 0.0 && sign * (slip + w.row(1).dot(candidate)) > 0.0) impulse = candidate;
        }
      }
      v += impulse(0) * c.normal + impulse(1) * c.tangent;
      if (c.normal.dot(v) < 1e-8 * v.norm()) v -= c.normal.dot(v) / w(0, 0) * c.normal;
    } else {
      std::array<bool, 2> closed{};
      std::array<double, 2> slip{};
      for (std::size_t i = 0; i < 2; ++i) {
        closed[i] = gap[i] == 0.0 && speed[i] <= 1e-12 * size;
        slip[i] = sticking == static_cast<int>(i) ? 0.0 : system.contact[i].tangent.dot(v);
      }
      if (closed[0] && closed[1] && (sticking >= 0 || v.norm() < 1e-13 * size)) return motion;
      const auto words = consistent_words(system, closed, slip);
      if (words.empty()) {
        motion.stuck = true;
        return motion;
      }
      const auto& [word, mode] = words[random() % words.size()];
      const Vector3d& a = mode.acceleration;
      double time = kInfinity;
      int arrives = -1, stops = -1;
      for (std::size_t i = 0; i < 2; ++i) {
        const double pull = system.contact[i].normal.dot(a);
        if (word[i] == 'F') {
          const double root = speed[i] * speed[i] - 2.0 * gap[i] * pull;
          double wait = kInfinity;
          if (pull < 0.0) wait = (speed[i] + std::sqrt(std::max(root, 0.0))) / -pull;
          if (pull >= 0.0 && speed[i] < 0.0 && root >= 0.0) {
            wait = 2.0 * gap[i] / (std::sqrt(root) - speed[i]);
          }
          if (wait < time) time = wait, arrives = static_cast<int>(i), stops = -1;
        } else if (word[i] != 'S') {
          const double change = system.contact[i].tangent.dot(a);
          if (sign_of(word[i]) * change >= 0.0) continue;
          const double wait = std::fabs(system.contact[i].tangent.dot(v) / change);
          if (wait < time) time = wait, stops = static_cast<int>(i), arrives = -1;
        }
      }
      if (time == kInfinity) {
        motion.grows = true;
        motion.growth = kInfinity;
        return motion;
      }
      for (std::size_t i = 0; i < 2; ++i) {
        gap[i] += (speed[i] + 0.5 * system.contact[i].normal.dot(a) * time) * time;
        if (static_cast<int>(i) == arrives || word[i] != 'F' || gap[i] < 0.0) gap[i] = 0.0;
      }
      v += time * a;
      sticking = stops;
      for (std::size_t i = 0; i < 2; ++i) {
        if (word[i] == 'S') sticking = static_cast<int>(i);
      }
      for (std::size_t i = 0; i < 2; ++i) {  // a contact that stays closed has no gap velocity
        if (word[i] == 'F') continue;
        const Contact& c = system.contact[i];
        v -= c.normal.dot(v) / c.normal.squaredNorm() * c.normal;
      }
    }
    const double now = size_of();
    if (!(now > 0.0)) return motion;
    motion.growth = scale * now / start;
    if (motion.growth > 0x1p20) {
      motion.grows = true;
      return motion;
    }
    if (motion.growth < 0x1p-10) return motion;
    const double factor = start / now;
    scale /= factor;
    v *= factor;
    for (double& x : gap) x *= factor * factor;
  }
  return motion;
}

double chatter_growth(const System& system) {
  double growth = 1.0;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t j = 1 - i;
    const Contact& from = system.contact[i];
    const Contact& to = system.contact[j];
    if (from.restitution != 0.0) return kNan;
    Vector3d r = from.normal.cross(from.tangent);
    r /= to.normal.dot(r);  // opens contact j at unit speed
    std::array<bool, 2> closed{i == 0, i == 1};
    const auto words = consistent_words(system, closed, {});
    if (words.size() != 1 || words[0].first == "FF") return kNan;
    const Vector3d a = words[0].second.acceleration;
    const double pull = to.normal.dot(a);
    if (!(pull < 0.0)) return kNan;
    const Vector3d arriving = r + (-2.0 / pull) * a;
    Eigen::Matrix<double, 3, 2> directions;
    directions << to.normal, to.tangent;
    const Vector2d impulse =
        (directions.transpose() * directions).ldlt().solve(-(directions.transpose() * arriving));
    if (!(std::fabs(impulse(1)) <= to.friction * impulse(0))) return kNan;
    const double lifted = from.normal.dot(arriving + directions * impulse);
    if (!(lifted > 0.0)) return kNan;
    growth *= lifted;
  }
  return growth;
}

bool dissipates(const Contact& contact) {
  // Energy gained by impacts that end at (N.v, T.v) = (e k, s): least on a grid of impulses, then
  // by its derivative where it is smooth.
  const double e = contact.restitution;
  Matrix2d w;
  w << contact.normal.squaredNorm(), contact.normal.dot(contact.tangent),
      contact.normal.dot(contact.tangent), contact.tangent.squaredNorm();
  const auto loss = [&](double r) {
    const Vector2d impulse(1.0, r);
    const double pushed = w.row(0).dot(impulse);
    // 2 (K- - K+) of the part that no slip is left for
    return impulse.dot(w * impulse) - 2.0 * e / (1.0 + e) * pushed;
  };
  const double lowest = (e / (1.0 + e) - 1.0) * w(0, 1) / w(1, 1);
  std::vector<double> candidates{-contact.friction, contact.friction, -w(0, 0) / w(0, 1), lowest};
  for (const double r : candidates) {
    const bool possible =
        std::fabs(r) <= contact.friction && w(0, 0) + r * w(0, 1) >= -1e-12 * w(0, 0);
    if (possible && loss(r) < -1e-12 * w(0, 0)) return false;
  }
  return true;
}

}  // namespace carom::reference::biped
