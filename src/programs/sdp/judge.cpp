#include "programs/sdp/judge.hpp"

#include <optional>

#include "programs/sdp/blocks.hpp"
#include "programs/sdp/proofs.hpp"
#include "programs/sdp/scaling.hpp"
#include "programs/sdp/solver.hpp"
#include "programs/sdp/zero_rows.hpp"

namespace carom::sdp {

namespace {

constexpr double kFiner = 1e-3;  ///< of the tolerance, at the next try
constexpr double kLeastTolerance = 1e-13;
constexpr double kRaised = 1e-15;  ///< diagonals of the second attempt
constexpr double kMostWork = 4e6;  ///< that is done again with more digits
/// Largest y of an answer to a programme of size 1: where there is no y, or the optimum is not
/// attained, the size of what seems to be an answer is the inverse of a power of its residual.
constexpr double kLargestAnswer = 2e4;
constexpr double kLargestOnBoundary = 1e3;  ///< of the point and the ray of a proof
constexpr double kLoosest = 0.1;            ///< by constants, where control has more
constexpr double kOfGiven = 0.1;            ///< how much the residual in given units counts there
constexpr double kSameOptimum = 1e-5;       ///< without rows that are zero in every X, relative
constexpr double kLooseAnswer = 1e-3;       ///< that size squared times the residual, at most
constexpr double kOutside = 1e-12;          ///< least eigenvalue of a slack in its rows' own units
/// Answers above this size are computed once more, with this part of the tolerance: where the
/// optimum is not attained the objective moves, and the size by more than this.
constexpr double kDoubted = 50.0, kConfirming = 1e-2, kSameObjective = 1e-9, kSameSize = 2.0;

/// What the rounding of a sum of products can be: where multipliers have no bound they grow until
/// this is all that a residual says.
double rounding(const double* a, const double* b, std::size_t count) {
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) sum += std::fabs(a[i] * b[i]);
  return 4.0 * std::numeric_limits<double>::epsilon() * sum;
}

/// Multiplications of an iteration, about.
double work_of(const SdpProblem& problem) {
  const BlockForm form(problem);
  const auto m = static_cast<double>(form.variables());
  double work = m * m * m / 3.0;
  for (const Block& block : form.blocks()) {
    const auto n = static_cast<double>(block.n), v = static_cast<double>(block.variables.size());
    work += v * n * n * (2.0 * n + 0.5 * v);
  }
  return work;
}

/// SdpResult::residual of an answer, from only the programme.
double residual_of(const SdpProblem& problem, const SdpResult& result) {
  const auto finite = [](double v) { return std::isfinite(v); };
  if (!std::all_of(result.y.begin(), result.y.end(), finite) ||
      !std::all_of(result.x.begin(), result.x.end(), finite)) {
    return std::numeric_limits<double>::infinity();
  }
  const BlockForm form(problem);
  const double scale_c = 1.0 + largest(problem.constant);
  const double scale_b = 1.0 + largest(problem.objective);
  const double objective = product(problem.objective.data(), result.y.data(), form.variables());
  const double dual = product(problem.constant.data(), result.x.data(), form.size());
  double off = 0.0;
  const Numbers traces = form.traces(result.x);
  for (std::size_t i = 0; i < traces.size(); ++i) {
    off = std::max(off, std::fabs(traces[i] - problem.objective[i]) +
                            rounding(form.coefficient(i), result.x.data(), form.size()));
  }
  const double gap =
      std::fabs(dual - objective) + rounding(problem.constant.data(), result.x.data(), form.size());
  const double residual =
      std::max({-form.least_eigenvalue(form.slack(result.y, true)) / scale_c,
                -form.least_eigenvalue(result.x) / (1.0 + largest(result.x)), off / scale_b,
                gap / (1.0 + std::fabs(objective) + std::fabs(dual)), 0.0});
  return std::isfinite(residual) ? residual : std::numeric_limits<double>::infinity();
}

/// By how much the slack is outside of its cone if every row and column has its terms' unit. Where
/// the dual optimum is another, what seems to be an answer is outside in the units of some rows.
double outside_in_own_units(const BlockForm& form, const Numbers& y) {
  Numbers slack = form.slack(y, true);
  std::vector<double> unit;
  for (const Block& block : form.blocks()) {
    const auto n = static_cast<std::size_t>(block.n);
    unit.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t at = block.at + i * (n + 1);
      double terms = std::fabs(form.problem().constant[at]);
      for (const int k : block.variables) {
        const auto variable = static_cast<std::size_t>(k);
        terms += std::fabs(y[variable] * form.coefficient(variable)[at]);
      }
      unit[i] = std::sqrt(terms);
    }
    double* entry = slack.data() + block.at;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j, ++entry) {
        const double own = unit[i] * unit[j];
        *entry = own > 0.0 ? *entry / own : 0.0;  // a row without a unit says nothing
      }
    }
  }
  return std::max(-form.least_eigenvalue(slack), 0.0);
}

/// Whether the answer remains if the method goes on: its objective, in the scaled units and in
/// those given, or at least its size. So it does where the method cannot go on.
bool stands(const Scaled& scaled, double in_scaled, const SdpResult& given, SdpSettings settings) {
  settings.tolerance = std::max(kLeastTolerance, kConfirming * settings.tolerance);
  SdpResult again = solve(scaled.problem(), settings, {}, kRaised);
  if (again.status != Status::solved) return true;
  const auto stays = [](double now, double before) {
    return std::fabs(now - before) <= kSameObjective * (1.0 + std::fabs(before));
  };
  const bool same = stays(again.objective, in_scaled);
  again = scaled.original(std::move(again));
  if (same && stays(again.objective, given.objective)) return true;
  const double now = scaled.size(again), before = scaled.size(given);
  return now <= kSameSize * before && before <= kSameSize * now;
}

/// Whether the point and the ray of a proof remain in the cone if they change a little.
bool is_inside(const BlockForm& form, const SdpResult& result) {
  const auto is_clear = [&](const Numbers& y, bool with_constant) {
    double terms = with_constant ? 1.0 : 0.0;
    for (const double v : y) terms += std::fabs(v);
    return form.least_eigenvalue(form.slack(y, with_constant)) > kRounding * terms;
  };
  return is_clear(result.y, true) && is_clear(result.ray, false);
}

/// Where a combination of the A_i is zero and b'y rises along it: unbounded if some y is feasible.
std::optional<SdpResult> free_direction(const SdpProblem& problem, const SdpSettings& settings) {
  auto ascent = free_ascent(BlockForm(problem));
  if (!ascent) return {};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const BlockForm form(problem);
  SdpProblem feasibility{problem.blocks, {}, problem.constant, {}};
  for (const std::size_t i : ascent->independent) {
    const double* a = form.coefficient(i);
    feasibility.coefficients.insert(feasibility.coefficients.end(), a, a + form.size());
    feasibility.objective.push_back(0.0);
  }
  SdpResult found;
  if (!ascent->independent.empty()) found = solve(feasibility, settings);
  if (found.status == Status::infeasible) {
    found.y.assign(form.variables(), nan);
    return found;
  }
  Numbers y(form.variables(), 0.0);
  for (std::size_t k = 0; k < found.y.size(); ++k) y[ascent->independent[k]] = found.y[k];
  const double off =
      -form.least_eigenvalue(form.slack(y, true)) / (1.0 + largest(problem.constant));
  if (!(off <= settings.tolerance && largest(y) <= kLargestOnBoundary)) return {};
  found.status = Status::unbounded;
  found.residual = std::max({ascent->d.residual, off, 0.0});
  found.y = std::move(y);
  found.ray = std::move(ascent->d.numbers);
  found.x.assign(form.size(), nan);
  found.objective = std::numeric_limits<double>::infinity();
  found.dual = nan;
  return found;
}

SdpResult best_of(const SdpProblem& problem, const SdpSettings& settings, bool keep) {
  const Scaled scaled(problem, SdpUnits::rows), balanced(problem, SdpUnits::rows_and_constants),
      by_blocks(problem, SdpUnits::blocks);
  SdpSettings finer = settings;  // whose own measure may differ from the given one's
  finer.tolerance = std::max(kLeastTolerance, 0.1 * settings.tolerance);
  const double first_tolerance = finer.tolerance;
  SdpResult best;
  for (int attempt = 0;;) {
    SdpResult raw = attempt == 2 ? solve_with_more_digits(scaled.problem(), finer)
                                 : solve(scaled.problem(), finer, {}, attempt * kRaised);
    const bool inside =
        raw.status == Status::unbounded && is_inside(BlockForm(scaled.problem()), raw);
    const double objective = raw.objective;
    SdpResult result = scaled.original(std::move(raw));
    if (result.status == Status::infeasible) return result;
    const double size = std::max(scaled.size(result), by_blocks.size(result));
    const double other = balanced.size(result);
    if (result.status == Status::unbounded) {
      if (inside || std::max(size, other) <= kLargestOnBoundary) return result;
      result.status = Status::numerical_error;
      result.residual = std::numeric_limits<double>::infinity();
      result.ray.clear();
    }
    const double own = result.residual;
    result.residual = std::max(own, residual_of(problem, result));  // however the method ended
    bool far = std::max(size, other) > kLargestAnswer || size * size * own > kLooseAnswer ||
               other * other * std::max(own, kOfGiven * result.residual) > kLoosest;
    const bool fine = result.residual <= settings.tolerance;
    if (fine && !far && !keep) {
      far = outside_in_own_units(BlockForm(problem), result.y) > kOutside ||
            (std::max(size, other) > kDoubted && !stands(scaled, objective, result, finer));
    }
    const bool better = best.y.empty() || result.residual < best.residual;
    if (better || (fine && !far)) best = std::move(result);
    if (fine) {
      best.status = far ? Status::inaccurate : Status::solved;
      // Equations that follow from others leave y free to go far.
      if (!far || keep || attempt > 0) return best;
    }
    const bool coarse = !fine && own <= finer.tolerance && finer.tolerance > kLeastTolerance;
    if (coarse) {
      finer.tolerance = std::max(kLeastTolerance, kFiner * finer.tolerance);
      continue;
    }
    // The method was at its end.
    if (attempt == 0 && !keep) {
      if (auto found = free_direction(scaled.problem(), finer)) {
        return scaled.original(std::move(*found));
      }
    }
    if (keep || attempt == 2 || (attempt == 1 && work_of(problem) > kMostWork)) break;
    ++attempt;
    finer.tolerance = first_tolerance;
  }
  if (best.status == Status::solved) best.status = Status::inaccurate;
  if (best.status != Status::inaccurate && !keep) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    std::fill(best.y.begin(), best.y.end(), nan);
    std::fill(best.x.begin(), best.x.end(), nan);
    best.objective = best.dual = nan;
  }
  return best;
}

}  // namespace

SdpResult solve_judged(const SdpProblem& problem, const SdpSettings& settings, bool keep) {
  SdpResult best = best_of(problem, settings, keep);
  if (keep || best.status != Status::solved) return best;
  // The least error in rows of X that are zero can move the optimum far.
  const auto reduced = without_zero_rows(problem);
  if (!reduced) return best;
  const SdpResult other = best_of(*reduced, settings, false);
  const bool known = other.status == Status::solved || other.status == Status::inaccurate;
  const double apart = std::fabs(other.objective - best.objective);
  if (other.status == Status::unbounded || other.status == Status::infeasible ||
      (known && apart > kSameOptimum * (1.0 + std::fabs(best.objective)))) {
    best.status = Status::inaccurate;
  }
  return best;
}

}  // namespace carom::sdp
