#include <carom/impact_bounces.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include "analysis/dense_models.hpp"
#include "core/constants.hpp"
#include "core/message.hpp"
#include "core/require.hpp"
#include "impact/mechanism.hpp"
#include "impact/single_contact.hpp"
#include "impact/step_outcomes.hpp"

namespace carom {

namespace {

using dense::Mechanism;
using dense::StepModel;
using dense::Vector;

/// The problem with the middles of its intervals, and its restitution.
struct Bounce {
  Mechanism mechanism;
  StepModel model;
  Vector restitution;  ///< [m]
  double tolerance;    ///< of certified steps
  Vector velocity, impulse;
  double residual = 0.0;
  Status status = Status::solved;

  [[nodiscard]] int contacts() const { return mechanism.contacts; }
  [[nodiscard]] Vector speeds() const { return mechanism.jacobian * velocity; }
  void push(const Vector& more) {
    impulse += more;
    velocity += mechanism.response * more;
  }
  /// (75) from contact velocities u.
  Vector solve(const Vector& u, const Vector& most) {
    const dense::StepImpulse found = dense::solve_step(model, u, most, tolerance);
    if (found.status != Status::solved) status = found.status;
    residual = std::isnan(found.residual) ? found.residual : std::max(residual, found.residual);
    return found.impulse;
  }
  Vector solve(const Vector& u) { return solve(u, Vector::Constant(contacts(), kInfinity)); }
  /// These normal impulses [m], and the friction that takes as much as it can behind them.
  Vector rub(const Vector& normal) {
    // Every contact is to push: their normal speeds are shifted so that none can be stopped.
    Vector u = speeds();
    for (int i = 0; i < contacts(); ++i) {
      double reach = 0.0;
      for (int k = 0; k < mechanism.rows(); ++k) {
        const int of = k < contacts() ? k : (k - contacts()) / (mechanism.dimension - 1);
        const double limit = normal[of] * (k < contacts() ? 1.0 : mechanism.friction[of]);
        reach += std::abs(mechanism.delassus(i, k)) * limit;
      }
      u[i] = std::min(u[i], 0.0) - 2.0 * reach - 1e-3 * std::abs(u[i]);
    }
    return solve(u, normal);
  }
};

double middle(const std::vector<double>& low, const std::vector<double>& high, std::size_t i) {
  if (low.empty()) return 0.0;
  return high.empty() ? low[i] : 0.5 * (low[i] + high[i]);
}

Bounce begin(const ImpactProblem& problem, const ImpactModelSettings& settings) {
  validate(problem);
  ImpactModelSettings used = settings;
  if (problem.dimension == 2) used.friction_directions = ImpactModelSettings{}.friction_directions;
  used.validate();
  ImpactProblem plain = problem;
  for (std::size_t i = 0; i < plain.friction.size(); ++i) {
    plain.friction[i] = middle(problem.friction, problem.friction_high, i);
  }
  Mechanism mechanism = dense::make_mechanism(plain);
  const StepModel model = dense::step_model(mechanism, used);
  Bounce bounce{std::move(mechanism),    model, Vector(problem.contacts),
                used.residual_tolerance, {},    {}};
  for (int i = 0; i < problem.contacts; ++i) {
    bounce.restitution[i] =
        middle(problem.restitution_low, problem.restitution_high, static_cast<std::size_t>(i));
  }
  bounce.velocity = bounce.mechanism.velocity;
  bounce.impulse = Vector::Zero(bounce.mechanism.rows());
  return bounce;
}

SequentialOutcome ended(const Bounce& bounce, int impacts, const ImpactModelSettings& settings) {
  SequentialOutcome outcome;
  outcome.impacts = impacts;
  dense::fill(outcome, bounce.mechanism, bounce.status, bounce.velocity, bounce.impulse,
              bounce.residual, settings);
  return outcome;
}

}  // namespace

SequentialOutcome bouncing_sequence(const ImpactProblem& problem, std::span<const int> order,
                                    const ImpactModelSettings& settings) {
  Bounce bounce = begin(problem, settings);
  dense::require_order(order, problem.contacts);
  ImpactSettings sampling;  // one contact has one outcome
  sampling.method = ImpactMethod::events;
  sampling.samples = sampling.keep_samples = 1;
  sampling.epsilon = 0.0;
  sampling.mode_table = false;
  sampling.threads = 1;
  if (problem.dimension == 3) sampling.friction_directions = settings.friction_directions;
  std::vector<ImpactProblem> singles;
  for (const int i : order) {
    ImpactProblem& one = singles.emplace_back(single_contact(problem, i));
    one.friction = {bounce.mechanism.friction[i]};
    one.friction_high.clear();
    one.restitution_low = one.restitution_high = {bounce.restitution[i]};
  }
  int impacts = 0;
  for (std::size_t turn = 0; bounce.status == Status::solved; turn = (turn + 1) % order.size()) {
    const Vector u = bounce.speeds();
    if (!bounce.mechanism.approaches(u, settings.velocity_tolerance)) break;
    const int i = order[turn];
    if (!(u[i] < -settings.velocity_tolerance)) continue;
    if (impacts == settings.max_impacts) {
      bounce.status = Status::iteration_limit;
      break;
    }
    ImpactProblem& one = singles[turn];
    one.velocity.assign(bounce.velocity.begin(), bounce.velocity.end());
    const ImpactResult result = sample_impacts(make_batch({&one, 1}), sampling, Backend::cpu);
    if (result.samples.status.data()[0] != TrajectoryStatus::terminated) {
      bounce.status = Status::numerical_error;
    }
    bounce.residual = std::max(bounce.residual, result.samples.residual.data()[0]);
    Vector single = Vector::Zero(bounce.mechanism.rows());
    for (int c = 0; c < problem.dimension; ++c) {
      const int row = c == 0 ? i : problem.contacts + i * (problem.dimension - 1) + c - 1;
      single[row] = result.samples.impulse.data()[c];
    }
    bounce.push(single);
    ++impacts;
  }
  SequentialOutcome outcome = ended(bounce, impacts, settings);
  outcome.order.assign(order.begin(), order.end());
  return outcome;
}

SequentialOutcome bouncing_rounds(const ImpactProblem& problem, BounceRounds rounds,
                                  const ImpactModelSettings& settings) {
  Bounce bounce = begin(problem, settings);
  const int m = problem.contacts;
  const Vector& e = bounce.restitution;
  if (rounds == BounceRounds::reflection && m > 0 && e.maxCoeff() != e.minCoeff()) {
    require::refuse({}, "restitution", {}, "of numbers that differ",
                    "must be one number for all contacts in rounds of reflections");
  }
  int count = 0;
  const auto settled = [&] {
    if (bounce.status != Status::solved) return true;
    if (!bounce.mechanism.approaches(bounce.speeds(), settings.velocity_tolerance)) return true;
    if (count < settings.max_impacts) return false;
    bounce.status = Status::iteration_limit;
    return true;
  };
  if (rounds == BounceRounds::reflection) {
    const Vector inelastic = bounce.solve(bounce.speeds());
    while (!settled()) {
      Vector most = Vector::Zero(m);  // those that separate take no part
      const Vector u = bounce.speeds();
      for (int i = 0; i < m; ++i) most[i] = u[i] < -settings.velocity_tolerance ? kInfinity : 0.0;
      bounce.push(2.0 * bounce.solve(u, most));
      ++count;
    }
    const double share = m > 0 ? e[0] : 0.0;
    const Vector all = share * bounce.impulse + (1.0 - share) * inelastic;
    bounce.impulse = all;
    bounce.velocity = bounce.mechanism.velocity + bounce.mechanism.response * all;
    return ended(bounce, count, settings);
  }
  while (!settled()) {
    Vector u = bounce.speeds();
    if (rounds == BounceRounds::newton) {
      for (int i = 0; i < m; ++i) u[i] += e[i] * std::min(u[i], 0.0);
      bounce.push(bounce.solve(u));
    } else {
      const Vector compression = bounce.solve(u);
      bounce.push(compression);
      bounce.push(bounce.rub(e.cwiseProduct(compression.head(m))));
    }
    ++count;
  }
  return ended(bounce, count, settings);
}

namespace {

/// The springs of an impact, by their energy: W = k x^(p + 1) / (p + 1), and dW = -u dP while they
/// are pressed, -u dP / e^2 while they give back.
class Springs {
 public:
  /// slow: of speeds that are none.
  Springs(const CompliantContacts& given, const Bounce& bounce, double slow)
      : given_(given),
        restitution_(bounce.restitution),
        response_(bounce.mechanism.delassus.diagonal()),
        slow_(slow),
        nothing_(1e-14 * bounce.mechanism.kinetic_energy(bounce.velocity)),
        pressed_(Vector::Zero(bounce.contacts())) {
    gap_ = given.gaps.empty()
               ? pressed_
               : Vector(Eigen::Map<const Vector>(given.gaps.data(),
                                                 static_cast<Eigen::Index>(given.gaps.size())));
  }

  [[nodiscard]] bool acts(int i, double u) const {
    return pressed_[i] > 0.0 || (gap_[i] <= 0.0 && u < -slow_);
  }
  [[nodiscard]] bool any_acts(const Vector& u) const {
    for (int i = 0; i < pressed_.size(); ++i) {
      if (acts(i, u[i])) return true;
    }
    return false;
  }
  /// Time until a gap closes at constant velocities, infinite where none does.
  [[nodiscard]] double until_closed(const Vector& u) const {
    double least = kInfinity;
    for (int i = 0; i < pressed_.size(); ++i) {
      if (gap_[i] > 0.0 && u[i] < -slow_) least = std::min(least, gap_[i] / -u[i]);
    }
    return least;
  }
  /// Nobody pushes for `time`.
  void pass(const Vector& u, double time) {
    for (int i = 0; i < pressed_.size(); ++i) {
      move(i, u[i] * time);
    }
  }

  /// Normal impulses of a time step: force at its middle, or all that is left.
  [[nodiscard]] Vector impulses(const Vector& u, double time) const {
    Vector all = Vector::Zero(pressed_.size());
    for (int i = 0; i < pressed_.size(); ++i) {
      if (!acts(i, u[i])) continue;
      const double change = time * rate(i, u[i]), x = pressed_[i] + 0.5 * change;
      all[i] = x > 0.0 ? time * stiffness(i) * std::pow(x, given_.exponent) : 0.0;
      if (u[i] > 0.0) {
        const double rest = square(i) * energy(i) / u[i];
        all[i] = pressed_[i] + change <= 0.0 ? rest : std::min(all[i], rest);
      } else if (pressed_[i] == 0.0) {
        all[i] = std::min(all[i], -u[i] / response_[i]);  // compression does not overshoot
      }
    }
    return all;
  }
  /// Time in which springs that only give back are empty.
  [[nodiscard]] double until_empty(const Vector& u) const {
    double most = 0.0;
    for (int i = 0; i < pressed_.size(); ++i) {
      if (!acts(i, u[i])) continue;
      if (!(u[i] > 0.0)) return kInfinity;
      most = std::max(most, pressed_[i] / -rate(i, u[i]));
    }
    return most;
  }
  /// Contact velocities went from `before` to `after` under these impulses.
  void work(const Vector& impulse, const Vector& before, const Vector& after, double time) {
    for (int i = 0; i < pressed_.size(); ++i) {
      const double mean = 0.5 * (before[i] + after[i]), done = impulse[i] * mean;
      if (acts(i, before[i])) {
        const double left = energy(i) - (mean < 0.0 ? done : done / square(i));
        pressed_[i] = left > nothing_ ? std::pow((given_.exponent + 1.0) * left / stiffness(i),
                                                 1.0 / (given_.exponent + 1.0))
                                      : 0.0;
        if (pressed_[i] > 0.0) continue;
      }
      if (!given_.gaps.empty()) move(i, mean * time);
    }
  }

 private:
  /// A gap grows by `change`; none is left where only rounding is.
  void move(int i, double change) {
    gap_[i] += change;
    if (gap_[i] <= 1e-9 * std::abs(change)) gap_[i] = 0.0;
  }

  [[nodiscard]] double stiffness(int i) const {
    return given_.stiffness[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] double square(int i) const { return restitution_[i] * restitution_[i]; }
  [[nodiscard]] double rate(int i, double u) const { return u < 0.0 ? -u : -u / square(i); }
  [[nodiscard]] double energy(int i) const {
    return stiffness(i) * std::pow(pressed_[i], given_.exponent + 1.0) / (given_.exponent + 1.0);
  }

  const CompliantContacts& given_;
  const Vector& restitution_;
  Vector response_;  ///< speed of each contact for one unit of its own push
  double slow_;
  double nothing_;  ///< energy that is none
  Vector pressed_, gap_;
};

void check(const CompliantContacts& springs, const Vector& restitution) {
  const auto m = static_cast<std::size_t>(restitution.size());
  require::size("stiffness", springs.stiffness.size(), m);
  if (!springs.gaps.empty()) require::size("gaps", springs.gaps.size(), m);
  require::positive("exponent", springs.exponent);
  require::positive("step", springs.step);
  for (std::size_t i = 0; i < m; ++i) {
    const std::vector<std::int64_t> at = {static_cast<std::int64_t>(i)};
    const auto refuse = [&](const char* field, double value, const char* rule) {
      require::refuse({}, field, at, message::number(value), rule);
    };
    if (!(springs.stiffness[i] > 0.0 && std::isfinite(springs.stiffness[i]))) {
      refuse("stiffness", springs.stiffness[i], "must be > 0");
    }
    if (!springs.gaps.empty() && !(springs.gaps[i] >= 0.0 && std::isfinite(springs.gaps[i]))) {
      refuse("gaps", springs.gaps[i], "must be >= 0");
    }
    const double e = restitution[static_cast<Eigen::Index>(i)];
    if (!(e > 0.0)) refuse("restitution", e, "must be > 0 for springs");
  }
}

}  // namespace

SequentialOutcome compliant_bounce(const ImpactProblem& problem, const CompliantContacts& given,
                                   const ImpactModelSettings& settings) {
  Bounce bounce = begin(problem, settings);
  check(given, bounce.restitution);
  Springs springs(given, bounce, settings.velocity_tolerance);
  double stop = 0.0;  // impulse that stops the fastest contact
  const Vector first = bounce.speeds();
  for (int i = 0; i < problem.contacts; ++i) {
    const double own = bounce.mechanism.delassus(i, i);
    if (own > 0.0) stop = std::max(stop, first.cwiseAbs().maxCoeff() / own);
  }
  const double wanted = given.step * stop;
  double time = 1.0;
  int steps = 0;
  while (bounce.status == Status::solved) {
    const Vector u = bounce.speeds();
    const double closing = springs.until_closed(u);
    if (!springs.any_acts(u)) {
      if (closing == kInfinity) break;
      springs.pass(u, closing);
      continue;
    }
    if (steps == settings.max_impacts) {
      bounce.status = Status::iteration_limit;
      break;
    }
    const auto total = [&](double t) { return springs.impulses(u, t).sum(); };
    const double most = std::min(closing, springs.until_empty(u));
    // the time in which the springs push by `wanted`, or all that is left
    double low = 0.0, high = std::min(most, 0.25 * time);
    for (int k = 0; k < 100 && high < most && total(high) < wanted; ++k) {
      low = high;
      high = std::min(most, 2.0 * high);
    }
    for (int k = 0; k < 40 && total(high) > wanted; ++k) {
      const double half = 0.5 * (low + high);
      (total(half) < wanted ? low : high) = half;
    }
    time = high;
    const Vector before = u;
    const Vector push = bounce.rub(springs.impulses(u, time));
    bounce.push(push);
    springs.work(push, before, bounce.speeds(), time);
    ++steps;
  }
  return ended(bounce, steps, settings);
}

}  // namespace carom
