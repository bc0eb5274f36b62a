#pragma once

#include <type_traits>
#include <utility>

#include "compliant/body/compliant_array_body.hpp"
#include "cuda/lanes.cuh"

/// The contact laws of a body on four spatial contacts, on as many lanes.
namespace carom::cuda {

/// ContactNewtonPack for W p + u of such a body, a contact a lane, with its bits.
class NewtonGroup {
 public:
  static constexpr int kContacts = kernels::kArrayContacts;
  using Lanes = GroupLanes<kContacts>;

  /// Memory of a group.
  template <class Memory>
  struct Layout {
    Memory matrix;   ///< W, [rows, rows]
    Memory impulse;  ///< p, likewise below [rows]
    Memory vector;   ///< u
    Memory own;      ///< the diagonal of G M^-1 G'; then the best p so far
    Memory centripetal;
    Memory next_v;  ///< [velocities]
    Memory factor;  ///< L of M with reciprocals on its diagonal, [velocities, velocities]
    Memory white;   ///< L^-1 G', [rows, velocities]; then Shown; then scratch of the certificate

    CAROM_INLINE constexpr explicit Layout(kernels::Arena<Memory>& arena)
        : matrix(arena.take(kRows * kRows)),
          impulse(arena.take(kRows)),
          vector(arena.take(kRows)),
          own(arena.take(kRows)),
          centripetal(arena.take(kRows)),
          next_v(arena.take(kVelocities)),
          factor(arena.take(kVelocities * kVelocities)),
          white(arena.take_largest(kRows * kVelocities, 3 * kRows + 3 + 3 * kRows,
                                   2 * kRows + kVelocities)) {}
  };

  __device__ NewtonGroup(const Lanes& lanes, const kernels::CompliantOptions& options,
                         double* memory)
      : lanes_(lanes),
        options_(options),
        at_(kernels::placed<Layout>(memory)),
        contact_(Lanes::lane()),
        row_(3 * contact_) {}

 protected:
  static constexpr int kRows = 3 * kContacts;
  static constexpr int kVelocities = 6;

  [[nodiscard]] __device__ double w(int i, int j) const { return at_.matrix[i * kRows + j]; }

  /// The largest of the lanes' values, NaN where one is.
  [[nodiscard]] __device__ double largest(double own) const {
    return lanes_.reduce(own,
                         [](double a, double b) { return a != a ? a : (b != b || b > a ? b : a); });
  }

  /// ContactNewtonPack::solve from p = 0; the lane's impulses go to memory. False where it takes
  /// too many steps.
  __device__ bool newton() {
    const auto reciprocal = [&](int a) { return 1.0 / w(row_ + a, row_ + a); };
    normal_weight_ = reciprocal(0);
    tangent_weight_ = kernels::smaller(reciprocal(1), reciprocal(2));
    double scale = 1e-300;
    for (int a = 0; a < 3; ++a) {
      p(a) = 0.0;
      scale = kernels::larger(kernels::magnitude(weight(a) * at_.vector[row_ + a]), scale);
    }
    scale = largest(scale);
    double least = natural_residual();
    if (least > scale * kernels::kNewtonPoor) {
      for (int turn = 0; turn < kernels::kNewtonSweeps; ++turn) sweep();
      least = natural_residual();
    }
    for (int a = 0; a < 3; ++a) at_.own[row_ + a] = p(a);
    const int most = options_.max_iterations < kernels::kMostIterations ? options_.max_iterations
                                                                        : kernels::kMostIterations;
    iterations_ = 0;
    bool running = !(least <= scale * options_.accuracy);
    while (running && iterations_ < most) {
      if (iterations_ == kernels::kNewtonPatience) return false;
      newton_step();
      const double merit = natural_residual();
      const bool lower = merit < least;
      if (lower) {
        for (int a = 0; a < 3; ++a) at_.own[row_ + a] = p(a);
      }
      ++iterations_;
      const bool stalled = !lower && least <= scale * kernels::kNewtonFloor;
      least = lower ? merit : least;
      running = !(least <= scale * options_.accuracy) && !stalled;
    }
    for (int a = 0; a < 3; ++a) p(a) = at_.own[row_ + a];
    lanes_.barrier();
    return true;
  }

  [[nodiscard]] __device__ double weight(int a) const {
    return a == 0 ? normal_weight_ : tangent_weight_;
  }
  /// Of the lane's impulses.
  [[nodiscard]] __device__ double& p(int a) const { return at_.impulse[row_ + a]; }

  __device__ double tangent_length() const {
    return kernels::square_root(kernels::fused(force_[1], force_[1], force_[2] * force_[2]));
  }

  /// max |p - Pi(p - rho F)|; leaves p - rho F in force_ and F in slip_.
  __device__ double natural_residual() {
    lanes_.barrier();
    double even[3] = {at_.vector[row_], at_.vector[row_ + 1], at_.vector[row_ + 2]};
    double odd[3] = {};
    for (int j = 0; j < kRows; j += 2) {
      const double first = at_.impulse[j];
      const double second = at_.impulse[j + 1];
      for (int a = 0; a < 3; ++a) {
        even[a] = kernels::fused(w(row_ + a, j), first, even[a]);
        odd[a] = kernels::fused(w(row_ + a, j + 1), second, odd[a]);
      }
    }
    lanes_.barrier();  // before a lane changes its own
    double poison = 0.0;
    for (int a = 0; a < 3; ++a) {
      slip_[a] = even[a] + odd[a];
      force_[a] = kernels::fused(-weight(a), slip_[a], p(a));
      poison = poison + slip_[a] * 0.0;
    }
    double worst = kernels::larger(kernels::magnitude(p(0) - kernels::larger(force_[0], 0.0)), 0.0);
    const double radius = mu_ * kernels::larger(p(0), 0.0);
    const double size = tangent_length();
    const double shrink = size > radius ? radius / size : 1.0;
    for (int k = 1; k < 3; ++k) {
      worst = kernels::larger(kernels::magnitude(kernels::fused(-shrink, force_[k], p(k))), worst);
    }
    return largest(worst + poison);
  }

  /// Block Gauss-Seidel, contact after contact.
  __device__ void sweep() {
    for (int c = 0; c < kContacts; ++c) {
      const double normal =
          kernels::larger(kernels::fused(-normal_weight_, slip_[0], p(0)), 0.0) - p(0);
      move(c, 0, normal);
      double change[3];
      for (int k = 1; k < 3; ++k) force_[k] = kernels::fused(-tangent_weight_, slip_[k], p(k));
      const double radius = mu_ * p(0);
      const double size = tangent_length();
      const double shrink = size > radius ? radius / size : 1.0;
      for (int k = 1; k < 3; ++k) change[k] = kernels::fused(shrink, force_[k], -p(k));
      for (int k = 1; k < 3; ++k) move(c, k, change[k]);
    }
  }
  /// Impulse k of contact c changes by what its lane says.
  __device__ void move(int c, int k, double own) {
    const double change = Lanes::from(own, c);
    if (contact_ == c) p(k) = p(k) + change;
    for (int a = 0; a < 3; ++a) {
      slip_[a] = kernels::fused(w(3 * c + k, row_ + a), change, slip_[a]);
    }
  }

  /// What contacts' lanes show: their diagonal blocks' inverses, and to the lanes behind them, one
  /// after another, their right-hand side and their rows of the factor.
  struct Shown {
    double* memory;
    [[nodiscard]] __device__ double& inverse(int contact, int a, int l) const {
      return memory[9 * contact + 3 * a + l];
    }
    [[nodiscard]] __device__ double& wanted(int a) const { return memory[3 * kRows + a]; }
    [[nodiscard]] __device__ double& upper(int a, int j) const {
      return memory[3 * kRows + 3 + a * kRows + j];
    }
  };

  /// visit(k) for every contact, each in a text of its own: arrays indexed by it stay registers.
  template <class Visit>
  __device__ static void each_contact(Visit&& visit) {
    [&]<int... k>(std::integer_sequence<int, k...>) {
      (visit(std::integral_constant<int, k>{}), ...);
    }
    (std::make_integer_sequence<int, kContacts>{});
  }

  /// Linearises at p and takes the step: every lane forms its rows, and takes out those of the
  /// contacts before it, in blocks of 3 x 3, as soon as they are final.
  __device__ void newton_step() {
    kernels::NewtonRow<double> row[3];
    const double impulse[3] = {p(0), p(1), p(2)};
    kernels::newton_normal_row<double>(p(0), force_[0], slip_[0], normal_weight_, row[0]);
    kernels::newton_disk_rows<double>(impulse, force_, slip_, tangent_weight_, mu_,
                                      tangent_length(), row + 1);
    double upper[3][kRows];
    for (int j = 0; j < kRows; ++j) {
      const double one = w(row_ + 1, j);
      const double two = w(row_ + 2, j);
      upper[0][j] = row[0].gain[0] * w(row_, j);
      upper[1][j] = kernels::fused(row[1].gain[1], one, row[1].gain[2] * two);
      upper[2][j] = kernels::fused(row[2].gain[1], one, row[2].gain[2] * two);
    }
    each_contact([&](auto turn) {
      constexpr int k = turn;
      if (contact_ != k) return;
      upper[0][3 * k] = upper[0][3 * k] + row[0].fixed[0];
      for (int a = 1; a < 3; ++a) {
        for (int l = 0; l < 3; ++l) {
          upper[a][3 * k + l] = upper[a][3 * k + l] + row[a].fixed[l];
        }
      }
    });
    double wanted[3] = {row[0].wanted, row[1].wanted, row[2].wanted};
    const Shown shown{at_.white};
    each_contact([&](auto turn) {
      constexpr int k = turn;
      if (contact_ == k) {
        double own[3][3];
        for (int a = 0; a < 3; ++a) {
          for (int l = 0; l < 3; ++l) own[a][l] = upper[a][3 * k + l];
        }
        double inverse[3][3];
        kernels::invert_block<double>(own, inverse);
        for (int a = 0; a < 3; ++a) {
          for (int j = 3 * k + 3; j < kRows; ++j) shown.upper(a, j) = upper[a][j];
          for (int l = 0; l < 3; ++l) shown.inverse(k, a, l) = inverse[a][l];
          shown.wanted(a) = wanted[a];
        }
      }
      lanes_.barrier();
      if (contact_ > k) {
        double out[3][3];
        for (int a = 0; a < 3; ++a) {
          for (int l = 0; l < 3; ++l) {
            double sum = upper[a][3 * k] * shown.inverse(k, 0, l);
            sum = kernels::fused(upper[a][3 * k + 1], shown.inverse(k, 1, l), sum);
            out[a][l] = -kernels::fused(upper[a][3 * k + 2], shown.inverse(k, 2, l), sum);
          }
          for (int l = 0; l < 3; ++l) {
            wanted[a] = kernels::fused(out[a][l], shown.wanted(l), wanted[a]);
          }
        }
        for (int j = 3 * k + 3; j < kRows; ++j) {
          for (int b = 0; b < 3; ++b) {
            const double above = shown.upper(b, j);
            for (int a = 0; a < 3; ++a) {
              upper[a][j] = kernels::fused(out[a][b], above, upper[a][j]);
            }
          }
        }
      }
      lanes_.barrier();
    });
    each_contact([&](auto turn) {
      constexpr int k = kContacts - 1 - turn;
      const auto inverse = [&](int a, int l) { return shown.inverse(contact_, a, l); };
      double step[3];
      for (int a = 0; a < 3; ++a) {
        step[a] =
            kernels::fused(inverse(a, 0), wanted[0],
                           kernels::fused(inverse(a, 1), wanted[1], inverse(a, 2) * wanted[2]));
      }
      for (int a = 0; a < 3; ++a) {
        if (contact_ == k) p(a) = p(a) + step[a];
        step[a] = Lanes::from(step[a], k);
      }
      for (int l = 2; l >= 0; --l) {
        for (int a = 0; a < 3; ++a) {
          wanted[a] = kernels::fused(-upper[a][3 * k + l], step[l], wanted[a]);
        }
      }
    });
  }

  const Lanes& lanes_;
  const kernels::CompliantOptions& options_;
  Layout<double*> at_;
  int contact_;  ///< the lane's
  int row_;      ///< its first
  // The lane's contact, normal first.
  double mu_ = 0.0;
  double normal_weight_ = 0.0, tangent_weight_ = 0.0;
  double force_[3] = {}, slip_[3] = {};
  int iterations_ = 0;
};

}  // namespace carom::cuda
