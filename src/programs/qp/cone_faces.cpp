#include "programs/qp/cone_faces.hpp"

#include <algorithm>
#include <cmath>

#include "core/index.hpp"
#include "programs/qp/dense_cones.hpp"
#include "programs/qp/kernels/qp_interior_proofs.hpp"
#include "programs/qp/kernels/qp_proofs.hpp"
#include "programs/qp/kernels/qp_refine_active_set.hpp"

namespace carom::qp {

namespace {

using kernels::kInfinity;
using kernels::QpConeSpan;
using Numbers = std::vector<double>;
namespace qp_end = kernels::qp_end;

constexpr double kClaim = 1e-14;   ///< on what an answer on a face leaves, QpHomogeneousCheck
constexpr double kNothing = 1e-9;  ///< of a vector of size 1
constexpr double kRounding = 1e-13;
constexpr double kLastDigits = 1e-15;    ///< on what Farkas' vector of an iterate leaves
constexpr double kInsideSupport = 1e-7;  ///< of its largest number, inside of the dual cones
constexpr double kBoundarySupport = 1e-2;
constexpr int kShares = 30;  ///< halvings and doublings
constexpr double kCertified = 1e-9;
constexpr double kFlat = 0x1p-40;  ///< of a diagonal of P: what rounding makes of zero
constexpr double kInsideFall = 1e-6;
constexpr int kIterations = 40;  ///< in doubles

/// What the slack of a cone is held to.
enum class Part { whole, line, apex };

class Faces {
 public:
  Faces(const kernels::QpShape& shape, const kernels::QpView<const double*>& view)
      : shape_(shape),
        view_(view),
        check_(shape, view),
        n_(shape.variables),
        part_(index(shape.cones), Part::whole),
        line_(index(shape.rows), 0.0) {}

  ConeVerdict decide() {
    ConeVerdict verdict;
    Numbers memory = workspace();
    kernels::QpHomogeneous<double> ahead(shape_, memory.data());
    if (prove_in_doubles(ahead, verdict)) return verdict;
    verdict = given(ahead);
    if (verdict.end != qp_end::kStalled || falls(verdict)) return verdict;
    while (std::count(part_.begin(), part_.end(), Part::whole) > 0) {
      const Found found = narrow(verdict);
      if (found == Found::proof) return verdict;
      if (found == Found::nothing) {
        return verdict.face.empty() ? verdict : without_interior(std::move(verdict));
      }
      if (found == Found::interior) break;
    }
    return verdict.face.empty() ? level(std::move(verdict)) : on_face(std::move(verdict));
  }

 private:
  enum class Found { nothing, interior, face, proof };

  /// Where a row of a search comes from: line `row` of the problem, of that of a cone's line the
  /// part along which the slack may go, times `along`.
  struct Origin {
    int row;
    int cone;  ///< whose part it is, or -1
    double along;
  };

  /// Proofs with a margin in every cone, which most problems without an answer have.
  bool prove_in_doubles(kernels::QpHomogeneous<double>& body, ConeVerdict& verdict) const {
    verdict.x.assign(index(n_), 0.0);
    const auto claim = [&](double end, double residual) {
      if (!(residual <= kClaim)) return false;
      verdict.end = end;
      verdict.residual = residual;
      return true;
    };
    const auto proves = [&](const double* y, const double* d) {
      verdict.y.assign(y, y + shape_.rows);
      if (kernels::completes_farkas(shape_, view_, verdict.y.data())) {
        return is_certified(verdict.y) &&
               claim(qp_end::kInfeasible, check_.contradiction(verdict.y.data()));
      }
      verdict.direction.assign(d, d + n_);
      return kernels::completes_ray(shape_, view_, verdict.direction.data(), verdict.x.data()) &&
             claim(qp_end::kUnbounded, std::max(check_.endless(verdict.direction.data()),
                                                check_.feasible(verdict.x.data())));
    };
    return body.seek_proof(view_, kIterations, proves, verdict.iterations);
  }

  [[nodiscard]] Numbers workspace() const {
    return Numbers(index(static_cast<int>(kernels::qp_homogeneous_workspace(n_, shape_.rows))));
  }

  /// The problem as it stands.
  ConeVerdict given(kernels::QpHomogeneous<double>& ahead) {
    ConeVerdict verdict;
    Numbers memory = workspace();
    kernels::QpHomogeneous<> body(shape_, memory.data());
    int iterations = 0;
    if (ahead.follow(kIterations, iterations)) body.start_at(&ahead);
    const auto refine = [&](double* x, double* y) {
      kernels::refine_active_set<kernels::Doubled>(shape_, view_, x, y);
      return check_.optimal(x, y);
    };
    const kernels::QpHomogeneousOutcome outcome = body.decide(view_, {}, refine);
    verdict.end = outcome.end;
    verdict.iterations = outcome.iterations;
    verdict.residual = outcome.residual;
    for (int j = 0; j < n_; ++j) {
      verdict.x.push_back(body.solution(j));
      verdict.direction.push_back(body.direction(j));
    }
    for (int i = 0; i < shape_.rows; ++i) verdict.y.push_back(body.dual(i));
    if (verdict.end == qp_end::kStalled) {
      Numbers y(index(shape_.rows));
      const double support = body.last_multipliers(view_, kNothing, y.data());
      refute(verdict, support, std::move(y));
    }
    return verdict;
  }

  /// Takes what is near Farkas' vector for one if the data confirm it to the last digits of a
  /// double: where rounding of the data has moved a proof on the boundary of a cone away, no vector
  /// meets the equations as exactly as the method asks for. What leads to a face without a proof
  /// looks alike, but its support vanishes with its distance from the boundary.
  void refute(ConeVerdict& verdict, double support, Numbers y) const {
    if (support >= (is_inside(y, y) ? kInsideSupport : kBoundarySupport)) {
      take_proof(verdict, std::move(y));
    }
  }
  bool take_proof(ConeVerdict& verdict, Numbers y) const {
    const double residual = check_.contradiction(y.data(), kInsideSupport);
    if (!(residual <= kLastDigits) || !is_certified(y)) return false;
    verdict.end = qp_end::kInfeasible;
    verdict.residual = residual;
    verdict.y = std::move(y);
    verdict.face.clear();
    return true;
  }
  /// Whether who asked will take it.
  [[nodiscard]] bool is_certified(Numbers y) const {
    Numbers work(index(static_cast<int>(certificate::qp_judge_workspace(n_, shape_.rows))));
    Numbers spare(index(std::max(n_, shape_.rows)));
    const double residual = kernels::infeasibility_residual(
        kernels::SingleLane{}, shape_, view_, y.data(), work.data(), spare.data(), kCertified);
    return certificate::within(residual, kCertified);
  }

  /// Directions that P bends by the rounding of its entries only, as J W J' of many contacts leaves
  /// it: eliminated by its largest diagonals, x_j in units of 1 / sqrt(P_jj).
  [[nodiscard]] std::vector<Numbers> flat_directions() const {
    using kernels::Doubled;
    Numbers unit(index(n_), 1.0);
    std::vector<Doubled> table(index(n_ * n_));
    const auto at = [&](int i, int j) -> Doubled& { return table[index(i * n_ + j)]; };
    const auto entry = [&](int i, int j) { return kernels::hessian_entry(view_, n_, i, j); };
    for (int j = 0; j < n_; ++j) {
      if (entry(j, j) > 0.0) unit[index(j)] = 1.0 / std::sqrt(entry(j, j));
    }
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < n_; ++j)
        at(i, j) = Doubled(entry(i, j) * unit[index(i)] * unit[index(j)]);
    }
    std::vector<int> bent;
    std::vector<int> rest(index(n_));
    for (int j = 0; j < n_; ++j) rest[index(j)] = j;
    while (!rest.empty()) {
      const auto most = std::max_element(rest.begin(), rest.end(),
                                         [&](int i, int j) { return at(i, i) < at(j, j); });
      const int pivot = *most;
      if (!(at(pivot, pivot).hi > kFlat)) break;
      const Doubled inverse = Doubled(1.0) / at(pivot, pivot);
      for (int j = 0; j < n_; ++j) at(pivot, j) *= inverse;
      for (int i = 0; i < n_; ++i) {
        const Doubled factor = at(i, pivot);
        for (int j = 0; i != pivot && j < n_; ++j) at(i, j) -= factor * at(pivot, j);
      }
      bent.push_back(pivot);
      rest.erase(most);
    }
    std::vector<Numbers> directions;
    for (const int free : rest) {
      Numbers& d = directions.emplace_back(index(n_), 0.0);
      d[index(free)] = unit[index(free)];
      for (const int j : bent) d[index(j)] = -at(j, free).hi * unit[index(j)];
    }
    return directions;
  }

  /// Whether one of these goes down without end, inside of all cones by more than rounding: min -w
  /// over -G d - w e in the cones, q'd <= -1, w <= 1.
  bool falls(ConeVerdict& verdict) const {
    const std::vector<Numbers> flat = flat_directions();
    const int columns = static_cast<int>(flat.size()) + 1, w = columns - 1;
    if (w == 0 || w == n_) return false;
    DenseCones search(columns);
    search.gradient[index(w)] = -1.0;
    double size = 0.0;  // of the latest row
    const auto along = [&](const Numbers& a) {
      Numbers result(index(columns), 0.0);
      size = 0.0;
      for (int k = 0; k < w; ++k) {
        for (int j = 0; j < n_; ++j) result[index(k)] += a[index(j)] * flat[index(k)][index(j)];
        size = std::max(size, std::fabs(result[index(k)]));
      }
      return result;
    };
    for_rows(n_, [&](const Numbers& a, double low, double high, Origin) {
      for (const double sign : {1.0, -1.0}) {
        if (!kernels::is_there(sign > 0.0 ? high : low)) continue;
        Numbers step = along(a);
        for (double& value : step) value *= sign;
        if (low == high) return search.add_row(step, 0.0, 0.0);
        step[index(w)] = size;
        search.add_row(step, -kInfinity, 0.0);
      }
    });
    Numbers step = along(Numbers(view_.gradient, view_.gradient + n_));
    search.add_row(step, -kInfinity, -size);
    step.assign(index(columns), 0.0);
    step[index(w)] = 1.0;
    search.add_row(step, -kInfinity, 1.0);
    for_whole([&](const QpConeSpan& cone) {
      std::vector<Numbers> rows;
      double most = 0.0;
      for (int i = cone.first; i < cone.first + cone.size; ++i) {
        rows.push_back(along(row(i, 1.0, n_)));
        most = std::max(most, size);
      }
      rows.front()[index(w)] = most;
      for (const Numbers& a : rows) search.add_cone_row(a, 0.0, &a == &rows.front());
    });
    if (!kernels::takes_homogeneous(columns, search.rows())) return false;
    const DenseCones::Answer answer = search.solve(true);
    verdict.iterations += answer.outcome.iterations;
    if (answer.outcome.end != qp_end::kConverged || !(answer.x[index(w)] > kInsideFall))
      return false;
    Numbers d(index(n_), 0.0);
    for (int k = 0; k < w; ++k) {
      for (int j = 0; j < n_; ++j) d[index(j)] += answer.x[index(k)] * flat[index(k)][index(j)];
    }
    DenseCones rows(n_);
    std::vector<Origin> origins;
    state(rows, origins);
    DenseCones::Answer point = rows.solve(true);
    verdict.iterations += point.outcome.iterations;
    if (point.outcome.end != qp_end::kConverged) return false;
    const double bends = check_.endless(d.data());
    const double misses = check_.feasible(point.x.data());
    if (!(bends <= certificate::sum_rounding(n_)) || !(misses <= kClaim)) return false;
    verdict.end = qp_end::kUnbounded;
    verdict.residual = std::max(bends, misses);
    verdict.x = std::move(point.x);
    verdict.direction = std::move(d);
    return true;
  }

  /// How far the cone's part of y is inside, of its head.
  static double margin(const QpConeSpan& cone, const Numbers& y) {
    double tail = 0.0;
    for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
      tail = std::hypot(tail, y[index(i)]);
    }
    const double head = y[index(cone.first)];
    return head > 0.0 ? (head - tail) / head : 0.0;
  }
  /// Whether y is clear of the boundary of all cones where `of` is not zero.
  [[nodiscard]] bool is_inside(const Numbers& y, const Numbers& of) const {
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      bool asked = false;
      for (int i = cone.first; i < cone.first + cone.size; ++i) asked |= of[index(i)] != 0.0;
      if (asked && !(margin(cone, y) >= kNothing)) return false;
    }
    return true;
  }
  [[nodiscard]] bool is_inside_of_some(const Numbers& y) const {
    return std::any_of(shape_.cone, shape_.cone + shape_.cones,
                       [&](const QpConeSpan& cone) { return margin(cone, y) >= kNothing; });
  }
  /// y contradicts the rows and what is left of the cones on the face, where it may leave the dual
  /// cones, or touches their boundaries. With enough of the face's vector it is inside of those
  /// that this is inside of, and proves that nothing meets the problem itself.
  bool refute_on_face(ConeVerdict& verdict, const Numbers& y) const {
    const auto size = [](const Numbers& v) {
      double most = 0.0;
      for (const double value : v) most = std::max(most, std::fabs(value));
      return most;
    };
    const double share = size(y) / size(verdict.face);
    for (int turn = -kShares; turn < kShares && share > 0.0; ++turn) {
      Numbers sum = y;
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] += std::ldexp(share, turn) * verdict.face[i];
      }
      if (is_inside(sum, y) && take_proof(verdict, std::move(sum))) return true;
    }
    return false;
  }

  [[nodiscard]] Numbers row(int i, double factor, int columns) const {
    Numbers result(index(columns), 0.0);
    kernels::for_row(shape_, view_, i,
                     [&](int j, double entry) { result[index(j)] += factor * entry; });
    return result;
  }
  /// f(i) for the rows that no cone holds.
  template <class F>
  void for_intervals(F&& f) const {
    int i = 0;
    for (int c = 0; c <= shape_.cones; ++c) {
      const int end = c < shape_.cones ? shape_.cone[c].first : shape_.rows;
      for (; i < end; ++i) f(i);
      if (c < shape_.cones) i = end + shape_.cone[c].size;
    }
  }
  [[nodiscard]] bool is_equation(int i) const {
    return kernels::is_there(view_.upper[i]) && view_.lower[i] == view_.upper[i];
  }

  /// min w over h t - G x + w e in what is left of the cones, w >= -1, with t >= 0 or, if one, t
  /// = 1.
  [[nodiscard]] DenseCones::Answer search(bool one, std::vector<Origin>& origins) const {
    const int columns = n_ + 2, t = n_, w = n_ + 1;
    DenseCones search(columns);
    search.gradient[index(w)] = 1.0;
    const auto add = [&](Numbers a, double bound, double low, double high, Origin origin) {
      a[index(t)] = -bound;
      search.add_row(a, low, high);
      origins.push_back(origin);
    };
    for_rows(columns, [&](Numbers a, double low, double high, Origin origin) {
      if (low == high) return add(std::move(a), high, 0.0, 0.0, origin);
      if (kernels::is_there(high)) add(a, high, -kInfinity, 0.0, origin);
      if (kernels::is_there(low)) add(std::move(a), low, 0.0, kInfinity, origin);
    });
    for (const int unknown : {t, w}) {
      Numbers a(index(columns), 0.0);
      a[index(unknown)] = 1.0;
      const double low = unknown == w ? -1.0 : one ? 1.0 : 0.0;
      search.add_row(a, low, unknown == t && one ? 1.0 : kInfinity);
      origins.push_back({-1, 0, 0.0});
    }
    for_whole([&](const QpConeSpan& cone) {
      for (int i = cone.first; i < cone.first + cone.size; ++i) {
        Numbers a = row(i, 1.0, columns);
        a[index(t)] = -view_.upper[i];
        if (i == cone.first) a[index(w)] = -1.0;
        search.add_cone_row(a, 0.0, i == cone.first);
        origins.push_back({i, -1, 0.0});
      }
    });
    return search.solve(false);
  }

  /// The search with t >= 0 ends at -1 if a slack is inside of all cones, else at 0, and its
  /// multipliers are a vector that they are at right angles to, or that proves that there is no
  /// point.
  Found narrow(ConeVerdict& verdict) {
    const int t = n_, w = n_ + 1;
    std::vector<Origin> origins;
    DenseCones::Answer answer = search(false, origins);
    verdict.iterations += answer.outcome.iterations;
    if (answer.outcome.end != qp_end::kConverged) return Found::nothing;
    if (answer.x[index(w)] < -0.5) {
      if (!(answer.x[index(t)] > kNothing)) {  // a direction shows it, so there is a point as well
        origins.clear();
        answer = search(true, origins);
        verdict.iterations += answer.outcome.iterations;
        if (answer.outcome.end != qp_end::kConverged || !(answer.x[index(w)] < 0.0)) {
          return Found::nothing;
        }
      }
      const double scale = answer.x[index(t)];
      for (int j = 0; j < n_; ++j) verdict.x[index(j)] = answer.x[index(j)] / scale;
      return Found::interior;
    }
    Numbers y = multipliers(origins, answer.y);
    const Numbers cleaned = clean(y);
    if (!verdict.face.empty() || check_.face(cleaned.data()) <= kClaim) y = cleaned;
    if (verdict.face.empty()) {
      const double refuted = check_.contradiction(y.data());
      if (refuted <= kClaim) {
        verdict.end = qp_end::kInfeasible;
        verdict.residual = refuted;
        verdict.y = std::move(y);
        return Found::proof;
      }
      const double residual = check_.face(y.data());
      if (!(residual <= kClaim)) return Found::nothing;
      verdict.residual = residual;
      verdict.face = y;
      levels_ = 0;
    }
    if (levels_ == 0 && is_inside_of_some(y)) {
      // Of all vectors the one that excludes most: what the slacks lack at best.
      origins.clear();
      const DenseCones::Answer nearest = search(true, origins);
      verdict.iterations += nearest.outcome.iterations;
      if (nearest.outcome.end == qp_end::kConverged && nearest.x[index(w)] > 0.0 &&
          refute_on_face(verdict, multipliers(origins, nearest.y))) {
        return Found::proof;
      }
    }
    if (levels_ == 1 && refute_on_face(verdict, y)) return Found::proof;
    ++levels_;
    return keep_parts(y) ? Found::face : Found::nothing;
  }

  /// f(row, lower, upper, origin) for the intervals and for what cones are held to by rows.
  template <class F>
  void for_rows(int columns, F&& f) const {
    for_intervals([&](int i) {
      f(row(i, 1.0, columns), view_.lower[i], view_.upper[i], Origin{i, -1, 0.0});
    });
    for (int c = 0; c < shape_.cones; ++c) {
      if (part_[index(c)] == Part::whole) continue;
      const QpConeSpan& cone = shape_.cone[c];
      const bool line = part_[index(c)] == Part::line;
      const int head = cone.first;
      for (int i = head; i < head + cone.size; ++i) {
        Numbers a = row(i, 1.0, columns);
        double bound = view_.upper[i];
        if (line && i > head) {  // s_i = share s_0
          const double share = line_[index(i)];
          const Numbers first = row(head, -share, columns);
          for (std::size_t j = 0; j < a.size(); ++j) a[j] = settled(a[j], first[j]);
          bound = settled(bound, -share * view_.upper[head]);
        }
        f(std::move(a), line && i == head ? -kInfinity : bound, bound,
          Origin{i, c, line && i > head ? line_[index(i)] : 0.0});
      }
    }
  }
  /// Rows and cones as they stand.
  void state(DenseCones& problem, std::vector<Origin>& origins) const {
    for_rows(n_, [&](const Numbers& a, double low, double high, Origin origin) {
      problem.add_row(a, low, high);
      origins.push_back(origin);
    });
    for_whole([&](const QpConeSpan& cone) {
      for (int i = cone.first; i < cone.first + cone.size; ++i) {
        problem.add_cone_row(row(i, 1.0, n_), view_.upper[i], i == cone.first);
        origins.push_back({i, -1, 0.0});
      }
    });
  }
  /// a + b, zero where only the rounding of a share is left.
  static double settled(double a, double b) {
    const double sum = a + b;
    return std::fabs(sum) <= kRounding * (std::fabs(a) + std::fabs(b)) ? 0.0 : sum;
  }
  template <class F>
  void for_whole(F&& f) const {
    for (int c = 0; c < shape_.cones; ++c) {
      if (part_[index(c)] == Part::whole) f(shape_.cone[c]);
    }
  }
  /// Of the problem's rows from those of a search.
  [[nodiscard]] Numbers multipliers(const std::vector<Origin>& origins, const Numbers& of) const {
    Numbers y(index(shape_.rows), 0.0);
    for (std::size_t e = 0; e < origins.size(); ++e) {
      const Origin& origin = origins[e];
      if (origin.row < 0) continue;
      y[index(origin.row)] += of[e];
      if (origin.along != 0.0) y[index(shape_.cone[origin.cone].first)] -= origin.along * of[e];
    }
    return y;
  }

  /// Without what an iterate left in place of zeros: cones that hardly weigh, and small entries of
  /// others.
  [[nodiscard]] Numbers clean(Numbers y) const {
    double most = 0.0;
    const auto weight = [&](const QpConeSpan& cone) {
      double size = 0.0;
      for (int i = cone.first; i < cone.first + cone.size; ++i) {
        size = std::max(size, std::fabs(view_.upper[i]));
        kernels::for_row(shape_, view_, i,
                         [&](int, double entry) { size = std::max(size, std::fabs(entry)); });
      }
      return size * y[index(cone.first)];
    };
    for_whole([&](const QpConeSpan& cone) { most = std::max(most, weight(cone)); });
    for_whole([&](const QpConeSpan& cone) {
      const bool nothing = weight(cone) <= kNothing * most;
      const double head = y[index(cone.first)];
      for (int i = cone.first; i < cone.first + cone.size; ++i) {
        double& value = y[index(i)];
        if (nothing || std::fabs(value) <= kNothing * head) value = 0.0;
      }
    });
    return y;
  }

  /// The cones' parts at right angles to y; false where all stay as they are.
  bool keep_parts(const Numbers& y) {
    bool changed = false;
    for (int c = 0; c < shape_.cones; ++c) {
      const QpConeSpan& cone = shape_.cone[c];
      const double head = y[index(cone.first)];
      if (part_[index(c)] != Part::whole || !(head > 0.0)) continue;
      double tail = 0.0;
      for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
        tail = std::hypot(tail, y[index(i)]);
      }
      changed = true;
      if (head - tail > kNothing * head) {
        part_[index(c)] = Part::apex;
        continue;
      }
      part_[index(c)] = Part::line;
      for (int i = cone.first + 1; i < cone.first + cone.size; ++i) {
        line_[index(i)] = -y[index(i)] / head;
      }
    }
    return changed;
  }

  /// The problem on the face, whose slacks have an interior there.
  ConeVerdict on_face(ConeVerdict verdict) {
    DenseCones problem(n_);
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < n_; ++j) {
        problem.hessian[index(i * n_ + j)] = kernels::hessian_entry(view_, n_, i, j);
      }
      problem.gradient[index(i)] = view_.gradient[i];
    }
    std::vector<Origin> origins;
    state(problem, origins);
    DenseCones::Answer answer = problem.solve(true);
    verdict.iterations += answer.outcome.iterations;
    if (answer.outcome.end == qp_end::kConverged) {
      const Numbers y = multipliers(origins, answer.y);
      const double plain = check_.optimal(answer.x.data(), y.data());
      const bool whole = plain <= kClaim;
      const double residual =
          whole ? plain : check_.optimal(answer.x.data(), y.data(), verdict.face.data());
      if (whole || (levels_ == 1 && residual <= kClaim)) {
        verdict.end = qp_end::kConverged;
        verdict.residual = std::max(residual, whole ? 0.0 : verdict.residual);
        verdict.x = std::move(answer.x);
        verdict.y = y;
        if (whole) verdict.face.clear();
        return verdict;
      }
    }
    if (answer.outcome.end == qp_end::kInfeasible && levels_ == 1 &&
        refute_on_face(verdict, multipliers(origins, answer.y))) {
      return verdict;
    }
    return without_interior(std::move(verdict));
  }
  static ConeVerdict without_interior(ConeVerdict verdict) {
    verdict.end = qp_end::kNoInterior;
    verdict.direction.clear();
    return verdict;
  }

  /// The same search for the dual of a problem that has slacks inside of all cones, verdict.x one
  /// with them: min w over P v + A'y + G'z + q t = 0, z + w e in the dual cones. A direction along
  /// which neither rows nor objective end shows that it has no interior.
  ConeVerdict level(ConeVerdict verdict) {
    struct Unknown {
      int row;
      bool equation;
      double sign;
    };
    std::vector<Unknown> unknowns;
    for_intervals([&](int i) {
      if (is_equation(i)) return unknowns.push_back({i, true, 1.0});
      if (kernels::is_there(view_.upper[i])) unknowns.push_back({i, false, 1.0});
      if (kernels::is_there(view_.lower[i])) unknowns.push_back({i, false, -1.0});
    });
    const int side = n_;
    const int cones = n_ + static_cast<int>(unknowns.size());
    for (int c = 0; c < shape_.cones; ++c) {
      for (int i = 0; i < shape_.cone[c].size; ++i) {
        unknowns.push_back({shape_.cone[c].first + i, true, 1.0});
      }
    }
    const int t = n_ + static_cast<int>(unknowns.size()), w = t + 1, columns = t + 2;
    if (!kernels::takes_homogeneous(columns, n_ + columns)) return verdict;
    DenseCones search(columns);
    search.gradient[index(w)] = 1.0;
    std::vector<Numbers> equations(index(n_), Numbers(index(columns), 0.0));
    for (int j = 0; j < n_; ++j) {
      for (int k = 0; k < n_; ++k) {
        equations[index(j)][index(k)] = kernels::hessian_entry(view_, n_, j, k);
      }
      equations[index(j)][index(t)] = view_.gradient[j];
    }
    for (std::size_t u = 0; u < unknowns.size(); ++u) {
      kernels::for_row(shape_, view_, unknowns[u].row, [&](int j, double entry) {
        equations[index(j)][index(side) + u] += unknowns[u].sign * entry;
      });
    }
    for (const Numbers& equation : equations) search.add_row(equation, 0.0, 0.0);
    const auto unit = [&](int column, double value) {
      Numbers a(index(columns), 0.0);
      a[index(column)] = value;
      return a;
    };
    for (std::size_t u = 0; u < unknowns.size(); ++u) {
      if (!unknowns[u].equation)
        search.add_row(unit(side + static_cast<int>(u), 1.0), 0.0, kInfinity);
    }
    search.add_row(unit(t, 1.0), 0.0, kInfinity);
    search.add_row(unit(w, 1.0), -1.0, kInfinity);
    int column = cones;
    for (int c = 0; c < shape_.cones; ++c) {
      for (int i = 0; i < shape_.cone[c].size; ++i) {
        Numbers a = unit(column++, -1.0);
        if (i == 0) a[index(w)] = -1.0;
        search.add_cone_row(a, 0.0, i == 0);
      }
    }
    const DenseCones::Answer answer = search.solve(false);
    verdict.iterations += answer.outcome.iterations;
    if (answer.outcome.end != qp_end::kConverged || answer.x[index(w)] < -0.5) return verdict;
    Numbers direction(index(n_));
    for (int j = 0; j < n_; ++j) direction[index(j)] = -answer.y[index(j)];
    const double residual =
        std::max(check_.level(direction.data()), check_.feasible(verdict.x.data()));
    if (!(residual <= kClaim)) return verdict;
    verdict.end = qp_end::kNoInterior;
    verdict.residual = residual;
    verdict.direction = std::move(direction);
    return verdict;
  }

  const kernels::QpShape& shape_;
  const kernels::QpView<const double*>& view_;
  kernels::QpHomogeneousCheck<const double*> check_;
  int n_;
  std::vector<Part> part_;  ///< of each cone
  Numbers line_;            ///< s_i / s_0 on the line of a cone
  int levels_ = 0;
};

}  // namespace

ConeVerdict decide_cones(const kernels::QpShape& shape,
                         const kernels::QpView<const double*>& view) {
  return Faces(shape, view).decide();
}

}  // namespace carom::qp
