#include <algorithm>
#include <numeric>
#include <type_traits>
#include <vector>

#include <carom/device/lanes.hpp>

#include "cpu/programs/qp_large_host.hpp"
#include "emulation/emulation.hpp"
#include "programs/qp/backends.hpp"
#include "programs/qp/kernels/qp_task.hpp"
#include "programs/qp/layout.hpp"
#include "programs/qp/task.hpp"

namespace carom::emulation {

namespace {

using kernels::QpTaskArrays;
using Problems = std::vector<int>;

/// The launches of the device one after another. A warp has memory of its own, and backwards a
/// thread has it between its neighbours'.
template <bool Backwards>
class Emulation {
 public:
  explicit Emulation(const QpTaskArrays& arrays) : arrays_(arrays) {}

  /// The problems of `list` that the method leaves.
  Problems first(QpMethod method, const Problems& list) {
    const Task task =
        task_of(kernels::qp_first_parts(method, arrays_.shape.variables, arrays_.shape.rows));
    Problems rest;
    for (const int p : list) {
      bool done = false;
      switch (method) {
        case QpMethod::admm:
          done = task.template first<QpMethod::admm>(p);
          break;
        case QpMethod::projected:
          done = task.template first<QpMethod::projected>(p);
          break;
        default:
          done = task.template first<QpMethod::interior_point>(p);
      }
      if (!done) rest.push_back(p);
    }
    return rest;
  }

  /// The same of large problems.
  Problems first_of_large(const Problems& list, int limit) {
    constexpr int kSlots = 2;
    HostLargeQps<Lanes> engine(arrays_, kSlots);
    Problems rest;
    const int problems = static_cast<int>(list.size());
    for (int base = 0; base < problems; base += kSlots) {
      const int slots = std::min(kSlots, problems - base);
      for (const int slot : solve_large_qps(engine, engine.arrays(base), slots, limit)) {
        rest.push_back(base + slot);
      }
    }
    return rest;
  }

  void finish(const Problems& list, bool tried) {
    if (list.empty()) return;
    const kernels::QpShape& shape = arrays_.shape;
    const Task task =
        task_of(kernels::qp_finish_parts(shape.variables, shape.rows, shape.cones > 0));
    for (const int p : list) task.finish(p, tried);
  }

 private:
  using Lanes = kernels::EmulatedLanes<32, Backwards>;
  using Memory = std::conditional_t<Backwards, kernels::InterleavedMemory<double>,
                                    kernels::PlainMemory<double>>;
  using Task = kernels::QpTask<Lanes, Memory>;

  Task task_of(const kernels::QpTaskParts& parts) {
    values_.resize(static_cast<std::size_t>(2 * parts.end));
    if constexpr (Backwards) {
      return Task(lanes_, arrays_, parts, Memory{values_.data() + 1, 2});
    } else {
      return Task(lanes_, arrays_, parts, Memory{values_.data()});
    }
  }

  const Lanes lanes_{};
  const QpTaskArrays& arrays_;
  std::vector<double> values_;
};

template <bool Backwards>
void run(const QpBatch& batch, const QpSettings& settings, const QpTaskArrays& arrays) {
  Emulation<Backwards> emulation(arrays);
  Problems rest(static_cast<std::size_t>(batch.problems));
  std::iota(rest.begin(), rest.end(), 0);
  const QpMethod method = kernels::first_method(settings.method);
  const bool tried = method != QpMethod::active_set && method != QpMethod::lemke;
  const bool large = is_large_qp(batch, settings.method);
  if (large) rest = emulation.first_of_large(rest, large_qp_limit(settings));
  if (tried && !(large && method == QpMethod::admm)) rest = emulation.first(method, rest);
  emulation.finish(rest, tried);
}

}  // namespace

QpResult solve_qp(const QpBatch& batch, const QpSettings& settings, bool backwards) {
  const QpLayout layout(batch);
  QpResult result = allocate<QpResult>(batch);
  std::vector<std::uint8_t> end(static_cast<std::size_t>(batch.problems));
  QpTaskArrays arrays = qp_task(batch, layout, settings, {}, result);
  arrays.end = end.data();
  if (backwards) {
    run<true>(batch, settings, arrays);
  } else {
    run<false>(batch, settings, arrays);
  }
  return result;
}

}  // namespace carom::emulation
