#pragma once

#include <type_traits>

#include "impact/body/contact_path_corners.hpp"

/// Where the path begins: a corner of the bounds, the tableau there, and the covering vector.
namespace carom::kernels::contact_path {

template <int Dim, class Real, class Lanes>
class Start : protected Corners<Dim, Real, Lanes> {
  using Base = Corners<Dim, Real, Lanes>;

 protected:
  using Base::at, Base::at_, Base::columns_, Base::corner_basis, Base::int_at_, Base::kReal0,
      Base::kTangents, Base::lanes_, Base::m_, Base::max_impulse_, Base::mu, Base::polygon_,
      Base::rows_;
  using Base::Base;

  /// Start: approaching contacts at lambda_max, the others at zero, all sliding against u_t.
  CAROM_HOST_DEVICE void choose_corner(const double* u, int attempt) {
    lanes_.for_each(m_, [&](int i) {
      const bool full = attempt == 0 ? u[i] < 0.0 : attempt == 1;
      int_at_.normal[i] = full && max_impulse_[i] < kInfinity ? kFull : kSeparate;
      double against[kTangents];
      for (int c = 0; c < kTangents; ++c) against[c] = -u[m_ + kTangents * i + c];
      int_at_.corner[i] = nearest_direction<Dim>(polygon_, against);
      int_at_.tangent[i] = kCorner;
    });
  }

  CAROM_HOST_DEVICE void fill_tableau(const double* delassus, const double* u) {
    const int rows = rows_;
    // Coefficients of variable `pair` in (its contact's) lambda: at most 1 + kTangents terms.
    const auto terms = [&](int pair, int(&index)[1 + kTangents], Real(&weight)[1 + kTangents],
                           bool force) {
      if (pair < m_) {
        index[0] = pair;
        weight[0] = Real(1);
        if (!force) return 1;
        for (int c = 0; c < kTangents; ++c) {
          index[1 + c] = m_ + kTangents * pair + c;
          weight[1 + c] = mu(pair) * static_cast<Real>(polygon_.direction[int_at_.corner[pair]][c]);
        }
        return 1 + kTangents;
      }
      const int contact = (pair - m_) / kTangents;
      const int slot = (pair - m_) % kTangents;
      Real basis[kTangents][kTangents];
      corner_basis(int_at_.corner[contact], basis);
      for (int c = 0; c < kTangents; ++c) {
        index[c] = m_ + kTangents * contact + c;
        weight[c] = basis[c][slot];
      }
      return kTangents;
    };
    const auto response = [&](int row, const int* index, const Real* weight, int count) {
      const double* from = delassus + static_cast<long>(row) * rows;
      Real sum = kReal0;
      for (int c = 0; c < count; ++c) {
        sum = fused(static_cast<Real>(from[index[c]]), weight[c], sum);
      }
      return sum;
    };
    const auto element = [&](int i, const auto& response_of) {
      int index[1 + kTangents];
      Real weight[1 + kTangents];
      const int count = terms(i, index, weight, false);
      Real sum = kReal0;
      for (int r = 0; r < count; ++r) sum = fused(weight[r], response_of(index[r]), sum);
      return sum;
    };
    if constexpr (std::is_base_of_v<SingleLane, Lanes>) {
      // One lane does a column's terms once; several share the elements instead.
      for (int j = 0; j < rows; ++j) {
        int index[1 + kTangents];
        Real weight[1 + kTangents];
        const int count = terms(j, index, weight, true);
        Real column[Dim * kMaxContacts];
        for (int r = 0; r < rows; ++r) column[r] = response(r, index, weight, count);
        for (int i = 0; i < m_; ++i) at(i, j) = column[i];
        for (int i = m_; i < rows; ++i) {
          at(i, j) = element(i, [&](int r) { return column[r]; });
        }
      }
    } else {
      lanes_.for_each_2d(rows, rows, [&](int i, int j) {
        int index[1 + kTangents];
        Real weight[1 + kTangents];
        const int count = terms(j, index, weight, true);
        at(i, j) = element(i, [&](int r) { return response(r, index, weight, count); });
      });
    }
    lanes_.for_each(rows, [&](int i) {
      int index[1 + kTangents];
      Real weight[1 + kTangents];
      const int count = terms(i, index, weight, false);
      Real value = kReal0;
      for (int r = 0; r < count; ++r)
        value = fused(weight[r], static_cast<Real>(u[index[r]]), value);
      for (int j = 0; j < m_; ++j) {
        if (int_at_.normal[j] == kFull)
          value = fused(at(i, j), static_cast<Real>(max_impulse_[j]), value);
      }
      at_.x[i] = value;
      int_at_.place[i] = rows + i;  // forces nonbasic
      int_at_.place[rows + i] = i;  // velocities basic
    });
    lanes_.for_each(1, [&](int) { int_at_.place[2 * rows] = rows + rows; });
  }

  /// Fills column t with the covering vector; returns the smallest t at which the corner solves.
  CAROM_HOST_DEVICE Real cover(int attempt) {
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
      // Irregular weights keep two bounds from being met at once.
      const Real weight = Real(1) +
                          Real(0.3819660112501051) *
                              static_cast<Real>((i * (7 + 2 * attempt) + 3) % 11) / Real(11) +
                          Real(0.013) * static_cast<Real>(i);
      at(i, rows_) = (i < m_ && int_at_.normal[i] == kFull) ? -weight : weight;
    });
    const ArgMin<Real> worst = lanes_.argmin(
        rows_, Real(1), [&](int i) { return -shortfall(i) / magnitude(at(i, rows_)); });
    return worst.index < 0 ? kReal0 : -worst.key;
  }
};

}  // namespace carom::kernels::contact_path
