#pragma once

#include <carom/device/numeric.hpp>

#include "impact/mode_entry.hpp"
#include "impact/mode_pilots.hpp"

namespace carom {

/// Combinations of contact modes as functions of z, one combination per lane. Each contact has Dim
/// unknowns: its normal impulse (or, sliding at a corner, that of its force), then its tangential
/// impulse inside the friction bounds. Unknowns that a mode does not use have an identity row.
template <class Isa, int Dim,
          int MostContacts =
              Dim == 2 ? kernels::kMaxPlanarTableContacts : kernels::kMaxSpatialTableContacts>
class ModeEntries {
  using Pack = typename Isa::Pack;
  using Mask = typename Isa::Mask;
  static constexpr int kWidth = Isa::kWidth;
  static constexpr int kContacts = MostContacts;
  static constexpr int kRows = Dim * kContacts;
  static constexpr int kColumns = kRows + kContacts;
  static constexpr int kConditions = Dim == 2 ? 3 : 17;  // of a contact at most
  static constexpr int kTangents = Dim - 1;
  static constexpr double kSingular = 1e-6;
  static constexpr double kRounding = 4.0 * 0x1.0p-52;

 public:
  CAROM_HOST_DEVICE explicit ModeEntries(const EntryJob& job)
      : job_(job),
        problem_(*job.problem),
        polygon_(job.run->polygon),
        m_(job.run->contacts),
        rows_(Dim * m_),
        columns_(rows_ + m_),
        places_(mode_places(Dim, polygon_)) {}

  CAROM_HOST_DEVICE void operator()() {
    for (int first = 0; first < job_.count; first += kWidth) make(first);
  }
  /// Combinations first .. first + kWidth - 1.
  CAROM_HOST_DEVICE void make(int first) {
    for (int lane = 0; lane < kWidth; ++lane) {
      const int entry = first + lane < job_.count ? first + lane : job_.count - 1;
      for (int i = 0; i < m_; ++i)
        describe(i, job_.codes[entry][static_cast<std::size_t>(i)], lane);
    }
    assemble();
    const unsigned regular = solve().bits();
    functions();
    write(first, regular);
  }

 private:
  [[nodiscard]] CAROM_HOST_DEVICE int row(int contact, int component) const {
    return component == 0 ? contact : m_ + kTangents * contact + component - 1;
  }

  /// What contact i does in the combination of this lane.
  struct Contact {
    alignas(64) double force[Dim][Dim][kWidth];     // impulse component, unknown
    alignas(64) double velocity[Dim][Dim][kWidth];  // unknown, component of u' that it makes zero
    alignas(64) double idle[Dim][kWidth];           // one where the unknown is none
    alignas(64) double given[Dim][kWidth];          // impulse of lambda_max = 1, fully activated
    // Weights of the impulse, of u' and of lambda_max in what must not be negative.
    alignas(64) double condition[kConditions][2 * Dim + 1][kWidth];
    int conditions[kWidth];
  };

  CAROM_HOST_DEVICE void describe(int contact, int code, int lane) {
    Contact& c = contact_[contact];
    for (int a = 0; a < Dim; ++a) {
      for (int b = 0; b < Dim; ++b) c.force[a][b][lane] = c.velocity[a][b][lane] = 0.0;
      c.idle[a][lane] = 1.0;
      c.given[a][lane] = 0.0;
    }
    c.conditions[lane] = 0;
    const double unit = problem_.scale[contact];
    const auto demand = [&](double factor, bool of_velocity, int component_count,
                            const double* weights, double room) {
      double(&to)[2 * Dim + 1][kWidth] = c.condition[c.conditions[lane]++];
      for (auto& weight : to) weight[lane] = 0.0;
      for (int a = 0; a < component_count; ++a) {
        to[(of_velocity ? Dim : 0) + a][lane] = factor * weights[a];
      }
      to[2 * Dim][lane] = factor * room;
    };
    // In the caller's units: impulses by the scale, velocities by its inverse.
    const auto impulse = [&](const double* w, double room = 0.0) {
      demand(unit, false, Dim, w, room);
    };
    const auto velocity = [&](const double* w) { demand(1.0 / unit, true, Dim, w, 0.0); };
    const double normal[3] = {1.0, 0.0, 0.0};
    const double minus[3] = {-1.0, 0.0, 0.0};
    if (code == 0) {
      velocity(normal);
      return;
    }
    const bool full = code > places_;
    const int place = (code - 1) % places_;
    const int k = polygon_.count;
    const bool sticks = place == places_ - 1;
    const double mu = problem_.friction[contact];
    const bool slides = mu > 0.0;
    const double* corner = polygon_.direction[sticks ? 0 : place % k];
    if (full) {
      c.given[0][lane] = 1.0;
      for (int a = 1; a < Dim && !sticks; ++a) c.given[a][lane] = mu * corner[a - 1];
      velocity(minus);
    } else {
      // A column of length one whatever mu: pivots are compared.
      const double along = sticks ? 0.0 : mu;
      c.force[0][0][lane] = 1.0 / (1.0 + along);
      for (int a = 1; a < Dim; ++a) c.force[a][0][lane] = along * corner[a - 1] / (1.0 + along);
      c.velocity[0][0][lane] = 1.0;
      c.idle[0][lane] = 0.0;
    }
    const auto bounds = [&] {
      if (full) return;
      if (!slides || !sticks) impulse(normal);
      impulse(minus, 1.0);
    };
    if (!slides) return bounds();
    if (sticks) {
      for (int a = 1; a < Dim; ++a) {
        c.force[a][a][lane] = c.velocity[a][a][lane] = 1.0;
        c.idle[a][lane] = 0.0;
      }
    } else if (place >= k) {
      const double* e = polygon_.along[place - k];
      for (int a = 1; a < Dim; ++a) {
        c.force[a][1][lane] = c.velocity[1][a][lane] = e[a - 1];
      }
      c.idle[1][lane] = 0.0;
    }
    if constexpr (Dim == 2) {
      if (sticks) {
        for (int j = 0; j < k; ++j) {
          const double w[3] = {mu, -polygon_.direction[j][0], 0.0};
          impulse(w);
        }
      } else {
        const double w[3] = {0.0, -corner[0], 0.0};
        velocity(w);
      }
    } else {
      const auto outward = [&](int j, double by, double of_normal, double* w) {
        w[0] = of_normal;
        w[1] = by * polygon_.along[j][1];
        w[2] = -by * polygon_.along[j][0];
      };
      double w[3];
      if (sticks) {
        const double* d = polygon_.direction[0];
        const double* e = polygon_.along[0];
        const double apothem = e[1] * d[0] - e[0] * d[1];
        for (int j = 0; j < k; ++j) {
          outward(j, -1.0, apothem * mu, w);
          impulse(w);
        }
      } else if (place >= k) {
        // Its share of the edge lies between the two corners.
        const int j = place - k;
        const double* d = polygon_.direction[j];
        const double* e = polygon_.along[j];
        const double begin = mu * (d[0] * e[0] + d[1] * e[1]);
        const double from[3] = {-begin, e[0], e[1]};
        const double to[3] = {polygon_.edge * mu + begin, -e[0], -e[1]};
        impulse(from);
        impulse(to);
        outward(j, -1.0, 0.0, w);
        velocity(w);
      } else {
        const double* next = polygon_.along[place];
        const double* before = polygon_.along[(place + k - 1) % k];
        const double after[3] = {0.0, next[0], next[1]};
        const double back[3] = {0.0, -before[0], -before[1]};
        velocity(after);
        velocity(back);
      }
    }
    bounds();  // mostly kept, so tried last
  }

  [[nodiscard]] CAROM_HOST_DEVICE Pack delassus(int i, int j) const {
    return Pack(problem_.delassus[i * rows_ + j]);
  }

  /// [V A F | V, V A given] of the unknowns.
  CAROM_HOST_DEVICE void assemble() {
    for (int i = 0; i < m_; ++i) {
      const Contact& ci = contact_[i];
      for (int j = 0; j < m_; ++j) {
        const Contact& cj = contact_[j];
        Pack force[Dim][Dim + 1];  // A F and A given, of this block
        for (int p = 0; p < Dim; ++p) {
          for (int b = 0; b <= Dim; ++b) {
            Pack sum(0.0);
            for (int q = 0; q < Dim; ++q) {
              const double* column = b < Dim ? cj.force[q][b] : cj.given[q];
              sum = fused(delassus(row(i, p), row(j, q)), Pack::load(column), sum);
            }
            force[p][b] = sum;
          }
        }
        for (int a = 0; a < Dim; ++a) {
          Pack* const to = system_[i * Dim + a];
          for (int b = 0; b <= Dim; ++b) {
            Pack sum(0.0);
            for (int p = 0; p < Dim; ++p) {
              sum = fused(Pack::load(ci.velocity[a][p]), force[p][b], sum);
            }
            if (b == Dim) {
              right(to, rows_ + j) = sum;
            } else {
              to[j * Dim + b] = i == j && a == b ? sum + Pack::load(ci.idle[a]) : sum;
            }
          }
          for (int p = 0; p < Dim; ++p) {
            right(to, row(j, p)) = i == j ? Pack::load(ci.velocity[a][p]) : Pack(0.0);
          }
        }
      }
    }
  }

  [[nodiscard]] CAROM_HOST_DEVICE Pack& right(Pack* of, int column) const {
    return of[rows_ + column];
  }

  /// Gaussian elimination with rows exchanged lane by lane; false where a pivot is next to nothing.
  CAROM_HOST_DEVICE Mask solve() {
    const int width = rows_ + columns_;
    Pack smallest(kernels::kInfinity);
    Pack largest(0.0);
    for (int k = 0; k < rows_; ++k) {
      Pack best = magnitude(system_[k][k]);
      Pack where(static_cast<double>(k));
      for (int i = k + 1; i < rows_; ++i) {
        const Pack size = magnitude(system_[i][k]);
        const Mask more = size > best;
        best = select(more, size, best);
        where = select(more, Pack(static_cast<double>(i)), where);
      }
      for (int i = k + 1; i < rows_; ++i) {
        const Mask here = !(where != Pack(static_cast<double>(i)));
        if (!any_of(here)) continue;
        for (int j = k; j < width; ++j) {
          const Pack upper = system_[k][j];
          system_[k][j] = select(here, system_[i][j], upper);
          system_[i][j] = select(here, upper, system_[i][j]);
        }
      }
      smallest = smaller(best, smallest);
      largest = larger(best, largest);
      inverse_[k] = Pack(1.0) / select(best > Pack(0.0), system_[k][k], Pack(1.0));
      for (int i = k + 1; i < rows_; ++i) {
        if (!any_of(system_[i][k] != Pack(0.0))) continue;
        const Pack factor = -(system_[i][k] * inverse_[k]);
        for (int j = k + 1; j < width; ++j) {
          system_[i][j] = fused(factor, system_[k][j], system_[i][j]);
        }
      }
    }
    for (int k = rows_ - 1; k >= 0; --k) {
      for (int c = 0; c < columns_; ++c) {
        Pack sum = right(system_[k], c);
        for (int j = k + 1; j < rows_; ++j) {
          sum = fused(-system_[k][j], right(system_[j], c), sum);
        }
        right(system_[k], c) = sum * inverse_[k];
      }
    }
    return smallest > Pack(kSingular) * largest;
  }

  /// The impulse and u' as functions of z.
  CAROM_HOST_DEVICE void functions() {
    for (int i = 0; i < m_; ++i) {
      const Contact& contact = contact_[i];
      for (int p = 0; p < Dim; ++p) {
        Pack* const to = impulse_[row(i, p)];
        for (int c = 0; c < columns_; ++c) {
          Pack sum = c == rows_ + i ? Pack::load(contact.given[p]) : Pack(0.0);
          for (int a = 0; a < Dim; ++a) {
            sum = fused(-Pack::load(contact.force[p][a]), right(system_[i * Dim + a], c), sum);
          }
          to[c] = sum;
        }
      }
    }
    for (int i = 0; i < rows_; ++i) {
      for (int c = 0; c < columns_; ++c) {
        Pack sum(c == i ? 1.0 : 0.0);
        for (int j = 0; j < rows_; ++j) sum = fused(delassus(i, j), impulse_[j][c], sum);
        next_[i][c] = sum;
      }
    }
  }

  [[nodiscard]] CAROM_HOST_DEVICE double scale(int i) const {
    return problem_.scale[i < m_ ? i : (i - m_) / kTangents];
  }
  /// Powers of two turn the scaled z into the caller's.
  [[nodiscard]] CAROM_HOST_DEVICE Pack unit(int column) const {
    return Pack(column < rows_ ? scale(column) : 1.0 / scale(column - rows_));
  }

  CAROM_HOST_DEVICE void write(int first, unsigned regular) {
    const int lanes = job_.count - first < kWidth ? job_.count - first : kWidth;
    alignas(64) double value[kWidth];
    for (int i = 0; i < rows_; ++i) {
      for (int c = 0; c < columns_; ++c) {
        (impulse_[i][c] * unit(c) * Pack(scale(i))).store(value);
        for (int lane = 0; lane < lanes; ++lane) {
          job_.maps[(static_cast<long>(first + lane) * rows_ + i) * columns_ + c] = value[lane];
        }
      }
    }
    int place[kWidth] = {};
    for (int i = 0; i < m_; ++i) {
      const Contact& contact = contact_[i];
      int most = 0;
      for (const int count : contact.conditions) most = count > most ? count : most;
      for (int s = 0; s < most; ++s) {
        Pack condition[kColumns];
        Pack sum(0.0);
        for (int c = 0; c < columns_; ++c) {
          Pack x = c == rows_ + i ? Pack::load(contact.condition[s][2 * Dim]) : Pack(0.0);
          for (int p = 0; p < Dim; ++p) {
            x = fused(Pack::load(contact.condition[s][p]), impulse_[row(i, p)][c], x);
            x = fused(Pack::load(contact.condition[s][Dim + p]), next_[row(i, p)][c], x);
          }
          condition[c] = x * unit(c);
          sum = sum + magnitude(condition[c]);
        }
        // A condition may miss zero by what rounding makes of it.
        const Pack shrink =
            Pack(1.0) / larger(sum * Pack(kRounding / kernels::kModeTolerance), Pack(1.0));
        for (int c = 0; c < columns_; ++c) {
          (condition[c] * shrink).store(value);
          for (int lane = 0; lane < lanes; ++lane) {
            if (s >= contact.conditions[lane]) continue;
            job_.conditions[(static_cast<long>(first + lane) * job_.most + place[lane]) * columns_ +
                            c] = value[lane];
          }
        }
        for (int lane = 0; lane < kWidth; ++lane) place[lane] += s < contact.conditions[lane];
      }
    }
    for (int lane = 0; lane < lanes; ++lane) {
      job_.counts[first + lane] = (regular >> lane & 1U) != 0U ? place[lane] : 0;
    }
  }

  const EntryJob& job_;
  const kernels::ImpactProblemView& problem_;
  const kernels::FrictionPolygon& polygon_;
  int m_, rows_, columns_, places_;
  Contact contact_[kContacts];
  Pack system_[kRows][kRows + kColumns];
  Pack inverse_[kRows];
  Pack impulse_[kRows][kColumns];
  Pack next_[kRows][kColumns];
};

}  // namespace carom
