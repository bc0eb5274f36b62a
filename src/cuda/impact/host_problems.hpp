#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <vector>

#include <carom/types/impact.hpp>

#include "cuda/impact/sample_launch.hpp"
#include "impact/mode_table.hpp"
#include "impact/prepare.hpp"

/// What the host does for the device's problems: a piece of the batch at a time, on all threads.
namespace carom::cuda {

/// Breadths of the tables that a run needs.
struct TableNeeds {
  bool narrow = false;
  bool wide = false;
  [[nodiscard]] bool any() const { return narrow || wide; }
};
TableNeeds table_needs(const ImpactBatch& batch, const ImpactSettings& settings);

/// Device bytes of one problem of the batch and its tables at most.
std::size_t bytes_per_problem(const ImpactBatch& batch, const ImpactSettings& settings);

/// Of each problem of a batch in host memory, of which nothing but friction and intervals is read.
std::vector<StoreKind> store_kinds(const ImpactBatch& batch, const ImpactSettings& settings);

/// Problems of [problems] that have a table: those that are valid and whose samples share their
/// friction.
std::vector<std::uint8_t> with_tables(const ImpactBatch& batch,
                                      const std::vector<std::uint8_t>& valid);

/// What tables are built from: a piece's arrays on the host, [problems, ..] each.
struct TableSource {
  int dimension;
  kernels::ImpactRun run;
  const std::vector<std::uint8_t>& with_tables;  ///< [problems]
  const double *delassus, *scale, *friction, *contact_velocity, *step_size;
};

/// A piece's tables as they lie on the device, one after the other.
struct PackedTables {
  std::vector<TableSlot> slots;  ///< [problems]; without entries where a problem has no table
  std::vector<double> numbers;
  std::vector<int> first;
  int reals = 0;  ///< length of the longest table's numbers ...
  int ints = 0;   ///< ... and first
};
PackedTables build_tables(const TableSource& source, TableBreadth breadth, int threads);

/// Tables of a piece by breadth; empty where the run needs none.
struct BreadthTables {
  PackedTables narrow, wide;
};
BreadthTables build_tables(const TableSource& source, const TableNeeds& needs, int threads);

/// Consecutive problems of a host batch, whose memory they borrow.
class HostProblems {
 public:
  HostProblems(const ImpactBatch& batch, const ImpactSettings& settings,
               const kernels::ImpactRun& run, std::int64_t begin, std::int64_t end);
  HostProblems(const HostProblems&) = delete;  // what is prepared points to the part
  HostProblems& operator=(const HostProblems&) = delete;

  [[nodiscard]] std::int64_t first() const { return first_; }
  [[nodiscard]] const ImpactBatch& batch() const { return part_; }
  [[nodiscard]] const PreparedImpacts& prepared() const { return prepared_; }
  [[nodiscard]] const BreadthTables& tables() const { return tables_; }
  [[nodiscard]] const std::vector<StoreKind>& stores() const { return stores_; }

 private:
  std::int64_t first_;
  ImpactBatch part_;
  PreparedImpacts prepared_;
  BreadthTables tables_;
  std::vector<StoreKind> stores_;
};

/// The pieces of a host batch in turn; the next one is prepared while the device works on the last.
class ProblemFeed {
 public:
  /// Batch and settings outlive the feed; `piece`: problems of one.
  ProblemFeed(const ImpactBatch& batch, const ImpactSettings& settings,
              const kernels::ImpactRun& run, std::int64_t piece);

  /// The problems from `begin` on, where the last piece ended; theirs until the next call.
  const HostProblems& next(std::int64_t begin);

 private:
  void prepare(std::int64_t begin);

  const ImpactBatch& batch_;
  const ImpactSettings& settings_;
  kernels::ImpactRun run_;
  std::int64_t piece_;
  std::unique_ptr<const HostProblems> current_;
  std::future<std::unique_ptr<const HostProblems>> ahead_;
};

}  // namespace carom::cuda
