#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <carom/status.hpp>

/// What small quadratic and linear programs of integers are, in exact arithmetic: the oracle that
/// the solvers' verdicts are held against.
namespace carom::test {

using Wide = __int128;

/// minimise 1/2 x'P x + q'x subject to l <= A x <= u over free x; all numbers are integers.
struct IntegerProgram {
  int variables = 0;
  int rows = 0;
  std::vector<int> hessian;               ///< P, [n, n], symmetric
  std::vector<int> vector;                ///< q, [n]
  std::vector<int> matrix;                ///< A, [m, n]
  std::vector<std::optional<int>> lower;  ///< [m]
  std::vector<std::optional<int>> upper;  ///< [m]
};

/// A verdict with its exact proof, checked before it is returned. Vectors are numerators over
/// `denominator`.
struct ExactVerdict {
  Status status =
      Status::numerical_error;  ///< solved, infeasible, unbounded, nonconvex; else unknown
  std::vector<Wide> point;      ///< x of solved and unbounded problems, [n]
  Wide denominator = 1;
  double objective = 0.0;  ///< of solved problems
};

/// Decides by the lexicographic method of Lemke on the optimality conditions, without fractions
/// (Edmonds' integer pivoting) in 128 bits. Nonconvex is what is not convex where the equations
/// hold. Where 128 bits do not suffice, or P is convex there only, the status is numerical_error.
ExactVerdict decide(const IntegerProgram& program);

/// Whether no x meets the rows, whatever the objective.
bool has_no_point(IntegerProgram program);

/// z of LCP(M, q) with M, q of integers, by the same method: solved or ray.
struct ExactComplementarity {
  Status status = Status::numerical_error;
  std::vector<Wide> solution;
  Wide denominator = 1;
};
ExactComplementarity decide_lcp(int order, const std::vector<Wide>& matrix,
                                const std::vector<Wide>& vector);

}  // namespace carom::test
