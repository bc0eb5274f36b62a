#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>

/// Polyhedral cones in exact integers: from rows to generators and back by the double description
/// method (Motzkin et al., 1953; Fukuda and Prodon, 1996).
namespace carom::enclosure {

/// Without memory of its own up to 512 bits, unlimited beyond.
using Integer = boost::multiprecision::number<
    boost::multiprecision::cpp_int_backend<512, 0, boost::multiprecision::signed_magnitude,
                                           boost::multiprecision::unchecked>,
    boost::multiprecision::et_off>;
using Vector = std::vector<Integer>;

Integer dot(const Vector& a, const Vector& b);
/// Divides by the greatest common divisor.
void make_primitive(Vector& v);
/// a / b as a double, whatever their sizes; b != 0.
double quotient(const Integer& a, const Integer& b);

struct Generators {
  std::vector<Vector> lines;  ///< a basis of the largest linear subspace
  std::vector<Vector> rays;   ///< with the lines a minimal set; primitive
};

/// Generators of {y in R^n: e.y = 0 for all equations e, r.y >= 0 for all rows r}. Applied to the
/// lines and rays of a cone as equations and rows it yields the cone's own equations and rows.
Generators generators(std::size_t n, std::span<const Vector> equations,
                      std::span<const Vector> rows);

struct Hull {
  std::vector<Vector> equations, rows;  ///< of cone(points): e.y = 0, r.y >= 0; minimal
  std::vector<Vector> cut;              ///< rays of its part where s.y >= 0 for all sides
};

/// Both descriptions at once: what the points say of the rows is not computed again. Those with
/// small numbers first. The points are primitive.
Hull hull(std::size_t n, std::span<const Vector> points, std::span<const Vector> sides);

}  // namespace carom::enclosure
