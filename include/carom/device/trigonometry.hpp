#pragma once

#include <carom/device/numeric.hpp>

/// Sine and cosine with the same bits on every backend and every C library, to less than one unit
/// of the last place up to 2^30 rad. Reduction by multiples of pi/2 after Cody and Waite (1980)
/// with two numbers kept, then minimax polynomials on [-pi/4, pi/4] with the coefficients of
/// fdlibm.
namespace carom::kernels {

struct SineCosine {
  double sine, cosine;
};

/// x [rad]; NaN of what is not finite.
CAROM_INLINE SineCosine sine_cosine(double x) {
  constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
  constexpr double kHigh = 0x1.921fb54442d18p+0;  // pi/2 = kHigh + kMiddle + kLow
  constexpr double kMiddle = 0x1.1a62633145c07p-54;
  constexpr double kLow = -0x1.f1976b7ed8fbcp-110;
  constexpr double kMost = 0x1p50;  // beyond, neighbouring numbers are a quarter of a turn apart
  if (!(magnitude(x) <= kMost)) x = x - x == 0.0 ? ::fmod(x, 4.0 * kHigh) : x - x;
  const double k = x * kTwoOverPi + 0.5 - fraction(x * kTwoOverPi + 0.5);
  // x - k kHigh is a multiple of 2^-52 below 1: exact.
  const double whole = fused(-k, kHigh, x);
  const double part = k * kMiddle;
  const double high = whole - part;
  const double back = high - whole;
  const double low = (whole - (high - back)) - (part + back) - fused(k, kMiddle, -part) - k * kLow;

  const double square = high * high;
  const double cube = square * high;
  double s = 1.58969099521155010221e-10;
  s = fused(s, square, -2.50507602534068634195e-08);
  s = fused(s, square, 2.75573137070700676789e-06);
  s = fused(s, square, -1.98412698298579493134e-04);
  s = fused(s, square, 8.33333333332248946124e-03);
  const double first = -1.66666666666666324348e-01;
  const double sine = high - (fused(square, 0.5 * low - cube * s, -low) - cube * first);

  double c = -1.13596475577881948265e-11;
  c = fused(c, square, 2.08757232129817482790e-09);
  c = fused(c, square, -2.75573143513906633035e-07);
  c = fused(c, square, 2.48015872894767294178e-05);
  c = fused(c, square, -1.38888888888741095749e-03);
  c = fused(c, square, 4.16666666666666019037e-02);
  const double half = 0.5 * square;
  const double near = 1.0 - half;
  const double cosine = near + (((1.0 - near) - half) + fused(square * square, c, -(high * low)));

  const double quarter = 4.0 * fraction(0.25 * k);  // 0, 1, 2, 3
  const bool swapped = quarter == 1.0 || quarter == 3.0;
  const double a = swapped ? cosine : sine;
  const double b = swapped ? sine : cosine;
  return {quarter >= 2.0 ? -a : a, quarter == 1.0 || quarter == 2.0 ? -b : b};
}
CAROM_INLINE double sine(double x) { return sine_cosine(x).sine; }
CAROM_INLINE double cosine(double x) { return sine_cosine(x).cosine; }

}  // namespace carom::kernels
