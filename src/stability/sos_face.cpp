#include "stability/sos_face.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace carom::stability {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kFaceRounding = 1e-11;  // a coefficient that vanishes but for rounding
constexpr double kFaceRank = 1e-9;
constexpr double kFaceMostSize = 1e4;  // of unknowns relative to the unit
constexpr double kFaceMostMargin = 1.0;

int weight_in(const SosCondition& c, const Monomial& m) {
  int weight = 0;
  for (std::size_t i = 0; i < c.variables; ++i) weight += m[i] * c.weight[i];
  return weight;
}
int least_weight(const SosCondition& c, const Polynomial& f) {
  int least = 1 << 20;
  for (const auto& [m, value] : f.terms()) least = std::min(least, weight_in(c, m));
  return least;
}
Monomial product(std::size_t i, std::size_t j) {
  Monomial m{};
  ++m[i], ++m[j];
  return m;
}
double size_of(const Polynomial& f) {
  double size = 0.0;
  for (const auto& [m, value] : f.terms()) size = std::max(size, std::fabs(value));
  return size;
}
double size_of(const SosCondition& c, double unit) {
  double size = size_of(c.known);
  for (const Polynomial& f : c.per_coefficient) size = std::max(size, unit * size_of(f));
  return size;
}

}  // namespace

SosFace::SosFace(std::vector<SosCondition> conditions, std::size_t of_p, double unit, double pull)
    : conditions_(std::move(conditions)), of_p_(of_p), unknowns_(of_p), unit_(unit), pull_(pull) {
  for (std::size_t c = 0; c < conditions_.size(); ++c) reduce(c);
  // Coefficients without a square: equalities between P and the multipliers
  std::vector<Row> equalities;
  for (std::size_t c = 0; c < conditions_.size(); ++c) {
    const Part& part = parts_[c];
    std::set<Monomial> squares;
    for (const std::size_t i : part.squared) {
      for (const std::size_t j : part.squared) squares.insert(product(i, j));
    }
    const SosCondition& from = conditions_[c];
    for (const Monomial& m : monomials(from.variables, 1, 2)) {
      if (weight_in(from, m) != from.order || squares.count(m) > 0) continue;
      Row equality = row(c, m);
      const double size =
          std::max(equality.per.lpNorm<Eigen::Infinity>(), std::fabs(equality.constant) / unit_);
      if (size <= kFaceRounding * size_of(from, unit_) / unit_) continue;
      equality.per /= size, equality.constant /= size;
      equalities.push_back(std::move(equality));
    }
  }
  const auto n = static_cast<Eigen::Index>(unknowns_);
  MatrixXd matrix(static_cast<Eigen::Index>(equalities.size()), n);
  VectorXd known(matrix.rows());
  for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
    matrix.row(r) = equalities[static_cast<std::size_t>(r)].per.transpose();
    known(r) = -equalities[static_cast<std::size_t>(r)].constant;
  }
  const Eigen::JacobiSVD<MatrixXd> svd(matrix, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Eigen::Index rank = 0;
  while (rank < svd.singularValues().size() &&
         svd.singularValues()(rank) > kFaceRank * svd.singularValues()(0)) {
    ++rank;
  }
  const VectorXd of_known = svd.matrixU().transpose() * known;
  origin_ = svd.matrixV().leftCols(rank) *
            of_known.head(rank).cwiseQuotient(svd.singularValues().head(rank));
  empty_ = (matrix * origin_ - known).lpNorm<Eigen::Infinity>() > kFaceRank * unit_;
  directions_ = svd.matrixV().rightCols(n - rank);
}

/// What of condition c's certificate can be more than 0. In its terms of least weight the squares
/// are made of what has weight 1; a factor of lower weight has multiplier 0, one of higher weight
/// and the ball say nothing there. And where f lacks a monomial that only numbers >= 0 of one sign
/// could make, these vanish.
void SosFace::reduce(std::size_t condition) {
  const SosCondition& c = conditions_[condition];
  const double none = kFaceRounding * size_of(c, unit_);
  Part part;
  for (std::size_t i = 0; i < c.variables; ++i) {
    if (c.order == 2 && c.weight[i] == 1) part.squared.push_back(i);
  }
  for (std::size_t k = 0; k < c.where.size(); ++k) {
    if (least_weight(c, c.where[k]) == c.order) part.factor.push_back(k);
  }
  for (bool again = true; again;) {
    again = false;
    for (const Monomial& m : monomials(c.variables, 1, 2)) {
      if (weight_in(c, m) != c.order) continue;
      double f = std::fabs(c.known.coefficient(m));
      for (const Polynomial& of_p : c.per_coefficient) {
        f = std::max(f, unit_ * std::fabs(of_p.coefficient(m)));
      }
      if (f > none) continue;
      const auto square = std::find_if(part.squared.begin(), part.squared.end(),
                                       [&](std::size_t i) { return product(i, i) == m; });
      bool mixed = false, up = square != part.squared.end(), down = false;
      for (const std::size_t i : part.squared) {
        for (const std::size_t j : part.squared) mixed = mixed || (i < j && product(i, j) == m);
      }
      std::vector<std::size_t> vanish;
      for (const std::size_t k : part.factor) {
        const double value = c.where[k].coefficient(m);
        if (value == 0.0) continue;
        (value > 0.0 ? up : down) = true;
        vanish.push_back(k);
      }
      if (mixed || up == down) continue;
      again = true;
      if (square != part.squared.end()) part.squared.erase(square);
      std::erase_if(part.factor, [&](std::size_t k) {
        return std::find(vanish.begin(), vanish.end(), k) != vanish.end();
      });
    }
  }
  for (const std::size_t k : part.factor) {
    part.column.push_back(unknowns_++);
    part.scale.push_back(size_of(c, unit_) / unit_ / size_of(c.where[k]));
    bool position = c.order == 1;  // a force, and not a mass
    for (const auto& [m, value] : c.where[k].terms()) {
      for (std::size_t i = 0; i < c.variables; ++i) {
        position = position || (m[i] > 0 && c.weight[i] == 2);
      }
    }
    part.size.push_back(position ? unit_ * pull_ : unit_);
  }
  parts_.push_back(std::move(part));
}

/// Coefficient of f - sum_k n_k where_k.
SosFace::Row SosFace::row(std::size_t condition, const Monomial& m) const {
  const SosCondition& c = conditions_[condition];
  Row row{VectorXd::Zero(static_cast<Eigen::Index>(unknowns_)), c.known.coefficient(m)};
  for (std::size_t a = 0; a < of_p_; ++a) {
    row.per(static_cast<Eigen::Index>(a)) = c.per_coefficient[a].coefficient(m);
  }
  const Part& part = parts_[condition];
  for (std::size_t k = 0; k < part.factor.size(); ++k) {
    row.per(static_cast<Eigen::Index>(part.column[k])) =
        -part.scale[k] * c.where[part.factor[k]].coefficient(m);
  }
  return row;
}

SosFace::Row SosFace::gram(std::size_t condition, std::size_t i, std::size_t j) const {
  Row result = row(condition, product(i, j));
  if (i != j) result.per *= 0.5, result.constant *= 0.5;
  return result;
}

SdpProblem SosFace::posed(bool with_margin) const {
  const auto free = static_cast<std::size_t>(directions_.cols());
  std::vector<std::vector<double>> of(free + (with_margin ? 1 : 0));
  SdpProblem sdp;
  const auto add = [&](const Row& row, double margin) {
    sdp.constant.push_back(row.constant + row.per.dot(origin_));
    const VectorXd along = directions_.transpose() * row.per;
    for (std::size_t w = 0; w < free; ++w) of[w].push_back(-along(static_cast<Eigen::Index>(w)));
    if (with_margin) of[free].push_back(margin);
  };
  for (std::size_t c = 0; c < parts_.size(); ++c) {
    const Part& part = parts_[c];
    if (!part.squared.empty()) sdp.blocks.push_back(static_cast<int>(part.squared.size()));
    for (const std::size_t i : part.squared) {
      for (const std::size_t j : part.squared) add(gram(c, i, j), i == j ? unit_ : 0.0);
    }
    for (std::size_t k = 0; k < part.column.size(); ++k) {
      sdp.blocks.push_back(1);
      Row row{VectorXd::Zero(static_cast<Eigen::Index>(unknowns_)), 0.0};
      row.per(static_cast<Eigen::Index>(part.column[k])) = 1.0;
      add(row, part.size[k]);
    }
  }
  const auto bound = [&](std::size_t variable, double sign, double most) {
    sdp.blocks.push_back(1);
    sdp.constant.push_back(most);
    for (std::size_t w = 0; w < of.size(); ++w) of[w].push_back(w == variable ? sign : 0.0);
  };
  if (with_margin) {
    for (std::size_t w = 0; w < free; ++w) {
      for (const double sign : {1.0, -1.0}) bound(w, sign, kFaceMostSize * unit_ * (1.0 + pull_));
    }
    bound(free, 1.0, kFaceMostMargin);
  }
  sdp.objective.assign(of.size(), 0.0);
  if (with_margin) sdp.objective.back() = 1.0;
  for (const auto& a : of) sdp.coefficients.insert(sdp.coefficients.end(), a.begin(), a.end());
  return sdp;
}

SdpProblem SosFace::largest_margin() const { return posed(true); }
SdpProblem SosFace::feasibility() const { return posed(false); }

SosSolution SosFace::solution(const std::vector<double>& y) const {
  const VectorXd u =
      origin_ + directions_ * Eigen::Map<const VectorXd>(y.data(), directions_.cols());
  SosSolution result;
  result.p.assign(u.data(), u.data() + of_p_);
  for (std::size_t c = 0; c < parts_.size(); ++c) {
    const Part& from = parts_[c];
    SosSolution::Part& to = result.parts.emplace_back();
    to.squared = from.squared, to.factor = from.factor;
    for (std::size_t k = 0; k < from.column.size(); ++k) {
      to.multiplier.push_back(from.scale[k] * u(static_cast<Eigen::Index>(from.column[k])));
    }
    const auto n = static_cast<Eigen::Index>(from.squared.size());
    to.gram.resize(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < n; ++j) {
        const Row row = gram(c, from.squared[static_cast<std::size_t>(i)],
                             from.squared[static_cast<std::size_t>(j)]);
        to.gram(i, j) = row.constant + row.per.dot(u);
      }
    }
  }
  return result;
}

double SosFace::residual(const SosSolution& solution) const {
  double worst = 0.0;
  for (std::size_t c = 0; c < parts_.size(); ++c) {
    const SosCondition& condition = conditions_[c];
    const SosSolution::Part& part = solution.parts[c];
    Polynomial left = condition.at(solution.p);
    double size = size_of(condition.known);
    for (std::size_t a = 0; a < of_p_; ++a) {
      size = std::max(size, std::fabs(solution.p[a]) * size_of(condition.per_coefficient[a]));
    }
    double least = 0.0;
    for (std::size_t k = 0; k < part.factor.size(); ++k) {
      left = left - Polynomial(part.multiplier[k]) * condition.where[part.factor[k]];
      least = std::min(least, part.multiplier[k]);
    }
    for (std::size_t i = 0; i < part.squared.size(); ++i) {
      for (std::size_t j = 0; j < part.squared.size(); ++j) {
        Polynomial square;
        square.add(product(part.squared[i], part.squared[j]),
                   part.gram(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)));
        left = left - square;
      }
    }
    if (part.gram.rows() > 0) {
      least =
          std::min(least, Eigen::SelfAdjointEigenSolver<MatrixXd>(part.gram, Eigen::EigenvaluesOnly)
                              .eigenvalues()(0));
    }
    worst = std::max(worst, std::max(size_of(left), -least) / size);
  }
  return worst;
}

}  // namespace carom::stability
