#include "mode_table.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

#include <carom/random.hpp>

namespace carom {

namespace {

constexpr std::uint64_t kPilotSeed = 0x6361726f6d;
constexpr int kPilotTrajectories = 64;
constexpr double kDistinct = 1e-7;  // two v' differ by more, relative to the contact speed
constexpr int kOptions = 7;         // separate; closed or full, each sticking or sliding either way

}  // namespace

bool wants_mode_table(int dimension, int contacts, const ImpactSettings& settings) {
  return settings.mode_table && settings.selection == Selection::any && dimension == 2 &&
         contacts >= 1 && contacts <= kernels::kMaxTableContacts &&
         settings.precision == Precision::float64;
}

ModeTable::ModeTable(const kernels::ImpactProblemView& problem, const kernels::ImpactRun& run)
    : rows_(2 * run.contacts), stride_(rows_ * (rows_ + run.contacts)) {
  const int m = run.contacts;
  delassus_.resize(static_cast<std::size_t>(rows_ * rows_));
  for (int i = 0; i < rows_; ++i) {
    for (int j = 0; j < rows_; ++j) {
      delassus_[static_cast<std::size_t>(i * rows_ + j)] =
          problem.delassus[i * rows_ + j] / (problem.scale[i % m] * problem.scale[j % m]);
    }
  }
  long combinations = 1;
  for (int i = 0; i < m; ++i) combinations *= kOptions;
  for (long code = 0; code < combinations; ++code) add_combination(m, problem.friction, code);
  order_by_use(problem, run);
}

/// Appends the linear function of one combination of modes, if its system is regular.
void ModeTable::add_combination(int m, const double* friction, long code) {
  Eigen::MatrixXd force = Eigen::MatrixXd::Zero(rows_, rows_);     // lambda per unknown
  Eigen::MatrixXd velocity = Eigen::MatrixXd::Zero(rows_, rows_);  // functional of u that vanishes
  Eigen::MatrixXd bound = Eigen::MatrixXd::Zero(rows_, m);         // lambda per lambda_max
  int unknowns = 0;
  for (int i = 0; i < m; ++i, code /= kOptions) {
    const int option = static_cast<int>(code % kOptions);
    if (option == 0) continue;
    const bool closed = option <= 3;
    const int sliding = (option - 1) % 3;  // 0 sticks
    if (!(friction[i] > 0.0) && sliding != 1) return;
    const double along = sliding == 0 ? 0.0 : (sliding == 1 ? friction[i] : -friction[i]);
    if (closed) {
      force(i, unknowns) = 1.0;
      force(m + i, unknowns) = along;
      velocity(i, unknowns++) = 1.0;
    } else {
      bound(i, i) = 1.0;
      bound(m + i, i) = along;
    }
    if (sliding == 0) {
      force(m + i, unknowns) = 1.0;
      velocity(m + i, unknowns++) = 1.0;
    }
  }
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Matrix> delassus(delassus_.data(), rows_, rows_);
  const Eigen::MatrixXd f = force.leftCols(unknowns);
  const Eigen::MatrixXd v = velocity.leftCols(unknowns);
  Matrix map = Matrix::Zero(rows_, rows_ + m);
  map.rightCols(m) = bound;
  if (unknowns > 0) {
    Eigen::FullPivLU<Eigen::MatrixXd> lu(v.transpose() * delassus * f);
    lu.setThreshold(1e-10);
    if (!lu.isInvertible()) return;
    Eigen::MatrixXd given(unknowns, rows_ + m);
    given.leftCols(rows_) = v.transpose();
    given.rightCols(m) = v.transpose() * delassus * bound;
    map -= f * lu.solve(given);
  }
  maps_.insert(maps_.end(), map.data(), map.data() + map.size());
}

/// Runs pilot trajectories through all entries: orders them by use, or drops the table where a step
/// turns out to have several v'. There the entry tried first would decide, and the sampled set
/// would shrink to what that one gives; the contact path has no such preference.
void ModeTable::order_by_use(const kernels::ImpactProblemView& problem,
                             const kernels::ImpactRun& run) {
  const int m = run.contacts;
  const auto rows = static_cast<std::size_t>(rows_);
  const auto entries = maps_.size() / static_cast<std::size_t>(stride_);
  std::vector<std::vector<std::size_t>> solvers;  // entries that solve each pilot step
  std::vector<double> u(rows), impulse(rows), next(rows), other(rows);
  std::vector<double> limit(static_cast<std::size_t>(m));
  const auto solve = [&](std::size_t entry, std::vector<double>& after) {
    const kernels::ModeTableView one{1, delassus_.data(),
                                     maps_.data() + entry * static_cast<std::size_t>(stride_)};
    if (!kernels::find_mode<double>(one, m, problem.friction, u.data(), limit.data(),
                                    impulse.data())) {
      return false;
    }
    for (std::size_t i = 0; i < rows; ++i) {
      after[i] = u[i];
      for (std::size_t j = 0; j < rows; ++j) after[i] += delassus_[i * rows + j] * impulse[j];
    }
    return true;
  };
  const auto approaches = [&] {
    return std::any_of(u.begin(), u.begin() + m,
                       [&](double normal) { return normal < -run.velocity_tolerance; });
  };
  for (int sample = 0; sample < kPilotTrajectories; ++sample) {
    std::copy_n(problem.contact_velocity, rows_, u.begin());
    for (int step = 0; step < run.max_steps && approaches(); ++step) {
      for (int i = 0; i < m; ++i) {
        limit[static_cast<std::size_t>(i)] =
            run.step_size * uniform(kPilotSeed, 0, static_cast<std::uint64_t>(sample),
                                    static_cast<std::uint32_t>(step * m + i));
      }
      double speed = 0.0;
      for (const double x : u) speed = std::max(speed, std::abs(x));
      std::vector<std::size_t> found;
      for (std::size_t entry = 0; entry < entries; ++entry) {
        if (!solve(entry, found.empty() ? next : other)) continue;
        for (std::size_t i = 0; !found.empty() && i < rows; ++i) {
          if (std::abs(next[i] - other[i]) > kDistinct * speed) {
            maps_.clear();
            return;
          }
        }
        found.push_back(entry);
      }
      if (found.empty()) break;
      solvers.push_back(std::move(found));
      u = next;
    }
  }
  // Greedy cover: each place goes to the entry that solves most of the steps still open. Where
  // modes overlap (the impulse of a step need not be unique) this leaves few entries to try.
  std::vector<double> sorted;
  std::vector<bool> taken(entries, false);
  const auto places = std::min(entries, static_cast<std::size_t>(kernels::kMaxTableEntries));
  for (std::size_t place = 0; place < places; ++place) {
    std::vector<long> uses(entries, 0);
    for (const auto& step : solvers) {
      for (const std::size_t entry : step) ++uses[entry];
    }
    std::size_t entry = entries;
    for (std::size_t e = 0; e < entries; ++e) {
      if (!taken[e] && (entry == entries || uses[e] > uses[entry])) entry = e;
    }
    taken[entry] = true;
    std::erase_if(solvers, [&](const auto& step) {
      return std::find(step.begin(), step.end(), entry) != step.end();
    });
    const double* map = maps_.data() + entry * static_cast<std::size_t>(stride_);
    sorted.insert(sorted.end(), map, map + stride_);
  }
  maps_ = std::move(sorted);
}

kernels::ModeTableView ModeTable::view() const {
  return {static_cast<int>(maps_.size() / static_cast<std::size_t>(std::max(stride_, 1))),
          delassus_.data(), maps_.data()};
}

}  // namespace carom
