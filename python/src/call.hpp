#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iterator>
#include <type_traits>
#include <utility>

#include <carom/batch.hpp>
#include <carom/error.hpp>

#include "core/arrays.hpp"

/// Calls of the library: without the GIL, and with an ear for Ctrl-C.
namespace carom::python {

namespace nb = nanobind;
using Clock = std::chrono::steady_clock;

/// Calls a function while other Python threads run.
template <class Call>
auto without_gil(Call&& call) {
  const nb::gil_scoped_release released;
  return call();
}

/// Between the pieces of a call: signals, then the user's callback. At most every 20 ms, since
/// taking the GIL from a busy thread costs milliseconds.
class Listener {
 public:
  /// progress: None, or called with (done, total); stops where it returns False or raises.
  explicit Listener(nb::object progress) : progress_(std::move(progress)) {}

  /// Without the GIL; false where the call is to stop.
  bool go_on(std::int64_t done, std::int64_t total) {
    if (stopped_) return false;
    const auto now = Clock::now();
    if (done < total && now - last_ < std::chrono::milliseconds(20)) return true;
    last_ = now;
    const nb::gil_scoped_acquire held;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!progress_.is_none()) stopped_ = progress_(done, total).is(nb::handle(Py_False));
    } catch (const nb::python_error&) {
      error_ = std::current_exception();
      stopped_ = true;
    }
    return !stopped_;
  }

  /// With the GIL, after the call: throws what the callback or the signal's handler raised.
  void raise() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  nb::object progress_;
  Clock::time_point last_ = Clock::now();
  std::exception_ptr error_;
  bool stopped_ = false;
};

/// Calls solve(first, count) for pieces of `problems` problems, each of some 50 ms, between which
/// it reacts to Ctrl-C; once if there are no more than `first`, the first piece's. A problem's
/// answer does not depend on its neighbours, so that pieces give the bits of the whole.
template <class Solve>
void in_turns(std::int64_t problems, Solve&& solve, std::int64_t first = 256) {
  constexpr double kPiece = 0.05;  // [s]
  if (problems <= first) {
    without_gil([&] { solve(std::int64_t{0}, problems); });
    return;
  }
  Listener listener{nb::none()};
  without_gil([&] {
    std::int64_t size = first;
    for (std::int64_t begin = 0; begin < problems;) {
      const std::int64_t count = std::min(size, problems - begin);
      const auto start = Clock::now();
      solve(begin, count);
      begin += count;
      if (!listener.go_on(begin, problems + 1)) return;
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      const double next = kPiece * static_cast<double>(count) / std::max(seconds, 1e-6);
      size = static_cast<std::int64_t>(std::min(next, 1e9)) + 1;
    }
  });
  listener.raise();
}

/// The result, of sizes `sizes`, of solve(piece, first problem of it) over the pieces of a batch.
template <class Result, class Batch, class Solve>
Result in_pieces(const Batch& batch, const typename Result::Sizes& sizes, Solve&& solve) {
  Result whole;
  in_turns(batch.problems, [&](std::int64_t begin, std::int64_t count) {
    if (count == batch.problems) {
      whole = solve(batch, std::int64_t{0});
      return;
    }
    Result piece;
    try {
      piece = solve(arrays::slice(batch, begin, begin + count), begin);
    } catch (const InvalidInput& error) {
      const auto problem = error.refusal().problem;
      throw problem ? error.with_problem(begin + *problem) : error;
    }
    Result::each_array(
        sizes,
        [&](const char*, const Extents& extents, auto& to, const auto& from) {
          using Value = std::remove_cvref_t<decltype(*to.data())>;
          if (from.empty()) return;
          if (to.empty()) to = Buffer<Value>(static_cast<std::size_t>(extents.count()));
          std::copy_n(from.data(), from.size(), to.data() + begin * extents.stride());
        },
        whole, piece);
  });
  return whole;
}

/// The same of functions that give one value a problem.
template <class Batch, class Solve>
auto list_in_pieces(const Batch& batch, Solve&& solve, std::int64_t first = 256) {
  decltype(solve(batch, std::int64_t{0})) whole;
  in_turns(
      batch.problems,
      [&](std::int64_t begin, std::int64_t count) {
        auto piece = solve(arrays::slice(batch, begin, begin + count), begin);
        std::move(piece.begin(), piece.end(), std::back_inserter(whole));
      },
      first);
  return whole;
}

}  // namespace carom::python
