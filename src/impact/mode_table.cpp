#include "impact/mode_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include "impact/mode_entry.hpp"
#include "impact/mode_pilots.hpp"

namespace carom {

namespace {

constexpr double kDistinct = 1e-7;  // two v' differ by more, relative to max|z|
constexpr int kEnumerated = 3;      // planar contacts whose combinations are all tried
constexpr std::size_t kLargestEnumerated = 64;
constexpr std::size_t kLargestFollowed = 256;
constexpr int kPilots = 256;          // that choose among all combinations
constexpr int kFollowedPilots = 512;  // along the contact path
constexpr int kFollowedSteps = 4096;
// Solutions that are missing in the table are found by the path, which has its own preference.
constexpr double kBeside = 0.25;
constexpr int kOrderingWords = 4;  // of 64 steps that conditions are ordered by

using Step = std::vector<double>;  // z = [u; lambda_max]
using Bits = std::array<std::uint64_t, kOrderingWords>;

/// One problem's pilots and what they teach.
class Learner {
 public:
  Learner(int dimension, const kernels::ImpactProblemView& problem, const kernels::ImpactRun& run,
          const PilotCode& code)
      : dimension_(dimension),
        m_(run.contacts),
        rows_(dimension * m_),
        columns_(rows_ + m_),
        problem_(problem),
        run_(run),
        code_(code) {}

  void learn() {
    if (complete()) {
      enumerate();
      run_enumerated_pilots();
      cover(kLargestEnumerated);
    } else {
      follow();
    }
    order_conditions();
  }

  [[nodiscard]] const std::vector<ModeEntry>& entries() const { return entries_; }
  [[nodiscard]] bool mixed() const { return mixed_; }
  /// Every combination was tried.
  [[nodiscard]] bool complete() const { return dimension_ == 2 && m_ <= kEnumerated; }

 private:
  /// Every regular combination.
  void enumerate() {
    const int options = 1 + 2 * mode_places(dimension_, run_.polygon);
    long combinations = 1;
    for (int i = 0; i < m_; ++i) combinations *= options;
    ModeCodes codes{};
    for (long number = 0; number < combinations; ++number) {
      long rest = number;
      for (auto& code : codes) {
        code = static_cast<std::uint8_t>(rest % options);
        rest /= options;
      }
      if (canonical(codes) == codes) append(codes);
    }
  }

  void append(const ModeCodes& codes) {
    auto entry = mode_entry(dimension_, problem_, run_, codes);
    if (entry) entries_.push_back(std::move(*entry));
  }

  /// Contacts without friction know one place.
  [[nodiscard]] ModeCodes canonical(ModeCodes codes) const {
    const int places = mode_places(dimension_, run_.polygon);
    for (int i = 0; i < m_; ++i) {
      auto& code = codes[static_cast<std::size_t>(i)];
      if (code > 0 && !(problem_.friction[i] > 0.0)) {
        code = static_cast<std::uint8_t>(code > places ? 1 + places : 1);
      }
    }
    return codes;
  }

  [[nodiscard]] double scale(int row) const {
    return problem_.scale[row < m_ ? row : (row - m_) / (dimension_ - 1)];
  }

  [[nodiscard]] static double magnitude_of(const Step& z) {
    double size = 0.0;
    for (const double x : z) size = std::max(size, std::abs(x));
    return size;
  }

  /// u' = u + A map z.
  [[nodiscard]] Step next(const ModeEntry& entry, const Step& z) const {
    Step impulse(static_cast<std::size_t>(rows_));
    for (int i = 0; i < rows_; ++i) {
      impulse[static_cast<std::size_t>(i)] =
          kernels::mode_row(entry.map.data() + i * columns_, columns_, z.data()) / scale(i);
    }
    Step after(z.begin(), z.begin() + rows_);
    for (int i = 0; i < rows_; ++i) {
      double sum = 0.0;
      for (int j = 0; j < rows_; ++j) {
        sum += problem_.delassus[i * rows_ + j] * impulse[static_cast<std::size_t>(j)];
      }
      after[static_cast<std::size_t>(i)] += sum / scale(i);
    }
    return after;
  }

  /// Steps as test_conditions reads them, and which conditions of an entry each of them fails.
  class Trial {
   public:
    Trial(int columns, const std::vector<Step>& steps, const PilotCode& code)
        : columns_(columns),
          code_(code),
          words_((static_cast<int>(steps.size()) + ConditionJob::kWord - 1) / ConditionJob::kWord),
          steps_(static_cast<std::size_t>(columns * words_ * ConditionJob::kWord), 0.0),
          lowest_(static_cast<std::size_t>(words_ * ConditionJob::kWord), 1.0) {
      for (std::size_t s = 0; s < steps.size(); ++s) {
        for (int j = 0; j < columns; ++j) {
          steps_[static_cast<std::size_t>(j) * lowest_.size() + s] =
              steps[s][static_cast<std::size_t>(j)];
        }
        lowest_[s] = -kernels::kModeTolerance * magnitude_of(steps[s]);
      }
    }

    [[nodiscard]] int words() const { return words_; }

    /// Bit s of word s / 64 of condition c: step s fails it. What fills the last word fails all.
    const std::vector<std::uint64_t>& operator()(const ModeEntry& entry) {
      const int conditions = static_cast<int>(entry.conditions.size()) / columns_;
      failed_.resize(static_cast<std::size_t>(conditions * words_));
      code_.test_conditions({columns_, conditions, entry.conditions.data(), words_, steps_.data(),
                             lowest_.data(), failed_.data()});
      return failed_;
    }

   private:
    int columns_;
    const PilotCode& code_;
    int words_;
    std::vector<double> steps_, lowest_;
    std::vector<std::uint64_t> failed_;
  };

  /// Entries that solve each step.
  [[nodiscard]] std::vector<std::vector<std::size_t>> solvers(
      const std::vector<Step>& steps) const {
    std::vector<std::vector<std::size_t>> found(steps.size());
    Trial trial(columns_, steps, code_);
    const auto words = static_cast<std::size_t>(trial.words());
    for (std::size_t e = 0; e < entries_.size(); ++e) {
      const auto& failed = trial(entries_[e]);
      for (std::size_t word = 0; word < words; ++word) {
        std::uint64_t any = 0;
        for (std::size_t at = word; at < failed.size(); at += words) any |= failed[at];
        for (std::uint64_t solved = ~any; solved != 0; solved &= solved - 1) {
          found[word * 64 + static_cast<std::size_t>(std::countr_zero(solved))].push_back(e);
        }
      }
    }
    return found;
  }

  using Outcomes = std::vector<std::vector<std::size_t>>;

  /// Entries whose v' agree stand together; `after`: u' of each group.
  [[nodiscard]] Outcomes outcomes(const Step& z, const std::vector<std::size_t>& solving,
                                  std::vector<Step>& after) const {
    const double bound = kDistinct * magnitude_of(z);
    Outcomes groups;
    after.clear();
    for (const std::size_t e : solving) {
      const Step there = next(entries_[e], z);
      const auto differs = [&](const Step& other) {
        for (std::size_t i = 0; i < other.size(); ++i) {
          if (std::abs(there[i] - other[i]) > bound) return true;
        }
        return false;
      };
      std::size_t group = 0;
      while (group < groups.size() && differs(after[group])) ++group;
      if (group == groups.size()) {
        groups.emplace_back();
        after.push_back(there);
      }
      groups[group].push_back(e);
    }
    return groups;
  }

  /// All pilots take their k-th step together. They see the steps behind every outcome.
  void run_enumerated_pilots() {
    std::vector<Step> here;
    std::vector<int> pilot;
    Step start(static_cast<std::size_t>(columns_));
    std::copy_n(problem_.contact_velocity, rows_, start.begin());
    if (!pilot_collides(run_, start.data())) return;
    for (int p = 0; p < kPilots; ++p) {
      here.push_back(start);
      pilot.push_back(p);
    }
    std::vector<Step> after;
    for (int step = 0; step < run_.max_steps && !here.empty(); ++step) {
      for (std::size_t p = 0; p < here.size(); ++p) {
        draw_pilot(run_, pilot[p], step, here[p].data() + rows_);
      }
      const auto solving = solvers(here);
      std::size_t left = 0;
      for (std::size_t p = 0; p < here.size(); ++p) {
        if (steps_.size() < kOrderingWords * 64) steps_.push_back(here[p]);
        Outcomes found = outcomes(here[p], solving[p], after);
        if (found.empty()) continue;
        mixed_ = mixed_ || found.size() > 1;
        const double choice = uniform(kPilotSeed, 1, static_cast<std::uint64_t>(pilot[p]),
                                      static_cast<std::uint32_t>(step));
        const Step& chosen =
            after[static_cast<std::size_t>(choice * static_cast<double>(found.size()))];
        const bool goes_on = pilot_collides(run_, chosen.data());
        for (auto& group : found) wanted_.push_back(std::move(group));
        if (!goes_on) continue;
        pilot[left] = pilot[p];
        std::copy(chosen.begin(), chosen.end(), here[left++].begin());
      }
      here.resize(left);
      pilot.resize(left);
    }
  }

  /// Greedy cover: each place goes to the entry that gives most of the pilots' outcomes still open.
  /// Where modes overlap (the impulse of a step need not be unique) this leaves few to try.
  void cover(std::size_t places) {
    std::vector<ModeEntry> sorted;
    std::vector<bool> taken(entries_.size(), false);
    std::vector<long> uses(entries_.size(), 0);
    for (const auto& outcome : wanted_) {
      for (const std::size_t e : outcome) ++uses[e];
    }
    std::vector<bool> covered(wanted_.size(), false);
    while (sorted.size() < std::min(places, taken.size())) {
      std::size_t best = taken.size();
      for (std::size_t e = 0; e < taken.size(); ++e) {
        if (!taken[e] && (best == taken.size() || uses[e] > uses[best])) best = e;
      }
      if (mixed_ && uses[best] == 0) break;  // a second entry of one outcome would weigh double
      taken[best] = true;
      for (std::size_t w = 0; uses[best] > 0 && w < wanted_.size(); ++w) {
        const auto& outcome = wanted_[w];
        if (covered[w] || std::find(outcome.begin(), outcome.end(), best) == outcome.end()) {
          continue;
        }
        covered[w] = true;
        for (const std::size_t e : outcome) --uses[e];
      }
      sorted.push_back(std::move(entries_[best]));
    }
    entries_ = std::move(sorted);
  }

  /// Modes in which the contact path ends, most frequent first.
  void follow() {
    const auto columns = static_cast<std::size_t>(columns_);
    const auto m = static_cast<std::size_t>(m_);
    Buffer<double> reals(static_cast<std::size_t>(
        kernels::path_real_workspace(dimension_, m_, code_.padding) + 3 * rows_ + m_));
    std::vector<int> ints(static_cast<std::size_t>(kernels::path_int_workspace(dimension_, m_)));
    std::vector<double> steps(kFollowedSteps * columns);
    std::vector<std::uint8_t> codes(kFollowedSteps * m);
    int count = 0;
    code_.follow_pilots({dimension_, &problem_, &run_, kFollowedPilots, kFollowedSteps,
                         steps.data(), codes.data(), &count, reals.data(), ints.data()});
    std::map<ModeCodes, long> uses;
    for (std::size_t s = 0; s < static_cast<std::size_t>(count); ++s) {
      const auto begin = codes.begin() + static_cast<std::ptrdiff_t>(s * m);
      ModeCodes ended{};
      std::copy_n(begin, m_, ended.begin());
      ++uses[canonical(ended)];
      // Steps of all pilots, not the first pilots' alone.
      if (steps_.size() < kOrderingWords * 64) {
        const auto z = steps.begin() + static_cast<std::ptrdiff_t>(s * columns);
        steps_.emplace_back(z, z + columns_);
      }
    }
    std::vector<std::pair<long, const ModeCodes*>> order;
    for (const auto& [modes, used] : uses) order.emplace_back(-used, &modes);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [used, modes] : order) {
      if (entries_.size() == kLargestFollowed) break;
      append(*modes);
    }
    const auto solving = solvers(steps_);
    std::vector<Step> after;
    for (std::size_t s = 0; s < steps_.size() && !mixed_; ++s) {
      mixed_ = solving[s].size() > 1 && outcomes(steps_[s], solving[s], after).size() > 1;
    }
  }

  /// The condition that most pilot steps fail stands first, then the one that most of the rest
  /// fail.
  void order_conditions() {
    Trial trial(columns_, steps_, code_);
    const auto words = static_cast<std::size_t>(trial.words());
    for (ModeEntry& entry : entries_) {
      const auto& failed = trial(entry);
      const std::size_t count = entry.conditions.size() / static_cast<std::size_t>(columns_);
      std::vector<double> sorted;
      std::vector<bool> taken(count, false);
      Bits open;
      open.fill(~std::uint64_t{0});
      for (std::size_t place = 0; place < count; ++place) {
        std::size_t best = count;
        int most = -1;
        for (std::size_t c = 0; c < count; ++c) {
          if (taken[c]) continue;
          int fails = 0;
          for (std::size_t w = 0; w < words; ++w) {
            fails += std::popcount(failed[c * words + w] & open[w]);
          }
          if (fails > most) {
            most = fails;
            best = c;
          }
        }
        taken[best] = true;
        for (std::size_t w = 0; w < words; ++w) open[w] &= ~failed[best * words + w];
        const auto begin = entry.conditions.begin() + static_cast<std::ptrdiff_t>(best) * columns_;
        sorted.insert(sorted.end(), begin, begin + columns_);
      }
      entry.conditions = std::move(sorted);
    }
  }

  int dimension_;
  int m_;
  int rows_;
  int columns_;
  const kernels::ImpactProblemView& problem_;
  const kernels::ImpactRun& run_;
  const PilotCode& code_;
  std::vector<ModeEntry> entries_;
  std::vector<Step> steps_;  // that conditions are ordered by
  Outcomes wanted_;          // of all pilot steps
  bool mixed_ = false;
};

}  // namespace

bool wants_mode_table(int dimension, int contacts, const ImpactSettings& settings) {
  return settings.mode_table && settings.selection == Selection::any && contacts >= 1 &&
         contacts <= (dimension == 2 ? kernels::kMaxPlanarTableContacts
                                     : kernels::kMaxSpatialTableContacts) &&
         settings.precision == Precision::float64;
}

ModeTable::ModeTable(int dimension, const kernels::ImpactProblemView& problem,
                     const kernels::ImpactRun& run, const PilotCode& code) {
  Learner learner(dimension, problem, run, code);
  learner.learn();
  mixed_ = learner.mixed();
  beside_ = learner.complete() ? 0.0 : kBeside;
  const auto& entries = learner.entries();
  const int rows = dimension * run.contacts;
  const int columns = rows + run.contacts;
  double largest = run.step_size;
  for (int i = 0; i < rows; ++i) largest = std::max(largest, std::abs(problem.contact_velocity[i]));
  // Irregular weights: a change in the last bits of any component changes the fraction of the sum.
  for (int j = 0; j < columns; ++j) {
    numbers_.push_back((67108859.0 + 1234567.891 * (j + 1) * std::sqrt(2.0 + j)) / largest);
  }
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const double golden = 0.6180339887498949 * static_cast<double>(e + 1);
    numbers_.push_back(524287.0 + 524287.0 * (golden - std::floor(golden)));
  }
  const auto screened = static_cast<std::size_t>(kernels::mode_screens(columns) * columns);
  for (const ModeEntry& entry : entries) {
    const std::size_t have = std::min(screened, entry.conditions.size());
    numbers_.insert(numbers_.end(), entry.conditions.begin(),
                    entry.conditions.begin() + static_cast<std::ptrdiff_t>(have));
    numbers_.insert(numbers_.end(), screened - have, 0.0);
  }
  for (const ModeEntry& entry : entries) {
    numbers_.insert(numbers_.end(), entry.map.begin(), entry.map.end());
  }
  first_.push_back(0);
  for (const ModeEntry& entry : entries) {
    const std::size_t have = std::min(screened, entry.conditions.size());
    const int others = static_cast<int>(entry.conditions.size() - have) / columns;
    const int filled = kernels::padded(others, kernels::mode_group(columns));
    numbers_.insert(numbers_.end(), entry.conditions.begin() + static_cast<std::ptrdiff_t>(have),
                    entry.conditions.end());
    numbers_.insert(numbers_.end(), static_cast<std::size_t>((filled - others) * columns), 0.0);
    first_.push_back(first_.back() + filled);
  }
}

}  // namespace carom
