#pragma once

#include <vector>

#include <boost/multiprecision/cpp_int.hpp>

#include "enclosure/recycled.hpp"

namespace carom::enclosure {

/// Without memory of its own up to 512 bits, unlimited beyond.
using Integer = boost::multiprecision::number<
    boost::multiprecision::cpp_int_backend<512, 0, boost::multiprecision::signed_magnitude,
                                           boost::multiprecision::unchecked>,
    boost::multiprecision::et_off>;
using Vector = std::vector<Integer, RecycledAllocator<Integer>>;

Integer dot(const Vector& a, const Vector& b);
Vector negative(const Vector& v);
/// Divides by the greatest common divisor.
void make_primitive(Vector& v);
/// a / b as a double, whatever their sizes; b != 0.
double quotient(const Integer& a, const Integer& b);

}  // namespace carom::enclosure
