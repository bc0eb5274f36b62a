#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "programs/qp/kernels/qp_large_check.hpp"
#include "programs/qp/layout.hpp"

/// The operator splitting for large quadratic programs over an engine that factors, multiplies and
/// runs the steps of src/programs/qp/kernels/qp_large.hpp: a GPU with its libraries, or the host.
namespace carom {

/// More variables than this, and only rows of A: the library path.
inline constexpr int kSmallestLargeQp = 65;

inline bool is_large_qp(const QpBatch& batch, QpMethod method) {
  return batch.variables >= kSmallestLargeQp && batch.cones.empty() &&
         (method == QpMethod::automatic || method == QpMethod::admm);
}

/// The rows of each column: column_first [n + 1], then column_row.
inline std::pair<std::vector<int>, std::vector<int>> columns_of(const kernels::QpShape& shape) {
  std::vector<int> first(static_cast<std::size_t>(shape.variables) + 1, 0);
  const int entries = shape.row_first[shape.rows];
  for (int t = 0; t < entries; ++t) ++first[static_cast<std::size_t>(shape.column[t]) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<int> rows(static_cast<std::size_t>(entries));
  std::vector<int> next(first);
  for (int i = 0; i < shape.rows; ++i) {
    for (int t = shape.row_first[i]; t < shape.row_first[i + 1]; ++t) {
      rows[static_cast<std::size_t>(next[static_cast<std::size_t>(shape.column[t])]++)] = i;
    }
  }
  return {std::move(first), std::move(rows)};
}

/// Iterations of the splitting; another method takes over sooner where one may.
inline int large_qp_limit(const QpSettings& settings) {
  constexpr int kBeforeOthers = 2000;
  if (settings.max_iterations > 0) return settings.max_iterations;
  return settings.method == QpMethod::automatic ? kBeforeOthers : 20000;
}

/// Runs problems [arrays.base, arrays.base + slots), all of whose results are then written and
/// judged. Returns those that are not certified. Engine, always about the slots of the last
/// activate(list):
///   blocks(count, f)  f(lanes, slot, e), e < count, many lanes to each
///   each(count, f)    f(slot, e), e < count, one lane to each
///   factor()          factor = L L' in place; broken[slot] tells where that fails
///   invert()          inverse = (L L')^-1
///   apply()           next = inverse push
///   solve()           push = (L L')^-1 push
///   read(values)      a copy of int [slots]
template <class Engine>
std::vector<int> solve_large_qps(Engine& engine, const kernels::QpLargeArrays& arrays, int slots,
                                 int limit) {
  namespace step = kernels::qp_large;
  const int n = arrays.task.shape.variables;
  const int m = arrays.task.shape.rows;
  std::vector<int> all(static_cast<std::size_t>(slots));
  std::iota(all.begin(), all.end(), 0);
  std::vector<int> running = all;
  const auto of_those = [&](const std::vector<int>& list, const int* values, const auto& wanted) {
    const std::vector<int> read = engine.read(values, slots);
    std::vector<int> found;
    for (const int slot : list) {
      if (wanted(read[static_cast<std::size_t>(slot)])) found.push_back(slot);
    }
    return found;
  };
  const auto under_way = [&] {
    running = of_those(running, arrays.end, [](int end) { return end == 0; });
  };
  const auto wishing = [&](int what) {
    return of_those(running, arrays.wish, [what](int wish) { return (wish & what) != 0; });
  };

  engine.activate(all);
  engine.blocks(1, step::Prepare{arrays});
  engine.factor();
  engine.each(1, step::JudgeFactor{arrays, kernels::qp_end::kNonconvex});
  under_way();
  for (int done = 0; done < limit && !running.empty();) {
    const std::vector<int> refactor = wishing(step::kRefactor);
    if (!refactor.empty()) {
      engine.activate(refactor);
      engine.each(std::max(m, 1), step::SetPenalty{arrays});
      engine.blocks(n, step::Assemble{arrays, arrays.parts.penalty, step::kSigma});
      engine.factor();
      engine.each(1, step::JudgeFactor{arrays, kernels::qp_end::kBroken});
      under_way();
      engine.activate(of_those(refactor, arrays.end, [](int end) { return end == 0; }));
      engine.invert();
      engine.activate(running);
    }
    const int now = std::min(step::kCheckEvery, limit - done);
    engine.activate(running);
    for (int k = 0; k < now; ++k) {
      engine.each(n, step::Push{arrays});
      engine.apply();
      engine.each(m + n, step::Move{arrays});
    }
    done += now;
    engine.blocks(1, step::Check{arrays, now, done % step::kAdaptEvery == 0, done >= limit});
    under_way();
    const std::vector<int> polish = wishing(step::kPolish);
    if (polish.empty()) continue;
    engine.activate(polish);
    engine.blocks(1, step::Identify{arrays});
    engine.blocks(n, step::Assemble{arrays, arrays.parts.tight, step::kPolishProximity});
    engine.factor();
    for (int pass = 0; pass < step::kPolishPasses; ++pass) {
      engine.blocks(1, step::PolishPush{arrays});
      engine.solve();
      engine.blocks(1, step::PolishMove{arrays});
    }
    engine.blocks(1, step::PolishEnd{arrays});
    under_way();
  }
  engine.activate(all);
  engine.blocks(1, step::Finish{arrays});
  return of_those(all, arrays.end, [](int end) { return end != 0; });
}

}  // namespace carom
