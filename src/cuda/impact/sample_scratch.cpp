#include "cuda/impact/sample_scratch.hpp"

namespace carom::cuda {

std::size_t ChunkArrays::bytes_per_slot(int velocities, int contact_rows, bool net, int stored) {
  const auto reals = static_cast<std::size_t>(
      velocities + 2 * contact_rows + (net ? velocities + contact_rows : 0) + 2 + 6 * stored);
  constexpr std::size_t kWords = 2;                // modes
  constexpr std::size_t kInts = 5 + 2;             // counts, lists of unfinished slots
  constexpr std::size_t kHistogram = 4 * 8 + 4;    // keys twice, runs, temporary
  constexpr std::size_t kNet = 3 * 8 + 4 * 4 + 1;  // keys and slots twice, temporary, heads, flags
  return reals * sizeof(double) + kWords * 8 + kInts * 4 + 3 + kHistogram + (net ? kNet : 0);
}

TrajectoryArrays ChunkArrays::reserve(int slots, int velocities, int contact_rows, bool net,
                                      int stored) {
  const auto size = static_cast<std::size_t>(slots);
  const std::size_t of_v = size * static_cast<std::size_t>(velocities);
  const std::size_t of_u = size * static_cast<std::size_t>(contact_rows);
  TrajectoryArrays arrays{};
  arrays.velocity = velocity_.reserve(of_v);
  arrays.contact_velocity = contact_velocity_.reserve(of_u);
  arrays.impulse = impulse_.reserve(of_u);
  if (net) {
    arrays.closed_velocity = closed_velocity_.reserve(of_v);
    arrays.closed_impulse = closed_impulse_.reserve(of_u);
  }
  if (stored > 0) {
    const std::size_t of_contacts = size * static_cast<std::size_t>(stored);
    arrays.restitution = restitution_.reserve(of_contacts);
    arrays.friction = friction_.reserve(of_contacts);
    arrays.stored = put_by_.reserve(of_contacts);
    arrays.released = released_.reserve(of_contacts);
    arrays.lost_compression = lost_compression_.reserve(of_contacts);
    arrays.lost_friction = lost_friction_.reserve(of_contacts);
    arrays.ended_by = ended_by_.reserve(size);
  }
  arrays.residual = residual_.reserve(size);
  arrays.energy_ratio = energy_ratio_.reserve(size);
  arrays.modes = modes_.reserve(size);
  arrays.net_modes = net_modes_.reserve(size);
  arrays.steps = steps_.reserve(size);
  arrays.fallback = fallback_.reserve(size);
  arrays.pivots = pivots_.reserve(size);
  arrays.nonunique = nonunique_.reserve(size);
  arrays.examined = examined_.reserve(size);
  arrays.status = status_.reserve(size);
  arrays.in_net = in_net_.reserve(size);
  return arrays;
}

}  // namespace carom::cuda
