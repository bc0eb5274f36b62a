#include CAROM_ISA_HEADER

#include "cpu/simd/compliant/world_pullback.hpp"

#include <type_traits>

#include "compliant/kernels/row_numbers.hpp"
#include "compliant/scenarios/dual_number.hpp"
#include "compliant/scenarios/kinds.hpp"
#include "cpu/simd/pack_number.hpp"

namespace carom::cpu::simd {

namespace {

template <class Isa>
class Pullback {
  using Slope = BodyNumber<Isa>;
  using Number = kernels::DualNumber<Slope>;
  static constexpr int kWidth = Isa::kWidth;

 public:
  Pullback(const WorldPullback& world, const WorldMap& map) : w_(world), map_(map) {}

  /// Adds to `gradient`, of the inputs' places. Whether the rows are as many as those given.
  bool add(double* gradient) {
    return models::detail::visit_scenario(
        w_.kind, [&](auto body) { return this->template add<decltype(body)>(gradient); });
  }

 private:
  template <class Scenario>
  bool add(double* gradient) {
    const long inputs = world_inputs(w_.sizes, w_.parameters);
    for (int first = 0; first < w_.wanted_count; first += kWidth) {
      const int lanes = w_.wanted_count - first < kWidth ? w_.wanted_count - first : kWidth;
      next_ = reinterpret_cast<Number*>(w_.reals);
      Number* in = take(inputs);
      for (long i = 0; i < inputs; ++i) in[i] = Number(w_.at[i]);
      for (int lane = 0; lane < lanes; ++lane) {
        double unit[kWidth] = {};
        unit[lane] = 1.0;
        in[w_.wanted[first + lane]].slope = loaded(unit);
      }
      Slope loss(0.0);
      if (!evaluate<Scenario>(in, loss)) return false;
      double slopes[kWidth];
      store(loss, slopes);
      for (int lane = 0; lane < lanes; ++lane) gradient[w_.wanted[first + lane]] += slopes[lane];
    }
    return true;
  }

  template <class Scenario>
  bool evaluate(Number* q, Slope& loss) {
    Number* v = q + w_.sizes.positions;
    const Number* p = v + w_.sizes.velocities;
    const Number h = p[w_.parameters];
    switch (map_.name) {
      case WorldMap::Name::start:
        Scenario::start(p, q, v);
        break;
      case WorldMap::Name::advance:
        Scenario::advance(p, h, q, v);
        break;
      case WorldMap::Name::direct:
        Scenario::direct(p, h, q, v);
        break;
      case WorldMap::Name::displacement:
        loss = Slope(map_.position[0]) * Scenario::displacement(p, q).slope;
        return true;
      case WorldMap::Name::rows:
        return rows<Scenario>(p, h, q, v, loss);
    }
    loss = products(map_.position, q, w_.sizes.positions, loss);
    loss = products(map_.velocity, v, w_.sizes.velocities, loss);
    return true;
  }

  template <class Scenario>
  bool rows(const Number* p, Number h, const Number* q, const Number* v, Slope& loss) {
    const int n = w_.sizes.velocities;
    Number* inverse_mass = take(n);
    Number* force = take(n);
    auto made = kernels::make_rows(w_.sizes.rows, n, next_, w_.ints, w_.types);
    kernels::evaluate_scenario<Scenario>(p, Number(w_.step) * h, h, q, v, inverse_mass, force,
                                         made);
    const kernels::ConstraintRows& given = *map_.rows;
    if (made.count != given.count) return false;
    Slope sum = products(map_.inverse_mass, inverse_mass, n, loss);
    sum = products(map_.force, force, n, sum);
    for (int i = 0; i < made.count; ++i) {
      const int begin = made.begin[i];
      sum = products(given.row(i) + begin, made.row(i) + begin, made.end[i] - begin, sum);
    }
    kernels::each_row_number(
        [&](const double* by, const Number* numbers) {
          sum = products(by, numbers, made.count, sum);
        },
        given, made);
    loss = sum;
    return true;
  }

  /// sum, in a register, and the products of a gradient with what its numbers' slopes are.
  static CAROM_INLINE Slope products(const double* by, const Number* numbers, int count,
                                     Slope sum) {
    for (int i = 0; i < count && by != nullptr; ++i) {
      if (by[i] != 0.0) sum = sum + Slope(by[i]) * numbers[i].slope;
    }
    return sum;
  }
  Number* take(long count) {
    Number* taken = next_;
    next_ += count;
    return taken;
  }
  static CAROM_INLINE Slope loaded(const double* from) { return Isa::Pack::load(from); }
  static CAROM_INLINE void store(const Slope& from, double* to) {
    if constexpr (Isa::kInRegisters) {
      from.pack().store(to);
    } else {
      from.store(to);
    }
  }

  const WorldPullback& w_;
  const WorldMap& map_;
  Number* next_ = nullptr;
};

}  // namespace

template <class Isa>
bool pull_back_world(const WorldPullback& world, const WorldMap& map, double* gradient) {
  return Pullback<Isa>(world, map).add(gradient);
}
template bool pull_back_world<CAROM_ISA>(const WorldPullback&, const WorldMap&, double*);

}  // namespace carom::cpu::simd
