#include CAROM_ISA_HEADER

#include "cpu/simd/compliant/step_derivatives.hpp"

#include "cpu/simd/derivative_reports.hpp"
#include "cpu/simd/pack_pairs.hpp"

namespace carom::cpu::simd {

namespace {

template <class Isa>
class StepDerivativePacks {
  using Number = BodyNumber<Isa>;
  using Mask = typename Isa::Mask;
  static constexpr int kWidth = Isa::kWidth;

 public:
  explicit StepDerivativePacks(const StepDerivativeRange& range)
      : r_(range), shape_{range.sizes.velocities, range.sizes.rows, range.sizes.positions} {}

  /// Problems whose rows have equal types and carry alike share a pack.
  void run() {
    for (std::int64_t p = r_.begin; p < r_.end; ++p) {
      r_.open[p - r_.begin] = r_.status[p] != Status::solved;
    }
    std::int64_t first = r_.begin;
    while (true) {
      while (first < r_.end && (open(first) || is_done(first))) ++first;
      if (first == r_.end) return;
      lanes_ = 0;
      for (std::int64_t p = first; p < r_.end && p < first + kAhead && lanes_ < kWidth; ++p) {
        if (open(p) || is_done(p) || !alike(first, p)) continue;
        problem_[lanes_++] = p;
      }
      differentiate();
      first = problem_[0] + 1;
      for (int lane = 0; lane < lanes_; ++lane) note_done(problem_[lane]);
    }
  }

 private:
  static constexpr std::int64_t kAhead = 64;

  [[nodiscard]] bool open(std::int64_t p) const { return r_.open[p - r_.begin]; }
  // Problems behind the first one that is left, by their distance from it modulo kAhead.
  [[nodiscard]] bool is_done(std::int64_t p) const { return done_[p % kAhead] == p + 1; }
  void note_done(std::int64_t p) { done_[p % kAhead] = p + 1; }

  [[nodiscard]] bool alike(std::int64_t a, std::int64_t b) const {
    const int rows = shape_.rows;
    const std::int64_t i = a * rows, j = b * rows;
    const double h = r_.batch.step_size[a], k = r_.batch.step_size[b];
    bool same = true;
    for (int row = 0; row < rows; ++row) {
      same = same && r_.batch.type[i + row] == r_.batch.type[j + row];
      same =
          same && (r_.batch.type[i + row] == RowType::none ||
                   (h * (h * r_.batch.stiffness[i + row] + r_.batch.damping[i + row]) > 0.0) ==
                       (k * (k * r_.batch.stiffness[j + row] + r_.batch.damping[j + row]) > 0.0));
    }
    return same;
  }

  Number* take(long count) {
    Number* taken = at_;
    at_ += count;
    return taken;
  }
  const Number* fetch(const double* from, long stride) {
    const double* lanes[kWidth];
    for (int lane = 0; lane < kWidth; ++lane) {
      lanes[lane] = from + problem_[lane < lanes_ ? lane : 0] * stride;
    }
    Number* to = take(stride);
    spread_lanes<Isa>(lanes, static_cast<int>(stride), reinterpret_cast<double*>(to));
    return to;
  }
  /// The lanes' numbers of every array that there is.
  template <class Table, class View>
  void fetch_all(const Table& table, View& view) {
    Table::each_array(
        r_.sizes,
        [&](const char*, const Extents& extents, const auto& from, auto& to) {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(*from)>, double>) {
            const long stride = extents.stride();
            to = from != nullptr && stride > 0 ? fetch(from, stride) : nullptr;
          } else {
            to = from + problem_[0] * extents.stride();
          }
        },
        table, view);
  }
  void bring(const Number* from, long stride, double* to) {
    double* lanes[kWidth];
    Number* nowhere = at_;  // room for the lanes that are open
    for (int lane = 0; lane < lanes_; ++lane) {
      lanes[lane] = (good_ >> lane & 1U) != 0 ? to + problem_[lane] * stride
                                              : reinterpret_cast<double*>(nowhere);
    }
    collect_lanes<Isa>(reinterpret_cast<const double*>(from), static_cast<int>(stride), lanes_,
                       lanes);
  }

  void differentiate() {
    at_ = reinterpret_cast<Number*>(r_.reals);
    Number* body = take(derivatives::step_derivative_reals(shape_.velocities, shape_.rows));
    derivatives::StepView<Number> problem;
    fetch_all(r_.batch, problem);
    if (shape_.positions == 0) problem.position_map = nullptr;
    const Number* force = fetch(r_.force, shape_.rows);
    Step step(shape_, problem, r_.centripetal, r_.rules, body, r_.ints);
    const std::int64_t leader = problem_[0] * shape_.rows;
    step.carry(r_.batch.step_size[problem_[0]], r_.batch.stiffness + leader,
               r_.batch.damping + leader);
    derivatives::ReportOf<Number> report;
    Mask good = step.modes(force, report) & Mask::from_bits((1U << lanes_) - 1U);
    good_ = 0;
    if (any_of(good)) {
      if (r_.gradient.status != nullptr) {
        adjoint(step, good, report);
      } else {
        tangent(step, good, report);
      }
    }
    for (int lane = 0; lane < lanes_; ++lane) {
      r_.open[problem_[lane] - r_.begin] = (good_ >> lane & 1U) == 0;
    }
  }

  using Step = derivatives::StepDerivative<Number>;
  using Report = derivatives::ReportOf<Number>;

  void adjoint(Step& step, Mask good, Report& report) {
    derivatives::StepCotangentView<Number> cotangent;
    fetch_all(r_.cotangent, cotangent);
    derivatives::StepGradientView<Number> gradient;
    using Arrays = CompliantDirectionArrays<Pointer>;
    const Arrays& wanted = r_.gradient;
    Arrays::each_array(
        r_.sizes,
        [&](const char*, const Extents& extents, const auto& to, auto& made) {
          made = to != nullptr && extents.stride() > 0 ? take(extents.stride()) : nullptr;
        },
        wanted, gradient);
    const Mask refused = good & step.refuses(gradient);
    if (any_of(refused)) refuse(refused.bits(), wanted, report);
    good_ = (good & step.adjoint(cotangent, gradient, report)).bits();
    if (good_ == 0) {
      good_ = refused.bits();
      return;
    }
    Arrays::each_array(
        r_.sizes,
        [&](const char*, const Extents& extents, const auto& to, const auto& made) {
          if (made != nullptr) bring(made, extents.stride(), to);
        },
        wanted, gradient);
    put_reports<Isa>(
        report, good_, [&](int lane) { return problem_[lane]; }, r_.gradient);
    good_ |= refused.bits();
  }
  /// Lanes that have no derivative, and need no other look.
  void refuse(unsigned lanes, const CompliantDirectionArrays<Pointer>& wanted, Report report) {
    report.status = Smoothness::undefined;
    put_reports<Isa>(
        report, lanes, [&](int lane) { return problem_[lane]; }, r_.gradient);
    CompliantDirectionArrays<Pointer>::each_array(
        r_.sizes,
        [&](const char*, const Extents& extents, double* to) {
          const long stride = extents.stride();
          for (unsigned left = lanes; to != nullptr && left != 0U; left &= left - 1U) {
            std::fill_n(to + problem_[kernels::lowest_bit(left)] * stride, stride,
                        derivatives::kNone);
          }
        },
        wanted);
  }

  void tangent(Step& step, Mask good, Report& report) {
    derivatives::StepDirectionView<Number> direction;
    fetch_all(r_.direction, direction);
    const long n = shape_.velocities, r = shape_.rows,
               q = shape_.positions > 0 ? shape_.positions : n;
    const derivatives::StepTangentView<Number> out{take(n), take(q), take(r), take(1)};
    good_ = (good & step.tangent(direction, out, report)).bits();
    if (good_ == 0) return;
    bring(out.velocity, n, r_.tangent.velocity);
    bring(out.increment, q, r_.tangent.increment);
    bring(out.force, r, r_.tangent.force);
    bring(out.kinetic_energy, 1, r_.tangent.kinetic_energy);
    put_reports<Isa>(
        report, good_, [&](int lane) { return problem_[lane]; }, r_.tangent);
  }

  const StepDerivativeRange& r_;
  derivatives::StepShape shape_;
  std::int64_t problem_[kWidth];
  std::int64_t done_[kAhead] = {};
  int lanes_ = 0;
  unsigned good_ = 0;
  Number* at_ = nullptr;
};

}  // namespace

template <class Isa>
void differentiate_steps(const StepDerivativeRange& range) {
  if constexpr (Isa::kInRegisters) {
    StepDerivativePacks<PairOf<Isa>>(range).run();
  } else {
    for (std::int64_t p = range.begin; p < range.end; ++p) range.open[p - range.begin] = true;
  }
}
template void differentiate_steps<CAROM_ISA>(const StepDerivativeRange&);

}  // namespace carom::cpu::simd
