#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <carom/derivative_qp.hpp>

#include "programs/derivatives/kernels/long_sum.hpp"

namespace carom {
namespace {

using Long = long double;

constexpr int kUnknowns = 8, kRows = 6, kHeld = 2, kCones = 3, kConeRows = 3 * kCones;
enum class State { edge, free, apex };

/// QPs with known modes, whose margins go down to 1e-10.
struct Planted {
  QpBatch batch;
  std::vector<double> x, dual, cone_dual;
  std::vector<State> state;  ///< of each cone
};

Planted planted(int problems, double spread, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const auto draw = [&](std::size_t count) {
    std::vector<double> values(count);
    for (double& value : values) value = normal(random);
    return values;
  };
  const auto margin = [&] {
    return uniform(random) < 0.5 ? std::pow(10.0, -10.0 * uniform(random)) : 0.5 + uniform(random);
  };
  Planted all;
  std::vector<double> hessian, vector, matrix, upper, cone_matrix, cone_vector;
  const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (int p = 0; p < problems; ++p) {
    std::vector<double> square(kUnknowns * kUnknowns, 0.0);
    for (int k = 0; k < kUnknowns; ++k) {
      const double weight = std::pow(10.0, -spread * uniform(random));
      const std::vector<double> along = draw(kUnknowns);
      for (int i = 0; i < kUnknowns; ++i) {
        for (int j = 0; j < kUnknowns; ++j) {
          square[i * kUnknowns + j] += weight * along[i] * along[j];
        }
      }
    }
    const std::vector<double> x = draw(kUnknowns), rows = draw(kRows * kUnknowns),
                              cone_rows = draw(kConeRows * kUnknowns);
    std::vector<double> y(kRows, 0.0), z(kConeRows, 0.0), s(kConeRows, 0.0);
    const auto image = [&](const std::vector<double>& of, int i) {
      double sum = 0.0;
      for (int j = 0; j < kUnknowns; ++j) sum += of[i * kUnknowns + j] * x[j];
      return sum;
    };
    for (int i = 0; i < kRows; ++i) {
      if (i < kHeld) y[i] = margin();
      upper.push_back(image(rows, i) + (i < kHeld ? 0.0 : margin()));
    }
    for (int c = 0; c < kCones; ++c) {
      const double angle = 6.28 * uniform(random), size = 0.5 + uniform(random), gap = margin();
      const State state = static_cast<State>(static_cast<int>(3.0 * uniform(random)));
      const double turn[3] = {1.0, std::cos(angle), std::sin(angle)};
      const bool thin = uniform(random) < 0.5;
      for (int k = 0; k < 3; ++k) {
        const double inside = size * turn[k] + (k == 0 ? gap : 0.0);
        if (state == State::free) s[3 * c + k] = inside;
        if (state == State::apex) z[3 * c + k] = inside;
        if (state != State::edge) continue;
        s[3 * c + k] = (thin ? gap : size) * turn[k];
        z[3 * c + k] = (thin ? size : gap) * (k == 0 ? 1.0 : -turn[k]);
      }
      all.state.push_back(state);
    }
    for (int i = 0; i < kConeRows; ++i) cone_vector.push_back(s[i] + image(cone_rows, i));
    for (int j = 0; j < kUnknowns; ++j) {
      double sum = image(square, j);
      for (int i = 0; i < kRows; ++i) sum += rows[i * kUnknowns + j] * y[i];
      for (int i = 0; i < kConeRows; ++i) sum += cone_rows[i * kUnknowns + j] * z[i];
      vector.push_back(-sum);
    }
    append(hessian, square);
    append(matrix, rows);
    append(cone_matrix, cone_rows);
    append(all.x, x);
    append(all.dual, y);
    append(all.cone_dual, z);
  }
  QpBatch& batch = all.batch;
  batch.problems = problems;
  batch.variables = kUnknowns;
  batch.rows = kRows;
  batch.cones.assign(kCones, {ConeKind::second_order, 3});
  batch.hessian = Buffer<double>::from(hessian);
  batch.vector = Buffer<double>::from(vector);
  batch.matrix = Buffer<double>::from(matrix);
  batch.lower = Buffer<double>::from(
      std::vector<double>(upper.size(), -std::numeric_limits<double>::infinity()));
  batch.upper = Buffer<double>::from(upper);
  batch.cone_matrix = Buffer<double>::from(cone_matrix);
  batch.cone_vector = Buffer<double>::from(cone_vector);
  return all;
}

bool eliminated(std::vector<Long> a, std::vector<Long>& x) {
  const std::size_t n = x.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t best = k;
    for (std::size_t i = k + 1; i < n; ++i) {
      if (std::fabs(a[i * n + k]) > std::fabs(a[best * n + k])) best = i;
    }
    if (!(std::fabs(a[best * n + k]) > 0.0L)) return false;
    for (std::size_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[best * n + j]);
    std::swap(x[k], x[best]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const Long factor = a[i * n + k] / a[k * n + k];
      for (std::size_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      x[i] -= factor * x[k];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) x[i] -= a[i * n + j] * x[j];
    x[i] /= a[i * n + i];
  }
  return true;
}

/// The planted modes' equations in long double. Unlike the library's they have all multipliers z of
/// a cone as unknowns, and at an edge s = sigma R z: nothing is large near the tip.
class Reference {
 public:
  Reference(const Planted& all, int p) : state_(&all.state[p * kCones]) {
    const QpBatch& b = all.batch;
    hessian_ = b.hessian.data() + p * kUnknowns * kUnknowns;
    matrix_ = b.matrix.data() + p * kRows * kUnknowns;
    cone_ = b.cone_matrix.data() + p * kConeRows * kUnknowns;
    vector_ = b.vector.data() + p * kUnknowns;
    upper_ = b.upper.data() + p * kRows;
    limit_ = b.cone_vector.data() + p * kConeRows;
    x_.assign(all.x.begin() + p * kUnknowns, all.x.begin() + (p + 1) * kUnknowns);
    y_.assign(all.dual.begin() + p * kRows, all.dual.begin() + (p + 1) * kRows);
    z_.assign(all.cone_dual.begin() + p * kConeRows, all.cone_dual.begin() + (p + 1) * kConeRows);
    size_ = kUnknowns + kHeld;
    for (int c = 0; c < kCones; ++c) {
      place_[c] = static_cast<int>(size_);
      if (state_[c] == State::edge) sigma_[c] = slack(3 * c) / z_[3 * c];
      if (state_[c] != State::free) size_ += state_[c] == State::edge ? 4 : 3;
    }
  }
  /// Newton's method; false where it does not end in an answer with these modes.
  bool polish() {
    Long moved = 1.0L;
    for (int round = 0; round < 8; ++round) {
      std::vector<Long> step(size_, 0.0L);
      for (int j = 0; j < kUnknowns; ++j) {
        step[j] = -vector_[j];
        for (int k = 0; k < kUnknowns; ++k) step[j] -= hessian_[j * kUnknowns + k] * x_[k];
        for (int i = 0; i < kHeld; ++i) step[j] -= matrix_[i * kUnknowns + j] * y_[i];
        for (int i = 0; i < kConeRows; ++i) step[j] -= cone_[i * kUnknowns + j] * z_[i];
      }
      for (int i = 0; i < kHeld; ++i) step[kUnknowns + i] = room(i);
      for (int c = 0; c < kCones; ++c) {
        if (state_[c] == State::free) continue;
        for (int k = 0; k < 3; ++k) {
          step[place_[c] + k] = slack(3 * c + k) - sigma_[c] * mirrored(3 * c + k);
          if (state_[c] == State::edge) {
            step[place_[c] + 3] -= 0.5L * z_[3 * c + k] * mirrored(3 * c + k);
          }
        }
      }
      if (!eliminated(equations(), step)) return false;
      for (int j = 0; j < kUnknowns; ++j) x_[j] += step[j];
      for (int i = 0; i < kHeld; ++i) y_[i] += step[kUnknowns + i];
      for (int c = 0; c < kCones; ++c) {
        if (state_[c] == State::free) continue;
        for (int k = 0; k < 3; ++k) z_[3 * c + k] += step[place_[c] + k];
        if (state_[c] == State::edge) sigma_[c] += step[place_[c] + 3];
      }
      moved = 0.0L;
      for (const Long part : step) moved = std::max(moved, std::fabs(part));
    }
    return moved < 1e-16L && margin() > 0.0L;
  }
  /// dL/dq and dL/d(upper, b), of a loss with these gradients in x, y and z.
  std::pair<std::vector<Long>, std::vector<Long>> pulled(const double* x, const double* y,
                                                         const double* z) const {
    std::vector<Long> a(size_, 0.0L);
    std::copy(x, x + kUnknowns, a.begin());
    std::copy(y, y + kHeld, a.begin() + kUnknowns);
    for (int c = 0; c < kCones; ++c) {
      for (int k = 0; k < 3 && state_[c] != State::free; ++k) a[place_[c] + k] = z[3 * c + k];
    }
    eliminated(equations(), a);
    std::vector<Long> of_vector(kUnknowns), of_limits(kRows + kConeRows, 0.0L);
    for (int j = 0; j < kUnknowns; ++j) of_vector[j] = -a[j];
    for (int i = 0; i < kHeld; ++i) of_limits[i] = a[kUnknowns + i];
    for (int c = 0; c < kCones; ++c) {
      for (int k = 0; k < 3 && state_[c] != State::free; ++k) {
        of_limits[kRows + 3 * c + k] = a[place_[c] + k];
      }
    }
    return {of_vector, of_limits};
  }

 private:
  static Long inside(const Long* v) { return v[0] - std::hypot(v[1], v[2]); }
  Long mirrored(int i) const { return i % 3 == 0 ? z_[i] : -z_[i]; }
  Long slack(int i) const {
    Long sum = limit_[i];
    for (int j = 0; j < kUnknowns; ++j) sum -= static_cast<Long>(cone_[i * kUnknowns + j]) * x_[j];
    return sum;
  }
  Long room(int i) const {
    Long sum = upper_[i];
    for (int j = 0; j < kUnknowns; ++j) {
      sum -= static_cast<Long>(matrix_[i * kUnknowns + j]) * x_[j];
    }
    return sum;
  }
  Long margin() const {
    Long least = 1.0L;
    for (int i = 0; i < kRows; ++i) least = std::min(least, i < kHeld ? y_[i] : room(i));
    for (int c = 0; c < kCones; ++c) {
      const Long s[3] = {slack(3 * c), slack(3 * c + 1), slack(3 * c + 2)};
      const Long* z = &z_[3 * c];
      least = std::min(least, state_[c] == State::free   ? inside(s)
                              : state_[c] == State::apex ? inside(z)
                                                         : std::min(s[0], z[0]));
    }
    return least;
  }
  std::vector<Long> equations() const {
    std::vector<Long> a(size_ * size_, 0.0L);
    const auto put = [&](std::size_t i, std::size_t j, Long value) {
      a[i * size_ + j] = a[j * size_ + i] = value;
    };
    for (int i = 0; i < kUnknowns; ++i) {
      for (int j = 0; j < kUnknowns; ++j) a[i * size_ + j] = hessian_[i * kUnknowns + j];
      for (int k = 0; k < kHeld; ++k) put(i, kUnknowns + k, matrix_[k * kUnknowns + i]);
    }
    for (int c = 0; c < kCones; ++c) {
      for (int k = 0; k < 3 && state_[c] != State::free; ++k) {
        const std::size_t at = place_[c] + k;
        for (int j = 0; j < kUnknowns; ++j) put(j, at, cone_[(3 * c + k) * kUnknowns + j]);
        if (state_[c] != State::edge) continue;
        put(at, at, k == 0 ? sigma_[c] : -sigma_[c]);
        put(at, place_[c] + 3, mirrored(3 * c + k));
      }
    }
    return a;
  }

  const State* state_;
  const double *hessian_, *matrix_, *cone_, *vector_, *upper_, *limit_;
  std::vector<Long> x_, y_, z_;
  Long sigma_[kCones] = {};
  int place_[kCones];
  std::size_t size_;
};

// An edge's curvature is what s and z are beside their lengths: near the cone's tip it multiplies
// the answer's own error. What is called smooth is right all the same.
TEST(DifferentiateQp, EdgesNearTheirTipAreAsRightAsTheirConditionSays) {
  constexpr int kProblems = 1500;
  int compared = 0, ill = 0, undefined = 0, all_problems = 0;
  for (const auto& [spread, noise, seed] :
       {std::tuple{0.0, 1e-9, 1}, std::tuple{3.0, 1e-9, 2}, std::tuple{6.0, 1e-9, 3},
        std::tuple{6.0, 1e-13, 4}, std::tuple{3.0, 1e-7, 5}, std::tuple{11.0, 1e-13, 6}}) {
    SCOPED_TRACE(seed);
    const Planted all = planted(kProblems, spread, static_cast<std::uint64_t>(seed));
    std::mt19937_64 random(static_cast<std::uint64_t>(seed) + 100);
    std::normal_distribution<double> normal;
    const auto near = [&, noise = noise](std::vector<double> values) {
      for (double& value : values) value += value != 0.0 ? noise * normal(random) : 0.0;
      return Buffer<double>::from(values);
    };
    QpResult answer;
    answer.solution = near(all.x);
    answer.dual = near(all.dual);
    answer.cone_dual = near(all.cone_dual);
    answer.status = Buffer<Status>(kProblems);
    std::fill(answer.status.host().begin(), answer.status.host().end(), Status::solved);
    const auto drawn = [&](std::size_t count) {
      Buffer<double> values(count);
      for (double& value : values.host()) value = normal(random);
      return values;
    };
    QpCotangent asked;
    asked.solution = drawn(all.x.size());
    asked.dual = drawn(all.dual.size());
    asked.cone_dual = drawn(all.cone_dual.size());
    const QpGradient found = differentiate_qp(all.batch, answer, asked);
    all_problems += kProblems;
    for (int p = 0; p < kProblems; ++p) {
      undefined += static_cast<int>(found.status.data()[p] == Smoothness::undefined);
      if (found.status.data()[p] != Smoothness::smooth) continue;
      Reference reference(all, p);
      if (!reference.polish()) continue;
      ++compared;
      const auto [of_vector, of_limits] =
          reference.pulled(asked.solution.data() + p * kUnknowns, asked.dual.data() + p * kRows,
                           asked.cone_dual.data() + p * kConeRows);
      const double condition = found.condition.data()[p];
      ill += static_cast<int>(condition > 1e6);
      Long size = 0.0L, in_vector = 0.0L;
      for (const Long value : of_limits) size = std::max(size, std::fabs(value));
      for (const Long value : of_vector) in_vector = std::max(in_vector, std::fabs(value));
      const double tolerance = 1e-10 * std::max(1.0, condition / 1e6);
      const auto near_enough = [&](double value, Long expected, Long most) {
        EXPECT_NEAR(value, static_cast<double>(expected), tolerance * static_cast<double>(most))
            << p << " " << condition << " " << found.margin.data()[p];
      };
      for (int j = 0; j < kUnknowns; ++j) {
        near_enough(found.vector.data()[p * kUnknowns + j], of_vector[j], in_vector + 1e-4L * size);
      }
      for (int i = 0; i < kRows; ++i) {
        near_enough(found.upper.data()[p * kRows + i], of_limits[i], size);
      }
      for (int i = 0; i < kConeRows; ++i) {
        near_enough(found.cone_vector.data()[p * kConeRows + i], of_limits[kRows + i], size);
      }
    }
  }
  EXPECT_GT(compared, 1200);
  EXPECT_GT(ill, 50);
  // Where margins are less than what answers miss, modes are found all the same.
  EXPECT_LT(undefined, all_problems / 100);
}

TEST(LongSum, KnowsWhatRoundingLeavesOfAProductToTheLastBit) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> mantissa(-2.0, 2.0);
  std::uniform_int_distribution<int> exponent(-1074, 1023), some(-40, 40);
  int left = 0;
  for (int k = 0; k < 200000; ++k) {
    const auto draw = [&] {
      return std::ldexp(mantissa(random), k % 2 == 0 ? some(random) : exponent(random));
    };
    const double a = k % 97 == 0 ? 0.0 : draw(), b = draw(), product = a * b;
    const double rest = derivatives::left_of_product(a, b, product);
    const double expected = std::fma(a, b, -product);
    ASSERT_TRUE(rest == expected || (rest != rest && expected != expected)) << a << " " << b;
    left += expected != 0.0 ? 1 : 0;
  }
  EXPECT_GT(left, 100000);
}

}  // namespace
}  // namespace carom
