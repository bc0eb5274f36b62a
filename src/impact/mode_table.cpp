#include "impact/mode_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "impact/friction_polygon.hpp"
#include "impact/kernels/complete_table.hpp"
#include "impact/kernels/table_lane.hpp"
#include "impact/mode_pilots.hpp"

namespace carom {

namespace {

constexpr std::size_t kLargestFollowed = 256;
constexpr std::size_t kLargestRanked = 1024;  // of which some are singular
constexpr int kFollowedSteps = 8;             // a pilot along the path, on average at most
// Solutions that are missing in the table are found by the path, which has its own preference.
constexpr double kBeside = 0.25;
constexpr double kBesideOfSeveral = 4.0;  // and no more often than this times such steps occur
constexpr int kWord = OrderJob::kWord;
constexpr int kFollowedPilots = 36;
constexpr int kFollowedPilotsOfSeveral = 192;
constexpr int kFollowedPilotsOfWide = 512;
constexpr int kOrderingWordsOfWide = OrderJob::kWords;

/// Every combination is tried.
bool complete(int dimension, int contacts) {
  return dimension == 2 && contacts <= kEnumeratedContacts;
}

}  // namespace

ModeCodes ModeTableBuilder::canonical(const ModeCodes& codes) const {
  return canonical_modes(codes, *problem_, m_, mode_places(dimension_, run_->polygon));
}

void ModeTableBuilder::enumerate() {
  const int places = mode_places(dimension_, run_->polygon);
  codes_.resize(static_cast<std::size_t>(mode_combinations(m_, places)));
  codes_.resize(
      static_cast<std::size_t>(enumerate_modes(TableLane{}, *problem_, m_, places, codes_.data())));
}

void ModeTableBuilder::make_entries() {
  const std::size_t count = codes_.size();
  maps_.resize(count * static_cast<std::size_t>(rows_ * columns_));
  conditions_.resize(count * static_cast<std::size_t>(most_ * columns_));
  counts_.resize(count);
  code_.build_entries({dimension_, problem_, run_, static_cast<int>(count), codes_.data(), most_,
                       maps_.data(), conditions_.data(), counts_.data()});
}

void ModeTableBuilder::run_enumerated_pilots() {
  leading_.resize(std::size_t{kMostOutcomes} * static_cast<std::size_t>(outcome_words(m_)));
  uses_.resize(kMostOutcomes);
  const int capacity = kOrderingWords * kWord;
  steps_.resize(static_cast<std::size_t>(capacity) * static_cast<std::size_t>(columns_));
  int outcomes = 0;
  EnumerationJob job{problem_,
                     run_,
                     0,
                     kEnumeratedPilots,
                     static_cast<int>(codes_.size()),
                     most_,
                     maps_.data(),
                     conditions_.data(),
                     counts_.data(),
                     capacity,
                     steps_.data(),
                     &count_,
                     leading_.data(),
                     uses_.data(),
                     &outcomes,
                     &mixed_};
  code_.enumerate_pilots(job);
  if (mixed_) {
    job.first_pilot = kEnumeratedPilots;
    job.pilots = kEnumeratedPilotsOfSeveral;
    code_.enumerate_pilots(job);
  }
  outcomes_ = outcomes;
}

void ModeTableBuilder::cover() {
  open_.resize(codes_.size());
  chosen_.resize(kLargestEnumerated);
  const ChosenEntries found = cover_outcomes(
      TableLane{}, static_cast<int>(codes_.size()), counts_.data(), outcomes_, outcome_words(m_),
      leading_.data(), uses_.data(), mixed_, open_.data(), chosen_.data());
  chosen_.resize(static_cast<std::size_t>(found.count));
  used_ = static_cast<std::size_t>(found.used);
}

/// Modes in which the contact path ends, most frequent first.
void ModeTableBuilder::follow(int pilots) {
  codes_.clear();
  chosen_.clear();
  const auto m = static_cast<std::size_t>(m_);
  const auto capacity = static_cast<std::size_t>(kFollowedSteps) * static_cast<std::size_t>(pilots);
  const auto reals = static_cast<std::size_t>(
      kernels::path_real_workspace(dimension_, m_, code_.padding) + 3 * rows_ + m_);
  if (reals_.size() < reals)
    reals_ = Buffer<double>(reals);  // on a cache line, as padded rows want
  ints_.resize(
      static_cast<std::size_t>(kernels::path_int_workspace(dimension_, m_, code_.padding)));
  steps_.resize(capacity * static_cast<std::size_t>(columns_));
  path_codes_.resize(capacity * m);
  code_.follow_pilots({dimension_, problem_, run_, pilots, static_cast<int>(capacity),
                       steps_.data(), path_codes_.data(), &count_, reals_.data(), ints_.data()});
  ended_.clear();
  for (std::size_t s = 0; s < static_cast<std::size_t>(count_); ++s) {
    ModeCodes ended{};
    std::copy_n(path_codes_.begin() + static_cast<std::ptrdiff_t>(s * m), m_, ended.begin());
    ended_.push_back(canonical(ended));
  }
  std::sort(ended_.begin(), ended_.end());
  ranked_.clear();
  for (std::size_t s = 0; s < ended_.size(); ++s) {
    if (s == 0 || ended_[s] != ended_[s - 1]) ranked_.push_back({0, s});
    --ranked_.back().first;
  }
  std::sort(ranked_.begin(), ranked_.end());
  for (const auto& [uses, at] : ranked_) {
    if (codes_.size() == kLargestRanked) break;
    codes_.push_back(ended_[at]);
  }
  make_entries();
  for (std::size_t e = 0; e < codes_.size() && chosen_.size() < kLargestFollowed; ++e) {
    if (counts_[e] > 0) chosen_.push_back(static_cast<int>(e));
  }
  used_ = chosen_.size();
}

/// Steps of all pilots, not only the first pilots', as OrderJob reads them.
void ModeTableBuilder::arrange_steps(int words) {
  const int most = kWord * words;
  const int kept = std::min(count_, most);
  steps_of_order_ = kept;
  words_ = (kept + kWord - 1) / kWord;
  const auto stride = static_cast<std::size_t>(words_) * kWord;
  arranged_.resize(stride * static_cast<std::size_t>(columns_));
  lowest_.resize(stride);
  arrange_pilot_steps(TableLane{}, columns_, count_, kept, static_cast<int>(stride), steps_.data(),
                      arranged_.data(), lowest_.data());
}

/// u' = u + A map z.
void ModeTableBuilder::next(int entry, const double* z, double* after) const {
  const auto scale = [&](int row) {
    return problem_->scale[row < m_ ? row : (row - m_) / (dimension_ - 1)];
  };
  const double* map = maps_.data() + static_cast<long>(entry) * rows_ * columns_;
  std::array<double, 3 * kMaxTabledContacts> impulse{};
  for (int i = 0; i < rows_; ++i) {
    impulse[static_cast<std::size_t>(i)] =
        kernels::mode_row(map + i * columns_, columns_, z) / scale(i);
  }
  for (int i = 0; i < rows_; ++i) {
    double sum = 0.0;
    for (int j = 0; j < rows_; ++j) {
      sum += problem_->delassus[i * rows_ + j] * impulse[static_cast<std::size_t>(j)];
    }
    after[i] = z[i] + sum / scale(i);
  }
}

/// How many of these steps have several v'.
int ModeTableBuilder::several(const std::vector<std::uint64_t>& steps) const {
  std::array<double, kMaxTabledContacts * 4> z{};
  std::array<double, kMaxTabledContacts * 3> first{}, other{};
  const auto words = static_cast<std::size_t>(words_);
  const std::size_t stride = words * kWord;
  int count = 0;
  for (std::size_t s = 0; s < stride; ++s) {
    if ((steps[s / kWord] >> (s % kWord) & 1U) == 0U) continue;
    for (int j = 0; j < columns_; ++j) {
      z[static_cast<std::size_t>(j)] = arranged_[static_cast<std::size_t>(j) * stride + s];
    }
    const double bound = kDistinctOutcomes * largest_of(z.data(), columns_);
    bool some = false;
    bool apart = false;
    for (std::size_t e = 0; e < chosen_.size() && !apart; ++e) {
      if ((solved_[e * words + s / kWord] >> (s % kWord) & 1U) == 0U) continue;
      next(chosen_[e], z.data(), some ? other.data() : first.data());
      for (int i = 0; some && i < rows_; ++i) {
        const auto at = static_cast<std::size_t>(i);
        apart = apart || std::abs(first[at] - other[at]) > bound;
      }
      some = true;
    }
    count += apart ? 1 : 0;
  }
  return count;
}

/// Orders the conditions of the entries and finds steps with several v'.
void ModeTableBuilder::order() {
  const auto words = static_cast<std::size_t>(words_);
  solved_.resize(chosen_.size() * words);
  places_.resize(chosen_.size() * static_cast<std::size_t>(most_));
  std::vector<std::uint64_t>& once = once_;
  std::vector<std::uint64_t>& twice = twice_;
  once.assign(words, 0);
  twice.assign(words, 0);
  for (std::size_t e = 0; e < chosen_.size(); ++e) {
    const auto entry = static_cast<std::size_t>(chosen_[e]);
    const double* rows = conditions_.data() + entry * static_cast<std::size_t>(most_ * columns_);
    if (e >= used_) {  // no pilot came by
      int* const places = places_.data() + e * static_cast<std::size_t>(most_);
      for (int c = 0; c < counts_[entry]; ++c) places[c] = c;
      continue;
    }
    code_.order_conditions({columns_, counts_[entry], rows, words_, arranged_.data(),
                            lowest_.data(), places_.data() + e * static_cast<std::size_t>(most_),
                            solved_.data() + e * words});
    for (std::size_t w = 0; w < words; ++w) {
      twice[w] |= once[w] & solved_[e * words + w];
      once[w] |= solved_[e * words + w];
    }
  }
  if (!complete(dimension_, m_)) {
    const int found = several(twice);
    mixed_ = found > 0;
    beside_ = std::min(kBeside, kBesideOfSeveral * found / std::max(1, steps_of_order_));
  }
}

void ModeTableBuilder::write(ModeTable& table) const {
  const TableParts parts{problem_,       rows_,          columns_,
                         most_,          maps_.data(),   conditions_.data(),
                         counts_.data(), chosen_.data(), static_cast<int>(chosen_.size()),
                         places_.data()};
  table.first_.resize(chosen_.size() + 1);
  write_first(TableLane{}, parts, table.first_.data());
  table.numbers_.resize(static_cast<std::size_t>(
      kernels::ModeTableView::size(rows_, columns_, parts.entries, table.first_.back())));
  write_numbers(TableLane{}, parts, table.first_.data(), table.numbers_.data());
  table.mixed_ = mixed_;
  table.beside_ = beside_;
}

void ModeTableBuilder::build(int dimension, const kernels::ImpactProblemView& problem,
                             const kernels::ImpactRun& run, ModeTable& table,
                             TableBreadth breadth) {
  problem_ = &problem;
  run_ = &run;
  dimension_ = dimension;
  m_ = run.contacts;
  rows_ = dimension * m_;
  columns_ = rows_ + m_;
  most_ = most_conditions(dimension, m_, run.polygon);
  mixed_ = false;
  beside_ = 0.0;
  count_ = 0;
  codes_.clear();
  chosen_.clear();
  used_ = 0;
  if (complete(dimension, m_)) {
    enumerate();
    make_entries();
    run_enumerated_pilots();
    cover();
    arrange_steps(kOrderingWords);
    order();
  } else if (breadth == TableBreadth::wide) {
    follow(kFollowedPilotsOfWide);
    arrange_steps(kOrderingWordsOfWide);
    order();
  } else {
    for (const int pilots : {kFollowedPilots, kFollowedPilotsOfSeveral}) {
      follow(pilots);
      arrange_steps(pilots == kFollowedPilots ? 1 : kOrderingWords);
      order();
      if (!mixed_) break;
    }
  }
  write(table);
}

TableStretch table_stretch(int dimension, int contacts, std::int64_t sample) {
  if (complete(dimension, contacts)) return {};
  if (sample < kWideFrom) return {.end = kWideFrom};
  return {.breadth = TableBreadth::wide};
}

long largest_mode_table(int dimension, int contacts, int directions) {
  const int rows = dimension * contacts;
  const int columns = rows + contacts;
  const auto entries =
      static_cast<long>(complete(dimension, contacts) ? kLargestEnumerated : kLargestFollowed);
  const int others =
      std::max(0, most_conditions(dimension, contacts, friction_polygon(dimension, directions)) -
                      kernels::mode_screens(columns));
  return kernels::ModeTableView::size(
      rows, columns, entries, entries * kernels::padded(others, kernels::mode_group(columns)));
}

bool wants_mode_table(int dimension, int contacts, const ImpactSettings& settings) {
  static_assert(std::max(kernels::kMaxPlanarTableContacts, kernels::kMaxSpatialTableContacts) ==
                kMaxTabledContacts);
  return settings.method == ImpactMethod::lcp && settings.mode_table &&
         settings.selection == Selection::any && contacts >= 1 &&
         contacts <= (dimension == 2 ? kernels::kMaxPlanarTableContacts
                                     : kernels::kMaxSpatialTableContacts);
}

}  // namespace carom
