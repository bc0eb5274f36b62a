#pragma once

#include <cstdint>

#include <carom/types/array_field.hpp>
#include <carom/types/backend.hpp>
#include <carom/types/batch.hpp>
#include <carom/types/settings.hpp>
#include <carom/types/status.hpp>
#include <carom/types/words.hpp>

/// The plain structs of carom/boxed_lcp.hpp.
namespace carom {

/// Largest order of a boxed LCP; with friction rows of the LCP that they become, n + 2 f.
inline constexpr int kMaxBoxedLcpOrder = 128;

/// Whether the limits of friction rows follow z_j or are fixed before the solve.
enum class FrictionLaw : std::uint8_t {
  simultaneous,  ///< |z_i| <= mu_i z_j holds for the answer itself
  ode,           ///< limits mu_i |z_j| of the rows without index, solved first, frozen from then on
};

template <>
inline constexpr auto words<FrictionLaw> = std::to_array<Word<FrictionLaw>>({
    {FrictionLaw::simultaneous, "simultaneous"},
    {FrictionLaw::ode, "ode"},
});

struct BoxedLcpSizes {
  std::int64_t problems = 0;
  int order = 0;  ///< n, 1..kMaxBoxedLcpOrder
};

template <template <class> class Array>
struct BoxedLcpBatchArrays {
  using Sizes = BoxedLcpSizes;

  Array<double> matrix;        ///< M, row-major, [problems, n, n]
  Array<double> vector;        ///< q, [problems, n]
  Array<double> lower;         ///< lo, [problems, n]; -infinity: absent
  Array<double> upper;         ///< hi, [problems, n]; infinity: absent
  Array<std::int32_t> findex;  ///< j of friction rows, -1 of others, [problems, n]; empty: none
  Array<double> friction;      ///< mu of friction rows, [problems, n]; empty: none

  /// See batch.hpp; likewise below.
  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p, n] = sizes;
    visit("matrix", Extents{p, n, n}, tables.matrix...);
    visit("vector", Extents{p, n}, tables.vector...);
    visit("lower", Extents{p, n}, tables.lower...);
    visit("upper", Extents{p, n}, tables.upper...);
    visit("findex", Extents{p, n}.or_empty(), tables.findex...);
    visit("friction", Extents{p, n}.or_empty(), tables.friction...);
  }
};

/// Independent boxed (mixed) linear complementarity problems of one order n: find z with
///
///   lo <= z <= hi,  w = M z + q,  w_i >= 0 where z_i = lo_i,  w_i <= 0 where z_i = hi_i,
///   w_i = 0 between
///
/// (Facchinei and Pang 2003, 1.1.4: the variational inequality over a box). lo_i = 0 and no hi_i: a
/// row of an LCP; neither bound: row i is an equation. Friction row i, findex_i = j >= 0, has the
/// limits -mu_i z_j and mu_i z_j instead of lo_i and hi_i, and no other bounds; j is no friction
/// row, and lo_j >= 0.
struct BoxedLcpBatch : BoxedLcpSizes, BoxedLcpBatchArrays<Buffer> {
  [[nodiscard]] BoxedLcpBatch to(MemorySpace space) const { return copy_to(*this, space); }
};

struct BoxedLcpSettings {
  double tolerance = 1e-9;  ///< on certificate::BoxedLcpJudge's residual
  int max_pivots = 0;       ///< of one path; 0: 50 (n + 1)
  int threads = 0;          ///< 0 = all hardware threads
  FrictionLaw friction_law = FrictionLaw::simultaneous;

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"tolerance", "Largest relative residual of a solution", Range::tolerance()},
          tables.tolerance...);
    visit({"max_pivots", "Largest number of pivots of one path", Range::at_least(0), "",
           "50 (n + 1)"},
          tables.max_pivots...);
    visit({"threads", "CPU threads", Range::at_least(0), "", "all"}, tables.threads...);
    visit({"friction_law", "Whether limits of friction rows follow z_j or are fixed"},
          tables.friction_law...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

template <template <class> class Array>
struct BoxedLcpResultArrays {
  using Sizes = BoxedLcpSizes;

  Array<double> solution;      ///< z, [problems, n]; NaN unless solved or inaccurate
  Array<double> slack;         ///< w = M z + q, [problems, n]; likewise
  Array<Status> status;        ///< [problems]
  Array<std::int32_t> pivots;  ///< [problems], bound flips included
  Array<double> residual;      ///< [problems], recomputed; where infeasible of farkas
  /// Half the width of the box of friction rows, [problems, n]: mu_i z_j, with FrictionLaw::ode the
  /// frozen one. NaN elsewhere; empty where the batch has no findex.
  Array<double> limit;
  /// Largest |mu_i z_j - limit_i| over max_i limit_i, [problems]: how far the law ode is from the
  /// simultaneous one. Empty where the batch has no findex.
  Array<double> limit_error;
  /// y, [problems, n], NaN unless infeasible: y_i >= 0 where hi_i is absent, y_i <= 0 where lo_i
  /// is, otherwise and in friction rows 0, so that y'w >= 0 for every answer, while y'(M z + q) < 0
  /// for every z in the box.
  Array<double> farkas;

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p, n] = sizes;
    visit("solution", Extents{p, n}, tables.solution...);
    visit("slack", Extents{p, n}, tables.slack...);
    visit("status", Extents{p}, tables.status...);
    visit("pivots", Extents{p}, tables.pivots...);
    visit("residual", Extents{p}, tables.residual...);
    visit("limit", Extents{p, n}.or_empty(), tables.limit...);
    visit(
        ArrayField{
            "limit_error", "number", "",
            "boxed_lcp of friction_law ode: largest change of mu z_j, relative to the largest "
            "limit"},
        Extents{p}.or_empty(), tables.limit_error...);
    visit("farkas", Extents{p, n}, tables.farkas...);
  }
};
struct BoxedLcpResult : BoxedLcpResultArrays<Buffer> {};

}  // namespace carom
