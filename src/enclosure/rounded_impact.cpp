#include "enclosure/rounded_impact.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include <Eigen/Dense>

#include "enclosure/exact_impact.hpp"

namespace carom::enclosure {

Integer rounded(double x, int bits) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  Integer value = static_cast<std::int64_t>(std::ldexp(fraction, 53));
  const int shift = exponent - 53 + bits;
  if (shift >= 0) return value << static_cast<unsigned>(shift);
  if (-shift > 60) return Integer(0);
  const bool negative = value < 0;
  Integer size = negative ? Integer(-value) : value;
  size += Integer(1) << static_cast<unsigned>(-shift - 1);
  size >>= static_cast<unsigned>(-shift);
  return negative ? Integer(-size) : size;
}

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixMap = Eigen::Map<const Matrix>;

constexpr int kBits = 44;
constexpr double kEnergyMargin = 1.0 + 1e-6;  // for the rounding of it all
constexpr double kRounding = 1e-11;           // of a row's own response, left after those before it
constexpr double kClear = 1e-5;               // likewise: independent, whatever is rounded
constexpr double kSameData = 0x1p-40;  // of the largest entry: what rounding may have changed
constexpr double kFlat = 1e-3;         // volume of unit rows: far from dependent above it
constexpr unsigned kMostRows = 12;     // whose sets are looked through
constexpr double kSlippery = 64.0;     // largest friction of rounded data
constexpr double kAlike = 4096.0;      // largest of rows' responses, times the smallest

/// Largest common divisor that is a power of two up to 2^kBits.
Integer content(const Vector& v) {
  unsigned shift = kBits;
  for (const Integer& x : v) {
    if (x != 0) shift = std::min(shift, static_cast<unsigned>(lsb(Integer(abs(x)))));
  }
  return Integer(1) << shift;
}

/// The least power of two above x >= 0; 1 for 0.
double scale_above(double x) {
  int exponent = 0;
  if (x > 0.0) std::frexp(x, &exponent);
  return std::ldexp(1.0, exponent);
}

/// Rows in the order in which a Cholesky factorisation with unit diagonal takes them.
struct Order {
  std::vector<int> rows;  ///< those whose pivots are not rounding, then the others
  std::size_t some = 0;   ///< how many these are
  double least = 1.0;     ///< the smallest of their pivots
};

Order pivot_order(const Matrix& delassus) {
  const auto rows = static_cast<int>(delassus.rows());
  Eigen::VectorXd inverse(rows);
  for (int k = 0; k < rows; ++k) {
    inverse(k) = delassus(k, k) > 0.0 ? 1.0 / std::sqrt(delassus(k, k)) : 0.0;
  }
  Matrix work = inverse.asDiagonal() * delassus * inverse.asDiagonal();
  Order order;
  std::vector<bool> taken(static_cast<std::size_t>(rows), false);
  for (;;) {
    int pivot = -1;
    for (int k = 0; k < rows; ++k) {
      if (work(k, k) > kRounding && (pivot < 0 || work(k, k) > work(pivot, pivot) + 1e-6)) {
        pivot = k;
      }
    }
    if (pivot < 0) break;
    order.rows.push_back(pivot);
    order.least = std::min(order.least, work(pivot, pivot));
    taken[static_cast<std::size_t>(pivot)] = true;
    const Eigen::VectorXd column = work.col(pivot) / std::sqrt(work(pivot, pivot));
    work -= column * column.transpose();
    work.row(pivot).setZero();
    work.col(pivot).setZero();
  }
  order.some = order.rows.size();
  for (int k = 0; k < rows; ++k) {
    if (!taken[static_cast<std::size_t>(k)]) order.rows.push_back(k);
  }
  return order;
}

/// Normals, then rows of slip.
Matrix rows_of(const ImpactProblem& problem) {
  const int m = problem.contacts, nv = problem.velocities, tangents = problem.dimension - 1;
  Matrix rows(problem.dimension * m, nv);
  rows.topRows(m) = MatrixMap(problem.normal_jacobian.data(), m, nv);
  const MatrixMap tangent(problem.tangent_jacobian.data(), tangents * m, nv);
  if (tangents == 1) {
    rows.bottomRows(m) = tangent;
    return rows;
  }
  for (int i = 0; i < m; ++i) {
    rows.row(m + 2 * i) = tangent.row(2 * i) + tangent.row(2 * i + 1);
    rows.row(m + 2 * i + 1) = tangent.row(2 * i) - tangent.row(2 * i + 1);
  }
  return rows;
}

/// What doubles know of an impact.
struct NearImpact {
  Matrix delassus;
  Eigen::VectorXd u;
  Order order;
  bool clear = false;  ///< that rounding changes nothing but numbers, but for dependent rows

  /// Of their largest, what a proof allows rounded data to be off, dependent rows by what they are
  /// made of. Half a bit of 44, and the rounding of the numbers before that, are less.
  [[nodiscard]] double rounding() const { return kSameData / order.least; }

  explicit NearImpact(const ImpactProblem& problem) {
    const int nv = problem.velocities;
    const MatrixMap mass(problem.mass_matrix.data(), nv, nv);
    const Matrix jacobian = rows_of(problem);
    const Eigen::LLT<Eigen::MatrixXd> factor(mass);
    const Matrix half = factor.matrixL().solve(jacobian.transpose());
    delassus = half.transpose() * half;
    u = jacobian * Eigen::Map<const Eigen::VectorXd>(problem.velocity.data(), nv);
    order = pivot_order(delassus);
    const double least = order.least;
    double largest = 0.0, smallest = std::numeric_limits<double>::infinity();
    for (Eigen::Index k = 0; k < delassus.rows(); ++k) {
      if (delassus(k, k) == 0.0) continue;
      largest = std::max(largest, delassus(k, k));
      smallest = std::min(smallest, delassus(k, k));
    }
    clear = factor.info() == Eigen::Success && least >= kClear && largest <= kAlike * smallest;
    for (int j = 0; j < nv; ++j) {
      const double own = factor.matrixLLT()(j, j);
      clear = clear && own * own >= kClear * mass(j, j);
    }
    for (const std::vector<double>* each : {&problem.friction, &problem.friction_high}) {
      for (const double mu : *each) clear = clear && mu <= kSlippery;
    }
  }
};

/// Sets of as many rows as there are coordinates that rounding could make a basis, or none.
std::vector<std::vector<int>> flat_sets(const NearImpact& near) {
  const auto rows = static_cast<unsigned>(near.delassus.rows());
  const auto some = static_cast<Eigen::Index>(near.order.some);
  std::vector<std::vector<int>> flat;
  if (some == near.delassus.rows() || rows > kMostRows) return flat;
  const auto length = [&](int k) { return std::sqrt(near.delassus(k, k)); };
  Matrix own(some, some), all(some, near.delassus.rows());
  for (Eigen::Index a = 0; a < some; ++a) {
    const int k = near.order.rows[static_cast<std::size_t>(a)];
    for (int l = 0; l < all.cols(); ++l) {
      all(a, l) = length(l) > 0.0 ? near.delassus(k, l) / (length(k) * length(l)) : 0.0;
    }
    for (Eigen::Index b = 0; b < some; ++b) {
      const int l = near.order.rows[static_cast<std::size_t>(b)];
      own(a, b) = near.delassus(k, l) / (length(k) * length(l));
    }
  }
  const Matrix place = own.llt().matrixL().solve(all);  // of unit rows, in the energy's coordinates
  for (unsigned set = 0; set < 1U << rows; ++set) {
    if (std::popcount(set) != some) continue;
    std::vector<int> members;
    for (unsigned k = 0; k < rows; ++k) {
      if ((set >> k & 1U) != 0) members.push_back(static_cast<int>(k));
    }
    if (std::abs(Matrix(place(Eigen::all, members)).determinant()) < kFlat) {
      flat.push_back(std::move(members));
    }
  }
  return flat;
}

/// Whether the rounded rows are dependent where the problem's are, and far from it elsewhere.
bool keeps_dependence(const ImpactProblem& problem, const NearImpact& near,
                      const RoundedImpact& impact) {
  if (!near.clear || near.order.some != impact.basis.size()) return false;
  const std::vector<std::vector<int>> flat = flat_sets(near);
  const std::size_t most = std::min(near.order.rows.size(), problem.velocity.size());
  if (flat.empty() && near.order.some == most) return true;
  const std::vector<Vector> exact = integer_rows(problem);
  if (independent(exact, near.order.rows).size() != near.order.some) return false;
  return std::all_of(flat.begin(), flat.end(), [&](const std::vector<int>& set) {
    return independent(exact, set).size() < set.size() &&
           independent(impact.row, set).size() < set.size();
  });
}

/// u_k^2 <= 2 K A_kk as rows, of every row of J.
void add_energy(double twice, const std::function<double(int)>& own, RoundedImpact& result) {
  for (std::size_t at = 0; at < result.row.size(); ++at) {
    const double response = own(static_cast<int>(at));
    const double most = std::sqrt(std::max(0.0, twice * response)) / result.unit;
    for (const int sign : {1, -1}) {
      Vector row = result.row[at];
      for (Integer& x : row) x = sign * (x << kBits);
      row[0] = rounded(most * quotient(result.scale[at], Integer(1)) * kEnergyMargin, kBits) + 1;
      result.energy.push_back(std::move(row));
    }
  }
}

bool friction_varies(const ImpactProblem& problem) {
  return !problem.friction_high.empty() && problem.friction_high != problem.friction;
}

double friction_of(const ImpactProblem& problem, int contact, bool most) {
  const bool high = most && !problem.friction_high.empty();
  return (high ? problem.friction_high : problem.friction)[static_cast<std::size_t>(contact)];
}

/// Stores' coordinates in the same unit as velocities, but for a power of two.
int bits_of_stores(double largest_response) {
  return largest_response > 0.0 ? std::ilogb(largest_response) : 0;
}

RoundedImpact rounded_impact(const ImpactProblem& problem, const NearImpact& near,
                             const std::vector<int>& stores) {
  const int m = problem.contacts, rows = problem.dimension * m;
  const Matrix& delassus = near.delassus;
  const Eigen::VectorXd& u = near.u;
  RoundedImpact result;
  result.rounding = near.rounding();
  result.contacts = m;
  result.slips = problem.dimension - 1;
  result.basis.assign(near.order.rows.begin(),
                      near.order.rows.begin() + static_cast<std::ptrdiff_t>(near.order.some));
  std::sort(result.basis.begin(), result.basis.end());
  const auto size = static_cast<int>(result.basis.size());
  Matrix own(size, size), all(size, rows);
  for (int a = 0; a < size; ++a) {
    all.row(a) = delassus.row(result.basis[static_cast<std::size_t>(a)]);
    for (int b = 0; b < size; ++b) own(a, b) = all(a, result.basis[static_cast<std::size_t>(b)]);
  }
  result.response.assign(own.data(), own.data() + own.size());
  result.stores = stores;
  result.store_bits = bits_of_stores(rows > 0 ? delassus.diagonal().maxCoeff() : 0.0);
  const Matrix shares = size > 0 ? Matrix(own.ldlt().solve(all)) : Matrix(0, rows);
  for (int k = 0; k < rows; ++k) {
    Vector row(result.size());
    const auto place = std::find(result.basis.begin(), result.basis.end(), k);
    if (place != result.basis.end()) {
      row[static_cast<std::size_t>(place - result.basis.begin()) + 1] = Integer(1) << kBits;
    } else {
      for (int a = 0; a < size; ++a) {
        row[static_cast<std::size_t>(a) + 1] = rounded(shares(a, k), kBits);
      }
    }
    const Integer divisor = content(row);
    for (Integer& x : row) x /= divisor;
    result.scale.push_back((Integer(1) << kBits) / divisor);
    result.row.push_back(std::move(row));
  }
  result.unit = scale_above(u.size() > 0 ? u.cwiseAbs().maxCoeff() : 0.0);
  result.start.emplace_back(Integer(1) << kBits);
  for (const int k : result.basis) result.start.push_back(rounded(u(k) / result.unit, kBits));
  result.start.resize(result.size());
  make_primitive(result.start);
  Eigen::VectorXd own_u(size);
  for (int a = 0; a < size; ++a) own_u(a) = u(result.basis[static_cast<std::size_t>(a)]);
  const double twice = size > 0 ? own_u.dot(own.ldlt().solve(own_u)) : 0.0;
  add_energy(
      twice, [&](int k) { return delassus(k, k); }, result);
  result.friction_varies = friction_varies(problem);
  for (int i = 0; i < m; ++i) {
    for (int corner = 0; corner < result.corners(); ++corner) {
      const double mu = friction_of(problem, i, result.most(corner));
      const int bits = kBits + (mu > 1.0 ? std::min(std::ilogb(mu) + 1, 64) : 0);
      Eigen::VectorXd rate(size);
      for (int a = 0; a < size; ++a) {
        rate(a) = all(a, i);
        for (int s = 0; s < result.slips; ++s) {
          const double share = -RoundedImpact::opposed(corner, s) * mu / result.slips;
          rate(a) += share * all(a, result.slip_row(i, s));
        }
      }
      const double most = size > 0 ? rate.cwiseAbs().maxCoeff() : 0.0;
      Vector push(1);
      for (int a = 0; a < size; ++a) {
        push.push_back(most > 0.0 ? rounded(rate(a) / most, bits) : Integer(0));
      }
      push.resize(result.size());
      if (const std::size_t store = result.store_at(i); store > 0 && most > 0.0) {
        push[store] = rounded(std::ldexp(1.0, result.store_bits) / most, bits);
      }
      make_primitive(push);
      Eigen::Index largest = 0;
      if (size > 0) rate.cwiseAbs().maxCoeff(&largest);
      result.impulse.push_back(
          most > 0.0
              ? quotient(push[static_cast<std::size_t>(largest) + 1], Integer(1)) / rate(largest)
              : 1.0);
      result.push.push_back(std::move(push));
    }
  }
  return result;
}

unsigned longest(const std::vector<Vector>& vectors) {
  unsigned most = 0;
  for (const Vector& v : vectors) {
    for (const Integer& x : v) {
      if (x != 0) most = std::max(most, static_cast<unsigned>(msb(Integer(abs(x)))) + 1);
    }
  }
  return most;
}

/// Every coordinate in a unit of its own in which its response is about 1.
RoundedImpact exact_impact(const ImpactProblem& problem, const ExactImpact& exact,
                           const std::vector<int>& basis, const std::vector<int>& stores,
                           std::optional<int> store_bits) {
  const int m = problem.contacts, rows = exact.rows();
  RoundedImpact result;
  result.stores = stores;
  double response = 0.0;
  for (int k = 0; k < rows; ++k) response = std::max(response, exact.near_response(k, k));
  result.store_bits = store_bits.value_or(bits_of_stores(response));
  result.contacts = m;
  result.slips = problem.dimension - 1;
  result.basis = basis;
  const std::size_t size = basis.size();
  std::vector<int> bits(size);
  for (std::size_t a = 0; a < size; ++a) {
    const double own = exact.near_response(basis[a], basis[a]);
    bits[a] = own > 0.0 ? -(std::ilogb(own) / 2) : 0;
  }
  const int least = size > 0 ? *std::min_element(bits.begin(), bits.end()) : 0;
  for (int k = 0; k < rows; ++k) {
    Vector row(result.size());
    const auto place = std::find(basis.begin(), basis.end(), k);
    if (place != basis.end()) {
      const auto a = static_cast<std::size_t>(place - basis.begin());
      row[a + 1] = 1;
      result.scale.push_back(Integer(1) << static_cast<unsigned>(bits[a] - least));
      result.row.push_back(std::move(row));
      continue;
    }
    const Vector shares = exact.shares(k, basis);
    std::vector<Dyadic> all;
    for (std::size_t a = 0; a < size; ++a) {
      all.push_back(shares[a] == 0 ? Dyadic{} : Dyadic{shares[a], least - bits[a]});
    }
    all.push_back({shares[size], 0});
    Vector numbers = align(all).numbers;
    make_primitive(numbers);
    for (std::size_t a = 0; a < size; ++a) row[a + 1] = numbers[a];
    result.scale.push_back(numbers[size]);
    result.row.push_back(std::move(row));
  }
  double largest = 0.0;
  std::vector<Dyadic> speeds;
  for (std::size_t a = 0; a < size; ++a) {
    speeds.push_back(exact.velocity(basis[a]).shifted(bits[a]));
    largest = std::max(largest, std::abs(speeds.back().rounded()));
  }
  const double unit = scale_above(largest);
  result.unit = std::ldexp(unit, -least);
  speeds.insert(speeds.begin(), Dyadic{Integer(1), std::ilogb(unit)});
  speeds.resize(result.size());
  result.start = align(speeds).numbers;
  make_primitive(result.start);
  for (const int a : basis) {
    for (const int b : basis) {
      const auto at = result.response.size();
      result.response.push_back(
          std::ldexp(exact.near_response(a, b), bits[at / size] + bits[at % size]));
    }
  }
  add_energy(
      exact.twice_energy(basis), [&](int k) { return exact.near_response(k, k); }, result);
  result.friction_varies = friction_varies(problem);
  for (int i = 0; i < m; ++i) {
    for (int corner = 0; corner < result.corners(); ++corner) {
      const Dyadic mu = dyadic(friction_of(problem, i, result.most(corner)) / result.slips);
      std::vector<Dyadic> rates = {Dyadic{}};
      for (std::size_t a = 0; a < size; ++a) {
        Dyadic rate = exact.response(basis[a], i);
        for (int s = 0; s < result.slips; ++s) {
          const Dyadic share{Integer(-RoundedImpact::opposed(corner, s)), 0};
          rate = rate + share * mu * exact.response(basis[a], result.slip_row(i, s));
        }
        rates.push_back(rate.number == 0 ? Dyadic{} : rate.shifted(bits[a]));
      }
      rates.resize(result.size());
      if (const std::size_t store = result.store_at(i); store > 0) {
        rates[store] = Dyadic{exact.divisor(), least + result.store_bits};
      }
      Aligned push = align(rates);
      make_primitive(push.numbers);
      double fastest = 0.0;
      result.impulse.push_back(1.0);
      for (std::size_t a = 0; a < size; ++a) {
        const double rate = rates[a + 1].rounded();
        if (!(std::abs(rate) > fastest)) continue;
        fastest = std::abs(rate);
        result.impulse.back() =
            std::ldexp(quotient(push.numbers[a + 1] * exact.divisor(), Integer(1)) / rate, -least);
      }
      result.push.push_back(std::move(push.numbers));
    }
  }
  const unsigned most = std::max(longest(result.push), longest({result.start}));
  result.length = std::max(1U, (most + kBits - 1) / kBits);
  return result;
}

}  // namespace

double RoundedImpact::velocity(int k, const Vector& w) const {
  const auto at = static_cast<std::size_t>(k);
  return unit * quotient(dot(row[at], w), scale[at] * w[0]);
}

std::optional<RoundedImpact> round_impact(const ImpactProblem& problem, bool exact_data,
                                          const std::vector<int>& stores) {
  const NearImpact near(problem);
  if (near.clear && !exact_data) {
    RoundedImpact rounded = rounded_impact(problem, near, stores);
    if (keeps_dependence(problem, near, rounded)) return rounded;
  }
  const ExactImpact exact(problem);
  if (!exact.definite()) return std::nullopt;
  return exact_impact(problem, exact, exact.independent(near.order.rows), stores, {});
}

std::vector<double> stored_shares(const ImpactProblem& problem, RestitutionLaw law) {
  std::vector<double> shares;
  for (const double e : problem.restitution_high) {
    if (law != RestitutionLaw::stronge) {
      shares.push_back(e > 0.0 ? 1.0 : 0.0);
    } else {
      shares.push_back(std::min(e * e * (1.0 + 0x1p-51), 1.0));
    }
  }
  if (std::all_of(shares.begin(), shares.end(), [](double share) { return share == 0.0; })) {
    shares.clear();
  }
  return shares;
}

std::vector<double> least_stored_shares(const ImpactProblem& problem, RestitutionLaw law) {
  std::vector<double> shares;
  if (law != RestitutionLaw::stronge) return shares;
  const std::vector<double>& least =
      problem.restitution_low.empty() ? problem.restitution_high : problem.restitution_low;
  for (const double e : least) shares.push_back(e * e * (1.0 - 0x1p-51));
  return shares;
}

std::optional<RoundedImpact> given_impact(const ImpactProblem& problem,
                                          const std::vector<int>& basis,
                                          const std::vector<int>& stores, int store_bits) {
  const ExactImpact exact(problem);
  if (!exact.definite() || exact.independent(basis) != basis) return std::nullopt;
  std::vector<int> all = basis;
  for (int k = 0; k < exact.rows(); ++k) all.push_back(k);
  if (exact.independent(all).size() != basis.size()) return std::nullopt;
  return exact_impact(problem, exact, basis, stores, store_bits);
}

namespace {

bool is_near(double a, double b, double size) { return std::abs(a - b) <= kSameData * size; }

/// Whether two integer vectors are one direction but for rounding.
bool same_direction(const Vector& a, const Vector& b) {
  if (a.size() != b.size()) return false;
  Integer largest_a = 0, largest_b = 0;
  for (const Integer& x : a) largest_a = std::max(largest_a, Integer(abs(x)));
  for (const Integer& x : b) largest_b = std::max(largest_b, Integer(abs(x)));
  if (largest_a == 0 || largest_b == 0) return largest_a == largest_b;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!is_near(quotient(a[i], largest_a), quotient(b[i], largest_b), 1.0)) return false;
  }
  return true;
}

/// The same impact in coordinates of the same rows, each the contact velocity itself.
bool is_near(const RoundedImpact& impact, const RoundedImpact& exact, double least) {
  const std::size_t size = impact.basis.size();
  const auto coordinate = [&](const RoundedImpact& of, std::size_t a) -> const Integer& {
    return of.scale[static_cast<std::size_t>(of.basis[a])];
  };
  const auto shown = [&](Vector numbers) {  // of w, in units of velocity up to a factor
    Integer product = 1;
    for (std::size_t a = 0; a < size; ++a) product *= coordinate(exact, a);
    for (std::size_t a = 0; a < size; ++a) {
      numbers[a + 1] = numbers[a + 1] * (product / coordinate(exact, a));
    }
    for (std::size_t s = size + 1; s < numbers.size(); ++s) numbers[s] *= product;
    return numbers;
  };
  const auto no_stores = [&](const Vector& numbers) {
    return std::all_of(numbers.begin() + static_cast<std::ptrdiff_t>(size) + 1, numbers.end(),
                       [](const Integer& x) { return x == 0; });
  };
  if (!no_stores(impact.start) || !std::all_of(impact.row.begin(), impact.row.end(), no_stores)) {
    return false;
  }
  for (std::size_t a = 0; a < size; ++a) {
    Vector row(impact.size());
    row[a + 1] = 1;
    if (impact.row[static_cast<std::size_t>(impact.basis[a])] != row) return false;
    if (coordinate(impact, a) != 1) return false;
  }
  double speed = 0.0;
  for (std::size_t k = 0; k < exact.row.size(); ++k) {
    speed = std::max(speed, std::abs(exact.velocity(static_cast<int>(k), exact.start)));
  }
  for (std::size_t k = 0; k < exact.row.size(); ++k) {
    const auto at = static_cast<int>(k);
    const double u = exact.velocity(at, exact.start);
    double largest = 1.0;
    for (std::size_t a = 0; a < size; ++a) {
      const double share = quotient(impact.row[k][a + 1], impact.scale[k]);
      const double meant = quotient(exact.row[k][a + 1] * coordinate(exact, a), exact.scale[k]);
      largest = std::max(largest, std::abs(meant));
      if (!is_near(share, meant, largest / least)) return false;
    }
    if (!is_near(impact.velocity(at, impact.start), u, largest * speed / least)) return false;
  }
  for (std::size_t g = 0; g < exact.push.size(); ++g) {
    if (!same_direction(impact.push[g], shown(exact.push[g]))) return false;
    for (std::size_t s = size + 1; s < impact.size(); ++s) {  // stores of other contacts
      if (exact.push[g][s] == 0 && impact.push[g][s] != 0) return false;
    }
  }
  return true;
}

/// What the energy's rows of `impact` may not be below, by the same of the exact problem.
bool bounds_energy(const RoundedImpact& impact, const RoundedImpact& exact) {
  if (impact.energy.size() != exact.energy.size()) return false;
  for (std::size_t e = 0; e < exact.energy.size(); ++e) {
    const std::size_t k = e / 2;
    const Integer sign = e % 2 == 0 ? 1 : -1;
    const auto bound = [&](const RoundedImpact& of) {
      return of.unit * std::ldexp(quotient(of.energy[e][0], of.scale[k]), -kBits);
    };
    for (std::size_t a = 1; a < impact.size(); ++a) {
      if (impact.energy[e][a] != sign * (impact.row[k][a] << kBits)) return false;
    }
    const double needed = bound(exact) / std::sqrt(kEnergyMargin);
    if (!(bound(impact) >= needed)) return false;
  }
  return true;
}

}  // namespace

std::optional<double> rounding_between(const RoundedImpact& impact, const ImpactProblem& problem) {
  const std::optional<RoundedImpact> exact =
      given_impact(problem, impact.basis, impact.stores, impact.store_bits);
  if (!exact || impact.contacts != exact->contacts || impact.row.size() != exact->row.size() ||
      impact.push.size() != exact->push.size() || !bounds_energy(impact, *exact)) {
    return std::nullopt;
  }
  if (impact.row == exact->row && impact.scale == exact->scale && impact.start == exact->start &&
      impact.push == exact->push && impact.unit == exact->unit) {
    return 0.0;
  }
  const NearImpact near(problem);
  if (!keeps_dependence(problem, near, impact) || !is_near(impact, *exact, near.order.least)) {
    return std::nullopt;
  }
  return near.rounding();
}

}  // namespace carom::enclosure
