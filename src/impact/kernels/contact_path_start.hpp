#pragma once

#include <cstdint>

#include <carom/device/packed.hpp>

#include "impact/kernels/contact_path_corners.hpp"

/// Where the path begins: a corner of the bounds, the tableau there, and the covering vector.
namespace carom::kernels::contact_path {

inline constexpr int kFewestGuessedRows = 32;  // below, a guess pays little
inline constexpr int kGuessTurns = 2;

template <int Dim, class Real, class Lanes>
class Start : protected Corners<Dim, Real, Lanes> {
  using Base = Corners<Dim, Real, Lanes>;

 protected:
  using Base::at, Base::at_, Base::columns_, Base::corner_basis, Base::int_at_, Base::kByColumns,
      Base::kept_, Base::kPadding, Base::kReal0, Base::kTangents, Base::lanes_, Base::late,
      Base::line_, Base::m_, Base::mask_of, Base::matrix_, Base::max_impulse_, Base::move, Base::mu,
      Base::polygon_, Base::put, Base::ready, Base::rows_;
  using Base::Base;

  /// Start: approaching contacts at lambda_max, the others at zero, all sliding against u_t.
  template <class Matrix>
  CAROM_HOST_DEVICE void choose_corner(const Matrix& delassus, const double* u, int attempt) {
    if (attempt == 0 && rows_ >= kFewestGuessedRows) return guess_corner(delassus, u);
    lanes_.for_each(m_, [&](int i) {
      const bool full = attempt == 0 ? u[i] < 0.0 : attempt == 1;
      int_at_.normal[i] = full && max_impulse_[i] < kInfinity ? kFull : kSeparate;
      double against[kTangents];
      for (int c = 0; c < kTangents; ++c) against[c] = -u[m_ + kTangents * i + c];
      int_at_.corner[i] = nearest_direction<Dim>(polygon_, against);
      int_at_.tangent[i] = kCorner;
    });
  }

  /// One block of the tableau for each pair of contacts: E' A F, F being what a contact's force
  /// variables are in its impulse and E the tangential part of it.
  template <class Matrix>
  CAROM_HOST_DEVICE void fill_tableau(const Matrix& delassus, const double* u) {
    if constexpr (kByColumns) {
      if (late()) fill_later(delassus);
    }
    if (!late()) lanes_.for_each_2d(m_, m_, [&](int i, int j) { fill_block(delassus, i, j); });
    lanes_.for_each(rows_, [&](int i) {
      Real value = kReal0;
      if (i < m_) {
        value = fused(static_cast<Real>(u[i]), Real(1), kReal0);
      } else {
        const int contact = (i - m_) / kTangents;
        const bool second = (i - m_) % kTangents != 0;
        Real velocity[kTangents][kTangents];
        corner_basis(int_at_.corner[contact], velocity);
        for (int c = 0; c < kTangents; ++c) {
          value = fused(second ? velocity[c][kTangents - 1] : velocity[c][0],
                        static_cast<Real>(u[row_of(contact, 1 + c)]), value);
        }
      }
      if constexpr (!kByColumns) {
        for (int j = 0; j < m_; ++j) {
          if (int_at_.normal[j] == kFull)
            value = fused(at(i, j), static_cast<Real>(max_impulse_[j]), value);
        }
      }
      at_.x[i] = value;
      put(i, rows_ + i);  // forces nonbasic
      put(rows_ + i, i);  // velocities basic
    });
    lanes_.for_each(1, [&](int) { int_at_.place[2 * rows_] = rows_ + rows_; });
    if constexpr (kByColumns) {
      for (int i = 0; i < line_; ++i) at_.above[i] = kReal0;
      for (int i = rows_; i < line_; ++i) at_.x[i] = kReal0;
      for (int j = 0; !late() && j < rows_; ++j) {
        for (int i = rows_; i < line_; ++i) at(i, j) = kReal0;
      }
      for (int j = 0; j < m_; ++j) {
        if (int_at_.normal[j] != kFull) continue;
        ready(j);
        move(static_cast<Real>(max_impulse_[j]), j);
      }
    }
  }

  /// Irregular weights keep two bounds from being met at once.
  CAROM_INLINE static constexpr Real covering_weight(int i, int attempt) {
    return Real(1) +
           Real(0.3819660112501051) * static_cast<Real>((i * (7 + 2 * attempt) + 3) % 11) /
               Real(11) +
           Real(0.013) * static_cast<Real>(i);
  }

  /// Fills column t with the covering vector; returns the smallest t at which the corner solves.
  CAROM_HOST_DEVICE Real cover(int attempt) {
    if constexpr (kByColumns) {
      if (attempt == 0 && rows_ < kMostMaskedRows) return cover_lines();
    }
    const auto shortfall = [&](int i) {
      const bool upper = i < m_ && int_at_.normal[i] == kFull;
      const Real slack = upper ? -at_.x[i] : at_.x[i];
      if (i >= m_) {
        const int contact = (i - m_) / kTangents;
        if (int_at_.normal[contact] == kSeparate || !(mu(contact) > kReal0)) return kReal0;
      }
      return -slack;
    };
    lanes_.for_each(rows_, [&](int i) {
      for (int j = rows_ + 1; j < columns_; ++j) at(i, j) = kReal0;
      const Real weight = covering_weight(i, attempt);
      at(i, rows_) = (i < m_ && int_at_.normal[i] == kFull) ? -weight : weight;
    });
    const ArgMin<Real> worst = lanes_.argmin(
        rows_, Real(1), [&](int i) { return -shortfall(i) / magnitude(at(i, rows_)); });
    return worst.index < 0 ? kReal0 : -worst.key;
  }

 private:
  /// Contact j's impulse in the velocities of contact i: E' A F.
  template <class Matrix>
  CAROM_INLINE void fill_block(const Matrix& delassus, int i, int j) {
    Real force[kTangents][kTangents];
    corner_basis(int_at_.corner[j], force);
    Real sliding[kTangents];
    for (int c = 0; c < kTangents; ++c) {
      sliding[c] = mu(j) * static_cast<Real>(polygon_.direction[int_at_.corner[j]][c]);
    }
    Real response[Dim][Dim];  // of the impulse's components to the force variables
    for (int r = 0; r < Dim; ++r) {
      Real from[Dim];
      for (int c = 0; c < Dim; ++c) {
        from[c] = static_cast<Real>(entry(delassus, rows_, row_of(i, r), row_of(j, c)));
      }
      response[r][0] = fused(from[0], Real(1), kReal0);
      for (int c = 0; c < kTangents; ++c) {
        response[r][0] = fused(from[1 + c], sliding[c], response[r][0]);
      }
      for (int slot = 0; slot < kTangents; ++slot) {
        Real sum = kReal0;
        for (int c = 0; c < kTangents; ++c) sum = fused(from[1 + c], force[c][slot], sum);
        response[r][1 + slot] = sum;
      }
    }
    Real velocity[kTangents][kTangents];
    corner_basis(int_at_.corner[i], velocity);
    for (int c = 0; c < Dim; ++c) {
      const int column = row_of(j, c);
      at(i, column) = response[0][c];
      for (int slot = 0; slot < kTangents; ++slot) {
        Real sum = kReal0;
        for (int r = 0; r < kTangents; ++r) {
          sum = fused(velocity[r][slot], response[1 + r][c], sum);
        }
        at(row_of(i, 1 + slot), column) = sum;
      }
    }
  }

  /// Of many contacts few end at lambda_max. Some turns over the contacts, in which each takes the
  /// impulse that its own velocity and bounds ask for, tell which, and where friction points. They
  /// need not be right: the path leads from any corner to a solution. Rows of A stand for its
  /// columns.
  template <class Matrix>
  CAROM_INLINE void guess_corner(const Matrix& delassus, const double* u) {
    Real* const velocity = at_.x;
    Real* const impulse = at_.pivot_row;
    lanes_.for_each(rows_, [&](int i) {
      velocity[i] = static_cast<Real>(u[i]);
      impulse[i] = kReal0;
    });
    for (int turn = 0; turn < kGuessTurns; ++turn) {
      for (int i = 0; i < m_; ++i) take_turn(delassus, i, velocity, impulse);
    }
    lanes_.for_each(m_, [&](int i) {
      const bool full =
          impulse[i] >= static_cast<Real>(max_impulse_[i]) && max_impulse_[i] < kInfinity;
      int_at_.normal[i] = full ? kFull : kSeparate;
      int_at_.tangent[i] = kCorner;
      double along[kTangents];
      bool pushes = false;
      for (int c = 0; c < kTangents; ++c) {
        along[c] = static_cast<double>(impulse[row_of(i, 1 + c)]);
        pushes = pushes || along[c] != 0.0;
      }
      for (int c = 0; !pushes && c < kTangents; ++c) {
        along[c] = -static_cast<double>(velocity[row_of(i, 1 + c)]);
      }
      int_at_.corner[i] = nearest_direction<Dim>(polygon_, along);
    });
  }

  /// Sets the impulse of contact i as if no other contact changed: it stops the approach, and
  /// friction stops the slip as far as mu times the normal impulse allows.
  template <class Matrix>
  CAROM_INLINE void take_turn(const Matrix& delassus, int i, Real* velocity, Real* impulse) const {
    const auto of = [&](int c, int k) {
      return static_cast<Real>(entry(delassus, rows_, row_of(i, c), k));
    };
    Real normal = impulse[i];
    if (of(0, i) > kReal0) normal = at_least_zero(normal - velocity[i] / of(0, i));
    normal = smaller(normal, static_cast<Real>(max_impulse_[i]));
    Real change[Dim];
    change[0] = normal - impulse[i];
    if (normal == kReal0 && change[0] == kReal0) return;
    Real mobility = kReal0;
    for (int c = 1; c < Dim; ++c) mobility = larger(mobility, of(c, row_of(i, c)));
    Real square = kReal0;
    for (int c = 1; c < Dim; ++c) {
      const int row = row_of(i, c);
      const Real slip = fused(of(0, row), change[0], velocity[row]);
      change[c] = mobility > kReal0 ? impulse[row] - slip / mobility : kReal0;
      square = fused(change[c], change[c], square);
    }
    const Real limit = mu(i) * normal;
    Real part = Real(1);
    if (square > limit * limit) {
      part = limit / static_cast<Real>(square_root(static_cast<double>(square)));
    }
    for (int c = 1; c < Dim; ++c) change[c] = fused(part, change[c], -impulse[row_of(i, c)]);
    lanes_.for_each(1, [&](int) {
      for (int c = 0; c < Dim; ++c) impulse[row_of(i, c)] += change[c];
    });
    lanes_.for_each(rows_, [&](int k) {
      Real sum = velocity[k];
      for (int c = 0; c < Dim; ++c) sum = fused(of(c, k), change[c], sum);
      velocity[k] = sum;
    });
  }

  CAROM_INLINE int row_of(int contact, int c) const {
    return c == 0 ? contact : m_ + kTangents * contact + c - 1;
  }

  /// Columns are filled where they are asked for.
  CAROM_INLINE void fill_later(const double* delassus) requires kByColumns {
    matrix_ = delassus;
    kept_.count = 0;
    for (int i = 0; i < m_; ++i) int_at_.first[i] = int_at_.corner[i];
    for (int j = 0; j < rows_; ++j) int_at_.applied[j] = -1;
    int_at_.applied[rows_] = 0;  // t's, see cover
  }

  /// covering_weight(i, 0).
  struct Weights {
    static constexpr int kSize = kMostMaskedRows + kPackPadding;
    Real value[kSize];
    constexpr Weights() : value() {
      for (int i = 0; i < kSize; ++i) value[i] = covering_weight(i, 0);
    }
  };

  /// cover(0) in registers.
  CAROM_INLINE Real cover_lines() requires kByColumns {
    using Pack = typename Lanes::Register;
    static constexpr Weights kWeights{};
    std::uint64_t full = 0;      // rows
    std::uint64_t short_of = 0;  // rows that may be
    for (int i = 0; i < m_; ++i) {
      full |= std::uint64_t{int_at_.normal[i] == kFull} << i;
      const bool slides = int_at_.normal[i] != kSeparate && mu(i) > kReal0;
      constexpr std::uint64_t kPair = (1U << kTangents) - 1;
      short_of |= (std::uint64_t{1} << i) | (slides ? kPair << (m_ + kTangents * i) : 0);
    }
    Pack least(1.0);
    for (int first = 0; first < rows_; first += kPadding) {
      const Pack weight = Pack::load(kWeights.value + first);
      const Pack x = Pack::load(at_.x + first);
      const auto upper = mask_of(full, first);
      select(mask_of((std::uint64_t{1} << rows_) - 1, first), select(upper, -weight, weight),
             Pack(0.0))
          .store(&at(first, rows_));
      const Pack slack = select(upper, -x, x);
      least = smaller(select(mask_of(short_of, first), slack / weight, Pack(0.0)), least);
    }
    const Real key = least_of(least);
    return key < Real(1) ? -key : kReal0;
  }
};

}  // namespace carom::kernels::contact_path
