#include "cuda/impact/host_problems.hpp"

#include <algorithm>

#include "core/arrays.hpp"
#include "core/parallel.hpp"
#include "impact/accumulate.hpp"
#include "impact/kernels/event_table.hpp"
#include "impact/kernels/planar_stores.hpp"

namespace carom::cuda {

namespace {

constexpr std::int64_t kGrain = 8;  // problems of a block, 0.03 to 10 ms each

void append(PackedTables& to, std::size_t p, int rows, int columns,
            const kernels::ModeTableView& table) {
  if (table.count == 0) return;
  TableSlot& slot = to.slots[p];
  slot = {table, static_cast<std::int64_t>(to.numbers.size()),
          static_cast<std::int64_t>(to.first.size())};
  slot.table.numbers = nullptr;
  slot.table.first = nullptr;
  const long size =
      kernels::ModeTableView::size(rows, columns, table.count, table.first[table.count]);
  to.numbers.insert(to.numbers.end(), table.numbers, table.numbers + size);
  to.first.insert(to.first.end(), table.first, table.first + table.count + 1);
  to.reals = std::max(to.reals, static_cast<int>(size));
  to.ints = std::max(to.ints, table.count + 1);
}

}  // namespace

TableNeeds table_needs(const ImpactBatch& batch, const ImpactSettings& settings) {
  TableNeeds needs;
  if (!wants_mode_table(batch.dimension, batch.contacts, settings)) return needs;
  const std::int64_t end = settings.first_sample + settings.samples;
  for (std::int64_t sample = settings.first_sample; sample < end;) {
    const TableStretch stretch = table_stretch(batch.dimension, batch.contacts, sample);
    (stretch.breadth == TableBreadth::wide ? needs.wide : needs.narrow) = true;
    sample = stretch.end;
  }
  return needs;
}

std::size_t bytes_per_problem(const ImpactBatch& batch, const ImpactSettings& settings) {
  const auto nv = static_cast<std::size_t>(batch.velocities);
  const auto m = static_cast<std::size_t>(batch.contacts);
  const auto rows = static_cast<std::size_t>(batch.contact_rows());
  std::size_t reals = nv * nv + 2 * nv * rows + rows * rows + 2 * m + nv + rows + 4;
  if (has_stores(batch)) reals += 3 * m;
  const TableNeeds needs = table_needs(batch, settings);
  const auto table = static_cast<std::size_t>(
      largest_mode_table(batch.dimension, batch.contacts, settings.friction_directions));
  reals += (needs.narrow ? table : 0) + (needs.wide ? table : 0);
  return reals * sizeof(double);
}

std::vector<StoreKind> store_kinds(const ImpactBatch& batch, const ImpactSettings& settings) {
  std::vector<StoreKind> kinds(static_cast<std::size_t>(batch.problems), StoreKind::none);
  if (!has_stores(batch)) return kinds;
  const std::vector<double> inelastic(static_cast<std::size_t>(batch.contacts), 0.0);
  const bool tabled = settings.method == ImpactMethod::events && batch.dimension == 2 &&
                      batch.contacts <= kernels::kMaxEventContacts;
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    const auto view = restitution_of(batch, p, settings, inelastic.data());
    if (!view) continue;
    kinds[static_cast<std::size_t>(p)] = tabled && kernels::has_planar_stores(*view, batch.contacts)
                                             ? StoreKind::planar
                                             : StoreKind::any;
  }
  return kinds;
}

std::vector<std::uint8_t> with_tables(const ImpactBatch& batch,
                                      const std::vector<std::uint8_t>& valid) {
  std::vector<std::uint8_t> with = valid;
  if (batch.friction_high.empty()) return with;
  const std::int64_t m = batch.contacts;
  for (std::int64_t k = 0; k < batch.problems * m; ++k) {
    if (batch.friction_high.data()[k] > batch.friction.data()[k]) {
      with[static_cast<std::size_t>(k / m)] = 0;
    }
  }
  return with;
}

PackedTables build_tables(const TableSource& source, TableBreadth breadth, int threads) {
  const auto problems = static_cast<std::int64_t>(source.with_tables.size());
  const int m = source.run.contacts;
  const int rows = source.dimension * m;
  // Blocks of problems on their threads, then one after the other.
  std::vector<PackedTables> blocks(static_cast<std::size_t>((problems + kGrain - 1) / kGrain));
  parallel_for_each(static_cast<std::int64_t>(blocks.size()), threads, [&](std::int64_t b) {
    const std::int64_t begin = b * kGrain, end = std::min(problems, begin + kGrain);
    PackedTables& block = blocks[static_cast<std::size_t>(b)];
    block.slots.resize(static_cast<std::size_t>(end - begin));
    ModeTableBuilder builder(host_pilot_code());
    ModeTable table;
    for (std::int64_t p = begin; p < end; ++p) {
      if (source.with_tables[static_cast<std::size_t>(p)] == 0) continue;
      kernels::ImpactProblemView view{};
      view.delassus = source.delassus + p * rows * rows;
      view.scale = source.scale + p * m;
      view.friction = source.friction + p * m;
      view.contact_velocity = source.contact_velocity + p * rows;
      view.step_size = source.step_size[p];
      builder.build(source.dimension, view, source.run, table, breadth);
      append(block, static_cast<std::size_t>(p - begin), rows, rows + m, table.view());
    }
  });
  PackedTables all;
  std::size_t numbers = 0, first = 0;
  for (const PackedTables& block : blocks) {
    numbers += block.numbers.size();
    first += block.first.size();
  }
  all.slots.reserve(static_cast<std::size_t>(problems));
  all.numbers.reserve(numbers);
  all.first.reserve(first);
  for (PackedTables& block : blocks) {
    for (TableSlot& slot : block.slots) {
      slot.numbers += static_cast<std::int64_t>(all.numbers.size());
      slot.first += static_cast<std::int64_t>(all.first.size());
      all.slots.push_back(slot);
    }
    all.numbers.insert(all.numbers.end(), block.numbers.begin(), block.numbers.end());
    all.first.insert(all.first.end(), block.first.begin(), block.first.end());
    all.reals = std::max(all.reals, block.reals);
    all.ints = std::max(all.ints, block.ints);
    block = PackedTables{};  // its memory
  }
  return all;
}

BreadthTables build_tables(const TableSource& source, const TableNeeds& needs, int threads) {
  BreadthTables tables;
  if (needs.narrow) tables.narrow = build_tables(source, TableBreadth::narrow, threads);
  if (needs.wide) tables.wide = build_tables(source, TableBreadth::wide, threads);
  return tables;
}

HostProblems::HostProblems(const ImpactBatch& batch, const ImpactSettings& settings,
                           const kernels::ImpactRun& run, std::int64_t begin, std::int64_t end)
    : first_(begin),
      part_(arrays::slice(batch, begin, end)),
      prepared_(part_, part_of(settings, begin, end)),
      stores_(store_kinds(part_, settings)) {
  const TableNeeds needs = table_needs(batch, settings);
  const kernels::ImpactProblemView arrays = prepared_.view(0);
  const std::vector<std::uint8_t> with = with_tables(part_, prepared_.valid());
  tables_ = build_tables({batch.dimension, run, with, arrays.delassus, arrays.scale,
                          arrays.friction, arrays.contact_velocity, prepared_.step_size().data()},
                         needs, settings.threads);
}

ProblemFeed::ProblemFeed(const ImpactBatch& batch, const ImpactSettings& settings,
                         const kernels::ImpactRun& run, std::int64_t piece)
    : batch_(batch), settings_(settings), run_(run), piece_(piece) {}

void ProblemFeed::prepare(std::int64_t begin) {
  const std::int64_t end = std::min(batch_.problems, begin + piece_);
  ahead_ = std::async(std::launch::async, [this, begin, end] {
    return std::unique_ptr<const HostProblems>(
        std::make_unique<HostProblems>(batch_, settings_, run_, begin, end));
  });
}

const HostProblems& ProblemFeed::next(std::int64_t begin) {
  if (!ahead_.valid()) prepare(begin);
  current_ = ahead_.get();
  const std::int64_t end = begin + current_->batch().problems;
  if (end < batch_.problems) prepare(end);
  return *current_;
}

}  // namespace carom::cuda
