#include "support_lps.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "support/random_problems.hpp"

namespace carom::bench {

certificate::LpData SupportSet::lp(int posture, int direction) const {
  return {kRows,
          kColumns,
          cost.data() + (posture * kDirections + direction) * kColumns,
          matrix.data() + posture * kRows * kColumns,
          bound.data() + posture * kRows,
          bound.data() + posture * kRows,
          lower.data() + posture * kColumns,
          upper.data() + posture * kColumns};
}

SupportSet random_supports() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  using Vector3 = Eigen::Vector3d;
  test::Generator random(2026);
  SupportSet set;
  for (int p = 0; p < SupportSet::kPostures; ++p) {
    test::Matrix matrix = test::Matrix::Zero(SupportSet::kRows, SupportSet::kColumns);
    for (int c = 0; c < 4; ++c) {
      const double angle = 0.5 * std::numbers::pi * c + random.between(-0.3, 0.3);
      const Vector3 position(std::cos(angle) * random.between(0.5, 1.5),
                             std::sin(angle) * random.between(0.5, 1.5), random.between(-0.2, 0.2));
      const Vector3 normal =
          Vector3(random.between(-0.3, 0.3), random.between(-0.3, 0.3), 1.0).normalized();
      const Vector3 first = normal.cross(Vector3::UnitY()).normalized();
      const Vector3 second = normal.cross(first);
      const double friction = random.between(0.2, 0.8);
      for (int s = 0; s < 8; ++s) {
        const double side = 0.25 * std::numbers::pi * s;
        const Vector3 force =
            normal + friction * (std::cos(side) * first + std::sin(side) * second);
        matrix.col(8 * c + s).head<3>() = force;
        matrix.col(8 * c + s).tail<3>() = position.cross(force);
      }
    }
    // The weight, one unit downwards, at (x, y): its torque is (-y, x, 0).
    matrix(4, 32) = 1.0;
    matrix(3, 33) = -1.0;
    set.matrix.insert(set.matrix.end(), matrix.data(), matrix.data() + matrix.size());
    set.bound.insert(set.bound.end(), {0, 0, 1, 0, 0, 0});
    for (int j = 0; j < SupportSet::kColumns; ++j) {
      set.lower.push_back(j < 32 ? 0.0 : -kInfinity);
      set.upper.push_back(kInfinity);
    }
    for (int k = 0; k < SupportSet::kDirections; ++k) {
      const double angle = 2.0 * std::numbers::pi * k / SupportSet::kDirections;
      set.cost.resize(set.cost.size() + 32, 0.0);
      set.cost.insert(set.cost.end(), {-std::cos(angle), -std::sin(angle)});
    }
  }
  return set;
}

LpBatch support_lps(const SupportSet& set, bool cold) {
  const int copies = cold ? SupportSet::kDirections : 1;
  const auto repeated = [&](const std::vector<double>& values, int stride) {
    std::vector<double> all;
    for (int p = 0; p < SupportSet::kPostures; ++p) {
      for (int k = 0; k < copies; ++k) {
        all.insert(all.end(), values.begin() + p * stride, values.begin() + (p + 1) * stride);
      }
    }
    return Buffer<double>::from(all);
  };
  constexpr int kRows = SupportSet::kRows;
  constexpr int kColumns = SupportSet::kColumns;
  LpBatch batch;
  batch.problems = SupportSet::kPostures * copies;
  batch.objectives = SupportSet::kDirections / copies;
  batch.rows = kRows;
  batch.columns = kColumns;
  batch.cost = Buffer<double>::from(set.cost);
  batch.matrix = repeated(set.matrix, kRows * kColumns);
  batch.row_lower = repeated(set.bound, kRows);
  batch.row_upper = repeated(set.bound, kRows);
  batch.column_lower = repeated(set.lower, kColumns);
  batch.column_upper = repeated(set.upper, kColumns);
  return batch;
}

}  // namespace carom::bench
