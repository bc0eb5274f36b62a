#pragma once

#include <array>
#include <cstdint>

#include <carom/types/batch.hpp>
#include <carom/types/settings.hpp>
#include <carom/types/words.hpp>

/// What the derivatives of all families share (docs/explanation/derivatives.md).
namespace carom {

/// Whether what was asked has a derivative at this answer; of each problem and call.
enum class Smoothness : std::uint8_t {
  smooth,      ///< a derivative exists, its equations are certified: it is returned
  kink,        ///< unique and Lipschitz nearby, but the directional derivative is not linear: a
               ///< product from the right is exact and one-sided, one from the left is that of an
               ///< element of the generalised Jacobian (AtKink)
  set_valued,  ///< several answers nearby, or the answer's uniqueness is not shown: that of this
               ///< branch where its equations are regular, else NaN
  undefined,   ///< no finite derivative, or none that could be certified: NaN
  not_solved,  ///< the answer's status is not `solved`, or it does not fit its problem: NaN
};

template <>
inline constexpr auto words<Smoothness> = std::to_array<Word<Smoothness>>({
    {Smoothness::smooth, "smooth"},
    {Smoothness::kink, "kink"},
    {Smoothness::set_valued, "set_valued"},
    {Smoothness::undefined, "undefined"},
    {Smoothness::not_solved, "not_solved"},
});

/// Which element of the generalised Jacobian stands for a derivative that does not exist.
enum class AtKink : std::uint8_t {
  mean,  ///< the mean of `held` and `free`; of one doubtful row the central difference's limit
  held,  ///< doubtful rows stay closed (sticking)
  free,  ///< doubtful rows are open (sliding)
  nan,   ///< none: NaN
};

template <>
inline constexpr auto words<AtKink> = std::to_array<Word<AtKink>>({
    {AtKink::mean, "mean"},
    {AtKink::held, "held"},
    {AtKink::free, "free"},
    {AtKink::nan, "nan"},
});

struct DerivativeSettings {
  AtKink at_kink = AtKink::mean;
  /// A row is doubtful where its gap of strict complementarity, in the row's own unit, is at most
  /// this, or at most ten times what polishing moved.
  double margin_tolerance = 1e-9;
  double error_tolerance = 1e-6;  ///< on condition times residual
  bool radius = false;            ///< LCPs: fill `radius`, at the price of an inverse
  bool reach = true;              ///< fill `reach`, at the price of one more solve
  int threads = 0;                ///< 0 = all hardware threads

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"at_kink", "Element of the generalised Jacobian that vjp uses at a kink"},
          tables.at_kink...);
    visit({"margin_tolerance", "Rows with a smaller margin count as kinks, in the row's own unit",
           Range::inside(0, 1)},
          tables.margin_tolerance...);
    visit({"error_tolerance", "Largest product of condition number and residual",
           Range::inside(0, 1)},
          tables.error_tolerance...);
    visit({"radius", "LCPs: compute a bound of relative changes that keep all modes"},
          tables.radius...);
    visit({"reach", "Compute the largest step that keeps all modes, to first order; otherwise NaN"},
          tables.reach...);
    visit({"threads", "CPU threads", Range::at_least(0), "", "all"}, tables.threads...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

/// What a derivative says of itself, an entry a problem.
template <template <class> class Array>
struct DerivativeReportArrays {
  Array<Smoothness> status;
  Array<double> residual;   ///< of the adjoint or tangent equations, recomputed, row by row over
                            ///< the magnitudes of the row's terms; NaN where none were solved
  Array<double> margin;     ///< least gap of strict complementarity, each in its row's own unit
  Array<double> condition;  ///< of the equations, rows and columns of size 1, in the 1-norm: exact
                            ///< for LCPs and steps of ten rows or less, else estimated
  Array<double> shift;      ///< what polishing moved, in the rows' own units
  Array<double> reach;      ///< largest step along the direction (a product from the left: down
                            ///< the gradient of what was asked) that keeps the modes to first
                            ///< order; 0 at doubtful rows; NaN where not asked for
  Array<std::int32_t> doubtful;  ///< number of doubtful rows

  template <class Visit, class... Tables>
  static void each_report(std::int64_t problems, Visit&& visit, Tables&&... tables) {
    visit("status", Extents{problems}, tables.status...);
    visit("residual", Extents{problems}, tables.residual...);
    visit("margin", Extents{problems}, tables.margin...);
    visit("condition", Extents{problems}, tables.condition...);
    visit("shift", Extents{problems}, tables.shift...);
    visit("reach", Extents{problems}, tables.reach...);
    visit("doubtful", Extents{problems}, tables.doubtful...);
  }
};

}  // namespace carom
