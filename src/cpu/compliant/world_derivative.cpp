#include <algorithm>
#include <cmath>
#include <numeric>

#include "compliant/derivative_backends.hpp"
#include "core/parallel.hpp"
#include "cpu/programs/derivatives/driver.hpp"
#include "cpu/simd/compliant/world_pullback.hpp"
#include "cpu/simd/dispatch.hpp"

namespace carom::cpu {

namespace {

using derivatives::kNone;
using simd::WorldMap;

/// Worlds that go back together: their steps' derivatives share packs.
constexpr std::int64_t kBlock = 64;

/// What a run has between two steps.
struct Snapshot {
  std::vector<double> position, velocity, impulse;
  std::vector<kernels::WorldRecord> record;

  static Snapshot of(const WorldStates& states) {
    return {states.position, states.velocity, states.impulse, states.record};
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
        every_(checkpoint > 0 ? checkpoint
                              : static_cast<std::int64_t>(std::ceil(std::sqrt(steps)))),
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
        row_reals_(static_cast<std::size_t>(kernels::constraint_reals(all.sizes.rows, nv_))),
        row_ints_(static_cast<std::size_t>(kernels::constraint_ints(all.sizes.rows))),
        row_types_(static_cast<std::size_t>(all.sizes.rows)),
        bar_reals_(row_reals_.size()),
        touch_(static_cast<std::size_t>(all.sizes.rows)),
        mass_(static_cast<std::size_t>(nv_)),
        force_(static_cast<std::size_t>(nv_)) {
    solver_.threads = settings_.threads = 1;
    for (const int input : wanted_) {
      if (input < nq_ + nv_ || input == inputs_ - 1) moving_.push_back(input);
    }
  }

  void run(const WorldsCotangent& cotangent) {
    const std::unique_ptr<WorldStepper> stepper = make_stepper(solver_);
    std::vector<Snapshot> kept;  // before steps 0, every, 2 every, ..
    for (std::int64_t done = 0; done < steps_;) {
      kept.push_back(Snapshot::of(states_));
      const std::int64_t count = std::min(every_, steps_ - done);
      if (done + count < steps_) stepper->advance(states_, done, count);
      done += count;
    }
    std::vector<Snapshot> chunk;
    for (std::int64_t k = static_cast<std::int64_t>(kept.size()) - 1; k >= 0; --k) {
      const std::int64_t first = k * every_, last = std::min(first + every_, steps_);
      kept[static_cast<std::size_t>(k)].restore(states_);
      kept.pop_back();
      chunk.clear();
      for (std::int64_t step = first; step < last; ++step) {
        chunk.push_back(Snapshot::of(states_));
        stepper->advance(states_, step, 1);
      }
      chunk.push_back(Snapshot::of(states_));
      if (last == steps_) begin_backwards(chunk.back(), cotangent);
      for (std::int64_t step = last - 1; step >= first; --step) {
        const auto place = static_cast<std::size_t>(step - first);
        back(step, chunk[place], chunk[place + 1]);
      }
    }
    finish();
  }

 private:
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
    const std::vector<int>& in = map.name == WorldMap::Name::advance ? moving_ : wanted_;
    std::copy_n(q, nq_, at_.data());
    std::copy_n(v, nv_, at_.data() + nq_);
    std::copy_n(parameters(w), np_, at_.data() + nq_ + nv_);
    at_.back() = states_.settings.step_size;
    return code_.pull_back_world(
        simd::WorldPullback{states_.scenario->kind, states_.sizes, np_, static_cast<double>(step),
                            at_.data(), in.data(), static_cast<int>(in.size()), reals_.data(),
                            ints_.data(), types_.data()},
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

  kernels::ConstraintRows rows_of(double* reals) {
    return kernels::make_rows(states_.sizes.rows, nv_, reals, row_ints_.data(), row_types_.data());
  }
  /// The rows of world w before a step, and its masses and forces.
  kernels::ConstraintRows evaluate(std::int64_t w, std::int64_t step, const double* q,
                                   const double* v) {
    kernels::ConstraintRows rows = rows_of(row_reals_.data());
    const double h = states_.settings.step_size;
    model_.evaluate(parameters(w), static_cast<double>(step) * h, h, q, v, mass_.data(),
                    force_.data(), rows);
    return rows;
  }

  void back(std::int64_t step, const Snapshot& before, const Snapshot& after) {
    const double h = states_.settings.step_size;
    stepped_.clear();
    int most = 1;
    for (std::int64_t w = 0; w < count_; ++w) {
      const auto at = static_cast<std::size_t>(w);
      if (lost(w) || after.record[at].steps == before.record[at].steps) continue;
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
        continue;
      }
      stepped_.push_back(w);
      most = std::max(most, after.record[at].most_rows);
    }
    if (stepped_.empty()) return;
    fit(most);
    row_counts_.resize(stepped_.size());
    for (std::size_t i = 0; i < stepped_.size(); ++i) {
      const std::int64_t w = stepped_[i];
      const auto at = static_cast<std::size_t>(w);
      fill(static_cast<std::int64_t>(i), w, step, before, after);
      const bool solved = after.record[at].failed == before.record[at].failed;
      answer_.status.data()[i] = solved ? Status::solved : Status::inaccurate;
      // q' = N(q) v': its part of the gradient goes to q, and to v' before the step.
      double* all = bar(w);
      const std::vector<double> of_q(all, all + nq_);
      std::fill_n(all, nq_, 0.0);
      WorldMap map{WorldMap::Name::advance};
      map.position = of_q.data();
      pull(w, step, before.position.data() + w * nq_, after.velocity.data() + w * nv_, map, all);
      std::copy_n(all + nq_, nv_, cotangent_.velocity.data() + static_cast<long>(i) * nv_);
      std::fill_n(all + nq_, nv_, 0.0);
    }
    const CompliantGradient found =
        differentiate_compliant(batch_, answer_, cotangent_, solver_, settings_, kWanted);
    for (std::size_t i = 0; i < stepped_.size(); ++i) {
      spread(static_cast<std::int64_t>(i), stepped_[i], step, before, found);
    }
  }

  /// Batch, answer and cotangent for the worlds that step.
  void fit(int rows) {
    const auto count = static_cast<std::int64_t>(stepped_.size());
    if (batch_.problems == count && batch_.rows == rows) return;
    static_cast<CompliantSizes&>(batch_) = {count, model_.tangents + 1, nv_, rows, 0};
    const auto make = [](const char*, const Extents& extents, auto& array) {
      array = std::remove_cvref_t<decltype(array)>(static_cast<std::size_t>(extents.count()));
    };
    CompliantBatch::each_array(batch_, make, batch_);
    CompliantResult::each_array(batch_, make, answer_);
    cotangent_.velocity = Buffer<double>(static_cast<std::size_t>(count * nv_));
  }

  void fill(std::int64_t i, std::int64_t w, std::int64_t step, const Snapshot& before,
            const Snapshot& after) {
    const double h = states_.settings.step_size;
    const double* q = before.position.data() + w * nq_;
    const double* v = before.velocity.data() + w * nv_;
    const kernels::ConstraintRows rows = evaluate(w, step, q, v);
    const long m = batch_.rows;
    row_counts_[static_cast<std::size_t>(i)] = rows.count;
    batch_.step_size.data()[i] = h;
    double* mass = batch_.mass_matrix.data() + i * nv_ * nv_;
    std::fill_n(mass, nv_ * nv_, 0.0);
    for (int j = 0; j < nv_; ++j) mass[j * nv_ + j] = 1.0 / mass_[static_cast<std::size_t>(j)];
    std::copy_n(force_.data(), nv_, batch_.force.data() + i * nv_);
    std::copy_n(v, nv_, batch_.velocity.data() + i * nv_);
    std::fill_n(batch_.type.data() + i * m, m, RowType::none);
    std::copy_n(rows.type, rows.count, batch_.type.data() + i * m);
    double* jacobian = batch_.jacobian.data() + i * m * nv_;
    std::fill_n(jacobian, m * nv_, 0.0);
    double* force = answer_.force.data() + i * m;
    std::fill_n(force, m, 0.0);
    double touch = kernels::kInfinity;
    for (int k = 0; k < rows.count; ++k) {
      double speed = 0.0, size = 0.0;
      for (int j = rows.begin[k]; j < rows.end[k]; ++j) {
        jacobian[k * nv_ + j] = rows.row(k)[j];
        speed += rows.row(k)[j] * v[j];
        size += std::abs(rows.row(k)[j] * v[j]);
      }
      // What rounding left of a body that does not turn is no motion of its rows.
      if (h * std::abs(rows.jacobian_dot_v[k]) <= kRounding * size) rows.jacobian_dot_v[k] = 0.0;
      force[k] = after.impulse[static_cast<std::size_t>(w * states_.sizes.rows + rows.slot[k])] / h;
      const double gap = std::abs(rows.phi[k]), way = h * std::abs(speed);
      const bool pushes = rows.type[k] == RowType::unilateral || rows.type[k] == RowType::normal;
      double& own = touch_[static_cast<std::size_t>(k)];
      own = !pushes || (way == 0.0 && gap > 0.0) ? kernels::kInfinity : gap > 0.0 ? gap / way : 0.0;
      touch = std::min(touch, own);
    }
    for (const auto& [to, from] : {std::pair{&batch_.jacobian_dot_v, rows.jacobian_dot_v},
                                   {&batch_.phi, rows.phi},
                                   {&batch_.stiffness, rows.stiffness},
                                   {&batch_.damping, rows.damping},
                                   {&batch_.friction, rows.friction}}) {
      std::fill_n(to->data() + i * m, m, 0.0);
      std::copy_n(from, rows.count, to->data() + i * m);
    }
    const auto at = static_cast<std::size_t>(begin_ + w);
    if (step == 0 && touch <= settings_.margin_tolerance && touches_always(w, rows)) return;
    out_.touch[at] = std::min(out_.touch[at], touch);
    if (touch <= settings_.margin_tolerance) note(w, Smoothness::set_valued, step);
  }

  /// Whether no wanted parameter moves the gaps of rows that touch at the start: a body put on the
  /// ground.
  bool touches_always(std::int64_t w, const kernels::ConstraintRows& rows) {
    kernels::ConstraintRows by = rows_of(bar_reals_.data());
    by.count = rows.count;
    std::vector<double> moved(static_cast<std::size_t>(inputs_), 0.0);
    std::vector<double> q(static_cast<std::size_t>(nq_), 0.0),
        v(static_cast<std::size_t>(nv_), 0.0);
    model_.start(parameters(w), q.data(), v.data());
    std::fill(bar_reals_.begin(), bar_reals_.end(), 0.0);
    for (int k = 0; k < rows.count; ++k) {
      const bool touches = touch_[static_cast<std::size_t>(k)] <= settings_.margin_tolerance;
      by.phi[k] = touches ? 1.0 + 0.1 * k : 0.0;
    }
    WorldMap map{WorldMap::Name::rows};
    map.rows = &by;
    if (!pull(w, 0, q.data(), v.data(), map, moved.data())) return false;
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

  /// The step's gradient to the state before it and the parameters.
  void spread(std::int64_t i, std::int64_t w, std::int64_t step, const Snapshot& before,
              const CompliantGradient& found) {
    const auto at = static_cast<std::size_t>(begin_ + w);
    const Smoothness status = found.status.data()[i];
    note(w, status, step);
    out_.margin[at] = std::min(out_.margin[at], found.margin.data()[i]);
    out_.residual[at] = std::max(out_.residual[at], found.residual.data()[i]);
    out_.condition[at] = std::max(out_.condition[at], found.condition.data()[i]);
    out_.shift[at] = std::max(out_.shift[at], found.shift.data()[i]);
    out_.doubtful[at] += found.doubtful.data()[i];
    if (lost(w)) return;
    const double* q = before.position.data() + w * nq_;
    const double* v = before.velocity.data() + w * nv_;
    kernels::ConstraintRows by = rows_of(bar_reals_.data());
    by.count = row_counts_[static_cast<std::size_t>(i)];
    const long m = batch_.rows;
    const auto put = [&](const Buffer<double>& from, double* to, long width) {
      std::copy_n(from.data() + i * m * width, by.count * width, to);
    };
    put(found.jacobian, by.jacobian, nv_);
    put(found.jacobian_dot_v, by.jacobian_dot_v, 1);
    put(found.phi, by.phi, 1);
    put(found.stiffness, by.stiffness, 1);
    put(found.damping, by.damping, 1);
    put(found.friction, by.friction, 1);
    // M = 1 / inverse: dM = -M^2 d(inverse).
    for (int j = 0; j < nv_; ++j) {
      const long place = (i * nv_ + j) * nv_ + j;
      const double mass = batch_.mass_matrix.data()[place];
      mass_[static_cast<std::size_t>(j)] = -found.mass_matrix.data()[place] * mass * mass;
    }
    double* all = bar(w);
    WorldMap map{WorldMap::Name::rows};
    map.inverse_mass = mass_.data();
    map.force = found.force.data() + i * nv_;
    map.rows = &by;
    if (!pull(w, step, q, v, map, all)) note(w, Smoothness::undefined, step);
    for (int j = 0; j < nv_; ++j) all[nq_ + j] += found.velocity.data()[i * nv_ + j];
    if (wanted_.back() == inputs_ - 1) all[inputs_ - 1] += found.step_size.data()[i];
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

  static constexpr double kRounding = 0x1.0p-46;
  static inline const std::vector<std::string> kWanted{
      "step_size",      "mass_matrix", "force",     "velocity", "jacobian",
      "jacobian_dot_v", "phi",         "stiffness", "damping",  "friction"};

  WorldStates states_;
  std::int64_t begin_, count_, steps_, every_;
  const WorldModel& model_;
  int nq_, nv_, np_, inputs_;
  CompliantSettings solver_;
  DerivativeSettings settings_;
  const std::vector<int>& wanted_;
  std::vector<int> moving_;  ///< of these q, v and h, which move q'
  const simd::DerivativeCode& code_;
  WorldsGradient& out_;
  std::vector<double> bar_;  ///< gradient in (q, v, p, h) of what comes after, [count, inputs]
  std::vector<double> at_;
  Buffer<double> reals_;
  std::vector<int> ints_;
  std::vector<RowType> types_;
  std::vector<double> row_reals_;
  std::vector<int> row_ints_;
  std::vector<RowType> row_types_;
  std::vector<double> bar_reals_;
  std::vector<double> touch_;  ///< of each row of a step
  std::vector<double> mass_, force_;
  std::vector<std::int64_t> stepped_;
  std::vector<int> row_counts_;  ///< of those
  CompliantBatch batch_;
  CompliantResult answer_;
  CompliantCotangent cotangent_;
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
