#include "enclosure/arrangement.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include <Eigen/Dense>

#include "enclosure/cone.hpp"
#include "enclosure/double_description.hpp"

namespace carom::enclosure {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kDependentRow = 1e-9;     // of a row's length, left after those before it
constexpr double kLeastCondition = 1e-12;  // reciprocal, of the response

Integer largest(const Vector& v) {
  Integer most = 0;
  for (const Integer& x : v) most = std::max(most, Integer(abs(x)));
  return most;
}

/// A plane's row, and its opposite.
struct Plane {
  Measured row, opposite;
  double length;  ///< of the row in the energy's coordinates

  Plane(const Vector& v, double size) : row(v), opposite(negative(v)), length(size) {}
};

class Arranging {
  /// A ray of velocities, or of rates with their contacts' impulses where they have stores: in
  /// units of the ray's largest number.
  using Motion = std::pair<Vector, std::vector<double>>;

 public:
  Arranging(const RoundedImpact& impact, const ArrangementLimits& limits)
      : impact_(impact), limits_(limits), n_(impact.size()) {
    const auto size = static_cast<Eigen::Index>(n_ - 1);
    const Eigen::Map<const Matrix> response(impact.response.data(), size, size);
    const Eigen::LLT<Eigen::MatrixXd> factor(response);
    definite_ = factor.info() == Eigen::Success && factor.rcond() > kLeastCondition;
    if (!definite_) return;  // no coordinates of the energy in doubles
    factor_ = factor.matrixL();
    inverse_ = factor_.triangularView<Eigen::Lower>().solve(Eigen::MatrixXd::Identity(size, size));
    inverse_ = inverse_.cwiseAbs().eval();
    const auto contact_rows = static_cast<int>(impact.row.size());
    for (int k = 0; k < contact_rows; ++k) add_plane(impact.row[static_cast<std::size_t>(k)]);
    if (limits.refinement >= Refinement::pairs) add_pairs();
    if (limits.refinement == Refinement::events || limits.refinement == Refinement::all ||
        limits.refinement == Refinement::finest) {
      add_events();
    }
    for (const PlaneBetween& plane : limits.between) {
      add_between(impact.row[static_cast<std::size_t>(plane.first)],
                  impact.row[static_cast<std::size_t>(plane.second)], plane.share);
    }
    result_.planes = static_cast<int>(planes_.size());
  }

  std::optional<Arrangement> take() {
    const bool moves = std::any_of(impact_.start.begin() + 1, impact_.start.end(),
                                   [](const Integer& x) { return x != 0; });
    const int most_planes = std::min(limits_.planes, kMostPlanes);
    if (!definite_ || n_ == 1 || !moves || result_.planes > most_planes) return std::nullopt;
    set_rows();
    result_.start = direction(impact_.start, &result_.speed);
    result_.stored = impact_.stored;
    result_.least_stored = impact_.least_stored;
    result_.speed *= impact_.unit;
    choose_order();
    sign_.assign(planes_.size(), 0);
    Vector homogeneous(n_);
    homogeneous[0] = 1;
    Cone cone(n_);
    cone.add(Measured(homogeneous), true);
    descend(cone, 0);
    if (faces_ > limits_.faces) return std::nullopt;
    result_.outcomes.assign(outcomes_.begin(), outcomes_.end());
    return std::move(result_);
  }

 private:
  [[nodiscard]] Eigen::VectorXd rough_row(const Vector& row) const {
    Eigen::VectorXd sum(static_cast<Eigen::Index>(n_ - 1));
    for (std::size_t i = 1; i < n_; ++i) {
      sum(static_cast<Eigen::Index>(i - 1)) = quotient(row[i], Integer(1));
    }
    return factor_.transpose() * sum;
  }

  void add_plane(const Vector& row) {
    Vector primitive = row;
    make_primitive(primitive);
    const auto same = [&](const Plane& plane) {
      return plane.row.exact == primitive || plane.opposite.exact == primitive;
    };
    // A contact's row has its place; another plane does not stand twice.
    if (planes_.size() >= impact_.row.size() && std::any_of(planes_.begin(), planes_.end(), same)) {
      return;
    }
    const double length = rough_row(primitive).norm();
    planes_.emplace_back(primitive, length > 0.0 ? length : 1.0);
  }

  /// first / its length = ratio * second / its length: of the given planes.
  void add_between(int first, int second, double ratio) {
    const Plane& one = planes_[static_cast<std::size_t>(first)];
    const Plane& other = planes_[static_cast<std::size_t>(second)];
    const double share = std::ldexp(ratio * one.length / other.length, kRatioBits);
    if (!(std::abs(share) >= 1.0 && std::abs(share) < 0x1p60)) return;
    add_between(one.row.exact, other.row.exact, std::llround(share));
  }

  void add_between(const Vector& one, const Vector& other, std::int64_t share) {
    Vector row(n_);
    bool some = false;
    for (std::size_t k = 0; k < n_; ++k) {
      row[k] = (one[k] << kRatioBits) - Integer(share) * other[k];
      some = some || row[k] != 0;
    }
    if (some) add_plane(row);
  }

  void add_pairs() {
    for (int i = 0; i < impact_.contacts; ++i) {
      for (int j = 0; j < i; ++j) {
        add_between(i, j, 1.0);
        if (limits_.refinement < Refinement::ratios) continue;
        for (const double ratio : {-1.0, 2.0, 0.5}) add_between(i, j, ratio);
        if (limits_.refinement != Refinement::spread) {
          for (const double ratio : {-2.0, -0.5}) add_between(i, j, ratio);
        }
        if (limits_.refinement >= Refinement::spread) {
          for (const double ratio : {4.0, 0.25}) add_between(i, j, ratio);
        }
      }
    }
  }

  /// While only contact i pushes, at a corner's friction, u_n / u_s stays what their rates'
  /// quotient is on one plane.
  void add_events() {
    for (int i = 0; i < impact_.contacts; ++i) {
      for (int corner = 0; corner < impact_.corners(); ++corner) {
        const Vector& push = impact_.push[impact_.push_at(i, corner)];
        const auto rate = [&](int row) {
          const Plane& plane = planes_[static_cast<std::size_t>(row)];
          return quotient(dot(plane.row.exact, push), Integer(1)) / plane.length;
        };
        for (int s = 0; s < impact_.slips; ++s) {
          const int slip = impact_.slip_row(i, s);
          const double other = rate(slip);
          if (other != 0.0) add_between(i, slip, rate(i) / other);
        }
      }
    }
  }

  void set_rows() {
    const auto m = static_cast<std::size_t>(impact_.contacts);
    std::vector<Eigen::VectorXd> own;
    for (std::size_t k = 0; k < impact_.row.size(); ++k) {
      own.push_back(rough_row(impact_.row[k]) / quotient(impact_.scale[k], Integer(1)));
    }
    std::vector<Eigen::VectorXd> rows(own.begin(), own.begin() + impact_.contacts);
    for (std::size_t k = m; k < own.size(); k += static_cast<std::size_t>(impact_.slips)) {
      if (impact_.slips == 1) {
        rows.push_back(own[k]);
      } else {
        rows.emplace_back(0.5 * (own[k] + own[k + 1]));
        rows.emplace_back(0.5 * (own[k] - own[k + 1]));
      }
    }
    for (const Eigen::VectorXd& row : rows) {
      const double length = row.norm();
      result_.length.push_back(length);
      std::vector<double> unit(row.data(), row.data() + row.size());
      for (double& x : unit) x = length > 0.0 ? x / length : 0.0;
      result_.row.push_back(std::move(unit));
    }
  }

  /// Of a ray, or of a point, whose length is asked for.
  [[nodiscard]] Direction direction(const Vector& w, double* length = nullptr) const {
    const Integer unit = w[0] == 0 ? largest(w) : w[0];
    Eigen::VectorXd own(static_cast<Eigen::Index>(n_ - 1));
    for (std::size_t i = 1; i < n_; ++i) {
      own(static_cast<Eigen::Index>(i - 1)) = quotient(w[i], unit);
    }
    const auto triangle = factor_.triangularView<Eigen::Lower>();
    const Eigen::VectorXd energy = triangle.solve(own);
    const double size = energy.norm();
    Direction result;
    for (const Plane& plane : planes_) {
      const Integer value = dot(plane.row.exact, w);
      result.part.push_back(value == 0 ? 0.0 : quotient(value, unit) / (plane.length * size));
    }
    result.energy.assign(energy.data(), energy.data() + energy.size());
    for (double& x : result.energy) x /= size;
    const Eigen::VectorXd terms = factor_.cwiseAbs() * energy.cwiseAbs();
    result.doubt = (inverse_ * terms).norm() / size;
    if (length != nullptr) *length = size;
    return result;
  }

  /// Independent rows first: cones have no lines behind them.
  void choose_order() {
    Eigen::MatrixXd basis(static_cast<Eigen::Index>(n_ - 1), 0);
    std::vector<std::size_t> rest;
    for (std::size_t k = 0; k < planes_.size(); ++k) {
      Eigen::VectorXd left = rough_row(planes_[k].row.exact) / planes_[k].length;
      for (int turn = 0; turn < 2; ++turn) left -= basis * (basis.transpose() * left);
      if (left.norm() <= kDependentRow) {
        rest.push_back(k);
        continue;
      }
      basis.conservativeResize(Eigen::NoChange, basis.cols() + 1);
      basis.col(basis.cols() - 1) = left.normalized();
      order_.push_back(k);
    }
    order_.insert(order_.end(), rest.begin(), rest.end());
  }

  /// Whether the cone has a point with all the signs so far: on no plane a corner of each side.
  [[nodiscard]] bool is_open(const Cone& cone, std::size_t depth) const {
    if (depth + 1 < n_) return true;
    for (std::size_t at = 0; at < depth; ++at) {
      if (sign_[order_[at]] == 0) continue;
      if (std::all_of(cone.rays().begin(), cone.rays().end(),
                      [&](const Ray& ray) { return ray.on.has(at + 1); })) {
        return false;
      }
    }
    return true;
  }

  void descend(const Cone& cone, std::size_t depth) {
    if (faces_ > limits_.faces) return;
    if (depth == order_.size()) {
      ++faces_;
      visit(cone);
      return;
    }
    const std::size_t plane = order_[depth];
    for (const int sign : {1, -1, 0}) {
      sign_[plane] = sign;
      Cone part(cone);
      part.add(sign < 0 ? planes_[plane].opposite : planes_[plane].row, sign == 0);
      part.make_all_primitive();
      if (is_open(part, depth + 1)) descend(part, depth + 1);
    }
    sign_[plane] = 0;
  }

  void visit(const Cone& cone) {
    if (cone.rays().empty()) return;  // only 0
    bool ended = true;
    Planes above = 0, below = 0;
    for (std::size_t k = 0; k < planes_.size(); ++k) {
      if (sign_[k] > 0) above |= Planes{1} << k;
      if (sign_[k] < 0) below |= Planes{1} << k;
    }
    for (int i = 0; i < impact_.contacts; ++i) ended = ended && (below >> i & 1) == 0;
    const bool bounces = !impact_.stored.empty();
    std::vector<std::uint32_t> corners;
    for (const Ray& ray : cone.rays()) {
      corners.push_back(number({ray.vector->exact, {}}, corner_numbers_, result_.corners));
    }
    if (ended) {
      std::sort(corners.begin(), corners.end());
      for (std::size_t i = 0; i < corners.size(); ++i) {
        for (std::size_t j = i; j < corners.size(); ++j) {
          outcomes_.emplace(corners[i], corners[j]);
        }
      }
      if (!bounces) return;
    }
    for (const Motion& rate : bounces ? motions_with_impulses() : motions()) {
      const std::uint32_t motion = number(rate, motion_numbers_, result_.motions);
      const std::vector<double>& part = result_.motions[motion].part;
      Planes moved = 0;
      for (std::size_t k = 0; k < part.size(); ++k) {
        if (part[k] != 0.0) moved |= Planes{1} << k;
      }
      for (const std::uint32_t corner : corners) {
        if (known_.emplace(corner, motion, above & moved, below & moved).second) {
          result_.descents.push_back({corner, motion, above & moved, below & moved});
        }
      }
    }
  }

  /// The number of a direction, which is added where it is met first.
  std::uint32_t number(const Motion& v, std::map<Motion, std::uint32_t>& known,
                       std::vector<Direction>& all) {
    const auto [at, is_new] = known.try_emplace(v, static_cast<std::uint32_t>(all.size()));
    if (!is_new) return at->second;
    if (v.second.empty() || moves(v.first)) {
      double length = 0.0;
      all.push_back(direction(v.first, &length));
      all.back().impulse = v.second;
      for (double& x : all.back().impulse) x /= length;
    } else {  // contacts that press against each other
      all.push_back(result_.start);
      std::fill(all.back().part.begin(), all.back().part.end(), 0.0);
      std::fill(all.back().energy.begin(), all.back().energy.end(), 0.0);
      all.back().doubt = 0.0;
      all.back().impulse = v.second;
    }
    return at->second;
  }
  static bool moves(const Vector& v) {
    return std::any_of(v.begin(), v.end(), [](const Integer& x) { return x != 0; });
  }

  /// The pushes of the contacts that may push in the face, which its signs say: those that do not
  /// separate, or may have something in store.
  std::vector<std::size_t> pushes() const {
    std::vector<std::size_t> chosen;
    for (int i = 0; i < impact_.contacts; ++i) {
      const auto contact = static_cast<std::size_t>(i);
      const bool stores = !impact_.stored.empty() && impact_.stored[contact] > 0.0;
      if (sign_[contact] > 0 && !stores) continue;
      for (int corner = 0; corner < impact_.corners(); ++corner) {
        bool opposes = true;
        for (int s = 0; s < impact_.slips; ++s) {
          const int slip = sign_[static_cast<std::size_t>(impact_.slip_row(i, s))];
          opposes = opposes && (slip == 0 || slip == RoundedImpact::opposed(corner, s));
        }
        if (opposes) chosen.push_back(impact_.push_at(i, corner));
      }
    }
    return chosen;
  }

  /// Rays of the rates that stay in the face.
  std::vector<Motion> motions() {
    const std::vector<std::size_t> chosen = pushes();
    const auto [at, is_new] = push_cones_.try_emplace(chosen);
    PushCone& own = at->second;
    if (is_new) {
      std::vector<const Vector*> all;
      all.reserve(chosen.size());
      for (const std::size_t g : chosen) all.push_back(&impact_.push[g]);
      own.make(n_, all);
    }
    std::vector<Vector> rates;
    if (own.cone) {
      Cone cut(*own.cone);
      for (std::size_t k = 0; k < planes_.size(); ++k) {
        if (sign_[k] == 0) cut.add(planes_[k].row, true);
      }
      rates = cut.take_rays();
    } else {
      std::vector<Vector> equations = own.equations;
      for (std::size_t k = 0; k < planes_.size(); ++k) {
        if (sign_[k] == 0) equations.push_back(planes_[k].row.exact);
      }
      Generators all = generators(n_, equations, own.rows);
      rates = std::move(all.rays);
      for (const Vector& line : all.lines) {
        rates.push_back(line);
        rates.push_back(negative(line));
      }
    }
    std::vector<Motion> result;
    for (Vector& rate : rates) {
      if (moves(rate)) result.emplace_back(std::move(rate), std::vector<double>());
    }
    return result;
  }

  /// The same with what each contact's push has of them: rays of the cone of pushes' shares.
  std::vector<Motion> motions_with_impulses() {
    const std::vector<std::size_t> chosen = pushes();
    std::vector<bool> zero(sign_.size());
    std::transform(sign_.begin(), sign_.end(), zero.begin(), [](int sign) { return sign == 0; });
    const auto [at, is_new] = motions_with_impulses_.try_emplace({chosen, zero});
    if (!is_new) return at->second;
    const std::size_t count = chosen.size();
    std::vector<Vector> equations, rows;
    for (std::size_t k = 0; k < planes_.size(); ++k) {
      if (!zero[k]) continue;
      Vector& equation = equations.emplace_back(count);
      for (std::size_t g = 0; g < count; ++g) {
        equation[g] = dot(planes_[k].row.exact, impact_.push[chosen[g]]);
      }
    }
    for (std::size_t g = 0; g < count; ++g) rows.emplace_back(count)[g] = 1;
    for (const Vector& share : generators(count, equations, rows).rays) {
      Motion motion{Vector(n_), std::vector<double>(static_cast<std::size_t>(impact_.contacts))};
      for (std::size_t g = 0; g < count; ++g) {
        if (share[g] == 0) continue;
        const Vector& push = impact_.push[chosen[g]];
        for (std::size_t k = 0; k < n_; ++k) motion.first[k] += share[g] * push[k];
      }
      const Integer unit = largest(moves(motion.first) ? motion.first : share);
      for (std::size_t g = 0; g < count; ++g) {
        const auto contact = chosen[g] / static_cast<std::size_t>(impact_.corners());
        motion.second[contact] += quotient(share[g], unit) * impact_.impulse[chosen[g]];
      }
      at->second.push_back(std::move(motion));
    }
    return at->second;
  }

  /// Some contacts' pushes, as a cone that planes are cut with.
  struct PushCone {
    std::deque<Measured> pushes;
    std::optional<Cone> cone;             // none where it holds a line
    std::vector<Vector> equations, rows;  // of such a one

    void make(std::size_t n, const std::vector<const Vector*>& all) {
      Cone facets(n);
      std::vector<const Measured*> points;
      for (const Vector* push : all) {
        pushes.emplace_back(*push);
        points.push_back(&pushes.back());
        facets.add(pushes.back(), false);
      }
      if (std::optional<Cone> dual = facets.dual(points)) {
        cone.emplace(std::move(*dual));
        return;
      }
      rows = facets.take_rays();
      equations = facets.take_lines();
    }
  };

  const RoundedImpact& impact_;
  ArrangementLimits limits_;
  std::int64_t faces_ = 0;
  std::size_t n_;
  bool definite_ = true;
  Eigen::MatrixXd factor_, inverse_;  // of the response: L, and sizes in its inverse
  std::vector<Plane> planes_;
  std::vector<std::size_t> order_;
  std::vector<int> sign_;  // of every plane
  std::map<Motion, std::uint32_t> corner_numbers_, motion_numbers_;
  std::map<std::vector<std::size_t>, PushCone> push_cones_;
  std::map<std::pair<std::vector<std::size_t>, std::vector<bool>>, std::vector<Motion>>
      motions_with_impulses_;
  std::set<std::tuple<std::uint32_t, std::uint32_t, Planes, Planes>> known_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> outcomes_;
  Arrangement result_;
};

}  // namespace

std::optional<Arrangement> arrange(const RoundedImpact& impact, const ArrangementLimits& limits) {
  return Arranging(impact, limits).take();
}

}  // namespace carom::enclosure
