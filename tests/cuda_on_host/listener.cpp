#include <gtest/gtest.h>

#include "cuda/runtime.hpp"
#include "device.hpp"

// Makes a test fail for what the device noted while it ran.

namespace {

class ProblemListener : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override { cuda_on_host::take_problems(); }
  void OnTestEnd(const ::testing::TestInfo&) override {
    for (const std::string& text : cuda_on_host::take_problems()) {
      ADD_FAILURE() << "CUDA on the host: " << text;
    }
  }
};

const bool listens = [] {
  carom::cuda::pool_bytes = 0;  // memory that others had would not read NaN
  ::testing::UnitTest::GetInstance()->listeners().Append(new ProblemListener);
  return true;
}();

}  // namespace
