#include "stability/sos.hpp"

#include <cmath>

#include "programs/sdp/judge.hpp"
#include "stability/kernels/certificate_paper.hpp"
#include "stability/sos_program.hpp"

namespace carom::stability {

namespace {

/// Shares of m V1 that are added to V2: more of it makes slips fall, less of it is left along n.
constexpr double kShares[] = {0.0, 0.25, 0.5, 0.75, 0.9, 0.97, 0.99, 0.999};
constexpr double kLeastMargin = 1e-13;

/// Q of V2's quadratic part v'Q v / 2.
Matrix3d quadratic_part(const SosForm& form, const std::vector<double>& coefficients) {
  Matrix3d q = Matrix3d::Zero();
  for (std::size_t a = 0; a < coefficients.size(); ++a) {
    const Monomial& m = form.of_p[a];
    if (m[0] + m[1] != 0 || m[2] + m[3] + m[4] != 2) continue;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        Monomial product{};
        ++product[2 + static_cast<std::size_t>(i)];
        ++product[2 + static_cast<std::size_t>(j)];
        if (product == m) q(i, j) = (i == j ? 2.0 : 1.0) * coefficients[a];
      }
    }
  }
  return q;
}

}  // namespace

SosAnswer solve_sos(const body::StanceForm& stance) {
  SosAnswer answer;
  const Setting setting = setting_of(stance);
  if (!setting.usable) return answer;
  const SosForm form = pose_sos(setting);
  const SdpResult result = sdp::solve_judged(form.sdp, {}, true);
  answer.status = result.status;
  answer.residual = result.residual;
  answer.iterations = result.iterations;
  if (result.x.empty() || !std::isfinite(result.x.front())) return answer;
  // All of the class have Q = q I + p c c': the nearest such
  const Matrix3d q = quadratic_part(form, form.coefficients(result.x));
  const Vector3d& c = setting.c;
  const double c2 = c.squaredNorm(), along = c.dot(q * c), det = 3.0 * c2 * c2 - c2 * c2;
  const double identity = (q.trace() * c2 * c2 - along * c2) / det;
  const double product = (3.0 * along - q.trace() * c2) / det;
  const body::PaperClass paper(stance);
  if (!paper.usable()) return answer;
  const double unit = std::hypot(c(0), c(1));  // what makes c a unit force
  answer.margin = kLeastMargin;
  for (const double share : kShares) {
    const double scale = identity + share * setting.m;
    if (!(scale > 0.0)) continue;
    const double s = product / scale * unit * unit, kappa = (1.0 - share) / scale * unit;
    const double margin = paper.least_slack(s, kappa).value;
    if (!(margin > answer.margin)) continue;
    answer.found = true;
    answer.s = s, answer.kappa = kappa, answer.margin = margin;
  }
  return answer;
}

}  // namespace carom::stability
