#include <algorithm>
#include <cmath>
#include <vector>

#include <Eigen/Dense>

#include "core/constants.hpp"
#include "core/parallel.hpp"
#include "equilibrium/planar_backends.hpp"
#include "reference/equilibrium/planar_region.hpp"
#include "reference/programs/equality_simplex.hpp"

namespace carom::reference {

namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

/// The larger one, or NaN where either is.
double worse(double a, double b) { return a != a || a > b ? a : b; }

/// x' J' f
double moment(const Vector2d& x, const Vector2d& f) { return x.x() * f.y() - x.y() * f.x(); }

/// Contacts of posture p and the matrices of (4), or of (10) where there are patches.
struct Program {
  int k;
  Eigen::Matrix2Xd position, normal, tangent;
  VectorXd friction, length;
  MatrixXd equations;  ///< force balance, then A v - slack = 0
  VectorXd torque;     ///< G_tau
  Vector2d origin;     ///< contact 0: lengths are measured from here,
  double unit;         ///< in units of the largest distance
  double size;         ///< largest coordinate

  Program(const PostureBatch& batch, std::int64_t p) : k(batch.contacts) {
    const auto at = [&](const Buffer<double>& buffer, int width) {
      return buffer.data() + p * k * width;
    };
    position = Eigen::Map<const Eigen::Matrix2Xd>(at(batch.position, 2), 2, k);
    normal = Eigen::Map<const Eigen::Matrix2Xd>(at(batch.normal, 2), 2, k);
    friction = Eigen::Map<const VectorXd>(at(batch.friction, 1), k);
    length = batch.length.empty() ? VectorXd(VectorXd::Zero(k))
                                  : VectorXd(Eigen::Map<const VectorXd>(at(batch.length, 1), k));
    tangent.resize(2, k);
    tangent.row(0) = normal.row(1);
    tangent.row(1) = -normal.row(0);
    size = std::max(position.cwiseAbs().maxCoeff(), length.maxCoeff());
    origin = position.col(0);
    const Eigen::Matrix2Xd from_origin = position.colwise() - origin;
    unit = std::max(from_origin.cwiseAbs().maxCoeff(), length.maxCoeff());
    if (!(unit > 0.0)) unit = 1.0;
    const bool patches = (length.array() > 0.0).any();
    const int columns = patches ? 4 * k : 2 * k;
    equations = MatrixXd::Zero(patches ? 2 + k : 2, columns);
    torque = VectorXd::Zero(columns);
    for (int i = 0; i < k; ++i) {
      const double mu = friction[i];
      for (int e = 0; e < 2; ++e) {
        const Vector2d edge =
            (normal.col(i) + (e == 0 ? mu : -mu) * tangent.col(i)) / std::sqrt(1.0 + mu * mu);
        equations.col(2 * i + e).head<2>() = edge;
        torque[2 * i + e] = moment(from_origin.col(i) / unit, edge);
        // cos gamma, the normal component of an edge
        if (patches) equations(2 + i, 2 * i + e) = length[i] / unit / std::sqrt(1.0 + mu * mu);
      }
      if (patches) {
        torque[2 * k + i] = 1.0;
        equations(2 + i, 2 * k + i) = -1.0;
        equations(2 + i, 3 * k + i) = -1.0;
      }
    }
  }

  [[nodiscard]] bool usable() const {
    return position.allFinite() && normal.allFinite() && friction.allFinite() &&
           length.allFinite() && (friction.array() >= 0.0).all() && (length.array() >= 0.0).all() &&
           ((normal.colwise().squaredNorm().array() - 1.0).abs() <= 3e-6).all();
  }
};

/// Answer for one wrench.
struct StripAnswer {
  Status status = Status::invalid_input;
  Vector2d normal{kNan, kNan};
  Vector2d end{kNan, kNan};
  Vector2d torque{kNan, kNan};
  Vector2d height{kNan, kNan};
  Vector2d separation{kNan, kNan};
  double residual = kNan;
  Eigen::Matrix2Xd force[2];
  VectorXd patch_torque[2];
};

/// Fills end e (0 lower, 1 upper) from LP (4) or (10); the largest violation.
double solve_end(const Program& program, const Vector2d& force, double tau, int e,
                 StripAnswer& answer) {
  const double size = force.norm();
  const Vector2d up = -force / size;
  VectorXd right = VectorXd::Zero(program.equations.rows());
  right.head<2>() = up;  // solved for a unit force
  // The lower end is tau_max.
  const VectorXd cost = e == 0 ? VectorXd(-program.torque) : program.torque;
  const EqualityOutcome found = maximize_equality(cost, program.equations, right);
  answer.status = found.status;
  if (found.status == Status::infeasible) {
    answer.separation = -found.dual.head<2>().normalized();
    const VectorXd along = program.equations.topRows<2>().transpose() * answer.separation;
    const int edges = 2 * program.k;
    const VectorXd inward = program.normal.transpose() * answer.separation;
    return std::max({0.0, along.head(edges).maxCoeff(), inward.maxCoeff()}) /
           answer.separation.dot(up);
  }
  if (found.status != Status::solved && found.status != Status::unbounded) return kNan;
  const bool bounded = found.status == Status::solved;
  const VectorXd v = bounded ? VectorXd(size * found.primal) : found.primal;
  if (!v.allFinite() || !found.dual.allFinite()) return kNan;
  const int k = program.k;
  Eigen::Matrix2Xd& forces = answer.force[e];
  forces.resize(2, k);
  VectorXd& torques = answer.patch_torque[e];
  torques = VectorXd::Zero(k);
  for (int i = 0; i < k; ++i) {
    forces.col(i) = program.equations.block<2, 2>(0, 2 * i) * v.segment<2>(2 * i);
    if (v.size() > 2 * k) torques[i] = program.unit * v[2 * k + i];
  }
  double total = 1.0;
  if (!bounded) {
    total = forces.colwise().norm().sum();
    if (!(total > 0.0)) total = 1.0;
    forces /= total;
    torques /= total;
  }
  const double scale = std::max({program.size, std::abs(tau) / size, 1e-300});
  const VectorXd balance = program.equations * v / total - (bounded ? size : 0.0) * right;
  double worst = balance.cwiseAbs().maxCoeff() / (bounded ? size : 1.0);
  worst = worse(worst, -v.minCoeff() / (bounded ? size : total));
  if (!bounded) {
    answer.end[e] = e == 0 ? -kInfinity : kInfinity;
    answer.torque[1 - e] = e == 0 ? kInfinity : -kInfinity;
    return worst;
  }
  // cost' v is tau_max at the lower end, -tau_min at the upper one.
  const double turn =
      program.unit * program.torque.dot(v) + moment(program.origin, size * right.head<2>());
  answer.torque[1 - e] = -turn;
  answer.end[e] = (turn + tau) / size;
  // z with z's moment of each edge at least (lower) or at most (upper) the edge's own.
  const double sign = e == 0 ? -1.0 : 1.0;
  const Vector2d y = sign * found.dual.head<2>();
  const Vector2d z(y.y(), -y.x());
  answer.height[e] = program.unit * z.dot(up) + program.origin.dot(up);
  const VectorXd reduced = program.equations.transpose() * found.dual - cost;
  const double reach = std::max(scale, std::abs(answer.end[e])) / program.unit;
  worst = worse(worst, -reduced.minCoeff() / reach);
  return worse(worst, std::abs(found.dual.dot(right) - cost.dot(found.primal)) / reach);
}

StripAnswer solve_strip(const Program& program, const double* wrench, double tolerance) {
  StripAnswer answer;
  const Vector2d force(wrench[0], wrench[1]);
  if (!program.usable() || !force.allFinite() || !std::isfinite(wrench[2]) ||
      !(force.norm() > 0.0)) {
    return answer;
  }
  answer.normal = Vector2d(-force.y(), force.x()) / force.norm();
  const double lower = solve_end(program, force, wrench[2], 0, answer);
  const Status first = answer.status;
  double worst = lower;
  if (first == Status::solved || first == Status::unbounded) {
    worst = worse(worst, solve_end(program, force, wrench[2], 1, answer));
    if (answer.status == Status::solved) answer.status = first;
  }
  answer.residual = worst;
  if (!(worst <= tolerance)) {
    answer.status = answer.status == Status::solved ? Status::inaccurate : Status::numerical_error;
  }
  return answer;
}

bool has_forces(const StripAnswer& answer) {
  return answer.status == Status::solved || answer.status == Status::unbounded ||
         answer.status == Status::inaccurate;
}

const double* disturbed_wrench(const PostureBatch& batch, std::int64_t p, int vertex) {
  return batch.wrench_vertices.data() + 3 * (p * batch.vertices + vertex);
}

void write(PlanarResult& result, std::int64_t p, int k, const StripAnswer& answer) {
  const bool answered = has_forces(answer);
  result.status.data()[p] = answer.status;
  result.torque_min.data()[p] = answered ? answer.torque[0] : kNan;
  result.torque_max.data()[p] = answered ? answer.torque[1] : kNan;
  result.lower.data()[p] = answered ? answer.end[0] : kNan;
  result.upper.data()[p] = answered ? answer.end[1] : kNan;
  result.residual.data()[p] = answer.residual;
  std::vector<std::int32_t> essential;
  for (int e = 0; e < 2; ++e) {
    result.normal.data()[2 * p + e] = answer.normal[e];
    result.height.data()[2 * p + e] = answered ? answer.height[e] : kNan;
    result.separation.data()[2 * p + e] =
        answer.status == Status::infeasible ? answer.separation[e] : kNan;
    const double largest = answered ? answer.force[e].cwiseAbs().maxCoeff() : 0.0;
    for (int i = 0; i < k; ++i) {
      const std::int64_t at = (2 * p + e) * k + i;
      for (int c = 0; c < 2; ++c)
        result.force.data()[2 * at + c] = answered ? answer.force[e](c, i) : kNan;
      result.torque.data()[at] = answered ? answer.patch_torque[e][i] : kNan;
      if (answered && answer.force[e].col(i).norm() > 1e-13 * largest) essential.push_back(i);
    }
  }
  std::sort(essential.begin(), essential.end());
  essential.erase(std::unique(essential.begin(), essential.end()), essential.end());
  essential.resize(4, -1);
  std::copy(essential.begin(), essential.end(), result.essential.data() + 4 * p);
}

void write_robust(const PostureBatch& batch, double tolerance, std::int64_t p,
                  const Program& program, PlanarResult& result) {
  std::vector<RegionStrip> strips;
  Status status = Status::solved;
  double residual = 0.0;
  for (int v = 0; v < batch.vertices; ++v) {
    const StripAnswer answer = solve_strip(program, disturbed_wrench(batch, p, v), tolerance);
    double* out = result.robust_strip.data() + 4 * (p * batch.vertices + v);
    const bool answered = has_forces(answer);
    for (int e = 0; e < 2; ++e) {
      out[e] = answer.normal[e];
      out[2 + e] = answered ? answer.end[e] : kNan;
    }
    strips.push_back({answer.normal, answer.end[0], answer.end[1]});
    residual = residual >= answer.residual ? residual : answer.residual;
    if (status == Status::invalid_input) continue;
    const bool final =
        answer.status == Status::invalid_input || answer.status == Status::infeasible;
    if (final || (answer.status != Status::unbounded && status == Status::solved)) {
      status = answer.status;
    }
  }
  std::vector<Vector2d> corners;
  if (status == Status::solved || status == Status::inaccurate) {
    const Region region = intersect(strips);
    if (region.status != Status::solved) status = region.status;
    corners = region.corners;
  }
  result.robust_status.data()[p] = status;
  result.robust_residual.data()[p] = residual;
  result.robust_count.data()[p] = static_cast<std::int32_t>(corners.size());
  double* polygon = result.robust_polygon.data() + 4 * p * batch.vertices;
  std::fill(polygon, polygon + 4 * batch.vertices, kNan);
  for (std::size_t i = 0; i < corners.size(); ++i) {
    polygon[2 * i] = corners[i].x();
    polygon[2 * i + 1] = corners[i].y();
  }
}

double signed_distance(const StripAnswer& answer, const Vector2d& x) {
  if (!has_forces(answer)) return answer.status == Status::infeasible ? -kInfinity : kNan;
  const double at = x.dot(answer.normal);
  return std::min(at - answer.end[0], answer.end[1] - at);
}

/// Largest s by bisection over membership.
double bisected_scale(const Program& program, const double* nominal, const double* vertex,
                      const Vector2d& x, double slack, double tolerance) {
  const auto held = [&](double s) {
    double wrench[3];
    for (int i = 0; i < 3; ++i) wrench[i] = nominal[i] + s * (vertex[i] - nominal[i]);
    return signed_distance(solve_strip(program, wrench, tolerance), x) >= -slack;
  };
  if (held(kMaxDisturbanceScale)) return kInfinity;
  double low = 0.0;
  double high = kMaxDisturbanceScale;
  for (int step = 0; step < 200 && high - low > 1e-13 * high; ++step) {
    const double middle = 0.5 * (low + high);
    (held(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

PlanarResult planar_equilibrium(const PostureBatch& batch, const PlanarSettings& settings,
                                WorkspaceState* /*workspace*/) {
  auto result = allocate<PlanarResult>(batch);
  parallel_for_each(batch.problems, settings.threads, [&](std::int64_t p) {
    const Program program(batch, p);
    const double* nominal = batch.wrench.data() + 3 * p;
    write(result, p, batch.contacts, solve_strip(program, nominal, settings.tolerance));
    if (batch.vertices > 0) write_robust(batch, settings.tolerance, p, program, result);
  });
  return result;
}

PlanarMargin planar_margins(const PostureBatch& batch, const Buffer<double>& centre_of_mass,
                            const PlanarSettings& settings, WorkspaceState* /*workspace*/) {
  auto margin = allocate<PlanarMargin>(batch);
  parallel_for_each(batch.problems, settings.threads, [&](std::int64_t p) {
    const auto i = static_cast<std::size_t>(p);
    const Program program(batch, p);
    const Vector2d x(centre_of_mass.data()[2 * p], centre_of_mass.data()[2 * p + 1]);
    const double* nominal = batch.wrench.data() + 3 * p;
    const StripAnswer answer = solve_strip(program, nominal, settings.tolerance);
    const bool usable = x.allFinite();
    const double distance = usable ? signed_distance(answer, x) : kNan;
    double robust = batch.vertices > 0 && usable ? kInfinity : kNan;
    double scale = robust;
    int limiting = -1;
    const double slack = 1e-12 * std::max(program.size, std::abs(distance));
    for (int v = 0; v < batch.vertices && usable && has_forces(answer); ++v) {
      const double* vertex = disturbed_wrench(batch, p, v);
      const double here = signed_distance(solve_strip(program, vertex, settings.tolerance), x);
      robust = here >= robust ? robust : here;
      if (!(distance >= -slack)) continue;
      const double s = bisected_scale(program, nominal, vertex, x, slack, settings.tolerance);
      if (s < scale) limiting = v;
      scale = std::min(s, scale);
    }
    const bool answered = usable && has_forces(answer);
    margin.status.host()[i] = usable ? answer.status : Status::invalid_input;
    margin.distance.host()[i] = answered ? distance : kNan;
    margin.robust_distance.host()[i] = answered ? robust : kNan;
    margin.scale.host()[i] = answered && distance >= -slack ? scale : kNan;
    margin.limiting_vertex.host()[i] = limiting;
  });
  return margin;
}

template <>
const PlanarEntries& entries() {
  static constexpr PlanarEntries kEntries{planar_equilibrium, planar_margins};
  return kEntries;
}

}  // namespace carom::reference
