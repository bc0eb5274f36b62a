#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

/// Polynomials of a few variables and small degrees.
namespace carom::stability {

inline constexpr std::size_t kMostPolynomialVariables = 5;

/// Powers of the variables.
using Monomial = std::array<std::uint8_t, kMostPolynomialVariables>;

inline Monomial operator+(Monomial a, const Monomial& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::uint8_t>(a[i] + b[i]);
  return a;
}

/// Monomials of `variables` variables with degrees `low` to `high`, by degree.
inline std::vector<Monomial> monomials(std::size_t variables, int low, int high) {
  std::vector<std::vector<Monomial>> of_degree{{Monomial{}}};
  for (int degree = 1; degree <= high; ++degree) {
    std::vector<Monomial>& next = of_degree.emplace_back();
    for (const Monomial& m : of_degree[static_cast<std::size_t>(degree) - 1]) {
      std::size_t last = variables;  // the last variable in m: no product is made twice
      while (last > 0 && m[last - 1] == 0) --last;
      for (std::size_t i = last > 0 ? last - 1 : 0; i < variables; ++i) {
        Monomial product = m;
        ++product[i];
        next.push_back(product);
      }
    }
  }
  std::vector<Monomial> all;
  for (int degree = low; degree <= high; ++degree) {
    const auto& some = of_degree[static_cast<std::size_t>(degree)];
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

class Polynomial {
 public:
  Polynomial() = default;
  Polynomial(double value) { add({}, value); }  // NOLINT: numbers are polynomials

  void add(const Monomial& monomial, double value) {
    if (value != 0.0) terms_[monomial] += value;
  }
  [[nodiscard]] const std::map<Monomial, double>& terms() const { return terms_; }
  [[nodiscard]] double coefficient(const Monomial& monomial) const {
    const auto found = terms_.find(monomial);
    return found == terms_.end() ? 0.0 : found->second;
  }
  [[nodiscard]] double at(const std::vector<double>& x) const {
    double sum = 0.0;
    for (const auto& [monomial, value] : terms_) {
      double term = value;
      for (std::size_t i = 0; i < x.size(); ++i) {
        for (int k = 0; k < monomial[i]; ++k) term *= x[i];
      }
      sum += term;
    }
    return sum;
  }
  friend Polynomial operator*(const Polynomial& a, const Polynomial& b) {
    Polynomial product;
    for (const auto& [m, value] : a.terms_) {
      for (const auto& [n, other] : b.terms_) product.add(m + n, value * other);
    }
    return product;
  }
  friend Polynomial operator+(Polynomial a, const Polynomial& b) {
    for (const auto& [m, value] : b.terms_) a.add(m, value);
    return a;
  }
  friend Polynomial operator-(Polynomial a, const Polynomial& b) {
    return std::move(a) + Polynomial(-1.0) * b;
  }

 private:
  std::map<Monomial, double> terms_;
};

}  // namespace carom::stability
