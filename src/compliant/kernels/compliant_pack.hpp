#pragma once

#include <carom/certificate_compliant.hpp>
#include <carom/device/numeric.hpp>
#include <carom/device/symmetry.hpp>

#include "compliant/kernels/compliant.hpp"
#include "compliant/kernels/compliant_pack_layout.hpp"
#include "compliant/kernels/contact_newton_pair.hpp"

/// One compliant step of each world of a pack, whose rows chosen have the same types
/// (docs/explanation/compliant.md; equations as in compliant.hpp).
namespace carom::kernels {

inline constexpr int kMostIterations = 20;  // a system that takes more wants safeguards

template <class V>
struct PackOutcome {
  V residual;    ///< certified, NaN where the step has no finite answer
  V iterations;  ///< of the contact solver
};

/// V: double, or a pack of them; Memory holds values of V. kDiagonal: how the mass is given.
/// kContacts: where every row belongs to one of so many spatial contacts of one rigid body and the
/// compiler may know it, 0 where not.
template <class V, class Memory, bool kDiagonal, int kContacts>
class CompliantPack {
 public:
  CAROM_INLINE CompliantPack(const PackShape& shape, const Memory& memory)
      : shape_(shape), at_(pack_layout(shape.rows, shape.velocities, kDiagonal)), m_(memory) {}

  [[nodiscard]] CAROM_INLINE const PackLayout& layout() const { return at_; }

  /// Takes the step; leaves the impulses and v'. A lane whose numbers are refused has a residual of
  /// infinity.
  CAROM_HOST_DEVICE PackOutcome<V> solve(const CompliantOptions& options) {
    CompliantPack own = known();
    const V refused = own.prepare(options);
    V iterations(0.0);
    if (own.rows() > own.bilateral()) {
      Newton newton(own.system(), own.part(own.at_.scratch));
      iterations = newton.solve(own.impulses(), options.accuracy, most_iterations(options));
    }
    return {own.finish(refused), iterations};
  }

  /// The same of `count` packs, one or two, side by side.
  static void solve(CompliantPack* packs, int count, const CompliantOptions& options,
                    PackOutcome<V>* outcomes) {
    V refused[2];
    for (int k = 0; k < count; ++k) {
      CompliantPack own = packs[k].known();
      refused[k] = own.prepare(options);
    }
    const auto newton = [&](int k) {
      return Newton(packs[k].system(), packs[k].part(packs[k].at_.scratch));
    };
    Newton newtons[2] = {newton(0), newton(count - 1)};
    const Memory impulses[2] = {packs[0].impulses(), packs[count - 1].impulses()};
    V iterations[2];
    ContactNewtonPair<V, Memory, kContacts>(newtons, impulses, count)
        .solve(options.accuracy, most_iterations(options), iterations);
    for (int k = 0; k < count; ++k) {
      CompliantPack own = packs[k].known();
      outcomes[k] = {own.finish(refused[k]), iterations[k]};
    }
  }

 private:
  using Newton = ContactNewtonPack<V, Memory, kContacts>;

  /// A copy, which stores of packs cannot change, with offsets that the compiler knows.
  CAROM_INLINE CompliantPack known() const {
    CompliantPack own = *this;
    if constexpr (kContacts > 0) own.at_ = pack_layout(rows(), nv(), kDiagonal);
    return own;
  }
  static CAROM_INLINE int most_iterations(const CompliantOptions& options) {
    return options.max_iterations < kMostIterations ? options.max_iterations : kMostIterations;
  }
  CAROM_INLINE int bilateral() const { return kContacts > 0 ? 0 : shape_.bilateral; }
  CAROM_INLINE Memory impulses() const { return part(at_.impulse) + bilateral(); }
  CAROM_INLINE ContactPackSystem<Memory> system() const {
    const int b = bilateral();
    return {rows() - b,
            rows(),
            part(at_.matrix) + (static_cast<long>(b) * rows() + b),
            part(at_.vector) + b,
            part(at_.friction) + b,
            shape_.type + b,
            shape_.tangents};
  }

  /// Up to W and u; which lanes are refused.
  CAROM_INLINE V prepare(const CompliantOptions& options) {
    const V refused = refusal();
    whiten();
    assemble_matrix();
    if (options.centripetal) {
      centripetal_force();
    } else {
      for (int i = 0; i < rows(); ++i) part(at_.centripetal)[i] = V(0.0);
    }
    assemble_vector();
    eliminate_bilateral();
    return refused;
  }
  /// The residual, from the impulses on.
  CAROM_INLINE V finish(V refused) {
    back_substitute();
    apply();
    return select(refused > V(0.0), refused, certify());
  }

  CAROM_INLINE int rows() const { return kContacts > 0 ? 3 * kContacts : shape_.rows; }
  CAROM_INLINE int nv() const { return kContacts > 0 ? 6 : shape_.velocities; }
  CAROM_INLINE Memory part(long offset) const { return m_ + offset; }
  CAROM_INLINE V& at(int a, int b) const {
    return m_[at_.matrix + static_cast<long>(a) * rows() + b];
  }
  CAROM_INLINE V& white(int a, int j) const {
    return m_[at_.white + static_cast<long>(a) * nv() + j];
  }
  CAROM_INLINE V& factor(int i, int j) const {
    return m_[at_.factor + static_cast<long>(i) * nv() + j];
  }
  CAROM_INLINE V compliance(int i) const {
    const V h = m_[at_.step_size];
    return V(1.0) / (h * rate(i));
  }
  CAROM_INLINE V rate(int i) const {
    return fused(m_[at_.step_size], m_[at_.stiffness + i], m_[at_.damping + i]);
  }

  /// Infinity in lanes with a number that is not finite or has the wrong sign, or whose M is not
  /// symmetric; otherwise zero.
  CAROM_INLINE V refusal() const {
    const V zero(0.0);
    const V infinity(kInfinity);
    V poison[8] = {zero, zero, zero, zero, zero, zero, zero, zero};
    long e = 0;
    for (; e + 8 <= at_.centripetal; e += 8) {
      for (int k = 0; k < 8; ++k) poison[k] = fused(m_[e + k], zero, poison[k]);
    }
    for (; e < at_.centripetal; ++e) poison[0] = fused(m_[e], zero, poison[0]);
    for (int k = 1; k < 8; ++k) poison[0] = poison[0] + poison[k];
    V bad = select(poison[0] <= zero, zero, infinity);
    bad = select(m_[at_.step_size] > zero, bad, infinity);
    for (int a = 0; a < rows(); ++a) {
      bad = select(m_[at_.stiffness + a] >= zero, bad, infinity);
      bad = select(m_[at_.damping + a] >= zero, bad, infinity);
      bad = select(m_[at_.friction + a] >= zero, bad, infinity);
    }
    if constexpr (!kDiagonal) {
      const auto mass = [&](int i, int j) -> V {
        return m_[at_.mass + static_cast<long>(i) * nv() + j];
      };
      for (int i = 0; i < nv(); ++i) {
        for (int j = 0; j < i; ++j) {
          bad = select(is_mirrored(mass(i, j), mass(j, i), mass(i, i), mass(j, j)), bad, infinity);
        }
      }
    }
    return bad;
  }

  /// Rows L^-1 g with M = L L', so that D = G M^-1 G' is their Gram matrix; after them L'v +
  /// h L^-1 f.
  CAROM_INLINE void whiten() {
    const V h = m_[at_.step_size];
    const Memory free = part(at_.white) + static_cast<long>(rows()) * nv();
    if constexpr (kDiagonal) {
      for (int j = 0; j < nv(); ++j) {
        const V root = square_root(m_[at_.mass + j]);
        m_[at_.factor + j] = root;
        for (int a = 0; a < rows(); ++a) {
          white(a, j) = root * m_[at_.jacobian + static_cast<long>(a) * nv() + j];
        }
        free[j] = fused(h * root, m_[at_.force + j], m_[at_.v + j] / root);
      }
    } else {
      for (int i = 0; i < nv(); ++i) {
        for (int j = 0; j <= i; ++j) {
          V sum = m_[at_.mass + static_cast<long>(i) * nv() + j];
          for (int k = 0; k < j; ++k) sum = fused(-factor(i, k), factor(j, k), sum);
          // Reciprocals on the diagonal.
          factor(i, j) = j < i ? sum * factor(j, j) : V(1.0) / square_root(sum);
        }
      }
      for (int a = 0; a < rows(); ++a) {
        for (int j = 0; j < nv(); ++j) {
          V sum = m_[at_.jacobian + static_cast<long>(a) * nv() + j];
          for (int k = 0; k < j; ++k) sum = fused(-factor(j, k), white(a, k), sum);
          white(a, j) = sum * factor(j, j);
        }
      }
      for (int j = 0; j < nv(); ++j) {
        V sum = m_[at_.force + j];
        for (int k = 0; k < j; ++k) sum = fused(-factor(j, k), free[k], sum);
        free[j] = sum * factor(j, j);
      }
      for (int j = 0; j < nv(); ++j) {
        V sum = m_[at_.v + j] / factor(j, j);
        for (int i = j + 1; i < nv(); ++i) sum = fused(factor(i, j), m_[at_.v + i], sum);
        free[j] = fused(h, free[j], sum);
      }
    }
  }

  /// W, and D's diagonal by itself.
  CAROM_INLINE void assemble_matrix() {
    if constexpr (kContacts > 0) {
      for (int first = 0; first < rows(); first += 3) assemble_contact(first);
    } else {
      for (int a = 0; a < rows(); ++a) {
        for (int b = 0; b <= a; ++b) {
          V sum(0.0);
          for (int j = 0; j < nv(); ++j) sum = fused(white(a, j), white(b, j), sum);
          at(a, b) = sum;
          at(b, a) = sum;
        }
      }
    }
    for (int a = 0; a < rows(); ++a) {
      m_[at_.own + a] = at(a, a);
      const V softness = compliance(a);
      m_[at_.softness + a] = softness;
      at(a, a) = at(a, a) + softness;
    }
  }
  /// D's rows of a contact up to its own block, and their columns: its whitened rows in registers.
  CAROM_INLINE void assemble_contact(int first) {
    constexpr int kVelocities = 6;
    V own[3][kVelocities];
    for (int k = 0; k < 3; ++k) {
      for (int j = 0; j < kVelocities; ++j) own[k][j] = white(first + k, j);
    }
    for (int b = 0; b < first + 3; ++b) {
      V sum[3] = {V(0.0), V(0.0), V(0.0)};
      for (int j = 0; j < kVelocities; ++j) {
        const V other = white(b, j);
        for (int k = 0; k < 3; ++k) sum[k] = fused(own[k][j], other, sum[k]);
      }
      for (int k = 0; k < 3; ++k) {
        at(first + k, b) = sum[k];
        at(b, first + k) = sum[k];
      }
    }
  }

  /// m = M^ (dG/dt) v of every kind of rows, by Cholesky; a row that depends on those before it
  /// gets zero, as in compliant_centripetal.hpp.
  CAROM_INLINE void centripetal_force() {
    const V zero(0.0);
    const Memory out = part(at_.centripetal);
    V moves(0.0);
    for (int i = 0; i < rows(); ++i) {
      out[i] = zero;
      moves = larger(magnitude(m_[at_.jacobian_dot_v + i]), moves);
    }
    if (!any_of(moves != zero)) return;
    const auto lower = [&](int i, int j) -> V& {
      return m_[at_.scratch + static_cast<long>(i) * rows() + j];
    };
    for (int group = 0; group < kRowGroups; ++group) {
      V free(static_cast<double>(nv()));  // no more rows are independent, whatever rounding says
      V volume(1.0);
      const auto belongs = [&](int k) { return shape_.group[k] == group; };
      for (int i = 0; i < rows(); ++i) {
        if (!belongs(i)) continue;
        const V own = m_[at_.own + i];
        V pivot = own;
        V value = m_[at_.jacobian_dot_v + i];
        for (int k = 0; k < i; ++k) {
          if (!belongs(k)) continue;
          V sum = at(i, k);
          for (int j = 0; j < k; ++j) {
            if (belongs(j)) sum = fused(-lower(i, j), lower(k, j), sum);
          }
          lower(i, k) = sum * lower(k, k);
          pivot = fused(-lower(i, k), lower(i, k), pivot);
          value = fused(-lower(i, k), out[k], value);
        }
        V least(kIndependent);
        const auto steep = volume < V(kRegularKind);
        if (any_of(steep)) {
          const V size = combination_size<V>(
              i, belongs, lower, [&](V x, int k) { return x * lower(k, k); },
              [&](int k) { return m_[at_.own + k]; });
          least = select(steep, larger(V(kPivotRounding) * size, least), least);
        }
        const auto independent = (pivot > least * own) & (free > zero);
        volume = select(independent, volume * (pivot / own), volume);
        free = free - select(independent, V(1.0), zero);
        lower(i, i) = select(independent, V(1.0) / square_root(pivot), zero);
        for (int k = 0; k < i; ++k) {
          if (belongs(k)) lower(i, k) = select(independent, lower(i, k), zero);
        }
        out[i] = select(independent, value * lower(i, i), zero);
      }
      for (int k = rows() - 1; k >= 0; --k) {
        if (!belongs(k)) continue;
        V sum = out[k];
        for (int j = k + 1; j < rows(); ++j) {
          if (belongs(j)) sum = fused(-lower(j, k), out[j], sum);
        }
        out[k] = sum * lower(k, k);
      }
    }
  }

  /// u.
  CAROM_INLINE void assemble_vector() {
    const V h = m_[at_.step_size];
    const Memory free = part(at_.white) + static_cast<long>(rows()) * nv();
    for (int a = 0; a < rows(); ++a) {
      const V spring = fused(m_[at_.stiffness + a], m_[at_.phi + a], m_[at_.centripetal + a]) *
                       (h * m_[at_.softness + a]);
      V sum = fused(h, m_[at_.jacobian_dot_v + a], spring);
      for (int j = 0; j < nv(); ++j) sum = fused(white(a, j), free[j], sum);
      m_[at_.vector + a] = sum;
    }
  }

  /// Cholesky of the bilateral block, with reciprocals on its diagonal; leaves the Schur complement
  /// in the other block and what they leave of u.
  CAROM_INLINE void eliminate_bilateral() {
    const Memory u = part(at_.vector);
    for (int k = 0; k < shape_.bilateral; ++k) {
      const V inverse = V(1.0) / square_root(at(k, k));
      at(k, k) = inverse;
      u[k] = u[k] * inverse;
      for (int i = k + 1; i < rows(); ++i) at(i, k) = at(i, k) * inverse;
      for (int i = k + 1; i < rows(); ++i) {
        const V factor = -at(i, k);
        u[i] = fused(factor, u[k], u[i]);
        for (int j = k + 1; j <= i; ++j) at(i, j) = fused(factor, at(j, k), at(i, j));
      }
    }
    if (shape_.bilateral == 0) return;
    for (int i = shape_.bilateral; i < rows(); ++i) {
      for (int j = shape_.bilateral; j < i; ++j) at(j, i) = at(i, j);
    }
  }

  CAROM_INLINE void back_substitute() {
    const Memory p = part(at_.impulse);
    for (int k = shape_.bilateral - 1; k >= 0; --k) {
      V sum = -m_[at_.vector + k];
      for (int i = k + 1; i < rows(); ++i) sum = fused(-at(i, k), p[i], sum);
      p[k] = sum * at(k, k);
    }
  }

  /// v' = v + M^-1 (h f + G'p). G'p of the rows as they were given: where impulses dwarf the
  /// momentum, their whitened sum differs from it by more than the certificate allows.
  CAROM_INLINE void apply() {
    const V h = m_[at_.step_size];
    const Memory p = part(at_.impulse);
    const Memory next = part(at_.next_v);
    for (int j = 0; j < nv(); ++j) {
      V sum(0.0);
      for (int a = 0; a < rows(); ++a) {
        sum = fused(m_[at_.jacobian + static_cast<long>(a) * nv() + j], p[a], sum);
      }
      sum = fused(h, m_[at_.force + j], sum);
      if constexpr (kDiagonal) {
        next[j] = fused(m_[at_.mass + j], sum, m_[at_.v + j]);
      } else {
        for (int k = 0; k < j; ++k) sum = fused(-factor(j, k), next[k], sum);
        next[j] = sum * factor(j, j);
      }
    }
    if constexpr (!kDiagonal) {
      for (int j = nv() - 1; j >= 0; --j) {
        V sum = next[j];
        for (int i = j + 1; i < nv(); ++i) sum = fused(-factor(i, j), next[i], sum);
        next[j] = sum * factor(j, j);
      }
      for (int j = 0; j < nv(); ++j) next[j] = next[j] + m_[at_.v + j];
    }
  }

  CAROM_INLINE V certify() const {
    const RowsOfPack<Memory, kContacts> view{shape_, at_, m_};
    const auto judge = [&](const auto& mass) {
      return certificate::step_law_residual<V>(mass, view, V(m_[at_.step_size]), part(at_.force),
                                               part(at_.v), part(at_.next_v), part(at_.impulse),
                                               part(at_.centripetal), part(at_.scratch));
    };
    if constexpr (kDiagonal) {
      return judge(certificate::DiagonalMass<Memory>{part(at_.mass)});
    } else {
      return judge(certificate::DenseMass<Memory>{part(at_.mass), nv()});
    }
  }

  const PackShape& shape_;
  PackLayout at_;
  Memory m_;
};

/// Memory of solve_alone for steps of up to so many rows and velocities.
CAROM_HOST_DEVICE constexpr long alone_reals(long rows, long velocities, bool diagonal) {
  if (velocities > kPackVelocities) return 0;
  return pack_layout(rows < kPackRows ? rows : kPackRows, velocities, diagonal).end;
}

/// One task by itself: what a pack does, with the same bits. Memory: [alone_reals(..)].
template <bool kDiagonal, int kContacts, class Memory>
CAROM_CALL PackOutcome<double> solve_alone(const StepTask& task, const PackShape& shape,
                                           const CompliantOptions& options, const Memory& memory) {
  CompliantPack<double, Memory, kDiagonal, kContacts> pack(shape, memory);
  const auto values = [&](long e) -> double& { return memory[e]; };
  load_task(task, pack.layout(), kDiagonal, values);
  const PackOutcome<double> outcome = pack.solve(options);
  if (outcome.residual <= options.tolerance) unload_task(task, pack.layout(), values);
  return outcome;
}
template <bool kDiagonal, int kContacts, class Memory>
CAROM_CALL PackOutcome<double> solve_alone(const StepTask& task, const CompliantOptions& options,
                                           const Memory& memory) {
  const PackShape shape = pack_shape(task, options.tangents);
  return shape.is_body_on(kContacts)
             ? solve_alone<kDiagonal, kContacts>(task, shape, options, memory)
             : solve_alone<kDiagonal, 0>(task, shape, options, memory);
}

}  // namespace carom::kernels
