#pragma once

#include <type_traits>
#include <utility>

#include "compliant/body/compliant_array_body.hpp"
#include "cuda/lanes.cuh"
#include "cuda/quotient.cuh"

/// The contact laws of a body on four spatial contacts, on as many lanes.
namespace carom::cuda {

/// ContactNewtonPack for W p + u of such a body, a contact a lane, with its bits.
class NewtonGroup {
 public:
  static constexpr int kContacts = kernels::kArrayContacts;
  using Lanes = GroupLanes<kContacts, true>;

  /// Memory of a problem, whether steps of it are taken or not.
  template <class Memory>
  struct Layout {
    Memory matrix;   ///< W, [rows, rows]
    Memory impulse;  ///< p, likewise below [rows]
    Memory vector;   ///< u
    Memory own;      ///< the diagonal of G M^-1 G'; F in front of the first step; the best p so far
    Memory centripetal;
    Memory force;           ///< p - rho F
    Memory size;            ///< of its tangential part, [contacts]
    Memory friction;        ///< [contacts]
    Memory normal_weight;   ///< rho of the normal, [contacts]
    Memory tangent_weight;  ///< and of both tangents
    Memory merit;           ///< scale of the residual, least residual so far
    Memory record;          ///< Record
    Memory factor;          ///< L of M, its rows; reciprocals on its diagonal

    CAROM_INLINE constexpr explicit Layout(kernels::Arena<Memory>& arena)
        : matrix(arena.take(kRows * kRows)),
          impulse(arena.take(kRows)),
          vector(arena.take(kRows)),
          own(arena.take(kRows)),
          centripetal(arena.take(kRows)),
          force(arena.take(kRows)),
          size(arena.take(kContacts)),
          friction(arena.take(kContacts)),
          normal_weight(arena.take(kContacts)),
          tangent_weight(arena.take(kContacts)),
          merit(arena.take(2)),
          record(arena.take(1)),
          factor(arena.take(kVelocities * (kVelocities + 1) / 2)) {}
  };
  struct Record {
    int problem;
    int iterations;
  };
  static_assert(sizeof(Record) == sizeof(double));
  /// Memory of a group, for one of its calls.
  template <class Memory>
  struct CallLayout {
    Memory next_v;  ///< [velocities]
    Memory white;   ///< L^-1 G', [rows, velocities]; or Shown; or what the certificate works with

    CAROM_INLINE constexpr explicit CallLayout(kernels::Arena<Memory>& arena)
        : next_v(arena.take(kVelocities)),
          white(
              arena.take_largest(kRows * kVelocities, kShown, kMass + kVelocities * kVelocities)) {}
  };

  /// Of the problem in `memory`; call_memory: of the group.
  __device__ NewtonGroup(const Lanes& lanes, const kernels::CompliantOptions& options,
                         double* memory, double* call_memory)
      : lanes_(lanes),
        options_(options),
        at_(kernels::placed<Layout>(memory)),
        call_(kernels::placed<CallLayout>(call_memory)),
        contact_(Lanes::lane()),
        row_(3 * contact_) {}

  /// Another problem's memory, or the same again: places are computed, not kept.
  __device__ void look_at(double* memory) { at_ = kernels::placed<Layout>(memory); }
  [[nodiscard]] __device__ Record& record() const { return *reinterpret_cast<Record*>(at_.record); }

  /// Leaves registers to other work until recall.
  __device__ void pause() const {
    for (int a = 0; a < 3; ++a) at_.force[row_ + a] = force_[a];
    at_.size[contact_] = size_;
  }
  /// Takes the problem up again; `begins`: in front of its first step.
  __device__ void recall(bool begins) {
    if (begins) {
      iterations_ = 0;
      for (int a = 0; a < 3; ++a) {
        slip_[a] = at_.own[row_ + a];
        at_.own[row_ + a] = p(a);
      }
    }
    for (int a = 0; a < 3; ++a) force_[a] = at_.force[row_ + a];
    size_ = at_.size[contact_];
  }

 protected:
  static constexpr int kRows = 3 * kContacts;
  static constexpr int kVelocities = 6;
  static constexpr int kShown = 3 * kRows + 4 + 3 * kRows;  // Shown
  static constexpr int kMass = 2 * kRows + kVelocities;  ///< of the certificate: M behind the rest

  [[nodiscard]] __device__ double w(int i, int j) const { return at_.matrix[i * kRows + j]; }

  /// Neighbouring numbers, the first of them at a whole Pair: one access of 16 bytes.
  struct alignas(16) Pair {
    double first, second;
  };
  __device__ static Pair& pair(double* memory, int i) { return reinterpret_cast<Pair*>(memory)[i]; }
  /// W's row i, columns 2 j and 2 j + 1.
  [[nodiscard]] __device__ Pair two_of_w(int i, int j) const {
    return pair(at_.matrix, i * (kRows / 2) + j);
  }

  /// The largest of the lanes' values, NaN where one is.
  [[nodiscard]] __device__ double largest(double own) const {
    return lanes_.reduce(own,
                         [](double a, double b) { return a != a ? a : (b != b || b > a ? b : a); });
  }

  /// ContactNewtonPack::solve in parts, from p = 0, by all groups of the warp at once; those that
  /// are not `on` change nothing. True where steps are to follow.
  __device__ bool begin_newton(bool on) {
    double scale = 1e-300;
    if (on) {
      const auto reciprocal = [&](int a) { return 1.0 / w(row_ + a, row_ + a); };
      const double normal = reciprocal(0);
      const double tangent = kernels::smaller(reciprocal(1), reciprocal(2));
      at_.normal_weight[contact_] = normal;
      at_.tangent_weight[contact_] = tangent;
      for (int a = 0; a < 3; ++a) {
        p(a) = 0.0;
        scale = kernels::larger(
            kernels::magnitude((a == 0 ? normal : tangent) * at_.vector[row_ + a]), scale);
      }
    }
    scale = largest(scale);
    double least = natural_residual(on);
    const bool poor = on && least > scale * kernels::kNewtonPoor;
    if (WarpLanes::any(poor)) {
      sweep(poor);
      const double swept = natural_residual(poor);
      least = poor ? swept : least;
    }
    if (!on) return false;
    at_.merit[0] = scale;  // the same on all lanes
    at_.merit[1] = least;
    const bool follows = !(least <= scale * options_.accuracy) && 0 < most_iterations();
    for (int a = 0; a < 3; ++a) at_.own[row_ + a] = follows ? slip_[a] : p(a);
    pause();
    return follows;
  }

  /// One step. False where it was the last one.
  __device__ bool advance_newton(bool on) {
    newton_step(on);
    const double scale = at_.merit[0];
    double least = at_.merit[1];  // before the barriers behind which another lane changes it
    const double merit = natural_residual(on);
    if (!on) return false;
    const bool lower = merit < least;
    if (lower) {
      for (int a = 0; a < 3; ++a) at_.own[row_ + a] = p(a);
    }
    ++iterations_;
    const bool stalled = !lower && least <= scale * kernels::kNewtonFloor;
    least = lower ? merit : least;
    at_.merit[1] = least;
    return !(least <= scale * options_.accuracy) && !stalled && iterations_ < most_iterations();
  }

  /// The lane's impulses go to memory.
  __device__ void take_best() {
    for (int a = 0; a < 3; ++a) p(a) = at_.own[row_ + a];
  }

  [[nodiscard]] __device__ int most_iterations() const {
    return options_.max_iterations < kernels::kMostIterations ? options_.max_iterations
                                                              : kernels::kMostIterations;
  }

  [[nodiscard]] __device__ double mu() const { return at_.friction[contact_]; }
  [[nodiscard]] __device__ double normal_weight() const { return at_.normal_weight[contact_]; }
  [[nodiscard]] __device__ double tangent_weight() const { return at_.tangent_weight[contact_]; }
  /// Of the lane's impulses.
  [[nodiscard]] __device__ double& p(int a) const { return at_.impulse[row_ + a]; }

  __device__ static double length(double x, double y) {
    return kernels::square_root(kernels::fused(x, x, y * y));
  }
  /// radius / size where that is below 1; radius 0 is not divided, see quotient.cuh.
  __device__ static double shrink_to(double radius, double size) {
    const bool shrinks = size > radius;
    const bool vanishes = shrinks && radius == 0.0;
    const double divided = (shrinks && !vanishes ? radius : 1.0) / (shrinks ? size : 1.0);
    return vanishes ? radius : divided;
  }

  /// max |p - Pi(p - rho F)|; leaves p - rho F in force_ and F in slip_.
  __device__ double natural_residual(bool on) {
    lanes_.barrier();
    double worst = 0.0;
    if (on) {
      double even[3] = {at_.vector[row_], at_.vector[row_ + 1], at_.vector[row_ + 2]};
      double odd[3] = {};
      for (int j = 0; j < kRows; j += 2) {
        const Pair both = pair(at_.impulse, j / 2);
        for (int a = 0; a < 3; ++a) {
          const Pair of_row = two_of_w(row_ + a, j / 2);
          even[a] = kernels::fused(of_row.first, both.first, even[a]);
          odd[a] = kernels::fused(of_row.second, both.second, odd[a]);
        }
      }
      double poison = 0.0;
      for (int a = 0; a < 3; ++a) {
        slip_[a] = even[a] + odd[a];
        force_[a] = kernels::fused(a == 0 ? -normal_weight() : -tangent_weight(), slip_[a], p(a));
        poison = poison + slip_[a] * 0.0;
      }
      worst = kernels::larger(kernels::magnitude(p(0) - kernels::larger(force_[0], 0.0)), 0.0);
      const double radius = mu() * kernels::larger(p(0), 0.0);
      size_ = length(force_[1], force_[2]);
      const double shrink = shrink_to(radius, size_);
      for (int k = 1; k < 3; ++k) {
        worst =
            kernels::larger(kernels::magnitude(kernels::fused(-shrink, force_[k], p(k))), worst);
      }
      worst = worst + poison;
    }
    lanes_.barrier();  // before a lane changes its own
    return largest(worst);
  }

  /// Sweeps of block Gauss-Seidel, contact after contact: every lane works out the change of its
  /// contact and takes that of the one whose turn it is, on copies, which it keeps where it is on.
  __device__ void sweep(bool on) {
    const double friction = mu();
    const double normal_weight = this->normal_weight();
    const double tangent_weight = this->tangent_weight();
    double own[3] = {p(0), p(1), p(2)};
    double slip[3] = {slip_[0], slip_[1], slip_[2]};
    double row[3][kRows];  // W is symmetric to the bit
    for (int a = 0; a < 3; ++a) {
      for (int j = 0; j < kRows; j += 2) {
        const Pair of_row = two_of_w(row_ + a, j / 2);
        row[a][j] = of_row.first;
        row[a][j + 1] = of_row.second;
      }
    }
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int turn = 0; turn < kernels::kNewtonSweeps; ++turn) {
      each_contact([&](auto contact) {
        constexpr int c = contact;
        const auto move = [&](int k, double wanted) {
          const double change = Lanes::from(wanted, c);
          if (contact_ == c) own[k] = own[k] + change;
          for (int a = 0; a < 3; ++a) {
            slip[a] = kernels::fused(row[a][3 * c + k], change, slip[a]);
          }
        };
        move(0, kernels::larger(kernels::fused(-normal_weight, slip[0], own[0]), 0.0) - own[0]);
        double force[3];
        for (int k = 1; k < 3; ++k) force[k] = kernels::fused(-tangent_weight, slip[k], own[k]);
        const double shrink = shrink_to(friction * own[0], length(force[1], force[2]));
        double change[3];
        for (int k = 1; k < 3; ++k) change[k] = kernels::fused(shrink, force[k], -own[k]);
        for (int k = 1; k < 3; ++k) move(k, change[k]);
      });
    }
    if (!on) return;
    for (int a = 0; a < 3; ++a) p(a) = own[a];
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
      return memory[3 * kRows + 4 + a * kRows + j];
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
  __device__ void newton_step(bool on) {
    double upper[3][kRows];
    double wanted[3];
    if (on) linearise(upper, wanted);
    const Shown shown{call_.white};
    each_contact([&](auto turn) {
      constexpr int k = turn;
      if (on && contact_ == k) {
        double own[3][3];
        for (int a = 0; a < 3; ++a) {
          for (int l = 0; l < 3; ++l) own[a][l] = upper[a][3 * k + l];
        }
        double inverse[3][3];
        kernels::invert_block<double>(own, inverse);
        for (int a = 0; a < 3; ++a) {
          for (int l = 0; l < 3; ++l) shown.inverse(k, a, l) = inverse[a][l];
        }
        if constexpr (k < kContacts - 1) {
          for (int a = 0; a < 3; ++a) {
            for (int j = 3 * k + 3; j < kRows; ++j) shown.upper(a, j) = upper[a][j];
            shown.wanted(a) = wanted[a];
          }
        }
      }
      if constexpr (k < kContacts - 1) {
        lanes_.barrier();
        if (on && contact_ > k) {
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
      }
    });
    double step[3];
    each_contact([&](auto turn) {
      constexpr int k = kContacts - 1 - turn;
      // Lanes behind contact k know their step already, lanes before it do not yet.
      if (on && contact_ == k) {
        const auto inverse = [&](int a, int l) { return shown.inverse(k, a, l); };
        for (int a = 0; a < 3; ++a) {
          step[a] =
              kernels::fused(inverse(a, 0), wanted[0],
                             kernels::fused(inverse(a, 1), wanted[1], inverse(a, 2) * wanted[2]));
        }
      }
      if constexpr (k > 0) {
        double found[3];
        for (int a = 0; a < 3; ++a) found[a] = Lanes::from(step[a], k);
        for (int l = 2; l >= 0; --l) {
          for (int a = 0; a < 3; ++a) {
            wanted[a] = kernels::fused(-upper[a][3 * k + l], found[l], wanted[a]);
          }
        }
      }
    });
    if (!on) return;
    for (int a = 0; a < 3; ++a) p(a) = p(a) + step[a];
  }

  /// The lane's rows of the Newton matrix, and their right-hand side.
  __device__ void linearise(double (&upper)[3][kRows], double (&wanted)[3]) const {
    kernels::NewtonRow<double> row[3];
    const double impulse[3] = {p(0), p(1), p(2)};
    kernels::newton_normal_row<double>(p(0), force_[0], slip_[0], normal_weight(), row[0]);
    kernels::newton_disk_rows<double>(impulse, force_, slip_, tangent_weight(), mu(), size_,
                                      row + 1);
    for (int j = 0; j < kRows; j += 2) {
      const Pair normal = two_of_w(row_, j / 2);
      const Pair one = two_of_w(row_ + 1, j / 2);
      const Pair two = two_of_w(row_ + 2, j / 2);
      upper[0][j] = row[0].gain[0] * normal.first;
      upper[0][j + 1] = row[0].gain[0] * normal.second;
      for (int a = 1; a < 3; ++a) {
        upper[a][j] = kernels::fused(row[a].gain[1], one.first, row[a].gain[2] * two.first);
        upper[a][j + 1] = kernels::fused(row[a].gain[1], one.second, row[a].gain[2] * two.second);
      }
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
    for (int a = 0; a < 3; ++a) wanted[a] = row[a].wanted;
  }

  const Lanes& lanes_;
  const kernels::CompliantOptions& options_;
  Layout<double*> at_;
  CallLayout<double*> call_;
  int contact_;  ///< the lane's
  int row_;      ///< its first
  // The lane's contact, normal first.
  double force_[3] = {}, slip_[3] = {};
  double size_ = 0.0;  ///< of the tangential force_
  int iterations_ = 0;
};

}  // namespace carom::cuda
