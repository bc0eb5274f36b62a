#pragma once

#include <cstdint>
#include <vector>

#include <carom/types/backend.hpp>
#include <carom/types/batch.hpp>
#include <carom/types/settings.hpp>
#include <carom/types/status.hpp>
#include <carom/types/workspace.hpp>

/// The plain structs of carom/lcp.hpp.
namespace carom {

/// Largest order of a dense LCP that the batched solvers accept.
inline constexpr int kMaxLcpOrder = 128;

struct LcpSizes {
  std::int64_t problems = 0;
  int order = 0;  ///< n, 1..kMaxLcpOrder
};

template <template <class> class Array>
struct LcpBatchArrays {
  using Sizes = LcpSizes;

  Array<double> matrix;  ///< M, row-major, [problems, n, n]
  Array<double> vector;  ///< q, [problems, n]

  /// See batch.hpp; likewise below.
  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p, n] = sizes;
    visit("matrix", Extents{p, n, n}, tables.matrix...);
    visit("vector", Extents{p, n}, tables.vector...);
  }
};

/// Independent linear complementarity problems of one order n: find z >= 0 with
/// w = M z + q >= 0 and z'w = 0 (Cottle, Pang, Stone 2009; (6)-(8) of Halm and Posa).
struct LcpBatch : LcpSizes, LcpBatchArrays<Buffer> {
  [[nodiscard]] LcpBatch to(MemorySpace space) const { return copy_to(*this, space); }
};

struct LcpSettings {
  double tolerance = 1e-9;   ///< on certificate::LcpJudge's residual, every row in its own unit
  int max_pivots = 0;        ///< 0: 50 (n + 1)
  int threads = 0;           ///< cpu: 0 = all hardware threads
  bool certificates = true;  ///< fill LcpResult::farkas; without it that stays empty

  /// See settings.hpp.
  template <class Visit, class... Tables>
  static void each_setting(Visit&& visit, Tables&&... tables) {
    using Range = SettingRange;
    visit({"tolerance", "Largest relative residual of a solution", Range::tolerance()},
          tables.tolerance...);
    visit({"max_pivots", "Largest number of pivots", Range::at_least(0), "", "50 (n + 1)"},
          tables.max_pivots...);
    visit({"threads", "CPU threads", Range::at_least(0), "", "all"}, tables.threads...);
    visit({"certificates", "Return Farkas vectors"}, tables.certificates...);
  }

  /// Errors: InvalidInput naming the field and its value.
  void validate() const;
};

template <template <class> class Array>
struct LcpResultArrays {
  using Sizes = LcpSizes;

  Array<double> solution;      ///< z, [problems, n]; NaN unless solved or inaccurate
  Array<Status> status;        ///< [problems]
  Array<std::int32_t> pivots;  ///< [problems]
  Array<double> residual;      ///< [problems], recomputed from M, q and z; where infeasible from y
  Array<double> farkas;        ///< y >= 0 with M'y <= 0 and q'y < 0, [problems, n]; NaN unless
                               ///< infeasible, empty without settings.certificates

  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p, n] = sizes;
    visit("solution", Extents{p, n}, tables.solution...);
    visit("status", Extents{p}, tables.status...);
    visit("pivots", Extents{p}, tables.pivots...);
    visit("residual", Extents{p}, tables.residual...);
    visit("farkas", Extents{p, n}.or_empty(), tables.farkas...);
  }
};
struct LcpResult : LcpResultArrays<Buffer> {};

}  // namespace carom
