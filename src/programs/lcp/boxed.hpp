#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <carom/certificate_boxed_lcp.hpp>
#include <carom/types/boxed_lcp.hpp>

namespace carom::kernels {
struct BoxLemkeJob;
}  // namespace carom::kernels

/// Boxed LCPs on the host: from the problem as given to the box without friction rows that
/// kernels::BoxLemke follows, and back.
namespace carom::boxed {

/// A box without friction rows.
struct Box {
  int order = 0;
  std::vector<double> matrix, vector, lower, upper;

  [[nodiscard]] double entry(int i, int j) const {
    return matrix[static_cast<std::size_t>(i) * static_cast<std::size_t>(order) +
                  static_cast<std::size_t>(j)];
  }
};

/// A problem whose friction rows, of number f, are pairs of unknowns: z_i = b+ - b-, where b+
/// stands in place of z_i, b- and s after all z:
///   0 <= b+ perp w_i + s >= 0,  0 <= b- perp -w_i + s >= 0,  0 <= s perp mu_i z_j - b+ - b- >= 0.
class Expansion {
 public:
  explicit Expansion(const certificate::BoxedLcpData& problem);

  [[nodiscard]] const Box& box() const { return box_; }
  /// z of the problem, [n]: sliding rows stand at their limits in bits.
  void contract(const std::vector<double>& expanded, double* z) const;
  /// BoxedLcpResult::farkas from multipliers of the box's rows, [n].
  void contract_farkas(const std::vector<double>& expanded, double* y) const;

 private:
  certificate::BoxedLcpData problem_;
  std::vector<int> rows_;  // of friction
  Box box_;
};

/// kernels::follow_box_path for any machine.
void follow_path(kernels::BoxLemkeJob& job);

struct Effort {
  double tolerance;
  int max_pivots;                         ///< of a path
  bool limited;                           ///< by the caller
  void (*follow)(kernels::BoxLemkeJob&);  ///< follow_path, or this machine's own
};

struct Found {
  Status status = Status::numerical_error;  ///< solved, inaccurate, ray, iteration_limit, ...
  std::vector<double> z;                    ///< of the box; empty unless solved or inaccurate
  double residual = 0.0;
  int pivots = 0;
};

/// Where the first, plain path of a box has ended in the hands of others.
struct Ended {
  const double* z;  ///< of the box; null: on a ray
  int pivots;
};

/// certify(z): the residual of a point of the box by the problem's own certificate.
using Certify = std::function<double(const std::vector<double>& z)>;

/// Follows paths until one ends certified: plain, in doubled numbers, without data that may be
/// rounding. Leaves rays to others. ended: in place of the first path, or null.
Found follow_paths(const Box& box, const Effort& effort, const Certify& certify,
                   const Ended* ended = nullptr);
/// The same along other covering vectors, `count` of them.
Found follow_other_paths(const Box& box, const Effort& effort, const Certify& certify, int count);

/// The same along one covering vector.
Found follow_path_along(const Box& box, const std::vector<double>& cover, const Effort& effort,
                        const Certify& certify);

/// The box as a linear program's data: what every answer satisfies, for Farkas' vectors.
struct LinearRows {
  std::vector<double> lower, upper;
};
LinearRows linear_rows(const Box& box);
/// Whether y's margin is more than data that may be rounding could give it.
bool margin_is_no_noise(const Box& box, const std::vector<double>& y);

}  // namespace carom::boxed
