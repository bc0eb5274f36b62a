#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/impact_metric.hpp"
#include "core/constants.hpp"
#include "core/message.hpp"
#include "core/random.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"

namespace carom {

void IdentifySettings::validate() const { require::settings(*this); }

namespace {

using judging::Matrix;
using judging::Vector;

constexpr std::int64_t kSamplesOfMany = 512;

void require_grid(const char* name, std::span<const double> grid) {
  require::finite(name, grid.data(), grid.size(), 0);
  if (grid.empty()) require::refuse({}, name, {}, "an empty grid", "must have numbers");
  for (std::size_t i = 1; i < grid.size(); ++i) {
    if (grid[i] > grid[i - 1]) continue;
    require::refuse({}, name, {static_cast<std::int64_t>(i)}, message::number(grid[i]),
                    "must be larger than the number before");
  }
}

double mean_cell(const std::vector<double>& grid) {
  return grid.size() < 2 ? 1.0
                         : (grid.back() - grid.front()) / static_cast<double>(grid.size() - 1);
}

/// A box of grid points, ends included, and its area.
struct Box {
  std::array<std::size_t, 4> at;  ///< restitution low, high, friction low, high
  double area;
};

/// All boxes, the smallest first.
std::vector<Box> boxes_of(const std::vector<double>& e, const std::vector<double>& mu) {
  std::vector<Box> boxes;
  const double wide = mean_cell(e), high = mean_cell(mu);
  for (std::size_t a = 0; a < e.size(); ++a) {
    for (std::size_t b = a; b < e.size(); ++b) {
      for (std::size_t c = 0; c < mu.size(); ++c) {
        for (std::size_t d = c; d < mu.size(); ++d) {
          boxes.push_back({{a, b, c, d}, (e[b] - e[a] + wide) * (mu[d] - mu[c] + high)});
        }
      }
    }
  }
  std::stable_sort(boxes.begin(), boxes.end(),
                   [](const Box& x, const Box& y) { return x.area < y.area; });
  return boxes;
}

/// Explained grid points of each problem in all boxes from the grid's corner.
class Explained {
 public:
  Explained(const ImpactIdentification& found, double tolerance)
      : rows_(found.restitution.size() + 1), columns_(found.friction.size() + 1) {
    const std::size_t cells = (rows_ - 1) * (columns_ - 1);
    problems_ = found.distance.size() / cells;
    total_.assign(problems_ * rows_ * columns_, 0);
    for (std::size_t p = 0; p < problems_; ++p) {
      for (std::size_t a = 1; a < rows_; ++a) {
        for (std::size_t b = 1; b < columns_; ++b) {
          const double d = found.distance[p * cells + (a - 1) * (columns_ - 1) + b - 1];
          total_[at(p, a, b)] = total_[at(p, a - 1, b)] + total_[at(p, a, b - 1)] -
                                total_[at(p, a - 1, b - 1)] + (d <= tolerance ? 1 : 0);
        }
      }
    }
  }

  [[nodiscard]] std::size_t problems() const { return problems_; }
  [[nodiscard]] bool in(const Box& box, std::size_t p) const {
    const auto& [a, b, c, d] = box.at;
    return total_[at(p, b + 1, d + 1)] - total_[at(p, a, d + 1)] - total_[at(p, b + 1, c)] +
               total_[at(p, a, c)] >
           0;
  }

 private:
  [[nodiscard]] std::size_t at(std::size_t p, std::size_t a, std::size_t b) const {
    return (p * rows_ + a) * columns_ + b;
  }

  std::size_t rows_, columns_, problems_ = 0;
  std::vector<int> total_;
};

/// As numpy's, linear between sorted values.
double percentile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (place - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

}  // namespace

void smallest_interval(ImpactIdentification& found, const IdentifySettings& settings,
                       std::uint64_t seed) {
  settings.validate();
  found.smallest_interval.fill(kNan);
  found.bounds.fill(kNan);
  const Explained explained(found, settings.tolerance);
  const std::size_t n = explained.problems();
  if (n == 0) return;
  // How often each problem counts: once, and as each resampling drew it.
  const auto draws = static_cast<std::size_t>(settings.bootstrap) + 1;
  std::vector<int> weight(draws * n, 0);
  std::fill_n(weight.begin(), n, 1);
  for (std::size_t draw = 1; draw < draws; ++draw) {
    for (std::size_t k = 0; k < n; ++k) {
      const double x = uniform(seed, 0, draw, static_cast<std::uint32_t>(k));
      ++weight[draw * n + std::min(n - 1, static_cast<std::size_t>(x * static_cast<double>(n)))];
    }
  }
  const auto needed =
      static_cast<std::int64_t>(std::ceil(settings.share * static_cast<double>(n) - 1e-9));
  std::vector<std::size_t> open(draws);
  std::iota(open.begin(), open.end(), std::size_t{0});
  std::array<std::vector<double>, 4> ends;
  std::vector<std::size_t> hit;
  for (const Box& box : boxes_of(found.restitution, found.friction)) {
    if (open.empty()) break;
    hit.clear();
    for (std::size_t p = 0; p < n; ++p) {
      if (explained.in(box, p)) hit.push_back(p);
    }
    std::erase_if(open, [&](std::size_t draw) {
      std::int64_t sum = 0;
      for (const std::size_t p : hit) sum += weight[draw * n + p];
      if (sum < needed) return false;
      for (std::size_t k = 0; k < 4; ++k) {
        const double end = (k < 2 ? found.restitution : found.friction)[box.at[k]];
        if (draw == 0) {
          found.smallest_interval[k] = end;
        } else {
          ends[k].push_back(end);
        }
      }
      return true;
    });
  }
  for (std::size_t k = 0; k < 4 && !ends[k].empty(); ++k) {
    std::sort(ends[k].begin(), ends[k].end());
    found.bounds[2 * k] = percentile(ends[k], 0.05);
    found.bounds[2 * k + 1] = percentile(ends[k], 0.95);
  }
}

ImpactIdentification identify_impacts(const ImpactBatch& batch, const MeasuredImpacts& measured,
                                      std::span<const double> restitution,
                                      std::span<const double> friction,
                                      const IdentifySettings& settings,
                                      const ImpactSettings& sampling, Backend backend) {
  settings.validate();
  require_grid("restitution", restitution);
  require_grid("friction", friction);
  validate(batch);
  validate(batch, measured);
  ImpactIdentification found;
  found.restitution.assign(restitution.begin(), restitution.end());
  found.friction.assign(friction.begin(), friction.end());
  const auto n = static_cast<std::size_t>(batch.problems);
  const auto nv = static_cast<std::size_t>(batch.velocities);
  const std::size_t pairs = restitution.size() * friction.size();
  found.distance.assign(n * pairs, kInfinity);
  std::vector<Matrix> metric;
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    metric.push_back(judging::metric(batch, measured, p));
  }

  ImpactSettings drawing = sampling;
  drawing.samples = settings.samples > 0  ? settings.samples
                    : batch.contacts == 1 ? 1
                                          : kSamplesOfMany;
  drawing.epsilon = 0.0;
  drawing.problem_epsilon = {};
  drawing.keep_samples = -1;
  drawing.keep_paths = 0;
  drawing.bad_problem = BadProblem::isolate;
  drawing.result_space = MemorySpace::host;
  ImpactBatch tried = copy_to(batch, MemorySpace::host);
  const auto all = static_cast<std::size_t>(batch.problems * batch.contacts);
  tried.restitution_low = Buffer<double>(all);
  tried.restitution_high = Buffer<double>(all);
  tried.friction_high = {};
  const std::int64_t each = batch.problems * drawing.samples;
  std::int64_t done = 0;
  if (sampling.progress) {
    drawing.progress = [&](const ImpactProgress& at) {
      ImpactProgress whole;
      whole.samples_done = done + at.samples_done;
      whole.samples_total = each * static_cast<std::int64_t>(pairs);
      return sampling.progress(whole);
    };
  }
  for (std::size_t pair = 0; pair < pairs && !found.cancelled; ++pair) {
    const double e = restitution[pair / friction.size()];
    std::fill_n(tried.restitution_low.data(), all, e);
    std::fill_n(tried.restitution_high.data(), all, e);
    std::fill_n(tried.friction.data(), all, friction[pair % friction.size()]);
    const ImpactResult run = sample_impacts(tried, drawing, backend);
    found.cancelled = run.cancelled;
    done += each;
    const auto count = static_cast<std::size_t>(run.samples.count);
    for (std::size_t p = 0; p < n; ++p) {
      const Eigen::Map<const Vector> wanted(measured.measured_velocity.data() + p * nv,
                                            batch.velocities);
      double& least = found.distance[p * pairs + pair];
      for (std::size_t s = p * count; s < (p + 1) * count; ++s) {
        if (run.samples.status.data()[s] != TrajectoryStatus::terminated) continue;
        const Eigen::Map<const Vector> v(run.samples.velocity.data() + s * nv, batch.velocities);
        least = std::min(least, (metric[p] * (v - wanted)).norm());
      }
    }
  }
  smallest_interval(found, settings, sampling.seed);
  return found;
}

}  // namespace carom
