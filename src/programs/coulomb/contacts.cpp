#include "programs/coulomb/contacts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <carom/certificate_lcp.hpp>

namespace carom::cpu {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// u = W r + q with the magnitudes of its terms, and what of them the data explain.
class Rows {
 public:
  Rows(const CoulombSystem& system, const VectorXd& reaction)
      : terms_((system.matrix.array().rowwise() * reaction.transpose().array()).abs().matrix()),
        velocity_(system.velocity(reaction)),
        own_(system.vector.cwiseAbs()),
        size_(terms_.rowwise().sum()),
        rounding_(certificate::sum_rounding(reaction.size())) {
    const double noise = certificate::noise_floor(reaction.size());
    own_ = (own_.array() <= noise * size_.array()).select(0.0, own_);
    explain(reaction);
  }

  [[nodiscard]] double velocity(Index i) const { return velocity_[i]; }
  /// Share of the row's datum by which `value` misses zero.
  [[nodiscard]] double share(Index i, double value) const {
    return share_of(value, size_[i] + own_[i], std::max(datum_[i], own_[i]));
  }
  /// The same of the length `value` of rows i to i + count.
  [[nodiscard]] double share(Index i, Index count, double value) const {
    const auto length = [&](const VectorXd& rows) { return rows.segment(i, count).stableNorm(); };
    return share_of(value, length(size_ + own_), length(datum_.cwiseMax(own_)));
  }

 private:
  [[nodiscard]] double share_of(double value, double size, double unit) const {
    return certificate::missed(value, size, unit, rounding_) +
           certificate::beyond_reach(size, unit, rounding_);
  }

  /// A force is explained where its term is at most kExplained times a row's datum; until nothing
  /// is added.
  void explain(const VectorXd& reaction) {
    const VectorXd seed = (own_.array() <= 2.0 * size_.array()).select(own_, 0.0);
    datum_ = seed;
    VectorXd known = (reaction.array() == 0.0).cast<double>().matrix();
    for (double before = -1.0; known.sum() > before;) {
      before = known.sum();
      for (Index j = 0; j < known.size(); ++j) {
        for (Index i = 0; i < datum_.size() && known[j] == 0.0; ++i) {
          known[j] = certificate::reached(terms_(i, j), datum_[i]);
        }
      }
      datum_ = seed + terms_ * known;
    }
  }

  MatrixXd terms_;
  VectorXd velocity_, own_, size_, datum_;
  double rounding_;
};

}  // namespace

double contact_residual(const CoulombSystem& system, const VectorXd& reaction) {
  const Index d = system.dimension;
  const Rows rows(system, reaction);
  double worst = 0.0;
  const auto note = [&](double share) {
    if (!(share <= worst)) worst = share;
    return !std::isnan(share);
  };
  for (Index i = 0; i < system.contacts; ++i) {
    const Index row = d * i;
    const double normal = reaction[row];
    const double held = reaction.segment(row + 1, d - 1).stableNorm();
    const double force = std::hypot(normal, held);
    const double bound = system.friction[i] * normal;
    const double approach = rows.velocity(row);
    if (force == 0.0) {
      if (!note(approach < 0.0 ? rows.share(row, approach) : 0.0 * approach)) return worst;
      continue;
    }
    if (!note(std::max(0.0, -normal) / force)) return worst;
    if (!note(held > bound ? (held - bound) / held : 0.0)) return worst;
    if (!note(rows.share(row, approach))) return worst;
    // The slip vanishes, or the friction is all that there may be and opposes it.
    VectorXd slip(d - 1);
    for (Index k = 0; k < d - 1; ++k) slip[k] = rows.velocity(row + 1 + k);
    const double speed = slip.stableNorm();
    if (speed == 0.0) continue;
    const double sticks = rows.share(row + 1, d - 1, speed);
    const double off = (reaction.segment(row + 1, d - 1) + bound / speed * slip).stableNorm();
    if (!note(bound > 0.0 ? std::min(sticks, off / bound) : (held > 0.0 ? sticks : 0.0 * speed))) {
      return worst;
    }
  }
  return worst;
}

VectorXd in_cones(const CoulombSystem& system, const VectorXd& reaction) {
  constexpr double kUnfelt = 1e-13;  // of the rows' sizes
  const Index d = system.dimension;
  VectorXd result = reaction;
  const VectorXd size = system.matrix.cwiseAbs() * reaction.cwiseAbs() + system.vector.cwiseAbs();
  for (Index i = 0; i < system.contacts; ++i) {
    auto own = result.segment(d * i, d);
    const VectorXd felt = system.matrix.middleCols(d * i, d).cwiseAbs() * own.cwiseAbs();
    if ((felt.array() <= kUnfelt * size.array()).all()) {
      own.setZero();
      continue;
    }
    const double held = own.tail(d - 1).stableNorm();
    const double bound = system.friction[i] * own[0];
    if (held <= bound) continue;
    // Along the friction where that is a small change, else to the nearest point.
    if (own[0] > 0.0 && held <= (1.0 + 1e-6) * bound) {
      own.tail(d - 1) *= bound / held;
    } else {
      VectorXd nearest = own;
      project_on_cone(nearest, system.friction[i]);
      own = nearest;
    }
    // Rounding leaves the last bits outside.
    while (own.tail(d - 1).stableNorm() > system.friction[i] * own[0] && own[0] > 0.0) {
      own.tail(d - 1) *= 1.0 - 0x1p-52;
      if (system.friction[i] == 0.0) own.tail(d - 1).setZero();
    }
  }
  return result;
}

VectorXd contact_units(const CoulombSystem& system) {
  // What differs by less changes nothing but the bits.
  constexpr double kAlike = 256.0;
  VectorXd units = VectorXd::Ones(system.contacts);
  const double most = system.weight.maxCoeff();
  if (!(most > kAlike * system.weight.minCoeff())) return units;
  for (Index i = 0; i < system.contacts; ++i) {
    units[i] = std::exp2(std::round(0.5 * std::log2(most / system.weight[i])));
  }
  return units;
}

CoulombSystem in_units(const CoulombSystem& system, const VectorXd& units) {
  CoulombSystem scaled = system;
  const Index d = system.dimension;
  for (Index i = 0; i < system.contacts; ++i) {
    scaled.matrix.middleRows(d * i, d) *= units[i];
    scaled.matrix.middleCols(d * i, d) *= units[i];
    scaled.vector.segment(d * i, d) *= units[i];
    scaled.weight[i] *= units[i] * units[i];
  }
  return scaled;
}

}  // namespace carom::cpu
