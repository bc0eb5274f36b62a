#include "programs/lcp/boxed.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "core/index.hpp"
#include "programs/lcp/kernels/box_lemke.hpp"
#include "programs/lcp/kernels/box_rule.hpp"
#include "programs/lcp/kernels/free_block.hpp"
#include "programs/lcp/kernels/lcp_finish.hpp"

namespace carom::boxed {

namespace {

using kernels::BoxEnd;
using kernels::Doubled;
using kernels::kInfinity;

/// kernels::scale_lcp with every exponent taken once and loops that compile to vectors: the same
/// powers of two in a fifth of the time.
class Exponents {
 public:
  Exponents(int n, const std::vector<double>& matrix)
      : n_(n),
        row_(index(n) * index(n)),
        column_(index(n) * index(n)),
        value_(index(n)),
        of_rows_(index(n)),
        of_columns_(index(n)) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        const double x = matrix[index(i) * index(n) + index(j)];
        const int e = x != 0.0 ? kernels::exponent_of(x) : kAbsent;
        row_[index(i) * index(n) + index(j)] = column_[index(j) * index(n) + index(i)] = e;
      }
    }
    for (int sweep = 0; sweep < 3; ++sweep) {
      for (int i = 0; i < n; ++i) of_rows_[index(i)] = -median(row_.data() + i * n, of_columns_);
      for (int j = 0; j < n; ++j) of_columns_[index(j)] = -median(column_.data() + j * n, of_rows_);
    }
  }
  [[nodiscard]] double row_scale(int i) const { return kernels::power_of_two(of_rows_[index(i)]); }
  [[nodiscard]] double column_scale(int j) const {
    return kernels::power_of_two(of_columns_[index(j)]);
  }

 private:
  static constexpr int kAbsent = 1 << 20;

  int median(const int* exponents, const std::vector<int>& others) {
    const int* other = others.data();
    int* value = value_.data();
    int count = 0, low = kAbsent, high = -kAbsent;
    for (int k = 0; k < n_; ++k) {
      const int e = exponents[k] + other[k];
      const bool there = exponents[k] != kAbsent;
      value[k] = there ? e : kAbsent;
      count += there ? 1 : 0;
      low = std::min(low, value[k]);
      high = std::max(high, there ? e : -kAbsent);
    }
    if (count == 0) return 0;
    for (--low; high - low > 1;) {  // the median is in (low, high]
      const int middle = low + (high - low) / 2;
      int below = 0;
      for (int k = 0; k < n_; ++k) below += value[k] <= middle ? 1 : 0;
      (2 * below > count - 1 ? high : low) = middle;
    }
    return high;
  }

  int n_;
  std::vector<int> row_, column_, value_, of_rows_, of_columns_;
};

/// sums[r] = step(sums[r], r, t) for the rows r and all terms t, four rows at a time: doubled sums
/// wait for each other.
template <class Step>
void accumulate(const std::vector<int>& rows, const std::vector<int>& terms,
                std::vector<Doubled>& sums, Step&& step) {
  const auto block = [&](const int* row, auto count) {
    constexpr int kCount = decltype(count)::value;
    Doubled sum[kCount];
    for (int r = 0; r < kCount; ++r) sum[r] = sums[index(row[r])];
    for (const int t : terms) {
      for (int r = 0; r < kCount; ++r) sum[r] = step(sum[r], row[r], t);
    }
    for (int r = 0; r < kCount; ++r) sums[index(row[r])] = sum[r];
  };
  std::size_t r = 0;
  for (; r + 4 <= rows.size(); r += 4) block(rows.data() + r, std::integral_constant<int, 4>());
  for (; r < rows.size(); ++r) block(rows.data() + r, std::integral_constant<int, 1>());
}

/// One unknown of the path: z_index = base + sign x.
struct Unknown {
  int index;
  double sign;
  double width;
  bool free;
};

/// The box in the unknowns of a path, which start at zero at the bound nearest to zero. Fixed z
/// are numbers, and free ones that a singular block leaves are differences.
class Path {
 public:
  explicit Path(const Box& box) : box_(box), base_(index(box.order)) {
    for (int i = 0; i < box.order; ++i) start(i);
    split_singular();
    scale();
    std::vector<int> rows(unknowns_.size()), away;
    std::iota(rows.begin(), rows.end(), 0);
    for (int j = 0; j < box.order; ++j) {
      if (base_[index(j)] != 0.0) away.push_back(j);
    }
    for (const Unknown& u : unknowns_) constant_.emplace_back(box.vector[index(u.index)]);
    accumulate(rows, away, constant_, [&](const Doubled& sum, int a, int j) {
      return sum + kernels::product_of(box.entry(unknowns_[index(a)].index, j), base_[index(j)]);
    });
    for (std::size_t a = 0; a < unknowns_.size(); ++a) {
      constant_[a] = kernels::times_power(constant_[a], unknowns_[a].sign * row_scale_[a]);
    }
  }

  [[nodiscard]] int order() const { return static_cast<int>(unknowns_.size()); }
  [[nodiscard]] int pivots() const { return pivots_; }
  void add_pivots(int count) { pivots_ += count; }
  [[nodiscard]] bool bounded() const {
    return std::all_of(unknowns_.begin(), unknowns_.end(),
                       [](const Unknown& u) { return u.width < kInfinity; });
  }

  /// Zeros in place of constants that may be rounding; false where there are none.
  bool leave_out_noise() {
    double most = 0.0;
    for (const Doubled& r : constant_) most = std::max(most, std::fabs(r.hi));
    bool any = false;
    for (Doubled& r : constant_) {
      if (r.hi == 0.0 || std::fabs(r.hi) > kernels::kLcpNoise * most) continue;
      r = Doubled(0.0);
      any = true;
    }
    return any;
  }

  /// z of the path's end, or none. cover: of the box's rows, in their own units.
  template <class Number>
  BoxEnd follow(const std::vector<double>& cover, const Effort& effort, std::vector<double>& z) {
    constexpr bool kDoubled = sizeof(Number) > sizeof(double);
    const int m = order();
    std::vector<double> memory(index(kernels::box_lemke_workspace(m, kDoubled)));
    std::vector<double> high, low, widths, covers;
    for (int a = 0; a < m; ++a) {
      const Unknown& u = unknowns_[index(a)];
      high.push_back(constant_[index(a)].hi);
      low.push_back(constant_[index(a)].lo);
      widths.push_back(u.width);
      covers.push_back(u.free ? 0.0 : row_scale_[index(a)] * cover[index(u.index)]);
    }
    kernels::BoxLemkeJob job{m,
                             matrix_.data(),
                             high.data(),
                             low.data(),
                             widths.data(),
                             covers.data(),
                             effort.max_pivots,
                             kDoubled,
                             memory.data(),
                             BoxEnd::broken,
                             0};
    effort.follow(job);
    pivots_ += job.pivots;
    const BoxEnd end = job.end;
    if (end != BoxEnd::solution) return end;
    const kernels::SingleLane lane;
    const kernels::BoxLemke<kernels::SingleLane, Number> lemke(lane, m, memory.data());
    const auto width = [&](int a) { return unknowns_[index(a)].width; };
    std::vector<Doubled> x(index(m));
    for (int a = 0; a < m; ++a) x[index(a)] = clamped(a, Doubled(lemke.solution(a, width)));
    refine(lemke, x);
    z = base_;
    for (int a = 0; a < m; ++a) {
      const Unknown& u = unknowns_[index(a)];
      const double step = x[index(a)].hi * column_scale_[index(a)];
      const bool turned = !u.free && u.width < kInfinity && x[index(a)].hi == u.width;
      if (turned) {
        z[index(u.index)] = u.sign > 0.0 ? box_.upper[index(u.index)] : box_.lower[index(u.index)];
      } else if (step != 0.0) {
        z[index(u.index)] += u.sign * step;
      }
    }
    for (int i = 0; i < box_.order; ++i) {
      z[index(i)] = std::min(std::max(z[index(i)], box_.lower[index(i)]), box_.upper[index(i)]);
    }
    return end;
  }

 private:
  void start(int i) {
    const double low = box_.lower[index(i)], high = box_.upper[index(i)];
    const bool has_low = low > -kInfinity, has_high = high < kInfinity;
    if (!has_low && !has_high) {
      base_[index(i)] = 0.0;
      unknowns_.push_back({i, 1.0, kInfinity, true});
      return;
    }
    const bool from_low = has_low && (!has_high || std::fabs(low) <= std::fabs(high));
    base_[index(i)] = from_low ? low : high;
    if (low == high) return;
    unknowns_.push_back(
        {i, from_low ? 1.0 : -1.0, has_low && has_high ? high - low : kInfinity, false});
  }

  /// Free unknowns whose block is regular enter first; the rest are differences of two that are
  /// not negative, which leaves M's symmetric part semidefinite where it is.
  void split_singular() {
    std::vector<std::size_t> free;
    for (std::size_t a = 0; a < unknowns_.size(); ++a) {
      if (unknowns_[a].free) free.push_back(a);
    }
    if (free.empty()) return;
    const kernels::SingleLane lane;
    const int f = static_cast<int>(free.size());
    std::vector<double> block;
    for (const std::size_t a : free) {
      for (const std::size_t b : free) {
        block.push_back(box_.entry(unknowns_[a].index, unknowns_[b].index));
      }
    }
    kernels::scale_rows_of_block(lane, f, block.data());
    std::vector<int> columns(index(f));
    std::vector<double> factors = block;
    const int rank = kernels::rank_of_block(lane, f, factors.data(), columns.data());
    if (rank == f) return;
    std::vector<int> kept(columns.begin(), columns.begin() + rank);
    std::sort(kept.begin(), kept.end());
    factors.clear();
    for (const int a : kept) {
      for (const int b : kept) factors.push_back(block[index(a) * index(f) + index(b)]);
    }
    if (kernels::rank_of_block(lane, rank, factors.data(), columns.data()) < rank) kept.clear();
    for (int a = 0; a < f; ++a) {
      if (std::binary_search(kept.begin(), kept.end(), a)) continue;
      Unknown& own = unknowns_[free[index(a)]];
      own.free = false;
      const int index = own.index;
      unknowns_.push_back({index, -1.0, kInfinity, false});
    }
  }

  /// Powers of two that bring most entries to one; widths are in those of their columns.
  void scale() {
    const int m = order();
    std::vector<double> matrix(index(m) * index(m));
    for (int a = 0; a < m; ++a) {
      for (int b = 0; b < m; ++b) {
        matrix[index(a) * index(m) + index(b)] =
            unknowns_[index(a)].sign * unknowns_[index(b)].sign *
            box_.entry(unknowns_[index(a)].index, unknowns_[index(b)].index);
      }
    }
    row_scale_.assign(index(m), 1.0);
    column_scale_.assign(index(m), 1.0);
    const Exponents exponents(m, matrix);
    for (int a = 0; a < m; ++a) {
      row_scale_[index(a)] = exponents.row_scale(a);
      column_scale_[index(a)] = exponents.column_scale(a);
    }
    for (int a = 0; a < m; ++a) {
      for (int b = 0; b < m; ++b) {
        matrix[index(a) * index(m) + index(b)] *= row_scale_[index(a)] * column_scale_[index(b)];
      }
      unknowns_[index(a)].width /= column_scale_[index(a)];
    }
    matrix_ = std::move(matrix);
  }

  [[nodiscard]] double entry(int a, int b) const {
    return matrix_[index(a) * unknowns_.size() + index(b)];
  }
  [[nodiscard]] Doubled clamped(int a, const Doubled& x) const {
    const Unknown& u = unknowns_[index(a)];
    if (u.free) return x;
    if (!(x > Doubled(0.0))) return Doubled(0.0);
    return x < Doubled(u.width) ? x : Doubled(u.width);
  }

  /// Removes from x what rounding left in the v that ought to vanish.
  template <class Lemke>
  void refine(const Lemke& lemke, std::vector<Doubled>& x) const {
    const int m = order();
    std::vector<int> held, basic, used, left;
    double size = 0.0;
    for (int k = 0; k < m; ++k) {
      size = std::max(size, std::fabs(constant_[index(k)].hi));
      if (lemke.holds(k)) held.push_back(k);
      if (lemke.has_x(k)) basic.push_back(k);
    }
    std::vector<Doubled> rest(index(m));
    for (int round = 0; round < kernels::kBoxRefinements; ++round) {
      used.clear();
      left.clear();
      for (int b = 0; b < m; ++b) {
        if (x[index(b)].hi != 0.0) used.push_back(b);
      }
      for (const int k : held) rest[index(k)] = constant_[index(k)];
      accumulate(held, used, rest,
                 [&](const Doubled& sum, int k, int b) { return sum + x[index(b)] * entry(k, b); });
      double most = 0.0;
      for (const int k : held) {
        most = std::max(most, std::fabs(rest[index(k)].hi));
        if (rest[index(k)].hi != 0.0) left.push_back(k);
      }
      if (most <= kernels::kBoxRefined * size) return;
      accumulate(basic, left, x, [&](const Doubled& own, int a, int k) {
        return own - Doubled(lemke.response(a, k)) * rest[index(k)].hi;
      });
      for (const int a : basic) x[index(a)] = clamped(a, x[index(a)]);
    }
  }

  const Box& box_;
  std::vector<double> base_;  // of z
  std::vector<Unknown> unknowns_;
  std::vector<double> row_scale_, column_scale_, matrix_;
  std::vector<Doubled> constant_;
  int pivots_ = 0;
};

Status status_of(BoxEnd end) {
  switch (end) {
    case BoxEnd::ray:
      return Status::ray;
    case BoxEnd::limit:
      return Status::iteration_limit;
    default:
      return Status::numerical_error;
  }
}

/// What attempts have found so far.
class Search {
 public:
  Search(const Effort& effort, const Certify& certify) : effort_(effort), certify_(certify) {}

  /// True where the answer is certified, with all digits.
  template <class Number>
  bool attempt(Path& path, const std::vector<double>& cover) {
    std::vector<double> z;
    const BoxEnd end = path.follow<Number>(cover, effort_, z);
    if (end == BoxEnd::solution) return take(std::move(z));
    meet(end);
    if (sizeof(Number) > sizeof(double) && end == BoxEnd::ray) status_ = Status::ray;
    return has_digits();
  }
  /// In doubled numbers too, unless the path is certified or does not end.
  void attempt_twice(Path& path, const std::vector<double>& cover) {
    if (attempt<double>(path, cover) || solved()) return;
    if (result(path).status != Status::iteration_limit) attempt<Doubled>(path, cover);
  }
  /// Another end of a path than a solution.
  void meet(BoxEnd end) {
    if (status_ == Status::numerical_error) status_ = status_of(end);
  }
  /// A path's solution; true likewise.
  bool take(std::vector<double> z) {
    const double residual = certify_(z);
    if (std::isfinite(residual) && (best_.z.empty() || residual < best_.residual)) {
      best_.z = std::move(z);
      best_.residual = residual;
    }
    return has_digits();
  }
  Found result(const Path& path) {
    best_.pivots = path.pivots();
    if (best_.z.empty()) {
      best_.status = status_;
      best_.residual = std::numeric_limits<double>::quiet_NaN();
    } else {
      best_.status = certificate::within(best_.residual, effort_.tolerance) ? Status::solved
                                                                            : Status::inaccurate;
    }
    return best_;
  }
  [[nodiscard]] bool has_digits() const {
    return !best_.z.empty() && best_.residual <= std::min(effort_.tolerance, kernels::kLcpDigits);
  }
  [[nodiscard]] bool solved() const {
    return !best_.z.empty() && certificate::within(best_.residual, effort_.tolerance);
  }

 private:
  const Effort& effort_;
  const Certify& certify_;
  Found best_;
  Status status_ = Status::numerical_error;
};

}  // namespace

Expansion::Expansion(const certificate::BoxedLcpData& problem) : problem_(problem) {
  const int n = problem.order;
  for (int i = 0; i < n; ++i) {
    if (problem.index(i) >= 0) rows_.push_back(i);
  }
  const int f = static_cast<int>(rows_.size());
  const int m = n + 2 * f;
  box_.order = m;
  box_.matrix.assign(index(m) * index(m), 0.0);
  box_.vector.assign(problem.vector, problem.vector + n);
  box_.lower.assign(problem.lower, problem.lower + n);
  box_.upper.assign(problem.upper, problem.upper + n);
  for (auto* array : {&box_.vector, &box_.lower}) array->resize(index(m), 0.0);
  box_.upper.resize(index(m), kInfinity);
  const auto entry = [&](int i, int j) -> double& {
    return box_.matrix[index(i) * index(m) + index(j)];
  };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      entry(i, j) = problem.matrix[static_cast<long>(i) * n + j];
    }
    for (int k = 0; k < f; ++k) entry(i, n + k) = -entry(i, rows_[index(k)]);
  }
  for (int k = 0; k < f; ++k) {
    const int i = rows_[index(k)], minus = n + k, slide = n + f + k;
    box_.lower[index(i)] = 0.0;
    box_.upper[index(i)] = kInfinity;
    box_.vector[index(minus)] = -problem.vector[i];
    for (int j = 0; j < n + f; ++j) entry(minus, j) = -entry(i, j);
    entry(i, slide) = entry(minus, slide) = 1.0;
    entry(slide, i) = entry(slide, minus) = -1.0;
    entry(slide, problem.index(i)) = problem.friction[i];
  }
}

void Expansion::contract(const std::vector<double>& expanded, double* z) const {
  const int n = problem_.order;
  const int f = static_cast<int>(rows_.size());
  std::copy_n(expanded.begin(), n, z);
  for (int k = 0; k < f; ++k) {
    const int i = rows_[index(k)];
    const double plus = expanded[index(i)], minus = expanded[index(n + k)];
    const double limit = problem_.friction[i] * z[problem_.index(i)];
    z[i] = kernels::friction_of(plus, minus, expanded[index(n + f + k)], limit);
  }
}

void Expansion::contract_farkas(const std::vector<double>& expanded, double* y) const {
  std::copy_n(expanded.begin(), problem_.order, y);
  for (const int i : rows_) y[i] = 0.0;  // s_i answers whatever w_i is
}

void follow_path(kernels::BoxLemkeJob& job) {
  const kernels::SingleLane lane;
  kernels::follow_box_path(lane, job);
}

Found follow_paths(const Box& box, const Effort& effort, const Certify& certify,
                   const Ended* ended) {
  Path path(box);
  Search search(effort, certify);
  const std::vector<double> cover(index(box.order), 1.0);
  if (ended != nullptr) {
    path.add_pivots(ended->pivots);
    if (ended->z == nullptr) {
      search.meet(BoxEnd::ray);
    } else if (search.take({ended->z, ended->z + box.order})) {
      return search.result(path);
    }
  } else if (search.attempt<double>(path, cover)) {
    return search.result(path);
  }
  // a path that does not end takes as long in doubled numbers, and a hundred times the time
  if (search.result(path).status == Status::iteration_limit) return search.result(path);
  if (search.attempt<Doubled>(path, cover) || search.solved()) return search.result(path);
  if (path.leave_out_noise()) search.attempt<Doubled>(path, cover);
  Found found = search.result(path);
  if (found.status == Status::ray && path.bounded()) found.status = Status::numerical_error;
  return found;
}

Found follow_other_paths(const Box& box, const Effort& effort, const Certify& certify, int count) {
  Path path(box);
  Search search(effort, certify);
  std::vector<double> cover(index(box.order));
  std::uint64_t state = 0x9e3779b97f4a7c15ULL;
  for (int k = 0; k < count && !search.solved(); ++k) {
    for (double& d : cover) {  // a linear congruence is random enough for directions
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      d = 0.1 + 0.9 * static_cast<double>(state >> 11) * 0x1p-53;
    }
    search.attempt_twice(path, cover);
  }
  return search.result(path);
}

Found follow_path_along(const Box& box, const std::vector<double>& cover, const Effort& effort,
                        const Certify& certify) {
  Path path(box);
  Search search(effort, certify);
  search.attempt_twice(path, cover);
  return search.result(path);
}

LinearRows linear_rows(const Box& box) {
  LinearRows rows{std::vector<double>(index(box.order), -kInfinity),
                  std::vector<double>(index(box.order), kInfinity)};
  for (int i = 0; i < box.order; ++i) {
    const double q = box.vector[index(i)];
    if (box.upper[index(i)] == kInfinity) rows.lower[index(i)] = -q;
    if (box.lower[index(i)] == -kInfinity) rows.upper[index(i)] = -q;
  }
  return rows;
}

bool margin_is_no_noise(const Box& box, const std::vector<double>& y) {
  std::vector<double> unit(index(box.order), 1.0);
  double most = 0.0;
  for (int i = 0; i < box.order; ++i) {
    double row = 0.0;
    for (int j = 0; j < box.order; ++j) row = std::max(row, std::fabs(box.entry(i, j)));
    if (row > 0.0) unit[index(i)] = row;
    most = std::max(most, std::fabs(box.vector[index(i)]) / unit[index(i)]);
  }
  // y'(M z + q) over the box is at most this.
  double highest = 0.0, noise = 0.0;
  for (int j = 0; j < box.order; ++j) {
    double pull = 0.0, size = 0.0;
    for (int i = 0; i < box.order; ++i) {
      pull += box.entry(i, j) * y[index(i)];
      size += std::fabs(box.entry(i, j) * y[index(i)]);
    }
    if (std::fabs(pull) <= certificate::noise_floor(box.order) * size) continue;
    const double bound = pull > 0.0 ? box.upper[index(j)] : box.lower[index(j)];
    if (std::isfinite(bound)) highest += pull * bound;
  }
  for (int i = 0; i < box.order; ++i) {
    highest += box.vector[index(i)] * y[index(i)];
    noise += std::fabs(y[index(i)]) * unit[index(i)] * most * kernels::kLcpNoise;
  }
  return highest + noise < 0.0;
}

}  // namespace carom::boxed
