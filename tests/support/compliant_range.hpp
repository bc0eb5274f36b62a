#pragma once

#include <vector>

#include <carom/compliant.hpp>

#include "compliant/backends.hpp"
#include "cpu/simd/compliant/compliant_range.hpp"

namespace carom::test {

/// A batch of steps for one instruction set's entry point, in the calling thread.
class CompliantRangeRun {
 public:
  explicit CompliantRangeRun(const CompliantBatch& batch)
      : result_(allocate<CompliantResult>(batch)),
        arrays_(compliant_arrays(batch, result_)),
        sizes_(cpu::simd::steps_workspace(batch.rows, batch.velocities)),
        reals_(static_cast<std::size_t>(sizes_.reals + cpu::simd::kStepPackWorkspace)),
        ints_(static_cast<std::size_t>(sizes_.ints)),
        types_(static_cast<std::size_t>(sizes_.types)),
        range_{0,
               batch.problems,
               &arrays_,
               compliant_options(batch, {}),
               {reals_.data() + cpu::simd::kStepPackWorkspace, ints_.data(), types_.data(),
                reals_.data()}} {}
  CompliantRangeRun(const CompliantRangeRun&) = delete;
  CompliantRangeRun& operator=(const CompliantRangeRun&) = delete;

  void run(const cpu::simd::InstructionSet& set) { set.solve_compliant(range_); }
  CompliantResult& result() { return result_; }

 private:
  CompliantResult result_;
  kernels::CompliantArrays arrays_;
  cpu::simd::StepWorkspaceSizes sizes_;
  Buffer<double> reals_;
  std::vector<int> ints_;
  std::vector<RowType> types_;
  cpu::simd::CompliantRange range_;
};

}  // namespace carom::test
