#pragma once

#include <vector>

#include <Eigen/Dense>

#include "programs/qp/large.hpp"

namespace carom::emulation {

/// What solve_large_qps needs, on the host: steps by Lanes, factors and products by Eigen.
template <class Lanes>
class HostLargeQps {
 public:
  /// Room for `slots` problems of `batch` at a time; the arrays of `task` are the batch's.
  HostLargeQps(const kernels::QpTaskArrays& task, int slots)
      : columns_(columns_of(task.shape)),
        end_(static_cast<std::size_t>(slots)),
        wish_(end_),
        broken_(end_) {
    arrays_.task = task;
    arrays_.parts = kernels::qp_large_parts(task.shape.variables, task.shape.rows);
    values_.resize(static_cast<std::size_t>(slots * arrays_.parts.end));
    arrays_.column_first = columns_.first.data();
    arrays_.column_row = columns_.second.data();
    arrays_.slots = values_.data();
    arrays_.end = end_.data();
    arrays_.wish = wish_.data();
    arrays_.broken = broken_.data();
  }

  /// For problems from `base` on.
  [[nodiscard]] kernels::QpLargeArrays arrays(long base) const {
    kernels::QpLargeArrays arrays = arrays_;
    arrays.base = base;
    return arrays;
  }

  void activate(const std::vector<int>& slots) { active_ = slots; }

  template <class F>
  void blocks(int count, const F& f) {
    const Lanes lanes;
    for (const int slot : active_) {
      for (int e = 0; e < count; ++e) f(lanes, slot, e);
    }
  }
  template <class F>
  void each(int count, const F& f) {
    const Lanes lanes;
    for (const int slot : active_) {
      lanes.for_each(count, [&](int e) { f(slot, e); });
    }
  }
  void factor() {
    for (const int slot : active_) {
      Matrix symmetric = matrix(slot, arrays_.parts.factor);
      const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>, Eigen::Lower> factor(symmetric);
      broken_[static_cast<std::size_t>(slot)] = factor.info() == Eigen::Success ? 0 : 1;
    }
  }
  void invert() {
    for (const int slot : active_) {
      Matrix inverse = matrix(slot, arrays_.parts.inverse);
      inverse.setIdentity();
      solve_in(slot, inverse);
    }
  }
  void apply() {
    for (const int slot : active_) {
      vector(slot, arrays_.parts.next).noalias() =
          matrix(slot, arrays_.parts.inverse) * vector(slot, arrays_.parts.push);
    }
  }
  void solve() {
    for (const int slot : active_) {
      Vector push = vector(slot, arrays_.parts.push);
      solve_in(slot, push);
    }
  }
  [[nodiscard]] std::vector<int> read(const int* values, int count) const {
    return {values, values + count};
  }

 private:
  using Matrix = Eigen::Map<Eigen::MatrixXd>;
  using Vector = Eigen::Map<Eigen::VectorXd>;
  Matrix matrix(int slot, long part) const {
    const int n = arrays_.task.shape.variables;
    return {arrays_.at(slot, part).data, n, n};
  }
  Vector vector(int slot, long part) const {
    return {arrays_.at(slot, part).data, arrays_.task.shape.variables};
  }
  template <class Right>
  void solve_in(int slot, Right& right) const {
    const Matrix factor = matrix(slot, arrays_.parts.factor);
    factor.template triangularView<Eigen::Lower>().solveInPlace(right);
    factor.template triangularView<Eigen::Lower>().transpose().solveInPlace(right);
  }

  kernels::QpLargeArrays arrays_{};
  std::pair<std::vector<int>, std::vector<int>> columns_;
  std::vector<double> values_;
  std::vector<int> end_, wish_, broken_, active_;
};

}  // namespace carom::emulation
