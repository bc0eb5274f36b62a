#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <carom/impact_enclosure.hpp>

#include "analysis/impact_metric.hpp"
#include "core/arrays.hpp"
#include "core/constants.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"
#include "impact/prepare.hpp"

namespace carom {

void JudgeSettings::validate() const { require::settings(*this); }

namespace {

using judging::Matrix;
using judging::Vector;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::int64_t kSamplesAtOnce = std::int64_t{1} << 20;
// The floor's certificate is one in doubles: what it proves is said with this much to spare.
constexpr double kSpare = 1e-6;

/// One certified sample, and where it came from.
struct Candidate {
  double distance = kInfinite;
  std::uint64_t seed = 0;
  std::int64_t problem = -1;
  std::int64_t sample = -1;
  std::vector<double> velocity, impulse, restitution, friction;
  std::vector<double> restitution_low, restitution_high, friction_low, friction_high;
};

/// The intervals of a contact's restitution and friction of a batch, whatever it leaves out.
struct Intervals {
  const ImpactBatch& batch;

  [[nodiscard]] bool drawn() const {
    return !batch.restitution_high.empty() || !batch.friction_high.empty();
  }
  [[nodiscard]] double restitution_low(std::size_t i) const {
    return batch.restitution_low.empty() ? 0.0 : batch.restitution_low.data()[i];
  }
  [[nodiscard]] double restitution_high(std::size_t i) const {
    return batch.restitution_high.empty() ? 0.0 : batch.restitution_high.data()[i];
  }
  [[nodiscard]] double friction_low(std::size_t i) const { return batch.friction.data()[i]; }
  [[nodiscard]] double friction_high(std::size_t i) const {
    return batch.friction_high.empty() ? friction_low(i) : batch.friction_high.data()[i];
  }
};

/// The `most` samples nearest to the measured velocity, and all that ended as U v.
struct Nearest {
  std::vector<Candidate> best;
  Matrix ended;  ///< [terminated, nv]
};

Nearest nearest_of(const ImpactBatch& batch, const ImpactSettings& sampling,
                   const ImpactSamples& samples, std::size_t p, const Matrix& metric,
                   const Vector& measured, std::size_t most) {
  const auto count = static_cast<std::size_t>(samples.count);
  const auto nv = static_cast<std::size_t>(batch.velocities);
  const auto m = static_cast<std::size_t>(batch.contacts);
  const auto rows = static_cast<std::size_t>(batch.contact_rows());
  const Vector wanted = metric * measured;
  std::vector<std::size_t> ended;
  for (std::size_t s = 0; s < count; ++s) {
    if (samples.status.data()[p * count + s] == TrajectoryStatus::terminated) ended.push_back(s);
  }
  Nearest found;
  found.ended.resize(static_cast<Eigen::Index>(ended.size()), batch.velocities);
  std::vector<double> distance(ended.size());
  for (std::size_t k = 0; k < ended.size(); ++k) {
    const Eigen::Map<const Vector> v(samples.velocity.data() + (p * count + ended[k]) * nv,
                                     batch.velocities);
    const Vector at = metric * v;
    found.ended.row(static_cast<Eigen::Index>(k)) = at.transpose();
    distance[k] = (at - wanted).norm();
  }
  std::vector<std::size_t> order(ended.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t kept = std::min(most, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      return distance[a] != distance[b] ? distance[a] < distance[b] : a < b;
                    });
  const Intervals intervals{batch};
  for (std::size_t k = 0; k < kept; ++k) {
    const std::size_t row = p * count + ended[order[k]];
    Candidate candidate;
    candidate.distance = distance[order[k]];
    candidate.seed = sampling.seed;
    candidate.problem = sampling.first_problem + static_cast<std::int64_t>(p);
    candidate.sample = sampling.first_sample + static_cast<std::int64_t>(ended[order[k]]);
    candidate.velocity.assign(samples.velocity.data() + row * nv,
                              samples.velocity.data() + (row + 1) * nv);
    candidate.impulse.assign(samples.impulse.data() + row * rows,
                             samples.impulse.data() + (row + 1) * rows);
    for (std::size_t i = 0; i < m; ++i) {
      const std::size_t contact = p * m + i;
      candidate.restitution_low.push_back(intervals.restitution_low(contact));
      candidate.restitution_high.push_back(intervals.restitution_high(contact));
      candidate.friction_low.push_back(intervals.friction_low(contact));
      candidate.friction_high.push_back(intervals.friction_high(contact));
      const bool drawn = !samples.restitution.empty();
      candidate.restitution.push_back(drawn ? samples.restitution.data()[row * m + i]
                                            : candidate.restitution_low.back());
      candidate.friction.push_back(drawn ? samples.friction.data()[row * m + i]
                                         : candidate.friction_low.back());
    }
    found.best.push_back(std::move(candidate));
  }
  return found;
}

/// Median distance of the last samples to all that come before them; NaN where there are too few.
double resolution_of(const Matrix& ended, int held_out) {
  const auto held = std::min<Eigen::Index>(held_out, ended.rows() / 2);
  if (held == 0) return kNan;
  const Eigen::Index others = ended.rows() - held;
  std::vector<double> distance;
  for (Eigen::Index k = others; k < ended.rows(); ++k) {
    distance.push_back(std::sqrt(
        (ended.topRows(others).rowwise() - ended.row(k)).rowwise().squaredNorm().minCoeff()));
  }
  const auto middle = distance.begin() + static_cast<std::ptrdiff_t>(distance.size() / 2);
  std::nth_element(distance.begin(), middle, distance.end());
  return *middle;
}

/// Problems around candidates: `each` of every problem, the nearest again where there are fewer.
/// The intervals are `share` as wide as the batch's own, and lie within them.
ImpactBatch around(const ImpactBatch& batch, const std::vector<std::vector<Candidate>>& best,
                   std::size_t each, double share) {
  const Intervals intervals{batch};
  ImpactBatch narrow;
  static_cast<ImpactSizes&>(narrow) = batch;
  narrow.problems = batch.problems * static_cast<std::int64_t>(each);
  ImpactBatch::each_array(
      batch,
      [&](const char*, const Extents& extents, auto& to, const auto& from) {
        if (from.empty()) return;
        const auto width = static_cast<std::size_t>(extents.stride());
        to = Buffer<double>(width * static_cast<std::size_t>(narrow.problems));
        for (std::size_t p = 0; p < static_cast<std::size_t>(narrow.problems); ++p) {
          std::copy_n(from.data() + p / each * width, width, to.data() + p * width);
        }
      },
      narrow, batch);
  if (!intervals.drawn()) return narrow;
  const auto m = static_cast<std::size_t>(batch.contacts);
  const std::size_t all = m * static_cast<std::size_t>(narrow.problems);
  for (auto* values : {&narrow.restitution_low, &narrow.restitution_high, &narrow.friction_high}) {
    *values = Buffer<double>(all);
  }
  const auto within = [share](double centre, double low, double high, double& from, double& to) {
    if (std::isnan(centre)) centre = 0.5 * (low + high);  // it varied within the sample
    const double half = 0.5 * share * (high - low);
    from = std::max(low, centre - half);
    to = std::min(high, centre + half);
  };
  for (std::size_t p = 0; p < best.size(); ++p) {
    for (std::size_t k = 0; k < each; ++k) {
      for (std::size_t i = 0; i < m; ++i) {
        const std::size_t own = p * m + i, at = (p * each + k) * m + i;
        const Candidate* nearest = best[p].empty() ? nullptr : &best[p][k % best[p].size()];
        within(nearest ? nearest->restitution[i] : kNan, intervals.restitution_low(own),
               intervals.restitution_high(own), narrow.restitution_low.data()[at],
               narrow.restitution_high.data()[at]);
        within(nearest ? nearest->friction[i] : kNan, intervals.friction_low(own),
               intervals.friction_high(own), narrow.friction.data()[at],
               narrow.friction_high.data()[at]);
      }
    }
  }
  return narrow;
}

/// Whether a half-space of every part of the enclosure keeps the ball of `radius` about the
/// measured velocity out: a.u <= b with a.J v - radius |U^-T J' a| > b.
bool excludes(const ImpactProblem& problem, const ImpactEnclosure& enclosure, const Matrix& metric,
              const Vector& measured, double radius) {
  if (enclosure.status != EnclosureStatus::enclosed && enclosure.status != EnclosureStatus::outer) {
    return false;
  }
  const int nv = problem.velocities, m = problem.contacts;
  const int rows = problem.dimension * m;
  Matrix jacobian(rows, nv);
  jacobian << Eigen::Map<const Matrix>(problem.normal_jacobian.data(), m, nv),
      Eigen::Map<const Matrix>(problem.tangent_jacobian.data(), rows - m, nv);
  const Vector u = jacobian * measured;
  const Matrix reach = metric.transpose().partialPivLu().solve(Matrix(jacobian.transpose()));
  const auto beyond = [&](const Vector& a, double b) {
    return a.dot(u) - radius * (reach * a).norm() > b + kSpare * (std::abs(b) + u.norm());
  };
  for (int i = 0; i < rows; ++i) {
    const auto at = static_cast<std::size_t>(i < m ? i : i - m);
    const auto& low = i < m ? enclosure.normal_velocity_min : enclosure.tangent_velocity_min;
    const auto& high = i < m ? enclosure.normal_velocity_max : enclosure.tangent_velocity_max;
    const Vector axis = Vector::Unit(rows, i);
    if (beyond(axis, high[at]) || beyond(-axis, -low[at])) return true;
  }
  if (enclosure.modes.empty()) return false;
  return std::all_of(enclosure.modes.begin(), enclosure.modes.end(), [&](const EnclosedMode& mode) {
    const auto width = static_cast<std::size_t>(rows) + 1;
    for (std::size_t c = 0; c + width <= mode.constraints.size(); c += width) {
      const Eigen::Map<const Vector> a(mode.constraints.data() + c, rows);
      if (beyond(a, mode.constraints[c + width - 1])) return true;
    }
    return false;
  });
}

void put(ImpactJudgement::Samples& result, std::size_t p, std::size_t nv, std::size_t m,
         std::size_t rows, const Candidate& nearest) {
  result.distance.data()[p] = nearest.distance;
  result.nearest_sample.data()[p] = nearest.sample;
  result.nearest_problem.data()[p] = nearest.problem;
  result.nearest_seed.data()[p] = nearest.seed;
  const auto row = [p](Buffer<double>& to, const std::vector<double>& from, std::size_t width) {
    if (from.empty()) {
      std::fill_n(to.data() + p * width, width, kNan);
    } else {
      std::copy_n(from.data(), width, to.data() + p * width);
    }
  };
  row(result.nearest_velocity, nearest.velocity, nv);
  row(result.nearest_impulse, nearest.impulse, rows);
  row(result.nearest_restitution, nearest.restitution, m);
  row(result.nearest_friction, nearest.friction, m);
  row(result.interval_restitution_low, nearest.restitution_low, m);
  row(result.interval_restitution_high, nearest.restitution_high, m);
  row(result.interval_friction, nearest.friction_low, m);
  row(result.interval_friction_high, nearest.friction_high, m);
}

}  // namespace

ImpactJudgement judge_impacts(const ImpactBatch& batch, const MeasuredImpacts& measured,
                              const JudgeSettings& settings, const ImpactSettings& sampling,
                              Backend backend) {
  settings.validate();
  validate(batch);
  validate(batch, measured);
  ImpactJudgement result;
  result.floor = impact_floor(batch, measured, sampling.threads);
  ImpactJudgement::Samples& told = result.samples;
  ImpactJudgement::Samples::each_array(
      batch,
      [](const char*, const Extents& extents, auto& values) {
        using Values = std::remove_cvref_t<decltype(values)>;
        values = Values(static_cast<std::size_t>(extents.count()));
      },
      told);
  const auto nv = static_cast<std::size_t>(batch.velocities);
  const auto m = static_cast<std::size_t>(batch.contacts);
  const auto rows = static_cast<std::size_t>(batch.contact_rows());
  const auto each = static_cast<std::size_t>(settings.nearest);
  const std::int64_t redraws = std::max<std::int64_t>(1, settings.redraws / settings.nearest);
  const bool relative = measured.measured_covariance.empty();
  const std::int64_t total =
      batch.problems * (sampling.samples + settings.rounds * settings.nearest * redraws);

  ImpactSettings drawing = sampling;
  drawing.epsilon = 0.0;
  drawing.problem_epsilon = {};
  drawing.keep_samples = -1;
  drawing.keep_paths = 0;
  drawing.result_space = MemorySpace::host;
  std::int64_t done = 0;
  if (sampling.progress) {
    drawing.progress = [&](const ImpactProgress& at) {
      ImpactProgress all;
      all.samples_done = done + at.samples_done;
      all.samples_total = total;
      return sampling.progress(all);
    };
  }
  const std::int64_t most = std::max(sampling.samples, settings.nearest * redraws);
  const std::int64_t piece = std::clamp<std::int64_t>(kSamplesAtOnce / most, 1, 256);
  for (std::int64_t begin = 0; begin < batch.problems; begin += piece) {
    const std::int64_t end = std::min(begin + piece, batch.problems);
    const ImpactBatch part = arrays::slice(batch, begin, end);
    const auto count = static_cast<std::size_t>(part.problems);
    std::vector<Matrix> metric(count);
    std::vector<Vector> wanted(count);
    std::vector<std::vector<Candidate>> best(count);
    const auto merge = [&](std::size_t p, std::vector<Candidate>&& more) {
      best[p].insert(best[p].end(), std::make_move_iterator(more.begin()),
                     std::make_move_iterator(more.end()));
      std::stable_sort(best[p].begin(), best[p].end(), [](const Candidate& a, const Candidate& b) {
        return a.distance < b.distance;
      });
      if (best[p].size() > each) best[p].resize(each);
    };
    drawing.samples = sampling.samples;
    drawing.seed = sampling.seed;
    drawing.first_sample = sampling.first_sample;
    drawing.first_problem = sampling.first_problem + begin;
    drawing.mode_table = sampling.mode_table;
    if (!result.cancelled) {
      const ImpactResult first = sample_impacts(part, drawing, backend);
      result.cancelled = first.cancelled;
      done += part.problems * sampling.samples;
      for (std::size_t p = 0; p < count; ++p) {
        const std::int64_t index = begin + static_cast<std::int64_t>(p);
        metric[p] = judging::metric(batch, measured, index);
        wanted[p] = Eigen::Map<const Vector>(
            measured.measured_velocity.data() + index * batch.velocities, batch.velocities);
        Nearest found = nearest_of(part, drawing, first.samples, p, metric[p], wanted[p], each);
        const auto at = static_cast<std::size_t>(index);
        told.resolution.data()[at] = resolution_of(found.ended, settings.held_out);
        told.sampled_distance.data()[at] =
            found.best.empty() ? kInfinite : found.best.front().distance;
        merge(p, std::move(found.best));
      }
    } else {
      std::fill_n(told.resolution.data() + begin, count, kNan);
      std::fill_n(told.sampled_distance.data() + begin, count, kInfinite);
    }
    double share = 1.0;
    for (int round = 1; round <= settings.rounds && !result.cancelled; ++round) {
      share *= 0.5;
      const ImpactBatch narrow = around(part, best, each, share);
      drawing.samples = redraws;
      drawing.seed = sampling.seed + static_cast<std::uint64_t>(round);
      drawing.first_sample = 0;
      drawing.first_problem = (sampling.first_problem + begin) * settings.nearest;
      const ImpactResult again = sample_impacts(narrow, drawing, backend);
      result.cancelled = again.cancelled;
      done += narrow.problems * redraws;
      for (std::size_t p = 0; p < count; ++p) {
        for (std::size_t k = 0; k < each; ++k) {
          merge(p,
                nearest_of(narrow, drawing, again.samples, p * each + k, metric[p], wanted[p], each)
                    .best);
        }
      }
    }
    for (std::size_t p = 0; p < count; ++p) {
      const auto at = static_cast<std::size_t>(begin) + p;
      put(told, at, nv, m, rows, best[p].empty() ? Candidate{} : best[p].front());
      const double allowed = relative ? settings.tolerance : settings.deviations;
      told.allowed.data()[at] = allowed;
      JudgeVerdict& verdict = told.verdict.data()[at];
      verdict =
          told.distance.data()[at] <= allowed ? JudgeVerdict::inside : JudgeVerdict::not_reached;
      if (verdict == JudgeVerdict::inside || result.cancelled) continue;
      const bool apart = result.floor.floor_status.data()[at] == Status::solved &&
                         result.floor.floor.data()[at] * (1.0 - kSpare) > allowed;
      if (apart) {
        verdict = JudgeVerdict::outside_proven;
      } else if (settings.enclose) {
        const ImpactProblem problem = problem_of(batch, static_cast<std::int64_t>(at));
        EnclosureSettings enclosing;
        enclosing.law = sampling.law;
        enclosing.friction_directions = sampling.friction_directions;
        enclosing.threads = sampling.threads;
        if (excludes(problem, enclose_impact(problem, enclosing), metric[p], wanted[p], allowed)) {
          verdict = JudgeVerdict::outside_proven;
        }
      }
    }
  }
  return result;
}

}  // namespace carom
