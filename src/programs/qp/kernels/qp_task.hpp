#pragma once

#include <cstdint>

#include "programs/qp/kernels/qp_attempt.hpp"
#include "programs/qp/kernels/qp_finish.hpp"

/// One problem of a batch from its arrays to its results, on any lanes: a CUDA thread, warp or
/// block, or a host lane. `first` tries one method; what it leaves goes to `finish`.
namespace carom::kernels {

/// Memory of a task's `finish`.
CAROM_INLINE constexpr QpTaskParts qp_finish_parts(long n, long rows, bool cones) {
  return placed<QpTaskLayout>(0L, n, rows, qp_finish_workspace(n, rows, cones));
}

template <class Lanes, class Memory>
class QpTask {
 public:
  /// parts: qp_first_parts() or qp_finish_parts().
  CAROM_HOST_DEVICE QpTask(const Lanes& lanes, const QpTaskArrays& arrays, const QpTaskParts& parts,
                           const Memory& memory)
      : lanes_(lanes),
        arrays_(arrays),
        problem_(lanes, arrays, parts, memory),
        attempt_(lanes, arrays, parts, memory),
        body_(memory + parts.body) {}

  /// Tries one method; true where that is the end of it. Otherwise the results hold the attempt,
  /// which may be a solved one that wants refinement. Pivots: false where no problem is so small
  /// that an automatic choice begins with the dual pivots.
  template <QpMethod Method, bool Pivots = true>
  CAROM_CALL bool first(long p) const {
    if (!problem_.load(p)) {
      problem_.refuse(p);
      return true;
    }
    if constexpr (Method == QpMethod::interior_point) {
      if constexpr (Pivots) {
        if (begins_with_pivots(arrays_)) {
          const QpLeft left = attempt<QpMethod::active_set>(p);
          if (left != QpLeft::another_attempt) return left == QpLeft::nothing;
        }
      }
    } else {
      problem_.load_start(p);
    }
    return attempt<Method>(p) == QpLeft::nothing;
  }

  /// Everything else, from what `first` left if `tried`.
  CAROM_CALL void finish(long p, bool tried) const {
    const QpShape& shape = arrays_.shape;
    if (!problem_.load(p)) return problem_.refuse(p);
    QpVerdict verdict;
    verdict.method = first_method(arrays_.settings.method);
    const double end = tried ? static_cast<double>(arrays_.end[p]) : qp_end::kRunning;
    if (tried) {
      verdict.method = arrays_.method[p];
      verdict.iterations = arrays_.iterations[p];
      problem_.load_pair(p, arrays_.solution, arrays_.dual, arrays_.cone_dual);
    }
    QpFinish<Lanes, Memory, Memory> body(lanes_, shape, problem_.view(), problem_.x(), problem_.y(),
                                         body_);
    problem_.write(
        p,
        body.run(arrays_.settings, arrays_.interval_rows, tried ? &verdict : nullptr, end,
                 [&] { problem_.load_start(p); }),
        [&](int j) { return body.point(j); }, [&](int i) { return body.face(i); });
  }

 private:
  template <QpMethod Method>
  CAROM_CALL QpLeft attempt(long p) const {
    const QpOutcome<double> outcome = attempt_.template run<Method>();
    const QpJudged<double> judged = attempt_.template judge<Method>();
    return problem_.conclude(p, Method, static_cast<std::uint8_t>(outcome.end),
                             static_cast<int>(outcome.iterations), judged.value(), judged.objective,
                             judged.doubt);
  }

  const Lanes& lanes_;
  const QpTaskArrays& arrays_;
  QpTaskProblem<Lanes, Memory> problem_;
  QpAttempt<double, Lanes, Memory> attempt_;
  Memory body_;
};

}  // namespace carom::kernels
