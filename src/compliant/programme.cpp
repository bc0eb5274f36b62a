#include "compliant/programme.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <carom/types/qp.hpp>

#include "compliant/backends.hpp"
#include "compliant/elements_programme.hpp"
#include "compliant/kernels/compliant_centripetal.hpp"
#include "core/parallel.hpp"

namespace carom {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Rows of a problem. A contact without friction is a unilateral row: its cone |p_t| <= 0 has no
/// interior, and its tangents exert nothing.
std::vector<RowType> types_of(const CompliantBatch& batch, std::int64_t problem) {
  const RowType* first = batch.type.data() + problem * batch.rows;
  std::vector<RowType> type(first, first + batch.rows);
  for (std::size_t i = 0; i < type.size(); ++i) {
    const std::int64_t row = problem * batch.rows + static_cast<std::int64_t>(i);
    if (type[i] != RowType::normal || batch.friction.data()[row] != 0.0) continue;
    type[i] = RowType::unilateral;
    for (std::size_t t = 1; t < static_cast<std::size_t>(batch.dimension); ++t) {
      type[i + t] = RowType::none;
    }
  }
  return type;
}

/// A step of a host batch; absent rows are zero.
struct Step {
  double h;
  MatrixXd mass;
  VectorXd force, velocity;
  std::vector<RowType> type;
  MatrixXd jacobian;
  VectorXd jacobian_dot_v, phi, stiffness, damping, friction;

  Step(const CompliantBatch& batch, std::int64_t problem) : h(batch.step_size.data()[problem]) {
    const Index nv = batch.velocities;
    const Index m = batch.rows;
    const auto vector_of = [&](const Buffer<double>& values, Index size) {
      return VectorXd(Eigen::Map<const VectorXd>(values.data() + problem * size, size));
    };
    mass = Eigen::Map<const Rows>(batch.mass_matrix.data() + problem * nv * nv, nv, nv);
    force = vector_of(batch.force, nv);
    velocity = vector_of(batch.velocity, nv);
    jacobian = Eigen::Map<const Rows>(batch.jacobian.data() + problem * m * nv, m, nv);
    jacobian_dot_v = vector_of(batch.jacobian_dot_v, m);
    phi = vector_of(batch.phi, m);
    stiffness = vector_of(batch.stiffness, m);
    damping = vector_of(batch.damping, m);
    friction = vector_of(batch.friction, m);
    type = types_of(batch, problem);
    for (Index i = 0; i < m; ++i) {
      if (type[static_cast<std::size_t>(i)] != RowType::normal) friction(i) = 0.0;
      if (type[static_cast<std::size_t>(i)] != RowType::none) continue;
      jacobian.row(i).setZero();
      jacobian_dot_v(i) = phi(i) = stiffness(i) = damping(i) = 0.0;
    }
  }
};

MatrixXd rows_of(const MatrixXd& matrix, const std::vector<int>& picked) {
  MatrixXd out(static_cast<Index>(picked.size()), matrix.cols());
  for (std::size_t k = 0; k < picked.size(); ++k) {
    out.row(static_cast<Index>(k)) = matrix.row(picked[k]);
  }
  return out;
}

/// Least eigenvalue of a group's G M^-1 G' over the largest from which it has an M^ (24).
constexpr double kRedundant = 1e-6;

/// M^ (dG/dt) v of (23) for every row of a group that has an M^, else zero.
VectorXd centripetal_forces(Step& step) {
  const auto m = static_cast<int>(step.type.size());
  kernels::ConstraintRows rows{};
  rows.type = step.type.data();
  VectorXd out = VectorXd::Zero(m);
  for (int group = 0; group < kernels::kRowGroups; ++group) {
    std::vector<int> members;
    for (int i = 0; i < m; ++i) {
      if (kernels::row_group(rows, i) == group) members.push_back(i);
    }
    const VectorXd acceleration = step.jacobian_dot_v(members);
    if (acceleration.isZero(0.0)) continue;
    const MatrixXd g = rows_of(step.jacobian, members);
    const MatrixXd delassus = g * step.mass.ldlt().solve(g.transpose());
    // M^ grows without bound as rows become redundant: on a block that is level but for 1e-4 rad
    // the tangents' m is 1e8 times their acceleration, and the block jumps.
    const Eigen::SelfAdjointEigenSolver<MatrixXd> spectrum(delassus);
    const VectorXd& values = spectrum.eigenvalues();
    if (!(values(0) > kRedundant * values(values.size() - 1))) continue;
    out(members) = (spectrum.eigenvectors() *
                    (spectrum.eigenvectors().transpose() * acceleration).cwiseQuotient(values))
                       .eval();
  }
  return out;
}

/// Writes v', q' - q, lambda and the energy that follow from the rows' impulses.
void hand_out(const CompliantBatch& batch, std::int64_t problem, const VectorXd& impulse,
              CompliantResult& result) {
  const Step step(batch, problem);
  const Index nv = batch.velocities;
  const VectorXd velocity =
      step.velocity +
      step.mass.ldlt().solve(step.h * step.force + step.jacobian.transpose() * impulse);
  Eigen::Map<VectorXd>(result.velocity.data() + problem * nv, nv) = velocity;
  const Index nq = batch.positions > 0 ? batch.positions : nv;
  Eigen::Map<VectorXd> increment(result.increment.data() + problem * nq, nq);
  if (batch.positions > 0) {
    const Rows map = Eigen::Map<const Rows>(batch.position_map.data() + problem * nq * nv, nq, nv);
    increment = step.h * (map * velocity);
  } else {
    increment = step.h * velocity;
  }
  Eigen::Map<VectorXd>(result.force.data() + problem * batch.rows, batch.rows) = impulse / step.h;
  result.kinetic_energy.data()[problem] = 0.5 * velocity.dot(step.mass * velocity);
}

/// Variables w in which a programme is posed, p = shift + turn w. Without tangents w = p. With them
/// beta of (99) and p across it become coordinates, whose objective is then made |w|^2: eliminated
/// as in (181) beta weighs (eta D)^2, 1e12 with the paper's dampers, and a residual
/// relative to that says nothing of zeta |n|^2.
struct Posed {
  MatrixXd turn;
  VectorXd shift;
  MatrixXd hessian;
  VectorXd gradient;
};

Posed as_printed(const ConvexProgramme& programme) {
  const Index n = programme.gradient.size();
  return {MatrixXd::Identity(n, n), VectorXd::Zero(n), programme.hessian, programme.gradient};
}

Posed whitened(const ConvexProgramme& programme) {
  const Index n = programme.gradient.size();
  const Index slips = programme.slip_offset.size();
  const MatrixXd beta = programme.slip_diagonal.asDiagonal() * programme.slip;
  const VectorXd constant = programme.slip_diagonal.cwiseProduct(programme.slip_offset);
  const Eigen::HouseholderQR<MatrixXd> qr(beta.transpose());
  const MatrixXd q = qr.householderQ() * MatrixXd::Identity(n, n);
  const MatrixXd r = qr.matrixQR().topRows(slips).triangularView<Eigen::Upper>();
  // p that gives beta - constant, by the least norm
  const MatrixXd lift =
      r.triangularView<Eigen::Upper>().solve(q.leftCols(slips).transpose()).transpose();
  Posed posed;
  posed.turn.resize(n, n);
  posed.turn << lift, q.rightCols(n - slips);
  posed.shift = -lift * constant;
  VectorXd weight(n);
  for (Index i = 0; i < n; ++i) {
    const bool tangent = programme.type[static_cast<std::size_t>(i)] == RowType::tangent;
    weight(i) = tangent ? 1.0 : programme.zeta;
  }
  MatrixXd objective = posed.turn.transpose() * weight.asDiagonal() * posed.turn;
  objective.diagonal().head(slips).array() += 1.0;
  const Eigen::LLT<MatrixXd> root(objective);
  posed.turn = root.matrixL().solve(posed.turn.transpose()).transpose().eval();
  const double scale = std::max(1.0, programme.zeta);
  posed.hessian = MatrixXd::Identity(n, n) / scale;
  posed.gradient = posed.turn.transpose() * weight.cwiseProduct(posed.shift) / scale;
  return posed;
}

/// The QP of one layout's programmes, posed as `form` says.
QpBatch quadratic_programmes(const std::vector<const ConvexProgramme*>& programmes,
                             const std::vector<Posed>& posed, int dimension) {
  const ConvexProgramme& head = *programmes.front();
  const auto n = static_cast<std::size_t>(head.gradient.size());
  const auto half = static_cast<std::size_t>(head.bound.size());
  std::vector<Index> signed_rows;  // n and u
  for (std::size_t i = 0; i < n; ++i) {
    if (head.type[i] != RowType::tangent) signed_rows.push_back(static_cast<Index>(i));
  }
  // In the plane |p_t| <= mu p_n is two rows; in space a cone.
  std::size_t contacts = 0;
  for (const RowType type : head.type) contacts += type == RowType::normal ? 1 : 0;
  const bool planar = dimension == 2;
  const std::size_t lines = 2 * half + (planar ? 2 * contacts : 0);
  QpSizes sizes{static_cast<std::int64_t>(programmes.size()),
                static_cast<int>(n),
                static_cast<int>(lines),
                {}};
  if (!planar) sizes.cones.assign(contacts, {ConeKind::second_order, dimension});
  auto qp = allocate<QpBatch>(sizes);
  const auto k = static_cast<std::size_t>(qp.cone_rows());
  std::fill_n(qp.upper.data(), qp.upper.size(), std::numeric_limits<double>::infinity());
  const auto size = static_cast<Index>(n);
  const auto middle = static_cast<Index>(half);
  for (std::size_t p = 0; p < programmes.size(); ++p) {
    const ConvexProgramme& programme = *programmes[p];
    const Posed& form = posed[p];
    Eigen::Map<Rows>(qp.hessian.data() + p * n * n, size, size) = form.hessian;
    Eigen::Map<VectorXd>(qp.vector.data() + p * n, size) = form.gradient;
    const auto height = static_cast<Index>(lines);
    Rows matrix = Rows::Zero(height, size);
    VectorXd lower = VectorXd::Zero(height);
    matrix.topRows(middle) = programme.matrix;
    lower.head(middle) = programme.bound;
    for (Index i = 0; i < middle; ++i) {
      matrix(middle + i, signed_rows[static_cast<std::size_t>(i)]) = 1.0;
    }
    // |p_t| <= mu p_n as -C p in the cone, C = [-mu e_n; -e_t].
    Rows cones = Rows::Zero(static_cast<Index>(k), size);
    Index row = 0;
    for (Index i = 0; i < size; ++i) {
      if (head.type[static_cast<std::size_t>(i)] != RowType::normal) continue;
      if (planar) {
        matrix(2 * middle + row, i) = matrix(2 * middle + row + 1, i) = programme.friction(i);
        matrix(2 * middle + row, i + 1) = 1.0;
        matrix(2 * middle + row + 1, i + 1) = -1.0;
        row += 2;
        continue;
      }
      cones(row, i) = -programme.friction(i);
      for (int t = 1; t < dimension; ++t) cones(row + t, i + t) = -1.0;
      row += dimension;
    }
    Eigen::Map<VectorXd> cone_vector(qp.cone_vector.data() + p * k, static_cast<Index>(k));
    cone_vector.setZero();
    if (contacts > 0) {
      lower -= matrix * form.shift;
      matrix = (matrix * form.turn).eval();
      cone_vector = -cones * form.shift;
      cones = (cones * form.turn).eval();
    }
    Eigen::Map<Rows>(qp.matrix.data() + p * lines * n, height, size) = matrix;
    Eigen::Map<VectorXd>(qp.lower.data() + p * lines, height) = lower;
    Eigen::Map<Rows>(qp.cone_matrix.data() + p * k * n, static_cast<Index>(k), size) = cones;
  }
  return qp;
}

/// What became of one programme.
struct ProgrammeAnswer {
  VectorXd impulse;
  Status status = Status::numerical_error;
  double residual = std::numeric_limits<double>::quiet_NaN();
  int iterations = 0;
};

/// Residual above which any solved form is better.
constexpr double kPoor = 1e-6;
/// Variables without friction from which the active set is faster than the automatic choice,
/// ten times at 900.
constexpr Index kManyVariables = 128;

bool always(const ConvexProgramme&, const VectorXd&) { return true; }

/// Whether beta makes up the objective (99), so that a residual of the printed form tells all of
/// it.
bool cannot_stop(const ConvexProgramme& programme, const VectorXd& impulse) {
  const double beta =
      (programme.slip_diagonal.asDiagonal() * (programme.slip * impulse + programme.slip_offset))
          .squaredNorm();
  return beta >= 1e6 * std::max(1.0, programme.zeta) * impulse.squaredNorm();
}

/// Solves those programmes that are not solved yet, by `method` in the given form. An answer stands
/// where there is none yet, or where it is solved and `accept`ed.
void solve_open(const std::vector<ConvexProgramme>& programmes,
                Posed (*form)(const ConvexProgramme&),
                bool (*accept)(const ConvexProgramme&, const VectorXd&), QpMethod method,
                int dimension, const CompliantSettings& settings, const SolveQp& solve_qp,
                std::vector<ProgrammeAnswer>& answers) {
  std::vector<std::size_t> open;
  std::vector<const ConvexProgramme*> asked;
  std::vector<Posed> posed;
  for (std::size_t p = 0; p < programmes.size(); ++p) {
    if (answers[p].status == Status::solved) continue;
    open.push_back(p);
    asked.push_back(&programmes[p]);
    posed.push_back(form(programmes[p]));
  }
  if (open.empty()) return;
  QpSettings qp_settings;
  qp_settings.method = method;
  qp_settings.tolerance = settings.tolerance;
  qp_settings.max_iterations = settings.max_iterations;
  qp_settings.threads = settings.threads;
  const QpResult found = solve_qp(quadratic_programmes(asked, posed, dimension), qp_settings);
  const Index n = programmes.front().gradient.size();
  for (std::size_t i = 0; i < open.size(); ++i) {
    ProgrammeAnswer& answer = answers[open[i]];
    const Status status = found.status.data()[i];
    const double residual = found.residual.data()[i];
    answer.iterations += found.iterations.data()[i];
    const bool usable = status == Status::solved || status == Status::inaccurate;
    VectorXd impulse;
    if (usable) {
      const Eigen::Map<const VectorXd> w(found.solution.data() + static_cast<Index>(i) * n, n);
      impulse = posed[i].shift + posed[i].turn * w;
    }
    const bool first = answer.impulse.size() == 0;
    const bool better =
        status == Status::solved && (accept(*asked[i], impulse) || !(answer.residual <= kPoor));
    if (!better && !(first && (usable || std::isnan(answer.residual)))) continue;
    answer.status = status;
    answer.residual = residual;
    answer.impulse = impulse;
  }
}

/// Rows to a velocity from which the programme of only unilateral rows is solved in velocities.
constexpr int kRowsToAVelocity = 2;
constexpr int kFoundationIterations = 100;

/// Whether a layout has only unilateral rows, many to each velocity.
bool is_foundation(const std::vector<RowType>& layout, std::int64_t velocities) {
  const auto unilateral = std::count(layout.begin(), layout.end(), RowType::unilateral);
  const auto absent = std::count(layout.begin(), layout.end(), RowType::none);
  return unilateral + absent == static_cast<std::ptrdiff_t>(layout.size()) &&
         unilateral >= kRowsToAVelocity * velocities;
}

/// The step of a foundation; false where a row has neither spring nor damper or the answer is not
/// as precise as asked. More rows than velocities are redundant and have no M^ (24).
bool solve_foundation(const CompliantBatch& batch, std::int64_t problem,
                      const CompliantSettings& settings, CompliantResult& result) {
  const Step step(batch, problem);
  std::vector<int> picked;
  for (std::size_t i = 0; i < step.type.size(); ++i) {
    if (step.type[i] == RowType::unilateral) picked.push_back(static_cast<int>(i));
  }
  const MatrixXd g = rows_of(step.jacobian, picked);
  const Eigen::LLT<MatrixXd> mass(step.mass);
  const VectorXd start = step.velocity + step.h * mass.solve(step.force);
  const VectorXd rate = step.h * step.stiffness(picked) + step.damping(picked);
  if (!(rate.minCoeff() > 0.0)) return false;
  const VectorXd flow = g * start + step.h * step.jacobian_dot_v(picked) +
                        step.stiffness(picked).cwiseProduct(step.phi(picked)).cwiseQuotient(rate);
  const VectorXd eta = step.h * rate;
  const MatrixXd factor = mass.matrixL().solve(g.transpose()).transpose();
  const ElementsAnswer answer =
      solve_elements(factor, eta, -eta.cwiseProduct(flow), settings.tolerance,
                     settings.max_iterations > 0 ? settings.max_iterations : kFoundationIterations);
  if (!(answer.residual <= settings.tolerance)) return false;
  VectorXd all = VectorXd::Zero(batch.rows);
  all(picked) = answer.impulse;
  result.status.data()[problem] = Status::solved;
  result.residual.data()[problem] = answer.residual;
  result.iterations.data()[problem] = answer.iterations;
  hand_out(batch, problem, all, result);
  return true;
}

/// A batch of programmes of one layout, and where their answers go.
void solve_layout(const std::vector<std::int64_t>& problems,
                  const std::vector<ConvexProgramme>& programmes, const CompliantBatch& batch,
                  const CompliantSettings& settings, const SolveQp& solve_qp,
                  CompliantResult& result) {
  const ConvexProgramme& head = programmes.front();
  const Index n = head.gradient.size();
  std::vector<ProgrammeAnswer> answers(problems.size());
  if (n > 0) {
    const auto solve = [&](Posed (*form)(const ConvexProgramme&),
                           bool (*accept)(const ConvexProgramme&, const VectorXd&),
                           QpMethod method) {
      solve_open(programmes, form, accept, method, batch.dimension, settings, solve_qp, answers);
    };
    const bool friction = head.slip_offset.size() > 0;
    const bool many = !friction && settings.method == QpMethod::automatic && n > kManyVariables;
    solve(friction ? whitened : as_printed, always, many ? QpMethod::active_set : settings.method);
    if (many) solve(as_printed, always, settings.method);
    if (friction && settings.method == QpMethod::automatic) {
      solve(whitened, always, QpMethod::admm);
      solve(as_printed, cannot_stop, QpMethod::automatic);
    }
  }
  for (std::size_t p = 0; p < problems.size(); ++p) {
    const ConvexProgramme& programme = programmes[p];
    const std::int64_t problem = problems[p];
    const ProgrammeAnswer& answer = answers[p];
    const Status status = n > 0 ? answer.status : Status::solved;
    result.status.data()[problem] = status;
    result.residual.data()[problem] = n > 0 ? answer.residual : 0.0;
    result.iterations.data()[problem] = answer.iterations;
    if (status != Status::solved && status != Status::inaccurate) continue;
    const VectorXd impulse = n > 0 ? answer.impulse : VectorXd(0);
    VectorXd all = VectorXd::Zero(batch.rows);
    for (Index i = 0; i < n; ++i) {
      all(programme.row[static_cast<std::size_t>(i)]) = impulse(i);
    }
    const VectorXd held = programme.recover * impulse + programme.recover_offset;
    for (std::size_t i = 0; i < programme.bilateral.size(); ++i) {
      all(programme.bilateral[i]) = held(static_cast<Index>(i));
    }
    hand_out(batch, problem, all, result);
  }
}

}  // namespace

ConvexProgramme convex_programme(const CompliantBatch& batch, std::int64_t problem,
                                 bool centripetal, double weight) {
  Step e(batch, problem);
  const double h = e.h;
  const VectorXd m = centripetal ? centripetal_forces(e) : VectorXd(VectorXd::Zero(batch.rows));
  ConvexProgramme out;
  const auto rate = [&](int i) { return h * e.stiffness(i) + e.damping(i); };
  for (int i = 0; i < batch.rows; ++i) {
    const RowType type = e.type[static_cast<std::size_t>(i)];
    if (type == RowType::bilateral && rate(i) > 0.0) out.bilateral.push_back(i);
    if (type == RowType::none || type == RowType::bilateral) continue;
    out.row.push_back(i);
    out.type.push_back(type);
  }
  const Eigen::LDLT<MatrixXd> mass(e.mass);
  const VectorXd start = e.velocity + h * mass.solve(e.force);
  const MatrixXd g = rows_of(e.jacobian, out.row);
  const MatrixXd gb = rows_of(e.jacobian, out.bilateral);
  const auto n = static_cast<Index>(out.row.size());
  const auto nb = static_cast<Index>(out.bilateral.size());
  // u, and 1/eta of the bilateral rows.
  const auto flow = [&](int i) {
    return e.jacobian.row(i).dot(start) + h * e.jacobian_dot_v(i) +
           (e.stiffness(i) * e.phi(i) + m(i)) / rate(i);
  };
  VectorXd ub(nb);
  MatrixXd wb = gb * mass.solve(gb.transpose());
  for (Index k = 0; k < nb; ++k) {
    const int i = out.bilateral[static_cast<std::size_t>(k)];
    ub(k) = flow(i);
    wb(k, k) += 1.0 / (h * rate(i));
  }
  const Eigen::LDLT<MatrixXd> factor(wb);
  const MatrixXd cross = gb * mass.solve(g.transpose());
  out.recover = nb > 0 ? MatrixXd(-factor.solve(cross)) : MatrixXd::Zero(0, n);
  out.recover_offset = nb > 0 ? VectorXd(-factor.solve(ub)) : VectorXd(0);
  MatrixXd delassus = g * mass.solve(g.transpose());
  if (nb > 0) delassus += cross.transpose() * out.recover;
  // eta F_i = (I + eta D) p + eta u is the excess over the spring-damper, an impulse; a row without
  // spring and damper has eta = 0 and only the excess p itself.
  MatrixXd excess(n, n);
  VectorXd constant(n);
  for (Index k = 0; k < n; ++k) {
    const int i = out.row[static_cast<std::size_t>(k)];
    const double eta = h * rate(i);
    excess.row(k) = eta * delassus.row(k);
    excess(k, k) += 1.0;
    constant(k) = 0.0;
    if (eta > 0.0) {
      double u = flow(i);
      if (nb > 0) u += cross.col(k).dot(out.recover_offset);
      constant(k) = eta * u;
    }
  }
  const double zeta = weight > 0.0 ? weight : 1.0 / h;
  out.hessian = MatrixXd::Zero(n, n);
  out.gradient = VectorXd::Zero(n);
  out.friction = VectorXd::Zero(n);
  out.zeta = zeta;
  const auto slips = std::count(out.type.begin(), out.type.end(), RowType::tangent);
  out.slip.resize(slips, n);
  out.slip_offset.resize(slips);
  out.slip_diagonal.resize(slips);
  Index slip = 0;
  std::vector<Index> signed_rows;
  for (Index k = 0; k < n; ++k) {
    if (out.type[static_cast<std::size_t>(k)] == RowType::tangent) {
      out.hessian(k, k) += 1.0;
      out.hessian += excess.row(k).transpose() * excess.row(k);
      out.gradient += constant(k) * excess.row(k).transpose();
      out.slip_diagonal(slip) = excess(k, k);
      out.slip.row(slip) = excess.row(k) / excess(k, k);
      out.slip_offset(slip++) = constant(k) / excess(k, k);
    } else {
      out.hessian(k, k) += zeta;
      out.friction(k) = e.friction(out.row[static_cast<std::size_t>(k)]);
      signed_rows.push_back(k);
    }
  }
  // One common factor keeps the objective's numbers near one.
  out.scale = n > 0 ? out.hessian.diagonal().maxCoeff() : 1.0;
  out.hessian /= out.scale;
  out.gradient /= out.scale;
  const auto half = static_cast<Index>(signed_rows.size());
  out.matrix.resize(half, n);
  out.bound.resize(half);
  for (Index r = 0; r < half; ++r) {
    const Index k = signed_rows[static_cast<std::size_t>(r)];
    out.matrix.row(r) = excess.row(k) / excess(k, k);
    out.bound(r) = -constant(k) / excess(k, k);
  }
  return out;
}

CompliantResult solve_programme(const CompliantBatch& batch, const CompliantSettings& settings,
                                const SolveQp& solve_qp) {
  auto result = allocate<CompliantResult>(batch);
  std::map<std::vector<RowType>, std::vector<std::int64_t>> layouts;
  for (std::int64_t p = 0; p < batch.problems; ++p) {
    refuse(batch, p, Status::invalid_input, result);
    if (!acceptable(batch, p)) continue;
    layouts[types_of(batch, p)].push_back(p);
  }
  for (auto& entry : layouts) {
    const std::vector<RowType>& layout = entry.first;
    std::vector<std::int64_t>& problems = entry.second;
    if (settings.method == QpMethod::automatic && is_foundation(layout, batch.velocities)) {
      std::vector<std::uint8_t> done(problems.size());
      parallel_for_each(
          static_cast<std::int64_t>(problems.size()), settings.threads, [&](std::int64_t k) {
            const auto at = static_cast<std::size_t>(k);
            done[at] = solve_foundation(batch, problems[at], settings, result) ? 1 : 0;
          });
      std::size_t at = 0;
      std::erase_if(problems, [&](std::int64_t) { return done[at++] != 0; });
      if (problems.empty()) continue;
    }
    std::vector<ConvexProgramme> programmes;
    programmes.reserve(problems.size());
    for (const std::int64_t p : problems) {
      programmes.push_back(
          convex_programme(batch, p, settings.centripetal, settings.normal_weight));
    }
    solve_layout(problems, programmes, batch, settings, solve_qp, result);
  }
  return result;
}

}  // namespace carom
