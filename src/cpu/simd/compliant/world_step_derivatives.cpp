#include CAROM_ISA_HEADER

#include "cpu/simd/compliant/world_step_derivatives.hpp"

#include <cstddef>
#include <cstring>

#include "compliant/kernels/row_numbers.hpp"
#include "compliant/scenarios/kinds.hpp"
#include "compliant/scenarios/traced_number.hpp"
#include "cpu/simd/compliant/world_pullback.hpp"
#include "cpu/simd/pack_pairs.hpp"

namespace carom::cpu::simd {

namespace {

template <class Isa>
class StepDerivatives {
  using V = BodyNumber<Isa>;
  using Mask = typename Isa::Mask;
  using Number = kernels::TracedNumber<V>;
  using Tape = kernels::Tape<V>;
  using Single = typename SingleOf<Isa>::type;
  static constexpr int kWidth = Isa::kWidth;

 public:
  explicit StepDerivatives(WorldSteps& steps)
      : r_(steps),
        nq_(steps.sizes.positions),
        nv_(steps.sizes.velocities),
        inputs_(nq_ + nv_ + steps.parameters + 1),
        at_(reinterpret_cast<std::byte*>(steps.reals)),
        tape_(take<V>(Tape::kValues * static_cast<long>(steps.tape)),
              take<typename Tape::Entry>(steps.tape), steps.tape),
        in_(take<Number>(inputs_)),
        inverse_mass_(take<Number>(nv_)),
        force_(take<Number>(nv_)),
        row_numbers_(take<Number>(kernels::constraint_reals(steps.sizes.rows, nv_))),
        bar_(take<V>(inputs_)),
        before_(take<V>(inputs_)),
        pulled_(take<V>(nv_)),
        nowhere_(take<double>(inputs_)),
        base_(at_) {}

  void run() {
    models::detail::visit_scenario(r_.kind, [&](auto body) {
      while (r_.done < r_.count) {
        at_ = base_;
        if (!this->template pack<decltype(body)>()) return;
      }
    });
  }

 private:
  /// Takes some of the worlds that are left; false where the tape is full.
  template <class Scenario>
  bool pack() {
    lanes_ = r_.count - r_.done < kWidth ? r_.count - r_.done : kWidth;
    for (int lane = 0; lane < kWidth; ++lane) {
      world_[lane] = r_.world[r_.done + (lane < lanes_ ? lane : 0)];
    }
    fetch(bar_, inputs_, [&](int w) { return r_.bar + 1L * w * inputs_; });
    fetch(before_, nq_, [&](int w) { return r_.position + 1L * w * nq_; });
    fetch(before_ + nq_ + nv_, r_.parameters,
          [&](int w) { return r_.parameter + w * r_.parameter_stride; });
    before_[inputs_ - 1] = V(r_.step_size);
    kinks_ = 0;
    const unsigned all = (1U << lanes_) - 1U;
    switch (r_.map) {
      case WorldSteps::Map::back:
        return back<Scenario>(all);
      case WorldSteps::Map::ahead:
        return ahead<Scenario>(all);
      default:
        return start<Scenario>(all);
    }
  }

  template <class Scenario>
  bool back(unsigned live) {
    advance_back<Scenario>(live);
    if (tape_.full()) return false;
    fetch_velocity(r_.velocity);
    kernels::ConstraintRowsOf<Number> rows = trace<Scenario>(tape_.live());
    if (tape_.full()) return false;
    live_ = alike(rows, tape_.live());
    const Step step = differentiate(rows);
    follow(rows, step.gradient);
    put(rows, step.gradient);
    return true;
  }

  // Ahead, bar_ has rates of (q, v, p, h), then of (q', v').

  template <class Scenario>
  bool start(unsigned live) {
    fetch_velocity(r_.velocity);
    inputs(live, true);
    Number* q = row_numbers_;
    Number* v = inverse_mass_;
    Scenario::start(in_ + nq_ + nv_, q, v);
    return moved(q, v, true);
  }
  template <class Scenario>
  bool ahead(unsigned live) {
    fetch_velocity(r_.velocity);
    inputs(live, true);
    Number* q = row_numbers_;
    Number* v = inverse_mass_;
    for (int j = 0; j < nq_; ++j) q[j] = in_[j];
    for (int j = 0; j < nv_; ++j) v[j] = in_[nq_ + j];
    if (Scenario::direct(in_ + nq_ + nv_, in_[inputs_ - 1], q, v)) return moved(q, v, false);
    kernels::ConstraintRowsOf<Number> rows = trace<Scenario>(tape_.live());
    if (tape_.full()) return false;
    live_ = alike(rows, tape_.live());
    lead();
    propagate(rows);
    fetch_velocity(r_.after);
    inputs(live_, false);
    for (int j = 0; j < nq_; ++j) q[j] = in_[j];
    Scenario::advance(in_ + nq_ + nv_, in_[inputs_ - 1], q, in_ + nq_);
    if (tape_.full()) return false;
    lead();
    for (int j = 0; j < nq_; ++j) bar_[j] = rate(q[j]);
    put_lanes(nq_ + nv_);
    return true;
  }
  /// (q, v) that a map makes without a step; `more`: their rates besides.
  bool moved(const Number* q, const Number* v, bool more) {
    if (tape_.full()) return false;
    live_ = tape_.live();
    lead();
    for (int j = 0; j < nq_ + nv_; ++j) {
      const V own = rate(j < nq_ ? q[j] : v[j - nq_]);
      bar_[j] = more ? bar_[j] + own : own;
    }
    for (int lane = 0; lane < lanes_; ++lane) {
      if ((live_ >> lane & 1U) == 0) continue;
      derivatives::Report& report = r_.report[world_[lane]];
      report.status = Smoothness::smooth;
      report.residual = report.condition = report.shift = 0.0;
      report.margin = r_.touch[world_[lane]] = kernels::kInfinity;
      report.doubtful = 0;
    }
    put_lanes(nq_ + nv_);
    return true;
  }
  /// Rates of all that is on the tape, from those of the inputs.
  void lead() {
    for (int j = 0; j < inputs_; ++j) {
      if (in_[j].place != 0) tape_.bar(in_[j].place) = bar_[j];
    }
    kinks_ |= tape_.ahead();
  }
  V rate(const Number& x) { return tape_.bar(x.place); }

  void fetch_velocity(const double* from) {
    fetch(before_ + nq_, nv_, [&](int w) { return from + 1L * w * nv_; });
  }
  template <class From>
  void fetch(V* to, int count, From&& from) const {
    const double* lanes[kWidth];
    for (int lane = 0; lane < kWidth; ++lane) lanes[lane] = from(world_[lane]);
    spread_lanes<Isa>(lanes, count, reinterpret_cast<double*>(to));
  }
  template <class T>
  T* take(long count) {
    T* taken = reinterpret_cast<T*>(at_);
    at_ += (count * static_cast<long>(sizeof(T)) + 63) / 64 * 64;
    return taken;
  }
  static void store(const V& from, double* to) { std::memcpy(to, &from, sizeof from); }
  static double lane_of(const V& from, int lane) {
    double lanes[kWidth];
    store(from, lanes);
    return lanes[lane];
  }
  static void set_lane(V& to, int lane, double value) {
    double lanes[kWidth];
    store(to, lanes);
    lanes[lane] = value;
    std::memcpy(static_cast<void*>(&to), lanes, sizeof to);
  }

  void inputs(unsigned live, bool parameters) {
    tape_.start(live);
    for (int i = 0; i < inputs_; ++i) {
      const bool moves = r_.active[i] && (parameters || i < nq_ + nv_ || i == inputs_ - 1);
      in_[i] = Number(before_[i], &tape_, moves ? tape_.input() : 0);
    }
  }

  /// q' = N(q) v': its part of the gradient goes to q, h and, in pulled_, to v'.
  template <class Scenario>
  void advance_back(unsigned live) {
    fetch_velocity(r_.after);
    inputs(live, false);
    Number* q = row_numbers_;
    for (int j = 0; j < nq_; ++j) q[j] = in_[j];
    Scenario::advance(in_ + nq_ + nv_, in_[inputs_ - 1], q, in_ + nq_);
    for (int j = 0; j < nq_; ++j) add(q[j], bar_[j]);
    tape_.back();
    for (int j = 0; j < nq_; ++j) bar_[j] = tape_.bar(in_[j].place);
    for (int j = 0; j < nv_; ++j) pulled_[j] = bar_[nq_ + j] + tape_.bar(in_[nq_ + j].place);
    const int h = in_[inputs_ - 1].place;
    if (h != 0) bar_[inputs_ - 1] = bar_[inputs_ - 1] + tape_.bar(h);
  }
  void add(const Number& to, const V& by) {
    V& bar = tape_.bar(to.place);
    bar = bar + by;
  }

  template <class Scenario>
  kernels::ConstraintRowsOf<Number> trace(unsigned live) {
    inputs(live, true);
    kernels::ConstraintRowsOf<Number> rows =
        kernels::make_rows(r_.sizes.rows, nv_, row_numbers_, r_.ints, r_.types);
    const Number h = in_[inputs_ - 1];
    kernels::evaluate_scenario<Scenario>(in_ + nq_ + nv_, Number(r_.step) * h, h, in_, in_ + nq_,
                                         inverse_mass_, force_, rows);
    return rows;
  }

  /// Lanes whose rows exert something where the first one's do.
  unsigned alike(const kernels::ConstraintRowsOf<Number>& rows, unsigned live) const {
    const V h(r_.step_size);
    const int first = kernels::lowest_bit(live);
    for (int k = 0; k < rows.count; ++k) {
      const V weight = h * (h * rows.stiffness[k].value + rows.damping[k].value);
      const unsigned carries = (weight > V(0.0)).bits();
      live &= (carries >> first & 1U) != 0 ? carries : ~carries;
    }
    return live;
  }

  // The step's numbers, of all lanes.
  struct Step {
    derivatives::StepShape shape;
    derivatives::StepView<V> problem;
    V* force;
    derivatives::StepGradientView<V> gradient;    ///< back
    derivatives::StepDirectionView<V> direction;  ///< ahead
    derivatives::StepTangentView<V> tangent;
  };

  Step laid_out(const kernels::ConstraintRowsOf<Number>& rows) {
    const int m = rows.count;
    const V h(r_.step_size);
    Step step{{nv_, m, 0, true, true, rows.begin, rows.end}, {}, take<V>(m), {}, {}, {}};
    V* mass = take<V>(nv_);
    V* push = take<V>(nv_);
    for (int j = 0; j < nv_; ++j) {
      mass[j] = V(1.0) / inverse_mass_[j].value;
      push[j] = force_[j].value;
    }
    V* jacobian = take<V>(1L * m * nv_);
    const auto column = [&](const Number* from) {
      V* to = take<V>(m);
      for (int k = 0; k < m; ++k) to[k] = from[k].value;
      return to;
    };
    V* turning = column(rows.jacobian_dot_v);
    V touch(kernels::kInfinity);
    const V zero(0.0), none(kernels::kInfinity);
    for (int k = 0; k < m; ++k) {
      V speed = zero, size = zero;
      V* to = jacobian + 1L * k * nv_;
      for (int j = 0; j < nv_; ++j) {
        to[j] = zero;
        if (j < rows.begin[k] || j >= rows.end[k]) continue;
        to[j] = rows.row(k)[j].value;
        const V moves = to[j] * before_[nq_ + j];
        speed = speed + moves;
        size = size + magnitude(moves);
      }
      // What rounding left of a body that does not turn is no motion of its rows.
      turning[k] = select(h * magnitude(turning[k]) <= V(kRounding) * size, zero, turning[k]);
      if (r_.types[k] != RowType::unilateral && r_.types[k] != RowType::normal) continue;
      const V gap = magnitude(rows.phi[k].value), way = h * magnitude(speed);
      const V share = select(gap > zero, gap / way, zero);  // infinite where nothing moves
      touch = smaller(touch, select((way > zero) | (gap <= zero), share, none));
    }
    V* one = take<V>(1);
    *one = h;
    step.problem.step_size = one;
    step.problem.mass_matrix = mass;
    step.problem.force = push;
    step.problem.velocity = before_ + nq_;
    step.problem.position_map = nullptr;
    step.problem.type = r_.types;
    step.problem.jacobian = jacobian;
    kernels::each_row_number(
        [&](const V*& to, const Number* from) {
          to = from == rows.jacobian_dot_v ? turning : column(from);
        },
        step.problem, rows);
    V* impulse = take<V>(r_.sizes.rows);
    fetch(impulse, r_.sizes.rows, [&](int w) { return r_.impulse + 1L * w * r_.sizes.rows; });
    for (int k = 0; k < m; ++k) step.force[k] = impulse[rows.slot[k]] / h;
    double lanes[kWidth];
    store(touch, lanes);
    for (int lane = 0; lane < lanes_; ++lane) {
      if ((live_ >> lane & 1U) != 0) r_.touch[world_[lane]] = lanes[lane];
    }
    return step;
  }

  Step differentiate(const kernels::ConstraintRowsOf<Number>& rows) {
    Step step = laid_out(rows);
    const int m = rows.count;
    auto& to = step.gradient;
    to.step_size = take<V>(1);
    to.mass_matrix = take<V>(nv_);
    to.force = take<V>(nv_);
    to.velocity = take<V>(nv_);
    to.position_map = nullptr;
    to.jacobian = take<V>(1L * m * nv_);
    kernels::each_row_number([&](V*& array) { array = take<V>(m); }, to);
    const unsigned good = together(step, [&](auto& one, auto& report) {
      derivatives::StepCotangentView<V> cotangent{};
      cotangent.velocity = pulled_;
      return one.adjoint(cotangent, to, report);
    });
    if (good == 0) clear(to, m);
    others(good, [&](int lane, StepAlone& out) {
      out.cotangent = lane_alone(pulled_, nv_, lane);
      out.gradient.position_map = nullptr;
      each_gradient(out.gradient, step,
                    [&](double*& made, const V*, long count) { made = take<double>(count); });
      lane_out(step, lane, out);
      each_gradient(out.gradient, step, [&](const double* made, V* all, long count) {
        for (long j = 0; j < count; ++j) set_lane(all[j], lane, made[j]);
      });
    });
    return step;
  }

  /// The rates of v' to bar_, from those of the rows.
  void propagate(const kernels::ConstraintRowsOf<Number>& rows) {
    Step step = laid_out(rows);
    const int m = rows.count;
    V* mass = take<V>(nv_);
    V* force = take<V>(nv_);
    V* velocity = take<V>(nv_);
    V* jacobian = take<V>(1L * m * nv_);
    V* h = take<V>(1);
    for (int j = 0; j < nv_; ++j) {
      const V own = step.problem.mass_matrix[j];
      mass[j] = -(own * own * rate(inverse_mass_[j]));
      force[j] = rate(force_[j]);
      velocity[j] = bar_[nq_ + j];
    }
    for (int k = 0; k < m; ++k) {
      for (int j = 0; j < nv_; ++j) {
        const bool there = j >= rows.begin[k] && j < rows.end[k];
        jacobian[1L * k * nv_ + j] = there ? rate(rows.row(k)[j]) : V(0.0);
      }
    }
    *h = in_[inputs_ - 1].place != 0 ? bar_[inputs_ - 1] : V(0.0);
    auto& d = step.direction;
    d.step_size = h;
    d.mass_matrix = mass;
    d.force = force;
    d.velocity = velocity;
    d.position_map = nullptr;
    d.jacobian = jacobian;
    kernels::each_row_number(
        [&](const V*& to, const Number* from) {
          V* rates = take<V>(m);
          for (int k = 0; k < m; ++k) rates[k] = rate(from[k]);
          to = rates;
        },
        d, rows);
    step.tangent = {take<V>(nv_), take<V>(nv_), take<V>(m), take<V>(1)};
    const unsigned good = together(
        step, [&](auto& one, auto& report) { return one.tangent(d, step.tangent, report); });
    for (int j = 0; j < nv_; ++j) {
      bar_[nq_ + j] = good != 0 ? step.tangent.velocity[j] : V(0.0);
    }
    others(good, [&](int lane, StepAlone& out) {
      out.direction.step_size = lane_alone(d.step_size, 1, lane);
      out.direction.mass_matrix = lane_alone(d.mass_matrix, nv_, lane);
      out.direction.force = lane_alone(d.force, nv_, lane);
      out.direction.velocity = lane_alone(d.velocity, nv_, lane);
      out.direction.position_map = nullptr;
      out.direction.jacobian = lane_alone(d.jacobian, 1L * m * nv_, lane);
      kernels::each_row_number(
          [&](const double*& to, const V* from) { to = lane_alone(from, m, lane); }, out.direction,
          d);
      out.tangent = {take<double>(nv_), take<double>(nv_), take<double>(m), take<double>(1)};
      lane_out(step, lane, out);
      for (int j = 0; j < nv_; ++j) set_lane(bar_[nq_ + j], lane, out.tangent.velocity[j]);
    });
  }

  /// What the step's gradient is in (q, v, p, h), by the tape.
  void follow(const kernels::ConstraintRowsOf<Number>& rows,
              const derivatives::StepGradientView<V>& by) {
    for (int j = 0; j < nv_; ++j) {
      // M = 1 / inverse: dM = -M^2 d(inverse).
      const V mass = V(1.0) / inverse_mass_[j].value;
      by.mass_matrix[j] = -(by.mass_matrix[j] * mass * mass);
      add(inverse_mass_[j], by.mass_matrix[j]);
      add(force_[j], by.force[j]);
    }
    for (int k = 0; k < rows.count; ++k) {
      for (int j = rows.begin[k]; j < rows.end[k]; ++j) {
        add(rows.row(k)[j], by.jacobian[1L * k * nv_ + j]);
      }
    }
    kernels::each_row_number(
        [&](const Number* numbers, const V* gradient) {
          for (int k = 0; k < rows.count; ++k) add(numbers[k], gradient[k]);
        },
        rows, by);
    tape_.back();
    for (int j = 0; j < nv_; ++j) bar_[nq_ + j] = by.velocity[j];
    if (r_.active[inputs_ - 1]) bar_[inputs_ - 1] = bar_[inputs_ - 1] + by.step_size[0];
  }

  /// call(derivative, report): lanes that are good of those that a pack differentiates.
  template <class Call>
  unsigned together(const Step& step, Call&& call) {
    if constexpr (Isa::kInRegisters) {
      unsigned solved = 0;
      for (int lane = 0; lane < lanes_; ++lane) {
        if (r_.solved[world_[lane]]) solved |= 1U << lane;
      }
      derivatives::StepDerivative<V> one(
          step.shape, step.problem, r_.centripetal, r_.rules,
          take<V>(derivatives::step_derivative_reals(nv_, step.shape.rows)),
          r_.ints + kernels::constraint_ints(r_.sizes.rows));
      const int first = kernels::lowest_bit(live_);
      one.carry(r_.step_size, lane_alone(step.problem.stiffness, step.shape.rows, first),
                lane_alone(step.problem.damping, step.shape.rows, first));
      derivatives::ReportOf<V> report;
      const Mask good = one.modes(step.force, report) & Mask::from_bits(live_ & solved);
      if (!any_of(good)) return 0;
      const unsigned fine = (good & call(one, report)).bits();
      double residual[kWidth], margin[kWidth], condition[kWidth], shift[kWidth];
      store(report.residual, residual);
      store(report.margin, margin);
      store(report.condition, condition);
      store(report.shift, shift);
      for (unsigned left = fine; left != 0; left &= left - 1U) {
        const int lane = kernels::lowest_bit(left);
        derivatives::Report& to = r_.report[world_[lane]];
        to.status = Smoothness::smooth;
        to.residual = residual[lane];
        to.margin = margin[lane];
        to.condition = condition[lane];
        to.shift = shift[lane];
        to.doubtful = 0;
      }
      return fine;
    }
    return 0;
  }
  /// call(lane, its step) of those that packs leave.
  template <class Call>
  void others(unsigned good, Call&& call) {
    std::byte* const rest = at_;
    for (int lane = 0; lane < lanes_; ++lane) {
      if (((live_ & ~good) >> lane & 1U) == 0) continue;
      StepAlone out{};
      call(lane, out);
      at_ = rest;
    }
  }

  void clear(const derivatives::StepGradientView<V>& gradient, int m) const {
    const auto fill = [](V* to, long count) {
      for (long i = 0; i < count; ++i) to[i] = V(0.0);
    };
    fill(gradient.step_size, 1);
    for (V* array : {gradient.mass_matrix, gradient.force, gradient.velocity}) fill(array, nv_);
    fill(gradient.jacobian, 1L * m * nv_);
    kernels::each_row_number([&](V* array) { fill(array, m); }, gradient);
  }
  static void put_lane(const V* from, long count, int lane, double* to) {
    for (long i = 0; i < count; ++i) to[i] = lane_of(from[i], lane);
  }
  double* lane_alone(const V* from, long count, int lane) {
    double* to = take<double>(count);
    put_lane(from, count, lane, to);
    return to;
  }
  /// A step's numbers of one lane, to be differentiated alone.
  void lane_out(const Step& step, int lane, StepAlone& out) {
    const long n = nv_, m = step.shape.rows;
    const derivatives::StepView<V>& from = step.problem;
    out.world = world_[lane];
    out.shape = step.shape;
    out.problem.step_size = lane_alone(from.step_size, 1, lane);
    out.problem.mass_matrix = lane_alone(from.mass_matrix, n, lane);
    out.problem.force = lane_alone(from.force, n, lane);
    out.problem.velocity = lane_alone(from.velocity, n, lane);
    out.problem.position_map = nullptr;
    out.problem.type = from.type;
    out.problem.jacobian = lane_alone(from.jacobian, m * n, lane);
    kernels::each_row_number(
        [&](const double*& to, const V* given) { to = lane_alone(given, m, lane); }, out.problem,
        from);
    out.force = lane_alone(step.force, m, lane);
    r_.alone(r_.owner, out, r_.report[out.world]);
  }
  /// call(array of one lane, of all lanes, values).
  template <class Call>
  static void each_gradient(derivatives::StepGradientView<double>& one, const Step& step,
                            Call&& call) {
    const long n = step.shape.velocities, m = step.shape.rows;
    const auto& all = step.gradient;
    call(one.step_size, all.step_size, 1);
    call(one.mass_matrix, all.mass_matrix, n);
    call(one.force, all.force, n);
    call(one.velocity, all.velocity, n);
    call(one.jacobian, all.jacobian, m * n);
    kernels::each_row_number([&](auto& to, const auto& from) { call(to, from, m); }, one, all);
  }

  /// The gradient of the worlds that went, and their order.
  void put(const kernels::ConstraintRowsOf<Number>& rows,
           const derivatives::StepGradientView<V>& by) {
    unsigned lost = 0;  // some number of the rows has no derivative
    for (int j = 0; j < inputs_; ++j) {
      if (in_[j].place == 0) continue;
      const V sum = bar_[j] + tape_.bar(in_[j].place);
      lost |= (!(magnitude(sum) < V(kernels::kInfinity))).bits();
      tape_.bar(in_[j].place) = sum;
    }
    unsigned by_inputs = 0;
    for (unsigned left = lost & live_; left != 0; left &= left - 1U) {
      const int lane = kernels::lowest_bit(left);
      if (r_.report[world_[lane]].status < Smoothness::undefined) by_inputs |= 1U << lane;
    }
    const Mask apart = Mask::from_bits(by_inputs);
    for (int j = 0; j < inputs_; ++j) {
      if (in_[j].place != 0) bar_[j] = select(apart, bar_[j], tape_.bar(in_[j].place));
    }
    put_lanes(inputs_);
    for (unsigned left = by_inputs; left != 0; left &= left - 1U) {
      const int lane = kernels::lowest_bit(left);
      one_by_one(rows, by, lane, r_.bar + 1L * world_[lane] * inputs_);
    }
  }
  /// The first numbers of bar_ to the worlds that went; the others are next.
  void put_lanes(int count) {
    int taken = 0, left = 0;
    int others[kWidth];
    double* to[kWidth];
    for (int lane = 0; lane < lanes_; ++lane) {
      to[lane] = nowhere_;
      if ((live_ >> lane & 1U) == 0) {
        others[left++] = world_[lane];
        continue;
      }
      r_.world[r_.done + taken++] = world_[lane];
      Smoothness& status = r_.report[world_[lane]].status;
      if ((kinks_ >> lane & 1U) != 0 && status == Smoothness::smooth) status = Smoothness::kink;
      to[lane] = r_.bar + 1L * world_[lane] * inputs_;
    }
    for (int i = 0; i < left; ++i) r_.world[r_.done + taken + i] = others[i];
    r_.done += taken;
    collect_lanes<Isa>(reinterpret_cast<const double*>(bar_), count, lanes_, to);
  }

  /// Adds to a lane's gradient what the rows bring, input by input: those along which all is
  /// smooth have theirs.
  void one_by_one(const kernels::ConstraintRowsOf<Number>& rows,
                  const derivatives::StepGradientView<V>& by, int lane, double* gradient) {
    std::byte* const rest = at_;
    const long m = rows.count;
    kernels::ConstraintRows given;
    given.velocities = nv_;
    given.count = rows.count;
    given.jacobian = lane_alone(by.jacobian, m * nv_, lane);
    kernels::each_row_number([&](double*& to, const V* from) { to = lane_alone(from, m, lane); },
                             given, by);
    WorldMap map{WorldMap::Name::rows};
    map.inverse_mass = lane_alone(by.mass_matrix, nv_, lane);
    map.force = lane_alone(by.force, nv_, lane);
    map.rows = &given;
    int* wanted = take<int>(inputs_);
    int count = 0;
    for (int j = 0; j < inputs_; ++j) {
      if (r_.active[j]) wanted[count++] = j;
    }
    pull_back_world<Single>(
        WorldPullback{r_.kind, r_.sizes, r_.parameters, r_.step, lane_alone(before_, inputs_, lane),
                      wanted, count, take<double>(world_pullback_reals(r_.sizes, r_.parameters)),
                      r_.ints, r_.types},
        map, gradient);
    at_ = rest;
  }

  static constexpr double kRounding = 0x1.0p-46;

  WorldSteps& r_;
  int nq_, nv_, inputs_;
  std::byte* at_;
  Tape tape_;
  Number* in_;
  Number* inverse_mass_;
  Number* force_;
  Number* row_numbers_;
  V* bar_;           ///< back: gradient in (q', v', p, h), then in (q, v, p, h)
  V* before_;        ///< (q, v, p, h)
  V* pulled_;        ///< of v', whatever it reaches
  double* nowhere_;  ///< [inputs], for lanes that did not go
  std::byte* base_;
  int world_[kWidth];
  int lanes_ = 0;
  unsigned live_ = 0, kinks_ = 0;
};

}  // namespace

template <class Isa>
void differentiate_world_steps(WorldSteps& steps) {
  if constexpr (Isa::kInRegisters) {
    StepDerivatives<PairOf<Isa>>(steps).run();
  } else {
    StepDerivatives<Isa>(steps).run();
  }
}
template void differentiate_world_steps<CAROM_ISA>(WorldSteps&);

}  // namespace carom::cpu::simd
