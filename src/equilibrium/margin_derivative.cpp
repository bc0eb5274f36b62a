#include "equilibrium/margin_derivative.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include <carom/equilibrium_certificate.hpp>

#include "core/arrays.hpp"
#include "core/constants.hpp"
#include "core/parallel.hpp"
#include "core/thread_scratch.hpp"
#include "equilibrium/margin_report.hpp"
#include "equilibrium/spatial_contour.hpp"

namespace carom {

namespace {

using Vector3 = Eigen::Vector3d;
using Vector6 = Eigen::Matrix<double, 6, 1>;

/// Most directions beyond those of the sweep.
constexpr int kProbes = 1024;
/// Of the contacts' extent: points that are one, and a side that is straight.
constexpr double kSame = 1e-13, kStraight = 1e-11;
/// Singular values that count as zero, relative to the largest; what varies by less is constant.
constexpr double kRank = 1e-7, kConstant = 1e-7;

/// What the nearest point of the boundary is, in the frame's two coordinates: a point of the chord
/// between two points of the region that are held by known forces, and the proof of its side.
struct Side {
  double value = kernels::kInfinity;  ///< the margin
  double direction[2] = {};
  std::size_t from = 0, to = 0;  ///< slots
  double share = 0.0;            ///< of `to`
  std::size_t proof = 0;         ///< slot
};

/// Of the angle from a to b, unit vectors.
double sine(const double* a, const double* b) { return a[0] * b[1] - a[1] * b[0]; }

/// Finds the sides that are locally nearest to x.
class NearestSides {
 public:
  NearestSides(SpatialContour& contour, const double* x) : contour_(contour), x_(x) {}

  /// The nearest side first; false where an answer is missing.
  bool run(std::vector<Side>& sides) {
    sides.clear();
    const std::size_t n = contour_.size();
    std::vector<std::size_t> slots(n);
    double furthest = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      slots[i] = contour_.slot(i);
      if (!known(slots[i])) return false;
      const double* v = contour_.point(slots[i]);
      furthest = std::max(furthest, std::hypot(v[0] - x_[0], v[1] - x_[1]));
    }
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t l = slots[i], r = slots[(i + 1) % n];
      if (!(slope(l) < 0.0 && slope(r) >= 0.0)) continue;
      const double turned = std::abs(sine(contour_.direction(l), contour_.direction(r))) * furthest;
      Side side;
      side.value = std::min(room(l), room(r)) - turned;  // at least
      side.from = l;
      side.to = r;
      sides.push_back(side);
    }
    const auto nearer = [](const Side& a, const Side& b) { return a.value < b.value; };
    std::sort(sides.begin(), sides.end(), nearer);
    double best = kernels::kInfinity;
    std::size_t found = 0;
    for (; found < sides.size() && sides[found].value <= best; ++found) {
      if (!refine(sides[found])) return false;
      best = std::min(best, sides[found].value);
    }
    sides.resize(found);
    std::sort(sides.begin(), sides.end(), nearer);
    return !sides.empty();
  }

 private:
  [[nodiscard]] bool known(std::size_t slot) const {
    const Status status = contour_.answers().status.data()[slot];
    return status == Status::solved || status == Status::inaccurate;  // polishing does the rest
  }
  /// h(d) - d . x of the slot's direction, and its derivative by the direction's angle.
  [[nodiscard]] double room(std::size_t slot) const {
    const double* d = contour_.direction(slot);
    const double* v = contour_.point(slot);
    return d[0] * (v[0] - x_[0]) + d[1] * (v[1] - x_[1]);
  }
  [[nodiscard]] double slope(std::size_t slot) const {
    const double* d = contour_.direction(slot);
    const double* v = contour_.point(slot);
    return d[0] * (v[1] - x_[1]) - d[1] * (v[0] - x_[0]);
  }
  bool probe(const double* d, std::size_t& slot) {
    slot = contour_.size();
    return contour_.probe({d, 2}) && contour_.size() == slot + 1 && known(slot);
  }

  /// Between two directions, one on each side of a least room, until they are one or the side is
  /// straight.
  bool refine(Side& side) {
    std::size_t l = side.from, r = side.to;
    const double extent = contour_.extent();
    for (int round = 0; round < 100; ++round) {
      const double* a = contour_.direction(l);
      const double* b = contour_.direction(r);
      const double* v = contour_.point(l);
      const double* w = contour_.point(r);
      const double chord[2] = {w[0] - v[0], w[1] - v[1]};
      const double length = std::hypot(chord[0], chord[1]);
      const double down = slope(l), up = slope(r);
      if (sine(a, b) < 1e-13 && sine(a, b) >= 0.0 && a[0] * b[0] + a[1] * b[1] > 0.0) break;
      double d[2];
      bool straight = false;
      if (length <= kSame * extent) {  // a corner
        const double away = std::hypot(x_[0] - v[0], x_[1] - v[1]);
        if (away == 0.0) break;
        d[0] = (x_[0] - v[0]) / away;
        d[1] = (x_[1] - v[1]) / away;
      } else if (round % 2 == 0) {
        d[0] = chord[1] / length;
        d[1] = -chord[0] / length;
        straight = true;
      } else {
        const double t = -down / (up - down);
        for (int j = 0; j < 2; ++j) d[j] = (1.0 - t) * a[j] + t * b[j];
        const double size = std::hypot(d[0], d[1]);
        for (double& part : d) part /= size;
      }
      if (!(sine(a, d) > 0.0 && sine(d, b) > 0.0)) {
        if (length <= kSame * extent || sine(a, b) <= 0.0) break;
        straight = false;
        for (int j = 0; j < 2; ++j) d[j] = a[j] + b[j];
        const double size = std::hypot(d[0], d[1]);
        for (double& part : d) part /= size;
        if (!(sine(a, d) > 0.0 && sine(d, b) > 0.0)) break;
      }
      std::size_t middle = 0;
      if (!probe(d, middle)) return false;
      const double* m = contour_.point(middle);
      const double beyond = d[0] * (m[0] - v[0]) + d[1] * (m[1] - v[1]);
      if ((straight && beyond <= kStraight * extent) || length <= kSame * extent) {
        return settle(side, l, r, middle);
      }
      (slope(middle) < 0.0 ? l : r) = middle;
    }
    return settle(side, l, r, -slope(l) < slope(r) ? l : r);
  }
  bool settle(Side& side, std::size_t l, std::size_t r, std::size_t proof) {
    const double* d = contour_.direction(proof);
    const double* v = contour_.point(l);
    const double* w = contour_.point(r);
    const double along = d[0] * (w[1] - v[1]) - d[1] * (w[0] - v[0]);
    const double start = d[0] * (x_[1] - v[1]) - d[1] * (x_[0] - v[0]);
    side.from = l;
    side.to = r;
    side.proof = proof;
    side.share = along > kSame * contour_.extent() ? std::clamp(start / along, 0.0, 1.0) : 0.0;
    side.value = 0.0;
    for (int j = 0; j < 2; ++j) {
      side.direction[j] = d[j];
      side.value += d[j] * ((1.0 - side.share) * v[j] + side.share * w[j] - x_[j]);
    }
    return true;
  }

  SpatialContour& contour_;
  const double* x_;
};

enum class Load : std::uint8_t { none, edge, inside };

/// One posture in units of |f| and the contacts' extent, about their mean: forces that hold the
/// nearest point and the proof of its side.
class MarginAt {
 public:
  MarginAt(const PostureBatch& batch, std::int64_t p, const SpatialContour& contour,
           const Side& side, const double* x)
      : k_(batch.contacts),
        friction_(batch.friction.data() + p * batch.contacts),
        value_(side.value) {
    const auto& posture = contour.prepared().posture(true);
    force_ = posture.force;
    length_ = posture.length;
    const auto k = static_cast<std::size_t>(k_);
    arm_.resize(k);
    normal_.resize(k);
    f_.resize(k);
    w_.resize(k);
    load_.resize(k);
    const double* position = batch.position.data() + 3 * p * k_;
    const double* normal = batch.normal.data() + 3 * p * k_;
    const double* wrench = batch.wrench.data() + 6 * p;
    const Vector3 centre(posture.centre[0], posture.centre[1], posture.centre[2]);
    external_ = Vector3(wrench[0], wrench[1], wrench[2]) / force_;
    torque_ = Vector3(wrench[3], wrench[4], wrench[5]) / (force_ * length_);
    for (int j = 0; j < 3; ++j) {
      direction_[j] =
          side.direction[0] * posture.axis[0][j] + side.direction[1] * posture.axis[1][j];
    }
    const double* dual = contour.answers().dual.data() + 6 * side.proof;
    a_ = Vector3(dual[0], dual[1], dual[2]);
    b_ = Vector3(dual[3], dual[4], dual[5]);
    const double size = external_.cross(b_).norm();
    a_ = (a_ + b_.cross(centre)) / (size * length_);
    b_ /= size;
    centre_of_mass_ = (Vector3(x[0], x[1], x[2]) - centre) / length_;
    point_ = centre_of_mass_ + margin() * direction_;
    const double* forces = contour.answers().forces.data();
    for (std::size_t i = 0; i < k; ++i) {
      arm_[i] =
          (Vector3(position[3 * i], position[3 * i + 1], position[3 * i + 2]) - centre) / length_;
      normal_[i] = Vector3(normal[3 * i], normal[3 * i + 1], normal[3 * i + 2]).normalized();
      w_[i] = a_ + b_.cross(arm_[i]);
      for (int j = 0; j < 3; ++j) {
        const std::size_t at = 3 * i + static_cast<std::size_t>(j);
        f_[i][j] = ((1.0 - side.share) * forces[3 * k * side.from + at] +
                    side.share * forces[3 * k * side.to + at]) /
                   force_;
      }
    }
  }

  /// Classes of the contacts, by what is larger of each complementary pair. Forces of contacts
  /// without reduced costs are moved inside their cones where the balance lets them.
  void classify() {
    constexpr double kNothing = 1e-7;
    for (int i = 0; i < k_; ++i) {
      const double size = w_[i].norm();
      if (slack(i) > std::max(kNothing, f_[i].norm())) {
        load_[i] = Load::none;
      } else {
        load_[i] = size > kNothing && size > depth(i) ? Load::edge : Load::inside;
      }
    }
    centre_forces();
  }

  /// Newton's method on the conditions of the classes: forces on edges lean against w, forces
  /// inside have w = 0, all balance at x + m d with d = f-hat x b, |d| = 1. How far it moved;
  /// infinite where it does not settle.
  double polish() {
    constexpr int kSteps = 12;
    constexpr double kSettled = 1e-13, kTooFar = 1e-2;
    for (int i = 0; i < k_; ++i) {
      if (load_[i] == Load::none) f_[i].setZero();
    }
    double moved = 0.0;
    for (int step = 0; step < kSteps; ++step) {
      const double change = newton_step();
      moved += change;
      if (!(moved <= kTooFar)) return kernels::kInfinity;
      if (change <= kSettled) return moved;
    }
    return kernels::kInfinity;
  }

  /// The least gap of strict complementarity.
  double gaps(double tolerance, int& doubtful) {
    double least = kernels::kInfinity;
    doubtful = 0;
    for (int i = 0; i < k_; ++i) {
      const double gap = load_[i] == Load::none   ? slack(i)
                         : load_[i] == Load::edge ? std::min(f_[i].norm(), w_[i].norm())
                                                  : depth(i);
      least = std::min(least, gap);
      if (!(gap > tolerance)) ++doubtful;
    }
    return least;
  }
  [[nodiscard]] double value() const { return value_; }

  /// Of balance at the nearest point, cones, proof and complementarity.
  [[nodiscard]] double residual() const {
    Vector3 sum = external_, torque = point_.cross(external_) + torque_;
    double worst = 0.0;
    for (int i = 0; i < k_; ++i) {
      sum += f_[i];
      torque += arm_[i].cross(f_[i]);
      worst =
          std::max({worst, certificate::cone_excess(friction_[i], normal_[i].data(), f_[i].data()),
                    -certificate::dual_slack(friction_[i], normal_[i].data(), w_[i].data()),
                    std::abs(f_[i].dot(w_[i]))});
    }
    return std::max({worst, sum.lpNorm<Eigen::Infinity>(), torque.lpNorm<Eigen::Infinity>()});
  }

  /// Whether what is wanted is the same for all forces and proofs; `condition` of those that can
  /// change.
  bool unique(const MarginWanted& wanted, double& condition) {
    const Balance balance = changing();
    const std::vector<Vector6>& column = balance.column;
    const std::vector<int>& contact = balance.contact;
    condition = balance.condition;
    // A product l . df is constant where l lies in the span of the equations.
    const auto constant = [&](const auto& product) {
      Vector6 seen = Vector6::Zero();
      std::vector<double> l(column.size());
      double size = 0.0;
      for (std::size_t c = 0; c < column.size(); ++c) {
        l[c] = product(contact[c], Vector3(column[c].head<3>()));
        seen += l[c] * column[c];
        size = std::max(size, std::abs(l[c]));
      }
      seen = balance.inverse * seen;
      double left = 0.0;
      for (std::size_t c = 0; c < column.size(); ++c) {
        left = std::max(left, std::abs(l[c] - seen.dot(column[c])));
      }
      return left <= kConstant * std::max(size, 1.0);
    };
    for (int i = 0; i < k_; ++i) {
      if (load_[i] == Load::none) continue;
      for (int j = 0; j < 3; ++j) {
        if (wanted.position &&
            !constant([&](int at, const Vector3& df) { return at == i ? df.cross(b_)[j] : 0.0; })) {
          return false;
        }
        if (wanted.normal && load_[i] == Load::edge && !constant([&](int at, const Vector3& df) {
              return at == i ? df.cross(w_[i]).cross(normal_[i])[j] : 0.0;
            })) {
          return false;
        }
      }
      if (wanted.friction && load_[i] == Load::edge && !constant([&](int at, const Vector3& df) {
            return at == i ? df.dot(normal_[i]) * lean(i).dot(w_[i]) : 0.0;
          })) {
        return false;
      }
    }
    return one_proof(wanted);
  }

  void write(std::int64_t p, MarginGradient& to) const {
    const auto three = [&](Buffer<double>& array, std::int64_t at, const Vector3& value) {
      if (array.empty()) return;
      for (int j = 0; j < 3; ++j) array.data()[3 * at + j] = value[j];
    };
    for (int i = 0; i < k_; ++i) {
      const std::int64_t at = p * k_ + i;
      const bool loaded = load_[i] != Load::none, edge = load_[i] == Load::edge;
      const Vector3 zero = Vector3::Zero();
      three(to.position, at, loaded ? Vector3(-f_[i].cross(b_)) : zero);
      three(to.normal, at, edge ? Vector3(-length_ * f_[i].cross(w_[i]).cross(normal_[i])) : zero);
      if (!to.friction.empty()) {
        to.friction.data()[at] = edge ? -length_ * f_[i].dot(normal_[i]) * lean(i).dot(w_[i]) : 0.0;
      }
    }
    if (!to.wrench.empty()) {
      const Vector3 push = -(a_ + b_.cross(point_)) * (length_ / force_), turn = -b_ / force_;
      for (int j = 0; j < 3; ++j) {
        to.wrench.data()[6 * p + j] = push[j];
        to.wrench.data()[6 * p + 3 + j] = turn[j];
      }
    }
    three(to.centre_of_mass, p, -direction_);
  }

 private:
  [[nodiscard]] double slack(int i) const {
    return certificate::dual_slack(friction_[i], normal_[i].data(), w_[i].data());
  }
  [[nodiscard]] double depth(int i) const {
    return -certificate::cone_excess(friction_[i], normal_[i].data(), f_[i].data());
  }
  static Eigen::Matrix3d product_with(const Vector3& a) {  // a x
    Eigen::Matrix3d m;
    m << 0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0;
    return m;
  }

  /// Unknowns: a, b, m, then a multiplier for each edge and a force for each contact inside.
  double newton_step() {
    int size = 7;
    for (int i = 0; i < k_; ++i) {
      size += load_[i] == Load::edge ? 1 : load_[i] == Load::inside ? 3 : 0;
    }
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(size, size);
    Eigen::VectorXd right = Eigen::VectorXd::Zero(size);
    // Balance of forces and torques, then |d| = 1.
    const Vector3 d = external_.cross(b_);
    Vector3 sum = external_, torque = point_.cross(external_) + torque_;
    matrix.block<3, 3>(3, 3) = -margin() * product_with(external_) * product_with(external_);
    matrix.block<3, 1>(3, 6) = d.cross(external_);
    matrix.block<1, 3>(6, 3) = d.transpose() * product_with(external_) / d.norm();
    right[6] = 1.0 - d.norm();
    int at = 7;
    for (int i = 0; i < k_; ++i) {
      if (load_[i] == Load::none) continue;
      const Eigen::Matrix3d arm = product_with(arm_[i]);
      Eigen::Matrix<double, 3, 6> change;  // of w
      change << Eigen::Matrix3d::Identity(), -arm;
      sum += f_[i];
      torque += arm_[i].cross(f_[i]);
      if (load_[i] == Load::inside) {
        matrix.block<3, 3>(0, at) = Eigen::Matrix3d::Identity();
        matrix.block<3, 3>(3, at) = arm;
        matrix.block<3, 6>(at, 0) = change;
        right.segment<3>(at) = -w_[i];
        at += 3;
        continue;
      }
      const Vector3& n = normal_[i];
      const Vector3 across = w_[i] - w_[i].dot(n) * n;
      const double length = across.norm();
      const Vector3 t = length > 0.0 ? Vector3(across / length) : Vector3::Zero();
      const Vector3 ray = n - friction_[i] * t;
      const double load = f_[i].dot(n);
      if (friction_[i] > 0.0) {
        const Eigen::Matrix3d turned =
            -load * friction_[i] / length *
            (Eigen::Matrix3d::Identity() - t * t.transpose() - n * n.transpose());
        matrix.block<3, 6>(0, 0) += turned * change;
        matrix.block<3, 6>(3, 0) += arm * turned * change;
      }
      sum += load * ray - f_[i];
      torque += arm_[i].cross(load * ray - f_[i]);
      matrix.block<3, 1>(0, at) = ray;
      matrix.block<3, 1>(3, at) = arm * ray;
      matrix.block<1, 6>(at, 0) = ray.transpose() * change;
      right[at] = -ray.dot(w_[i]);
      ++at;
    }
    right.head<3>() = -sum;
    right.segment<3>(3) = -torque;
    Eigen::FullPivLU<Eigen::MatrixXd> factors(matrix);
    factors.setThreshold(1e-10);
    const Eigen::VectorXd by = factors.solve(right);
    if (!by.allFinite()) return kernels::kInfinity;
    a_ += by.head<3>();
    b_ += by.segment<3>(3);
    value_ += by[6] * length_;
    direction_ = external_.cross(b_);
    point_ = centre_of_mass_ + margin() * direction_;
    at = 7;
    for (int i = 0; i < k_; ++i) {
      w_[i] = a_ + b_.cross(arm_[i]);
      if (load_[i] == Load::inside) {
        f_[i] += by.segment<3>(at);
        at += 3;
      } else if (load_[i] == Load::edge) {
        const double load = f_[i].dot(normal_[i]) + by[at++];
        f_[i] = load * normal_[i];
        if (friction_[i] > 0.0) f_[i] -= load * friction_[i] * across(i);
      }
    }
    return by.lpNorm<Eigen::Infinity>();
  }
  [[nodiscard]] double margin() const { return value_ / length_; }
  /// The unit vector of w's tangential part.
  [[nodiscard]] Vector3 across(int i) const {
    return (w_[i] - w_[i].dot(normal_[i]) * normal_[i]).normalized();
  }

  /// The balance of the forces that can change: any inside a cone, along the edge on it.
  struct Balance {
    std::vector<Vector6> column;  ///< force and torque of each part
    std::vector<int> contact;     ///< of it
    Eigen::Matrix<double, 6, 6> inverse =
        Eigen::Matrix<double, 6, 6>::Zero();  ///< of column column'
    double condition = 1.0;
  };
  [[nodiscard]] Balance changing() const {
    Balance balance;
    Eigen::Matrix<double, 6, 6> gram = Eigen::Matrix<double, 6, 6>::Zero();
    const auto push = [&](int i, const Vector3& f) {
      Vector6 each;
      each << f, arm_[i].cross(f);
      gram += each * each.transpose();
      balance.column.push_back(each);
      balance.contact.push_back(i);
    };
    for (int i = 0; i < k_; ++i) {
      if (load_[i] == Load::inside) {
        for (int j = 0; j < 3; ++j) push(i, Vector3::Unit(j));
      } else if (load_[i] == Load::edge) {
        push(i, f_[i].normalized());
      }
    }
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix<double, 6, 6>> spectrum(gram);
    const double largest = spectrum.eigenvalues()[5];
    double smallest = largest;
    for (int j = 0; j < 6; ++j) {
      const double value = spectrum.eigenvalues()[j];
      if (!(value > kRank * kRank * largest)) continue;
      smallest = std::min(smallest, value);
      const Vector6 along = spectrum.eigenvectors().col(j);
      balance.inverse += along * along.transpose() / value;
    }
    balance.condition = std::sqrt(largest / smallest);
    return balance;
  }
  /// The tangent t of a force on the edge of its cone; without friction the way in which it would
  /// lean.
  [[nodiscard]] Vector3 lean(int i) const {
    const Vector3& n = normal_[i];
    Vector3 t =
        friction_[i] > 0.0 ? Vector3(f_[i] - f_[i].dot(n) * n) : Vector3(w_[i].dot(n) * n - w_[i]);
    const double size = t.norm();
    return size > 0.0 ? Vector3(t / size) : t;
  }

  /// Alternates between the axes of the cones and the nearest balanced forces; the forces stay as
  /// they are where that does not end inside the cones.
  void centre_forces() {
    constexpr int kRounds = 100;
    if (std::count(load_.begin(), load_.end(), Load::inside) == 0) return;
    const std::vector<Vector3> given = f_;
    const Balance balance = changing();
    for (int round = 0; round < kRounds; ++round) {
      bool inside = true;
      for (int i = 0; i < k_; ++i) {
        if (load_[i] != Load::inside) continue;
        // Less and less room is asked for.
        const double room = (round < kRounds / 2 ? 1e-2 : 1e-4) * friction_[i];
        if (depth(i) > room * f_[i].norm()) continue;
        inside = false;
        const double along = std::max(f_[i].dot(normal_[i]), 0.1 / k_);
        f_[i] = 0.5 * (f_[i] + along * normal_[i]);
      }
      if (inside) return;
      Vector6 missing;
      missing << external_, point_.cross(external_) + torque_;
      for (int i = 0; i < k_; ++i) {
        missing.head<3>() += f_[i];
        missing.tail<3>() += arm_[i].cross(f_[i]);
      }
      const Vector6 y = balance.inverse * missing;
      for (std::size_t c = 0; c < balance.column.size(); ++c) {
        f_[balance.contact[c]] -= balance.column[c].dot(y) * balance.column[c].head<3>();
      }
    }
    f_ = given;
  }

  /// The same of proofs: (da, c) with db = c f-hat keeps the direction, dw = 0 where the force is
  /// inside, along w where it is on its edge.
  [[nodiscard]] bool one_proof(const MarginWanted& wanted) const {
    using Matrix34 = Eigen::Matrix<double, 3, 4>;
    Eigen::Matrix4d gram = Eigen::Matrix4d::Zero();
    const auto change = [&](const Vector3& at) {
      Matrix34 dw;
      dw << Eigen::Matrix3d::Identity(), external_.cross(at);
      return dw;
    };
    for (int i = 0; i < k_; ++i) {
      if (load_[i] != Load::inside && load_[i] != Load::edge) continue;
      Matrix34 dw = change(arm_[i]);
      if (load_[i] == Load::edge) {
        const Vector3 along = w_[i].normalized();
        dw -= along * (along.transpose() * dw).eval();
      }
      gram += dw.transpose() * dw;
    }
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix4d> spectrum(gram);
    for (int j = 0; j < 4; ++j) {
      if (spectrum.eigenvalues()[j] > kRank * kRank * spectrum.eigenvalues()[3]) break;
      const Eigen::Vector4d u = spectrum.eigenvectors().col(j);
      const Vector3 db = u[3] * external_;
      if (wanted.wrench && (change(point_) * u).norm() + db.norm() > kConstant) return false;
      for (int i = 0; i < k_; ++i) {
        if (load_[i] == Load::none) continue;
        const Vector3 dw = change(arm_[i]) * u;
        const double turned = f_[i].cross(db).norm(), leaned = f_[i].norm() * dw.norm();
        if (wanted.position && turned > kConstant) return false;
        if ((wanted.normal || wanted.friction) && load_[i] == Load::edge && leaned > kConstant) {
          return false;
        }
      }
    }
    return true;
  }

  int k_;
  const double* friction_;
  double value_, force_ = 1.0, length_ = 1.0;
  Vector3 external_, torque_, centre_of_mass_, direction_, a_, b_, point_;
  std::vector<Vector3> arm_, normal_, f_, w_;
  std::vector<Load> load_;
};

}  // namespace

MarginGradient margin_gradients(const SupportCode& code, const PostureBatch& batch,
                                std::span<const double> centre_of_mass,
                                const SpatialSettings& settings,
                                const DerivativeSettings& derivative, const MarginWanted& wanted) {
  MarginGradient result = empty_margin_gradient(batch, wanted);
  SpatialSettings more = settings;
  more.max_vertices = settings.directions + kProbes;
  const SupportRules rules = support_rules(more);
  const std::vector<double> directions = spread_directions(more.directions);
  ThreadScratch<ContourMemory> memories;
  parallel_for(batch.problems, 1, derivative.threads, [&](std::int64_t begin, std::int64_t end) {
    SpatialContour& contour = memories.local().fit(code, rules, more, batch.contacts);
    std::vector<Side> sides;
    for (std::int64_t p = begin; p < end; ++p) {
      Smoothness& status = result.status.data()[p];
      status = Smoothness::not_solved;
      result.doubtful.data()[p] = 0;
      contour.prepared().prepare(batch, p);
      const auto& posture = contour.prepared().posture(true);
      if (posture.status != Status::solved) continue;
      contour.sweep(directions);
      status = Smoothness::undefined;
      if (contour.status() != Status::solved) continue;
      const double* x = centre_of_mass.data() + 3 * p;
      const double section[2] = {kernels::dot3(posture.axis[0], x),
                                 kernels::dot3(posture.axis[1], x)};
      if (!NearestSides(contour, section).run(sides)) continue;
      MarginAt at(batch, p, contour, sides.front(), x);
      at.classify();
      const double shift = at.polish();
      result.shift.data()[p] = shift;
      int doubtful = 0;
      const double tolerance = derivative.margin_tolerance;
      double margin = at.gaps(tolerance, doubtful);
      if (sides.size() > 1) {
        const double gap = (sides[1].value - sides[0].value) / contour.extent();
        margin = std::min(margin, gap);
        if (!(gap > tolerance)) ++doubtful;
      }
      const double residual = at.residual();
      result.value.data()[p] = at.value();
      result.residual.data()[p] = residual;
      result.margin.data()[p] = margin;
      result.doubtful.data()[p] = doubtful;
      if (!(residual <= kCertifiedMargin && shift < kernels::kInfinity)) continue;
      const bool unique = at.unique(wanted, result.condition.data()[p]);
      status = unique && doubtful == 0 ? Smoothness::smooth : Smoothness::kink;
      if (status == Smoothness::smooth || derivative.at_kink != AtKink::nan) at.write(p, result);
    }
  });
  return result;
}

}  // namespace carom
