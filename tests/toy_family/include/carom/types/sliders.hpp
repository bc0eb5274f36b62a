#pragma once

#include <cstdint>

#include <carom/types/batch.hpp>
#include <carom/types/settings.hpp>
#include <carom/types/status.hpp>

/// The plain structs of carom/sliders.hpp.
namespace carom {

struct SliderSizes {
  std::int64_t problems = 0;
};

template <template <class> class Array>
struct SliderBatchArrays {
  using Sizes = SliderSizes;

  Array<double> mass;      ///< m > 0 [kg], [problems]
  Array<double> velocity;  ///< v along the ground before the step [m/s], [problems]
  Array<double> impulse;   ///< p, pushes along the ground during the step [N s], [problems]
  Array<double> friction;  ///< mu >= 0, [problems]
  Array<double>
      normal_impulse;  ///< N >= 0, presses on the ground during the step [N s], [problems]

  /// See batch.hpp; likewise below.
  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p] = sizes;
    visit("mass", Extents{p}, tables.mass...);
    visit("velocity", Extents{p}, tables.velocity...);
    visit("impulse", Extents{p}, tables.impulse...);
    visit("friction", Extents{p}, tables.friction...);
    visit("normal_impulse", Extents{p}, tables.normal_impulse...);
  }
};

/// Blocks that slide or stick on a line, one a problem: find the friction impulse f and the
/// velocity v' with m (v' - v) = p + f and Coulomb's law, |f| <= mu N, f = -mu N sign(v') where v'
/// is not zero.
struct SliderBatch : SliderSizes, SliderBatchArrays<Buffer> {
  [[nodiscard]] SliderBatch to(MemorySpace space) const { return copy_to(*this, space); }
};

struct SliderSettings {
  double tolerance = 1e-12;  ///< on certificate::slider_residual
  int threads = 0;           ///< cpu, reference: 0 = all hardware threads

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"tolerance", "Largest residual of an answer", Range::tolerance()}, tables.tolerance...);
    visit({"threads", "CPU threads", Range::at_least(0), "", "all"}, tables.threads...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

template <template <class> class Array>
struct SliderResultArrays {
  using Sizes = SliderSizes;

  Array<double> next_velocity;     ///< v' [m/s], [problems]; NaN unless solved or inaccurate
  Array<double> friction_impulse;  ///< f [N s], [problems]; likewise
  Array<Status> status;            ///< [problems]
  Array<double> residual;          ///< [problems], recomputed from the problem, v' and f

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p] = sizes;
    visit("next_velocity", Extents{p}, tables.next_velocity...);
    visit("friction_impulse", Extents{p}, tables.friction_impulse...);
    visit("status", Extents{p}, tables.status...);
    visit("residual", Extents{p}, tables.residual...);
  }
};
struct SliderResult : SliderResultArrays<Buffer> {};

}  // namespace carom
