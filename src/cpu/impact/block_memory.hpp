#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "cpu/simd/impact/block.hpp"
#include "cpu/simd/impact/event_block.hpp"
#include "impact/accumulate.hpp"

/// Memory that the blocks of a thread share.
namespace carom::cpu {

/// Outputs of a block's packs.
class PackMemory {
 public:
  PackMemory(int nv, int rows, std::int64_t grain)
      : nv_(nv),
        rows_(rows),
        velocity_(static_cast<std::size_t>(grain * nv)),
        contact_velocity_(static_cast<std::size_t>(grain * rows)),
        impulse_(contact_velocity_.size()),
        residual_(static_cast<std::size_t>(grain)),
        energy_ratio_(residual_.size()),
        modes_(residual_.size()),
        steps_(residual_.size()),
        fallback_(residual_.size()),
        pivots_(residual_.size()),
        status_(residual_.size()) {}

  simd::PackJob job(const kernels::ImpactProblemView& view, const kernels::ImpactRun& run,
                    std::uint32_t index, std::uint64_t first, int count) {
    return {&view,
            &run,
            index,
            first,
            count,
            velocity_.data(),
            contact_velocity_.data(),
            impulse_.data(),
            residual_.data(),
            energy_ratio_.data(),
            modes_.data(),
            steps_.data(),
            fallback_.data(),
            pivots_.data(),
            status_.data()};
  }

  /// The finished trajectory at `position`.
  [[nodiscard]] TrajectoryRow describe(std::int64_t sample, int position) const {
    const auto at = static_cast<std::size_t>(position);
    const auto status = static_cast<TrajectoryStatus>(status_[at]);
    const bool in_net = status == TrajectoryStatus::terminated;
    const double* velocity = velocity_.data() + position * nv_;
    const double* impulse = impulse_.data() + position * rows_;
    // At once: a row of zeros would first be written.
    return {.sample = sample,
            .status = status,
            .steps = steps_[at],
            .fallback = fallback_[at],
            .pivots = pivots_[at],
            .nonunique = 0,
            .examined = 0,
            .residual = residual_[at],
            .energy_ratio = energy_ratio_[at],
            .modes = modes_[at],
            .velocity = velocity,
            .contact_velocity = contact_velocity_.data() + position * rows_,
            .impulse = impulse,
            .net_velocity = in_net ? velocity : nullptr,
            .net_impulse = in_net ? impulse : nullptr,
            .net_modes = in_net ? modes_[at] : 0};
  }

 private:
  int nv_;
  int rows_;
  std::vector<double> velocity_, contact_velocity_, impulse_, residual_, energy_ratio_;
  std::vector<std::uint64_t> modes_;
  std::vector<std::int32_t> steps_, fallback_, pivots_;
  std::vector<std::uint8_t> status_;
};

/// Whether the modes of ImpactMethod::events are kept in a table.
template <int Dim>
constexpr bool tables_events(int contacts) {
  return Dim == 2 && contacts <= kernels::kMaxEventContacts;
}

/// The solved modes of one problem at a time.
class EventMemory {
 public:
  /// grain: of samples that packs write the stores of.
  void fit(int contacts, std::int64_t grain) {
    modes_.resize(static_cast<std::size_t>(kernels::event_reals(contacts)));
    known_.resize(static_cast<std::size_t>(kernels::event_modes(contacts)));
    if (contacts <= simd::kMaxPackEventContacts) {
      faces_.resize(known_.size());
      for (std::vector<double>& book : books_) {
        book.resize(static_cast<std::size_t>(grain * contacts));
      }
    }
  }
  /// For another problem.
  void forget() {
    std::fill(known_.begin(), known_.end(), std::uint8_t{0});
    for (simd::EventFace& face : faces_) face.forget();
  }
  [[nodiscard]] double* modes() { return modes_.data(); }
  [[nodiscard]] unsigned char* known() { return known_.data(); }
  [[nodiscard]] simd::EventFace* faces() { return faces_.data(); }
  [[nodiscard]] simd::StoreRows stores(const kernels::RestitutionView& view) {
    return {&view,           books_[0].data(), books_[1].data(), books_[2].data(), books_[3].data(),
            books_[4].data()};
  }

 private:
  std::vector<double> modes_;
  std::vector<std::uint8_t> known_;
  std::vector<simd::EventFace> faces_;
  std::array<std::vector<double>, 5> books_;
};

}  // namespace carom::cpu
