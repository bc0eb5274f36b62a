#include <carom/models/motions.hpp>
#include <carom/motion.hpp>

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/cuda_test.hpp"
#include "support/bits.hpp"

namespace carom {
namespace {

class CudaMotion : public test::CudaTest {};

TEST_F(CudaMotion, SameBitsAsCpu) {
  for (const models::MotionModel& model : models::motions()) {
    const MotionProblem one = models::build_motion(model.name);
    MotionProblem refused = one;
    refused.velocity[0] = std::nan("");
    const std::vector<MotionProblem> problems{one, refused, one};
    const MotionBatch batch = make_batch(problems);
    MotionSettings settings;
    settings.duration = 0.25 * model.duration;
    settings.step_size = model.step_size;
    settings.coefficient = model.coefficient;
    settings.samples = 3;
    settings.keep_samples = 2;
    settings.keep_events = 20;
    settings.grid = 0.1;
    const MotionResult cpu = simulate_motions(batch, settings, Backend::cpu);
    const MotionResult cuda = simulate_motions(batch, settings, Backend::cuda);
    SCOPED_TRACE(model.name);
    test::expect_identical(cpu, cuda);
    EXPECT_EQ(cuda.end.host()[3], MotionEnd::invalid_input);
    const MotionResult device =
        simulate_motions(batch.to(MemorySpace::device), settings, Backend::cuda);
    EXPECT_EQ(device.end.space(), MemorySpace::device);
    test::expect_identical(cpu, device);
  }
}

}  // namespace
}  // namespace carom
