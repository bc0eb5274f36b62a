#include "cuda/motion/first_impacts.hpp"

#include <algorithm>
#include <cstring>

#include "core/parallel.hpp"
#include "motion/mechanisms.hpp"
#include "motion/prepare.hpp"

namespace carom::cuda {

namespace {

constexpr std::int64_t kProblems = 4096;  // of a launch: some hundred megabytes of tables at most
constexpr std::size_t kAlignment = 8;

}  // namespace

FirstImpacts::FirstImpacts(const MotionBatch& batch, const MotionSettings& settings)
    : batch_(batch), settings_(settings), wanted_(motion::wants_first_impacts(batch, settings)) {}

motion::FirstImpactShape FirstImpacts::shape() const {
  return {motion::dimension_of(batch_.mechanism), batch_.positions + batch_.velocities,
          batch_.velocities};
}

std::vector<FirstImpacts::Packed> FirstImpacts::prepare(std::int64_t first, std::int64_t end,
                                                        std::int64_t sample) const {
  std::vector<Packed> problems(static_cast<std::size_t>(end - first));
  const auto simulate = [this](const kernels::motion::MotionView& view) {
    motion::host_simulate_row(view, batch_.mechanism);
  };
  tbb::enumerable_thread_specific<motion::FirstImpactBuilder> builders(
      [&] { return motion::FirstImpactBuilder(batch_, settings_, simulate); });
  const motion::FirstImpactShape shape = this->shape();
  parallel_for_each(end - first, settings_.threads, [&](std::int64_t p) {
    if (!motion::refused(batch_, first + p).field.empty()) return;
    Packed& packed = problems[static_cast<std::size_t>(p)];
    packed.first = builders.local().build(first + p, sample);
    if (packed.first.contacts == 0) return;
    motion::each_array(packed.first, shape, [&](auto& pointer, auto length) {
      const std::size_t at = packed.bytes.size();
      const std::size_t size = static_cast<std::size_t>(length()) * sizeof(*pointer);
      packed.bytes.resize(at + (size + kAlignment - 1) / kAlignment * kAlignment);
      if (size > 0) std::memcpy(packed.bytes.data() + at, pointer, size);
      std::memcpy(&pointer, &at, sizeof(at));
    });
  });
  return problems;
}

const kernels::motion::FirstImpact* FirstImpacts::place(std::vector<Packed> problems, OnDevice& to,
                                                        cudaStream_t stream) const {
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");  // motions may still look at it
  std::size_t total = 0;
  for (const Packed& packed : problems) total += packed.bytes.size();
  const motion::FirstImpactShape shape = this->shape();
  const char* base = to.bytes.reserve(total);
  std::vector<kernels::motion::FirstImpact> firsts;
  std::vector<char> bytes;
  bytes.reserve(total);
  for (Packed& packed : problems) {
    motion::each_array(packed.first, shape, [&](auto& pointer, auto) {
      std::size_t at = 0;
      std::memcpy(&at, &pointer, sizeof(at));
      const char* const there = base + bytes.size() + at;
      std::memcpy(&pointer, &there, sizeof(there));
    });
    firsts.push_back(packed.first);
    bytes.insert(bytes.end(), packed.bytes.begin(), packed.bytes.end());
  }
  to.bytes.upload(bytes.data(), bytes.size(), stream);
  to.firsts.upload(firsts.data(), firsts.size(), stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");  // the host's arrays end here
  return to.firsts.data();
}

std::int64_t FirstImpacts::upload(std::int64_t first, std::int64_t end,
                                  kernels::motion::MotionView& view, cudaStream_t stream) {
  view.first[0] = view.first[1] = nullptr;
  if (!wanted_) return end;
  end = std::min(end, first + kProblems);
  view.first_of = static_cast<long>(first);
  if (settings_.first_sample < kWideFrom) {
    view.first[0] = place(prepare(first, end, 0), narrow_, stream);
  }
  if (settings_.first_sample + settings_.samples > kWideFrom) {
    view.first[1] = place(prepare(first, end, kWideFrom), wide_, stream);
  }
  return end;
}

}  // namespace carom::cuda
