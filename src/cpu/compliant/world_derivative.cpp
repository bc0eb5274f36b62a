#include <algorithm>
#include <cmath>
#include <numeric>

#include "compliant/derivative_backends.hpp"
#include "core/parallel.hpp"
#include "cpu/programs/derivatives/driver.hpp"
#include "cpu/simd/compliant/compliant_range.hpp"
#include "cpu/simd/compliant/world_pullback.hpp"
#include "cpu/simd/compliant/world_step_derivatives.hpp"
#include "cpu/simd/dispatch.hpp"

namespace carom::cpu {

namespace {

using derivatives::kNone;
using simd::WorldMap;

/// Worlds that go back together: their steps' derivatives share packs.
constexpr std::int64_t kBlock = 64;
/// States [bytes] that a block keeps whole, so that no step is taken again, where nothing is asked.
constexpr std::int64_t kKeptWhole = 1 << 24;

/// Whether a scenario may take steps without rows.
bool steps_itself(models::ScenarioKind kind) {
  return models::detail::visit_scenario(kind, [](auto body) {
    using Scenario = decltype(body);
    return &Scenario::template direct<double> != &kernels::ScenarioBase::direct<double>;
  });
}

/// What a run has between two steps: the arrays of its worlds.
struct Between {
  const double* position;
  const double* velocity;
  const double* impulse;
  const kernels::WorldRecord* record;
};

/// The same, kept.
struct Snapshot {
  std::vector<double> position, velocity, impulse;
  std::vector<kernels::WorldRecord> record;

  [[nodiscard]] Between arrays() const {
    return {position.data(), velocity.data(), impulse.data(), record.data()};
  }

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

/// States after each of some steps.
class Chunk {
 public:
  void fit(const WorldStates& states, std::int64_t steps) {
    const auto room = [&](auto& kept, const auto& own) {
      kept.resize(own.size() * static_cast<std::size_t>(steps));
    };
    room(position_, states.position);
    room(velocity_, states.velocity);
    room(impulse_, states.impulse);
    room(record_, states.record);
  }
  simd::WorldsKept kept(const WorldStates& states) {
    return {states.worlds, position_.data(), velocity_.data(), impulse_.data(), record_.data()};
  }
  [[nodiscard]] Between after(const WorldStates& states, std::int64_t step) const {
    const auto at = static_cast<std::size_t>(step);
    return {position_.data() + at * states.position.size(),
            velocity_.data() + at * states.velocity.size(),
            impulse_.data() + at * states.impulse.size(),
            record_.data() + at * states.record.size()};
  }

 private:
  std::vector<double> position_, velocity_, impulse_;
  std::vector<kernels::WorldRecord> record_;
};

/// The run of some worlds, and its derivative: back from its end, or ahead from its start.
class RunDerivative {
 public:
  RunDerivative(const WorldStates& all, std::int64_t begin, std::int64_t end, std::int64_t steps,
                const CompliantSettings& solver, const DerivativeSettings& settings,
                const std::vector<int>& wanted, WorldsDerivative& made)
      : states_(part_of(all, begin, end)),
        begin_(begin),
        count_(end - begin),
        steps_(steps),
        model_(world_model(all.scenario->kind)),
        steps_itself_(steps_itself(all.scenario->kind)),
        nq_(all.sizes.positions),
        nv_(all.sizes.velocities),
        np_(static_cast<int>(all.scenario->parameters.size())),
        inputs_(nq_ + nv_ + np_ + 1),
        solver_(solver),
        settings_(settings),
        wanted_(wanted),
        code_(simd::derivative_code(simd::instruction_set())),
        out_(made),
        bar_(static_cast<std::size_t>(count_ * inputs_)),
        at_(static_cast<std::size_t>(inputs_)),
        reals_(static_cast<std::size_t>(simd::world_pullback_reals(all.sizes, np_))),
        ints_(static_cast<std::size_t>(simd::world_pullback_ints(all.sizes))),
        types_(static_cast<std::size_t>(all.sizes.rows)),
        tape_(simd::world_tape(all.sizes)),
        step_ints_(static_cast<std::size_t>(simd::world_steps_ints(all.sizes))),
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

  /// checkpoint: steps between states that are kept; 0: as many as there is room for.
  void back(const WorldsCotangent& cotangent, std::int64_t checkpoint, WorldsGradient& gradient) {
    const std::int64_t every = checkpoint > 0 ? checkpoint : steps_between(states_.sizes);
    const std::unique_ptr<WorldStepper> stepper = make_stepper(solver_);
    std::vector<Snapshot> kept;  // before steps 0, every, 2 every, ..
    for (std::int64_t done = 0; done < steps_;) {
      kept.emplace_back().take(states_);
      const std::int64_t count = std::min(every, steps_ - done);
      if (done + count < steps_) stepper->advance(states_, done, count);
      done += count;
    }
    chunk_.fit(states_, std::min(every, steps_));
    for (std::int64_t k = static_cast<std::int64_t>(kept.size()) - 1; k >= 0; --k) {
      const std::int64_t first = k * every, last = std::min(first + every, steps_);
      const Snapshot& start = kept[static_cast<std::size_t>(k)];
      start.restore(states_);
      advance(first, last - first);
      const auto after = [&](std::int64_t step) {
        return step < first ? start.arrays() : chunk_.after(states_, step - first);
      };
      if (last == steps_) begin_backwards(after(last - 1), cotangent);
      for (std::int64_t step = last - 1; step >= first; --step) {
        back(step, after(step - 1), after(step));
      }
      kept.pop_back();
    }
    finish(gradient);
  }

  void ahead(const WorldsDirection& direction, WorldsTangent& tangent) {
    std::fill(bar_.begin(), bar_.end(), 0.0);
    for (std::int64_t w = 0; w < count_; ++w) {
      const auto copy = [&](const std::vector<double>& from, int count, int place) {
        if (from.empty()) return;
        std::copy_n(from.begin() + (begin_ + w) * count, count, bar(w) + place);
      };
      copy(direction.position, nq_, 0);
      copy(direction.velocity, nv_, nq_);
      copy(direction.parameters, np_, nq_ + nv_);
      copy(direction.step_size, 1, inputs_ - 1);
    }
    Snapshot before;
    before.take(states_);
    take_steps(simd::WorldSteps::Map::start, 0, static_cast<int>(count_), before.arrays(),
               before.arrays());
    for (std::int64_t w = 0; w < count_; ++w) {
      note(w, reports_[static_cast<std::size_t>(w)].status, 0);
    }
    constexpr std::int64_t kAtOnce = 32;
    chunk_.fit(states_, kAtOnce);
    for (std::int64_t first = 0; first < steps_; first += kAtOnce) {
      const std::int64_t count = std::min(kAtOnce, steps_ - first);
      advance(first, count);
      for (std::int64_t step = 0; step < count; ++step) {
        ahead(first + step, step > 0 ? chunk_.after(states_, step - 1) : before.arrays(),
              chunk_.after(states_, step));
      }
      before.take(states_);
    }
    for (std::int64_t w = 0; w < count_; ++w) {
      const double* rates = bar(w);
      if (before.record[static_cast<std::size_t>(w)].broken) note(w, Smoothness::not_solved, 0);
      if (!finite(rates, nq_ + nv_)) note(w, Smoothness::undefined, 0);
      double along = 0.0;
      if (lost(w)) {
        std::fill_n(bar(w), nq_ + nv_, kNone);
        out_.residual[static_cast<std::size_t>(begin_ + w)] = along = kNone;
      } else {
        std::vector<double> gradient(static_cast<std::size_t>(inputs_), 0.0);
        const double one = 1.0;
        WorldMap map{WorldMap::Name::displacement};
        map.position = &one;
        pull(w, steps_, before.position.data() + w * nq_, before.velocity.data() + w * nv_, map,
             gradient.data());
        for (int j = 0; j < inputs_; ++j) along += gradient[static_cast<std::size_t>(j)] * rates[j];
      }
      std::copy_n(rates, nq_, tangent.position.data() + (begin_ + w) * nq_);
      std::copy_n(rates + nq_, nv_, tangent.velocity.data() + (begin_ + w) * nv_);
      tangent.displacement[static_cast<std::size_t>(begin_ + w)] = along;
    }
  }

 private:
  /// Steps that are kept in chunk_, by the stepper's own text.
  void advance(std::int64_t first, std::int64_t count) {
    const simd::StepWorkspaceSizes room = models::detail::visit_scenario(
        states_.scenario->kind,
        [&](auto body) { return simd::worlds_workspace<decltype(body)>(states_.sizes); });
    make_room(work_reals_, room.reals + simd::kStepPackWorkspace);
    make_room(work_ints_, room.ints);
    make_room(work_types_, room.types);
    simd::instruction_set().step_worlds(simd::WorldsRange{
        0, count_, states_.scenario->kind, states_.sizes, states_.parameters.data(),
        states_.parameter_stride, states_.settings, first, count, states_.position.data(),
        states_.velocity.data(), states_.impulse.data(), states_.record.data(),
        simd::StepWorkspace{work_reals_.data() + simd::kStepPackWorkspace, work_ints_.data(),
                            work_types_.data(), work_reals_.data()},
        chunk_.kept(states_)});
  }
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
    std::int64_t& first = out_.first_step[at];
    first = first < 0 ? step : std::min(first, step);
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

  void begin_backwards(const Between& end, const WorldsCotangent& cotangent) {
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
      pull(w, steps_, end.position + w * nq_, end.velocity + w * nv_, map, to);
    }
  }

  void back(std::int64_t step, const Between& before, const Between& after) {
    const double h = states_.settings.step_size;
    const auto by_itself = [&](int w) {
      if (!steps_itself_) return false;
      const double* q = before.position + w * nq_;
      const double* v = before.velocity + w * nv_;
      std::copy_n(q, nq_, at_.data());
      std::copy_n(v, nv_, at_.data() + nq_);
      if (!model_.direct(parameters(w), h, at_.data(), at_.data() + nq_)) return false;
      const std::vector<double> given(bar(w), bar(w) + nq_ + nv_);
      std::fill_n(bar(w), nq_ + nv_, 0.0);
      WorldMap map{WorldMap::Name::direct};
      map.position = given.data();
      map.velocity = given.data() + nq_;
      pull(w, step, q, v, map, bar(w));
      return true;
    };
    take_worlds(simd::WorldSteps::Map::back, step, before, after, by_itself);
  }

  void ahead(std::int64_t step, const Between& before, const Between& after) {
    take_worlds(simd::WorldSteps::Map::ahead, step, before, after,
                [&](int w) { return after.record[static_cast<std::size_t>(w)].broken; });
  }

  /// A map of a step of the worlds that took it, by packs; left out are those that are done with by
  /// themselves.
  template <class ByItself>
  void take_worlds(simd::WorldSteps::Map map, std::int64_t step, const Between& before,
                   const Between& after, ByItself&& by_itself) {
    int stepped = 0;
    later_.clear();
    for (const int w : order_) {
      const auto at = static_cast<std::size_t>(w);
      if (lost(w) || after.record[at].steps == before.record[at].steps || by_itself(w)) {
        later_.push_back(w);
        continue;
      }
      solved_.data()[w] = after.record[at].failed == before.record[at].failed;
      order_[static_cast<std::size_t>(stepped++)] = w;
    }
    std::copy(later_.begin(), later_.end(), order_.begin() + stepped);
    if (stepped == 0) return;
    take_steps(map, step, stepped, before, after);
    for (int i = 0; i < stepped; ++i) {
      spread(order_[static_cast<std::size_t>(i)], step, before);
    }
  }

  /// A map of the first worlds of order_, by packs.
  void take_steps(simd::WorldSteps::Map map, std::int64_t step, int count, const Between& before,
                  const Between& after) {
    simd::WorldSteps steps{};
    steps.map = map;
    steps.kind = states_.scenario->kind;
    steps.sizes = states_.sizes;
    steps.parameters = np_;
    steps.step = static_cast<double>(step);
    steps.step_size = states_.settings.step_size;
    steps.centripetal = solver_.centripetal;
    steps.rules = rules_of(settings_);
    steps.rules.reach = false;
    steps.active = active_.data();
    steps.position = before.position;
    steps.velocity = before.velocity;
    steps.after = after.velocity;
    steps.impulse = after.impulse;
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
      static_cast<RunDerivative*>(owner)->alone(one, report);
    };
    while (true) {
      make_room(step_reals_, simd::world_steps_reals(states_.sizes, np_, tape_));
      steps.reals = step_reals_.data();
      steps.tape = tape_;
      code_.world_steps(steps);
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
                derivatives::step_derivative_ints(shape.rows));
    derivatives::StepDerivative<double> one(shape, step.problem, solver_.centripetal, rules,
                                            memory_.reals.data(), memory_.ints.data());
    report = {};
    const bool regular = solved_.data()[step.world] && one.modes(step.force, report);
    if (step.cotangent == nullptr) {
      if (regular) {
        one.tangent(step.direction, step.tangent, report);
      } else {
        std::fill_n(step.tangent.velocity, shape.velocities, kNone);
      }
    } else if (regular) {
      derivatives::StepCotangentView<double> cotangent{};
      cotangent.velocity = step.cotangent;
      one.adjoint(cotangent, step.gradient, report);
    } else {
      one.none(step.gradient);
    }
  }

  /// Whether no wanted parameter moves the gaps of rows that touch at the start: a body put on the
  /// ground.
  bool touches_always(std::int64_t w, const Between& before) {
    const int m = states_.sizes.rows;
    std::vector<double> reals(static_cast<std::size_t>(kernels::constraint_reals(m, nv_))),
        force(static_cast<std::size_t>(nv_)), inverse_mass(force);
    std::vector<int> ints(static_cast<std::size_t>(kernels::constraint_ints(m)));
    std::vector<RowType> types(static_cast<std::size_t>(m));
    kernels::ConstraintRows rows =
        kernels::make_rows(m, nv_, reals.data(), ints.data(), types.data());
    const double h = states_.settings.step_size;
    const double* v = before.velocity + w * nv_;
    model_.evaluate(parameters(w), 0.0, h, before.position + w * nq_, v, inverse_mass.data(),
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
  void spread(std::int64_t w, std::int64_t step, const Between& before) {
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

  void finish(WorldsGradient& gradient) {
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
      std::copy_n(all, nq_, gradient.position.data() + (begin_ + w) * nq_);
      std::copy_n(all + nq_, nv_, gradient.velocity.data() + (begin_ + w) * nv_);
      std::copy_n(all + nq_ + nv_, np_, gradient.parameters.data() + (begin_ + w) * np_);
      gradient.step_size[at] = all[inputs_ - 1];
    }
  }

  static bool finite(const double* values, int count) {
    return std::all_of(values, values + count, [](double x) { return std::isfinite(x); });
  }

  WorldStates states_;
  std::int64_t begin_, count_, steps_;
  const WorldModel& model_;
  bool steps_itself_;
  int nq_, nv_, np_, inputs_;
  CompliantSettings solver_;
  DerivativeSettings settings_;
  const std::vector<int>& wanted_;
  const simd::DerivativeCode& code_;
  WorldsDerivative& out_;
  /// Back: gradient in (q, v, p, h) of what comes after; ahead: their rates. [count, inputs]
  std::vector<double> bar_;
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
  Chunk chunk_;
  Buffer<double> work_reals_;  // on a cache line
  std::vector<int> work_ints_;
  std::vector<RowType> work_types_;
};

void begin(std::size_t worlds, WorldsDerivative& made) {
  for (std::vector<double>* zeros : {&made.residual, &made.condition, &made.shift}) {
    zeros->assign(worlds, 0.0);
  }
  made.margin.assign(worlds, kernels::kInfinity);
  made.touch.assign(worlds, kernels::kInfinity);
  made.status.assign(worlds, Smoothness::smooth);
  made.first_step.assign(worlds, -1);
  made.doubtful.assign(worlds, 0);
}

}  // namespace

WorldsGradient differentiate_worlds(const WorldStates& states, std::int64_t steps,
                                    const WorldsCotangent& cotangent,
                                    const CompliantSettings& solver,
                                    const DerivativeSettings& settings,
                                    const std::vector<int>& wanted, std::int64_t checkpoint) {
  const auto worlds = static_cast<std::size_t>(states.worlds);
  WorldsGradient out;
  begin(worlds, out);
  out.parameters.resize(worlds * states.scenario->parameters.size());
  out.position.resize(states.position.size());
  out.velocity.resize(states.velocity.size());
  out.step_size.resize(worlds);
  parallel_for(states.worlds, kBlock, settings.threads, [&](std::int64_t first, std::int64_t end) {
    RunDerivative(states, first, end, steps, solver, settings, wanted, out)
        .back(cotangent, checkpoint, out);
  });
  return out;
}

WorldsTangent propagate_worlds(const WorldStates& states, std::int64_t steps,
                               const WorldsDirection& direction, const CompliantSettings& solver,
                               const DerivativeSettings& settings, const std::vector<int>& wanted) {
  const auto worlds = static_cast<std::size_t>(states.worlds);
  WorldsTangent out;
  begin(worlds, out);
  out.position.resize(states.position.size());
  out.velocity.resize(states.velocity.size());
  out.displacement.resize(worlds);
  parallel_for(states.worlds, kBlock, settings.threads, [&](std::int64_t first, std::int64_t end) {
    RunDerivative(states, first, end, steps, solver, settings, wanted, out).ahead(direction, out);
  });
  return out;
}

}  // namespace carom::cpu
