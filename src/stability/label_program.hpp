#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include <carom/types/sdp.hpp>

/// A semidefinite program of few unknowns, built condition by condition.
namespace carom::stability {

/// Most unknowns of the functions themselves.
inline constexpr std::size_t kMostUnknowns = 18;

/// constant + sum of coefficient times unknown.
struct Affine {
  std::array<double, kMostUnknowns> coefficient{};
  double constant = 0.0;

  Affine() = default;
  Affine(double value) : constant(value) {}  // NOLINT: numbers are constant
  static Affine unknown(std::size_t i) {
    Affine a;
    a.coefficient[i] = 1.0;
    return a;
  }
  [[nodiscard]] double at(const std::array<double, kMostUnknowns>& x) const {
    double value = constant;
    for (std::size_t i = 0; i < kMostUnknowns; ++i) value += coefficient[i] * x[i];
    return value;
  }
};
inline Affine operator*(double s, Affine a) {
  for (double& c : a.coefficient) c *= s;
  a.constant *= s;
  return a;
}
inline Affine operator+(Affine a, const Affine& b) {
  for (std::size_t i = 0; i < kMostUnknowns; ++i) a.coefficient[i] += b.coefficient[i];
  a.constant += b.constant;
  return a;
}
inline Affine operator-(const Affine& a, const Affine& b) { return a + -1.0 * b; }

/// A symmetric matrix of affine numbers, by rows.
struct AffineMatrix {
  int n = 0;
  std::vector<Affine> entry;
  explicit AffineMatrix(int size)
      : n(size), entry(static_cast<std::size_t>(size) * static_cast<std::size_t>(size)) {}
  Affine& operator()(int i, int j) { return entry[place(i, j)]; }
  const Affine& operator()(int i, int j) const { return entry[place(i, j)]; }

 private:
  [[nodiscard]] std::size_t place(int i, int j) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(n) + static_cast<std::size_t>(j);
  }
};

/// max slack over conditions that shall hold with that slack: numbers >= slack, matrices with all
/// eigenvalues >= slack, copositive ones as a semidefinite matrix and one of numbers >= 0.
class LabelProgram {
 public:
  explicit LabelProgram(std::size_t unknowns) : unknowns_(unknowns) {}

  void at_least_slack(const Affine& value) { add(AffineMatrix(1), value, false); }
  void at_least_zero(const Affine& value) { add(AffineMatrix(1), value, true); }
  void semidefinite(const AffineMatrix& matrix) { conditions_.push_back({matrix, false, false}); }
  void copositive(const AffineMatrix& matrix) {
    // scaled to the sizes of its own entries, which changes no sign
    conditions_.push_back({matrix, true, false});
  }

  struct Answer {
    bool found = false;
    double slack = 0.0;
    std::array<double, kMostUnknowns> x{};
  };
  /// Unknowns stay within `size`; the last variable is the slack.
  [[nodiscard]] SdpProblem programme(double size) const;
  [[nodiscard]] Answer solve(double size) const;

 private:
  struct Condition {
    AffineMatrix matrix;
    bool copositive;
    bool slackless;
  };
  void add(AffineMatrix matrix, const Affine& value, bool slackless) {
    matrix(0, 0) = value;
    conditions_.push_back({std::move(matrix), false, slackless});
  }

  std::size_t unknowns_;
  std::vector<Condition> conditions_;
};

}  // namespace carom::stability
