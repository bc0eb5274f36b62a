#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <carom/types/batch.hpp>

#include "impact/kernels/impact.hpp"
#include "impact/kernels/mode_table.hpp"
#include "impact/mode_entry.hpp"

namespace carom {

struct PilotJob;
struct EntryJob;
struct EnumerationJob;
struct OrderJob;

/// The loops that set up a table, compiled for one instruction set (mode_pilots.hpp).
struct PilotCode {
  void (*follow_pilots)(const PilotJob&);
  void (*build_entries)(const EntryJob&);
  void (*enumerate_pilots)(const EnumerationJob&);
  void (*order_conditions)(const OrderJob&);
  int padding;  ///< most doubles that it pads the rows of a tableau to
};

/// For this machine. Set by cpu::provide_host_code, because src/cpu has the instruction sets.
inline PilotCode (*host_pilot_code)() = nullptr;

/// A table's numbers; may be built anew for another problem.
class ModeTable {
 public:
  [[nodiscard]] kernels::ModeTableView view() const {
    return {static_cast<int>(first_.size()) - 1, mixed_, beside_, first_.data(), numbers_.data()};
  }

 private:
  friend class ModeTableBuilder;
  bool mixed_ = false;
  double beside_ = 0.0;
  std::vector<int> first_;
  std::vector<double> numbers_;
};

/// How many pilots a table has followed. More of them find more of the modes, and cost as much as
/// some thousands of trajectories gain by it.
enum class TableBreadth { narrow, wide };

/// Samples from this index on have the wide table: only the index decides, so that shards of a run
/// agree with the whole.
inline constexpr std::int64_t kWideFrom = 8192;

/// Samples with one table: [sample, end).
struct TableStretch {
  TableBreadth breadth = TableBreadth::narrow;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
};
/// That of a sample. Tables of all combinations know one breadth.
TableStretch table_stretch(int dimension, int contacts, std::int64_t sample);

/// Tables of the step's solutions, one problem after the other, from pilot trajectories with
/// numbers of their own: a function of the problem, of only step_size and breadth. Up
/// to three planar contacts: every regular combination of modes, as far as the table has room; more
/// contacts, or spatial ones: those that the contact path ended in. Most frequent first. Keeps its
/// memory.
class ModeTableBuilder {
 public:
  explicit ModeTableBuilder(const PilotCode& code) : code_(code) {}

  void build(int dimension, const kernels::ImpactProblemView& problem,
             const kernels::ImpactRun& run, ModeTable& table,
             TableBreadth breadth = TableBreadth::narrow);

 private:
  [[nodiscard]] ModeCodes canonical(const ModeCodes& codes) const;
  void enumerate();
  void make_entries();
  void run_enumerated_pilots();
  void cover();
  void follow(int pilots);
  void arrange_steps(int words);
  void order();
  void write(ModeTable& table) const;
  [[nodiscard]] int several(const std::vector<std::uint64_t>& steps) const;
  void next(int entry, const double* z, double* after) const;

  PilotCode code_;
  // Of the problem at hand.
  const kernels::ImpactProblemView* problem_ = nullptr;
  const kernels::ImpactRun* run_ = nullptr;
  int dimension_ = 0, m_ = 0, rows_ = 0, columns_ = 0, most_ = 0, words_ = 0;
  bool mixed_ = false;
  double beside_ = 0.0;
  std::vector<ModeCodes> codes_;  // of the entries
  std::vector<double> maps_, conditions_;
  std::vector<int> counts_;                // conditions of an entry, 0: none
  int count_ = 0;                          // steps
  int steps_of_order_ = 0;                 // those that conditions are ordered by
  std::vector<double> steps_;              // [count_, columns]
  std::vector<double> arranged_, lowest_;  // as OrderJob has them
  std::vector<std::uint64_t> leading_;
  std::vector<long> uses_;
  int outcomes_ = 0;
  std::vector<int> chosen_;            // entries of the table
  std::size_t used_ = 0;               // of these, the first, that pilots met
  std::vector<std::uint64_t> solved_;  // [chosen, words]
  std::vector<int> places_;            // order of the conditions of each, one after the other
  // Of pilots along the path.
  Buffer<double> reals_;
  std::vector<int> ints_;
  std::vector<std::uint8_t> path_codes_;
  std::vector<ModeCodes> ended_;
  std::vector<std::pair<long, std::size_t>> ranked_;  // minus uses, place in ended_
  std::vector<long> open_;
  std::vector<std::uint64_t> once_, twice_;
};

/// Numbers of a table at most.
long largest_mode_table(int dimension, int contacts, int directions);

/// Whether problems of this shape get a table under these settings.
bool wants_mode_table(int dimension, int contacts, const ImpactSettings& settings);

}  // namespace carom
