#pragma once

#include <carom/certificate_compliant.hpp>

#include "compliant/kernels/compliant_array.hpp"
#include "cuda/compliant/newton_group.cuh"

/// One step of one rigid body on four spatial contacts on as many lanes, a contact each.
namespace carom::cuda {

/// The rows of one problem of a batch, all of them chosen in their order.
struct GroupRows {
  const kernels::CompliantArrays& arrays;
  std::int64_t first;                      ///< of its rows among all
  int normal;                              ///< row of the lane's contact
  static constexpr bool kAllCarry = true;  // ContactGroup::takes sees to it

  [[nodiscard]] CAROM_INLINE int count() const { return 12; }
  [[nodiscard]] CAROM_INLINE int velocities() const { return 6; }
  [[nodiscard]] CAROM_INLINE RowType type(int i) const {  // of the lane's contact
    return i == normal ? RowType::normal : RowType::tangent;
  }
  [[nodiscard]] CAROM_INLINE int begin(int) const { return 0; }
  [[nodiscard]] CAROM_INLINE int end(int) const { return 6; }
  [[nodiscard]] CAROM_INLINE double jacobian(int i, int j) const {
    return arrays.jacobian[(first + i) * 6 + j];
  }
  [[nodiscard]] CAROM_INLINE double jacobian_dot_v(int i) const {
    return arrays.jacobian_dot_v[first + i];
  }
  [[nodiscard]] CAROM_INLINE double phi(int i) const { return arrays.phi[first + i]; }
  [[nodiscard]] CAROM_INLINE double stiffness(int i) const { return arrays.stiffness[first + i]; }
  [[nodiscard]] CAROM_INLINE double damping(int i) const { return arrays.damping[first + i]; }
  [[nodiscard]] CAROM_INLINE double friction(int i) const { return arrays.friction[first + i]; }
};

/// What CompliantPack does with dense M for such a body, every sum in its order, so with its bits.
/// What needs more than that is left: other rows, numbers that are refused, Newton steps beyond
/// kNewtonPatience, residuals above the tolerance.
/// All groups of a warp go through the same calls at once.
class ContactGroup : public NewtonGroup {
 public:
  /// open: the list of problems that are left.
  __device__ ContactGroup(const Lanes& lanes, const kernels::CompliantArrays& arrays,
                          const kernels::CompliantOptions& options, double* memory,
                          double* call_memory, int* open, int* open_count)
      : NewtonGroup(lanes, options, memory, call_memory),
        arrays_(arrays),
        open_(open),
        count_(open_count) {}

  /// Where a problem stands: left or without one, in front of a step of Newton's method, behind
  /// the last one.
  enum class Progress { none, running, arrived };

  /// Problem p up to Newton's first step.
  __device__ Progress begin(bool on, int p) {
    bool good = true;
    if (on) {
      problem_ = p;
      good = takes(rows()) && acceptable(rows());
    }
    const bool bad = lanes_.any(on && !good);
    if (bad) leave();
    on = on && !bad;
    if (on && contact_ == 0) record() = {p, 0};
    if (on) whiten(rows());
    lanes_.barrier();
    if (on) assemble_matrix(rows());
    lanes_.barrier();
    centripetal_force(on, rows());
    if (on) assemble_vector(rows());
    lanes_.barrier();  // the rows have been read, their memory has other uses now
    const bool follows = begin_newton(on);
    return !on ? Progress::none : follows ? Progress::running : Progress::arrived;
  }

  /// A step of Newton's method.
  __device__ Progress advance(bool on) {
    const bool follows = advance_newton(on);
    if (!on) return Progress::none;
    if (follows && iterations_ == kernels::kNewtonPatience) {
      problem_ = record().problem;
      leave();
      return Progress::none;
    }
    if (!follows && contact_ == 0) record().iterations = iterations_;
    return follows ? Progress::running : Progress::arrived;
  }

  /// Stores a certified answer, or leaves the problem with nothing written.
  __device__ void finish(bool on) {
    const Record record = this->record();
    if (on) {
      problem_ = record.problem;
      take_best();
    }
    lanes_.barrier();
    if (on) push(rows());
    lanes_.barrier();
    double next[kVelocities];
    if (on) apply(next);
    lanes_.barrier();
    if (on) {
      if (contact_ == 0) {
        for (int j = 0; j < kVelocities; ++j) call_.next_v[j] = next[j];
      }
      for (int e = contact_; e < kVelocities * kVelocities; e += kContacts) {
        copied_mass()[e] = mass()[e];
      }
    }
    lanes_.barrier();
    const double residual = certify(on, rows());
    if (!on) return;
    if (residual <= options_.tolerance) {
      hand_out(record.iterations, residual);
    } else {
      leave();
    }
  }

 private:
  [[nodiscard]] __device__ GroupRows rows() const {
    return {arrays_, static_cast<std::int64_t>(problem_) * kRows, row_};
  }
  __device__ void leave() {
    if (contact_ == 0) open_[Grid::claim(count_)] = problem_;
  }

  /// Where the problem's vectors of velocities begin.
  [[nodiscard]] __device__ long velocities_at() const { return 6L * problem_; }
  [[nodiscard]] __device__ double h() const { return arrays_.step_size[problem_]; }
  [[nodiscard]] __device__ const double* mass() const {
    return arrays_.mass_matrix + 36L * problem_;
  }
  [[nodiscard]] __device__ double factor(int i, int j) const {
    return at_.factor[i * (i + 1) / 2 + j];
  }
  [[nodiscard]] __device__ double* copied_mass() const { return call_.white + kMass; }

  /// Whether the lane's rows are those of a contact that carries forces in all of them. No test
  /// ends it early: the lanes of a warp stay together.
  [[nodiscard]] __device__ bool takes(const GroupRows& rows) const {
    bool good = rows.friction(row_) > 0.0;
    for (int i = row_; i < row_ + 3; ++i) {
      // More than 0, so that it is with other roundings too.
      good = good & (arrays_.type[rows.first + i] == rows.type(i)) &
             (h() * (h() * rows.stiffness(i) + rows.damping(i)) > 1e-290);
    }
    return good;
  }

  /// Numbers as CompliantPack and ArrayTask::acceptable ask for; a share of them on each lane.
  [[nodiscard]] __device__ bool acceptable(const GroupRows& rows) const {
    bool good = h() > 0.0;
    double poison = (h() + rows.friction(row_)) * 0.0;  // NaN where a number is not finite
    const auto finite = [&](double x) { poison = kernels::fused(x, 0.0, poison); };
    for (int i = row_; i < row_ + 3; ++i) {
      for (int j = 0; j < kVelocities; ++j) finite(rows.jacobian(i, j));
      finite(rows.jacobian_dot_v(i));
      finite(rows.phi(i));
      finite(rows.stiffness(i));
      finite(rows.damping(i));
      good = good & (rows.stiffness(i) >= 0.0) & (rows.damping(i) >= 0.0);
    }
    // Entry (i, j) below the diagonal and the one above it: 15 pairs, four on a lane.
    constexpr int kPairs = kVelocities * (kVelocities - 1) / 2;
    for (int turn = 0; turn < kPairs; turn += kContacts) {
      const int e = turn + contact_ < kPairs ? turn + contact_ : 0;
      const int i = 1 + static_cast<int>(e >= 1) + static_cast<int>(e >= 3) +
                    static_cast<int>(e >= 6) + static_cast<int>(e >= 10);
      const int j = e - i * (i - 1) / 2;
      const auto entry = [&](int row, int column) { return mass()[row * kVelocities + column]; };
      finite(entry(i, j));
      finite(entry(j, i));
      good = good & kernels::is_mirrored(entry(i, j), entry(j, i), entry(i, i), entry(j, j));
    }
    for (int turn = 0; turn < kVelocities; turn += kContacts) {
      const int i = turn + contact_ < kVelocities ? turn + contact_ : 0;
      finite(mass()[i * kVelocities + i]);
      finite(arrays_.force[velocities_at() + i]);
      finite(arrays_.velocity[velocities_at() + i]);
    }
    const int map = arrays_.positions * kVelocities;
    for (int e = contact_; e < map; e += kContacts) {
      finite(arrays_.position_map[static_cast<long>(problem_) * map + e]);
    }
    return good & (poison == 0.0);
  }

  /// M = L L' on every lane; the lane's rows of L^-1 G', and L'v + h L^-1 f, which goes to next_v.
  __device__ void whiten(const GroupRows& rows) const {
    double f[kVelocities][kVelocities];
    double free[kVelocities];
    double white[3][kVelocities];
    for (int i = 0; i < kVelocities; ++i) {
      for (int j = 0; j <= i; ++j) {
        double sum = mass()[i * kVelocities + j];
        for (int k = 0; k < j; ++k) sum = kernels::fused(-f[i][k], f[j][k], sum);
        f[i][j] = j < i ? sum * f[j][j] : 1.0 / kernels::square_root(sum);
      }
    }
    for (int a = 0; a < 3; ++a) {
      for (int j = 0; j < kVelocities; ++j) {
        double sum = rows.jacobian(row_ + a, j);
        for (int k = 0; k < j; ++k) sum = kernels::fused(-f[j][k], white[a][k], sum);
        white[a][j] = sum * f[j][j];
      }
    }
    const double* const force = arrays_.force + velocities_at();
    const double* const v = arrays_.velocity + velocities_at();
    for (int j = 0; j < kVelocities; ++j) {
      double sum = force[j];
      for (int k = 0; k < j; ++k) sum = kernels::fused(-f[j][k], free[k], sum);
      free[j] = sum * f[j][j];
    }
    for (int j = 0; j < kVelocities; ++j) {
      double sum = v[j] / f[j][j];
      for (int i = j + 1; i < kVelocities; ++i) sum = kernels::fused(f[i][j], v[i], sum);
      free[j] = kernels::fused(h(), free[j], sum);
    }
    for (int a = 0; a < 3; ++a) {
      for (int j = 0; j < kVelocities; ++j) {
        call_.white[(row_ + a) * kVelocities + j] = white[a][j];
      }
    }
    if (contact_ == 0) {
      for (int i = 0; i < kVelocities; ++i) {
        call_.next_v[i] = free[i];
        for (int j = 0; j <= i; ++j) at_.factor[i * (i + 1) / 2 + j] = f[i][j];
      }
    }
  }

  /// Softnesses are left where Newton's method has force.
  __device__ void assemble_matrix(const GroupRows& rows) const {
    double white[3][kVelocities];
    for (int a = 0; a < 3; ++a) {
      for (int j = 0; j < kVelocities; ++j) white[a][j] = call_.white[(row_ + a) * kVelocities + j];
    }
    for (int b = 0; b < kRows; ++b) {
      double sum[3] = {};
      for (int j = 0; j < kVelocities; ++j) {
        const double other = call_.white[b * kVelocities + j];
        for (int a = 0; a < 3; ++a) sum[a] = kernels::fused(white[a][j], other, sum[a]);
      }
      for (int a = 0; a < 3; ++a) at_.matrix[(row_ + a) * kRows + b] = sum[a];
    }
    for (int a = 0; a < 3; ++a) {
      const int i = row_ + a;
      const double softness = 1.0 / (h() * kernels::fused(h(), rows.stiffness(i), rows.damping(i)));
      at_.force[i] = softness;
      const double own = w(i, i);
      at_.own[i] = own;
      at_.matrix[i * kRows + i] = own + softness;
    }
  }

  /// m = M^ (dG/dt) v: three lanes take one kind of rows each, by Cholesky.
  __device__ void centripetal_force(bool on, const GroupRows& rows) const {
    bool moves = false;
    if (on) {
      for (int i = row_; i < row_ + 3; ++i) {
        at_.centripetal[i] = 0.0;
        moves = moves || rows.jacobian_dot_v(i) != 0.0;
      }
    }
    const bool wanted = lanes_.any(moves) && options_.centripetal;
    lanes_.barrier();
    if (wanted && contact_ < 3) {
      double lower[kContacts][kContacts];
      double out[kContacts];
      double volume = 1.0;
      const auto own = [&](int i) { return at_.own[3 * i + contact_]; };
      for (int i = 0; i < kContacts; ++i) {
        const int at = 3 * i + contact_;
        double pivot = own(i);
        double value = rows.jacobian_dot_v(at);
        for (int k = 0; k < i; ++k) {
          double sum = w(at, 3 * k + contact_);
          for (int j = 0; j < k; ++j) sum = kernels::fused(-lower[i][j], lower[k][j], sum);
          lower[i][k] = sum * lower[k][k];
          pivot = kernels::fused(-lower[i][k], lower[i][k], pivot);
          value = kernels::fused(-lower[i][k], out[k], value);
        }
        double least = kernels::kIndependent;
        if (volume < kernels::kRegularKind) {
          const double size = kernels::combination_size<double>(
              i, [](int) { return true; }, [&](int j, int k) -> double& { return lower[j][k]; },
              [&](double x, int k) { return x * lower[k][k]; }, own);
          least = kernels::larger(kernels::kPivotRounding * size, least);
        }
        const bool independent = pivot > least * own(i);
        if (independent) volume *= pivot / own(i);
        lower[i][i] = independent ? 1.0 / kernels::square_root(pivot) : 0.0;
        for (int k = 0; k < i; ++k) lower[i][k] = independent ? lower[i][k] : 0.0;
        out[i] = independent ? value * lower[i][i] : 0.0;
      }
      for (int k = kContacts - 1; k >= 0; --k) {
        double sum = out[k];
        for (int j = k + 1; j < kContacts; ++j) sum = kernels::fused(-lower[j][k], out[j], sum);
        out[k] = sum * lower[k][k];
        at_.centripetal[3 * k + contact_] = out[k];
      }
    }
    lanes_.barrier();
  }

  __device__ void assemble_vector(const GroupRows& rows) const {
    at_.friction[contact_] = rows.friction(row_);
    for (int a = 0; a < 3; ++a) {
      const int i = row_ + a;
      const double spring =
          kernels::fused(rows.stiffness(i), rows.phi(i), at_.centripetal[i]) * (h() * at_.force[i]);
      double sum = kernels::fused(h(), rows.jacobian_dot_v(i), spring);
      for (int j = 0; j < kVelocities; ++j) {
        sum = kernels::fused(call_.white[i * kVelocities + j], call_.next_v[j], sum);
      }
      at_.vector[i] = sum;
    }
  }

  /// h f + G'p, a share of it on each lane.
  __device__ void push(const GroupRows& rows) const {
    for (int j = contact_; j < kVelocities; j += kContacts) {
      double sum = 0.0;
      for (int a = 0; a < kRows; ++a) {
        sum = kernels::fused(rows.jacobian(a, j), at_.impulse[a], sum);
      }
      call_.next_v[j] = kernels::fused(h(), arrays_.force[velocities_at() + j], sum);
    }
  }
  /// v' = v + M^-1 (h f + G'p).
  __device__ void apply(double (&next)[kVelocities]) const {
    for (int j = 0; j < kVelocities; ++j) {
      double sum = call_.next_v[j];
      for (int k = 0; k < j; ++k) sum = kernels::fused(-factor(j, k), next[k], sum);
      next[j] = sum * factor(j, j);
    }
    for (int j = kVelocities - 1; j >= 0; --j) {
      double sum = next[j];
      for (int i = j + 1; i < kVelocities; ++i) sum = kernels::fused(-factor(i, j), next[i], sum);
      next[j] = sum * factor(j, j);
    }
    for (int j = 0; j < kVelocities; ++j) next[j] = next[j] + arrays_.velocity[velocities_at() + j];
  }

  /// The certificate, a lane its contact's laws and a share of the balance.
  [[nodiscard]] __device__ double certify(bool on, const GroupRows& rows) const {
    certificate::Violation<double> balance;
    certificate::Violation<double> laws;
    if (on) {
      const certificate::DenseMass<> dense{copied_mass(), kVelocities};
      const double* const force = arrays_.force + velocities_at();
      const double* const v = arrays_.velocity + velocities_at();
      const double* const next_v = call_.next_v;
      const double* const impulse = at_.impulse;
      const double* const centripetal = at_.centripetal;
      for (int j = contact_; j < kVelocities; j += kContacts) {
        certificate::add_balance(balance, dense, rows, h(), force, v, next_v, impulse,
                                 call_.white + 2 * kRows, j, j + 1);
      }
      certificate::add_laws(laws, dense, rows, h(), v, next_v, impulse, centripetal, call_.white,
                            call_.white + kRows, row_, row_ + 3);
    }
    for (auto* violation : {&balance, &laws}) {
      violation->worst.value = largest(violation->worst.value);
      violation->scale.value = largest(violation->scale.value);
    }
    const auto relative = [](const certificate::Violation<double>& violation) {
      const double scale = violation.scale.value;
      return quotient(violation.worst.value,
                      scale > certificate::kTiny ? scale : certificate::kTiny);
    };
    return certificate::joined_residual(relative(balance), relative(laws));
  }

  __device__ void hand_out(int iterations, double residual) const {
    const std::int64_t p = problem_;
    const kernels::CompliantArrays& a = arrays_;
    const double h = this->h();
    const double frequency = 1.0 / h;
    const double impulse[3] = {at_.impulse[row_], at_.impulse[row_ + 1], at_.impulse[row_ + 2]};
    bool plain = is_plain_divisor(h);
    for (const double value : impulse) plain = plain & is_plain_dividend(value);
    for (int k = 0; k < 3; ++k) {
      a.result.force[p * kRows + row_ + k] =
          plain ? quotient_by(frequency, impulse[k], h) : impulse[k] / h;
    }
    for (int j = contact_; j < kVelocities; j += kContacts) {
      a.result.velocity[p * kVelocities + j] = call_.next_v[j];
    }
    if (a.positions == 0) {
      for (int j = contact_; j < kVelocities; j += kContacts) {
        a.result.increment[p * kVelocities + j] = h * call_.next_v[j];
      }
    }
    for (int i = contact_; i < a.positions; i += kContacts) {
      const double* const row = a.position_map + (p * a.positions + i) * kVelocities;
      double sum = 0.0;
      for (int j = 0; j < kVelocities; ++j) sum = kernels::fused(row[j], call_.next_v[j], sum);
      a.result.increment[p * a.positions + i] = h * sum;
    }
    if (contact_ != 0) return;
    double energy = 0.0;
    for (int i = 0; i < kVelocities; ++i) {
      double momentum = 0.0;
      for (int j = 0; j < kVelocities; ++j) {
        momentum = kernels::fused(copied_mass()[i * kVelocities + j], call_.next_v[j], momentum);
      }
      energy = kernels::fused(0.5 * call_.next_v[i], momentum, energy);
    }
    a.result.kinetic_energy[p] = energy;
    a.result.iterations[p] = iterations;
    a.result.residual[p] = residual;
    a.result.status[p] = Status::solved;
  }

  const kernels::CompliantArrays& arrays_;
  int* open_;
  int* count_;
  int problem_ = 0;
};

}  // namespace carom::cuda
