#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/arrays.hpp"
#include "core/parallel.hpp"
#include "core/pointers.hpp"
#include "core/random.hpp"
#include "cpu/impact/step_equations.hpp"
#include "cpu/programs/derivatives/driver.hpp"
#include "impact/backends.hpp"
#include "impact/derivative_backends.hpp"
#include "impact/prepare.hpp"
#include "impact/step_solutions.hpp"

namespace carom::cpu {

namespace {

using derivatives::kNone;
using derivatives::Report;
using impact_modes::Contact;
using impact_modes::Side;
using impact_modes::State;
using Reals = std::vector<double>;

/// Samples that a thread takes at a time; the sums over a problem's samples are those of such
/// parts, so that they do not depend on the number of threads.
constexpr std::int64_t kPart = 64;

/// Modes of all contacts that make the same v'.
struct Branch {
  std::vector<State> states;
  Reals impulse;
};

/// A contact's mode that lies within the margin tolerance of another one.
struct Doubt {
  int contact;
  State other;
};

/// Numbers, and the sizes of the terms that they are sums of: what rounding is relative to.
struct Sized {
  Reals value, size;

  Sized() = default;
  Sized(const double* from, int count) : value(static_cast<std::size_t>(count)), size(value) {
    for (int i = 0; from != nullptr && i < count; ++i) add(i, from[i]);
  }
  void add(int i, double term) {
    value[static_cast<std::size_t>(i)] += term;
    size[static_cast<std::size_t>(i)] += std::fabs(term);
  }
  [[nodiscard]] double largest() const {
    double most = 0.0;
    for (const double each : size) most = kernels::larger(most, each);
    return most;
  }
};

struct Step {
  Reals before, after;   // v, v'
  Reals approach;        // J v
  Reals impulse, limit;  // lambda, lambda_max
  std::vector<State> free, held;
  std::vector<Doubt> doubts;
  std::vector<Branch> others;  // where impulses are not unique or rows are in doubt
};

/// Gradients of one sample or of a part's; empty where not wanted.
struct Sums {
  Reals mass_matrix, normal_jacobian, tangent_jacobian, friction, velocity;
  double step_size = 0.0;

  Sums(const ImpactSizes& sizes, const ImpactWanted& wanted) {
    const auto nv = static_cast<std::size_t>(sizes.velocities);
    const auto m = static_cast<std::size_t>(sizes.contacts);
    if (wanted.mass_matrix) mass_matrix.assign(nv * nv, 0.0);
    if (wanted.jacobians) {
      normal_jacobian.assign(m * nv, 0.0);
      tangent_jacobian.assign((sizes.dimension - 1) * m * nv, 0.0);
    }
    if (wanted.friction) friction.assign(m, 0.0);
    velocity.assign(nv, 0.0);
  }
  template <class Call>
  static void each(Call&& call, auto&... sums) {
    call(sums.mass_matrix...);
    call(sums.normal_jacobian...);
    call(sums.tangent_jacobian...);
    call(sums.friction...);
    call(sums.velocity...);
  }
  void add(const Sums& more, double share = 1.0) {
    each(
        [&](Reals& to, const Reals& from) {
          for (std::size_t i = 0; i < to.size(); ++i) to[i] += share * from[i];
        },
        *this, more);
    step_size += share * more.step_size;
  }
  void refuse() {
    each([](Reals& values) { std::fill(values.begin(), values.end(), kNone); }, *this);
    step_size = kNone;
  }
};

template <int Dim>
class SampleDerivative {
 public:
  SampleDerivative(const ImpactSizes& sizes, const kernels::ImpactRun& run,
                   const kernels::ImpactProblemView& problem, const DerivativeSettings& settings)
      : sizes_(sizes),
        run_(run),
        problem_(problem),
        settings_(settings),
        rules_(rules_of(settings)),
        equations_(problem, run),
        model_(Dim,
               Eigen::Map<const dense::Matrix>(problem.delassus, Dim * run.contacts,
                                               Dim * run.contacts),
               Eigen::Map<const dense::Vector>(problem.friction, run.contacts), run.polygon.count),
        enumeration_(model_),
        nv_(run.velocities),
        m_(run.contacts),
        rows_(Dim * run.contacts),
        mass_memory_(static_cast<std::size_t>(kernels::values_of<derivatives::FactorsLayout>(nv_))),
        mass_(mass_memory_.data(), nv_) {
    std::copy_n(problem.mass, static_cast<std::size_t>(nv_) * nv_, mass_.matrix());
    regular_ = mass_.factor(nv_);
    speed_ = kernels::contact_speed(rows_, problem.contact_velocity);
    if (!(speed_ > 0.0)) speed_ = 1.0;
  }

  /// A = J M^-1 J'.
  [[nodiscard]] const Reals& delassus() const { return equations_.delassus(); }

  /// Starts a sample whose velocities v_0..v_K are a path's. False where it did not end, or not as
  /// it did before: nothing is differentiated then.
  bool begin(const double* path, int count, const ImpactSamples& samples, std::int64_t row) {
    steps_.clear();
    if (samples.status.data()[row] != TrajectoryStatus::terminated || !regular_) return false;
    if (count != samples.steps.data()[row]) return false;
    const double* v = samples.velocity.data() + row * nv_;
    const double* end = path + static_cast<long>(count) * nv_;
    double size = 0.0;
    for (int i = 0; i < nv_; ++i) {
      size =
          kernels::larger(size, kernels::larger(std::fabs(v[i]), std::fabs(problem_.velocity[i])));
    }
    for (int i = 0; i < nv_; ++i) {
      if (!(std::fabs(v[i] - end[i]) <= kSame * size)) return false;
    }
    // Without a step, a contact that touches at rest might come to take one.
    for (int k = 0; k < std::max(count, 1); ++k) {
      Step& step = steps_.emplace_back();
      step.before.assign(path, path + nv_);
      if (count > 0) path += nv_;
      step.after.assign(path, path + nv_);
      for (int i = 0; i < rows_; ++i) {
        step.approach.push_back(
            product(problem_.jacobian + static_cast<long>(i) * nv_, step.before));
      }
      step.impulse.assign(static_cast<std::size_t>(rows_), 0.0);
      step.limit.assign(static_cast<std::size_t>(m_), kernels::kInfinity);
    }
    return true;
  }
  [[nodiscard]] std::vector<Step>& steps() { return steps_; }

  /// Modes of all steps, whose impulses are known, and impulses that fit the modes to rounding.
  bool find_modes(Report& report) {
    report.margin = kernels::kInfinity;
    report.shift = 0.0;
    report.residual = 0.0;
    report.condition = 1.0;
    report.status = Smoothness::smooth;
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      // What approaches slower than the run sees takes no more steps.
      double tolerance = settings_.margin_tolerance;
      if (k + 1 == steps_.size()) {
        tolerance = kernels::larger(tolerance, run_.velocity_tolerance / speed_);
      }
      if (!polish(steps_[k], tolerance, report)) {
        report.status = Smoothness::undefined;
        return false;
      }
    }
    for (Step& step : steps_) {
      if (unique(step)) continue;
      report.status = Smoothness::set_valued;
      break;
    }
    return true;
  }

  /// The gradient of cotangent'v+ in everything, by the modes found. touch: says in the report
  /// whether the loss sees the rows in doubt.
  void adjoint(const double* cotangent, const ImpactWanted& wanted, Sums& sums, Report& report) {
    if (!backwards(cotangent, wanted, false, sums, report)) {
      report.status = Smoothness::undefined;
      return sums.refuse();
    }
    if (report.status == Smoothness::kink) {
      if (settings_.at_kink == AtKink::nan) return sums.refuse();
      if (settings_.at_kink != AtKink::free) {
        Sums held(sizes_, wanted);
        if (!backwards(cotangent, wanted, true, held, report)) {
          report.status = Smoothness::undefined;
          return sums.refuse();
        }
        if (settings_.at_kink == AtKink::held) {
          sums = std::move(held);
        } else {
          Sums mean(sizes_, wanted);
          mean.add(sums, 0.5);
          mean.add(held, 0.5);
          sums = std::move(mean);
        }
      }
    }
    if (!derivatives::certified(report, rules_)) sums.refuse();
  }

  /// dv+ along a direction, whose arrays are the problem's or null.
  void tangent(const ImpactDirectionArrays<ConstPointer>& d, double* dv, Report& report) {
    Sized rate(d.velocity, nv_);
    const bool jacobians = d.normal_jacobian != nullptr || d.tangent_jacobian != nullptr;
    const auto refuse = [&](Smoothness status) {
      report.status = status;
      std::fill_n(dv, nv_, kNone);
    };
    for (const Step& step : steps_) {
      Sized next = rate;
      if (!forwards(step, step.free, step.impulse, d, jacobians, next, &report)) {
        return refuse(Smoothness::undefined);
      }
      const double sign = equations_.sign();
      for (const Branch& branch : step.others) {
        if (report.status == Smoothness::set_valued) break;
        Sized other = rate;
        if (forwards(step, branch.states, branch.impulse, d, jacobians, other, nullptr) &&
            alike(next.value, other.value, next.largest())) {
          continue;
        }
        report.status = met(step, sign);
        if (report.status == Smoothness::kink) return refuse(Smoothness::kink);
        break;
      }
      rate = std::move(next);
    }
    if (!derivatives::certified(report, rules_)) return refuse(Smoothness::undefined);
    std::copy(rate.value.begin(), rate.value.end(), dv);
  }

 private:
  /// Of v+ of a sample that is followed again, relative.
  static constexpr double kSame = 1e-9;
  /// Share of the terms below which two modes' derivatives are one.
  static constexpr double kAlike = 1e-10;

  [[nodiscard]] Contact contact_of(const Step& step, int i) const {
    const double own = equations_.mobility(i);
    Contact contact{};
    double after = step.approach[i];
    const double* row = problem_.jacobian + static_cast<long>(i) * nv_;
    after = product(row, step.after);
    contact.approach = step.impulse[i] * own - after;
    contact.limit = step.limit[i] * own;
    contact.friction = problem_.friction[i];
    contact.radius = contact.friction * step.impulse[i] * own;
    for (int c = 1; c < Dim; ++c) {
      const int t = equations_.index(i, c);
      contact.aim[c - 1] = step.impulse[t] * own -
                           product(problem_.jacobian + static_cast<long>(t) * nv_, step.after);
    }
    return contact;
  }

  [[nodiscard]] double product(const double* row, const Reals& v) const {
    double sum = 0.0;
    for (int j = 0; j < nv_; ++j) sum += row[j] * v[j];
    return sum;
  }

  void classify(Step& step, double tolerance, Report& report) {
    const double doubt = tolerance * speed_;
    step.free.clear();
    step.held.clear();
    step.doubts.clear();
    for (int i = 0; i < m_; ++i) {
      const Contact contact = contact_of(step, i);
      const auto at = [&](Side normal, Side tangent) {
        return impact_modes::resolve<Dim>(run_.polygon, contact, doubt, normal, tangent);
      };
      const auto free = at(Side::free, Side::free);
      const auto held = at(Side::held, Side::held);
      step.free.push_back(free.state);
      step.held.push_back(held.state);
      report.margin = kernels::smaller(
          report.margin, kernels::smaller(free.normal_gap, free.tangent_gap) / speed_);
      if (free.normal_gap <= doubt) {
        ++report.doubtful;
        step.doubts.push_back({i, at(Side::held, Side::free).state});
        if (free.state.normal == impact_modes::Normal::open && held.tangent_gap <= doubt) {
          step.doubts.push_back({i, held.state});
        }
      }
      if (free.tangent_gap <= doubt) {
        ++report.doubtful;
        step.doubts.push_back({i, at(Side::free, Side::other).state});
      }
    }
  }

  bool polish(Step& step, double tolerance, Report& report) {
    Report first = report;
    classify(step, tolerance, first);
    if (!equations_.set(step.free)) return false;
    Reals polished(static_cast<std::size_t>(rows_));
    for (int r = 0; r < rows_; ++r) {
      const auto& row = equations_.rows()[static_cast<std::size_t>(r)];
      double sum = row.limit != 0.0 ? row.limit * step.limit[row.contact] : 0.0;
      for (int c = 0; c < Dim; ++c) {
        sum -= row.velocity[c] * step.approach[equations_.index(row.contact, c)];
      }
      polished[static_cast<std::size_t>(r)] = sum;
    }
    equations_.solve(polished, polished, step.impulse.data());
    double shift = 0.0;
    for (int i = 0; i < m_; ++i) {
      for (int c = 0; c < Dim; ++c) {
        const int at = equations_.index(i, c);
        shift = kernels::larger(
            shift, std::fabs(polished[at] - step.impulse[at]) * equations_.mobility(i) / speed_);
      }
    }
    report.shift = kernels::larger(report.shift, shift);
    if (!(shift <= derivatives::kLargestShift)) return false;
    step.impulse = std::move(polished);
    for (int i = 0; i < nv_; ++i) {
      step.after[i] = step.before[i] +
                      product_of(problem_.response + static_cast<long>(i) * rows_, step.impulse);
    }
    const double doubt = kernels::larger(tolerance, 10.0 * shift);
    first = report;
    classify(step, doubt, first);
    report = first;
    return true;
  }

  /// Whether v' is the only one. The solutions of close problems lie close to some of a step's own,
  /// as impulses are bounded: where all of those have one v', no choice among solutions can jump,
  /// and their modes are among those of solutions found here.
  bool unique(Step& step) {
    if (rows_ == 0) return true;
    dense::Vector before(rows_), limit(m_), impulse(rows_);
    const auto scale = [&](int row) {
      return problem_.scale[row < m_ ? row : (row - m_) / (Dim - 1)];
    };
    for (int i = 0; i < rows_; ++i) {
      before[i] = step.approach[i] * scale(i);
      impulse[i] = step.impulse[i] / scale(i);
    }
    for (int i = 0; i < m_; ++i) limit[i] = step.limit[i] / scale(i);
    enumeration_.set(before, limit, run_.residual_tolerance);
    if (!equations_.set(step.free)) return false;
    const bool several = !step.doubts.empty() || equations_.dependent();
    for (const Doubt& doubt : step.doubts) {
      step.others.push_back({step.free, step.impulse});
      step.others.back().states[static_cast<std::size_t>(doubt.contact)] = doubt.other;
    }
    return enumeration_.unique(
        before + model_.delassus() * impulse, kSame * before.cwiseAbs().maxCoeff(),
        [&](const std::vector<int>& choice, const dense::Vector& found) {
          if (!several) return;
          Branch& branch = step.others.emplace_back();
          branch.impulse.resize(static_cast<std::size_t>(rows_));
          for (int i = 0; i < rows_; ++i) branch.impulse[i] = found[i] * scale(i);
          for (int i = 0; i < m_; ++i) {
            branch.states.push_back(enumeration_.state(i, choice[i]));
            State& state = branch.states.back();
            if (problem_.friction[i] > 0.0 || state.normal == impact_modes::Normal::open) continue;
            state.tangent = step.held[static_cast<std::size_t>(i)].tangent;
            state.direction = step.held[static_cast<std::size_t>(i)].direction;
          }
        });
  }

  [[nodiscard]] double product_of(const double* row, const Reals& impulse) const {
    double sum = 0.0;
    for (int j = 0; j < rows_; ++j) sum += row[j] * impulse[j];
    return sum;
  }

  /// size: what else they are relative to.
  [[nodiscard]] bool alike(const Reals& a, const Reals& b, double size = 0.0) const {
    double most = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      size = kernels::larger(size, kernels::larger(std::fabs(a[i]), std::fabs(b[i])));
      most = kernels::larger(most, std::fabs(a[i] - b[i]));
    }
    return most <= kAlike * size;
  }

  /// The multipliers of one step.
  struct Multipliers {
    Reals y, psi, friction;
    Sized velocity;  // the gradient in v
    double step_size = 0.0;
  };

  bool adjoint_of(const Step& step, const std::vector<State>& states, const Reals& impulse,
                  const Sized& after, const ImpactWanted& wanted, Multipliers& found,
                  Report* report) {
    if (!equations_.set(states)) return false;
    if (equations_.dependent() &&
        !equations_.unique(wanted.friction, wanted.jacobians, impulse.data())) {
      return false;
    }
    found.y.assign(static_cast<std::size_t>(rows_), 0.0);
    Reals sizes(static_cast<std::size_t>(rows_));
    for (int i = 0; i < nv_; ++i) {
      const double* row = problem_.response + static_cast<long>(i) * rows_;
      for (int j = 0; j < rows_; ++j) {
        found.y[j] += row[j] * after.value[i];
        sizes[j] += std::fabs(row[j]) * after.size[i];
      }
    }
    const double residual = equations_.solve_transposed(found.y, sizes);
    found.psi = equations_.velocity_part(found.y);
    found.velocity = after;
    for (int i = 0; i < rows_; ++i) {
      const double* row = problem_.jacobian + static_cast<long>(i) * nv_;
      for (int j = 0; j < nv_; ++j) found.velocity.add(j, -row[j] * found.psi[i]);
    }
    found.friction.assign(static_cast<std::size_t>(m_), 0.0);
    for (int i = 0; i < m_; ++i) {
      found.friction[i] = equations_.friction_part(found.y, i, impulse.data());
    }
    found.step_size = 0.0;
    for (int r = 0; r < rows_; ++r) {
      const auto& row = equations_.rows()[static_cast<std::size_t>(r)];
      if (row.limit == 0.0) continue;
      found.step_size +=
          found.y[static_cast<std::size_t>(r)] * step.limit[row.contact] / problem_.step_size;
    }
    if (report != nullptr) {
      report->residual = kernels::larger(report->residual, residual);
      report->condition = kernels::larger(report->condition, equations_.condition());
      return true;
    }
    return residual <= derivatives::kLargestResidual;
  }

  /// What a step is in whose rows in doubt the loss or the direction sees a difference: near a kink
  /// v' is unique if the modes that meet there have determinants of one sign.
  Smoothness met(const Step& step, double sign) {
    const auto same = [&](const std::vector<State>& states) {
      return equations_.set(states) && equations_.sign() == sign;
    };
    bool unique = sign != 0.0 && same(step.held);
    for (const Branch& branch : step.others) unique = unique && same(branch.states);
    return unique ? Smoothness::kink : Smoothness::set_valued;
  }

  [[nodiscard]] bool alike(const Multipliers& a, const Multipliers& b,
                           const ImpactWanted& wanted) const {
    return alike(a.velocity.value, b.velocity.value, a.velocity.largest()) &&
           (!wanted.friction || alike(a.friction, b.friction)) &&
           (!wanted.jacobians || alike(a.psi, b.psi)) &&
           alike(Reals{a.step_size}, Reals{b.step_size});
  }

  bool backwards(const double* cotangent, const ImpactWanted& wanted, bool held, Sums& sums,
                 Report& report) {
    Sized bar(cotangent, nv_);
    Multipliers own, other;
    Reals x(static_cast<std::size_t>(nv_));
    for (std::size_t k = steps_.size(); k-- > 0;) {
      const Step& step = steps_[k];
      if (!adjoint_of(step, held ? step.held : step.free, step.impulse, bar, wanted, own,
                      &report)) {
        return false;
      }
      const double sign = equations_.sign();
      for (const Branch& branch : step.others) {
        if (held || report.status == Smoothness::set_valued) break;
        if (adjoint_of(step, branch.states, branch.impulse, bar, wanted, other, nullptr) &&
            alike(own, other, wanted) &&
            (!wanted.jacobians || alike(step.impulse, branch.impulse))) {
          continue;
        }
        report.status = met(step, sign);
      }
      x = own.velocity.value;
      if (nv_ > 0) mass_.solve(x.data());
      if (wanted.mass_matrix) {
        for (int i = 0; i < nv_; ++i) {
          for (int j = 0; j < nv_; ++j) {
            sums.mass_matrix[static_cast<std::size_t>(i) * nv_ + j] -=
                0.5 *
                (x[i] * (step.after[j] - step.before[j]) + x[j] * (step.after[i] - step.before[i]));
          }
        }
      }
      if (wanted.jacobians) {
        for (int i = 0; i < rows_; ++i) {
          double* row = i < m_ ? &sums.normal_jacobian[static_cast<std::size_t>(i) * nv_]
                               : &sums.tangent_jacobian[static_cast<std::size_t>(i - m_) * nv_];
          for (int j = 0; j < nv_; ++j) {
            row[j] += step.impulse[i] * x[j] - own.psi[i] * step.after[j];
          }
        }
      }
      if (wanted.friction) {
        for (int i = 0; i < m_; ++i) sums.friction[i] += own.friction[i];
      }
      sums.step_size += own.step_size;
      bar = std::move(own.velocity);
    }
    sums.velocity = std::move(bar.value);
    return true;
  }

  /// rate: dv, then dv'.
  bool forwards(const Step& step, const std::vector<State>& states, const Reals& impulse,
                const ImpactDirectionArrays<ConstPointer>& d, bool jacobians, Sized& rate,
                Report* report) {
    if (!equations_.set(states)) return false;
    if (equations_.dependent() &&
        !equations_.unique(d.friction != nullptr, jacobians, impulse.data())) {
      return false;
    }
    const auto change = [&](int row) -> const double* {
      const double* from = row < m_ ? d.normal_jacobian : d.tangent_jacobian;
      return from == nullptr ? nullptr : from + static_cast<long>(row < m_ ? row : row - m_) * nv_;
    };
    // M^-1 (dJ'lambda - dM (v' - v))
    if (jacobians || d.mass_matrix != nullptr) {
      Reals force(static_cast<std::size_t>(nv_));
      for (int i = 0; i < rows_; ++i) {
        const double* row = change(i);
        for (int j = 0; j < nv_ && row != nullptr; ++j) force[j] += row[j] * impulse[i];
      }
      for (int i = 0; i < nv_ && d.mass_matrix != nullptr; ++i) {
        for (int j = 0; j < nv_; ++j) {
          force[i] -=
              d.mass_matrix[static_cast<long>(i) * nv_ + j] * (step.after[j] - step.before[j]);
        }
      }
      mass_.solve(force.data());
      for (int i = 0; i < nv_; ++i) rate.add(i, force[i]);
    }
    Sized slip(nullptr, rows_);
    for (int i = 0; i < rows_; ++i) {
      const double* row = problem_.jacobian + static_cast<long>(i) * nv_;
      for (int j = 0; j < nv_; ++j) {
        slip.value[i] += row[j] * rate.value[j];
        slip.size[i] += std::fabs(row[j]) * rate.size[j];
      }
      const double* turn = change(i);
      for (int j = 0; j < nv_ && turn != nullptr; ++j) slip.add(i, turn[j] * step.after[j]);
    }
    Sized of_impulse(nullptr, rows_);
    for (int r = 0; r < rows_; ++r) {
      const auto& row = equations_.rows()[static_cast<std::size_t>(r)];
      for (int c = 0; c < Dim; ++c) {
        const int at = equations_.index(row.contact, c);
        of_impulse.value[r] -= row.velocity[c] * slip.value[at];
        of_impulse.size[r] += std::fabs(row.velocity[c]) * slip.size[at];
      }
      if (d.friction != nullptr) {
        of_impulse.add(r, row.slope * impulse[row.contact] * d.friction[row.contact]);
      }
      if (d.step_size != nullptr && row.limit != 0.0) {
        of_impulse.add(r, row.limit * step.limit[row.contact] / problem_.step_size * *d.step_size);
      }
    }
    const double residual = equations_.solve(of_impulse.value, of_impulse.size);
    for (int i = 0; i < nv_; ++i) {
      const double* row = problem_.response + static_cast<long>(i) * rows_;
      for (int j = 0; j < rows_; ++j) rate.add(i, row[j] * of_impulse.value[j]);
    }
    if (report == nullptr) return residual <= derivatives::kLargestResidual;
    report->residual = kernels::larger(report->residual, residual);
    report->condition = kernels::larger(report->condition, equations_.condition());
    return true;
  }

  ImpactSizes sizes_;
  const kernels::ImpactRun& run_;
  const kernels::ImpactProblemView& problem_;
  const DerivativeSettings& settings_;
  derivatives::DerivativeRules rules_;
  StepEquations<Dim> equations_;
  dense::StepModel model_;  // of contacts' units
  dense::StepEnumeration enumeration_;
  int nv_, m_, rows_;
  Reals mass_memory_;
  derivatives::Factors mass_;
  bool regular_ = false;
  double speed_ = 1.0;
  std::vector<Step> steps_;
};

/// What all calls over a batch share.
struct Samples {
  const ImpactBatch& batch;
  const ImpactSettings& sampled;
  const ImpactSamples& samples;
  const DerivativeSettings& settings;
  PreparedImpacts prepared;
  std::vector<std::uint64_t> sobol;
  kernels::ImpactRun run;
  ImpactResult replay;

  Samples(const ImpactBatch& given, const ImpactSettings& how, const ImpactSamples& kept,
          const DerivativeSettings& chosen)
      : batch(given),
        sampled(how),
        samples(kept),
        settings(chosen),
        prepared(given, how),
        sobol(run_directions(given, how)),
        run(impact_run(given, how, sobol)),
        replay(again(given, how, kept, chosen.threads)) {}

  [[nodiscard]] std::int64_t parts() const { return (samples.count + kPart - 1) / kPart; }

  /// call(problem, part, row, derivative, report, followed) for all samples; derivative is null
  /// for problems whose numbers were refused.
  template <int Dim, class Call>
  void each(Call&& call) const {
    parallel_for(batch.problems * parts(), 1, settings.threads,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) part<Dim>(i, call);
                 });
  }

 private:
  template <int Dim, class Call>
  void part(std::int64_t i, Call&& call) const {
    const std::int64_t p = i / parts();
    const std::int64_t first = i % parts() * kPart;
    const kernels::ImpactProblemView view = prepared.view(p);
    std::optional<SampleDerivative<Dim>> one;
    if (prepared.valid(p)) one.emplace(batch, run, view, settings);
    for (std::int64_t s = first; s < std::min(first + kPart, samples.count); ++s) {
      Report report;
      const std::int64_t row = p * samples.count + s;
      bool found = false;
      if (one) {
        const ImpactPaths& paths = replay.paths[static_cast<std::size_t>(p)];
        const std::int64_t begin = paths.offset[static_cast<std::size_t>(s)];
        const std::int64_t end = paths.offset[static_cast<std::size_t>(s) + 1];
        found = one->begin(paths.velocity.data() + begin * batch.velocities,
                           static_cast<int>(end - begin) - 1, samples, row) &&
                (end - begin == 1 || impulses(*one, view, p, s)) && one->find_modes(report);
      }
      call(p, i, row, one ? &*one : nullptr, report, found);
    }
  }

  /// Of a sample's steps, as they were found. False where one is not certified.
  template <int Dim>
  bool impulses(SampleDerivative<Dim>& one, const kernels::ImpactProblemView& view, std::int64_t p,
                std::int64_t s) const {
    const auto m = static_cast<std::size_t>(batch.contacts);
    const std::size_t rows = Dim * m, count = one.steps().size();
    StepBatch steps;
    static_cast<StepSizes&>(steps) = {static_cast<std::int64_t>(count), Dim, batch.contacts};
    Reals delassus, velocity, friction, limit;
    const auto sample = static_cast<std::uint64_t>(sampled.first_sample + s);
    std::uint32_t number = 0;
    for (Step& step : one.steps()) {
      for (double& most : step.limit) {
        const double share =
            sobol.empty() ? uniform(run.seed, run.index_of(p), sample, number)
                          : carom::sobol(sobol.data(), run.seed, run.index_of(p), sample, number);
        most = view.step_size * share;
        ++number;
      }
      delassus.insert(delassus.end(), one.delassus().begin(), one.delassus().end());
      velocity.insert(velocity.end(), step.approach.begin(), step.approach.end());
      friction.insert(friction.end(), view.friction, view.friction + m);
      limit.insert(limit.end(), step.limit.begin(), step.limit.end());
    }
    const auto borrowed = [](Reals& values) {
      return Buffer<double>::borrow(values.data(), values.size(), MemorySpace::host);
    };
    steps.delassus = borrowed(delassus);
    steps.contact_velocity = borrowed(velocity);
    steps.friction = borrowed(friction);
    steps.max_impulse = borrowed(limit);
    const StepResult solved =
        solve_steps(steps, {.friction_directions = sampled.friction_directions,
                            .selection = Selection::lemke,
                            .tolerance = sampled.residual_tolerance,
                            .threads = 1});
    for (std::size_t k = 0; k < count; ++k) {
      if (solved.status.data()[k] != Status::solved) return false;
      const double* found = solved.impulse.data() + k * rows;
      one.steps()[k].impulse.assign(found, found + rows);
    }
    return true;
  }

  /// The same samples with their paths.
  static ImpactResult again(const ImpactBatch& batch, ImpactSettings settings,
                            const ImpactSamples& samples, int threads) {
    if (samples.count == 0) return {};
    settings.samples = samples.count;
    settings.keep_samples = 0;
    settings.keep_paths = samples.count;
    settings.result_space = MemorySpace::host;
    settings.progress = {};
    settings.threads = threads;
    return sample_impacts(batch, settings);
  }
};

template <int Dim>
ImpactGradient gradients(const Samples& all, const ImpactCotangent& cotangent,
                         const ImpactWanted& wanted) {
  const ImpactBatch& batch = all.batch;
  const std::int64_t nv = batch.velocities, m = batch.contacts;
  ImpactGradient gradient;
  const ImpactDerivativeSizes sizes{batch, all.samples.count};
  ImpactGradient::each_array(
      sizes,
      [&](const char* name, const Extents& extents, auto& array) {
        const std::string_view field = name;
        if (field == "mass_matrix" && !wanted.mass_matrix) return;
        if (field.ends_with("_jacobian") && !wanted.jacobians) return;
        if (field.ends_with("friction") && !wanted.friction) return;
        array = std::remove_cvref_t<decltype(array)>(static_cast<std::size_t>(extents.count()));
      },
      gradient);
  std::vector<Sums> parts(static_cast<std::size_t>(batch.problems * all.parts()),
                          Sums(batch, wanted));
  all.each<Dim>([&](std::int64_t, std::int64_t part, std::int64_t row, SampleDerivative<Dim>* one,
                    Report& report, bool followed) {
    const double* bar = cotangent.velocity.data() + row * nv;
    Sums own(batch, wanted);
    if (followed) {
      one->adjoint(bar, wanted, own, report);
    } else {
      own.refuse();
    }
    std::copy(own.velocity.begin(), own.velocity.end(), gradient.sample_velocity.data() + row * nv);
    if (wanted.friction) {
      std::copy(own.friction.begin(), own.friction.end(),
                gradient.sample_friction.data() + row * m);
    }
    put_report(gradient, row, report);
    const bool counts = std::any_of(bar, bar + nv, [](double value) { return value != 0.0; });
    if (counts) parts[static_cast<std::size_t>(part)].add(own);
  });
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    Sums sum(batch, wanted);
    for (std::int64_t i = 0; i < all.parts(); ++i) {
      sum.add(parts[static_cast<std::size_t>(p * all.parts() + i)]);
    }
    const auto put = [&](const Reals& from, Buffer<double>& to) {
      if (to.empty()) return;
      std::copy(from.begin(), from.end(), to.data() + p * static_cast<std::int64_t>(from.size()));
    };
    put(sum.mass_matrix, gradient.mass_matrix);
    put(sum.normal_jacobian, gradient.normal_jacobian);
    put(sum.tangent_jacobian, gradient.tangent_jacobian);
    put(sum.friction, gradient.friction);
    put(sum.velocity, gradient.velocity);
    gradient.step_size.data()[p] = sum.step_size;
  }
  return gradient;
}

template <int Dim>
ImpactTangent tangents(const Samples& all, const ImpactDirection& direction) {
  const std::int64_t nv = all.batch.velocities;
  auto tangent = allocate<ImpactTangent>(ImpactDerivativeSizes{all.batch, all.samples.count});
  all.each<Dim>([&](std::int64_t p, std::int64_t, std::int64_t row, SampleDerivative<Dim>* one,
                    Report& report, bool followed) {
    double* dv = tangent.velocity.data() + row * nv;
    if (followed) {
      ImpactDirectionArrays<ConstPointer> own{};
      arrays::bind(own, direction, all.batch, p);
      one->tangent(own, dv, report);
    } else {
      std::fill_n(dv, nv, kNone);
    }
    put_report(tangent, row, report);
  });
  return tangent;
}

}  // namespace

ImpactGradient differentiate_impacts(const ImpactBatch& batch, const ImpactSettings& sampled,
                                     const ImpactSamples& samples, const ImpactCotangent& cotangent,
                                     const DerivativeSettings& settings,
                                     const ImpactWanted& wanted) {
  const Samples all(batch, sampled, samples, settings);
  return batch.dimension == 2 ? gradients<2>(all, cotangent, wanted)
                              : gradients<3>(all, cotangent, wanted);
}

ImpactTangent propagate_impacts(const ImpactBatch& batch, const ImpactSettings& sampled,
                                const ImpactSamples& samples, const ImpactDirection& direction,
                                const DerivativeSettings& settings) {
  const Samples all(batch, sampled, samples, settings);
  return batch.dimension == 2 ? tangents<2>(all, direction) : tangents<3>(all, direction);
}

}  // namespace carom::cpu
