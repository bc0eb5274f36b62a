#pragma once

#include <type_traits>
#include <utility>

#include "compliant/kernels/compliant_array.hpp"
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
    Memory
        white;  ///< L^-1 G', [rows, velocities]; or ShownRows; or what the certificate works with

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
  static constexpr int kRowShown = kRows - 3 + 1;         ///< after the first contact
  static constexpr int kShown = (kRows - 3) * kRowShown;  ///< of ShownRows
  static_assert(kShown >= 3 * (kRows + 2));
  static constexpr int kMass = 2 * kRows + kVelocities;  ///< of the certificate: M after the rest

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

  __device__ static double square_of(double x, double y) { return kernels::fused(x, x, y * y); }

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
      const auto [size, shrink] = shrink_to(radius, square_of(force_[1], force_[2]));
      size_ = size;
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
    double turn_of[kContacts];  // 1 where it is the lane's: a product costs less than a choice
    for (int c = 0; c < kContacts; ++c) {
      turn_of[c] = kept(contact_ == c ? 1.0 : 0.0);
    }
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
          own[k] = kernels::fused(turn_of[c], change, own[k]);
          for (int a = 0; a < 3; ++a) {
            slip[a] = kernels::fused(row[a][3 * c + k], change, slip[a]);
          }
        };
        move(0, kernels::larger(kernels::fused(-normal_weight, slip[0], own[0]), 0.0) - own[0]);
        double force[3];
        for (int k = 1; k < 3; ++k) force[k] = kernels::fused(-tangent_weight, slip[k], own[k]);
        const double shrink = shrink_to(friction * own[0], square_of(force[1], force[2])).factor;
        double change[3];
        for (int k = 1; k < 3; ++k) change[k] = kernels::fused(shrink, force[k], -own[k]);
        for (int k = 1; k < 3; ++k) move(k, change[k]);
      });
    }
    if (!on) return;
    for (int a = 0; a < 3; ++a) p(a) = own[a];
  }

  /// visit(k) for every contact, each in a text of its own: arrays indexed by it stay registers.
  template <class Visit>
  __device__ static void each_contact(Visit&& visit) {
    [&]<int... k>(std::integer_sequence<int, k...>) {
      (visit(std::integral_constant<int, k>{}), ...);
    }
    (std::make_integer_sequence<int, kContacts>{});
  }

  using Block = double[3][3];

  /// Rows of the Newton matrix in the group's memory: a row's numbers from the diagonal block of
  /// the contact that is taken out on, its right-hand side after them.
  struct ShownRows {
    double* memory;
    int stride;  // even
    template <int kCount>
    __device__ void store(int row, const double* from) const {
      for (int j = 0; j + 1 < kCount; j += 2) {
        pair(memory + row * stride, j / 2) = {from[j], from[j + 1]};
      }
      if constexpr (kCount % 2 != 0) memory[row * stride + kCount - 1] = from[kCount - 1];
    }
    template <int kCount>
    __device__ void load(int row, double* to) const {
      for (int j = 0; j + 1 < kCount; j += 2) {
        const Pair both = pair(memory + row * stride, j / 2);
        to[j] = both.first;
        to[j + 1] = both.second;
      }
      if constexpr (kCount % 2 != 0) to[kCount - 1] = memory[row * stride + kCount - 1];
    }
    /// Of the contact whose rows are from `row` on.
    __device__ void invert(int row, Block& inverse) const {
      Block block;
      for (int a = 0; a < 3; ++a) {
        load<3>(row + a, block[a]);
      }
      kernels::invert_block<double>(block, inverse);
    }
    /// Takes that contact out of some rows: all but their first three numbers are left.
    template <int kTargets, int kCount>
    __device__ void take_out(int row, const Block& inverse,
                             double (&rows)[kTargets][kCount]) const {
      double out[kTargets][3];
      for (int t = 0; t < kTargets; ++t) {
        for (int l = 0; l < 3; ++l) {
          double sum = rows[t][0] * inverse[0][l];
          sum = kernels::fused(rows[t][1], inverse[1][l], sum);
          out[t][l] = -kernels::fused(rows[t][2], inverse[2][l], sum);
        }
      }
      for (int j = 3; j < kCount; ++j) {
        for (int b = 0; b < 3; ++b) {
          const double above = memory[(row + b) * stride + j];
          for (int t = 0; t < kTargets; ++t) {
            rows[t][j] = kernels::fused(out[t][b], above, rows[t][j]);
          }
        }
      }
    }
  };

  /// inverse * wanted
  __device__ static void solve_block(const Block& inverse, const double (&wanted)[3],
                                     double (&step)[3]) {
    for (int a = 0; a < 3; ++a) {
      step[a] = kernels::fused(inverse[a][0], wanted[0],
                               kernels::fused(inverse[a][1], wanted[1], inverse[a][2] * wanted[2]));
    }
  }
  /// What is left of a right-hand side behind `step`, whose columns the row has.
  __device__ static void substitute(const double* row, const double (&step)[3], double& wanted) {
    for (int l = 2; l >= 0; --l) wanted = kernels::fused(-row[l], step[l], wanted);
  }

  /// Linearises at p and takes the step. Contacts are taken out one after another, in blocks of
  /// 3 x 3: the first of the rows that its contacts' lanes have formed; then a lane has one row of
  /// the third contact and one of the fourth, so that none waits for one that has three. Lanes that
  /// are not `on`, or have no such row, work with what there is and store nothing.
  __device__ void newton_step(bool on) {
    static_assert(kContacts == 4);
    double rows[3][kRows + 1];
    linearise(rows);
    const ShownRows first{call_.white, kRows + 2};
    if (contact_ == 0) {
      for (int a = 0; a < 3; ++a) first.store<kRows + 1>(a, rows[a]);
    }
    lanes_.barrier();
    Block inverse[3];
    first.invert(0, inverse[0]);
    if (contact_ > 0) {
      first.take_out(0, inverse[0], rows);
    }
    lanes_.barrier();
    const ShownRows shown{call_.white, kRowShown};
    if (contact_ > 0) {
      for (int a = 0; a < 3; ++a) shown.store<kRowShown>(row_ - 3 + a, rows[a] + 3);
    }
    lanes_.barrier();
    // Its rows of the others; one that nobody changes where it has none.
    const int third = contact_ < 3 ? 3 + contact_ : 0;
    const int fourth = contact_ != 2 ? 6 + (contact_ + 1) % kContacts : 0;
    double both[2][kRowShown];
    shown.load<kRowShown>(third, both[0]);
    shown.load<kRowShown>(fourth, both[1]);
    shown.invert(0, inverse[1]);
    shown.take_out(0, inverse[1], both);
    if (third > 0) shown.store<kRowShown - 3>(third, both[0] + 3);
    lanes_.barrier();
    shown.invert(3, inverse[2]);
    double last[1][kRowShown - 3];
    for (int j = 3; j < kRowShown; ++j) last[0][j - 3] = both[1][j];
    shown.take_out(3, inverse[2], last);
    if (fourth > 0) shown.store<kRowShown - 6>(fourth, last[0] + 3);
    lanes_.barrier();
    Block inverse_of_last;
    shown.invert(6, inverse_of_last);
    double wanted[3];
    double step[kContacts][3];
    for (int a = 0; a < 3; ++a) wanted[a] = shown.memory[(6 + a) * kRowShown + 3];
    solve_block(inverse_of_last, wanted, step[3]);
    double own = both[0][kRowShown - 1];
    substitute(both[0] + 6, step[3], own);
    for (int a = 0; a < 3; ++a) wanted[a] = Lanes::from(own, a);
    solve_block(inverse[2], wanted, step[2]);
    for (int a = 0; a < 3; ++a) {
      wanted[a] = rows[a][kRows];
      substitute(rows[a] + 9, step[3], wanted[a]);
      substitute(rows[a] + 6, step[2], wanted[a]);
    }
    solve_block(inverse[1], wanted, step[1]);
    for (int a = 0; a < 3; ++a) step[1][a] = Lanes::from(step[1][a], 1);
    for (int a = 0; a < 3; ++a) substitute(rows[a] + 3, step[1], wanted[a]);
    solve_block(inverse[0], wanted, step[0]);
    if (!on) return;
    for (int a = 0; a < 3; ++a) {
      const double low = contact_ == 0 ? step[0][a] : step[1][a];
      const double high = contact_ == 2 ? step[2][a] : step[3][a];
      p(a) = p(a) + (contact_ < 2 ? low : high);
    }
  }

  /// The lane's rows of the Newton matrix, their right-hand side after them.
  __device__ void linearise(double (&upper)[3][kRows + 1]) const {
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
    for (int a = 0; a < 3; ++a) upper[a][kRows] = row[a].wanted;
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
