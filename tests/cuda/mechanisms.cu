#include <carom/batch.hpp>

#include "cuda/launch.cuh"
#include "cuda/mechanisms.hpp"
#include "cuda/runtime.hpp"
#include "support/mechanisms.hpp"

namespace carom::test {

namespace {

template <class Mechanism>
__global__ void mechanism_kernel(const __grid_constant__ MechanismState state, double* out) {
  write_mechanism<Mechanism>(state, out);
}

Buffer<double> on_device(const std::vector<double>& values) {
  return Buffer<double>::from(values).to(MemorySpace::device);
}

}  // namespace

std::vector<double> mechanism_on_device(const std::string& model,
                                        const std::vector<double>& parameters,
                                        const std::vector<double>& q,
                                        const std::vector<double>& v) {
  std::vector<double> numbers;
  each_impact_mechanism([&](auto type, const std::string& name) {
    using Mechanism = typename decltype(type)::type;
    if (name != model) return;
    numbers.resize(static_cast<std::size_t>(mechanism_numbers<Mechanism>(parameters.data())));
    const Buffer<double> p = on_device(parameters);
    const Buffer<double> position = on_device(q);
    const Buffer<double> velocity = on_device(v);
    Buffer<double> out = on_device(numbers);
    const cuda::Stream stream;
    cuda::launch_kernel("mechanism_kernel", mechanism_kernel<Mechanism>, {1, 1}, stream.get(),
                        MechanismState{p.data(), 0.0, position.data(), velocity.data()},
                        out.data());
    stream.synchronize();
    const Buffer<double> back = out.to(MemorySpace::host);
    numbers.assign(back.data(), back.data() + numbers.size());
  });
  return numbers;
}

}  // namespace carom::test
