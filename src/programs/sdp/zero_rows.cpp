#include "programs/sdp/zero_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace carom::sdp {

namespace {

class Rows {
 public:
  explicit Rows(const SdpProblem& problem)
      : p_(problem),
        left_(static_cast<std::size_t>(
                  std::accumulate(problem.blocks.begin(), problem.blocks.end(), 0)),
              true) {}

  /// Whether the equation of a variable removes rows that were left.
  bool remove_by(std::size_t variable) {
    if (p_.objective[variable] != 0.0) return false;
    double least = 0.0, most = 0.0;
    bool diagonal = true;
    std::vector<std::size_t> rows;
    each_left(p_.coefficients.data() + variable * p_.constant.size(),
              [&](std::size_t i, std::size_t j, double value) {
                if (value == 0.0) return;
                diagonal = diagonal && i == j;
                least = std::min(least, value);
                most = std::max(most, value);
                rows.push_back(i);
              });
    if (!diagonal || rows.empty() || (least < 0.0 && most > 0.0)) return false;
    for (const std::size_t row : rows) left_[row] = false;
    return true;
  }

  [[nodiscard]] std::vector<double> of(const double* matrix) const {
    std::vector<double> numbers;
    each_left(matrix, [&](std::size_t, std::size_t, double value) { numbers.push_back(value); });
    return numbers;
  }

  [[nodiscard]] std::vector<int> blocks() const {
    std::vector<int> sizes;
    auto row = left_.begin();
    for (const int n : p_.blocks) {
      const auto size = static_cast<int>(std::count(row, row + n, true));
      if (size > 0) sizes.push_back(size);
      row += n;
    }
    return sizes;
  }

 private:
  /// visit(row, column, value)
  template <class Visit>
  void each_left(const double* matrix, Visit&& visit) const {
    std::size_t first = 0;
    for (const int size : p_.blocks) {
      const auto n = static_cast<std::size_t>(size);
      for (std::size_t i = first; i < first + n; ++i) {
        for (std::size_t j = first; j < first + n; ++j, ++matrix) {
          if (left_[i] && left_[j]) visit(i, j, *matrix);
        }
      }
      first += n;
    }
  }

  const SdpProblem& p_;
  std::vector<bool> left_;
};

}  // namespace

std::optional<SdpProblem> without_zero_rows(const SdpProblem& problem) {
  Rows rows(problem);
  const std::size_t variables = problem.objective.size();
  bool reduced = false;
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < variables; ++i) again = rows.remove_by(i) || again;
    reduced = reduced || again;
  }
  SdpProblem result{rows.blocks(), {}, rows.of(problem.constant.data()), {}};
  if (!reduced || result.blocks.empty()) return {};
  for (std::size_t i = 0; i < variables; ++i) {
    const auto own = rows.of(problem.coefficients.data() + i * problem.constant.size());
    const bool felt = std::any_of(own.begin(), own.end(), [](double v) { return v != 0.0; });
    if (!felt && problem.objective[i] == 0.0) continue;
    result.objective.push_back(problem.objective[i]);
    result.coefficients.insert(result.coefficients.end(), own.begin(), own.end());
  }
  if (result.objective.empty()) return {};
  return result;
}

}  // namespace carom::sdp
