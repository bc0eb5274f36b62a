#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <carom/types/batch.hpp>

#include "core/arrays.hpp"
#include "core/workspace.hpp"

/// A call divided among several devices (CudaScope).
namespace carom::cuda {

/// The calling thread's devices; empty where it has not chosen any.
const std::vector<int>& chosen_devices();

/// Makes a device the calling thread's as long as it lives. Errors: CudaError.
class OnDevice {
 public:
  explicit OnDevice(int device);
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice();

 private:
  int before_ = 0;
};

/// Items [begin, end) of a call, on the device with that place among the chosen ones.
struct Share {
  std::int64_t begin;
  std::int64_t end;
  std::size_t place;
};

/// Runs work(share, workspace) for each device's share of `items`, the first on the calling thread,
/// the others on host threads of their own, each with a part of `workspace`. Errors: the first
/// share's that has one, when all have ended.
void on_each_device(std::int64_t items, WorkspaceState* workspace,
                    const std::function<void(const Share&, WorkspaceState*)>& work);

/// What is not divided runs on the first of the chosen devices.
template <class Call>
auto on_first(Call&& call) {
  if (chosen_devices().empty()) return call();
  const OnDevice first(chosen_devices().front());
  return call();
}

/// solve(part, begin, workspace) of a batch's problems on the devices they are divided among; with
/// one device or a batch in device memory, of all of them there. sizes: of the result.
template <class Result, class Batch, class Solve>
Result divided(const Batch& batch, const typename Result::Sizes& sizes, MemorySpace space,
               WorkspaceState* workspace, Solve&& solve) {
  const std::vector<int>& devices = chosen_devices();
  if (devices.size() < 2 || space == MemorySpace::device || batch.problems < 2) {
    return on_first([&] { return solve(batch, std::int64_t{0}, workspace); });
  }
  std::vector<Result> parts(devices.size());
  std::vector<std::int64_t> begins(devices.size(), 0);
  on_each_device(batch.problems, workspace, [&](const Share& share, WorkspaceState* own) {
    parts[share.place] = solve(arrays::slice(batch, share.begin, share.end), share.begin, own);
    begins[share.place] = share.begin;
  });
  Result whole;
  for (std::size_t d = 0; d < parts.size(); ++d) {
    arrays::place_part(whole, sizes, begins[d], parts[d]);
  }
  return whole;
}

}  // namespace carom::cuda
