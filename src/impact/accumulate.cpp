#include "impact/accumulate.hpp"

#include <algorithm>
#include <cmath>

#include "core/constants.hpp"
#include "core/fields.hpp"

namespace carom {

namespace {

void lower(std::vector<double>& low, const double* value) {
  for (std::size_t i = 0; i < low.size(); ++i) low[i] = std::min(low[i], value[i]);
}

void raise(std::vector<double>& high, const double* value) {
  for (std::size_t i = 0; i < high.size(); ++i) high[i] = std::max(high[i], value[i]);
}

}  // namespace

ImpactAccumulator::ImpactAccumulator(int dimension, int velocities, int contacts,
                                     const ImpactSettings& settings, double epsilon)
    : nv_(velocities),
      contacts_(contacts),
      rows_(dimension * contacts),
      net_(velocities, dimension * contacts, epsilon, settings.net_capacity) {
  const auto m = static_cast<std::size_t>(contacts_);
  const auto tangents = static_cast<std::size_t>(rows_ - contacts_);
  totals_.velocity_min.assign(static_cast<std::size_t>(nv_), kInfinity);
  totals_.velocity_max.assign(static_cast<std::size_t>(nv_), -kInfinity);
  totals_.normal_velocity_min.assign(m, kInfinity);
  totals_.normal_velocity_max.assign(m, -kInfinity);
  totals_.tangent_velocity_min.assign(tangents, kInfinity);
  totals_.tangent_velocity_max.assign(tangents, -kInfinity);
  contact_min_.assign(static_cast<std::size_t>(rows_), kInfinity);
  contact_max_.assign(static_cast<std::size_t>(rows_), -kInfinity);
}

void ImpactAccumulator::add(const TrajectoryRow& row) {
  ++totals_.samples;
  totals_.lcp_solves += row.steps;
  // Mostly zero, and asked one by one: loaded together they would wait for the stores of each.
  if (row.fallback != 0) totals_.fallback_solves += row.fallback;
  if (row.pivots != 0) totals_.pivots += row.pivots;
  if (row.nonunique != 0) totals_.nonunique_solves += row.nonunique;
  if (row.examined != 0) totals_.nonunique_examined += row.examined;
  if (row.status == TrajectoryStatus::failed) {
    ++totals_.failed;
    return;
  }
  totals_.max_residual = std::max(totals_.max_residual, row.residual);
  totals_.max_energy_ratio = std::max(totals_.max_energy_ratio, row.energy_ratio);
  if (row.status == TrajectoryStatus::terminated) {
    ++totals_.terminated;
    lower(totals_.velocity_min, row.velocity);
    raise(totals_.velocity_max, row.velocity);
    lower(contact_min_, row.contact_velocity);
    raise(contact_max_, row.contact_velocity);
    if (row.books != nullptr) book(row);
    if (contacts_ <= kMaxModeContacts) {
      Counter& counter = frequent_[(row.modes * 0x9E3779B97F4A7C15ULL) >> 60];
      if (counter.count == nullptr || counter.modes != row.modes) {
        counter = {row.modes, &modes_[row.modes]};
      }
      ++*counter.count;
    }
  } else {
    ++totals_.max_steps_reached;
  }
  if (net_.enabled()) {
    if (row.net_velocity != nullptr) {
      net_.add(row.sample, row.net_velocity, row.net_impulse, row.net_modes);
    } else {
      net_.count_dropped(1);
    }
  }
}

void ImpactAccumulator::book(const TrajectoryRow& row) {
  const auto total = [&](const double* lost) {
    double sum = 0.0;
    for (int i = 0; i < contacts_; ++i) sum += lost[i];
    return row.energy > 0.0 ? sum / row.energy : 0.0;
  };
  const double compression = total(row.books->lost_compression);
  const double friction = total(row.books->lost_friction);
  books_.lost_compression += std::llround(compression * SummedBooks::kUnit);
  books_.lost_friction += std::llround(friction * SummedBooks::kUnit);
  if (row.books->guarded) ++totals_.guarded;
  if (row.books->trimmed) ++totals_.trimmed;
  const auto least = [this](double& to, double value) {
    to = books_.samples == 0 ? value : std::min(to, value);
  };
  const auto most = [this](double& to, double value) {
    to = books_.samples == 0 ? value : std::max(to, value);
  };
  least(totals_.min_energy_ratio, row.energy_ratio);
  least(totals_.lost_compression_min, compression);
  most(totals_.lost_compression_max, compression);
  least(totals_.lost_friction_min, friction);
  most(totals_.lost_friction_max, friction);
  ++books_.samples;
}

void ImpactAccumulator::merge_totals(const ImpactSummary& part, const SummedBooks& books) {
  if (books.samples > 0 && books_.samples == 0) {  // NaN, which no other number is less than
    totals_.min_energy_ratio = part.min_energy_ratio;
    totals_.lost_compression_min = part.lost_compression_min;
    totals_.lost_compression_max = part.lost_compression_max;
    totals_.lost_friction_min = part.lost_friction_min;
    totals_.lost_friction_max = part.lost_friction_max;
  }
  books_.samples += books.samples;
  books_.lost_compression += books.lost_compression;
  books_.lost_friction += books.lost_friction;
  merge_fields(totals_, part);
}

void ImpactAccumulator::merge(const ImpactAccumulator& other) {
  merge_totals(other.totals_, other.books_);
  lower(contact_min_, other.contact_min_.data());
  raise(contact_max_, other.contact_max_.data());
  for (const auto& [modes, count] : other.modes_) modes_[modes] += count;
  if (net_.enabled()) net_.merge(other.net_);
}

void ImpactAccumulator::merge(const ImpactSummary& part, const SummedBooks& books) {
  merge_totals(part, books);
  for (const auto& [modes, count] : part.mode_counts) modes_[modes] += count;
}

ImpactSummary ImpactAccumulator::summary() const {
  ImpactSummary result = totals_;
  if (books_.samples > 0) {
    const double unit = 0x1.0p-40 / static_cast<double>(books_.samples);
    result.lost_compression_mean = static_cast<double>(books_.lost_compression) * unit;
    result.lost_friction_mean = static_cast<double>(books_.lost_friction) * unit;
  }
  result.status = totals_.failed > 0 ? Status::inaccurate : Status::solved;
  lower(result.normal_velocity_min, contact_min_.data());
  raise(result.normal_velocity_max, contact_max_.data());
  lower(result.tangent_velocity_min, contact_min_.data() + contacts_);
  raise(result.tangent_velocity_max, contact_max_.data() + contacts_);
  if (totals_.terminated == 0) {
    // No terminated sample: there is no range to report.
    for (auto* range :
         {&result.normal_velocity_min, &result.normal_velocity_max, &result.tangent_velocity_min,
          &result.tangent_velocity_max, &result.velocity_min, &result.velocity_max}) {
      std::fill(range->begin(), range->end(), kNan);
    }
  }
  result.mode_counts.assign(modes_.begin(), modes_.end());
  std::sort(result.mode_counts.begin(), result.mode_counts.end());
  return result;
}

void state_facts(ImpactSummary& summary, const ProblemFacts& facts, const ImpactSettings& settings,
                 double epsilon) {
  summary.step_size = facts.step_size;
  summary.contact_speed = facts.contact_speed;
  summary.max_steps = settings.max_steps;
  summary.epsilon = epsilon;
}

ImpactSamples allocate_samples(const ImpactBatch& batch, const ImpactSettings& settings,
                               MemorySpace space) {
  auto samples = allocate<ImpactSamples>(
      {batch.problems, rows_kept(settings), batch.velocities, batch.contact_rows(), batch.contacts},
      space, has_stores(batch));
  if (space == MemorySpace::host) {
    fill_nan(samples);
    std::fill(samples.modes.host().begin(), samples.modes.host().end(), 0);
    std::fill(samples.steps.host().begin(), samples.steps.host().end(), 0);
    std::fill(samples.status.host().begin(), samples.status.host().end(),
              TrajectoryStatus::cancelled);
  }
  return samples;
}

void store_row(ImpactSamples& samples, std::int64_t problem, std::int64_t position,
               const TrajectoryRow& row) {
  const std::int64_t index = problem * samples.count + position;
  const bool failed = row.status == TrajectoryStatus::failed;
  double* velocity = samples.velocity.data() + index * samples.velocities;
  double* impulse = samples.impulse.data() + index * samples.contact_rows;
  for (int i = 0; i < samples.velocities; ++i) velocity[i] = failed ? kNan : row.velocity[i];
  for (int i = 0; i < samples.contact_rows; ++i) impulse[i] = failed ? kNan : row.impulse[i];
  samples.residual.data()[index] = row.residual;
  samples.modes.data()[index] = failed ? 0 : row.modes;
  samples.steps.data()[index] = row.steps;
  samples.status.data()[index] = row.status;
  if (row.books == nullptr) return;
  const auto keep = [&](Buffer<double>& to, const double* from) {
    for (int i = 0; i < samples.contacts; ++i) {
      to.data()[index * samples.contacts + i] = failed ? kNan : from[i];
    }
  };
  keep(samples.restitution, row.books->restitution);
  keep(samples.friction, row.books->friction);
  keep(samples.stored, row.books->stored);
  keep(samples.released, row.books->released);
  keep(samples.lost_compression, row.books->lost_compression);
  keep(samples.lost_friction, row.books->lost_friction);
}

ImpactPaths join_paths(const std::vector<std::vector<double>>& paths, int velocities) {
  return join_paths(paths, {velocities, 0, 0});
}

ImpactPaths join_paths(const std::vector<std::vector<double>>& paths, const kernels::PathRow& row) {
  ImpactPaths joined;
  joined.offset.push_back(0);
  for (const std::vector<double>& path : paths) {
    for (auto from = path.begin(); from != path.end();) {
      const auto take = [&from](std::vector<double>& to, int count) {
        to.insert(to.end(), from, from + count);
        from += count;
      };
      take(joined.velocity, row.velocities);
      take(joined.impulse, row.rows);
      take(joined.restitution, row.contacts);
      take(joined.friction, row.contacts);
    }
    joined.offset.push_back(static_cast<std::int64_t>(joined.velocity.size()) / row.velocities);
  }
  return joined;
}

std::int64_t rows_kept(const ImpactSettings& settings) {
  if (settings.keep_samples < 0) return settings.samples;
  return std::min(settings.keep_samples, settings.samples);
}

}  // namespace carom
