#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <carom/types/motion_replay.hpp>

#include "motion/backends.hpp"

namespace carom::reference {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kTouching = 1e-8;  // [m]
constexpr double kClosing = 1e-7;   // [m/s]: slower contacts stay closed
constexpr int kLeastSteps = 4;      // of a piece
constexpr int kWholeSweeps = 200;
constexpr int kSweeps = 2000;

struct State {
  double time = 0.0;
  VectorXd q, v;
};

std::span<const double> span_of(const VectorXd& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}

class Stepper {
 public:
  Stepper(const MotionProblem& problem, std::vector<int> contacts)
      : problem_(problem), contacts_(std::move(contacts)) {}

  /// Every step's impulses were found.
  [[nodiscard]] bool settled() const { return settled_; }

  State go(State at, double end, long steps) {
    const double h = (end - at.time) / static_cast<double>(steps);
    const double start = at.time;
    impulse_ = VectorXd();
    for (long k = 0; k < steps; ++k) {
      step(at, h);
      at.time = start + h * static_cast<double>(k + 1);
    }
    return at;
  }

 private:
  /// One step: v+ = v + h M^-1 (F + drive) + M^-1 J' p with p in the cones and J v+ complementary.
  void step(State& at, double h) {
    const MotionTerms terms = motion::terms_of(problem_, span_of(at.q), span_of(at.v), at.time);
    const auto nv = at.v.size();
    const Eigen::LLT<MatrixXd> mass(Eigen::Map<const Rows>(terms.mass.data(), nv, nv));
    VectorXd force = Eigen::Map<const VectorXd>(terms.force.data(), nv);
    if (!problem_.drive.empty()) {
      const auto knots = static_cast<long>(problem_.drive.size()) / nv;
      const long knot = std::clamp(static_cast<long>((at.time + 0.5 * h) / problem_.drive_interval),
                                   0L, knots - 1);
      force += Eigen::Map<const VectorXd>(problem_.drive.data() + knot * nv, nv);
    }
    VectorXd v = at.v + h * mass.solve(force);
    const int rows = terms.rows;
    const auto count = static_cast<Eigen::Index>(contacts_.size());
    if (count > 0) {
      Rows jacobian(count * rows, nv);
      VectorXd drift(count * rows);
      for (Eigen::Index c = 0; c < count; ++c) {
        const long first = static_cast<long>(contacts_[static_cast<std::size_t>(c)]) * rows;
        jacobian.middleRows(c * rows, rows) =
            Eigen::Map<const Rows>(terms.jacobian.data() + first * nv, rows, nv);
        drift.segment(c * rows, rows) =
            Eigen::Map<const VectorXd>(terms.drift.data() + first, rows);
      }
      const MatrixXd effect = mass.solve(jacobian.transpose());
      const MatrixXd yielding = jacobian * effect;
      VectorXd speed = jacobian * v + h * drift;
      if (impulse_.size() != speed.size()) impulse_ = VectorXd::Zero(speed.size());
      speed += yielding * impulse_;
      scale_ = h * force.lpNorm<Eigen::Infinity>();
      solve(terms, yielding, speed);
      v += effect * impulse_;
    }
    const VectorXd middle = 0.5 * (at.v + v);
    const MotionTerms there = motion::terms_of(problem_, span_of(at.q), span_of(middle), at.time);
    at.q += h * Eigen::Map<const VectorXd>(there.rates.data(), at.q.size());
    for (const int first : there.quaternions) at.q.segment(first, 4).normalize();
    at.v = v;
  }

  /// Contact after contact; a contact that has lifted by more than a step sees takes nothing.
  void solve(const MotionTerms& terms, const MatrixXd& yielding, VectorXd& speed) {
    const int rows = terms.rows;
    double moved = 0.0;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      moved = 0.0;
      for (std::size_t c = 0; c < contacts_.size(); ++c) {
        const auto contact = static_cast<std::size_t>(contacts_[c]);
        const auto at = static_cast<Eigen::Index>(c) * rows;
        VectorXd next = impulse_.segment(at, rows);
        if (terms.gap[contact] > kLifted) {
          next.setZero();
        } else {
          next[0] = std::max(0.0, next[0] - speed[at] / yielding(at, at));
          double most = 0.0;
          for (int d = 1; d < rows; ++d) most = std::max(most, yielding(at + d, at + d));
          for (int d = 1; d < rows && most > 0.0; ++d) next[d] -= speed[at + d] / most;
          const double size = next.tail(rows - 1).norm();
          const double limit = terms.friction[contact] * next[0];
          if (size > limit) next.tail(rows - 1) *= limit / size;
        }
        // Where friction turns contacts round in a circle, shorter strides settle.
        const double stride = sweep < kWholeSweeps ? 1.0 : 0.2;
        next = (1.0 - stride) * impulse_.segment(at, rows) + stride * next;
        const VectorXd change = next - impulse_.segment(at, rows);
        moved = std::max(moved, change.lpNorm<Eigen::Infinity>());
        speed += yielding.middleCols(at, rows) * change;
        impulse_.segment(at, rows) = next;
      }
      if (moved <= 1e-13 * (scale_ + impulse_.lpNorm<Eigen::Infinity>())) return;
    }
    if (!(moved <= 1e-8 * (scale_ + impulse_.lpNorm<Eigen::Infinity>()))) settled_ = false;
  }

  static constexpr double kLifted = 1e-6;  // [m]: rounding of many steps is below

  const MotionProblem& problem_;
  std::vector<int> contacts_;
  VectorXd impulse_;
  double scale_ = 0.0;  // of a step's impulses [N s]
  bool settled_ = true;
};

/// Contacts that are closed and stay so unless forces part them.
std::vector<int> closed(const MotionTerms& terms, const VectorXd& v) {
  std::vector<int> found;
  for (std::size_t i = 0; i < terms.gap.size(); ++i) {
    const Eigen::Map<const VectorXd> row(
        terms.jacobian.data() + static_cast<std::ptrdiff_t>(i) * terms.rows * v.size(), v.size());
    if (terms.gap[i] <= kTouching && std::abs(row.dot(v)) <= kClosing) {
      found.push_back(static_cast<int>(i));
    }
  }
  return found;
}

/// Whether impulses of what touches, in their cones, take v to `after` without energy.
bool explained(const MotionTerms& terms, const VectorXd& v, const VectorXd& after, double slack) {
  const auto nv = v.size();
  const int rows = terms.rows;
  const Rows mass = Eigen::Map<const Rows>(terms.mass.data(), nv, nv);
  if (after.dot(mass * after) > v.dot(mass * v) + slack * (1.0 + v.norm()) * mass.norm()) {
    return false;
  }
  std::vector<std::size_t> touching;
  for (std::size_t i = 0; i < terms.gap.size(); ++i) {
    if (std::abs(terms.gap[i]) <= 10.0 * slack) touching.push_back(i);
  }
  const VectorXd momentum = mass * (after - v);
  const double room = 10.0 * slack * (1.0 + mass.norm());
  if (touching.empty()) return momentum.norm() <= room;
  MatrixXd transposed(nv, static_cast<Eigen::Index>(touching.size()) * rows);
  for (std::size_t c = 0; c < touching.size(); ++c) {
    transposed.middleCols(static_cast<Eigen::Index>(c) * rows, rows) =
        Eigen::Map<const Rows>(
            terms.jacobian.data() + static_cast<std::ptrdiff_t>(touching[c]) * rows * nv, rows, nv)
            .transpose();
  }
  const Eigen::ColPivHouseholderQR<MatrixXd> qr(transposed);
  const VectorXd impulse = qr.solve(momentum);
  if ((transposed * impulse - momentum).norm() > room) return false;
  if (qr.rank() < transposed.cols()) return true;  // it is one of many
  for (std::size_t c = 0; c < touching.size(); ++c) {
    const auto at = static_cast<Eigen::Index>(c) * rows;
    const double tangent = impulse.segment(at + 1, rows - 1).norm();
    if (impulse[at] < -room || tangent > terms.friction[touching[c]] * impulse[at] + room) {
      return false;
    }
  }
  return true;
}

}  // namespace

MotionReplay replay_motion(const MotionProblem& problem, const MotionResult& result,
                           std::int64_t sample, const ReplaySettings& settings) {
  const auto nq = static_cast<std::size_t>(result.positions);
  const auto nv = static_cast<std::size_t>(result.velocities);
  const auto vector = [](const double* x, std::size_t n) {
    return VectorXd(Eigen::Map<const VectorXd>(x, static_cast<Eigen::Index>(n)));
  };
  const auto row = static_cast<std::size_t>(sample);
  const auto count = static_cast<std::size_t>(result.event_count.host()[row]);
  const auto first = row * static_cast<std::size_t>(result.event_rows);
  const auto state_at = [&](std::size_t k) {
    const double* at = result.event_state.data() + (first + k) * (nq + nv);
    return State{result.event_time.host()[first + k], vector(at, nq), vector(at + nq, nv)};
  };
  const auto kind_at = [&](std::size_t k) { return result.event_kind.host()[first + k]; };
  const bool drawn = !problem.position_spread.empty() || !problem.velocity_spread.empty();
  const MotionEnd end = result.end.host()[row];
  MotionReplay replay;
  State at{0.0, vector(problem.position.data(), nq), vector(problem.velocity.data(), nv)};
  std::size_t next = 0;
  if (drawn && count > 0) {  // the start is not kept, the first event's state is
    at = state_at(0);
    next = 1;
  }
  double replayed = 0.0;
  for (; next <= count && replayed < settings.longest; ++next) {
    const bool last = next == count;
    if (last && (end != MotionEnd::duration ||
                 result.events.host()[row] > static_cast<std::int32_t>(count))) {
      break;  // nothing is known of what follows
    }
    const State to =
        last ? State{result.time.host()[row], vector(result.position.data() + row * nq, nq),
                     vector(result.velocity.data() + row * nv, nv)}
             : state_at(next);
    const MotionEventKind kind = last ? MotionEventKind::rest : kind_at(next);
    const double span = to.time - at.time;
    if (kind == MotionEventKind::zeno) {
      ++replay.skipped;
      at = to;
      continue;
    }
    State there = at;
    double own = 0.0;
    bool settled = true;
    if (span > 0.0) {
      const MotionTerms terms = motion::terms_of(problem, span_of(at.q), span_of(at.v), at.time);
      Stepper stepper(problem, closed(terms, at.v));
      const long steps = std::max<long>(kLeastSteps, std::lround(std::ceil(span / settings.step)));
      const State coarse = stepper.go(at, to.time, steps);
      const State fine = stepper.go(at, to.time, 2 * steps);
      settled = stepper.settled();
      own = std::max((fine.q - coarse.q).lpNorm<Eigen::Infinity>(),
                     (fine.v - coarse.v).lpNorm<Eigen::Infinity>());
      there.q = 2.0 * fine.q - coarse.q;
      there.v = 2.0 * fine.v - coarse.v;
      replay.step_error = std::max(replay.step_error, own);
      replayed += span;
    }
    const bool jumps = kind == MotionEventKind::impact || kind == MotionEventKind::push;
    if (!settled) {
      ++replay.unsettled;
      at = to;
      continue;
    }
    double off = (there.q - to.q).lpNorm<Eigen::Infinity>();
    if (!jumps) off = std::max(off, (there.v - to.v).lpNorm<Eigen::Infinity>());
    const double slack = settings.tolerance + own;
    if (span > 0.0) {
      ++replay.pieces;
      replay.differing += off <= slack ? 0 : 1;
      replay.worst = std::max(replay.worst, off - own);
    }
    if (jumps) {
      ++replay.jumps;
      const MotionTerms terms = motion::terms_of(problem, span_of(to.q), span_of(there.v), to.time);
      replay.differing_jumps += explained(terms, there.v, to.v, slack) ? 0 : 1;
    }
    at = to;
  }
  return replay;
}

template <>
const MotionEntries& entries() {
  static constexpr MotionEntries kEntries{nullptr, replay_motion};
  return kEntries;
}

}  // namespace carom::reference
