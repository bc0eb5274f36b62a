#include "impact/mode_entry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Dense>

namespace carom {

namespace {

// The functions are rounded once, from long double.
using Real = long double;
using RealMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Row = Eigen::Matrix<Real, 1, Eigen::Dynamic>;

constexpr Real kSingular = 1e-10L;
constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();

/// Assembles one combination in the problem's scaled units (see ImpactProblemView::delassus).
class Combination {
 public:
  Combination(int dimension, const kernels::ImpactProblemView& problem,
              const kernels::ImpactRun& run)
      : tangents_(dimension - 1),
        m_(run.contacts),
        rows_(dimension * m_),
        polygon_(run.polygon),
        problem_(problem),
        delassus_(rows_, rows_),
        impulse_(RealMatrix::Zero(rows_, rows_ + m_)),
        force_(RealMatrix::Zero(rows_, rows_)),
        velocity_(RealMatrix::Zero(rows_, rows_)) {
    for (int i = 0; i < rows_; ++i) {
      for (int j = 0; j < rows_; ++j) delassus_(i, j) = problem.delassus[i * rows_ + j];
    }
  }

  std::optional<ModeEntry> operator()(const ModeCodes& codes) {
    const int places = mode_places(tangents_ + 1, polygon_);
    for (int i = 0; i < m_; ++i) {
      const int code = codes[static_cast<std::size_t>(i)];
      if (code > 0) close(i, (code - 1) % places, code > places);
    }
    if (!solve()) return std::nullopt;
    for (int i = 0; i < m_; ++i) {
      const int code = codes[static_cast<std::size_t>(i)];
      if (code == 0) {
        demand_velocity(i, next_.row(i));
      } else {
        demand_closed(i, (code - 1) % places, code > places);
      }
    }
    return unscaled();
  }

 private:
  [[nodiscard]] int tangent(int contact) const { return m_ + tangents_ * contact; }
  [[nodiscard]] bool sticks(int place) const {
    return place == mode_places(tangents_ + 1, polygon_) - 1;
  }
  [[nodiscard]] bool slides(int contact) const { return problem_.friction[contact] > 0.0; }
  /// Edge of a place that is no corner.
  [[nodiscard]] int edge(int place) const { return place - polygon_.count; }

  void close(int contact, int place, bool full) {
    const Real mu = problem_.friction[contact];
    const int t = tangent(contact);
    const double* corner = polygon_.direction[sticks(place) ? 0 : place % polygon_.count];
    if (full) {
      impulse_(contact, rows_ + contact) = 1.0L;
      for (int c = 0; c < tangents_; ++c) impulse_(t + c, rows_ + contact) = mu * corner[c];
    } else {
      // A column of length one whatever mu: the threshold on the pivots compares columns.
      const Real along = sticks(place) ? 0.0L : mu;
      force_(contact, unknowns_) = 1.0L / (1.0L + along);
      for (int c = 0; c < tangents_; ++c) {
        force_(t + c, unknowns_) = along * corner[c] / (1.0L + along);
      }
      velocity_(contact, unknowns_++) = 1.0L;
    }
    if (!slides(contact)) return;
    if (sticks(place)) {
      for (int c = 0; c < tangents_; ++c) {
        force_(t + c, unknowns_) = 1.0L;
        velocity_(t + c, unknowns_++) = 1.0L;
      }
    } else if (place >= polygon_.count) {
      const double* along = polygon_.along[edge(place)];
      for (int c = 0; c < tangents_; ++c) {
        force_(t + c, unknowns_) = along[c];
        velocity_(t + c, unknowns_) = along[c];
      }
      ++unknowns_;
    }
  }

  bool solve() {
    if (unknowns_ > 0) {
      const RealMatrix f = force_.leftCols(unknowns_);
      const RealMatrix v = velocity_.leftCols(unknowns_).transpose();
      Eigen::FullPivLU<RealMatrix> lu(v * delassus_ * f);
      lu.setThreshold(kSingular);
      if (!lu.isInvertible()) return false;
      RealMatrix given(unknowns_, rows_ + m_);
      given.leftCols(rows_) = v;
      given.rightCols(m_) = v * delassus_ * impulse_.rightCols(m_);
      impulse_ -= f * lu.solve(given);
    }
    next_ = delassus_ * impulse_;
    next_.leftCols(rows_) += RealMatrix::Identity(rows_, rows_);
    return true;
  }

  /// Conditions on contact i in the caller's units.
  void demand_impulse(int i, const Row& row) { demands_.push_back(row * scale(i)); }
  void demand_velocity(int i, const Row& row) { demands_.push_back(row / scale(i)); }

  void demand_closed(int contact, int place, bool full) {
    const Row normal = impulse_.row(contact);
    if (full) {
      demand_velocity(contact, -next_.row(contact));
    } else {
      Row room = -normal;
      room[rows_ + contact] += 1.0L;
      demand_impulse(contact, room);
      if (!slides(contact) || !sticks(place)) demand_impulse(contact, normal);
    }
    if (!slides(contact)) return;
    const Real mu = problem_.friction[contact];
    const int t = tangent(contact);
    const auto along = [&](const double* direction, const RealMatrix& of) {
      Row sum = Row::Zero(rows_ + m_);
      for (int c = 0; c < tangents_; ++c) sum += direction[c] * of.row(t + c);
      return sum;
    };
    const int k = polygon_.count;
    if (tangents_ == 1) {
      if (sticks(place)) {
        for (int j = 0; j < k; ++j) {
          demand_impulse(contact, mu * normal - along(polygon_.direction[j], impulse_));
        }
      } else {
        demand_velocity(contact, -along(polygon_.direction[place], next_));
      }
      return;
    }
    const auto outward = [&](int j, const RealMatrix& of) {
      const double* e = polygon_.along[j];
      const double normal_of[2] = {e[1], -e[0]};
      return along(normal_of, of);
    };
    if (sticks(place)) {
      const double* d = polygon_.direction[0];
      const double* e = polygon_.along[0];
      const Real apothem = static_cast<Real>(e[1]) * d[0] - static_cast<Real>(e[0]) * d[1];
      for (int j = 0; j < k; ++j)
        demand_impulse(contact, apothem * mu * normal - outward(j, impulse_));
    } else if (place >= k) {
      const int j = edge(place);
      // Its share a of the edge lies between the two corners.
      Row a = along(polygon_.along[j], impulse_);
      const double* d = polygon_.direction[j];
      const double* e = polygon_.along[j];
      a -= mu * (static_cast<Real>(d[0]) * e[0] + static_cast<Real>(d[1]) * e[1]) * normal;
      demand_impulse(contact, a);
      demand_impulse(contact, static_cast<Real>(polygon_.edge) * mu * normal - a);
      demand_velocity(contact, -outward(j, next_));
    } else {
      demand_velocity(contact, along(polygon_.along[place], next_));
      demand_velocity(contact, -along(polygon_.along[(place + k - 1) % k], next_));
    }
  }

  [[nodiscard]] Real scale(int row) const {
    return problem_.scale[row < m_ ? row : (row - m_) / tangents_];
  }

  /// Powers of two turn the scaled z and impulse into the caller's.
  [[nodiscard]] ModeEntry unscaled() const {
    ModeEntry entry;
    const auto append = [&](std::vector<double>& to, const Row& row, Real by) {
      for (int j = 0; j < rows_; ++j) {
        to.push_back(static_cast<double>(row[j] * by * scale(j)));
      }
      for (int j = 0; j < m_; ++j) {
        to.push_back(static_cast<double>(row[rows_ + j] * by / scale(j)));
      }
    };
    for (int i = 0; i < rows_; ++i) append(entry.map, impulse_.row(i), scale(i));
    for (const Row& row : demands_) {
      append(entry.conditions, row, 1.0L);
      // A condition may miss zero by what rounding makes of it.
      double* const begin = entry.conditions.data() + entry.conditions.size() - (rows_ + m_);
      double sum = 0.0;
      for (int j = 0; j < rows_ + m_; ++j) sum += std::abs(begin[j]);
      const double shrink = std::max(1.0, sum * kRounding / kernels::kModeTolerance);
      for (int j = 0; j < rows_ + m_; ++j) begin[j] /= shrink;
    }
    return entry;
  }

  int tangents_;
  int m_;
  int rows_;
  const kernels::FrictionPolygon& polygon_;
  const kernels::ImpactProblemView& problem_;
  RealMatrix delassus_;
  RealMatrix impulse_;  // of z, [rows, rows + m]
  RealMatrix next_;     // u' of z, [rows, rows + m]
  RealMatrix force_;    // impulse of each unknown, [rows, unknowns]
  RealMatrix velocity_;
  int unknowns_ = 0;
  std::vector<Row> demands_;
};

}  // namespace

int mode_places(int dimension, const kernels::FrictionPolygon& polygon) {
  return dimension == 2 ? 3 : 2 * polygon.count + 1;
}

std::optional<ModeEntry> mode_entry(int dimension, const kernels::ImpactProblemView& problem,
                                    const kernels::ImpactRun& run, const ModeCodes& codes) {
  return Combination(dimension, problem, run)(codes);
}

}  // namespace carom
