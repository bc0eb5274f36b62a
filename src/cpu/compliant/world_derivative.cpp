#include <algorithm>
#include <cmath>
#include <numeric>

#include "compliant/derivative_backends.hpp"
#include "core/parallel.hpp"
#include "cpu/programs/derivatives/driver.hpp"
#include "cpu/simd/compliant/world_pullback.hpp"
#include "cpu/simd/compliant/world_steps_back.hpp"
#include "cpu/simd/dispatch.hpp"

namespace carom::cpu {

namespace {

using derivatives::kNone;
using simd::WorldMap;

/// Worlds that go back together: their steps' derivatives share packs.
constexpr std::int64_t kBlock = 64;
/// States [bytes] that a block keeps whole, so that no step is taken again, where nothing is asked.
constexpr std::int64_t kKeptWhole = 1 << 24;

/// What a run has between two steps.
struct Snapshot {
  std::vector<double> position, velocity, impulse;
  std::vector<kernels::WorldRecord> record;

  void take(const WorldStates& states) {
    position = states.position;
    velocity = states.velocity;
    impulse = states.impulse;
    record = states.record;
  }
  void restore(WorldStates& states) const {
    states.position = position;
    states.velocity = velocity;
    states.impulse = impulse;
    states.record = record;
  }
};

WorldStates part_of(const WorldStates& all, std::int64_t begin, std::int64_t end) {
  const auto some = [&](const auto& from, std::int64_t stride) {
    return std::remove_cvref_t<decltype(from)>(from.begin() + begin * stride,
                                               from.begin() + end * stride);
  };
  WorldStates part;
  part.scenario = all.scenario;
  part.sizes = all.sizes;
  part.worlds = end - begin;
  part.parameters =
      all.parameter_stride > 0 ? some(all.parameters, all.parameter_stride) : all.parameters;
  part.parameter_stride = all.parameter_stride;
  part.settings = all.settings;
  part.position = some(all.position, all.sizes.positions);
  part.velocity = some(all.velocity, all.sizes.velocities);
  part.impulse = some(all.impulse, all.sizes.rows);
  part.record = some(all.record, 1);
  return part;
}

/// The run of some worlds, forwards and back.
class RunBackwards {
 public:
  RunBackwards(const WorldStates& all, std::int64_t begin, std::int64_t end, std::int64_t steps,
               std::int64_t checkpoint, const CompliantSettings& solver,
               const DerivativeSettings& settings, const std::vector<int>& wanted,
               WorldsGradient& gradient)
      : states_(part_of(all, begin, end)),
        begin_(begin),
        count_(end - begin),
        steps_(steps),
        every_(checkpoint > 0 ? checkpoint : steps_between(all.sizes)),
        model_(world_model(all.scenario->kind)),
        nq_(all.sizes.positions),
        nv_(all.sizes.velocities),
        np_(static_cast<int>(all.scenario->parameters.size())),
        inputs_(nq_ + nv_ + np_ + 1),
        solver_(solver),
        settings_(settings),
        wanted_(wanted),
        code_(simd::derivative_code(simd::instruction_set())),
        out_(gradient),
        bar_(static_cast<std::size_t>(count_ * inputs_)),
        at_(static_cast<std::size_t>(inputs_)),
        reals_(static_cast<std::size_t>(simd::world_pullback_reals(all.sizes, np_))),
        ints_(static_cast<std::size_t>(simd::world_pullback_ints(all.sizes))),
        types_(static_cast<std::size_t>(all.sizes.rows)),
        tape_(simd::world_tape(all.sizes)),
        step_ints_(static_cast<std::size_t>(simd::world_steps_back_ints(all.sizes))),
        reports_(static_cast<std::size_t>(count_)),
        touch_(static_cast<std::size_t>(count_)),
        active_(static_cast<std::size_t>(inputs_)),
        solved_(static_cast<std::size_t>(count_)) {
    solver_.threads = settings_.threads = 1;
    std::fill_n(active_.data(), inputs_, false);
    for (const int input : wanted_) active_.data()[input] = true;
    order_.resize(static_cast<std::size_t>(count_));
    std::iota(order_.begin(), order_.end(), 0);
  }

  void run(const WorldsCotangent& cotangent) {
    const std::unique_ptr<WorldStepper> stepper = make_stepper(solver_);
    std::vector<Snapshot> kept;  // before steps 0, every, 2 every, ..
    for (std::int64_t done = 0; done < steps_;) {
      kept.emplace_back().take(states_);
      const std::int64_t count = std::min(every_, steps_ - done);
      if (done + count < steps_) stepper->advance(states_, done, count);
      done += count;
    }
    std::vector<Snapshot> chunk(static_cast<std::size_t>(std::min(every_, steps_) + 1));
    for (std::int64_t k = static_cast<std::int64_t>(kept.size()) - 1; k >= 0; --k) {
      const std::int64_t first = k * every_, last = std::min(first + every_, steps_);
      kept[static_cast<std::size_t>(k)].restore(states_);
      kept.pop_back();
      for (std::int64_t step = first; step < last; ++step) {
        chunk[static_cast<std::size_t>(step - first)].take(states_);
        stepper->advance(states_, step, 1);
      }
      Snapshot& end = chunk[static_cast<std::size_t>(last - first)];
      end.take(states_);
      if (last == steps_) begin_backwards(end, cotangent);
      for (std::int64_t step = last - 1; step >= first; --step) {
        const auto place = static_cast<std::size_t>(step - first);
        back(step, chunk[place], chunk[place + 1]);
      }
    }
    finish();
  }

 private:
  [[nodiscard]] std::int64_t steps_between(const kernels::WorldSizes& sizes) const {
    const auto step = static_cast<std::int64_t>(
        sizeof(double) * static_cast<std::size_t>(sizes.positions + sizes.velocities + sizes.rows) +
        sizeof(kernels::WorldRecord));
    if (count_ * steps_ * step <= kKeptWhole) return steps_;
    return static_cast<std::int64_t>(std::ceil(std::sqrt(steps_)));
  }
  [[nodiscard]] const double* parameters(std::int64_t w) const {
    return states_.parameters.data() + w * states_.parameter_stride;
  }
  double* bar(std::int64_t w) { return bar_.data() + w * inputs_; }
  [[nodiscard]] bool lost(std::int64_t w) const {
    return out_.status[static_cast<std::size_t>(begin_ + w)] >= Smoothness::undefined;
  }
  void note(std::int64_t w, Smoothness status, std::int64_t step) {
    const auto at = static_cast<std::size_t>(begin_ + w);
    if (status == Smoothness::smooth) return;
    out_.status[at] = std::max(out_.status[at], status);
    out_.first_step[at] = step;  // steps come backwards
  }

  /// Adds the product with a map at (q, v) to `gradient`.
  bool pull(std::int64_t w, std::int64_t step, const double* q, const double* v,
            const WorldMap& map, double* gradient) {
    std::copy_n(q, nq_, at_.data());
    std::copy_n(v, nv_, at_.data() + nq_);
    std::copy_n(parameters(w), np_, at_.data() + nq_ + nv_);
    at_.back() = states_.settings.step_size;
    return code_.pull_back_world(
        simd::WorldPullback{states_.scenario->kind, states_.sizes, np_, static_cast<double>(step),
                            at_.data(), wanted_.data(), static_cast<int>(wanted_.size()),
                            reals_.data(), ints_.data(), types_.data()},
        map, gradient);
  }

  void begin_backwards(const Snapshot& end, const WorldsCotangent& cotangent) {
    for (std::int64_t w = 0; w < count_; ++w) {
      if (end.record[static_cast<std::size_t>(w)].broken) {
        note(w, Smoothness::not_solved, 0);
        continue;
      }
      const std::int64_t all = begin_ + w;
      double* to = bar(w);
      for (int j = 0; j < nq_ && !cotangent.position.empty(); ++j) {
        to[j] = cotangent.position[static_cast<std::size_t>(all * nq_ + j)];
      }
      for (int j = 0; j < nv_ && !cotangent.velocity.empty(); ++j) {
        to[nq_ + j] = cotangent.velocity[static_cast<std::size_t>(all * nv_ + j)];
      }
      if (cotangent.displacement.empty()) continue;
      WorldMap map{WorldMap::Name::displacement};
      map.position = &cotangent.displacement[static_cast<std::size_t>(all)];
      pull(w, steps_, end.position.data() + w * nq_, end.velocity.data() + w * nv_, map, to);
    }
  }

  void back(std::int64_t step, const Snapshot& before, const Snapshot& after) {
    const double h = states_.settings.step_size;
    int stepped = 0;
    later_.clear();
    for (const int w : order_) {
      const auto at = static_cast<std::size_t>(w);
      if (lost(w) || after.record[at].steps == before.record[at].steps) {
        later_.push_back(w);
        continue;
      }
      const double* q = before.position.data() + w * nq_;
      const double* v = before.velocity.data() + w * nv_;
      std::copy_n(q, nq_, at_.data());
      std::copy_n(v, nv_, at_.data() + nq_);
      if (model_.direct(parameters(w), h, at_.data(), at_.data() + nq_)) {
        const std::vector<double> given(bar(w), bar(w) + nq_ + nv_);
        std::fill_n(bar(w), nq_ + nv_, 0.0);
        WorldMap map{WorldMap::Name::direct};
        map.position = given.data();
        map.velocity = given.data() + nq_;
        pull(w, step, q, v, map, bar(w));
        later_.push_back(w);
        continue;
      }
      solved_.data()[w] = after.record[at].failed == before.record[at].failed;
      order_[static_cast<std::size_t>(stepped++)] = w;
    }
    std::copy(later_.begin(), later_.end(), order_.begin() + stepped);
    if (stepped == 0) return;
    step_back(step, stepped, before, after);
    for (int i = 0; i < stepped; ++i) {
      spread(order_[static_cast<std::size_t>(i)], step, before);
    }
  }

  /// The step of the first worlds of order_, by packs.
  void step_back(std::int64_t step, int count, const Snapshot& before, const Snapshot& after) {
    simd::WorldStepsBack steps{};
    steps.kind = states_.scenario->kind;
    steps.sizes = states_.sizes;
    steps.parameters = np_;
    steps.step = static_cast<double>(step);
    steps.step_size = states_.settings.step_size;
    steps.centripetal = solver_.centripetal;
    steps.rules = rules_of(settings_);
    steps.rules.reach = false;
    steps.active = active_.data();
    steps.position = before.position.data();
    steps.velocity = before.velocity.data();
    steps.after = after.velocity.data();
    steps.impulse = after.impulse.data();
    steps.parameter = states_.parameters.data();
    steps.parameter_stride = states_.parameter_stride;
    steps.solved = solved_.data();
    steps.bar = bar_.data();
    steps.report = reports_.data();
    steps.touch = touch_.data();
    steps.world = order_.data();
    steps.count = count;
    steps.ints = step_ints_.data();
    steps.types = types_.data();
    steps.owner = this;
    steps.alone = [](void* owner, const simd::StepAlone& one, derivatives::Report& report) {
      static_cast<RunBackwards*>(owner)->alone(one, report);
    };
    while (true) {
      make_room(step_reals_, simd::world_steps_back_reals(states_.sizes, np_, tape_));
      steps.reals = step_reals_.data();
      steps.tape = tape_;
      code_.worlds_back(steps);
      if (steps.done == count) return;
      tape_ *= 2;
    }
  }

  /// A step that packs leave.
  void alone(const simd::StepAlone& step, derivatives::Report& report) {
    derivatives::DerivativeRules rules = rules_of(settings_);
    rules.reach = false;
    const derivatives::StepShape& shape = step.shape;
    memory_.fit(derivatives::step_derivative_reals(shape.velocities, shape.rows),
                derivatives::step_derivative_ints(shape.rows), 0);
    derivatives::StepDerivative<double> one(shape, step.problem, solver_.centripetal, rules,
                                            memory_.reals.data(), memory_.ints.data());
    report = {};
    if (!solved_.data()[step.world] || !one.modes(step.force, report)) {
      one.none(step.gradient);
      return;
    }
    derivatives::StepCotangentView<double> cotangent{};
    cotangent.velocity = step.velocity;
    one.adjoint(cotangent, step.gradient, report);
  }

  /// Whether no wanted parameter moves the gaps of rows that touch at the start: a body put on the
  /// ground.
  bool touches_always(std::int64_t w, const Snapshot& before) {
    const int m = states_.sizes.rows;
    std::vector<double> reals(static_cast<std::size_t>(kernels::constraint_reals(m, nv_))),
        force(static_cast<std::size_t>(nv_)), inverse_mass(force);
    std::vector<int> ints(static_cast<std::size_t>(kernels::constraint_ints(m)));
    std::vector<RowType> types(static_cast<std::size_t>(m));
    kernels::ConstraintRows rows =
        kernels::make_rows(m, nv_, reals.data(), ints.data(), types.data());
    const double h = states_.settings.step_size;
    const double* v = before.velocity.data() + w * nv_;
    model_.evaluate(parameters(w), 0.0, h, before.position.data() + w * nq_, v, inverse_mass.data(),
                    force.data(), rows);
    std::vector<double> gap(rows.phi, rows.phi + rows.count);
    for (int k = 0; k < rows.count; ++k) {
      double speed = 0.0;
      for (int j = rows.begin[k]; j < rows.end[k]; ++j) speed += rows.row(k)[j] * v[j];
      const double size = std::abs(gap[static_cast<std::size_t>(k)]);
      const bool pushes = types[static_cast<std::size_t>(k)] == RowType::unilateral ||
                          types[static_cast<std::size_t>(k)] == RowType::normal;
      const bool touches = pushes && size <= settings_.margin_tolerance * h * std::abs(speed);
      gap[static_cast<std::size_t>(k)] = touches ? 1.0 + 0.1 * k : 0.0;
    }
    std::fill(reals.begin(), reals.end(), 0.0);
    std::copy(gap.begin(), gap.end(), rows.phi);
    std::vector<double> moved(static_cast<std::size_t>(inputs_), 0.0);
    std::vector<double> q(static_cast<std::size_t>(nq_), 0.0), rate(force.size(), 0.0);
    model_.start(parameters(w), q.data(), rate.data());
    WorldMap map{WorldMap::Name::rows};
    map.rows = &rows;
    if (!pull(w, 0, q.data(), rate.data(), map, moved.data())) return false;
    add_start(w, moved.data());
    return std::all_of(moved.begin() + nq_ + nv_, moved.end(),
                       [](double x) { return std::abs(x) <= 1e-12; });
  }
  /// What the start adds to the parameters' gradient.
  void add_start(std::int64_t w, double* all) {
    const std::vector<double> given(all, all + nq_ + nv_);
    std::vector<double> unread(static_cast<std::size_t>(inputs_), 0.0);
    WorldMap map{WorldMap::Name::start};
    map.position = given.data();
    map.velocity = given.data() + nq_;
    pull(w, 0, given.data(), given.data() + nq_, map, unread.data());
    for (int j = nq_ + nv_; j < inputs_; ++j) all[j] += unread[static_cast<std::size_t>(j)];
  }

  /// What the step's derivative says of itself.
  void spread(std::int64_t w, std::int64_t step, const Snapshot& before) {
    const auto at = static_cast<std::size_t>(begin_ + w);
    const derivatives::Report& report = reports_[static_cast<std::size_t>(w)];
    const double touch = touch_[static_cast<std::size_t>(w)];
    const bool touches = touch <= settings_.margin_tolerance;
    if (step > 0 || !touches || !touches_always(w, before)) {
      out_.touch[at] = std::min(out_.touch[at], touch);
      if (touches) note(w, Smoothness::set_valued, step);
    }
    note(w, report.status, step);
    out_.margin[at] = std::min(out_.margin[at], report.margin);
    out_.residual[at] = std::max(out_.residual[at], report.residual);
    out_.condition[at] = std::max(out_.condition[at], report.condition);
    out_.shift[at] = std::max(out_.shift[at], report.shift);
    out_.doubtful[at] += report.doubtful;
  }

  void finish() {
    for (std::int64_t w = 0; w < count_; ++w) {
      const auto at = static_cast<std::size_t>(begin_ + w);
      double* all = bar(w);
      if (!lost(w)) add_start(w, all);
      // A parameter may be at a kink of the scenario's own, as a ratio of one.
      if (!finite(all, nq_ + nv_)) note(w, Smoothness::undefined, 0);
      if (!finite(all + nq_ + nv_, np_ + 1)) note(w, Smoothness::kink, 0);
      if (lost(w)) {
        std::fill_n(all, inputs_, kNone);
        out_.residual[at] = kNone;
      }
      std::copy_n(all, nq_, out_.position.data() + (begin_ + w) * nq_);
      std::copy_n(all + nq_, nv_, out_.velocity.data() + (begin_ + w) * nv_);
      std::copy_n(all + nq_ + nv_, np_, out_.parameters.data() + (begin_ + w) * np_);
      out_.step_size[at] = all[inputs_ - 1];
    }
  }

  static bool finite(const double* values, int count) {
    return std::all_of(values, values + count, [](double x) { return std::isfinite(x); });
  }

  WorldStates states_;
  std::int64_t begin_, count_, steps_, every_;
  const WorldModel& model_;
  int nq_, nv_, np_, inputs_;
  CompliantSettings solver_;
  DerivativeSettings settings_;
  const std::vector<int>& wanted_;
  const simd::DerivativeCode& code_;
  WorldsGradient& out_;
  std::vector<double> bar_;  ///< gradient in (q, v, p, h) of what comes after, [count, inputs]
  std::vector<double> at_;
  Buffer<double> reals_;
  std::vector<int> ints_;
  std::vector<RowType> types_;
  int tape_;  ///< numbers that there is room for
  Buffer<double> step_reals_;
  std::vector<int> step_ints_;
  std::vector<derivatives::Report> reports_;  ///< of a step
  std::vector<double> touch_;                 ///< likewise
  Buffer<bool> active_;                       ///< of (q, v, p, h), those that are wanted
  Buffer<bool> solved_;                       ///< of a step
  std::vector<int> order_, later_;            ///< worlds, those that shared packs together
  DerivativeMemory memory_;
};

}  // namespace

WorldsGradient differentiate_worlds(const WorldStates& states, std::int64_t steps,
                                    const WorldsCotangent& cotangent,
                                    const CompliantSettings& solver,
                                    const DerivativeSettings& settings,
                                    const std::vector<int>& wanted, std::int64_t checkpoint) {
  const auto worlds = static_cast<std::size_t>(states.worlds);
  WorldsGradient out;
  out.parameters.resize(worlds * states.scenario->parameters.size());
  out.position.resize(states.position.size());
  out.velocity.resize(states.velocity.size());
  for (std::vector<double>* zeros : {&out.step_size, &out.residual, &out.condition, &out.shift}) {
    zeros->assign(worlds, 0.0);
  }
  out.margin.assign(worlds, kernels::kInfinity);
  out.touch.assign(worlds, kernels::kInfinity);
  out.status.assign(worlds, Smoothness::smooth);
  out.first_step.assign(worlds, -1);
  out.doubtful.assign(worlds, 0);
  parallel_for(states.worlds, kBlock, settings.threads, [&](std::int64_t begin, std::int64_t end) {
    RunBackwards(states, begin, end, steps, checkpoint, solver, settings, wanted, out)
        .run(cotangent);
  });
  return out;
}

}  // namespace carom::cpu
