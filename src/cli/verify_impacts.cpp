#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <carom/impact.hpp>

#include "cli/verify_files.hpp"
#include "cli/verify_reasons.hpp"
#include "core/constants.hpp"
#include "impact/exact/kept_mechanics.hpp"
#include "io/impact_kept.hpp"

namespace carom::cli {

namespace {

// Of the size of what is compared: two roundings of one number.
constexpr double kSame = 1e-9;

class ImpactJudge {
 public:
  ImpactJudge(const io::KeptImpact& kept, std::size_t index, VerifyReport& report)
      : kept_(kept),
        p_(kept.problem),
        mechanics_(kept.problem, kept.settings.friction_directions),
        nv_(static_cast<std::size_t>(p_.velocities)),
        m_(static_cast<std::size_t>(p_.contacts)),
        rows_(m_ * static_cast<std::size_t>(p_.dimension)),
        index_(index),
        report_(report),
        contact_velocity_(static_cast<std::size_t>(kept.count) * rows_) {
    for (std::size_t s = 0; s < static_cast<std::size_t>(kept.count); ++s) {
      if (!ended(s) || !has_numbers(s)) continue;
      const auto u = mechanics_.contact_velocities(kept.rows.velocity.data() + s * nv_);
      for (std::size_t i = 0; i < rows_; ++i) contact_velocity_[s * rows_ + i] = u[i].middle();
    }
  }

  void judge(const TextOptions& text) {
    const auto count = static_cast<std::size_t>(kept_.count);
    const std::vector<std::string> found = reasons(
        count, "samples", text, [this](auto s) { return ended(s) ? sample(s) : std::string(); });
    for (std::size_t s = 0; s < count; ++s) {
      if (!ended(s)) {
        report_.add("sample", Judgement::unjudged);
        report_.leave_out("samples that are no outcomes");
        continue;
      }
      add("sample", fmt::format("samples[{}]", s), found[s]);
    }
    report_.add("summary", index_, summary());
    if (!kept_.rows.stored.empty() && kept_.settings.law != RestitutionLaw::stronge) {
      report_.leave_out(fmt::format("stored and released of samples by the law of {}",
                                    to_string(kept_.settings.law)));
    }
    const std::vector<std::string> points =
        reasons(kept_.net_modes.size(), "net points", text, [this](auto i) { return point(i); });
    for (std::size_t i = 0; i < points.size(); ++i) {
      add("net point", fmt::format("net[{}]", i), points[i]);
    }
  }

 private:
  [[nodiscard]] bool ended(std::size_t s) const {
    return kept_.rows.status[s] == TrajectoryStatus::terminated;
  }
  /// Whether its velocity can be reckoned with; where not, the sample is refuted.
  [[nodiscard]] bool has_numbers(std::size_t s) const {
    const double* const v = kept_.rows.velocity.data() + s * nv_;
    return std::all_of(v, v + nv_, exact::KeptMechanics::moderate);
  }
  void add(const char* statement, const std::string& which, const std::string& reason) {
    report_.add(statement, index_, reason.empty() ? reason : which + ": " + reason);
  }

  [[nodiscard]] std::string sample(std::size_t s) const {
    const auto& rows = kept_.rows;
    exact::KeptOutcome outcome;
    outcome.velocity = rows.velocity.data() + s * nv_;
    outcome.impulse = rows.impulse.data() + s * rows_;
    outcome.modes = rows.modes[s];
    const auto row = [&](const std::vector<double>& of) {
      return of.empty() ? nullptr : of.data() + s * m_;
    };
    outcome.restitution = row(rows.restitution);
    outcome.friction = row(rows.friction);
    outcome.stored = row(rows.stored);
    outcome.released = row(rows.released);
    outcome.lost_compression = row(rows.lost_compression);
    outcome.lost_friction = row(rows.lost_friction);
    return refutation(mechanics_, kept_.settings, outcome);
  }

  [[nodiscard]] std::string point(std::size_t i) const {
    exact::KeptOutcome outcome;
    outcome.velocity = kept_.net_velocity.data() + i * nv_;
    outcome.impulse = kept_.net_impulse.data() + i * rows_;
    outcome.modes = static_cast<std::uint64_t>(kept_.net_modes[i]);
    if (kept_.net_first_sample[i] < kept_.first_sample ||
        kept_.net_first_sample[i] >= kept_.first_sample + kept_.samples) {
      return fmt::format("first_sample is {}", kept_.net_first_sample[i]);
    }
    const std::int64_t first = kept_.net_first_sample[i] - kept_.first_sample;
    if (kept_.net_multiplicity[i] < 1) {
      return fmt::format("multiplicity is {}", kept_.net_multiplicity[i]);
    }
    if (first < kept_.count && ended(static_cast<std::size_t>(first)) &&
        !std::equal(outcome.velocity, outcome.velocity + nv_,
                    kept_.rows.velocity.data() + static_cast<std::size_t>(first) * nv_)) {
      return fmt::format("velocity is not that of samples[{}]", first);
    }
    return refutation(mechanics_, kept_.settings, outcome);
  }

  /// The numbers over all samples: those of the rows where every sample has one, and possible with
  /// the rows otherwise.
  [[nodiscard]] std::string summary() const {
    if (kept_.terminated < 0 || kept_.max_steps_reached < 0 || kept_.failed < 0 ||
        kept_.terminated + kept_.max_steps_reached + kept_.failed != kept_.samples ||
        kept_.count > kept_.samples) {
      return "terminated, max_steps_reached and failed are not all samples, or rows are more";
    }
    std::string reason = counts();
    for (const io::KeptRange& range : kept_.ranges) {
      if (reason.empty()) reason = range_reason(range);
    }
    if (reason.empty()) reason = energy_reason();
    std::int64_t points = kept_.net_dropped;
    for (const std::int64_t multiplicity : kept_.net_multiplicity) {
      if (!add_count(multiplicity, points)) {
        return fmt::format("net/multiplicity has {}, of {} samples", multiplicity, kept_.samples);
      }
    }
    if (reason.empty() && !kept_.net_modes.empty() && points != kept_.samples - kept_.failed) {
      reason = fmt::format("net/multiplicity and dropped count {} samples of {}", points,
                           kept_.samples - kept_.failed);
    }
    return reason;
  }

  /// Adds a count of samples to others; false where they are more than all, or less than none.
  [[nodiscard]] bool add_count(std::int64_t count, std::int64_t& total) const {
    if (count < 0 || count > kept_.samples || total > kept_.samples) return false;
    total += count;
    return true;
  }
  [[nodiscard]] bool whole() const { return kept_.count == kept_.samples; }

  [[nodiscard]] std::string counts() const {
    std::int64_t own[std::size(words<TrajectoryStatus>)] = {};
    std::map<std::string, std::int64_t> modes;
    for (std::size_t s = 0; s < static_cast<std::size_t>(kept_.count); ++s) {
      const auto status = static_cast<std::size_t>(kept_.rows.status[s]);
      if (status >= std::size(own)) return fmt::format("status[{}] is {}", s, status);
      ++own[status];
      if (ended(s)) ++modes[mode_words(kept_.rows.modes[s], p_.contacts, p_.dimension)];
    }
    const auto differs = [this](std::int64_t said, std::int64_t rows) {
      return whole() ? said != rows : said < rows;
    };
    const std::pair<const char*, std::int64_t> said[3] = {
        {"terminated", kept_.terminated},
        {"max_steps_reached", kept_.max_steps_reached},
        {"failed", kept_.failed}};
    const TrajectoryStatus status[3] = {TrajectoryStatus::terminated, TrajectoryStatus::max_steps,
                                        TrajectoryStatus::failed};
    for (int i = 0; i < 3; ++i) {
      const std::int64_t rows = own[static_cast<std::size_t>(status[i])];
      if (differs(said[i].second, rows)) {
        return fmt::format("{} is {}: rows have {}", said[i].first, said[i].second, rows);
      }
    }
    if (p_.contacts > kMaxModeContacts) return {};
    std::int64_t total = 0;
    for (const auto& [words, count] : kept_.mode_counts) {
      if (!add_count(count, total)) {
        return fmt::format("mode_counts of {} is {}, of {} samples", words, count, kept_.samples);
      }
      const auto found = modes.find(words);
      if (differs(count, found == modes.end() ? 0 : found->second)) {
        return fmt::format("mode_counts of {} is {}: rows have {}", words, count,
                           found == modes.end() ? 0 : found->second);
      }
    }
    for (const auto& [words, count] : modes) {
      if (kept_.mode_counts.find(words) == kept_.mode_counts.end()) {
        return fmt::format("mode_counts has no {}", words);
      }
    }
    if (total != kept_.terminated) {
      return fmt::format("mode_counts counts {} samples of {}", total, kept_.terminated);
    }
    return {};
  }

  /// The range of the rows' v+ or J v+.
  [[nodiscard]] std::string range_reason(const io::KeptRange& range) const {
    const std::size_t size = range.low.size();
    std::vector<double> low(size, kInfinity), high(size, -kInfinity);
    double scale = 0.0;
    for (const double v : p_.velocity) scale = std::max(scale, std::fabs(v));
    if (range.name != "velocity") {
      scale = mechanics_.speed.middle();
    }
    for (std::size_t s = 0; s < static_cast<std::size_t>(kept_.count); ++s) {
      if (!ended(s) || !has_numbers(s)) continue;
      const double* const at =
          range.name == "velocity"
              ? kept_.rows.velocity.data() + s * nv_
              : contact_velocity_.data() + s * rows_ + (range.name == "normal_velocity" ? 0 : m_);
      for (std::size_t i = 0; i < size; ++i) {
        low[i] = std::min(low[i], at[i]);
        high[i] = std::max(high[i], at[i]);
        scale = std::max(scale, std::fabs(at[i]));
      }
    }
    const double room = kSame * scale;
    for (std::size_t i = 0; i < size; ++i) {
      if (!(low[i] <= high[i])) break;  // no row
      const bool good = whole() ? std::fabs(range.low[i] - low[i]) <= room &&
                                      std::fabs(range.high[i] - high[i]) <= room
                                : range.low[i] <= low[i] + room && range.high[i] >= high[i] - room;
      if (!good) {
        return fmt::format("{}_min and _max [{}] are {}, {}: rows have {}, {}", range.name, i,
                           range.low[i], range.high[i], low[i], high[i]);
      }
    }
    return {};
  }

  [[nodiscard]] std::string energy_reason() const {
    const double before = mechanics_.before.middle();
    double most = 0.0, residual = 0.0;
    for (std::size_t s = 0; s < static_cast<std::size_t>(kept_.count); ++s) {
      if (kept_.rows.status[s] == TrajectoryStatus::failed || !has_numbers(s)) continue;
      const double* const v = kept_.rows.velocity.data() + s * nv_;
      if (before > 0.0) most = std::max(most, mechanics_.kinetic_energy(v).middle() / before);
      residual = std::max(residual, kept_.rows.residual[s]);
    }
    const auto differs = [this](double said, double rows, double room) {
      return !(said >= rows - room) || (whole() && !(said <= rows + room));
    };
    if (differs(kept_.max_energy_ratio, most, kSame)) {
      return fmt::format("max_energy_ratio is {}: rows have {}", kept_.max_energy_ratio, most);
    }
    if (differs(kept_.max_residual, residual, 0.0)) {
      return fmt::format("max_residual is {}: rows have {}", kept_.max_residual, residual);
    }
    return {};
  }

  const io::KeptImpact& kept_;
  const ImpactProblem& p_;
  exact::KeptMechanics mechanics_;
  std::size_t nv_, m_, rows_, index_;
  VerifyReport& report_;
  std::vector<double> contact_velocity_;  ///< J v+ of the rows, rounded
};

}  // namespace

VerifyReport verify_impacts(const std::string& file, const TextOptions& text) {
  std::vector<std::string> other_fields;
  const std::vector<io::KeptImpact> all = io::read_kept_impacts(file, other_fields);
  VerifyReport report{"impact", "problems", all.size(), {}, {}, {}};
  for (std::size_t i = 0; i < all.size(); ++i) ImpactJudge(all[i], i, report).judge(text);
  for (const std::string& field : other_fields) report.leave_out(field);
  return report;
}

}  // namespace carom::cli
