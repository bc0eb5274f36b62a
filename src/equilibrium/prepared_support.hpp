#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/workspace.hpp"
#include "equilibrium/kernels/support_verdict.hpp"
#include "equilibrium/spatial_backends.hpp"
#include "equilibrium/support_code.hpp"

namespace carom {

/// One thread's memory for the set-up of one posture with both cone rules of a call.
class PreparedSupport {
 public:
  PreparedSupport(const SupportCode& code, const SupportRules& rules,
                  const SpatialSettings& settings, int contacts);

  /// For another call on as many contacts.
  void rebind(const SupportCode& code, const SupportRules& rules, const SpatialSettings& settings) {
    code_ = &code;
    rules_ = &rules;
    settings_ = &settings;
  }

  /// Sets problem p of the batch up.
  void prepare(const PostureBatch& batch, std::int64_t p) {
    const auto k = static_cast<std::int64_t>(view_.contacts);
    prepare({view_.contacts, batch.position.data() + 3 * k * p, batch.normal.data() + 3 * k * p,
             batch.friction.data() + k * p},
            batch.wrench.data() + 6 * p);
  }
  void prepare(const kernels::PostureView& view, const double* wrench);

  /// A job for the rule of points (inner) or of half-planes, without outputs.
  [[nodiscard]] kernels::ProbeJob job(bool inner);
  void run(const kernels::ProbeJob& job) const { code_->probe(job); }

  [[nodiscard]] const kernels::SupportPosture& posture(bool inner) const {
    return prepared_[inner || !rules_->two ? 0 : 1];
  }
  /// Proof that nothing is held by the outer cones, [6]; false where it fails.
  bool farkas(double* dual) const;
  /// Postures first, ..., first + count - 1 of the batch, at most kSupportLanes, in packs; for at
  /// most kSupportArcs directions.
  void run_postures(const PostureBatch& batch, std::span<const double> directions,
                    std::int64_t first, int count, SupportResult& result);
  [[nodiscard]] const SupportRules& rules() const { return *rules_; }
  [[nodiscard]] const SpatialSettings& settings() const { return *settings_; }
  [[nodiscard]] int contacts() const { return view_.contacts; }

 private:
  const SupportCode* code_;
  const SupportRules* rules_;
  const SpatialSettings* settings_;
  kernels::PostureView view_{};
  kernels::SupportPosture prepared_[2];
  std::vector<kernels::SupportContact> contact_[2];
  Buffer<double> scratch_;
  std::vector<double> pack_;  ///< what the packs of postures leave, made at first use
};

/// A PreparedSupport that a thread keeps.
struct SupportMemory {
  std::optional<PreparedSupport> prepared;
  std::vector<double> work;

  void fit(const SupportCode& code, const SupportRules& rules, const SpatialSettings& settings,
           int contacts) {
    if (prepared && prepared->contacts() == contacts) {
      prepared->rebind(code, rules, settings);
    } else {
      prepared.emplace(code, rules, settings, contacts);
    }
  }
};

/// Bases of the slots of a result, [., kBasisReals], for points and (of a pair) half-planes.
struct BasisStore {
  const int* start;  ///< [n], slots whose bases the directions start from; null: a sweep
  double* basis[2];
};

/// Directions of one posture into slots first, first + 1, ... of `result`; `bases` may be null.
void support_of(PreparedSupport& prepared, std::span<const double> directions,
                SupportResult& result, std::size_t first, double* work,
                const BasisStore* bases = nullptr);
/// Doubles of `work`.
std::size_t support_work(std::size_t directions);

}  // namespace carom
