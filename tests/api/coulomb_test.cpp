#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <carom/coulomb.hpp>
#include <carom/error.hpp>

#include "support/coulomb_problems.hpp"
#include "support/folders.hpp"

namespace {

using carom::CoulombProblem;
using carom::CoulombResult;
using carom::Status;
using std::vector;

vector<double> velocity_of(const CoulombProblem& p, const vector<double>& r) {
  vector<double> u = p.vector;
  for (std::size_t i = 0; i < u.size(); ++i) {
    for (std::size_t j = 0; j < u.size(); ++j) u[i] += p.matrix[i * u.size() + j] * r[j];
  }
  return u;
}

double largest(const vector<double>& values) {
  double top = 0;
  for (const double value : values) top = std::max(top, std::abs(value));
  return top;
}

/// Largest violation of the law, condition by condition and with no projection: velocities relative
/// to max|q|, reactions to max|q| / max|W_ii|. NaN counts as a violation.
double violation(const CoulombProblem& p, const vector<double>& r) {
  const vector<double> u = velocity_of(p, r);
  const double q = largest(p.vector);
  double w = 0;
  for (std::size_t i = 0; i < u.size(); ++i) w = std::max(w, p.matrix[i * u.size() + i]);
  double worst = 0;
  const auto note = [&](double value) {
    if (!(value <= worst)) worst = std::isnan(value) ? std::numeric_limits<double>::max() : value;
  };
  for (int i = 0; i < p.contacts; ++i) {
    const double mu = p.friction[i];
    const double* ui = &u[p.dimension * i];
    const double* ri = &r[p.dimension * i];
    const double rn = ri[0] * w / q;
    const double un = ui[0] / q;
    const bool spatial = p.dimension == 3;
    const std::array<double, 2> rt{ri[1] * w / q, spatial ? ri[2] * w / q : 0.0};
    const std::array<double, 2> ut{ui[1] / q, spatial ? ui[2] / q : 0.0};
    const double held = std::hypot(rt[0], rt[1]);
    const double slip = std::hypot(ut[0], ut[1]);
    note(-rn);
    note(-un);
    note(std::min(rn, un));
    note(held - mu * rn);
    // Dissipation is maximal: r_t . u_t = -mu r_n |u_t|, per unit of slip or of force.
    note((rt[0] * ut[0] + rt[1] * ut[1] + mu * rn * slip) / std::max({slip, mu * rn, 1e-30}));
    if (std::min(slip, held) > 1e-6) {
      note(std::abs(rt[0] * ut[1] - rt[1] * ut[0]) / std::max(slip, held));
    }
  }
  return worst;
}

/// De Saxce's natural map with rho = 1 in the variables scaled by max|q| and max|W_ii|.
double unit_step_residual(const CoulombProblem& p, const vector<double>& r) {
  const vector<double> u = velocity_of(p, r);
  const double q = largest(p.vector);
  double w = 0;
  for (std::size_t i = 0; i < u.size(); ++i) w = std::max(w, p.matrix[i * u.size() + i]);
  double worst = 0;
  for (int i = 0; i < p.contacts; ++i) {
    const double mu = p.friction[i];
    std::array<double, 3> x{};
    std::array<double, 3> y{};
    for (int k = 0; k < p.dimension; ++k) {
      x[k] = r[p.dimension * i + k] * w / q;
      y[k] = x[k] - u[p.dimension * i + k] / q;
    }
    y[0] -= mu * std::hypot(x[1] - y[1], x[2] - y[2]);
    const double side = std::hypot(y[1], y[2]);
    if (side > mu * y[0]) {
      const double height = std::max(0.0, (y[0] + mu * side) / (1 + mu * mu));
      const double along = side > 0 ? mu * height / side : 0.0;
      y = {height, along * y[1], along * y[2]};
    }
    for (int k = 0; k < 3; ++k) {
      const double error = std::abs(x[k] - y[k]);
      if (!(error <= worst)) worst = std::isnan(error) ? HUGE_VAL : error;
    }
  }
  return worst;
}

CoulombProblem load(const std::filesystem::path& path) {
  const auto json = nlohmann::json::parse(std::ifstream(path));
  CoulombProblem p;
  p.dimension = json.at("dim");
  p.contacts = json.at("nc");
  for (const auto& row : json.at("W")) {
    for (const double value : row) p.matrix.push_back(value);
  }
  p.vector = json.at("q").get<vector<double>>();
  p.friction = json.at("mu").get<vector<double>>();
  return p;
}

vector<std::filesystem::path> case_files() {
  vector<std::filesystem::path> files;
  for (const auto& item : std::filesystem::directory_iterator(carom::test::data_file("fc3d"))) {
    if (item.path().extension() == ".json") files.push_back(item.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

CoulombProblem single(int dimension, vector<double> diagonal, vector<double> q, double mu) {
  CoulombProblem p;
  p.dimension = dimension;
  p.contacts = 1;
  p.matrix.assign(static_cast<std::size_t>(dimension) * dimension, 0.0);
  for (int i = 0; i < dimension; ++i) p.matrix[i * dimension + i] = diagonal[i];
  p.vector = std::move(q);
  p.friction = {mu};
  return p;
}

/// W = J J' and q = J v: `freedoms` degrees of freedom under m contacts of Gaussian directions.
CoulombProblem random_problem(int dimension, int contacts, int freedoms, double mu, unsigned seed,
                              bool duplicate) {
  std::mt19937 generator(seed);
  const auto gauss = [&] {  // sum of uniforms: the same on every standard library
    double sum = -6;
    for (int k = 0; k < 12; ++k) sum += static_cast<double>(generator()) / 4294967296.0;
    return sum;
  };
  const int n = dimension * contacts;
  vector<double> j(static_cast<std::size_t>(n) * freedoms);
  vector<double> v(freedoms);
  for (double& value : j) value = gauss();
  for (double& value : v) value = gauss();
  if (duplicate) std::copy_n(j.begin(), dimension * freedoms, j.begin() + dimension * freedoms);
  CoulombProblem p;
  p.dimension = dimension;
  p.contacts = contacts;
  p.friction.assign(contacts, mu);
  p.matrix.assign(static_cast<std::size_t>(n) * n, 0.0);
  p.vector.assign(n, 0.0);
  for (int a = 0; a < n; ++a) {
    for (int k = 0; k < freedoms; ++k) {
      p.vector[a] += j[a * freedoms + k] * v[k];
      for (int b = 0; b < n; ++b) {
        p.matrix[a * n + b] += j[a * freedoms + k] * j[b * freedoms + k];
      }
    }
  }
  return p;
}

void expect_near(const vector<double>& actual, const vector<double>& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t k = 0; k < actual.size(); ++k) {
    EXPECT_NEAR(actual[k], expected[k], tolerance) << "entry " << k;
  }
}

void expect_refused(const CoulombProblem& p, const std::string& words) {
  try {
    carom::solve_coulomb(p);
    FAIL() << "accepted; expected: " << words;
  } catch (const carom::InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(CoulombCases, EveryRealProblemIsSolved) {
  const auto files = case_files();
  ASSERT_EQ(files.size(), 14u);
  for (const auto& file : files) {
    SCOPED_TRACE(file.filename().string());
    const CoulombProblem p = load(file);
    const CoulombResult result = carom::solve_coulomb(p);
    ASSERT_EQ(result.status, Status::solved) << "residual " << result.residual;
    EXPECT_LE(result.residual, 1e-12);
    EXPECT_LE(violation(p, result.reaction), 1e-12);
    EXPECT_LE(unit_step_residual(p, result.reaction), 1e-12);
    EXPECT_EQ(result.residual, carom::coulomb_residual(p, result.reaction));
    const vector<double> u = velocity_of(p, result.reaction);
    expect_near(result.velocity, u, 1e-13 * largest(p.vector));
  }
}

TEST(CoulombCases, ContactsOfVeryDifferentSizeEachHold) {
  const CoulombProblem p = load(carom::test::data_file("trust/coulomb_false_solved_scales.json"));
  const CoulombResult result = carom::solve_coulomb(p);
  ASSERT_EQ(result.status, Status::solved);
  EXPECT_LE(carom::test::coulomb_violation(p, result.reaction), 1e-12);
  // Contact 0 that pulls by a millionth of its own force, which no other feels.
  vector<double> pulled = result.reaction;
  pulled[0] = -1e-6 * std::hypot(pulled[1], pulled[2]);
  EXPECT_GE(carom::coulomb_residual(p, pulled), 1e-7);
}

TEST(CoulombSingle, SeparatingContactFeelsNothing) {
  for (const int d : {2, 3}) {
    const CoulombProblem p =
        single(d, {2, 1, 1}, d == 2 ? vector<double>{0.5, -3} : vector<double>{0.5, -3, 4}, 0.7);
    const CoulombResult result = carom::solve_coulomb(p);
    ASSERT_EQ(result.status, Status::solved);
    expect_near(result.reaction, vector<double>(d, 0.0), 1e-15);
    expect_near(result.velocity, p.vector, 1e-15);
  }
}

TEST(CoulombSingle, SeparatingContactWithoutFrictionAndSlipFeelsNothing) {
  for (const int d : {2, 3}) {
    const CoulombProblem p =
        single(d, {9, 1, 1}, d == 2 ? vector<double>{2, 0} : vector<double>{2, 0, 0}, 0.0);
    EXPECT_EQ(carom::coulomb_residual(p, vector<double>(d, 0.0)), 0.0);
    const CoulombResult result = carom::solve_coulomb(p);
    ASSERT_EQ(result.status, Status::solved);
    expect_near(result.reaction, vector<double>(d, 0.0), 1e-15);
  }
}

TEST(CoulombSingle, StickingContactStops) {
  // r = -W^-1 q = (2, -0.5, 0.25): |r_t| = 0.559 <= 0.5 * 2.
  const CoulombResult result = carom::solve_coulomb(single(3, {2, 4, 8}, {-4, 2, -2}, 0.5));
  ASSERT_EQ(result.status, Status::solved);
  expect_near(result.reaction, {2, -0.5, 0.25}, 1e-13);
  expect_near(result.velocity, {0, 0, 0}, 1e-13);
}

TEST(CoulombSingle, SlidingContactOpposesTheSlip) {
  // Isotropic W: r_n = 2, friction mu r_n = 1 against the direction (0.6, 0.8) of q_t.
  const CoulombResult result = carom::solve_coulomb(single(3, {2, 1, 1}, {-4, 3, 4}, 0.5));
  ASSERT_EQ(result.status, Status::solved);
  expect_near(result.reaction, {2, -0.6, -0.8}, 1e-13);
  expect_near(result.velocity, {0, 2.4, 3.2}, 1e-13);
}

TEST(CoulombSingle, PlanarSlidingWithCouplingInClosedForm) {
  // u_n = 0: r_n (W_nn - mu W_nt) = -q_n with W = [2 1; 1 3], mu = 0.25, so r_n = 1 / 1.75.
  CoulombProblem p = single(2, {2, 3}, {-1, 5}, 0.25);
  p.matrix = {2, 1, 1, 3};
  const CoulombResult result = carom::solve_coulomb(p);
  ASSERT_EQ(result.status, Status::solved);
  expect_near(result.reaction, {1 / 1.75, -0.25 / 1.75}, 1e-14);
  expect_near(result.velocity, {0, 5 + 0.25 / 1.75}, 1e-14);
}

TEST(CoulombSingle, WithoutFrictionOnlyTheNormalActs) {
  CoulombProblem p = single(3, {2, 1, 1}, {-4, 3, 4}, 0.0);
  p.matrix[3] = p.matrix[1] = 0.5;
  const CoulombResult result = carom::solve_coulomb(p);
  ASSERT_EQ(result.status, Status::solved);
  expect_near(result.reaction, {2, 0, 0}, 1e-14);
  expect_near(result.velocity, {0, 4, 4}, 1e-14);
}

TEST(CoulombResidual, MeasuresAKnownError) {
  const CoulombProblem p = single(3, {2, 2, 2}, {-4, 0, 0}, 0.5);
  // r_n is 0.5 short: u_n = -1, so the natural map moves g r_n by 1; relative to |q| = 4.
  EXPECT_DOUBLE_EQ(carom::coulomb_residual(p, {1.5, 0, 0}), 0.25);
  EXPECT_DOUBLE_EQ(carom::coulomb_residual(p, {2, 0, 0}), 0.0);
  EXPECT_TRUE(std::isnan(carom::coulomb_residual(p, {std::nan(""), 0, 0})));
  EXPECT_THROW(carom::coulomb_residual(p, {1, 0}), carom::InvalidInput);
}

TEST(CoulombProperties, UnitsDoNotMatter) {
  const CoulombProblem p = random_problem(3, 4, 6, 0.4, 5, false);
  const CoulombResult reference = carom::solve_coulomb(p);
  ASSERT_EQ(reference.status, Status::solved);
  for (const double force : {0x1p-80, 0x1p60}) {
    for (const double mobility : {0x1p-70, 0x1p90}) {
      CoulombProblem scaled = p;
      for (double& value : scaled.matrix) value *= mobility;
      for (double& value : scaled.vector) value *= force;
      const CoulombResult result = carom::solve_coulomb(scaled);
      ASSERT_EQ(result.status, Status::solved);
      EXPECT_LE(violation(scaled, result.reaction), 1e-11);
      EXPECT_EQ(result.iterations, reference.iterations);
      // Powers of two: the same arithmetic, hence the same bits.
      for (std::size_t k = 0; k < result.velocity.size(); ++k) {
        EXPECT_EQ(result.reaction[k], reference.reaction[k] * force / mobility);
      }
    }
  }
}

TEST(CoulombProperties, ADuplicatedContactChangesNoVelocity) {
  CoulombProblem one = single(3, {2, 1, 1}, {-4, 3, 4}, 0.5);
  CoulombProblem two = one;
  two.contacts = 2;
  two.friction = {0.5, 0.5};
  two.vector.insert(two.vector.end(), one.vector.begin(), one.vector.end());
  two.matrix.assign(36, 0.0);
  for (int a = 0; a < 6; ++a) {
    for (int b = 0; b < 6; ++b) two.matrix[a * 6 + b] = one.matrix[(a % 3) * 3 + b % 3];
  }
  const CoulombResult result = carom::solve_coulomb(two);
  ASSERT_EQ(result.status, Status::solved);
  EXPECT_LE(violation(two, result.reaction), 1e-12);
  expect_near(result.velocity, {0, 2.4, 3.2, 0, 2.4, 3.2}, 1e-12);
}

TEST(CoulombProperties, RandomAndRankDeficientProblems) {
  for (const int d : {2, 3}) {
    for (const double mu : {0.0, 0.05, 0.3, 1.0, 5.0}) {
      for (unsigned seed = 0; seed < 36; ++seed) {
        const int contacts = 1 + static_cast<int>(seed % 8);
        const int freedoms = seed % 3 == 0 ? d * contacts : (seed % 3 == 1 ? 6 : 3);
        const CoulombProblem p =
            random_problem(d, contacts, freedoms, mu, seed, contacts > 1 && seed % 4 == 1);
        const CoulombResult result = carom::solve_coulomb(p);
        ASSERT_EQ(result.status, Status::solved)
            << "d " << d << " mu " << mu << " seed " << seed << " residual " << result.residual;
        EXPECT_LE(violation(p, result.reaction), 1e-9) << "d " << d << " mu " << mu << " " << seed;
      }
    }
  }
}

TEST(CoulombProperties, HugeFrictionIsNeverAFalseSuccess) {
  // The natural map accepts r = 0 here up to |q_n| / mu, although the contact approaches.
  CoulombProblem p = single(2, {1, 1}, {-1, 0.5}, 1e12);
  EXPECT_DOUBLE_EQ(carom::coulomb_residual(p, {0, 0}), 1.0);
  const CoulombResult result = carom::solve_coulomb(p);
  ASSERT_EQ(result.status, Status::solved);
  expect_near(result.reaction, {1, -0.5}, 1e-14);
  for (unsigned seed = 0; seed < 20; ++seed) {
    const CoulombProblem q = random_problem(3, 4, 12, 1e5, seed, false);
    const CoulombResult other = carom::solve_coulomb(q);
    if (other.status == Status::solved) {
      const vector<double> u = velocity_of(q, other.reaction);
      for (int i = 0; i < q.contacts; ++i) EXPECT_GE(u[3 * i], -1e-8 * largest(q.vector));
    }
  }
}

TEST(CoulombEdges, NothingToSolve) {
  EXPECT_EQ(carom::solve_coulomb(CoulombProblem{}).status, Status::solved);
  const CoulombResult rest = carom::solve_coulomb(single(3, {1, 1, 1}, {0, 0, 0}, 0.3));
  EXPECT_EQ(rest.status, Status::solved);
  expect_near(rest.reaction, {0, 0, 0}, 0);
}

TEST(CoulombEdges, UnsolvableProblemsAreNotCalledSolved) {
  CoulombProblem immovable = single(3, {0, 0, 0}, {-1, 0, 0}, 0.5);
  CoulombProblem opposing = single(2, {1, 1, 1}, {-1, 0}, 0.0);
  opposing.contacts = 2;  // two frictionless contacts pull one mass towards both walls
  opposing.friction = {0, 0};
  opposing.matrix = {1, 0, -1, 0, 0, 1, 0, 0, -1, 0, 1, 0, 0, 0, 0, 1};
  opposing.vector = {-1, 0, -1, 0};
  for (const CoulombProblem& p : {immovable, opposing}) {
    const CoulombResult result = carom::solve_coulomb(p);
    EXPECT_NE(result.status, Status::solved);
    EXPECT_NE(result.status, Status::inaccurate);
    EXPECT_FALSE(result.residual <= 1e-9);
    for (const double value : result.reaction) EXPECT_TRUE(std::isnan(value));
  }
  EXPECT_EQ(carom::solve_coulomb(immovable).status, Status::infeasible);
  // Tangents of the opposing pair decouple, so no row proves infeasibility on its own.
  EXPECT_EQ(carom::solve_coulomb(opposing).status, Status::iteration_limit);
}

TEST(CoulombEdges, AnIterationLimitIsHonest) {
  const CoulombProblem p = load(carom::test::data_file("fc3d/siconos_OneObject-i100000-499.json"));
  const CoulombResult result = carom::solve_coulomb(p, {.tolerance = 1e-9, .max_iterations = 2});
  EXPECT_NE(result.status, Status::solved);
  EXPECT_LE(result.iterations, 2);
  EXPECT_GT(result.residual, 1e-9);
}

TEST(CoulombEdges, OverflowIsNotCalledSolved) {
  const double top = std::numeric_limits<double>::max();
  const CoulombResult result =
      carom::solve_coulomb(single(3, {1e-300, 1e-300, 1e-300}, {-top, 0, 0}, 0.5));
  EXPECT_NE(result.status, Status::solved);
}

TEST(CoulombEdges, BadInputsAreRefusedByName) {
  const CoulombProblem good = single(3, {1, 1, 1}, {-1, 0, 0}, 0.5);
  CoulombProblem p = good;
  p.friction[0] = -0.5;
  expect_refused(p, "friction[0] is -0.5: must be >= 0");
  p = good;
  p.friction[0] = std::numeric_limits<double>::infinity();
  expect_refused(p, "friction[0] is inf: must be finite");
  p = good;
  p.matrix[5] = std::nan("");
  expect_refused(p, "matrix[5] is nan: must be finite");
  p = good;
  p.vector[2] = -std::numeric_limits<double>::infinity();
  expect_refused(p, "vector[2] is -inf: must be finite");
  p = good;
  p.matrix.pop_back();
  expect_refused(p, "matrix.size() is 8: must be 9");
  p = good;
  p.vector.push_back(1);
  expect_refused(p, "vector.size() is 4: must be 3");
  p = good;
  p.friction.clear();
  expect_refused(p, "friction.size() is 0: must be 1");
  p = good;
  p.dimension = 4;
  expect_refused(p, "dimension is 4: must be 2 or 3");
  p = good;
  p.contacts = -1;
  expect_refused(p, "contacts is -1: must be >= 0");
  EXPECT_THROW(carom::solve_coulomb(good, {.tolerance = std::nan(""), .max_iterations = 10}),
               carom::InvalidInput);
  EXPECT_THROW(carom::solve_coulomb(good, {.tolerance = 1e-9, .max_iterations = 0}),
               carom::InvalidInput);
}

}  // namespace
