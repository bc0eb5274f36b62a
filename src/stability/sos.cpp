#include "stability/sos.hpp"

#include <cmath>

#include "programs/sdp/judge.hpp"
#include "stability/kernels/certificate_paper.hpp"

namespace carom::stability {

namespace {

/// Shares of m V1 that are added to V2: more of it makes slips fall, less of it is left along n.
constexpr double kShares[] = {0.0, 0.25, 0.5, 0.75, 0.9, 0.97, 0.99, 0.999};
constexpr double kLeastMargin = 1e-13;
/// Of squares and multipliers: errors of the method's answer are negligible compared with it.
constexpr double kSosDecided = 1e-7;
constexpr double kSosTolerance = 1e-9;

/// Q of V2's quadratic part v'Q v / 2.
Matrix3d quadratic_part(const std::vector<Monomial>& of_p, const std::vector<double>& p) {
  Matrix3d q = Matrix3d::Zero();
  for (std::size_t a = 0; a < p.size(); ++a) {
    const Monomial& m = of_p[a];
    if (m[0] + m[1] != 0 || m[2] + m[3] + m[4] != 2) continue;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        Monomial product{};
        ++product[2 + static_cast<std::size_t>(i)];
        ++product[2 + static_cast<std::size_t>(j)];
        if (product == m) q(i, j) = (i == j ? 2.0 : 1.0) * p[a];
      }
    }
  }
  return q;
}

/// What V2 says of (s, kappa).
void round_to_class(const body::StanceForm& stance, const Setting& setting, SosTheorem theorem,
                    const std::vector<double>& p, SosAnswer& answer) {
  // All of the class have Q = q I + p c c'
  const Matrix3d q = quadratic_part(leading_monomials_of_p(), p);
  const Vector3d& c = setting.c;
  const double c2 = c.squaredNorm(), along = c.dot(q * c), det = 3.0 * c2 * c2 - c2 * c2;
  const double identity = (q.trace() * c2 * c2 - along * c2) / det;
  const double outer = (3.0 * along - q.trace() * c2) / det;
  const body::PaperClass paper(stance);
  if (!paper.usable()) return;
  const double unit = std::hypot(c(0), c(1));  // what makes c a unit force
  answer.margin = kLeastMargin;
  const auto attempt = [&](double s, double kappa) {
    const double margin = paper.least_slack(s, kappa).value;
    if (!(margin > answer.margin)) return;
    answer.found = true;
    answer.s = s, answer.kappa = kappa, answer.margin = margin;
  };
  for (const double share : kShares) {
    if (theorem == SosTheorem::one) {  // the single function is the class's limit of kappa = 0
      attempt(outer / identity * unit * unit, (1.0 - share) * setting.g.norm());
      continue;
    }
    const double scale = identity + share * setting.m;
    if (scale > 0.0) attempt(outer / scale * unit * unit, (1.0 - share) / scale * unit);
  }
}

}  // namespace

SosFace sos_face(const Setting& setting, SosTheorem theorem) {
  const auto of_p = leading_monomials_of_p();
  return {sos_conditions(setting, theorem, of_p), of_p.size(), setting.m, setting.g.norm()};
}

SosAnswer solve_sos(const body::StanceForm& stance, SosTheorem theorem) {
  SosAnswer answer;
  const Setting setting = setting_of(stance);
  if (!setting.usable) return answer;
  const SosFace face = sos_face(setting, theorem);
  if (face.empty()) {  // equalities without a solution, which no matrix has to prove
    answer.status = Status::infeasible;
    return answer;
  }
  SdpSettings settings;
  settings.tolerance = kSosTolerance;
  const SdpResult best = sdp::solve_judged(face.largest_margin(), settings, true);
  answer.iterations = best.iterations;
  answer.residual = best.residual;
  answer.status = Status::inaccurate;
  if (best.y.empty() || !std::isfinite(best.y.back())) return answer;
  if (best.y.back() > kSosDecided) {
    const SosSolution solution = face.solution(best.y);
    answer.residual = face.residual(solution);
    if (answer.residual <= kSosTolerance) answer.status = Status::solved;
    round_to_class(stance, setting, theorem, solution.p, answer);
  } else if (best.y.back() < -kSosDecided) {
    const SdpResult none = sdp::solve_judged(face.feasibility(), settings, true);
    answer.iterations += none.iterations;
    answer.residual = none.residual;
    if (none.status == Status::infeasible) answer.status = Status::infeasible;
  }
  return answer;
}

}  // namespace carom::stability
