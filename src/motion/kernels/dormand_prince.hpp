#pragma once

#include <carom/device/host_device.hpp>
#include <carom/device/numeric.hpp>

namespace carom::kernels::motion {

/// Steps of Dormand and Prince's method of order 8 with error estimates of order 5 and 3 and dense
/// output of order 7 (Hairer, Norsett and Wanner, "Solving Ordinary Differential Equations I", II.5
/// and II.6, and their DOP853), of n numbers; kAll: n is kMost. Build:
/// as of SmallSystem.
template <int kMost, bool kAll, class Build>
class DormandPrince {
 public:
  explicit CAROM_INLINE DormandPrince(int n) : count_(n) {}

  /// Calls of f in a step before those at its fractions 0.651, 0.6 and 0.857.
  static constexpr int kLateStages = 7;

  /// y: state at the start of a step; slope: its derivative there. f(time, y, dy) -> bool. `end`
  /// receives the state after h, end_slope() its derivative. False where f is.
  template <class F>
  CAROM_CALL bool step(double time, double h, const double* y, const double* slope, F&& f,
                       double* end) {
    for (int i = 0; i < count(); ++i) k_[0][i] = slope[i];
    if (!(stage<1, 0>(time, h, y, f, 0.05260015195876773, 0.05260015195876773) &&
          stage<2, 0, 1>(time, h, y, f, 0.0789002279381516, 0.0197250569845379,
                         0.0591751709536137) &&
          stage<3, 0, 2>(time, h, y, f, 0.1183503419072274, 0.02958758547680685,
                         0.08876275643042054) &&
          stage<4, 0, 2, 3>(time, h, y, f, 0.2816496580927726, 0.2413651341592667,
                            -0.8845494793282861, 0.924834003261792) &&
          stage<5, 0, 3, 4>(time, h, y, f, 0.3333333333333333, 0.037037037037037035,
                            0.17082860872947386, 0.12546768756682242) &&
          stage<6, 0, 3, 4, 5>(time, h, y, f, 0.25, 0.037109375, 0.17025221101954405,
                               0.06021653898045596, -0.017578125) &&
          stage<7, 0, 3, 4, 5, 6>(time, h, y, f, 0.3076923076923077, 0.03709200011850479,
                                  0.17038392571223998, 0.10726203044637328, -0.015319437748624402,
                                  0.008273789163814023) &&
          stage<8, 0, 3, 4, 5, 6, 7>(time, h, y, f, 0.6512820512820513, 0.6241109587160757,
                                     -3.3608926294469414, -0.868219346841726, 27.59209969944671,
                                     20.154067550477894, -43.48988418106996) &&
          stage<9, 0, 3, 4, 5, 6, 7, 8>(
              time, h, y, f, 0.6, 0.47766253643826434, -2.4881146199716677, -0.590290826836843,
              21.230051448181193, 15.279233632882423, -33.28821096898486, -0.020331201708508627) &&
          stage<10, 0, 3, 4, 5, 6, 7, 8, 9>(
              time, h, y, f, 0.8571428571428571, -0.9371424300859873, 5.186372428844064,
              1.0914373489967295, -8.149787010746927, -18.52006565999696, 22.739487099350505,
              2.4936055526796523, -3.0467644718982196) &&
          stage<11, 0, 3, 4, 5, 6, 7, 8, 9, 10>(
              time, h, y, f, 1.0, 2.273310147516538, -10.53449546673725, -2.0008720582248625,
              -17.9589318631188, 27.94888452941996, -2.8589982771350235, -8.87285693353063,
              12.360567175794303, 0.6433927460157636)))
      return false;
    for (int i = 0; i < count(); ++i)
      end[i] = fused(h,
                     sum<0, 5, 6, 7, 8, 9, 10, 11>(i, 0.054293734116568765, 4.450312892752409,
                                                   1.8915178993145003, -5.801203960010585,
                                                   0.3111643669578199, -0.1521609496625161,
                                                   0.20136540080403034, 0.04471061572777259),
                     y[i]);
    return f(time + h, end, k_[kEnd]);
  }

  [[nodiscard]] CAROM_INLINE const double* end_slope() const { return k_[kEnd]; }
  /// To be filled with another end's, close by.
  [[nodiscard]] CAROM_INLINE double* end_slope() { return k_[kEnd]; }

  /// Error of the step in units of tolerance (1 + |y|): at most 1 where it may be accepted.
  CAROM_CALL double error(double h, const double* y, const double* end, double tolerance) const {
    double fifth = 0.0;
    double third = 0.0;
    for (int i = 0; i < count(); ++i) {
      const double scale = kShare * tolerance * (1.0 + larger(magnitude(y[i]), magnitude(end[i])));
      const double of_fifth = magnitude(sum<0, 5, 6, 7, 8, 9, 10, 11>(
                                  i, 0.01312004499419488, -1.2251564463762044, -0.4957589496572502,
                                  1.6643771824549864, -0.35032884874997366, 0.3341791187130175,
                                  0.08192320648511571, -0.022355307863886294)) /
                              scale;
      const double of_third = magnitude(sum<0, 5, 6, 7, 8, 9, 10, 11>(
                                  i, -0.18980075407240762, 4.450312892752409, 1.8915178993145003,
                                  -5.801203960010585, -0.42268232132379197, -0.1521609496625161,
                                  0.20136540080403034, 0.022651792198360825)) /
                              scale;
      if (!(of_fifth <= fifth)) fifth = of_fifth;  // NaN is kept
      if (!(of_third <= third)) third = of_third;
    }
    if (fifth == 0.0) return 0.0;
    return magnitude(h) * fifth * fifth / square_root(fused(fifth, fifth, 0.01 * third * third));
  }

  /// What `dense` needs: three calls of f.
  template <class F>
  CAROM_CALL bool extend(double time, double h, const double* y, const double* end, F&& f) {
    if (!(stage<13, 0, 6, 7, 8, 9, 10, 11, 12>(
              time, h, y, f, 0.1, 0.056167502283047954, 0.25350021021662483, -0.2462390374708025,
              -0.12419142326381637, 0.15329179827876568, 0.00820105229563469, 0.007567897660545699,
              -0.008298) &&
          stage<14, 0, 5, 6, 7, 10, 11, 12, 13>(
              time, h, y, f, 0.2, 0.03183464816350214, 0.028300909672366776, 0.053541988307438566,
              -0.05492374857139099, -0.00010834732869724932, 0.0003825710908356584,
              -0.00034046500868740456, 0.1413124436746325) &&
          stage<15, 0, 5, 6, 7, 8, 12, 13, 14>(
              time, h, y, f, 0.7777777777777778, -0.42889630158379194, -4.697621415361164,
              7.683421196062599, 4.06898981839711, 0.3567271874552811, -0.0013990241651590145,
              2.9475147891527724, -9.15095847217987)))
      return false;
    for (int i = 0; i < count(); ++i) {
      bend(h, y, end, i);
      shape_[3][i] =
          h * sum<0, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>(
                  i, -8.428938276109013, 0.5667149535193777, -3.0689499459498917, 2.38466765651207,
                  2.117034582445028, -0.871391583777973, 2.2404374302607883, 0.6315787787694688,
                  -0.08899033645133331, 18.148505520854727, -9.194632392478356, -4.436036387594894);
      shape_[4][i] =
          h * sum<0, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>(
                  i, 10.427508642579134, 242.28349177525817, 165.20045171727028, -374.5467547226902,
                  -22.113666853125306, 7.733432668472264, -30.674084731089398, -9.332130526430229,
                  15.697238121770845, -31.139403219565178, -9.35292435884448, 35.81684148639408);
      shape_[5][i] =
          h * sum<0, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>(
                  i, 19.985053242002433, -387.0373087493518, -189.17813819516758, 527.8081592054236,
                  -11.57390253995963, 6.8812326946963, -1.0006050966910838, 0.7777137798053443,
                  -2.778205752353508, -60.19669523126412, 84.32040550667716, 11.99229113618279);
      shape_[6][i] =
          h * sum<0, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>(
                  i, -25.69393346270375, -154.18974869023643, -231.5293791760455, 357.6391179106141,
                  93.40532418362432, -37.45832313645163, 104.0996495089623, 29.8402934266605,
                  -43.53345659001114, 96.32455395918828, -39.17726167561544, -149.72683625798564);
    }
    return true;
  }

  /// For `coarse`, of a step by another method.
  CAROM_INLINE void start_at(const double* slope) {
    for (int i = 0; i < count(); ++i) k_[0][i] = slope[i];
  }

  /// State at fraction `at` of the step, to the order of the step.
  CAROM_CALL void dense(const double* y, double at, double* out) const {
    const double left = 1.0 - at;
    for (int i = 0; i < count(); ++i) {
      double value = at * shape_[6][i];
      value = left * (shape_[5][i] + value);
      value = at * (shape_[4][i] + value);
      value = left * (shape_[3][i] + value);
      value = at * (shape_[2][i] + value);
      value = left * (shape_[1][i] + value);
      out[i] = fused(at, shape_[0][i] + value, y[i]);
    }
  }

  /// The same by only the ends and their slopes, to order 3.
  CAROM_CALL void coarse(double h, const double* y, const double* end, double at,
                         double* out) const {
    const double left = 1.0 - at;
    for (int i = 0; i < count(); ++i) {
      const double change = end[i] - y[i];
      const double lead = fused(h, k_[0][i], -change);
      const double skew = fused(-h, k_[kEnd][i], change) - lead;
      out[i] = fused(at, fused(left, fused(at, skew, lead), change), y[i]);
    }
  }

 private:
  static constexpr int kEnd = 12;
  static constexpr double kShare = 0.1;  ///< the estimate is of lower order and seldom too large

  [[nodiscard]] CAROM_INLINE int count() const { return kAll ? kMost : count_; }

  template <int... kFrom, class... Weight>
  [[nodiscard]] CAROM_INLINE double sum(int i, Weight... weight) const {
    double total = 0.0;
    ((total = fused(weight, k_[kFrom][i], total)), ...);
    return total;
  }
  template <int kStage, int... kFrom, class F, class... Weight>
  CAROM_INLINE bool stage(double time, double h, const double* y, F&& f, double c,
                          Weight... weight) {
    double at[kMost] = {};
    for (int i = 0; i < count(); ++i) at[i] = fused(h, sum<kFrom...>(i, weight...), y[i]);
    return f(fused(c, h, time), at, k_[kStage]);
  }
  CAROM_INLINE void bend(double h, const double* y, const double* end, int i) {
    shape_[0][i] = end[i] - y[i];
    shape_[1][i] = fused(h, k_[0][i], -shape_[0][i]);
    shape_[2][i] = fused(-h, k_[kEnd][i], shape_[0][i]) - shape_[1][i];
  }

  int count_;
  double k_[16][kMost];
  double shape_[7][kMost];
};

/// Length of the next step after one with `error`.
CAROM_INLINE double next_length(double h, double error) {
  // error^(-1/8) without pow, whose bits differ between backends.
  const double root = square_root(square_root(square_root(error)));
  return h * larger(0.333, smaller(4.0, 0.85 / larger(root, 1e-3)));
}

}  // namespace carom::kernels::motion
